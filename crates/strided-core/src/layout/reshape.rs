//! The same elements in another shape, or the same bytes as elements of another size: `view`, `unflatten`, `real`,
//! `imag`.

use super::mode::stride_or_1;
use super::{Dims, Layout, MAX_SPAN, Mode, Modes, fill_row_major, shape_text};
use crate::error::{Error, Problem, Result};
use smallvec::smallvec;

impl Layout {
    /// The shape with its -1, of which there may be one, replaced by the size that the number of elements implies.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[4, 6])?;
    /// assert_eq!(x.infer_shape(&[3, -1])?.as_slice(), [3, 8]);
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    #[inline]
    pub fn infer_shape(&self, shape: &[isize]) -> Result<Dims> {
        infer(shape, self.size() as isize, || self.shape_text())
    }

    /// Another shape for the same elements in row-major order. Refused if the strides would require a copy.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[4, 6])?;
    /// assert_eq!(x.view(&[2, 2, -1])?.stride().as_slice(), [12, 6, 1]);
    /// assert!(x.transpose(0, 1)?.view(&[24]).is_err());
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    #[inline]
    pub fn view(&self, shape: &[isize]) -> Result<Layout> {
        if shape.contains(&-1) {
            let sizes = self.infer_shape(shape)?;
            return self.try_view(&sizes).ok_or_else(|| self.view_error(shape));
        }
        let mut modes = Modes::from_elem(Mode { extent: 1, stride: 1 }, shape.len());
        match self.view_into(&mut modes, shape) {
            Some(offset) => Ok(Layout { modes, offset }),
            None => Err(self.view_error(shape)),
        }
    }

    #[cold]
    fn view_error(&self, shape: &[isize]) -> Error {
        if let Err(error) = self.infer_shape(shape) {
            return error;
        }
        let (from, stride, to) = (self.shape_text(), self.stride_text(), shape_text(shape));
        Error::new(Problem::ViewStride { shape: from, stride, to })
    }

    /// `view` of a shape without -1. `None` if the strides do not allow it or the sizes do not fit.
    #[inline]
    pub fn try_view(&self, shape: &[isize]) -> Option<Layout> {
        let mut modes = Modes::from_elem(Mode { extent: 1, stride: 1 }, shape.len());
        let offset = self.view_into(&mut modes, shape)?;
        Some(Layout { modes, offset })
    }

    /// Sets the modes of `target` to those of a view. Returns its offset, or `None` if there is no such view.
    #[inline]
    fn view_into(&self, target: &mut [Mode], shape: &[isize]) -> Option<isize> {
        let size = self.size();
        if !fill_row_major(target, shape) || shape.iter().product::<isize>() as usize != size {
            return None;
        }
        if size == 0 {
            // Any strides will do, but from this offset they might leave the address space.
            let reach: isize = target.iter().map(|m| (m.extent - 1).max(0) * m.stride).sum();
            return Some(self.offset.clamp(0, MAX_SPAN - reach));
        }
        (self.is_row_major() || self.view_strided_into(target)).then_some(self.offset)
    }

    /// Sets the strides of `target`, whose extents have the same product as this layout's, so that the elements keep
    /// their order. Returns false if there are no such strides.
    ///
    /// From the right, modes that continue each other form blocks of evenly spaced elements, and dims of the target
    /// must fill every block exactly: with shape `2x3x4` and strides `[20, 4, 1]` the blocks are `2 | 3x4`, so that
    /// `2x12`, `2x2x6`, `1x2x12` are possible and `24` is not.
    fn view_strided_into(&self, target: &mut [Mode]) -> bool {
        let mut modes = self.modes.iter().rev().filter(|m| m.extent != 1).peekable();
        let mut dims = target.iter_mut().rev().peekable();
        while let Some(&Mode { extent: mut block, stride }) = modes.next() {
            while let Some(outer) = modes.next_if(|m| m.stride == stride * block) {
                block *= outer.extent;
            }
            let mut filled = 1;
            while filled < block
                && let Some(dim) = dims.next()
            {
                dim.stride = stride_or_1(stride.checked_mul(filled));
                filled *= dim.extent;
            }
            if filled != block {
                return false;
            }
            // A dim of extent 1 between two blocks may have any stride; this is PyTorch's.
            while let Some(dim) = dims.next_if(|dim| dim.extent == 1) {
                dim.stride = stride_or_1(stride.checked_mul(filled));
            }
        }
        true
    }

    /// The shape with dims `start` to `end` (both included) merged into one. Reshaping to it may require a copy.
    pub fn flatten_shape(&self, start: isize, end: isize) -> Result<Dims> {
        let wrap = |dim| super::wrap_dim(dim, self.rank().max(1));
        let (start, end) = (wrap(start)?, wrap(end)?);
        if start > end {
            return Err(Error::shape("end_dim", end, format!("{start} or more, as start_dim")));
        }
        let mut shape = self.shape();
        if shape.is_empty() {
            return Ok(smallvec![1]);
        }
        shape[start] = shape[start..=end].iter().product();
        shape.drain(start + 1..=end);
        Ok(shape)
    }

    /// Splits a dim into several, the product of whose extents is its extent; one of them may be -1. Always a view.
    pub fn unflatten(&self, dim: isize, sizes: &[isize]) -> Result<Layout> {
        let dim = self.wrap_dim(dim)?;
        if sizes.is_empty() {
            return Err(Error::shape("sizes", "empty", "at least one size"));
        }
        let Mode { extent, mut stride } = self.modes[dim];
        let sizes = infer(sizes, extent, || extent.to_string())?;
        let mut modes = Modes::from_slice(&self.modes);
        modes[dim].extent = sizes[0];
        modes.insert_many(dim + 1, sizes[1..].iter().map(|&extent| Mode { extent, stride }));
        for mode in modes[dim..dim + sizes.len()].iter_mut().rev() {
            mode.stride = stride;
            stride = stride_or_1(stride.checked_mul(mode.extent.max(1)));
        }
        Layout { modes, offset: self.offset }.checked()
    }

    /// The same bytes as elements of another size, from 1 to 16 bytes: the extent of the last dim changes.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let floats = Layout::row_major(&[3, 4])?;
    /// assert_eq!(floats.reinterpret(4, 1)?, Layout::row_major(&[3, 16])?);
    /// assert_eq!(floats.reinterpret(4, 8)?, Layout::row_major(&[3, 2])?);
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    pub fn reinterpret(&self, from_size: usize, to_size: usize) -> Result<Layout> {
        debug_assert!((1..=16).contains(&from_size) && (1..=16).contains(&to_size));
        if from_size == to_size {
            return Ok(self.clone());
        }
        let Some((last, outer)) = self.modes.split_last() else {
            let wanted = "at least 1 to change the element size";
            return Err(Error::new(Problem::Rank { rank: 0, wanted }));
        };
        if last.extent > 1 && last.stride != 1 {
            return Err(Error::shape("the last dim's stride", last.stride, "1"));
        }
        if from_size > to_size {
            return self.as_smaller_elements(from_size, to_size);
        }
        let divide = |what, count: isize| divide(what, count * from_size as isize, to_size);
        let mut modes = Modes::with_capacity(self.rank());
        for mode in outer {
            let stride = if mode.extent > 1 { divide("the byte stride", mode.stride)? } else { mode.stride };
            modes.push(Mode { extent: mode.extent, stride });
        }
        modes.push(Mode { extent: divide("the last dim's length in bytes,", last.extent)?, stride: 1 });
        Ok(Layout { modes, offset: divide("the byte offset", self.offset)? })
    }

    /// `reinterpret` as smaller elements. The products cannot overflow: 16 times `MAX_SPAN` fits `isize`.
    fn as_smaller_elements(&self, from_size: usize, to_size: usize) -> Result<Layout> {
        let ratio = divide("the element size", from_size as isize, to_size)?;
        let mut modes = Modes::from_slice(&self.modes);
        modes.iter_mut().for_each(|mode| mode.stride *= ratio);
        if let Some(last) = modes.last_mut() {
            *last = Mode { extent: last.extent * ratio, stride: 1 };
        }
        Layout { modes, offset: self.offset * ratio }.checked()
    }

    /// The real (0) or imaginary (1) parts of complex elements, as elements of half the size.
    pub fn part(&self, index: isize) -> Result<Layout> {
        debug_assert!((0..2).contains(&index));
        let modes = self.modes.iter().map(|m| Mode { extent: m.extent, stride: 2 * m.stride }).collect();
        Layout { modes, offset: 2 * self.offset + index }.checked()
    }

    /// Both parts of complex elements, as elements of half the size: a new last dim of extent 2.
    pub fn view_as_real(&self) -> Result<Layout> {
        let mut layout = self.part(0)?;
        layout.modes.push(Mode { extent: 2, stride: 1 });
        layout.checked()
    }

    /// Pairs of elements along the last dim, as elements of twice the size.
    pub fn view_as_complex(&self) -> Result<Layout> {
        let wrong = |what, got: isize, wanted: &str| Err(Error::shape(what, got, wanted));
        let Some((last, outer)) = self.modes.split_last() else {
            return Err(Error::new(Problem::Rank { rank: 0, wanted: "at least 1" }));
        };
        if last.extent != 2 {
            return wrong("the last extent", last.extent, "2");
        }
        if last.stride != 1 {
            return wrong("the last stride", last.stride, "1");
        }
        if self.offset % 2 != 0 {
            return wrong("the offset", self.offset, "an even one");
        }
        if let Some(uneven) = outer.iter().find(|mode| mode.stride % 2 != 0 && mode.extent > 1) {
            return wrong("a stride", uneven.stride, "an even one");
        }
        let modes = outer.iter().map(|m| Mode { extent: m.extent, stride: m.stride / 2 }).collect();
        Layout { modes, offset: self.offset / 2 }.checked()
    }
}

fn divide(what: &'static str, bytes: isize, size: usize) -> Result<isize> {
    match bytes.checked_rem(size as isize) {
        Some(0) => Ok(bytes / size as isize),
        _ => Err(Error::new(Problem::Misaligned { what, got: bytes, size })),
    }
}

/// Sizes whose product is `total`; one may be -1 and is replaced. `from` describes the shape they come from.
fn infer(sizes: &[isize], total: isize, from: impl Fn() -> String) -> Result<Dims> {
    let mut shape = Dims::from_slice(sizes);
    let inferred = sizes.iter().position(|&size| size == -1);
    if let Some(dim) = inferred {
        shape[dim] = 1;
        if shape.contains(&-1) {
            return Err(Error::shape("shape", shape_text(sizes), "at most one -1"));
        }
    }
    Layout::row_major(&shape)?; // also refuses 0x(2**40)x(2**40)
    let known: isize = shape.iter().product();
    match inferred {
        None if known == total => {}
        Some(_) if known == 0 && total == 0 => {
            let wanted = "no -1 beside a 0: it could be any number";
            return Err(Error::shape("shape", shape_text(sizes), wanted));
        }
        Some(dim) if known != 0 && total % known == 0 => shape[dim] = total / known,
        _ => return Err(Error::new(Problem::ViewSize { from: from(), to: shape_text(sizes) })),
    }
    Ok(shape)
}
