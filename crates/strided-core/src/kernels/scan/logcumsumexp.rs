//! `logcumsumexp` as a scan of real and of complex numbers.

use super::lanes::Scan;
use crate::kernels::lines::{Widened, map_lanes};
use crate::kernels::maths::functions::{Exp, Function1, Log};
use crate::scalar::{Complex, Element};
use std::marker::PhantomData;

/// The state is two sums of exponentials, that of the chunk and that from the line's first element on. Each is stored
/// as `m`, the largest element, and `s`: the sum is `s * exp(m)`, which cannot overflow before its logarithm is taken.
pub(super) struct LogCumSumExp<E>(PhantomData<E>);

impl<E: Widened<f64>> LogCumSumExp<E> {
    /// Adds `exp(x)` to each sum. The distance of equal numbers is 0, also if they are infinite. A NaN stays in the
    /// sum.
    #[inline(always)]
    fn add<const L: usize, const FAST: bool>(m: &mut [f64; L], s: &mut [f64; L], x: [E; L]) {
        let mut distance = [0.0; L];
        for j in 0..L {
            distance[j] = if x[j].wide() == m[j] { 0.0 } else { -(x[j].wide() - m[j]).abs() };
        }
        let factor = map_lanes::<Exp, f64, L, FAST>(distance);
        for j in 0..L {
            let above = x[j].wide() > m[j];
            s[j] = if above { s[j] * factor[j] + 1.0 } else { s[j] + factor[j] };
            m[j] = if above { x[j].wide() } else { m[j] };
        }
    }
}

impl<E: Widened<f64> + Element> Scan<4> for LogCumSumExp<E> {
    type E = E;
    type T = f64;
    const WEIGHT: usize = 16;
    const START: [f64; 4] = [f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY, 0.0];

    #[inline(always)]
    fn begin([m, s, ..]: [f64; 4]) -> [f64; 4] {
        [f64::NEG_INFINITY, 0.0, m, s]
    }
    #[inline(always)]
    fn step<const L: usize, const SINGLE: bool, const FAST: bool>(
        [chunk_m, chunk_s, m, s]: &mut [[f64; L]; 4],
        x: [E; L],
        _: [f64; L],
    ) {
        if const { !SINGLE } {
            Self::add::<L, FAST>(chunk_m, chunk_s, x);
        }
        Self::add::<L, FAST>(m, s, x);
    }
    #[inline(always)]
    fn emit<const L: usize, const SINGLE: bool, const FAST: bool>(
        _: &[[f64; L]; 4],
        [_, _, m, s]: &[[f64; L]; 4],
        mut x: [E; L],
    ) -> [E; L] {
        let logs = map_lanes::<Log, f64, L, FAST>(*s);
        for j in 0..L {
            x[j] = E::narrow(m[j] + logs[j]);
        }
        x
    }
    fn next_carry([m1, s1, ..]: [f64; 4], [m2, s2, ..]: [f64; 4]) -> [f64; 4] {
        let m = if m2 > m1 { m2 } else { m1 };
        let factor = |old: f64| if old == m { 1.0 } else { Exp::exact(old - m) };
        let s = s1 * factor(m1) + s2 * factor(m2);
        [m, s, m, s]
    }
}

/// As [`LogCumSumExp`], where `m` is the largest real part. Every element is merged as a sum of one term.
pub(super) struct ComplexLogCumSumExp<E>(PhantomData<E>);

type ComplexSum = Complex<f64>;

impl<E: Widened<ComplexSum>> ComplexLogCumSumExp<E> {
    /// Merges two sums. The distance of equal numbers is 0, also if they are infinite. A NaN stays in the sum.
    fn merged([m1, s1]: [ComplexSum; 2], [m2, s2]: [ComplexSum; 2]) -> [ComplexSum; 2] {
        let m = if m2.re > m1.re { m2 } else { m1 };
        let factor = |old: ComplexSum| if old == m { 1.0 } else { Exp::exact(old.re - m.re) };
        [m, s1 * factor(m1) + s2 * factor(m2)]
    }

    /// `exp(x)` as a sum of one term. A real part of -inf makes it 0, whatever the imaginary part is.
    fn term(x: E) -> [ComplexSum; 2] {
        let x = x.wide();
        let is_zero = x.re == f64::NEG_INFINITY;
        let s = if is_zero { ComplexSum::ZERO } else { Exp::exact(ComplexSum::new(0.0, x.im)) };
        [ComplexSum::new(x.re, 0.0), s]
    }
}

impl<E: Widened<ComplexSum> + Element> Scan<4> for ComplexLogCumSumExp<E> {
    type E = E;
    type T = ComplexSum;
    const WEIGHT: usize = 16;
    const START: [ComplexSum; 4] = {
        let lowest = ComplexSum::new(f64::NEG_INFINITY, 0.0);
        [lowest, ComplexSum::ZERO, lowest, ComplexSum::ZERO]
    };

    fn begin([m, s, ..]: [ComplexSum; 4]) -> [ComplexSum; 4] {
        [Self::START[0], Self::START[1], m, s]
    }
    #[inline(always)]
    fn step<const L: usize, const SINGLE: bool, const FAST: bool>(
        state: &mut [[ComplexSum; L]; 4],
        x: [E; L],
        _: [ComplexSum; L],
    ) {
        for j in 0..L {
            let term = Self::term(x[j]);
            for k in if SINGLE { 2..3 } else { 0..3 }.step_by(2) {
                [state[k][j], state[k + 1][j]] = Self::merged([state[k][j], state[k + 1][j]], term);
            }
        }
    }
    #[inline(always)]
    fn emit<const L: usize, const SINGLE: bool, const FAST: bool>(
        _: &[[ComplexSum; L]; 4],
        [_, _, m, s]: &[[ComplexSum; L]; 4],
        mut x: [E; L],
    ) -> [E; L] {
        for j in 0..L {
            x[j] = E::narrow(Log::exact(s[j]) + m[j]);
        }
        x
    }
    fn next_carry([m1, s1, ..]: [ComplexSum; 4], [m2, s2, ..]: [ComplexSum; 4]) -> [ComplexSum; 4] {
        let [m, s] = Self::merged([m1, s1], [m2, s2]);
        [m, s, m, s]
    }
}
