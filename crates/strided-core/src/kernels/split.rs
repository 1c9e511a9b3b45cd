//! Runs a nest: serially, or in pieces on several threads; each piece run by run, tile by tile, or by groups of short rows.

use super::{Pointers, Steps, nontemporal, pack};
use crate::error::Result;
use crate::nest::{self, Loop, Nest, shifted};
use crate::threads::{self, Shared};
use std::ops::Range;

/// Bytes of the widest operand in one piece of work: few enough to stay in the L2 cache together with the other operands,
/// enough to be worth handing to a thread.
pub(super) const BYTES_PER_PIECE: usize = 256 << 10;
/// Elements of a cheap operation (cost 1) up to which it runs serially, as one piece; if its operands are dense, as one
/// loop without a nest.
pub(super) const SERIAL_ELEMENTS: usize = 16 << 10;
/// Short rows are run in groups if there are at least this many.
const MIN_SHORT_ROWS: usize = 8;
/// Elements of the largest plane for which the plane after the next is prefetched.
const MAX_PREFETCHED_PLANE: usize = 1024;

/// What is done with the elements that a nest visits.
pub(super) trait NestBody: Sync {
    /// Bytes of an element of the widest operand.
    fn widest_element(&self) -> usize;

    /// The largest numbers of rows and of columns of a tile, for a plane of these two loops.
    fn tile_sides(&self, _rows: &Loop, _columns: &Loop) -> (usize, usize) {
        (64, 256)
    }

    /// Computes one innermost loop.
    ///
    /// # Safety
    /// The contract of [`super::Kernel`], for operands in the dtypes they have in memory: `p[k] + i * s[k]` is valid for
    /// `i < n`, and `n > 0`.
    unsafe fn compute_run(&self, p: &Pointers, s: &Steps, n: usize);

    /// Computes a tile of the two innermost loops, one operand of which is contiguous along the other one.
    ///
    /// # Safety
    /// As for [`Self::compute_run`], for every row `r` of the tile: `p[k] + r * rows.steps[k] + c * columns.steps[k]` is valid for
    /// `c < columns.extent`. There are at least one row and one column.
    unsafe fn compute_tile(&self, p: &Pointers, rows: &Loop, columns: &Loop) {
        for row in 0..rows.extent as isize {
            // SAFETY: this function's contract, for one row.
            unsafe { self.compute_run(&shifted(p, &rows.steps, row), &columns.steps, columns.extent) };
        }
    }

    /// Computes rows that are too short for a call each.
    ///
    /// # Safety
    /// As for [`Self::compute_tile`]; a row of the widest operand has at most [`pack::MAX_ROW_BYTES`].
    unsafe fn compute_short_rows(&self, p: &Pointers, rows: &Loop, columns: &Loop) {
        // SAFETY: this function's contract.
        unsafe { self.compute_tile(p, rows, columns) }
    }
}

/// Calls `write` with ranges that make up `0..rows`: all rows if they have few elements, or pieces that threads share.
pub(super) fn for_each_row_range(
    rows: usize,
    row_bytes: usize,
    elements: usize,
    write: &(impl Fn(Range<usize>) + Sync),
) -> Result<()> {
    if elements <= SERIAL_ELEMENTS {
        write(0..rows);
        return Ok(());
    }
    let piece = (BYTES_PER_PIECE / row_bytes).max(1);
    threads::for_each_range(rows, piece, threads::should_parallelize(elements), write)
}

/// Runs a nest whose elements are computed independently. `cost` is the cost of one element, relative to an addition.
///
/// # Safety
/// The origins are pinned for the layouts that the nest was made of, in the dtypes that `body` expects; a new or scalar
/// operand that needs no pin outlives the call.
#[inline]
pub(super) unsafe fn run_nest(
    nest: Nest,
    origins: Pointers,
    cost: usize,
    body: &impl NestBody,
) -> Result<()> {
    if nest.size() <= SERIAL_ELEMENTS / cost {
        // SAFETY: this function's contract: the origins are pinned for the nest.
        unsafe { run_nest_serially(&nest.with_plane(), origins, body) };
        return Ok(());
    }
    // SAFETY: this function's contract: the origins are pinned for the nest.
    unsafe { run_nest_in_pieces(nest.with_plane(), Shared::new(origins), cost, body) }
}

/// Cuts a nest into pieces along an outer loop and hands them to the threads of the pool.
///
/// # Safety
/// As [`run_nest`].
#[inline(never)]
unsafe fn run_nest_in_pieces(
    nest: Nest,
    origins: Shared<Pointers>,
    cost: usize,
    body: &impl NestBody,
) -> Result<()> {
    let sides = nest.plane().map_or((1, 1), |(_, rows, columns)| body.tile_sides(rows, columns));
    let split = nest.split((BYTES_PER_PIECE / body.widest_element() / cost).max(64), sides);
    threads::for_each_piece(
        split.pieces,
        threads::should_parallelize(nest.size().saturating_mul(cost)),
        &|i| {
            // SAFETY: this function's contract: the origins are pinned for the nest, and a piece is a part of it.
            unsafe { run_nest_serially(&nest.piece(split, i), origins.get(), body) };
            nontemporal::fence();
        },
    )
}

/// Runs a nest, or a piece of one, on this thread.
///
/// # Safety
/// As [`run_nest`].
#[inline]
unsafe fn run_nest_serially(nest: &Nest, origins: Pointers, body: &impl NestBody) {
    // SAFETY: this function's contract: the origins are pinned for the nest, so that every address that it visits is valid.
    unsafe {
        if let Some((_, rows, columns)) = nest.plane() {
            let distance = prefetch_distance(nest);
            nest.for_each_tile(origins, body.tile_sides(rows, columns), |p, rows, columns| {
                if let Some(distance) = &distance {
                    prefetch_plane(p, distance, rows, columns);
                }
                body.compute_tile(p, rows, columns)
            });
        } else if let Some((outer, rows, columns)) = short_rows(nest, body.widest_element()) {
            nest::walk(outer, nest.start(origins), |p| body.compute_short_rows(p, rows, columns));
        } else {
            nest.for_each(origins, |p, s, n| body.compute_run(p, s, n));
        }
    }
}

/// The outer loops and the two innermost ones, if those make many short rows.
fn short_rows(nest: &Nest, widest: usize) -> Option<(&[Loop], &Loop, &Loop)> {
    let [outer @ .., rows, columns] = nest.loops() else { return None };
    let short = (1..=pack::MAX_ROW_BYTES / widest).contains(&columns.extent) && rows.extent >= MIN_SHORT_ROWS;
    short.then_some((outer, rows, columns))
}

/// Bytes from a plane to the one after the next, for every operand, where planes are small. Their cache lines are too far
/// apart for the hardware prefetcher: with software prefetch a permutation of six short dims was 1.7 times as fast.
fn prefetch_distance(nest: &Nest) -> Option<Steps> {
    let (outer, rows, columns) = nest.plane()?;
    let small = rows.extent * columns.extent <= MAX_PREFETCHED_PLANE;
    outer.last().filter(|_| small).map(|next| next.steps.map(|step| 2 * step))
}

/// Prefetches the first cache line of each run of a plane `distance` bytes on.
fn prefetch_plane(p: &Pointers, distance: &Steps, rows: &Loop, columns: &Loop) {
    for k in 0..p.len() {
        // An operand has one run for each column, if it is contiguous along the rows loop, or one for each row.
        let runs = if rows.steps[k].abs() < columns.steps[k].abs() { columns } else { rows };
        if runs.steps[k] != 0 {
            let first = p[k].wrapping_offset(distance[k]);
            (0..runs.extent as isize)
                .for_each(|i| nontemporal::prefetch(first.wrapping_offset(i * runs.steps[k])));
        }
    }
}
