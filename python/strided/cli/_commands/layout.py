"""`strided layout`: draws a layout, of a shape and strides or of a tensor in a file."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strided.cli import _output as output
from strided.cli._commands.show import parse_index
from strided.cli._failure import Failure
from strided.cli._target import find, open_file, split

if TYPE_CHECKING:
    from strided import Layout

EXAMPLES = """
  strided layout 3,4
  strided layout 3,4 --stride 1,3
  strided layout 3,4 --view 't().narrow(0, 1, 2)'
  strided layout weights.npz:conv1.weight --explain
  strided layout 2,3 --svg layout.svg
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("layout", metavar="SHAPE | FILE[:NAME]", help="extents, such as 3,4, or a tensor in a file")
    parser.add_argument(
        "--stride", metavar="STRIDES", help="distances of neighbours, such as 1,3; row-major unless given"
    )
    parser.add_argument("--offset", type=int, default=0, help="where the first element is (0)")
    parser.add_argument("--view", metavar="CALLS", help="views of it, as methods of Layout: 't()[1:].flip(0)'")
    parser.add_argument("--explain", action="store_true", help="what the layout is in words, and what operations cost")
    parser.add_argument("--svg", metavar="OUT.svg", help="write the drawing as a picture")
    output.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    import strided as st

    layout = _layout(options)
    if options.view:
        layout = apply_views(layout, options.view)
    if options.svg:
        Path(options.svg).write_text(layout.svg(), encoding="utf-8")
    if options.json:
        facts = ("shape", "stride", "offset", "size", "span", "is_row_major", "is_column_major", "is_injective")
        output.print_json({name: _plain(getattr(layout, name)) for name in facts})
    elif options.svg:
        print(f"{options.svg}: {layout}")
    else:
        print(st.explain(layout) if options.explain else st.draw(layout))
    return 0


def _plain(value: Any) -> Any:
    value = value() if callable(value) else value
    return tuple(value) if isinstance(value, tuple) else value


def _layout(options: argparse.Namespace) -> Layout:
    import strided as st

    path, name = split(options.layout)
    if name is not None or Path(path).exists():
        with open_file(path) as file:
            entry = find(file, name)
            return st.Layout(entry.shape, entry.stride, entry.offset)
    shape = _ints("SHAPE", options.layout)
    if options.stride is None:
        row_major = st.Layout.row_major(shape)
        return st.Layout(shape, tuple(row_major.stride), options.offset)
    return st.Layout(shape, _ints("--stride", options.stride), options.offset)


def _ints(argument: str, text: str) -> tuple[int, ...]:
    try:
        words = text.strip("()[] ").removesuffix(",").replace("x", ",")
        return tuple(int(word) for word in words.split(",")) if words else ()
    except ValueError:
        wanted = "ints such as 3,4" + (", or a file that exists" if argument == "SHAPE" else "")
        raise Failure(f"{argument} is {text!r}, wanted {wanted}") from None


def apply_views(layout: Layout, text: str) -> Layout:
    """The layout after method calls and indices with constant arguments. Runs no other code.

    >>> import strided as st
    >>> apply_views(st.Layout.row_major((3, 4)), "t()[1:]")
    Layout(shape=(3, 3), stride=(1, 4), offset=1)
    """
    try:
        tree = ast.parse(f"layout.{text}" if not text.startswith("[") else f"layout{text}", mode="eval").body
    except SyntaxError:
        raise Failure(f"--view: {text!r} is no chain of calls such as t()[1:].flip(0)") from None
    return _applied(tree, layout)


def _applied(tree: ast.expr, layout: Layout) -> Layout:
    from strided import Layout

    match tree:
        case ast.Name("layout"):
            return layout
        case ast.Call(ast.Attribute(inner, name), arguments, keywords):
            before = _applied(inner, layout)
            try:
                constants = [ast.literal_eval(argument) for argument in arguments]
                named = {word.arg: ast.literal_eval(word.value) for word in keywords if word.arg is not None}
            except ValueError:
                raise Failure(f"--view: the arguments of {name} must be constants") from None
            method = None if name.startswith("_") else getattr(before, name, None)
            try:
                after = method(*constants, **named) if callable(method) else None
            except TypeError as error:
                raise Failure(f"--view: {error}") from None
            if not isinstance(after, Layout):
                raise Failure(f"--view: {name} is no method of Layout that returns a Layout")
            return after
        case ast.Subscript(inner, index):
            text = ast.unparse(index).strip("()")
            return _applied(inner, layout)[parse_index(text)]
    raise Failure(f"--view: {ast.unparse(tree)!r} is no call and no index")
