//! Reductions: what each of them makes of which dtypes, and which dims it removes.

use super::copy;
use super::elementwise::{OpArg, apply, apply_into};
use super::output::{self, deliver, deliver_as};
use super::table::{OPS, Op};
use crate::cpu;
use crate::dtype::{self, Category, DType};
use crate::error::{Error, Problem, Result};
use crate::kernels::item::ScalarBytes;
use crate::kernels::loops::KernelPair;
use crate::kernels::reduce::folds::{
    Both, Max, Mean, Min, NanSum, Norm2, Prod, Spread, Sum, Where, WithoutNan,
};
use crate::kernels::reduce::halves::Halves;
use crate::kernels::reduce::logsumexp::LogSumExp;
use crate::kernels::reduce::truth::{All, Any, Count, Nan, True};
use crate::kernels::reduce::{self, Reducer, Reduction, Stage, Target};
use crate::layout::{Dims, Layout, wrap_dim};
use crate::scalar::{Bool, Complex, Scalar};
use crate::storage::Fill;
use crate::switch;
use crate::tensor::{Tensor, conflict};
use half::{bf16, f16};
use smallvec::SmallVec;

/// One reduction: how it plans for elements of a dtype, if the caller names the result's dtype or not.
pub struct Row {
    pub name: &'static str,
    plan: fn(DType, Option<DType>) -> Result<Plan>,
}

/// From elements to results.
struct Plan {
    reducer: Reducer,
    stages: SmallVec<[Stage; 3]>,
    /// The dtypes of the results that are wanted.
    results: [Option<DType>; 2],
    /// Whether a result tells a position.
    positional: bool,
}

impl Plan {
    fn reduction(&self, request: &Request, ordered: bool) -> Reduction<'_> {
        Reduction { reducer: &self.reducer, stages: &self.stages, ordered, number: request.correction }
    }
}

macro_rules! rows {
    ($($(#[$doc:meta])* $row:ident $name:literal = |$x:ident, $dtype:ident| $plan:expr;)*) => {
        $( $(#[$doc])* pub static $row: Row = Row { name: $name, plan: |$x, $dtype| $plan }; )*
    };
}

/// The plan of a fold, from elements to a result by way of terms of a dtype. Halves are terms as they are where they
/// would become float32.
macro_rules! fold {
    ($terms:expr, $to:expr, $result:expr, $class:ident, $reducer:ident::<$fold:ty>) => {{
        let (terms, to): (Terms, DType) = ($terms, $to);
        match terms.as_halves(to) {
            Some(DType::F16) => terms.plan(Reducer::$reducer::<Halves<$fold>, f16>(), $result),
            Some(_) => terms.plan(Reducer::$reducer::<Halves<$fold>, bf16>(), $result),
            None => {
                let refused = || unreachable!("refused before");
                let reducer = switch!(to, $class, T => Reducer::$reducer::<$fold, T>(), else => refused());
                terms.to(to).plan(reducer, $result)
            }
        }
    }};
}

/// The plan of a fold to an element.
macro_rules! extreme {
    ($x:expr, $dtype:expr, $reducer:ident::<$fold:ty>) => {
        fold!(Terms::of(real($x)?), $x.compute(), $dtype.unwrap_or($x), real, $reducer::<$fold>)
    };
}

/// The plan of a fold of truth values. It sees the elements' bits: signed integers have those of unsigned ones, and a
/// half is 0 as the other one is. (The plain twin makes truth values first.)
macro_rules! truth {
    ($x:expr, $result:expr, $reducer:ident::<$($fold:ty),+>) => {{
        let terms = if cpu::reference_kernels() { Terms::of($x).truth()? } else { Terms::of($x) };
        let dtype = terms.dtype;
        let reducer = match dtype {
            DType::I8 => Reducer::$reducer::<$($fold),+, u8>(),
            DType::I16 => Reducer::$reducer::<$($fold),+, u16>(),
            DType::I32 => Reducer::$reducer::<$($fold),+, u32>(),
            DType::I64 => Reducer::$reducer::<$($fold),+, u64>(),
            DType::BF16 => Reducer::$reducer::<$($fold),+, f16>(),
            dtype => switch!(@ dtype, T => Reducer::$reducer::<$($fold),+, T>(), else => unreachable!();
                Bool U8 U16 U32 U64 F16 F32 F64 C64 C128),
        };
        terms.plan(reducer.reading(dtype), $result)
    }};
}

rows! {
    /// Integers are summed as int64 (uint64 as itself), halves as float32.
    SUM "sum" = |x, dtype| {
        let result = dtype.unwrap_or_else(|| summed(x));
        fold!(Terms::of(x), result.compute(), result, any, of_lanes::<Sum>)
    };
    /// NaN is left out before the elements become integers.
    NANSUM "nansum" = |x, dtype| {
        let result = real(dtype.unwrap_or(summed(real(x)?)))?;
        let terms = if result.category() < Category::Float { Terms::of(x).without_nan() } else { Terms::of(x) };
        fold!(terms, result.compute(), result, any, of_lanes::<NanSum>)
    };
    PROD "prod" = |x, dtype| {
        let result = dtype.unwrap_or_else(|| summed(x));
        fold!(Terms::of(x), result.compute(), result, any, of_lanes::<Prod>)
    };
    MEAN "mean" = |x, dtype| {
        let result = divisible(x, dtype)?;
        fold!(Terms::of(x), result.compute(), result, field, of_lanes::<Mean>)
    };
    AMAX "amax" = |x, dtype| extreme!(x, dtype, of_lanes::<Max>);
    AMIN "amin" = |x, dtype| extreme!(x, dtype, of_lanes::<Min>);
    AMINMAX "aminmax" = |x, dtype| {
        Ok(Plan { results: [Some(x), Some(x)], ..extreme!(x, dtype, of::<Both>)? })
    };
    /// The largest element and where it comes first.
    MAX "max" = |x, dtype| place(extreme!(x, dtype, of::<Where<Max>>)?, Some(x));
    MIN "min" = |x, dtype| place(extreme!(x, dtype, of::<Where<Min>>)?, Some(x));
    ARGMAX "argmax" = |x, dtype| place(extreme!(x, dtype, of::<Where<Max>>)?, None);
    ARGMIN "argmin" = |x, dtype| place(extreme!(x, dtype, of::<Where<Min>>)?, None);
    ALL "all" = |x, _dtype| truth!(x, DType::Bool, of_lanes::<All>);
    ANY "any" = |x, _dtype| truth!(x, DType::Bool, of_lanes::<Any>);
    COUNT_NONZERO "count_nonzero" = |x, _dtype| {
        truth!(x, DType::I64, with_lanes::<Count<True>, Count<True>>)
    };
    COUNT_NAN "count_nan" = |x, _dtype| {
        let direct = if cpu::reference_kernels() { DType::Bool } else { x };
        switch!(direct, floats,
            T => Terms::of(x).plan(Reducer::with_lanes::<Count<Nan>, Count<Nan>, T>(), DType::I64),
            else => {
                let truth = Reducer::with_lanes::<Count<True>, Count<True>, Bool>();
                Terms::of(x).map(Op::isnan, None)?.plan(truth, DType::I64)
            })
    };
    /// Variance and mean.
    VAR "var" = |x, dtype| {
        let (terms, result) = spread(x, dtype)?;
        fold!(Terms::of(x), terms, result, float, of::<Spread<false>>).map(with_mean)
    };
    /// Standard deviation and mean.
    STD "std" = |x, dtype| {
        let (terms, result) = spread(x, dtype)?;
        fold!(Terms::of(x), terms, result, float, of::<Spread<true>>).map(with_mean)
    };
    LOGSUMEXP "logsumexp" = |x, dtype| {
        let result = divisible(x, dtype)?;
        if result.is_complex() {
            return Terms::of(x).to(DType::C128).plan(Reducer::of::<LogSumExp, Complex<f64>>(), result);
        }
        fold!(Terms::of(x), result.compute(), result, float, of::<LogSumExp>)
    };
    NORM2 "norm" = |x, dtype| {
        let d = divisible(x, dtype)?;
        fold!(Terms::of(x), d.compute(), d.real(), field, of_lanes::<Norm2>)
    };
}

/// The dtype of a sum: integers and truth values are added up as int64, uint64 as itself.
pub fn summed(x: DType) -> DType {
    match x.category() {
        Category::Bool | Category::Int if x != DType::U64 => DType::I64,
        _ => x,
    }
}

/// The dtype of results that are floats or complex: integers are computed in the default float.
pub fn float_result(x: DType) -> DType {
    if x.category() >= Category::Float { x } else { dtype::default_float() }
}

/// The dtype of what is divided: the elements' own, or the default float.
fn divisible(x: DType, wanted: Option<DType>) -> Result<DType> {
    let result = wanted.unwrap_or_else(|| float_result(x));
    if result.category() < Category::Float {
        let (argument, wanted) = ("dtype", "a floating or complex dtype");
        return Err(Error::new("", Problem::WrongDType { argument, got: result, wanted }));
    }
    Ok(result)
}

/// Refuses what has no order.
fn real(x: DType) -> Result<DType> {
    if x.is_complex() {
        let (argument, wanted) = ("input", "a real dtype");
        return Err(Error::new("", Problem::WrongDType { argument, got: x, wanted }));
    }
    Ok(x)
}

/// With the position, and the value if it is wanted.
fn place(plan: Plan, value: Option<DType>) -> Result<Plan> {
    Ok(Plan { results: [value, Some(DType::I64)], positional: true, ..plan })
}

/// The dtypes of the terms and of the result of a variance.
fn spread(x: DType, dtype: Option<DType>) -> Result<(DType, DType)> {
    let result = real(divisible(x, dtype)?)?;
    Ok((if x.compute() == DType::F32 { DType::F32 } else { DType::F64 }, result))
}

/// A result and its mean.
fn with_mean(plan: Plan) -> Plan {
    let [result, _] = plan.results;
    Plan { results: [result, result], ..plan }
}

/// Elements on their way to terms.
struct Terms {
    dtype: DType,
    stages: SmallVec<[Stage; 3]>,
}

impl Terms {
    fn of(x: DType) -> Terms {
        Terms { dtype: x, stages: SmallVec::new() }
    }

    fn to(mut self, dtype: DType) -> Terms {
        if self.dtype != dtype {
            self.stages.push(Stage::cast(self.dtype, dtype));
            self.dtype = dtype;
        }
        self
    }

    /// The half that elements are, if they need not become float32 before they are reduced as such. (The plain twin casts,
    /// and so do CPUs without instructions for it.)
    fn as_halves(&self, to: DType) -> Option<DType> {
        let halves = matches!(self.dtype, DType::F16 | DType::BF16) && to == DType::F32;
        let direct = cpu::level() >= cpu::Level::Fused && !cpu::reference_kernels();
        (halves && self.stages.is_empty() && direct).then_some(self.dtype)
    }

    /// Through an elementwise operation.
    fn map(self, op: Op, number: Option<Scalar>) -> Result<Terms> {
        let compute = self.dtype.compute();
        let mut terms = self.to(compute);
        let row = &OPS[op as usize];
        let kernels = (row.kernels)(terms.dtype).expect("the operation knows the dtype");
        let slot = number.map_or(Ok(ScalarBytes::EMPTY), |number| ScalarBytes::new(number, terms.dtype))?;
        terms.stages.push(Stage::map(kernels, slot));
        terms.dtype = row.rule.result_dtype(terms.dtype);
        Ok(terms)
    }

    fn without_nan(self) -> Terms {
        let compute = self.dtype.compute();
        let mut terms = self.to(compute);
        let kernels =
            switch!(compute, float, T => Some(const { KernelPair::of::<WithoutNan, T, 1>() }), else => None);
        terms.stages.extend(kernels.map(|kernels| Stage::map(&kernels, ScalarBytes::EMPTY)));
        terms
    }

    /// Whether each of them differs from 0.
    fn truth(self) -> Result<Terms> {
        if self.dtype == DType::Bool { Ok(self) } else { self.map(Op::ne, Some(Scalar::Int(0))) }
    }

    fn plan(self, reducer: Reducer, result: DType) -> Result<Plan> {
        debug_assert!(self.dtype == reducer.terms());
        Ok(Plan { reducer, stages: self.stages, results: [Some(result), None], positional: false })
    }
}

/// Which dims a reduction removes, and what it makes.
#[derive(Clone, Copy, Default)]
pub struct Request<'a> {
    /// No dims: all of them.
    pub dims: Option<&'a [isize]>,
    pub keepdim: bool,
    pub dtype: Option<DType>,
    /// What `var` and `std` take from the number of elements before they divide.
    pub correction: f64,
}

/// The results of a reduction: new tensors, or nothing where it wrote into those that were given.
pub type Results = [Option<Tensor>; 2];

/// Reduces into `out`, or into a new tensor which is returned.
pub fn run(row: &Row, x: &Tensor, request: &Request, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    let [first, second] = run_both(row, x, request, [out, out])?;
    Ok(first.or(second))
}

/// Reduces to one or two results, into outputs or new tensors.
pub fn run_both(row: &Row, x: &Tensor, request: &Request, outs: [Option<&Tensor>; 2]) -> Result<Results> {
    let plan = || run_plan(&(row.plan)(x.dtype(), request.dtype)?, x, request, outs);
    plan().map_err(|error| error.named(row.name))
}

/// The first result only.
pub fn run_first(row: &Row, x: &Tensor, request: &Request, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    let run = || {
        let mut plan = (row.plan)(x.dtype(), request.dtype)?;
        plan.results[1] = None;
        run_plan(&plan, x, request, [out, None])
    };
    let [result, _] = run().map_err(|error: Error| error.named(row.name))?;
    Ok(result)
}

fn run_plan(plan: &Plan, x: &Tensor, request: &Request, outs: [Option<&Tensor>; 2]) -> Result<Results> {
    if let (None, false, [Some(result), None], [None, _]) =
        (request.dims, request.keepdim, plan.results, outs)
    {
        let reduction = plan.reduction(request, false);
        if reduction.is_short(x) {
            let out = Tensor::new(&[], result, Fill::Uninitialized)?;
            reduction.run_short(x, &out)?;
            return Ok([Some(out), None]);
        }
    }
    let reduced = marks(x.layout().rank(), request.dims)?;
    let shape: Dims =
        x.layout().modes().iter().zip(&reduced).map(|(m, &r)| if r { 1 } else { m.extent }).collect();
    let mut visible = shape.clone();
    if !request.keepdim {
        let mut dim = 0;
        visible.retain(|_| (!reduced[dim], dim += 1).0);
    }
    let empty = x.layout().modes().iter().zip(&reduced).any(|(m, &r)| r && m.extent == 0);
    if empty && !plan.reducer.has_nothing() && visible.iter().product::<isize>() > 0 {
        return Err(Error::new("", Problem::NothingToReduce { shape: x.layout().shape_text() }));
    }
    let mut made = [None, None];
    let mut copied = None;
    for k in 0..2 {
        match (plan.results[k], outs[k]) {
            (Some(result), None) => made[k] = Some(Tensor::new(&visible, result, Fill::Uninitialized)?),
            (Some(result), Some(out)) => {
                let name = if plan.results.contains(&None) { "out" } else { ["out[0]", "out[1]"][k] };
                output::check_named(name, out, result, &Layout::row_major(&visible)?)?;
                if plan.positional && k == 1 {
                    output::check_indices(name, out)?;
                }
                if copied.is_none() && (conflict(out, x) || out.is_set_to(x)) {
                    copied = Some(copy::clone(x)?);
                }
            }
            (None, _) => {}
        }
    }
    if let (Some(_), [Some(first), Some(second)]) = (plan.results[1], outs)
        && plan.results[0].is_some()
    {
        output::check_disjoint(first, second)?;
    }
    let several = x.layout().modes().iter().zip(&reduced).filter(|(m, r)| **r && m.extent > 1).count() > 1;
    if plan.positional && several && !x.layout().is_row_major() && copied.is_none() {
        copied = Some(copy::clone(x)?); // row-major order is then that of the memory
    }
    let x = copied.as_ref().unwrap_or(x);
    let spreads: SmallVec<[Option<Layout>; 2]> = (0..2)
        .map(|k| Some(spread_out(made[k].as_ref().or(plan.results[k].and(outs[k]))?.layout(), &shape)))
        .collect();
    let target = |k: usize| {
        let out = made[k].as_ref().or(plan.results[k].and(outs[k]))?;
        Some(Target { out, spread: spreads[k].as_ref()? })
    };
    let reduction = plan.reduction(request, plan.positional && several);
    reduce::run(&reduction, x, [target(0), target(1)])?;
    Ok(made)
}

/// For each dim whether it is reduced.
fn marks(rank: usize, dims: Option<&[isize]>) -> Result<SmallVec<[bool; 8]>> {
    let Some(dims) = dims else { return Ok(smallvec::smallvec![true; rank]) };
    let mut marks = smallvec::smallvec![false; rank.max(1)];
    for &dim in dims {
        // A tensor without dimension may be reduced along its only, imagined one.
        let dim = wrap_dim(dim, rank.max(1))?;
        if std::mem::replace(&mut marks[dim], true) {
            return Err(Error::new("", Problem::DimRepeated { dim }));
        }
    }
    marks.truncate(rank);
    Ok(marks)
}

/// An output layout, whose reduced dims may be missing, with those dims as extents of 1.
fn spread_out(out: &Layout, kept: &[isize]) -> Layout {
    if out.rank() == kept.len() {
        return out.clone();
    }
    out.try_view(kept).expect("extents of 1 can always be added")
}

/// Whether any element of a bool tensor is true.
pub fn any(x: &Tensor) -> Result<bool> {
    truth(&ANY, x)
}

/// The truth value that all elements are reduced to.
fn truth(row: &Row, x: &Tensor) -> Result<bool> {
    let found = run(row, x, &Request::default(), None)?.expect("no output was given");
    Ok(copy::single_item(&found)? == Scalar::Bool(true))
}

/// Whether two tensors have the same shape and equal elements. Window by window: truth values stay in a cache, and the
/// first difference is the end.
pub fn equal(x: &Tensor, y: &Tensor) -> Result<bool> {
    const WINDOW: usize = 2 << 20;
    if !x.layout().same_shape(y.layout()) {
        return Ok(false);
    }
    let same = |x: &Tensor, y: &Tensor| truth(&ALL, &apply(Op::eq, &[OpArg::Tensor(x), OpArg::Tensor(y)])?);
    let work = || {
        if x.size() <= WINDOW {
            return same(x, y);
        }
        let (mut a, mut b) = (x.layout().clone(), y.layout().clone());
        if a.is_row_major() && b.is_row_major() {
            (a, b) = (a.view(&[-1])?, b.view(&[-1])?);
        }
        let rows = a.modes()[0].extent;
        let most = (WINDOW / (x.size() / rows as usize)).max(1);
        for start in (0..rows).step_by(most) {
            let length = (most as isize).min(rows - start);
            let part = |of: &Tensor, layout: &Layout| Ok(of.with_layout(layout.narrow(0, start, length)?));
            if !same(&part(x, &a)?, &part(y, &b)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    work().map_err(|error: Error| error.named("equal"))
}

/// The mean of the elements that are not NaN.
pub fn nanmean(x: &Tensor, request: &Request, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    let work = || {
        let dtype = real(divisible(real(x.dtype())?, request.dtype)?)?;
        let wide = Request { dtype: Some(dtype.compute()), ..*request };
        let sum = run(&NANSUM, x, &wide, None)?.expect("new");
        let nans = run(&COUNT_NAN, x, &Request { dtype: None, ..*request }, None)?.expect("new");
        let terms = Scalar::Int((x.size() / sum.size().max(1)) as i128);
        let count = apply(Op::rsub, &[OpArg::Tensor(&nans), OpArg::Scalar(terms)])?;
        let count = copy::to_dtype(&count, sum.dtype())?;
        let mean = apply(Op::div, &[OpArg::Tensor(&sum), OpArg::Tensor(&count)])?;
        deliver_as(dtype, mean, out)
    };
    work().map_err(|error: Error| error.named("nanmean"))
}

/// The norm of the given order.
pub fn norm(x: &Tensor, p: f64, request: &Request, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    let work = || {
        if let Some(dtype) = request.dtype.filter(|dtype| x.dtype().is_complex() && !dtype.is_complex()) {
            let (argument, wanted) = ("dtype", "a complex dtype, as the input has one");
            return Err(Error::new("", Problem::WrongDType { argument, got: dtype, wanted }));
        }
        if p == 2.0 {
            return run(&NORM2, x, request, out);
        }
        let d = divisible(x.dtype(), request.dtype)?;
        let (terms, result) = (Terms::of(x.dtype()).to(d.compute()), d.real());
        let compute = result.compute();
        let wanted = [out, None];
        let plan = if p == 0.0 {
            terms.truth()?.plan(Reducer::with_lanes::<Count<True>, Count<True>, Bool>(), result)?
        } else if p == 1.0 {
            fold!(terms.map(Op::abs, None)?, compute, result, float, of_lanes::<Sum>)?
        } else if p == f64::INFINITY {
            fold!(terms.map(Op::abs, None)?, compute, result, float, of_lanes::<Max>)?
        } else if p == f64::NEG_INFINITY {
            fold!(terms.map(Op::abs, None)?, compute, result, float, of_lanes::<Min>)?
        } else {
            let powers = terms.map(Op::abs, None)?.map(Op::pow, Some(Scalar::Float(p)))?;
            let plan = fold!(powers, compute, compute, float, of_lanes::<Sum>)?;
            let [sum, _] = run_plan(&plan, x, request, [None, None])?;
            let sum = sum.expect("new");
            let root = OpArg::Scalar(Scalar::Float(1.0 / p));
            apply_into(Op::pow, &[OpArg::Tensor(&sum), root], &sum)?;
            return deliver_as(result, sum, out);
        };
        let [norm, _] = run_plan(&plan, x, request, wanted)?;
        Ok(norm)
    };
    work().map_err(|error: Error| error.named("norm"))
}

/// The norm of the difference of two tensors that broadcast.
pub fn dist(x: &Tensor, y: &Tensor, p: f64) -> Result<Tensor> {
    let work = || {
        // Integers would wrap around, and those without a dtype in common are floats all the same.
        let common = dtype::promote(x.dtype(), y.dtype()).unwrap_or_else(|_| dtype::default_float());
        let dtype = divisible(common, None)?;
        let (x, y) = (copy::to_dtype(x, dtype)?, copy::to_dtype(y, dtype)?);
        let difference = apply(Op::sub, &[OpArg::Tensor(&x), OpArg::Tensor(&y)])?;
        Ok(norm(&difference, p, &Request::default(), None)?.expect("new"))
    };
    work().map_err(|error: Error| error.named("dist"))
}

/// Variance or standard deviation, and, if wanted, the mean. A complex number counts with both of its parts.
pub fn variance(
    root: bool,
    mean: bool,
    x: &Tensor,
    request: &Request,
    outs: [Option<&Tensor>; 2],
) -> Result<Results> {
    let row = if root { &STD } else { &VAR };
    if !x.dtype().is_complex() {
        return if mean {
            run_both(row, x, request, outs)
        } else {
            Ok([run_first(row, x, request, outs[0])?, None])
        };
    }
    let work = || {
        let dtype = x.dtype().real();
        let parts = Request { dtype: None, ..*request };
        let part = |k| Ok::<_, Error>(run_first(&VAR, &x.part(k)?, &parts, None)?.expect("new"));
        let (re, im) = (part(0)?, part(1)?);
        apply_into(Op::add, &[OpArg::Tensor(&re), OpArg::Tensor(&im)], &re)?;
        if root {
            apply_into(Op::sqrt, &[OpArg::Tensor(&re)], &re)?;
        }
        if !mean {
            return Ok([deliver_as(dtype, re, outs[0])?, None]);
        }
        let mean = run(&MEAN, x, &parts, None)?.expect("new");
        if let [Some(first), Some(second)] = outs {
            output::check_named("out[0]", first, dtype, re.layout())?;
            output::check_named("out[1]", second, mean.dtype(), re.layout())?;
            output::check_disjoint(first, second)?;
        }
        Ok([deliver_as(dtype, re, outs[0])?, deliver(mean, outs[1])?])
    };
    work().map_err(|error: Error| error.named(row.name))
}
