//! The extents and strides of a batch of products, with dims folded where all operands allow it, and the pieces that the
//! work is cut into.

use super::element::ProductElement;
use super::{Matrix, Product};
use crate::layout::Layout;
use smallvec::SmallVec;

/// A loop over products. Strides are in elements, of the output and the two operands.
#[derive(Clone, Copy)]
pub struct BatchLoop {
    pub extent: usize,
    pub strides: [isize; 3],
}

/// A batch of products of matrices.
pub struct ProductPlan {
    /// Outermost first.
    pub loops: SmallVec<[BatchLoop; 4]>,
    pub rows: usize,
    pub columns: usize,
    pub depth: usize,
    /// The strides along rows and along columns of the output and the two operands.
    pub strides: [[isize; 2]; 3],
    /// Whether the operands are exchanged.
    pub is_transposed: bool,
}

impl ProductPlan {
    pub fn new(out: &Layout, a: &Layout, b: &Layout) -> ProductPlan {
        let layouts = [out, a, b].map(|layout| layout.modes());
        let lead = layouts[0].len() - 2;
        assert!(layouts.iter().all(|modes| modes.len() == lead + 2), "as many dims as the output");
        let [rows, columns, depth] = [layouts[0][lead], layouts[0][lead + 1], layouts[1][lead + 1]];
        let operands = [layouts[1][lead].extent, layouts[2][lead].extent, layouts[2][lead + 1].extent];
        assert_eq!(operands, [rows.extent, depth.extent, columns.extent], "extents of matrices");
        let mut loops: SmallVec<[BatchLoop; 4]> = SmallVec::new();
        for dim in 0..lead {
            let extent = layouts[0][dim].extent as usize;
            assert!(layouts.iter().all(|modes| modes[dim].extent == extent as isize), "extents of batches");
            let next = BatchLoop { extent, strides: layouts.map(|modes| modes[dim].stride) };
            match loops.last_mut() {
                _ if extent == 1 => {}
                Some(last) if (0..3).all(|k| last.strides[k] == next.strides[k] * extent as isize) => {
                    *last = BatchLoop { extent: last.extent * extent, ..next };
                }
                _ => loops.push(next),
            }
        }
        let mut plan = ProductPlan {
            loops,
            rows: rows.extent as usize,
            columns: columns.extent as usize,
            depth: depth.extent as usize,
            strides: layouts.map(|modes| [modes[lead].stride, modes[lead + 1].stride]),
            is_transposed: false,
        };
        plan.fold_loops();
        if plan.strides[0][0].abs() < plan.strides[0][1].abs() && plan.rows > 1 || plan.columns == 1 {
            plan.transpose();
        }
        plan
    }

    /// Folds the innermost loops into rows or columns where one operand has stride 0 along the loop: a batch of matrices
    /// times one matrix is one product.
    fn fold_loops(&mut self) {
        while let Some(&BatchLoop { extent, strides }) = self.loops.last() {
            let continues =
                |stride: isize, count: usize, inner: isize| count == 1 || stride == inner * count as isize;
            let [out, a, b] = &mut self.strides;
            if strides[2] == 0
                && continues(strides[0], self.rows, out[0])
                && continues(strides[1], self.rows, a[0])
            {
                if self.rows == 1 {
                    (out[0], a[0]) = (strides[0], strides[1]);
                }
                self.rows *= extent;
            } else if strides[1] == 0
                && continues(strides[0], self.columns, out[1])
                && continues(strides[2], self.columns, b[1])
            {
                if self.columns == 1 {
                    (out[1], b[1]) = (strides[0], strides[2]);
                }
                self.columns *= extent;
            } else {
                return;
            }
            self.loops.pop();
        }
    }

    /// Makes this the plan of the transposed product, `out^T = b^T a^T`, because kernels write the output row by row.
    fn transpose(&mut self) {
        self.is_transposed = !self.is_transposed;
        std::mem::swap(&mut self.rows, &mut self.columns);
        self.strides.swap(1, 2);
        self.strides.iter_mut().for_each(|pair| pair.swap(0, 1));
        self.loops.iter_mut().for_each(|each| each.strides.swap(1, 2));
    }

    /// The number of products.
    pub fn batch(&self) -> usize {
        self.loops.iter().map(|each| each.extent).product()
    }

    /// Multiplications of one product.
    pub fn work_of_one(&self) -> usize {
        self.rows.saturating_mul(self.columns).saturating_mul(self.depth.max(1))
    }

    /// Multiplications of all products.
    pub fn work(&self) -> usize {
        self.work_of_one().saturating_mul(self.batch())
    }

    /// The first product of the batch, whose operands start at these addresses.
    pub(super) fn product<T: ProductElement>(
        &self,
        mut origins: [*mut u8; 3],
        alpha: T,
        beta: T,
    ) -> Product<T> {
        if self.is_transposed {
            origins.swap(1, 2);
        }
        let [out, a, b] =
            [0, 1, 2].map(|k| Matrix::new(origins[k].cast(), self.strides[k][0], self.strides[k][1]));
        Product { out, a, b, rows: self.rows, columns: self.columns, depth: self.depth, alpha, beta }
    }

    /// Calls a function with the products `start` to `end` of the batch; `first` is number 0.
    pub(super) fn for_each<T: ProductElement>(
        &self,
        first: &Product<T>,
        start: usize,
        end: usize,
        mut work: impl FnMut(&Product<T>),
    ) {
        for index in start..end {
            let (mut left, mut product) = (index, *first);
            for each in self.loops.iter().rev() {
                let at = (left % each.extent) as isize;
                left /= each.extent;
                product.out = product.out.shifted(at * each.strides[0]);
                product.a = product.a.shifted(at * each.strides[1]);
                product.b = product.b.shifted(at * each.strides[2]);
            }
            work(&product);
        }
    }
}

/// The pieces of a batch of products: blocks of the output, or several products.
pub(super) struct ProductPieces {
    /// Rows and columns of a block.
    pub rows: usize,
    pub columns: usize,
    /// How many blocks there are along rows and along columns.
    row_blocks: usize,
    column_blocks: usize,
    /// Products of a piece; more than one only if a block is a whole product.
    products: usize,
    batch: usize,
}

/// Multiplications of float32 that are worth one piece of work: smaller products are combined.
const DENSE_WORK_PER_PIECE: usize = 1 << 20;
/// Pieces that a large product is cut into at least.
const MIN_PIECES: usize = 8;
/// The longest side of a block. Longer ones pack less often, but leave threads without work at the end.
const MAX_SIDE: usize = 768;
/// Sides of blocks are multiples of this.
const SIDE_UNIT: usize = 48;

impl ProductPieces {
    /// Blocks for the crate `gemm`, which packs both operands of each block: as large as threads allow.
    pub fn blocks(plan: &ProductPlan, cost: usize) -> ProductPieces {
        let depth = plan.depth.max(1).saturating_mul(cost);
        let (mut rows, mut columns) = (plan.rows, plan.columns);
        let work = |rows: usize, columns: usize| rows.saturating_mul(columns).saturating_mul(depth);
        let halved = |side: usize| side.div_ceil(2).next_multiple_of(SIDE_UNIT);
        let count = |rows: usize, columns: usize| {
            plan.rows.div_ceil(rows) * plan.columns.div_ceil(columns) * plan.batch()
        };
        while rows.max(columns) > MAX_SIDE
            || count(rows, columns) < MIN_PIECES && work(rows, columns) >= 2 * DENSE_WORK_PER_PIECE
        {
            let side = if rows > columns { &mut rows } else { &mut columns };
            let next = halved(*side);
            if next >= *side {
                break;
            }
            *side = next;
        }
        ProductPieces::new(plan, rows, columns, DENSE_WORK_PER_PIECE.div_ceil(work(rows, columns).max(1)))
    }

    /// Blocks of given sides. If a block is a whole product, a piece has `products` of them.
    pub fn new(plan: &ProductPlan, rows: usize, columns: usize, products: usize) -> ProductPieces {
        let (row_blocks, column_blocks) = (plan.rows.div_ceil(rows), plan.columns.div_ceil(columns));
        let products = if row_blocks * column_blocks == 1 { products.max(1) } else { 1 };
        ProductPieces { rows, columns, row_blocks, column_blocks, products, batch: plan.batch() }
    }

    pub fn count(&self) -> usize {
        self.row_blocks * self.column_blocks * self.batch.div_ceil(self.products)
    }

    /// Calls a function with the products of a piece.
    pub fn for_each<T: ProductElement>(
        &self,
        plan: &ProductPlan,
        whole: &Product<T>,
        piece: usize,
        work: impl FnMut(&Product<T>),
    ) {
        let (blocks, column_blocks) = (self.row_blocks * self.column_blocks, self.column_blocks);
        let (batch, block) = (piece / blocks, piece % blocks);
        let (row, column) = (block / column_blocks * self.rows, block % column_blocks * self.columns);
        let part = Product {
            out: whole.out.part(row, column),
            a: whole.a.part(row, 0),
            b: whole.b.part(0, column),
            rows: self.rows.min(whole.rows - row),
            columns: self.columns.min(whole.columns - column),
            ..*whole
        };
        let start = batch * self.products;
        plan.for_each(&part, start, (start + self.products).min(self.batch), work);
    }
}
