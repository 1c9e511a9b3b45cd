//! Elements chosen by a mask: `masked_select`, `masked_fill`, `masked_scatter`, `nonzero`.

use crate::abi::Value;
use crate::abi::detach::{detach_if_large, work_on};
use crate::abi::errors::CallResult;
use crate::convert::args::{DataArg, TensorArg};
use crate::convert::in_place::Target;
use crate::convert::keys::MaskArg;
use crate::convert::numbers::python_number;
use crate::convert::results::{call, call_with_work, tuple_of};
use crate::convert::values::values;
use pyo3::Python;
use strided_core::ops::create;
use strided_core::ops::index::masks;
use strided_core::{DType, Device, Tensor};

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
    both masked_fill(mask: MaskArg, value: DataArg) also masked_fill_ => {
        let (value, mask) = (number_or_tensor(x.device(), x.dtype(), value)?, mask.0);
        x.modify(py, None, |x| masks::broadcast_copy(x, &mask), |x| masks::fill(x, &mask, &value))
    };

    /// The tensor with the elements for which a mask is true replaced by those of `source`, one after the other. Tensor and
    /// mask are broadcast to one shape; the source must have at least as many elements as the mask has true ones.
    ///
    /// >>> x = strided.tensor([1, 5, 3])
    /// >>> x.masked_scatter(x > 2, strided.tensor([7, 8, 9])).tolist()
    /// [1, 7, 8]
    both masked_scatter(mask: MaskArg, source: DataArg) also masked_scatter_, masked_copy_ alias masked_copy => {
        let (source, mask) = (values(source.0, x.dtype())?, mask.0);
        x.modify(py, None, |x| masks::broadcast_copy(x, &mask), |x| masks::scatter(x, &mask, &source))
    };

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

/// A number as a tensor of a dtype, which must hold it, or the values of a tensor, which are cast.
fn number_or_tensor(device: Device, dtype: DType, value: DataArg<'_>) -> CallResult<Tensor> {
    match python_number(value.0)? {
        Some(number) => Ok(create::full(device, &[], number, dtype)?),
        None => values(value.0, dtype),
    }
}

/// The indices of all elements that are not 0, as a tuple of tensors.
pub fn columns(py: Python<'_>, x: Tensor) -> CallResult<Value<'_>> {
    let columns = detach_if_large(py, work_on(&x), || masks::nonzero_columns(&x))?;
    tuple_of(py, columns)
}
