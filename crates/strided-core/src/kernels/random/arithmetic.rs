//! ln, exp, sine and cosine in float64, by additions, multiplications, divisions and selections alone. So they return the
//! same bits on every CPU, which functions with fused multiply-add do not. The methods and coefficients are those of
//! FDLIBM (Sun Microsystems, 1993); each is within 1 ULP of the true value for the arguments that occur here.

use super::super::maths::vector_float::{VectorFloat, pick};

const LN2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

/// The value of a polynomial by Horner's rule.
#[inline(always)]
fn horner<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut sum = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        sum = sum * x + coefficients[i];
    }
    sum
}

/// The natural logarithm of a positive normal number.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let (m, k) = x.split();
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * horner(w, [0.399_999_999_994_094_2, 0.222_221_984_321_497_84, 0.153_138_376_992_093_73]);
    let odd = z * horner(
        w,
        [0.666_666_666_666_673_5, 0.285_714_287_436_623_9, 0.181_835_721_616_180_5, 0.147_981_986_051_165_86],
    );
    let half_square = 0.5 * f * f;
    k * LN2[0] - ((half_square - (s * (half_square + (odd + even)) + k * LN2[1])) - f)
}

/// e^x for any number: 0 or infinity where it is out of range.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let x = x.at_least(-760.0).at_most(720.0);
    let k = (x * std::f64::consts::LOG2_E + f64::SHIFT) - f64::SHIFT;
    let (high, low) = (x - k * LN2[0], k * LN2[1]);
    let r = high - low;
    let z = r * r;
    let c = r - z * horner(
        z,
        [
            0.166_666_666_666_666_02,
            -2.777_777_777_701_559_3e-3,
            6.613_756_321_437_934e-5,
            -1.653_390_220_546_525_2e-6,
            4.138_136_797_057_238_5e-8,
        ],
    );
    let y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
    // The power of two may be beyond the range of normal numbers, but not its two parts.
    let part = (k * 0.5 + f64::SHIFT) - f64::SHIFT;
    y * f64::power(part + f64::SHIFT) * f64::power(k - part + f64::SHIFT)
}

/// The cosine and the sine of an angle given in full turns, of a magnitude of at most a million.
#[inline(always)]
pub fn cos_sin_turns(turns: f64) -> (f64, f64) {
    let quarters = 4.0 * turns;
    let shifted = quarters + f64::SHIFT;
    // Exact: the rest has no more bits than the argument.
    let x = (quarters - (shifted - f64::SHIFT)) * std::f64::consts::FRAC_PI_2;
    let z = x * x;
    let sine = x
        + (z * x)
            * horner(
                z,
                [
                    -0.166_666_666_666_666_32,
                    8.333_333_333_322_49e-3,
                    -1.984_126_982_985_795e-4,
                    2.755_731_370_707_006_8e-6,
                    -2.505_076_025_340_686_3e-8,
                    1.589_690_995_211_55e-10,
                ],
            );
    let rest = z * horner(
        z,
        [
            4.166_666_666_666_66e-2,
            -1.388_888_888_887_411e-3,
            2.480_158_728_947_673e-5,
            -2.755_731_435_139_066_3e-7,
            2.087_572_321_298_175e-9,
            -1.135_964_755_778_819_5e-11,
        ],
    );
    let half = 0.5 * z;
    let one = 1.0 - half;
    let cosine = one + (((1.0 - one) - half) + z * rest);
    let odd = f64::odd(shifted);
    (
        pick(odd, sine, cosine).flip(f64::bit(shifted + 1.0, 1)),
        pick(odd, cosine, sine).flip(f64::bit(shifted, 1)),
    )
}

/// ln(k!) for an integer k >= 0: Stirling's series for ln(gamma(x)) from x = 10 on, and the recurrence below.
pub fn ln_factorial(k: f64) -> f64 {
    let (mut x, mut product) = (k + 1.0, 1.0);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let z = inverse * inverse;
    let series = inverse * horner(z, [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0]);
    (x - 0.5) * ln(x) - x + 0.918_938_533_204_672_8 + series - ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, wanted: f64, what: &str) {
        assert!((got - wanted).abs() <= 3e-16 * wanted.abs(), "{what}: {got:e}, wanted {wanted:e}");
    }

    #[test]
    fn functions_agree_with_the_standard_library() {
        for i in 1..100_000u64 {
            let u = i as f64 / 100_000.0;
            close(ln(u), u.ln(), "ln");
            close(ln(u * 2f64.powi(-40)), (u * 2f64.powi(-40)).ln(), "ln");
            let x = (u - 0.5) * 1400.0;
            close(exp(x), x.exp(), "exp");
            let (cosine, sine) = cos_sin_turns(u);
            let angle = 2.0 * std::f64::consts::PI * u;
            assert!((cosine - angle.cos()).abs() < 1e-15 && (sine - angle.sin()).abs() < 1e-15, "{u}");
        }
        assert_eq!((exp(800.0), exp(-800.0), exp(0.0)), (f64::INFINITY, 0.0, 1.0));
        assert_eq!((cos_sin_turns(0.0).1, cos_sin_turns(0.5).1, cos_sin_turns(0.25).0), (0.0, -0.0, -0.0));
    }

    #[test]
    fn logarithms_of_factorials() {
        let mut sum = 0.0;
        for k in 0..2000 {
            sum += if k > 0 { (k as f64).ln() } else { 0.0 };
            let got = ln_factorial(k as f64);
            assert!((got - sum).abs() <= 1e-12 * sum.max(1.0), "{k}: {got}, wanted {sum}");
        }
    }
}
