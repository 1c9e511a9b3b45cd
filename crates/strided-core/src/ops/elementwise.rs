//! How an elementwise operation runs: common dtype, shape, output, nest, kernel.

use super::copy;
use super::table::{Class, Row, Rule};
use crate::cpu;
use crate::dtype::{self, Category, DType};
use crate::error::{Error, Problem, Result};
use crate::kernels::blocks::Staged;
use crate::kernels::{Kernel, OPERANDS, cast, item};
use crate::layout::Layout;
use crate::nest::{self, Nest, Order};
use crate::scalar::Scalar;
use crate::storage::{Access, Fill, Pinned};
use crate::tensor::{Tensor, conflict};

/// What an operation is applied to: a tensor, or a number that takes on the dtype of the tensors.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    Tensor(&'a Tensor),
    Scalar(Scalar),
}

/// The most operands a row has.
const MOST: usize = OPERANDS - 1;

/// Applies a row to its operands: into `out`, or into a new tensor which is returned.
///
/// In place means that `out` is the first operand. Any other overlap between `out` and an operand gives
/// what reading all operands first would give.
#[inline]
pub fn run(row: &Row, operands: &[Operand], out: Option<&Tensor>) -> Result<Option<Tensor>> {
    if let Some(uniform) = Uniform::of(row, operands, out) {
        return uniform.run(row, operands, out).map_err(|error| error.named(row.name));
    }
    match out {
        None => run_new(row, operands).map(Some),
        Some(out) => run_into(row, operands, out).map(|()| None),
    }
    .map_err(|error| error.named(row.name))
}

fn run_new(row: &Row, operands: &[Operand]) -> Result<Tensor> {
    let plan = Plan::new(row, operands)?;
    let out = Tensor::with_new_memory(common_layout(operands)?, plan.result, Fill::Nothing)?;
    plan.fill(operands, &out)?;
    Ok(out)
}

fn run_into(row: &Row, operands: &[Operand], out: &Tensor) -> Result<()> {
    let plan = Plan::new(row, operands)?;
    plan.check_output(out, &common_layout(operands)?)?;
    if !operands.iter().any(|operand| matches!(operand, Operand::Tensor(x) if conflict(out, x))) {
        return plan.fill(operands, out);
    }
    let mut copies: [Option<Tensor>; MOST] = [const { None }; MOST];
    for (copy, operand) in copies.iter_mut().zip(operands) {
        if let Operand::Tensor(x) = operand {
            *copy = Some(copy::clone(x)?);
        }
    }
    let mut safe = [Operand::Scalar(Scalar::Bool(false)); MOST];
    for (safe, (copy, operand)) in safe.iter_mut().zip(copies.iter().zip(operands)) {
        *safe = copy.as_ref().map_or(*operand, Operand::Tensor);
    }
    plan.fill(&safe[..operands.len()], out)
}

/// What most calls are: tensors of one compute dtype and one shape without gaps, and numbers of their
/// category. Nothing is promoted, broadcast, cast or copied, and the nest is one loop.
struct Uniform<'a> {
    first: &'a Tensor,
    result: DType,
    size: usize,
}

impl<'a> Uniform<'a> {
    #[inline]
    fn of(row: &Row, operands: &[Operand<'a>], out: Option<&Tensor>) -> Option<Uniform<'a>> {
        let Operand::Tensor(first) = operands[0] else { return None };
        let (dtype, layout) = (first.dtype(), first.layout());
        let result = row.rule.result_dtype(dtype);
        if dtype.compute() != dtype || !row.class.takes(dtype) || !layout.is_dense() {
            return None;
        }
        for operand in operands {
            let fits = match operand {
                Operand::Tensor(x) => x.dtype() == dtype && x.layout().same_modes(layout),
                Operand::Scalar(value) => with_scalar(dtype, *value) == dtype && item::check_fits(*value, dtype).is_ok(),
            };
            let in_the_way = matches!((out, operand), (Some(out), Operand::Tensor(x)) if conflict(out, x));
            if !fits || in_the_way {
                return None;
            }
        }
        let good = out.is_none_or(|out| out.dtype() == result && out.layout().same_modes(layout));
        good.then(|| Uniform { first, result, size: layout.size() })
    }

    #[inline]
    fn run(&self, row: &Row, operands: &[Operand], out: Option<&Tensor>) -> Result<Option<Tensor>> {
        let dtype = self.first.dtype();
        let mut origins = [std::ptr::null_mut(); OPERANDS];
        let mut steps = [0; OPERANDS];
        let mut pins: [Option<Pinned>; OPERANDS] = [const { None }; OPERANDS];
        let mut slots = [item::Slot::EMPTY; MOST];
        let mut new = None;
        steps[0] = self.result.size() as isize;
        if let Some(out) = out {
            let pin = out.pin_dense(self.size, Access::Write)?;
            origins[0] = pin.origin;
            pins[0] = Some(pin);
        } else {
            let (tensor, start) = Tensor::new_like(self.first.layout(), self.size, self.result)?;
            origins[0] = start;
            new = Some(tensor);
        }
        for (k, operand) in (1..).zip(operands) {
            match operand {
                Operand::Tensor(x) => {
                    let pin = x.pin_dense(self.size, Access::Read)?;
                    (origins[k], steps[k]) = (pin.origin, dtype.size() as isize);
                    pins[k] = Some(pin);
                }
                Operand::Scalar(value) => {
                    slots[k - 1] = item::Slot::cast(*value, dtype);
                    origins[k] = slots[k - 1].address();
                }
            }
        }
        // SAFETY: every operand is pinned (or new) and has `size` adjacent elements of the kernel's dtype,
        // or is a slot read with step 0.
        unsafe { kernel(row, dtype)(&origins, &steps, self.size) };
        drop(pins);
        Ok(new)
    }
}

/// The row-major layout of the shape to which the operands broadcast.
#[inline]
fn common_layout(operands: &[Operand]) -> Result<Layout> {
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

    /// Runs the kernel over operands that do not stand in the output's way.
    #[inline]
    fn fill(&self, operands: &[Operand], out: &Tensor) -> Result<()> {
        let none = Layout::scalar();
        let kernel_result = self.row.rule.result_dtype(self.compute);
        let mut staged = Staged { kernel: kernel(self.row, self.compute), casts: [None; OPERANDS], sizes: [0; OPERANDS] };
        let mut origins = [std::ptr::null_mut(); OPERANDS];
        let mut views = [nest::Operand { layout: &none, size: self.compute.size() }; OPERANDS];
        let mut pins: [Option<Pinned>; OPERANDS] = [const { None }; OPERANDS];
        let mut slots = [item::Slot::EMPTY; MOST];

        let pin = out.pin(Access::Write)?;
        origins[0] = pin.origin;
        pins[0] = Some(pin);
        views[0] = nest::Operand { layout: out.layout(), size: out.dtype().size() };
        staged.sizes[0] = kernel_result.size();
        if out.dtype() != kernel_result {
            staged.casts[0] = Some(cast::kernel(kernel_result, out.dtype()));
        }
        for (k, operand) in (1..).zip(operands) {
            staged.sizes[k] = self.compute.size();
            match operand {
                Operand::Tensor(x) => {
                    let pin = x.pin(Access::Read)?;
                    origins[k] = pin.origin;
                    pins[k] = Some(pin);
                    views[k] = nest::Operand { layout: x.layout(), size: x.dtype().size() };
                    if x.dtype() != self.compute {
                        staged.casts[k] = Some(cast::kernel(x.dtype(), self.compute));
                    }
                }
                Operand::Scalar(value) => {
                    let value = self.beyond.map_or(*value, Scalar::Float);
                    slots[k - 1] = item::Slot::cast(value, self.compute);
                    origins[k] = slots[k - 1].address();
                }
            }
        }
        let nest = Nest::new(out.layout(), &views[..=operands.len()], Order::Free);
        // SAFETY: the origins are pinned for the layouts of which the nest is made, or are slots read
        // with step 0; every cast leads between the operand's dtype and the kernel's.
        nest.for_each(origins, |p, s, n| unsafe { staged.run(p, s, n) });
        Ok(())
    }
}

#[inline]
fn kernel(row: &Row, dtype: DType) -> Kernel {
    let twins = (row.kernels)(dtype).expect("the class has kernels for each of its dtypes");
    if cpu::reference_kernels() { twins.reference } else { twins.fast }
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
