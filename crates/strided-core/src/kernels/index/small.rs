//! `x[index]` and `x[mask]` of few elements that are row-major: one loop, without a plan.

use super::super::scratch::Scratch;
use super::{Lookup, by_width, load_index};
use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::{Tensor, pin_all};

/// Elements of the largest mask, and of the largest result of an index, that are handled here.
const MAX_ELEMENTS: usize = 256;
/// Bytes of the largest elements.
const MAX_SIZE: usize = 16;

/// `x[index]`, slices of the first dim, if both are row-major and small and every index is in range; else `None`.
pub fn small_gather(x: &Tensor, index: &Tensor) -> Result<Option<Tensor>> {
    let (layout, positions) = (x.layout(), index.layout());
    let [first, rest @ ..] = layout.modes() else { return Ok(None) };
    let row: isize = rest.iter().map(|mode| mode.extent).product();
    let elements = (positions.size() as isize).saturating_mul(row);
    let is_small = (1..=MAX_ELEMENTS as isize).contains(&elements) && first.extent > 0;
    if !is_small || index.dtype() != DType::I64 || !layout.is_row_major() || !positions.is_row_major() {
        return Ok(None);
    }
    let mut shape = positions.shape();
    shape.extend(rest.iter().map(|mode| mode.extent));
    let mut out = Tensor::like(x, &shape, x.dtype())?;
    let to = out.exclusive_origin()?;
    pin_all!(from: Read x, at: Read index);
    let bytes = row as usize * x.dtype().size();
    let lookup = Lookup { extent: first.extent, step: bytes as isize, wraps: true };
    let mut in_range = true;
    for k in 0..positions.size() {
        // SAFETY: `pin_all` pinned `x`, whose rows have `bytes` bytes each, and the index; both are row-major. The output
        // is new and has a row for each index.
        unsafe {
            let index = load_index(at.origin.wrapping_add(k * size_of::<i64>()));
            in_range &= lookup.is_in_range(index);
            let row = from.origin.wrapping_offset(lookup.offset(index));
            to.wrapping_add(k * bytes).copy_from_nonoverlapping(row, bytes);
        }
    }
    drop((from, at));
    Ok(in_range.then_some(out))
}

/// `x[mask]` if both are row-major, of one shape and small; else `None`.
pub fn small_select(x: &Tensor, mask: &Tensor) -> Result<Option<Tensor>> {
    let n = x.size();
    if n > MAX_ELEMENTS || !x.layout().is_row_major() || !mask.layout().is_row_major() {
        return Ok(None);
    }
    assert!(mask.size() == n && mask.dtype() == DType::Bool, "a mask of the shape of the tensor");
    let mut scratch = Scratch::<{ MAX_ELEMENTS * MAX_SIZE }>::new();
    let selected = scratch.start();
    pin_all!(from: Read x, flags: Read mask);
    let mut count = 0;
    by_width!(x.dtype().size(), W => for i in 0..n {
        // SAFETY: `pin_all` pinned both, which have n contiguous elements; scratch has bytes for n elements, and `count`
        // is at most `i`.
        unsafe {
            let value = from.origin.cast::<W>().add(i).read_unaligned();
            selected.cast::<W>().add(count).write_unaligned(value);
            count += (flags.origin.add(i).read() != 0) as usize;
        }
    });
    drop((from, flags));
    let mut out = Tensor::like(x, &[count as isize], x.dtype())?;
    let to = out.exclusive_origin()?;
    // SAFETY: the output is new and has `count` elements, as many as were written to scratch.
    unsafe { to.copy_from_nonoverlapping(selected, count * x.dtype().size()) };
    Ok(Some(out))
}
