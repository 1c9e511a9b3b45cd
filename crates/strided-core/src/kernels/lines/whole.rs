//! Functions that need a whole line before they write: its largest element, and then the sum of the exponentials of
//! what its elements are above that one.
//!
//! The sum is taken in float64, in an order that follows from positions alone: 16 sums of every 16th element of a
//! chunk (a last block of fewer than 16 goes to the last sums), which are added as a tree; the sums of the chunks of a
//! part, one after the other; and the sums of the parts.
//! So lines can be walked along their elements or side by side, and their parts by several threads.

// Loops have indices, and what they call is inlined: see `cpu::Task`.
#![allow(clippy::needless_range_loop)]

use super::block::{block, last, put, read, write};
use super::exponent::{BLOCK, Exponent};
use super::functions::of_each;
use super::scan::{CHUNK, Frame, Rows, Walk};
use super::{FEW, LONG};
use crate::cpu::{self, Task, dispatch};
use crate::kernels::maths::rows::Log;
use std::hint::black_box;
use std::marker::PhantomData;

/// Lanes that are walked at once where there are fewer than a block.
const HALF: usize = BLOCK / 2;
/// Elements of a part.
pub(super) const PART: usize = LONG;
/// The most lanes.
pub(super) const MOST: usize = FEW;
/// What an element costs next to an addition.
pub(super) const WEIGHT: usize = 8;

/// What is known of the line in each lane.
pub(super) struct Lanes<E> {
    /// The largest element. NaN never is: it makes the sum NaN.
    pub most: [E; MOST],
    /// The sum of the parts that are done, and of the chunks of the present one.
    pub sum: [f64; MOST],
    part: [f64; MOST],
    /// What results are made with: what they are above, or what exponentials are multiplied with.
    words: [[E; MOST]; 2],
}

impl<E: Exponent> Lanes<E> {
    pub fn new() -> Self {
        let none = [E::LOWEST; MOST];
        Lanes { most: none, sum: [0.0; MOST], part: [0.0; MOST], words: [none; 2] }
    }

    /// Begins lines in the first lanes.
    pub fn begin(&mut self, width: usize) {
        self.most[..width].fill(E::LOWEST);
        self.sum[..width].fill(0.0);
        self.part[..width].fill(0.0);
    }

    /// Goes on in the first lanes with what others know.
    pub fn resume(&mut self, known: &Self, width: usize) {
        self.most[..width].copy_from_slice(&known.most[..width]);
        self.sum[..width].copy_from_slice(&known.sum[..width]);
        self.part[..width].copy_from_slice(&known.part[..width]);
    }

    /// Ends a chunk before that position.
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
pub(super) struct Steps {
    /// Find the largest elements.
    find: bool,
    /// Add up the exponentials …
    sum: bool,
    /// … and leave them where the results will be.
    keep: bool,
    /// Make the results: of what was left there, or of the elements.
    make: bool,
    kept: bool,
}

impl Steps {
    const NONE: Steps = Steps { find: false, sum: false, keep: false, make: false, kept: false };
    pub const FIND: Steps = Steps { find: true, ..Steps::NONE };

    pub fn sum(keep: bool) -> Steps {
        Steps { sum: true, keep, ..Steps::NONE }
    }

    pub fn make(kept: bool) -> Steps {
        Steps { make: true, kept, ..Steps::NONE }
    }

    pub fn all(keep: bool) -> Steps {
        Steps { find: true, sum: true, keep, make: true, kept: keep }
    }

    fn emits(self) -> bool {
        self.keep || self.make
    }
}

/// A walk over tiles; `LOG` says that logarithms are wanted.
pub(super) struct Whole<'a, E, const LOG: bool>(pub &'a mut Lanes<E>, pub Steps);

impl<E: Exponent, const LOG: bool> Walk for Whole<'_, E, LOG> {
    type E = E;
    const INDEXED: bool = false;

    fn emits(&self) -> bool {
        self.1.emits()
    }

    unsafe fn walk(&mut self, frame: &Frame) {
        let size = size_of::<E>() as isize;
        let dense = frame.from.step == size && (!self.emits() || frame.to.step == size);
        // SAFETY: the caller's promise.
        unsafe { self.pass(frame, (frame.width == 1 && dense).then_some([0; 2])) }
    }
}

impl<E: Exponent, const LOG: bool> Whole<'_, E, LOG> {
    /// # Safety
    /// The promise of [`Walk::walk`]; with `along`, the elements of every lane are
    /// neighbours, the lines so many bytes apart.
    pub unsafe fn pass(&mut self, frame: &Frame, along: Option<[isize; 2]>) {
        assert!(frame.width <= MOST && frame.at.is_multiple_of(CHUNK));
        let pass = Pass::<E, LOG> { lanes: self.0, steps: self.1, frame, along };
        if cpu::reference_kernels() { pass.run::<false>() } else { dispatch(pass) }
    }
}

struct Pass<'a, E, const LOG: bool> {
    lanes: &'a mut Lanes<E>,
    steps: Steps,
    frame: &'a Frame,
    /// Bytes from line to line of output and input, if the elements of a line are neighbours.
    along: Option<[isize; 2]>,
}

/// Where a pass is compiled.
struct Home<E, const LOG: bool>(PhantomData<E>);

impl<E: Exponent, const LOG: bool> Task for Pass<'_, E, LOG> {
    type Home = Home<E, LOG>;
    const WIDE: bool = true;

    #[inline(always)]
    fn run<const FAST: bool>(mut self) {
        let (width, mut lane) = (self.frame.width, 0);
        // SAFETY: the promise of `pass`.
        unsafe {
            if let Some(along) = self.along {
                return self.lines::<FAST>(along);
            }
            while lane + BLOCK <= width {
                self.across::<BLOCK, false, FAST>(lane, BLOCK);
                lane += BLOCK;
            }
            if lane + HALF <= width {
                self.across::<HALF, false, FAST>(lane, HALF);
                lane += HALF;
            }
            if lane < width {
                self.across::<HALF, true, FAST>(lane, width - lane);
            }
        }
    }
}

impl<E: Exponent, const LOG: bool> Pass<'_, E, LOG> {
    /// Lines whose elements are neighbours. Each step in all of them, before the next one: a step waits for the one
    /// before in its line, and for nothing in the others.
    ///
    /// # Safety
    /// The promise of [`Whole::pass`].
    #[inline(always)]
    unsafe fn lines<const FAST: bool>(&mut self, [output, input]: [isize; 2]) {
        let Frame { width, from, to, .. } = *self.frame;
        let steps = self.steps;
        let place = |start: *mut u8, lane: usize, step: isize| {
            start.wrapping_offset(lane as isize * step).cast::<E>()
        };
        // SAFETY: the caller's promise.
        unsafe {
            let mut lane = 0;
            while steps.find && lane < width {
                let other = self.lanes.most[lane];
                self.lanes.most[lane] = largest(place(from.start, lane, input), self.frame.rows, other);
                lane += 1;
            }
            lane = 0;
            while steps.sum && lane < width {
                self.add_up::<FAST>(lane, place(from.start, lane, input), place(to.start, lane, output));
                lane += 1;
            }
            lane = 0;
            while steps.make && lane < width {
                self.find_words::<FAST>(lane);
                lane += HALF;
            }
            lane = 0;
            while steps.make && lane < width {
                let to = place(to.start, lane, output);
                if steps.kept {
                    self.make::<true, FAST>(lane, to, to);
                } else {
                    self.make::<false, FAST>(lane, place(from.start, lane, input), to);
                }
                lane += 1;
            }
        }
    }

    /// Adds up the exponentials of a line.
    ///
    /// # Safety
    /// So many elements as the frame has rows are there, and room for them if exponentials are kept.
    #[inline(always)]
    unsafe fn add_up<const FAST: bool>(&mut self, lane: usize, from: *const E, to: *mut E) {
        let Frame { rows, at, .. } = *self.frame;
        let most = [self.lanes.most[lane]; BLOCK];
        // SAFETY: the caller's promise.
        let last = unsafe { last(from, rows) };
        let last = black_box(&last).as_ptr();
        let mut first = 0;
        while first < rows {
            let end = rows.min(first + CHUNK);
            let mut sums = [[0.0]; BLOCK];
            while first < end {
                let skip = (first + BLOCK).saturating_sub(end);
                // SAFETY: the caller's promise.
                unsafe {
                    let terms = E::above::<BLOCK, FAST>(block(from, first, skip, last), &most);
                    // Those of the block before count nothing. None is infinite, and if one is NaN so is the sum.
                    let shares = E::SHARES.0.as_ptr().add(BLOCK - skip).cast::<[E; BLOCK]>().read();
                    for j in 0..BLOCK {
                        sums[j][0] += terms[j].mul(shares[j]).wide();
                    }
                    if self.steps.keep {
                        put(to, first, rows, terms);
                    }
                }
                first += BLOCK;
            }
            // Hidden, or the compiler would make the sums in pairs, as they are added at last.
            let sum = tree(&black_box(sums))[0] * E::lowered::<FAST>();
            self.lanes.add(lane, sum, at + end);
        }
    }

    /// Makes the results of a line.
    ///
    /// # Safety
    /// So many elements as the frame has rows are there, and room for as many results.
    #[inline(always)]
    unsafe fn make<const KEPT: bool, const FAST: bool>(&self, lane: usize, from: *const E, to: *mut E) {
        let rows = self.frame.rows;
        let Lanes { most, words, .. } = &*self.lanes;
        let (most, words) = ([most[lane]; BLOCK], [[words[0][lane]; BLOCK], [words[1][lane]; BLOCK]]);
        // SAFETY: the caller's promise.
        unsafe {
            let last = last(from, rows);
            let last = black_box(&last).as_ptr();
            let mut first = 0;
            while first < rows {
                let x = block(from, first, (first + BLOCK).saturating_sub(rows), last);
                put(to, first, rows, Self::made::<BLOCK, KEPT, FAST>(x, &most, &words));
                first += BLOCK;
            }
        }
    }

    /// L lines side by side, or fewer if `PART`.
    ///
    /// # Safety
    /// The promise of [`Walk::walk`].
    #[inline(always)]
    unsafe fn across<const L: usize, const PART: bool, const FAST: bool>(
        &mut self,
        lane: usize,
        count: usize,
    ) {
        let Frame { rows, at, from, to, .. } = *self.frame;
        let steps = self.steps;
        let mut most: [E; L] = *self.lanes.most[lane..].first_chunk().expect("the lanes are there");
        // SAFETY: the caller's promise.
        unsafe {
            let mut row = 0;
            while steps.find && row < rows {
                most = larger(read::<E, L, PART>(from.at(row, lane), count), most);
                row += 1;
            }
            *self.lanes.most[lane..].first_chunk_mut().expect("the lanes are there") = most;
            // Hidden, or the compiler would find each lane's as it is used below: one by one.
            let most = black_box(most);
            let mut row = 0;
            while steps.sum && row < rows {
                let end = rows.min(row + CHUNK);
                let mut sums = [[0.0; L]; BLOCK];
                while row < end {
                    let terms = E::above::<L, FAST>(read::<E, L, PART>(from.at(row, lane), count), &most);
                    let skip = (row / BLOCK * BLOCK + BLOCK).saturating_sub(end);
                    let sum = &mut sums[(row + skip) % BLOCK];
                    for j in 0..L {
                        sum[j] += terms[j].wide();
                    }
                    if steps.keep {
                        write::<E, L, PART>(to.at(row, lane), terms, count);
                    }
                    row += 1;
                }
                let sums = tree(&sums);
                for j in 0..count {
                    self.lanes.add(lane + j, sums[j] * E::lowered::<FAST>(), at + end);
                }
            }
            if !steps.make {
                return;
            }
            self.find_words::<FAST>(lane);
            if const { L > HALF } {
                self.find_words::<FAST>(lane + HALF);
            }
            let mut words = [[E::LOWEST; L]; 2];
            for k in 0..2 {
                words[k] = *self.lanes.words[k][lane..].first_chunk().expect("the lanes are there");
            }
            if steps.kept {
                self.make_across::<L, PART, true, FAST>(to, (lane, count), &most, &words);
            } else {
                self.make_across::<L, PART, false, FAST>(from, (lane, count), &most, &words);
            }
        }
    }

    /// Makes the results of L lines side by side, or of fewer.
    ///
    /// # Safety
    /// The promise of [`Walk::walk`].
    #[inline(always)]
    unsafe fn make_across<const L: usize, const PART: bool, const KEPT: bool, const FAST: bool>(
        &self,
        from: Rows,
        (lane, count): (usize, usize),
        most: &[E; L],
        words: &[[E; L]; 2],
    ) {
        for row in 0..self.frame.rows {
            // SAFETY: the caller's promise.
            unsafe {
                let x = read::<E, L, PART>(from.at(row, lane), count);
                let made = Self::made::<L, KEPT, FAST>(x, most, words);
                write::<E, L, PART>(self.frame.to.at(row, lane), made, count);
            }
        }
    }

    /// Finds what the results of a few lanes are made with.
    #[inline(always)]
    fn find_words<const FAST: bool>(&mut self, lane: usize) {
        let mut sums = [0.0; HALF];
        for j in 0..HALF {
            sums[j] = self.lanes.total(lane + j);
        }
        if LOG {
            sums = of_each::<Log, f64, HALF, FAST>(sums);
        }
        for j in 0..HALF {
            let words = if LOG {
                E::sum(self.lanes.most[lane + j], sums[j])
            } else {
                E::factor(E::lowered::<FAST>() / sums[j])
            };
            [self.lanes.words[0][lane + j], self.lanes.words[1][lane + j]] = words;
        }
    }

    /// Results: of exponentials if they were `KEPT`, or of elements. A constant, because code for both would be mixed.
    #[inline(always)]
    fn made<const L: usize, const KEPT: bool, const FAST: bool>(
        mut x: [E; L],
        most: &[E; L],
        words: &[[E; L]; 2],
    ) -> [E; L] {
        if const { LOG } {
            for j in 0..L {
                x[j] = x[j].beyond([words[0][j], words[1][j]]);
            }
            return x;
        }
        if const { !KEPT } {
            x = E::above::<L, FAST>(x, most);
        }
        for j in 0..L {
            x[j] = x[j].times::<FAST>([words[0][j], words[1][j]]);
        }
        x
    }
}

/// The larger one in each lane; that of the second if one of them is NaN.
#[inline(always)]
pub(super) fn larger<E: Exponent, const L: usize>(x: [E; L], mut most: [E; L]) -> [E; L] {
    for j in 0..L {
        most[j] = if x[j] > most[j] { x[j] } else { most[j] };
    }
    most
}

/// The largest of some elements and another. Four blocks at once, because each waits for the one before.
///
/// # Safety
/// The elements are there.
#[inline(always)]
unsafe fn largest<E: Exponent>(from: *const E, n: usize, other: E) -> E {
    // Four names, because the compiler would leave an array of four in memory.
    let [mut a, mut b, mut c, mut d] = [[other; BLOCK]; 4];
    let mut first = 0;
    // SAFETY: the caller's promise.
    unsafe {
        while first + 4 * BLOCK <= n {
            let blocks = from.add(first).cast::<[E; BLOCK]>();
            a = larger(blocks.read_unaligned(), a);
            b = larger(blocks.add(1).read_unaligned(), b);
            c = larger(blocks.add(2).read_unaligned(), c);
            d = larger(blocks.add(3).read_unaligned(), d);
            first += 4 * BLOCK;
        }
        let last = last(from, n);
        let last = black_box(&last).as_ptr();
        while first < n {
            let x = block(from, first, (first + BLOCK).saturating_sub(n), last);
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

/// The sum of the sums of a chunk, in each lane. From array to array, each of which stays in registers.
#[inline(always)]
fn tree<const L: usize>(sums: &[[f64; L]; BLOCK]) -> [f64; L] {
    let eight: [[f64; L]; 8] = halved(sums);
    let four: [[f64; L]; 4] = halved(&eight);
    let two: [[f64; L]; 2] = halved(&four);
    let [one] = halved(&two);
    one
}

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
