//! How an elementwise operation runs: common dtype, shape, output, nest, kernel.

use super::table::{DTypeClass, OPS, Op, OpRow, Refuses, ResultRule, ScalarKeyword};
use super::{copy, output, reduce};
use crate::dtype::{self, Category, DType};
use crate::error::{Error, Problem, Result};
use crate::kernels::OPERANDS;
use crate::kernels::item;
use crate::kernels::loops::KernelPair;
use crate::kernels::map::{self, Input, Output};
use crate::layout::{self, Layout};
use crate::scalar::Scalar;
use crate::tensor::{Tensor, conflict};
use smallvec::SmallVec;

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

/// Numbers that were given to a row by their names: as many as the row has, or none at all.
pub type Given<'a> = &'a [Option<Scalar>];

/// Applies an operation to its operands and returns the new tensor.
pub fn apply(op: Op, operands: &[Operand]) -> Result<Tensor> {
    run(&OPS[op as usize], operands)
}

/// Applies an operation to its operands and writes the result into `out`.
pub fn apply_into(op: Op, operands: &[Operand], out: &Tensor) -> Result<()> {
    run_into(&OPS[op as usize], &[], operands, out)
}

/// Applies a row to its operands and returns the new tensor.
pub fn run(row: &OpRow, operands: &[Operand]) -> Result<Tensor> {
    run_with(row, &[], operands)
}

/// Applies a row to its operands and numbers and returns the new tensor.
pub fn run_with(row: &OpRow, given: Given, operands: &[Operand]) -> Result<Tensor> {
    let mut slot = None;
    run_new(row, given, operands, &mut slot)?;
    Ok(slot.expect("made"))
}

/// Whether all elements differ from 0.
pub fn all(x: &Tensor) -> Result<bool> {
    Ok(!reduce::any(&run(&OPS[Op::logical_not as usize], &[Operand::Tensor(x)])?)?)
}

/// Operands as an array, whose length the compiler knows.
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

/// Applies a row to its operands and makes the new tensor in a place of the caller's: moving it there later
/// would cost as much as a small operation. Where this fails the place is empty.
pub fn run_new(row: &OpRow, given: Given, operands: &[Operand], slot: &mut Option<Tensor>) -> Result<()> {
    if row.refuses == Refuses::negatives
        && let Some((shorter, base)) = shorter(operands)
    {
        return shorter_new(shorter, base, slot).map_err(|error| error.named(row.name));
    }
    if !given.is_empty() || !row.is_plain {
        make_given(row, given, operands, slot)
    } else {
        by_count!(operands, operands => make::<_, true>(row, given, operands, slot))
    }
    .map_err(|error| {
        *slot = None;
        error.named(row.name)
    })
}

/// Applies a row to its operands and writes the result into `out`.
///
/// In place means that `out` is the first operand. Any other overlap between `out` and an operand gives
/// what reading all operands first would give.
pub fn run_into(row: &OpRow, given: Given, operands: &[Operand], out: &Tensor) -> Result<()> {
    if row.refuses == Refuses::negatives
        && let Some((shorter, base)) = shorter(operands)
    {
        return shorter_into(shorter, base, out).map_err(|error| error.named(row.name));
    }
    if !given.is_empty() || !row.is_plain {
        write_given(row, given, operands, out)
    } else {
        by_count!(operands, operands => write::<_, true>(row, given, operands, out))
    }
    .map_err(|error| error.named(row.name))
}

/// The row for a power of floats to a number, if that number has one: it takes a tenth of the time.
#[cold]
fn shorter<'a>(operands: &[Operand<'a>]) -> Option<(&'static OpRow, Operand<'a>)> {
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
        // Unlike the square root: of -0 it is 0, of minus infinity infinite.
        Scalar::Float(0.5) => Op::power_root,
        _ => return None,
    };
    Some((&OPS[op as usize], operands[0]))
}

// Out of line, so that plain calls pay for no more than a comparison.
#[inline(never)]
fn make_given(row: &OpRow, given: Given, operands: &[Operand], slot: &mut Option<Tensor>) -> Result<()> {
    by_count!(operands, operands => make::<_, false>(row, given, operands, slot))
}

#[inline(never)]
fn write_given(row: &OpRow, given: Given, operands: &[Operand], out: &Tensor) -> Result<()> {
    by_count!(operands, operands => write::<_, false>(row, given, operands, out))
}

#[cold]
fn shorter_new(row: &OpRow, base: Operand, slot: &mut Option<Tensor>) -> Result<()> {
    let done = make::<1, true>(row, &[], &[base], slot);
    if done.is_err() {
        *slot = None;
    }
    done
}

#[cold]
fn shorter_into(row: &OpRow, base: Operand, out: &Tensor) -> Result<()> {
    write::<1, true>(row, &[], &[base], out)
}

#[inline(always)]
fn make<const N: usize, const PLAIN: bool>(
    row: &OpRow,
    given: Given,
    operands: &[Operand; N],
    slot: &mut Option<Tensor>,
) -> Result<()> {
    let plan = Plan::<PLAIN>::new(row, given, operands)?;
    let new = match common_shape(operands) {
        Some(layout) => Tensor::insert_row_major_like(slot, layout, plan.result)?,
        None => Tensor::insert_row_major_like(slot, &broadcast_layout(operands)?, plan.result)?,
    };
    plan.check_values(operands)?;
    plan.fill_or_copy(operands, None, Output::New(new))
}

#[inline(always)]
fn write<const N: usize, const PLAIN: bool>(
    row: &OpRow,
    given: Given,
    operands: &[Operand; N],
    out: &Tensor,
) -> Result<()> {
    let plan = Plan::<PLAIN>::new(row, given, operands)?;
    match common_shape(operands) {
        Some(layout) => output::check(out, plan.result, layout)?,
        None => {
            let wanted = broadcast_layout(operands)?;
            check_in_place(operands, out, &wanted)?;
            output::check(out, plan.result, &wanted)?;
        }
    }
    plan.check_values(operands)?;
    plan.fill_or_copy(operands, Some(out), Output::Given(out))
}

/// What is decided before anything is computed. `PLAIN` calls are those of plain rows without numbers: they have code
/// of their own, without the branches and the room that numbers need.
struct Plan<'a, const PLAIN: bool> {
    row: &'a OpRow,
    /// Operands are brought to this dtype …
    operand: DType,
    /// … and computed in this one.
    compute: DType,
    result: DType,
    /// The numbers, where one of them matters.
    given: Option<Given<'a>>,
}

impl<'a, const PLAIN: bool> Plan<'a, PLAIN> {
    #[inline(always)]
    fn new<const N: usize>(row: &'a OpRow, given: Given<'a>, operands: &[Operand; N]) -> Result<Self> {
        assert!(N == row.operands.len(), "as many operands as the row has");
        let common = if !PLAIN && row.class == DTypeClass::select {
            chosen_dtype(operands)?
        } else {
            common_dtype(operands).or_else(|error| float_dtype(row, operands).ok_or(error))?
        };
        let operand =
            row.class.operand_dtype(common).map_err(|wanted| wrong_operand(row, operands, common, wanted))?;
        let compute = if PLAIN { operand.compute() } else { row.class.compute(operand) };
        let result = row.rule.result_dtype(operand);
        let mut plan = Plan { row, operand, compute, result, given: None };
        for o in operands {
            if let Operand::Scalar(value) = *o {
                let fits = item::check_fits(value, operand);
                if fits.is_ok() && (row.rule != ResultRule::bool || !item::rounds_to_infinity(value, operand))
                {
                    continue;
                }
                // A comparison with a number beyond the dtype is right all the same: in float64.
                if row.rule != ResultRule::bool {
                    return Err(fits.expect_err("seen above"));
                }
                (plan.operand, plan.compute) = (DType::F64, DType::F64);
            }
        }
        if !PLAIN && (row.needs_keywords || !given.is_empty()) {
            plan.take(given)?;
        }
        Ok(plan)
    }

    /// Takes on the numbers that were given, if one of them matters, or refuses them.
    #[cold]
    fn take(&mut self, given: Given<'a>) -> Result<()> {
        let row = self.row;
        let kernels = row
            .keyword_kernels
            .and_then(|kernels| kernels(self.compute))
            .expect("a row with numbers has such kernels");
        let dtypes = &kernels.operands()[row.operands.len()..];
        let mut matters = row.needs_keywords;
        for ((keyword, dtype), value) in row.keywords.iter().zip(dtypes).zip(given) {
            if let Some(value) = *value {
                check_number(keyword, value, *dtype)?;
                matters |= !keyword.is_default(value);
            }
        }
        self.given = matters.then_some(given);
        Ok(())
    }

    /// Whether elements of a dtype must be rounded to the operand dtype, a half, on the way to float32.
    #[inline]
    fn rounds(&self, dtype: DType) -> bool {
        self.operand != self.compute && dtype != self.operand
    }

    /// Refuses what integers have no result for, before anything is written; without elements there is nothing to refuse.
    #[inline]
    fn check_values(&self, operands: &[Operand]) -> Result<()> {
        if self.row.refuses == Refuses::none || self.operand.category() != Category::Int {
            return Ok(());
        }
        if operands.iter().any(|operand| operand.tensor().is_some_and(|x| x.size() == 0)) {
            return Ok(());
        }
        self.check_second(&operands[1])
    }

    #[cold]
    fn check_second(&self, operand: &Operand) -> Result<()> {
        let (test, problem) = match self.row.refuses {
            Refuses::zeros => (Op::eq, Problem::ZeroDivisor),
            _ => {
                let (argument, got) = (self.row.argument(1), "a negative integer".into());
                (Op::lt, Problem::Argument { argument, got, wanted: "0 or more".into() })
            }
        };
        let found = match *operand {
            Operand::Scalar(Scalar::Int(value)) => {
                if test as usize == Op::eq as usize {
                    value == 0
                } else {
                    value < 0
                }
            }
            Operand::Scalar(value) => value == Scalar::Bool(false) && test as usize == Op::eq as usize,
            Operand::Tensor(x) => {
                let hits = run(&OPS[test as usize], &[Operand::Tensor(x), Operand::Scalar(Scalar::Int(0))])?;
                reduce::any(&hits)?
            }
        };
        if found { Err(Error::new("", problem)) } else { Ok(()) }
    }

    /// A number as the kernel reads it.
    #[inline]
    fn slot(&self, value: Scalar, operands: &[Operand]) -> item::ScalarBytes {
        if item::check_fits(value, self.operand).is_err()
            || self.row.rule == ResultRule::bool
                && self.operand == DType::F64
                && self.is_beyond(value, operands)
        {
            return item::ScalarBytes::cast(Scalar::Float(far(value)), self.compute);
        }
        let slot = item::ScalarBytes::cast(value, self.operand);
        if self.operand == self.compute { slot } else { slot.recast(self.operand, self.compute) }
    }

    /// Whether a number lies beyond every value of the tensors, which were then taken as float64.
    #[inline]
    fn is_beyond(&self, value: Scalar, operands: &[Operand]) -> bool {
        let fits =
            |operand: &Operand| operand.tensor().is_none_or(|x| item::check_fits(value, x.dtype()).is_ok());
        matches!(value, Scalar::Int(_) | Scalar::Huge(_)) && !operands.iter().all(fits)
    }

    /// One path for new, `out=` and in-place: they differ in where the output comes from.
    #[inline(always)]
    fn fill_or_copy<const N: usize>(
        &self,
        operands: &[Operand; N],
        out: Option<&Tensor>,
        target: Output,
    ) -> Result<()> {
        if operands.iter().any(|operand| self.must_copy(operand, out)) {
            self.fill_from_copies(operands, out, target)
        } else {
            self.fill(operands, target)
        }
    }

    /// Whether an operand must be copied first: the output stands in its way, or it has to be rounded to a
    /// half before it is computed with.
    #[inline]
    fn must_copy(&self, operand: &Operand, out: Option<&Tensor>) -> bool {
        let Operand::Tensor(x) = operand else { return false };
        self.rounds(x.dtype()) || out.is_some_and(|out| conflict(out, x))
    }

    #[cold]
    fn fill_from_copies<const N: usize>(
        &self,
        operands: &[Operand; N],
        out: Option<&Tensor>,
        target: Output,
    ) -> Result<()> {
        let mut copies: [Option<Tensor>; N] = [const { None }; N];
        for (copy, operand) in copies.iter_mut().zip(operands) {
            if let (Operand::Tensor(x), true) = (operand, self.must_copy(operand, out)) {
                let dtype = if self.rounds(x.dtype()) { self.operand } else { x.dtype() };
                *copy = Some(copy::to_dtype(x, dtype)?);
            }
        }
        let mut safe = *operands;
        for (safe, copy) in safe.iter_mut().zip(&copies) {
            if let Some(copy) = copy {
                *safe = Operand::Tensor(copy);
            }
        }
        self.fill(&safe, target)
    }

    /// Runs the kernel over operands that do not stand in the output's way.
    #[inline(always)]
    fn fill<const N: usize>(&self, operands: &[Operand; N], out: Output) -> Result<()> {
        if !PLAIN && (self.given.is_some() || self.row.class == DTypeClass::select) {
            return self.fill_mixed(operands, out);
        }
        let kernels = (self.row.kernels)(self.compute).expect(KERNELS);
        let mut inputs = [Input::Scalar(item::ScalarBytes::EMPTY); N];
        for (input, operand) in inputs.iter_mut().zip(operands) {
            *input = match *operand {
                Operand::Tensor(x) => Input::Tensor(x),
                Operand::Scalar(value) => Input::Scalar(self.slot(value, operands)),
            };
        }
        map::run(kernels, &inputs, out)
    }

    /// The same with numbers, and for kernels whose operands have several dtypes.
    #[cold]
    fn fill_mixed(&self, operands: &[Operand], out: Output) -> Result<()> {
        let row = self.row;
        let kernels =
            if self.given.is_some() { row.keyword_kernels.expect("checked by `take`") } else { row.kernels };
        let kernels: &KernelPair = kernels(self.compute).expect(KERNELS);
        let mut inputs = [Input::Scalar(item::ScalarBytes::EMPTY); OPERANDS - 1];
        let mut dtypes = inputs.iter_mut().zip(kernels.operands());
        for ((input, dtype), operand) in dtypes.by_ref().take(operands.len()).zip(operands) {
            *input = match *operand {
                Operand::Tensor(x) => Input::Tensor(x),
                // What a comparison needs of a number beyond the dtype is its side; here its distance counts.
                Operand::Scalar(value) if *dtype != self.compute || row.rule == ResultRule::bool => {
                    Input::Scalar(item::ScalarBytes::cast(value, *dtype))
                }
                Operand::Scalar(value) => Input::Scalar(self.slot(value, operands)),
            };
        }
        for (k, ((input, dtype), keyword)) in dtypes.zip(row.keywords).enumerate() {
            let given = self.given.and_then(|given| given.get(k).copied().flatten());
            *input = Input::Scalar(item::ScalarBytes::cast(keyword.resolve(given, self.operand), *dtype));
        }
        map::run(kernels, &inputs, out)
    }
}

/// Refuses operands that broadcast to another shape than that of the first one, where that is the output.
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
    Err(Error::new("", Problem::InPlace { shapes, result, rank: own.rank(), wrong }))
}

/// Names the operand for which a row refuses the dtype that all have in common.
#[cold]
fn wrong_operand(row: &OpRow, operands: &[Operand], common: DType, wanted: &'static str) -> Error {
    let category = |operand: &Operand| match *operand {
        Operand::Tensor(x) => x.dtype().category(),
        Operand::Scalar(value) => value.category(),
    };
    let highest = |operand: &Operand| category(operand) == common.category();
    let at = operands.iter().position(highest).expect("one of them made it so");
    let argument = row.argument(at);
    Error::new(
        "",
        match operands[at] {
            Operand::Tensor(x) => Problem::WrongDType { argument, got: x.dtype(), wanted },
            Operand::Scalar(value) => Problem::WrongNumber { argument, got: kind(value), wanted },
        },
    )
}

/// What kind of number it is, in words.
fn kind(value: Scalar) -> &'static str {
    match value.category() {
        Category::Complex => "a complex number",
        Category::Float => "a float",
        Category::Int => "an int",
        Category::Bool => "a bool",
    }
}

const KERNELS: &str = "the class has kernels for each of its dtypes";

/// Refuses a number that the operands' dtype, or the one that its kernel wants, cannot hold.
fn check_number(keyword: &ScalarKeyword, value: Scalar, dtype: DType) -> Result<()> {
    let most = if keyword.is_real() { Category::Float } else { dtype.category() };
    if value.category() > most {
        let got = kind(value);
        let wanted = match most {
            Category::Bool => "a bool, as the operands are",
            Category::Int => "an int",
            _ => "a real number",
        };
        return Err(Error::new("", Problem::WrongNumber { argument: keyword.name, got, wanted }));
    }
    let negative = match value {
        Scalar::Int(v) => v < 0,
        Scalar::Huge(v) | Scalar::Float(v) => v < 0.0,
        _ => false,
    };
    if negative && keyword.is_tolerance() {
        let (got, wanted) = ("a negative number".into(), "0 or more".into());
        return Err(Error::new("", Problem::Argument { argument: keyword.name, got, wanted }));
    }
    if keyword.is_real() { Ok(()) } else { item::check_fits(value, dtype) }
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

/// A layout of the shape that all tensors among the operands have, if it is one.
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

/// The dtype that operands have in common under a condition, which must be bool.
#[cold]
fn chosen_dtype(operands: &[Operand]) -> Result<DType> {
    let (condition, others) = operands.split_first().expect("a condition");
    let dtype = match *condition {
        Operand::Tensor(x) => x.dtype(),
        Operand::Scalar(value) => with_scalar(DType::Bool, value),
    };
    if dtype != DType::Bool {
        let wanted = "bool; `condition != 0` is";
        return Err(Error::new("", Problem::WrongDType { argument: "condition", got: dtype, wanted }));
    }
    common_dtype(others)
}

/// The dtype that operands have in common: tensors promote, numbers only raise the category.
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

/// The same where integers have no dtype in common: a row that computes them as floats needs none. The others count as
/// ever.
#[cold]
fn float_dtype(row: &OpRow, operands: &[Operand]) -> Option<DType> {
    let is_int = |operand: &Operand| operand.tensor().is_some_and(|x| x.dtype().is_int());
    let others: SmallVec<[Operand; 3]> =
        operands.iter().filter(|operand| !is_int(operand)).copied().collect();
    let common = common_dtype(&others).ok()?;
    row.class.makes_floats().then_some(if common == DType::Bool { DType::I64 } else { common })
}

/// The dtype of a tensor's dtype and a number: the number's category counts, its size does not.
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
