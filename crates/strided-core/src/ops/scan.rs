//! Functions from lines to lines (scans and softmax), one row each: the dtype of the result, the supported dtypes, the
//! output, and the id of the function.

use super::copy;
use super::output::{self, Out, OutPair};
use super::reduce::{float_result, sum_dtype};
use crate::backend::lines::{self, LineRequest};
use crate::dtype::{Category, DType};
use crate::error::{Error, Result};
use crate::layout::wrap_dim;
use crate::op_table::LineOp;
use crate::tensor::{Tensor, common_device, conflict, shares_memory};

/// A function from lines along a dim to lines.
pub struct LineRow {
    pub name: &'static str,
    /// The dtype of the result by default.
    result: fn(DType) -> DType,
    op: LineOp,
    /// Whether results may have a dtype.
    accepts: fn(DType) -> bool,
    /// The accepted result dtypes, for error messages.
    wanted: &'static str,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $row:ident $op:ident $name:literal ($result:ident, $accepts:expr, $wanted:literal);)*) => { $(
        $(#[$doc])*
        pub static $row: LineRow =
            LineRow { name: $name, result: $result, op: LineOp::$op, accepts: $accepts, wanted: $wanted };
    )* };
}

rows! {
    /// The sum of all elements up to each.
    CUMSUM CumSum "cumsum" (sum_dtype, |_| true, "any dtype");
    /// The product of all elements up to each.
    CUMPROD CumProd "cumprod" (sum_dtype, |_| true, "any dtype");
    /// The largest element up to each, and its position.
    CUMMAX CumMax "cummax" (same, |dtype| !dtype.is_complex(), "a real dtype");
    /// The smallest element up to each, and its position.
    CUMMIN CumMin "cummin" (same, |dtype| !dtype.is_complex(), "a real dtype");
    /// The logarithm of the sum of the exponentials of all elements up to each.
    LOGCUMSUMEXP LogCumSumExp "logcumsumexp"
        (float_result, |dtype| dtype.category() >= Category::Float, "a floating or complex dtype");
    /// Exponentials divided by their sum along the dim.
    SOFTMAX Softmax "softmax" (float_result, DType::is_float, "a floating dtype; name one with dtype=");
    /// The logarithm of softmax.
    LOG_SOFTMAX LogSoftmax "log_softmax" (float_result, DType::is_float, "a floating dtype; name one with dtype=");
}

fn same(dtype: DType) -> DType {
    dtype
}

/// Applies a row along a dim.
///
/// ```
/// use strided_core::{DType, Device, Scalar, ops::{Out, copy, create, scan}};
/// let x = create::full(Device::Cpu, &[4], Scalar::Int(3), DType::U8).unwrap();
/// let sums = scan::scan(&scan::CUMSUM, &x, 0, None, Out::New).unwrap();
/// assert_eq!((sums.dtype(), copy::item(&sums, &[3]).unwrap()), (DType::I64, Scalar::Int(12)));
/// ```
pub fn scan(row: &LineRow, x: &Tensor, dim: isize, dtype: Option<DType>, out: Out) -> Result<Tensor> {
    let plan = LinePlan::new(row, x, dim, dtype);
    plan.and_then(|plan| match out {
        Out::Into(out) => plan.write(x, out, None).map(|()| out.clone()),
        Out::New => {
            let out = Tensor::like(x, &x.layout().shape(), plan.result)?;
            plan.fill(x, &out, None).map(|()| out)
        }
    })
}

/// Applies a row that also returns positions.
pub fn scan_with_positions(row: &LineRow, x: &Tensor, dim: isize, out: OutPair) -> Result<[Tensor; 2]> {
    let plan = LinePlan::new(row, x, dim, None);
    plan.and_then(|plan| match out {
        OutPair::Into(outs) => plan.write(x, outs[0], Some(outs[1])).map(|()| outs.map(Tensor::clone)),
        OutPair::New => {
            let shape = x.layout().shape();
            let out = Tensor::like(x, &shape, plan.result)?;
            let indices = Tensor::like(x, &shape, DType::I64)?;
            plan.fill(x, &out, Some(&indices)).map(|()| [out, indices])
        }
    })
}

/// What is decided before anything is computed.
struct LinePlan {
    op: LineOp,
    dim: usize,
    result: DType,
}

impl LinePlan {
    fn new(row: &LineRow, x: &Tensor, dim: isize, dtype: Option<DType>) -> Result<LinePlan> {
        // A tensor of rank 0 is treated as one line of one element.
        let dim = wrap_dim(dim, x.layout().rank().max(1))?;
        let result = dtype.unwrap_or_else(|| (row.result)(x.dtype()));
        if !(row.accepts)(result) {
            let argument = if dtype.is_some() { "dtype" } else { "input" };
            return Err(Error::dtype(argument, result, row.wanted));
        }
        Ok(LinePlan { op: row.op, dim, result })
    }

    /// Writes into outputs of the caller. If one of them overlaps the input, the input is copied first.
    fn write(&self, x: &Tensor, out: &Tensor, indices: Option<&Tensor>) -> Result<()> {
        common_device([Some(x), Some(out), indices].into_iter().flatten())?;
        match indices {
            None => output::check(out, self.result, x.layout())?,
            Some(indices) => OutPair::Into([out, indices])
                .check([self.result, DType::I64].map(|dtype| (dtype, x.layout())), true)?,
        }
        if conflict(out, x) || indices.is_some_and(|indices| shares_memory(indices, x)) {
            return self.fill(&copy::clone(x)?, out, indices);
        }
        self.fill(x, out, indices)
    }

    /// Writes into outputs that do not overlap the input, unless `out` is the input itself.
    fn fill(&self, x: &Tensor, out: &Tensor, indices: Option<&Tensor>) -> Result<()> {
        if self.must_round(x.dtype()) {
            let rounded = copy::to_dtype(x, self.result)?;
            return lines::compute_lines(
                self.op,
                self.result,
                &LineRequest { x: &rounded, out, indices, dim: self.dim },
            );
        }
        lines::compute_lines(self.op, self.result, &LineRequest { x, out, indices, dim: self.dim })
    }

    /// Whether elements must be cast to the result dtype before they are cast to the dtype of the computation. That is
    /// so for dtypes that are computed in a wider one. Integers need not: they wrap, so that the low bits of the result
    /// are the same.
    fn must_round(&self, dtype: DType) -> bool {
        let is_integral = |dtype: DType| dtype.category() <= Category::Int;
        let computed_as_is = matches!(
            self.result,
            DType::I64 | DType::U64 | DType::F32 | DType::F64 | DType::C64 | DType::C128
        );
        dtype != self.result && !computed_as_is && !(is_integral(dtype) && self.result.is_int())
    }
}
