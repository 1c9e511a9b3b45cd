"""Translates the Lua of recorded cases into Python: a parser of Lua 5.1, and a writer that follows a dialect.

    >>> translate_block("z = tensor.DoubleTensor{1, 2} y = z:add(1)", Dialect(modules={"tensor"}))
    'z = tensor.DoubleTensor([1, 2])\\ny = z.add(1)'
    >>> translate_expressions("z(1):val(), #z ~= 2", Dialect(modules={"tensor"}))
    '[z(1).val(), length(z) != 2]'

The translation is mechanical, expression by expression. Where Lua and Python differ, the program calls a function of
`RUNTIME`: truth, division, concatenation, lengths, indices of tables, and the library functions that cases use. A method
that is called with a dot (`z.val(5)`) becomes a call of the function of the class.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""\s+|--[^\n]*
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<symbol>\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^\#<>=(){}\[\];:,.])""",
    re.VERBOSE | re.DOTALL,
)
KEYWORDS = re.compile(
    "and|break|do|else|elseif|end|false|for|function|if|in|local|nil|not|or|repeat|return|then|true|until|while"
)
#: Operator -> binding power from the left and from the right.
BINARY = {"or": (1, 2), "and": (3, 4)}
BINARY |= {operator: (5, 6) for operator in ("<", ">", "<=", ">=", "~=", "==")}
BINARY |= {"..": (8, 7), "+": (9, 10), "-": (9, 10), "*": (11, 12), "/": (11, 12), "%": (11, 12), "^": (16, 15)}
UNARY_POWER = 13
#: Operators that are spelt as calls, since they differ from those of Python.
CALLED = {"..": "concat", "/": "divide", "and": "lua_and", "or": "lua_or", "^": "power"}


@dataclass(frozen=True)
class Dialect:
    """How a front end is spelt in Python."""

    #: Names of modules: `torch.range(1, 5)` calls a function, not a method.
    modules: frozenset[str] | set[str]
    #: How `x[key]` reads, and `x[key] = value` writes: formats of source text.
    get: str = "index({object}, {key})"
    put: str = "put({object}, {key}, {value})"


class Parser:
    """Lua source to nested tuples: `("call", function, arguments)` and the like."""

    def __init__(self, source: str) -> None:
        self.tokens = list(self.scan(source))
        self.at = 0

    @staticmethod
    def scan(source: str) -> Iterator[tuple[str, str]]:
        position = 0
        while position < len(source):
            match = TOKEN.match(source, position)
            if not match:
                raise SyntaxError(f"no Lua: {source[position : position + 20]!r}")
            if match.lastgroup:
                kind = "symbol" if KEYWORDS.fullmatch(match[0]) else match.lastgroup
                yield kind, match[0]
            position = match.end()
        yield "end of source", ""

    def peek(self) -> str:
        return self.tokens[self.at][1]

    def accept(self, *texts: str) -> str | None:
        kind, text = self.tokens[self.at]
        if kind == "symbol" and text in texts:
            self.at += 1
            return text
        return None

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise SyntaxError(f"expected {text!r}, got {self.peek()!r}")

    def name(self) -> str:
        kind, text = self.tokens[self.at]
        if kind != "name":
            raise SyntaxError(f"expected a name, got {text!r}")
        self.at += 1
        return text

    def finished(self) -> bool:
        return self.tokens[self.at][0] == "end of source" or self.peek() in ("end", "else", "elseif", "until")

    def block(self) -> list[tuple]:
        statements = []
        while not self.finished():
            if not self.accept(";"):
                statements.append(self.statement())
        return statements

    def statement(self) -> tuple:
        if self.accept("local"):
            return self.local()
        if self.accept("function"):
            target = ("name", self.name())
            while self.accept("."):
                target = ("index", target, ("constant", repr(self.name())))
            return ("assign", [target], [self.function()])
        if self.accept("return"):
            values = [] if self.finished() or self.peek() == ";" else self.expressions()
            self.accept(";")
            return ("return", values)
        if self.accept("if"):
            return self.conditional()
        if self.accept("for"):
            return self.loop()
        if self.accept("while"):
            condition = self.expression()
            return ("while", condition, self.body("do"))
        if self.accept("do"):
            return ("do", self.body(None))
        if self.accept("break"):
            return ("break",)
        first = self.suffixed()
        if self.peek() not in ("=", ","):
            return ("expression", first)
        targets = [first]
        while self.accept(","):
            targets.append(self.suffixed())
        self.expect("=")
        return ("assign", targets, self.expressions())

    def body(self, opening: str | None) -> list[tuple]:
        if opening:
            self.expect(opening)
        statements = self.block()
        self.expect("end")
        return statements

    def local(self) -> tuple:
        if self.accept("function"):
            return ("local", [self.name()], [self.function()])
        names = [self.name()]
        while self.accept(","):
            names.append(self.name())
        return ("local", names, self.expressions() if self.accept("=") else [])

    def conditional(self) -> tuple:
        condition = self.expression()
        self.expect("then")
        then, otherwise = self.block(), []
        if self.accept("elseif"):
            return ("if", condition, then, [self.conditional()])
        if self.accept("else"):
            otherwise = self.block()
        self.expect("end")
        return ("if", condition, then, otherwise)

    def loop(self) -> tuple:
        names = [self.name()]
        if self.accept("="):
            bounds = self.expressions()
            return ("for range", names[0], bounds, self.body("do"))
        while self.accept(","):
            names.append(self.name())
        self.expect("in")
        values = self.expressions()
        return ("for in", names, values, self.body("do"))

    def expressions(self) -> list[tuple]:
        values = [self.expression()]
        while self.accept(","):
            values.append(self.expression())
        return values

    def expression(self, power: int = 0) -> tuple:
        if operator := self.accept("not", "-", "#"):
            left: tuple = ("unary", operator, self.expression(UNARY_POWER))
        else:
            left = self.simple()
        while self.peek() in BINARY and BINARY[self.peek()][0] > power:
            operator = self.accept(*BINARY)
            left = ("binary", operator, left, self.expression(BINARY[operator][1]))
        return left

    def simple(self) -> tuple:
        kind, text = self.tokens[self.at]
        if kind in ("number", "string"):
            self.at += 1
            return ("constant", text)
        if constant := self.accept("nil", "true", "false"):
            return ("constant", {"nil": "None", "true": "True", "false": "False"}[constant])
        if self.accept("..."):
            return ("name", "varargs")
        if self.accept("function"):
            return self.function()
        if self.peek() == "{":
            return self.table()
        return self.suffixed()

    def function(self) -> tuple:
        self.expect("(")
        names = []
        while not self.accept(")"):
            names.append("*varargs" if self.accept("...") else self.name())
            self.accept(",")
        return ("function", names, self.body(None))

    def table(self) -> tuple:
        self.expect("{")
        entries, named = [], []
        while not self.accept("}"):
            following = self.tokens[self.at + 1][1]
            if self.tokens[self.at][0] == "name" and following == "=":
                key = ("constant", repr(self.name()))
                self.expect("=")
                named.append((key, self.expression()))
            elif self.accept("["):
                key = self.expression()
                self.expect("]")
                self.expect("=")
                named.append((key, self.expression()))
            else:
                entries.append(self.expression())
            self.accept(",", ";")
        return ("table", entries, named)

    def suffixed(self) -> tuple:
        if self.accept("("):
            value: tuple = ("group", self.expression())
            self.expect(")")
        else:
            value = ("name", self.name())
        while True:
            if self.accept("."):
                value = ("field", value, self.name())
            elif self.accept("["):
                value = ("index", value, self.expression())
                self.expect("]")
            elif self.accept(":"):
                method = self.name()
                value = ("method", value, method, self.arguments())
            elif self.peek() in ("(", "{") or self.tokens[self.at][0] == "string":
                value = ("call", value, self.arguments())
            else:
                return value

    def arguments(self) -> list[tuple]:
        if self.tokens[self.at][0] == "string" or self.peek() == "{":
            return [self.simple()]
        self.expect("(")
        values = [] if self.peek() == ")" else self.expressions()
        self.expect(")")
        return values


@dataclass
class Writer:
    """Nested tuples to Python source. Names that no function declares as local are global, as in Lua."""

    dialect: Dialect
    lines: list[str] = field(default_factory=list)
    indent: int = 0
    #: The local names of each enclosing function.
    scopes: list[set[str]] = field(default_factory=list)
    functions: int = 0

    def put_line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def write_block(self, statements: list[tuple]) -> None:
        for statement in statements or [("pass",)]:
            getattr(self, "write_" + statement[0].replace(" ", "_"))(*statement[1:])

    def write_pass(self) -> None:
        self.put_line("pass")

    def write_break(self) -> None:
        self.put_line("break")

    def write_do(self, body: list[tuple]) -> None:
        self.write_block(body)

    def write_expression(self, value: tuple) -> None:
        self.put_line(self.text(value))

    def write_local(self, names: list[str], values: list[tuple]) -> None:
        texts = [self.text(value) for value in values] or ["None"]
        if self.scopes:
            self.scopes[-1].update(names)
        self.put_line(f"{', '.join(names)} = {self.unpacked(len(names), texts)}")

    @staticmethod
    def unpacked(count: int, texts: list[str]) -> str:
        """The right side of an assignment to some names: a single call may have several results."""
        if count > 1 and len(texts) == 1:
            return f"results({texts[0]}, {count})"
        return ", ".join(texts)

    def write_assign(self, targets: list[tuple], values: list[tuple]) -> None:
        texts = [self.text(value) for value in values]
        if len(targets) == 1 and targets[0][0] in ("index", "field"):
            kind, owner, key = targets[0]
            if kind == "field":
                self.put_line(f"{self.text(owner)}.{key} = {texts[0]}")
            else:
                parts = {"object": self.text(owner), "key": self.text(key), "value": texts[0]}
                self.put_line(self.dialect.put.format(**parts))
            return
        self.put_line(f"{', '.join(map(self.text, targets))} = {self.unpacked(len(targets), texts)}")

    def write_return(self, values: list[tuple]) -> None:
        texts = [self.text(value) for value in values]
        self.put_line("return " + (texts[0] if len(texts) == 1 else f"({', '.join(texts)})"))

    def write_if(self, condition: tuple, then: list[tuple], otherwise: list[tuple]) -> None:
        self.put_line(f"if truth({self.text(condition)}):")
        self.write_indented(then)
        if otherwise:
            self.put_line("else:")
            self.write_indented(otherwise)

    def write_while(self, condition: tuple, body: list[tuple]) -> None:
        self.put_line(f"while truth({self.text(condition)}):")
        self.write_indented(body)

    def write_for_range(self, name: str, bounds: list[tuple], body: list[tuple]) -> None:
        self.declare([name])
        self.put_line(f"for {name} in steps({', '.join(map(self.text, bounds))}):")
        self.write_indented(body)

    def write_for_in(self, names: list[str], values: list[tuple], body: list[tuple]) -> None:
        self.declare(names)
        self.put_line(f"for {', '.join(names)} in iterate({', '.join(map(self.text, values))}, {len(names)}):")
        self.write_indented(body)

    def declare(self, names: list[str]) -> None:
        if self.scopes:
            self.scopes[-1].update(names)

    def write_indented(self, body: list[tuple]) -> None:
        self.indent += 1
        self.write_block(body)
        self.indent -= 1

    def text(self, value: tuple) -> str:
        return getattr(self, "text_of_" + value[0])(*value[1:])

    def text_of_name(self, name: str) -> str:
        return name + "_" if name in ("None", "lambda", "class", "from", "def", "is", "import") else name

    def text_of_constant(self, text: str) -> str:
        return text

    def text_of_group(self, value: tuple) -> str:
        return f"first({self.text(value)})" if value[0] in ("call", "method") else f"({self.text(value)})"

    def text_of_field(self, owner: tuple, name: str) -> str:
        return f"{self.text(owner)}.{name}" if self.is_module(owner) else f"attribute({self.text(owner)}, {name!r})"

    def text_of_index(self, owner: tuple, key: tuple) -> str:
        return self.dialect.get.format(object=self.text(owner), key=self.text(key))

    def text_of_method(self, owner: tuple, name: str, arguments: list[tuple]) -> str:
        return f"{self.text(owner)}.{name}({self.listed(arguments)})"

    def text_of_call(self, function: tuple, arguments: list[tuple]) -> str:
        if function[0] == "field" and not self.is_module(function[1]):
            return f"type({self.text(function[1])}).{function[2]}({self.listed(arguments)})"
        return f"{self.text(function)}({self.listed(arguments)})"

    def is_module(self, value: tuple) -> bool:
        """Whether a value is a module, or a class in it."""
        if value[0] == "field":
            return self.is_module(value[1])
        return value[0] == "name" and value[1] in self.dialect.modules | RUNTIME_MODULES

    def listed(self, values: list[tuple]) -> str:
        return ", ".join(("*" if value == ("name", "varargs") else "") + self.text(value) for value in values)

    def text_of_unary(self, operator: str, operand: tuple) -> str:
        text = self.text(operand)
        return {"-": f"-{text}", "#": f"length({text})", "not": f"(not truth({text}))"}[operator]

    def text_of_binary(self, operator: str, left: tuple, right: tuple) -> str:
        if operator in ("and", "or"):
            return f"lua_{operator}({self.text(left)}, lambda: {self.text(right)})"
        if operator in CALLED:
            return f"{CALLED[operator]}({self.text(left)}, {self.text(right)})"
        spelling = "!=" if operator == "~=" else operator
        texts = [f"({self.text(side)})" if side[0] == "binary" else self.text(side) for side in (left, right)]
        return f" {spelling} ".join(texts)

    def text_of_table(self, entries: list[tuple], named: list[tuple[tuple, tuple]]) -> str:
        if not named:
            return f"[{self.listed(entries)}]"
        pairs = [(str(i), self.text(entry)) for i, entry in enumerate(entries, 1)]
        pairs += [(self.text(key), self.text(entry)) for key, entry in named]
        return "{" + ", ".join(f"{key}: {entry}" for key, entry in pairs) + "}"

    def text_of_function(self, names: list[str], body: list[tuple]) -> str:
        if len(body) == 1 and body[0][0] == "return" and len(body[0][1]) >= 1:
            texts = [self.text(value) for value in body[0][1]]
            result = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
            return f"(lambda {', '.join(self.parameters(names))}: {result})"
        self.functions += 1
        name = f"function_{self.functions}"
        self.put_line(f"def {name}({', '.join(self.parameters(names))}):")
        self.scopes.append({name.lstrip("*") for name in names})
        start = len(self.lines)
        self.write_indented(body)
        self.scopes[-1] |= {local for statement in walk(body) if statement[0] == "local" for local in statement[1]}
        changed = {
            target[1]
            for statement in walk(body)
            if statement[0] == "assign"
            for target in statement[1]
            if target[0] == "name"
        } - self.scopes.pop()
        for scope in reversed(self.scopes):
            if inner := changed & scope:
                self.lines.insert(start, "    " * (self.indent + 1) + f"nonlocal {', '.join(sorted(inner))}")
                changed -= inner
        if changed:
            self.lines.insert(start, "    " * (self.indent + 1) + f"global {', '.join(sorted(changed))}")
        return name

    @staticmethod
    def parameters(names: list[str]) -> list[str]:
        """Lua fills missing arguments with nil and drops surplus ones."""
        fixed = [f"{name}=None" for name in names if not name.startswith("*")]
        return [*fixed, names[-1] if names and names[-1].startswith("*") else "*_"]


def walk(statements: list[tuple]) -> Iterator[tuple]:
    """All statements of a block, without those of functions in it."""
    for statement in statements:
        yield statement
        for part in statement[1:]:
            if (
                isinstance(part, list)
                and part
                and isinstance(part[0], tuple)
                and statement[0] in ("if", "while", "do", "for range", "for in")
            ):
                yield from walk([entry for entry in part if isinstance(entry, tuple)])


def translate_block(source: str, dialect: Dialect) -> str:
    """Statements of Lua as Python source."""
    writer = Writer(dialect)
    parser = Parser(source)
    writer.write_block(parser.block())
    if parser.tokens[parser.at][0] != "end of source":
        raise SyntaxError(f"unexpected {parser.peek()!r}")
    return "\n".join(writer.lines)


def translate_expressions(source: str, dialect: Dialect) -> str:
    """Expressions of Lua, separated by commas, as Python source: statements that it needs, and a list at the end."""
    writer = Writer(dialect)
    texts = [writer.text(value) for value in Parser(source).expressions()]
    return "\n".join([*writer.lines, f"[{', '.join(texts)}]"])


def evaluate(source: str, dialect: Dialect, names: dict[str, object]) -> list[object]:
    """The values of Lua expressions, evaluated in Python with some global names. Several results of the last call count."""
    lines = translate_expressions(source, dialect).splitlines()
    exec("\n".join(lines[:-1]), names)
    values = eval(lines[-1], names)
    return [*values[:-1], *values[-1]] if values and type(values[-1]) is tuple else values


def truth(value: object) -> bool:
    return value is not None and value is not False


def lua_and(left: object, right: Callable[[], object]) -> object:
    return right() if truth(left) else left


def lua_or(left: object, right: Callable[[], object]) -> object:
    return left if truth(left) else right()


def divide(left: object, right: object) -> object:
    """Division. That of numbers by zero gives what x86 gives: the NaN of 0/0 has its sign bit set."""
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        if right == 0:
            sign = math.copysign(1, left) * math.copysign(1, right)
            return math.copysign(math.nan, -1) if left == 0 or left != left else sign * math.inf
        quotient = left / right
        return int(quotient) if quotient.is_integer() and isinstance(left, int) else quotient
    return left / right


def length(value: object) -> int:
    return len(value)


def index(owner: object, key: object) -> object:
    if isinstance(owner, (list, tuple)) and isinstance(key, int):
        return owner[key - 1] if 1 <= key <= len(owner) else None
    return owner.get(key) if isinstance(owner, dict) else owner[key]


def put(owner: object, key: object, value: object) -> None:
    if isinstance(owner, list) and isinstance(key, int):
        owner[key - 1 : key] = [value]
    else:
        owner[key] = value


def attribute(owner: object, name: str) -> object:
    return owner.get(name) if isinstance(owner, dict) else getattr(owner, name, None)


def first(value: object) -> object:
    """The first of several results."""
    return (value[0] if value else None) if type(value) is tuple else value


def results(value: object, count: int) -> list[object]:
    """As many results as there are names to assign them to."""
    values = list(value) if type(value) is tuple else [value]
    return [*values, *[None] * count][:count]


def steps(start: float, stop: float, step: float = 1) -> Iterator[float]:
    while start <= stop if step > 0 else start >= stop:
        yield start
        start += step


def iterate(values: Iterator[object], count: int) -> Iterator[object]:
    """The values of an iterator of Lua. A loop over one name takes the first of several values."""
    return (value[0] for value in values) if count == 1 else values


def pcall(function: Callable[..., object], *arguments: object) -> tuple[object, ...]:
    try:
        value = function(*arguments)
    except Exception as error:
        return False, str(error)
    return (True, *(value if type(value) is tuple else (value,)))


RUNTIME_MODULES = frozenset({"math", "table", "string"})
#: The names that translated programs use.
RUNTIME: dict[str, object] = {
    "attribute": attribute,
    "concat": lambda left, right: f"{left}{right}",
    "divide": divide,
    "first": first,
    "index": index,
    "ipairs": lambda values: enumerate(values, 1),
    "iterate": iterate,
    "length": length,
    "lua_and": lua_and,
    "lua_or": lua_or,
    "math": math,
    "pairs": lambda values: values.items() if isinstance(values, dict) else enumerate(values, 1),
    "pcall": pcall,
    "power": lambda left, right: left**right,
    "put": put,
    "results": results,
    "steps": steps,
    "truth": truth,
}
