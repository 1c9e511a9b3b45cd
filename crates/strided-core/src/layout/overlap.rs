//! Whether elements share a location, within one layout or between two: a bounded search for whole numbers.

use super::{Layout, Mode, Modes};
use smallvec::SmallVec;

/// Steps of the search that `is_injective` and `overlaps` may take: about 45 us, on layouts that hardly occur.
const BUDGET: usize = 10_000;

impl Layout {
    /// Whether no two indices share a location; false also where that could not be decided within the budget.
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
        self.is_row_major() || injective_within(&self.modes, BUDGET) == Some(true)
    }

    /// Whether an element of this layout may share a location with one of the other, over the same storage
    /// and in elements of the same size. True also where the budget does not suffice; never wrongly false.
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
        // low + sum(i * |s|) == other_high - sum(j * |t|), where every i and j counts from 0 up to its extent.
        let terms = self.modes.iter().chain(&other.modes).filter(|m| m.extent > 1 && m.stride != 0);
        let search = Search::new(terms.map(|m| Mode { extent: m.extent - 1, stride: m.stride }));
        search.solve(other_high - low, false, BUDGET) != Some(false)
    }
}

/// Whether no two indices share a location, or `None` if that takes more than `budget` steps to decide.
pub fn injective_within(modes: &[Mode], budget: usize) -> Option<bool> {
    if modes.iter().any(|m| m.extent == 0) || nested(modes) {
        return Some(true);
    }
    let modes: Modes = modes.iter().copied().filter(|m| m.extent > 1).collect();
    let mut rest = &modes[..];
    while let Some((&mode, others)) = rest.split_first() {
        if mode.stride == 0 || others.iter().any(|&other| meet(mode, other)) {
            return Some(false);
        }
        rest = others;
    }
    if modes.len() <= 2 {
        return Some(true);
    }
    // Two indices share a location if their difference d is not 0 and sum(d * |s|) == 0, -extent < d < extent.
    // Counted from below that is sum(x * |s|) == sum((extent - 1) * |s|), 0 <= x <= 2 * (extent - 1).
    let middle = modes.iter().map(|m| (m.extent - 1) * m.stride.abs()).sum();
    let search = Search::new(modes.iter().map(|m| Mode { extent: 2 * (m.extent - 1), stride: m.stride }));
    search.solve(middle, true, budget).map(|shared| !shared)
}

/// Whether some steps along one mode lead as far as some steps along the other; no stride is 0.
fn meet(a: Mode, b: Mode) -> bool {
    let divisor = gcd(a.stride.abs(), b.stride.abs());
    b.stride.abs() / divisor < a.extent && a.stride.abs() / divisor < b.extent
}

/// Whether each stride steps over all that the modes of smaller strides reach: then no location is shared.
///
/// ```text
/// strides 1, 4, extents 3, 2:  |0 1 2|. |4 5 6|
/// ```
pub(super) fn nested(modes: &[Mode]) -> bool {
    let mut sorted: SmallVec<[(isize, isize); 6]> =
        modes.iter().filter(|m| m.extent > 1).map(|m| (m.stride.abs(), m.extent)).collect();
    sorted.sort_unstable();
    let mut reach = 0;
    sorted.iter().all(|&(stride, extent)| {
        let over = stride > reach;
        reach += (extent - 1) * stride;
        over
    })
}

/// `sum(x * stride) == target` with whole numbers `0 <= x <= most`, from the largest stride down.
struct Search {
    terms: SmallVec<[Term; 12]>,
    budget: usize,
}

#[derive(Clone, Copy)]
struct Term {
    stride: isize,
    most: isize,
    /// What this term and those of smaller strides can add up to, and what every such sum is a multiple of.
    reach: isize,
    divisor: isize,
}

impl Search {
    /// The extent of each mode is the largest number that its index can be.
    fn new(modes: impl Iterator<Item = Mode>) -> Search {
        let mut terms: SmallVec<[Term; 12]> =
            modes.map(|m| Term { stride: m.stride.abs(), most: m.extent, reach: 0, divisor: 0 }).collect();
        terms.sort_unstable_by_key(|term| std::cmp::Reverse(term.stride));
        terms.dedup_by(|term, kept| {
            let same = term.stride == kept.stride;
            kept.most += if same { term.most } else { 0 };
            same
        });
        let (mut reach, mut divisor) = (0, 0);
        for term in terms.iter_mut().rev() {
            reach += term.stride * term.most;
            divisor = gcd(term.stride, divisor);
            (term.reach, term.divisor) = (reach, divisor);
        }
        Search { terms, budget: 0 }
    }

    /// Whether there is a solution; with `beyond_middle`, one other than `x == most / 2` throughout. `None` if
    /// the budget is used up.
    fn solve(mut self, target: isize, beyond_middle: bool, budget: usize) -> Option<bool> {
        self.budget = budget;
        self.step(0, target, beyond_middle)
    }

    fn step(&mut self, level: usize, target: isize, all_middle: bool) -> Option<bool> {
        let Some(&Term { stride, most, reach, divisor }) = self.terms.get(level) else {
            return Some(target == 0 && !all_middle);
        };
        if target < 0 || target > reach || target % divisor != 0 {
            return Some(false);
        }
        // The smaller strides must be able to make up what this one leaves.
        let rest = reach - stride * most;
        let first = if target > rest { (target - rest - 1) / stride + 1 } else { 0 };
        for x in first..=most.min(target / stride) {
            self.budget = self.budget.checked_sub(1)?;
            if self.step(level + 1, target - x * stride, all_middle && x == most / 2)? {
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
