//! The functions, one row each: the fast body of a lane, the arguments it leaves out, and the exact body.

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::super::loops::Loops;
use super::complex_exact::single::{narrow, widen};
pub use super::divide::{FloorDivide, Fmod, Remainder, TruncDivide};
use super::double_double::dd;
use super::function::reload;
pub use super::function::{Function1, Function2};
use super::{complex_exact, complex_fast, exact, exp, inverse_trig, log, roots, special, trig, vector_float};
use crate::scalar::{Bool, Field, Num};
use num_complex::Complex;
use std::hint::black_box;

/// Implements the functions of real numbers. A row is
/// `Name exact = fast, rare test, edges body, loops Light;`, the last three parts optional: `test` says which arguments the
/// fast body leaves out, and `body` is vector code for those, where they may be common.
macro_rules! rows {
    ($trait:ident $xs:tt $args:tt; $($name:ident $exact:ident = $fast:path $(, rare $rare:path $(, edges $edges:path)?)? $(, loops $loops:ident)?;)*) => {$(
        #[doc = concat!("See [`", stringify!($fast), "`].")]
        pub struct $name;
        rows! { @dtype f32 single $trait $xs $xs $args $name $exact $fast $(, $rare $(, $edges)?)? $(; $loops)? }
        rows! { @dtype f64 double $trait $xs $xs $args $name $exact $fast $(, $rare $(, $edges)?)? $(; $loops)? }
    )*};
    (@dtype $t:ident $exactly:ident $trait:ident [$($x:ident)*] $xs:tt $args:tt $name:ident $exact:ident $fast:path $(, $rare:path $(, $edges:path)?)? $(; $loops:ident)?) => {
        impl $trait<$t> for $name {
            $(const LOOPS: Loops = Loops::$loops;)?
            #[inline(always)]
            fn lane($($x: $t),*) -> $t {
                $fast $args
            }
            #[inline(always)]
            fn is_rare($($x: $t),*) -> bool {
                $(let _ = $x;)*
                false $(|| $rare $args)?
            }
            fn exact($($x: $t),*) -> $t {
                exact::$exactly::$exact $args
            }
            $($(rows! { @patch $t $xs $args $edges })?)?
        }
    };
    (@patch $t:ident [$($x:ident)*] $args:tt $edges:path) => {
        #[inline(always)]
        fn patch<const L: usize>($($x: [$t; L],)* mut results: [$t; L]) -> [$t; L] {
            for i in 0..L {
                $(let $x = $x[i];)*
                results[i] = vector_float::pick(Self::is_rare $args, $edges $args, results[i]);
            }
            results
        }
    };
}

rows! { Function1 [x] (x);
    Exp exp = exp::exp;
    Exp2 exp2 = exp::exp2, rare exp::rare_exp2, edges exp::exp2_edges;
    Expm1 expm1 = exp::expm1;
    Log log = log::log;
    Log2 log2 = log::log2;
    Log10 log10 = log::log10;
    Log1p log1p = log::log1p;
    Sin sin = trig::sin, rare trig::rare;
    Cos cos = trig::cos, rare trig::rare;
    Tan tan = trig::tan, rare trig::rare;
    Asin asin = inverse_trig::asin;
    Acos acos = inverse_trig::acos;
    Atan atan = inverse_trig::atan;
    Sinh sinh = exp::sinh;
    Cosh cosh = exp::cosh;
    Tanh tanh = exp::tanh;
    Asinh asinh = log::asinh;
    Acosh acosh = log::acosh;
    Atanh atanh = log::atanh;
    Sigmoid sigmoid = exp::sigmoid, rare exp::rare_sigmoid, edges exp::sigmoid_edges;
    Softplus softplus = log::softplus;
    Logit logit = log::logit, rare log::rare_logit, edges log::logit_edges;
    Sinc sinc = trig::sinc, rare trig::rare_sinc;
    Rsqrt rsqrt = roots::rsqrt, rare roots::rare_rsqrt, edges roots::rsqrt_edges;
    Sqrt sqrt = vector_float::VectorFloat::sqrt, loops Light;
    Erf erf = special::erf;
    Erfc erfc = special::erfc;
    Erfinv erfinv = special::erfinv, rare special::rare_erfinv, edges special::erfinv_edges;
}

/// Implements functions of positive numbers that a reflection formula extends to all numbers. `positive` returns a
/// double-double; if a block has rare arguments, `all` computes every result from it.
macro_rules! reflected {
    ($($name:ident $exact:ident = $positive:path, rare $rare:path, all $all:path;)*) => { $(
        #[doc = concat!("See [`", stringify!($positive), "`].")]
        pub struct $name;
        reflected! { @dtype f32 single $name $exact $positive, $rare, $all }
        reflected! { @dtype f64 double $name $exact $positive, $rare, $all }
    )* };
    (@dtype $t:ident $exactly:ident $name:ident $exact:ident $positive:path, $rare:path, $all:path) => {
        impl Function1<$t> for $name {
            #[inline(always)]
            fn lane(x: $t) -> $t {
                $all(x, $positive(x.abs()))
            }
            #[inline(always)]
            fn is_rare(x: $t) -> bool {
                $rare(x)
            }
            fn exact(x: $t) -> $t {
                exact::$exactly::$exact(x)
            }
            #[inline(always)]
            fn block<const L: usize>(x: [$t; L]) -> [$t; L] {
                let (mut y, mut any) = (x, false);
                let (mut hi, mut lo) = ([0.0; L], [0.0; L]);
                for i in 0..L {
                    let v = $positive(x[i].abs());
                    (hi[i], lo[i]) = (v.hi, v.lo);
                    y[i] = v.value() as $t;
                    any |= Self::is_rare(x[i]);
                }
                if any {
                    for i in 0..L {
                        y[i] = $all(x[i], dd(hi[i], lo[i]));
                    }
                }
                y
            }
        }
    };
}

reflected! {
    Lgamma lgamma = special::lgamma, rare special::rare_lgamma, all special::lgamma_all;
    Digamma digamma = special::digamma, rare special::rare_gamma, all special::digamma_all;
}

rows! { Function2 [x y] (x, y);
    Atan2 atan2 = inverse_trig::atan2, rare inverse_trig::rare_atan2;
    Hypot hypot = roots::hypot, rare roots::rare_hypot;
    Logaddexp logaddexp = log::logaddexp, rare log::rare_logaddexp, edges log::logaddexp_edges;
    Logaddexp2 logaddexp2 = log::logaddexp2, rare log::rare_logaddexp2, edges log::logaddexp_edges;
    Ldexp ldexp = exp::ldexp;
    Xlogy xlogy = log::xlogy;
}

/// Implements the functions of complex numbers: an exact body, and for some of them a fast one, which returns NaN where it
/// does not serve the argument. complex64 is computed in complex128. `often`: the arguments outside the fast range that still
/// occur in practice; blocks of them skip the fast body.
macro_rules! complex_rows {
    ($trait:ident $xs:tt $args:tt; $($name:ident $function:ident $(= $fast:path $(, often $rare:path)?)?;)*) => { $(
        impl $trait<Complex<f64>> for $name {
            complex_rows! { @double $xs $args, complex_exact::$function $(, $fast $(, $rare)?)? }
        }
        impl $trait<Complex<f32>> for $name {
            complex_rows! { @single $xs $args, complex_exact::single::$function $(, $fast $(, $rare)?)? }
        }
    )* };
    (@double $xs:tt $args:tt, $exact:path $(, $fast:path $(, $rare:path)?)?) => {
        complex_rows! { @bodies f64 $xs $args, $exact $(, $fast $args $(, $rare)?)? }
    };
    (@single $xs:tt $args:tt, $exact:path) => {
        complex_rows! { @bodies f32 $xs $args, $exact }
    };
    (@single [$($x:ident)*] $args:tt, $exact:path, $fast:path $(, $rare:path)?) => {
        complex_rows! { @bodies f32 [$($x)*] $args, $exact, narrow($fast($(widen($x)),*)) $(, $rare)? }
    };
    (@bodies $t:ident [$($x:ident)*] $args:tt, $exact:path, $lane:expr $(, $rare:path)?) => {
        const LOOPS: Loops = Loops::Bulky;
        #[inline(always)]
        fn lane($($x: Complex<$t>),*) -> Complex<$t> {
            $lane
        }
        #[inline(always)]
        fn failed(y: Complex<$t>) -> bool {
            y.re.is_nan()
        }
        complex_rows! { @exact $t [$($x)*] $args, $exact $(, $rare)? }
    };
    (@bodies $t:ident [$($x:ident)*] $args:tt, $exact:path) => {
        const LOOPS: Loops = Loops::Plain;
        #[inline(always)]
        fn lane($($x: Complex<$t>),*) -> Complex<$t> {
            $exact $args
        }
        complex_rows! { @exact $t [$($x)*] $args, $exact }
    };
    (@exact $t:ident [$($x:ident)*] $args:tt, $exact:path $(, $rare:path)?) => {
        complex_rows! { @rare $t [$($x)*] $args $(, $rare)? }
        fn exact($($x: Complex<$t>),*) -> Complex<$t> {
            $exact $args
        }
    };
    (@rare $t:ident [$($x:ident)*] $args:tt, $rare:path) => {
        const OFTEN_RARE: bool = true;
        #[inline(always)]
        fn is_rare($($x: Complex<$t>),*) -> bool {
            $rare $args
        }
    };
    (@rare $t:ident [$($x:ident)*] $args:tt) => {
        #[inline(always)]
        fn is_rare($(_: complex_rows!(@type $x $t)),*) -> bool {
            false
        }
    };
    (@type $x:ident $t:ident) => { Complex<$t> };
}

complex_rows! { Function1 [x] (x);
    Exp exp = complex_fast::exp;
    Exp2 exp2;
    Expm1 expm1;
    Log log = complex_fast::log;
    Log2 log2;
    Log10 log10;
    Log1p log1p;
    Sin sin = complex_fast::sin;
    Cos cos = complex_fast::cos;
    Tan tan = complex_fast::tan;
    Asin asin;
    Acos acos;
    Atan atan;
    Sinh sinh = complex_fast::sinh;
    Cosh cosh = complex_fast::cosh;
    Tanh tanh = complex_fast::tanh;
    Asinh asinh;
    Acosh acosh;
    Atanh atanh;
    Sqrt sqrt = complex_fast::sqrt;
    Rsqrt rsqrt = complex_fast::rsqrt;
    Sigmoid sigmoid = complex_fast::sigmoid;
    Sinc sinc;
}

complex_rows! { Function2 [x y] (x, y);
    Pow pow = complex_fast::pow, often complex_fast::rare_pow;
    Ldexp ldexp;
    Logaddexp logaddexp;
    Logaddexp2 logaddexp2;
}

/// A function whose results are real: of the dtype of the real part, where the argument is complex.
pub trait Part1<T: Num>: 'static {
    const LOOPS: Loops;
    fn exact(x: T) -> T::Part;
    fn block<const L: usize>(x: [T; L]) -> [T::Part; L];
}

/// The magnitude.
pub struct Abs;

/// The angle in the complex plane.
pub struct Angle;

macro_rules! parts {
    ($($name:ident = $exact:path: $($t:ident)*;)*) => { $($(
        impl Part1<$t> for $name {
            const LOOPS: Loops = Loops::Light;
            #[inline(always)]
            fn exact(x: $t) -> $t {
                $exact(x)
            }
            #[inline(always)]
            fn block<const L: usize>(mut x: [$t; L]) -> [$t; L] {
                for i in 0..L {
                    x[i] = $exact(x[i]);
                }
                x
            }
        }
    )*)* };
    (complex; $($name:ident $t:ident = $exact:path, |$x:ident| $lane:expr;)*) => { $(
        impl Part1<Complex<$t>> for $name {
            const LOOPS: Loops = Loops::Bulky;
            #[inline(always)]
            fn exact(x: Complex<$t>) -> $t {
                $exact(x)
            }
            #[inline(always)]
            fn block<const L: usize>(x: [Complex<$t>; L]) -> [$t; L] {
                let (mut y, mut any) = ([0.0; L], false);
                for i in 0..L {
                    let $x = x[i];
                    y[i] = $lane;
                    any |= y[i].is_nan();
                }
                if any { reload(&patch_part1::<Self, _, L>(black_box(x), black_box(y))) } else { y }
            }
        }
    )* };
}
parts! {
    Abs = Num::abs: Bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64;
    Angle = Field::angle: f32 f64;
}
parts! { complex;
    // Squares of float32 are exact in float64 and do not overflow.
    Abs f32 = Num::abs, |z| { let z = widen(z); z.re.mul_add(z.re, z.im * z.im).sqrt() as f32 };
    Abs f64 = Num::abs, |z| complex_fast::abs(z);
    Angle f32 = Field::angle, |z| complex_fast::angle(z);
    Angle f64 = Field::angle, |z| complex_fast::angle(z);
}

/// The block with its NaNs replaced: see [`patch1`].
#[cold]
#[inline(never)]
fn patch_part1<F: Part1<T> + ?Sized, T: Num, const L: usize>(x: [T; L], mut y: [T::Part; L]) -> [T::Part; L] {
    for (y, &x) in y.iter_mut().zip(&x) {
        #[allow(clippy::eq_op)]
        if *y != *y {
            *y = F::exact(x);
        }
    }
    y
}

/// x^3. Its body is so short that light loops pay off.
pub struct Cube;

/// Powers. Negative bases and other special cases are common, so that they have a vector body as well.
pub struct Pow;

macro_rules! float_powers {
    ($($t:ident $exactly:ident)*) => { $(
        impl Function2<$t> for Pow {
            #[inline(always)]
            fn lane(x: $t, y: $t) -> $t {
                log::pow_inside(x, y)
            }
            #[inline(always)]
            fn is_rare(x: $t, y: $t) -> bool {
                log::rare_pow(x, y)
            }
            fn exact(x: $t, y: $t) -> $t {
                exact::$exactly::pow(x, y)
            }
            #[inline(always)]
            fn patch<const L: usize>(x: [$t; L], y: [$t; L], mut z: [$t; L]) -> [$t; L] {
                for i in 0..L {
                    z[i] = log::pow_edges(x[i], y[i], z[i]);
                }
                z
            }
        }

        impl Function1<$t> for Cube {
            const LOOPS: Loops = Loops::Light;
            #[inline(always)]
            fn lane(x: $t) -> $t {
                log::cube(x)
            }
            #[inline(always)]
            fn is_rare(_: $t) -> bool {
                false
            }
            #[inline(always)]
            fn exact(x: $t) -> $t {
                log::cube(x)
            }
        }
    )* };
}
float_powers! { f32 single f64 double }

/// Powers of bool: only 0 to the power of 1 is 0.
impl Function2<Bool> for Pow {
    const LOOPS: Loops = Loops::Plain;
    #[inline(always)]
    fn lane(x: Bool, y: Bool) -> Bool {
        Bool::new(x.get() | !y.get())
    }
    #[inline(always)]
    fn is_rare(_: Bool, _: Bool) -> bool {
        false
    }
    fn exact(x: Bool, y: Bool) -> Bool {
        Self::lane(x, y)
    }
}

/// Powers of integers, which wrap as products do. Negative exponents are refused before.
macro_rules! integer_powers {
    ($($t:ident)*) => { $(
        impl Function2<$t> for Pow {
            const LOOPS: Loops = Loops::Plain;
            #[inline(always)]
            fn lane(x: $t, y: $t) -> $t {
                let (mut base, mut bits, mut power) = (x, y, 1);
                while bits > 0 {
                    if bits & 1 == 1 {
                        power = $t::wrapping_mul(power, base);
                    }
                    base = base.wrapping_mul(base);
                    bits >>= 1;
                }
                power
            }
            #[inline(always)]
            fn is_rare(_: $t, _: $t) -> bool {
                false
            }
            fn exact(x: $t, y: $t) -> $t {
                Self::lane(x, y)
            }
        }
    )* };
}
integer_powers! { u8 u16 u32 u64 i8 i16 i32 i64 }
