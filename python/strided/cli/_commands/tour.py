"""`strided tour`: shows each line, runs it, and prints the result."""

from __future__ import annotations

import argparse
import ast
import importlib.util

from strided.cli import _output as output
from strided.cli._failure import Failure

EXAMPLES = """
  strided tour
  strided tour --section 2
"""
ERRORS = "Errors are explained, and change nothing"
TOUR = [
    ("One storage, many views", """
        x = st.arange(12).view(3, 4)
        x
        x.narrow(1, 1, 2).fill_(-1)              # a view of two columns
        x                                        # writing through a view changes the original
        x.storage() is x.t().storage()           # nothing was copied
    """),
    ("Strides: how far to step in the storage", """
        x.stride(), x.t().stride()               # a transpose swaps them
        last = x[::-1, ::2]                      # slices with negative steps are views too
        last
        last.stride(), last.storage_offset()
        st.arange(3).expand(2, 3).stride()       # a stride of 0 repeats
        st.arange(6).unfold(0, 3, 1)             # overlapping windows, still no copy
    """),
    ("A layout is a value", """
        x.layout
        last.layout.span, last.layout.size       # six elements within a span of eleven
        x.t().layout.is_column_major
        st.zeros(2, 3, 4).layout.sequentially_contiguous((2, 1, 0))
        st.zeros(2, 3, 4).fold((2, 1)).shape     # sequentially contiguous modes become one
    """),
    ("Dtypes and promotion", """
        small = st.tensor([1, 2, 250], dtype=st.uint8)
        small + 10                               # a Python int adapts to the tensor's dtype; integers wrap
        (small + 0.5).dtype, (small / 2).dtype, (small < 3).dtype
        st.promote_types(st.uint8, st.int8)
        st.DoubleTensor([[1, 2], [3, 4]])
        isinstance(small, st.ByteTensor), small.type()
    """),
    ("Operations: broadcasting, in place, into an output", """
        rows, columns = st.arange(3).view(3, 1), st.arange(4) * 10
        rows + columns
        y = st.empty(3, 4)
        st.add(rows, columns, out=y) is y
        y.mul_(0.5)
        y.sum().item(), y.sum(dim=0).tolist(), y.sum(dim=1, keepdim=True).shape
        y[1:] -= y[:-1]                          # overlap: as if all operands had been read first
        y
    """),
    (ERRORS, """
        y.narrow(0, 2, 5)
        y + st.zeros(7)
        small.fill_(300)
        st.arange(3).expand(2, 3).fill_(1)
        small += 1.5
    """),
    ("Pickles and deep copies preserve sharing", """
        import copy, pickle
        a, b = pickle.loads(pickle.dumps((x, x[1])))
        b.zero_()
        a
        copy.deepcopy(x).is_set_to(x)
    """),
]  # fmt: skip

WITH_NUMPY = ("NumPy shares the same memory", """
        import numpy as np
        z = np.zeros((2, 3), dtype=np.float32)
        st.from_numpy(z)[:, ::-1].copy_([1, 2, 3])
        z
        y.numpy().strides, np.add(y, 1).dtype
""")  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--section", type=int, metavar="N", help="only one section; those before it run silently")
    output.add_output_options(parser, json_too=False)


def run(options: argparse.Namespace) -> int:
    import strided as st

    sections = TOUR + [WITH_NUMPY] * (importlib.util.find_spec("numpy") is not None)
    if options.section is not None and not 1 <= options.section <= len(sections):
        raise Failure(f"--section is {options.section}, wanted 1 to {len(sections)}")
    names: dict[str, object] = {"st": st}
    for number, (heading, text) in enumerate(sections, 1):
        lines = _transcript(text, names, expected=Exception if heading == ERRORS else ())
        if options.section in (None, number):
            print()
            output.print_title(options, f"{number}. {heading}")
            print("-" * (len(heading) + 3))
            print("\n".join(lines))
    return 0


def _transcript(text: str, names: dict[str, object], expected: type[Exception] | tuple[()]) -> list[str]:
    """Runs each statement. Returns the statements, the values of expressions, and the errors that are expected."""
    lines = [line.removeprefix(" " * 8) for line in text.strip("\n").splitlines()]
    shown = []
    for statement in ast.parse("\n".join(lines)).body:
        shown.append(">>> " + "\n... ".join(lines[statement.lineno - 1 : statement.end_lineno]))
        try:
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), "tour", "eval"), names)
                shown.append(repr(value))
            else:
                exec(compile(ast.Module([statement], []), "tour", "exec"), names)
        except expected as error:
            shown.append(f"{type(error).__name__}: {error}")
    return shown
