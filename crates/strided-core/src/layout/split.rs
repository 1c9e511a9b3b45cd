//! One layout as several along a dim: `split`, `chunk`, `tensor_split`, `unbind`.

use super::Layout;
use super::mode::slice_range;
use crate::error::{Error, Problem, Result};

impl Layout {
    /// Splits a dim into pieces of `size` indices; the last may be smaller.
    pub fn split(&self, dim: isize, size: isize) -> Result<Vec<Layout>> {
        let dim = self.dim("split", dim)?;
        let extent = self.modes[dim].extent;
        if size < 0 || (size == 0 && extent != 0) {
            return Err(Error::shape("split", "size", size, "a positive number"));
        }
        // An empty dim makes one empty piece.
        let count = if extent == 0 { 1 } else { ceil_div(extent, size) };
        self.pieces("split", dim, count, |piece| (piece * size, size.min(extent - piece * size)))
    }

    /// Splits a dim into pieces of the given sizes, which must add up to its extent.
    pub fn split_sizes(&self, dim: isize, sizes: &[isize]) -> Result<Vec<Layout>> {
        let dim = self.dim("split", dim)?;
        let extent = self.modes[dim].extent;
        if let Some(&size) = sizes.iter().find(|&&size| size < 0) {
            return Err(Error::new("split", Problem::NegativeSize { size, dim }));
        }
        let total = sizes.iter().try_fold(0isize, |total, &size| total.checked_add(size));
        if total != Some(extent) {
            let got = total.map_or("too large".into(), |total| total.to_string());
            let wanted = format!("{extent}, the extent of dim {dim}");
            return Err(Error::shape("split", "the sum of the sizes", got, wanted));
        }
        let mut first = 0;
        self.pieces("split", dim, sizes.len() as isize, |piece| {
            let size = sizes[piece as usize];
            first += size;
            (first - size, size)
        })
    }

    /// Splits a dim into at most `count` pieces of equal size; the last may be smaller. An empty dim makes `count`
    /// empty pieces.
    pub fn chunk(&self, dim: isize, count: isize) -> Result<Vec<Layout>> {
        let dim = self.dim("chunk", dim)?;
        positive("chunk", count)?;
        let extent = self.modes[dim].extent;
        let size = ceil_div(extent, count);
        let count = if size == 0 { count } else { ceil_div(extent, size) };
        self.pieces("chunk", dim, count, |piece| (piece * size, size.min(extent - piece * size)))
    }

    /// Splits a dim into exactly `count` pieces; the first ones are longer by one if `count` does not divide the
    /// extent.
    pub fn tensor_split(&self, dim: isize, count: isize) -> Result<Vec<Layout>> {
        let dim = self.dim("tensor_split", dim)?;
        positive("tensor_split", count)?;
        let (size, longer) = (self.modes[dim].extent / count, self.modes[dim].extent % count);
        self.pieces("tensor_split", dim, count, |piece| {
            (piece * size + piece.min(longer), size + (piece < longer) as isize)
        })
    }

    /// Splits a dim into the slices `[:a]`, `[a:b]`, …, `[z:]`, by Python's rules.
    pub fn tensor_split_at(&self, dim: isize, indices: &[isize]) -> Result<Vec<Layout>> {
        let dim = self.dim("tensor_split", dim)?;
        let extent = self.modes[dim].extent;
        let mut cuts = indices.iter().copied().map(Some).chain([None]);
        let mut start = None;
        self.pieces("tensor_split", dim, indices.len() as isize + 1, |_| {
            let stop = cuts.next().flatten();
            let range = slice_range(extent, start, stop, 1).unwrap_or((0, 0)); // only a step of 0 is refused
            start = stop;
            range
        })
    }

    /// Selects every index of a dim.
    pub fn unbind(&self, dim: isize) -> Result<Vec<Layout>> {
        let dim = self.dim("unbind", dim)?;
        let extent = self.modes[dim].extent;
        let mut layouts = reserve("unbind", extent)?;
        layouts.extend((0..extent).map(|index| self.selected(dim, index)));
        Ok(layouts)
    }

    /// One layout for each piece; `range` returns its first index and its length.
    fn pieces(
        &self,
        op: &'static str,
        dim: usize,
        count: isize,
        mut range: impl FnMut(isize) -> (isize, isize),
    ) -> Result<Vec<Layout>> {
        let mut layouts = reserve(op, count)?;
        for piece in 0..count {
            let (first, length) = range(piece);
            layouts.push(self.sliced(dim, first, length, 1));
        }
        Ok(layouts)
    }
}

/// An empty list with capacity for `count` layouts. A dim that was expanded may have more indices than memory has
/// bytes: that is an error, where `Vec::with_capacity` would abort.
fn reserve(op: &'static str, count: isize) -> Result<Vec<Layout>> {
    let mut layouts = Vec::new();
    match layouts.try_reserve_exact(count as usize) {
        Ok(()) => Ok(layouts),
        Err(_) => {
            let bytes = (count as usize).saturating_mul(size_of::<Layout>());
            Err(Error::new(op, Problem::OutOfMemory { bytes }))
        }
    }
}

fn positive(op: &'static str, count: isize) -> Result<()> {
    if count > 0 { Ok(()) } else { Err(Error::shape(op, "the number of pieces", count, "1 or more")) }
}

/// `extent / size` rounded up, without overflow.
fn ceil_div(extent: isize, size: isize) -> isize {
    extent / size + (extent % size != 0) as isize
}
