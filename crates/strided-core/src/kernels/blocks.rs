//! Kernels of one type under operands of several: casts through blocks that stay in the first cache.

use super::{Kernel, OPERANDS, Pointers, Steps};
use std::mem::MaybeUninit;

/// Elements per block: four operands of the widest type fill half of a small first-level cache.
const BLOCK: usize = 256;

/// A kernel, and for each operand how to come from its dtype to the kernel's (operand 0: the way back).
pub struct Staged {
    pub kernel: Kernel,
    pub casts: [Option<Kernel>; OPERANDS],
    /// Bytes per element on the kernel's side.
    pub sizes: [usize; OPERANDS],
}

impl Staged {
    /// Runs one innermost loop.
    ///
    /// # Safety
    /// As [`Kernel`], with each operand in its own dtype.
    #[inline]
    pub unsafe fn run(&self, p: &Pointers, s: &Steps, n: usize) {
        if self.casts.iter().all(Option::is_none) {
            // SAFETY: the caller's promise; no operand needs a cast.
            unsafe { (self.kernel)(p, s, n) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.run_cast(p, s, n) }
        }
    }

    unsafe fn run_cast(&self, p: &Pointers, s: &Steps, n: usize) {
        // Sixteen aligned bytes per element: room for a block of any dtype.
        let mut room = [const { MaybeUninit::<[u128; BLOCK]>::uninit() }; OPERANDS];
        let (mut inner, mut steps) = (*p, *s);
        for k in 0..OPERANDS {
            if let Some(cast) = self.casts[k] {
                inner[k] = room[k].as_mut_ptr().cast();
                steps[k] = self.sizes[k] as isize;
                if k > 0 && s[k] == 0 {
                    // SAFETY: an input that is a scalar is cast once.
                    unsafe { cast(&pair(inner[k], p[k]), &[0; OPERANDS], 1) };
                    steps[k] = 0;
                }
            }
        }
        let mut done = 0;
        while done < n {
            let count = BLOCK.min(n - done);
            let here = |k: usize| p[k].wrapping_offset(done as isize * s[k]);
            for k in 0..OPERANDS {
                match self.casts[k] {
                    None => inner[k] = here(k),
                    // SAFETY: `count` elements from `here` on are the caller's; the room holds BLOCK of them.
                    Some(cast) if k > 0 && s[k] != 0 => unsafe {
                        cast(&pair(inner[k], here(k)), &[steps[k], s[k], 0, 0], count)
                    },
                    Some(_) => {}
                }
            }
            // SAFETY: every operand is now either the caller's or a block of the kernel's type.
            unsafe {
                (self.kernel)(&inner, &steps, count);
                if let Some(cast) = self.casts[0] {
                    cast(&pair(here(0), inner[0]), &[s[0], steps[0], 0, 0], count);
                }
            }
            done += count;
        }
    }
}

/// The pointers of a cast.
fn pair(to: *mut u8, from: *mut u8) -> Pointers {
    [to, from, std::ptr::null_mut(), std::ptr::null_mut()]
}
