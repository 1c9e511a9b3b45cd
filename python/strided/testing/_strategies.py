"""Hypothesis strategies for tensors of every dtype and layout, and for their parts."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as some
from hypothesis.strategies import DrawFn, SearchStrategy

import strided as st
from strided import Layout, Tensor

#: Names for groups of dtypes.
CATEGORIES = {
    "bool": (st.bool,),
    "unsigned": (st.uint8, st.uint16, st.uint32, st.uint64),
    "signed": (st.int8, st.int16, st.int32, st.int64),
    "float": (st.float16, st.bfloat16, st.float32, st.float64),
    "complex": (st.complex64, st.complex128),
}
CATEGORIES["int"] = CATEGORIES["unsigned"] + CATEGORIES["signed"]
CATEGORIES["real"] = CATEGORIES["int"] + CATEGORIES["float"]
CATEGORIES["number"] = CATEGORIES["real"] + CATEGORIES["complex"]
CATEGORIES["any"] = CATEGORIES["bool"] + CATEGORIES["number"]

#: Kinds of layouts for any shape, and kinds that fix the shape.
KINDS = ("dense", "column-major", "permuted", "offset", "step 2", "negative", "stride 0")
SHAPES = {"size 1": (1, 1), "size 0": (3, 0), "0-d": (), "rank 9": (2, 1, 2, 1, 2, 3, 1, 2, 2)}

#: The most elements of a tensor that are drawn; a larger tensor repeats them.
MAX_DRAWN = 32

View = TypeVar("View", Tensor, Layout)


def dtypes(*categories: str) -> SearchStrategy[st.dtype]:
    """Dtypes: all of them, or those of some categories.

    Categories are "bool", "unsigned", "signed", "float", "complex", and "int" (unsigned and signed), "real" (int and
    float), "number" (real and complex), "any".

    >>> from hypothesis import find
    >>> from strided.testing import dtypes
    >>> find(dtypes("complex"), lambda dtype: True)
    strided.complex64
    """
    for category in categories:
        if category not in CATEGORIES:
            raise ValueError(f"dtypes: there is no category {category!r}; there are {', '.join(CATEGORIES)}")
    found = [dtype for category in categories or ("any",) for dtype in CATEGORIES[category]]
    return some.sampled_from(list(dict.fromkeys(found)))


def shapes(
    *, min_dims: int = 0, max_dims: int = 4, min_side: int = 0, max_side: int = 5
) -> SearchStrategy[tuple[int, ...]]:
    """Shapes, as tuples of ints.

    >>> from hypothesis import find
    >>> from strided.testing import shapes
    >>> find(shapes(min_dims=2), lambda shape: 0 not in shape)
    (1, 1)
    """
    return some.lists(some.integers(min_side, max_side), min_size=min_dims, max_size=max_dims).map(tuple)


@some.composite
def broadcastable_shapes(draw: DrawFn, shape: Sequence[int]) -> tuple[int, ...]:
    """Shapes that broadcast to the given one: some leading dims are missing, some extents are 1.

    >>> from hypothesis import find
    >>> from strided.testing import broadcastable_shapes
    >>> find(broadcastable_shapes((4, 5)), lambda shape: len(shape) == 2)
    (1, 1)
    """
    kept = shape[draw(some.integers(0, len(shape))) :]
    return tuple(draw(some.sampled_from([1, extent])) for extent in kept)


def elements(dtype: st.dtype, *, allow_nan: bool = True, allow_infinity: bool = True) -> SearchStrategy[Any]:
    """Python numbers that a dtype represents exactly, from its whole range.

    >>> import strided
    >>> from hypothesis import find
    >>> from strided.testing import elements
    >>> find(elements(strided.uint8), lambda number: number > 100)
    101
    """
    bits = 8 * dtype.itemsize
    if dtype is st.bool:
        return some.booleans()
    if dtype.is_complex:
        return some.complex_numbers(width=bits, allow_nan=allow_nan, allow_infinity=allow_infinity)  # type: ignore[arg-type]
    if not dtype.is_floating_point:
        lowest = -(2 ** (bits - 1)) if dtype.is_signed else 0
        return some.integers(lowest, lowest + 2**bits - 1)
    width = 32 if dtype is st.bfloat16 else bits
    floats = some.floats(width=width, allow_nan=allow_nan, allow_infinity=allow_infinity)  # type: ignore[arg-type]
    return floats.map(_upper_half) if dtype is st.bfloat16 else floats


def _upper_half(value: float) -> float:
    """Clears the bits of a float32 that bfloat16 does not have."""
    if math.isnan(value):
        return value
    found: float = struct.unpack(">f", struct.pack(">f", value)[:2] + b"\0\0")[0]
    return found


@some.composite
def slices(draw: DrawFn, extent: int) -> slice:
    """Slices of a dim, with bounds beyond it and steps of both signs.

    >>> from hypothesis import find
    >>> from strided.testing import slices
    >>> find(slices(5), lambda key: key.step == -2)
    slice(None, None, -2)
    """
    bounds = some.none() | some.integers(-extent - 2, extent + 2)
    return slice(draw(bounds), draw(bounds), draw(some.sampled_from([None, 1, 2, 3, -1, -2, -3])))


@some.composite
def indices(draw: DrawFn, shape: Sequence[int]) -> tuple[Any, ...]:
    """Keys for `x[...]`: ints, slices, None, and always one ellipsis.

    The ellipsis makes the result a view in NumPy too, where a key of ints alone would return a number.

    >>> from hypothesis import find
    >>> from strided.testing import indices
    >>> find(indices((3, 4)), lambda key: key[:1] == (2,))
    (2, Ellipsis)
    """
    key: list[Any] = []
    for extent in shape[: draw(some.integers(0, len(shape)))]:
        if extent and draw(some.booleans()):
            key.append(draw(some.integers(-extent, extent - 1)))
        else:
            key.append(draw(slices(extent)))
        if draw(some.integers(0, 9)) == 9:
            key.append(None)
    whole = len(shape) == sum(k is not None for k in key)
    at = draw(some.integers(0, len(key))) if whole else len(key)
    return (*key[:at], ..., *key[at:])


@some.composite
def layouts(draw: DrawFn, shape: Sequence[int] | SearchStrategy[Any] | None = None, kind: str | None = None) -> Layout:
    """Layouts of a given shape, or of any; of a given kind, or of any.

    Kinds are "dense", "column-major", "permuted", "offset" (a slice of a larger layout), "step 2", "negative" (all strides)
    and "stride 0" (at least one dim is expanded, if any extent is greater than 1). Without a shape there are also "size 1",
    "size 0", "0-d" and "rank 9", which fix the shape. Locations are never negative.

    >>> from hypothesis import find
    >>> from strided.testing import layouts
    >>> find(layouts((2, 3), kind="column-major"), lambda layout: True)
    Layout(shape=(2, 3), stride=(1, 2), offset=0)
    """
    known = KINDS if shape is not None else (*KINDS, *SHAPES)
    if kind is not None and kind not in known:
        raise ValueError(f"layouts: there is no kind {kind!r} here; there are {', '.join(known)}")
    kind = kind or draw(some.sampled_from(known))
    if kind in SHAPES:
        shape, kind = SHAPES[kind], draw(some.sampled_from(KINDS))
    return _laid_out(draw, tuple(_drawn(draw, shapes() if shape is None else shape)), kind)


def _drawn(draw: DrawFn, value: Any) -> Any:
    return draw(value) if isinstance(value, SearchStrategy) else value


def _laid_out(draw: DrawFn, shape: tuple[int, ...], kind: str) -> Layout:
    if kind == "column-major":
        return Layout.column_major(shape)
    if kind == "permuted":
        order = draw(some.permutations(range(len(shape))))
        back = sorted(range(len(shape)), key=order.__getitem__)
        return Layout([shape[dim] for dim in order]).permute(back)
    if kind == "offset":
        margins = [draw(some.tuples(some.integers(1, 2), some.integers(0, 2))) for _ in shape]
        larger = Layout([a + extent + b for extent, (a, b) in zip(shape, margins, strict=True)], offset=not shape)
        return larger[tuple(slice(a, a + extent) for extent, (a, _) in zip(shape, margins, strict=True))]
    if kind == "step 2":
        return Layout([2 * extent for extent in shape])[(slice(None, None, 2),) * len(shape)]
    if kind == "negative":
        return Layout(shape).flip()
    if kind == "stride 0" and (wide := [dim for dim, extent in enumerate(shape) if extent > 1]):
        expanded = draw(some.sets(some.sampled_from(wide), min_size=1))
        return Layout([1 if dim in expanded else extent for dim, extent in enumerate(shape)]).expand(shape)
    return Layout(shape)


@some.composite
def tensors(
    draw: DrawFn,
    dtype: st.dtype | str | SearchStrategy[Any] | None = None,
    shape: Sequence[int] | SearchStrategy[Any] | None = None,
    layout: str | Layout | SearchStrategy[Any] | None = None,
    elements: SearchStrategy[Any] | None = None,
) -> Tensor:
    """Tensors, each on a storage of its own. An argument is a value or a strategy; one that is not given is drawn.

    `layout` may also be a kind of `layouts`. Elements are drawn from the range of the dtype; larger tensors repeat them. The
    gaps between the elements of a view are filled in the same way.

    >>> from hypothesis import find
    >>> from strided.testing import tensors
    >>> find(tensors("float32", shape=(2, 2), layout="negative"), lambda x: True).stride()
    (-2, -1)
    """
    dtype = st.empty(0, dtype=_drawn(draw, dtypes() if dtype is None else dtype)).dtype
    layout = _drawn(draw, layouts(shape, layout) if isinstance(layout, str) or layout is None else layout)
    if not isinstance(layout, Layout):
        raise TypeError(
            f"tensors: layout must be a Layout, a kind or a strategy of layouts, got {type(layout).__name__}"
        )
    low, high = layout.bounds or (layout.offset, layout.offset - 1)
    if low < 0:
        raise ValueError(f"tensors: {layout} has the location {low}, wanted none below 0")
    size = high + 1 + draw(some.integers(0, 2))
    drawn = min(size, MAX_DRAWN)
    values = draw(some.lists(_elements(dtype) if elements is None else elements, min_size=drawn, max_size=drawn))
    memory = st.tensor((values * (size // max(drawn, 1) + 1))[:size], dtype=dtype)
    return st.as_strided(memory, layout.shape, layout.stride, layout.offset)


_elements = elements  # `tensors` has an argument of this name


# Views of views: each step takes a tensor or layout and returns a view of it


def _transpose(draw: DrawFn, x: View) -> View:
    return x.transpose(draw(_dims(x)), draw(_dims(x)))


def _permute(draw: DrawFn, x: View) -> View:
    return x.permute(draw(some.permutations(range(len(x.shape)))))


def _flip(draw: DrawFn, x: View) -> View:
    return x.flip(draw(_dims(x)))


def _index(draw: DrawFn, x: View) -> View:
    return x[draw(indices(x.shape))]


def _unsqueeze(draw: DrawFn, x: View) -> View:
    return x.unsqueeze(draw(some.integers(0, len(x.shape))))


def _expand(draw: DrawFn, x: View) -> View:
    return x.expand([draw(some.integers(1, 3)) if extent == 1 else extent for extent in x.shape])


def _diagonal(draw: DrawFn, x: View) -> View:
    first, second = draw(some.permutations(range(len(x.shape))))[:2]
    return x.diagonal(draw(some.integers(-2, 2)), first, second)


def _unfold(draw: DrawFn, x: View) -> View:
    dim = draw(_dims(x))
    return x.unfold(dim, draw(some.integers(0, x.shape[dim])), draw(some.integers(1, 3)))


def _dims(x: Tensor | Layout) -> SearchStrategy[int]:
    return some.integers(0, len(x.shape) - 1)


#: The steps, by the lowest rank they accept.
_STEPS: dict[int, list[Callable[[DrawFn, Any], Any]]] = {
    0: [_index, _unsqueeze],
    1: [_transpose, _permute, _flip, _expand, _unfold],
    2: [_diagonal],
}


@some.composite
def views(draw: DrawFn, x: View, *, max_steps: int = 4) -> View:
    """Views of a tensor or a layout, made by up to `max_steps` steps, each a view of the previous one.

    >>> import strided
    >>> from hypothesis import find
    >>> from strided.testing import views
    >>> find(views(strided.arange(6)), lambda view: view.stride() == (-1,)).tolist()
    [5, 4, 3, 2, 1, 0]
    """
    for _ in range(draw(some.integers(0, max_steps))):
        steps = [step for rank, steps in _STEPS.items() if rank <= len(x.shape) for step in steps]
        x = draw(some.sampled_from(steps))(draw, x)
    return x
