//! Views: parts of dims, the order of dims, added and removed dims.

use super::mode::{slice_range, stride_or_1};
use super::{Layout, Mode, Modes, shape_text, wrap_dim, wrong_count};
use crate::error::{Error, Problem, Result};
use smallvec::{SmallVec, smallvec};

impl Layout {
    /// Keeps `length` indices of a dim from `start` on; a negative start counts from the end.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[4, 5])?;
    /// assert_eq!(x.narrow(1, 2, 3)?.location(&[0, 0])?, 2);
    /// assert_eq!(x.narrow(0, 3, 4).unwrap_err().to_string(),
    ///            "start 3 + length 4 exceeds extent 4 of dim 0 (shape 4x5)");
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    #[inline]
    pub fn narrow(&self, dim: isize, start: isize, length: isize) -> Result<Layout> {
        let dim = self.wrap_dim(dim)?;
        let extent = self.modes[dim].extent;
        let first = if start < 0 { start + extent } else { start };
        if first < 0 || length < 0 || first > extent - length {
            return Err(self.narrow_error(dim, start, length));
        }
        Ok(self.sliced(dim, first, length, 1))
    }

    #[cold]
    fn narrow_error(&self, dim: usize, start: isize, length: isize) -> Error {
        if length < 0 {
            return Error::shape("length", length, "0 or more");
        }
        let (extent, shape) = (self.modes[dim].extent, self.shape_text());
        let problem = if start < -extent {
            Problem::IndexRange { index: start as i128, dim, extent, shape }
        } else {
            Problem::NarrowRange { start, length, extent, dim, shape }
        };
        Error::new(problem)
    }

    /// Keeps every `step`-th index of a dim from `start` up to, not including, `stop`: Python's `start:stop:step`.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[5])?;
    /// let reversed = x.slice(0, None, None, -2)?;
    /// assert_eq!((reversed.offset(), reversed.stride()[0], reversed.size()), (4, -2, 3));
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    #[inline]
    pub fn slice(
        &self,
        dim: isize,
        start: Option<isize>,
        stop: Option<isize>,
        step: isize,
    ) -> Result<Layout> {
        let dim = self.wrap_dim(dim)?;
        let (first, length) = slice_range(self.modes[dim].extent, start, stop, step)?;
        Ok(self.sliced(dim, first, length, step))
    }

    /// `slice` by the first index, the number of indices and the step; the indices must exist.
    #[inline]
    pub(super) fn sliced(&self, dim: usize, first: isize, length: isize, step: isize) -> Layout {
        let mut mode = self.modes[dim];
        let offset = self.offset + mode.slice(first, length, step);
        let mut modes = Modes::from_slice(&self.modes);
        modes[dim] = mode;
        Layout { modes, offset }
    }

    /// The layout of one index of the first dim, which exists: `select` without its checks.
    #[inline]
    pub fn first_row(&self, index: isize) -> Layout {
        let (first, rest) = self.modes.split_first().expect("there is a first dim");
        debug_assert!((0..first.extent).contains(&index));
        Layout { modes: Modes::from_slice(rest), offset: self.offset + index * first.stride }
    }

    /// Selects one index of a dim, which is removed.
    #[inline]
    pub fn select(&self, dim: isize, index: isize) -> Result<Layout> {
        let dim = self.wrap_dim(dim)?;
        let index = self.wrap_index(dim, index)?;
        Ok(self.selected(dim, index))
    }

    /// `select` of an index that must exist.
    #[inline]
    pub(super) fn selected(&self, dim: usize, index: isize) -> Layout {
        let mut modes = Modes::from_slice(&self.modes[..dim]);
        modes.extend_from_slice(&self.modes[dim + 1..]);
        Layout { modes, offset: self.offset + index * self.modes[dim].stride }
    }

    /// Swaps two dims. A layout of rank 0 accepts dims 0 and -1, as in PyTorch.
    #[inline]
    pub fn transpose(&self, a: isize, b: isize) -> Result<Layout> {
        let (a, b) = (self.wrap_dim_or_scalar(a)?, self.wrap_dim_or_scalar(b)?);
        let mut modes = Modes::from_slice(&self.modes);
        if let (Some(a), Some(b)) = (a, b) {
            (modes[a], modes[b]) = (self.modes[b], self.modes[a]);
        }
        Ok(Layout { modes, offset: self.offset })
    }

    /// Puts all dims into a new order: dim `k` of the result is `dims[k]` of this layout.
    pub fn permute(&self, dims: &[isize]) -> Result<Layout> {
        if dims.len() != self.rank() {
            return Err(wrong_count("dims", dims.len(), self.rank()));
        }
        let dims = self.distinct_dims(dims)?;
        Ok(Layout { modes: dims.iter().map(|&dim| self.modes[dim]).collect(), offset: self.offset })
    }

    /// Moves some dims to new positions; the others keep their order.
    pub fn movedim(&self, from: &[isize], to: &[isize]) -> Result<Layout> {
        if from.len() != to.len() {
            return Err(wrong_count("destinations", to.len(), from.len()));
        }
        let (from, to) = (self.distinct_dims(from)?, self.distinct_dims(to)?);
        let mut sources: SmallVec<[Option<usize>; 8]> = smallvec![None; self.rank()];
        let mut moved: SmallVec<[bool; 8]> = smallvec![false; self.rank()];
        for (&from, &to) in from.iter().zip(&to) {
            sources[to] = Some(from);
            moved[from] = true;
        }
        let mut others = (0..self.rank()).filter(|&dim| !moved[dim]);
        let modes = sources
            .iter()
            .filter_map(|source| source.or_else(|| others.next()))
            .map(|dim| self.modes[dim])
            .collect();
        Ok(Layout { modes, offset: self.offset })
    }

    /// Repeats extents of 1 by stride 0 and adds dims in front. A size of -1 keeps the extent.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[3, 1])?.expand(&[2, -1, 4])?;
    /// assert_eq!((x.shape().as_slice(), x.stride().as_slice()), (&[2, 3, 4][..], &[0, 1, 0][..]));
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    pub fn expand(&self, shape: &[isize]) -> Result<Layout> {
        let Some(added) = shape.len().checked_sub(self.rank()) else {
            let wanted = format!("at least {} sizes", self.rank());
            return Err(Error::shape("shape", shape_text(shape), wanted));
        };
        let mut modes = Modes::with_capacity(shape.len());
        for (dim, &size) in shape.iter().enumerate() {
            let old = dim.checked_sub(added).map(|dim| self.modes[dim]);
            modes.push(match old {
                Some(mode) if size == -1 || size == mode.extent => mode,
                _ if size < 0 => return Err(Error::new(Problem::NegativeSize { size, dim })),
                None | Some(Mode { extent: 1, .. }) => Mode { extent: size, stride: 0 },
                Some(Mode { extent, .. }) => {
                    let (from, to, extents) = (self.shape_text(), shape_text(shape), (extent, size));
                    return Err(Error::new(Problem::Expand { from, to, dim, extents }));
                }
            });
        }
        Layout { modes, offset: self.offset }.checked()
    }

    /// Inserts a dim of extent 1 before the given one, from `-(rank + 1)` to `rank`; `rank` and -1 put it last.
    #[inline]
    pub fn unsqueeze(&self, dim: isize) -> Result<Layout> {
        let rank = self.rank();
        let dim = wrap_dim(dim, rank + 1).map_err(|_| Error::new(Problem::NewDimRange { dim, rank }))?;
        let mut modes = Modes::from_slice(&self.modes);
        modes.insert(dim, Mode::in_front_of(self.modes.get(dim)));
        Ok(Layout { modes, offset: self.offset })
    }

    /// A layout with at least `rank` dims, up to 3. New dims of extent 1 come in front, the third one comes last.
    pub fn at_least(&self, rank: usize) -> Result<Layout> {
        match rank {
            _ if self.rank() >= rank => Ok(self.clone()),
            0 => unreachable!("every layout has rank 0 or more"),
            1 | 2 => self.at_least(rank - 1)?.unsqueeze(0),
            _ => self.at_least(2)?.unsqueeze(2),
        }
    }

    /// Rotates two dims by `k` quarter turns, from the first towards the second.
    pub fn rot90(&self, k: isize, dims: &[isize]) -> Result<Layout> {
        let &[first, second] = dims else {
            return Err(wrong_count("dims", dims.len(), 2));
        };
        self.distinct_dims(dims)?;
        match k.rem_euclid(4) {
            0 => Ok(self.clone()),
            1 => self.flip(&[second]).and_then(|x| x.transpose(first, second)),
            2 => self.flip(dims),
            _ => self.flip(&[first]).and_then(|x| x.transpose(first, second)),
        }
    }

    /// Reverses the first dim (`flipud`) or the second one (`fliplr`), which must exist.
    pub fn flip_one(&self, dim: usize) -> Result<Layout> {
        if self.rank() <= dim {
            let wanted = if dim == 0 { "at least 1" } else { "at least 2" };
            return Err(Error::new(Problem::Rank { rank: self.rank(), wanted }));
        }
        self.flip(&[dim as isize])
    }

    /// Removes the dims of extent 1.
    pub fn squeeze_all(&self) -> Layout {
        Layout { modes: self.modes.iter().copied().filter(|m| m.extent != 1).collect(), offset: self.offset }
    }

    /// Removes those of the given dims that have extent 1.
    pub fn squeeze(&self, dims: &[isize]) -> Result<Layout> {
        let mut named: SmallVec<[bool; 8]> = smallvec![false; self.rank()];
        for &dim in dims {
            if let Some(dim) = self.wrap_dim_or_scalar(dim)?
                && std::mem::replace(&mut named[dim], true)
            {
                return Err(Error::new(Problem::DimRepeated { dim }));
            }
        }
        let kept = self.modes.iter().zip(&named).filter(|(mode, named)| mode.extent != 1 || !**named);
        Ok(Layout { modes: kept.map(|(mode, _)| *mode).collect(), offset: self.offset })
    }

    /// Sliding windows of `size` indices, one every `step` indices of a dim; the index within a window is a new last
    /// dim.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let windows = Layout::row_major(&[7])?.unfold(0, 3, 2)?;
    /// assert_eq!((windows.shape().as_slice(), windows.stride().as_slice()), (&[3, 3][..], &[2, 1][..]));
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    pub fn unfold(&self, dim: isize, size: isize, step: isize) -> Result<Layout> {
        let dim = self.wrap_dim(dim)?;
        let Mode { extent, stride } = self.modes[dim];
        if size < 0 || size > extent {
            let wanted = format!("0 to {extent}, the extent of dim {dim}");
            return Err(Error::shape("size", size, wanted));
        }
        if step <= 0 {
            return Err(Error::shape("step", step, "a positive number"));
        }
        let mut modes = Modes::from_slice(&self.modes);
        modes[dim] =
            Mode { extent: (extent - size) / step + 1, stride: stride_or_1(stride.checked_mul(step)) };
        modes.push(Mode { extent: size, stride });
        Layout { modes, offset: self.offset }.checked()
    }

    /// The elements whose indices in two dims differ by `offset`: both dims are removed, the diagonal is a new last
    /// dim.
    ///
    /// ```text
    /// 0 1 2 3      diagonal(1, 0, 1): 1 6 11
    /// 4 5 6 7      diagonal(0, 0, 1): 0 5 10
    /// 8 9 10 11    diagonal(-1, 0, 1): 4 9
    /// ```
    pub fn diagonal(&self, offset: isize, dim1: isize, dim2: isize) -> Result<Layout> {
        let dims = self.distinct_dims(&[dim1, dim2])?;
        let (rows, columns) = (self.modes[dims[0]], self.modes[dims[1]]);
        let (first_row, first_column) = (offset.min(0).saturating_neg(), offset.max(0));
        let extent = (rows.extent - first_row).min(columns.extent - first_column).max(0);
        let mut modes: Modes = SmallVec::with_capacity(self.rank() - 1);
        modes.extend(
            self.modes.iter().enumerate().filter(|(dim, _)| !dims.contains(dim)).map(|(_, mode)| *mode),
        );
        modes.push(Mode { extent, stride: stride_or_1(rows.stride.checked_add(columns.stride)) });
        let moved = if extent == 0 { 0 } else { first_row * rows.stride + first_column * columns.stride };
        Ok(Layout { modes, offset: self.offset + moved })
    }

    /// Reverses dims.
    pub fn flip(&self, dims: &[isize]) -> Result<Layout> {
        let mut layout = self.clone();
        if self.rank() == 0 {
            dims.iter().try_for_each(|&dim| self.wrap_dim_or_scalar(dim).map(|_| ()))?;
            return Ok(layout);
        }
        for dim in self.distinct_dims(dims)? {
            let extent = self.modes[dim].extent;
            layout.offset += layout.modes[dim].slice(extent - 1, extent, -1);
        }
        Ok(layout)
    }
}
