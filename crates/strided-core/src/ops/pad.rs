//! `pad`: values around a tensor. The input is copied into a view of the result, and the margins are filled from a value or
//! copied from within the result.

use super::copy;
use crate::backend::copy as backend;
use crate::error::{Error, Problem, Result};
use crate::layout::{Dims, Layout};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use smallvec::{SmallVec, smallvec};

/// What the margins hold.
#[derive(Clone, Copy)]
pub enum PadMode {
    Constant(Scalar),
    /// The elements mirrored at the first and the last one, which are not repeated.
    Reflect,
    /// The first and the last element.
    Replicate,
    /// The elements from the other end.
    Circular,
}

/// Elements before and after a dim; negative ones are cropped.
type Margins = (isize, isize);

/// Pads dims of a tensor. `pad` holds the sizes of the margins before and after each dim, the last dim first. Negative
/// sizes crop, before anything is padded.
pub fn pad(x: &Tensor, pad: &[isize], mode: PadMode) -> Result<Tensor> {
    let margins = margins(x, pad)?;
    let mut source = x.layout().clone();
    let mut shape: Dims = x.layout().shape();
    for (dim, &(before, after)) in margins.iter().enumerate() {
        let extent = shape[dim];
        let (first, last) = (before.min(0).saturating_neg(), after.min(0).saturating_neg());
        let kept = extent.saturating_sub(first).saturating_sub(last);
        if kept < 0 {
            let wanted = format!("to crop at most {extent} indices, the extent of dim {dim}");
            return Err(Error::shape("pad", format!("{before} and {after} for dim {dim}"), wanted));
        }
        source = source.narrow(dim as isize, first.min(extent), kept)?;
        check_margins(mode, dim, kept, (before, after))?;
        shape[dim] = kept.saturating_add(before.max(0)).saturating_add(after.max(0));
    }
    let out = Tensor::like(x, &shape, x.dtype())?;
    if out.size() == 0 {
        return Ok(out);
    }
    // The part of the result that is written, as first index and length of each dim: the input at first, then with the
    // margins of one dim after the other.
    let mut inside: Region =
        margins.iter().zip(source.modes()).map(|(m, mode)| (m.0.max(0), mode.extent)).collect();
    let whole = out.size() * out.dtype().size();
    copy::copy_part(&out.with_layout(part(&out, &inside)?), &x.with_layout(source), whole)?;
    for (dim, &(before, after)) in margins.iter().enumerate().rev() {
        extend(&out, &mut inside, dim, (before.max(0), after.max(0)), mode)?;
    }
    Ok(out)
}

/// The first index and the length of a part of each dim.
type Region = SmallVec<[(isize, isize); 4]>;

fn part(out: &Tensor, region: &Region) -> Result<Layout> {
    let narrow = |layout: Layout, (dim, &(first, length)): (usize, &(isize, isize))| {
        layout.narrow(dim as isize, first, length)
    };
    region.iter().enumerate().try_fold(out.layout().clone(), narrow)
}

/// The margins of every dim.
fn margins(x: &Tensor, pad: &[isize]) -> Result<SmallVec<[Margins; 4]>> {
    let rank = x.layout().rank();
    if !pad.len().is_multiple_of(2) || pad.len() / 2 > rank {
        let wanted = format!("pairs for at most {rank} dims");
        return Err(Error::shape("pad", format!("{} numbers", pad.len()), wanted));
    }
    let mut margins: SmallVec<[Margins; 4]> = smallvec![(0, 0); rank];
    for (pair, margin) in pad.chunks_exact(2).zip(margins.iter_mut().rev()) {
        *margin = (pair[0], pair[1]);
    }
    Ok(margins)
}

/// Refuses margins for which a dim has too few elements.
fn check_margins(mode: PadMode, dim: usize, extent: isize, (before, after): Margins) -> Result<()> {
    let largest = match mode {
        PadMode::Constant(_) => return Ok(()),
        PadMode::Reflect => extent - 1,
        PadMode::Replicate if extent > 0 => return Ok(()),
        PadMode::Replicate | PadMode::Circular => extent,
    };
    match before.max(after) {
        margin if margin <= largest.max(0) => Ok(()),
        margin => {
            let got = format!("{margin} for dim {dim}");
            let wanted = format!("at most {}, since its extent is {extent}", largest.max(0));
            Err(Error::shape("pad", got, wanted))
        }
    }
}

/// Fills the margins of a dim around `inside`, the part of `out` that is written, and extends `inside` by them.
fn extend(
    out: &Tensor,
    inside: &mut Region,
    dim: usize,
    (before, after): Margins,
    mode: PadMode,
) -> Result<()> {
    let extent = inside[dim].1;
    // The first of the indices that each margin repeats.
    let sources = match mode {
        PadMode::Constant(_) => [0, 0],
        PadMode::Reflect => [before + 1, before + extent - 1 - after],
        PadMode::Replicate => [before, before + extent - 1],
        PadMode::Circular => [extent, before],
    };
    for (first, length, source) in [(0, before, sources[0]), (before + extent, after, sources[1])] {
        if length == 0 {
            continue;
        }
        let mut at = |first, length| {
            inside[dim] = (first, length);
            part(out, inside)
        };
        let margin = out.with_layout(at(first, length)?);
        let repeated = match mode {
            PadMode::Constant(value) => {
                copy::fill(&margin, value)?;
                continue;
            }
            PadMode::Replicate => at(source, 1)?,
            PadMode::Reflect => at(source, length)?.flip(&[dim as isize])?,
            PadMode::Circular => at(source, length)?,
        };
        // A margin and its source do not overlap, so that no copy is needed.
        let expanded = repeated.expand(&margin.layout().shape())?;
        backend::copy(&margin, &out.with_layout(repeated), &expanded, 0)?;
    }
    inside[dim] = (0, before + extent + after);
    Ok(())
}

/// The mode of a name, with the value that only a constant has.
pub fn pad_mode(name: &str, value: Option<Scalar>) -> Result<PadMode> {
    let mode = match name {
        "constant" => return Ok(PadMode::Constant(value.unwrap_or(Scalar::Bool(false)))),
        "reflect" => PadMode::Reflect,
        "replicate" => PadMode::Replicate,
        "circular" => PadMode::Circular,
        _ => {
            let wanted = "'constant', 'reflect', 'replicate' or 'circular'";
            return Err(Error::argument("mode", format!("'{name}'"), wanted));
        }
    };
    match value {
        None => Ok(mode),
        Some(value) => {
            let wanted = format!("None: mode '{name}' has no value");
            Err(Error::new(Problem::Argument { argument: "value", got: value.to_string(), wanted }))
        }
    }
}
