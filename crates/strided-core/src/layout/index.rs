//! What `x[...]` means: integers, slices, `...` and `None`, in one pass over the modes.

use super::{Layout, Mode, Modes};
use crate::error::{Error, Problem, Result};

/// One entry between the brackets of `x[...]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// `i`: one index of a dim, which goes. Negative counts from the end.
    At(isize),
    /// `start:stop:step`, with Python's meaning.
    Slice { start: Option<isize>, stop: Option<isize>, step: isize },
    /// `...`: all the dims that the other entries leave over, as they are.
    Ellipsis,
    /// `None`: a new dim of extent 1.
    NewAxis,
}

impl Index {
    /// `:`
    pub const ALL: Index = Index::Slice { start: None, stop: None, step: 1 };
}

impl Layout {
    /// The layout of `x[indices]`. Dims that no entry names stay as they are.
    ///
    /// ```
    /// # use strided_core::layout::{Index, Layout};
    /// let x = Layout::row_major(&[4, 6])?; // x[1:3, ::-2]
    /// let rows = Index::Slice { start: Some(1), stop: Some(3), step: 1 };
    /// let columns = Index::Slice { start: None, stop: None, step: -2 };
    /// let view = x.index(&[rows, columns])?;
    /// assert_eq!(view, Layout::strided(&[2, 3], &[6, -2], 11)?);
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    #[inline(always)]
    pub fn index(&self, indices: &[Index]) -> Result<Layout> {
        // The common case: ints and slices of the first dims.
        if indices.len() > self.rank() {
            return self.index_any(indices);
        }
        let mut modes = Modes::from_slice(&self.modes);
        let mut offset = self.offset;
        let mut kept = 0;
        for (dim, index) in indices.iter().enumerate() {
            match *index {
                Index::At(index) => offset += self.wrap_index(dim, index)? * modes[dim].stride,
                Index::Slice { start, stop, step } => {
                    let mut mode = modes[dim];
                    let (first, length) = slice_range(mode.extent, start, stop, step)?;
                    offset += mode.cut(first, length, step);
                    modes[kept] = mode;
                    kept += 1;
                }
                Index::NewAxis | Index::Ellipsis => return self.index_any(indices),
            }
        }
        let gone = indices.len() - kept;
        if gone > 0 {
            modes.copy_within(indices.len().., kept);
            let rank = modes.len() - gone;
            modes.truncate(rank);
        }
        Ok(Layout { modes, offset })
    }

    fn index_any(&self, indices: &[Index]) -> Result<Layout> {
        let (rest, rank) = self.count(indices)?;
        let mut modes = Modes::from_elem(Mode { extent: 1, stride: 1 }, rank);
        let (slots, mut filled) = (&mut modes[..], 0);
        let (mut offset, mut dim) = (self.offset, 0);
        for &index in indices {
            match index {
                Index::At(index) => {
                    offset += self.wrap_index(dim, index)? * self.modes[dim].stride;
                    dim += 1;
                }
                Index::Slice { start, stop, step } => {
                    let mut mode = self.modes[dim];
                    let (first, length) = slice_range(mode.extent, start, stop, step)?;
                    offset += mode.cut(first, length, step);
                    slots[filled] = mode;
                    (filled, dim) = (filled + 1, dim + 1);
                }
                Index::NewAxis => {
                    slots[filled] = Mode::before(self.modes.get(dim));
                    filled += 1;
                }
                Index::Ellipsis => {
                    slots[filled..filled + rest].copy_from_slice(&self.modes[dim..dim + rest]);
                    (filled, dim) = (filled + rest, dim + rest);
                }
            }
        }
        slots[filled..].copy_from_slice(&self.modes[dim..]);
        Ok(Layout { modes, offset })
    }

    /// How many dims `...` stands for, and how many the result has.
    #[inline]
    fn count(&self, indices: &[Index]) -> Result<(usize, usize)> {
        let (mut gone, mut kept, mut new, mut rests) = (0, 0, 0, 0);
        for index in indices {
            match index {
                Index::At(_) => gone += 1,
                Index::Slice { .. } => kept += 1,
                Index::NewAxis => new += 1,
                Index::Ellipsis => rests += 1,
            }
        }
        match self.rank().checked_sub(gone + kept) {
            Some(rest) if rests <= 1 => Ok((rest, kept + new + rest)),
            _ => Err(self.count_error(gone + kept)),
        }
    }

    #[cold]
    fn count_error(&self, used: usize) -> Error {
        if used <= self.rank() {
            return Error::new("index", Problem::EllipsisRepeated);
        }
        let (rank, shape) = (self.rank(), self.shape_text());
        Error::new("index", Problem::TooManyIndices { got: used, rank, shape })
    }
}

/// The first index of `start:stop:step` in a dim, and the number of indices, by Python's rules.
#[inline]
pub(super) fn slice_range(
    extent: isize,
    start: Option<isize>,
    stop: Option<isize>,
    step: isize,
) -> Result<(isize, isize)> {
    if step == 0 {
        return Err(Error::argument("index", "step", step, "another number"));
    }
    // Going backwards, the first place is the last index, and "before the beginning" is -1.
    let (low, high) = if step > 0 { (0, extent) } else { (-1, extent - 1) };
    let place = |index: isize| (if index < 0 { index + extent } else { index }).clamp(low, high);
    let first = start.map_or(if step > 0 { low } else { high }, place);
    let end = stop.map_or(if step > 0 { high } else { low }, place);
    let gap = if step > 0 { end - first } else { first - end };
    let length = match step {
        _ if gap <= 0 => 0,
        1 => gap, // spares most slices the division
        _ => ((gap - 1) as usize / step.unsigned_abs()) as isize + 1,
    };
    Ok((first, length))
}
