//! A blocked kernel for the products of integers and for distances: both operands of a block are packed into panels, and a
//! few rows and columns of the output at a time are kept in registers.

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::element::{ProductElement, store};
use super::plan::{ProductPieces, ProductPlan};
use super::{Matrix, Product, run_pieces};
use crate::alloc::try_filled;
use crate::cpu::{Specialised, dispatch};
use crate::error::Result;
use crate::scalar::Float;
use std::marker::PhantomData;

/// Rows in registers.
const TILE_ROWS: usize = 4;
/// The largest block of the output, and the terms of its sums that are packed at a time.
const BLOCK_ROWS: usize = 64;
const BLOCK_COLUMNS: usize = 128;
const BLOCK_DEPTH: usize = 128;
/// Multiplications that are worth a piece of their own.
const PANEL_WORK_PER_PIECE: usize = 1 << 18;

/// An element type that this file computes blocks of.
pub(super) trait PanelElement: ProductElement {
    /// Computes a block with as many columns in registers as fit a cache line; with a quarter of them at the baseline, which has
    /// registers of a quarter of the size.
    fn compute_block<S: PanelStep<Self>, const FAST: bool>(block: PanelBlock<Self, S>);
    /// The most columns in registers.
    const COLUMNS: usize;
}
macro_rules! panel_elements {
    ($($t:ty, $columns:literal;)*) => { $(
        impl PanelElement for $t {
            const COLUMNS: usize = $columns;
            #[inline(always)]
            fn compute_block<S: PanelStep<Self>, const FAST: bool>(block: PanelBlock<Self, S>) {
                if const { FAST } { block.compute_with::<FAST, $columns>() } else { block.compute_with::<FAST, { $columns / 4 }>() }
            }
        }
    )* };
}
panel_elements! {
    u8, 64;
    i8, 64;
    u16, 32;
    i16, 32;
    u32, 16;
    i32, 16;
    u64, 8;
    i64, 8;
    f32, 16;
    f64, 8;
}

/// How a pair of elements, one of each operand, is accumulated into an element of the output.
pub(super) trait PanelStep<T>: Copy + Send + Sync + 'static {
    fn step<const FAST: bool>(self, sum: T, a: T, b: T) -> T;
    #[inline(always)]
    fn finish(self, sum: T) -> T {
        sum
    }
}

/// The sum of products.
#[derive(Clone, Copy)]
pub(super) struct ProductSum;
impl<T: ProductElement> PanelStep<T> for ProductSum {
    #[inline(always)]
    fn step<const FAST: bool>(self, sum: T, a: T, b: T) -> T {
        a.multiply_add::<FAST>(b, sum)
    }
}

/// The number of unequal elements.
#[derive(Clone, Copy)]
pub(super) struct Unequal;
impl<T: ProductElement + Float> PanelStep<T> for Unequal {
    #[inline(always)]
    fn step<const FAST: bool>(self, sum: T, a: T, b: T) -> T {
        sum.add(if a != b { T::ONE } else { T::ZERO })
    }
}

/// The sum of magnitudes of differences.
#[derive(Clone, Copy)]
pub(super) struct Manhattan;
impl<T: ProductElement + Float<Part = T>> PanelStep<T> for Manhattan {
    #[inline(always)]
    fn step<const FAST: bool>(self, sum: T, a: T, b: T) -> T {
        sum.add(a.sub(b).abs())
    }
}

/// The square root of the sum of squares of differences.
#[derive(Clone, Copy)]
pub(super) struct Euclidean;
impl<T: ProductElement + Power> PanelStep<T> for Euclidean {
    #[inline(always)]
    fn step<const FAST: bool>(self, sum: T, a: T, b: T) -> T {
        let difference = a.sub(b);
        difference.multiply_add::<FAST>(difference, sum)
    }
    #[inline(always)]
    fn finish(self, sum: T) -> T {
        sum.root()
    }
}

/// The largest magnitude of a difference.
#[derive(Clone, Copy)]
pub(super) struct Chebyshev;
impl<T: ProductElement + Float<Part = T>> PanelStep<T> for Chebyshev {
    #[inline(always)]
    fn step<const FAST: bool>(self, sum: T, a: T, b: T) -> T {
        sum.maximum(a.sub(b).abs())
    }
}

/// The p-norm of differences.
#[derive(Clone, Copy)]
pub(super) struct Minkowski(pub f64);
impl<T: ProductElement + Power> PanelStep<T> for Minkowski {
    #[inline(always)]
    fn step<const FAST: bool>(self, sum: T, a: T, b: T) -> T {
        sum.add(a.sub(b).abs().power(self.0))
    }
    #[inline(always)]
    fn finish(self, sum: T) -> T {
        sum.power(1.0 / self.0)
    }
}

/// Roots and powers of magnitudes.
pub(super) trait Power: Float<Part = Self> {
    fn root(self) -> Self;
    fn power(self, exponent: f64) -> Self;
}
macro_rules! powers {
    ($($t:ty),*) => { $(
        impl Power for $t {
            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn power(self, exponent: f64) -> Self {
                (self as f64).powf(exponent) as $t
            }
        }
    )* };
}
powers! { f32, f64 }

/// Computes the products of a plan.
///
/// # Safety
/// The origins are pinned for the layouts that the plan was made of, whose elements are of type `T`.
pub(super) unsafe fn multiply<T: PanelElement, S: PanelStep<T>>(
    plan: &ProductPlan,
    origins: [*mut u8; 3],
    alpha: T,
    beta: T,
    step: S,
) -> Result<()> {
    let whole = plan.product(origins, alpha, beta);
    let (rows, columns) = (plan.rows.min(BLOCK_ROWS), plan.columns.min(BLOCK_COLUMNS));
    let pieces = ProductPieces::new(plan, rows, columns, PANEL_WORK_PER_PIECE / plan.work_of_one().max(1));
    let elements = plan.work().saturating_mul(T::COST);
    let scratch = || try_filled(scratch_elements::<T>(rows, columns, plan.depth), T::ZERO);
    run_pieces(plan, &whole, &pieces, elements, scratch, &|product: &Product<T>, scratch| {
        // The addresses are pinned: this function's contract; a piece is a part of the product.
        dispatch(PanelBlock { product: *product, step, scratch });
    })
}

/// Elements of the scratch memory of a block: both operands packed, and the sums.
fn scratch_elements<T: PanelElement>(rows: usize, columns: usize, depth: usize) -> usize {
    let (rows, columns) = (rows.next_multiple_of(TILE_ROWS), columns.next_multiple_of(T::COLUMNS));
    (rows + columns) * depth.min(BLOCK_DEPTH) + rows * columns
}

/// A block of a product. Only `multiply` makes one, with addresses that are pinned for the extents.
pub(super) struct PanelBlock<'a, T, S> {
    product: Product<T>,
    step: S,
    /// As many elements as `scratch_elements` says.
    scratch: &'a mut [T],
}

impl<T: PanelElement, S: PanelStep<T>> Specialised for PanelBlock<'_, T, S> {
    type Home = PhantomData<T>;
    const WIDE: bool = false;

    #[inline(always)]
    fn compute<const FAST: bool>(self) {
        T::compute_block::<S, FAST>(self)
    }
}

impl<T: ProductElement, S: PanelStep<T>> PanelBlock<'_, T, S> {
    /// Computes the block with `L` columns in registers.
    #[inline(always)]
    pub fn compute_with<const FAST: bool, const L: usize>(self) {
        let Product { out, a, b, rows, columns, depth, alpha, beta } = self.product;
        let (row_tiles, column_tiles) = (rows.div_ceil(TILE_ROWS), columns.div_ceil(L));
        let deepest = depth.min(BLOCK_DEPTH);
        let (packed_a, rest) = self.scratch.split_at_mut(row_tiles * TILE_ROWS * deepest);
        let (packed_b, rest) = rest.split_at_mut(column_tiles * L * deepest);
        let sums = &mut rest[..row_tiles * TILE_ROWS * column_tiles * L];
        sums.fill(T::ZERO);
        let (packed_a, packed_b) = (packed_a.as_chunks_mut::<TILE_ROWS>().0, packed_b.as_chunks_mut::<L>().0);
        let sums = sums.as_chunks_mut::<L>().0.as_chunks_mut::<TILE_ROWS>().0;
        for start in (0..depth).step_by(BLOCK_DEPTH) {
            let depth = BLOCK_DEPTH.min(depth - start);
            // SAFETY: the addresses are pinned for the extents: see `multiply`.
            unsafe {
                pack(packed_a, a.part(0, start), rows, depth);
                pack(packed_b, b.transposed().part(0, start), columns, depth);
            }
            for (i, rows) in packed_a.chunks_exact(depth).take(row_tiles).enumerate() {
                for (j, columns) in packed_b.chunks_exact(depth).take(column_tiles).enumerate() {
                    let mut tile = sums[i * column_tiles + j];
                    for (left, right) in rows.iter().zip(columns) {
                        for r in 0..TILE_ROWS {
                            for c in 0..L {
                                tile[r][c] = self.step.step::<FAST>(tile[r][c], left[r], right[c]);
                            }
                        }
                    }
                    sums[i * column_tiles + j] = tile;
                }
            }
        }
        for row in 0..rows {
            for column in 0..columns {
                let tile = &sums[row / TILE_ROWS * column_tiles + column / L];
                let sum = self.step.finish(tile[row % TILE_ROWS][column % L]);
                // SAFETY: the addresses are pinned for the extents: see `multiply`.
                unsafe { store(out.element(row, column), sum, alpha, beta) };
            }
        }
    }
}

/// Packs rows of a matrix in groups of `R`: `R` elements of the first column, then those of the second, and so on. If the
/// last group has fewer rows, the places of the missing ones keep their values, which no result depends on.
///
/// # Safety
/// The address is pinned for these extents.
#[inline(always)]
unsafe fn pack<T: ProductElement, const R: usize>(
    packed: &mut [[T; R]],
    matrix: Matrix<T>,
    rows: usize,
    depth: usize,
) {
    for (tile, start) in (0..rows).step_by(R).enumerate() {
        let target = &mut packed[tile * depth..][..depth];
        let count = R.min(rows - start);
        if matrix.row == 1 && count == R {
            for (k, group) in target.iter_mut().enumerate() {
                // SAFETY: this function's contract: `R` rows are contiguous from here on.
                *group = unsafe { matrix.element(start, k).cast::<[T; R]>().read() };
            }
        } else {
            for r in 0..count {
                for (k, group) in target.iter_mut().enumerate() {
                    // SAFETY: this function's contract.
                    group[r] = unsafe { matrix.element(start + r, k).read() };
                }
            }
        }
    }
}
