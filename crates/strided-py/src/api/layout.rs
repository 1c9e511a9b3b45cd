//! Methods and properties of Layout, except those that it shares with the tensors (`views.rs`).

use crate::abi::Value;
use crate::abi::errors::CallResult;
use crate::abi::refs::{call_python, new_ref, to_py};
use crate::classes::layout::{LayoutArg, PyLayout};
use crate::classes::size::{new_size, new_tuple};
use crate::convert::args::{Ints, Rest, UntypedArg};
use pyo3::prelude::*;
use strided_core::Layout;

methods! { rows(py, x: LayoutArg):
    /// The number of indices of a mode.
    ///
    /// >>> strided.Layout((2, 3)).extent(-1)
    /// 3
    method extent(mode: isize) -> "int" => to_py(py, x.layout.extent(mode)?);

    /// The location of the element with these indices.
    ///
    /// >>> strided.Layout((4, 5), offset=100).location(2, 3)
    /// 113
    method location(indices: Rest) -> "int" => to_py(py, x.layout.location(indices.ints().unwrap_or(&[]))?);

    /// Whether mode `i` of this layout and mode `j` of another may share an index: their extents are equal.
    ///
    /// >>> strided.Layout((2, 3)).compatible(1, strided.Layout((3, 4)), 0)
    /// True
    method compatible(i: isize, other: LayoutArg, j: isize) -> "bool" => to_py(py, x.layout.compatible(i, &other.layout, j)?);

    /// Whether each of these modes begins where the one before it ends, the fastest mode first. Such modes can be
    /// folded.
    ///
    /// >>> x = strided.Layout((4, 5))
    /// >>> x.sequentially_contiguous((1, 0)), x.sequentially_contiguous((0, 1))
    /// (True, False)
    method sequentially_contiguous(modes: Ints) -> "bool" => to_py(py, x.layout.sequentially_contiguous(&modes.ints)?);

    /// The same elements in another shape; one size may be -1. Refused if the strides do not allow it.
    ///
    /// >>> strided.Layout((4, 6)).view(2, 2, -1).stride
    /// (12, 6, 1)
    method view(shape: Rest) -> "Layout" => new_layout(py, x.layout.view(shape.ints().unwrap_or(&[]))?);

    /// Dims `start_dim` to `end_dim` as one. Refused if the strides do not allow it.
    ///
    /// >>> strided.Layout((2, 3, 4)).flatten(1)
    /// Layout(shape=(2, 12), stride=(12, 1), offset=0)
    method flatten(start_dim: isize = 0, end_dim: isize = -1) -> "Layout" => new_layout(py, x.layout.view(&x.layout.flatten_shape(start_dim, end_dim)?)?);

    /// Every `step`-th index of a dim from `start` up to but not including `stop`, by Python's rules.
    ///
    /// >>> strided.Layout((2, 5)).slice(1, step=-2)
    /// Layout(shape=(2, 3), stride=(5, -2), offset=4)
    method slice(dim: isize, start: Option<isize> = None, stop: Option<isize> = None, step: isize = 1) -> "Layout" => new_layout(py, x.layout.slice(dim, start, stop, step)?);

    /// A drawing of the layout: which memory cell holds which element. It prints as text, and is a picture in a
    /// notebook. `strided.draw(x)` draws a tensor with its numbers.
    ///
    /// >>> strided.Layout((2, 2)).t().draw()
    /// Layout(shape=(2, 2), stride=(1, 2), offset=0)
    /// <BLANKLINE>
    /// elements, labelled by memory cell
    ///   0  2
    ///   1  3
    /// <BLANKLINE>
    /// memory cells, labelled by element
    ///     0     1     2     3
    ///  ┌─────┬─────┬─────┬─────┐
    ///  │ 0,0 │ 1,0 │ 0,1 │ 1,1 │
    ///  └─────┴─────┴─────┴─────┘
    method draw() -> "Drawing" => call_python(py, "strided.display.drawing", "draw", (x.object,));

    /// The drawing as a picture: the text of an SVG file.
    ///
    /// >>> strided.Layout((2, 2)).svg()[:4]
    /// '<svg'
    method svg() -> "str" => call_python(py, "strided.display.svg", "picture", (x.object,));

    /// The picture that a notebook shows.
    method _repr_svg_() -> "str" => call_python(py, "strided.display.svg", "picture", (x.object,));

    /// The card that a notebook shows.
    method _repr_html_() -> "str" => call_python(py, "strided.display.notebook", "layout", (x.object,));

    /// The layout itself, which does not change.
    method __copy__() -> "Layout" => Ok(new_ref(x.object));

    /// The layout itself, which does not change.
    method __deepcopy__(memo: UntypedArg) -> "Layout" => Ok(new_ref(x.object));
}

properties! { properties(py, x: LayoutArg):
    /// The number of modes.
    ///
    /// >>> strided.Layout((2, 3, 4)).nmode
    /// 3
    nmode -> "int" => to_py(py, x.layout.rank());

    /// The extents of the modes, as a Size.
    ///
    /// >>> strided.Layout((2, 3, 4)).shape
    /// strided.Size([2, 3, 4])
    shape -> "Size" => new_size(py, x.layout.shape());

    /// The distance between neighbours along each mode, in elements.
    ///
    /// >>> strided.Layout((2, 3, 4)).stride
    /// (12, 4, 1)
    stride -> "tuple[int, ...]" => new_tuple(py, x.layout.stride());

    /// The location of the element whose indices are all 0.
    ///
    /// >>> strided.zeros(4, 5)[2].layout.offset
    /// 10
    offset -> "int" => to_py(py, x.layout.offset());

    /// The number of elements: the product of the extents.
    ///
    /// >>> strided.Layout((2, 3, 4)).size
    /// 24
    size -> "int" => to_py(py, x.layout.size());

    /// The highest minus the lowest location, plus one; 0 without elements.
    ///
    /// >>> strided.Layout((3, 2), (10, -1), 1).span
    /// 22
    span -> "int" => to_py(py, x.layout.span());

    /// The lowest and the highest location; None without elements.
    ///
    /// >>> strided.Layout((3, 2), (10, -1), 1).bounds
    /// (0, 21)
    bounds -> "tuple[int, int] | None" => to_py(py, x.layout.bounds());

    /// Whether the elements fill their span, each location once, in any order of the modes. (A tensor's
    /// `is_contiguous()` also requires row-major order.)
    ///
    /// >>> x = strided.zeros(2, 3).t()
    /// >>> x.layout.is_contiguous, x.is_contiguous()
    /// (True, False)
    is_contiguous -> "bool" => to_py(py, x.layout.is_contiguous());

    /// Whether the elements are contiguous, with the last mode fastest.
    ///
    /// >>> strided.Layout((2, 3)).is_row_major, strided.Layout((2, 3)).t().is_row_major
    /// (True, False)
    is_row_major -> "bool" => to_py(py, x.layout.is_row_major());

    /// Whether the elements are contiguous, with the first mode fastest.
    ///
    /// >>> strided.Layout((2, 3), (1, 2)).is_column_major
    /// True
    is_column_major -> "bool" => to_py(py, x.layout.is_column_major());

    /// Whether no two indices share a location; also False if that is too hard to decide.
    ///
    /// >>> strided.Layout((3,)).unfold(0, 2, 1).is_injective
    /// False
    is_injective -> "bool" => to_py(py, x.layout.is_injective());
}

fn new_layout(py: Python<'_>, layout: Layout) -> CallResult<Value<'_>> {
    to_py(py, PyLayout(layout))
}
