//! Gather: the elements that an index chooses, copied to an output.

use super::super::split::run_nest;
use super::{IndexedOperand, Lookup, LoopBody, WEIGHT, by_width, load_index};
use crate::error::Result;
use crate::nest::{Nest, OPERANDS, Operand, Order, Pointers, Steps};
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};
use std::ptr::null_mut;

/// Writes `source.tensor[base + index * stride]` to every element of `out`, which has the shape of the positions and
/// overlaps neither.
pub fn gather(out: &Tensor, source: &IndexedOperand) -> Result<()> {
    if out.size() == 0 {
        return Ok(());
    }
    let wanted =
        [Some((out, Access::Write)), Some((source.tensor, Access::Read)), Some((source.index, Access::Read))];
    let [Some(to), Some(from), Some(index)] = pin_each(wanted)? else { unreachable!("all were pinned") };
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
    by_width!(size, W => {
        // SAFETY: `pin_each` pinned the three operands of the nest; every clamped index is within the bounds of the
        // source (the contract of `IndexedOperand`).
        let body = LoopBody { widest: size, run: |p: &Pointers, s: &Steps, n| unsafe { gather_loop::<W>(p, s, n, lookup) } };
        // SAFETY: `pin_each` pinned the three operands of the nest.
        unsafe { run_nest(nest, origins, WEIGHT, &body) }
    })
}

/// One innermost loop. The operands are the output, the base of the source, and the index.
///
/// # Safety
/// `p[k] + i * s[k]` is valid for `i < n`: an element of the size of `W` to write, a base from which every element of
/// `lookup` can be read, and an int64.
unsafe fn gather_loop<W: Copy>(p: &Pointers, s: &Steps, n: usize, lookup: Lookup) {
    let size = size_of::<W>() as isize;
    // SAFETY: this function's contract, in all cases.
    unsafe {
        if s[2] == 0 {
            let from = p[1].wrapping_offset(lookup.offset(load_index(p[2])));
            return copy_row::<W>(p[0], s[0], from, s[1], n);
        }
        let (mut to, mut base, mut index) = (p[0], p[1], p[2]);
        if s[0] == size && s[1] == 0 && s[2] == size_of::<i64>() as isize {
            for _ in 0..n {
                let from = base.wrapping_offset(lookup.offset(load_index(index)));
                to.cast::<W>().write_unaligned(from.cast::<W>().read_unaligned());
                (to, index) = (to.wrapping_offset(size), index.wrapping_add(size_of::<i64>()));
            }
            return;
        }
        for _ in 0..n {
            let from = base.wrapping_offset(lookup.offset(load_index(index)));
            to.cast::<W>().write_unaligned(from.cast::<W>().read_unaligned());
            to = to.wrapping_offset(s[0]);
            base = base.wrapping_offset(s[1]);
            index = index.wrapping_offset(s[2]);
        }
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
