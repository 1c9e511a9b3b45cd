//! The same elements in other shapes, or as elements of another size: `view`, `unflatten`, `view(dtype)`, `real`, `imag`.

use super::views::free_stride;
use super::{Dims, Layout, Mode, Modes, shape_text};
use crate::error::{Error, Problem, Result};
use smallvec::smallvec;

impl Layout {
    /// The shape with its -1, of which there may be one, replaced by what the number of elements leaves for it.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[4, 6])?;
    /// assert_eq!(x.infer_shape(&[3, -1])?.as_slice(), [3, 8]);
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    #[inline]
    pub fn infer_shape(&self, shape: &[isize]) -> Result<Dims> {
        infer("view", shape, self.size() as isize, || self.shape_text())
    }

    /// Another shape over the same elements in row-major order. Refused where the strides would need a copy.
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
        let sizes = self.infer_shape(shape)?;
        self.try_view(&sizes).ok_or_else(|| self.view_error(shape))
    }

    #[cold]
    fn view_error(&self, shape: &[isize]) -> Error {
        let (from, stride, to) = (self.shape_text(), self.stride_text(), shape_text(shape));
        Error::new("view", Problem::ViewStride { shape: from, stride, to })
    }

    /// `view` of a shape without -1: `None` where the strides do not allow it, or the sizes do not fit.
    #[inline]
    pub fn try_view(&self, shape: &[isize]) -> Option<Layout> {
        let mut layout = Layout::row_major(shape).ok()?;
        if layout.size() != self.size() {
            return None;
        }
        layout.offset = self.offset;
        if self.is_dense() {
            // Without elements any strides do, but the offset must stay where the next view can count on it.
            return Some(if layout.checked_bounds().is_some() { layout } else { layout.at_zero() });
        }
        self.lay_out(&mut layout.modes).then_some(layout)
    }

    fn at_zero(mut self) -> Layout {
        self.offset = 0;
        self
    }

    /// Gives `target`, whose extents have this layout's product, the strides that keep the elements in order.
    ///
    /// From the right, modes that run on into each other form blocks of evenly spaced elements, and every block must
    /// be filled exactly by dims of the target: with shape `2x3x4` and strides `[20, 4, 1]` the blocks are `2 | 3x4`,
    /// so that `2x12`, `2x2x6`, `1x2x12` are possible and `24` is not.
    fn lay_out(&self, target: &mut [Mode]) -> bool {
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
                dim.stride = free_stride(stride.checked_mul(filled));
                filled *= dim.extent;
            }
            if filled != block {
                return false;
            }
            // Dims of extent 1 on the border belong to either side.
            while let Some(dim) = dims.next_if(|dim| dim.extent == 1) {
                dim.stride = free_stride(stride.checked_mul(filled));
            }
        }
        true
    }

    /// The shape with dims `start` to `end` (both included) made one. A view of it may need a copy.
    pub fn flatten_shape(&self, start: isize, end: isize) -> Result<Dims> {
        let wrap = |dim| super::wrap_dim(dim, self.rank().max(1)).map_err(|e| e.named("flatten"));
        let (start, end) = (wrap(start)?, wrap(end)?);
        if start > end {
            let problem = Problem::Argument {
                argument: "end_dim",
                got: end.to_string(),
                wanted: format!("{start} or more, as start_dim"),
            };
            return Err(Error::new("flatten", problem));
        }
        let mut shape = self.shape();
        if shape.is_empty() {
            return Ok(smallvec![1]);
        }
        shape[start] = shape[start..=end].iter().product();
        shape.drain(start + 1..=end);
        Ok(shape)
    }

    /// One dim as several, whose extents have its extent as product; one of them may be -1. Always a view.
    pub fn unflatten(&self, dim: isize, sizes: &[isize]) -> Result<Layout> {
        let dim = self.dim("unflatten", dim)?;
        if sizes.is_empty() {
            let problem = Problem::Argument {
                argument: "sizes",
                got: "empty".into(),
                wanted: "at least one size".into(),
            };
            return Err(Error::new("unflatten", problem));
        }
        let Mode { extent, mut stride } = self.modes[dim];
        let sizes = infer("unflatten", sizes, extent, || extent.to_string())?;
        let mut modes = Modes::from_slice(&self.modes);
        modes[dim].extent = sizes[0];
        modes.insert_many(dim + 1, sizes[1..].iter().map(|&extent| Mode { extent, stride }));
        for mode in modes[dim..dim + sizes.len()].iter_mut().rev() {
            mode.stride = stride;
            stride = free_stride(stride.checked_mul(mode.extent.max(1)));
        }
        Layout { modes, offset: self.offset }.checked("unflatten")
    }

    /// The same bytes as elements of another size, given in bytes: the last dim grows or shrinks.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let floats = Layout::row_major(&[3, 4])?;
    /// assert_eq!(floats.reinterpret(4, 1)?, Layout::row_major(&[3, 16])?);
    /// assert_eq!(floats.reinterpret(4, 8)?, Layout::row_major(&[3, 2])?);
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    pub fn reinterpret(&self, from_size: usize, to_size: usize) -> Result<Layout> {
        if from_size == to_size {
            return Ok(self.clone());
        }
        let Some((last, outer)) = self.modes.split_last() else {
            return Err(Error::new(
                "view",
                Problem::Rank { rank: 0, wanted: "at least 1 to change the element size" },
            ));
        };
        if last.extent > 1 && last.stride != 1 {
            let got = last.stride.to_string();
            return Err(Error::new(
                "view",
                Problem::Argument { argument: "the last dim's stride", got, wanted: "1".into() },
            ));
        }
        if from_size > to_size {
            return self.scaled(from_size, to_size, outer, last.extent);
        }
        let bytes = from_size as isize;
        let divide = |what, count: isize| divide(what, count * bytes, to_size);
        let mut modes = Modes::with_capacity(self.rank());
        for mode in outer {
            let stride = if mode.extent > 1 { divide("the byte stride", mode.stride)? } else { mode.stride };
            modes.push(Mode { extent: mode.extent, stride });
        }
        modes.push(Mode { extent: divide("the last dim's length in bytes,", last.extent)?, stride: 1 });
        Ok(Layout { modes, offset: divide("the byte offset", self.offset)? })
    }

    /// `reinterpret` as smaller elements.
    fn scaled(&self, from_size: usize, to_size: usize, outer: &[Mode], last: isize) -> Result<Layout> {
        let ratio = divide("the element size", from_size as isize, to_size)?;
        let too_large = || Error::new("view", Problem::TooLarge { shape: self.shape_text() });
        let mut modes = Modes::with_capacity(self.rank());
        for mode in outer {
            modes.push(Mode { extent: mode.extent, stride: free_stride(mode.stride.checked_mul(ratio)) });
        }
        modes.push(Mode { extent: last.checked_mul(ratio).ok_or_else(too_large)?, stride: 1 });
        Layout { modes, offset: self.offset.checked_mul(ratio).ok_or_else(too_large)? }.checked("view")
    }

    /// The real (0) or imaginary (1) parts of complex elements, as elements of half the size.
    pub fn part(&self, index: isize) -> Result<Layout> {
        let op = if index == 0 { "real" } else { "imag" };
        let double = |stride: isize| free_stride(stride.checked_mul(2));
        let modes = self.modes.iter().map(|m| Mode { extent: m.extent, stride: double(m.stride) }).collect();
        let offset = self.offset.checked_mul(2).and_then(|offset| offset.checked_add(index));
        match offset {
            Some(offset) => Layout { modes, offset }.checked(op),
            None => Err(Error::new(op, Problem::TooLarge { shape: self.shape_text() })),
        }
    }
}

fn divide(what: &'static str, bytes: isize, size: usize) -> Result<isize> {
    match bytes.checked_rem(size as isize) {
        Some(0) => Ok(bytes / size as isize),
        _ => Err(Error::new("view", Problem::Misaligned { what, got: bytes, size })),
    }
}

/// Sizes whose product is `total`, their one -1 replaced.
#[inline]
fn infer(op: &'static str, sizes: &[isize], total: isize, from: impl Fn() -> String) -> Result<Dims> {
    let mut shape = Dims::from_slice(sizes);
    let mut open = None;
    let mut known: Option<isize> = Some(1);
    let mut empty = false;
    for (dim, &size) in sizes.iter().enumerate() {
        match size {
            -1 if open.is_some() => {
                let (got, wanted) = (shape_text(sizes), "at most one -1".into());
                return Err(Error::new(op, Problem::Argument { argument: "shape", got, wanted }));
            }
            -1 => open = Some(dim),
            size if size < 0 => return Err(Error::new(op, Problem::NegativeSize { size, dim })),
            0 => empty = true,
            size => known = known.and_then(|known| known.checked_mul(size)),
        }
    }
    // A product beyond every number of elements counts as empty too, if one of its factors is 0.
    let product = if empty { Some(0) } else { known };
    let mismatch = || Err(Error::new(op, Problem::ViewSize { from: from(), to: shape_text(sizes) }));
    match (open, product) {
        (None, Some(product)) if product == total => {}
        (Some(_), Some(0)) if total == 0 => {
            let (got, wanted) = (shape_text(sizes), "no -1 beside a 0: it could be any number".into());
            return Err(Error::new(op, Problem::Argument { argument: "shape", got, wanted }));
        }
        (Some(dim), Some(product)) if product != 0 && total % product == 0 => shape[dim] = total / product,
        _ => return mismatch(),
    }
    // 0x(2**40)x(2**40) has no elements, and yet no strides.
    if empty || total == 0 {
        Layout::row_major(&shape).map_err(|e| e.named(op))?;
    }
    Ok(shape)
}
