//! Products of a matrix and a vector. The matrix is read once, four rows or four columns at a time.
//!
//! A plan with one row is seen as `y = A x`, where the rows of `A` are the columns of the second operand.

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::element::{ProductElement, store};
use super::plan::{ProductPieces, ProductPlan};
use super::{Matrix, Product, run_pieces};
use crate::alloc::{try_filled, try_vec};
use crate::cpu::{Specialised, dispatch};
use crate::error::Result;
use crate::kernels::scratch::for_threads;
use crate::threads;
use std::marker::PhantomData;
use std::sync::Mutex;

/// Elements of the matrix in a piece.
const ELEMENTS_PER_PIECE: usize = 64 << 10;
/// Elements of `y` that are computed at a time if the columns of `A` are contiguous: they stay in the L1 cache.
const SUMS_PER_BLOCK: usize = 1024;
/// Terms of a block of a long sum. Threads sum blocks; then the sums of the blocks are added in order.
const TERMS_PER_BLOCK: usize = 32 << 10;
/// Rows at a time, and lanes of each of them. A single row has more lanes, so that additions do not wait for each other.
const ROWS: usize = 4;
const LANES_PER_ROW: usize = 16;
const LANES_OF_SINGLE_ROW: usize = 64;

/// Computes the products of a plan that has one row.
///
/// # Safety
/// The origins are pinned for the layouts that the plan was made of, whose elements are of type `T`.
pub(super) unsafe fn multiply<T: ProductElement>(
    plan: &ProductPlan,
    origins: [*mut u8; 3],
    alpha: T,
    beta: T,
) -> Result<()> {
    assert!(plan.rows == 1);
    let whole = plan.product(origins, alpha, beta);
    if plan.batch() == 1 && plan.columns < ROWS && plan.depth >= 2 * TERMS_PER_BLOCK {
        // SAFETY: this function's contract: the addresses are pinned.
        return unsafe { sum_blocks(&whole) };
    }
    let by_columns = whole.b.column == 1 && whole.b.row != 1;
    let rows = (ELEMENTS_PER_PIECE / plan.depth.max(1)).max(if by_columns { SUMS_PER_BLOCK } else { 8 });
    let rows = rows.min(plan.columns).max(1);
    let products = ELEMENTS_PER_PIECE / (rows * plan.depth.max(1));
    let pieces = ProductPieces::new(plan, 1, rows, products);
    let scratch = || vector_scratch(&whole, plan.depth);
    run_pieces(plan, &whole, &pieces, plan.work(), scratch, &|product: &Product<T>, scratch| {
        // SAFETY: this function's contract: the addresses are pinned, and a piece is a part of the product.
        unsafe { multiply_part(product, scratch) };
    })
}

/// An empty vector with room for a copy of `x`, if one is needed.
fn vector_scratch<T: ProductElement>(product: &Product<T>, depth: usize) -> Result<Vec<T>> {
    try_vec(if product.a.column == 1 { 0 } else { depth })
}

/// Computes a part of a product. Out of line, so that its two callers share the code for the baseline. `scratch` is that of
/// [`vector_scratch`].
///
/// # Safety
/// The product has one row. The addresses are pinned for the extents.
#[inline(never)]
unsafe fn multiply_part<T: ProductElement>(product: &Product<T>, scratch: &mut Vec<T>) {
    // SAFETY: this function's contract.
    dispatch(unsafe { MatrixVector::of(product, scratch) });
}

/// Computes a product of few, long sums: threads take blocks of terms.
///
/// # Safety
/// The addresses are pinned for the extents.
unsafe fn sum_blocks<T: ProductElement>(whole: &Product<T>) -> Result<()> {
    let blocks = whole.depth.div_ceil(TERMS_PER_BLOCK);
    let sums = Mutex::new(try_filled(blocks * whole.columns, T::ZERO)?);
    let work = whole.depth.saturating_mul(whole.columns);
    let shared = threads::should_parallelize(work);
    let mut scratch = for_threads(blocks, shared, || vector_scratch(whole, TERMS_PER_BLOCK))?;
    threads::for_each_piece_with(blocks, shared, &mut scratch, &|block, scratch| {
        let start = block * TERMS_PER_BLOCK;
        let mut parts = [T::ZERO; ROWS];
        let part = Product {
            out: Matrix::new(parts.as_mut_ptr(), 0, 1),
            a: whole.a.part(0, start),
            b: whole.b.part(start, 0),
            depth: TERMS_PER_BLOCK.min(whole.depth - start),
            alpha: T::ONE,
            beta: T::ZERO,
            ..*whole
        };
        // SAFETY: this function's contract: the addresses are pinned, and a block is a part of the terms; `parts` has as
        // many elements as there are columns.
        unsafe { multiply_part(&part, scratch) };
        let mut sums = sums.lock().expect("no thread panics with the lock");
        sums[block * whole.columns..][..whole.columns].copy_from_slice(&parts[..whole.columns]);
    })?;
    let sums = sums.into_inner().expect("no thread panics with the lock");
    for column in 0..whole.columns {
        let sum = (0..blocks).fold(T::ZERO, |sum, block| sum.add(sums[block * whole.columns + column]));
        // SAFETY: this function's contract: the output is pinned for the extents.
        unsafe { store(whole.out.element(0, column), sum, whole.alpha, whole.beta) };
    }
    Ok(())
}

/// `y = beta * y + alpha * (A x)`.
struct MatrixVector<'a, T> {
    /// A column.
    y: Matrix<T>,
    matrix: Matrix<T>,
    /// A column.
    x: Matrix<T>,
    rows: usize,
    depth: usize,
    alpha: T,
    beta: T,
    /// For a copy of `x`, unless it is contiguous.
    scratch: &'a mut Vec<T>,
}

impl<'a, T: ProductElement> MatrixVector<'a, T> {
    /// # Safety
    /// The addresses of the product, which has one row, are pinned for the extents while it is used.
    unsafe fn of(product: &Product<T>, scratch: &'a mut Vec<T>) -> MatrixVector<'a, T> {
        let Product { out, a, b, columns, depth, alpha, beta, .. } = *product;
        let (y, matrix, x) = (out.transposed(), b.transposed(), a.transposed());
        MatrixVector { y, matrix, x, rows: columns, depth, alpha, beta, scratch }
    }

    /// # Safety
    /// The output is pinned for the extents.
    #[inline(always)]
    unsafe fn store(&self, row: usize, sum: T) {
        // SAFETY: this function's contract.
        unsafe { store(self.y.element(row, 0), sum, self.alpha, self.beta) }
    }

    /// Rows that are contiguous: `ROWS` of them at a time, in lanes.
    ///
    /// # Safety
    /// The addresses are pinned for the extents; `x` is contiguous.
    #[inline(always)]
    unsafe fn along_rows<const FAST: bool>(&self, x: *const T) {
        if self.rows == 1 {
            let mut sum = [T::ZERO];
            // SAFETY: this function's contract.
            unsafe {
                self.row_sums::<FAST, 1, LANES_OF_SINGLE_ROW>(0, x, &mut sum);
                self.store(0, sum[0]);
            }
            return;
        }
        let mut row = 0;
        while row < self.rows {
            let count = ROWS.min(self.rows - row);
            let mut sums = [T::ZERO; ROWS];
            // SAFETY: this function's contract; `row + count <= self.rows`.
            unsafe {
                if count == ROWS {
                    self.row_sums::<FAST, ROWS, LANES_PER_ROW>(row, x, &mut sums);
                } else {
                    for r in 0..count {
                        self.row_sums::<FAST, 1, LANES_PER_ROW>(row + r, x, &mut sums[r..]);
                    }
                }
                for (r, &sum) in sums[..count].iter().enumerate() {
                    self.store(row + r, sum);
                }
            }
            row += count;
        }
    }

    /// The sums of `R` contiguous rows, in `L` lanes.
    ///
    /// # Safety
    /// As [`Self::along_rows`]; there are `R` rows from `row` on.
    #[inline(always)]
    unsafe fn row_sums<const FAST: bool, const R: usize, const L: usize>(
        &self,
        row: usize,
        x: *const T,
        sums: &mut [T],
    ) {
        let mut lanes = [[T::ZERO; L]; R];
        let whole = self.depth - self.depth % L;
        let starts: [*const T; R] = std::array::from_fn(|r| self.matrix.element(row + r, 0).cast_const());
        // SAFETY: this function's contract: rows and `x` are contiguous, and have `depth` elements.
        unsafe {
            for at in (0..whole).step_by(L) {
                let factors = x.add(at).cast::<[T; L]>().read();
                for r in 0..R {
                    let terms = starts[r].add(at).cast::<[T; L]>().read();
                    for lane in 0..L {
                        lanes[r][lane] = terms[lane].multiply_add::<FAST>(factors[lane], lanes[r][lane]);
                    }
                }
            }
            for r in 0..R {
                let mut width = L;
                while width > 1 {
                    width /= 2;
                    for lane in 0..width {
                        lanes[r][lane] = lanes[r][lane].add(lanes[r][lane + width]);
                    }
                }
                sums[r] = lanes[r][0];
                for at in whole..self.depth {
                    sums[r] = starts[r].add(at).read().multiply_add::<FAST>(x.add(at).read(), sums[r]);
                }
            }
        }
    }

    /// Columns that are contiguous: four of them at a time are added to a block of sums.
    ///
    /// # Safety
    /// The addresses are pinned for the extents; `x` is contiguous.
    #[inline(always)]
    unsafe fn along_columns<const FAST: bool>(&self, x: *const T) {
        let mut sums = [T::ZERO; SUMS_PER_BLOCK];
        for start in (0..self.rows).step_by(SUMS_PER_BLOCK) {
            let count = SUMS_PER_BLOCK.min(self.rows - start);
            sums[..count].fill(T::ZERO);
            let mut k = 0;
            // SAFETY: this function's contract: columns are contiguous, and `x` has `depth` elements.
            unsafe {
                while k + ROWS <= self.depth {
                    let columns: [*const T; ROWS] =
                        std::array::from_fn(|c| self.matrix.element(start, k + c).cast_const());
                    let factors = x.add(k).cast::<[T; ROWS]>().read();
                    for i in 0..count {
                        let mut sum = sums[i];
                        for c in 0..ROWS {
                            sum = columns[c].add(i).read().multiply_add::<FAST>(factors[c], sum);
                        }
                        sums[i] = sum;
                    }
                    k += ROWS;
                }
                for k in k..self.depth {
                    let (column, factor) = (self.matrix.element(start, k), x.add(k).read());
                    for i in 0..count {
                        sums[i] = column.add(i).read().multiply_add::<FAST>(factor, sums[i]);
                    }
                }
                for (i, &sum) in sums[..count].iter().enumerate() {
                    self.store(start + i, sum);
                }
            }
        }
    }

    /// Any strides: `ROWS` rows at a time.
    ///
    /// # Safety
    /// The addresses are pinned for the extents; `x` is contiguous.
    #[inline(always)]
    unsafe fn strided<const FAST: bool>(&self, x: *const T) {
        for start in (0..self.rows).step_by(ROWS) {
            let count = ROWS.min(self.rows - start);
            let mut sums = [T::ZERO; ROWS];
            // SAFETY: this function's contract.
            unsafe {
                for k in 0..self.depth {
                    let factor = x.add(k).read();
                    for r in 0..count {
                        let term = self.matrix.element(start + r, k).read();
                        sums[r] = term.multiply_add::<FAST>(factor, sums[r]);
                    }
                }
                for (r, &sum) in sums[..count].iter().enumerate() {
                    self.store(start + r, sum);
                }
            }
        }
    }
}

impl<T: ProductElement> Specialised for MatrixVector<'_, T> {
    type Home = PhantomData<T>;
    const WIDE: bool = T::WIDE;

    #[inline(always)]
    fn compute<const FAST: bool>(self) {
        let mut x = self.x.start().cast_const();
        if self.x.row != 1 && self.depth > 1 {
            self.scratch.clear();
            // SAFETY: `of` was called with addresses that are pinned for the extents.
            self.scratch.extend((0..self.depth).map(|k| unsafe { self.x.element(k, 0).read() }));
            x = self.scratch.as_ptr();
        }
        // SAFETY: `of` was called with addresses that are pinned for the extents, and `x` is contiguous.
        unsafe {
            if self.matrix.column == 1 || self.depth <= 1 {
                self.along_rows::<FAST>(x)
            } else if self.matrix.row == 1 && self.rows > 1 {
                self.along_columns::<FAST>(x)
            } else {
                self.strided::<FAST>(x)
            }
        }
    }
}
