//! Runs a nest: at once, or in pieces on several threads; run by run, or tile by tile.

use super::{Pointers, Steps, stream};
use crate::error::Result;
use crate::nest::{Loop, Nest};
use crate::threads;

/// Bytes of its widest operand that a piece has: few enough to stay in a second-level cache with the inputs, enough
/// to be worth a thread's attention.
const PIECE: usize = 256 << 10;
/// Elements up to which a nest is not worth cutting.
const WHOLE: usize = 16 << 10;

/// What is done at the places that a nest visits.
pub(super) trait Body: Sync {
    /// Bytes of the widest operand's element.
    fn widest(&self) -> usize;

    /// The most rows and columns of a tile.
    fn sides(&self) -> (usize, usize);

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
}

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
pub(super) unsafe fn drive(nest: Nest, origins: Pointers, weight: usize, body: &impl Body) -> Result<()> {
    if nest.size() <= WHOLE / weight {
        // SAFETY: the caller's promise.
        unsafe { visit(&nest.with_plane(), origins, body) };
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { in_pieces(nest.with_plane(), Origins(origins), weight, body) }
}

/// # Safety
/// As [`drive`].
#[inline(never)]
unsafe fn in_pieces(nest: Nest, origins: Origins, weight: usize, body: &impl Body) -> Result<()> {
    let origins = &origins;
    let cut = nest.cut((PIECE / body.widest() / weight).max(64));
    threads::run(cut.pieces, threads::worth(nest.size().saturating_mul(weight)), &|i| {
        // SAFETY: the caller's promise; a piece has some of the nest's elements.
        unsafe { visit(&nest.piece(cut, i), origins.0, body) };
        stream::fence();
    })
}

/// # Safety
/// As [`drive`].
#[inline]
unsafe fn visit(nest: &Nest, origins: Pointers, body: &impl Body) {
    // SAFETY: the caller's promise.
    unsafe {
        if nest.plane().is_some() {
            nest.for_each_tile(origins, body.sides(), |p, rows, columns| body.tile(p, rows, columns));
        } else {
            nest.for_each(origins, |p, s, n| body.run(p, s, n));
        }
    }
}
