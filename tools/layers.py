"""The layer check: which room of the engine may use which, where unsafe code may live, how long a file may grow.

    python tools/layers.py [ROOT]

Prints one sentence per fault, as file:line, and ends with exit code 1 if there is any.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOMS = {
    "scalar": 0, "dtype": 0, "error": 0,
    "storage": 1, "alloc": 1, "layout": 1, "threads": 1, "cpu": 1,
    "tensor": 2, "nest": 2,
    "kernels": 3,
    "ops": 4, "io": 4,
}  # fmt: skip
UNSAFE_ROOMS = {"storage", "alloc", "threads", "cpu", "kernels"}
UNSAFE_BLOCKS_ONLY = {"tensor", "nest"}  # they may call what is unsafe, not offer it
LONGEST = 700
REACH = 3  # lines of code that may stand between a SAFETY comment and its `unsafe`

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
PATH = re.compile(r"(?<![\w:])(?:crate|(?P<up>super(?:\s*::\s*super)*))\s*::\s*(?=[\w{*])")
RE_EXPORT = re.compile(r"\buse\s+(?:crate::|self::)?(?P<room>\w+)::(?P<names>[^;]+);")
UNSAFE = re.compile(r"\bunsafe\b(?!\s*\()\s*(?P<what>\{|\w+)")


class Source(NamedTuple):
    """One file: as written, with comments and literals blanked, and with its inline tests blanked too."""

    path: Path
    module: tuple[str, ...]
    text: str
    code: str
    body: str
    length: int  # in lines, without inline tests: those belong beside what they test

    @property
    def room(self) -> str:
        return self.module[0] if self.module else "lib"

    @property
    def is_test(self) -> bool:
        return "tests" in self.module


def blank(text: str) -> str:
    """Spaces of the same length, with the line ends kept, so that positions and line numbers stay true."""
    return re.sub(r"[^\n]", " ", text)


def closing(code: str, opening: int) -> int:
    """The position just after the brace that closes the one at `opening`."""
    depth = 0
    for position in range(opening, len(code)):
        depth += {"{": 1, "}": -1}.get(code[position], 0)
        if depth == 0:
            return position + 1
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


def first_names(code: str, position: int) -> Iterator[tuple[int, str]]:
    """The names that a path starts with: `layout` for `layout::Layout`, `a` and `b` for `{a::x, b}`."""
    if code[position] != "{":
        match = re.compile(r"\w+|\*").match(code, position)
        if match:
            yield position, match[0]
        return
    depth, fresh = 0, True
    for match in re.finditer(r"[{},*]|\w+", code[position : closing(code, position)]):
        word = match[0]
        if word in "{}":
            depth += 1 if word == "{" else -1
        elif depth == 1 and fresh and word != ",":
            yield position + match.start(), word
        fresh = word == "," or (word == "{" and depth == 1)


def shortcuts(sources: list[Source]) -> dict[str, str]:
    """Names at the root of the crate that stand for something in a room: exported macros and re-exports."""
    names = {}
    for source in sources:
        for macro in re.finditer(r"macro_rules!\s*(\w+)", source.code):
            names[macro[1]] = source.room
        if source.room == "lib":
            for use in RE_EXPORT.finditer(source.body):
                if use["room"] in ROOMS:
                    names.update(dict.fromkeys(re.findall(r"\w+", use["names"]), use["room"]))
    return {name: room for name, room in names.items() if name not in ROOMS and room in ROOMS}


def room_faults(source: Source, known: dict[str, str]) -> Iterator[tuple[int, str]]:
    if source.room == "lib" or source.is_test:
        return
    if source.room not in ROOMS:
        yield 0, f"{source.room} has no room number; enter it in ROOMS of tools/layers.py"
        return
    own = ROOMS[source.room]
    for match in PATH.finditer(source.body):
        if match["up"] and match["up"].count("super") < len(source.module):
            continue  # stays inside the room
        for position, name in first_names(source.body, match.end()):
            room = known.get(name, name)
            if name == "*" and not match["up"]:
                yield position, "crate::* hides which rooms are used; name them"
            elif room in ROOMS and ROOMS[room] > own:
                through = f" (through {name})" if room != name else ""
                yield position, f"{source.room} (room {own}) must not use {room} (room {ROOMS[room]}){through}"


def unsafe_faults(source: Source, core: bool) -> Iterator[tuple[int, str]]:
    written = source.text.split("\n")
    for match in UNSAFE.finditer(source.code):
        what = match["what"]
        in_tests = source.is_test or not source.body[match.start()].strip()
        if core and not in_tests and source.room not in UNSAFE_ROOMS:
            if source.room not in UNSAFE_BLOCKS_ONLY:
                yield match.start(), f"{source.room} must not contain unsafe code; it belongs into kernels or storage"
                continue
            if what != "{":
                yield match.start(), f"{source.room} may hold unsafe blocks with a reason, but no unsafe {what}"
        if what not in ("{", "impl"):
            continue
        line = source.code.count("\n", 0, match.start())
        reach, explained = REACH, "SAFETY" in written[line]
        while not explained and line > 0 and reach > 0:
            line -= 1
            explained = "SAFETY" in written[line]
            reach -= not written[line].lstrip().startswith("//")  # a long comment is no fault
        if not explained:
            yield match.start(), f"unsafe {what} without a SAFETY comment in the {REACH} lines above"


def check(root: Path) -> list[str]:
    """All faults of the crates under `root`, as sentences."""
    found = []
    for crate in sorted((root / "crates").iterdir()):
        sources = read(crate)
        core = crate.name == "strided-core"
        known = shortcuts(sources)
        for source in sources:
            faults = list(unsafe_faults(source, core))
            if core:
                faults += room_faults(source, known)
                for word in re.finditer(r"\b(?:pyo3|ffi)\b", source.code):
                    faults.append((word.start(), f"the engine knows nothing of Python, but this says {word[0]}"))
            if source.length > LONGEST and not source.is_test:
                faults.append((0, f"{source.length} lines, more than {LONGEST}: this is about more than one thing"))
            for position, sentence in sorted(faults):
                line = source.text.count("\n", 0, position) + 1
                found.append(f"{source.path.relative_to(root).as_posix()}:{line}: {sentence}")
    return found


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    faults = check(root)
    print("\n".join(faults) if faults else "all rooms are in order")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
