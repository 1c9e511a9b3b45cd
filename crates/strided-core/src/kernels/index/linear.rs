//! The smallest and the largest element of an index, and several indices combined into one.

use super::super::pair;
use super::super::split::run_nest;
use super::{INDEX_COST, Lookup, LoopBody, load_index};
use crate::cpu::simd;
use crate::error::Result;
use crate::layout::Mode;
use crate::nest::{Nest, Operand, Order, Pointers, Steps};
use crate::storage::Access;
use crate::tensor::{Tensor, pin_all};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// The smallest and the largest element of an int64 tensor; `None` if it has no elements.
pub fn min_max(index: &Tensor) -> Result<Option<(i64, i64)>> {
    if index.size() == 0 {
        return Ok(None);
    }
    let pin = index.pin(Access::Read)?;
    let size = size_of::<i64>();
    let operand = Operand { layout: index.layout(), size };
    let nest = Nest::new(index.layout(), &[operand], Order::Free);
    let (low, high) = (AtomicI64::new(i64::MAX), AtomicI64::new(i64::MIN));
    let body = LoopBody {
        widest: size,
        run: |p: &Pointers, s: &Steps, n| {
            // SAFETY: `pin` holds the index, and the nest visits its elements.
            let (least, most) = unsafe { min_max_of_run(p[0], s[0], n) };
            low.fetch_min(least, Relaxed);
            high.fetch_max(most, Relaxed);
        },
    };
    // SAFETY: `pin` holds the only operand of the nest.
    unsafe { run_nest(nest, pair(pin.origin, null_mut(), null_mut()), 1, &body)? };
    Ok(Some((low.into_inner(), high.into_inner())))
}

/// The smallest and the largest of `n > 0` elements.
///
/// # Safety
/// `at + i * step` is the address of a readable int64 for `i < n`.
unsafe fn min_max_of_run(at: *const u8, step: isize, n: usize) -> (i64, i64) {
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    // SAFETY: this function's contract.
    let load = |i: usize| unsafe { at.wrapping_offset(i as isize * step).cast::<i64>().read() };
    if step == size_of::<i64>() as isize {
        simd(|| {
            for i in 0..n {
                // SAFETY: this function's contract; the step is that of contiguous elements.
                let index = unsafe { at.cast::<i64>().add(i).read() };
                (least, most) = (least.min(index), most.max(index));
            }
        });
    } else {
        for i in 0..n {
            (least, most) = (least.min(load(i)), most.max(load(i)));
        }
    }
    (least, most)
}

/// Adds `clamped index * stride` to every element of `out`. Both are int64; the index broadcasts to `out`.
pub fn add_offsets(out: &Tensor, index: &Tensor, extent: isize, stride: isize) -> Result<()> {
    let lookup = Lookup { extent, step: stride, wraps: true };
    add_each(out, index, |index| lookup.offset(index))
}

/// Adds the offset of the element with a linear row-major index to every element of `out`. The modes, none of which has
/// extent 0, are those of the tensor that the index counts through.
pub fn add_unraveled_offsets(out: &Tensor, index: &Tensor, modes: &[Mode]) -> Result<()> {
    let lookup = Lookup { extent: modes.iter().map(|m| m.extent).product(), step: 0, wraps: true };
    add_each(out, index, |index| {
        let (mut rest, mut offset) = (lookup.clamp(index), 0);
        for mode in modes.iter().rev() {
            offset += rest % mode.extent * mode.stride;
            rest /= mode.extent;
        }
        offset
    })
}

/// Adds a function of the index to every element of `out`, which has memory of its own.
fn add_each(out: &Tensor, index: &Tensor, offset: impl Fn(i64) -> isize + Sync) -> Result<()> {
    pin_all!(to: Write out, from: Read index);
    let size = size_of::<i64>();
    let operands = [Operand { layout: out.layout(), size }, Operand { layout: index.layout(), size }];
    let nest = Nest::new(out.layout(), &operands, Order::Free);
    let body = LoopBody {
        widest: size,
        run: |p: &Pointers, s: &Steps, n| {
            for i in 0..n as isize {
                // SAFETY: `pin_all` pinned both operands of the nest, whose elements are int64.
                unsafe {
                    let to = p[0].wrapping_offset(i * s[0]).cast::<i64>();
                    let index = load_index(p[1].wrapping_offset(i * s[1]));
                    to.write(to.read().wrapping_add(offset(index) as i64));
                }
            }
        },
    };
    // SAFETY: `pin_all` pinned both operands of the nest.
    unsafe { run_nest(nest, pair(to.origin, from.origin, null_mut()), INDEX_COST, &body) }
}
