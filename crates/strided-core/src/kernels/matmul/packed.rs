//! Packing: the rows of a matrix in groups, in the order in which tiles read them.

use super::Matrix;
use super::element::ProductElement;
use crate::cpu;
use crate::error::Result;
use crate::kernels::transpose;
use crate::storage::{Fill, Storage};

/// Columns that are packed at a time: their elements stay in the L1 cache while they are transposed.
const COLUMNS: usize = 256;

/// Memory for packed elements. The allocator keeps large blocks, so that their pages are not new for each product.
pub(super) struct PackBuffer<T> {
    /// Owns the memory.
    _storage: Storage,
    pub at: *mut T,
}
// SAFETY: an address is plain data. Kernels, which use it, state their own conditions.
unsafe impl<T> Sync for PackBuffer<T> {}

impl<T> PackBuffer<T> {
    /// Memory for some elements, which are not initialised.
    pub fn new(elements: usize) -> Result<PackBuffer<T>> {
        let mut storage = Storage::new(elements.saturating_mul(size_of::<T>()), Fill::Uninitialized)?;
        let at = storage.exclusive_start().expect("a new storage has one handle").cast();
        Ok(PackBuffer { _storage: storage, at })
    }
}

/// Packs up to `R` rows of a matrix with `depth` columns: `R` elements of the first column, then those of the second, and so
/// on. Missing rows are zeros.
///
/// # Safety
/// The matrix is pinned for these extents, `rows <= R`, and `R * depth` elements from `to` on are writable.
pub(super) unsafe fn pack<T: ProductElement, const R: usize>(
    to: *mut T,
    matrix: Matrix<T>,
    rows: usize,
    depth: usize,
) {
    if rows < R {
        for i in 0..R * depth {
            // SAFETY: this function's contract.
            unsafe { to.add(i).write(T::ZERO) };
        }
    }
    for start in (0..depth).step_by(COLUMNS) {
        let (count, part) = (COLUMNS.min(depth - start), matrix.part(0, start));
        // SAFETY: this function's contract, for a part of the columns.
        unsafe { pack_columns::<T, R>(to.add(start * R), part, rows, count) };
    }
}

/// Packs columns, without zeros for missing rows.
///
/// # Safety
/// As [`pack`].
unsafe fn pack_columns<T: ProductElement, const R: usize>(
    to: *mut T,
    matrix: Matrix<T>,
    rows: usize,
    columns: usize,
) {
    let size = size_of::<T>();
    // SAFETY: this function's contract: elements of the matrix are readable, and those of the packed rows writable.
    unsafe {
        if matrix.row == 1 && rows == R {
            cpu::simd(
                #[inline(always)]
                || {
                    for k in 0..columns {
                        let column = matrix.element(0, k).cast::<[T; R]>().read();
                        to.add(k * R).cast::<[T; R]>().write(column);
                    }
                },
            );
        } else if matrix.column == 1 {
            let (to_step, from_step) = ((R * size) as isize, matrix.row * size as isize);
            transpose::tile(size, to.cast(), to_step, matrix.at.cast(), from_step, columns, rows);
        } else {
            for k in 0..columns {
                for r in 0..rows {
                    to.add(k * R + r).write(matrix.element(r, k).read());
                }
            }
        }
    }
}
