//! Tiles of a product: a few rows and columns of the output, in registers, computed from packed operands.
//!
//! ```text
//! packed rows of a       R elements of a column, then those of the next column, and so on
//! packed columns of b    `WIDTH` registers of a row, then those of the next row, and so on
//! ```

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::Matrix;
use super::element::store;
use super::registers::{Register, WIDTH};

/// Where a tile of the output is, how many of its rows and columns are inside the output, and the factors of its sums.
pub(super) struct TileTarget<T> {
    pub out: Matrix<T>,
    pub rows: usize,
    pub columns: usize,
    pub alpha: T,
    pub beta: T,
}

/// Where the sums of a tile come from and where they go.
pub(super) struct TileSums<T> {
    /// `R` rows of sums, kept between two depth blocks.
    pub at: *mut T,
    /// Whether sums start at 0, and not with those at `at`.
    pub is_first: bool,
    /// Whether sums go to the output, and not to `at`.
    pub is_last: bool,
}

/// Adds the products of `depth` packed columns of `a` and rows of `b` to the sums of a tile of `R` rows.
///
/// # Safety
/// The CPU has the instructions of `X`. `a` has `R` elements and `b` has those of `WIDTH` registers for each of the
/// `depth` terms. `sums` has the elements of a tile, or is not used because it is the first and last. The target is pinned.
#[inline(always)]
pub(super) unsafe fn add_products<X: Register, const R: usize>(
    depth: usize,
    mut a: *const X::Element,
    mut b: *const X::Element,
    sums: TileSums<X::Element>,
    target: &TileTarget<X::Element>,
) {
    // SAFETY: this function's contract.
    unsafe {
        let mut tile = [[X::zero(); WIDTH]; R];
        if !sums.is_first {
            for r in 0..R {
                for v in 0..WIDTH {
                    tile[r][v] = X::load(sums.at.add((r * WIDTH + v) * X::LANES));
                }
            }
        }
        for _ in 0..depth {
            let mut right = [X::zero(); WIDTH];
            for v in 0..WIDTH {
                right[v] = X::load(b.add(v * X::LANES));
            }
            for r in 0..R {
                let left = X::splat(a.add(r).read());
                for v in 0..WIDTH {
                    tile[r][v] = X::multiply_add(left, right[v], tile[r][v]);
                }
            }
            a = a.add(R);
            b = b.add(X::COLUMNS);
        }
        if !sums.is_last {
            return write_rows::<X, R>(&tile, sums.at, X::COLUMNS);
        }
        finish::<X, R>(tile, target)
    }
}

/// Writes the registers of a tile to rows that are `step` elements apart.
///
/// # Safety
/// The CPU has the instructions of `X`, and the rows are writable.
#[inline(always)]
unsafe fn write_rows<X: Register, const R: usize>(
    tile: &[[X::Vector; WIDTH]; R],
    at: *mut X::Element,
    step: usize,
) {
    for r in 0..R {
        for v in 0..WIDTH {
            // SAFETY: this function's contract.
            unsafe { X::store(at.add(r * step + v * X::LANES), tile[r][v]) };
        }
    }
}

/// Writes the sums of a tile to the output, as [`store`] does.
///
/// # Safety
/// The CPU has the instructions of `X`, and the target is pinned.
#[inline(always)]
unsafe fn finish<X: Register, const R: usize>(
    mut tile: [[X::Vector; WIDTH]; R],
    target: &TileTarget<X::Element>,
) {
    use crate::scalar::Num;
    let TileTarget { out, rows, columns, alpha, beta } = *target;
    let (zero, one) = (<X::Element as Num>::ZERO, <X::Element as Num>::ONE);
    let is_whole = rows == R && columns == X::COLUMNS && out.column == 1;
    // SAFETY: this function's contract; a whole tile has contiguous rows in the output.
    unsafe {
        if !is_whole {
            let mut sums = [[zero; MAX_COLUMNS]; R];
            write_rows::<X, R>(&tile, sums.as_mut_ptr().cast(), MAX_COLUMNS);
            for r in 0..rows {
                for c in 0..columns {
                    store(out.element(r, c), sums[r][c], alpha, beta);
                }
            }
            return;
        }
        for r in 0..R {
            for v in 0..WIDTH {
                let at = out.element(r, v * X::LANES);
                let sum = &mut tile[r][v];
                if alpha != one {
                    *sum = X::multiply(X::splat(alpha), *sum);
                }
                if beta == one {
                    *sum = X::add(X::load(at), *sum);
                } else if beta != zero {
                    *sum = X::add(X::multiply(X::splat(beta), X::load(at)), *sum);
                }
                X::store(at, *sum);
            }
        }
    }
}

/// The most columns that a tile has.
const MAX_COLUMNS: usize = WIDTH * 16;
