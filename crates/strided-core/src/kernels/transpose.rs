//! Tiles that are read along one dim and written along another.
//!
//! ```text
//! from   column c is a run of rows: (r, c) lies at from + c * from_step + r * size
//! to     row r is a run of columns: (r, c) lies at to + r * to_step + c * size
//! ```
//! Blocks are transposed in registers: columns are read into one register each, and interleaving register i
//! with register i + N/2, log2 N times, leaves one row in each. Where a block does not fit any more it is moved
//! back over what is done already, which writes the same values again.

/// Copies a tile of `rows` by `columns` elements of `size` bytes (1, 2, 4, 8 or 16).
///
/// # Safety
/// Every (r, c) has an element at both places, and the two do not overlap.
pub(super) unsafe fn tile(
    size: usize,
    to: *mut u8,
    to_step: isize,
    from: *const u8,
    from_step: isize,
    rows: usize,
    columns: usize,
) {
    let tile = Tile { to, to_step, from, from_step, rows, columns };
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => tile.copy::<u8, 16>(),
            2 => tile.copy::<u16, 8>(),
            4 => tile.copy::<u32, 4>(),
            8 => tile.copy::<u64, 2>(),
            _ => tile.plain::<[u64; 2]>(0, rows, 0, columns),
        }
    }
}

struct Tile {
    to: *mut u8,
    to_step: isize,
    from: *const u8,
    from_step: isize,
    rows: usize,
    columns: usize,
}

impl Tile {
    #[inline(always)]
    fn target<T>(&self, row: usize, column: usize) -> *mut T {
        self.to.wrapping_offset(row as isize * self.to_step).cast::<T>().wrapping_add(column)
    }

    #[inline(always)]
    fn source<T>(&self, row: usize, column: usize) -> *const T {
        self.from.wrapping_offset(column as isize * self.from_step).cast::<T>().wrapping_add(row)
    }

    /// Element by element.
    unsafe fn plain<T: Copy>(&self, first_row: usize, rows: usize, first_column: usize, columns: usize) {
        for row in first_row..first_row + rows {
            for column in first_column..first_column + columns {
                // SAFETY: the promise of `tile`.
                unsafe {
                    let element = self.source::<T>(row, column).read_unaligned();
                    self.target::<T>(row, column).write_unaligned(element);
                }
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn copy<T: Copy, const N: usize>(&self) {
        // SAFETY: the promise of `tile`.
        unsafe { self.plain::<T>(0, self.rows, 0, self.columns) }
    }

    #[cfg(target_arch = "x86_64")]
    unsafe fn copy<T: x86::Lanes, const N: usize>(&self) {
        // SAFETY: the promise of `tile`.
        unsafe {
            if self.rows < N || self.columns < N {
                self.plain::<T>(0, self.rows, 0, self.columns)
            } else if crate::cpu::has_avx2() {
                self.wide::<T, N>()
            } else {
                self.narrow::<T, N>(0)
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(clippy::needless_range_loop)] // as in `map`
mod x86 {
    use super::Tile;
    use std::arch::x86_64::*;

    /// Elements of one size, with the two ways to interleave them. A register of 16 bytes holds N of them.
    pub trait Lanes: Copy {
        fn interleave(a: __m128i, b: __m128i) -> (__m128i, __m128i);
        /// The same in each half of a register of 32 bytes.
        ///
        /// # Safety
        /// The CPU has AVX2.
        unsafe fn interleave_halves(a: __m256i, b: __m256i) -> (__m256i, __m256i);
    }

    macro_rules! lanes {
        ($($type:ty: $low:ident $high:ident $low_halves:ident $high_halves:ident;)*) => { $(
            impl Lanes for $type {
                #[inline(always)]
                fn interleave(a: __m128i, b: __m128i) -> (__m128i, __m128i) {
                    // SAFETY: every x86-64 has SSE2.
                    unsafe { ($low(a, b), $high(a, b)) }
                }
                #[inline]
                #[target_feature(enable = "avx2")]
                unsafe fn interleave_halves(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
                    ($low_halves(a, b), $high_halves(a, b))
                }
            }
        )* };
    }
    lanes! {
        u8: _mm_unpacklo_epi8 _mm_unpackhi_epi8 _mm256_unpacklo_epi8 _mm256_unpackhi_epi8;
        u16: _mm_unpacklo_epi16 _mm_unpackhi_epi16 _mm256_unpacklo_epi16 _mm256_unpackhi_epi16;
        u32: _mm_unpacklo_epi32 _mm_unpackhi_epi32 _mm256_unpacklo_epi32 _mm256_unpackhi_epi32;
        u64: _mm_unpacklo_epi64 _mm_unpackhi_epi64 _mm256_unpacklo_epi64 _mm256_unpackhi_epi64;
    }

    /// Turns N columns, one in each register, into rows.
    #[inline(always)]
    fn interleave_all<R: Copy, const N: usize>(
        mut registers: [R; N],
        pair: impl Fn(R, R) -> (R, R),
    ) -> [R; N] {
        for _ in 0..N.ilog2() {
            let before = registers;
            for i in 0..N / 2 {
                (registers[2 * i], registers[2 * i + 1]) = pair(before[i], before[i + N / 2]);
            }
        }
        registers
    }

    impl Tile {
        /// Blocks of N rows by N columns, from a column on.
        pub(super) unsafe fn narrow<T: Lanes, const N: usize>(&self, first: usize) {
            let mut column = first;
            while column < self.columns {
                let start = column.min(self.columns - N);
                let mut row = 0;
                while row < self.rows {
                    // SAFETY: the promise of `tile`, and both extents are at least N.
                    unsafe { self.block::<T, N>(row.min(self.rows - N), start) };
                    row += N;
                }
                column += N;
            }
        }

        #[inline(always)]
        unsafe fn block<T: Lanes, const N: usize>(&self, row: usize, column: usize) {
            // SAFETY: the callers have N rows from `row` and N columns from `column` on; SSE2 is everywhere.
            unsafe {
                let mut registers = [_mm_setzero_si128(); N];
                for i in 0..N {
                    registers[i] = _mm_loadu_si128(self.source::<T>(row, column + i).cast());
                }
                let rows = interleave_all(registers, |a, b| T::interleave(a, b));
                for i in 0..N {
                    _mm_storeu_si128(self.target::<T>(row + i, column).cast(), rows[i]);
                }
            }
        }

        /// Blocks of N rows by 2N columns, then narrow ones.
        #[target_feature(enable = "avx2")]
        pub(super) unsafe fn wide<T: Lanes, const N: usize>(&self) {
            let whole = self.columns / (2 * N) * (2 * N);
            for column in (0..whole).step_by(2 * N) {
                let mut row = 0;
                while row < self.rows {
                    // SAFETY: the promise of `tile`; there are N rows and 2N columns.
                    unsafe { self.wide_block::<T, N>(row.min(self.rows - N), column) };
                    row += N;
                }
            }
            // SAFETY: as above.
            unsafe { self.narrow::<T, N>(whole) };
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn wide_block<T: Lanes, const N: usize>(&self, row: usize, column: usize) {
            // SAFETY: the callers have N rows from `row` and 2N columns from `column` on, and AVX2.
            unsafe {
                let mut registers = [_mm256_setzero_si256(); N];
                for i in 0..N {
                    let low = self.source::<T>(row, column + i).cast();
                    let high = self.source::<T>(row, column + N + i).cast();
                    registers[i] = _mm256_loadu2_m128i(high, low);
                }
                let rows = interleave_all(registers, |a, b| T::interleave_halves(a, b));
                for i in 0..N {
                    _mm256_storeu_si256(self.target::<T>(row + i, column).cast(), rows[i]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn tiles_of_every_size_are_transposed() {
        for size in [1usize, 2, 4, 8, 16] {
            for (rows, columns) in [(1, 1), (3, 40), (40, 3), (16, 16), (17, 35), (64, 64), (5, 9), (2, 2)] {
                // One element of room beyond each row and column, to see that nothing else is written.
                let (to_step, from_step) = ((columns + 1) * size, (rows + 1) * size);
                let from: Vec<u8> = (0..columns * from_step).map(|i| (i * 31 % 251) as u8).collect();
                let mut to = vec![0xEE; rows * to_step];
                // SAFETY: both have room for every element.
                unsafe {
                    let (to_step, from_step) = (to_step as isize, from_step as isize);
                    super::tile(size, to.as_mut_ptr(), to_step, from.as_ptr(), from_step, rows, columns);
                }
                for row in 0..rows {
                    for column in 0..columns {
                        let (a, b) = (row * to_step + column * size, column * from_step + row * size);
                        assert_eq!(
                            to[a..a + size],
                            from[b..b + size],
                            "{size} {rows}x{columns} {row},{column}"
                        );
                    }
                    let gap = row * to_step + columns * size;
                    assert!(to[gap..gap + size].iter().all(|&byte| byte == 0xEE));
                }
            }
        }
    }
}
