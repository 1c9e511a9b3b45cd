//! The logarithm of the sum of exponentials.

#![allow(clippy::needless_range_loop)] // as in `map`

use super::LANES;
use super::fold::{Columns, Fold, InLanes};
use super::folds::{Limits, Max, Summand};
use super::groups::{Groups, Room, halve};
use crate::kernels::maths::functions::{Exp, Function1, Log};
use crate::scalar::{Complex, Float, Num, Real};
use std::mem::MaybeUninit;

/// What an exponential is taken of: a float, or a complex number whose real part tells the size.
pub trait Exponent: Summand {
    type Size: Limits + Float;
    /// Its exponential is 0.
    const LOWEST: Self;
    /// Whether numbers of one infinite size are all the same.
    const FLAT: bool;
    fn size(self) -> Self::Size;
    /// The largest size; NaN if there is one.
    ///
    /// # Safety
    /// There are `n` terms at `terms`.
    unsafe fn largest<const FAST: bool>(terms: *const Self, n: usize) -> Self::Size;
    /// The distance from a size.
    fn below(self, size: Self::Size) -> Self;
    fn shrunk(self, factor: Self::Size) -> Self;
    /// The number with so much more size.
    fn above(self, size: Self::Size) -> Self;
}
macro_rules! float_exponents {
    ($($t:ty)*) => { $(
        impl Exponent for $t {
            type Size = $t;
            const LOWEST: $t = <$t as Limits>::LOWEST;
            const FLAT: bool = true;
            #[inline(always)]
            fn size(self) -> $t { self }
            #[inline(always)]
            unsafe fn largest<const FAST: bool>(terms: *const $t, n: usize) -> $t {
                // SAFETY: the caller's promise.
                unsafe { InLanes::<Max>::block::<FAST>(terms, n, 0) }
            }
            #[inline(always)]
            fn below(self, size: $t) -> $t { self - size }
            #[inline(always)]
            fn shrunk(self, factor: $t) -> $t { self * factor }
            #[inline(always)]
            fn above(self, size: $t) -> $t { self + size }
        }
    )* };
}
float_exponents! { f32 f64 }

impl Exponent for Complex<f64> {
    type Size = f64;
    /// Its exponential has an angle of -0, which changes no sum.
    const LOWEST: Self = Complex::new(f64::NEG_INFINITY, -0.0);
    const FLAT: bool = false;
    fn size(self) -> f64 {
        self.re
    }
    unsafe fn largest<const FAST: bool>(terms: *const Self, n: usize) -> f64 {
        let mut largest = f64::NEG_INFINITY;
        for i in 0..n {
            // SAFETY: the caller's promise.
            largest = Real::maximum(largest, unsafe { terms.add(i).read() }.re);
        }
        largest
    }
    fn below(self, size: f64) -> Self {
        // Infinities that are equal are 0 apart. Only what is infinite itself counts as nothing, whatever its angle.
        let apart = if self.re == size { 0.0 } else { self.re - size };
        Complex::new(if self.re.is_finite() { apart.max(f64::MIN) } else { apart }, self.im)
    }
    fn shrunk(self, factor: f64) -> Self {
        Complex::new(self.re * factor, self.im * factor)
    }
    fn above(self, size: f64) -> Self {
        Complex::new(self.re + size, self.im)
    }
}

/// The result where there are no distances from the largest size: infinities of one sign, or NaN.
#[inline(always)]
fn without_distances<T: Exponent>(largest: T::Size) -> Option<(T::Size, T)> {
    if largest == T::Size::LOWEST {
        return Some((largest, T::ZERO));
    }
    (T::FLAT && !largest.is_finite()).then_some((largest, T::ONE))
}

/// The largest size, and the sum of the exponentials of the distances from it.
pub struct LogSumExp;

impl<T: Exponent> Fold<T> for LogSumExp
where
    Exp: Function1<T> + Function1<T::Size>,
    Log: Function1<T>,
{
    type Acc = (T::Size, T);
    type Out = T;
    const WEIGHT: usize = 8;
    const NOTHING: Option<(T::Size, T)> = Some((T::Size::LOWEST, T::ZERO));

    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, _first: usize) -> (T::Size, T) {
        // SAFETY: the caller's promise.
        unsafe {
            let largest = T::largest::<FAST>(terms, n);
            if let Some(all) = without_distances(largest) {
                return all;
            }
            let mut lanes = [T::SUM_OF_NOTHING; LANES];
            let mut room = Room::NEW;
            let groups = Groups::new::<FAST>(terms, n, T::LOWEST, &mut room);
            for i in 0..groups.count {
                let mut group = groups.read(i);
                for term in &mut group {
                    *term = term.below(largest);
                }
                let powers = if FAST { Exp::block(group) } else { group.map(Exp::exact) };
                for j in 0..LANES {
                    lanes[j] = lanes[j].add(powers[j]);
                }
            }
            (largest, halve(lanes, |a, b| a.add(b)))
        }
    }

    const BESIDE: bool = true;

    #[inline(always)]
    unsafe fn beside<C: Columns<T>, const FAST: bool, const N: usize>(
        rows: &[*const u8],
        at: usize,
    ) -> [(T::Size, T); N] {
        let mut largest = [T::Size::LOWEST; N];
        let mut powers = [const { MaybeUninit::<[T; N]>::uninit() }; LANES];
        // SAFETY: the caller's promise; as many powers are read as were written.
        let sum = unsafe {
            for &row in rows {
                let terms = C::read::<FAST, N>(row, at);
                for j in 0..N {
                    largest[j] = largest[j].maximum(terms[j].size());
                }
            }
            for (power, &row) in powers.iter_mut().zip(rows) {
                let mut terms = C::read::<FAST, N>(row, at);
                for j in 0..N {
                    terms[j] = terms[j].below(largest[j]);
                }
                power.write(if FAST { Exp::block(terms) } else { terms.map(Exp::exact) });
            }
            // In halves, as lanes are: those without terms are 0.
            let (mut count, mut half) = (rows.len(), LANES / 2);
            while half > 0 {
                for i in half..count {
                    let (a, b) = (powers[i - half].assume_init(), powers[i].assume_init());
                    for j in 0..N {
                        powers[i - half].assume_init_mut()[j] = a[j].add(b[j]);
                    }
                }
                count = count.min(half);
                half /= 2;
            }
            powers[0].assume_init()
        };
        let mut all = [(T::Size::LOWEST, T::ZERO); N];
        for j in 0..N {
            all[j] = without_distances(largest[j]).unwrap_or((largest[j], sum[j]));
        }
        all
    }

    fn merge(a: (T::Size, T), b: (T::Size, T)) -> (T::Size, T) {
        let largest = a.0.maximum(b.0);
        let scaled = |(top, sum): (T::Size, T)| {
            if top == largest {
                sum
            } else {
                sum.shrunk(<Exp as Function1<T::Size>>::exact(top.sub(largest)))
            }
        };
        (largest, scaled(a).add(scaled(b)))
    }

    fn finish((largest, sum): (T::Size, T), _: usize, _: f64) -> T {
        Log::exact(sum).above(largest).settled()
    }

    #[inline(always)]
    fn finish_all<const FAST: bool, const N: usize>(acc: [(T::Size, T); N], _: usize, _: f64) -> [T; N] {
        let mut sums = [T::ONE; N];
        for j in 0..N {
            sums[j] = acc[j].1;
        }
        sums = if FAST { Log::block(sums) } else { sums.map(Log::exact) };
        for j in 0..N {
            sums[j] = sums[j].above(acc[j].0).settled();
        }
        sums
    }
}
