//! Extent, span, contiguous, row- and column-major, sequentially contiguous, fold: the terms of the tensor-contraction
//! literature (TAPP, TBLIS), which calls a dimension a *mode*. Messages here say mode for the same reason.
//!
//! Modes of extent 1 are ignored everywhere: their only index is 0, so that their stride has no effect.

use super::mode::is_packed;
use super::overlap::is_nested;
use super::{Layout, Mode, Modes};
use crate::error::{Error, Problem, Result};
use smallvec::SmallVec;

impl Layout {
    /// The number of indices of a mode.
    pub fn extent(&self, mode: isize) -> Result<isize> {
        Ok(self.modes[self.mode_number(mode)?].extent)
    }

    /// Whether mode `i` of this layout and mode `j` of the other have the same extent, so that one index can run over
    /// both.
    pub fn compatible(&self, i: isize, other: &Layout, j: isize) -> Result<bool> {
        let (i, j) = (self.mode_number(i)?, other.mode_number(j)?);
        Ok(self.modes[i].extent == other.modes[j].extent)
    }

    /// The highest minus the lowest location, plus one; 0 without elements.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// assert_eq!(Layout::strided(&[3, 2], &[10, -1], 1)?.span(), 22);
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    #[inline]
    pub fn span(&self) -> usize {
        self.bounds().map_or(0, |(low, high)| (high - low) as usize + 1)
    }

    /// Whether the elements fill their span, each location once, in any order of the modes. True if there are no
    /// elements.
    ///
    /// If they do, the sorted strides are 1, n0, n0*n1, …: the second location must be the neighbour along a mode of
    /// stride 1, which fills n0 locations; location n0 then needs a stride of n0, and so on. So a test of the sorted
    /// strides decides, and no search is needed.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[4, 5])?;
    /// assert!(x.transpose(0, 1)?.is_contiguous() && x.flip(&[0])?.is_contiguous());
    /// assert!(!x.narrow(1, 0, 3)?.is_contiguous());
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    pub fn is_contiguous(&self) -> bool {
        self.is_row_major() || (self.span() == self.size() && is_nested(&self.modes))
    }

    /// Whether the elements are contiguous in column-major order: the first mode is the fastest.
    pub fn is_column_major(&self) -> bool {
        is_packed(self.modes.iter())
    }

    /// The row-major layout of the same shape, with offset 0.
    #[inline]
    pub fn row_major_like(&self) -> Layout {
        let mut layout = Layout::scalar();
        layout.set_row_major_like(self);
        layout
    }

    /// Sets this layout to the row-major layout of another's shape, with offset 0. It is written in place, without a
    /// move: see `Tensor::insert_row_major_like`.
    #[inline(always)]
    pub fn set_row_major_like(&mut self, like: &Layout) {
        self.offset = 0;
        self.modes.clear();
        self.modes.extend_from_slice(&like.modes);
        let mut stride = 1;
        for mode in self.modes.iter_mut().rev() {
            mode.stride = stride;
            stride *= mode.extent.max(1); // cannot overflow: the product was checked when `like` was made
        }
    }

    /// Whether each of these modes, the fastest first, continues the one before it: `stride[j] == stride[i] *
    /// shape[i]` for neighbours `i`, `j`. True if one of them has extent 0.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[4, 5])?;
    /// assert!(x.sequentially_contiguous(&[1, 0])?);
    /// assert!(!x.sequentially_contiguous(&[0, 1])?);
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    pub fn sequentially_contiguous(&self, modes: &[isize]) -> Result<bool> {
        let modes = self.distinct_modes(modes)?;
        Ok(self.folded(&modes).is_some())
    }

    /// Merges sequentially contiguous modes, the fastest first, into one; the elements stay where they are.
    ///
    /// The extent of the new mode is the product of theirs, its stride that of the fastest. It has the position of the
    /// lowest-numbered of them, so that folding adjacent modes keeps the order of the others.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[4, 5, 6])?;
    /// assert_eq!(x.fold(&[2, 1])?, Layout::row_major(&[4, 30])?);
    /// assert_eq!(x.fold(&[1, 2]).unwrap_err().to_string(),
    ///            "modes [1, 2] are not sequentially contiguous (shape 4x5x6, strides [30, 6, 1])");
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    pub fn fold(&self, modes: &[isize]) -> Result<Layout> {
        let modes = self.distinct_modes(modes)?;
        let Some(&position) = modes.iter().min() else {
            return Err(Error::shape("modes", "empty", "at least one mode"));
        };
        let Some(folded) = self.folded(&modes) else {
            let (modes, shape, stride) = (format!("{modes:?}"), self.shape_text(), self.stride_text());
            return Err(Error::new(Problem::Fold { modes, shape, stride }));
        };
        let mut is_folded: SmallVec<[bool; 8]> = smallvec::smallvec![false; self.rank()];
        modes.iter().for_each(|&mode| is_folded[mode] = true);
        let mut result = Modes::with_capacity(self.rank() + 1 - modes.len());
        for (dim, &mode) in self.modes.iter().enumerate() {
            if dim == position {
                result.push(folded);
            } else if !is_folded[dim] {
                result.push(mode);
            }
        }
        Ok(Layout { modes: result, offset: self.offset })
    }

    /// Merges all modes into one, in order of location. Refuses gaps, and strides of mixed sign.
    pub fn fold_all(&self) -> Result<Layout> {
        if self.rank() == 0 {
            return Ok(Layout {
                modes: smallvec::smallvec![Mode { extent: 1, stride: 1 }],
                offset: self.offset,
            });
        }
        let mut order: SmallVec<[isize; 8]> = (0..self.rank() as isize).collect();
        order.sort_by_key(|&dim| self.modes[dim as usize].stride.unsigned_abs());
        self.fold(&order)
    }

    /// The mode that replaces these distinct modes, or `None` if they are not sequentially contiguous.
    fn folded(&self, modes: &[usize]) -> Option<Mode> {
        let modes = modes.iter().map(|&mode| self.modes[mode]);
        modes.clone().find(|mode| mode.extent == 0).or_else(|| Mode::folded(modes))
    }

    fn mode_number(&self, mode: isize) -> Result<usize> {
        self.wrap_dim(mode).map_err(about_modes)
    }

    fn distinct_modes(&self, modes: &[isize]) -> Result<SmallVec<[usize; 8]>> {
        self.distinct_dims(modes).map_err(about_modes)
    }
}

/// An error about dims as one about modes.
#[cold]
fn about_modes(error: Error) -> Error {
    let problem = match *error.problem {
        Problem::DimRange { dim, rank } => Problem::ModeRange { mode: dim, rank },
        Problem::DimRepeated { dim } => Problem::ModeRepeated { mode: dim },
        other => other,
    };
    Error::new(problem)
}
