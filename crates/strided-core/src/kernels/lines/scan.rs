//! A function of lines as a chain of steps, and the loop that runs it over neighbouring lanes.
//!
//! A line is cut into chunks of [`CHUNK`] elements, by position alone. What comes before a chunk is its carry; inside,
//! a state is stepped from element to element. A lane is a chunk: of one of several lines, or one of several chunks
//! of a single line. Both ways take the same steps, and so give the same bits.

use crate::cpu::{self, Task, dispatch};
use crate::scalar::{Element, Num};
use std::ops::Range;

/// Elements of a chunk.
pub(super) const CHUNK: usize = 256;
/// Lanes whose states stay in registers.
pub(super) const NARROW: usize = 16;
/// Rows through which a block of lanes is stepped before the next one.
const BAND: usize = 16;
/// The most lanes of a tile.
pub(super) const WIDE: usize = 256;

/// A function from a line to a line, with a state of `K` numbers.
pub trait Scan<const K: usize>: 'static {
    /// What tiles hold: inputs are cast to it, results are cast from it.
    type E: Element;
    /// What is accumulated.
    type T: Num;
    /// Whether there is a second result: a position.
    const INDEXED: bool = false;
    /// What an element costs next to an addition.
    const WEIGHT: usize = 1;

    /// The carry of a line's first chunk.
    const START: [Self::T; K];

    /// The state before the first element of a chunk.
    fn begin(carry: [Self::T; K]) -> [Self::T; K];

    /// The state after one more element in each lane, which stands at that position of its line. A chunk that is
    /// `ALONE` has no other before it or behind it: what serves those may be left out, here and below.
    fn step<const L: usize, const ALONE: bool, const FAST: bool>(
        state: &mut [[Self::T; L]; K],
        x: [Self::E; L],
        at: [Self::T; L],
    );

    /// The results at the last elements.
    fn emit<const L: usize, const ALONE: bool, const FAST: bool>(
        carry: &[[Self::T; L]; K],
        state: &[[Self::T; L]; K],
        x: [Self::E; L],
    ) -> [Self::E; L];

    /// The positions at the last elements.
    #[inline(always)]
    fn index<const L: usize, const ALONE: bool>(_: &[[Self::T; L]; K], _: &[[Self::T; L]; K]) -> [i64; L] {
        [0; L]
    }

    /// A position as a number.
    #[inline(always)]
    fn place(_: usize) -> Self::T {
        Self::T::ZERO
    }

    /// Whether lines may be walked by leaps ([`super::leap`]): chunks make no difference, so that there are no carries, and
    /// it is worth it.
    const LEAPS: bool = false;

    /// Whether neighbouring elements leave the state as it is.
    #[inline(always)]
    fn stays<const L: usize>(_: &[[Self::T; 1]; K], _: &[Self::E; L]) -> bool {
        false
    }

    /// Whether the state after each of neighbouring elements is that of its element alone.
    #[inline(always)]
    fn follows<const L: usize>(_: &[[Self::T; 1]; K], _: &[Self::E; L]) -> bool {
        false
    }

    /// The carry of the next chunk.
    fn end(carry: [Self::T; K], state: [Self::T; K]) -> [Self::T; K];

    /// Whether `end` may be asked with a state that began with START in place of this carry.
    #[inline(always)]
    fn stands_alone(_carry: [Self::T; K], _state: [Self::T; K]) -> bool {
        true
    }
}

/// Carries and states of the lanes of a tile.
pub(super) struct Lanes<S: Scan<K>, const K: usize> {
    carry: [[S::T; WIDE]; K],
    state: [[S::T; WIDE]; K],
}

impl<S: Scan<K>, const K: usize> Lanes<S, K> {
    pub fn new(carry: [S::T; K]) -> Self {
        Lanes { carry: carry.map(|v| [v; WIDE]), state: S::begin(carry).map(|v| [v; WIDE]) }
    }

    /// The carry of a lane.
    pub fn carry(&self, lane: usize) -> [S::T; K] {
        std::array::from_fn(|k| self.carry[k][lane])
    }

    /// The state of a lane.
    pub fn state(&self, lane: usize) -> [S::T; K] {
        std::array::from_fn(|k| self.state[k][lane])
    }

    /// Begins a chunk in a lane.
    pub fn begin(&mut self, lane: usize, carry: [S::T; K]) {
        let state = S::begin(carry);
        for k in 0..K {
            self.carry[k][lane] = carry[k];
            self.state[k][lane] = state[k];
        }
    }

    /// Begins chunks in the first lanes, all with one carry.
    pub fn begin_alike(&mut self, width: usize, carry: [S::T; K]) {
        let state = S::begin(carry);
        for k in 0..K {
            self.carry[k][..width].fill(carry[k]);
            self.state[k][..width].fill(state[k]);
        }
    }

    /// Begins chunks in the first lanes.
    pub fn begin_all(&mut self, width: usize, carry: impl Fn(usize) -> [S::T; K]) {
        (0..width).for_each(|lane| self.begin(lane, carry(lane)));
    }

    /// Ends the chunks of the first lanes, and begins the next ones.
    pub fn turn(&mut self, width: usize) {
        for lane in 0..width {
            self.begin(lane, S::end(self.carry(lane), self.state(lane)));
        }
    }
}

/// Rows of adjacent lanes, one for each position.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub start: *mut u8,
    /// Bytes from one position to the next.
    pub step: isize,
}

impl Rows {
    pub const NONE: Rows = Rows { start: std::ptr::null_mut(), step: 0 };

    #[inline(always)]
    pub fn at<T>(self, row: usize, lane: usize) -> *mut T {
        self.start.wrapping_offset(row as isize * self.step).cast::<T>().wrapping_add(lane)
    }
}

/// What a pass runs over.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub from: Rows,
    pub to: Rows,
    pub indices: Rows,
    /// The position of the first row in the first lane …
    pub at: usize,
    /// … and how much further each lane is than the one before.
    pub spread: usize,
    pub rows: usize,
    pub width: usize,
}

/// What goes over the tiles of a strip, one after the other.
pub(super) trait Walk {
    type E: Element;
    /// Whether positions are written, too.
    const INDEXED: bool;

    /// Whether results are written.
    fn emits(&self) -> bool;

    /// Goes over one tile.
    ///
    /// # Safety
    /// `from` has rows of so many elements; where results are written, `to` has room for them (and may be `from`), and
    /// `indices` too if there are positions.
    unsafe fn walk(&mut self, frame: &Frame);
}

/// Steps the lanes of a tile through its rows; writes results where `EMIT` says so. Chunks that are `ALONE` begin
/// by themselves.
pub(super) struct Scanned<'a, S: Scan<K>, const K: usize, const EMIT: bool, const ALONE: bool>(
    pub &'a mut Lanes<S, K>,
);

impl<S: Scan<K>, const K: usize, const EMIT: bool, const ALONE: bool> Walk
    for Scanned<'_, S, K, EMIT, ALONE>
{
    type E = S::E;
    const INDEXED: bool = S::INDEXED;

    fn emits(&self) -> bool {
        EMIT
    }

    unsafe fn walk(&mut self, frame: &Frame) {
        assert!(frame.width <= WIDE);
        let pass = Pass::<S, K, EMIT, ALONE>(self.0, *frame);
        if cpu::reference_kernels() { pass.run::<false>() } else { dispatch(pass) }
    }
}

struct Pass<'a, S: Scan<K>, const K: usize, const EMIT: bool, const ALONE: bool>(&'a mut Lanes<S, K>, Frame);

impl<S: Scan<K>, const K: usize, const EMIT: bool, const ALONE: bool> Task for Pass<'_, S, K, EMIT, ALONE> {
    type Home = S;
    const WIDE: bool = false;

    #[inline(always)]
    fn run<const FAST: bool>(self) {
        let Pass(lanes, frame) = self;
        // In bands of rows, so that states are loaded and stored once for several of them.
        let band = if frame.width <= NARROW { frame.rows.max(1) } else { BAND };
        for first in (0..frame.rows).step_by(band) {
            let rows = first..frame.rows.min(first + band);
            // SAFETY: the promise of `walk`.
            unsafe {
                let lane = bands::<S, K, NARROW, EMIT, ALONE, FAST>(lanes, &frame, rows.clone(), 0);
                let lane = bands::<S, K, 8, EMIT, ALONE, FAST>(lanes, &frame, rows.clone(), lane);
                let lane = bands::<S, K, 4, EMIT, ALONE, FAST>(lanes, &frame, rows.clone(), lane);
                bands::<S, K, 1, EMIT, ALONE, FAST>(lanes, &frame, rows.clone(), lane);
            }
        }
    }
}

/// Lanes that are stepped through along their elements at once: the steps of one wait for each other.
const TOGETHER: usize = 4;

/// Lanes whose elements are neighbours, stepped through one after the other; as in [`Scanned`]. One body for all levels: there are
/// no vectors in it.
pub(super) struct Along<'a, S: Scan<K>, const K: usize, const EMIT: bool, const ALONE: bool> {
    pub lanes: &'a mut Lanes<S, K>,
    pub to: *mut u8,
    pub from: *const u8,
    /// Bytes from lane to lane of output and input.
    pub lane: [isize; 2],
    pub rows: usize,
    pub width: usize,
}

impl<S: Scan<K>, const K: usize, const EMIT: bool, const ALONE: bool> Along<'_, S, K, EMIT, ALONE> {
    /// Steps through all lanes.
    ///
    /// # Safety
    /// Each lane has as many elements as there are rows, and room for as many results, which may be those elements.
    pub unsafe fn walk(mut self) {
        assert!(!S::INDEXED && (ALONE || self.width <= WIDE));
        let mut lane = 0;
        while lane < self.width {
            // SAFETY: the caller's promise.
            unsafe {
                if lane + TOGETHER <= self.width {
                    self.together::<TOGETHER>(lane);
                    lane += TOGETHER;
                } else {
                    self.together::<1>(lane);
                    lane += 1;
                }
            }
        }
    }

    /// Steps through G lanes, from one on.
    ///
    /// # Safety
    /// The promise of `walk`.
    #[inline(always)]
    unsafe fn together<const G: usize>(&mut self, first: usize) {
        let (mut carry, mut state) = ([[[S::T::ZERO]; K]; G], [[[S::T::ZERO]; K]; G]);
        let (mut to, mut from) = ([self.to.cast::<S::E>(); G], [self.from.cast::<S::E>(); G]);
        let begun = S::begin(S::START);
        for g in 0..G {
            let lane = (first + g) as isize;
            to[g] = self.to.wrapping_offset(lane * self.lane[0]).cast();
            from[g] = self.from.wrapping_offset(lane * self.lane[1]).cast();
            for k in 0..K {
                (carry[g][k], state[g][k]) = if const { ALONE } {
                    ([S::START[k]], [begun[k]])
                } else {
                    ([self.lanes.carry[k][first + g]], [self.lanes.state[k][first + g]])
                };
            }
        }
        for row in 0..self.rows {
            for g in 0..G {
                // SAFETY: the caller's promise.
                unsafe {
                    let x = [from[g].add(row).read()];
                    S::step::<1, ALONE, false>(&mut state[g], x, [S::T::ZERO]);
                    if const { EMIT } {
                        let [y] = S::emit::<1, ALONE, false>(&carry[g], &state[g], x);
                        to[g].add(row).write(y);
                    }
                }
            }
        }
        if const { !ALONE } {
            for (g, state) in state.iter().enumerate() {
                for (k, &[word]) in state.iter().enumerate() {
                    self.lanes.state[k][first + g] = word;
                }
            }
        }
    }
}

/// Steps L lanes at a time through some rows, from a lane on. Gives the first lane that is left.
///
/// # Safety
/// The promise of [`Walk::walk`].
#[inline(always)]
unsafe fn bands<
    S: Scan<K>,
    const K: usize,
    const L: usize,
    const EMIT: bool,
    const ALONE: bool,
    const FAST: bool,
>(
    lanes: &mut Lanes<S, K>,
    frame: &Frame,
    rows: Range<usize>,
    mut lane: usize,
) -> usize {
    while lane + L <= frame.width {
        let mut places = [S::T::ZERO; L];
        for (j, place) in places.iter_mut().enumerate() {
            *place = S::place((lane + j) * frame.spread);
        }
        // SAFETY: the caller's promise.
        unsafe { band::<S, K, L, EMIT, ALONE, FAST>(lanes, frame, rows.clone(), lane, places) };
        lane += L;
    }
    lane
}

#[inline(always)]
fn moved<T: Num, const L: usize>(mut places: [T; L], by: T) -> [T; L] {
    for place in &mut places {
        *place = place.add(by);
    }
    places
}

#[inline(always)]
fn load<S: Scan<K>, const K: usize, const L: usize>(from: &[[S::T; WIDE]; K], lane: usize) -> [[S::T; L]; K] {
    let mut lanes = [[S::T::ZERO; L]; K];
    for k in 0..K {
        lanes[k] = *from[k][lane..].first_chunk().expect("the lanes are there");
    }
    lanes
}

#[inline(always)]
fn store<S: Scan<K>, const K: usize, const L: usize>(
    to: &mut [[S::T; WIDE]; K],
    lane: usize,
    lanes: [[S::T; L]; K],
) {
    for k in 0..K {
        *to[k][lane..].first_chunk_mut().expect("the lanes are there") = lanes[k];
    }
}

/// Steps L lanes through some rows, with their states in registers.
///
/// # Safety
/// The promise of [`Walk::walk`].
#[inline(always)]
unsafe fn band<
    S: Scan<K>,
    const K: usize,
    const L: usize,
    const EMIT: bool,
    const ALONE: bool,
    const FAST: bool,
>(
    lanes: &mut Lanes<S, K>,
    frame: &Frame,
    rows: Range<usize>,
    lane: usize,
    places: [S::T; L],
) {
    let (mut carry, mut state) = ([[S::T::ZERO; L]; K], [[S::T::ZERO; L]; K]);
    if const { ALONE } {
        let begun = S::begin(S::START);
        for k in 0..K {
            (carry[k], state[k]) = ([S::START[k]; L], [begun[k]; L]);
        }
    } else {
        carry = load::<S, K, L>(&lanes.carry, lane);
    }
    if !ALONE || frame.at + rows.start > 0 {
        state = load::<S, K, L>(&lanes.state, lane);
    }
    for row in rows {
        let at = moved(places, S::place(frame.at + row));
        // SAFETY: the caller's promise.
        unsafe { step::<S, K, L, EMIT, ALONE, FAST>(frame, &carry, &mut state, row, lane, at) };
    }
    store::<S, K, L>(&mut lanes.state, lane, state);
}

/// # Safety
/// The promise of [`Walk::walk`].
#[inline(always)]
unsafe fn step<
    S: Scan<K>,
    const K: usize,
    const L: usize,
    const EMIT: bool,
    const ALONE: bool,
    const FAST: bool,
>(
    frame: &Frame,
    carry: &[[S::T; L]; K],
    state: &mut [[S::T; L]; K],
    row: usize,
    lane: usize,
    at: [S::T; L],
) {
    // SAFETY: the caller's promise; the row is read before it is written.
    unsafe {
        let x = frame.from.at::<S::E>(row, lane).cast::<[S::E; L]>().read_unaligned();
        S::step::<L, ALONE, FAST>(state, x, at);
        if EMIT {
            let to = frame.to.at::<S::E>(row, lane).cast::<[S::E; L]>();
            to.write_unaligned(S::emit::<L, ALONE, FAST>(carry, state, x));
            if const { S::INDEXED } {
                let to = frame.indices.at::<i64>(row, lane).cast::<[i64; L]>();
                to.write_unaligned(S::index::<L, ALONE>(carry, state));
            }
        }
    }
}
