//! How often each number occurs, the sums of weights by number, and how many numbers are in each of some bins.

use super::Pieces;
use crate::alloc::try_filled;
use crate::cpu::simd;
use crate::dtype::DType;
use crate::error::Result;
use crate::storage::Access;
use crate::switch;
use crate::tensor::{Tensor, pin_all, pin_each};
use crate::threads::Shared;
use std::ops::Range;

/// Several threads count at least this many numbers, in at most `MAX_SHARED_BINS` bins: each piece has bins of its own.
const MIN_SHARED: usize = 1 << 16;
const MAX_SHARED_BINS: usize = 1 << 13;

/// Adds 1, or a weight, to the element of `out` at each index. Indices outside of it are skipped. All tensors are
/// row-major; `index` is int64, `out` is int64 or, with weights, float64, as they are.
pub fn count(index: &Tensor, weights: Option<&Tensor>, out: &Tensor) -> Result<()> {
    assert!(index.layout().is_row_major() && out.layout().is_row_major() && index.dtype() == DType::I64);
    let wanted = [
        Some((index, Access::Read)),
        weights.map(|weights| (weights, Access::Read)),
        Some((out, Access::Write)),
    ];
    let pins = pin_each(wanted)?;
    let origin = |at: usize| pins[at].as_ref().map_or(std::ptr::null_mut(), |pin| pin.origin);
    let (from, bins) = (Shared::new(origin(0).cast::<i64>()), out.size());
    // SAFETY: callers pass positions of the index, which is pinned. A negative index is a large bin.
    let bin = |at: usize| unsafe { from.at(at).read() } as usize;
    if let Some(weights) = weights {
        assert!(weights.layout().is_row_major() && weights.size() == index.size());
        assert!(weights.dtype() == DType::F64 && out.dtype() == DType::F64);
        let (terms, sums) = (origin(1).cast::<f64>(), origin(2).cast::<f64>());
        for at in 0..index.size() {
            let bin = bin(at);
            if bin < bins {
                // SAFETY: the weights are as many as the indices, and the bin was checked; both are pinned.
                unsafe { *sums.add(bin) += terms.add(at).read() };
            }
        }
        return Ok(());
    }
    assert!(out.dtype() == DType::I64);
    let find = |first: usize, found: &mut [usize]| {
        found.iter_mut().enumerate().for_each(|(i, found)| *found = bin(first + i));
    };
    // SAFETY: the output is pinned, and has as many elements as there are bins.
    unsafe { tally(index.size(), bins, origin(2).cast(), find) }
}

/// Elements whose bins are found at a time.
const BINS_PER_SEARCH: usize = 256;

/// Adds 1 to the count of the bin of each of `n` elements. `find` writes the bins of the elements from a position on; one
/// that is not below `bins` is skipped.
///
/// # Safety
/// `counts` is the address of `bins` elements, which nobody else writes.
unsafe fn tally(
    n: usize,
    bins: usize,
    counts: *mut i64,
    find: impl Fn(usize, &mut [usize]) + Sync,
) -> Result<()> {
    // SAFETY: callers pass an address that is valid for `bins` elements.
    let count = |part: Range<usize>, counts: *mut i64| unsafe {
        let mut found = [0; BINS_PER_SEARCH];
        for first in part.clone().step_by(BINS_PER_SEARCH) {
            let found = &mut found[..BINS_PER_SEARCH.min(part.end - first)];
            find(first, found);
            found.iter().filter(|&&bin| bin < bins).for_each(|&bin| *counts.add(bin) += 1);
        }
    };
    if n < MIN_SHARED || bins > MAX_SHARED_BINS {
        count(0..n, counts);
        return Ok(());
    }
    let pieces = Pieces::of(n, true).map(|part| {
        let mut counts = try_filled(bins, 0)?;
        count(part, counts.as_mut_ptr());
        Ok(counts)
    })?;
    for (bin, count) in pieces.iter().flat_map(|counts| counts.iter().enumerate()) {
        // SAFETY: there are as many counts as bins; this function's contract.
        unsafe { *counts.add(bin) += count };
    }
    Ok(())
}

/// Bins of equal width. The last one includes its upper edge.
#[derive(Clone, Copy)]
pub struct EqualBins {
    pub low: f64,
    pub high: f64,
    /// The difference of the edges, rounded to the dtype of the elements.
    pub width: f64,
}

/// Adds to each element of `out` how many elements of `x` are in its bin. `x` is float32 or float64, and `out` is int64; both
/// are row-major.
#[allow(clippy::unnecessary_cast)] // of float64, where float32 needs it
pub fn count_in_bins(x: &Tensor, bins: EqualBins, out: &Tensor) -> Result<()> {
    assert!(x.layout().is_row_major() && out.layout().is_row_major() && out.dtype() == DType::I64);
    if x.size() == 0 {
        return Ok(());
    }
    pin_all!(x_pin: Read x, out_pin: Write out);
    let (from, to, count) = (Shared::new(x_pin.origin), out_pin.origin, out.size());
    let find = |first: usize, found: &mut [usize]| {
        switch!(x.dtype(), float, T => {
            let (low, width, scale) = (bins.low as T, bins.width as T, count as T);
            simd(#[inline(always)] || {
                for (i, found) in found.iter_mut().enumerate() {
                    // SAFETY: the tensor is pinned, and the position is in it.
                    let x = unsafe { from.at(0).cast::<T>().add(first + i).read() };
                    let inside = x as f64 >= bins.low && x as f64 <= bins.high;
                    // Truncates, and is 0 for NaN.
                    let bin = ((x - low) * scale / width) as usize;
                    *found = if inside { bin.min(count - 1) } else { count };
                }
            })
        }, else => unreachable!("bins are of float32 or float64"))
    };
    // SAFETY: the output is pinned, and has as many elements as there are bins.
    unsafe { tally(x.size(), count, to.cast(), find) }
}
