"""The layer check: which module may use which, what unsafe code must say, and how memory is allocated and objects are made.

    python tools/layers.py [ROOT]

Prints one sentence per fault, as file:line, and exits with code 1 if there is any. Very long files are remarks, not faults.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

Module = tuple[str, ...]


class Table(NamedTuple):
    """The layers of the modules directly inside one module: a module uses its own layer and lower ones.

    Modules of a table without layers may all use each other, but not in a circle: only those of `cycle` may.
    """

    crate: str
    inside: Module
    layers: dict[str, str]
    cycle: frozenset[str] = frozenset()

    def entry(self, module: Module) -> str | None:
        """The module of the table that `module` is, or is inside of."""
        depth = len(self.inside)
        return module[depth] if module[:depth] == self.inside and len(module) > depth else None


def layers(**names: str) -> dict[str, str]:
    """`layers(_1="a b", _2="c")` is {"a": "1", "b": "1", "c": "2"}."""
    return {name: layer.strip("_") for layer, modules in names.items() for name in modules.split()}


TABLES = [
    Table(
        "strided-core",
        (),
        layers(
            _0="scalar dtype error op_table",
            _1="storage alloc layout threads cpu",
            _2="tensor nest",
            _3a="kernels",
            _3b="opencl",
            _4="backend",
            _5a="ops",
            _5b="io",
        ),
        cycle=frozenset({"scalar", "dtype", "error"}),
    ),
    Table(
        "strided-core",
        ("kernels",),
        layers(
            _3a="scratch cast copy transpose nontemporal byteswap loops item",
            _3b="staging split pack maths",
            _3c="map generate lines",
            _3d="where isclose round fill index random reduce scan softmax sort matmul repeat triangle",
            _3e="tables",
        ),
    ),
    Table(
        "strided-core",
        ("opencl",),
        layers(
            _a="expression source program fault",
            _b="launch",
            _c="map",
            _d="transfer",
            _e="reduce index products generate random triangle masks",
            _f="lines",
        ),
    ),
    Table(
        "strided-opencl",
        (),
        layers(_0="error library", _1="pool work", _2="device", _3="memory program", _4="queue"),
    ),
    Table("strided-py", (), layers(_0="abi", _1="convert", _2="classes", _3="api")),
]
UNSAFE_MODULES = {"storage", "alloc", "threads", "cpu", "kernels"}
UNSAFE_BLOCKS_ONLY = {"tensor", "nest"}  # they may call unsafe functions, not offer them
MAX_LINES = 700
LONGEST_HEADER = 2000  # characters from `fn` or `impl` to its brace
MAX_DISTANCE = 3  # lines of code between a SAFETY comment and its `unsafe`

BLANKED = re.compile(
    r"""//[^\n]*                               # comments; nested block comments are not used here
      | /\*.*?\*/
      | (?<!\w)[bc]?r(?P<hash>\#*)".*?"(?P=hash)
      | "(?:\\.|[^"\\])*"
      | '(?:\\[^']+|\\'|[^'\\\n])'             # a character; a lifetime has no second quote
    """,
    re.X | re.S,
)
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{")
INLINE_MODULE = re.compile(r"\bmod\s+(\w+)\s*\{")
ROOTED = re.compile(r"(?<![\w:])(?P<root>crate|self|super(?:\s*::\s*super)*)\s*::\s*(?=[\w{*])")
NAME = re.compile(r"\s*(?:r#)?(\w+|\*)\s*")
CONTINUES = re.compile(r"::\s*(?=[\w{*])")
ALIAS = re.compile(r"as\s+(\w+)")
EXPORTED_MACRO = re.compile(r"#\[macro_export\]\s*(?:#\[[^\]]*\]\s*)*macro_rules!\s*(\w+)")
RE_EXPORT = re.compile(r"\bpub(?:\([^)]*\))?\s+use\s+(?=\w)")
UNSAFE = re.compile(r"\bunsafe\b(?!\s*\()\s*(?P<what>\{|\w+)")
UNSAFE_FUNCTION = re.compile(r'\bunsafe\s+(?:extern\s+(?:"\s*"\s+)?)?fn\s+(\w+)')
ITEM = re.compile(
    r"(?:^|[{};])\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:unsafe|const|async|extern(?:\s*\"\s*\")?)\s+)*"
    r"((?:impl|trait|fn|mod|struct|enum)\b)",
    re.M,
)
VAGUE = re.compile(
    r"(?:as (?:above|before)"
    r"|(?:by |as )?(?:the )?(?:callers?|kernels?)(?:'s|')? (?:promises?|contract)(?: (?:it|so|this))?"
    r"|(?:the )?promise of `[^`]+`)[.;:]?",
    re.I,
)


class Use(NamedTuple):
    """A path that a file names, from the root of its crate."""

    position: int
    path: Module
    alias: str | None  # of `use path as alias`


class Source(NamedTuple):
    """One file: as written, with comments and literals blanked, and with its inline tests blanked too."""

    path: Path
    module: Module
    text: str
    code: str
    body: str
    length: int  # in lines, without inline tests: those belong beside what they test

    @property
    def top(self) -> str:
        return self.module[0] if self.module else "lib"

    @property
    def is_test(self) -> bool:
        return "tests" in self.module

    def line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1


def blank(text: str) -> str:
    """Spaces of the same length, with the line ends kept, so that positions and line numbers stay true."""
    return re.sub(r"[^\n]", " ", text)


def closing(code: str, opening: int) -> int:
    """The position just after the brace that closes the one at `opening`."""
    depth = 0
    for brace in re.compile(r"[{}]").finditer(code, opening):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(code)


def without_tests(code: str) -> tuple[str, int]:
    """The code with inline tests blanked, and the number of lines that remain."""
    length = len(code.splitlines())
    while match := TESTS.search(code):
        end = closing(code, match.end() - 1)
        tests = code[match.start() : end]
        code = code[: match.start()] + blank(tests) + code[end:]
        length -= len(tests.splitlines())
    return code, length


def read(crate: Path) -> list[Source]:
    sources = []
    for path in sorted((crate / "src").rglob("*.rs")):
        module = path.relative_to(crate / "src").with_suffix("").parts
        if module[-1] in ("mod", "lib"):
            module = module[:-1]
        text = path.read_text(encoding="utf-8")
        code = BLANKED.sub(lambda match: blank(match[0]), text)
        sources.append(Source(path, module, text, code, *without_tests(code)))
    return sources


# Paths


def path_tree(code: str, position: int, prefix: Module) -> tuple[list[Use], int]:
    """The paths that start at `position`: one for `a::b`, two for `{a::x, b as c}`. And where they end."""
    while True:
        if code[position] == "{":
            found, end = [], closing(code, position)
            position += 1
            while position < end - 1:
                if code[position] in ", \n":
                    position += 1
                else:
                    uses, position = path_tree(code, position, prefix)
                    found += uses
            return found, end
        name = NAME.match(code, position)
        if not name:
            return [], position + 1
        start = name.start(1)
        prefix = prefix if name[1] == "self" else (*prefix, name[1])
        position = name.end()
        more = CONTINUES.match(code, position)
        if not more:
            alias = ALIAS.match(code, position)
            return [Use(start, prefix, alias and alias[1])], alias.end() if alias else position
        position = more.end()


def uses(source: Source) -> Iterator[Use]:
    """The paths of a file that start with `crate`, `self` or `super`, or with a module imported by such a path."""
    inline = [
        (module.start(), closing(source.body, module.end() - 1), module[1])
        for module in INLINE_MODULE.finditer(source.body)
    ]
    imported = {}
    for match in ROOTED.finditer(source.body):
        here = (*source.module, *(name for start, end, name in inline if start < match.start() < end))
        root = match["root"]
        base = () if root == "crate" else here if root == "self" else here[: len(here) - root.count("super")]
        for use in path_tree(source.body, match.end(), base)[0]:
            yield use
            imported[use.alias or use.path[-1] if use.path else ""] = use.path
    # `use crate::kernels;` makes `kernels::map::run` a path of its own.
    names = "|".join(re.escape(name) for name in imported if name)
    for match in re.finditer(rf"(?<![\w:])({names})\s*::\s*(?=[\w{{*])", source.body) if names else ():
        yield from path_tree(source.body, match.end(), imported[match[1]])[0]


class Crate:
    """The files of a crate, the paths they name, and what its modules re-export."""

    def __init__(self, folder: Path):
        self.name = folder.name
        self.sources = read(folder)
        self.modules = {source.module for source in self.sources}

    @cached_property
    def tables(self) -> list[Table]:
        """The tables of the crate, and one without layers for each other folder, so that no folder has import cycles."""
        known = {table.inside: table for table in TABLES if table.crate == self.name}
        folders = {module[:-1] for module in self.modules if module}
        return [known.get(folder) or Table(self.name, folder, {}) for folder in sorted(folders | known.keys())]

    @cached_property
    def re_exports(self) -> dict[Module, Module]:
        """Paths that stand for another path: exported macros at the root, and `pub use` of a submodule's names."""
        found: dict[Module, Module] = {}
        for source in self.sources:
            for macro in EXPORTED_MACRO.finditer(source.code):
                if (macro[1],) not in self.modules:
                    found[macro[1],] = (*source.module, macro[1])
            for match in RE_EXPORT.finditer(source.body):
                for use in path_tree(source.body, match.end(), ())[0]:
                    path = use.path[1:] if use.path[0] in ("crate", "self") else use.path
                    base = () if use.path[0] == "crate" else source.module
                    if len(path) > 1 and (*base, path[0]) in self.modules:
                        found[*source.module, use.alias or path[-1]] = (*base, *path)
        return {path: target for path, target in found.items() if path != target}

    @cached_property
    def uses(self) -> list[tuple[Source, Use, Module]]:
        """Each path that a file names outside of its tests, and what it stands for."""
        found = []
        for source in self.sources:
            for use in () if source.is_test else uses(source):
                path = use.path
                for end in range(1, len(path) + 1):
                    if path[:end] in self.re_exports:
                        path = self.re_exports[path[:end]] + path[end:]
                        break
                found.append((source, use, path))
        return found


# Rules. Each yields (source, position, sentence) for the faults of one crate.

Found = Iterator[tuple[Source, int, str]]


def layer_faults(crate: Crate, table: Table) -> Found:
    known = table.layers
    for source in crate.sources if known else ():
        entry = table.entry(source.module)
        if entry is not None and entry not in known and not source.is_test:
            where = "::".join((*table.inside, entry))
            yield source, 0, f"{where} has no layer; enter it in TABLES of tools/layers.py"
    for source, use, path in crate.uses:
        own, other = table.entry(source.module), table.entry(path)
        if own is None or other is None:
            continue
        if other == "*":
            glob = "::".join(("crate", *table.inside, "*"))
            yield source, use.position, f"{glob} hides which modules are used; name them"
        elif own in known and other in known and known[other] > known[own]:
            through = f" (through {use.path[-1]})" if table.entry(use.path) != other else ""
            message = f"{own} (layer {known[own]}) must not use {other} (layer {known[other]}){through}"
            yield source, use.position, message


#: Modules of the engine that call the code of a device through `backend`.
ABOVE_KERNELS = {"ops", "io"}


def boundary_faults(crate: Crate) -> Found:
    """Kernels are called through `backend` alone: a path as written counts, since `backend` re-exports plain types."""
    message = "kernels are called through backend alone"
    if crate.name == "strided-core":
        for source in crate.sources:
            for use in uses(source) if source.top in ABOVE_KERNELS and not source.is_test else ():
                if use.path[:1] == ("kernels",):
                    yield source, use.position, message
    elif crate.name == "strided-py":
        for source in crate.sources:
            for match in re.finditer(r"\bstrided_core\s*::\s*(?:\{[^;]*?\b)?kernels\b", source.body):
                yield source, match.start(), message


def cycle_faults(crate: Crate, table: Table) -> Found:
    entries = {table.entry(module) for module in crate.modules} - {None}
    graph: dict[str, dict[str, tuple[Source, int]]] = defaultdict(dict)
    for source, use, path in crate.uses:
        own, other = table.entry(source.module), table.entry(path)
        if own is None or other is None or own == other or {own, other} <= table.cycle:
            continue
        if other in entries:
            graph[own].setdefault(other, (source, use.position))
    # Each round finds a shortest cycle and drops its last edge, so that every cycle is reported, and none twice.
    while cycle := shortest_cycle(graph):
        source, position = graph[cycle[-1]].pop(cycle[0])
        yield source, position, f"import cycle: {' uses '.join([*cycle, cycle[0]])}"


def shortest_cycle(graph: dict[str, dict[str, tuple[Source, int]]]) -> list[str]:
    best: list[str] = []
    for start in sorted(graph):
        paths, seen = [[start]], {start}
        for path in paths:
            if start in graph.get(path[-1], {}) and (not best or len(path) < len(best)):
                best = path
            for other in sorted(graph.get(path[-1], {})):
                if other not in seen:
                    seen.add(other)
                    paths.append([*path, other])
    return best


def python_faults(crate: Crate) -> Found:
    for source in crate.sources if crate.name == "strided-core" else ():
        for word in re.finditer(r"\b(?:pyo3|ffi)\b", source.code):
            yield source, word.start(), f"the engine knows nothing of Python, but this says {word[0]}"


def length_remarks(crate: Crate) -> Found:
    for source in crate.sources:
        if source.length > MAX_LINES and not source.is_test:
            yield source, 0, f"{source.length} lines, more than {MAX_LINES}: is this about more than one thing?"


def safety_comment(source: Source, position: int) -> str | None:
    """The SAFETY comment of the `unsafe` at `position`, without its slashes, as one line."""
    written = source.text.split("\n")
    line, distance = source.line(position) - 1, MAX_DISTANCE
    while "SAFETY" not in written[line]:
        if line == 0 or distance == 0:
            return None
        line -= 1
        distance -= not written[line].lstrip().startswith("//")  # long comments are allowed
    comment = [written[line].partition("SAFETY")[2].lstrip(":")]
    for below in written[line + 1 :]:
        if not below.lstrip().startswith("//") or "SAFETY" in below:
            break
        comment.append(below.lstrip().lstrip("/"))
    return " ".join(" ".join(comment).split())


def unsafe_faults(crate: Crate) -> Found:
    for source in crate.sources:
        for match in UNSAFE.finditer(source.code):
            what = match["what"]
            in_tests = source.is_test or not source.body[match.start()].strip()
            if crate.name == "strided-core" and not in_tests and source.top not in UNSAFE_MODULES:
                if source.top not in UNSAFE_BLOCKS_ONLY:
                    message = f"{source.top} must not contain unsafe code; it belongs into kernels or storage"
                    yield source, match.start(), message
                    continue
                if what != "{":
                    message = f"{source.top} may hold unsafe blocks with a reason, but no unsafe {what}"
                    yield source, match.start(), message
            if what in ("{", "impl") and safety_comment(source, match.start()) is None:
                message = f"unsafe {what} without a SAFETY comment in the {MAX_DISTANCE} lines above"
                yield source, match.start(), message


def vague_safety_faults(crate: Crate) -> Found:
    for source in crate.sources:
        for match in re.finditer(r"//\s*SAFETY", source.text):
            comment = safety_comment(source, match.start())
            if comment is not None and VAGUE.fullmatch(comment):
                yield source, match.start(), f"this SAFETY comment names no fact: {comment}"


def block_header(code: str, position: int) -> str:
    """The first line of the item whose block is the innermost one around `position`, as `impl Trait for Type`."""
    opened = []
    for brace in re.compile(r"[{}]").finditer(code, 0, position):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            opened.pop()
    if not opened:
        return ""
    header = code[max(0, opened[-1] - LONGEST_HEADER) : opened[-1]]
    starts = [item.start(1) for item in ITEM.finditer(header)]
    return header[starts[-1] :] if starts else ""


def document(source: Source, position: int) -> str:
    """The doc comment above the item at `position`; attributes and plain comments may lie between."""
    above = []
    for line in reversed(source.text[:position].split("\n")[:-1]):
        if not re.match(r"\s*(?://|#!?\[|\)\]|\)?\]$)", line):
            break
        above.append(line.strip())
    return "\n".join(line for line in reversed(above) if line.startswith("///"))


def safety_section_faults(crate: Crate) -> Found:
    for source in crate.sources:
        if source.is_test:
            continue
        for match in UNSAFE_FUNCTION.finditer(source.body):
            # A method of an implementation has the contract that the trait states.
            if re.match(r"impl\b.*\bfor\b(?!\s*<)", block_header(source.body, match.start()), re.S):
                continue
            if "# Safety" not in document(source, match.start()):
                yield source, match.start(), f"unsafe fn {match[1]} without a # Safety section in its document"


#: Vectors that end the process if there is no memory for them. `vec![a, b]` has as many elements as the source says.
INFALLIBLE = re.compile(
    r"\bvec!\[[^\]]*;|\bVec::with_capacity\(|\.to_vec\(\)|::new_uninit_slice\(|\bVec<[^=;]*> = [^;]*\.collect\(\)|::<Vec<[^;]*?\(\)"
)
#: Locks inside of which Python code of another thread may run, and with it a fork.
LOCKED = re.compile(r"\bget_or_(?:try_)?init\(|\bintern!\(|\block_py_attached\(")
#: Files whose `get_or_init` runs no Python code.
RUST_INSIDE = {"document.rs"}


def allocation_faults(crate: Crate) -> Found:
    """Kernels allocate by `alloc::try_vec` and its relatives: what they allocate grows with their operands."""
    for source in crate.sources:
        if crate.name == "strided-core" and source.top == "kernels" and not source.is_test:
            for match in INFALLIBLE.finditer(source.body):
                yield (
                    source,
                    match.start(),
                    "a vector of a kernel is allocated by alloc::try_vec or one of its relatives",
                )


def lock_faults(crate: Crate) -> Found:
    for source in crate.sources:
        if crate.name == "strided-py" and not source.is_test and source.path.name not in RUST_INSIDE:
            for match in LOCKED.finditer(source.body):
                message = (
                    "an object is made outside of any lock, by abi::late: a fork would leave the lock to the child"
                )
                yield source, match.start(), message


RULES = (
    boundary_faults,
    python_faults,
    unsafe_faults,
    vague_safety_faults,
    safety_section_faults,
    allocation_faults,
    lock_faults,
)


def crates(root: Path) -> list[Crate]:
    return [Crate(folder) for folder in sorted((root / "crates").iterdir())]


def sentences(root: Path, found: Iterable[tuple[Source, int, str]]) -> list[str]:
    return [
        f"{source.path.relative_to(root).as_posix()}:{source.line(position)}: {sentence}"
        for source, position, sentence in sorted(found, key=lambda fault: (fault[0].path, fault[1]))
    ]


def check(root: Path) -> list[str]:
    """All faults of the crates under `root`, as sentences."""
    found: list[tuple[Source, int, str]] = []
    for crate in crates(root):
        for table in crate.tables:
            found += layer_faults(crate, table)
            found += cycle_faults(crate, table)
        for rule in RULES:
            found += rule(crate)
    return sentences(root, found)


def remarks(root: Path) -> list[str]:
    """What is worth a look and no fault: files that are very long."""
    return sentences(root, (remark for crate in crates(root) for remark in length_remarks(crate)))


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    faults = check(root)
    print("\n".join(remarks(root) + (faults or ["all layers are in order"])))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
