//! Tensors whose elements are computed from their index: `arange`, `range`, `linspace`, `logspace`.

use super::cast::Cast;
use super::item::ScalarBytes;
use crate::cpu::simd;
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::{Complex, Element, Num};
use crate::storage::{Access, Fill};
use crate::switch;
use crate::tensor::Tensor;

/// A new tensor of one dim with `start + i * step` for `i < n`, computed in `dtype`, which is no bool and no half.
pub fn range(n: usize, dtype: DType, start: ScalarBytes, step: ScalarBytes) -> Result<Tensor> {
    switch!(dtype, num, T => {
        // SAFETY: 16 initialised bytes, aligned for any element.
        let (start, step) = unsafe { (start.address().cast::<T>().read(), step.address().cast::<T>().read()) };
        by_index(n, move |i| start.add(step.mul(Cast::<T>::cast(i as i64))))
    }, else => unreachable!("range of {}", dtype.name()))
}

/// A new tensor of one dim whose elements are computed from their index. Indices are visited in order.
#[inline(always)]
fn by_index<T: Element>(n: usize, mut element: impl FnMut(usize) -> T) -> Result<Tensor> {
    let out = Tensor::new(&[n as isize], T::DTYPE, Fill::Uninitialized)?;
    let pin = out.pin(Access::Write)?;
    let to = pin.origin.cast::<T>();
    simd(move || {
        for i in 0..n {
            // SAFETY: `pin` holds the output, which has n contiguous elements of type T.
            unsafe { to.add(i).write(element(i)) };
        }
    });
    drop(pin);
    Ok(out)
}

/// A new tensor of one dim with `n` integers evenly spaced from `start` to `end`: the exact values, truncated. (PyTorch
/// steps in float64 and truncates the rounded sum: its `linspace(22, -16, 7)` has a 2 where 3 is exact.)
pub fn int_linspace(n: usize, dtype: DType, start: i128, end: i128) -> Result<Tensor> {
    let gaps = n.max(2) as i128 - 1;
    let (quotient, remainder) = ((end - start).div_euclid(gaps), (end - start).rem_euclid(gaps));
    // The exact value is `floor + rest / gaps`. It advances from index to index without a division.
    let (mut floor, mut rest) = (start, 0);
    switch!(dtype, int, T => by_index(n, move |_| {
        let value = floor + (floor < 0 && rest > 0) as i128;
        rest += remainder;
        let wraps = rest >= gaps;
        rest -= if wraps { gaps } else { 0 };
        floor += quotient + wraps as i128;
        value as T
    }), else => unreachable!("int_linspace of {}", dtype.name()))
}

/// A new float64 tensor of one dim with `n` numbers evenly spaced from `start` to `end`. Both ends are exact, and every
/// element is within one ULP of the exact value.
///
/// The first half is computed from the start and the second from the end: values are symmetric about the middle.
pub fn linspace(n: usize, start: f64, end: f64) -> Result<Tensor> {
    let out = Tensor::new(&[n as isize], DType::F64, Fill::Uninitialized)?;
    let pin = out.pin(Access::Write)?;
    let to = pin.origin.cast::<f64>();
    let half = n / 2;
    // SAFETY: `pin` holds the output, which has n contiguous float64 elements: `half` from the first on, the others
    // backwards from the last.
    unsafe {
        LinspaceHalf::new(start, end, n).write::<true>(half, to);
        LinspaceHalf::new(end, start, n).write::<false>(n - half, to.wrapping_add(n).wrapping_sub(1));
        if n > 0 {
            to.add(n - 1).write(end);
            to.write(start);
        }
    }
    drop(pin);
    Ok(out)
}

/// The half of a `linspace` next to one of its ends. A plain `start + i * step` multiplies the rounding error of the
/// step by `i`, and its relative error has no bound where the sum is near 0. So values and the step are sums of two
/// floats: the rounded value and its rounding error.
struct LinspaceHalf {
    start: f64,
    step: (f64, f64),
    /// A factor that brings ends near the limits of float64 to where nothing overflows or underflows.
    scale: f64,
    /// Values of a smaller magnitude are rounding errors of an exact 0, and are written as 0.
    min_nonzero: f64,
}

/// Elements that are computed from one base value: so few that the product of an index in the block and the upper bits
/// of the step is exact.
const BLOCK: usize = 1 << 12;

impl LinspaceHalf {
    fn new(start: f64, end: f64, n: usize) -> LinspaceHalf {
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
        let min_nonzero = largest * scale * 2f64.powi(-88);
        LinspaceHalf { start, step: two_sum(first, second), scale, min_nonzero }
    }

    /// Writes the first `count` values, forwards or backwards from `to`.
    ///
    /// # Safety
    /// `to + i` (or, backwards, `to - i`), counted in elements, is valid for writing a float64 for every `i < count`.
    unsafe fn write<const FORWARD: bool>(&self, count: usize, to: *mut f64) {
        let address = |from: *mut f64, i| if FORWARD { from.wrapping_add(i) } else { from.wrapping_sub(i) };
        let upper = f64::from_bits(self.step.0.to_bits() & !(2 * BLOCK as u64 - 1));
        let lower = self.step.0 - upper + self.step.1;
        let (unscale, min_nonzero) = (1.0 / self.scale, self.min_nonzero);
        for block in (0..count).step_by(BLOCK) {
            let (base, rest) = self.at(block as f64);
            let (start, length) = (address(to, block), BLOCK.min(count - block));
            // Captured by value: variables behind a reference would be loaded again after each store, which might have
            // changed them.
            simd(move || {
                for i in 0..length {
                    let i_float = i as i32 as f64;
                    let (high, low) = two_sum(base, i_float * upper);
                    let value = high + (low + (rest + i_float * lower));
                    let value = if value.abs() < min_nonzero { 0.0 } else { value };
                    // SAFETY: this function's contract: `block + i < count`.
                    unsafe { address(start, i).write(value * unscale) };
                }
            });
        }
    }

    /// The value at an index, as the sum of two floats.
    fn at(&self, index: f64) -> (f64, f64) {
        let product = index * self.step.0;
        let lost = index.mul_add(self.step.0, -product) + index * self.step.1;
        let (high, low) = two_sum(self.start, product);
        two_sum(high, low + lost)
    }
}

/// The rounded sum and its rounding error: Knuth's TwoSum.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// A new tensor with `base` to the power of each element of a float64 or complex128 tensor of one dim.
pub fn powers(base: f64, exponents: &Tensor) -> Result<Tensor> {
    // ln(base) = log + i * phase.
    let (log, phase) = (base.abs().ln(), if base < 0.0 { std::f64::consts::PI } else { 0.0 });
    match exponents.dtype() {
        DType::F64 => map_elements(exponents, |x: f64| base.powf(x)),
        DType::C128 => map_elements(exponents, |x: Complex<f64>| {
            let angle = x.im * log + x.re * phase;
            let length = base.abs().powf(x.re) * (-x.im * phase).exp();
            // A real power of a base that is not negative is real. The formula below fails for the base 0, whose
            // logarithm is infinite.
            if x.im == 0.0 && phase == 0.0 {
                return Complex::new(length, 0.0);
            }
            Complex::new(length * angle.cos(), length * angle.sin())
        }),
        dtype => unreachable!("powers of {}", dtype.name()),
    }
}

/// A new int64 or uint64 tensor with truncated powers of a base. Integer powers of an integer are exact.
pub fn int_powers(base: f64, exponents: &Tensor, dtype: DType) -> Result<Tensor> {
    let exact = |x: f64| {
        let whole = base.fract() == 0.0 && base.abs() < 2f64.powi(53) && x.fract() == 0.0;
        if whole && (0.0..=64.0).contains(&x) { (base as i128).checked_pow(x as u32) } else { None }
    };
    match dtype {
        DType::U64 => map_elements(exponents, |x: f64| match exact(x).map(u64::try_from) {
            Some(Ok(power)) => power,
            _ => Cast::<u64>::cast(base.powf(x)),
        }),
        _ => map_elements(exponents, |x: f64| match exact(x).map(i64::try_from) {
            Some(Ok(power)) => power,
            _ => Cast::<i64>::cast(base.powf(x)),
        }),
    }
}

/// A new tensor with a function of each element of a row-major tensor of one dim.
fn map_elements<A: Element, B: Element>(x: &Tensor, function: impl Fn(A) -> B) -> Result<Tensor> {
    assert!(x.dtype() == A::DTYPE && x.layout().is_row_major() && x.layout().rank() == 1);
    let pin = x.pin(Access::Read)?;
    let from = pin.origin.cast::<A>();
    // SAFETY: `pin` holds `x`, which has `x.size()` contiguous elements of type A: checked above.
    by_index(x.size(), |i| function(unsafe { from.add(i).read() }))
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
    fn a_symmetric_linspace_has_an_exact_zero_and_exact_ends() {
        for n in [3usize, 49, 99, 10_001, 100_001] {
            let x = linspace(n, -0.3, 0.3).unwrap();
            let at = |i: usize| copy::item(&x, &[i as isize]).unwrap();
            assert_eq!((at(0), at(n / 2)), (Scalar::Float(-0.3), Scalar::Float(0.0)));
            assert_eq!(at(n - 1), Scalar::Float(0.3));
        }
    }

    #[test]
    fn int_linspace_is_exact_at_the_limits() {
        let (low, high) = (i64::MIN as i128, i64::MAX as i128);
        let x = values(&int_linspace(4, DType::I64, low, high).unwrap());
        let expected = (0..4).map(|i| Scalar::Int((low * (3 - i) + high * i) / 3)).collect::<Vec<_>>();
        assert_eq!(x, expected);
        let seven = [-3i128, -2, -1, 0, 1, 2, 3].map(Scalar::Int).to_vec();
        assert_eq!(values(&int_linspace(7, DType::I8, -3, 3).unwrap()), seven);
    }
}
