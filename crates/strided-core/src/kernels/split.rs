//! Runs a nest: at once, or in pieces on several threads; run by run, or tile by tile.

use super::{Pointers, Steps, nontemporal, pack};
use crate::error::Result;
use crate::nest::{self, Loop, Nest};
use crate::threads;

/// Bytes of its widest operand that a piece has: few enough to stay in a second-level cache with the inputs, enough
/// to be worth a thread's attention.
const PIECE: usize = 256 << 10;
/// Elements up to which a nest is not worth cutting, and a single loop not worth planning.
pub(super) const WHOLE: usize = 16 << 10;

/// What is done at the places that a nest visits.
pub(super) trait Body: Sync {
    /// Bytes of the widest operand's element.
    fn widest(&self) -> usize;

    /// The most rows and columns of a tile, of a plane with these.
    fn sides(&self, rows: &Loop, columns: &Loop) -> (usize, usize);

    /// One innermost loop.
    ///
    /// # Safety
    /// As [`super::Kernel`], with each operand in its own dtype.
    unsafe fn run(&self, p: &Pointers, s: &Steps, n: usize);

    /// A tile of the two innermost loops, which an operand has in the other order.
    ///
    /// # Safety
    /// As for `run`, for every row of the tile.
    unsafe fn tile(&self, p: &Pointers, rows: &Loop, columns: &Loop);

    /// Rows that are too short for a call each.
    ///
    /// # Safety
    /// As for `run`, for every row.
    unsafe fn short(&self, p: &Pointers, rows: &Loop, columns: &Loop);
}

/// Rows of which so many are taken together, if they are short.
const MANY: usize = 8;

/// Addresses that other threads may use: those of pinned tensors, each piece its own elements.
struct Origins(Pointers);
// SAFETY: the pins outlive the call, and pieces write to different elements.
unsafe impl Sync for Origins {}

/// Visits a nest of elements that are computed each by itself. `weight` is what an element costs next to an
/// addition.
///
/// # Safety
/// The origins are pinned for the layouts that the nest was made of, in the dtypes that `body` expects.
#[inline]
pub(super) unsafe fn run_nest(nest: Nest, origins: Pointers, weight: usize, body: &impl Body) -> Result<()> {
    if nest.size() <= WHOLE / weight {
        // SAFETY: the caller's promise.
        unsafe { visit(&nest.with_plane(), origins, body) };
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { in_pieces(nest.with_plane(), Origins(origins), weight, body) }
}

/// # Safety
/// As [`run_nest`].
#[inline(never)]
unsafe fn in_pieces(nest: Nest, origins: Origins, weight: usize, body: &impl Body) -> Result<()> {
    let origins = &origins;
    let sides = nest.plane().map_or((1, 1), |(_, rows, columns)| body.sides(rows, columns));
    let cut = nest.cut((PIECE / body.widest() / weight).max(64), sides);
    threads::run(cut.pieces, threads::should_parallelize(nest.size().saturating_mul(weight)), &|i| {
        // SAFETY: the caller's promise; a piece has some of the nest's elements.
        unsafe { visit(&nest.piece(cut, i), origins.0, body) };
        nontemporal::fence();
    })
}

/// # Safety
/// As [`run_nest`].
#[inline]
unsafe fn visit(nest: &Nest, origins: Pointers, body: &impl Body) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some((_, rows, columns)) = nest.plane() {
            let ahead = next_planes(nest);
            nest.for_each_tile(origins, body.sides(rows, columns), |p, rows, columns| {
                if let Some(ahead) = &ahead {
                    ask_for(p, ahead, rows, columns);
                }
                body.tile(p, rows, columns)
            });
        } else if let Some((outer, rows, columns)) = short(nest, body.widest()) {
            nest::walk(outer, nest.start(origins), |p| body.short(p, rows, columns));
        } else {
            nest.for_each(origins, |p, s, n| body.run(p, s, n));
        }
    }
}

/// The outer loops, and two inner ones that make many short rows.
fn short(nest: &Nest, widest: usize) -> Option<(&[Loop], &Loop, &Loop)> {
    let [outer @ .., rows, columns] = nest.loops() else { return None };
    let short = (1..=pack::LONGEST / widest).contains(&columns.extent) && rows.extent >= MANY;
    short.then_some((outer, rows, columns))
}

/// The way to the plane after the next, where planes are small. Their lines are too far apart for the CPU to
/// guess: asking for them early makes a permutation of six short dims 1.7 times as fast.
fn next_planes(nest: &Nest) -> Option<Steps> {
    let (outer, rows, columns) = nest.plane()?;
    let small = rows.extent * columns.extent <= 1024;
    outer.last().filter(|_| small).map(|turn| turn.steps.map(|step| 2 * step))
}

/// Asks for the first line of each run of a plane further on.
fn ask_for(p: &Pointers, ahead: &Steps, rows: &Loop, columns: &Loop) {
    for k in 0..p.len() {
        // An operand lies in runs of rows, one for each column, or the other way round.
        let across = if rows.steps[k].abs() < columns.steps[k].abs() { columns } else { rows };
        if across.steps[k] != 0 {
            let first = p[k].wrapping_offset(ahead[k]);
            (0..across.extent as isize)
                .for_each(|i| nontemporal::prefetch(first.wrapping_offset(i * across.steps[k])));
        }
    }
}
