//! The trait of scans, and the loops that step neighbouring lanes through their elements.
//!
//! A line is cut into chunks of 256 elements, by position alone. The carry of a chunk is what the elements before it
//! amount to. Within the chunk, a state is stepped from element to element. A lane is a chunk: one of each of several
//! lines, or one of several chunks of a single line. Both take the same steps, and so compute the same bits.

use crate::cpu::{Specialised, dispatch_or_reference};
use crate::kernels::lines::{LineTile, MAX_LANES, REGISTER_LANES, TileKernel};
use crate::scalar::{Element, Num};
use std::ops::Range;

/// Rows through which some lanes are stepped before the next lanes, where a tile has more lanes than registers hold:
/// states are loaded and stored once per band.
const BAND_ROWS: usize = 16;
/// Contiguous lanes that are stepped through together: within one lane each step waits for the one before.
const INTERLEAVED_LANES: usize = 4;

/// A function from a line to a line whose results follow from the elements so far, with a state of `K` numbers.
///
/// `L` is the number of lanes. `SINGLE` says that lines have a single chunk, so that neither carry nor total is needed.
/// `FAST` is that of [`Task::run`].
pub trait Scan<const K: usize>: 'static {
    /// The elements of tiles: inputs are cast to this type, results from it.
    type E: Element;
    /// The accumulator.
    type T: Num;
    /// Whether there is a second result: a position.
    const INDEXED: bool = false;
    /// The cost of an element, in additions.
    const WEIGHT: usize = 1;

    /// The carry of a line's first chunk.
    const START: [Self::T; K];

    /// The state before the first element of a chunk.
    fn begin(carry: [Self::T; K]) -> [Self::T; K];

    /// Updates the state with one more element of each lane. `at` is its position in the line, as [`Scan::position`]
    /// returns it.
    fn step<const L: usize, const SINGLE: bool, const FAST: bool>(
        state: &mut [[Self::T; L]; K],
        x: [Self::E; L],
        at: [Self::T; L],
    );

    /// The results at the last elements, which are `x`.
    fn emit<const L: usize, const SINGLE: bool, const FAST: bool>(
        carry: &[[Self::T; L]; K],
        state: &[[Self::T; L]; K],
        x: [Self::E; L],
    ) -> [Self::E; L];

    /// The positions that belong to the results at the last elements.
    #[inline(always)]
    fn index<const L: usize, const SINGLE: bool>(_: &[[Self::T; L]; K], _: &[[Self::T; L]; K]) -> [i64; L] {
        [0; L]
    }

    /// A position as a number of the state.
    #[inline(always)]
    fn position(_: usize) -> Self::T {
        Self::T::ZERO
    }

    /// Whether contiguous lines may be scanned by blocks ([`super::blocks`]). Results must not depend on chunks.
    const BY_BLOCKS: bool = false;

    /// Whether consecutive elements leave the state as it is.
    #[inline(always)]
    fn block_keeps_state<const L: usize>(_: &[[Self::T; 1]; K], _: &[Self::E; L]) -> bool {
        false
    }

    /// Whether each of some consecutive elements replaces the state, so that it is its own result.
    #[inline(always)]
    fn block_is_all_new<const L: usize>(_: &[[Self::T; 1]; K], _: &[Self::E; L]) -> bool {
        false
    }

    /// The carry of the next chunk.
    fn next_carry(carry: [Self::T; K], state: [Self::T; K]) -> [Self::T; K];

    /// Whether `next_carry` is right for this carry and a state that began with START instead of it.
    #[inline(always)]
    fn can_merge(_carry: [Self::T; K], _state: [Self::T; K]) -> bool {
        true
    }
}

/// Carries and states of the lanes of a strip.
pub(super) struct ScanLanes<S: Scan<K>, const K: usize> {
    carry: [[S::T; MAX_LANES]; K],
    state: [[S::T; MAX_LANES]; K],
}

impl<S: Scan<K>, const K: usize> ScanLanes<S, K> {
    pub fn new(carry: [S::T; K]) -> Self {
        ScanLanes { carry: carry.map(|v| [v; MAX_LANES]), state: S::begin(carry).map(|v| [v; MAX_LANES]) }
    }

    fn carry(&self, lane: usize) -> [S::T; K] {
        std::array::from_fn(|k| self.carry[k][lane])
    }

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

    /// Begins a chunk in each of the first `width` lanes, all with the same carry.
    pub fn begin_all(&mut self, width: usize, carry: [S::T; K]) {
        let state = S::begin(carry);
        for k in 0..K {
            self.carry[k][..width].fill(carry[k]);
            self.state[k][..width].fill(state[k]);
        }
    }

    /// Begins a chunk in each of the first `width` lanes, with a carry for each.
    pub fn begin_each(&mut self, width: usize, carry: impl Fn(usize) -> [S::T; K]) {
        (0..width).for_each(|lane| self.begin(lane, carry(lane)));
    }

    /// Ends the chunks of the first `width` lanes, and begins the next ones.
    pub fn next_chunk(&mut self, width: usize) {
        for lane in 0..width {
            self.begin(lane, S::next_carry(self.carry(lane), self.state(lane)));
        }
    }
}

/// Steps the lanes of a tile through its rows, and writes results if `WRITE`. With `SINGLE`, lanes begin by themselves
/// at position 0.
pub(super) struct ScanKernel<'a, S: Scan<K>, const K: usize, const WRITE: bool, const SINGLE: bool>(
    pub &'a mut ScanLanes<S, K>,
);

impl<S: Scan<K>, const K: usize, const WRITE: bool, const SINGLE: bool> TileKernel
    for ScanKernel<'_, S, K, WRITE, SINGLE>
{
    fn element_bytes(&self) -> usize {
        size_of::<S::E>()
    }

    fn is_indexed(&self) -> bool {
        S::INDEXED
    }

    fn writes(&self) -> bool {
        WRITE
    }

    #[inline(never)] // or every caller had a copy of the baseline's code
    unsafe fn run(&mut self, tile: &LineTile) {
        assert!(tile.width <= MAX_LANES);
        let pass = ScanPass::<S, K, WRITE, SINGLE>(self.0, *tile);
        dispatch_or_reference(pass)
    }
}

/// One run of a [`ScanKernel`], whose tile keeps the contract of [`TileKernel::run`].
struct ScanPass<'a, S: Scan<K>, const K: usize, const WRITE: bool, const SINGLE: bool>(
    &'a mut ScanLanes<S, K>,
    LineTile,
);

impl<S: Scan<K>, const K: usize, const WRITE: bool, const SINGLE: bool> Specialised
    for ScanPass<'_, S, K, WRITE, SINGLE>
{
    type Home = S;
    const WIDE: bool = false;

    #[inline(always)]
    fn compute<const FAST: bool>(self) {
        let ScanPass(lanes, tile) = self;
        let band = if tile.width <= REGISTER_LANES { tile.rows.max(1) } else { BAND_ROWS };
        for first in (0..tile.rows).step_by(band) {
            let rows = first..tile.rows.min(first + band);
            // SAFETY: the rows are some of the tile's, for which the contract of `TileKernel::run` holds.
            unsafe {
                let mut lane = 0;
                // The baseline is not worth the code of more than one width.
                if const { FAST } {
                    lane = step_lanes::<S, K, REGISTER_LANES, WRITE, SINGLE, FAST>(
                        lanes,
                        &tile,
                        rows.clone(),
                        lane,
                    );
                    lane = step_lanes::<S, K, 8, WRITE, SINGLE, FAST>(lanes, &tile, rows.clone(), lane);
                    lane = step_lanes::<S, K, 4, WRITE, SINGLE, FAST>(lanes, &tile, rows.clone(), lane);
                }
                step_lanes::<S, K, 1, WRITE, SINGLE, FAST>(lanes, &tile, rows, lane);
            }
        }
    }
}

/// Steps `L` lanes at a time through some rows, from `lane` on, and returns the first lane that is left.
///
/// # Safety
/// The contract of [`TileKernel::run`] holds for `tile`, and `rows` are some of its rows.
#[inline(always)]
unsafe fn step_lanes<
    S: Scan<K>,
    const K: usize,
    const L: usize,
    const WRITE: bool,
    const SINGLE: bool,
    const FAST: bool,
>(
    lanes: &mut ScanLanes<S, K>,
    tile: &LineTile,
    rows: Range<usize>,
    mut lane: usize,
) -> usize {
    while lane + L <= tile.width {
        let mut positions = [S::T::ZERO; L];
        for (j, position) in positions.iter_mut().enumerate() {
            *position = S::position((lane + j) * tile.lane_positions);
        }
        // SAFETY: `lane + L <= width`; the rest is forwarded from this function's contract.
        unsafe { step_band::<S, K, L, WRITE, SINGLE, FAST>(lanes, tile, rows.clone(), lane, positions) };
        lane += L;
    }
    lane
}

/// Steps `L` lanes through some rows, with their states in registers. `positions` are those of the lanes, from that of
/// the tile's first lane on.
///
/// # Safety
/// The contract of [`step_lanes`], and `lane + L <= tile.width`.
#[inline(always)]
unsafe fn step_band<
    S: Scan<K>,
    const K: usize,
    const L: usize,
    const WRITE: bool,
    const SINGLE: bool,
    const FAST: bool,
>(
    lanes: &mut ScanLanes<S, K>,
    tile: &LineTile,
    rows: Range<usize>,
    lane: usize,
    positions: [S::T; L],
) {
    let (mut carry, mut state) = ([[S::T::ZERO; L]; K], [[S::T::ZERO; L]; K]);
    if const { SINGLE } {
        let begun = S::begin(S::START);
        for k in 0..K {
            (carry[k], state[k]) = ([S::START[k]; L], [begun[k]; L]);
        }
    } else {
        carry = load::<S, K, L>(&lanes.carry, lane);
    }
    if !SINGLE || tile.position + rows.start > 0 {
        state = load::<S, K, L>(&lanes.state, lane);
    }
    for row in rows {
        let at = advanced(positions, S::position(tile.position + row));
        // SAFETY: `row` is a row of the tile and `lane + L <= width` by this function's contract.
        unsafe { step_row::<S, K, L, WRITE, SINGLE, FAST>(tile, &carry, &mut state, row, lane, at) };
    }
    store::<S, K, L>(&mut lanes.state, lane, state);
}

/// Steps `L` lanes through one row.
///
/// # Safety
/// The contract of [`TileKernel::run`] holds for `tile`; `row < tile.rows` and `lane + L <= tile.width`.
#[inline(always)]
unsafe fn step_row<
    S: Scan<K>,
    const K: usize,
    const L: usize,
    const WRITE: bool,
    const SINGLE: bool,
    const FAST: bool,
>(
    tile: &LineTile,
    carry: &[[S::T; L]; K],
    state: &mut [[S::T; L]; K],
    row: usize,
    lane: usize,
    at: [S::T; L],
) {
    // SAFETY: row and lanes are within the tile by this function's contract. A row is read before it is written,
    // because `to` may be `from`.
    unsafe {
        let x = tile.from.at::<S::E>(row, lane).cast::<[S::E; L]>().read_unaligned();
        S::step::<L, SINGLE, FAST>(state, x, at);
        if WRITE {
            let to = tile.to.at::<S::E>(row, lane).cast::<[S::E; L]>();
            to.write_unaligned(S::emit::<L, SINGLE, FAST>(carry, state, x));
            if const { S::INDEXED } {
                let to = tile.indices.at::<i64>(row, lane).cast::<[i64; L]>();
                to.write_unaligned(S::index::<L, SINGLE>(carry, state));
            }
        }
    }
}

#[inline(always)]
fn advanced<T: Num, const L: usize>(mut positions: [T; L], by: T) -> [T; L] {
    for position in &mut positions {
        *position = position.add(by);
    }
    positions
}

#[inline(always)]
fn load<S: Scan<K>, const K: usize, const L: usize>(
    from: &[[S::T; MAX_LANES]; K],
    lane: usize,
) -> [[S::T; L]; K] {
    let mut lanes = [[S::T::ZERO; L]; K];
    for k in 0..K {
        lanes[k] = *from[k][lane..].first_chunk().expect("a tile has at most MAX_LANES lanes");
    }
    lanes
}

#[inline(always)]
fn store<S: Scan<K>, const K: usize, const L: usize>(
    to: &mut [[S::T; MAX_LANES]; K],
    lane: usize,
    lanes: [[S::T; L]; K],
) {
    for k in 0..K {
        *to[k][lane..].first_chunk_mut().expect("a tile has at most MAX_LANES lanes") = lanes[k];
    }
}

/// Lanes whose elements are contiguous: steps through each along its elements, four lanes at once. `WRITE` and `SINGLE`
/// are those of [`ScanKernel`]. One body serves all CPU levels, because it contains no vector code.
pub(super) struct AlongLanes<'a, S: Scan<K>, const K: usize, const WRITE: bool, const SINGLE: bool> {
    pub lanes: &'a mut ScanLanes<S, K>,
    pub to: *mut u8,
    pub from: *const u8,
    /// Bytes from lane to lane of output and input.
    pub lane_steps: [isize; 2],
    pub rows: usize,
    pub width: usize,
}

impl<S: Scan<K>, const K: usize, const WRITE: bool, const SINGLE: bool> AlongLanes<'_, S, K, WRITE, SINGLE> {
    /// Steps through all lanes.
    ///
    /// # Safety
    /// For each `lane < width`, `from + lane * lane_steps[1]` has `rows` readable elements of type `S::E`, and
    /// `to + lane * lane_steps[0]` as many writable ones if `WRITE`. The two are the same elements, or do not overlap.
    pub unsafe fn run(mut self) {
        assert!(!S::INDEXED && (SINGLE || self.width <= MAX_LANES));
        let mut lane = 0;
        while lane < self.width {
            // SAFETY: the lanes are below `width` by the conditions; the rest is forwarded from this function's
            // contract.
            unsafe {
                if lane + INTERLEAVED_LANES <= self.width {
                    self.interleave::<INTERLEAVED_LANES>(lane);
                    lane += INTERLEAVED_LANES;
                } else {
                    self.interleave::<1>(lane);
                    lane += 1;
                }
            }
        }
    }

    /// Steps through `G` lanes from `first` on.
    ///
    /// # Safety
    /// The contract of `run`, and `first + G <= width`.
    #[inline(always)]
    unsafe fn interleave<const G: usize>(&mut self, first: usize) {
        let (mut carry, mut state) = ([[[S::T::ZERO]; K]; G], [[[S::T::ZERO]; K]; G]);
        let (mut to, mut from) = ([self.to.cast::<S::E>(); G], [self.from.cast::<S::E>(); G]);
        let begun = S::begin(S::START);
        for g in 0..G {
            let lane = (first + g) as isize;
            to[g] = self.to.wrapping_offset(lane * self.lane_steps[0]).cast();
            from[g] = self.from.wrapping_offset(lane * self.lane_steps[1]).cast();
            for k in 0..K {
                (carry[g][k], state[g][k]) = if const { SINGLE } {
                    ([S::START[k]], [begun[k]])
                } else {
                    ([self.lanes.carry[k][first + g]], [self.lanes.state[k][first + g]])
                };
            }
        }
        for row in 0..self.rows {
            for g in 0..G {
                // SAFETY: `row < rows` and `first + g < width`, and the contract of `run` holds.
                unsafe {
                    let x = [from[g].add(row).read()];
                    S::step::<1, SINGLE, false>(&mut state[g], x, [S::T::ZERO]);
                    if const { WRITE } {
                        let [y] = S::emit::<1, SINGLE, false>(&carry[g], &state[g], x);
                        to[g].add(row).write(y);
                    }
                }
            }
        }
        if const { !SINGLE } {
            for (g, state) in state.iter().enumerate() {
                for (k, &[number]) in state.iter().enumerate() {
                    self.lanes.state[k][first + g] = number;
                }
            }
        }
    }
}
