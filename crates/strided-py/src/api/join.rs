//! Several tensors as one, or against each other.

use crate::abi::Value;
use crate::abi::errors::{CallResult, Fail};
use crate::abi::tensor_object::wrap;
use crate::classes::size::new_size;
use crate::convert::args::TensorArg;
use crate::convert::results::{call_with_work, tuple_of};
use crate::convert::tensors::{RestShapes, RestTensors, TensorSequence, TextArg};
use pyo3::prelude::*;
use strided_core::Tensor;
use strided_core::ops::join::{self, JoinTarget, StackAxis};
use strided_core::ops::{combine, work};

methods! { rows(py):
    /// Tensors joined along one of their dims. All other extents must be equal; tensors of shape `(0,)` are skipped. The
    /// result has the common dtype, unless there is an `out`.
    ///
    /// >>> x = strided.arange(4).view(2, 2)
    /// >>> strided.cat((x, x), 1).tolist()
    /// [[0, 1, 0, 1], [2, 3, 2, 3]]
    /// >>> strided.cat([x, strided.tensor([[0.5, 1.5]])]).tolist()
    /// [[0.0, 1.0], [2.0, 3.0], [0.5, 1.5]]
    #[numpy(concatenate, concat)]
    function cat(tensors: TensorSequence, dim | axis: isize = 0; out: Option<TensorArg> = None) alias concat, concatenate
        => call_join(py, tensors, out, |tensors, target| join::cat(tensors, dim, target));

    /// Tensors of one shape joined along a new dim.
    ///
    /// >>> x = strided.arange(3)
    /// >>> strided.stack((x, 10 * x), dim=1).tolist()
    /// [[0, 0], [1, 10], [2, 20]]
    #[numpy(stack)]
    function stack(tensors: TensorSequence, dim | axis: isize = 0; out: Option<TensorArg> = None)
        => call_join(py, tensors, out, |tensors, target| join::stack(tensors, dim, target));

    /// Tensors joined side by side: along the second dim, or, if they are vectors or numbers, along the only one.
    ///
    /// >>> strided.hstack([strided.tensor([1, 2]), strided.tensor(3)]).tolist()
    /// [1, 2, 3]
    #[numpy(hstack)]
    function hstack(tensors: TensorSequence; out: Option<TensorArg> = None)
        => call_join(py, tensors, out, |tensors, target| join::stack_along(StackAxis::Columns, tensors, target));

    /// Tensors joined along the first dim; vectors are rows.
    ///
    /// >>> strided.vstack([strided.tensor([1, 2]), strided.tensor([[3, 4], [5, 6]])]).tolist()
    /// [[1, 2], [3, 4], [5, 6]]
    #[numpy(vstack)]
    function vstack(tensors: TensorSequence; out: Option<TensorArg> = None) alias row_stack
        => call_join(py, tensors, out, |tensors, target| join::stack_along(StackAxis::Rows, tensors, target));

    /// Tensors joined along the third dim. A vector of `n` elements has shape `1xnx1`, a matrix `mxnx1`.
    ///
    /// >>> strided.dstack([strided.tensor([1, 2]), strided.tensor([3, 4])]).tolist()
    /// [[[1, 3], [2, 4]]]
    #[numpy(dstack)]
    function dstack(tensors: TensorSequence; out: Option<TensorArg> = None)
        => call_join(py, tensors, out, |tensors, target| join::stack_along(StackAxis::Depth, tensors, target));

    /// Tensors joined along the second dim; vectors are columns.
    ///
    /// >>> strided.column_stack([strided.tensor([1, 2]), strided.tensor([[3, 4], [5, 6]])]).tolist()
    /// [[1, 3, 4], [2, 5, 6]]
    #[numpy(column_stack)]
    function column_stack(tensors: TensorSequence; out: Option<TensorArg> = None)
        => call_join(py, tensors, out, |tensors, target| join::stack_along(StackAxis::ColumnVectors, tensors, target));

    /// A matrix with matrices along its diagonal and zeros elsewhere. Vectors are rows.
    ///
    /// >>> strided.block_diag(strided.tensor([[1, 2]]), strided.tensor([[3], [4]])).tolist()
    /// [[1, 2, 0], [0, 0, 3], [0, 0, 4]]
    function block_diag(tensors: RestTensors) => {
        let tensors = tensors.tensors.0;
        call_with_work(py, [], work::pairs(tensors.iter().map(Tensor::size).sum()), None, |[], _| join::block_diag(&tensors))
    };

    /// All combinations of one element of each vector, one in each row, the last vector fastest.
    ///
    /// >>> strided.cartesian_prod(strided.tensor([1, 2]), strided.tensor([5, 6])).tolist()
    /// [[1, 5], [1, 6], [2, 5], [2, 6]]
    function cartesian_prod(tensors: RestTensors) => {
        let tensors = tensors.tensors.0;
        call_with_work(py, [], work::combinations(&tensors), None, |[], _| combine::cartesian_prod(&tensors))
    };

    /// All combinations of `r` elements of a vector, one in each row; with replacement, an element may occur several times.
    ///
    /// >>> strided.combinations(strided.tensor([1, 2, 3])).tolist()
    /// [[1, 2], [1, 3], [2, 3]]
    /// >>> strided.combinations(strided.tensor([1, 2]), with_replacement=True).tolist()
    /// [[1, 1], [1, 2], [2, 2]]
    function combinations(input: TensorArg, r: isize = 2, with_replacement: bool = False) => {
        // The number of combinations is not known yet.
        let work = input.size().saturating_pow(r.clamp(0, 8) as u32);
        call_with_work(py, [input], work, None, |[x], _| combine::combinations(x, r, with_replacement))
    };

    /// A tuple of views of vectors, expanded to the grid of all combinations of their elements. Vector `k` varies along dim `k`
    /// (`indexing='ij'`, the default), or the first two dims are exchanged (`'xy'`).
    ///
    /// >>> rows, columns = strided.meshgrid(strided.tensor([1, 2]), strided.tensor([5, 6, 7]))
    /// >>> rows.tolist(), columns.tolist()
    /// ([[1, 1, 1], [2, 2, 2]], [[5, 6, 7], [5, 6, 7]])
    function meshgrid(tensors: RestTensors; indexing: Option<TextArg> = None) -> "tuple[Tensor, ...]" => {
        let swapped = match indexing.as_ref().map_or("ij", |text| &text.0) {
            "ij" => false,
            "xy" => true,
            other => return Err(Fail::Value(format!("indexing is '{other}', wanted 'ij' or 'xy'"))),
        };
        tuple_of(py, combine::meshgrid(&tensors.tensors.0, swapped)?)
    };

    /// A tuple of views of tensors, expanded to the shape to which all of them broadcast.
    ///
    /// >>> x, y = strided.broadcast_tensors(strided.zeros(3, 1), strided.zeros(4))
    /// >>> x.shape, y.stride()
    /// (strided.Size([3, 4]), (0, 1))
    function broadcast_tensors(tensors: RestTensors) -> "tuple[Tensor, ...]"
        => tuple_of(py, combine::broadcast_tensors(&tensors.tensors.0)?);

    /// The shape to which shapes broadcast; an int is the shape of a vector.
    ///
    /// >>> strided.broadcast_shapes((3, 1), 4, (1, 1, 1))
    /// strided.Size([1, 3, 4])
    function broadcast_shapes(shapes: RestShapes) -> "Size" => new_size(py, combine::broadcast_shapes(&shapes.0)?);

    /// Views with at least one dim: of one tensor, or a tuple of views of several.
    ///
    /// >>> strided.atleast_1d(strided.tensor(3)).tolist()
    /// [3]
    function atleast_1d(tensors: RestTensors)
        -> ["(tensor: Tensor | _Array, /) -> Tensor", "(*tensors: Tensor | _Array) -> tuple[Tensor, ...]", "(tensors: Sequence[Tensor | _Array], /) -> tuple[Tensor, ...]"]
        => at_least(py, tensors, 1);

    /// Views with at least two dims: of one tensor, or a tuple of views of several. Vectors are rows.
    ///
    /// >>> [x.shape for x in strided.atleast_2d(strided.tensor(3), strided.zeros(4))]
    /// [strided.Size([1, 1]), strided.Size([1, 4])]
    function atleast_2d(tensors: RestTensors)
        -> ["(tensor: Tensor | _Array, /) -> Tensor", "(*tensors: Tensor | _Array) -> tuple[Tensor, ...]", "(tensors: Sequence[Tensor | _Array], /) -> tuple[Tensor, ...]"]
        => at_least(py, tensors, 2);

    /// Views with at least three dims: of one tensor, or a tuple of views of several. A vector of `n` elements has shape
    /// `1xnx1`, a matrix `mxnx1`.
    ///
    /// >>> strided.atleast_3d(strided.zeros(2, 3)).shape
    /// strided.Size([2, 3, 1])
    function atleast_3d(tensors: RestTensors)
        -> ["(tensor: Tensor | _Array, /) -> Tensor", "(*tensors: Tensor | _Array) -> tuple[Tensor, ...]", "(tensors: Sequence[Tensor | _Array], /) -> tuple[Tensor, ...]"]
        => at_least(py, tensors, 3);
}

/// A join of tensors: written to `out`, or a new tensor. An `out` that takes any shape still decides the dtype.
fn call_join<'a>(
    py: Python<'a>,
    tensors: TensorSequence,
    out: Option<TensorArg<'a>>,
    join: impl FnOnce(&[Tensor], JoinTarget) -> strided_core::Result<Tensor> + Send,
) -> CallResult<Value<'a>> {
    let dtype = out.map(|out| out.dtype());
    call_with_work(py, [], tensors.size(), out, |[], out| join(&tensors.0, JoinTarget { out, dtype }))
}

fn at_least(py: Python<'_>, tensors: RestTensors, rank: usize) -> CallResult<Value<'_>> {
    let mut views = join::views(&tensors.tensors.0, |layout| layout.at_least(rank))?;
    match (tensors.single, views.pop()) {
        (true, Some(view)) => wrap(py, view),
        (_, last) => {
            views.extend(last);
            tuple_of(py, views)
        }
    }
}
