//! Runs a row of the op table: decides dtypes and shape, creates or checks the output, calls the elementwise driver.
//!
//! Operands are converted to a common dtype. Halves (float16, bfloat16) are then computed in float32 and the result is
//! rounded once, so that a half next to an integer or a scalar gives what it would give if all of them were halves.
//! A comparison with an integer that the dtype cannot hold (`x < 300`, where `x` is uint8) is computed in float64.
//!
//! `x.add(y)`, `x.add_(y)`, `strided.add(x, y, out=z)` and `x += y` differ in where the output comes from. In place means
//! that the output is the first operand.

use super::copy;
use super::operand::{Operand, OwnedOperand};
use super::output::{self, Out};
use super::table::{DTypeClass, OPS, Op, OpRow, Refuses, ResultRule, ScalarKeyword};
use crate::backend::map::{self, Body, Input, OPERANDS, Output};
use crate::backend::{host_reads, items as item};
use crate::dtype::{self, Category, DType};
use crate::error::{Error, Family, Problem, Result};
use crate::layout::{self, Layout};
use crate::scalar::Scalar;
use crate::storage::{Device, not_on_host};
use crate::tensor::{Tensor, common_device, conflict, device_mismatch};
use smallvec::SmallVec;

/// The values of a row's scalar keywords, `None` where one is not given. Empty if none is given.
pub type KeywordValues<'a> = &'a [Option<Scalar>];

/// Applies an operation to its operands and returns the new tensor.
pub fn apply(op: Op, operands: &[Operand]) -> Result<Tensor> {
    apply_row(&OPS[op as usize], operands)
}

/// Applies an operation to its operands and writes the result into `out`.
pub fn apply_into(op: Op, operands: &[Operand], out: &Tensor) -> Result<()> {
    apply_row_into(&OPS[op as usize], &[], operands, out)
}

/// [`apply`] or [`apply_into`], as `out` says.
pub fn apply_to(op: Op, operands: &[Operand], out: Out) -> Result<Tensor> {
    match out {
        Out::New => apply(op, operands),
        Out::Into(out) => apply_into(op, operands, out).map(|()| out.clone()),
    }
}

/// Applies a row to its operands and returns the new tensor.
pub fn apply_row(row: &OpRow, operands: &[Operand]) -> Result<Tensor> {
    apply_row_with(row, &[], operands)
}

/// Applies a row to its operands and keywords and returns the new tensor.
pub fn apply_row_with(row: &OpRow, keywords: KeywordValues, operands: &[Operand]) -> Result<Tensor> {
    let mut result = None;
    apply_row_new(row, keywords, operands, &mut result)?;
    Ok(result.expect("`apply_row_new` creates it unless it fails"))
}

/// Evaluates the body with the operands as an array of constant length.
macro_rules! by_count {
    ($operands:expr, $array:ident => $body:expr) => {
        match *$operands {
            [a] => {
                let $array = &[a];
                $body
            }
            [a, b] => {
                let $array = &[a, b];
                $body
            }
            [a, b, c] => {
                let $array = &[a, b, c];
                $body
            }
            _ => unreachable!("rows have one to three operands"),
        }
    };
}

/// Applies a row to its operands and creates the new tensor in `result`, which stays `None` if this fails. Returning the
/// tensor by value would move some hundred bytes, which takes as long as a small operation.
pub fn apply_row_new(
    row: &OpRow,
    keywords: KeywordValues,
    operands: &[Operand],
    result: &mut Option<Tensor>,
) -> Result<()> {
    create_on_host(row, keywords, operands, result)
        .or_else(|error| create_elsewhere(error, row, keywords, operands, result))
}

/// [`apply_row_new`] for operands on the host: of a plain row without keywords, others are a `DeviceError`. A caller that knows a device
/// only as a reason of errors pays nothing for it where there is none.
#[inline]
pub fn create_on_host(
    row: &OpRow,
    keywords: KeywordValues,
    operands: &[Operand],
    result: &mut Option<Tensor>,
) -> Result<()> {
    if row.refuses == Refuses::negatives
        && let Some((shortcut, base)) = power_shortcut(operands)
    {
        return shortcut_new(shortcut, base, result);
    }
    if !keywords.is_empty() || !row.is_plain {
        create_general(row, keywords, operands, result)
    } else {
        by_count!(operands, operands => create::<_, true>(row, keywords, operands, result))
    }
    .inspect_err(|_| *result = None)
}

/// Applies a row to its operands and writes the result into `out`.
///
/// If `out` overlaps an operand in any other way than being the first one, the result is as if all operands were read
/// before anything is written.
pub fn apply_row_into(
    row: &OpRow,
    keywords: KeywordValues,
    operands: &[Operand],
    out: &Tensor,
) -> Result<()> {
    write_on_host(row, keywords, operands, out)
        .or_else(|error| write_elsewhere(error, row, keywords, operands, out))
}

/// [`apply_row_into`] for operands on the host, as [`create_on_host`] is.
#[inline]
pub fn write_on_host(row: &OpRow, keywords: KeywordValues, operands: &[Operand], out: &Tensor) -> Result<()> {
    if row.refuses == Refuses::negatives
        && let Some((shortcut, base)) = power_shortcut(operands)
    {
        return shortcut_into(shortcut, base, out);
    }
    if !keywords.is_empty() || !row.is_plain {
        write_general(row, keywords, operands, out)
    } else {
        by_count!(operands, operands => write::<_, true>(row, keywords, operands, out))
    }
}

/// After an error on the host: the call again, for operands of any device, if that can be the reason. Nothing has been written.
#[cold]
fn create_elsewhere(
    error: Error,
    row: &OpRow,
    keywords: KeywordValues,
    operands: &[Operand],
    result: &mut Option<Tensor>,
) -> Result<()> {
    let moved = operands_elsewhere(error, operands, None)?;
    let operands = borrowed(&moved);
    let (row, operands) = match power_shortcut_of(row, &operands) {
        Some((shortcut, base)) => (shortcut, SmallVec::from_iter([base])),
        None => (row, operands),
    };
    create_general(row, keywords, &operands, result).inspect_err(|_| *result = None)
}

#[cold]
fn write_elsewhere(
    error: Error,
    row: &OpRow,
    keywords: KeywordValues,
    operands: &[Operand],
    out: &Tensor,
) -> Result<()> {
    let moved = operands_elsewhere(error, operands, Some(out))?;
    let operands = borrowed(&moved);
    let (row, operands) = match power_shortcut_of(row, &operands) {
        Some((shortcut, base)) => (shortcut, SmallVec::from_iter([base])),
        None => (row, operands),
    };
    write_general(row, keywords, &operands, out)
}

fn power_shortcut_of<'a>(row: &OpRow, operands: &[Operand<'a>]) -> Option<(&'static OpRow, Operand<'a>)> {
    if row.refuses == Refuses::negatives { power_shortcut(operands) } else { None }
}

/// The row that computes floats to the power of this scalar in a tenth of the time: for 2, 3, 0.5 and -1. An exponent that
/// is a tensor never takes it, so that a tensor gives the same result as a view of it.
#[cold]
fn power_shortcut<'a>(operands: &[Operand<'a>]) -> Option<(&'static OpRow, Operand<'a>)> {
    let [Operand::Tensor(x), Operand::Scalar(number)] = *operands else { return None };
    let is_square = matches!(number, Scalar::Int(2) | Scalar::Float(2.0));
    match x.dtype().category() {
        Category::Float => {}
        Category::Complex if is_square => {}
        _ => return None,
    }
    let op = match number {
        _ if is_square => Op::square,
        Scalar::Int(3) | Scalar::Float(3.0) => Op::cube,
        Scalar::Int(-1) | Scalar::Float(-1.0) => Op::reciprocal,
        // Differs from the square root at -0.0 (0.0) and at -infinity (infinity).
        Scalar::Float(0.5) => Op::power_root,
        _ => return None,
    };
    Some((&OPS[op as usize], operands[0]))
}

fn is_host(x: &Tensor) -> bool {
    x.device() == Device::Cpu
}

/// Whether the first tensor is on the host. Plain calls check only the first tensor's device. A mismatch fails at the pin;
/// [`explain`] words it.
#[inline(always)]
fn on_host<const N: usize>(operands: &[Operand; N]) -> bool {
    match operands[0] {
        Operand::Tensor(first) => first.device() == Device::Cpu,
        Operand::Scalar(_) => operands[1..].iter().all(|operand| operand.tensor().is_none_or(is_host)),
    }
}

/// After an error on the host: the operands for a device, or the error if no device is its reason. Tensors of rank 0 on the host are moved
/// to the device of the others: such a tensor is a number, which may be beside tensors of any device.
fn operands_elsewhere(
    error: Error,
    operands: &[Operand],
    out: Option<&Tensor>,
) -> Result<SmallVec<[OwnedOperand; 3]>> {
    let tensors = || operands.iter().filter_map(Operand::tensor);
    let device = tensors().map(Tensor::device).find(|&device| device != Device::Cpu);
    let (Family::Device, Some(device)) = (error.family(), device) else {
        return Err(explain(error, operands, out));
    };
    let is_number = |x: &Tensor| is_host(x) && x.layout().rank() == 0;
    let mut moved = SmallVec::new();
    for operand in operands {
        moved.push(match *operand {
            Operand::Tensor(x) if is_number(x) => {
                OwnedOperand::Tensor(copy::to_device(x, device, x.dtype())?)
            }
            other => other.with_handle(),
        });
    }
    common_device(borrowed(&moved).iter().filter_map(Operand::tensor).chain(out))?;
    Ok(moved)
}

fn borrowed(operands: &[OwnedOperand]) -> SmallVec<[Operand<'_>; 3]> {
    operands.iter().map(OwnedOperand::borrow).collect()
}

/// Replaces a device error by one that names both devices, if those of the tensors differ.
#[cold]
fn explain(error: Error, operands: &[Operand], out: Option<&Tensor>) -> Error {
    if error.family() != Family::Device {
        return error;
    }
    common_device(operands.iter().filter_map(Operand::tensor).chain(out)).err().unwrap_or(error)
}

/// The error for a plain call on operands that are not on the host. Cold, so that the compiler treats the branch to host memory as the
/// likely one and inlines what follows.
#[cold]
fn elsewhere(operands: &[Operand]) -> Error {
    let device =
        operands.iter().filter_map(Operand::tensor).map(Tensor::device).find(|&device| device != Device::Cpu);
    not_on_host(device.unwrap_or(Device::Cpu))
}

// Out of line, so that calls without keywords on host memory pay for no more than comparisons.
#[inline(never)]
fn create_general(
    row: &OpRow,
    keywords: KeywordValues,
    operands: &[Operand],
    result: &mut Option<Tensor>,
) -> Result<()> {
    by_count!(operands, operands => create::<_, false>(row, keywords, operands, result))
}

#[inline(never)]
fn write_general(row: &OpRow, keywords: KeywordValues, operands: &[Operand], out: &Tensor) -> Result<()> {
    by_count!(operands, operands => write::<_, false>(row, keywords, operands, out))
}

#[cold]
fn shortcut_new(row: &OpRow, base: Operand, result: &mut Option<Tensor>) -> Result<()> {
    let done = create::<1, true>(row, &[], &[base], result);
    if done.is_err() {
        *result = None;
    }
    done
}

#[cold]
fn shortcut_into(row: &OpRow, base: Operand, out: &Tensor) -> Result<()> {
    write::<1, true>(row, &[], &[base], out)
}

#[inline(always)]
fn create<const N: usize, const PLAIN: bool>(
    row: &OpRow,
    keywords: KeywordValues,
    operands: &[Operand; N],
    result: &mut Option<Tensor>,
) -> Result<()> {
    if PLAIN && !on_host(operands) {
        return Err(elsewhere(operands));
    }
    let plan = ElementwisePlan::<PLAIN>::new(row, keywords, operands)?;
    let device = ElementwisePlan::<PLAIN>::device(operands);
    let new = match common_shape(operands) {
        Some(layout) => Tensor::insert_row_major_like(result, device, layout, plan.result)?,
        None => Tensor::insert_row_major_like(result, device, &broadcast_layout(operands)?, plan.result)?,
    };
    plan.check_values(operands)?;
    plan.compute(operands, None, Output::New(new))
}

#[inline(always)]
fn write<const N: usize, const PLAIN: bool>(
    row: &OpRow,
    keywords: KeywordValues,
    operands: &[Operand; N],
    out: &Tensor,
) -> Result<()> {
    if PLAIN && !on_host(operands) {
        return Err(elsewhere(operands));
    }
    let plan = ElementwisePlan::<PLAIN>::new(row, keywords, operands)?;
    ElementwisePlan::<PLAIN>::check_device(operands, out)?;
    match common_shape(operands) {
        Some(layout) => output::check(out, plan.result, layout)?,
        None => {
            let wanted = broadcast_layout(operands)?;
            check_in_place(operands, out, &wanted)?;
            output::check(out, plan.result, &wanted)?;
        }
    }
    plan.check_values(operands)?;
    plan.compute(operands, Some(out), Output::Given(out))
}

/// The dtypes and keywords of a call, decided before anything is computed. `PLAIN` calls are those of plain rows without
/// keywords on host memory: they are compiled separately, without the branches and the stack space that other calls need.
struct ElementwisePlan<'a, const PLAIN: bool> {
    row: &'a OpRow,
    /// The dtype to which operands are converted.
    operand: DType,
    /// The dtype of the computation: that of the operands, or float32 for halves.
    compute: DType,
    result: DType,
    /// The keywords, if one of them differs from its default.
    keywords: Option<KeywordValues<'a>>,
}

impl<'a, const PLAIN: bool> ElementwisePlan<'a, PLAIN> {
    #[inline(always)]
    fn new<const N: usize>(
        row: &'a OpRow,
        keywords: KeywordValues<'a>,
        operands: &[Operand; N],
    ) -> Result<Self> {
        assert!(N == row.operands.len(), "as many operands as the row has");
        let common = if !PLAIN && row.class == DTypeClass::select {
            select_dtype(operands)?
        } else {
            common_dtype(operands).or_else(|error| float_dtype(row, operands).ok_or(error))?
        };
        let operand =
            row.class.operand_dtype(common).map_err(|wanted| wrong_operand(row, operands, common, wanted))?;
        let compute = if PLAIN { operand.compute() } else { row.class.compute(operand) };
        let result = row.rule.result_dtype(operand);
        if !PLAIN {
            common_device(operands.iter().filter_map(Operand::tensor))?;
        }
        let mut plan = ElementwisePlan { row, operand, compute, result, keywords: None };
        for o in operands {
            if let Operand::Scalar(value) = *o {
                let fits = item::check_fits(value, operand);
                if fits.is_ok() && (row.rule != ResultRule::bool || !item::rounds_to_infinity(value, operand))
                {
                    continue;
                }
                // A comparison with a scalar outside the dtype is computed in float64.
                if row.rule != ResultRule::bool {
                    return Err(fits.expect_err("checked above"));
                }
                (plan.operand, plan.compute) = (DType::F64, DType::F64);
            }
        }
        if !PLAIN && (row.needs_keywords || !keywords.is_empty()) {
            plan.set_keywords(keywords)?;
        }
        Ok(plan)
    }

    /// The device of the operands. Not a field: with one of a byte, moving the plan takes loads that wait for narrower stores, and `a + b`
    /// of 8 floats 10 ns more.
    #[inline(always)]
    fn device(operands: &[Operand]) -> Device {
        if PLAIN {
            return Device::Cpu;
        }
        operands.iter().find_map(Operand::tensor).map_or(Device::Cpu, Tensor::device)
    }

    /// Refuses an output on another device than the operands.
    #[inline]
    fn check_device(operands: &[Operand], out: &Tensor) -> Result<()> {
        let device = Self::device(operands);
        if PLAIN || out.device() == device { Ok(()) } else { Err(device_mismatch(device, out.device())) }
    }

    /// Checks the keywords, and keeps them if one differs from its default.
    #[cold]
    fn set_keywords(&mut self, values: KeywordValues<'a>) -> Result<()> {
        let row = self.row;
        let dtypes = &map::operand_dtypes(row.op, Body::WithKeywords, self.compute)[row.operands.len()..];
        let mut differs = row.needs_keywords;
        for ((keyword, dtype), value) in row.keywords.iter().zip(dtypes).zip(values) {
            if let Some(value) = *value {
                check_keyword(keyword, value, *dtype)?;
                differs |= !keyword.is_default(value);
            }
        }
        self.keywords = differs.then_some(values);
        Ok(())
    }

    /// Whether elements of a dtype must be rounded to the operand dtype, a half, before they become float32.
    #[inline]
    fn must_round(&self, dtype: DType) -> bool {
        self.operand != self.compute && dtype != self.operand
    }

    /// Refuses integers without a result (zero divisors, negative exponents) before anything is written.
    #[inline]
    fn check_values(&self, operands: &[Operand]) -> Result<()> {
        if self.row.refuses == Refuses::none || self.operand.category() != Category::Int {
            return Ok(());
        }
        // No element is computed: nothing to refuse.
        if operands.iter().any(|operand| operand.tensor().is_some_and(|x| x.size() == 0)) {
            return Ok(());
        }
        self.check_second_operand(&operands[1])
    }

    #[cold]
    fn check_second_operand(&self, operand: &Operand) -> Result<()> {
        let (test, problem) = match self.row.refuses {
            Refuses::zeros => (Op::eq, Problem::ZeroDivisor),
            _ => {
                let (argument, got) = (self.row.argument(1), "a negative integer".into());
                (Op::lt, Problem::Argument { argument, got, wanted: "0 or more".into() })
            }
        };
        let found = match *operand {
            Operand::Scalar(Scalar::Int(value)) => {
                if test == Op::eq {
                    value == 0
                } else {
                    value < 0
                }
            }
            Operand::Scalar(value) => value == Scalar::Bool(false) && test == Op::eq,
            Operand::Tensor(x) => {
                let hits =
                    apply_row(&OPS[test as usize], &[Operand::Tensor(x), Operand::Scalar(Scalar::Int(0))])?;
                host_reads::any(&hits)?
            }
        };
        if found { Err(Error::new(problem)) } else { Ok(()) }
    }

    /// A scalar operand as the kernel reads it.
    #[inline]
    fn scalar_bytes(&self, value: Scalar, operands: &[Operand]) -> item::ScalarBytes {
        if item::check_fits(value, self.operand).is_err()
            || self.row.rule == ResultRule::bool
                && self.operand == DType::F64
                && self.is_outside(value, operands)
        {
            return item::ScalarBytes::cast(Scalar::Float(beyond_all(value)), self.compute);
        }
        let bytes = item::ScalarBytes::cast(value, self.operand);
        if self.operand == self.compute { bytes } else { bytes.recast(self.operand, self.compute) }
    }

    /// Whether a scalar is outside the range of the tensors' dtypes, so that they are compared in float64.
    #[inline]
    fn is_outside(&self, value: Scalar, operands: &[Operand]) -> bool {
        let fits =
            |operand: &Operand| operand.tensor().is_none_or(|x| item::check_fits(value, x.dtype()).is_ok());
        matches!(value, Scalar::Int(_) | Scalar::Huge(_)) && !operands.iter().all(fits)
    }

    /// Computes the result, from copies of the operands where it must.
    #[inline(always)]
    fn compute<const N: usize>(
        &self,
        operands: &[Operand; N],
        out: Option<&Tensor>,
        target: Output,
    ) -> Result<()> {
        if operands.iter().any(|operand| self.must_copy(operand, out)) {
            self.compute_on_copies(operands, out, target)
        } else {
            self.compute_in_kernel(operands, target)
        }
    }

    /// Whether an operand must be copied first: the output overlaps it, or it must be rounded to a half before it is
    /// computed with.
    #[inline]
    fn must_copy(&self, operand: &Operand, out: Option<&Tensor>) -> bool {
        let Operand::Tensor(x) = operand else { return false };
        self.must_round(x.dtype()) || out.is_some_and(|out| conflict(out, x))
    }

    #[cold]
    fn compute_on_copies<const N: usize>(
        &self,
        operands: &[Operand; N],
        out: Option<&Tensor>,
        target: Output,
    ) -> Result<()> {
        let mut copies: [Option<Tensor>; N] = [const { None }; N];
        for (copy, operand) in copies.iter_mut().zip(operands) {
            if let (Operand::Tensor(x), true) = (operand, self.must_copy(operand, out)) {
                let dtype = if self.must_round(x.dtype()) { self.operand } else { x.dtype() };
                *copy = Some(copy::to_dtype(x, dtype)?);
            }
        }
        let mut safe = *operands;
        for (safe, copy) in safe.iter_mut().zip(&copies) {
            if let Some(copy) = copy {
                *safe = Operand::Tensor(copy);
            }
        }
        self.compute_in_kernel(&safe, target)
    }

    /// Runs the kernel over operands that need no copy.
    #[inline(always)]
    fn compute_in_kernel<const N: usize>(&self, operands: &[Operand; N], out: Output) -> Result<()> {
        if !PLAIN && (self.keywords.is_some() || self.row.class == DTypeClass::select) {
            return self.compute_in_mixed_kernel(operands, out);
        }
        let mut inputs = [Input::Scalar(item::ScalarBytes::EMPTY); N];
        for (input, operand) in inputs.iter_mut().zip(operands) {
            *input = match *operand {
                Operand::Tensor(x) => Input::Tensor(x),
                Operand::Scalar(value) => Input::Scalar(self.scalar_bytes(value, operands)),
            };
        }
        map::compute_elements(Self::device(operands), self.row.op, Body::First, self.compute, &inputs, out)
    }

    /// [`Self::compute_in_kernel`] with keywords, and for kernels whose operands have several dtypes.
    #[cold]
    fn compute_in_mixed_kernel(&self, operands: &[Operand], out: Output) -> Result<()> {
        let row = self.row;
        let body = if self.keywords.is_some() { Body::WithKeywords } else { Body::First };
        let mut inputs = [Input::Scalar(item::ScalarBytes::EMPTY); OPERANDS - 1];
        let mut dtypes = inputs.iter_mut().zip(map::operand_dtypes(row.op, body, self.compute));
        for ((input, dtype), operand) in dtypes.by_ref().take(operands.len()).zip(operands) {
            *input = match *operand {
                Operand::Tensor(x) => Input::Tensor(x),
                // `isclose` needs the value itself, where other comparisons only need an order.
                Operand::Scalar(value) if *dtype != self.compute || row.rule == ResultRule::bool => {
                    Input::Scalar(item::ScalarBytes::cast(value, *dtype))
                }
                Operand::Scalar(value) => Input::Scalar(self.scalar_bytes(value, operands)),
            };
        }
        for (k, ((input, dtype), keyword)) in dtypes.zip(row.keywords).enumerate() {
            let given = self.keywords.and_then(|values| values.get(k).copied().flatten());
            *input = Input::Scalar(item::ScalarBytes::cast(keyword.resolve(given, self.operand), *dtype));
        }
        map::compute_elements(Self::device(operands), row.op, body, self.compute, &inputs, out)
    }
}

/// Refuses in-place operations whose operands broadcast to another shape than that of the first one.
#[cold]
fn check_in_place(operands: &[Operand], out: &Tensor, wanted: &Layout) -> Result<()> {
    let own = out.layout();
    if own.same_shape(wanted) || !operands[0].tensor().is_some_and(|first| first.is_set_to(out)) {
        return Ok(());
    }
    let tensors = operands.iter().filter_map(Operand::tensor);
    let shapes: Vec<String> = tensors.map(|x| x.layout().shape_text()).collect();
    let lead = wanted.rank() - own.rank();
    let differs = |dim: &usize| wanted.modes()[lead + dim].extent != own.modes()[*dim].extent;
    let wrong = (0..own.rank()).find(differs).map(|dim| (dim, own.modes()[dim].extent));
    let (shapes, result) = (shapes.join(" and "), wanted.shape_text());
    Err(Error::new(Problem::InPlace { shapes, result, rank: own.rank(), wrong }))
}

/// The error for a common dtype that a row refuses. It names the operand that raised the dtype to its category.
#[cold]
fn wrong_operand(row: &OpRow, operands: &[Operand], common: DType, wanted: &'static str) -> Error {
    let category = |operand: &Operand| match *operand {
        Operand::Tensor(x) => x.dtype().category(),
        Operand::Scalar(value) => value.category(),
    };
    let highest = |operand: &Operand| category(operand) == common.category();
    let at = operands.iter().position(highest).expect("the common category is that of an operand");
    let argument = row.argument(at);
    Error::new(match operands[at] {
        Operand::Tensor(x) => Problem::WrongDType { argument, got: x.dtype(), wanted },
        Operand::Scalar(value) => Problem::WrongNumber { argument, got: kind_of(value), wanted },
    })
}

/// The category of a scalar in words.
fn kind_of(value: Scalar) -> &'static str {
    match value.category() {
        Category::Complex => "a complex number",
        Category::Float => "a float",
        Category::Int => "an int",
        Category::Bool => "a bool",
    }
}

/// Refuses a keyword whose value has a higher category than allowed, does not fit the dtype, or is a negative tolerance.
fn check_keyword(keyword: &ScalarKeyword, value: Scalar, dtype: DType) -> Result<()> {
    let highest = if keyword.is_real() { Category::Float } else { dtype.category() };
    if value.category() > highest {
        let got = kind_of(value);
        let wanted = match highest {
            Category::Bool => "a bool, as the operands are",
            Category::Int => "an int",
            _ => "a real number",
        };
        return Err(Error::new(Problem::WrongNumber { argument: keyword.name, got, wanted }));
    }
    let negative = match value {
        Scalar::Int(v) => v < 0,
        Scalar::Huge(v) | Scalar::Float(v) => v < 0.0,
        _ => false,
    };
    if negative && keyword.is_tolerance() {
        let (got, wanted) = ("a negative number".into(), "0 or more".into());
        return Err(Error::new(Problem::Argument { argument: keyword.name, got, wanted }));
    }
    if keyword.is_real() { Ok(()) } else { item::check_fits(value, dtype) }
}

/// A float64 that compares with every element as `value` does. `value` is outside the dtype of the elements.
#[cold]
fn beyond_all(value: Scalar) -> f64 {
    match value {
        Scalar::Int(v) => f64::INFINITY * v.signum() as f64,
        // Not infinite: an infinity among the elements is larger than any integer.
        Scalar::Huge(v) => f64::MAX * v.signum(),
        Scalar::Float(v) => v,
        Scalar::Bool(_) | Scalar::Complex(_) => f64::NAN,
    }
}

/// The layout of the first tensor, if all tensors among the operands have its shape.
#[inline(always)]
fn common_shape<'a, const N: usize>(operands: &[Operand<'a>; N]) -> Option<&'a Layout> {
    let first = operands.iter().find_map(Operand::tensor).expect("one of the operands is a tensor").layout();
    let same = |operand: &Operand| operand.tensor().is_none_or(|x| x.layout().same_shape(first));
    operands.iter().all(same).then_some(first)
}

/// The row-major layout of the shape to which the operands broadcast.
#[cold]
fn broadcast_layout(operands: &[Operand]) -> Result<Layout> {
    let layouts: Vec<&Layout> = operands.iter().filter_map(Operand::tensor).map(Tensor::layout).collect();
    Layout::row_major(&layout::broadcast(&layouts)?)
}

/// The common dtype of the operands that follow a condition, which must be bool.
#[cold]
fn select_dtype(operands: &[Operand]) -> Result<DType> {
    let (condition, others) = operands.split_first().expect("a condition");
    let dtype = match *condition {
        Operand::Tensor(x) => x.dtype(),
        Operand::Scalar(value) => with_scalar(DType::Bool, value),
    };
    if dtype != DType::Bool {
        return Err(Error::dtype("condition", dtype, "bool; `condition != 0` is"));
    }
    common_dtype(others)
}

/// The common dtype of the operands: tensors promote, scalars only raise the category.
#[inline(always)]
fn common_dtype(operands: &[Operand]) -> Result<DType> {
    let mut tensors = operands.iter().filter_map(Operand::tensor);
    let mut common = tensors.next().map_or(DType::Bool, Tensor::dtype);
    for x in tensors {
        common = dtype::promote(common, x.dtype())?;
    }
    for operand in operands {
        if let Operand::Scalar(value) = operand {
            common = with_scalar(common, *value);
        }
    }
    Ok(common)
}

/// The common dtype for rows that compute integers in floats, where the integers have no common dtype (uint64 and int8):
/// that of the other operands, or int64 if there are none.
#[cold]
fn float_dtype(row: &OpRow, operands: &[Operand]) -> Option<DType> {
    let is_int = |operand: &Operand| operand.tensor().is_some_and(|x| x.dtype().is_int());
    let others: SmallVec<[Operand; 3]> =
        operands.iter().filter(|operand| !is_int(operand)).copied().collect();
    let common = common_dtype(&others).ok()?;
    row.class.makes_floats().then_some(if common == DType::Bool { DType::I64 } else { common })
}

/// The dtype of a tensor combined with a scalar: the category of the scalar counts, its size does not.
pub fn with_scalar(dtype: DType, value: Scalar) -> DType {
    let category = value.category();
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
