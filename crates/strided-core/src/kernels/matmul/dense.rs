//! Products of floating and complex matrices by the crate `gemm`, one at a time on one thread.
//!
//! A complex product is four real ones, of the real and imaginary parts: views of the same memory with twice the strides,
//! which the crate packs as it packs any others. The kernels of the crate for complex elements are not used: they would
//! add 1 MB of code.
//!
//! A kernel of our own, with operands that all threads pack once and tiles of 8 rows by 2 registers, took 1.1 to 1.5 times as
//! long on a CPU with AVX-512: about as long for 1024x1024 in float32, 1.5 times for batches of 64x64.

use super::element::{ProductElement, store};
use super::plan::{ProductPieces, ProductPlan};
use super::{Matrix, Product};
use crate::alloc::try_vec;
use crate::cpu::{self, Level};
use crate::error::Result;
use crate::scalar::{Complex, Num};
use crate::threads;
use gemm_common::Parallelism;
use gemm_common::gemm::gemm_basic_generic;
use gemm_common::simd::{self, MixedSimd};
use std::cell::Cell;

/// The crate packs blocks of at most this depth: 512, or what the L1 cache holds.
const MAX_PACKED_DEPTH: usize = 2048;
/// Rows or columns that a packed block has more than a piece, at most: the tiles of the crate are padded.
const MAX_PADDING: usize = 64;
/// What the crate allocates once for each thread, as much as its L2 cache holds, and its other vectors.
const MEMORY_OF_THREAD: usize = 4 << 20;
/// Blocks of up to so many bytes are not checked: a small product takes less time than a request for memory.
const MAX_UNCHECKED_BYTES: usize = 32 << 10;

thread_local! {
    /// Whether the crate has run on this thread.
    static HAS_RUN: Cell<bool> = const { Cell::new(false) };
}

/// Fails if the crate would find no memory for the blocks that it packs: it allocates them itself, and ends the process if it
/// cannot. So the memory is requested and returned before the crate runs. Another thread may still take it in between.
pub(super) fn check_memory<T>(plan: &ProductPlan, pieces: &ProductPieces) -> Result<()> {
    let depth = plan.depth.min(MAX_PACKED_DEPTH);
    let packed = (pieces.rows + pieces.columns + 2 * MAX_PADDING) * depth * size_of::<T>();
    if packed <= MAX_UNCHECKED_BYTES && HAS_RUN.get() {
        return Ok(());
    }
    let threads = threads::limit().min(pieces.count());
    drop(try_vec::<u8>((packed + MEMORY_OF_THREAD) * threads)?);
    HAS_RUN.set(true);
    Ok(())
}

/// A type whose matrices the crate multiplies.
pub(super) trait DenseElement: ProductElement {
    /// Multiplies matrices.
    ///
    /// # Safety
    /// The addresses of the product are pinned for its extents.
    unsafe fn multiply(product: &Product<Self>);
}

/// Defines a function that multiplies by the microkernels of one instruction set, with vectors of `$lanes` elements. The crate
/// has the same function, but keeps it private: it chooses by the CPU alone, whatever `STRIDED_CPU` says.
macro_rules! level_kernel {
    ($name:ident: $real:ident, $simd:ident, $lanes:literal, $($kernels:tt)*) => {
        /// # Safety
        /// The addresses of the product, which is `oriented`, are pinned for its extents.
        #[inline(never)]
        unsafe fn $name(product: &Product<$real>) {
            use $($kernels)* as kernels;
            const ROWS: usize = kernels::MR_DIV_N * $lanes;
            type Lanes = simd::$simd;
            let Product { out, a, b, rows, columns, depth, alpha, beta } = *product;
            let lanes = <Lanes as MixedSimd<$real, $real, $real, $real>>::try_new();
            // SAFETY: this function's contract. The crate reads and writes only elements inside the extents, and does
            // not read `out` unless it is told to.
            unsafe {
                gemm_basic_generic::<
                    _, $real, $lanes, ROWS, { kernels::NR }, { kernels::MR_DIV_N }, { kernels::H_M }, { kernels::H_N },
                >(
                    lanes.expect("the CPU has the instructions of the level"), rows, columns, depth, out.start(), out.column,
                    out.row, beta != 0.0, a.start(), a.column, a.row, b.start(), b.column, b.row, beta, alpha, false, false, false,
                    |a, b, c| a * b + c, &kernels::UKR, &kernels::H_UKR, false, Parallelism::None,
                )
            }
        }
    };
}
level_kernel! { baseline_f32: f32, Scalar, 1, gemm_f32::microkernel::scalar::f32 }
level_kernel! { baseline_f64: f64, Scalar, 1, gemm_f64::microkernel::scalar::f64 }
#[cfg(target_arch = "x86_64")]
level_kernel! { fused_f32: f32, V3, 8, gemm_f32::microkernel::fma::f32 }
#[cfg(target_arch = "x86_64")]
level_kernel! { fused_f64: f64, V3, 4, gemm_f64::microkernel::fma::f64 }

macro_rules! dense_elements {
    ($($real:ident: $baseline:ident, $fused:ident, $highest:path;)*) => { $(
        impl DenseElement for $real {
            unsafe fn multiply(product: &Product<$real>) {
                let product = oriented(product);
                // SAFETY: this function's contract. The crate reads and writes only elements inside the extents, and does
                // not read `out` unless it is told to.
                unsafe {
                    match cpu::level() {
                        Level::Baseline => $baseline(&product),
                        #[cfg(target_arch = "x86_64")]
                        Level::Fused => $fused(&product),
                        _ => {
                            let Product { out, a, b, rows, columns, depth, alpha, beta } = product;
                            $highest()(
                                rows, columns, depth, out.start(), out.column, out.row, beta != 0.0, a.start(), a.column, a.row,
                                b.start(), b.column, b.row, beta, alpha, false, false, false, Parallelism::None,
                            )
                        }
                    }
                }
            }
        }

        impl DenseElement for Complex<$real> {
            unsafe fn multiply(product: &Product<Complex<$real>>) {
                // SAFETY: this function's contract.
                let beta = unsafe { apply_complex_beta(product) };
                let [out, a, b] = [product.out, product.a, product.b].map(parts::<$real>);
                let Complex { re, im } = product.alpha;
                // alpha * (a.re + i a.im) * (b.re + i b.im), as (factor, part of `a`, part of `b`) of the real and the
                // imaginary part of the result.
                let terms = [
                    [(re, 0, 0), (-re, 1, 1), (-im, 0, 1), (-im, 1, 0)],
                    [(re, 0, 1), (re, 1, 0), (im, 0, 0), (-im, 1, 1)],
                ];
                let Product { rows, columns, depth, .. } = *product;
                for (out, terms) in out.into_iter().zip(terms) {
                    let mut beta = beta;
                    // A factor of 0 is left out, unless both are: then `beta` still has to be applied.
                    for (at, (alpha, i, j)) in terms.into_iter().enumerate() {
                        if alpha != 0.0 || (at == 0 && im == 0.0) {
                            let real = Product { out, a: a[i], b: b[j], rows, columns, depth, alpha, beta };
                            // SAFETY: this function's contract; parts of pinned elements are pinned.
                            unsafe { <$real>::multiply(&real) };
                            beta = 1.0;
                        }
                    }
                }
            }
        }
    )* };
}
dense_elements! {
    f32: baseline_f32, fused_f32, gemm_f32::gemm::f32::get_gemm_fn;
    f64: baseline_f64, fused_f64, gemm_f64::gemm::f64::get_gemm_fn;
}

/// The same product as the crate wants it: a column-major output, and strides of the output and along the depth that are not
/// negative.
fn oriented<T: Copy>(product: &Product<T>) -> Product<T> {
    let Product { out, a, b, rows, columns, depth, alpha, beta } = *product;
    let (mut out, mut a, mut b, rows, columns) = if out.column.abs() < out.row.abs() {
        // The transpose of the product is that of `b` times that of `a`.
        (out.transposed(), b.transposed(), a.transposed(), columns, rows)
    } else {
        (out, a, b, rows, columns)
    };
    if out.row < 0 {
        (out, a) = (out.with_reversed_rows(rows), a.with_reversed_rows(rows));
    }
    if out.column < 0 {
        (out, b) = (out.with_reversed_columns(columns), b.with_reversed_columns(columns));
    }
    if a.column < 0 {
        (a, b) = (a.with_reversed_columns(depth), b.with_reversed_rows(depth));
    }
    Product { out, a, b, rows, columns, depth, alpha, beta }
}

/// The matrices of the real and of the imaginary parts.
fn parts<R>(matrix: Matrix<Complex<R>>) -> [Matrix<R>; 2] {
    let start = matrix.start().cast::<R>();
    [0, 1].map(|part| Matrix::new(start.wrapping_add(part), 2 * matrix.row, 2 * matrix.column))
}

/// Multiplies the output by a complex `beta`. Returns the real factor by which it is still to be multiplied.
///
/// # Safety
/// The addresses of the product are pinned for its extents.
unsafe fn apply_complex_beta<R: PartialEq + Default + Copy>(product: &Product<Complex<R>>) -> R
where
    Complex<R>: ProductElement,
{
    if product.beta.im == R::default() {
        return product.beta.re;
    }
    let Product { out, rows, columns, beta, .. } = *product;
    for row in 0..rows {
        for column in 0..columns {
            // SAFETY: this function's contract.
            unsafe {
                store(out.element(row, column), <Complex<R> as Num>::ZERO, <Complex<R> as Num>::ONE, beta)
            };
        }
    }
    <Complex<R> as Num>::ONE.re
}
