//! Reductions: many elements into one, by a tree that depends on their number alone.
//!
//! ```text
//! terms      0 1 2 … 1023 | 1024 …            blocks of BLOCK
//! in a block   lane j takes terms j, j+32, …    LANES running results
//! lanes      32 -> 16 -> 8 -> 4 -> 2 -> 1       merged in halves
//! blocks     ((0 1)(2 3))((4 5)…)               merged pairwise, as in a binary counter
//! ```
//! `along` walks the terms of one output, `across` those of neighbouring outputs side by side; both build
//! the same tree, so that the bits do not depend on the CPU, on gaps between the elements or (later) on the
//! number of threads. Terms are taken in the order in which they lie in memory.

use super::cast;
use super::{Kernel, OPERANDS, Pointers, pair};
use crate::cpu::{self, simd};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{Layout, Mode};
use crate::nest::{Loop, Nest, Operand, Order, walk};
use crate::scalar::Num;
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};
use smallvec::SmallVec;
use std::mem::MaybeUninit;

const LANES: usize = 32;
const BLOCK: usize = 1024;
/// Outputs that `across` works on side by side.
const WIDTH: usize = 32;
/// Rows that are gathered at a time where they cannot be read in place.
const ROWS: usize = 32;

/// How two partial results become one. `IDENTITY` changes nothing on either side.
pub trait Reduction<T: Num> {
    const IDENTITY: T;
    /// The result of no term at all.
    const EMPTY: T;
    fn merge(a: T, b: T) -> T;
}

/// The loops of one reduction for one type.
#[derive(Clone, Copy)]
pub struct Reducer {
    dtype: DType,
    /// Reduces up to BLOCK adjacent terms to one.
    along: unsafe fn(terms: *const u8, n: usize, out: *mut u8),
    /// Adds rows of terms to the lanes: row `first + i` goes to lane `(first + i) % LANES`.
    absorb: unsafe fn(lanes: *mut u8, first: usize, rows: *const u8, step: isize, n: usize, width: usize),
    /// Fills the lanes with the identity.
    clear: unsafe fn(lanes: *mut u8),
    /// Merges the lanes of every output into one.
    collapse: unsafe fn(lanes: *mut u8, out: *mut u8, width: usize),
    /// Merges results: `into[i] = merge(into[i], from[i])`.
    merge: unsafe fn(into: *mut u8, from: *const u8, width: usize),
    /// Writes the result of no term.
    empty: unsafe fn(out: *mut u8),
}

impl Reducer {
    pub const fn of<R: Reduction<T>, T: Num>() -> Reducer {
        Reducer {
            dtype: T::DTYPE,
            along: along::<R, T>,
            absorb: absorb::<R, T>,
            clear: clear::<R, T>,
            collapse: collapse::<R, T>,
            merge: merge::<R, T>,
            empty: empty::<R, T>,
        }
    }
}

#[inline(always)]
fn halve<R: Reduction<T>, T: Num>(lanes: &mut [T; LANES]) -> T {
    let mut width = LANES / 2;
    while width > 0 {
        for j in 0..width {
            lanes[j] = R::merge(lanes[j], lanes[j + width]);
        }
        width /= 2;
    }
    lanes[0]
}

unsafe fn along<R: Reduction<T>, T: Num>(terms: *const u8, n: usize, out: *mut u8) {
    let terms = terms.cast::<T>();
    // SAFETY: the caller has `n` terms at `terms` and room for one at `out`.
    simd(|| unsafe {
        let mut lanes = [R::IDENTITY; LANES];
        let mut at = 0;
        while at + LANES <= n {
            let group = terms.add(at).cast::<[T; LANES]>().read();
            for j in 0..LANES {
                lanes[j] = R::merge(lanes[j], group[j]);
            }
            at += LANES;
        }
        for (j, lane) in lanes.iter_mut().enumerate().take(n - at) {
            *lane = R::merge(*lane, terms.add(at + j).read());
        }
        out.cast::<T>().write(halve::<R, T>(&mut lanes));
    })
}

unsafe fn absorb<R: Reduction<T>, T: Num>(
    lanes: *mut u8,
    first: usize,
    rows: *const u8,
    step: isize,
    n: usize,
    width: usize,
) {
    let lanes = lanes.cast::<[T; WIDTH]>();
    // SAFETY: the caller has LANES rows of WIDTH at `lanes`, and `n` rows of `width` terms at `rows`.
    simd(|| unsafe {
        for i in 0..n {
            let lane = &mut *lanes.add((first + i) % LANES);
            let row = rows.wrapping_offset(i as isize * step).cast::<T>();
            if width == WIDTH {
                let row = row.cast::<[T; WIDTH]>().read();
                for j in 0..WIDTH {
                    lane[j] = R::merge(lane[j], row[j]);
                }
            } else {
                for (j, slot) in lane.iter_mut().enumerate().take(width) {
                    *slot = R::merge(*slot, row.add(j).read());
                }
            }
        }
    })
}

unsafe fn clear<R: Reduction<T>, T: Num>(lanes: *mut u8) {
    for i in 0..LANES * WIDTH {
        // SAFETY: the caller has LANES rows of WIDTH at `lanes`.
        unsafe { lanes.cast::<T>().add(i).write(R::IDENTITY) };
    }
}

unsafe fn collapse<R: Reduction<T>, T: Num>(lanes: *mut u8, out: *mut u8, width: usize) {
    for j in 0..width {
        // SAFETY: the caller has LANES rows of WIDTH at `lanes` and room for `width` results at `out`.
        unsafe {
            let mut column = [R::IDENTITY; LANES];
            for (i, slot) in column.iter_mut().enumerate() {
                *slot = lanes.cast::<T>().add(i * WIDTH + j).read();
            }
            out.cast::<T>().add(j).write(halve::<R, T>(&mut column));
        }
    }
}

unsafe fn merge<R: Reduction<T>, T: Num>(into: *mut u8, from: *const u8, width: usize) {
    let (into, from) = (into.cast::<T>(), from.cast::<T>());
    for j in 0..width {
        // SAFETY: the caller has `width` results at both.
        unsafe { into.add(j).write(R::merge(into.add(j).read(), from.add(j).read())) };
    }
}

unsafe fn empty<R: Reduction<T>, T: Num>(out: *mut u8) {
    // SAFETY: the caller has room for one result at `out`.
    unsafe { out.cast::<T>().write(R::EMPTY) };
}

/// Room for `N` elements of any compute dtype.
type Room<const N: usize> = MaybeUninit<[[u64; 2]; N]>;

/// Reduces `x` into `out`, whose layout is seen through `spread`: `x`'s rank, with extents of 1 where it is
/// reduced. The reducer's dtype is that of the accumulator.
pub fn run(reducer: &Reducer, x: &Tensor, out: &Tensor, spread: &Layout) -> Result<()> {
    let kept = |(a, b): (&Mode, &Mode)| a.extent == b.extent || a.extent == 1;
    assert!(spread.rank() == x.layout().rank() && spread.modes().iter().zip(x.layout().modes()).all(kept));
    assert!(spread.bounds() == out.layout().bounds());
    let operands = [
        Operand { layout: spread, size: out.dtype().size() },
        Operand { layout: x.layout(), size: x.dtype().size() },
    ];
    // Extents of 1 get step 0 by broadcasting: those are the reduced loops.
    let nest = Nest::new(x.layout(), &operands, Order::Free);
    let mut kept: SmallVec<[Loop; 4]> = SmallVec::new();
    let mut reduced: SmallVec<[Loop; 4]> = SmallVec::new();
    for &l in nest.loops() {
        if l.steps[0] == 0 { reduced.push(l) } else { kept.push(l) }
    }
    let job = Job {
        reducer,
        size: reducer.dtype.size(),
        read: cast::kernel(x.dtype(), reducer.dtype),
        in_place: x.dtype() == reducer.dtype && !cpu::reference_kernels(),
        write: cast::kernel(reducer.dtype, out.dtype()),
        terms: reduced.iter().map(|l| l.extent).product(),
    };
    let side_by_side = nest.loops().last().is_some_and(|l| l.steps[0] != 0) && !cpu::reference_kernels();
    if let [Some(to), Some(from)] = pin_each([Some((out, Access::Write)), Some((x, Access::Read))])? {
        let mut origins = [std::ptr::null_mut(); OPERANDS];
        (origins[0], origins[1]) = (to.origin, from.origin);
        let start = nest.start(origins);
        if side_by_side && !reduced.is_empty() && job.terms > 0 {
            let columns = kept.pop().expect("the innermost loop is kept");
            // SAFETY: both are pinned for the layouts in the nest, and the casts lead to the reducer's dtype.
            walk(&kept, start, |at| unsafe { job.across(at, &columns, &reduced) });
        } else {
            // SAFETY: as for `across`.
            walk(&kept, start, |at| unsafe { job.along(at, &reduced) });
        }
    }
    Ok(())
}

struct Job<'a> {
    reducer: &'a Reducer,
    /// Bytes of an accumulator.
    size: usize,
    read: Kernel,
    /// Whether input elements are accumulators already.
    in_place: bool,
    write: Kernel,
    terms: usize,
}

impl Job<'_> {
    unsafe fn write(&self, out: *mut u8, step: isize, results: *mut u8, n: usize) {
        let null = std::ptr::null_mut();
        // SAFETY: the callers have `n` results and `n` outputs.
        unsafe { (self.write)(&pair(out, results, null), &pair(step, self.size as isize, 0), n) }
    }

    unsafe fn read(&self, room: *mut u8, room_step: isize, from: *mut u8, step: isize, n: usize) {
        let null = std::ptr::null_mut();
        // SAFETY: the callers have room for `n` accumulators, and `n` inputs.
        unsafe { (self.read)(&pair(room, from, null), &pair(room_step, step, 0), n) }
    }

    /// One output: its terms come in blocks, read in place where they are adjacent.
    unsafe fn along(&self, at: &Pointers, reduced: &[Loop]) {
        let mut result: Room<1> = Room::uninit();
        let result = result.as_mut_ptr().cast::<u8>();
        let mut tree = Tree::new(self.reducer, self.size, 1);
        // SAFETY: every run below lies within the reduced loops; blocks hold at most BLOCK terms.
        unsafe {
            match reduced {
                [] if self.terms == 1 => self.read(result, self.size as isize, at[1], 0, 1),
                _ if self.terms == 0 => (self.reducer.empty)(result),
                [only] if self.in_place && only.steps[1] == self.size as isize => {
                    let mut done = 0;
                    while done < only.extent {
                        let n = BLOCK.min(only.extent - done);
                        (self.reducer.along)(at[1].add(done * self.size), n, result);
                        tree.push(result);
                        done += n;
                    }
                    tree.finish(result);
                }
                _ => self.gather(at, reduced, &mut tree, result),
            }
            self.write(at[0], 0, result, 1);
        }
    }

    unsafe fn gather(&self, at: &Pointers, reduced: &[Loop], tree: &mut Tree, result: *mut u8) {
        let mut room: Room<BLOCK> = Room::uninit();
        let room = room.as_mut_ptr().cast::<u8>();
        let (inner, outer) = reduced.split_last().expect("there is something to reduce");
        let mut filled = 0;
        walk(outer, *at, |at| {
            let mut done = 0;
            while done < inner.extent {
                let n = (BLOCK - filled).min(inner.extent - done);
                let from = at[1].wrapping_offset(done as isize * inner.steps[1]);
                // SAFETY: `filled + n` terms fit the room.
                unsafe {
                    self.read(room.add(filled * self.size), self.size as isize, from, inner.steps[1], n)
                };
                filled += n;
                done += n;
                if filled == BLOCK {
                    // SAFETY: the room holds BLOCK terms.
                    unsafe { (self.reducer.along)(room, BLOCK, result) };
                    tree.push(result);
                    filled = 0;
                }
            }
        });
        if filled > 0 {
            // SAFETY: the room holds `filled` terms.
            unsafe { (self.reducer.along)(room, filled, result) };
            tree.push(result);
        }
        tree.finish(result);
    }

    /// A run of outputs, WIDTH at a time: each row of terms is added to its lane for all of them.
    unsafe fn across(&self, at: &Pointers, columns: &Loop, reduced: &[Loop]) {
        let mut first = 0;
        while first < columns.extent {
            let width = WIDTH.min(columns.extent - first);
            let shift = |k: usize| at[k].wrapping_offset(first as isize * columns.steps[k]);
            let mut tile = *at;
            (tile[0], tile[1]) = (shift(0), shift(1));
            // SAFETY: the tile's columns lie within the run.
            unsafe { self.tile(&tile, columns, width, reduced) };
            first += width;
        }
    }

    unsafe fn tile(&self, at: &Pointers, columns: &Loop, width: usize, reduced: &[Loop]) {
        let mut lanes: Room<{ LANES * WIDTH }> = Room::uninit();
        let mut gathered: Room<{ ROWS * WIDTH }> = Room::uninit();
        let mut results: Room<WIDTH> = Room::uninit();
        let (lanes, gathered) = (lanes.as_mut_ptr().cast::<u8>(), gathered.as_mut_ptr().cast::<u8>());
        let results = results.as_mut_ptr().cast::<u8>();
        let row = WIDTH * self.size;
        let direct = self.in_place && columns.steps[1] == self.size as isize;
        let (inner, outer) = reduced.split_last().expect("there is something to reduce");
        let mut tree = Tree::new(self.reducer, self.size, width);
        let mut in_block = 0;
        // SAFETY: here and below, lanes, rows and results have the sizes that the reducer expects, and every
        // address read lies within the reduced loops and the columns of this tile.
        unsafe { (self.reducer.clear)(lanes) };
        walk(outer, *at, |at| {
            let mut done = 0;
            while done < inner.extent {
                let most = if direct { BLOCK } else { ROWS };
                let n = most.min(BLOCK - in_block).min(inner.extent - done);
                let from = at[1].wrapping_offset(done as isize * inner.steps[1]);
                // SAFETY: as said where the lanes are cleared.
                unsafe {
                    if direct {
                        (self.reducer.absorb)(lanes, in_block, from, inner.steps[1], n, width);
                    } else {
                        for i in 0..n {
                            let source = from.wrapping_offset(i as isize * inner.steps[1]);
                            self.read(
                                gathered.add(i * row),
                                self.size as isize,
                                source,
                                columns.steps[1],
                                width,
                            );
                        }
                        (self.reducer.absorb)(lanes, in_block, gathered, row as isize, n, width);
                    }
                }
                in_block += n;
                done += n;
                if in_block == BLOCK {
                    // SAFETY: as said where the lanes are cleared.
                    unsafe {
                        (self.reducer.collapse)(lanes, results, width);
                        (self.reducer.clear)(lanes);
                    }
                    tree.push(results);
                    in_block = 0;
                }
            }
        });
        // SAFETY: as said where the lanes are cleared.
        unsafe {
            if in_block > 0 {
                (self.reducer.collapse)(lanes, results, width);
                tree.push(results);
            }
            tree.finish(results);
            self.write(at[0], columns.steps[0], results, width);
        }
    }
}

/// Block results waiting for their partner: at most one per level, as the digits of a binary counter.
struct Tree<'a> {
    reducer: &'a Reducer,
    bytes: usize,
    width: usize,
    /// Level of each waiting result, lowest last.
    levels: SmallVec<[u32; 8]>,
    waiting: SmallVec<[[u64; 2]; 8]>,
}

impl<'a> Tree<'a> {
    fn new(reducer: &'a Reducer, size: usize, width: usize) -> Tree<'a> {
        Tree { reducer, bytes: size * width, width, levels: SmallVec::new(), waiting: SmallVec::new() }
    }

    fn slots(&self) -> usize {
        self.bytes.div_ceil(16)
    }

    /// The address of the waiting result that has so many at and above it.
    fn top(&mut self, from_top: usize) -> *mut u8 {
        let at = (self.levels.len() - from_top) * self.slots();
        self.waiting[at..].as_mut_ptr().cast()
    }

    /// Adds the results of one more block.
    fn push(&mut self, results: *const u8) {
        let slots = self.slots();
        self.waiting.extend(std::iter::repeat_n([0; 2], slots));
        self.levels.push(0);
        // SAFETY: `results` holds `bytes` bytes, and so does the top.
        unsafe { self.top(1).copy_from_nonoverlapping(results, self.bytes) };
        while let [.., a, b] = self.levels[..] {
            if a != b {
                break;
            }
            self.merge_top();
            *self.levels.last_mut().expect("one is left") = a + 1;
        }
    }

    /// Merges the newest waiting result into the one before it.
    fn merge_top(&mut self) {
        let older = self.top(2);
        let newer = older.wrapping_add(16 * self.slots());
        // SAFETY: both hold `width` results.
        unsafe { (self.reducer.merge)(older, newer, self.width) };
        self.levels.pop();
        let length = self.levels.len() * self.slots();
        self.waiting.truncate(length);
    }

    /// Merges what is left, newest first, and hands out the result.
    fn finish(&mut self, out: *mut u8) {
        while self.levels.len() > 1 {
            self.merge_top();
        }
        // SAFETY: one result of `bytes` bytes is left, and `out` has room for it.
        unsafe { out.copy_from_nonoverlapping(self.top(1), self.bytes) };
    }
}

const _: () = assert!(OPERANDS >= 2 && BLOCK.is_multiple_of(LANES));
