"""`strided show`: the numbers of one tensor, as text, as a heat map or as a picture."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from strided.cli import _output as output
from strided.cli._failure import Failure
from strided.cli._target import as_tensor, find, open_file, shape_text, split

if TYPE_CHECKING:
    from strided import Tensor

EXAMPLES = """
  strided show weights.npz:conv1.weight
  strided show weights.npz:conv1.weight --slice '0, ::2, -3:'
  strided show image.npy --image image.png
  strided show weights.npz:embedding --heat
"""
MOST_PIXELS = 1 << 26
MOST_NUMBERS = 1 << 16  # elements that --json prints
HEAT_ROWS = 40
INT = "an int, a slice such as 1:10:2, or ..."


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE[:NAME]")
    parser.add_argument("--slice", metavar="INDEX", help="a part of the tensor, as in Python: '0, ::2, -3:'")
    parser.add_argument("--heat", action="store_true", help="a heat map instead of numbers")
    parser.add_argument("--image", metavar="OUT.png", help="write a picture: one pixel for each element")
    output.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    path, name = split(options.file)
    with output.progress(options, "reading"), open_file(path) as file:
        entry = find(file, name)
        x = as_tensor(entry)
        if options.slice is not None:
            x = x[parse_index(options.slice)]
    if options.json:
        output.print_json(_json(entry.name, x))
        return 0
    output.print_title(options, f"{entry.name}: {entry.dtype_name}, {shape_text(x.shape)}, stride {tuple(x.stride())}")
    if options.image:
        with output.progress(options, "drawing"):
            height, width = _write_image(options.image, x)
        print(f"{options.image}: {width} x {height} pixels")
    elif options.heat:
        _print_heat(options, x)
    else:
        print(x)
    return 0


def _write_image(path: str, x: Tensor) -> tuple[int, int]:
    """Writes a picture. Returns its height and width."""
    from strided.cli._png import write_png

    pixels = picture(x)
    write_png(path, pixels)
    return pixels.shape[0], pixels.shape[1]


def parse_index(text: str) -> tuple[Any, ...]:
    """An index as in Python, of ints, slices, `...` and None.

    >>> parse_index("0, ::2, -3:")
    (0, slice(None, None, 2), slice(-3, None, None))
    """
    return tuple(_index_item(item.strip()) for item in text.strip("[] ").split(",") if item.strip())


def _index_item(text: str) -> Any:
    if text == "...":
        return ...
    if text == "None":
        return None
    try:
        if ":" not in text:
            return int(text)
        return slice(*(int(part) if part.strip() else None for part in text.split(":")))
    except (ValueError, TypeError):
        raise Failure(f"--slice: {text!r} is no index, wanted {INT}") from None


def planes(x: Tensor) -> Tensor:
    """The tensor as one matrix: planes of more dims one below the other, a vector as a row."""
    if x.dim() < 2:
        return x.reshape(1, -1)
    return x if x.dim() == 2 else x.flatten(0, -2)


def picture(x: Tensor) -> Tensor:
    """The pixels of a picture: uint8, height x width x 3. A tensor of height x width x 3 is one already."""
    import strided as st
    from strided.cli._colours import Scale

    if not x.numel():
        raise Failure(f"--image: the tensor has no elements (its shape is {shape_text(x.shape)})")
    if x.numel() > MOST_PIXELS:
        raise Failure(f"--image: {x.numel():,} pixels are more than {MOST_PIXELS:,}; --slice chooses a part")
    if x.dim() == 3 and x.shape[2] == 3 and not x.is_complex():
        if x.dtype == st.uint8:
            return x
        if x.is_floating_point():
            return (x.to(st.float32).nan_to_num(0.0).clamp(0, 1) * 255).round().to(st.uint8)
    scale = Scale(planes(x))
    colours = st.tensor(scale.palette(), dtype=st.uint8)
    height, width = scale.levels.shape
    return colours.index_select(0, scale.levels.reshape(-1)).view(height, width, 3)


def _print_heat(options: argparse.Namespace, x: Tensor) -> None:
    from strided.cli._heatmap import heat_map

    if not x.numel():
        print("no elements")
        return
    colour = output.has_colour(options)
    rows = 2 * HEAT_ROWS if colour else HEAT_ROWS
    for line in heat_map(planes(x), output.width(options), rows, colour):
        print(line)


def _json(name: str, x: Tensor) -> dict[str, Any]:
    if x.numel() > MOST_NUMBERS:
        raise Failure(f"--json: {x.numel():,} elements are more than {MOST_NUMBERS:,}; --slice chooses a part")
    return {"name": name, "dtype": str(x.dtype).removeprefix("strided."), "shape": tuple(x.shape), "values": x.tolist()}
