"""Convolutions and cross-correlations of images and of volumes.

The input is one image and the kernel another; or both have as many planes, which are convolved pair by pair; or the kernel
has a row of planes for each plane of the result. "V" keeps the places where the kernel lies within the image, "F" all
where they touch.
"""

from __future__ import annotations

import strided as st
from strided.torch7.results import Core, deliver
from strided.torch7.tensor import TensorBase
from strided.torch7.wrap import BadArgument, Form, Row, Run


def _convolution(op: Core, rank: int, form: str) -> Run:
    """One form of a convolution over `rank` dims: `mul` (image by image), `cmul` (planes by planes), `mv` (by rows)."""
    name = f"conv{rank}D{form}"

    def run(r: TensorBase | None, t: TensorBase, k: TensorBase, mode: str) -> TensorBase:
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


def _row(name: str, op: Core, rank: int, word: str, what: str, example: str) -> Row:
    kinds = (("mul", rank, rank), ("cmul", rank + 1, rank + 1), ("mv", rank + 1, rank + 2))
    forms = tuple(Form(f"new T~{t}D T~{k}D V|F='V'", _convolution(op, rank, form)) for form, t, k in kinds)
    doc = f"The {word} of {what}; the third argument is 'V' for the valid part, or 'F' for the full one."
    return Row(name, doc, example, forms)


ROWS: list[Row] = [
    _row(
        "conv2",
        st.conv2,
        2,
        "convolution",
        "images",
        ">>> torch.conv2(torch.ones(3, 3), torch.Tensor([[1, 2]])).totable()\n[[3.0, 3.0], [3.0, 3.0], [3.0, 3.0]]",
    ),
    _row(
        "xcorr2",
        st.xcorr2,
        2,
        "cross-correlation",
        "images",
        ">>> torch.xcorr2(torch.Tensor([[1, 0]]), torch.Tensor([[1, 2]]), 'F').totable()\n[[2.0, 1.0, 0.0]]",
    ),
    _row(
        "conv3",
        st.conv3,
        3,
        "convolution",
        "volumes",
        ">>> torch.conv3(torch.ones(3, 3, 3), torch.ones(2, 2, 2)).size().totable()\n[2, 2, 2]",
    ),
    _row(
        "xcorr3",
        st.xcorr3,
        3,
        "cross-correlation",
        "volumes",
        ">>> torch.xcorr3(torch.ones(3, 3, 3), torch.ones(2, 2, 2), 'F').size().totable()\n[4, 4, 4]",
    ),
]
