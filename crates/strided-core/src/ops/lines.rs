//! What is made of neighbours in a line or of pairs of lines: differences, areas, cross products, covariances, bounded
//! norms. Compositions of other operations.

use super::elementwise::{Operand, apply, apply_into};
use super::output::deliver;
use super::table::Op;
use super::{copy, reduce, scan};
use crate::dtype::{self, Category, DType};
use crate::error::{Error, Problem, Result};
use crate::layout::{Dims, Layout, shape_text, wrap_dim};
use crate::scalar::Scalar;
use crate::storage::Fill;
use crate::tensor::Tensor;

fn of_two(op: Op, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    apply(op, &[Operand::Tensor(a), Operand::Tensor(b)])
}

fn with_number(op: Op, a: &Tensor, number: f64) -> Result<Tensor> {
    apply(op, &[Operand::Tensor(a), Operand::Scalar(Scalar::Float(number))])
}

fn sum(x: &Tensor, dim: isize) -> Result<Tensor> {
    let request = reduce::Request { dims: Some(&[dim]), ..Default::default() };
    Ok(reduce::run(&reduce::SUM, x, &request, None)?.expect("no output was given"))
}

/// A view of a tensor through a rule of layouts.
fn seen(x: &Tensor, layout: Result<Layout>) -> Result<Tensor> {
    Ok(x.with_layout(layout?))
}

/// A number as float64; of a complex one the real part.
fn number(x: &Tensor, index: &[isize]) -> Result<f64> {
    Ok(match copy::item(x, index)? {
        Scalar::Bool(value) => value as u8 as f64,
        Scalar::Int(value) => value as f64,
        Scalar::Huge(value) | Scalar::Float(value) => value,
        Scalar::Complex(value) => value.re,
    })
}

fn extent(x: &Tensor, dim: usize) -> isize {
    x.layout().modes()[dim].extent
}

/// All elements of a dim but the last one, and all but the first one.
fn neighbours(x: &Tensor, dim: usize) -> Result<[Tensor; 2]> {
    let (dim, left) = (dim as isize, (extent(x, dim) - 1).max(0));
    let first = extent(x, dim as usize) - left;
    Ok([seen(x, x.layout().narrow(dim, 0, left))?, seen(x, x.layout().narrow(dim, first, left))?])
}

/// Differences of neighbours along a dim, so many times over. What is given before and behind is joined first.
pub fn diff(
    x: &Tensor,
    n: isize,
    dim: isize,
    [before, behind]: [Option<&Tensor>; 2],
    out: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let made = || {
        if x.layout().rank() == 0 {
            return Err(Error::new("", Problem::Rank { rank: 0, wanted: "at least 1" }));
        }
        if n < 0 {
            return Err(Error::argument("", "n", n, "0 or more"));
        }
        let dim = x.layout().wrap_dim(dim)?;
        if n == 0 {
            return deliver(copy::clone(x)?, out);
        }
        let mut line = joined(x, dim, before, behind)?;
        let op = if line.dtype() == DType::Bool { Op::logical_xor } else { Op::sub };
        // After as many turns as there are elements nothing is left, however many follow.
        for _ in 0..n.min(extent(&line, dim)) {
            let [left, right] = neighbours(&line, dim)?;
            line = of_two(op, &right, &left)?;
        }
        deliver(line, out)
    };
    made().map_err(|error| error.named("diff"))
}

/// A tensor with others in front of it and behind it along a dim; without any it stays as it is.
fn joined(x: &Tensor, dim: usize, before: Option<&Tensor>, behind: Option<&Tensor>) -> Result<Tensor> {
    if before.or(behind).is_none() {
        return Ok(Tensor::clone(x));
    }
    let mut shape = x.layout().shape();
    let mut dtype = x.dtype();
    for (argument, part) in [("prepend", before), ("append", behind)] {
        let Some(part) = part else { continue };
        dtype = dtype::promote(dtype, part.dtype())?;
        let modes = part.layout().modes().iter().zip(x.layout().modes()).enumerate();
        let same = part.layout().rank() == x.layout().rank()
            && modes.into_iter().all(|(at, (own, other))| at == dim || own.extent == other.extent);
        if !same {
            let got = format!("of shape {}", part.layout().shape_text());
            let wanted = format!("the shape {} but for dim {dim}", x.layout().shape_text());
            return Err(Error::shape("", argument, got, wanted));
        }
        shape[dim] += extent(part, dim);
    }
    let whole = Tensor::new(&shape, dtype, Fill::Uninitialized)?;
    let mut start = 0;
    for part in [before, Some(x), behind].into_iter().flatten() {
        let length = extent(part, dim);
        copy::copy(&seen(&whole, whole.layout().narrow(dim as isize, start, length))?, part)?;
        start += length;
    }
    Ok(whole)
}

/// Where the points of a curve lie.
pub enum Points<'a> {
    /// So far apart.
    Apart(f64),
    At(&'a Tensor),
}

/// The area under the points along a dim, by trapezoids.
pub fn trapezoid(y: &Tensor, points: Points, dim: isize) -> Result<Tensor> {
    let work = || {
        let along = y.layout().wrap_dim(dim)?;
        match points {
            Points::Apart(width) if extent(y, along) >= 2 => evenly_apart(y, width, along),
            _ => areas(y, points, dim, &|heights, dim| sum(heights, dim)),
        }
    };
    work().map_err(|error: Error| error.named("trapezoid"))
}

/// The area under two points or more: those inside count twice, and nothing but sums is written.
fn evenly_apart(y: &Tensor, width: f64, along: usize) -> Result<Tensor> {
    let (y, dim, n) = (heights(y)?, along as isize, extent(y, along));
    let inside = sum(&seen(&y, y.layout().narrow(dim, 1, n - 2))?, dim)?;
    let at = |place| seen(&y, y.layout().select(dim, place));
    let (first, last) = (at(0)?, at(n - 1)?);
    if y.dtype().category() <= Category::Int {
        let all = of_two(Op::add, &of_two(Op::add, &inside, &inside)?, &of_two(Op::add, &first, &last)?)?;
        return with_number(Op::mul, &all, width / 2.0);
    }
    // Halves of each, for their sum might overflow.
    let ends = of_two(Op::add, &with_number(Op::mul, &first, 0.5)?, &with_number(Op::mul, &last, 0.5)?)?;
    with_number(Op::mul, &of_two(Op::add, &inside, &ends)?, width)
}

/// The areas under the points along a dim, up to each but the first.
pub fn cumulative_trapezoid(y: &Tensor, points: Points, dim: isize) -> Result<Tensor> {
    let sums = |heights: &Tensor, dim| {
        Ok(scan::run(&scan::CUMSUM, heights, dim, None, None)?.expect("no output was given"))
    };
    areas(y, points, dim, &sums).map_err(|error| error.named("cumulative_trapezoid"))
}

/// Twice the mean heights, times the widths, summed.
fn areas(
    y: &Tensor,
    points: Points,
    dim: isize,
    sums: &dyn Fn(&Tensor, isize) -> Result<Tensor>,
) -> Result<Tensor> {
    let along = y.layout().wrap_dim(dim)?;
    let y = heights(y)?;
    let [left, right] = neighbours(&y, along)?;
    let heights = of_two(Op::add, &left, &right)?;
    match points {
        Points::Apart(width) => with_number(Op::mul, &sums(&heights, along as isize)?, width / 2.0),
        Points::At(x) => {
            // Widths may bring dims of their own, in front.
            let back = y.layout().rank() - along;
            check_places(x, &y, along)?;
            let widths = widths(&widened(x)?, y.layout().rank(), along)?;
            let product =
                of_two(Op::mul, &heights, &widths).map_err(|error| between_points(error, &y, x, back))?;
            with_number(Op::div, &sums(&product, -(back as isize))?, 2.0)
        }
    }
}

/// Refuses a line of places that are not as many as the points along the dim.
fn check_places(x: &Tensor, y: &Tensor, along: usize) -> Result<()> {
    if x.layout().rank() != 1 || extent(x, 0) == extent(y, along) {
        return Ok(());
    }
    let wanted =
        format!("{} places, as y of shape {} has in dim {along}", extent(y, along), y.layout().shape_text());
    Err(Error::shape("", "x", format!("of shape {}", x.layout().shape_text()), wanted))
}

/// An error about heights and widths, of which there is one less than points, in terms of the points.
fn between_points(mut error: Error, y: &Tensor, x: &Tensor, back: usize) -> Error {
    if let Problem::Broadcast { left, right, dim, extents } = &mut *error.problem {
        let rank = y.layout().rank().max(x.layout().rank());
        let one = (rank - *dim == back) as isize;
        *extents = (extents.0 + one, extents.1 + one);
        (*left, *right) = (y.layout().shape_text(), x.layout().shape_text());
    }
    error
}

/// The differences of places: one for all lines, or with dims that broadcast.
fn widths(x: &Tensor, rank: usize, along: usize) -> Result<Tensor> {
    let mut shape: Dims = smallvec::smallvec![1; rank];
    let x = if x.layout().rank() == 1 {
        shape[along] = extent(x, 0);
        seen(x, x.layout().view(&shape))?
    } else if x.layout().rank() < rank {
        let own = x.layout().shape();
        shape[rank - own.len()..].copy_from_slice(&own);
        seen(x, x.layout().view(&shape))?
    } else {
        Tensor::clone(x)
    };
    let [left, right] = neighbours(&x, x.layout().rank() - (rank - along))?;
    of_two(Op::sub, &right, &left)
}

/// What trapezoids may have as heights.
fn heights(y: &Tensor) -> Result<Tensor> {
    if y.dtype() == DType::Bool {
        let (argument, wanted) = ("y", "a number, not bool");
        return Err(Error::new("", Problem::WrongDType { argument, got: DType::Bool, wanted }));
    }
    widened(y)
}

/// Integers in 64 bits, so that sums of two do not wrap.
fn widened(x: &Tensor) -> Result<Tensor> {
    let narrow = x.dtype().category() <= Category::Int && x.dtype().size() < 8;
    if narrow { copy::to_dtype(x, DType::I64) } else { Ok(Tensor::clone(x)) }
}

/// The cross products of vectors of three along a dim; without one, along the first dim of extent 3, as PyTorch's `cross`.
pub fn cross(a: &Tensor, b: &Tensor, dim: Option<isize>, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    cross_new(a, b, dim).and_then(|made| deliver(made, out)).map_err(|error| error.named("cross"))
}

fn cross_new(a: &Tensor, b: &Tensor, dim: Option<isize>) -> Result<Tensor> {
    let rank = a.layout().rank();
    let of_shape = |x: &Tensor| format!("of shape {}", x.layout().shape_text());
    if b.layout().rank() != rank {
        let wanted = format!("as many dims as input has, which is {}", of_shape(a));
        return Err(Error::shape("", "other", of_shape(b), wanted));
    }
    let shape = crate::layout::broadcast(&[a.layout(), b.layout()])?;
    let found = match dim {
        Some(dim) => Some(wrap_dim(dim, rank)?),
        None => a.layout().modes().iter().position(|mode| mode.extent == 3),
    };
    let dim = found.ok_or_else(|| Error::shape("", "input", of_shape(a), "a dim of extent 3"))?;
    if let Some((name, x)) = [("input", a), ("other", b)].into_iter().find(|(_, x)| extent(x, dim) != 3) {
        return Err(Error::shape("", name, of_shape(x), format!("extent 3 in dim {dim}")));
    }
    let common = dtype::promote(a.dtype(), b.dtype())?;
    // Halves are rounded once, at the end.
    let of = |x: &Tensor| copy::to_dtype(x, common.compute());
    let [a, b] = [of(a)?, of(b)?];
    let whole = Tensor::new(&shape, common, Fill::Uninitialized)?;
    for i in 0..3 {
        let part = |x: &Tensor, i: isize| seen(x, x.layout().select(dim as isize, i % 3));
        let first = of_two(Op::mul, &part(&a, i + 1)?, &part(&b, i + 2)?)?;
        let second = of_two(Op::mul, &part(&a, i + 2)?, &part(&b, i + 1)?)?;
        copy::copy(&part(&whole, i)?, &of_two(Op::sub, &first, &second)?)?;
    }
    Ok(whole)
}

/// Slices along a dim, each scaled down to a norm where its own is larger.
pub fn renorm(x: &Tensor, p: f64, dim: isize, maxnorm: f64, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    let made = || {
        let factors = factors(x, p, dim, maxnorm)?;
        let operands = [Operand::Tensor(x), Operand::Tensor(&factors)];
        match out {
            Some(out) => apply_into(Op::mul, &operands, out).map(|()| None),
            None => {
                let out = Tensor::new(&x.layout().shape(), x.dtype(), Fill::Uninitialized)?;
                apply_into(Op::mul, &operands, &out).map(|()| Some(out))
            }
        }
    };
    made().map_err(|error| error.named("renorm"))
}

/// What each slice is multiplied with, in a shape that broadcasts.
fn factors(x: &Tensor, p: f64, dim: isize, maxnorm: f64) -> Result<Tensor> {
    let (rank, dtype) = (x.layout().rank(), x.dtype());
    if rank < 2 {
        return Err(Error::new("", Problem::Rank { rank, wanted: "at least 2" }));
    }
    if dtype.category() < Category::Float {
        let (argument, wanted) = ("input", "a floating or complex dtype");
        return Err(Error::new("", Problem::WrongDType { argument, got: dtype, wanted }));
    }
    if p.is_nan() || p <= 0.0 {
        return Err(Error::argument("", "p", p, "a number above 0"));
    }
    if maxnorm.is_nan() || maxnorm < 0.0 {
        return Err(Error::argument("", "maxnorm", maxnorm, "0 or more"));
    }
    let dim = x.layout().wrap_dim(dim)?;
    let norms = norms(x, p, dim)?;
    let mut shape: Dims = smallvec::smallvec![1; rank];
    shape[dim] = extent(x, dim);
    let number = |value: f64| Operand::Scalar(Scalar::Float(value));
    let smaller = apply(Op::div, &[number(maxnorm), Operand::Tensor(&with_number(Op::add, &norms, 1e-7)?)])?;
    let larger = with_number(Op::gt, &norms, maxnorm)?;
    let factors = apply(Op::r#where, &[Operand::Tensor(&larger), Operand::Tensor(&smaller), number(1.0)])?;
    let factors = copy::to_dtype(&factors, dtype.real().compute())?;
    seen(&factors, factors.layout().view(&shape))
}

/// The p-norm of every slice along a dim, in float64; 0 of an empty one.
fn norms(x: &Tensor, p: f64, dim: usize) -> Result<Tensor> {
    if x.size() == 0 {
        return Tensor::new(&[extent(x, dim)], DType::F64, Fill::Zero);
    }
    let others: Dims = (0..x.layout().rank() as isize).filter(|&other| other != dim as isize).collect();
    let wide = if x.dtype().is_complex() { DType::C128 } else { DType::F64 };
    let request = reduce::Request { dims: Some(&others), dtype: Some(wide), ..Default::default() };
    Ok(reduce::norm(x, p, &request, None)?.expect("no output was given"))
}

/// Weights of observations.
#[derive(Clone, Copy, Default)]
pub struct Weights<'a> {
    /// How often each was seen: integers.
    pub frequency: Option<&'a Tensor>,
    /// How much each counts: floats.
    pub importance: Option<&'a Tensor>,
}

/// The covariances of variables, which are rows; columns are observations.
pub fn cov(x: &Tensor, correction: f64, weights: Weights) -> Result<Tensor> {
    cov_named(x, correction, weights).map_err(|error| error.named("cov"))
}

fn cov_named(x: &Tensor, correction: f64, weights: Weights) -> Result<Tensor> {
    let (rank, dtype) = (x.layout().rank(), x.dtype());
    if rank > 2 {
        return Err(Error::new("", Problem::Rank { rank, wanted: "at most 2" }));
    }
    if dtype == DType::Bool {
        let (argument, wanted) = ("input", "a number, not bool");
        return Err(Error::new("", Problem::WrongDType { argument, got: dtype, wanted }));
    }
    let result = if dtype.is_int() { dtype::default_float() } else { dtype };
    let compute = result.compute();
    let x = copy::to_dtype(x, compute)?;
    let x = if rank == 2 { x } else { seen(&x, x.layout().view(&[1, x.size() as isize]))? };
    let (variables, observations) = (extent(&x, 0), extent(&x, 1));
    let weight = product(&weights, observations)?;
    let total = match &weight {
        Some(weight) => number(&sum(weight, 0)?, &[])?,
        None => observations as f64,
    };
    if weight.is_some() && total == 0.0 {
        return Err(Error::argument("", "the weights", "a sum of 0", "a sum above 0"));
    }
    let factors = weight.as_ref().map(|weight| copy::to_dtype(weight, compute.real())).transpose()?;
    let weighted = |x: &Tensor| match &factors {
        Some(factors) => of_two(Op::mul, x, factors),
        None => Ok(Tensor::clone(x)),
    };
    let from_mean = |x: &Tensor| {
        let means = divided(sum(&weighted(x)?, 1)?, total)?;
        of_two(Op::sub, x, &seen(&means, means.layout().unsqueeze(1))?)
    };
    // The second turn takes out what rounding left of the mean: of a single observation nothing stays.
    let centred = from_mean(&from_mean(&x)?)?;
    let divisor = match (weights.importance, &weight) {
        (Some(importance), Some(weight)) => {
            let importance = copy::to_dtype(importance, DType::F64)?;
            let squares = number(&sum(&of_two(Op::mul, weight, &importance)?, 0)?, &[])?;
            // A quotient would round where this is exactly 0; squares out of range have no such choice.
            let square = total * total;
            if square.is_normal() && squares.is_normal() {
                (square - correction * squares) / total
            } else {
                total - correction * (squares / total)
            }
        }
        _ => total - correction,
    }
    .max(0.0);
    let partners = apply(Op::conj_physical, &[Operand::Tensor(&weighted(&centred)?)])?;
    let whole = Tensor::new(&[variables, variables], result, Fill::Uninitialized)?;
    for i in 0..variables {
        let row = seen(&centred, centred.layout().select(0, i))?;
        let others = seen(&partners, partners.layout().narrow(0, i, variables - i))?;
        let found = divided(sum(&of_two(Op::mul, &row, &others)?, 1)?, divisor)?;
        let mirrored = apply(Op::conj_physical, &[Operand::Tensor(&found)])?;
        let part = |dim: isize| {
            let line = whole.layout().select(dim, i)?;
            seen(&whole, line.narrow(0, i, variables - i))
        };
        copy::copy(&part(1)?, &mirrored)?;
        copy::copy(&part(0)?, &found)?;
    }
    if rank == 2 && variables != 1 { Ok(whole) } else { seen(&whole, whole.layout().view(&[])) }
}

/// Views of both parts of complex numbers; of real ones the tensor.
fn real_parts(x: &Tensor) -> Result<Vec<Tensor>> {
    if x.dtype().is_complex() { (0..2).map(|k| x.part(k)).collect() } else { Ok(vec![Tensor::clone(x)]) }
}

/// A new tensor divided by a number; of complex numbers each part, which rounds once.
fn divided(x: Tensor, number: f64) -> Result<Tensor> {
    for part in real_parts(&x)? {
        apply_into(Op::div, &[Operand::Tensor(&part), Operand::Scalar(Scalar::Float(number))], &part)?;
    }
    Ok(x)
}

/// Both weights of each observation, multiplied, in float64: of float32 without rounding.
fn product(weights: &Weights, observations: isize) -> Result<Option<Tensor>> {
    let check =
        |argument: &'static str, weight: Option<&Tensor>, category: Category, wanted: &'static str| {
            let Some(weight) = weight else { return Ok(None) };
            if weight.dtype().category() != category {
                return Err(Error::new("", Problem::WrongDType { argument, got: weight.dtype(), wanted }));
            }
            let shape = weight.layout().shape();
            if shape.as_slice() != [observations] {
                let wanted = format!("the shape {observations}, one for each observation");
                return Err(Error::shape("", argument, format!("of shape {}", shape_text(&shape)), wanted));
            }
            let below = apply(Op::lt, &[Operand::Tensor(weight), Operand::Scalar(Scalar::Int(0))])?;
            if reduce::any(&below)? {
                return Err(Error::argument("", argument, "negative somewhere", "0 or more"));
            }
            copy::to_dtype(weight, DType::F64).map(Some)
        };
    let frequency = check("fweights", weights.frequency, Category::Int, "an integer dtype")?;
    let importance = check("aweights", weights.importance, Category::Float, "a floating dtype")?;
    Ok(match (frequency, importance) {
        (Some(a), Some(b)) => Some(of_two(Op::mul, &a, &b)?),
        (a, b) => a.or(b),
    })
}

/// The correlation coefficients of variables, which are rows.
pub fn corrcoef(x: &Tensor) -> Result<Tensor> {
    corrcoef_named(x).map_err(|error| error.named("corrcoef"))
}

fn corrcoef_named(x: &Tensor) -> Result<Tensor> {
    let c = cov_named(x, 1.0, Weights::default())?;
    if c.layout().rank() == 0 {
        return of_two(Op::div, &c, &c);
    }
    let diagonal = seen(&c, c.layout().diagonal(0, 0, 1))?;
    let variance = if c.dtype().is_complex() { diagonal.part(0)? } else { diagonal };
    let deviation = apply(Op::sqrt, &[Operand::Tensor(&variance)])?;
    let r = of_two(Op::div, &c, &seen(&deviation, deviation.layout().unsqueeze(1))?)?;
    let r = of_two(Op::div, &r, &deviation)?;
    for part in real_parts(&r)? {
        for (op, bound) in [(Op::minimum, 1.0), (Op::maximum, -1.0)] {
            let operands = [Operand::Tensor(&part), Operand::Scalar(Scalar::Float(bound))];
            apply_into(op, &operands, &part)?;
        }
    }
    Ok(r)
}
