"""The cost of a call on tiny tensors in ns, compared with NumPy and, if installed, PyTorch.

    ./dev bench calls                       builds for release first
    python bench/calls.py --json FILE       measures the built module, and writes the figures to a file

A row may have several spellings in a peer, of which the fastest counts. strided has one, which is shown in the table.
"""

import argparse
import json
from types import ModuleType
from typing import Any, NamedTuple

import _timing as timing

Results = dict[str, dict[str, dict[str, Any]]]  # row -> library -> {"ns": …, "spelling": …}


class Row(NamedTuple):
    """One call in each library's spellings. `a` and `b` are 8 float32 in one dim, `x` is 5x6, `numbers` 8 floats."""

    strided: str
    numpy: tuple[str, ...]
    torch: tuple[str, ...]


ROWS = [
    Row("a + b", ("a + b", "add(a, b)"), ("a + b", "add(a, b)")),
    Row("a * 2", ("a * 2", "multiply(a, 2)"), ("a * 2", "mul(a, 2)")),
    Row("a < b", ("a < b", "less(a, b)"), ("a < b", "lt(a, b)")),
    Row("a.add_(b)", ("add(a, b, a)", "add(a, b, out=a)", "a += b"), ("a.add_(b)", "a += b")),
    Row("a.sum()", ("a.sum()", "sum(a)", "reduce(a)", "einsum('i->', a)"), ("a.sum()", "sum(a)")),
    Row("x.narrow(0, 1, 2)", ("x[1:3]",), ("x.narrow(0, 1, 2)", "x[1:3]")),
    Row("x[1:3, ::2]", ("x[1:3, ::2]",), ("x[1:3, ::2]",)),
    Row("x[2]", ("x[2]",), ("x[2]", "x.select(0, 2)")),
    Row("x.t()", ("x.T", "x.transpose()", "x.swapaxes(0, 1)", "transpose(x)"), ("x.t()", "x.T")),
    Row("x.view(6, 5)", ("x.reshape(6, 5)", "x.reshape((6, 5))", "reshape(x, (6, 5))"), ("x.view(6, 5)",)),
    Row("x.item(3, 4)", ("x.item(3, 4)", "x[3, 4]", "x.item((3, 4))"), ("x[3, 4].item()",)),
    Row("x[3, 4] = 1.0", ("x[3, 4] = 1.0", "x[3][4] = 1.0"), ("x[3, 4] = 1.0",)),
    Row("zeros(8)", ("zeros(8)", "zeros(8, float32)", "zeros(8, 'f')"), ("zeros(8)",)),
    Row("tensor(numbers)", ("array(numbers)", "array(numbers, float32)", "asarray(numbers)", "fromiter(numbers, float32)"), ("tensor(numbers)", "Tensor(numbers)")),
    Row("a.clone()", ("a.copy()", "array(a)", "copy(a)", "+a"), ("a.clone()",)),
    Row("x.size()", ("x.shape", "shape(x)"), ("x.size()", "x.shape")),
    Row("x.shape", ("x.shape",), ("x.shape",)),
    Row("repr(a)", ("repr(a)", "str(a)"), ("repr(a)",)),
    Row("repr(x)", ("repr(x)", "str(x)"), ("repr(x)",)),
]  # fmt: skip

FUNCTIONS = {
    "strided": ["tensor", "zeros"],
    "numpy": [
        *["add", "array", "asarray", "copy", "einsum", "float32", "fromiter", "less", "multiply", "reshape", "shape"],
        *["sum", "transpose", "zeros"],
    ],
    "torch": ["Tensor", "add", "lt", "mul", "sum", "tensor", "zeros"],
}


def names(library: ModuleType) -> dict[str, Any]:
    """Returns the names that the spellings of a library use: its own operands, and its functions without a prefix."""
    make = getattr(library, "tensor", None) or library.array
    dtype = library.float32
    space: dict[str, Any] = {name: getattr(library, name) for name in FUNCTIONS[library.__name__]}
    # `b` is 0, so that repeated addition in place never reaches infinity.
    space |= {"a": make([1.5] * 8, dtype=dtype), "b": make([0.0] * 8, dtype=dtype)}
    space |= {"x": make([[row * 6.0 + column for column in range(6)] for row in range(5)], dtype=dtype)}
    space |= {"numbers": [index + 0.5 for index in range(8)]}
    if library.__name__ == "numpy":
        space["reduce"] = library.add.reduce
    return space


def measure(spaces: dict[str, dict[str, Any]], rounds: int) -> Results:
    """Returns the fastest spelling and its ns for each row and library."""
    entries = []
    for row in ROWS:
        spellings = {"strided": (row.strided,), "numpy": row.numpy, "torch": row.torch}
        entries += [(row.strided, library, text) for library in spaces for text in spellings[library]]
    seconds = timing.best([timing.sampler(text, spaces[library]) for _, library, text in entries], rounds)
    results: Results = {row.strided: {} for row in ROWS}
    for (name, library, text), taken in zip(entries, seconds, strict=True):
        ns = round(taken * 1e9, 1)
        if library not in results[name] or ns < results[name][library]["ns"]:
            results[name][library] = {"ns": ns, "spelling": text}
    return results


def table(results: Results, peers: list[str]) -> list[str]:
    """Returns aligned lines: our time, then each peer's time and the ratio."""
    head = ["call", "strided"] + [text for peer in peers for text in (peer, "ratio")]
    head += [f"{peer}'s fastest" for peer in peers[:1]]
    rows = [head]
    for name, found in results.items():
        ours = found["strided"]["ns"]
        line = [name, f"{ours:.1f}"]
        for peer in peers:
            line += [f"{found[peer]['ns']:.1f}", f"{ours / found[peer]['ns']:.2f}"]
        rows.append(line + [found[peer]["spelling"] for peer in peers[:1]])
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    words = {0, len(head) - 1} if peers else {0}
    lines = []
    for row in rows:
        cells = [cell.ljust(widths[at]) if at in words else cell.rjust(widths[at]) for at, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    return lines


def verdict(results: Results) -> str:
    """Returns a sentence that names the rows which are not faster than NumPy."""
    behind = [name for name, found in results.items() if found["strided"]["ns"] >= found["numpy"]["ns"]]
    if not behind:
        return "Every row is below NumPy's fastest spelling."
    return f"Not below NumPy's fastest spelling: {', '.join(behind)}."


def main() -> None:
    parser = argparse.ArgumentParser(description="ns per call of strided, NumPy and PyTorch on tiny tensors")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to a file")
    parser.add_argument("--rounds", type=int, default=100, help="samples of each spelling; the best one counts")
    options = parser.parse_args()
    libraries = [library for library in map(timing.installed, ("strided", "numpy", "torch")) if library]
    spaces = {library.__name__: names(library) for library in libraries}

    header = timing.machine(*libraries)
    print(header)
    print(f"ns per call, best of {options.rounds} interleaved rounds, minus an empty loop; ratio: strided / peer")
    print("a, b: 8 float32; x: 5x6 float32; numbers: a list of 8 floats\n")
    results = measure(spaces, options.rounds)
    print("\n".join(table(results, list(spaces)[1:])))
    if "numpy" in spaces:
        print(f"\n{verdict(results)}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": header, "rounds": options.rounds, "rows": results}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
