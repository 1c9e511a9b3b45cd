//! Many short runs become one: rows of a few elements are laid side by side in a room, and back.

use crate::cpu;
use crate::nest::Loop;

/// The most bytes of a row: longer ones are worth a kernel's call each.
pub(super) const LONGEST: usize = 256;

/// Where rows lie: the first one, bytes from row to row, and from element to element.
#[derive(Clone, Copy)]
pub(super) struct RowsAt {
    pub start: *mut u8,
    pub step: isize,
    pub element: isize,
}

impl RowsAt {
    /// An operand's own place.
    pub fn of(k: usize, start: *mut u8, rows: &Loop, columns: &Loop) -> RowsAt {
        RowsAt { start, step: rows.steps[k], element: columns.steps[k] }
    }

    /// Rows without gaps, of so many elements of so many bytes.
    pub fn dense(start: *mut u8, columns: usize, size: usize) -> RowsAt {
        RowsAt { start, step: (columns * size) as isize, element: size as isize }
    }

    #[inline(always)]
    fn row(self, index: isize) -> *mut u8 {
        self.start.wrapping_offset(index * self.step)
    }

    /// Whether all rows are one run.
    pub fn is_run(self, columns: usize) -> bool {
        self.step == columns as isize * self.element
    }
}

/// Copies rows of elements of so many bytes (1, 2, 4, 8 or 16).
///
/// # Safety
/// Every element is there and has its place, and the two do not overlap.
pub(super) unsafe fn copy(size: usize, to: RowsAt, from: RowsAt, rows: usize, columns: usize) {
    cpu::simd(
        #[inline(always)]
        || {
            let (bytes, dense) = (columns * size, size as isize);
            let whole = to.element == dense && from.element == dense;
            // SAFETY: the caller's promise; a width is at most the bytes of a row.
            unsafe {
                match bytes {
                    32.. if whole => return dense_rows::<32>(to, from, rows, bytes),
                    16.. if whole => return dense_rows::<16>(to, from, rows, bytes),
                    8.. if whole => return dense_rows::<8>(to, from, rows, bytes),
                    4.. if whole => return dense_rows::<4>(to, from, rows, bytes),
                    _ => {}
                }
                match size {
                    1 => elements::<u8, 32, 8>(to, from, rows, columns),
                    2 => elements::<u16, 16, 4>(to, from, rows, columns),
                    4 => elements::<u32, 8, 4>(to, from, rows, columns),
                    8 => elements::<u64, 4, 2>(to, from, rows, columns),
                    _ => elements::<[u64; 2], 2, 1>(to, from, rows, columns),
                }
            }
        },
    )
}

/// Rows of at least W bytes. The last W of them may have some of those before.
///
/// # Safety
/// As [`copy`].
#[inline(always)]
unsafe fn dense_rows<const W: usize>(to: RowsAt, from: RowsAt, rows: usize, bytes: usize) {
    let last = bytes - W;
    for row in 0..rows as isize {
        let (to, from) = (to.row(row), from.row(row));
        let mut at = 0;
        while at < last {
            // SAFETY: the caller's promise.
            unsafe { to.add(at).cast::<[u8; W]>().write(from.add(at).cast::<[u8; W]>().read()) };
            at += W;
        }
        // SAFETY: as above.
        unsafe { to.add(last).cast::<[u8; W]>().write(from.add(last).cast::<[u8; W]>().read()) };
    }
}

/// Rows of elements with gaps between them, or of one element each that is spread: N at a time, or fewer.
///
/// # Safety
/// As [`copy`].
#[inline(always)]
unsafe fn elements<T: Copy, const N: usize, const FEWER: usize>(
    to: RowsAt,
    from: RowsAt,
    rows: usize,
    columns: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if from.element == 0 && to.element == size_of::<T>() as isize && columns >= FEWER {
            if columns >= N {
                return spread::<T, N>(to, from, rows, columns);
            }
            return spread::<T, FEWER>(to, from, rows, columns);
        }
        for row in 0..rows as isize {
            for column in 0..columns as isize {
                let element = from.row(row).wrapping_offset(column * from.element);
                let place = to.row(row).wrapping_offset(column * to.element);
                place.cast::<T>().write_unaligned(element.cast::<T>().read_unaligned());
            }
        }
    }
}

/// Rows of one element each, which has N places or more.
///
/// # Safety
/// As [`copy`].
#[inline(always)]
unsafe fn spread<T: Copy, const N: usize>(to: RowsAt, from: RowsAt, rows: usize, columns: usize) {
    let last = columns - N;
    for row in 0..rows as isize {
        let to = to.row(row).cast::<T>();
        // SAFETY: the caller's promise.
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
    fn rows_of_every_size_are_copied() {
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
                    let (row, place) = (3 * gap as isize, from.as_ptr().wrapping_add(start).cast_mut());
                    let (wanted, source) = (
                        RowsAt { start: to.as_mut_ptr(), step: gap as isize, element: size as isize },
                        RowsAt { start: place, step: row, element },
                    );
                    // SAFETY: both have room for every element.
                    unsafe { copy(size, wanted, source, rows, columns) };
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
