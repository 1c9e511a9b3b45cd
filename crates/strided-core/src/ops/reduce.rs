//! Reductions, one row each: the nest with an output step of 0.

use crate::dtype::{Category, DType};
use crate::error::{Error, Problem, Result};
use crate::kernels::reduce::{self, Reducer, Reduction};
use crate::layout::{Dims, Layout, shape_text, wrap_dim};
use crate::scalar::{Complex, Num, Scalar};
use crate::storage::Fill;
use crate::switch;
use crate::tensor::{Tensor, conflict};

/// One reduction.
pub struct Row {
    pub name: &'static str,
    /// The dtype of the result, unless the caller names one.
    pub result: fn(DType) -> DType,
    /// The loops for an accumulator of a dtype.
    pub reducer: fn(DType) -> Option<Reducer>,
}

/// The sum of elements. Integers are summed as int64 (uint64 as itself), halves as float32.
pub static SUM: Row = Row {
    name: "sum",
    result: |dtype| match dtype.category() {
        Category::Bool | Category::Int if dtype != DType::U64 => DType::I64,
        _ => dtype,
    },
    reducer: |dtype| switch!(dtype, any, T => Some(Reducer::of::<Sum, T>()), else => None),
};

struct Sum;

impl<T: Summand> Reduction<T> for Sum {
    const IDENTITY: T = T::NOTHING;
    const EMPTY: T = T::ZERO;
    #[inline(always)]
    fn merge(a: T, b: T) -> T {
        a.add(b)
    }
}

/// What changes no sum: for floats that is -0.0, for 0.0 would lose the sign of -0.0.
trait Summand: Num {
    const NOTHING: Self;
}
macro_rules! summands {
    ($($t:ty: $nothing:expr),*) => { $(impl Summand for $t { const NOTHING: Self = $nothing; })* };
}
summands! {
    crate::scalar::Bool: Self::ZERO,
    u8: 0, u16: 0, u32: 0, u64: 0, i8: 0, i16: 0, i32: 0, i64: 0, f32: -0.0, f64: -0.0,
    Complex<f32>: Complex::new(-0.0, -0.0), Complex<f64>: Complex::new(-0.0, -0.0)
}

/// Which dims a reduction removes, and what it makes.
pub struct Request<'a> {
    /// No dims: all of them.
    pub dims: Option<&'a [isize]>,
    pub keepdim: bool,
    pub dtype: Option<DType>,
}

/// Whether any element of a bool tensor is true: among truth values the sum is "or".
pub fn any(x: &Tensor) -> Result<bool> {
    let all = Request { dims: None, keepdim: false, dtype: Some(DType::Bool) };
    let found = run(&SUM, x, &all, None)?.expect("no output was given");
    Ok(super::copy::the_only_item(&found)? == Scalar::Bool(true))
}

/// Reduces into `out`, or into a new tensor which is returned.
pub fn run(row: &Row, x: &Tensor, request: &Request, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    run_named(row, x, request, out).map_err(|error| error.named(row.name))
}

fn run_named(row: &Row, x: &Tensor, request: &Request, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    let reduced = marks(x.layout().rank(), request.dims)?;
    let result = request.dtype.unwrap_or_else(|| (row.result)(x.dtype()));
    let shape: Dims =
        x.layout().modes().iter().zip(&reduced).map(|(m, &r)| if r { 1 } else { m.extent }).collect();
    let mut visible = shape.clone();
    if !request.keepdim {
        let mut dim = 0;
        visible.retain(|_| (!reduced[dim], dim += 1).0);
    }
    let Some(out) = out else {
        let new = Tensor::new(&visible, result, Fill::Nothing)?;
        fill(row, x, &new, &shape, result)?;
        return Ok(Some(new));
    };
    if out.layout().shape() != visible {
        let (got, wanted) = (out.layout().shape_text(), shape_text(&visible));
        return Err(Error::new("", Problem::OutShape { got, wanted }));
    }
    if result.category() > out.dtype().category() {
        return Err(Error::new("", Problem::LowerCategory { result, output: out.dtype() }));
    }
    out.check_writable()?;
    if conflict(out, x) || out.is_set_to(x) {
        fill(row, &super::copy::clone(x)?, out, &shape, result)?;
    } else {
        fill(row, x, out, &shape, result)?;
    }
    Ok(None)
}

/// For each dim whether it is reduced.
fn marks(rank: usize, dims: Option<&[isize]>) -> Result<smallvec::SmallVec<[bool; 8]>> {
    let Some(dims) = dims else { return Ok(smallvec::smallvec![true; rank]) };
    let mut marks = smallvec::smallvec![false; rank];
    for &dim in dims {
        // A tensor without dimension may be reduced along its only, imagined one.
        let dim = wrap_dim(dim, rank.max(1))?;
        if dim < rank && std::mem::replace(&mut marks[dim], true) {
            return Err(Error::new("", Problem::DimRepeated { dim }));
        }
    }
    Ok(marks)
}

/// `kept` is the input's shape with extents of 1 in place of what is reduced.
fn fill(row: &Row, x: &Tensor, out: &Tensor, kept: &[isize], result: DType) -> Result<()> {
    let reducer = (row.reducer)(result.compute()).expect("a reducer for every compute dtype");
    reduce::run(&reducer, x, out, &spread(out.layout(), kept))
}

/// An output layout, whose reduced dims may be missing, with those dims as extents of 1.
fn spread(out: &Layout, kept: &[isize]) -> Layout {
    if out.rank() == kept.len() {
        return out.clone();
    }
    out.try_view(kept).expect("extents of 1 can always be added")
}
