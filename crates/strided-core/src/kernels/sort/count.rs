//! How often each number occurs, and the sums of weights by number.

use super::{Pieces, WordPointer};
use crate::dtype::DType;
use crate::error::Result;
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};

/// Numbers from which on pieces are counted by several threads, for at most as many different numbers.
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
        let mut counts = vec![0; bins];
        part.filter_map(bin).for_each(|bin| counts[bin] += 1);
        counts
    })?;
    for (bin, count) in found.iter().flat_map(|counts: &Vec<i64>| counts.iter().enumerate()) {
        // SAFETY: there are as many counts as bins, and the output is pinned.
        unsafe { *counts.add(bin) += count };
    }
    Ok(())
}
