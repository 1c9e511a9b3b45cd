//! Elements from their position: the kernels behind `arange`, `range`, `linspace` and `logspace`.

use super::cast::Cast;
use super::item::ScalarBytes;
use crate::cpu::simd;
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::{Complex, Element, Num};
use crate::storage::{Access, Fill};
use crate::switch;
use crate::tensor::Tensor;

/// A new tensor of one dim with `start + i * step` for `i` below `n`, computed in a dtype of the class `num`.
pub fn range(n: usize, dtype: DType, start: ScalarBytes, step: ScalarBytes) -> Result<Tensor> {
    switch!(dtype, num, T => {
        // SAFETY: a slot has room for any element.
        let (start, step) = unsafe { (start.address().cast::<T>().read(), step.address().cast::<T>().read()) };
        generate(n, move |i| start.add(step.mul(Cast::<T>::cast(i as i64))))
    }, else => unreachable!("range of {}", dtype.name()))
}

/// A new tensor of one dim whose elements follow from their positions, which are visited in order.
#[inline(always)]
fn generate<T: Element>(n: usize, mut element: impl FnMut(usize) -> T) -> Result<Tensor> {
    let out = Tensor::new(&[n as isize], T::DTYPE, Fill::Uninitialized)?;
    let pin = out.pin(Access::Write)?;
    let to = pin.origin.cast::<T>();
    simd(move || {
        for i in 0..n {
            // SAFETY: the output is new, dense, pinned and of dtype T.
            unsafe { to.add(i).write(element(i)) };
        }
    });
    drop(pin);
    Ok(out)
}

/// A new tensor of one dim with `n` whole numbers from `start` to `end`: the exact values, cut to integers.
pub fn whole_line(n: usize, dtype: DType, start: i128, end: i128) -> Result<Tensor> {
    let gaps = n.max(2) as i128 - 1;
    let (whole, part) = ((end - start).div_euclid(gaps), (end - start).rem_euclid(gaps));
    // The value is `floor + rest / gaps`, stepped from one position to the next without a division.
    let (mut floor, mut rest) = (start, 0);
    switch!(dtype, int, T => generate(n, move |_| {
        let value = floor + (floor < 0 && rest > 0) as i128;
        rest += part;
        let carry = rest >= gaps;
        rest -= if carry { gaps } else { 0 };
        floor += whole + carry as i128;
        value as T
    }), else => unreachable!("whole numbers of {}", dtype.name()))
}

/// A new float64 tensor of one dim with `n` numbers evenly spaced from `start` to `end`, both exact.
///
/// The first half is counted from the start and the second from the end, so that a line is its own reverse.
pub fn line(n: usize, start: f64, end: f64) -> Result<Tensor> {
    let out = Tensor::new(&[n as isize], DType::F64, Fill::Uninitialized)?;
    let pin = out.pin(Access::Write)?;
    let to = pin.origin.cast::<f64>();
    let half = n / 2;
    // SAFETY: the output is new, dense, pinned and of float64; the halves are its elements, each once.
    unsafe {
        Line::new(start, end, n).write::<true>(half, to);
        Line::new(end, start, n).write::<false>(n - half, to.wrapping_add(n).wrapping_sub(1));
        if n > 0 {
            to.add(n - 1).write(end);
            to.write(start);
        }
    }
    drop(pin);
    Ok(out)
}

/// Steps on a line that start at one of its ends. A plain `start + i * step` is off by the error of the step
/// times `i`, and by any amount where the sum is near 0; so start and step have a second float each, for
/// what rounding to the first loses.
struct Line {
    start: f64,
    step: (f64, f64),
    /// What brings ends near the limits of float64 to where nothing overflows or vanishes.
    scale: f64,
    /// Anything smaller is an exact 0 that was missed by a rounding.
    least: f64,
}

/// Positions that share a base. Few enough for a position times the upper bits of a step to be exact.
const BLOCK: usize = 1 << 12;

impl Line {
    fn new(start: f64, end: f64, n: usize) -> Line {
        let largest = start.abs().max(end.abs());
        let scale = match largest {
            v if v > 2f64.powi(500) => 2f64.powi(-600),
            v if v < 2f64.powi(-500) => 2f64.powi(600),
            _ => 1.0,
        };
        let (start, gaps) = (start * scale, n.max(2) as f64 - 1.0);
        let (width, lost) = two_sum(end * scale, -start);
        let first = width / gaps;
        let second = ((-first).mul_add(gaps, width) + lost) / gaps;
        Line { start, step: two_sum(first, second), scale, least: largest * scale * 2f64.powi(-88) }
    }

    /// Writes the first so many values, forward or backward from an address.
    ///
    /// # Safety
    /// So many writable float64 lie there.
    unsafe fn write<const FORWARD: bool>(&self, count: usize, to: *mut f64) {
        let at = |from: *mut f64, i| if FORWARD { from.wrapping_add(i) } else { from.wrapping_sub(i) };
        let upper = f64::from_bits(self.step.0.to_bits() & !(2 * BLOCK as u64 - 1));
        let lower = self.step.0 - upper + self.step.1;
        let (back, least) = (1.0 / self.scale, self.least);
        for block in (0..count).step_by(BLOCK) {
            let (base, rest) = self.at(block as f64);
            let (start, length) = (at(to, block), BLOCK.min(count - block));
            // By value: what is reached through a reference could be what is written, and would be read again.
            simd(move || {
                for i in 0..length {
                    let i_float = i as i32 as f64;
                    let (high, low) = two_sum(base, i_float * upper);
                    let value = high + (low + (rest + i_float * lower));
                    let value = if value.abs() < least { 0.0 } else { value };
                    // SAFETY: the caller's promise.
                    unsafe { at(start, i).write(value * back) };
                }
            });
        }
    }

    /// The value at a position, as two floats.
    fn at(&self, position: f64) -> (f64, f64) {
        let product = position * self.step.0;
        let lost = position.mul_add(self.step.0, -product) + position * self.step.1;
        let (high, low) = two_sum(self.start, product);
        two_sum(high, low + lost)
    }
}

/// A sum, and what rounding took from it.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// A new tensor with a base to the power of each element of a float64 or complex128 tensor of one dim.
pub fn powers(base: f64, exponents: &Tensor) -> Result<Tensor> {
    // ln(base) is complex where the base is negative.
    let (log, turn) = (base.abs().ln(), if base < 0.0 { std::f64::consts::PI } else { 0.0 });
    match exponents.dtype() {
        DType::F64 => each(exponents, |x: f64| base.powf(x)),
        DType::C128 => each(exponents, |x: Complex<f64>| {
            let angle = x.im * log + x.re * turn;
            let length = base.abs().powf(x.re) * (-x.im * turn).exp();
            // A real power of a positive base is real, also of one that has no logarithm.
            if x.im == 0.0 && turn == 0.0 {
                return Complex::new(length, 0.0);
            }
            Complex::new(length * angle.cos(), length * angle.sin())
        }),
        dtype => unreachable!("powers of {}", dtype.name()),
    }
}

/// A new int64 or uint64 tensor with powers of a base, cut to integers; those of integers are exact.
pub fn whole_powers(base: f64, exponents: &Tensor, dtype: DType) -> Result<Tensor> {
    let exact = |x: f64| {
        let whole = base.fract() == 0.0 && base.abs() < 2f64.powi(53) && x.fract() == 0.0;
        if whole && (0.0..=64.0).contains(&x) { (base as i128).checked_pow(x as u32) } else { None }
    };
    match dtype {
        DType::U64 => each(exponents, |x: f64| match exact(x).map(u64::try_from) {
            Some(Ok(power)) => power,
            _ => Cast::<u64>::cast(base.powf(x)),
        }),
        _ => each(exponents, |x: f64| match exact(x).map(i64::try_from) {
            Some(Ok(power)) => power,
            _ => Cast::<i64>::cast(base.powf(x)),
        }),
    }
}

/// A new tensor with a function of each element of a row-major tensor of one dim.
fn each<A: Element, B: Element>(x: &Tensor, function: impl Fn(A) -> B) -> Result<Tensor> {
    assert!(x.dtype() == A::DTYPE && x.layout().is_row_major() && x.layout().rank() == 1);
    let pin = x.pin(Access::Read)?;
    let from = pin.origin.cast::<A>();
    // SAFETY: pinned, dense and of dtype A.
    generate(x.size(), |i| function(unsafe { from.add(i).read() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::copy;
    use crate::scalar::Scalar;

    fn values(x: &Tensor) -> Vec<Scalar> {
        (0..x.size()).map(|i| copy::item(x, &[i as isize]).unwrap()).collect()
    }

    #[test]
    fn a_line_meets_zero_and_both_ends() {
        for n in [3usize, 49, 99, 10_001, 100_001] {
            let x = line(n, -0.3, 0.3).unwrap();
            let at = |i: usize| copy::item(&x, &[i as isize]).unwrap();
            assert_eq!((at(0), at(n / 2)), (Scalar::Float(-0.3), Scalar::Float(0.0)));
            assert_eq!(at(n - 1), Scalar::Float(0.3));
        }
    }

    #[test]
    fn whole_lines_are_exact_at_the_limits() {
        let (low, high) = (i64::MIN as i128, i64::MAX as i128);
        let x = values(&whole_line(4, DType::I64, low, high).unwrap());
        let wanted = (0..4).map(|i| Scalar::Int((low * (3 - i) + high * i) / 3)).collect::<Vec<_>>();
        assert_eq!(x, wanted);
        let ten = [-3i128, -2, -1, 0, 1, 2, 3].map(Scalar::Int).to_vec();
        assert_eq!(values(&whole_line(7, DType::I8, -3, 3).unwrap()), ten);
    }
}
