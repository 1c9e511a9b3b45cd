//! Gather: the elements that an index chooses, copied to an output.

use super::super::split::NestBody;
use super::run::{for_each_index, run_indexed};
use super::{IndexedOperand, Lookup, by_width, load_index};
use crate::error::Result;
use crate::nest::{Loop, Nest, OPERANDS, Operand, Order, Pointers, Steps, shifted};
use crate::tensor::{Tensor, pin_all};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Writes `source.tensor[base + index * stride]` to every element of `out`, which has the shape of the positions and
/// overlaps neither. Returns whether all indices were in range; if not, `out` has wrong elements.
pub fn gather(out: &Tensor, source: &IndexedOperand) -> Result<bool> {
    if out.size() == 0 {
        return Ok(true);
    }
    pin_all!(to: Write out, from: Read source.tensor, index: Read source.index);
    let size = out.dtype().size();
    let mut origins = [null_mut(); OPERANDS];
    (origins[0], origins[1], origins[2]) = (to.origin, source.origin(&from), index.origin);
    let operands = [
        Operand { layout: out.layout(), size },
        Operand { layout: source.base, size },
        Operand { layout: source.index.layout(), size: size_of::<i64>() },
    ];
    let nest = Nest::new(out.layout(), &operands, Order::Free);
    let lookup = source.lookup();
    let in_range = AtomicBool::new(true);
    by_width!(size, W => {
        let body = GatherBody::<W> { lookup, in_range: &in_range, element: PhantomData };
        // SAFETY: `pin_all` pinned the three operands of the nest; every clamped index is within the bounds of the source
        // (the contract of `IndexedOperand`).
        unsafe { run_indexed(&nest, origins, 1, body) }
    })?;
    Ok(in_range.into_inner())
}

/// The work of a gather on elements of the size of `W`. Only `gather` makes one, for operands that it has pinned.
struct GatherBody<'a, W> {
    lookup: Lookup,
    /// Set to false if an index is out of range.
    in_range: &'a AtomicBool,
    element: PhantomData<fn() -> W>,
}

/// The operands are the output, the base of the source, and the index.
impl<W: Copy> NestBody for GatherBody<'_, W> {
    fn widest_element(&self) -> usize {
        size_of::<W>().max(size_of::<i64>())
    }

    unsafe fn compute_run(&self, p: &Pointers, s: &Steps, n: usize) {
        let (size, lookup) = (size_of::<W>() as isize, self.lookup);
        // SAFETY: this function's contract, in all cases.
        unsafe {
            if s[2] == 0 {
                let index = load_index(p[2]);
                self.record(lookup.is_in_range(index));
                let from = p[1].wrapping_offset(lookup.offset(index));
                return copy_row::<W>(p[0], s[0], from, s[1], n);
            }
            let mut in_range = true;
            for_each_index(p, s, n, size, |to, base, index| {
                let index = load_index(index);
                in_range &= lookup.is_in_range(index);
                let from = base.wrapping_offset(lookup.offset(index));
                to.cast::<W>().write_unaligned(from.cast::<W>().read_unaligned());
            });
            self.record(in_range);
        }
    }

    unsafe fn compute_tile(&self, p: &Pointers, rows: &Loop, columns: &Loop) {
        let size = size_of::<W>() as isize;
        let is_dense = columns.steps[0] == size && columns.steps[1] == size && columns.steps[2] == 0;
        if !is_dense {
            for row in 0..rows.extent as isize {
                // SAFETY: this function's contract.
                unsafe { self.compute_run(&shifted(p, &rows.steps, row), &columns.steps, columns.extent) };
            }
            return;
        }
        // The compiler knows the length of the copies of the most common rows.
        match columns.extent * size_of::<W>() {
            // SAFETY: this function's contract; rows are contiguous and of this many bytes.
            8 => unsafe { self.copy_rows(p, rows, 8) },
            // SAFETY: as in the first case.
            16 => unsafe { self.copy_rows(p, rows, 16) },
            // SAFETY: as in the first case.
            32 => unsafe { self.copy_rows(p, rows, 32) },
            // SAFETY: as in the first case.
            64 => unsafe { self.copy_rows(p, rows, 64) },
            // SAFETY: as in the first case.
            bytes => unsafe { self.copy_rows(p, rows, bytes) },
        }
    }
}

impl<W> GatherBody<'_, W> {
    /// Records whether the indices of a loop were in range.
    #[inline(always)]
    fn record(&self, in_range: bool) {
        if !in_range {
            self.in_range.store(false, Relaxed);
        }
    }

    /// Copies contiguous rows of `bytes` bytes.
    ///
    /// # Safety
    /// As for `compute_tile`, for rows that are contiguous in output and source and have one index each.
    #[inline(always)]
    unsafe fn copy_rows(&self, p: &Pointers, rows: &Loop, bytes: usize) {
        let [mut to, mut base, mut index, ..] = *p;
        let mut in_range = true;
        for _ in 0..rows.extent {
            // SAFETY: this function's contract.
            unsafe {
                let value = load_index(index);
                in_range &= self.lookup.is_in_range(value);
                to.copy_from_nonoverlapping(base.wrapping_offset(self.lookup.offset(value)), bytes);
            }
            to = to.wrapping_offset(rows.steps[0]);
            base = base.wrapping_offset(rows.steps[1]);
            index = index.wrapping_offset(rows.steps[2]);
        }
        self.record(in_range);
    }
}

/// Copies `n` elements that do not overlap.
///
/// # Safety
/// `to + i * to_step` is valid for writing and `from + i * from_step` for reading an element of the size of `W`, for
/// `i < n`.
#[inline(always)]
pub unsafe fn copy_row<W: Copy>(to: *mut u8, to_step: isize, from: *const u8, from_step: isize, n: usize) {
    let size = size_of::<W>() as isize;
    // SAFETY: this function's contract.
    unsafe {
        if to_step == size && from_step == size {
            return to.copy_from_nonoverlapping(from, n * size_of::<W>());
        }
        let (mut to, mut from) = (to, from);
        for _ in 0..n {
            to.cast::<W>().write_unaligned(from.cast::<W>().read_unaligned());
            (to, from) = (to.wrapping_offset(to_step), from.wrapping_offset(from_step));
        }
    }
}
