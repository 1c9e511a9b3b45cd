//! One dimension of a layout, and the arithmetic on its indices.

use crate::error::{Error, Result};
use smallvec::SmallVec;

/// One dimension: how many indices it has, and how far apart two neighbours are, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    pub extent: isize,
    pub stride: isize,
}

/// Inline up to rank 4: a smaller tensor is moved and copied faster, and higher ranks are rare.
pub type Modes = SmallVec<[Mode; 4]>;

/// The largest span, in elements: 16 bytes for each must fit `isize`.
pub const MAX_SPAN: isize = isize::MAX / 16;

impl Mode {
    /// Keeps `length` indices: `first`, `first + step`, …. Returns how far the origin moves.
    #[inline]
    pub(super) fn slice(&mut self, first: isize, length: isize, step: isize) -> isize {
        let moved = if length > 0 { first * self.stride } else { 0 };
        *self = Mode { extent: length, stride: stride_or_1(self.stride.checked_mul(step)) };
        moved
    }

    /// One mode in place of several, given fastest first; `None` if they do not follow each other. Extents of 1 do not count.
    pub fn folded(modes: impl Iterator<Item = Mode>) -> Option<Mode> {
        let mut folded = Mode { extent: 1, stride: 1 };
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

    /// A new mode of extent 1 in front of `next`, with the stride it would have in a row-major layout.
    #[inline]
    pub(super) fn in_front_of(next: Option<&Mode>) -> Mode {
        Mode { extent: 1, stride: next.map_or(1, |m| stride_or_1(m.extent.checked_mul(m.stride))) }
    }
}

/// A computed stride, or 1 if it leaves the address space. That only happens to a mode with at most one index, as in
/// `x[::2**62]`, whose stride is never used.
#[inline]
pub(super) fn stride_or_1(stride: Option<isize>) -> isize {
    match stride {
        Some(stride) if stride.unsigned_abs() <= MAX_SPAN as usize => stride,
        _ => 1,
    }
}

/// Whether modes, the fastest first, are nested without gaps. Extents of 1 may have any stride, and a layout without
/// elements has no gaps.
#[inline(always)]
pub(super) fn is_packed<'a>(modes: impl Iterator<Item = &'a Mode>) -> bool {
    let mut expected = 1;
    let mut packed = true;
    for mode in modes {
        if mode.extent == 0 {
            return true;
        }
        if mode.extent != 1 {
            packed &= mode.stride == expected;
            expected *= mode.extent;
        }
    }
    packed
}

/// The first index of `start:stop:step` in a dim, and the number of indices, by Python's rules.
#[inline]
pub(super) fn slice_range(
    extent: isize,
    start: Option<isize>,
    stop: Option<isize>,
    step: isize,
) -> Result<(isize, isize)> {
    if step == 0 {
        return Err(Error::argument("step", step, "another number"));
    }
    // With a negative step the default start is the last index, and the position before the first index is -1.
    let (low, high) = if step > 0 { (0, extent) } else { (-1, extent - 1) };
    let clamp = |index: isize| (if index < 0 { index + extent } else { index }).clamp(low, high);
    let first = start.map_or(if step > 0 { low } else { high }, clamp);
    let end = stop.map_or(if step > 0 { high } else { low }, clamp);
    let distance = if step > 0 { end - first } else { first - end };
    let length = match step {
        _ if distance <= 0 => 0,
        1 => distance, // spares most slices the division
        _ => ((distance - 1) as usize / step.unsigned_abs()) as isize + 1,
    };
    Ok((first, length))
}
