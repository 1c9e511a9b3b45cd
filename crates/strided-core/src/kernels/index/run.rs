//! Runs a nest with an index on several threads.
//!
//! | nest | pieces |
//! |---|---|
//! | the index chooses along an outer loop, and the innermost one steps through base and index | blocks of columns: the rows that the index jumps between then stay in the cache |
//! | a scatter in which an outer loop never meets an element twice | parts of that loop |
//! | any other scatter | each piece reads the whole index, and writes the elements of a range of indices |
//! | any other gather | parts of the outermost loop |

use super::super::split::{BYTES_PER_PIECE, NestBody, SERIAL_ELEMENTS};
use super::INDEX_COST;
use crate::error::Result;
use crate::nest::{Nest, Pointers, Steps};
use crate::threads::{self, Shared};

/// Columns of a block of columns, so that a row of it is a few cache lines.
const COLUMNS_PER_PIECE: usize = 64;

/// Runs a nest whose iterations are independent of each other. Operand `base` is the one that the index chooses from, and
/// operand 2 is the index. A tile has whole rows here.
///
/// # Safety
/// The origins are pinned for the layouts that the nest was made of, and the body may visit all of its elements.
pub unsafe fn run_indexed(nest: &Nest, origins: Pointers, base: usize, body: impl NestBody) -> Result<()> {
    let work = nest.size().saturating_mul(INDEX_COST);
    if work <= SERIAL_ELEMENTS {
        // SAFETY: this function's contract.
        unsafe { run_indexed_serially(nest, origins, &body) };
        return Ok(());
    }
    let split = match column_blocks(nest, base) {
        Some(blocks) => nest.split_loop(nest.loops().len() - 1, blocks),
        None => nest.split((BYTES_PER_PIECE / body.widest_element() / INDEX_COST).max(64), (1, 1)),
    };
    let origins = Shared::new(origins);
    threads::for_each_piece(split.pieces, threads::should_parallelize(work), &|i| {
        // SAFETY: this function's contract; a piece is a part of the nest.
        unsafe { run_indexed_serially(&nest.piece(split, i), origins.get(), &body) }
    })
}

/// The number of blocks of columns, if the index chooses along an outer loop while the innermost one steps through both.
pub fn column_blocks(nest: &Nest, base: usize) -> Option<usize> {
    let (columns, outer) = nest.loops().split_last().expect("a nest has a loop");
    let jumps = outer.iter().any(|l| l.steps[base] == 0 && l.steps[2] != 0 && l.extent > 1);
    let steps = columns.steps[base] != 0 && columns.steps[2] != 0;
    (jumps && steps && columns.extent >= 2 * COLUMNS_PER_PIECE)
        .then(|| columns.extent.div_ceil(COLUMNS_PER_PIECE))
}

/// Runs a nest, or a piece of one, on this thread, in the order of its loops.
///
/// # Safety
/// As [`run_indexed`].
pub unsafe fn run_indexed_serially(nest: &Nest, origins: Pointers, body: &impl NestBody) {
    // SAFETY: this function's contract.
    nest.for_each_plane(origins, |p, rows, columns| unsafe {
        match rows {
            Some(rows) => body.compute_tile(p, rows, columns),
            None => body.compute_run(p, &columns.steps, columns.extent),
        }
    });
}

/// Calls `visit` with the addresses of the three operands for every iteration of an innermost loop. The steps of the most
/// common loops are constants for the compiler.
#[inline(always)]
pub fn for_each_index(
    p: &Pointers,
    s: &Steps,
    n: usize,
    size: isize,
    mut visit: impl FnMut(*mut u8, *mut u8, *mut u8),
) {
    const INDEX: isize = size_of::<i64>() as isize;
    let mut each = |steps: [isize; 3]| {
        let [mut a, mut b, mut index, ..] = *p;
        for _ in 0..n {
            visit(a, b, index);
            (a, b) = (a.wrapping_offset(steps[0]), b.wrapping_offset(steps[1]));
            index = index.wrapping_offset(steps[2]);
        }
    };
    match [s[0], s[1], s[2]] {
        [a, 0, INDEX] if a == size => each([size, 0, INDEX]),
        [0, b, INDEX] if b == size => each([0, size, INDEX]),
        [a, b, INDEX] if a == size && b == size => each([size, size, INDEX]),
        steps => each(steps),
    }
}
