//! Kernels of one type and one direction under operands of several: through blocks that stay in the first
//! cache, operands are cast, tiles turned around, and large results streamed.

use super::drive::Body;
use super::{Kernel, OPERANDS, Pointers, Steps, pair, stream, transpose};
use crate::nest::Loop;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// Elements per block: five operands of the widest type fill 20 KB of a small first-level cache.
const BLOCK: usize = 256;
/// Bytes of a tile of one operand.
const TILE: usize = 16 << 10;
/// Bytes of a block on its way around the caches. Shorter runs go through them: the lines at both ends of a
/// run are not whole, and writing a line in two parts this way is slower than reading it first.
const STREAMED: usize = 4 << 10;

/// A kernel, and how to come from the operands to what it wants.
pub struct Staged {
    pub kernel: Kernel,
    /// From an operand's dtype to the kernel's (operand 0: the way back).
    pub casts: [Option<Kernel>; OPERANDS],
    /// Bytes per element on the kernel's side.
    pub sizes: [usize; OPERANDS],
    /// Bytes per element in memory.
    pub memory: [usize; OPERANDS],
    /// Whether the kernel only copies operand 1.
    pub moves: bool,
    /// Whether the output goes around the caches.
    pub stream: bool,
}

/// Uninitialised memory for `N` bytes of any dtype.
#[repr(align(64))]
struct Room<const N: usize>(MaybeUninit<[u8; N]>);

impl<const N: usize> Room<N> {
    const NEW: Self = Room(MaybeUninit::uninit());

    fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl Body for Staged {
    #[inline]
    fn widest(&self) -> usize {
        self.memory.into_iter().max().expect("there are operands")
    }

    #[inline]
    unsafe fn run(&self, p: &Pointers, s: &Steps, n: usize) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            if self.stream && s[0] == self.memory[0] as isize && n * self.memory[0] >= STREAMED {
                self.run_streamed(p, s, n)
            } else {
                self.run_cached(p, s, n)
            }
        }
    }

    /// Tiles that are only moved are tall: long runs of reads keep the CPU's prefetching busy, and the lines that
    /// they fill with columns wait in the second cache (square ones of 64 took 1.5 times as long). Those that are
    /// computed with have to fit the room.
    fn sides(&self) -> (usize, usize) {
        let size = self.widest();
        if self.moves { (1024 / size, 256 / size) } else { (TILE / size.max(4) / 32, 32) }
    }

    unsafe fn tile(&self, p: &Pointers, rows: &Loop, columns: &Loop) {
        let mut room = [const { Room::<TILE>::NEW }; OPERANDS - 1];
        let (mut at, mut down, mut along) = (*p, rows.steps, columns.steps);
        for k in 1..OPERANDS {
            let size = self.memory[k] as isize;
            if along[k] == 0 || along[k].abs() <= size || down[k].abs() != size {
                continue;
            }
            // Rows that lie backwards are written backwards.
            let last = rows.extent as isize - 1;
            let (from, turned) =
                if down[k] < 0 { (p[k].wrapping_offset(last * down[k]), true) } else { (p[k], false) };
            let turn = |to: *mut u8, step: isize| {
                let (to, step) = if turned { (to.wrapping_offset(last * step), -step) } else { (to, step) };
                // SAFETY: the caller's promise; the target is the output's tile or a room that holds one.
                unsafe {
                    transpose::tile(
                        size as usize,
                        to,
                        step,
                        from,
                        columns.steps[k],
                        rows.extent,
                        columns.extent,
                    )
                };
            };
            if self.moves && along[0] == size {
                return turn(at[0], down[0]);
            }
            if rows.extent * columns.extent * size as usize > TILE {
                continue; // a tall tile of moves into an output with gaps
            }
            let step = columns.extent as isize * size;
            at[k] = room[k - 1].start();
            turn(at[k], step);
            (down[k], along[k]) = (step, size);
        }
        for row in 0..rows.extent as isize {
            let mut here = at;
            here.iter_mut().zip(down).for_each(|(p, step)| *p = p.wrapping_offset(row * step));
            // SAFETY: a row of the tile, of the caller's operands or of those that were turned.
            unsafe { self.run(&here, &along, columns.extent) };
        }
    }
}

impl Staged {
    #[inline]
    unsafe fn run_cached(&self, p: &Pointers, s: &Steps, n: usize) {
        if self.casts.iter().all(Option::is_none) {
            // SAFETY: the caller's promise; no operand needs a cast.
            unsafe { (self.kernel)(p, s, n) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.run_cast(p, s, n) }
        }
    }

    unsafe fn run_cast(&self, p: &Pointers, s: &Steps, n: usize) {
        let mut room = [const { Room::<{ BLOCK * 16 }>::NEW }; OPERANDS];
        let (mut inner, mut steps) = (*p, *s);
        for k in 0..OPERANDS {
            if let Some(cast) = self.casts[k] {
                inner[k] = room[k].start();
                steps[k] = self.sizes[k] as isize;
                if k > 0 && s[k] == 0 {
                    // SAFETY: an input that is a scalar is cast once.
                    unsafe { cast(&pair(inner[k], p[k], null_mut()), &[0; OPERANDS], 1) };
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
                        cast(&pair(inner[k], here(k), null_mut()), &pair(steps[k], s[k], 0), count)
                    },
                    Some(_) => {}
                }
            }
            // SAFETY: every operand is now either the caller's or a block of the kernel's type.
            unsafe {
                (self.kernel)(&inner, &steps, count);
                if let Some(cast) = self.casts[0] {
                    cast(&pair(here(0), inner[0], null_mut()), &pair(s[0], steps[0], 0), count);
                }
            }
            done += count;
        }
    }

    /// One run whose output is dense: computed block by block, and from there around the caches.
    unsafe fn run_streamed(&self, p: &Pointers, s: &Steps, n: usize) {
        let size = self.memory[0];
        // SAFETY: the caller's promise; the room holds a block of results.
        unsafe {
            if self.moves && s[1] == size as isize {
                return stream::copy(p[0], p[1], n * size);
            }
            let mut room = Room::<STREAMED>::NEW;
            let block = STREAMED / size;
            let room = room.start();
            // The first block ends at a line, so that the others start there.
            let mut count = block - (p[0] as usize % stream::LINE) / size;
            let mut done = 0;
            while done < n {
                count = count.min(n - done);
                let mut here = *p;
                here.iter_mut().zip(s).for_each(|(p, step)| *p = p.wrapping_offset(done as isize * step));
                let to = std::mem::replace(&mut here[0], room);
                self.run_cached(&here, s, count);
                stream::copy(to, room, count * size);
                done += count;
                count = block;
            }
        }
    }
}
