//! Torch7's quicksort and quickselect. The places of equal elements, and the order that a selection leaves, follow from the
//! algorithms: Sedgewick's, with the median of three as the pivot. A NaN compares as in C: neither below nor above.

use crate::alloc::try_vec;
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::Element;
use crate::switch;
use crate::tensor::{Tensor, pin_all};
use crate::threads::for_each_in_order;

/// Parts of so few elements, plus one, are left to insertion sort.
const MAX_INSERTION_SORTED: usize = 10;

/// What to do with each line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QuickTask {
    Ascending,
    Descending,
    /// The element of this rank is at its place, smaller ones are before it and larger ones after it.
    Select(usize),
}

/// Rearranges the lines of a row-major tensor of a dtype with an order, in place, and writes the former positions of their
/// elements to an int64 tensor. Lines have `length` elements, which is not 0, and a rank is below it.
pub fn quick_lines(values: &Tensor, positions: &Tensor, length: usize, task: QuickTask) -> Result<()> {
    assert!(values.layout().is_row_major() && positions.layout().is_row_major());
    assert!(positions.dtype() == DType::I64 && positions.size() == values.size());
    assert!(
        values.size().is_multiple_of(length) && !matches!(task, QuickTask::Select(rank) if rank >= length)
    );
    pin_all!(to: Write values, places: Write positions);
    switch!(values.dtype(), order, T => {
        let (to, places) = (to.origin.cast::<T>(), places.origin.cast::<i64>());
        let mut line = QuickLine { values: try_vec(length)?, positions: try_vec(length)? };
        for_each_in_order(values.size() / length, &mut |at| {
            let elements = at * length..(at + 1) * length;
            line.values.clear();
            line.positions.clear();
            // SAFETY: `pin_all` pinned both tensors, which have these elements.
            line.values.extend(elements.clone().map(|i| unsafe { to.add(i).read() }));
            line.positions.extend(0..length as i64);
            line.rearrange(task);
            for (i, (value, position)) in elements.zip(line.values.iter().zip(&line.positions)) {
                // SAFETY: `pin_all` pinned both tensors for writing, and they have these elements.
                unsafe {
                    to.add(i).write(*value);
                    places.add(i).write(*position);
                }
            }
        })
    }, else => unreachable!("lines of {}", values.dtype().name()))
}

/// A copy of a line, and where its elements were.
struct QuickLine<T> {
    values: Vec<T>,
    positions: Vec<i64>,
}

impl<T: Element + PartialOrd> QuickLine<T> {
    fn rearrange(&mut self, task: QuickTask) {
        match task {
            QuickTask::Ascending => self.sort(|a, b| a > b),
            QuickTask::Descending => self.sort(|a, b| a < b),
            QuickTask::Select(rank) => self.select(rank),
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.values.swap(a, b);
        self.positions.swap(a, b);
    }

    /// Parts the elements from `left` to `right`, three or more, by a pivot. Returns the place of the pivot, and where the
    /// part after it begins. The median of three leaves an element at each end at which the inner loops stop.
    fn partition(&mut self, left: usize, right: usize, above: impl Fn(T, T) -> bool) -> (usize, usize) {
        self.swap((left + right) / 2, left + 1);
        for (a, b) in [(left + 1, right), (left, right), (left + 1, left)] {
            if above(self.values[a], self.values[b]) {
                self.swap(a, b);
            }
        }
        let (mut i, mut j, pivot) = (left + 1, right, self.values[left]);
        loop {
            i += 1;
            while above(pivot, self.values[i]) {
                i += 1;
            }
            j -= 1;
            while above(self.values[j], pivot) {
                j -= 1;
            }
            if j < i {
                break;
            }
            self.swap(i, j);
        }
        self.swap(left, j);
        (j, i)
    }

    fn sort(&mut self, above: impl Fn(T, T) -> bool + Copy) {
        let mut parts = Vec::new();
        if self.values.len() > MAX_INSERTION_SORTED + 1 {
            parts.push((0, self.values.len() - 1));
        }
        while let Some((left, right)) = parts.pop() {
            let (pivot, after) = self.partition(left, right, above);
            // As sizes: the place of the pivot may be the first one.
            let (before_size, after_size) = (pivot - left, right + 1 - after);
            let before = (before_size > MAX_INSERTION_SORTED).then(|| (left, pivot - 1));
            let after = (after_size > MAX_INSERTION_SORTED).then_some((after, right));
            // The smaller part is next.
            let next = if before_size > after_size { [before, after] } else { [after, before] };
            parts.extend(next.into_iter().flatten());
        }
        self.insertion_sort(above);
    }

    fn insertion_sort(&mut self, above: impl Fn(T, T) -> bool) {
        let n = self.values.len();
        for i in (0..n.saturating_sub(1)).rev() {
            let (value, position) = (self.values[i], self.positions[i]);
            if !above(value, self.values[i + 1]) {
                continue;
            }
            let mut j = i + 1;
            loop {
                self.values[j - 1] = self.values[j];
                self.positions[j - 1] = self.positions[j];
                j += 1;
                if j == n || !above(value, self.values[j]) {
                    break;
                }
            }
            self.values[j - 1] = value;
            self.positions[j - 1] = position;
        }
    }

    fn select(&mut self, rank: usize) {
        let (mut left, mut right) = (0, self.values.len() - 1);
        while right > left {
            if right == left + 1 {
                if self.values[left] > self.values[right] {
                    self.swap(left, right);
                }
                return;
            }
            let (pivot, after) = self.partition(left, right, |a, b| a > b);
            if pivot >= rank {
                // The pivot is the first element at the least: then nothing is before it.
                let Some(last) = pivot.checked_sub(1) else { return };
                right = last;
            }
            if pivot <= rank {
                left = after;
            }
        }
    }
}
