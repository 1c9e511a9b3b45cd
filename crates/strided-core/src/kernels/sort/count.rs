//! How often each number occurs, the sums of weights by number, and how many numbers are in each of some bins.

use super::{Pieces, WordPointer};
use crate::alloc::try_filled;
use crate::cpu::simd;
use crate::dtype::DType;
use crate::error::Result;
use crate::storage::Access;
use crate::switch;
use crate::tensor::{Tensor, pin_each};

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
    let (from, bins) = (WordPointer(origin(0).cast::<i64>()), out.size());
    // SAFETY: callers pass positions of the index, which is pinned. A bin is used only if it is below the number of bins.
    let bin = |at: usize| Some(unsafe { from.at(at).read() } as usize).filter(|&bin| bin < bins);
    if let Some(weights) = weights {
        assert!(weights.layout().is_row_major() && weights.size() == index.size());
        assert!(weights.dtype() == DType::F64 && out.dtype() == DType::F64);
        let (terms, sums) = (origin(1).cast::<f64>(), origin(2).cast::<f64>());
        for at in 0..index.size() {
            if let Some(bin) = bin(at) {
                // SAFETY: the weights are as many as the indices, and the bin was checked; both are pinned.
                unsafe { *sums.add(bin) += terms.add(at).read() };
            }
        }
        return Ok(());
    }
    assert!(out.dtype() == DType::I64);
    let counts = origin(2).cast::<i64>();
    if index.size() < MIN_SHARED || bins > MAX_SHARED_BINS {
        for bin in (0..index.size()).filter_map(bin) {
            // SAFETY: the bin was checked, and the output is pinned.
            unsafe { *counts.add(bin) += 1 };
        }
        return Ok(());
    }
    let found = Pieces::of(index.size(), true).map(|part| {
        let mut counts = try_filled(bins, 0)?;
        part.filter_map(bin).for_each(|bin| counts[bin] += 1);
        Ok(counts)
    })?;
    // SAFETY: there are as many counts as bins, and the output is pinned.
    unsafe { add_counts(counts, &found) };
    Ok(())
}

/// Adds the counts of pieces.
///
/// # Safety
/// `to` is the address of as many elements as each piece has counts.
unsafe fn add_counts(to: *mut i64, pieces: &[Vec<i64>]) {
    for (bin, count) in pieces.iter().flat_map(|counts| counts.iter().enumerate()) {
        // SAFETY: this function's contract.
        unsafe { *to.add(bin) += count };
    }
}

/// Bins of equal width. The last one includes its upper edge.
#[derive(Clone, Copy)]
pub struct EqualBins {
    pub low: f64,
    pub high: f64,
    /// The difference of the edges, rounded to the dtype of the elements.
    pub width: f64,
}

/// Elements whose bins are computed at a time, in vectors.
const BLOCK: usize = 256;

/// Adds to each element of `out` how many elements of `x` are in its bin. `x` is float32 or float64, and `out` is int64; both
/// are row-major.
#[allow(clippy::unnecessary_cast)] // of float64, where float32 needs it
pub fn count_in_bins(x: &Tensor, bins: EqualBins, out: &Tensor) -> Result<()> {
    assert!(x.layout().is_row_major() && out.layout().is_row_major() && out.dtype() == DType::I64);
    if x.size() == 0 {
        return Ok(());
    }
    let pins = pin_each([Some((x, Access::Read)), Some((out, Access::Write))])?;
    let [from, to] = [0, 1].map(|at| pins[at].as_ref().expect("both were pinned").origin);
    let (from, count) = (WordPointer(from), out.size());
    let pieces = if count > MAX_SHARED_BINS { Pieces::single(x.size()) } else { Pieces::of(x.size(), true) };
    let found = pieces.map(|part| {
        switch!(x.dtype(), float, T => {
            // The elements outside of all bins are counted in an extra bin after them.
            let mut counts = try_filled(count + 1, 0i64)?;
            let (low, width, scale) = (bins.low as T, bins.width as T, count as T);
            for start in part.clone().step_by(BLOCK) {
                let (mut places, n) = ([0usize; BLOCK], BLOCK.min(part.end - start));
                simd(#[inline(always)] || {
                    for (i, place) in places[..n].iter_mut().enumerate() {
                        // SAFETY: the tensor is pinned, and the position is in it.
                        let x = unsafe { from.at(0).cast::<T>().add(start + i).read() };
                        let inside = x as f64 >= bins.low && x as f64 <= bins.high;
                        // Truncates, and is 0 for NaN.
                        let bin = ((x - low) * scale / width) as usize;
                        *place = if inside { bin.min(count - 1) } else { count };
                    }
                });
                places[..n].iter().for_each(|&place| counts[place] += 1);
            }
            counts.truncate(count);
            Ok(counts)
        }, else => unreachable!("bins are of float32 or float64"))
    })?;
    // SAFETY: there are as many counts as bins, and the output is pinned.
    unsafe { add_counts(to.cast(), &found) };
    Ok(())
}
