//! log(sum(exp(x))), without overflow: the accumulator of a block is its maximum and the sum of exp(x - max), and a
//! merge rescales the sum of the smaller maximum.

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::LANES;
use super::fold::{Columns, Fold, FoldByLanes};
use super::folds::{Max, Summand};
use super::groups::{GroupScratch, Groups, merge_in_halves};
use crate::kernels::maths::functions::{Exp, Function1, Log};
use crate::scalar::{Complex, Float, Limits, Num, Real};
use std::mem::MaybeUninit;

/// A term of `logsumexp`: a float or a complex number. The real part determines the magnitude of exp(x), so maxima are
/// those of real parts.
pub trait LogSumExpTerm: Summand {
    type RealPart: Limits + Float;
    /// A term whose exponential is 0 and changes no sum.
    const LOWEST: Self;
    /// True for floats. Complex terms with the same infinite real part may still differ in their imaginary parts.
    const IS_REAL: bool;
    fn real_part(self) -> Self::RealPart;
    /// The largest real part; NaN if there is one.
    ///
    /// # Safety
    /// `terms` points to `n` readable terms.
    unsafe fn max_real_part<const FAST: bool>(terms: *const Self, n: usize) -> Self::RealPart;
    /// `self - max`, where `max` is at least the real part.
    fn minus_max(self, max: Self::RealPart) -> Self;
    /// `self + max`.
    fn plus_max(self, max: Self::RealPart) -> Self;
    fn scaled(self, factor: Self::RealPart) -> Self;
}
macro_rules! float_terms {
    ($($t:ty)*) => { $(
        impl LogSumExpTerm for $t {
            type RealPart = $t;
            const LOWEST: $t = <$t as Limits>::LOWEST;
            const IS_REAL: bool = true;
            #[inline(always)]
            fn real_part(self) -> $t { self }
            #[inline(always)]
            unsafe fn max_real_part<const FAST: bool>(terms: *const $t, n: usize) -> $t {
                // SAFETY: the contract of `max_real_part`.
                unsafe { FoldByLanes::<Max>::block::<FAST>(terms, n, 0) }
            }
            #[inline(always)]
            fn minus_max(self, max: $t) -> $t { self - max }
            #[inline(always)]
            fn plus_max(self, max: $t) -> $t { self + max }
            #[inline(always)]
            fn scaled(self, factor: $t) -> $t { self * factor }
        }
    )* };
}
float_terms! { f32 f64 }

impl LogSumExpTerm for Complex<f64> {
    type RealPart = f64;
    /// Its exponential has an imaginary part of -0, which changes no sum.
    const LOWEST: Self = Complex::new(f64::NEG_INFINITY, -0.0);
    const IS_REAL: bool = false;
    fn real_part(self) -> f64 {
        self.re
    }
    unsafe fn max_real_part<const FAST: bool>(terms: *const Self, n: usize) -> f64 {
        let mut max = f64::NEG_INFINITY;
        for i in 0..n {
            // SAFETY: the contract of this function, for `i < n`.
            max = Real::maximum(max, unsafe { terms.add(i).read() }.re);
        }
        max
    }
    fn minus_max(self, max: f64) -> Self {
        // Equal infinities differ by 0. The difference of a finite term stays finite: an exponential is exactly 0,
        // whatever the imaginary part, only for a term that is -inf itself.
        let difference = if self.re == max { 0.0 } else { self.re - max };
        Complex::new(if self.re.is_finite() { difference.max(f64::MIN) } else { difference }, self.im)
    }
    fn plus_max(self, max: f64) -> Self {
        Complex::new(self.re + max, self.im)
    }
    fn scaled(self, factor: f64) -> Self {
        Complex::new(self.re * factor, self.im * factor)
    }
}

/// The accumulator of terms whose maximum is infinite or NaN, where x - max would be NaN: log(0) + max for -inf, and
/// for floats log(1) + max.
#[inline(always)]
fn of_infinite_max<T: LogSumExpTerm>(max: T::RealPart) -> Option<(T::RealPart, T)> {
    if max == T::RealPart::LOWEST {
        return Some((max, T::ZERO));
    }
    (T::IS_REAL && !max.is_finite()).then_some((max, T::ONE))
}

/// The fold of `logsumexp`. Accumulators are (max, sum of exp(x - max)).
pub struct LogSumExpFold;

impl<T: LogSumExpTerm> Fold<T> for LogSumExpFold
where
    Exp: Function1<T> + Function1<T::RealPart>,
    Log: Function1<T>,
{
    type Acc = (T::RealPart, T);
    type Out = T;
    const WEIGHT: usize = 8;
    const EMPTY_RESULT: Option<(T::RealPart, T)> = Some((T::RealPart::LOWEST, T::ZERO));

    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, _first: usize) -> (T::RealPart, T) {
        // SAFETY: the contract of `Fold::block`; groups are read for `i < count`.
        unsafe {
            let max = T::max_real_part::<FAST>(terms, n);
            if let Some(acc) = of_infinite_max(max) {
                return acc;
            }
            let mut lanes = [T::SUM_IDENTITY; LANES];
            let mut scratch = GroupScratch::NEW;
            let groups = Groups::new::<FAST>(terms, n, T::LOWEST, &mut scratch);
            for i in 0..groups.count {
                let mut group = groups.read(i);
                for term in &mut group {
                    *term = term.minus_max(max);
                }
                let exps = if FAST { Exp::block(group) } else { group.map(Exp::exact) };
                for j in 0..LANES {
                    lanes[j] = lanes[j].add(exps[j]);
                }
            }
            (max, merge_in_halves(lanes, |a, b| a.add(b)))
        }
    }

    const HAS_FEW_TERMS: bool = true;

    #[inline(always)]
    unsafe fn few_terms<C: Columns<T>, const FAST: bool, const N: usize>(
        rows: &[*const u8],
        at: usize,
    ) -> [(T::RealPart, T); N] {
        let mut max = [T::RealPart::LOWEST; N];
        let mut exps = [const { MaybeUninit::<[T; N]>::uninit() }; LANES];
        // SAFETY: the contract of `Fold::few_terms`; the first `rows.len()` exponentials are written before they are
        // read.
        let sum = unsafe {
            for &row in rows {
                let terms = C::read::<FAST, N>(row, at);
                for j in 0..N {
                    max[j] = max[j].maximum(terms[j].real_part());
                }
            }
            for (exp, &row) in exps.iter_mut().zip(rows) {
                let mut terms = C::read::<FAST, N>(row, at);
                for j in 0..N {
                    terms[j] = terms[j].minus_max(max[j]);
                }
                exp.write(if FAST { Exp::block(terms) } else { terms.map(Exp::exact) });
            }
            // In halves, as lanes are merged. Lanes without terms would add 0, and are left out.
            let (mut count, mut half) = (rows.len(), LANES / 2);
            while half > 0 {
                for i in half..count {
                    let (a, b) = (exps[i - half].assume_init(), exps[i].assume_init());
                    for j in 0..N {
                        exps[i - half].assume_init_mut()[j] = a[j].add(b[j]);
                    }
                }
                count = count.min(half);
                half /= 2;
            }
            exps[0].assume_init()
        };
        let mut acc = [(T::RealPart::LOWEST, T::ZERO); N];
        for j in 0..N {
            acc[j] = of_infinite_max(max[j]).unwrap_or((max[j], sum[j]));
        }
        acc
    }

    fn merge(a: (T::RealPart, T), b: (T::RealPart, T)) -> (T::RealPart, T) {
        let max = a.0.maximum(b.0);
        let rescaled = |(own_max, sum): (T::RealPart, T)| {
            if own_max == max {
                sum
            } else {
                sum.scaled(<Exp as Function1<T::RealPart>>::exact(own_max.sub(max)))
            }
        };
        (max, rescaled(a).add(rescaled(b)))
    }

    fn finish((max, sum): (T::RealPart, T), _: usize, _: f64) -> T {
        Log::exact(sum).plus_max(max).canonical_nan()
    }

    #[inline(always)]
    fn finish_all<const FAST: bool, const N: usize>(acc: [(T::RealPart, T); N], _: usize, _: f64) -> [T; N] {
        let mut results = [T::ONE; N];
        for j in 0..N {
            results[j] = acc[j].1;
        }
        results = if FAST { Log::block(results) } else { results.map(Log::exact) };
        for j in 0..N {
            results[j] = results[j].plus_max(acc[j].0).canonical_nan();
        }
        results
    }
}
