//! The exact bodies: correctly rounded functions of the crate pxfm, or compositions of them where it has none.

/// Functions of pxfm 0.1.30 that are wrong for some arguments, found by tests/test_special_values.py and tools/accuracy.py.
macro_rules! corrected {
    ($t:ident, $atan2:ident $sinh:ident $logistic:ident $logit:ident $sincpi:ident $erfinv:ident $pow:ident) => {
        pub fn sqrt(x: $t) -> $t {
            x.sqrt()
        }

        /// pxfm loses the sign of results that underflow.
        pub fn atan2(y: $t, x: $t) -> $t {
            pxfm::$atan2(y, x).copysign(y)
        }

        /// pxfm has errors above an ULP for some arguments; the C library has not.
        pub fn hypot(x: $t, y: $t) -> $t {
            x.hypot(y)
        }

        /// pxfm loses the sign of zero.
        pub fn sinh(x: $t) -> $t {
            if x == 0.0 { x } else { pxfm::$sinh(x) }
        }

        /// pxfm returns 1 for large negative arguments.
        pub fn sigmoid(x: $t) -> $t {
            if x < -80.0 { exp(x) } else { pxfm::$logistic(x) }
        }

        /// pxfm returns 0 at 0.
        pub fn logit(x: $t) -> $t {
            if x == 0.0 { $t::NEG_INFINITY } else { pxfm::$logit(x) }
        }

        /// pxfm returns zeros with the sign of x, though the function is even.
        pub fn sinc(x: $t) -> $t {
            pxfm::$sincpi(x.abs())
        }

        /// pxfm loses the sign of zero.
        pub fn erfinv(x: $t) -> $t {
            if x == 0.0 { x } else { pxfm::$erfinv(x) }
        }

        /// pxfm differs from C99 for `pow(1, NaN)` and `pow(NaN, 0)`, which are 1, and for -0 to odd powers, which keep its sign.
        /// On aarch64, it takes every exponent beyond the range of an integer for an odd one: negative bases are handled here.
        pub fn pow(x: $t, y: $t) -> $t {
            let whole = y.fract() == 0.0;
            let odd = whole && y.abs() < 2.0 / $t::EPSILON && y % 2.0 != 0.0;
            if x == 1.0 || y == 0.0 {
                1.0
            } else if x == 0.0 && !y.is_nan() {
                let size: $t = if y > 0.0 { 0.0 } else { $t::INFINITY };
                if odd { size.copysign(x) } else { size }
            } else if x < 0.0 && (whole || x.is_infinite() || y.is_infinite()) {
                let size = pow(-x, y);
                if odd { -size } else { size }
            } else {
                pxfm::$pow(x, y)
            }
        }
    };
}

pub mod single {
    corrected! { f32, f_atan2f f_sinhf f_logisticf f_logitf f_sincpif f_erfinvf f_powf }
    pub use pxfm::{
        f_acosf as acos, f_acoshf as acosh, f_asinf as asin, f_asinhf as asinh, f_atanf as atan,
        f_atanhf as atanh, f_cosf as cos, f_coshf as cosh, f_erfcf as erfc, f_erff as erf, f_exp2f as exp2,
        f_expf as exp, f_expm1f as expm1, f_lgammaf as lgamma, f_log1pf as log1p, f_log2f as log2,
        f_log10f as log10, f_logf as log, f_rsqrtf as rsqrt, f_sinf as sin, f_tanf as tan, f_tanhf as tanh,
    };

    /// In float64, which handles the poles.
    pub fn digamma(x: f32) -> f32 {
        super::double::digamma(x.into()) as f32
    }

    /// In float64, whose error is far below an ULP of float32.
    pub fn softplus(x: f32) -> f32 {
        super::double::softplus(x.into()) as f32
    }

    /// In float64. Where the result is near 0, only its absolute error is small.
    pub fn logaddexp(x: f32, y: f32) -> f32 {
        super::double::logaddexp(x.into(), y.into()) as f32
    }

    pub fn logaddexp2(x: f32, y: f32) -> f32 {
        super::double::logaddexp2(x.into(), y.into()) as f32
    }

    /// In float64, so that subnormal results are rounded once.
    pub fn ldexp(x: f32, y: f32) -> f32 {
        super::double::ldexp(x.into(), y.into()) as f32
    }

    pub fn xlogy(x: f32, y: f32) -> f32 {
        super::double::xlogy(x.into(), y.into()) as f32
    }
}

pub mod double {
    use super::super::log as fast_log;
    corrected! { f64, f_atan2 f_sinh f_logistic f_logit f_sincpi f_erfinv f_pow }
    pub use pxfm::{
        f_acos as acos, f_acosh as acosh, f_asin as asin, f_asinh as asinh, f_atan as atan, f_atanh as atanh,
        f_cos as cos, f_cosh as cosh, f_cospi as cospi, f_erf as erf, f_erfc as erfc, f_exp2 as exp2,
        f_expm1 as expm1, f_log as log, f_log1p as log1p, f_log2 as log2, f_log10 as log10, f_rsqrt as rsqrt,
        f_sin as sin, f_sinpi as sinpi, f_tan as tan, f_tanh as tanh,
    };

    /// Some subnormal results of pxfm are wrong; those of the fast body are not.
    pub fn exp(x: f64) -> f64 {
        if x < -708.0 { super::super::exp::exp(x) } else { pxfm::f_exp(x) }
    }

    /// pxfm returns NaN for huge arguments, for which the leading terms of the series are enough.
    pub fn lgamma(x: f64) -> f64 {
        if x > 1e300 { x * (log(x) - 1.0) } else { pxfm::f_lgamma(x) }
    }

    /// See [`lgamma`]. At 0 and -0 the sign of infinity follows from theirs; the other poles are NaN.
    pub fn digamma(x: f64) -> f64 {
        if x == 0.0 {
            f64::INFINITY.copysign(-x)
        } else if x < 0.0 && x.fract() == 0.0 {
            f64::NAN
        } else if x > 1e300 {
            log(x)
        } else {
            pxfm::f_digamma(x)
        }
    }

    /// log(e^x + e^y).
    pub fn logaddexp(x: f64, y: f64) -> f64 {
        if x == y {
            return x + std::f64::consts::LN_2;
        }
        let (high, low) = if x > y { (x, y) } else { (y, x) };
        if x.is_nan() || y.is_nan() {
            f64::NAN
        } else if high == f64::INFINITY {
            high
        } else {
            high + log1p(exp(low - high))
        }
    }

    // These use the fast bodies: compositions of correctly rounded powers and logarithms have errors above an ULP.

    pub fn softplus(x: f64) -> f64 {
        fast_log::softplus(x)
    }

    pub fn logaddexp2(x: f64, y: f64) -> f64 {
        if fast_log::rare_logaddexp2(x, y) {
            fast_log::logaddexp_edges(x, y)
        } else {
            fast_log::logaddexp2(x, y)
        }
    }

    pub fn ldexp(x: f64, y: f64) -> f64 {
        super::super::exp::ldexp(x, y)
    }

    pub fn xlogy(x: f64, y: f64) -> f64 {
        fast_log::xlogy(x, y)
    }
}
