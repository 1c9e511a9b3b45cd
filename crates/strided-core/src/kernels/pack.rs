//! Packing: many short rows are copied into one contiguous run of scratch, and back.

use crate::cpu;
use crate::nest::Loop;

/// Bytes of the longest row that is packed: longer ones are worth a kernel call each.
pub(super) const MAX_ROW_BYTES: usize = 256;

/// The rows of an operand in memory or in scratch.
#[derive(Clone, Copy)]
pub(super) struct StridedRows {
    /// The address of the first element.
    pub start: *mut u8,
    /// Bytes from row to row.
    pub row_step: isize,
    /// Bytes from element to element.
    pub element_step: isize,
}

impl StridedRows {
    /// The rows of operand `k` of two loops.
    pub fn of(k: usize, start: *mut u8, rows: &Loop, columns: &Loop) -> StridedRows {
        StridedRows { start, row_step: rows.steps[k], element_step: columns.steps[k] }
    }

    /// Contiguous rows of `columns` elements of `size` bytes.
    pub fn dense(start: *mut u8, columns: usize, size: usize) -> StridedRows {
        StridedRows { start, row_step: (columns * size) as isize, element_step: size as isize }
    }

    #[inline(always)]
    fn row(self, index: isize) -> *mut u8 {
        self.start.wrapping_offset(index * self.row_step)
    }

    /// Whether all rows together are one run of elements with one step.
    pub fn is_one_run(self, columns: usize) -> bool {
        self.row_step == columns as isize * self.element_step
    }
}

/// Copies `rows` rows of `columns` elements of `size` bytes (1, 2, 4, 8 or 16).
///
/// # Safety
/// For every row `r < rows` and column `c < columns`, `start + r * row_step + c * element_step` of `from` is valid for reading
/// an element and that of `to` for writing one; the elements read and written do not overlap.
pub(super) unsafe fn copy_rows(size: usize, to: StridedRows, from: StridedRows, rows: usize, columns: usize) {
    cpu::simd(
        #[inline(always)]
        || {
            let bytes = columns * size;
            let dense = to.element_step == size as isize && from.element_step == size as isize;
            // SAFETY: this function's contract; a width is at most the bytes of a row.
            unsafe {
                match bytes {
                    32.. if dense => return copy_dense_rows::<32>(to, from, rows, bytes),
                    16.. if dense => return copy_dense_rows::<16>(to, from, rows, bytes),
                    8.. if dense => return copy_dense_rows::<8>(to, from, rows, bytes),
                    4.. if dense => return copy_dense_rows::<4>(to, from, rows, bytes),
                    _ => {}
                }
                match size {
                    1 => copy_elements::<u8, 32, 8>(to, from, rows, columns),
                    2 => copy_elements::<u16, 16, 4>(to, from, rows, columns),
                    4 => copy_elements::<u32, 8, 4>(to, from, rows, columns),
                    8 => copy_elements::<u64, 4, 2>(to, from, rows, columns),
                    _ => copy_elements::<[u64; 2], 2, 1>(to, from, rows, columns),
                }
            }
        },
    )
}

/// Copies rows of contiguous elements, `W` bytes at a time. The last `W` bytes of a row may overlap the ones before:
/// there is no code for tails.
///
/// # Safety
/// As [`copy_rows`], for rows of `bytes` contiguous bytes on both sides; `bytes >= W`.
#[inline(always)]
unsafe fn copy_dense_rows<const W: usize>(to: StridedRows, from: StridedRows, rows: usize, bytes: usize) {
    let last = bytes - W;
    for row in 0..rows as isize {
        let (to, from) = (to.row(row), from.row(row));
        let mut at = 0;
        while at < last {
            // SAFETY: this function's contract: `at + W <= bytes`.
            unsafe { to.add(at).cast::<[u8; W]>().write(from.add(at).cast::<[u8; W]>().read()) };
            at += W;
        }
        // SAFETY: this function's contract: `last + W == bytes`.
        unsafe { to.add(last).cast::<[u8; W]>().write(from.add(last).cast::<[u8; W]>().read()) };
    }
}

/// Copies rows of strided elements one by one, and rows of one broadcast element each by blocks of `WIDE` or `NARROW`
/// elements.
///
/// # Safety
/// As [`copy_rows`], for elements of the size of `T`.
#[inline(always)]
unsafe fn copy_elements<T: Copy, const WIDE: usize, const NARROW: usize>(
    to: StridedRows,
    from: StridedRows,
    rows: usize,
    columns: usize,
) {
    // SAFETY: this function's contract: every element of both is valid.
    unsafe {
        if from.element_step == 0 && to.element_step == size_of::<T>() as isize && columns >= NARROW {
            if columns >= WIDE {
                return broadcast_rows::<T, WIDE>(to, from, rows, columns);
            }
            return broadcast_rows::<T, NARROW>(to, from, rows, columns);
        }
        for row in 0..rows as isize {
            for column in 0..columns as isize {
                let source = from.row(row).wrapping_offset(column * from.element_step);
                let target = to.row(row).wrapping_offset(column * to.element_step);
                target.cast::<T>().write_unaligned(source.cast::<T>().read_unaligned());
            }
        }
    }
}

/// Fills each row of `to` with one element of `from`, `N` columns at a time. The last `N` may overlap the ones before.
///
/// # Safety
/// As [`copy_rows`]; rows of `to` are `columns >= N` contiguous elements of the size of `T`.
#[inline(always)]
unsafe fn broadcast_rows<T: Copy, const N: usize>(
    to: StridedRows,
    from: StridedRows,
    rows: usize,
    columns: usize,
) {
    let last = columns - N;
    for row in 0..rows as isize {
        let to = to.row(row).cast::<T>();
        // SAFETY: this function's contract: `at + N <= columns` in the loop, and `last + N == columns`.
        unsafe {
            let block = [from.row(row).cast::<T>().read_unaligned(); N];
            let mut at = 0;
            while at < last {
                to.add(at).cast::<[T; N]>().write_unaligned(block);
                at += N;
            }
            to.add(last).cast::<[T; N]>().write_unaligned(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_every_element_size_and_step_are_copied() {
        for size in [1usize, 2, 4, 8, 16] {
            for columns in [1, 2, 3, 5, 7, 8, 13, 16, 20, 33] {
                for element in [0, size, 3 * size, size.wrapping_neg()] {
                    let (rows, element) = (4, element as isize);
                    let gap = columns * size + size;
                    let from: Vec<u8> = (0..rows * 3 * gap + gap).map(|i| (i * 31 % 251) as u8).collect();
                    let start = if element < 0 { (columns - 1) * size } else { 0 };
                    let mut to = vec![0xEE; rows * gap];
                    let at = |row: usize, column: usize| {
                        (start + row * 3 * gap).wrapping_add_signed(column as isize * element)
                    };
                    let target = StridedRows {
                        start: to.as_mut_ptr(),
                        row_step: gap as isize,
                        element_step: size as isize,
                    };
                    let source = StridedRows {
                        start: from.as_ptr().wrapping_add(start).cast_mut(),
                        row_step: 3 * gap as isize,
                        element_step: element,
                    };
                    // SAFETY: both vectors were made large enough for every element of these rows.
                    unsafe { copy_rows(size, target, source, rows, columns) };
                    for row in 0..rows {
                        for column in 0..columns {
                            let (a, b) = (row * gap + column * size, at(row, column));
                            assert_eq!(to[a..a + size], from[b..b + size], "{size} {columns} {element}");
                        }
                        assert!(to[row * gap + columns * size..][..size].iter().all(|&byte| byte == 0xEE));
                    }
                }
            }
        }
    }
}
