//! Functions from lines to lines (scans and softmax), one row each: the dtype of the result, the supported dtypes, the
//! output, and the kernel.

use super::reduce::{float_result, sum_dtype};
use super::{copy, output};
use crate::dtype::{Category, DType};
use crate::error::{Error, Problem, Result};
use crate::kernels::lines::{LineFunction, LineRequest};
use crate::kernels::{scan, softmax};
use crate::layout::wrap_dim;
use crate::storage::Fill;
use crate::tensor::{Tensor, conflict};

/// A function from lines along a dim to lines.
pub struct LineRow {
    pub name: &'static str,
    /// The dtype of the result by default.
    result: fn(DType) -> DType,
    /// The kernel for a result dtype, if that is supported.
    function: fn(DType) -> Option<LineFunction>,
    /// The supported result dtypes, for error messages.
    wanted: &'static str,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $row:ident $family:ident::$name:ident($result:ident, $wanted:literal);)*) => { $(
        row_static! {
            $(#[$doc])*
            $row: LineRow =
                LineRow { name: stringify!($name), result: $result, function: $family::$name, wanted: $wanted }
        }
    )* };
}

rows! {
    /// The sum of all elements up to each.
    CUMSUM scan::cumsum(sum_dtype, "any dtype");
    /// The product of all elements up to each.
    CUMPROD scan::cumprod(sum_dtype, "any dtype");
    /// The largest element up to each, and its position.
    CUMMAX scan::cummax(same, "a real dtype");
    /// The smallest element up to each, and its position.
    CUMMIN scan::cummin(same, "a real dtype");
    /// The logarithm of the sum of the exponentials of all elements up to each.
    LOGCUMSUMEXP scan::logcumsumexp(float_result, "a floating or complex dtype");
    /// Exponentials divided by their sum along the dim.
    SOFTMAX softmax::softmax(float_result, "a floating dtype; name one with dtype=");
    /// The logarithm of softmax.
    LOG_SOFTMAX softmax::log_softmax(float_result, "a floating dtype; name one with dtype=");
}

fn same(dtype: DType) -> DType {
    dtype
}

/// Applies a row along a dim. Writes into `out`, or returns a new tensor if there is none.
///
/// ```
/// use strided_core::{DType, Scalar, ops::{copy, create, scan}};
/// let x = create::full(&[4], Scalar::Int(3), DType::U8).unwrap();
/// let sums = scan::run(&scan::CUMSUM, &x, 0, None, None).unwrap().unwrap();
/// assert_eq!((sums.dtype(), copy::item(&sums, &[3]).unwrap()), (DType::I64, Scalar::Int(12)));
/// ```
pub fn run(
    row: &LineRow,
    x: &Tensor,
    dim: isize,
    dtype: Option<DType>,
    out: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let plan = LinePlan::new(row, x, dim, dtype);
    let result = plan.and_then(|plan| match out {
        Some(out) => plan.write(x, out, None).map(|()| None),
        None => {
            let out = Tensor::new(&x.layout().shape(), plan.result, Fill::Uninitialized)?;
            plan.fill(x, &out, None).map(|()| Some(out))
        }
    });
    result.map_err(|error| error.named(row.name))
}

/// Applies a row that also returns positions. `out` is a pair of results and positions.
pub fn run_indexed(
    row: &LineRow,
    x: &Tensor,
    dim: isize,
    out: Option<(&Tensor, &Tensor)>,
) -> Result<Option<(Tensor, Tensor)>> {
    let plan = LinePlan::new(row, x, dim, None);
    let result = plan.and_then(|plan| match out {
        Some((out, indices)) => plan.write(x, out, Some(indices)).map(|()| None),
        None => {
            let shape = x.layout().shape();
            let out = Tensor::new(&shape, plan.result, Fill::Uninitialized)?;
            let indices = Tensor::new(&shape, DType::I64, Fill::Uninitialized)?;
            plan.fill(x, &out, Some(&indices)).map(|()| Some((out, indices)))
        }
    });
    result.map_err(|error| error.named(row.name))
}

/// What is decided before anything is computed.
struct LinePlan {
    function: LineFunction,
    dim: usize,
    result: DType,
}

impl LinePlan {
    fn new(row: &LineRow, x: &Tensor, dim: isize, dtype: Option<DType>) -> Result<LinePlan> {
        // A tensor of rank 0 is treated as one line of one element.
        let dim = wrap_dim(dim, x.layout().rank().max(1))?;
        let result = dtype.unwrap_or_else(|| (row.result)(x.dtype()));
        let Some(function) = (row.function)(result) else {
            let argument = if dtype.is_some() { "dtype" } else { "input" };
            return Err(Error::new("", Problem::WrongDType { argument, got: result, wanted: row.wanted }));
        };
        Ok(LinePlan { function, dim, result })
    }

    /// Writes into outputs of the caller. If one of them overlaps the input, the input is copied first.
    fn write(&self, x: &Tensor, out: &Tensor, indices: Option<&Tensor>) -> Result<()> {
        output::check_named(if indices.is_some() { "out[0]" } else { "out" }, out, self.result, x.layout())?;
        if let Some(indices) = indices {
            output::check_named("out[1]", indices, DType::I64, x.layout())?;
            output::check_indices("out[1]", indices)?;
            output::check_disjoint(out, indices)?;
        }
        if conflict(out, x) || indices.is_some_and(|indices| conflict(indices, x) || indices.is_set_to(x)) {
            return self.fill(&copy::clone(x)?, out, indices);
        }
        self.fill(x, out, indices)
    }

    /// Writes into outputs that do not overlap the input, unless `out` is the input itself.
    fn fill(&self, x: &Tensor, out: &Tensor, indices: Option<&Tensor>) -> Result<()> {
        if self.must_round(x.dtype()) {
            let rounded = copy::to_dtype(x, self.result)?;
            return (self.function)(&LineRequest { x: &rounded, out, indices, dim: self.dim });
        }
        (self.function)(&LineRequest { x, out, indices, dim: self.dim })
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
