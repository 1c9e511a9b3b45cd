//! Reductions: which dtypes each takes and returns, and which dims it removes.
//! `CONTRIBUTING.md` says how one is added.

use super::copy;
use super::elementwise::{apply, apply_into};
use super::operand::Operand;
use super::output::{self, Out, OutPair};
use super::table::Op;
use crate::backend::host_reads;
use crate::backend::reduce::{self as backend, ReductionTarget, TermStep};
use crate::dtype::{self, Category, DType};
use crate::error::{Error, Problem, Result};
use crate::layout::{Dims, Layout, wrap_dim};
use crate::op_table::ReduceOp;
use crate::scalar::Scalar;
use crate::tensor::{Tensor, common_device, shares_memory};
use smallvec::SmallVec;

/// One reduction: its name, and its rule for elements of a dtype and for the `dtype=` of the caller, if there is one.
pub struct ReductionRow {
    pub name: &'static str,
    rule: fn(DType, Option<DType>) -> Result<ReductionRule>,
}

/// What a reduction does with elements of one dtype.
struct ReductionRule {
    op: ReduceOp,
    /// From elements to terms.
    steps: SmallVec<[TermStep; 3]>,
    /// The dtypes of the results; `None` for one that is not wanted.
    results: [Option<DType>; 2],
    /// True if the second result is a position.
    positional: bool,
    /// Suffix of the name in messages: ` of order inf`.
    variant: &'static str,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $row:ident $name:literal = |$x:ident, $dtype:ident| $rule:expr;)*) => { $(
        $(#[$doc])*
        pub static $row: ReductionRow = ReductionRow { name: $name, rule: |$x, $dtype| $rule };
    )* };
}

rows! {
    /// Integers are summed as int64 (uint64 as itself), halves as float32.
    SUM "sum" = |x, dtype| {
        let result = dtype.unwrap_or_else(|| sum_dtype(x));
        Ok(Terms::of(x).to(result.compute()).rule(ReduceOp::Sum, result))
    };
    /// If the result is an integer, NaN is replaced before the cast.
    NANSUM "nansum" = |x, dtype| {
        let result = real(dtype.unwrap_or(sum_dtype(real(x)?)))?;
        let is_int = result.category() < Category::Float;
        let terms = if is_int { Terms::of(x).nan_to_zero() } else { Terms::of(x) };
        Ok(terms.to(result.compute()).rule(ReduceOp::NanSum, result))
    };
    PROD "prod" = |x, dtype| {
        let result = dtype.unwrap_or_else(|| sum_dtype(x));
        Ok(Terms::of(x).to(result.compute()).rule(ReduceOp::Prod, result))
    };
    MEAN "mean" = |x, dtype| {
        let result = float_dtype(x, dtype)?;
        Ok(Terms::of(x).to(result.compute()).rule(ReduceOp::Mean, result))
    };
    AMAX "amax" = |x, dtype| extreme(ReduceOp::Max, x, dtype);
    AMIN "amin" = |x, dtype| extreme(ReduceOp::Min, x, dtype);
    AMINMAX "aminmax" = |x, dtype| {
        Ok(ReductionRule { results: [Some(x), Some(x)], ..extreme(ReduceOp::MinMax, x, dtype)? })
    };
    /// The largest element and the position of its first occurrence.
    MAX "max" = |x, dtype| with_position(extreme(ReduceOp::ArgMax, x, dtype)?, Some(x));
    MIN "min" = |x, dtype| with_position(extreme(ReduceOp::ArgMin, x, dtype)?, Some(x));
    ARGMAX "argmax" = |x, dtype| with_position(extreme(ReduceOp::ArgMax, x, dtype)?, None);
    ARGMIN "argmin" = |x, dtype| with_position(extreme(ReduceOp::ArgMin, x, dtype)?, None);
    ALL "all" = |x, _dtype| Ok(Terms::of(x).rule(ReduceOp::All, DType::Bool));
    ANY "any" = |x, _dtype| Ok(Terms::of(x).rule(ReduceOp::Any, DType::Bool));
    COUNT_NONZERO "count_nonzero" = |x, _dtype| Ok(Terms::of(x).rule(ReduceOp::CountNonzero, DType::I64));
    COUNT_NAN "count_nan" = |x, _dtype| Ok(Terms::of(x).rule(ReduceOp::CountNan, DType::I64));
    /// Variance and mean.
    VAR "var" = |x, dtype| {
        let (terms, result) = variance_dtypes(x, dtype)?;
        Ok(with_mean(Terms::of(x).to(terms).rule(ReduceOp::Var, result)))
    };
    /// Standard deviation and mean.
    STD "std" = |x, dtype| {
        let (terms, result) = variance_dtypes(x, dtype)?;
        Ok(with_mean(Terms::of(x).to(terms).rule(ReduceOp::Std, result)))
    };
    LOGSUMEXP "logsumexp" = |x, dtype| {
        let result = float_dtype(x, dtype)?;
        let terms = if result.is_complex() { DType::C128 } else { result.compute() };
        Ok(Terms::of(x).to(terms).rule(ReduceOp::LogSumExp, result))
    };
    NORM2 "norm" = |x, dtype| {
        let d = float_dtype(x, dtype)?;
        Ok(Terms::of(x).to(d.compute()).rule(ReduceOp::Norm2, d.real()))
    };
}

/// The rule of a fold whose result is one of the elements.
fn extreme(op: ReduceOp, x: DType, dtype: Option<DType>) -> Result<ReductionRule> {
    Ok(Terms::of(real(x)?).to(x.compute()).rule(op, dtype.unwrap_or(x)))
}

/// The dtype of a sum: int64 for integers and bools, except that uint64 stays.
pub fn sum_dtype(x: DType) -> DType {
    match x.category() {
        Category::Bool | Category::Int if x != DType::U64 => DType::I64,
        _ => x,
    }
}

/// The dtype of a result that is a float or complex: integers are computed in the default float.
pub fn float_result(x: DType) -> DType {
    if x.category() >= Category::Float { x } else { dtype::default_float() }
}

/// The dtype of a result that is a quotient or a root: the one that is wanted, or that of [`float_result`].
fn float_dtype(x: DType, wanted: Option<DType>) -> Result<DType> {
    let result = wanted.unwrap_or_else(|| float_result(x));
    if result.category() < Category::Float {
        return Err(Error::dtype("dtype", result, "a floating or complex dtype"));
    }
    Ok(result)
}

/// Refuses complex dtypes, which have no order.
fn real(x: DType) -> Result<DType> {
    if x.is_complex() {
        return Err(Error::dtype("input", x, "a real dtype"));
    }
    Ok(x)
}

/// The rule with the position as its second result, and with the value as its first if it is wanted.
fn with_position(rule: ReductionRule, value: Option<DType>) -> Result<ReductionRule> {
    Ok(ReductionRule { results: [value, Some(DType::I64)], positional: true, ..rule })
}

/// The dtypes of the terms and of the result of a variance.
fn variance_dtypes(x: DType, dtype: Option<DType>) -> Result<(DType, DType)> {
    let result = real(float_dtype(x, dtype)?)?;
    Ok((if x.compute() == DType::F32 { DType::F32 } else { DType::F64 }, result))
}

/// The rule with the mean as its second result.
fn with_mean(rule: ReductionRule) -> ReductionRule {
    let [result, _] = rule.results;
    ReductionRule { results: [result, result], ..rule }
}

/// The steps from elements to terms, and the dtype after the last one.
struct Terms {
    dtype: DType,
    steps: SmallVec<[TermStep; 3]>,
}

impl Terms {
    /// No steps: the elements themselves.
    fn of(x: DType) -> Terms {
        Terms { dtype: x, steps: SmallVec::new() }
    }

    fn to(self, dtype: DType) -> Terms {
        if self.dtype == dtype { self } else { self.then(TermStep::Cast(dtype), dtype) }
    }

    fn then(mut self, step: TermStep, dtype: DType) -> Terms {
        self.steps.push(step);
        self.dtype = dtype;
        self
    }

    /// Adds the replacement of NaN by 0.
    fn nan_to_zero(self) -> Terms {
        let compute = self.dtype.compute();
        self.to(compute).then(TermStep::NanToZero, compute)
    }

    fn rule(self, op: ReduceOp, result: DType) -> ReductionRule {
        let (steps, results) = (self.steps, [Some(result), None]);
        ReductionRule { op, steps, results, positional: false, variant: "" }
    }
}

/// Which dims a reduction removes, and the dtype of its result.
#[derive(Clone, Copy, Default)]
pub struct ReduceRequest<'a> {
    /// `None` for all dims.
    pub dims: Option<&'a [isize]>,
    pub keepdim: bool,
    pub dtype: Option<DType>,
    /// What `var` and `std` subtract from the number of elements before they divide.
    pub correction: f64,
}

/// Reduces to one result.
pub fn reduce(row: &ReductionRow, x: &Tensor, request: &ReduceRequest, out: Out) -> Result<Tensor> {
    reduce_to_one(&(row.rule)(x.dtype(), request.dtype)?, x, request, out)
}

/// Reduces to two results.
pub fn reduce_to_pair(
    row: &ReductionRow,
    x: &Tensor,
    request: &ReduceRequest,
    outs: OutPair,
) -> Result<[Tensor; 2]> {
    let results = reduce_by(&(row.rule)(x.dtype(), request.dtype)?, x, request, outs.each())?;
    Ok(results.map(|result| result.expect("the rule has two results")))
}

/// Reduces to the first result only.
pub fn reduce_to_first(row: &ReductionRow, x: &Tensor, request: &ReduceRequest, out: Out) -> Result<Tensor> {
    let mut rule = (row.rule)(x.dtype(), request.dtype)?;
    rule.results[1] = None;
    reduce_to_one(&rule, x, request, out)
}

/// Reduces by a rule with one result.
fn reduce_to_one(rule: &ReductionRule, x: &Tensor, request: &ReduceRequest, out: Out) -> Result<Tensor> {
    if let Out::New = out
        && let Some(result) = reduce_small(rule, x, request)?
    {
        return Ok(result);
    }
    let [first, second] = reduce_by(rule, x, request, [out, out])?;
    Ok(first.or(second).expect("a rule has a result"))
}

/// Reduces a small tensor to one number, if that is one call of the reducer. Two results would be moved through every
/// caller, which takes longer than the sum of a few elements.
#[inline]
fn reduce_small(rule: &ReductionRule, x: &Tensor, request: &ReduceRequest) -> Result<Option<Tensor>> {
    let (None, false, [Some(result), None]) = (request.dims, request.keepdim, rule.results) else {
        return Ok(None);
    };
    backend::reduce_in_one_call(rule.op, &rule.steps, request.correction, x, result)
}

/// Reduces by a rule. A result that the rule does not have is `None`.
fn reduce_by(
    rule: &ReductionRule,
    x: &Tensor,
    request: &ReduceRequest,
    outs: [Out; 2],
) -> Result<[Option<Tensor>; 2]> {
    let modes = x.layout().modes();
    let reduced = reduced_dims(modes.len(), request.dims)?;
    let keepdim_shape: Dims =
        modes.iter().zip(&reduced).map(|(m, &r)| if r { 1 } else { m.extent }).collect();
    let mut shape = keepdim_shape.clone();
    if !request.keepdim {
        let mut dim = 0;
        shape.retain(|_| (!reduced[dim], dim += 1).0);
    }
    let no_terms = modes.iter().zip(&reduced).any(|(m, &r)| r && m.extent == 0);
    if no_terms && !rule.op.has_identity() && shape.iter().product::<isize>() > 0 {
        let (variant, shape) = (rule.variant, x.layout().shape_text());
        return Err(Error::new(Problem::EmptyReduction { variant, shape }));
    }
    let given = outs.map(Out::given);
    common_device([Some(x), given[0], given[1]].into_iter().flatten())?;
    let mut copied = rule.check_outs(x, given, &shape)?;
    let mut results = [None, None];
    for k in 0..2 {
        if let Some(dtype) = rule.results[k] {
            results[k] =
                Some(given[k].map_or_else(|| Tensor::like(x, &shape, dtype), |out| Ok(out.clone()))?);
        }
    }
    // Positions count terms in row-major order. Where several dims are reduced, a copy brings them into that order.
    let several = modes.iter().zip(&reduced).filter(|(m, r)| **r && m.extent > 1).count() > 1;
    let ordered = rule.positional && several;
    if ordered && !x.layout().is_row_major() && copied.is_none() {
        copied = Some(copy::clone(x)?);
    }
    let x = copied.as_ref().unwrap_or(x);
    let layouts =
        results.each_ref().map(|out| Some(with_reduced_dims(out.as_ref()?.layout(), &keepdim_shape)));
    let target =
        |k: usize| Some(ReductionTarget { out: results[k].as_ref()?, keepdim_layout: layouts[k].as_ref()? });
    backend::reduce(rule.op, &rule.steps, ordered, request.correction, x, [target(0), target(1)])?;
    Ok(results)
}

impl ReductionRule {
    /// Refuses outputs that cannot hold the results or share memory. Returns a copy of `x` if an output overlaps it.
    fn check_outs(&self, x: &Tensor, outs: [Option<&Tensor>; 2], shape: &[isize]) -> Result<Option<Tensor>> {
        let mut copied = None;
        for k in 0..2 {
            let (Some(result), Some(out)) = (self.results[k], outs[k]) else { continue };
            let name = if self.results.contains(&None) { "out" } else { ["out[0]", "out[1]"][k] };
            output::check_named(name, out, result, &Layout::row_major(shape)?)?;
            if self.positional && k == 1 {
                output::check_indices(name, out)?;
            }
            if copied.is_none() && shares_memory(out, x) {
                copied = Some(copy::clone(x)?);
            }
        }
        if let ([Some(_), Some(_)], [Some(first), Some(second)]) = (self.results, outs) {
            output::check_disjoint(first, second)?;
        }
        Ok(copied)
    }
}

/// For each dim whether it is reduced.
fn reduced_dims(rank: usize, dims: Option<&[isize]>) -> Result<SmallVec<[bool; 8]>> {
    let Some(dims) = dims else { return Ok(smallvec::smallvec![true; rank]) };
    let mut reduced = smallvec::smallvec![false; rank.max(1)];
    for &dim in dims {
        // A 0-d tensor may be reduced along dim 0 or -1, as if it had one dim.
        let dim = wrap_dim(dim, rank.max(1))?;
        if std::mem::replace(&mut reduced[dim], true) {
            return Err(Error::new(Problem::DimRepeated { dim }));
        }
    }
    reduced.truncate(rank);
    Ok(reduced)
}

/// The layout of an output with extents of 1 for the reduced dims that it lacks.
fn with_reduced_dims(out: &Layout, keepdim_shape: &[isize]) -> Layout {
    if out.rank() == keepdim_shape.len() {
        return out.clone();
    }
    out.try_view(keepdim_shape).expect("extents of 1 can always be added")
}

/// Returns true if two tensors have the same shape and equal elements. Large tensors are compared window by window: the
/// bools stay in a cache, and the first difference ends the comparison.
pub fn equal(x: &Tensor, y: &Tensor) -> Result<bool> {
    /// Elements that are compared at a time.
    const WINDOW: usize = 2 << 20;
    if !x.layout().same_shape(y.layout()) {
        return Ok(false);
    }
    let same =
        |x: &Tensor, y: &Tensor| host_reads::all(&apply(Op::eq, &[Operand::Tensor(x), Operand::Tensor(y)])?);
    if x.size() <= WINDOW {
        return same(x, y);
    }
    let (mut a, mut b) = (x.layout().clone(), y.layout().clone());
    if a.is_row_major() && b.is_row_major() {
        (a, b) = (a.view(&[-1])?, b.view(&[-1])?);
    }
    let rows = a.modes()[0].extent;
    let window_rows = (WINDOW / (x.size() / rows as usize)).max(1);
    for start in (0..rows).step_by(window_rows) {
        let length = (window_rows as isize).min(rows - start);
        let part = |of: &Tensor, layout: &Layout| -> Result<Tensor> {
            Ok(of.with_layout(layout.narrow(0, start, length)?))
        };
        if !same(&part(x, &a)?, &part(y, &b)?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The mean of the elements that are not NaN.
pub fn nanmean(x: &Tensor, request: &ReduceRequest, out: Out) -> Result<Tensor> {
    let dtype = real(float_dtype(real(x.dtype())?, request.dtype)?)?;
    let wide = ReduceRequest { dtype: Some(dtype.compute()), ..*request };
    let sum = reduce(&NANSUM, x, &wide, Out::New)?;
    let nans = reduce(&COUNT_NAN, x, &ReduceRequest { dtype: None, ..*request }, Out::New)?;
    let terms = Scalar::Int((x.size() / sum.size().max(1)) as i128);
    let count = apply(Op::rsub, &[Operand::Tensor(&nans), Operand::Scalar(terms)])?;
    let count = copy::to_dtype(&count, sum.dtype())?;
    let mean = apply(Op::div, &[Operand::Tensor(&sum), Operand::Tensor(&count)])?;
    out.deliver_as(dtype, mean)
}

/// The norm of order `p`.
pub fn norm(x: &Tensor, p: f64, request: &ReduceRequest, out: Out) -> Result<Tensor> {
    if let Some(dtype) = request.dtype.filter(|dtype| x.dtype().is_complex() && !dtype.is_complex()) {
        return Err(Error::dtype("dtype", dtype, "a complex dtype, as the input has one"));
    }
    if p == 2.0 {
        return reduce(&NORM2, x, request, out);
    }
    let d = float_dtype(x.dtype(), request.dtype)?;
    let (terms, result) = (Terms::of(x.dtype()).to(d.compute()), d.real());
    let compute = result.compute();
    let mut rule = if p == 0.0 {
        terms.then(TermStep::IsNonzero, DType::Bool).rule(ReduceOp::CountNonzero, result)
    } else {
        let magnitudes = terms.then(TermStep::Abs, compute);
        if p == 1.0 {
            magnitudes.rule(ReduceOp::Sum, result)
        } else if p == f64::INFINITY {
            magnitudes.rule(ReduceOp::Max, result)
        } else if p == f64::NEG_INFINITY {
            magnitudes.rule(ReduceOp::Min, result)
        } else {
            let rule = magnitudes.then(TermStep::Pow(p), compute).rule(ReduceOp::Sum, compute);
            let sum = reduce_to_one(&rule, x, request, Out::New)?;
            let root = Operand::Scalar(Scalar::Float(1.0 / p));
            apply_into(Op::pow, &[Operand::Tensor(&sum), root], &sum)?;
            return out.deliver_as(result, sum);
        }
    };
    rule.variant = if p > 0.0 { " of order inf" } else { " of order -inf" };
    reduce_to_one(&rule, x, request, out)
}

/// The norm of the difference of two tensors that broadcast.
pub fn dist(x: &Tensor, y: &Tensor, p: f64) -> Result<Tensor> {
    // As floats: differences of integers would wrap around, and uint64 has no common dtype with signed integers.
    let common = dtype::promote(x.dtype(), y.dtype()).unwrap_or_else(|_| dtype::default_float());
    let dtype = float_dtype(common, None)?;
    let (x, y) = (copy::to_dtype(x, dtype)?, copy::to_dtype(y, dtype)?);
    let difference = apply(Op::sub, &[Operand::Tensor(&x), Operand::Tensor(&y)])?;
    norm(&difference, p, &ReduceRequest::default(), Out::New)
}

/// Variance, or standard deviation if `root`.
pub fn variance(root: bool, x: &Tensor, request: &ReduceRequest, out: Out) -> Result<Tensor> {
    let row = if root { &STD } else { &VAR };
    if !x.dtype().is_complex() {
        return reduce_to_first(row, x, request, out);
    }
    out.deliver(complex_variance(root, x, request)?)
}

/// [`variance`], and the mean.
pub fn variance_and_mean(
    root: bool,
    x: &Tensor,
    request: &ReduceRequest,
    outs: OutPair,
) -> Result<[Tensor; 2]> {
    let row = if root { &STD } else { &VAR };
    if !x.dtype().is_complex() {
        return reduce_to_pair(row, x, request, outs);
    }
    let mean = reduce(&MEAN, x, &ReduceRequest { dtype: None, ..*request }, Out::New)?;
    outs.deliver([complex_variance(root, x, request)?, mean], false)
}

/// The variance of complex numbers: that of their real parts plus that of their imaginary parts.
fn complex_variance(root: bool, x: &Tensor, request: &ReduceRequest) -> Result<Tensor> {
    let parts = ReduceRequest { dtype: None, ..*request };
    let [re, im] = [0, 1].map(|part| reduce_to_first(&VAR, &x.part(part)?, &parts, Out::New));
    let (re, im) = (re?, im?);
    apply_into(Op::add, &[Operand::Tensor(&re), Operand::Tensor(&im)], &re)?;
    if root {
        apply_into(Op::sqrt, &[Operand::Tensor(&re)], &re)?;
    }
    Ok(re)
}
