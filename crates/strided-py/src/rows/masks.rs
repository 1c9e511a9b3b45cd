//! Elements chosen by a mask: `masked_select`, `masked_fill`, `masked_scatter`, `nonzero`.

use crate::abi::Value;
use crate::abi::detach::detach_if_large;
use crate::abi::errors::CallResult;
use crate::convert::args::{DataArg, TensorArg};
use crate::convert::keys::MaskArg;
use crate::convert::numbers::python_number;
use crate::convert::results::{call, call_with_work, in_place, tuple_of};
use crate::convert::values::values;
use pyo3::Python;
use strided_core::Tensor;
use strided_core::ops::create;
use strided_core::ops::index::masks;

methods! { rows(py, x: TensorArg):
    /// The elements for which a mask is true, in row-major order, as a tensor of one dim. Both are broadcast.
    ///
    /// >>> x = strided.tensor([1, 5, 3])
    /// >>> x.masked_select(x > 2).tolist()
    /// [5, 3]
    both masked_select(mask: MaskArg; out: Option<TensorArg> = None)
        => call_with_work(py, [x], x.size().max(mask.0.size()), out, move |[x], out| out.deliver(masks::select(x, &mask.0)?));

    /// The tensor with the elements for which a mask is true set to a number. Both are broadcast to one shape.
    ///
    /// >>> x = strided.tensor([1, 5, 3])
    /// >>> x.masked_fill(x > 2, 0).tolist()
    /// [1, 0, 0]
    both masked_fill(mask: MaskArg, value: DataArg) => {
        let value = number_or_tensor(x, value)?;
        changed(py, x, mask, move |x, mask| masks::fill(x, mask, &value))
    };

    /// `masked_fill` in place.
    ///
    /// >>> x = strided.tensor([1, 5, 3])
    /// >>> x.masked_fill_(x > 2, 0).tolist()
    /// [1, 0, 0]
    method masked_fill_(mask: MaskArg, value: DataArg) => {
        let value = number_or_tensor(x, value)?;
        in_place(py, x, move |x| masks::fill(x, &mask.0, &value))
    };

    /// The tensor with the elements for which a mask is true replaced by those of `source`, one after the other. Tensor and
    /// mask are broadcast to one shape; the source must have at least as many elements as the mask has true ones.
    ///
    /// >>> x = strided.tensor([1, 5, 3])
    /// >>> x.masked_scatter(x > 2, strided.tensor([7, 8, 9])).tolist()
    /// [1, 7, 8]
    both masked_scatter(mask: MaskArg, source: DataArg) => scattered(py, x, mask, source);

    /// `masked_scatter` in place.
    ///
    /// >>> x = strided.tensor([1, 5, 3])
    /// >>> x.masked_scatter_(x > 2, strided.tensor([7, 8, 9])).tolist()
    /// [1, 7, 8]
    method masked_scatter_(mask: MaskArg, source: DataArg) => scatter(py, x, mask, source);

    /// `masked_scatter` under Torch7's name.
    ///
    /// >>> x = strided.tensor([1, 5, 3])
    /// >>> x.masked_copy(x > 2, strided.tensor([7, 8, 9])).tolist()
    /// [1, 7, 8]
    both masked_copy(mask: MaskArg, source: DataArg) => scattered(py, x, mask, source);

    /// `masked_scatter_` under Torch7's name.
    ///
    /// >>> x = strided.tensor([1, 5, 3])
    /// >>> x.masked_copy_(x > 2, strided.tensor([7, 8, 9])).tolist()
    /// [1, 7, 8]
    method masked_copy_(mask: MaskArg, source: DataArg) => scatter(py, x, mask, source);

    /// The indices of all elements that are not 0, a row for each; with `as_tuple`, a tensor for each dim.
    ///
    /// >>> x = strided.tensor([[0, 5], [6, 0]])
    /// >>> x.nonzero().tolist()
    /// [[0, 1], [1, 0]]
    /// >>> x[x.nonzero(as_tuple=True)].tolist()
    /// [5, 6]
    both nonzero(; as_tuple: bool = False, out: Option<TensorArg> = None) -> "Any" => {
        if as_tuple { return columns(py, Tensor::clone(&x)); }
        call(py, [x], out, |[x], out| out.deliver(masks::nonzero(x)?))
    };

    /// The indices of all elements that are not 0, a row for each.
    ///
    /// >>> strided.argwhere(strided.tensor([0, 5, 6])).tolist()
    /// [[1], [2]]
    #[numpy(argwhere)]
    both argwhere() => call(py, [x], None, |[x], _| masks::nonzero(x));
}

/// A number in the dtype of the tensor, which must hold it, or the values of a tensor, which are cast.
fn number_or_tensor(x: TensorArg<'_>, value: DataArg<'_>) -> CallResult<Tensor> {
    match python_number(value.0)? {
        Some(number) => Ok(create::full(x.device(), &[], number, x.dtype())?),
        None => values(value.0, x.dtype()),
    }
}

/// `masked_scatter`
fn scattered<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    mask: MaskArg,
    source: DataArg<'a>,
) -> CallResult<Value<'a>> {
    let source = values(source.0, x.dtype())?;
    changed(py, x, mask, move |x, mask| masks::scatter(x, mask, &source))
}

/// A copy of the tensor, in the shape to which it and the mask broadcast, that `work` changes.
fn changed<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    MaskArg(mask): MaskArg,
    work: impl FnOnce(&Tensor, &Tensor) -> strided_core::Result<()> + Send,
) -> CallResult<Value<'a>> {
    call(py, [x], None, move |[x], _| {
        let copy = masks::broadcast_copy(x, &mask)?;
        work(&copy, &mask)?;
        Ok(copy)
    })
}

/// `masked_scatter_`
fn scatter<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    mask: MaskArg,
    source: DataArg<'a>,
) -> CallResult<Value<'a>> {
    let source = values(source.0, x.dtype())?;
    in_place(py, x, move |x| masks::scatter(x, &mask.0, &source))
}

/// The indices of all elements that are not 0, as a tuple of tensors.
pub fn columns(py: Python<'_>, x: Tensor) -> CallResult<Value<'_>> {
    let columns = detach_if_large(py, x.size(), || masks::nonzero_columns(&x))?;
    tuple_of(py, columns)
}
