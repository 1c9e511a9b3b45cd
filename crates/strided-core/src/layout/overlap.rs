//! Whether elements share a location, within one layout or between two: a bounded search for integer solutions.

use super::{Layout, Mode, Modes};
use smallvec::SmallVec;

/// Steps that the search of `is_injective` and `overlaps` may take: about 45 us. Few layouts need that many.
const SEARCH_BUDGET: usize = 10_000;

impl Layout {
    /// Whether no two indices share a location. Also false if the budget does not suffice to decide.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[7])?;
    /// assert!(x.unfold(0, 2, 2)?.is_injective());
    /// assert!(!x.unfold(0, 3, 2)?.is_injective());
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    #[inline]
    pub fn is_injective(&self) -> bool {
        self.is_row_major() || injective_within(&self.modes, SEARCH_BUDGET) == Some(true)
    }

    /// Whether an element of this layout may share a location with one of the other, in the same storage and in
    /// elements of the same size. Also true if the budget does not suffice to decide; never wrongly false.
    ///
    /// ```
    /// # use strided_core::layout::Layout;
    /// let x = Layout::row_major(&[4, 6])?;
    /// assert!(!x.slice(1, Some(0), None, 2)?.overlaps(&x.slice(1, Some(1), None, 2)?));
    /// assert!(!x.narrow(1, 0, 3)?.overlaps(&x.narrow(1, 3, 3)?));
    /// assert!(x.overlaps(&x.select(0, 2)?));
    /// # Ok::<(), strided_core::error::Error>(())
    /// ```
    pub fn overlaps(&self, other: &Layout) -> bool {
        let (Some((low, high)), Some((other_low, other_high))) = (self.bounds(), other.bounds()) else {
            return false;
        };
        if high < other_low || other_high < low {
            return false;
        }
        if self.is_row_major() && other.is_row_major() {
            return true;
        }
        // They do if low + sum(i * |s|) == other_high - sum(j * |t|), where every i and j is from 0 to its extent - 1.
        let terms = self.modes.iter().chain(&other.modes).filter(|m| m.extent > 1 && m.stride != 0);
        let search = LocationSearch::new(terms.map(|m| Mode { extent: m.extent - 1, stride: m.stride }));
        search.solve(other_high - low, false, SEARCH_BUDGET) != Some(false)
    }
}

/// Whether no two indices share a location, or `None` if that takes more than `budget` steps to decide.
pub fn injective_within(modes: &[Mode], budget: usize) -> Option<bool> {
    if modes.iter().any(|m| m.extent == 0) || is_nested(modes) {
        return Some(true);
    }
    let modes: Modes = modes.iter().copied().filter(|m| m.extent > 1).collect();
    let mut rest = &modes[..];
    while let Some((&mode, others)) = rest.split_first() {
        if mode.stride == 0 || others.iter().any(|&other| share_location(mode, other)) {
            return Some(false);
        }
        rest = others;
    }
    if modes.len() <= 2 {
        return Some(true);
    }
    // Two indices share a location if their difference d is not 0 and sum(d * |s|) == 0, where -extent < d < extent.
    // With x = d + extent - 1 that is sum(x * |s|) == sum((extent - 1) * |s|), where 0 <= x <= 2 * (extent - 1).
    let target = modes.iter().map(|m| (m.extent - 1) * m.stride.abs()).sum();
    let search =
        LocationSearch::new(modes.iter().map(|m| Mode { extent: 2 * (m.extent - 1), stride: m.stride }));
    search.solve(target, true, budget).map(|shared| !shared)
}

/// Whether some steps along one mode lead to the same location as some steps along the other. Strides must not be 0.
fn share_location(a: Mode, b: Mode) -> bool {
    let divisor = gcd(a.stride.abs(), b.stride.abs());
    b.stride.abs() / divisor < a.extent && a.stride.abs() / divisor < b.extent
}

/// Whether each stride is larger than the span of the modes of smaller strides: then no location is shared.
///
/// ```text
/// strides 1, 4, extents 3, 2:  |0 1 2|. |4 5 6|
/// ```
pub(super) fn is_nested(modes: &[Mode]) -> bool {
    let mut sorted: SmallVec<[(isize, isize); 6]> =
        modes.iter().filter(|m| m.extent > 1).map(|m| (m.stride.abs(), m.extent)).collect();
    sorted.sort_unstable();
    let mut reach = 0;
    sorted.iter().all(|&(stride, extent)| {
        let is_larger = stride > reach;
        reach += (extent - 1) * stride;
        is_larger
    })
}

/// Solves `sum(x * stride) == target` for integers `0 <= x <= max`, from the largest stride down.
struct LocationSearch {
    terms: SmallVec<[StrideTerm; 12]>,
    budget: usize,
}

#[derive(Clone, Copy)]
struct StrideTerm {
    stride: isize,
    /// The largest `x`.
    max: isize,
    /// The largest sum of this term and those of smaller strides.
    reach: isize,
    /// The greatest common divisor of their strides, which divides every such sum.
    divisor: isize,
}

impl LocationSearch {
    /// The terms of modes whose extents are the largest value of `x`.
    fn new(modes: impl Iterator<Item = Mode>) -> LocationSearch {
        let mut terms: SmallVec<[StrideTerm; 12]> = modes
            .map(|m| StrideTerm { stride: m.stride.abs(), max: m.extent, reach: 0, divisor: 0 })
            .collect();
        terms.sort_unstable_by_key(|term| std::cmp::Reverse(term.stride));
        // Terms of one stride are one term.
        terms.dedup_by(|term, kept| {
            let same = term.stride == kept.stride;
            kept.max += if same { term.max } else { 0 };
            same
        });
        let (mut reach, mut divisor) = (0, 0);
        for term in terms.iter_mut().rev() {
            reach += term.stride * term.max;
            divisor = gcd(term.stride, divisor);
            (term.reach, term.divisor) = (reach, divisor);
        }
        LocationSearch { terms, budget: 0 }
    }

    /// Whether there is a solution; with `exclude_middle`, one other than `x == max / 2` in all terms, which stands
    /// for an index compared with itself. `None` if the budget is used up.
    fn solve(mut self, target: isize, exclude_middle: bool, budget: usize) -> Option<bool> {
        self.budget = budget;
        self.step(0, target, exclude_middle)
    }

    fn step(&mut self, level: usize, target: isize, all_middle: bool) -> Option<bool> {
        let Some(&StrideTerm { stride, max, reach, divisor }) = self.terms.get(level) else {
            return Some(target == 0 && !all_middle);
        };
        if target < 0 || target > reach || target % divisor != 0 {
            return Some(false);
        }
        // The smaller strides must be able to reach what this one leaves.
        let rest = reach - stride * max;
        let first = if target > rest { (target - rest - 1) / stride + 1 } else { 0 };
        for x in first..=max.min(target / stride) {
            self.budget = self.budget.checked_sub(1)?;
            if self.step(level + 1, target - x * stride, all_middle && x == max / 2)? {
                return Some(true);
            }
        }
        Some(false)
    }
}

fn gcd(mut a: isize, mut b: isize) -> isize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
