//! The loops of softmax over a tile: the largest elements, the sums of exponentials, the results.
//!
//! The elements of a line are added in the order that `mod.rs` describes, whether lines are walked along their elements
//! or side by side.

// Loops have indices, and what they call is inlined: see `cpu::Specialised`.
#![allow(clippy::needless_range_loop)]

use super::blocks::{last_block, load_block, load_lanes, store_block, store_lanes};
use super::exponential::{BLOCK, SoftmaxFloat};
use crate::cpu::{Specialised, dispatch_or_reference};
use crate::kernels::lines::{CHUNK, LONG_LINE, LineTile, TileKernel, TileRows, map_lanes};
use crate::kernels::maths::functions::Log;
use std::hint::black_box;
use std::marker::PhantomData;

/// Lanes that are walked together where fewer than a block are left.
const HALF_BLOCK: usize = BLOCK / 2;
/// Elements of a part.
pub(super) const PART: usize = LONG_LINE;
/// The most lanes of a tile.
pub(super) const SOFTMAX_LANES: usize = 64;
/// The cost of an element, in additions.
pub(super) const WEIGHT: usize = 8;

/// What is known of the line in each lane.
pub(super) struct SoftmaxLanes<E> {
    /// The largest element. Never NaN: a NaN shows in the sum.
    pub max: [E; SOFTMAX_LANES],
    /// The sum of the parts that are done.
    pub sum: [f64; SOFTMAX_LANES],
    /// The sum of the chunks of the current part.
    part: [f64; SOFTMAX_LANES],
    /// What results are made with, as two numbers: `max + log(sum)`, or the factor of exponentials.
    normalizer: [[E; SOFTMAX_LANES]; 2],
}

impl<E: SoftmaxFloat> SoftmaxLanes<E> {
    pub fn new() -> Self {
        let lowest = [E::LOWEST; SOFTMAX_LANES];
        SoftmaxLanes {
            max: lowest,
            sum: [0.0; SOFTMAX_LANES],
            part: [0.0; SOFTMAX_LANES],
            normalizer: [lowest; 2],
        }
    }

    /// Begins lines in the first `width` lanes.
    pub fn begin(&mut self, width: usize) {
        self.max[..width].fill(E::LOWEST);
        self.sum[..width].fill(0.0);
        self.part[..width].fill(0.0);
    }

    /// Continues lines in the first `width` lanes, from what is known of them.
    pub fn resume(&mut self, known: &Self, width: usize) {
        self.max[..width].copy_from_slice(&known.max[..width]);
        self.sum[..width].copy_from_slice(&known.sum[..width]);
        self.part[..width].copy_from_slice(&known.part[..width]);
    }

    /// Adds the sum of a chunk that ends before the position `end`.
    #[inline(always)]
    fn add(&mut self, lane: usize, chunk: f64, end: usize) {
        self.part[lane] += chunk;
        if end.is_multiple_of(PART) {
            self.sum[lane] += self.part[lane];
            self.part[lane] = 0.0;
        }
    }

    /// The sum of all that was added.
    pub fn total(&self, lane: usize) -> f64 {
        self.sum[lane] + self.part[lane]
    }
}

/// What is done to a tile, in this order.
#[derive(Clone, Copy)]
pub(super) struct SoftmaxSteps {
    /// Find the largest elements.
    find: bool,
    /// Add up the exponentials.
    sum: bool,
    /// Store the exponentials where the results will be.
    keep: bool,
    /// Write the results: made of the exponentials that were stored there if `kept`, otherwise of the elements.
    write: bool,
    kept: bool,
}

impl SoftmaxSteps {
    const NONE: SoftmaxSteps =
        SoftmaxSteps { find: false, sum: false, keep: false, write: false, kept: false };
    pub const FIND: SoftmaxSteps = SoftmaxSteps { find: true, ..SoftmaxSteps::NONE };

    pub fn sum(keep: bool) -> SoftmaxSteps {
        SoftmaxSteps { sum: true, keep, ..SoftmaxSteps::NONE }
    }

    pub fn write(kept: bool) -> SoftmaxSteps {
        SoftmaxSteps { write: true, kept, ..SoftmaxSteps::NONE }
    }

    pub fn all(keep: bool) -> SoftmaxSteps {
        SoftmaxSteps { find: true, sum: true, keep, write: true, kept: keep }
    }

    fn writes(self) -> bool {
        self.keep || self.write
    }
}

/// Takes some steps of softmax, or of `log_softmax` if `LOG`, on tiles.
pub(super) struct SoftmaxKernel<'a, E, const LOG: bool>(pub &'a mut SoftmaxLanes<E>, pub SoftmaxSteps);

impl<E: SoftmaxFloat, const LOG: bool> TileKernel for SoftmaxKernel<'_, E, LOG> {
    fn element_bytes(&self) -> usize {
        size_of::<E>()
    }

    fn is_indexed(&self) -> bool {
        false
    }

    fn writes(&self) -> bool {
        self.1.writes()
    }

    unsafe fn run(&mut self, tile: &LineTile) {
        let size = size_of::<E>() as isize;
        let contiguous = tile.from.step == size && (!self.writes() || tile.to.step == size);
        // SAFETY: the contract of `TileKernel::run`; a tile of one lane whose rows are adjacent is a contiguous line.
        unsafe { self.pass(tile, (tile.width == 1 && contiguous).then_some([0; 2])) }
    }
}

impl<E: SoftmaxFloat, const LOG: bool> SoftmaxKernel<'_, E, LOG> {
    /// Works on one tile. With `line_steps`, the elements of every lane are contiguous, and those are the bytes from
    /// lane to lane in output and input.
    ///
    /// # Safety
    /// Without `line_steps`, the contract of [`TileKernel::run`]. With them, `tile.from.start + lane * line_steps[1]`
    /// has `rows` readable elements for each `lane < width`, and `tile.to.start + lane * line_steps[0]` as
    /// many writable ones if the steps write; the two are the same or do not overlap.
    pub unsafe fn pass(&mut self, tile: &LineTile, line_steps: Option<[isize; 2]>) {
        assert!(tile.width <= SOFTMAX_LANES && tile.position.is_multiple_of(CHUNK));
        let pass = SoftmaxPass::<E, LOG> { lanes: self.0, steps: self.1, tile, line_steps };
        dispatch_or_reference(pass)
    }
}

/// One call of [`SoftmaxKernel::pass`], whose contract its fields keep.
struct SoftmaxPass<'a, E, const LOG: bool> {
    lanes: &'a mut SoftmaxLanes<E>,
    steps: SoftmaxSteps,
    tile: &'a LineTile,
    /// Bytes from line to line of output and input, if the elements of a line are contiguous.
    line_steps: Option<[isize; 2]>,
}

/// Makes the compiler put the code of a pass into this module: see [`Specialised::Home`].
struct SoftmaxHome<E, const LOG: bool>(PhantomData<E>);

impl<E: SoftmaxFloat, const LOG: bool> Specialised for SoftmaxPass<'_, E, LOG> {
    type Home = SoftmaxHome<E, LOG>;
    const WIDE: bool = true;

    #[inline(always)]
    fn compute<const FAST: bool>(mut self) {
        let (width, mut lane) = (self.tile.width, 0);
        // SAFETY: the contract of `SoftmaxKernel::pass`; the lanes passed on are below `width`.
        unsafe {
            if let Some(line_steps) = self.line_steps {
                return self.along::<FAST>(line_steps);
            }
            // The baseline is not worth the code of more than one width.
            if const { FAST } {
                while lane + BLOCK <= width {
                    self.across::<BLOCK, false, FAST>(lane, BLOCK);
                    lane += BLOCK;
                }
                if lane + HALF_BLOCK <= width {
                    self.across::<HALF_BLOCK, false, FAST>(lane, HALF_BLOCK);
                    lane += HALF_BLOCK;
                }
            }
            while lane < width {
                let count = HALF_BLOCK.min(width - lane);
                self.across::<HALF_BLOCK, true, FAST>(lane, count);
                lane += count;
            }
        }
    }
}

impl<E: SoftmaxFloat, const LOG: bool> SoftmaxPass<'_, E, LOG> {
    /// Works on lines whose elements are contiguous. Takes each step in all lines before the next step: a step waits
    /// for the one before it in its own line, not for those in other lines.
    ///
    /// # Safety
    /// The contract of [`SoftmaxKernel::pass`] with `line_steps`.
    #[inline(always)]
    unsafe fn along<const FAST: bool>(&mut self, [to_step, from_step]: [isize; 2]) {
        let LineTile { width, from, to, .. } = *self.tile;
        let steps = self.steps;
        let line = |start: *mut u8, lane: usize, step: isize| {
            start.wrapping_offset(lane as isize * step).cast::<E>()
        };
        // SAFETY: `lane < width`, so that `from` and `to` have the elements of the line by this function's contract.
        unsafe {
            let mut lane = 0;
            while steps.find && lane < width {
                let other = self.lanes.max[lane];
                self.lanes.max[lane] = largest(line(from.start, lane, from_step), self.tile.rows, other);
                lane += 1;
            }
            lane = 0;
            while steps.sum && lane < width {
                self.add_up::<FAST>(lane, line(from.start, lane, from_step), line(to.start, lane, to_step));
                lane += 1;
            }
            lane = 0;
            while steps.write && lane < width {
                self.normalize::<FAST>(lane);
                lane += HALF_BLOCK;
            }
            lane = 0;
            while steps.write && lane < width {
                let to = line(to.start, lane, to_step);
                if steps.kept {
                    self.write::<true, FAST>(lane, to, to);
                } else {
                    self.write::<false, FAST>(lane, line(from.start, lane, from_step), to);
                }
                if self.is_nan(lane) {
                    fill_nan(self.tile.rows, |row| to.add(row));
                }
                lane += 1;
            }
        }
    }

    /// Adds up the exponentials of a contiguous line.
    ///
    /// # Safety
    /// `from` has `rows` readable elements, and `to` as many writable ones if exponentials are kept.
    #[inline(always)]
    unsafe fn add_up<const FAST: bool>(&mut self, lane: usize, from: *const E, to: *mut E) {
        let LineTile { rows, position, .. } = *self.tile;
        let max = [self.lanes.max[lane]; BLOCK];
        // SAFETY: `from` has `rows` elements by this function's contract.
        let last = unsafe { last_block(from, rows) };
        let last = black_box(&last).as_ptr();
        let mut first = 0;
        while first < rows {
            let end = rows.min(first + CHUNK);
            let mut sums = [[0.0]; BLOCK];
            while first < end {
                let skip = (first + BLOCK).saturating_sub(end);
                // SAFETY: `first < rows`, and a block ends at `rows` or is `last`; `skip < BLOCK`, so that the factors
                // are within their array.
                unsafe {
                    let terms = E::scaled_exp::<BLOCK, FAST>(load_block(from, first, skip, last), &max);
                    // Clears terms of the block before. None is infinite; if one is NaN, so is the sum.
                    let factors = E::TAIL_FACTORS.0.as_ptr().add(BLOCK - skip).cast::<[E; BLOCK]>().read();
                    for j in 0..BLOCK {
                        sums[j][0] += terms[j].mul(factors[j]).wide();
                    }
                    if self.steps.keep {
                        store_block(to, first, rows, terms);
                    }
                }
                first += BLOCK;
            }
            // Hidden, or the compiler would keep the sums in pairs, as the tree adds them.
            let sum = tree(&black_box(sums))[0] * E::exp_scale::<FAST>();
            self.lanes.add(lane, sum, position + end);
        }
    }

    /// Writes the results of a contiguous line.
    ///
    /// # Safety
    /// `from` has `rows` readable elements, and `to` as many writable ones.
    #[inline(always)]
    unsafe fn write<const KEPT: bool, const FAST: bool>(&self, lane: usize, from: *const E, to: *mut E) {
        let rows = self.tile.rows;
        let SoftmaxLanes { max, normalizer: [hi, lo], .. } = &*self.lanes;
        let (max, normalizer) = ([max[lane]; BLOCK], [[hi[lane]; BLOCK], [lo[lane]; BLOCK]]);
        // SAFETY: `first < rows`, and both have `rows` elements by this function's contract.
        unsafe {
            let last = last_block(from, rows);
            let last = black_box(&last).as_ptr();
            let mut first = 0;
            while first < rows {
                let x = load_block(from, first, (first + BLOCK).saturating_sub(rows), last);
                store_block(to, first, rows, Self::results::<BLOCK, KEPT, FAST>(x, &max, &normalizer));
                first += BLOCK;
            }
        }
    }

    /// Works on `L` lines side by side, or on the first `count` of them if `PARTIAL`.
    ///
    /// # Safety
    /// The contract of [`TileKernel::run`], and `lane + count <= tile.width`; `count` is `L` unless `PARTIAL`, and at
    /// least 1.
    #[inline(always)]
    unsafe fn across<const L: usize, const PARTIAL: bool, const FAST: bool>(
        &mut self,
        lane: usize,
        count: usize,
    ) {
        let LineTile { rows, position, from, to, .. } = *self.tile;
        let steps = self.steps;
        let mut max: [E; L] =
            *self.lanes.max[lane..].first_chunk().expect("a tile has at most SOFTMAX_LANES lanes");
        // SAFETY: `row < rows`, and the lanes are within the tile by this function's contract.
        unsafe {
            let mut row = 0;
            while steps.find && row < rows {
                max = larger(load_lanes::<E, L, PARTIAL>(from.at(row, lane), count), max);
                row += 1;
            }
            *self.lanes.max[lane..].first_chunk_mut().expect("a tile has at most SOFTMAX_LANES lanes") = max;
            // Hidden, or the compiler would find the largest element of each lane only where it is used below, one by
            // one.
            let max = black_box(max);
            let mut row = 0;
            while steps.sum && row < rows {
                let end = rows.min(row + CHUNK);
                let mut sums = [[0.0; L]; BLOCK];
                while row < end {
                    let x = load_lanes::<E, L, PARTIAL>(from.at(row, lane), count);
                    let terms = E::scaled_exp::<L, FAST>(x, &max);
                    // The rows of an incomplete last block are added to the last sums.
                    let skip = (row / BLOCK * BLOCK + BLOCK).saturating_sub(end);
                    let sum = &mut sums[(row + skip) % BLOCK];
                    for j in 0..L {
                        sum[j] += terms[j].wide();
                    }
                    if steps.keep {
                        store_lanes::<E, L, PARTIAL>(to.at(row, lane), terms, count);
                    }
                    row += 1;
                }
                let sums = tree(&sums);
                for j in 0..count {
                    self.lanes.add(lane + j, sums[j] * E::exp_scale::<FAST>(), position + end);
                }
            }
            if !steps.write {
                return;
            }
            self.normalize::<FAST>(lane);
            if const { L > HALF_BLOCK } {
                self.normalize::<FAST>(lane + HALF_BLOCK);
            }
            let mut normalizer = [[E::LOWEST; L]; 2];
            for k in 0..2 {
                let numbers = &self.lanes.normalizer[k][lane..];
                normalizer[k] = *numbers.first_chunk().expect("a tile has at most SOFTMAX_LANES lanes");
            }
            if steps.kept {
                self.write_across::<L, PARTIAL, true, FAST>(to, (lane, count), &max, &normalizer);
            } else {
                self.write_across::<L, PARTIAL, false, FAST>(from, (lane, count), &max, &normalizer);
            }
            for lane in lane..lane + count {
                if self.is_nan(lane) {
                    fill_nan(rows, |row| to.at::<E>(row, lane));
                }
            }
        }
    }

    /// Whether the results of a line are NaN: a NaN among its elements, or an infinite largest one, shows in the sum.
    #[inline(always)]
    fn is_nan(&self, lane: usize) -> bool {
        self.lanes.total(lane).is_nan()
    }

    /// Writes the results of `L` lines side by side, or of the first `count` if `PARTIAL`.
    ///
    /// # Safety
    /// The contract of `across`; `from` is the tile's `from` or `to`.
    #[inline(always)]
    unsafe fn write_across<const L: usize, const PARTIAL: bool, const KEPT: bool, const FAST: bool>(
        &self,
        from: TileRows,
        (lane, count): (usize, usize),
        max: &[E; L],
        normalizer: &[[E; L]; 2],
    ) {
        for row in 0..self.tile.rows {
            // SAFETY: `row < rows`, and the lanes are within the tile by this function's contract.
            unsafe {
                let x = load_lanes::<E, L, PARTIAL>(from.at(row, lane), count);
                let results = Self::results::<L, KEPT, FAST>(x, max, normalizer);
                store_lanes::<E, L, PARTIAL>(self.tile.to.at(row, lane), results, count);
            }
        }
    }

    /// Finds the normalizers of HALF_BLOCK lanes from their sums.
    #[inline(always)]
    fn normalize<const FAST: bool>(&mut self, lane: usize) {
        let mut sums = [0.0; HALF_BLOCK];
        for j in 0..HALF_BLOCK {
            sums[j] = self.lanes.total(lane + j);
        }
        if LOG {
            sums = map_lanes::<Log, f64, HALF_BLOCK, FAST>(sums);
        }
        for j in 0..HALF_BLOCK {
            let normalizer = if LOG {
                E::split_sum(self.lanes.max[lane + j], sums[j])
            } else {
                E::split_factor(E::exp_scale::<FAST>() / sums[j])
            };
            [self.lanes.normalizer[0][lane + j], self.lanes.normalizer[1][lane + j]] = normalizer;
        }
    }

    /// Results: of exponentials if they were `KEPT`, otherwise of elements. `KEPT` is a constant, because the compiler
    /// would mix the code for both cases.
    #[inline(always)]
    fn results<const L: usize, const KEPT: bool, const FAST: bool>(
        mut x: [E; L],
        max: &[E; L],
        normalizer: &[[E; L]; 2],
    ) -> [E; L] {
        if const { LOG } {
            for j in 0..L {
                x[j] = x[j].minus([normalizer[0][j], normalizer[1][j]]);
            }
            return x;
        }
        if const { !KEPT } {
            x = E::scaled_exp::<L, FAST>(x, max);
        }
        for j in 0..L {
            x[j] = x[j].times::<FAST>([normalizer[0][j], normalizer[1][j]]);
        }
        x
    }
}

/// Writes the NaN that all results of a line are. Which sign a computed NaN has depends on the order of operands, which the
/// compiler chooses for each loop.
///
/// # Safety
/// `at(row)` is a writable element for each `row < rows`.
#[cold]
unsafe fn fill_nan<E: SoftmaxFloat>(rows: usize, at: impl Fn(usize) -> *mut E) {
    for row in 0..rows {
        // SAFETY: the contract above.
        unsafe { at(row).write(E::NAN) };
    }
}

/// The larger number of each lane; `max` if one of the two is NaN.
#[inline(always)]
pub(super) fn larger<E: SoftmaxFloat, const L: usize>(x: [E; L], mut max: [E; L]) -> [E; L] {
    for j in 0..L {
        max[j] = if x[j] > max[j] { x[j] } else { max[j] };
    }
    max
}

/// The largest of `n` elements and another. Four blocks at once, because each comparison waits for the one before.
///
/// # Safety
/// `from` has `n` readable elements.
#[inline(always)]
unsafe fn largest<E: SoftmaxFloat>(from: *const E, n: usize, other: E) -> E {
    // Four names, because the compiler would leave an array of four in memory.
    let [mut a, mut b, mut c, mut d] = [[other; BLOCK]; 4];
    let mut first = 0;
    // SAFETY: whole blocks end at `n` or before, by the conditions; `from` has `n` elements by this function's
    // contract.
    unsafe {
        while first + 4 * BLOCK <= n {
            let blocks = from.add(first).cast::<[E; BLOCK]>();
            a = larger(blocks.read_unaligned(), a);
            b = larger(blocks.add(1).read_unaligned(), b);
            c = larger(blocks.add(2).read_unaligned(), c);
            d = larger(blocks.add(3).read_unaligned(), d);
            first += 4 * BLOCK;
        }
        let last = last_block(from, n);
        let last = black_box(&last).as_ptr();
        while first < n {
            let x = load_block(from, first, (first + BLOCK).saturating_sub(n), last);
            a = larger(x, a);
            first += BLOCK;
        }
    }
    let mut found = larger(larger(a, b), larger(c, d));
    let mut half = BLOCK / 2;
    while half > 0 {
        for i in 0..half {
            found[i] = if found[i + half] > found[i] { found[i + half] } else { found[i] };
        }
        half /= 2;
    }
    found[0]
}

/// The sum of the 16 sums of a chunk, in each lane. From array to array, each of which stays in registers.
#[inline(always)]
fn tree<const L: usize>(sums: &[[f64; L]; BLOCK]) -> [f64; L] {
    let eight: [[f64; L]; 8] = halved(sums);
    let four: [[f64; L]; 4] = halved(&eight);
    let two: [[f64; L]; 2] = halved(&four);
    let [one] = halved(&two);
    one
}

/// Adds the second half of some sums to the first half.
#[inline(always)]
fn halved<const L: usize, const N: usize, const HALF: usize>(sums: &[[f64; L]; N]) -> [[f64; L]; HALF] {
    let mut halved = [[0.0; L]; HALF];
    for i in 0..HALF {
        for j in 0..L {
            halved[i][j] = sums[i][j] + sums[i + HALF][j];
        }
    }
    halved
}
