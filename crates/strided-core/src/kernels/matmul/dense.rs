//! Products of floating matrices in vector registers, and of complex ones by their real and imaginary parts.
//!
//! Both operands are packed in the order in which tiles read them, from any strides. A block of the output then computes its
//! tiles, a depth block of the terms at a time: the packed columns of a tile stay in the L1 cache, those of a block in the L2
//! cache. Each piece of a small product packs for itself. The operands of a large one are packed once, by all threads.
//!
//! The terms of a sum are added in order, by depth blocks that follow from the depth alone. So the bits of an element do not
//! depend on its place in a block, nor on the number of threads.
//!
//! A complex product is four real ones, of the real and imaginary parts: views of the same memory with twice the strides.
//!
//! The crate `gemm`, which was used before, took 1.1 to 1.3 times as long for large products, and 1.5 times for 32x32: its
//! blocks packed the operands again for each thread.

use super::Product;
use super::element::{ProductElement, store};
#[cfg(target_arch = "x86_64")]
use super::packed::{PackBuffer, pack};
use super::panel::{self, PanelElement, ProductSum};
#[cfg(target_arch = "x86_64")]
use super::plan::ProductPieces;
use super::plan::ProductPlan;
#[cfg(target_arch = "x86_64")]
use super::registers::{Double256, Double512, Register, Single256, Single512};
#[cfg(target_arch = "x86_64")]
use super::tile::{TileSums, TileTarget, add_products};
use crate::cpu::{self, Level};
use crate::error::Result;
use crate::scalar::{Complex, Num};

/// A type whose products this file computes.
pub(super) trait DenseElement: ProductElement {
    /// Runs a plan.
    ///
    /// # Safety
    /// The origins are pinned for the layouts that the plan was made of, whose elements are of this type.
    unsafe fn run(plan: &ProductPlan, origins: [*mut u8; 3], alpha: Self, beta: Self) -> Result<()>;
}

macro_rules! dense_elements {
    ($($real:ty: $fused:ident $wide:ident;)*) => { $(
        impl DenseElement for $real {
            unsafe fn run(plan: &ProductPlan, origins: [*mut u8; 3], alpha: $real, beta: $real) -> Result<()> {
                // SAFETY: this function's contract, and the CPU has the instructions of its level.
                unsafe {
                    match cpu::level() {
                        #[cfg(target_arch = "x86_64")]
                        Level::Wide => run_tiled::<$wide, 8>(plan, &plan.product(origins, alpha, beta)),
                        #[cfg(target_arch = "x86_64")]
                        Level::Fused => run_tiled::<$fused, 6>(plan, &plan.product(origins, alpha, beta)),
                        _ => panel::run(plan, origins, alpha, beta, ProductSum),
                    }
                }
            }
        }

        impl DenseElement for Complex<$real> {
            unsafe fn run(plan: &ProductPlan, origins: [*mut u8; 3], alpha: Self, beta: Self) -> Result<()> {
                // SAFETY: this function's contract.
                unsafe { run_complex::<$real>(plan, origins, alpha, beta) }
            }
        }
    )* };
}
dense_elements! {
    f32: Single256 Single512;
    f64: Double256 Double512;
}

/// Runs a plan of complex elements.
///
/// # Safety
/// The origins are pinned for the layouts that the plan was made of, whose elements are of type `Complex<R>`.
unsafe fn run_complex<R: DenseElement + PanelElement + std::ops::Neg<Output = R>>(
    plan: &ProductPlan,
    origins: [*mut u8; 3],
    alpha: Complex<R>,
    beta: Complex<R>,
) -> Result<()>
where
    Complex<R>: ProductElement,
{
    let mut beta = beta;
    if beta.im != R::ZERO {
        // The real products take a real factor only.
        let whole = plan.product(origins, alpha, beta);
        plan.for_each(&whole, 0, plan.batch(), |product| {
            for row in 0..product.rows {
                for column in 0..product.columns {
                    let (zero, one) = (<Complex<R> as Num>::ZERO, <Complex<R> as Num>::ONE);
                    // SAFETY: this function's contract.
                    unsafe { store(product.out.element(row, column), zero, one, beta) };
                }
            }
        });
        beta = <Complex<R> as Num>::ONE;
    }
    // alpha * (a.re + i a.im) * (b.re + i b.im), as (factor, part of `a`, part of `b`) of the real and the imaginary part of
    // the result.
    let Complex { re, im } = alpha;
    let terms = [
        [(re, 0, 0), (-re, 1, 1), (-im, 0, 1), (-im, 1, 0)],
        [(re, 0, 1), (re, 1, 0), (im, 0, 0), (-im, 1, 1)],
    ];
    let parts = plan.of_parts();
    for (part, terms) in terms.into_iter().enumerate() {
        let mut beta = beta.re;
        // Terms with a factor of 0 are skipped. If all are 0, the first one still runs, since it applies `beta`.
        for (term, (alpha, i, j)) in terms.into_iter().enumerate() {
            if alpha != R::ZERO || (term == 0 && im == R::ZERO) {
                let origin = |k: usize, part: usize| origins[k].wrapping_add(part * size_of::<R>());
                // SAFETY: this function's contract; parts of pinned elements are pinned.
                unsafe { R::run(&parts, [origin(0, part), origin(1, i), origin(2, j)], alpha, beta)? };
                beta = R::ONE;
            }
        }
    }
    Ok(())
}

/// The operands of a product with at least this many multiplications are packed once, by all threads.
#[cfg(target_arch = "x86_64")]
const MIN_SHARED: usize = 1 << 23;
/// The most bytes of packed operands. Larger products are computed in parts.
#[cfg(target_arch = "x86_64")]
const MAX_PACKED_BYTES: usize = 64 << 20;
/// About how many elements one task packs.
#[cfg(target_arch = "x86_64")]
const PACK_ELEMENTS: usize = 64 << 10;
/// Rows and columns of a block of a large product. With the sums and packed operands of a depth block it fits the L2 cache.
#[cfg(target_arch = "x86_64")]
const BLOCK_ROWS: usize = 96;
#[cfg(target_arch = "x86_64")]
const BLOCK_COLUMNS: usize = 192;
/// The most terms of a depth block: the packed columns of a tile then fit the L1 cache.
#[cfg(target_arch = "x86_64")]
const MAX_DEPTH: usize = 320;

/// Runs a plan with tiles of `R` rows.
///
/// # Safety
/// The CPU has the instructions of `X`, and the addresses are pinned for the plan.
#[cfg(target_arch = "x86_64")]
unsafe fn run_tiled<X: Register, const R: usize>(
    plan: &ProductPlan,
    whole: &Product<X::Element>,
) -> Result<()> {
    let cost = X::Element::COST;
    if plan.work_of_one() < MIN_SHARED {
        let pieces = ProductPieces::blocks(plan, cost);
        let elements = plan.work().saturating_mul(cost) / super::MULTIPLY_ADDS_PER_ELEMENT;
        return super::run_each(pieces.count(), elements, &|i| {
            let packed = PackedOperands::<X, R>::new(pieces.rows, pieces.columns, plan.depth)?;
            let mut done = Ok(());
            pieces.for_each(plan, whole, i, |product| {
                if done.is_ok() {
                    // SAFETY: this function's contract, for a block of a product.
                    done = unsafe { packed.run_alone(product) };
                }
            });
            done
        });
    }
    let mut done = Ok(());
    plan.for_each(whole, 0, plan.batch(), |product| {
        if done.is_ok() {
            // SAFETY: this function's contract.
            done = unsafe { run_large::<X, R>(product) };
        }
    });
    done
}

/// Computes a large product on all threads, in parts whose packed operands are not too large.
///
/// # Safety
/// The CPU has the instructions of `X`, and the addresses are pinned for the extents.
#[cfg(target_arch = "x86_64")]
unsafe fn run_large<X: Register, const R: usize>(product: &Product<X::Element>) -> Result<()> {
    let Product { rows, columns, depth, .. } = *product;
    let budget = MAX_PACKED_BYTES / size_of::<X::Element>();
    let (mut part_rows, mut part_columns) = (rows, columns);
    while (part_rows + part_columns).saturating_mul(depth) > budget
        && (part_rows > BLOCK_ROWS || part_columns > BLOCK_COLUMNS)
    {
        if part_rows >= part_columns {
            part_rows = part_rows.div_ceil(2).next_multiple_of(BLOCK_ROWS);
        } else {
            part_columns = part_columns.div_ceil(2).next_multiple_of(BLOCK_COLUMNS);
        }
    }
    let part_depth = (budget / (part_rows + part_columns)).next_multiple_of(MAX_DEPTH).min(depth).max(1);
    let packed = PackedOperands::<X, R>::new(part_rows, part_columns, part_depth)?;
    for row in (0..rows).step_by(part_rows) {
        for column in (0..columns).step_by(part_columns) {
            for start in (0..depth.max(1)).step_by(part_depth) {
                let part = Product {
                    out: product.out.part(row, column),
                    a: product.a.part(row, start),
                    b: product.b.part(start, column),
                    rows: part_rows.min(rows - row),
                    columns: part_columns.min(columns - column),
                    depth: part_depth.min(depth - start),
                    beta: if start == 0 { product.beta } else { X::Element::ONE },
                    ..*product
                };
                // SAFETY: this function's contract, for a part of the product.
                unsafe { packed.run(&part)? };
            }
        }
    }
    Ok(())
}

/// The packed operands of a product, or memory for them.
#[cfg(target_arch = "x86_64")]
struct PackedOperands<X: Register, const R: usize> {
    buffer: PackBuffer<X::Element>,
    /// Groups of rows of the first operand that there is memory for.
    row_groups: usize,
    column_groups: usize,
    depth: usize,
}

#[cfg(target_arch = "x86_64")]
impl<X: Register, const R: usize> PackedOperands<X, R> {
    /// Memory for the operands of products of at most these extents.
    fn new(rows: usize, columns: usize, depth: usize) -> Result<Self> {
        let (row_groups, column_groups) = (rows.div_ceil(R), columns.div_ceil(X::COLUMNS));
        let elements = (row_groups * R + column_groups * X::COLUMNS).saturating_mul(depth);
        Ok(PackedOperands { buffer: PackBuffer::new(elements)?, row_groups, column_groups, depth })
    }

    /// Groups of both operands.
    fn groups(&self) -> usize {
        self.row_groups + self.column_groups
    }

    /// The packed rows of a tile of a product of this depth.
    fn rows(&self, group: usize, depth: usize) -> *mut X::Element {
        self.buffer.at.wrapping_add(group * R * depth)
    }

    /// The packed columns of a tile.
    fn columns(&self, group: usize, depth: usize) -> *mut X::Element {
        self.rows(self.row_groups, self.depth).wrapping_add(group * X::COLUMNS * depth)
    }

    /// Packs one group: of rows of the first operand, or of columns of the second one.
    ///
    /// # Safety
    /// The addresses are pinned for the extents, which are at most those of `new`; no other thread uses the group.
    unsafe fn pack_group(&self, product: &Product<X::Element>, group: usize) {
        let Product { a, b, rows, columns, depth, .. } = *product;
        // SAFETY: this function's contract; the groups of `new` do not overlap.
        unsafe {
            if group < self.row_groups {
                let start = group * R;
                if start < rows {
                    pack::<_, R>(self.rows(group, depth), a.part(start, 0), R.min(rows - start), depth);
                }
                return;
            }
            let group = group - self.row_groups;
            let start = group * X::COLUMNS;
            if start < columns {
                let (to, from) = (self.columns(group, depth), b.transposed().part(start, 0));
                let count = X::COLUMNS.min(columns - start);
                match X::COLUMNS {
                    32 => pack::<_, 32>(to, from, count, depth),
                    16 => pack::<_, 16>(to, from, count, depth),
                    _ => pack::<_, 8>(to, from, count, depth),
                }
            }
        }
    }

    /// Packs the operands and computes the product, on this thread.
    ///
    /// # Safety
    /// The CPU has the instructions of `X`, and the addresses are pinned for the extents, which are at most those of `new`.
    unsafe fn run_alone(&self, product: &Product<X::Element>) -> Result<()> {
        // SAFETY: this function's contract; the operands are packed before they are read.
        unsafe {
            (0..self.groups()).for_each(|group| self.pack_group(product, group));
            self.run_block(product, 0, 0)
        }
    }

    /// Packs the operands and computes the product, on all threads.
    ///
    /// # Safety
    /// The CPU has the instructions of `X`, and the addresses are pinned for the extents, which are at most those of `new`.
    unsafe fn run(&self, product: &Product<X::Element>) -> Result<()> {
        let groups_of_task = (PACK_ELEMENTS / (16 * product.depth.max(1))).max(1);
        let tasks = self.groups().div_ceil(groups_of_task);
        crate::threads::run(tasks, true, &|task| {
            for group in task * groups_of_task..self.groups().min((task + 1) * groups_of_task) {
                // SAFETY: this function's contract; tasks pack different groups.
                unsafe { self.pack_group(product, group) };
            }
        })?;
        let (rows, columns) = (product.rows.div_ceil(BLOCK_ROWS), product.columns.div_ceil(BLOCK_COLUMNS));
        super::try_run(rows * columns, true, &|block| {
            let (row, column) = (block / columns * BLOCK_ROWS, block % columns * BLOCK_COLUMNS);
            let part = Product {
                out: product.out.part(row, column),
                rows: BLOCK_ROWS.min(product.rows - row),
                columns: BLOCK_COLUMNS.min(product.columns - column),
                ..*product
            };
            // SAFETY: this function's contract, for a block of the output; the operands were packed.
            unsafe { self.run_block(&part, row / R, column / X::COLUMNS) }
        })
    }

    /// Computes a block of the output from packed operands. Its first row and column are in these groups.
    ///
    /// # Safety
    /// The CPU has the instructions of `X`, the output is pinned, and the operands are packed.
    unsafe fn run_block(
        &self,
        product: &Product<X::Element>,
        row_group: usize,
        column_group: usize,
    ) -> Result<()> {
        let is_deep = product.depth > MAX_DEPTH;
        let tiles = product.rows.div_ceil(R) * product.columns.div_ceil(X::COLUMNS);
        let sums = if is_deep { tiles * R * X::COLUMNS } else { 0 };
        let (operands, sums) = (self, PackBuffer::new(sums)?);
        cpu::dispatch(ProductBlock { operands, product, row_group, column_group, sums: sums.at });
        Ok(())
    }
}

/// A block of the output. Only [`PackedOperands::run_block`] makes one, under its contract; `sums` has the elements of all
/// tiles if there is more than one depth block.
#[cfg(target_arch = "x86_64")]
struct ProductBlock<'a, X: Register, const R: usize> {
    operands: &'a PackedOperands<X, R>,
    product: &'a Product<X::Element>,
    row_group: usize,
    column_group: usize,
    sums: *mut X::Element,
}

#[cfg(target_arch = "x86_64")]
impl<X: Register, const R: usize> cpu::Task for ProductBlock<'_, X, R> {
    type Home = X;
    const WIDE: bool = X::WIDE;
    const FUSED: bool = !X::WIDE;
    const BASELINE: bool = false;

    #[inline(always)]
    fn run<const FAST: bool>(self) {
        let Product { out, rows, columns, depth, alpha, beta, .. } = *self.product;
        let width = X::COLUMNS;
        let depth_blocks = depth.div_ceil(MAX_DEPTH).max(1);
        let block_depth = depth.div_ceil(depth_blocks);
        for block in 0..depth_blocks {
            let start = block * block_depth;
            let mut sums = self.sums;
            for column in (0..columns).step_by(width) {
                let b = self.operands.columns(self.column_group + column / width, depth);
                for row in (0..rows).step_by(R) {
                    let a = self.operands.rows(self.row_group + row / R, depth);
                    let target = TileTarget {
                        out: out.part(row, column),
                        rows: R.min(rows - row),
                        columns: width.min(columns - column),
                        alpha,
                        beta,
                    };
                    let (is_first, is_last) = (block == 0, block + 1 == depth_blocks);
                    // SAFETY: `run_block` was called under its contract: groups are packed, of which a depth block is a
                    // part, and the output is pinned.
                    unsafe {
                        add_products::<X, R>(
                            block_depth.min(depth - start),
                            a.add(start * R),
                            b.add(start * width),
                            TileSums { at: sums, is_first, is_last },
                            &target,
                        );
                    }
                    sums = sums.wrapping_add(R * width);
                }
            }
        }
    }
}
