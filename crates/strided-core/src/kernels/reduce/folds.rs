//! The reductions themselves.

#![allow(clippy::needless_range_loop)] // as in `map`

use super::fold::{Columns, Fold, InLanes, Lanes};
use super::groups::halve;
use super::{BLOCK, LANES};
use crate::kernels::cast::Cast;
use crate::kernels::loops::Function;
use crate::scalar::{Bool, Complex, Float, Num, Real};

/// A term of sums and products.
pub trait Summand: Num {
    /// What changes no sum: for floats that is -0.0, for 0.0 would lose the sign of -0.0.
    const SUM_OF_NOTHING: Self;
    /// A result: which NaN an addition gives of two depends on the instructions, so that all of them become one.
    fn settled(self) -> Self;
    /// A product that 1 does not change.
    fn times(self, other: Self) -> Self;
}
macro_rules! summands {
    ($($($t:ty),+: $nothing:expr, $x:ident => $settled:expr, ($a:ident, $b:ident) => $product:expr;)*) => { $($(
        impl Summand for $t {
            const SUM_OF_NOTHING: Self = $nothing;
            #[inline(always)]
            fn settled(self) -> Self { let $x = self; $settled }
            #[inline(always)]
            fn times(self, other: Self) -> Self { let ($a, $b) = (self, other); $product }
        }
    )+)* };
}
summands! {
    Bool: Self::ZERO, x => x, (a, b) => a.mul(b);
    u8, u16, u32, u64, i8, i16, i32, i64: 0, x => x, (a, b) => a.mul(b);
    // By bits: to the compiler one NaN is as good as another.
    f32, f64: -0.0, x => {
        let is_nan = x.to_bits() << 1 > Self::INFINITY.to_bits() << 1;
        Self::from_bits(if is_nan { Self::NAN.to_bits() } else { x.to_bits() })
    }, (a, b) => a * b;
    // Of 1 and -0 their product would be 0, of 1 and infinity NaN.
    Complex<f32>, Complex<f64>: Complex::new(-0.0, -0.0), x => Complex::new(x.re.settled(), x.im.settled()), (a, b) => {
        let is_one = |x: Self| x == Self::ONE && x.im.is_sign_positive();
        if is_one(a) { b } else if is_one(b) { a } else { a * b }
    };
}

/// A sum that a count divides.
pub trait Shared: Summand {
    fn among(self, n: usize) -> Self;
}
macro_rules! shared {
    ($($t:ty: $x:ident, $n:ident => $share:expr),*) => {
        $(impl Shared for $t {
            #[inline(always)]
            fn among(self, $n: usize) -> Self { let $x = self; $share }
        })*
    };
}
shared! {
    f32: x, n => x / n as f32,
    f64: x, n => x / n as f64,
    Complex<f32>: x, n => Complex::new(x.re / n as f32, x.im / n as f32),
    Complex<f64>: x, n => Complex::new(x.re / n as f64, x.im / n as f64)
}

/// The smallest and the largest value of a type.
pub trait Limits: Real {
    const LOWEST: Self;
    const HIGHEST: Self;
    /// No number, if the type has such a thing.
    const ODD: Self;
}
macro_rules! limits {
    ($($t:ty: $low:expr, $high:expr, $odd:expr;)*) => {
        $(impl Limits for $t { const LOWEST: Self = $low; const HIGHEST: Self = $high; const ODD: Self = $odd; })*
    };
}
limits! {
    Bool: Bool::new(false), Bool::new(true), Self::ZERO;
    u8: Self::MIN, Self::MAX, 0; u16: Self::MIN, Self::MAX, 0; u32: Self::MIN, Self::MAX, 0; u64: Self::MIN, Self::MAX, 0;
    i8: Self::MIN, Self::MAX, 0; i16: Self::MIN, Self::MAX, 0; i32: Self::MIN, Self::MAX, 0; i64: Self::MIN, Self::MAX, 0;
    f32: Self::NEG_INFINITY, Self::INFINITY, Self::NAN; f64: Self::NEG_INFINITY, Self::INFINITY, Self::NAN;
}

/// A number whose magnitude has a square in float64.
pub trait Squares: Num {
    type Norm: Float;
    fn squared(self) -> f64;
}
macro_rules! squares {
    ($($t:ty => $norm:ty: $x:ident => $square:expr;)*) => {
        $(impl Squares for $t {
            type Norm = $norm;
            #[inline(always)]
            fn squared(self) -> f64 { let $x = self; $square }
        })*
    };
}
squares! {
    f32 => f32: x => x as f64 * x as f64;
    f64 => f64: x => x * x;
    Complex<f32> => f32: x => x.re as f64 * x.re as f64 + x.im as f64 * x.im as f64;
    Complex<f64> => f64: x => x.re * x.re + x.im * x.im;
}

/// Reductions with one running value: what changes nothing, a term that does not, the result of no term, what a term
/// adds, how two values become one, and the result of `n` terms; for some how two become one quickly, unless one of the
/// terms is odd.
macro_rules! lanes {
    ($($(#[$doc:meta])* $name:ident<T: $bound:ident>: $lane:ty, $out:ty;
        $identity:expr; $neutral:expr; $nothing:expr; $term:ident => $value:expr; ($a:ident, $b:ident) => $merged:expr;
        ($l:ident, $n:ident) => $result:expr;
        $({quick ($c:ident, $d:ident) => $quick:expr, unless $o:ident => $is_odd:expr, $odd:expr})?)*) => { $(
        $(#[$doc])*
        pub struct $name;

        impl<T: $bound> Lanes<T> for $name {
            type Lane = $lane;
            type Out = $out;
            const IDENTITY: $lane = $identity;
            const NEUTRAL: T = $neutral;
            const NOTHING: Option<$lane> = $nothing;
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
                const QUICK: bool = true;
                #[inline(always)]
                fn quick($c: $lane, $d: $lane) -> $lane {
                    $quick
                }
                #[inline(always)]
                #[allow(clippy::eq_op)]
                fn is_odd($o: $lane) -> bool {
                    $is_odd
                }
                const ODD: $lane = $odd;
            )?
        }
    )* };
}

lanes! {
    /// The sum; of truth values whether one of them is true.
    Sum<T: Summand>: T, T;
        T::SUM_OF_NOTHING; T::SUM_OF_NOTHING; Some(T::ZERO); x => x; (a, b) => a.add(b); (sum, _n) => sum.settled();
    /// The sum of what is not NaN.
    NanSum<T: Summand>: T, T;
        T::SUM_OF_NOTHING; T::SUM_OF_NOTHING; Some(T::ZERO); x => if x == x { x } else { T::ZERO };
        (a, b) => a.add(b); (sum, _n) => sum.settled();
    /// The sum divided by the number of terms: NaN of none.
    Mean<T: Shared>: T, T;
        T::SUM_OF_NOTHING; T::SUM_OF_NOTHING; Some(T::ZERO); x => x; (a, b) => a.add(b);
        (sum, n) => sum.among(n).settled();
    /// The product; of truth values whether all of them are true.
    Prod<T: Summand>: T, T;
        T::ONE; T::ONE; Some(T::ONE); x => x; (a, b) => a.times(b); (product, _n) => product.settled();
    /// The largest; NaN if there is one.
    Max<T: Limits>: T, T;
        T::LOWEST; T::LOWEST; None; x => x; (a, b) => a.maximum(b); (largest, _n) => largest;
        {quick (a, b) => if a > b { a } else { b }, unless x => x != x, T::ODD}
    /// The smallest; NaN if there is one.
    Min<T: Limits>: T, T;
        T::HIGHEST; T::HIGHEST; None; x => x; (a, b) => a.minimum(b); (smallest, _n) => smallest;
        {quick (a, b) => if a < b { a } else { b }, unless x => x != x, T::ODD}
    /// The square root of the sum of squares. In float64, so that squares of float32 neither overflow nor vanish.
    Norm2<T: Squares>: f64, T::Norm;
        0.0; T::ZERO; Some(0.0); x => x.squared(); (a, b) => a + b; (sum, _n) => T::Norm::of(sum.sqrt().settled());
}

/// The smallest and the largest.
pub struct Both;

impl<T: Limits> Fold<T> for Both {
    type Acc = (T, T);
    type Out = (T, T);
    const NOTHING: Option<(T, T)> = None;

    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, first: usize) -> (T, T) {
        // SAFETY: the caller's promise.
        unsafe {
            (InLanes::<Min>::block::<FAST>(terms, n, first), InLanes::<Max>::block::<FAST>(terms, n, first))
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

/// The best value, by a reduction to it, and where it comes first.
pub struct Where<E>(std::marker::PhantomData<E>);

impl<E: Lanes<T, Lane = T, Out = T>, T: Limits> Fold<T> for Where<E> {
    type Acc = (T, usize);
    type Out = (T, i64);
    const NOTHING: Option<(T, usize)> = None;

    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, first: usize) -> (T, usize) {
        // SAFETY: the caller's promise.
        unsafe { Self::group::<FAST>(terms, n, first) }
    }

    /// Only in the best block the place is looked for.
    #[inline(always)]
    unsafe fn group<const FAST: bool>(terms: *const T, n: usize, first: usize) -> (T, usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut best = (E::IDENTITY, 0);
            for at in (0..n).step_by(BLOCK) {
                let newest = (InLanes::<E>::block::<FAST>(terms.add(at), BLOCK.min(n - at), 0), at);
                best = if at == 0 { newest } else { Self::merge(best, newest) };
            }
            let count = BLOCK.min(n - best.1);
            let place = best.1 + position(terms.add(best.1), count, best.0);
            (terms.add(place).read(), first + place) // the very element: zeros may differ in their sign
        }
    }

    const BESIDE: bool = true;

    #[inline(always)]
    #[allow(clippy::eq_op)]
    unsafe fn beside<C: Columns<T>, const FAST: bool, const N: usize>(
        rows: &[*const u8],
        at: usize,
    ) -> [(T, usize); N] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut best = C::read::<FAST, N>(rows[0], at);
            let mut places = [0u32; N];
            for (i, &row) in rows.iter().enumerate().skip(1) {
                let terms = C::read::<FAST, N>(row, at);
                for j in 0..N {
                    let stays = (best[j] == E::merge(best[j], terms[j])) | (best[j] != best[j]);
                    best[j] = if stays { best[j] } else { terms[j] };
                    places[j] = if stays { places[j] } else { i as u32 };
                }
            }
            let mut found = [(T::ZERO, 0); N];
            for j in 0..N {
                found[j] = (best[j], places[j] as usize);
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

/// Where a value that is there (or NaN) comes first: group by group, then within the group.
#[inline(always)]
unsafe fn position<T: Real>(terms: *const T, n: usize, wanted: T) -> usize {
    #[allow(clippy::eq_op)]
    let is = |term: T| (term == wanted) | (term != term);
    let mut at = 0;
    // SAFETY: the caller has `n` terms.
    unsafe {
        while at + LANES <= n {
            let group = terms.add(at).cast::<[T; LANES]>().read();
            let mut found = false;
            for term in group {
                found |= is(term);
            }
            if found {
                break;
            }
            at += LANES;
        }
        while at + 1 < n && !is(terms.add(at).read()) {
            at += 1;
        }
    }
    at
}

/// 0 in place of NaN, which integers do not have: what `nansum` adds up as integers.
pub struct WithoutNan;

impl<T: Float> Function<T, 1> for WithoutNan {
    type Out = T;
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn apply([x]: [T; 1]) -> T {
        if x == x { x } else { T::ZERO }
    }
}

/// Number, mean, and sum of the squared distances from it.
#[derive(Clone, Copy)]
pub struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

/// Mean and sum of squared distances, in float64. Within a block in two passes (which are in the cache), so that
/// nothing is lost where the mean is large; between blocks by the formula of Chan, Golub and LeVeque.
///
/// Gives the variance (the standard deviation, if `ROOT`) and the mean. The number is PyTorch's correction.
pub struct Spread<const ROOT: bool>;

impl<T: Cast<f64>, const ROOT: bool> Fold<T> for Spread<ROOT> {
    type Acc = Moments;
    type Out = (f64, f64);
    const NOTHING: Option<Moments> = Some(Moments { n: 0.0, mean: f64::NAN, squares: 0.0 });

    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, _: usize) -> Moments {
        // SAFETY: the caller's promise.
        unsafe {
            let [sum] = sums(terms, n, |x| [x.cast()]);
            let mean = sum / n as f64;
            // What rounding left of the mean is taken out again; an infinite one leaves NaN, and stays.
            let [rest, squares] = sums(terms, n, |x| {
                let distance = x.cast() - mean;
                [distance, distance * distance]
            });
            let left = rest / n as f64;
            Moments {
                n: n as f64,
                mean: if left.is_finite() { mean + left } else { mean },
                squares: squares - rest * left,
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

    /// Infinite or NaN where there are too few terms.
    fn finish(acc: Moments, _: usize, correction: f64) -> (f64, f64) {
        let variance = acc.squares / (acc.n - correction).max(0.0);
        (if ROOT { variance.sqrt() } else { variance }.settled(), acc.mean.settled())
    }
}

/// Sums of K values of each term.
#[inline(always)]
unsafe fn sums<T: Copy, const K: usize>(terms: *const T, n: usize, f: impl Fn(T) -> [f64; K]) -> [f64; K] {
    let mut lanes = [[0.0; LANES]; K];
    let mut at = 0;
    // SAFETY: the caller has `n` terms.
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
    lanes.map(|lanes| halve(lanes, |a, b| a + b))
}
