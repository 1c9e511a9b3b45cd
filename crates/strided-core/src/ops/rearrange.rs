//! Elements repeated and rolled: `repeat`, `tile`, `repeat_interleave`, `roll`. Copies through views.

use super::compose::{extent, of_shape};
use super::copy;
use super::output::Out;
use crate::backend::host_reads;
use crate::backend::repeat::{self, RepeatEnds};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::{Dims, Layout, shape_text};
use crate::tensor::Tensor;
use smallvec::smallvec;

/// The tensor repeated along each dim. There may be more repeats than dims: dims of extent 1 come in front.
pub fn repeat(x: &Tensor, repeats: &[isize]) -> Result<Tensor> {
    let rank = x.layout().rank();
    let Some(lead) = repeats.len().checked_sub(rank) else {
        let wanted = format!("at least {rank} numbers, one for each dim");
        return Err(Error::shape("repeats", format!("{repeats:?}"), wanted));
    };
    if let Some(dim) = repeats.iter().position(|&count| count < 0) {
        return Err(Error::shape("repeats", format!("{} for dim {dim}", repeats[dim]), "0 or more"));
    }
    // Dim k of the result is a view of two: the repeats, along which the source has stride 0, and the extent.
    let (mut shape, mut split, mut source) = (Dims::new(), Dims::new(), Dims::new());
    for (dim, &count) in repeats.iter().enumerate() {
        let extent = dim.checked_sub(lead).map_or(1, |dim| extent(x, dim));
        shape.push(count.saturating_mul(extent));
        split.extend([count, extent]);
        source.extend([1, extent]);
    }
    let out = Tensor::like(x, &shape, x.dtype())?;
    if out.size() > 0 {
        let mut layout = x.layout().clone();
        for _ in 0..lead {
            layout = layout.unsqueeze(0)?;
        }
        for dim in (0..repeats.len() as isize).rev() {
            layout = layout.unsqueeze(dim)?;
        }
        debug_assert_eq!(layout.shape(), source);
        copy::copy(&out.with_layout(out.layout().view(&split)?), &x.with_layout(layout))?;
    }
    Ok(out)
}

/// [`repeat`], with 1 in place of leading repeats that are missing.
pub fn tile(x: &Tensor, repeats: &[isize]) -> Result<Tensor> {
    let mut all: Dims = smallvec![1; x.layout().rank().saturating_sub(repeats.len())];
    all.extend_from_slice(repeats);
    repeat(x, &all)
}

/// How often `repeat_interleave` repeats each index of a dim.
pub enum Repeats<'a> {
    Each(isize),
    /// An integer tensor with one number for each index, or with one for all of them.
    Counts(&'a Tensor),
}

/// The tensor with each index of a dim repeated. Without a dim, the flattened tensor is repeated.
pub fn repeat_interleave(
    x: &Tensor,
    repeats: Repeats,
    dim: Option<isize>,
    output_size: Option<isize>,
) -> Result<Tensor> {
    let flat; // only without a dim
    let (x, dim) = match dim {
        Some(dim) => (x, x.layout().wrap_dim(dim)?),
        None => {
            flat = flattened(x)?;
            (&flat, 0)
        }
    };
    let single = match repeats {
        Repeats::Each(count) => Some(count),
        Repeats::Counts(counts) => {
            check_counts(counts)?;
            (counts.size() == 1).then(|| single_count(counts)).transpose()?
        }
    };
    if let Some(count) = single {
        return repeat_each(x, count, dim, output_size);
    }
    let Repeats::Counts(counts) = repeats else { unreachable!("a number was handled above") };
    if counts.size() as isize != extent(x, dim) {
        let wanted = format!("1 or {}, the extent of dim {dim}", extent(x, dim));
        return Err(Error::shape("the number of repeats", counts.size(), wanted));
    }
    let is_plain = counts.dtype() == DType::I64 && counts.layout().is_row_major();
    let ends = host_reads::repeat_ends(&if is_plain {
        counts.clone()
    } else {
        copy::to_dtype(counts, DType::I64)?
    })?;
    let total = ends.last().map_or(0, |&end| isize::try_from(end).unwrap_or(isize::MAX));
    check_output_size(output_size, total)?;
    repeat_rows(x, dim, total, RepeatEnds::At(&ends))
}

/// The tensor with the indices of a dim repeated, `total` of them.
fn repeat_rows(x: &Tensor, dim: usize, total: isize, ends: RepeatEnds) -> Result<Tensor> {
    let mut shape = x.layout().shape();
    shape[dim] = total;
    let out = Tensor::like(x, &shape, x.dtype())?;
    if out.size() > 0 {
        let x = if x.layout().is_row_major() { x.clone() } else { copy::clone(x)? };
        let rows = |x: &Tensor| -> Result<Tensor> {
            Ok(x.with_layout(x.layout().view(&around(&x.layout().shape(), dim))?))
        };
        repeat::repeat_rows(&rows(&out)?, &rows(&x)?, ends)?;
    }
    Ok(out)
}

/// The shape with the dims before a dim merged into one, and those after it.
fn around(shape: &[isize], dim: usize) -> [isize; 3] {
    [shape[..dim].iter().product(), shape[dim], shape[dim + 1..].iter().product()]
}

fn flattened(x: &Tensor) -> Result<Tensor> {
    copy::reshape(x, &[x.size() as isize])
}

fn check_counts(counts: &Tensor) -> Result<()> {
    if !counts.dtype().is_int() {
        return Err(Error::dtype("repeats", counts.dtype(), "an integer dtype"));
    }
    if counts.layout().rank() > 1 {
        return Err(Error::shape("repeats", of_shape(counts), "at most 1 dim"));
    }
    Ok(())
}

fn single_count(counts: &Tensor) -> Result<isize> {
    match copy::single_item(counts)? {
        crate::scalar::Scalar::Int(count) => Ok(isize::try_from(count).unwrap_or(isize::MAX)),
        other => unreachable!("{other:?} of an integer dtype"),
    }
}

fn check_output_size(wanted: Option<isize>, total: isize) -> Result<()> {
    match wanted {
        Some(size) if size != total => {
            Err(Error::shape("output_size", size, format!("{total}, the sum of the repeats")))
        }
        _ => Ok(()),
    }
}

/// Each index of a dim repeated the same number of times.
fn repeat_each(x: &Tensor, count: isize, dim: usize, output_size: Option<isize>) -> Result<Tensor> {
    if count < 0 {
        return Err(Error::argument("repeats", count, "0 or more"));
    }
    let total = extent(x, dim).saturating_mul(count);
    check_output_size(output_size, total)?;
    repeat_rows(x, dim, total, RepeatEnds::Every(count as usize))
}

/// The position of each number in a vector of counts, repeated that many times: `[2, 0, 1]` becomes `[0, 0, 2]`.
pub fn repeated_indices(counts: &Tensor, output_size: Option<isize>) -> Result<Tensor> {
    check_counts(counts)?;
    if counts.layout().rank() != 1 {
        return Err(Error::new(Problem::Rank { rank: counts.layout().rank(), wanted: "1" }));
    }
    let (zero, one) = (crate::scalar::Scalar::Int(0), crate::scalar::Scalar::Int(1));
    let end = crate::scalar::Scalar::Int(counts.size() as i128);
    let indices =
        super::create::range(counts.device(), zero, end, one, DType::I64, super::create::RangeEnd::Excluded)?;
    repeat_interleave(&indices, Repeats::Counts(counts), Some(0), output_size)
}

/// The elements shifted along dims; those that leave at the end come back at the start. Without dims, the flattened tensor is
/// shifted.
pub fn roll(x: &Tensor, shifts: &[isize], dims: &[isize]) -> Result<Tensor> {
    if dims.is_empty() {
        let &[shift] = shifts else {
            let problem = Problem::Count { what: "shifts without dims", got: shifts.len(), wanted: 1 };
            return Err(Error::new(problem));
        };
        let rolled = roll(&flattened(x)?, &[shift], &[0])?;
        return copy::reshape(&rolled, &x.layout().shape());
    }
    if shifts.len() != dims.len() {
        return Err(Error::new(Problem::Count { what: "shifts", got: shifts.len(), wanted: dims.len() }));
    }
    // The shift of each dim, from 0 to its extent; shifts of a dim that is named twice add up.
    let mut shift: Dims = smallvec![0; x.layout().rank()];
    for (&by, &dim) in shifts.iter().zip(dims) {
        let dim = x.layout().wrap_dim(dim)?;
        let extent = extent(x, dim).max(1);
        shift[dim] = (shift[dim] + by.rem_euclid(extent)) % extent;
    }
    let out = Tensor::like(x, &x.layout().shape(), x.dtype())?;
    if out.size() > 0 {
        copy_rolled(&out, out.layout().clone(), x, x.layout().clone(), &shift)?;
    }
    Ok(out)
}

/// Copies parts of `x` to parts of `out`. Each shifted dim, from the last on, consists of two parts that change places.
fn copy_rolled(out: &Tensor, to: Layout, x: &Tensor, from: Layout, shifts: &[isize]) -> Result<()> {
    let Some(dim) = shifts.iter().rposition(|&shift| shift != 0) else {
        let whole = out.size() * out.dtype().size();
        return copy::copy_part(&out.with_layout(to), &x.with_layout(from), whole);
    };
    let (shift, others, dim) = (shifts[dim], &shifts[..dim], dim as isize);
    let rest = to.modes()[dim as usize].extent - shift;
    copy_rolled(out, to.narrow(dim, shift, rest)?, x, from.narrow(dim, 0, rest)?, others)?;
    copy_rolled(out, to.narrow(dim, 0, shift)?, x, from.narrow(dim, rest, shift)?, others)
}

/// Refuses a shape whose product is beyond the address space, with the sizes in the message.
pub(super) fn check_product(sizes: &[isize]) -> Result<()> {
    match sizes.iter().try_fold(1isize, |product, &size| product.checked_mul(size)) {
        Some(_) => Ok(()),
        None => Err(Error::new(Problem::TooLarge { shape: shape_text(sizes) })),
    }
}

/// A copy of a view of `x`.
pub(super) fn deliver_view(x: &Tensor, layout: Layout, out: Out) -> Result<Tensor> {
    let view = x.with_layout(layout);
    match out {
        Out::Into(_) => out.deliver(view),
        Out::New => copy::clone(&view),
    }
}
