//! `cumsum`, `cumprod`, `cummax` and `cummin` as scans: what they accumulate, and what they write.

use super::lanes::Scan;
use super::passes::run;
use crate::error::Result;
use crate::kernels::lines::{LineRequest, Widened};
use crate::scalar::{Complex, Element, Limits, Num};
use std::marker::PhantomData;
use std::ops::RangeInclusive;

/// What scans need of an accumulator besides its arithmetic.
pub(super) trait ScanAccumulator: Num {
    /// Whether a product is so large or small that another factor may cost it digits. Products of integers never are.
    fn is_extreme(self) -> bool;
    /// The accumulator that holds a position.
    fn from_position(position: usize) -> Self;
    /// The position that an accumulator holds.
    fn to_index(self) -> i64;
}
macro_rules! accumulators {
    ($($t:ty: |$x:ident| $extreme:expr, |$at:ident| $from_position:expr, $to_index:expr;)*) => { $(
        impl ScanAccumulator for $t {
            #[inline(always)]
            fn is_extreme(self) -> bool { let $x = self; $extreme }
            #[inline(always)]
            fn from_position($at: usize) -> Self { $from_position }
            #[inline(always)]
            fn to_index(self) -> i64 { let $x = self; $to_index }
        }
    )* };
}
/// The product of two numbers of these magnitudes neither overflows nor is subnormal.
const SAFE_FACTORS: RangeInclusive<f64> = 1e-145..=1e145;
/// From 2^52 on, neighbouring float64 differ by 1: for a position x, the low bits of `x + 2^52` are x.
const F64_INTEGERS: f64 = (1u64 << 52) as f64;
/// The same for float32.
const F32_INTEGERS: u32 = 1 << 23;
accumulators! {
    i64: |x| { let _ = x; false }, |at| at as i64, x;
    u64: |x| { let _ = x; false }, |at| at as u64, x as i64;
    f64: |x| is_extreme(x.abs()), |at| at as f64,
        // Reads the integer from the bits: CPUs before AVX-512 have no vector conversion from float64 to int64.
        ((x + F64_INTEGERS).to_bits() & ((1 << 52) - 1)) as i64;
    f32: |x| is_extreme(x.abs() as f64), |at| at as f32,
        ((x + F32_INTEGERS as f32).to_bits() & (F32_INTEGERS - 1)) as i64;
    Complex<f64>: |x| is_extreme(x.re.abs().max(x.im.abs())),
        |at| Complex::new(at as f64, 0.0), x.re as i64;
}

/// Whether a magnitude is outside of `SAFE_FACTORS`, or NaN.
#[inline(always)]
fn is_extreme(magnitude: f64) -> bool {
    !((magnitude >= *SAFE_FACTORS.start()) & (magnitude <= *SAFE_FACTORS.end()))
}

/// The state is the sum of the chunk. A result is the carry plus that sum.
pub(super) struct CumSum<E, T>(PhantomData<(E, T)>);

impl<E: Widened<T> + Element, T: ScanAccumulator> Scan<1> for CumSum<E, T> {
    type E = E;
    type T = T;
    const START: [T; 1] = [T::SUM_IDENTITY];

    #[inline(always)]
    fn begin(_: [T; 1]) -> [T; 1] {
        Self::START
    }
    #[inline(always)]
    fn step<const L: usize, const SINGLE: bool, const FAST: bool>(
        [sum]: &mut [[T; L]; 1],
        x: [E; L],
        _: [T; L],
    ) {
        for j in 0..L {
            sum[j] = sum[j].add(x[j].wide());
        }
    }
    #[inline(always)]
    fn emit<const L: usize, const SINGLE: bool, const FAST: bool>(
        [carry]: &[[T; L]; 1],
        [sum]: &[[T; L]; 1],
        mut x: [E; L],
    ) -> [E; L] {
        for j in 0..L {
            x[j] = E::narrow(if SINGLE { sum[j] } else { carry[j].add(sum[j]) });
        }
        x
    }
    #[inline(always)]
    fn next_carry([carry]: [T; 1], [sum]: [T; 1]) -> [T; 1] {
        [carry.add(sum)]
    }
}

/// The state is
///
/// 1. the product of the chunk,
/// 2. 1, or 0 once that product was extreme,
/// 3. the product from the line's first element on, which is the result.
///
/// The next chunk's carry is this one's carry times the product of the chunk, so that chunks can be multiplied
/// independently of each other. That would be wrong where a product leaves the range of float64 within the chunk: a
/// running product that underflowed to 0 must stay 0, but carry times chunk product may be another number. The chunk
/// is then multiplied again from its carry, and its running product is the next carry.
pub(super) struct CumProduct<E, T>(PhantomData<(E, T)>);

impl<E: Widened<T> + Element, T: ScanAccumulator> Scan<3> for CumProduct<E, T> {
    type E = E;
    type T = T;
    const START: [T; 3] = [T::ONE; 3];

    #[inline(always)]
    fn begin([carry, ..]: [T; 3]) -> [T; 3] {
        [T::ONE, T::ONE, carry]
    }
    #[inline(always)]
    fn step<const L: usize, const SINGLE: bool, const FAST: bool>(
        [chunk, safe, running]: &mut [[T; L]; 3],
        x: [E; L],
        _: [T; L],
    ) {
        for j in 0..L {
            if const { !SINGLE } {
                chunk[j] = chunk[j].mul(x[j].wide());
            }
            running[j] = running[j].mul(x[j].wide());
            if const { !SINGLE } {
                safe[j] = if chunk[j].is_extreme() { T::ZERO } else { safe[j] };
            }
        }
    }
    #[inline(always)]
    fn emit<const L: usize, const SINGLE: bool, const FAST: bool>(
        _: &[[T; L]; 3],
        [_, _, running]: &[[T; L]; 3],
        mut x: [E; L],
    ) -> [E; L] {
        for j in 0..L {
            x[j] = E::narrow(running[j]);
        }
        x
    }
    #[inline(always)]
    fn next_carry(carry: [T; 3], state: [T; 3]) -> [T; 3] {
        [if Self::can_merge(carry, state) { carry[0].mul(state[0]) } else { state[2] }; 3]
    }
    #[inline(always)]
    fn can_merge([carry, ..]: [T; 3], [_, safe, _]: [T; 3]) -> bool {
        // 0, infinity and NaN have no digits to lose.
        let has_no_digits = carry == T::ZERO || !carry.is_finite();
        safe == T::ONE && (has_no_digits || !carry.is_extreme())
    }
}

/// The state is the extreme element of the chunk and its position.
pub(super) struct CumExtreme<E, T, const LARGEST: bool>(PhantomData<(E, T)>);

impl<E, T: ScanAccumulator + PartialOrd, const LARGEST: bool> CumExtreme<E, T, LARGEST> {
    /// Whether a later element replaces an earlier one: if it is at least as extreme, or NaN.
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn replaces(later: T, earlier: T) -> bool {
        let beyond = if LARGEST { later >= earlier } else { later <= earlier };
        beyond | (later != later)
    }
}

/// Extremes of float32. Positions are float32 in lines short enough that it represents all of them.
pub(super) fn single_extreme<const LARGEST: bool>(request: &LineRequest) -> Result<()> {
    let length = request.x.layout().modes().get(request.dim).map_or(1, |mode| mode.extent);
    if length <= F32_INTEGERS as isize {
        return run::<CumExtreme<f32, f32, LARGEST>, 2>(request);
    }
    run::<CumExtreme<f32, f64, LARGEST>, 2>(request)
}

impl<E, T, const LARGEST: bool> Scan<2> for CumExtreme<E, T, LARGEST>
where
    E: Widened<T> + Element,
    T: ScanAccumulator + Limits,
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
    fn step<const L: usize, const SINGLE: bool, const FAST: bool>(
        [extreme, position]: &mut [[T; L]; 2],
        x: [E; L],
        at: [T; L],
    ) {
        for j in 0..L {
            let replaces = Self::replaces(x[j].wide(), extreme[j]);
            extreme[j] = if replaces { x[j].wide() } else { extreme[j] };
            position[j] = if replaces { at[j] } else { position[j] };
        }
    }
    #[inline(always)]
    fn emit<const L: usize, const SINGLE: bool, const FAST: bool>(
        [carry, _]: &[[T; L]; 2],
        [extreme, _]: &[[T; L]; 2],
        mut x: [E; L],
    ) -> [E; L] {
        for j in 0..L {
            let replaces = SINGLE || Self::replaces(extreme[j], carry[j]);
            x[j] = E::narrow(if replaces { extreme[j] } else { carry[j] });
        }
        x
    }
    #[inline(always)]
    fn index<const L: usize, const SINGLE: bool>(
        [carry, carry_position]: &[[T; L]; 2],
        [extreme, position]: &[[T; L]; 2],
    ) -> [i64; L] {
        let mut indices = [0; L];
        for j in 0..L {
            let replaces = SINGLE || Self::replaces(extreme[j], carry[j]);
            indices[j] = (if replaces { position[j] } else { carry_position[j] }).to_index();
        }
        indices
    }
    #[inline(always)]
    fn position(position: usize) -> T {
        T::from_position(position)
    }
    /// Blocks copy elements to the results unchanged, which is right if elements are not widened.
    const BY_BLOCKS: bool = size_of::<E>() == size_of::<T>();

    #[inline(always)]
    fn block_keeps_state<const L: usize>([extreme, _]: &[[T; 1]; 2], x: &[E; L]) -> bool {
        let mut any = false;
        for x in x {
            any |= Self::replaces(x.wide(), extreme[0]);
        }
        !any
    }
    #[inline(always)]
    fn block_is_all_new<const L: usize>([extreme, _]: &[[T; 1]; 2], x: &[E; L]) -> bool {
        let mut all = Self::replaces(x[0].wide(), extreme[0]);
        for j in 1..L {
            all &= Self::replaces(x[j].wide(), x[j - 1].wide());
        }
        all
    }
    #[inline(always)]
    fn next_carry(carry: [T; 2], state: [T; 2]) -> [T; 2] {
        if Self::replaces(state[0], carry[0]) { state } else { carry }
    }
}
