//! Transposes tiles.
//!
//! ```text
//! from   columns are contiguous: (r, c) is at from + c * from_step + r * size
//! to     rows are contiguous:    (r, c) is at to + r * to_step + c * size
//! ```
//! Blocks are transposed in registers: N columns are loaded into one register each, and interleaving register i with
//! register i + N/2, log2 N times, leaves one row in each. The last block of a row or column of blocks is moved back over
//! its neighbour where it would not fit, and writes the same values again: there is no code for tails.

/// Transposes a tile of `rows` by `columns` elements of `size` bytes (1, 2, 4, 8 or 16).
///
/// # Safety
/// For every `r < rows` and `c < columns`, `from + c * from_step + r * size` is valid for reading an element and
/// `to + r * to_step + c * size` for writing one. The elements read and written do not overlap.
pub(super) unsafe fn tile(
    size: usize,
    to: *mut u8,
    to_step: isize,
    from: *const u8,
    from_step: isize,
    rows: usize,
    columns: usize,
) {
    let tile = TransposeTile { to, to_step, from, from_step, rows, columns };
    // SAFETY: this function's contract: every element of the tile is valid on both sides.
    unsafe {
        match size {
            1 => tile.transpose::<u8, 16>(),
            2 => tile.transpose::<u16, 8>(),
            4 => tile.transpose::<u32, 4>(),
            8 => tile.transpose::<u64, 2>(),
            _ => tile.one_by_one::<[u64; 2]>(),
        }
    }
}

/// The arguments of [`tile`], under its contract.
struct TransposeTile {
    to: *mut u8,
    to_step: isize,
    from: *const u8,
    from_step: isize,
    rows: usize,
    columns: usize,
}

impl TransposeTile {
    #[inline(always)]
    fn target<T>(&self, row: usize, column: usize) -> *mut T {
        self.to.wrapping_offset(row as isize * self.to_step).cast::<T>().wrapping_add(column)
    }

    #[inline(always)]
    fn source<T>(&self, row: usize, column: usize) -> *const T {
        self.from.wrapping_offset(column as isize * self.from_step).cast::<T>().wrapping_add(row)
    }

    /// Copies one element after the other.
    ///
    /// # Safety
    /// The contract of [`tile`], for elements of the size of `T`.
    unsafe fn one_by_one<T: Copy>(&self) {
        for row in 0..self.rows {
            for column in 0..self.columns {
                // SAFETY: this function's contract: (row, column) is inside the tile.
                unsafe {
                    let element = self.source::<T>(row, column).read_unaligned();
                    self.target::<T>(row, column).write_unaligned(element);
                }
            }
        }
    }

    /// Transposes the tile. Registers are used on x86-64 only.
    ///
    /// # Safety
    /// The contract of [`tile`], for elements of the size of `T`.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn transpose<T: Copy, const N: usize>(&self) {
        // SAFETY: this function's contract.
        unsafe { self.one_by_one::<T>() }
    }

    /// Transposes the tile, in blocks where one of `N` by `N` elements fits.
    ///
    /// # Safety
    /// The contract of [`tile`], for elements of the size of `T`; `N` of them fill 16 bytes.
    #[cfg(target_arch = "x86_64")]
    unsafe fn transpose<T: x86::Interleave, const N: usize>(&self) {
        // SAFETY: this function's contract; rows and columns are at least N where blocks are used, and the
        // CPU has AVX2 where `has_avx2` says so.
        unsafe {
            if self.rows < N || self.columns < N {
                self.one_by_one::<T>()
            } else if crate::cpu::has_avx2() {
                self.double_blocks::<T, N>()
            } else {
                self.square_blocks::<T, N>(0)
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(clippy::needless_range_loop)] // as in `kernels::loops`
mod x86 {
    use super::TransposeTile;
    use std::arch::x86_64::*;

    /// Elements of one size, which registers interleave.
    pub trait Interleave: Copy {
        /// Interleaves the elements of two registers of 16 bytes: `a0 b0 a1 b1 …`, in two registers.
        fn interleave(a: __m128i, b: __m128i) -> (__m128i, __m128i);
        /// Interleaves the elements in each half of two registers of 32 bytes.
        ///
        /// # Safety
        /// The CPU has AVX2.
        unsafe fn interleave_halves(a: __m256i, b: __m256i) -> (__m256i, __m256i);
    }

    macro_rules! interleave {
        ($($type:ty: $low:ident $high:ident $low_halves:ident $high_halves:ident;)*) => { $(
            impl Interleave for $type {
                #[inline(always)]
                fn interleave(a: __m128i, b: __m128i) -> (__m128i, __m128i) {
                    // SAFETY: every x86-64 CPU has SSE2.
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
    interleave! {
        u8: _mm_unpacklo_epi8 _mm_unpackhi_epi8 _mm256_unpacklo_epi8 _mm256_unpackhi_epi8;
        u16: _mm_unpacklo_epi16 _mm_unpackhi_epi16 _mm256_unpacklo_epi16 _mm256_unpackhi_epi16;
        u32: _mm_unpacklo_epi32 _mm_unpackhi_epi32 _mm256_unpacklo_epi32 _mm256_unpackhi_epi32;
        u64: _mm_unpacklo_epi64 _mm_unpackhi_epi64 _mm256_unpacklo_epi64 _mm256_unpackhi_epi64;
    }

    /// Transposes N columns, one in each register, into rows.
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

    impl TransposeTile {
        /// Transposes the columns from `first_column` on, in blocks of N rows by N columns.
        ///
        /// # Safety
        /// The contract of [`tile`](super::tile), for elements of the size of `T`; the tile has at least N rows and N columns.
        pub(super) unsafe fn square_blocks<T: Interleave, const N: usize>(&self, first_column: usize) {
            let mut column = first_column;
            while column < self.columns {
                let start = column.min(self.columns - N);
                let mut row = 0;
                while row < self.rows {
                    // SAFETY: this function's contract; `row.min(…) + N <= rows` and `start + N <= columns`.
                    unsafe { self.square_block::<T, N>(row.min(self.rows - N), start) };
                    row += N;
                }
                column += N;
            }
        }

        /// Transposes one block of N rows by N columns.
        ///
        /// # Safety
        /// The contract of [`tile`](super::tile), for elements of the size of `T`; `row + N <= rows`,
        /// `column + N <= columns`.
        #[inline(always)]
        unsafe fn square_block<T: Interleave, const N: usize>(&self, row: usize, column: usize) {
            // SAFETY: this function's contract: a register is N rows of one column of the source, or N columns of one row
            // of the target. Every x86-64 CPU has SSE2.
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

        /// Transposes the tile in blocks of N rows by 2N columns, and its last columns in square blocks.
        ///
        /// # Safety
        /// As for [`Self::square_blocks`], and the CPU has AVX2.
        #[target_feature(enable = "avx2")]
        pub(super) unsafe fn double_blocks<T: Interleave, const N: usize>(&self) {
            let whole = self.columns / (2 * N) * (2 * N);
            for column in (0..whole).step_by(2 * N) {
                let mut row = 0;
                while row < self.rows {
                    // SAFETY: this function's contract; `row.min(…) + N <= rows` and `column + 2N <= whole <= columns`.
                    unsafe { self.double_block::<T, N>(row.min(self.rows - N), column) };
                    row += N;
                }
            }
            // SAFETY: this function's contract: the tile has at least N rows and N columns.
            unsafe { self.square_blocks::<T, N>(whole) };
        }

        /// Transposes one block of N rows by 2N columns.
        ///
        /// # Safety
        /// The contract of [`tile`](super::tile), for elements of the size of `T`; `row + N <= rows`,
        /// `column + 2 * N <= columns`, and the CPU has AVX2.
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn double_block<T: Interleave, const N: usize>(&self, row: usize, column: usize) {
            // SAFETY: this function's contract: half a register is N rows of one column of the source, and a register 2N
            // columns of one row of the target.
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
    fn tiles_of_every_shape_and_element_size_are_transposed() {
        for size in [1usize, 2, 4, 8, 16] {
            for (rows, columns) in [(1, 1), (3, 40), (40, 3), (16, 16), (17, 35), (64, 64), (5, 9), (2, 2)] {
                // One element of padding after each row and column, to see that nothing else is written.
                let (to_step, from_step) = ((columns + 1) * size, (rows + 1) * size);
                let from: Vec<u8> = (0..columns * from_step).map(|i| (i * 31 % 251) as u8).collect();
                let mut to = vec![0xEE; rows * to_step];
                // SAFETY: both vectors were made large enough for every element of the tile.
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
