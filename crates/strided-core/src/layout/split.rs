//! Splitting a layout along a dim: `split`, `chunk`, `tensor_split`, `hsplit`, `unbind`.

use super::Layout;
use super::mode::slice_range;
use crate::alloc::try_vec;
use crate::error::{Error, Problem, Result};

/// Where a dim is split: into a number of pieces, or at indices.
#[derive(Clone, Copy)]
pub enum Sections<'a> {
    Count(isize),
    At(&'a [isize]),
}

impl Layout {
    /// Splits a dim into pieces of `size` indices; the last may be smaller.
    pub fn split(&self, dim: isize, size: isize) -> Result<Vec<Layout>> {
        let dim = self.wrap_dim(dim)?;
        let extent = self.modes[dim].extent;
        if size < 0 || (size == 0 && extent != 0) {
            return Err(Error::shape("size", size, "a positive number"));
        }
        // An empty dim makes one empty piece.
        let count = if extent == 0 { 1 } else { ceil_div(extent, size) };
        self.pieces(dim, count, |piece| (piece * size, size.min(extent - piece * size)))
    }

    /// Splits a dim into pieces of the given sizes, which must add up to its extent.
    pub fn split_sizes(&self, dim: isize, sizes: &[isize]) -> Result<Vec<Layout>> {
        let dim = self.wrap_dim(dim)?;
        let extent = self.modes[dim].extent;
        if let Some(&size) = sizes.iter().find(|&&size| size < 0) {
            return Err(Error::new(Problem::NegativeSize { size, dim }));
        }
        let total = sizes.iter().try_fold(0isize, |total, &size| total.checked_add(size));
        if total != Some(extent) {
            let got = total.map_or("too large".into(), |total| total.to_string());
            let wanted = format!("{extent}, the extent of dim {dim}");
            return Err(Error::shape("the sum of the sizes", got, wanted));
        }
        let mut first = 0;
        self.pieces(dim, sizes.len() as isize, |piece| {
            let size = sizes[piece as usize];
            first += size;
            (first - size, size)
        })
    }

    /// Splits a dim into at most `count` pieces of equal size; the last may be smaller. An empty dim makes `count`
    /// empty pieces.
    pub fn chunk(&self, dim: isize, count: isize) -> Result<Vec<Layout>> {
        let dim = self.wrap_dim(dim)?;
        positive(count)?;
        let extent = self.modes[dim].extent;
        let size = ceil_div(extent, count);
        let count = if size == 0 { count } else { ceil_div(extent, size) };
        self.pieces(dim, count, |piece| (piece * size, size.min(extent - piece * size)))
    }

    /// Splits a dim into exactly `count` pieces; the first ones are longer by one if `count` does not divide the
    /// extent.
    pub fn tensor_split(&self, dim: isize, count: isize) -> Result<Vec<Layout>> {
        let dim = self.wrap_dim(dim)?;
        positive(count)?;
        let (size, longer) = (self.modes[dim].extent / count, self.modes[dim].extent % count);
        self.pieces(dim, count, |piece| (piece * size + piece.min(longer), size + (piece < longer) as isize))
    }

    /// Splits a dim into the slices `[:a]`, `[a:b]`, …, `[z:]`, by Python's rules.
    pub fn tensor_split_at(&self, dim: isize, indices: &[isize]) -> Result<Vec<Layout>> {
        let dim = self.wrap_dim(dim)?;
        let extent = self.modes[dim].extent;
        let mut cuts = indices.iter().copied().map(Some).chain([None]);
        let mut start = None;
        self.pieces(dim, indices.len() as isize + 1, |_| {
            let stop = cuts.next().flatten();
            let range = slice_range(extent, start, stop, 1).unwrap_or((0, 0)); // only a step of 0 is refused
            start = stop;
            range
        })
    }

    /// Splits the second dim, or the only one of a vector, into equal pieces or at indices.
    pub fn hsplit(&self, sections: Sections) -> Result<Vec<Layout>> {
        self.split_equally((self.rank() != 1) as usize, (1, "at least 1"), sections)
    }

    /// Splits the first dim of a layout of rank 2 or more into equal pieces or at indices.
    pub fn vsplit(&self, sections: Sections) -> Result<Vec<Layout>> {
        self.split_equally(0, (2, "at least 2"), sections)
    }

    /// Splits the third dim into equal pieces or at indices.
    pub fn dsplit(&self, sections: Sections) -> Result<Vec<Layout>> {
        self.split_equally(2, (3, "at least 3"), sections)
    }

    fn split_equally(
        &self,
        dim: usize,
        (min_rank, wanted): (usize, &'static str),
        sections: Sections,
    ) -> Result<Vec<Layout>> {
        if self.rank() < min_rank {
            return Err(Error::new(Problem::Rank { rank: self.rank(), wanted }));
        }
        if let Sections::Count(count) = sections {
            positive(count)?;
            let extent = self.modes[dim].extent;
            if extent % count != 0 {
                let wanted = format!("a divisor of {extent}, the extent of dim {dim}");
                return Err(Error::shape("the number of pieces", count, wanted));
            }
        }
        self.tensor_split_by(dim as isize, sections)
    }

    /// [`Layout::tensor_split`] or [`Layout::tensor_split_at`].
    pub fn tensor_split_by(&self, dim: isize, sections: Sections) -> Result<Vec<Layout>> {
        match sections {
            Sections::Count(count) => self.tensor_split(dim, count),
            Sections::At(indices) => self.tensor_split_at(dim, indices),
        }
    }

    /// Selects every index of a dim.
    pub fn unbind(&self, dim: isize) -> Result<Vec<Layout>> {
        let dim = self.wrap_dim(dim)?;
        let extent = self.modes[dim].extent;
        let mut layouts = reserve(extent)?;
        layouts.extend((0..extent).map(|index| self.selected(dim, index)));
        Ok(layouts)
    }

    /// One layout for each piece; `range` returns its first index and its length.
    fn pieces(
        &self,
        dim: usize,
        count: isize,
        mut range: impl FnMut(isize) -> (isize, isize),
    ) -> Result<Vec<Layout>> {
        let mut layouts = reserve(count)?;
        for piece in 0..count {
            let (first, length) = range(piece);
            layouts.push(self.sliced(dim, first, length, 1));
        }
        Ok(layouts)
    }
}

/// An empty list with capacity for `count` layouts. A dim that was expanded may have more indices than memory has
/// bytes.
fn reserve(count: isize) -> Result<Vec<Layout>> {
    try_vec(count as usize)
}

fn positive(count: isize) -> Result<()> {
    if count > 0 { Ok(()) } else { Err(Error::shape("the number of pieces", count, "1 or more")) }
}

/// `extent / size` rounded up, without overflow.
fn ceil_div(extent: isize, size: isize) -> isize {
    extent / size + (extent % size != 0) as isize
}
