"""Convolutions and cross-correlations of images and of volumes.

The input is one image and the kernel another; or both have as many planes, which are convolved pair by pair; or the kernel
has a row of planes for each plane of the result. "V" keeps the places where the kernel lies within the image, "F" all
where they touch.
"""

from __future__ import annotations

import strided as st
from strided.torch7.calls.forms import BadArgument, Form, Row, Run
from strided.torch7.calls.results import Core, deliver
from strided.torch7.tensor.classes import Tensor


def _convolution(op: Core, rank: int, form: str) -> Run:
    """One form of a convolution over `rank` dims: `mul` (image by image), `cmul` (planes by planes), `mv` (by rows)."""
    name = f"conv{rank}D{form}"

    def run(r: Tensor | None, t: Tensor, k: Tensor, mode: str) -> Tensor:
        image, kernel = t._tensor, k._tensor
        if form == "cmul" and image.size(0) != kernel.size(0):
            raise BadArgument(2, "invalid number of input/kernel planes")
        if form == "mv" and image.size(0) != kernel.size(1):
            raise BadArgument(2, "invalid number of input planes")
        sizes = zip(image.shape[-rank:], kernel.shape[-rank:], strict=True)
        if mode == "V" and any(size < window for size, window in sizes):
            raise BadArgument(2, f"{name} : Input image is smaller than kernel")
        return deliver(r, op(image, kernel, mode))

    return run


def _row(name: str, op: Core, operands: str, result: str) -> Row:
    rank = int(name[-1])
    kinds = (("mul", rank, rank), ("cmul", rank + 1, rank + 1), ("mv", rank + 1, rank + 2))
    forms = tuple(Form(f"new T~{t}D T~{k}D V|F='V'", _convolution(op, rank, form)) for form, t, k in kinds)
    word, what = "convolution" if name[0] == "c" else "cross-correlation", "images" if rank == 2 else "volumes"
    doc = f"The {word} of {what}; the third argument is 'V' for the valid part, or 'F' for the full one."
    return Row(name, doc, f">>> torch.{name}({operands}).totable()\n{result}", forms)


_PAIR = "torch.ones(1, 1, 2), torch.ones(1, 1, 2)"

ROWS: list[Row] = [
    _row("conv2", st.conv2, "torch.ones(3, 3), torch.Tensor([[1, 2]])", "[[3.0, 3.0], [3.0, 3.0], [3.0, 3.0]]"),
    _row("xcorr2", st.xcorr2, "torch.Tensor([[1, 0]]), torch.Tensor([[1, 2]]), 'F'", "[[2.0, 1.0, 0.0]]"),
    _row("conv3", st.conv3, _PAIR, "[[[2.0]]]"),
    _row("xcorr3", st.xcorr3, f"{_PAIR}, 'F'", "[[[1.0, 2.0, 1.0]]]"),
]
