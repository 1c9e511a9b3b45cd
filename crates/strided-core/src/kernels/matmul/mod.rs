//! Products of matrices: `out = beta * out + alpha * (a @ b)`, for batches of matrices of any strides.
//!
//! ```text
//! plan        folds the dims of the operands and cuts the work into pieces
//! dense       floating and complex matrices, by the crate `gemm`: one piece at a time on one thread
//! panel       a blocked kernel of our own, for integers and for distances
//! gemv        a matrix and a vector
//! ```
//! Kernels pack their operands from any strides: no operand is copied.
//!
//! Pieces of work are blocks of the output. Their sizes follow from the extents alone, so that the bits of a result do not
//! depend on the number of threads.

mod dense;
mod element;
mod gemv;
mod panel;
mod peak;
mod plan;

use crate::cpu;
use crate::error::Result;
use crate::kernels::item::ScalarBytes;
use crate::kernels::scratch::for_threads;
use crate::scalar::Scalar;
use crate::switch;
use crate::tensor::{Tensor, pin_all};
use crate::threads::{self, Shared};
use dense::DenseElement;
use element::{ProductElement, store};
use panel::{Chebyshev, Euclidean, Manhattan, Minkowski, ProductSum, Unequal};
pub use peak::multiply_adds;
use plan::ProductPieces;
pub use plan::ProductPlan;

/// A matrix in memory. Strides are in elements.
#[derive(Clone, Copy)]
struct Matrix<T> {
    at: Shared<*mut T>,
    row: isize,
    column: isize,
}

impl<T> Matrix<T> {
    #[inline(always)]
    fn new(at: *mut T, row: isize, column: isize) -> Matrix<T> {
        Matrix { at: Shared::new(at), row, column }
    }

    /// The address of the first element.
    #[inline(always)]
    fn start(&self) -> *mut T {
        self.at.get()
    }

    /// The address of an element.
    #[inline(always)]
    fn element(&self, row: usize, column: usize) -> *mut T {
        self.start().wrapping_offset(row as isize * self.row + column as isize * self.column)
    }

    /// The part of the matrix that starts at an element.
    #[inline(always)]
    fn part(&self, row: usize, column: usize) -> Matrix<T> {
        Matrix { at: Shared::new(self.element(row, column)), ..*self }
    }

    /// The matrix so many elements further on.
    #[inline(always)]
    fn shifted(&self, elements: isize) -> Matrix<T> {
        Matrix { at: Shared::new(self.start().wrapping_offset(elements)), ..*self }
    }

    fn with_reversed_rows(&self, rows: usize) -> Matrix<T> {
        Matrix { row: -self.row, ..self.part(rows.saturating_sub(1), 0) }
    }

    fn with_reversed_columns(&self, columns: usize) -> Matrix<T> {
        Matrix { column: -self.column, ..self.part(0, columns.saturating_sub(1)) }
    }

    #[inline(always)]
    fn transposed(&self) -> Matrix<T> {
        Matrix { row: self.column, column: self.row, ..*self }
    }
}

/// A product of two matrices: addresses, extents and factors.
#[derive(Clone, Copy)]
struct Product<T> {
    out: Matrix<T>,
    a: Matrix<T>,
    b: Matrix<T>,
    rows: usize,
    columns: usize,
    depth: usize,
    alpha: T,
    beta: T,
}

/// Writes `beta * out + alpha * (a @ b)` to `out`. With a `beta` of 0, `out` is not read.
///
/// One dtype, no half, no bool; equal batch dims, before the two of the matrices. `out` overlaps neither operand nor itself.
pub fn multiply(out: &Tensor, a: &Tensor, b: &Tensor, alpha: Scalar, beta: Scalar) -> Result<()> {
    with_pins(out, a, b, |plan, origins| {
        // SAFETY: `with_pins` has pinned the origins for the layouts that the plan was made of, and the dtype is theirs.
        unsafe {
            switch!(out.dtype(), field, T => {
                multiply_with::<T>(plan, origins, alpha, beta, |alpha, beta| {
                    let pieces = ProductPieces::blocks(plan, T::COST);
                    dense::check_memory::<T>(plan, &pieces)?;
                    multiply_pieces(plan, &pieces, origins, alpha, beta, T::COST, |product| T::multiply(product))
                })
            }, else => switch!(out.dtype(), int, T => {
                multiply_with::<T>(plan, origins, alpha, beta, |alpha, beta| {
                    panel::multiply(plan, origins, alpha, beta, ProductSum)
                })
            }, else => unreachable!("halves and bools are not multiplied")))
        }
    })
}

/// Pins three tensors of one dtype and calls a function with the plan of their product and their origins, unless the
/// output is empty.
fn with_pins(
    out: &Tensor,
    a: &Tensor,
    b: &Tensor,
    work: impl FnOnce(&ProductPlan, [*mut u8; 3]) -> Result<()>,
) -> Result<()> {
    assert!(out.dtype() == a.dtype() && out.dtype() == b.dtype());
    if out.size() == 0 {
        return Ok(());
    }
    let plan = ProductPlan::new(out.layout(), a.layout(), b.layout());
    pin_all!(c: Write out, left: Read a, right: Read b);
    work(&plan, [c.origin, left.origin, right.origin])
}

/// Runs a product by the reference kernel, by the kernel for a matrix and a vector, or by `matrices`.
///
/// # Safety
/// The origins are pinned for the layouts that the plan was made of, whose elements are of type `T`.
unsafe fn multiply_with<T: ProductElement>(
    plan: &ProductPlan,
    origins: [*mut u8; 3],
    alpha: Scalar,
    beta: Scalar,
    matrices: impl FnOnce(T, T) -> Result<()>,
) -> Result<()> {
    let (alpha, beta) = (element::<T>(alpha), element::<T>(beta));
    // SAFETY: this function's contract.
    unsafe {
        if cpu::reference_kernels() {
            let pieces = ProductPieces::blocks(plan, 1);
            multiply_pieces(plan, &pieces, origins, alpha, beta, 1, |product: &Product<T>| {
                product.multiply_reference()
            })
        } else if plan.columns == 1 || plan.rows == 1 {
            gemv::multiply(plan, origins, alpha, beta)
        } else {
            matrices(alpha, beta)
        }
    }
}

/// A factor as an element.
fn element<T: ProductElement>(value: Scalar) -> T {
    // SAFETY: the bytes hold an element of this dtype.
    unsafe { ScalarBytes::cast(value, T::DTYPE).address().cast::<T>().read() }
}

/// Writes the distances of the rows of `a` and the columns of `b` to `out`: the p-norms of their differences. Conditions as
/// for [`multiply`]; the dtype is float32 or float64.
pub fn distances(out: &Tensor, a: &Tensor, b: &Tensor, p: f64) -> Result<()> {
    with_pins(out, a, b, |plan, origins| {
        // SAFETY: `with_pins` has pinned the origins for the layouts that the plan was made of, and the dtype is theirs.
        unsafe {
            switch!(out.dtype(), float, T => match p {
                0.0 => panel::multiply::<T, _>(plan, origins, 1.0, 0.0, Unequal),
                1.0 => panel::multiply::<T, _>(plan, origins, 1.0, 0.0, Manhattan),
                2.0 => panel::multiply::<T, _>(plan, origins, 1.0, 0.0, Euclidean),
                f64::INFINITY => panel::multiply::<T, _>(plan, origins, 1.0, 0.0, Chebyshev),
                p => panel::multiply::<T, _>(plan, origins, 1.0, 0.0, Minkowski(p)),
            }, else => unreachable!("distances are computed in float32 or float64"))
        }
    })
}

/// Runs a product piece by piece. `cost` is the time of one multiply-add, relative to float32.
///
/// # Safety
/// The origins are pinned for the layouts that the plan was made of, whose elements are of type `T`.
unsafe fn multiply_pieces<T: ProductElement>(
    plan: &ProductPlan,
    pieces: &ProductPieces,
    origins: [*mut u8; 3],
    alpha: T,
    beta: T,
    cost: usize,
    work: impl Fn(&Product<T>) + Sync,
) -> Result<()> {
    let whole = plan.product(origins, alpha, beta);
    let elements = plan.work().saturating_mul(cost) / MULTIPLY_ADDS_PER_ELEMENT;
    run_pieces(plan, &whole, pieces, elements, || Ok(()), &|product, ()| work(product))
}

/// Multiply-adds of float32 that take as long as one element of a cheap elementwise operation.
pub const MULTIPLY_ADDS_PER_ELEMENT: usize = 8;

/// Runs the pieces of a product: one on this thread, several on the threads of the pool. `scratch` makes the memory that the
/// work on a piece needs.
fn run_pieces<T: ProductElement, S: Send>(
    plan: &ProductPlan,
    whole: &Product<T>,
    pieces: &ProductPieces,
    elements: usize,
    scratch: impl Fn() -> Result<S>,
    work: &(impl Fn(&Product<T>, &mut S) + Sync),
) -> Result<()> {
    let piece = |i: usize, scratch: &mut S| {
        pieces.for_each(plan, whole, i, |product| work(product, scratch));
    };
    if pieces.count() == 1 {
        piece(0, &mut scratch()?);
        return Ok(());
    }
    let shared = threads::should_parallelize(elements);
    let mut scratch = for_threads(pieces.count(), shared, scratch)?;
    threads::for_each_piece_with(pieces.count(), shared, &mut scratch, &piece)
}

impl<T: ProductElement> Product<T> {
    /// Multiplies by the definition.
    ///
    /// # Safety
    /// The addresses are pinned for the extents.
    unsafe fn multiply_reference(&self) {
        for row in 0..self.rows {
            for column in 0..self.columns {
                let mut sum = T::ZERO;
                for k in 0..self.depth {
                    // SAFETY: this function's contract: the addresses are pinned for the extents.
                    unsafe {
                        let (a, b) = (self.a.element(row, k).read(), self.b.element(k, column).read());
                        sum = sum.add(a.mul(b));
                    }
                }
                // SAFETY: this function's contract: the addresses are pinned for the extents.
                unsafe { store(self.out.element(row, column), sum, self.alpha, self.beta) };
            }
        }
    }
}
