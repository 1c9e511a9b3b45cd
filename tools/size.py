"""Prints the bytes of a built module by folder of the sources. `./dev size` builds one with symbols and calls this.

    python tools/size.py MODULE

A function counts for the folder that its source is in, once for every type that it is compiled for. Functions of `cpu`
that run a kernel with the instructions of a level count for that kernel.
"""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

CRATES = {"strided_core": "strided-core", "_strided": "strided-py"}
DETAILED = ("strided-core", "kernels")  # the folder whose entries are listed one by one
LINE = re.compile(r"[0-9a-f]+ ([0-9a-f]+) \w (.+)")  # of `nm --print-size`: address, size, kind, name
OURS = re.compile(r"(?<![\w:])(strided_core|_strided)((?:::\w+)*)")


def folder_of(symbol: str) -> str:
    """The folder or file of a demangled symbol, as `strided-core/kernels/reduce`, or the library that it is from."""
    symbol = symbol.replace("r#", "")
    ours = OURS.findall(symbol)
    if not ours:
        return next((name for name in ("pxfm", "pyo3") if f"{name}::" in symbol), "standard library and others")
    # `cpu::dispatch` and its like have the kernel as a generic argument.
    crate, path = next((found for found in ours if not found[1].startswith("::cpu::")), ours[0])
    names = path.split("::")[1:]
    depth = 2 if (CRATES[crate], *names[:1]) == DETAILED else 1
    # The last name is that of the item, not of a module.
    return "/".join([CRATES[crate], *names[: min(depth, len(names) - 1)]])


def sizes(lines: Iterable[str]) -> Counter[str]:
    """Bytes per folder, from the lines that `nm` prints."""
    total: Counter[str] = Counter()
    for line in lines:
        if symbol := LINE.fullmatch(line.strip()):
            total[folder_of(symbol[2])] += int(symbol[1], 16)
    return total


def stripped_size(module: Path) -> int:
    """The size of the file as it is in a wheel, without symbols."""
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder) / module.name
        subprocess.run(["strip", "--strip-all", "-o", stripped, module], check=True)
        return stripped.stat().st_size


def main() -> None:
    module = Path(sys.argv[1])
    nm = ["nm", "--print-size", "--demangle", "--defined-only", str(module)]
    by_folder = sizes(subprocess.run(nm, check=True, capture_output=True, text=True).stdout.splitlines())
    total = stripped_size(module)
    by_folder["without a symbol"] = total - by_folder.total()
    width = max(map(len, by_folder))
    for folder, size in sorted(by_folder.items(), key=lambda item: -item[1]):
        print(f"{folder:<{width}} {size:>11,} {size / total:>7.1%}")
    print(f"{'total':<{width}} {total:>11,}")
    print("\nWithout a symbol: constants of functions, unwind tables, relocations and the dynamic symbol table.")


if __name__ == "__main__":
    main()
