//! The functions of lines, one row each: what they accumulate, how, and what they write.

use super::exponent::Exponent;
use super::scan::Scan;
use super::{Request, run_scan, ways};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::maths::rows::{Exp, Function1, Log};
use crate::scalar::{Complex, Num};
use std::marker::PhantomData;

/// A function of lines for one compute dtype.
pub type Function = fn(&Request) -> Result<()>;

/// The function that serves tensors of a dtype. Integers are computed in 64 bits, which wrap alike: so a narrower result is cut from
/// theirs.
macro_rules! table {
    ($($(#[$doc:meta])* $name:ident: $($($dtype:ident)|+ => $run:expr),+;)*) => { $(
        $(#[$doc])*
        pub fn $name(dtype: DType) -> Option<Function> {
            match dtype {
                $($(DType::$dtype)|+ => Some($run),)+
                #[allow(unreachable_patterns)]
                _ => None,
            }
        }
    )* };
}

table! {
    /// Sums of all elements up to each. Halves and float32 are added in float64.
    cumsum:
        Bool | U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64 => run_scan::<Sum<i64, i64>, 1>,
        F16 | BF16 | F32 => run_scan::<Sum<f32, f64>, 1>,
        F64 => run_scan::<Sum<f64, f64>, 1>,
        C64 => run_scan::<Sum<Complex<f32>, Complex<f64>>, 1>,
        C128 => run_scan::<Sum<Complex<f64>, Complex<f64>>, 1>;
    /// Products of all elements up to each.
    cumprod:
        Bool | U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64 => run_scan::<Product<i64, i64>, 3>,
        F16 | BF16 | F32 => run_scan::<Product<f32, f64>, 3>,
        F64 => run_scan::<Product<f64, f64>, 3>,
        C64 => run_scan::<Product<Complex<f32>, Complex<f64>>, 3>,
        C128 => run_scan::<Product<Complex<f64>, Complex<f64>>, 3>;
    /// The largest element up to each, and its position.
    cummax:
        U64 => run_scan::<Extreme<u64, u64, true>, 2>,
        Bool | U8 | U16 | U32 | I8 | I16 | I32 | I64 => run_scan::<Extreme<i64, i64, true>, 2>,
        F16 | BF16 | F32 => single_extreme::<true>,
        F64 => run_scan::<Extreme<f64, f64, true>, 2>;
    /// The smallest element up to each, and its position.
    cummin:
        U64 => run_scan::<Extreme<u64, u64, false>, 2>,
        Bool | U8 | U16 | U32 | I8 | I16 | I32 | I64 => run_scan::<Extreme<i64, i64, false>, 2>,
        F16 | BF16 | F32 => single_extreme::<false>,
        F64 => run_scan::<Extreme<f64, f64, false>, 2>;
    /// The logarithm of the sum of the exponentials of all elements up to each.
    logcumsumexp:
        F16 | BF16 | F32 => run_scan::<LogSumExp<f32>, 4>,
        F64 => run_scan::<LogSumExp<f64>, 4>,
        C64 => run_scan::<ComplexLogSumExp<Complex<f32>>, 4>,
        C128 => run_scan::<ComplexLogSumExp<Complex<f64>>, 4>;
    /// Exponentials, divided by their sum.
    softmax:
        F16 | BF16 | F32 => ways::run::<f32, false>,
        F64 => ways::run::<f64, false>;
    /// The logarithm of `softmax`.
    log_softmax:
        F16 | BF16 | F32 => ways::run::<f32, true>,
        F64 => ways::run::<f64, true>;
}

/// Elements of a tile and the wider numbers in which they are accumulated.
pub(super) trait Widened<T>: Copy {
    fn wide(self) -> T;
    fn narrow(wide: T) -> Self;
}
macro_rules! widened {
    ($($e:ty: $t:ty, |$x:ident| $wide:expr, $narrow:expr;)*) => { $(
        impl Widened<$t> for $e {
            #[inline(always)]
            fn wide(self) -> $t { let $x = self; $wide }
            #[inline(always)]
            fn narrow($x: $t) -> $e { $narrow }
        }
    )* };
}
widened! {
    i64: i64, |x| x, x;
    u64: u64, |x| x, x;
    f64: f64, |x| x, x;
    f32: f32, |x| x, x;
    f32: f64, |x| x as f64, x as f32;
    Complex<f64>: Complex<f64>, |x| x, x;
    Complex<f32>: Complex<f64>, |x| Complex::new(x.re as f64, x.im as f64), Complex::new(x.re as f32, x.im as f32);
}

/// What an accumulator must tell besides its arithmetic.
trait Accumulator: Num {
    /// What changes no sum: for floats that is -0.0, for 0.0 would lose the sign of -0.0.
    const NOTHING: Self;
    /// Whether a product is so large or small that another factor may lose its digits; that of integers never is.
    fn is_extreme(self) -> bool;
    /// The position as a number, and back.
    fn place(position: usize) -> Self;
    fn position(self) -> i64;
}
macro_rules! accumulators {
    ($($t:ty: $nothing:expr, |$x:ident| $extreme:expr, |$at:ident| $place:expr, $position:expr;)*) => { $(
        impl Accumulator for $t {
            const NOTHING: Self = $nothing;
            #[inline(always)]
            fn is_extreme(self) -> bool { let $x = self; $extreme }
            #[inline(always)]
            fn place($at: usize) -> Self { $place }
            #[inline(always)]
            fn position(self) -> i64 { let $x = self; $position }
        }
    )* };
}
/// The product of two numbers of such magnitudes has all its digits.
const MODERATE: std::ops::RangeInclusive<f64> = 1e-145..=1e145;
/// Where floats count in ones.
const ONES: f64 = (1u64 << 52) as f64;
const SINGLE_ONES: u32 = 1 << 23;
accumulators! {
    i64: 0, |x| { let _ = x; false }, |at| at as i64, x;
    u64: 0, |x| { let _ = x; false }, |at| at as u64, x as i64;
    f64: -0.0, |x| is_extreme(x.abs()), |at| at as f64,
        // As bits, because that is an instruction for several lanes and a conversion is not.
        ((x + ONES).to_bits() & ((1 << 52) - 1)) as i64;
    f32: -0.0, |x| is_extreme(x.abs() as f64), |at| at as f32,
        ((x + SINGLE_ONES as f32).to_bits() & (SINGLE_ONES - 1)) as i64;
    Complex<f64>: Complex::new(-0.0, -0.0), |x| is_extreme(x.re.abs().max(x.im.abs())), |at| Complex::new(at as f64, 0.0), x.re as i64;
}

#[inline(always)]
fn is_extreme(size: f64) -> bool {
    !((size >= *MODERATE.start()) & (size <= *MODERATE.end()))
}

struct Sum<E, T>(PhantomData<(E, T)>);

impl<E: Widened<T> + crate::scalar::Element, T: Accumulator> Scan<1> for Sum<E, T> {
    type E = E;
    type T = T;
    const START: [T; 1] = [T::NOTHING];

    #[inline(always)]
    fn begin(_: [T; 1]) -> [T; 1] {
        Self::START
    }
    #[inline(always)]
    fn step<const L: usize, const ALONE: bool, const FAST: bool>(
        [sum]: &mut [[T; L]; 1],
        x: [E; L],
        _: [T; L],
    ) {
        for j in 0..L {
            sum[j] = sum[j].add(x[j].wide());
        }
    }
    #[inline(always)]
    fn emit<const L: usize, const ALONE: bool, const FAST: bool>(
        [carry]: &[[T; L]; 1],
        [sum]: &[[T; L]; 1],
        mut x: [E; L],
    ) -> [E; L] {
        for j in 0..L {
            x[j] = E::narrow(if ALONE { sum[j] } else { carry[j].add(sum[j]) });
        }
        x
    }
    #[inline(always)]
    fn end([carry]: [T; 1], [sum]: [T; 1]) -> [T; 1] {
        [carry.add(sum)]
    }
}

/// The state is the chunk's own product, 1 unless that ever was extreme, and the product from the line's first element on,
/// which is the result. The own product serves the chunks behind it, unless the other one could have lost digits that it
/// has not: a product that became 0 stays 0.
struct Product<E, T>(PhantomData<(E, T)>);

impl<E: Widened<T> + crate::scalar::Element, T: Accumulator> Scan<3> for Product<E, T> {
    type E = E;
    type T = T;
    const START: [T; 3] = [T::ONE; 3];

    #[inline(always)]
    fn begin([carry, ..]: [T; 3]) -> [T; 3] {
        [T::ONE, T::ONE, carry]
    }
    #[inline(always)]
    fn step<const L: usize, const ALONE: bool, const FAST: bool>(
        [own, lost, run]: &mut [[T; L]; 3],
        x: [E; L],
        _: [T; L],
    ) {
        for j in 0..L {
            if const { !ALONE } {
                own[j] = own[j].mul(x[j].wide());
            }
            run[j] = run[j].mul(x[j].wide());
            if const { !ALONE } {
                lost[j] = if own[j].is_extreme() { T::ZERO } else { lost[j] };
            }
        }
    }
    #[inline(always)]
    fn emit<const L: usize, const ALONE: bool, const FAST: bool>(
        _: &[[T; L]; 3],
        [_, _, run]: &[[T; L]; 3],
        mut x: [E; L],
    ) -> [E; L] {
        for j in 0..L {
            x[j] = E::narrow(run[j]);
        }
        x
    }
    #[inline(always)]
    fn end(carry: [T; 3], state: [T; 3]) -> [T; 3] {
        [if Self::stands_alone(carry, state) { carry[0].mul(state[0]) } else { state[2] }; 3]
    }
    #[inline(always)]
    fn stands_alone([carry, ..]: [T; 3], [_, lost, _]: [T; 3]) -> bool {
        let settled = carry == T::ZERO || !carry.is_finite();
        lost == T::ONE && (settled || !carry.is_extreme())
    }
}

/// The state is an element and its position.
struct Extreme<E, T, const LARGEST: bool>(PhantomData<(E, T)>);

impl<E, T: Accumulator + PartialOrd, const LARGEST: bool> Extreme<E, T, LARGEST> {
    /// Whether a later element takes the place of an earlier one.
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn takes(later: T, earlier: T) -> bool {
        let beyond = if LARGEST { later >= earlier } else { later <= earlier };
        beyond | (later != later)
    }
}

trait Nowhere: Num {
    /// What every element takes the place of.
    const LOWEST: Self;
    const HIGHEST: Self;
}
macro_rules! nowhere {
    ($($t:ty: $low:expr, $high:expr;)*) => { $(impl Nowhere for $t { const LOWEST: Self = $low; const HIGHEST: Self = $high; })* };
}
nowhere! {
    i64: i64::MIN, i64::MAX;
    u64: 0, u64::MAX;
    f64: f64::NEG_INFINITY, f64::INFINITY;
    f32: f32::NEG_INFINITY, f32::INFINITY;
}

/// Extremes of float32, with positions in float32 where it has all of them.
fn single_extreme<const LARGEST: bool>(request: &Request) -> Result<()> {
    let length = request.x.layout().modes().get(request.dim).map_or(1, |mode| mode.extent);
    if length <= SINGLE_ONES as isize {
        return run_scan::<Extreme<f32, f32, LARGEST>, 2>(request);
    }
    run_scan::<Extreme<f32, f64, LARGEST>, 2>(request)
}

impl<E, T, const LARGEST: bool> Scan<2> for Extreme<E, T, LARGEST>
where
    E: Widened<T> + crate::scalar::Element,
    T: Accumulator + Nowhere + PartialOrd,
{
    type E = E;
    type T = T;
    const INDEXED: bool = true;
    const WEIGHT: usize = 2;
    const START: [T; 2] = [if LARGEST { T::LOWEST } else { T::HIGHEST }, T::ZERO];

    #[inline(always)]
    fn begin(_: [T; 2]) -> [T; 2] {
        Self::START
    }
    #[inline(always)]
    fn step<const L: usize, const ALONE: bool, const FAST: bool>(
        [most, place]: &mut [[T; L]; 2],
        x: [E; L],
        at: [T; L],
    ) {
        for j in 0..L {
            let takes = Self::takes(x[j].wide(), most[j]);
            most[j] = if takes { x[j].wide() } else { most[j] };
            place[j] = if takes { at[j] } else { place[j] };
        }
    }
    #[inline(always)]
    fn emit<const L: usize, const ALONE: bool, const FAST: bool>(
        [earlier, _]: &[[T; L]; 2],
        [own, _]: &[[T; L]; 2],
        mut x: [E; L],
    ) -> [E; L] {
        for j in 0..L {
            let takes = ALONE || Self::takes(own[j], earlier[j]);
            x[j] = E::narrow(if takes { own[j] } else { earlier[j] });
        }
        x
    }
    #[inline(always)]
    fn index<const L: usize, const ALONE: bool>(
        [earlier, before]: &[[T; L]; 2],
        [own, place]: &[[T; L]; 2],
    ) -> [i64; L] {
        let mut indices = [0; L];
        for j in 0..L {
            let takes = ALONE || Self::takes(own[j], earlier[j]);
            indices[j] = (if takes { place[j] } else { before[j] }).position();
        }
        indices
    }
    #[inline(always)]
    fn place(position: usize) -> T {
        T::place(position)
    }
    /// Unless a result passes through another dtype: elements are results as they are.
    const LEAPS: bool = size_of::<E>() == size_of::<T>();

    #[inline(always)]
    fn stays<const L: usize>([most, _]: &[[T; 1]; 2], x: &[E; L]) -> bool {
        let mut any = false;
        for x in x {
            any |= Self::takes(x.wide(), most[0]);
        }
        !any
    }
    #[inline(always)]
    fn follows<const L: usize>([most, _]: &[[T; 1]; 2], x: &[E; L]) -> bool {
        let mut all = Self::takes(x[0].wide(), most[0]);
        for j in 1..L {
            all &= Self::takes(x[j].wide(), x[j - 1].wide());
        }
        all
    }
    #[inline(always)]
    fn end(carry: [T; 2], own: [T; 2]) -> [T; 2] {
        if Self::takes(own[0], carry[0]) { own } else { carry }
    }
}

/// A function of every lane.
#[inline(always)]
pub(super) fn of_each<F: Function1<T>, T: Copy, const L: usize, const FAST: bool>(mut x: [T; L]) -> [T; L] {
    if FAST {
        return F::block(x);
    }
    for v in &mut x {
        *v = F::exact(*v);
    }
    x
}

/// Sums of exponentials as `s` times e to the power of `m`, the largest element: those of the chunk, and those from the
/// line's first element on.
struct LogSumExp<E>(PhantomData<E>);

impl<E: Exponent> LogSumExp<E> {
    /// Adds one exponential to each sum. Equal numbers, which may be infinite, are 0 apart; a NaN stays in the sum.
    #[inline(always)]
    fn add<const L: usize, const FAST: bool>(m: &mut [f64; L], s: &mut [f64; L], x: [E; L]) {
        let mut apart = [0.0; L];
        for j in 0..L {
            apart[j] = if x[j].wide() == m[j] { 0.0 } else { -(x[j].wide() - m[j]).abs() };
        }
        let share = of_each::<Exp, f64, L, FAST>(apart);
        for j in 0..L {
            let above = x[j].wide() > m[j];
            s[j] = if above { s[j] * share[j] + 1.0 } else { s[j] + share[j] };
            m[j] = if above { x[j].wide() } else { m[j] };
        }
    }
}

impl<E: Exponent> Scan<4> for LogSumExp<E> {
    type E = E;
    type T = f64;
    const WEIGHT: usize = 16;
    const START: [f64; 4] = [f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY, 0.0];

    #[inline(always)]
    fn begin([m, s, ..]: [f64; 4]) -> [f64; 4] {
        [f64::NEG_INFINITY, 0.0, m, s]
    }
    #[inline(always)]
    fn step<const L: usize, const ALONE: bool, const FAST: bool>(
        [m, s, run_m, run_s]: &mut [[f64; L]; 4],
        x: [E; L],
        _: [f64; L],
    ) {
        if const { !ALONE } {
            Self::add::<L, FAST>(m, s, x);
        }
        Self::add::<L, FAST>(run_m, run_s, x);
    }
    #[inline(always)]
    fn emit<const L: usize, const ALONE: bool, const FAST: bool>(
        _: &[[f64; L]; 4],
        [_, _, m, s]: &[[f64; L]; 4],
        mut x: [E; L],
    ) -> [E; L] {
        let logs = of_each::<Log, f64, L, FAST>(*s);
        for j in 0..L {
            x[j] = E::narrow(m[j] + logs[j]);
        }
        x
    }
    fn end([m1, s1, ..]: [f64; 4], [m2, s2, ..]: [f64; 4]) -> [f64; 4] {
        let m = if m2 > m1 { m2 } else { m1 };
        let share = |own: f64| if own == m { 1.0 } else { Exp::exact(own - m) };
        let s = s1 * share(m1) + s2 * share(m2);
        [m, s, m, s]
    }
}

/// The same for complex numbers, where `m` is the largest real part. A term is a sum of one.
struct ComplexLogSumExp<E>(PhantomData<E>);

type Wide = Complex<f64>;

impl<E: Widened<Wide>> ComplexLogSumExp<E> {
    /// Of two sums one. Equal sizes, which may be infinite, are 0 apart; a NaN stays in the sum.
    fn merged([m1, s1]: [Wide; 2], [m2, s2]: [Wide; 2]) -> [Wide; 2] {
        let m = if m2.re > m1.re { m2 } else { m1 };
        let share = |own: Wide| if own == m { 1.0 } else { Exp::exact(own.re - m.re) };
        [m, s1 * share(m1) + s2 * share(m2)]
    }

    fn term(x: E) -> [Wide; 2] {
        let x = x.wide();
        let nothing = x.re == f64::NEG_INFINITY;
        [Wide::new(x.re, 0.0), if nothing { Wide::ZERO } else { Exp::exact(Wide::new(0.0, x.im)) }]
    }
}

impl<E: Widened<Wide> + crate::scalar::Element> Scan<4> for ComplexLogSumExp<E> {
    type E = E;
    type T = Wide;
    const WEIGHT: usize = 16;
    const START: [Wide; 4] = {
        let lowest = Wide::new(f64::NEG_INFINITY, 0.0);
        [lowest, Wide::ZERO, lowest, Wide::ZERO]
    };

    fn begin([m, s, ..]: [Wide; 4]) -> [Wide; 4] {
        [Self::START[0], Self::START[1], m, s]
    }
    #[inline(always)]
    fn step<const L: usize, const ALONE: bool, const FAST: bool>(
        state: &mut [[Wide; L]; 4],
        x: [E; L],
        _: [Wide; L],
    ) {
        for j in 0..L {
            let term = Self::term(x[j]);
            for k in if ALONE { 2..3 } else { 0..3 }.step_by(2) {
                [state[k][j], state[k + 1][j]] = Self::merged([state[k][j], state[k + 1][j]], term);
            }
        }
    }
    #[inline(always)]
    fn emit<const L: usize, const ALONE: bool, const FAST: bool>(
        _: &[[Wide; L]; 4],
        [_, _, m, s]: &[[Wide; L]; 4],
        mut x: [E; L],
    ) -> [E; L] {
        for j in 0..L {
            x[j] = E::narrow(Log::exact(s[j]) + m[j]);
        }
        x
    }
    fn end([m1, s1, ..]: [Wide; 4], [m2, s2, ..]: [Wide; 4]) -> [Wide; 4] {
        let [m, s] = Self::merged([m1, s1], [m2, s2]);
        [m, s, m, s]
    }
}
