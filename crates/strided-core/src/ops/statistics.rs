//! Quantiles and histograms: `quantile`, `nanquantile`, `histc`, `histogram`, `bincount`.

use super::compose::{check_floating, of_shape, of_tensors, with_number};
use super::elementwise::apply;
use super::index::along;
use super::operand::Operand;
use super::output::Out;
use super::reduce::{self, ReduceRequest};
use super::sort::{row_major, sorted};
use super::table::Op;
use super::{copy, create, search};
use crate::backend::host_reads;
use crate::backend::sort::{self as backend, EqualBins};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::{Dims, wrap_dim};
use crate::scalar::Scalar;
use crate::storage::Fill;
use crate::tensor::Tensor;

/// The element of a quantile whose rank is between those of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    Linear,
    Lower,
    Higher,
    Midpoint,
    Nearest,
}

/// What a quantile is computed of.
#[derive(Clone, Copy)]
pub struct QuantileRequest {
    /// `None` for all elements.
    pub dim: Option<isize>,
    pub keepdim: bool,
    pub interpolation: Interpolation,
    /// Whether NaN is left out; if not, a quantile of NaNs is NaN.
    pub ignore_nan: bool,
}

fn number(x: &Tensor) -> Result<f64> {
    Ok(copy::single_item(x)?.real())
}

/// The numbers `q`, checked to be from 0 to 1, as a tensor of one dim.
fn checked_q(q: &Tensor, dtype: DType) -> Result<Tensor> {
    if q.layout().rank() > 1 {
        return Err(Error::shape("q", of_shape(q), "a number or one dim"));
    }
    let q = copy::reshape(q, &[-1])?;
    for i in 0..q.size() as isize {
        let value = number(&q.with_layout(q.layout().select(0, i)?))?;
        if !(0.0..=1.0).contains(&value) {
            return Err(Error::argument("q", value, "0 to 1"));
        }
    }
    copy::in_dtype(&q, dtype)
}

/// `quantile` and `nanquantile`: the elements of ranks `q * (n - 1)` in the order of `n` elements. A `q` of one dim makes
/// a first dim of the result.
pub fn quantile(x: &Tensor, q: &Tensor, request: QuantileRequest, out: Out) -> Result<Tensor> {
    check_floating("input", x.dtype())?;
    if q.dtype() != x.dtype() {
        let got = format!("of dtype {}", q.dtype().name());
        return Err(Error::argument("q", got, format!("{}, the dtype of input", x.dtype().name())));
    }
    let compute = x.dtype().compute();
    let ranks = checked_q(q, compute)?;
    if x.size() == 0 {
        let got = format!("a tensor of shape {}", x.layout().shape_text());
        return Err(Error::shape("input", got, "one element or more"));
    }
    let (lines, dim) = match request.dim {
        Some(dim) => (x.clone(), wrap_dim(dim, x.layout().rank().max(1))?),
        None => (copy::reshape(x, &[-1])?, 0),
    };
    let lines = if lines.layout().rank() == 0 { copy::reshape(&lines, &[1])? } else { lines };
    let moved = lines.with_layout(lines.layout().movedim(&[dim as isize], &[-1])?);
    let found = of_lines(&copy::in_dtype(&moved, compute)?, &ranks, request)?;
    // The quantiles are along the last dim: they become the first one, or none.
    let layout = match q.layout().rank() {
        0 => found.layout().select(-1, 0)?,
        _ => found.layout().movedim(&[-1], &[0])?,
    };
    let layout = match (request.keepdim, request.dim) {
        (true, Some(_)) if x.layout().rank() > 0 => layout.unsqueeze((dim + q.layout().rank()) as isize)?,
        (true, None) => {
            let ones = Dims::from_elem(1, x.layout().rank());
            let shape: Dims = layout.shape().into_iter().chain(ones).collect();
            layout.view(&shape)?
        }
        _ => layout,
    };
    out.deliver_as(x.dtype(), row_major(found.with_layout(layout))?)
}

/// The quantiles of lines along the last dim, along the last dim.
fn of_lines(x: &Tensor, q: &Tensor, request: QuantileRequest) -> Result<Tensor> {
    let ordered = sorted(x, -1, false)?;
    let n = ordered.layout().modes()[ordered.layout().rank() - 1].extent;
    // The products are rounded to the dtype, as in PyTorch, while it holds all ranks.
    let dtype = if n <= 1 << 24 { x.dtype() } else { DType::F64 };
    let q = copy::in_dtype(q, dtype)?;
    let nan = apply(Op::isnan, &[Operand::Tensor(&ordered)])?;
    let request_last = ReduceRequest { dims: Some(&[-1]), keepdim: true, ..Default::default() };
    let nans = reduce::reduce(&reduce::COUNT_NONZERO, &nan, &request_last, Out::New)?;
    let ranks = if request.ignore_nan {
        let last = apply(Op::sub, &[Operand::Scalar(Scalar::Int(n as i128 - 1)), Operand::Tensor(&nans)])?;
        let last = with_number(Op::clamp_min, &copy::in_dtype(&last, dtype)?, 0.0)?;
        of_tensors(Op::mul, &last, &q)?
    } else {
        let ranks = with_number(Op::mul, &q, n as f64 - 1.0)?;
        let any = apply(Op::ne, &[Operand::Tensor(&nans), Operand::Scalar(Scalar::Int(0))])?;
        let last = Operand::Scalar(Scalar::Float(n as f64 - 1.0));
        apply(Op::r#where, &[Operand::Tensor(&any), last, Operand::Tensor(&ranks)])?
    };
    let of = |op: Op| apply(op, &[Operand::Tensor(&ranks)]);
    let pick =
        |ranks: &Tensor| along::take_along_dim(&ordered, &copy::in_dtype(ranks, DType::I64)?, Some(-1));
    match request.interpolation {
        Interpolation::Lower => pick(&of(Op::floor)?),
        Interpolation::Higher => pick(&of(Op::ceil)?),
        Interpolation::Nearest => pick(&of(Op::round)?),
        linear => {
            let below = of(Op::floor)?;
            let weights = match linear {
                Interpolation::Midpoint => create::full(x.device(), &[], Scalar::Float(0.5), x.dtype())?,
                _ => copy::in_dtype(&of_tensors(Op::sub, &ranks, &below)?, x.dtype())?,
            };
            let (low, high) = (pick(&below)?, pick(&of(Op::ceil)?)?);
            apply(Op::lerp, &[Operand::Tensor(&low), Operand::Tensor(&high), Operand::Tensor(&weights)])
        }
    }
}

/// The smallest and the largest element.
fn min_max(x: &Tensor) -> Result<(f64, f64)> {
    let all = |row| reduce::reduce(row, x, &ReduceRequest::default(), Out::New);
    Ok((number(&all(&reduce::AMIN)?)?, number(&all(&reduce::AMAX)?)?))
}

/// The outer edges of bins: the given ones, or those of the elements, and an interval around them if they are equal.
fn outer_edges(x: &Tensor, given: Option<(f64, f64)>, around: f64) -> Result<(f64, f64)> {
    let (low, high) = match given {
        Some(given) => given,
        None if x.size() > 0 => min_max(x)?,
        None => (0.0, 0.0),
    };
    if !(low.is_finite() && high.is_finite()) {
        return Err(Error::argument("range", format!("{low} to {high}"), "finite numbers"));
    }
    if low > high {
        return Err(Error::argument("min", low, format!("at most max, which is {high}")));
    }
    Ok(if low == high { (low - around, high + around) } else { (low, high) })
}

fn check_bins(bins: isize) -> Result<isize> {
    if bins < 1 { Err(Error::argument("bins", bins, "1 or more")) } else { Ok(bins) }
}

/// Whether elements are within two edges.
fn is_between(x: &Tensor, low: f64, high: f64) -> Result<Tensor> {
    of_tensors(Op::logical_and, &with_number(Op::ge, x, low)?, &with_number(Op::le, x, high)?)
}

/// Counts bins, or sums weights by bin. Elements that are not `inside` have none; the last bin includes its right edge.
fn count_bins(places: &Tensor, inside: &Tensor, bins: isize, weights: Option<&Tensor>) -> Result<Tensor> {
    let last = Operand::Scalar(Scalar::Int(bins as i128 - 1));
    let places = apply(Op::clamp_max, &[Operand::Tensor(places), last])?;
    let none = Operand::Scalar(Scalar::Int(-1));
    let places = apply(Op::r#where, &[Operand::Tensor(inside), Operand::Tensor(&places), none])?;
    count(&places, bins, weights)
}

fn count(index: &Tensor, bins: isize, weights: Option<&Tensor>) -> Result<Tensor> {
    let dtype = if weights.is_some() { DType::F64 } else { DType::I64 };
    let out = Tensor::new_on(index.device(), &[bins], dtype, Fill::Zero)?;
    let weights =
        weights.map(|weights| copy::in_dtype(weights, DType::F64).and_then(row_major)).transpose()?;
    backend::count(&row_major(index.clone())?, weights.as_ref(), &out)?;
    Ok(out)
}

/// `histc`: how many elements are in each of `bins` bins of equal width from `min` to `max`, or from the smallest to the
/// largest element if those are equal. Other elements are ignored.
pub fn histc(x: &Tensor, bins: isize, min: f64, max: f64) -> Result<Tensor> {
    check_floating("input", x.dtype())?;
    let bins = check_bins(bins)?;
    let compute = x.dtype().compute();
    let values = copy::in_dtype(x, compute)?;
    let given = (min != max || x.size() == 0).then_some((min, max));
    let (low, high) = outer_edges(&values, given, 1.0)?;
    let width = if compute == DType::F32 { (high as f32 - low as f32) as f64 } else { high - low };
    let counts = Tensor::new_on(x.device(), &[bins], DType::I64, Fill::Zero)?;
    backend::count_in_bins(&row_major(values)?, EqualBins { low, high, width }, &counts)?;
    copy::in_dtype(&counts, x.dtype())
}

/// The bins of a histogram.
#[derive(Clone, Copy)]
pub enum Bins<'a> {
    /// Bins of equal width, in a range or in that of the elements.
    Count(isize, Option<(f64, f64)>),
    Edges(&'a Tensor),
}

/// `histogram`: how many elements, or which sum of their weights, is in each bin, and the edges of the bins. With `density`
/// the counts are divided by their sum and by the width of the bins.
pub fn histogram(x: &Tensor, bins: Bins, weight: Option<&Tensor>, density: bool) -> Result<(Tensor, Tensor)> {
    check_floating("input", x.dtype())?;
    check_weights("weight", weight, x)?;
    let edges = edges(x, bins)?;
    let count = edges.size() as isize - 1;
    let edge = |at: isize| edges.layout().select(0, at).and_then(|layout| number(&edges.with_layout(layout)));
    let inside = is_between(x, edge(0)?, edge(count)?)?;
    let places = search::search(&edges, x, true)?;
    let places = apply(Op::sub, &[Operand::Tensor(&places), Operand::Scalar(Scalar::Int(1))])?;
    let sums = count_bins(&places, &inside, count, weight)?;
    if !density {
        return Ok((copy::in_dtype(&sums, x.dtype())?, edges));
    }
    let part = |start: isize| edges.layout().narrow(0, start, count).map(|layout| edges.with_layout(layout));
    let widths = copy::in_dtype(&of_tensors(Op::sub, &part(1)?, &part(0)?)?, DType::F64)?;
    let sums = copy::in_dtype(&sums, DType::F64)?;
    let total = reduce::reduce(&reduce::SUM, &sums, &ReduceRequest::default(), Out::New)?;
    let density = of_tensors(Op::div, &sums, &of_tensors(Op::mul, &widths, &total)?)?;
    Ok((copy::in_dtype(&density, x.dtype())?, edges))
}

/// The edges of bins, in the dtype of the elements.
fn edges(x: &Tensor, bins: Bins) -> Result<Tensor> {
    let edges = match bins {
        Bins::Count(bins, range) => {
            let bins = check_bins(bins)?;
            let (low, high) = match range {
                None if x.size() == 0 => (0.0, 1.0),
                range => outer_edges(x, range, 0.5)?,
            };
            let steps = bins.checked_add(1).unwrap_or(bins);
            return create::linspace(x.device(), Scalar::Float(low), Scalar::Float(high), steps, x.dtype());
        }
        Bins::Edges(edges) => edges,
    };
    if edges.layout().rank() != 1 || edges.size() < 2 {
        return Err(Error::shape("bins", of_shape(edges), "an int, or one dim of at least two edges"));
    }
    if edges.dtype() != x.dtype() {
        let got = format!("of dtype {}", edges.dtype().name());
        return Err(Error::argument("bins", got, format!("{}, the dtype of input", x.dtype().name())));
    }
    let part = |start: isize| {
        let layout = edges.layout().narrow(0, start, edges.size() as isize - 1)?;
        Ok::<_, Error>(edges.with_layout(layout))
    };
    if !host_reads::all(&of_tensors(Op::le, &part(0)?, &part(1)?)?)? {
        return Err(Error::argument("bins", "edges that are not sorted", "edges in ascending order"));
    }
    copy::clone(edges)
}

/// Refuses weights that are not one real number for each element.
fn check_weights(argument: &'static str, weights: Option<&Tensor>, x: &Tensor) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    if !weights.layout().same_shape(x.layout()) {
        let wanted = format!("{}, that of input", x.layout().shape_text());
        return Err(Error::shape(argument, of_shape(weights), wanted));
    }
    if weights.dtype().is_complex() {
        return Err(Error::dtype(argument, weights.dtype(), "a real dtype"));
    }
    Ok(())
}

/// `bincount`: how often each number from 0 to the largest one occurs, or the sum of the weights of each.
pub fn bincount(x: &Tensor, weights: Option<&Tensor>, minlength: isize) -> Result<Tensor> {
    if !x.dtype().is_int() {
        return Err(Error::dtype("input", x.dtype(), "an integer dtype"));
    }
    if x.layout().rank() != 1 {
        return Err(Error::shape("input", of_shape(x), "one dim"));
    }
    if minlength < 0 {
        return Err(Error::argument("minlength", minlength, "0 or more"));
    }
    check_weights("weights", weights, x)?;
    let mut length = minlength;
    if x.size() > 0 {
        let extreme = |row| {
            let found = reduce::reduce(row, x, &ReduceRequest::default(), Out::New)?;
            copy::single_item(&found)
        };
        let (Scalar::Int(low), Scalar::Int(high)) = (extreme(&reduce::AMIN)?, extreme(&reduce::AMAX)?) else {
            unreachable!("elements of an integer dtype are integers")
        };
        if low < 0 {
            return Err(Error::argument("input", format!("a tensor with {low}"), "no negative numbers"));
        }
        let Ok(needed) = isize::try_from(high + 1) else {
            return Err(Error::new(Problem::TooLarge { shape: (high + 1).to_string() }));
        };
        length = length.max(needed);
    }
    let sums = count(&copy::in_dtype(x, DType::I64)?, length, weights)?;
    match weights {
        Some(weights) if weights.dtype() == DType::F32 => copy::in_dtype(&sums, DType::F32),
        _ => Ok(sums),
    }
}
