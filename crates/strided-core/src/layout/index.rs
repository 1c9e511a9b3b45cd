//! Basic indexing, `x[...]` with integers, slices, `...` and `None`, in one pass over the modes.

use super::mode::slice_range;
use super::{Layout, Mode, Modes};
use crate::error::{Error, Problem, Result};

/// One entry between the brackets of `x[...]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// `i`: one index of a dim, which is removed. A negative one counts from the end.
    At(isize),
    /// `start:stop:step`, by Python's rules.
    Slice { start: Option<isize>, stop: Option<isize>, step: isize },
    /// `...`: all the dims that the other entries do not use, unchanged.
    Ellipsis,
    /// `None`: a new dim of extent 1.
    NewAxis,
}

impl Index {
    /// `:`
    pub const ALL: Index = Index::Slice { start: None, stop: None, step: 1 };
}

impl Layout {
    /// The layout of `x[indices]`. Trailing dims without an entry are unchanged.
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
        // The common case: integers and slices of the first dims.
        if indices.len() > self.rank() {
            return self.index_general(indices);
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
                    offset += mode.slice(first, length, step);
                    modes[kept] = mode;
                    kept += 1;
                }
                Index::NewAxis | Index::Ellipsis => return self.index_general(indices),
            }
        }
        let removed = indices.len() - kept;
        if removed > 0 {
            modes.copy_within(indices.len().., kept);
            let rank = modes.len() - removed;
            modes.truncate(rank);
        }
        Ok(Layout { modes, offset })
    }

    fn index_general(&self, indices: &[Index]) -> Result<Layout> {
        let (rest, rank) = self.count_dims(indices)?;
        let mut modes = Modes::from_elem(Mode { extent: 1, stride: 1 }, rank);
        let (result, mut filled) = (&mut modes[..], 0);
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
                    offset += mode.slice(first, length, step);
                    result[filled] = mode;
                    (filled, dim) = (filled + 1, dim + 1);
                }
                Index::NewAxis => {
                    result[filled] = Mode::in_front_of(self.modes.get(dim));
                    filled += 1;
                }
                Index::Ellipsis => {
                    result[filled..filled + rest].copy_from_slice(&self.modes[dim..dim + rest]);
                    (filled, dim) = (filled + rest, dim + rest);
                }
            }
        }
        result[filled..].copy_from_slice(&self.modes[dim..]);
        Ok(Layout { modes, offset })
    }

    /// How many dims `...` stands for, and the rank of the result.
    #[inline]
    fn count_dims(&self, indices: &[Index]) -> Result<(usize, usize)> {
        let (mut removed, mut kept, mut new, mut ellipses) = (0, 0, 0, 0);
        for index in indices {
            match index {
                Index::At(_) => removed += 1,
                Index::Slice { .. } => kept += 1,
                Index::NewAxis => new += 1,
                Index::Ellipsis => ellipses += 1,
            }
        }
        match self.rank().checked_sub(removed + kept) {
            Some(rest) if ellipses <= 1 => Ok((rest, kept + new + rest)),
            _ => Err(self.count_error(removed + kept)),
        }
    }

    #[cold]
    fn count_error(&self, used: usize) -> Error {
        if used <= self.rank() {
            return Error::new(Problem::EllipsisRepeated);
        }
        let (rank, shape) = (self.rank(), self.shape_text());
        Error::new(Problem::TooManyIndices { got: used, rank, shape })
    }
}
