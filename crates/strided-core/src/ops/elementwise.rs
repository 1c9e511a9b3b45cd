//! How an elementwise operation runs: common dtype, shape, output, nest, kernel.

use super::copy;
use super::table::{Row, Rule};
use crate::dtype::{self, Category, DType};
use crate::error::{Error, Problem, Result};
use crate::kernels::item;
use crate::kernels::launch::{self, INPUTS as MOST, Input};
use crate::layout::Layout;
use crate::nest;
use crate::scalar::Scalar;
use crate::storage::Fill;
use crate::tensor::{Tensor, conflict};

/// What an operation is applied to: a tensor, or a number that takes on the dtype of the tensors.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    Tensor(&'a Tensor),
    Scalar(Scalar),
}

impl<'a> Operand<'a> {
    #[inline]
    fn tensor(&self) -> Option<&'a Tensor> {
        match *self {
            Operand::Tensor(x) => Some(x),
            Operand::Scalar(_) => None,
        }
    }
}

const NOTHING: Operand = Operand::Scalar(Scalar::Bool(false));

/// Applies a row to its operands: into `out`, or into a new tensor which is returned.
///
/// In place means that `out` is the first operand. Any other overlap between `out` and an operand gives
/// what reading all operands first would give.
#[inline]
pub fn run(row: &Row, operands: &[Operand], out: Option<&Tensor>) -> Result<Option<Tensor>> {
    apply(row, operands, out).map_err(|error| error.named(row.name))
}

fn apply(row: &Row, operands: &[Operand], out: Option<&Tensor>) -> Result<Option<Tensor>> {
    let plan = Plan::new(row, operands)?;
    let layout = common_layout(operands)?;
    let new = match out {
        Some(out) => plan.check_output(out, &layout).map(|()| None)?,
        None => Some(Tensor::with_new_memory(layout, plan.result, Fill::Nothing)?),
    };
    let target = out.or(new.as_ref()).expect("an output is given or made");
    // An operand must be copied if the output stands in its way, or if it has to be rounded to a half
    // before it is computed with.
    let copied = |x: &Tensor| plan.rounds(x.dtype()) || out.is_some_and(|out| conflict(out, x));
    if operands.iter().any(|operand| operand.tensor().is_some_and(copied)) {
        let mut copies: [Option<Tensor>; MOST] = [const { None }; MOST];
        for (copy, operand) in copies.iter_mut().zip(operands) {
            if let Some(x) = operand.tensor().filter(|x| copied(x)) {
                let dtype = if plan.rounds(x.dtype()) { plan.operand } else { x.dtype() };
                *copy = Some(copy::to_dtype(x, dtype)?);
            }
        }
        let mut safe = [NOTHING; MOST];
        for (safe, (copy, operand)) in safe.iter_mut().zip(copies.iter().zip(operands)) {
            *safe = copy.as_ref().map_or(*operand, Operand::Tensor);
        }
        plan.fill(&safe[..operands.len()], target)?;
    } else {
        plan.fill(operands, target)?;
    }
    Ok(new)
}

/// What is decided before anything is computed.
struct Plan<'a> {
    row: &'a Row,
    /// Operands are brought to this dtype …
    operand: DType,
    /// … and computed in this one.
    compute: DType,
    result: DType,
}

impl<'a> Plan<'a> {
    #[inline]
    fn new(row: &'a Row, operands: &[Operand]) -> Result<Plan<'a>> {
        let common = common_dtype(operands)?;
        let operand = row.class.operand_dtype(common, row.name)?;
        let mut plan =
            Plan { row, operand, compute: operand.compute(), result: row.rule.result_dtype(operand) };
        for o in operands {
            if let Operand::Scalar(value) = *o {
                let fits = item::check_fits(value, operand);
                if fits.is_ok() && (row.rule != Rule::bool || !item::rounds_to_infinity(value, operand)) {
                    continue;
                }
                // A comparison with a number beyond the dtype is right all the same: in float64.
                if row.rule != Rule::bool {
                    return Err(fits.expect_err("seen above"));
                }
                (plan.operand, plan.compute) = (DType::F64, DType::F64);
            }
        }
        Ok(plan)
    }

    /// Whether elements of a dtype must be rounded to the operand dtype, a half, on the way to float32.
    #[inline]
    fn rounds(&self, dtype: DType) -> bool {
        self.operand != self.compute && dtype != self.operand
    }

    fn check_output(&self, out: &Tensor, wanted: &Layout) -> Result<()> {
        if !out.layout().same_shape(wanted) {
            let (got, wanted) = (out.layout().shape_text(), wanted.shape_text());
            return Err(Error::new("", Problem::OutShape { got, wanted }));
        }
        if self.result.category() > out.dtype().category() {
            return Err(Error::new("", Problem::LowerCategory { result: self.result, output: out.dtype() }));
        }
        out.check_writable()
    }

    /// A number as the kernel reads it.
    #[inline]
    fn slot(&self, value: Scalar, operands: &[Operand]) -> item::Slot {
        if item::check_fits(value, self.operand).is_err()
            || self.operand == DType::F64 && self.is_beyond(value, operands)
        {
            return item::Slot::cast(Scalar::Float(far(value)), self.compute);
        }
        let slot = item::Slot::cast(value, self.operand);
        if self.operand == self.compute { slot } else { slot.recast(self.operand, self.compute) }
    }

    /// Whether a number lies beyond every value of the tensors, which were then taken as float64.
    #[inline]
    fn is_beyond(&self, value: Scalar, operands: &[Operand]) -> bool {
        let fits =
            |operand: &Operand| operand.tensor().is_none_or(|x| item::check_fits(value, x.dtype()).is_ok());
        matches!(value, Scalar::Int(_) | Scalar::Huge(_)) && !operands.iter().all(fits)
    }

    /// Runs the kernel over operands that do not stand in the output's way.
    #[inline]
    fn fill(&self, operands: &[Operand], out: &Tensor) -> Result<()> {
        let twins = (self.row.kernels)(self.compute).expect("the class has kernels for each of its dtypes");
        let mut inputs = [Input::Slot(item::Slot::EMPTY); MOST];
        for (input, operand) in inputs.iter_mut().zip(operands) {
            *input = match operand {
                Operand::Tensor(x) => Input::Tensor(x),
                Operand::Scalar(value) => Input::Slot(self.slot(*value, operands)),
            };
        }
        launch::run(&twins, &inputs[..operands.len()], out)
    }
}

/// A float on the same side of every value of a dtype as a number beyond them all.
#[cold]
fn far(value: Scalar) -> f64 {
    match value {
        Scalar::Int(v) => f64::INFINITY * v.signum() as f64,
        // A float's own infinity is larger than any integer, however huge.
        Scalar::Huge(v) => f64::MAX * v.signum(),
        Scalar::Float(v) => v,
        Scalar::Bool(_) | Scalar::Complex(_) => f64::NAN,
    }
}

/// The row-major layout of the shape to which the operands broadcast.
#[inline]
pub fn common_layout(operands: &[Operand]) -> Result<Layout> {
    let none = Layout::scalar();
    let mut layouts = [&none; MOST];
    let mut count = 0;
    for operand in operands {
        if let Operand::Tensor(x) = operand {
            layouts[count] = x.layout();
            count += 1;
        }
    }
    nest::common_layout(&layouts[..count])
}

/// The dtype that operands have in common: tensors promote, numbers only raise the category.
#[inline]
pub fn common_dtype(operands: &[Operand]) -> Result<DType> {
    let mut common: Option<DType> = None;
    for operand in operands {
        if let Operand::Tensor(x) = operand {
            common = Some(match common {
                None => x.dtype(),
                Some(dtype) => dtype::promote(dtype, x.dtype())?,
            });
        }
    }
    let mut common = common.unwrap_or(DType::Bool);
    for operand in operands {
        if let Operand::Scalar(value) = operand {
            common = with_scalar(common, *value);
        }
    }
    Ok(common)
}

/// The dtype of a tensor's dtype and a number: the number's category counts, its size does not.
pub fn with_scalar(dtype: DType, value: Scalar) -> DType {
    let category = match value {
        Scalar::Bool(_) => Category::Bool,
        Scalar::Int(_) | Scalar::Huge(_) => Category::Int,
        Scalar::Float(_) => Category::Float,
        Scalar::Complex(_) => Category::Complex,
    };
    if category <= dtype.category() {
        return dtype;
    }
    match category {
        Category::Bool => DType::Bool,
        Category::Int => DType::I64,
        Category::Float => dtype::default_float(),
        Category::Complex if dtype.is_float() => dtype::complex_of(dtype),
        Category::Complex => dtype::complex_of(dtype::default_float()),
    }
}
