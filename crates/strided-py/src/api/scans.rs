//! Scans and softmax: functions that map each line along a dim to a line.

use crate::abi::Value;
use crate::abi::errors::{CallResult, Fail};
use crate::convert::args::{TensorArg, TensorPair};
use crate::convert::in_place::Target;
use crate::convert::results::{call, call_pair};
use pyo3::prelude::*;
use strided_core::DType;
use strided_core::ops::scan::{self, LineRow};

methods! { rows(py, x: TensorArg):
    /// Cumulative sum of the elements along a dim. Integers are summed as int64, float32 and halves in float64.
    /// In place, integers keep their dtype and wrap.
    ///
    /// >>> strided.tensor([1, 2, 3]).cumsum(0).tolist()
    /// [1, 3, 6]
    #[numpy(cumsum)]
    both cumsum(dim | axis: isize; dtype: Option<DType> = None, out: Option<TensorArg> = None) also cumsum_
        => accumulated(py, &scan::CUMSUM, x, dim, dtype, out);

    /// Cumulative product of the elements along a dim. Integers are multiplied as int64, float32 and halves in
    /// float64. In place, integers keep their dtype and wrap.
    ///
    /// >>> strided.tensor([1, 2, 3, 4]).cumprod(0).tolist()
    /// [1, 2, 6, 24]
    #[numpy(cumprod)]
    both cumprod(dim | axis: isize; dtype: Option<DType> = None, out: Option<TensorArg> = None) also cumprod_
        => accumulated(py, &scan::CUMPROD, x, dim, dtype, out);

    /// Cumulative maximum along a dim, and its index: `(values, indices)`. The last of equal elements counts, and NaN is
    /// larger than every number.
    ///
    /// >>> values, indices = strided.tensor([1, 3, 2, 3]).cummax(0)
    /// >>> values.tolist(), indices.tolist()
    /// ([1, 3, 3, 3], [0, 1, 1, 3])
    both cummax(dim | axis: isize; out: Option<TensorPair> = None) -> "_return_types.cummax" => along_dim_with_positions(py, &scan::CUMMAX, x, dim, out);

    /// Cumulative minimum along a dim, and its index: `(values, indices)`. The last of equal elements counts, and NaN
    /// propagates.
    ///
    /// >>> strided.tensor([3, 1, 2, 1]).cummin(0).indices.tolist()
    /// [0, 1, 1, 3]
    both cummin(dim | axis: isize; out: Option<TensorPair> = None) -> "_return_types.cummin" => along_dim_with_positions(py, &scan::CUMMIN, x, dim, out);

    /// Logarithm of the cumulative sum of the exponentials along a dim; for complex numbers the principal value.
    ///
    /// >>> strided.tensor([0.0, 0.0]).logcumsumexp(0).tolist()
    /// [0.0, 0.6931471824645996]
    both logcumsumexp(dim | axis: isize; out: Option<TensorArg> = None)
        => along_dim(py, &scan::LOGCUMSUMEXP, x, dim, None, out);

    /// Exponentials of the elements along a dim, divided by their sum.
    ///
    /// >>> strided.tensor([0.0, 0.0, -1e999]).softmax(0).tolist()
    /// [0.5, 0.5, 0.0]
    both softmax(dim | axis: isize, dtype: Option<DType> = None; out: Option<TensorArg> = None)
        => along_dim(py, &scan::SOFTMAX, x, dim, dtype, out);

    /// Logarithm of `softmax`, computed without the exponentials, so that it does not underflow.
    ///
    /// >>> strided.tensor([0.0, 1000.0]).log_softmax(0).tolist()
    /// [-1000.0, 0.0]
    both log_softmax(dim | axis: isize, dtype: Option<DType> = None; out: Option<TensorArg> = None)
        => along_dim(py, &scan::LOG_SOFTMAX, x, dim, dtype, out);
}

fn along_dim<'a>(
    py: Python<'a>,
    row: &'static LineRow,
    x: TensorArg<'a>,
    dim: isize,
    dtype: Option<DType>,
    out: Option<TensorArg<'a>>,
) -> CallResult<Value<'a>> {
    call(py, [x], out, |[x], out| scan::scan(row, x, dim, dtype, out))
}

/// A sum or product, which keeps the dtype of the tensor in place.
fn accumulated<'a, X: Target<'a>>(
    py: Python<'a>,
    row: &'static LineRow,
    x: X,
    dim: isize,
    dtype: Option<DType>,
    out: Option<TensorArg<'a>>,
) -> CallResult<Value<'a>> {
    let own = x.dtype();
    if let Some(other) = dtype.filter(|&dtype| X::IN_PLACE && dtype != own) {
        let (other, own) = (other.name(), own.name());
        return Err(Fail::Type(format!("dtype is {other}, and in place it is that of the tensor, {own}")));
    }
    let dtype = if X::IN_PLACE { Some(own) } else { dtype };
    x.call(py, [], x.size(), out, |x, [], out| scan::scan(row, x, dim, dtype, out))
}

fn along_dim_with_positions<'a>(
    py: Python<'a>,
    row: &'static LineRow,
    x: TensorArg<'a>,
    dim: isize,
    out: Option<TensorPair<'a>>,
) -> CallResult<Value<'a>> {
    call_pair(py, row.name, true, [x], out, |[x], outs| scan::scan_with_positions(row, x, dim, outs))
}
