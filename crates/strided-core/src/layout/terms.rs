//! The vocabulary of seed 002: extent, span, contiguous, row- and column-major, sequentially contiguous, fold.
//!
//! Modes of extent 1 are passed over everywhere: their only index is 0, so that their stride means nothing.

use super::overlap::nested;
use super::{Layout, Mode, Modes, is_packed};
use crate::error::{Error, Problem, Result};
use smallvec::SmallVec;

impl Layout {
    /// The number of indices of a mode.
    pub fn extent(&self, mode: isize) -> Result<isize> {
        Ok(self.modes[self.dim("extent", mode)?].extent)
    }

    /// Whether mode `i` of this layout and mode `j` of the other may share an index: their extents are equal.
    pub fn compatible(&self, i: isize, other: &Layout, j: isize) -> Result<bool> {
        let (i, j) = (self.dim("compatible", i)?, other.dim("compatible", j)?);
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

    /// Whether the elements fill their span, each location once, in any order of the modes. True without
    /// elements.
    ///
    /// If they do, the strides from small to large are 1, n0, n0*n1, …: the location next to the first must
    /// be the neighbour along a mode of stride 1, which fills n0 locations; location n0 then needs a stride
    /// of n0, and so on. So the test on sorted strides decides this case, and no search is needed.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[4, 5])?;
    /// assert!(x.transpose(0, 1)?.is_contiguous() && x.flip(&[0])?.is_contiguous());
    /// assert!(!x.narrow(1, 0, 3)?.is_contiguous());
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    pub fn is_contiguous(&self) -> bool {
        self.is_row_major() || (self.span() == self.size() && nested(&self.modes))
    }

    /// Whether the elements lie next to each other, the first mode fastest.
    pub fn is_column_major(&self) -> bool {
        is_packed(self.modes.iter())
    }

    /// The row-major layout of the same shape, from location 0 on.
    #[inline]
    pub fn row_major_like(&self) -> Layout {
        let mut dense = Layout::scalar();
        dense.set_row_major_like(self);
        dense
    }

    /// Becomes the row-major layout of another's shape, from location 0 on, without a move.
    #[inline(always)]
    pub fn set_row_major_like(&mut self, like: &Layout) {
        self.offset = 0;
        self.modes.clear();
        self.modes.extend_from_slice(&like.modes);
        let mut stride = 1;
        for mode in self.modes.iter_mut().rev() {
            mode.stride = stride;
            stride *= mode.extent.max(1); // fits: it did when that layout was made
        }
    }

    /// Whether each of these modes begins where the one before it ends, the fast mode first: `stride[j] ==
    /// stride[i] * shape[i]` for neighbours `i`, `j`. True if one of them has no index.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[4, 5])?;
    /// assert!(x.sequentially_contiguous(&[1, 0])?);
    /// assert!(!x.sequentially_contiguous(&[0, 1])?);
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    pub fn sequentially_contiguous(&self, modes: &[isize]) -> Result<bool> {
        let modes = self.distinct_dims("sequentially_contiguous", modes)?;
        Ok(self.folded(&modes).is_some())
    }

    /// Sequentially contiguous modes, the fast one first, as one mode: the elements stay where they are.
    ///
    /// Its extent is the product of theirs, its stride that of the fast one. It stands at the place of the
    /// lowest-numbered of them, so that folding neighbours leaves the order of the other modes as it was.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[4, 5, 6])?;
    /// assert_eq!(x.fold(&[2, 1])?, Layout::row_major(&[4, 30])?);
    /// assert_eq!(x.fold(&[1, 2]).unwrap_err().to_string(),
    ///            "fold: modes [1, 2] are not sequentially contiguous (shape 4x5x6, strides [30, 6, 1])");
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    pub fn fold(&self, modes: &[isize]) -> Result<Layout> {
        let modes = self.distinct_dims("fold", modes)?;
        let Some(&place) = modes.iter().min() else {
            return Err(Error::shape("fold", "modes", "empty", "at least one mode"));
        };
        let Some(folded) = self.folded(&modes) else {
            let (modes, shape, stride) = (format!("{modes:?}"), self.shape_text(), self.stride_text());
            return Err(Error::new("fold", Problem::Fold { modes, shape, stride }));
        };
        let mut gone: SmallVec<[bool; 8]> = smallvec::smallvec![false; self.rank()];
        modes.iter().for_each(|&mode| gone[mode] = true);
        let mut result = Modes::with_capacity(self.rank() + 1 - modes.len());
        for (dim, &mode) in self.modes.iter().enumerate() {
            if dim == place {
                result.push(folded);
            } else if !gone[dim] {
                result.push(mode);
            }
        }
        Ok(Layout { modes: result, offset: self.offset })
    }

    /// All modes as one, in order of location. Refused for gaps, and for strides of mixed sign.
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

    /// The mode that replaces these, which are distinct; `None` if they are not sequentially contiguous.
    fn folded(&self, modes: &[usize]) -> Option<Mode> {
        let mut modes = modes.iter().map(|&mode| self.modes[mode]);
        if let Some(empty) = modes.clone().find(|m| m.extent == 0) {
            return Some(empty);
        }
        let mut folded = modes.next().unwrap_or(Mode { extent: 1, stride: 1 });
        for mode in modes {
            if folded.extent == 1 {
                folded = mode;
            } else if mode.extent != 1 {
                if mode.stride != folded.stride * folded.extent {
                    return None;
                }
                folded.extent *= mode.extent;
            }
        }
        Some(folded)
    }
}
