//! Functions of lines, one row each: the dtype of the result, the dtypes it knows, the output, and the kernel.

use super::reduce::summed;
use super::{copy, output};
use crate::dtype::{Category, DType};
use crate::error::{Error, Problem, Result};
use crate::kernels::lines::{LineFunction, LineRequest};
use crate::kernels::{scan, softmax};
use crate::layout::wrap_dim;
use crate::storage::Fill;
use crate::tensor::{Tensor, conflict};

/// One function of lines.
pub struct Row {
    pub name: &'static str,
    /// The dtype of the result, unless the caller names one.
    result: fn(DType) -> DType,
    /// What serves a result of a dtype.
    function: fn(DType) -> Option<LineFunction>,
    /// The dtypes of results, in words.
    wanted: &'static str,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $row:ident $family:ident::$name:ident($result:ident, $wanted:literal);)*) => { $(
        $(#[$doc])*
        pub static $row: Row =
            Row { name: stringify!($name), result: $result, function: $family::$name, wanted: $wanted };
    )* };
}

rows! {
    /// Sums up to each element.
    CUMSUM scan::cumsum(summed, "any dtype");
    /// Products up to each element.
    CUMPROD scan::cumprod(summed, "any dtype");
    /// The largest element up to each, with its position.
    CUMMAX scan::cummax(same, "a real dtype");
    /// The smallest element up to each, with its position.
    CUMMIN scan::cummin(same, "a real dtype");
    /// Logarithms of the sums of exponentials up to each element.
    LOGCUMSUMEXP scan::logcumsumexp(same, "a floating or complex dtype");
    /// Exponentials divided by their sum.
    SOFTMAX softmax::softmax(same, "a floating dtype; name one with dtype=");
    /// The logarithms of those.
    LOG_SOFTMAX softmax::log_softmax(same, "a floating dtype; name one with dtype=");
}

fn same(dtype: DType) -> DType {
    dtype
}

/// Applies a row along a dim, into the output or into a new tensor which is returned.
///
/// ```
/// use strided_core::{DType, Scalar, ops::{copy, create, scan}};
/// let x = create::full(&[4], Scalar::Int(3), DType::U8).unwrap();
/// let sums = scan::run(&scan::CUMSUM, &x, 0, None, None).unwrap().unwrap();
/// assert_eq!((sums.dtype(), copy::item(&sums, &[3]).unwrap()), (DType::I64, Scalar::Int(12)));
/// ```
pub fn run(
    row: &Row,
    x: &Tensor,
    dim: isize,
    dtype: Option<DType>,
    out: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let plan = Plan::new(row, x, dim, dtype);
    let done = plan.and_then(|plan| match out {
        Some(out) => plan.write(x, out, None).map(|()| None),
        None => {
            let out = Tensor::new(&x.layout().shape(), plan.result, Fill::Uninitialized)?;
            plan.fill(x, &out, None).map(|()| Some(out))
        }
    });
    done.map_err(|error| error.named(row.name))
}

/// Applies a row that also tells positions.
pub fn run_indexed(
    row: &Row,
    x: &Tensor,
    dim: isize,
    out: Option<(&Tensor, &Tensor)>,
) -> Result<Option<(Tensor, Tensor)>> {
    let plan = Plan::new(row, x, dim, None);
    let done = plan.and_then(|plan| match out {
        Some((out, indices)) => plan.write(x, out, Some(indices)).map(|()| None),
        None => {
            let shape = x.layout().shape();
            let out = Tensor::new(&shape, plan.result, Fill::Uninitialized)?;
            let indices = Tensor::new(&shape, DType::I64, Fill::Uninitialized)?;
            plan.fill(x, &out, Some(&indices)).map(|()| Some((out, indices)))
        }
    });
    done.map_err(|error| error.named(row.name))
}

/// What is decided before anything is computed.
struct Plan {
    function: LineFunction,
    dim: usize,
    result: DType,
}

impl Plan {
    fn new(row: &Row, x: &Tensor, dim: isize, dtype: Option<DType>) -> Result<Plan> {
        // A tensor without dimension has an imagined one.
        let dim = wrap_dim(dim, x.layout().rank().max(1))?;
        let result = dtype.unwrap_or_else(|| (row.result)(x.dtype()));
        let Some(function) = (row.function)(result) else {
            let argument = if dtype.is_some() { "dtype" } else { "input" };
            return Err(Error::new("", Problem::WrongDType { argument, got: result, wanted: row.wanted }));
        };
        Ok(Plan { function, dim, result })
    }

    /// Fills an output that somebody gave, and that may stand in the input's way.
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

    fn fill(&self, x: &Tensor, out: &Tensor, indices: Option<&Tensor>) -> Result<()> {
        if self.must_round(x.dtype()) {
            let rounded = copy::to_dtype(x, self.result)?;
            return (self.function)(&LineRequest { x: &rounded, out, indices, dim: self.dim });
        }
        (self.function)(&LineRequest { x, out, indices, dim: self.dim })
    }

    /// Whether elements must become what the caller named before they become what is computed with: only wrapping
    /// integers can wait.
    fn must_round(&self, dtype: DType) -> bool {
        let whole = |dtype: DType| dtype.category() <= Category::Int;
        let exact = matches!(
            self.result,
            DType::I64 | DType::U64 | DType::F32 | DType::F64 | DType::C64 | DType::C128
        );
        dtype != self.result && !exact && !(whole(dtype) && self.result.is_int())
    }
}
