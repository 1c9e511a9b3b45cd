//! Scans: `cumsum`, `cumprod`, `cummax`, `cummin`, `logcumsumexp`. The result at a position follows from the elements
//! of its line up to there.
//!
//! Lines are cut into chunks of 256 elements by position. A lane is a chunk, either of one of several neighbouring
//! lines or of one long line, and lanes are stepped through side by side:
//!
//! ```text
//! many lines       lanes are neighbouring lines. Each passes its carry on from chunk to chunk
//! few long lines   lanes are neighbouring chunks of one line, or the same chunk of adjacent lines. First the total of
//!                  every chunk, on all threads; then the carries, one after the other; then the results of every
//!                  chunk from its carry, on all threads
//! ```
//!
//! Both take the same steps within a chunk, and pass carries on in the same order: the bits of a result depend on the
//! elements of its line alone.
//!
//! `lanes.rs` has the trait `Scan` and the loops that run it, `passes.rs` the passes over lines, `blocks.rs` a faster
//! loop for extremes, `functions.rs` and `logcumsumexp.rs` the functions.

mod blocks;
mod functions;
mod lanes;
mod logcumsumexp;
mod passes;

use super::lines::LineFunction;
use crate::dtype::DType;
use crate::scalar::Complex;
use functions::{CumExtreme, CumProduct, CumSum, single_extreme};
use logcumsumexp::{ComplexLogCumSumExp, LogCumSumExp};
use passes::run;

/// Defines a function that returns the kernel for a result dtype. Integers are computed in 64 bits: arithmetic wraps,
/// so that a narrower result is the low bits of the wide one.
macro_rules! table {
    ($($(#[$doc:meta])* $name:ident: $($($dtype:ident)|+ => $run:expr),+;)*) => { $(
        $(#[$doc])*
        pub fn $name(dtype: DType) -> Option<LineFunction> {
            match dtype {
                $($(DType::$dtype)|+ => Some($run),)+
                #[allow(unreachable_patterns)]
                _ => None,
            }
        }
    )* };
}

table! {
    /// The sum of all elements up to each. Halves and float32 are added in float64, so that sums of non-negative
    /// numbers never decrease.
    cumsum:
        Bool | U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64 => run::<CumSum<i64, i64>, 1>,
        F16 | BF16 | F32 => run::<CumSum<f32, f64>, 1>,
        F64 => run::<CumSum<f64, f64>, 1>,
        C64 => run::<CumSum<Complex<f32>, Complex<f64>>, 1>,
        C128 => run::<CumSum<Complex<f64>, Complex<f64>>, 1>;
    /// The product of all elements up to each.
    cumprod:
        Bool | U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64 => run::<CumProduct<i64, i64>, 3>,
        F16 | BF16 | F32 => run::<CumProduct<f32, f64>, 3>,
        F64 => run::<CumProduct<f64, f64>, 3>,
        C64 => run::<CumProduct<Complex<f32>, Complex<f64>>, 3>,
        C128 => run::<CumProduct<Complex<f64>, Complex<f64>>, 3>;
    /// The largest element up to each, and its position.
    cummax:
        U64 => run::<CumExtreme<u64, u64, true>, 2>,
        Bool | U8 | U16 | U32 | I8 | I16 | I32 | I64 => run::<CumExtreme<i64, i64, true>, 2>,
        F16 | BF16 | F32 => single_extreme::<true>,
        F64 => run::<CumExtreme<f64, f64, true>, 2>;
    /// The smallest element up to each, and its position.
    cummin:
        U64 => run::<CumExtreme<u64, u64, false>, 2>,
        Bool | U8 | U16 | U32 | I8 | I16 | I32 | I64 => run::<CumExtreme<i64, i64, false>, 2>,
        F16 | BF16 | F32 => single_extreme::<false>,
        F64 => run::<CumExtreme<f64, f64, false>, 2>;
    /// The logarithm of the sum of the exponentials of all elements up to each.
    logcumsumexp:
        F16 | BF16 | F32 => run::<LogCumSumExp<f32>, 4>,
        F64 => run::<LogCumSumExp<f64>, 4>,
        C64 => run::<ComplexLogCumSumExp<Complex<f32>>, 4>,
        C128 => run::<ComplexLogCumSumExp<Complex<f64>>, 4>;
}
