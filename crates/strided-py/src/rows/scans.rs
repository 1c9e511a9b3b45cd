//! Scans and other functions from a line to a line.

use crate::abi::Object;
use crate::abi::errors::{Fail, Result};
use crate::convert::args::{Pair, TensorArg};
use crate::convert::results::{placed, placed_pair};
use pyo3::prelude::*;
use strided_core::DType;
use strided_core::ops::scan::{self, LineRow};

methods! { rows(py, x: TensorArg):
    /// Sums of the elements along a dim up to each of them. Integers are summed as int64, float32 and halves in float64.
    ///
    /// >>> strided.tensor([1, 2, 3]).cumsum(0).tolist()
    /// [1, 3, 6]
    #[numpy(cumsum)]
    both cumsum(dim | axis: isize; dtype: Option<DType> = None, out: Option<TensorArg> = None)
        => one(py, &scan::CUMSUM, x, dim, dtype, out);

    /// `cumsum` in place. Integers keep their dtype and wrap.
    ///
    /// >>> strided.tensor([1.0, 2.0, 3.0]).cumsum_(0).tolist()
    /// [1.0, 3.0, 6.0]
    method cumsum_(dim | axis: isize; dtype: Option<DType> = None) => itself(py, &scan::CUMSUM, x, dim, dtype);

    /// Products of the elements along a dim up to each of them. Integers are multiplied as int64, float32 and halves in float64.
    ///
    /// >>> strided.tensor([1, 2, 3, 4]).cumprod(0).tolist()
    /// [1, 2, 6, 24]
    #[numpy(cumprod)]
    both cumprod(dim | axis: isize; dtype: Option<DType> = None, out: Option<TensorArg> = None)
        => one(py, &scan::CUMPROD, x, dim, dtype, out);

    /// `cumprod` in place. Integers keep their dtype and wrap.
    ///
    /// >>> strided.tensor([1.0, 2.0, 3.0, 4.0]).cumprod_(0).tolist()
    /// [1.0, 2.0, 6.0, 24.0]
    method cumprod_(dim | axis: isize; dtype: Option<DType> = None) => itself(py, &scan::CUMPROD, x, dim, dtype);

    /// The largest element along a dim up to each position, and where it is: `(values, indices)`. Of equal elements the
    /// last one counts, and NaN is larger than everything.
    ///
    /// >>> values, indices = strided.tensor([1, 3, 2, 3]).cummax(0)
    /// >>> values.tolist(), indices.tolist()
    /// ([1, 3, 3, 3], [0, 1, 1, 3])
    both cummax(dim | axis: isize; out: Option<Pair> = None) -> "_return_types.cummax" => two(py, &scan::CUMMAX, x, dim, out);

    /// The smallest element along a dim up to each position, and where it is: `(values, indices)`. Of equal elements the
    /// last one counts, and NaN takes every place.
    ///
    /// >>> strided.tensor([3, 1, 2, 1]).cummin(0).indices.tolist()
    /// [0, 1, 1, 3]
    both cummin(dim | axis: isize; out: Option<Pair> = None) -> "_return_types.cummin" => two(py, &scan::CUMMIN, x, dim, out);

    /// The logarithm of the sum of the exponentials of the elements along a dim up to each of them; of complex numbers its
    /// principal value.
    ///
    /// >>> strided.tensor([0.0, 0.0]).logcumsumexp(0).tolist()
    /// [0.0, 0.6931471824645996]
    both logcumsumexp(dim | axis: isize; out: Option<TensorArg> = None)
        => one(py, &scan::LOGCUMSUMEXP, x, dim, None, out);

    /// The exponentials of the elements along a dim, divided by their sum.
    ///
    /// >>> strided.tensor([0.0, 0.0, -1e999]).softmax(0).tolist()
    /// [0.5, 0.5, 0.0]
    both softmax(dim | axis: isize, dtype: Option<DType> = None; out: Option<TensorArg> = None)
        => one(py, &scan::SOFTMAX, x, dim, dtype, out);

    /// The logarithm of `softmax`, without the exponentials that would lose it.
    ///
    /// >>> strided.tensor([0.0, 1000.0]).log_softmax(0).tolist()
    /// [-1000.0, 0.0]
    both log_softmax(dim | axis: isize, dtype: Option<DType> = None; out: Option<TensorArg> = None)
        => one(py, &scan::LOG_SOFTMAX, x, dim, dtype, out);
}

fn one(
    py: Python<'_>,
    row: &'static LineRow,
    x: TensorArg,
    dim: isize,
    dtype: Option<DType>,
    out: Option<TensorArg>,
) -> Result<Object> {
    placed(py, x, out, |x, out| scan::run(row, x, dim, dtype, out))
}

fn itself(
    py: Python<'_>,
    row: &'static LineRow,
    x: TensorArg,
    dim: isize,
    dtype: Option<DType>,
) -> Result<Object> {
    let own = x.dtype();
    if let Some(other) = dtype.filter(|&dtype| dtype != own) {
        let (other, own) = (other.name(), own.name());
        return Err(Fail::Type(format!("dtype is {other}, and in place it is that of the tensor, {own}")));
    }
    one(py, row, x, dim, Some(own), Some(x))
}

fn two(py: Python<'_>, row: &'static LineRow, x: TensorArg, dim: isize, out: Option<Pair>) -> Result<Object> {
    placed_pair(py, row.name, x, out, |x, outs| {
        let outs = outs[0].zip(outs[1]);
        Ok(scan::run_indexed(row, x, dim, outs)?
            .map_or([None, None], |(values, indices)| [Some(values), Some(indices)]))
    })
}
