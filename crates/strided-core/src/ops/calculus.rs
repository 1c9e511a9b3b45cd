//! Differences and areas along a dim: `diff`, `trapezoid`, `cumulative_trapezoid`. Composed of other operations.

use super::compose::{extent, of_shape, of_tensors, sum, view, with_number};
use super::output::Out;
use super::table::Op;
use super::{copy, join, scan};
use crate::dtype::{Category, DType};
use crate::error::{Error, Problem, Result};
use crate::layout::Dims;
use crate::tensor::Tensor;

/// Views of all elements along a dim but the last one, and of all but the first one. Both are empty if there are none.
fn neighbours(x: &Tensor, dim: usize) -> Result<[Tensor; 2]> {
    let pairs = (extent(x, dim) - 1).max(0);
    let second = extent(x, dim) - pairs;
    let dim = dim as isize;
    Ok([view(x, x.layout().narrow(dim, 0, pairs))?, view(x, x.layout().narrow(dim, second, pairs))?])
}

/// Differences of neighbours along a dim, taken `n` times. `prepend` and `append` are joined to `x` first.
pub fn diff(
    x: &Tensor,
    n: isize,
    dim: isize,
    [prepend, append]: [Option<&Tensor>; 2],
    out: Out,
) -> Result<Tensor> {
    if x.layout().rank() == 0 {
        return Err(Error::new(Problem::Rank { rank: 0, wanted: "at least 1" }));
    }
    if n < 0 {
        return Err(Error::argument("n", n, "0 or more"));
    }
    let dim = x.layout().wrap_dim(dim)?;
    if n == 0 {
        return out.deliver(copy::clone(x)?);
    }
    let mut line = with_ends(x, dim, prepend, append)?;
    let op = if line.dtype() == DType::Bool { Op::logical_xor } else { Op::sub };
    // Each iteration removes one element: after as many as there are, the result is empty and stays so.
    for _ in 0..n.min(extent(&line, dim)) {
        let [left, right] = neighbours(&line, dim)?;
        line = of_tensors(op, &right, &left)?;
    }
    out.deliver(line)
}

/// Joins tensors before and after `x` along a dim. Without any, returns `x` itself.
fn with_ends(x: &Tensor, dim: usize, prepend: Option<&Tensor>, append: Option<&Tensor>) -> Result<Tensor> {
    if prepend.or(append).is_none() {
        return Ok(Tensor::clone(x));
    }
    for (argument, part) in [("prepend", prepend), ("append", append)] {
        let Some(part) = part else { continue };
        let mut modes = part.layout().modes().iter().zip(x.layout().modes()).enumerate();
        let matches = part.layout().rank() == x.layout().rank()
            && modes.all(|(at, (mode, other))| at == dim || mode.extent == other.extent);
        if !matches {
            let wanted = format!("the shape {} but for dim {dim}", x.layout().shape_text());
            return Err(Error::shape(argument, of_shape(part), wanted));
        }
    }
    let parts: Vec<Tensor> = [prepend, Some(x), append].into_iter().flatten().cloned().collect();
    join::cat(&parts, dim as isize, Default::default())
}

/// The points at which a curve was sampled.
pub enum Points<'a> {
    /// Evenly spaced, with this distance.
    Spaced(f64),
    At(&'a Tensor),
}

/// The area under a curve along a dim, by the trapezoidal rule.
pub fn trapezoid(y: &Tensor, points: Points, dim: isize) -> Result<Tensor> {
    let dim = y.layout().wrap_dim(dim)?;
    match points {
        Points::Spaced(spacing) if extent(y, dim) >= 2 => evenly_spaced_area(y, spacing, dim),
        _ => areas(y, points, dim, &|heights, dim| sum(heights, dim)),
    }
}

/// The area under at least two evenly spaced points: the sum of the inner ones and half of the outer ones. No tensor as
/// large as `y` is allocated.
fn evenly_spaced_area(y: &Tensor, spacing: f64, dim: usize) -> Result<Tensor> {
    let (y, n, dim) = (heights(y)?, extent(y, dim), dim as isize);
    let inner = sum(&view(&y, y.layout().narrow(dim, 1, n - 2))?, dim)?;
    let at = |index| view(&y, y.layout().select(dim, index));
    let (first, last) = (at(0)?, at(n - 1)?);
    if y.dtype().category() <= Category::Int {
        let ends = of_tensors(Op::add, &first, &last)?;
        let doubled = of_tensors(Op::add, &of_tensors(Op::add, &inner, &inner)?, &ends)?;
        return with_number(Op::mul, &doubled, spacing / 2.0);
    }
    // Each end is halved before they are added, because their sum might overflow.
    let ends = of_tensors(Op::add, &with_number(Op::mul, &first, 0.5)?, &with_number(Op::mul, &last, 0.5)?)?;
    with_number(Op::mul, &of_tensors(Op::add, &inner, &ends)?, spacing)
}

/// The area under a curve along a dim up to each point but the first, by the trapezoidal rule.
pub fn cumulative_trapezoid(y: &Tensor, points: Points, dim: isize) -> Result<Tensor> {
    let cumsum = |heights: &Tensor, dim| scan::scan(&scan::CUMSUM, heights, dim, None, Out::New);
    areas(y, points, y.layout().wrap_dim(dim)?, &cumsum)
}

/// `sums` of the trapezoids' areas: the sums of neighbouring heights times the widths, divided by 2.
fn areas(
    y: &Tensor,
    points: Points,
    dim: usize,
    sums: &dyn Fn(&Tensor, isize) -> Result<Tensor>,
) -> Result<Tensor> {
    let y = heights(y)?;
    let [left, right] = neighbours(&y, dim)?;
    let heights = of_tensors(Op::add, &left, &right)?;
    match points {
        Points::Spaced(spacing) => with_number(Op::mul, &sums(&heights, dim as isize)?, spacing / 2.0),
        Points::At(x) => {
            // Widths may have further dims in front, so the dim is counted from the end.
            let from_end = y.layout().rank() - dim;
            check_points(x, &y, dim)?;
            let widths = widths(&widen_ints(x)?, y.layout().rank(), dim)?;
            let product = of_tensors(Op::mul, &heights, &widths);
            let product = product.map_err(|error| in_terms_of_points(error, &y, x, from_end))?;
            with_number(Op::div, &sums(&product, -(from_end as isize))?, 2.0)
        }
    }
}

/// Refuses a vector of points unless it has one for each element of `y` along the dim.
fn check_points(x: &Tensor, y: &Tensor, dim: usize) -> Result<()> {
    if x.layout().rank() != 1 || extent(x, 0) == extent(y, dim) {
        return Ok(());
    }
    let wanted = format!("{} points, as y {} has in dim {dim}", extent(y, dim), of_shape(y));
    Err(Error::shape("x", of_shape(x), wanted))
}

/// Restates an error about heights and widths, of which there is one less than points, with the shapes of the points.
fn in_terms_of_points(mut error: Error, y: &Tensor, x: &Tensor, from_end: usize) -> Error {
    if let Problem::Broadcast { left, right, dim, extents } = &mut *error.problem {
        let rank = y.layout().rank().max(x.layout().rank());
        let one = (rank - *dim == from_end) as isize;
        *extents = (extents.0 + one, extents.1 + one);
        (*left, *right) = (y.layout().shape_text(), x.layout().shape_text());
    }
    error
}

/// The distances of neighbouring points, in a shape that broadcasts with heights of that rank. A vector of points
/// serves all lines.
fn widths(x: &Tensor, rank: usize, dim: usize) -> Result<Tensor> {
    let mut shape: Dims = smallvec::smallvec![1; rank];
    let x = if x.layout().rank() == 1 {
        shape[dim] = extent(x, 0);
        view(x, x.layout().view(&shape))?
    } else if x.layout().rank() < rank {
        let trailing = x.layout().shape();
        shape[rank - trailing.len()..].copy_from_slice(&trailing);
        view(x, x.layout().view(&shape))?
    } else {
        Tensor::clone(x)
    };
    let [left, right] = neighbours(&x, x.layout().rank() - (rank - dim))?;
    of_tensors(Op::sub, &right, &left)
}

/// The heights of trapezoids, in a dtype whose sums do not wrap. Refuses bool.
fn heights(y: &Tensor) -> Result<Tensor> {
    if y.dtype() == DType::Bool {
        return Err(Error::dtype("y", DType::Bool, "a number, not bool"));
    }
    widen_ints(y)
}

/// Integers in 64 bits, so that sums of two do not wrap; other tensors as they are.
fn widen_ints(x: &Tensor) -> Result<Tensor> {
    let narrow = x.dtype().category() <= Category::Int && x.dtype().size() < 8;
    if narrow { copy::to_dtype(x, DType::I64) } else { Ok(Tensor::clone(x)) }
}
