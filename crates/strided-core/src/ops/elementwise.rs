//! How an elementwise operation runs: common dtype, shape, output, nest, kernel.

use super::copy;
use super::table::{Class, Row, Rule};
use crate::cpu;
use crate::dtype::{self, Category, DType};
use crate::error::{Error, Problem, Result};
use crate::kernels::blocks::Staged;
use crate::kernels::{OPERANDS, cast, item};
use crate::layout::{Dims, Layout, shape_text};
use crate::nest::{self, Nest, Order};
use crate::scalar::Scalar;
use crate::storage::{Access, Fill, Pinned};
use crate::tensor::{Tensor, conflict};
use smallvec::SmallVec;

/// What an operation is applied to: a tensor, or a number that takes on the dtype of the tensors.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    Tensor(&'a Tensor),
    Scalar(Scalar),
}

type Few<T> = SmallVec<[T; 3]>;

/// Applies a row to its operands: into `out`, or into a new tensor which is returned.
///
/// In place means that `out` is the first operand. Any other overlap between `out` and an operand gives
/// what reading all operands first would give.
pub fn run(row: &Row, operands: &[Operand], out: Option<&Tensor>) -> Result<Option<Tensor>> {
    run_named(row, operands, out).map_err(|error| error.named(row.name))
}

fn run_named(row: &Row, operands: &[Operand], out: Option<&Tensor>) -> Result<Option<Tensor>> {
    let plan = Plan::new(row, operands)?;
    let shape = plan.shape(operands)?;
    let Some(out) = out else {
        let new = Tensor::new(&shape, plan.result, Fill::Nothing)?;
        plan.fill(operands, &new, &shape)?;
        return Ok(Some(new));
    };
    plan.check_output(out, &shape)?;
    let clones: Few<Option<Tensor>> = operands.iter().map(|operand| copied_if_in_the_way(operand, out)).collect::<Result<_>>()?;
    let safe: Few<Operand> =
        operands.iter().zip(&clones).map(|(&o, clone)| clone.as_ref().map_or(o, Operand::Tensor)).collect();
    plan.fill(&safe, out, &shape)?;
    Ok(None)
}

fn copied_if_in_the_way(operand: &Operand, out: &Tensor) -> Result<Option<Tensor>> {
    match operand {
        Operand::Tensor(x) if conflict(out, x) => copy::clone(x).map(Some),
        _ => Ok(None),
    }
}

/// The dtypes of a call, decided once.
struct Plan<'a> {
    row: &'a Row,
    /// Kernels compute in this one.
    compute: DType,
    result: DType,
    /// A number that lies beyond every value of the operands' dtype, replaced by an infinity.
    beyond: Option<f64>,
}

impl<'a> Plan<'a> {
    fn new(row: &'a Row, operands: &[Operand]) -> Result<Plan<'a>> {
        let common = common_dtype(operands)?;
        let operand = row.class.operand_dtype(common, row.name)?;
        let plan = Plan { row, compute: operand.compute(), result: row.rule.result_dtype(operand), beyond: None };
        for o in operands {
            if let Operand::Scalar(value) = *o {
                if let Err(error) = item::check_fits(value, operand) {
                    return plan.beyond(value, error);
                }
            }
        }
        Ok(plan)
    }

    /// Comparing with a number beyond the dtype's range is comparing with an infinity; all else is refused.
    fn beyond(self, value: Scalar, error: Error) -> Result<Plan<'a>> {
        let infinity = match value {
            Scalar::Int(v) => f64::INFINITY * v.signum() as f64,
            Scalar::Huge(v) => f64::INFINITY * v.signum(),
            _ => return Err(error),
        };
        if self.row.rule != Rule::bool || !matches!(self.row.class, Class::any | Class::real) {
            return Err(error);
        }
        Ok(Plan { compute: DType::F64, beyond: Some(infinity), ..self })
    }

    fn shape(&self, operands: &[Operand]) -> Result<Dims> {
        let layouts: Few<&Layout> = operands
            .iter()
            .filter_map(|o| match o {
                Operand::Tensor(x) => Some(x.layout()),
                Operand::Scalar(_) => None,
            })
            .collect();
        nest::common_shape(&layouts)
    }

    fn check_output(&self, out: &Tensor, shape: &[isize]) -> Result<()> {
        if out.layout().modes().iter().map(|m| m.extent).ne(shape.iter().copied()) {
            let (got, wanted) = (out.layout().shape_text(), shape_text(shape));
            return Err(Error::new("", Problem::OutShape { got, wanted }));
        }
        if self.result.category() > out.dtype().category() {
            return Err(Error::new("", Problem::LowerCategory { result: self.result, output: out.dtype() }));
        }
        out.check_writable()
    }

    /// Runs the kernel over operands that do not stand in the output's way.
    fn fill(&self, operands: &[Operand], out: &Tensor, shape: &[isize]) -> Result<()> {
        let none = Layout::scalar();
        let kernel_result = self.row.rule.result_dtype(self.compute);
        let mut staged = Staged { kernel: self.kernel(), casts: [None; OPERANDS], sizes: [0; OPERANDS] };
        let mut origins = [std::ptr::null_mut(); OPERANDS];
        let mut views: SmallVec<[nest::Operand; OPERANDS]> = SmallVec::new();
        let mut pins: SmallVec<[Pinned; OPERANDS]> = SmallVec::new();
        let mut slots: Few<item::Slot> = SmallVec::new();

        let pin = out.pin(Access::Write)?;
        origins[0] = pin.origin;
        pins.push(pin);
        views.push(nest::Operand { layout: out.layout(), size: out.dtype().size() });
        staged.sizes[0] = kernel_result.size();
        if out.dtype() != kernel_result {
            staged.casts[0] = Some(cast::kernel(kernel_result, out.dtype()));
        }
        for operand in operands {
            if let Operand::Scalar(value) = *operand {
                let value = self.beyond.map_or(value, Scalar::Float);
                slots.push(item::Slot::cast(value, self.compute));
            }
        }
        let mut slot = slots.iter();
        for (k, operand) in (1..).zip(operands) {
            staged.sizes[k] = self.compute.size();
            match operand {
                Operand::Tensor(x) => {
                    let pin = x.pin(Access::Read)?;
                    origins[k] = pin.origin;
                    pins.push(pin);
                    views.push(nest::Operand { layout: x.layout(), size: x.dtype().size() });
                    if x.dtype() != self.compute {
                        staged.casts[k] = Some(cast::kernel(x.dtype(), self.compute));
                    }
                }
                Operand::Scalar(_) => {
                    origins[k] = slot.next().expect("a slot for every scalar").address();
                    views.push(nest::Operand { layout: &none, size: self.compute.size() });
                }
            }
        }
        let nest = Nest::new(shape, &views, Order::Free);
        // SAFETY: the origins are pinned for the layouts of which the nest is made, or are slots read
        // with step 0; every cast leads between the operand's dtype and the kernel's.
        nest.for_each(origins, |p, s, n| unsafe { staged.run(p, s, n) });
        Ok(())
    }

    fn kernel(&self) -> crate::kernels::Kernel {
        let twins = (self.row.kernels)(self.compute).expect("the class has kernels for each of its dtypes");
        if cpu::reference_kernels() { twins.reference } else { twins.fast }
    }
}

/// The dtype that operands have in common: tensors promote, numbers only raise the category.
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
