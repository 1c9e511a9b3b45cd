//! The folds: sums, products, extremes, norms, moments.

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::fold::{Columns, Fold, FoldByLanes, LaneFold};
use super::groups::merge_in_halves;
use super::{BLOCK, LANES};
use crate::kernels::cast::Cast;
use crate::kernels::loops::Function;
use crate::scalar::{Bool, Complex, Float, Limits, Num, Real};

/// A term of sums and products.
pub trait Summand: Num {
    /// The value, with any NaN replaced by one canonical NaN. Which of two NaNs an addition returns depends on the
    /// instructions that the compiler chose.
    fn canonical_nan(self) -> Self;
    /// The product, which a factor of 1 leaves unchanged to the bit.
    fn times(self, other: Self) -> Self;
}
macro_rules! summands {
    ($($($t:ty),+: $x:ident => $canonical:expr, ($a:ident, $b:ident) => $product:expr;)*) => { $($(
        impl Summand for $t {
            #[inline(always)]
            fn canonical_nan(self) -> Self { let $x = self; $canonical }
            #[inline(always)]
            fn times(self, other: Self) -> Self { let ($a, $b) = (self, other); $product }
        }
    )+)* };
}
summands! {
    Bool: x => x, (a, b) => a.mul(b);
    u8, u16, u32, u64, i8, i16, i32, i64: x => x, (a, b) => a.mul(b);
    // NaNs are found and replaced as bits: in float arithmetic the compiler may substitute one NaN for another.
    f32, f64: x => {
        let is_nan = x.to_bits() << 1 > Self::INFINITY.to_bits() << 1;
        Self::from_bits(if is_nan { Self::NAN.to_bits() } else { x.to_bits() })
    }, (a, b) => a * b;
    // The complex product of 1 and -0 would be 0, and that of 1 and infinity NaN.
    Complex<f32>, Complex<f64>:
    x => Complex::new(x.re.canonical_nan(), x.im.canonical_nan()),
    (a, b) => {
        let is_one = |x: Self| x == Self::ONE && x.im.is_sign_positive();
        if is_one(a) { b } else if is_one(b) { a } else { a * b }
    };
}

/// A sum that can be divided by a count.
pub trait Averaged: Summand {
    fn divided_by(self, n: usize) -> Self;
}
macro_rules! averaged {
    ($($t:ty: $x:ident, $n:ident => $quotient:expr),*) => {
        $(impl Averaged for $t {
            #[inline(always)]
            fn divided_by(self, $n: usize) -> Self { let $x = self; $quotient }
        })*
    };
}
averaged! {
    f32: x, n => x / n as f32,
    f64: x, n => x / n as f64,
    Complex<f32>: x, n => Complex::new(x.re / n as f32, x.im / n as f32),
    Complex<f64>: x, n => Complex::new(x.re / n as f64, x.im / n as f64)
}

/// A number whose squared magnitude is computed in float64.
pub trait Squares: Num {
    type Norm: Float;
    fn magnitude_squared(self) -> f64;
}
macro_rules! squares {
    ($($t:ty => $norm:ty: $x:ident => $square:expr;)*) => {
        $(impl Squares for $t {
            type Norm = $norm;
            #[inline(always)]
            fn magnitude_squared(self) -> f64 { let $x = self; $square }
        })*
    };
}
squares! {
    f32 => f32: x => x as f64 * x as f64;
    f64 => f64: x => x * x;
    Complex<f32> => f32: x => x.re as f64 * x.re as f64 + x.im as f64 * x.im as f64;
    Complex<f64> => f64: x => x.re * x.re + x.im * x.im;
}

/// Folds with one running value per lane. An entry is the name, and the types of a term, of a lane and of the result. Then:
///
/// * `identity`: the lane that changes no merge;
/// * `padding`: the term that changes no result, exact in a half too, since blocks of halves are padded with it;
/// * `no_terms`: the lane of zero terms, `None` if they have no result, as [`ReduceOp::has_identity`] says;
/// * `lane`: the lane of a term;
/// * `merge`: two lanes as one;
/// * `result`: the result of a lane of `n` terms;
/// * `fast_merge`, only for floats: a merge that may be wrong for lanes that are NaN; which lanes are NaN; one that is.
///
/// [`ReduceOp::has_identity`]: crate::op_table::ReduceOp::has_identity
macro_rules! lane_folds {
    ($($(#[$doc:meta])* $name:ident<T: $bound:ident>: $lane:ty => $out:ty {
        identity: $identity:expr, padding: $padding:expr, no_terms: $no_terms:expr;
        lane: $term:ident => $value:expr;
        merge: ($a:ident, $b:ident) => $merged:expr;
        result: ($l:ident, $n:ident) => $result:expr;
        $(fast_merge: ($c:ident, $d:ident) => $fast:expr, is_nan: $o:ident => $is_nan:expr, nan: $nan:expr;)?
    })*) => { $(
        $(#[$doc])*
        pub struct $name;

        impl<T: $bound> LaneFold<T> for $name {
            type Lane = $lane;
            type Out = $out;
            const IDENTITY: $lane = $identity;
            const IDENTITY_TERM: T = $padding;
            const EMPTY_RESULT: Option<$lane> = $no_terms;
            #[inline(always)]
            #[allow(clippy::eq_op)]
            fn lane($term: T) -> $lane {
                $value
            }
            #[inline(always)]
            fn merge($a: $lane, $b: $lane) -> $lane {
                $merged
            }
            #[inline(always)]
            fn finish($l: $lane, $n: usize) -> $out {
                $result
            }
            $(
                const HAS_FAST_MERGE: bool = true;
                #[inline(always)]
                fn fast_merge($c: $lane, $d: $lane) -> $lane {
                    $fast
                }
                #[inline(always)]
                #[allow(clippy::eq_op)]
                fn is_nan($o: $lane) -> bool {
                    $is_nan
                }
                const NAN: $lane = $nan;
            )?
        }
    )* };
}

// The fast merge of extremes is one min or max instruction, which loses NaNs. Together with a separate check for NaNs
// it takes less time than `merge`. A block with a NaN is reduced again with `merge`.
lane_folds! {
    /// The sum. For bools it is true if any term is.
    Sum<T: Summand>: T => T {
        identity: T::SUM_IDENTITY, padding: T::SUM_IDENTITY, no_terms: Some(T::ZERO);
        lane: x => x;
        merge: (a, b) => a.add(b);
        result: (sum, _n) => sum.canonical_nan();
    }
    /// The sum of the terms that are not NaN.
    NanSum<T: Summand>: T => T {
        identity: T::SUM_IDENTITY, padding: T::SUM_IDENTITY, no_terms: Some(T::ZERO);
        lane: x => if x == x { x } else { T::ZERO };
        merge: (a, b) => a.add(b);
        result: (sum, _n) => sum.canonical_nan();
    }
    /// The sum divided by the number of terms; NaN if there are no terms.
    Mean<T: Averaged>: T => T {
        identity: T::SUM_IDENTITY, padding: T::SUM_IDENTITY, no_terms: Some(T::ZERO);
        lane: x => x;
        merge: (a, b) => a.add(b);
        result: (sum, n) => sum.divided_by(n).canonical_nan();
    }
    /// The product. For bools it is true if all terms are.
    Prod<T: Summand>: T => T {
        identity: T::ONE, padding: T::ONE, no_terms: Some(T::ONE);
        lane: x => x;
        merge: (a, b) => a.times(b);
        result: (product, _n) => product.canonical_nan();
    }
    /// The largest term; NaN if there is one.
    Max<T: Limits>: T => T {
        identity: T::LOWEST, padding: T::LOWEST, no_terms: None;
        lane: x => x;
        merge: (a, b) => a.maximum(b);
        result: (largest, _n) => largest;
        fast_merge: (a, b) => if a > b { a } else { b }, is_nan: x => x != x, nan: T::NAN;
    }
    /// The smallest term; NaN if there is one.
    Min<T: Limits>: T => T {
        identity: T::HIGHEST, padding: T::HIGHEST, no_terms: None;
        lane: x => x;
        merge: (a, b) => a.minimum(b);
        result: (smallest, _n) => smallest;
        fast_merge: (a, b) => if a < b { a } else { b }, is_nan: x => x != x, nan: T::NAN;
    }
    /// The square root of the sum of squares. In float64, so that squares of float32 neither overflow nor underflow.
    Norm2<T: Squares>: f64 => T::Norm {
        identity: 0.0, padding: T::ZERO, no_terms: Some(0.0);
        lane: x => x.magnitude_squared();
        merge: (a, b) => a + b;
        result: (sum, _n) => T::Norm::of(sum.sqrt().canonical_nan());
    }
}

/// The smallest and the largest term.
pub struct MinMax;

impl<T: Limits> Fold<T> for MinMax {
    type Acc = (T, T);
    type Out = (T, T);
    const EMPTY_RESULT: Option<(T, T)> = None;

    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, first: usize) -> (T, T) {
        // SAFETY: the contract of `Fold::block`, twice.
        unsafe {
            let smallest = FoldByLanes::<Min>::block::<FAST>(terms, n, first);
            (smallest, FoldByLanes::<Max>::block::<FAST>(terms, n, first))
        }
    }
    #[inline(always)]
    fn merge(a: (T, T), b: (T, T)) -> (T, T) {
        (a.0.minimum(b.0), a.1.maximum(b.1))
    }
    fn finish(acc: (T, T), _: usize, _: f64) -> (T, T) {
        acc
    }
}

/// The extreme value, by the fold `E` that finds it, and the position of its first occurrence. Terms are in row-major
/// order.
pub struct ArgExtreme<E>(std::marker::PhantomData<E>);

impl<E: LaneFold<T, Lane = T, Out = T>, T: Limits> Fold<T> for ArgExtreme<E> {
    type Acc = (T, usize);
    type Out = (T, i64);
    const EMPTY_RESULT: Option<(T, usize)> = None;

    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, first: usize) -> (T, usize) {
        // SAFETY: the contract of `Fold::block`.
        unsafe { Self::chunk::<FAST>(terms, n, first) }
    }

    /// Finds the extreme of each block, and searches only the best block for its position.
    #[inline(always)]
    unsafe fn chunk<const FAST: bool>(terms: *const T, n: usize, first: usize) -> (T, usize) {
        // SAFETY: the contract of `Fold::chunk`; blocks and the position found are below `n`.
        unsafe {
            let mut best = (E::IDENTITY, 0);
            for at in (0..n).step_by(BLOCK) {
                let newest = (FoldByLanes::<E>::block::<FAST>(terms.add(at), BLOCK.min(n - at), 0), at);
                best = if at == 0 { newest } else { Self::merge(best, newest) };
            }
            let count = BLOCK.min(n - best.1);
            let position = best.1 + first_position(terms.add(best.1), count, best.0);
            // The element itself and not `best.0`: zeros may differ in their sign, NaNs in their bits.
            (terms.add(position).read(), first + position)
        }
    }

    const HAS_FEW_TERMS: bool = true;

    #[inline(always)]
    #[allow(clippy::eq_op)]
    unsafe fn few_terms<C: Columns<T>, const FAST: bool, const N: usize>(
        rows: &[*const u8],
        at: usize,
    ) -> [(T, usize); N] {
        // SAFETY: the contract of `Fold::few_terms`.
        unsafe {
            let mut best = C::read::<FAST, N>(rows[0], at);
            let mut positions = [0u32; N];
            for (i, &row) in rows.iter().enumerate().skip(1) {
                let terms = C::read::<FAST, N>(row, at);
                for j in 0..N {
                    let stays = (best[j] == E::merge(best[j], terms[j])) | (best[j] != best[j]);
                    best[j] = if stays { best[j] } else { terms[j] };
                    positions[j] = if stays { positions[j] } else { i as u32 };
                }
            }
            let mut found = [(T::ZERO, 0); N];
            for j in 0..N {
                found[j] = (best[j], positions[j] as usize);
            }
            found
        }
    }

    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn merge(a: (T, usize), b: (T, usize)) -> (T, usize) {
        if a.0 == E::merge(a.0, b.0) || a.0 != a.0 { a } else { b }
    }
    fn finish(acc: (T, usize), _: usize, _: f64) -> (T, i64) {
        (acc.0, acc.1 as i64)
    }
}

/// The position of the first term that equals `wanted` or is NaN: group by group, then within the group. There must
/// be one.
///
/// # Safety
/// `terms` points to `n` readable terms, at least one.
#[inline(always)]
unsafe fn first_position<T: Real>(terms: *const T, n: usize, wanted: T) -> usize {
    #[allow(clippy::eq_op)]
    let matches = |term: T| (term == wanted) | (term != term);
    let mut at = 0;
    // SAFETY: the contract of this function; every index is below `n`.
    unsafe {
        while at + LANES <= n {
            let group = terms.add(at).cast::<[T; LANES]>().read();
            let mut found = false;
            for term in group {
                found |= matches(term);
            }
            if found {
                break;
            }
            at += LANES;
        }
        while at + 1 < n && !matches(terms.add(at).read()) {
            at += 1;
        }
    }
    at
}

/// Replaces NaN by 0. A stage of `nansum` with an integer result: NaNs must go before the cast to integers.
pub struct NanToZero;

impl<T: Float> Function<T, 1> for NanToZero {
    type Out = T;
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn apply([x]: [T; 1]) -> T {
        if x == x { x } else { T::ZERO }
    }
}

/// Number of terms, their mean, and the sum of squared deviations from it.
#[derive(Clone, Copy)]
pub struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

/// The variance (the standard deviation if `ROOT`) and the mean, in float64. A block takes two passes, mean and
/// deviations, so that no digits cancel where the mean is large. The second pass finds its terms in the cache. Blocks
/// merge by the formula of Chan, Golub and LeVeque. The parameter is PyTorch's `correction`.
pub struct Variance<const ROOT: bool>;

impl<T: Cast<f64>, const ROOT: bool> Fold<T> for Variance<ROOT> {
    type Acc = Moments;
    type Out = (f64, f64);
    const EMPTY_RESULT: Option<Moments> = Some(Moments { n: 0.0, mean: f64::NAN, squares: 0.0 });

    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, _: usize) -> Moments {
        // SAFETY: the contract of `Fold::block`, twice.
        unsafe {
            let [sum] = sums(terms, n, |x| [x.cast()]);
            let mean = sum / n as f64;
            // The deviations would add up to 0 if the mean were exact. Their sum corrects the rounding error of the
            // mean. If the mean is infinite, the sum is NaN and there is no correction.
            let [rest, squares] = sums(terms, n, |x| {
                let deviation = x.cast() - mean;
                [deviation, deviation * deviation]
            });
            let error = rest / n as f64;
            Moments {
                n: n as f64,
                mean: if error.is_finite() { mean + error } else { mean },
                squares: squares - rest * error,
            }
        }
    }

    #[inline(always)]
    fn merge(a: Moments, b: Moments) -> Moments {
        let n = a.n + b.n;
        let distance = b.mean - a.mean;
        Moments {
            n,
            mean: if distance.is_finite() { a.mean + distance * (b.n / n) } else { a.mean + b.mean },
            squares: a.squares + b.squares + distance * distance * (a.n * b.n / n),
        }
    }

    /// Infinite or NaN if the number of terms does not exceed the correction.
    fn finish(acc: Moments, _: usize, correction: f64) -> (f64, f64) {
        let variance = acc.squares / (acc.n - correction).max(0.0);
        (if ROOT { variance.sqrt() } else { variance }.canonical_nan(), acc.mean.canonical_nan())
    }
}

/// Returns the sums of K values of each term.
///
/// # Safety
/// `terms` points to `n` readable terms.
#[inline(always)]
unsafe fn sums<T: Copy, const K: usize>(terms: *const T, n: usize, f: impl Fn(T) -> [f64; K]) -> [f64; K] {
    let mut lanes = [[0.0; LANES]; K];
    let mut at = 0;
    // SAFETY: the contract of this function; every index is below `n`.
    unsafe {
        while at + LANES <= n {
            let group = terms.add(at).cast::<[T; LANES]>().read();
            for j in 0..LANES {
                let values = f(group[j]);
                for k in 0..K {
                    lanes[k][j] += values[k];
                }
            }
            at += LANES;
        }
        for j in 0..n - at {
            let values = f(terms.add(at + j).read());
            for k in 0..K {
                lanes[k][j] += values[k];
            }
        }
    }
    lanes.map(|lanes| merge_in_halves(lanes, |a, b| a + b))
}
