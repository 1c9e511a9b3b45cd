//! Shape, strides and offset: where the elements of a tensor are in its storage. No pointer, no data.
//!
//! A [`Layout`] is a list of [`Mode`]s (an extent and a stride each, in elements) and the location of the element
//! whose indices are all zero. Each subject has a file: `views` (narrow, transpose, expand, …), `reshape` (view,
//! unflatten, other element sizes), `split` (one layout as several), `index` (`x[...]`), `contiguity` (span,
//! contiguous, fold), `overlap` (whether elements share a location). They use `mode` and this file; `split` uses
//! `views`, and `contiguity` uses `overlap`.

mod contiguity;
mod index;
mod mode;
mod overlap;
mod reshape;
mod split;
mod views;

pub use index::Index;
pub use mode::{MAX_SPAN, Mode, Modes};
pub use overlap::injective_within;
pub use split::Sections;

use crate::error::{Error, Problem, Result};
use mode::is_packed;
use smallvec::SmallVec;

/// Sizes or strides, one per dim.
pub type Dims = SmallVec<[isize; 4]>;

/// Maps indices to locations: `offset + sum(index * stride)`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    modes: Modes,
    offset: isize,
}

impl Clone for Layout {
    // A derived clone would copy mode by mode.
    #[inline]
    fn clone(&self) -> Layout {
        Layout { modes: Modes::from_slice(&self.modes), offset: self.offset }
    }
}

impl Layout {
    /// The layout without modes: one element at location 0.
    #[inline]
    pub fn scalar() -> Layout {
        Layout { modes: Modes::new_const(), offset: 0 }
    }

    /// The row-major layout of a shape: the last dim has stride 1, as in C.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let layout = Layout::row_major(&[4, 5]).unwrap();
    /// assert_eq!(layout.stride().as_slice(), [5, 1]);
    /// ```
    #[inline(always)]
    pub fn row_major(shape: &[isize]) -> Result<Layout> {
        let mut modes = Modes::from_elem(Mode { extent: 1, stride: 1 }, shape.len());
        if fill_row_major(&mut modes, shape) {
            Ok(Layout { modes, offset: 0 })
        } else {
            Err(shape_error(shape))
        }
    }

    /// The column-major layout of a shape: the first dim has stride 1, as in Fortran.
    pub fn column_major(shape: &[isize]) -> Result<Layout> {
        let mut reversed: Dims = shape.into();
        reversed.reverse();
        Layout::row_major(shape)?; // its error names the dims in their own order
        let mut layout = Layout::row_major(&reversed)?;
        layout.modes.reverse();
        Ok(layout)
    }

    /// A layout of any strides and offset. The span must fit the address space; whether it fits a storage is checked
    /// when the storage is pinned.
    pub fn strided(shape: &[isize], stride: &[isize], offset: isize) -> Result<Layout> {
        if shape.len() != stride.len() {
            return Err(wrong_count("strides", stride.len(), shape.len()));
        }
        Layout::row_major(shape)?; // refuses extents below 0
        let modes: Modes =
            shape.iter().zip(stride).map(|(&extent, &stride)| Mode { extent, stride }).collect();
        Layout { modes, offset }.checked()
    }

    /// The layout, if its size, span and strides fit the address space. Every layout has passed this check or is a part
    /// of one that has, so that sums and products of its own numbers cannot overflow.
    fn checked(self) -> Result<Layout> {
        let count = self.modes.iter().try_fold(1isize, |count, m| count.checked_mul(m.extent.max(1)));
        if count.is_some_and(|count| count <= MAX_SPAN) && self.checked_bounds().is_some() {
            Ok(self)
        } else {
            Err(Error::new(Problem::TooLarge { shape: self.shape_text() }))
        }
    }

    #[inline]
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }
    /// Number of modes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.modes.len()
    }
    #[inline]
    pub fn offset(&self) -> isize {
        self.offset
    }
    pub fn shape(&self) -> Dims {
        self.modes.iter().map(|m| m.extent).collect()
    }
    pub fn stride(&self) -> Dims {
        self.modes.iter().map(|m| m.stride).collect()
    }
    /// Number of elements.
    #[inline]
    pub fn size(&self) -> usize {
        self.modes.iter().map(|m| m.extent as usize).product()
    }

    /// The lowest and the highest location, or `None` without elements.
    #[inline]
    pub fn bounds(&self) -> Option<(isize, isize)> {
        let (mut low, mut high) = (self.offset, self.offset);
        for mode in &self.modes {
            if mode.extent == 0 {
                return None;
            }
            let reach = (mode.extent - 1) * mode.stride;
            if reach < 0 { low += reach } else { high += reach }
        }
        Some((low, high))
    }

    /// `bounds` of numbers that were not checked yet: `None` if they leave the address space.
    fn checked_bounds(&self) -> Option<(isize, isize)> {
        let (mut low, mut high) = (self.offset, self.offset);
        for mode in &self.modes {
            if mode.stride.unsigned_abs() > MAX_SPAN as usize {
                return None; // even for a single index, which never uses the stride: exporters multiply it
            }
            let reach = (mode.extent - 1).max(0).checked_mul(mode.stride)?;
            if reach < 0 { low = low.checked_add(reach)? } else { high = high.checked_add(reach)? }
        }
        (low >= -MAX_SPAN && high <= MAX_SPAN && high - low < MAX_SPAN).then_some((low, high))
    }

    /// Whether the elements are contiguous in row-major order: Torch's `is_contiguous()`.
    #[inline]
    pub fn is_row_major(&self) -> bool {
        is_packed(self.modes.iter().rev())
    }

    /// Whether both have the same shape and strides.
    #[inline]
    pub fn same_modes(&self, other: &Layout) -> bool {
        self.modes[..] == other.modes[..]
    }

    #[inline]
    pub fn same_shape(&self, other: &Layout) -> bool {
        self.rank() == other.rank() && self.modes.iter().zip(&other.modes).all(|(a, b)| a.extent == b.extent)
    }

    /// The same modes from another location on.
    pub fn at_offset(&self, offset: isize) -> Layout {
        Layout { modes: Modes::from_slice(&self.modes), offset }
    }

    /// The location of the element with these indices.
    pub fn location(&self, index: &[isize]) -> Result<isize> {
        if index.len() != self.rank() {
            return Err(wrong_count("indices", index.len(), self.rank()));
        }
        let mut location = self.offset;
        for (dim, &i) in index.iter().enumerate() {
            location += self.wrap_index(dim, i)? * self.modes[dim].stride;
        }
        Ok(location)
    }

    /// The location of the element at a position in row-major order, which must be below the number of elements.
    pub fn location_at(&self, position: isize) -> isize {
        let step = |(location, rest): (isize, isize), mode: &Mode| {
            (location + rest % mode.extent * mode.stride, rest / mode.extent)
        };
        self.modes.iter().rev().fold((self.offset, position), step).0
    }

    /// Wraps a negative dim, and refuses one out of range.
    #[inline]
    pub fn wrap_dim(&self, dim: isize) -> Result<usize> {
        wrap_dim(dim, self.rank())
    }

    /// Wraps a negative index, and refuses one out of range.
    #[inline]
    pub fn wrap_index(&self, dim: usize, index: isize) -> Result<isize> {
        let extent = self.modes[dim].extent;
        let wrapped = if index < 0 { index + extent } else { index };
        if wrapped >= 0 && wrapped < extent { Ok(wrapped) } else { Err(self.index_error(dim, index)) }
    }

    #[cold]
    fn index_error(&self, dim: usize, index: isize) -> Error {
        let extent = self.modes[dim].extent;
        Error::new(Problem::IndexRange { index: index as i128, dim, extent, shape: self.shape_text() })
    }

    /// [`Self::wrap_dim`], or `None` for dims 0 and -1 of a layout of rank 0.
    #[inline]
    fn wrap_dim_or_scalar(&self, dim: isize) -> Result<Option<usize>> {
        if self.rank() == 0 && (dim == 0 || dim == -1) { Ok(None) } else { self.wrap_dim(dim).map(Some) }
    }

    /// Wraps several dims. Refuses a dim that occurs twice.
    fn distinct_dims(&self, dims: &[isize]) -> Result<SmallVec<[usize; 8]>> {
        let mut named: SmallVec<[bool; 8]> = smallvec::smallvec![false; self.rank()];
        let mut distinct = SmallVec::with_capacity(dims.len());
        for &dim in dims {
            let dim = self.wrap_dim(dim)?;
            if std::mem::replace(&mut named[dim], true) {
                return Err(Error::new(Problem::DimRepeated { dim }));
            }
            distinct.push(dim);
        }
        Ok(distinct)
    }

    pub fn shape_text(&self) -> String {
        shape_text(&self.shape())
    }
    pub fn stride_text(&self) -> String {
        format!("{:?}", self.stride().as_slice())
    }
}

/// Wraps a negative dim, and refuses one out of range.
#[inline]
pub fn wrap_dim(dim: isize, rank: usize) -> Result<usize> {
    let wrapped = if dim < 0 { dim + rank as isize } else { dim };
    if wrapped >= 0 && wrapped < rank as isize {
        Ok(wrapped as usize)
    } else {
        Err(Error::new(Problem::DimRange { dim, rank }))
    }
}

/// Sets the modes to these extents and row-major strides. Returns false if an extent is negative or the product too
/// large.
#[inline]
fn fill_row_major(modes: &mut [Mode], shape: &[isize]) -> bool {
    let (mut stride, mut fits) = (1isize, true);
    for (mode, &extent) in modes.iter_mut().zip(shape).rev() {
        *mode = Mode { extent, stride };
        // An extent of 0 must not hide an overflow of the others: strides are computed as if it were 1.
        let (next, overflow) = stride.overflowing_mul(extent.max(1));
        fits &= extent >= 0 && !overflow && next <= MAX_SPAN;
        stride = next;
    }
    fits
}

#[cold]
fn wrong_count(what: &'static str, got: usize, wanted: usize) -> Error {
    Error::new(Problem::Count { what, got, wanted })
}

#[cold]
fn shape_error(shape: &[isize]) -> Error {
    let problem = match shape.iter().position(|&size| size < 0) {
        Some(dim) => Problem::NegativeSize { size: shape[dim], dim },
        None => Problem::TooLarge { shape: shape_text(shape) },
    };
    Error::new(problem)
}

/// `2x5`, as in the footer of a printed tensor; `()` for rank 0.
pub fn shape_text(shape: &[isize]) -> String {
    if shape.is_empty() {
        return "()".into();
    }
    shape.iter().map(|n| n.to_string()).collect::<Vec<_>>().join("x")
}

/// The shape to which all of these layouts broadcast, by the rule of NumPy and PyTorch.
pub fn broadcast(layouts: &[&Layout]) -> Result<Dims> {
    let rank = layouts.iter().map(|l| l.rank()).max().unwrap_or(0);
    let mut shape: Dims = smallvec::smallvec![1; rank];
    for layout in layouts {
        let lead = rank - layout.rank();
        for (dim, mode) in layout.modes().iter().enumerate() {
            let extent = &mut shape[lead + dim];
            if *extent == 1 {
                *extent = mode.extent;
            } else if mode.extent != 1 && mode.extent != *extent {
                let extents = (*extent, mode.extent);
                let has = |l: &&&Layout| {
                    lead + dim + l.rank() >= rank && l.modes()[lead + dim + l.rank() - rank].extent == *extent
                };
                let left = layouts.iter().find(has).expect("an earlier layout has this extent").shape_text();
                let right = layout.shape_text();
                return Err(Error::new(Problem::Broadcast { left, right, dim: lead + dim, extents }));
            }
        }
    }
    Layout::row_major(&shape)?;
    Ok(shape)
}
