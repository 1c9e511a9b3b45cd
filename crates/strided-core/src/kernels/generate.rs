//! The index-driven driver: elements that are computed from their linear index, in row-major order. It fills a tensor of any
//! layout on any number of threads, with the same result.
//!
//! Here are also the kernels of `arange`, `linspace`, `logspace` and `eye`.

use super::cast::Cast;
use super::item::ScalarBytes;
use super::maths::double_double::{DoubleDouble, two_sum};
use super::scratch::Scratch;
use super::split::{BYTES_PER_PIECE, SERIAL_ELEMENTS};
use super::{Pointers, copy, pair};
use crate::cpu::simd;
use crate::dtype::DType;
use crate::error::Result;
use crate::nest::{Nest, Operand, Order, for_each_run};
use crate::scalar::{Complex, Element, Num, Scalar};
use crate::storage::{Access, Device, Fill};
use crate::switch;
use crate::tensor::Tensor;
use crate::threads::{self, Shared};
use std::ops::Range;
use std::ptr::null_mut;

const MIN_ELEMENTS_PER_PIECE: usize = 1 << 10;
/// Bytes of elements that are computed before they are copied to an output that is not contiguous, or converted.
pub(super) const STAGED_BYTES: usize = 4 << 10;

/// Computes elements `first` to `first + n` of the row-major order, and writes them to contiguous memory.
pub(super) trait RunBody: Sync {
    /// # Safety
    /// `to` is valid for writing `n` elements of the output's dtype, and aligned for them.
    unsafe fn write(&self, first: usize, n: usize, to: *mut u8);
}

impl<F: Fn(usize, usize, *mut u8) + Sync> RunBody for F {
    unsafe fn write(&self, first: usize, n: usize, to: *mut u8) {
        self(first, n, to)
    }
}

/// Fills a tensor, whose elements do not overlap, with elements that `body` computes from their linear index. `cost` is
/// the cost of an element, relative to an addition.
pub(super) fn by_runs(out: &Tensor, cost: usize, body: &dyn RunBody) -> Result<()> {
    let pin = out.pin(Access::Write)?;
    let (n, size) = (out.size(), out.dtype().size());
    let target = RunTarget::new(out, pin.origin);
    let fill = |range: Range<usize>| {
        // SAFETY: the contract of `RunTarget::fill` is that of `RunBody`.
        let mut write = |first: usize, n: usize, to: *mut u8| unsafe { body.write(first, n, to) };
        // SAFETY: `pin` holds the output for its layout, from which the nest was made.
        unsafe { target.fill(range, &mut write) }
    };
    if n <= SERIAL_ELEMENTS / cost {
        fill(0..n);
        return Ok(());
    }
    let piece = (BYTES_PER_PIECE / size / cost).max(MIN_ELEMENTS_PER_PIECE);
    threads::for_each_range(n, piece, threads::should_parallelize(n.saturating_mul(cost)), &fill)
}

/// Fills a tensor with elements that are computed one after the other: on this thread, in row-major order. `write(n, to)`
/// computes the next `n` elements and writes them to `to`, which is valid for as many. Elements of the tensor may overlap:
/// the last one of them stays.
pub(super) fn in_order(out: &Tensor, write: &mut dyn FnMut(usize, *mut u8)) -> Result<()> {
    let pin = out.pin(Access::Write)?;
    let target = RunTarget::new(out, pin.origin);
    threads::for_each_range_in_order(out.size(), &mut |range| {
        let mut next = |_: usize, n: usize, to: *mut u8| write(n, to);
        // SAFETY: `pin` holds the output for its layout, from which the nest was made.
        unsafe { target.fill(range, &mut next) }
    })
}

/// The output of the drivers.
struct RunTarget {
    origin: Shared<*mut u8>,
    /// Bytes per element.
    size: usize,
    /// The loops over the output, unless it is contiguous.
    nest: Option<Nest>,
}

impl RunTarget {
    /// The target for an output that is pinned at an address.
    fn new(out: &Tensor, origin: *mut u8) -> RunTarget {
        let size = out.dtype().size();
        let nest = (!out.layout().is_row_major())
            .then(|| Nest::new(out.layout(), &[Operand { layout: out.layout(), size }], Order::RowMajor));
        RunTarget { origin: Shared::new(origin), size, nest }
    }

    /// Fills the elements of a range of linear indices, block by block. `write(first, n, to)` computes those from `first`
    /// to `first + n` and writes them to `to`, which is aligned and valid for as many.
    ///
    /// # Safety
    /// The output is pinned for the layout that the nest was made of, and the indices are below its size.
    unsafe fn fill(&self, range: Range<usize>, write: &mut dyn FnMut(usize, usize, *mut u8)) {
        let Some(nest) = &self.nest else {
            // The output is contiguous, and has these elements.
            return write(range.start, range.len(), self.origin.at(range.start * self.size));
        };
        let mut block = Scratch::<STAGED_BYTES>::new();
        let block = block.start();
        let origins: Pointers = pair(self.origin.get(), null_mut(), null_mut());
        let steps = pair(nest.inner_steps()[0], self.size as isize, 0);
        let copy = copy::kernel(self.size);
        let max_elements = STAGED_BYTES / self.size;
        for first in range.clone().step_by(max_elements) {
            let n = max_elements.min(range.end - first);
            let mut done = 0;
            // The block holds n elements, and is aligned for any.
            write(first, n, block);
            // SAFETY: the block is no tensor's memory, and `write` has filled it; the runs are those of n elements of the
            // pinned output.
            unsafe {
                for_each_run(nest.loops(), nest.start(origins), first..first + n, |at, count| {
                    copy(&pair(at[0], block.add(done * self.size), null_mut()), &steps, count);
                    done += count;
                });
            }
        }
    }
}

/// Fills a tensor of dtype `T` with a function of the linear index.
#[inline(always)]
pub(super) fn by_index<T: Element>(
    out: &Tensor,
    cost: usize,
    element: impl Fn(usize) -> T + Copy + Sync,
) -> Result<()> {
    assert!(out.dtype() == T::DTYPE);
    by_runs(out, cost, &move |first: usize, n: usize, to: *mut u8| {
        let to = to.cast::<T>();
        simd(move || {
            for i in 0..n {
                // SAFETY: the contract of `RunBody`: n elements, of type T as checked above.
                unsafe { to.add(i).write(element(first + i)) };
            }
        });
    })
}

/// A new tensor of one dim.
fn vector(n: usize, dtype: DType) -> Result<Tensor> {
    Tensor::new_on(Device::Cpu, &[n as isize], dtype, Fill::Uninitialized)
}

/// A new tensor of one dim with `start + i * step` for `i < n`, computed in `dtype`, which is neither bool nor a half.
/// float32 is computed in float64, and `start` and `step` are then elements of float64.
pub fn range(n: usize, dtype: DType, start: ScalarBytes, step: ScalarBytes) -> Result<Tensor> {
    let out = vector(n, dtype)?;
    if dtype == DType::F32 {
        // SAFETY: 16 initialised bytes, aligned for any element.
        let (start, step) =
            unsafe { (start.address().cast::<f64>().read(), step.address().cast::<f64>().read()) };
        by_index(&out, 1, move |i| Cast::<f32>::cast(start + step * i as i64 as f64))?;
        return Ok(out);
    }
    switch!(dtype, num, T => {
        // SAFETY: 16 initialised bytes, aligned for any element.
        let (start, step) = unsafe { (start.address().cast::<T>().read(), step.address().cast::<T>().read()) };
        by_index(&out, 1, move |i| start.add(step.mul(Cast::<T>::cast(i as i64))))
    }, else => unreachable!("range of {}", dtype.name()))?;
    Ok(out)
}

/// Writes ones on the main diagonal of a matrix, and zeros elsewhere.
pub fn eye(out: &Tensor) -> Result<()> {
    let &[rows, columns] = out.layout().modes() else { unreachable!("a matrix has two dims") };
    let size = out.dtype().size();
    let one = ScalarBytes::cast(Scalar::Bool(true), out.dtype());
    // Ones are this many elements apart in row-major order.
    let distance = columns.extent as usize + 1;
    let end = rows.extent.min(columns.extent) as usize * distance;
    by_runs(out, 1, &|first: usize, n: usize, to: *mut u8| {
        // SAFETY: the contract of `RunBody`: n elements, of `size` bytes each.
        unsafe {
            to.write_bytes(0, n * size);
            for at in (first.next_multiple_of(distance)..end.min(first + n)).step_by(distance) {
                to.add((at - first) * size).copy_from_nonoverlapping(one.address(), size);
            }
        }
    })
}

/// A new tensor of one dim with `n` integers evenly spaced from `start` to `end`: the exact values, truncated. (PyTorch
/// steps in float64 and truncates the rounded sum: its `linspace(22, -16, 7)` has a 2 where 3 is exact.)
pub fn int_linspace(n: usize, dtype: DType, start: i128, end: i128) -> Result<Tensor> {
    let gaps = n.max(2) as i128 - 1;
    let (quotient, remainder) = ((end - start).div_euclid(gaps), (end - start).rem_euclid(gaps));
    let out = vector(n, dtype)?;
    switch!(dtype, int, T => by_runs(&out, 1, &move |first: usize, n: usize, to: *mut u8| {
        // The exact value is `floor + rest / gaps`. It advances from index to index without a division.
        let first = first as i128;
        let mut floor = start + quotient * first + remainder * first / gaps;
        let mut rest = remainder * first % gaps;
        for i in 0..n {
            let value = floor + (floor < 0 && rest > 0) as i128;
            rest += remainder;
            let wraps = rest >= gaps;
            rest -= if wraps { gaps } else { 0 };
            floor += quotient + wraps as i128;
            // SAFETY: the contract of `RunBody`: n elements of the dtype of T.
            unsafe { to.cast::<T>().add(i).write(value as T) };
        }
    }), else => unreachable!("int_linspace of {}", dtype.name()))?;
    Ok(out)
}

/// A new float64 tensor of one dim with `n` numbers evenly spaced from `start` to `end`. Both ends are exact, and every
/// element is within one ULP of the exact value.
///
/// The first half is computed from the start and the second from the end: values are symmetric about the middle.
pub fn linspace(n: usize, start: f64, end: f64) -> Result<Tensor> {
    let out = vector(n, DType::F64)?;
    let (half, total) = (n / 2, n);
    let halves = (LinspaceHalf::new(start, end, n), LinspaceHalf::new(end, start, n));
    by_runs(&out, 1, &|first: usize, n: usize, to: *mut u8| {
        let to = to.cast::<f64>();
        let after = first + n;
        let left = first.min(half)..after.min(half);
        let right = first.max(half)..after.max(half);
        // SAFETY: the contract of `RunBody`: n float64 elements. Those of the left half come first; those of the right half
        // are written backwards from the last one, and counted from the end of the whole.
        unsafe {
            halves.0.write::<true>(left, to);
            let from_end = total - right.end..total - right.start;
            halves.1.write::<false>(from_end, to.wrapping_add(n).wrapping_sub(1));
            if after == total && n > 0 {
                to.add(n - 1).write(end);
            }
            if first == 0 && n > 0 {
                to.write(start);
            }
        }
    })?;
    Ok(out)
}

/// The half of a `linspace` next to one of its ends. A plain `start + i * step` multiplies the rounding error of the
/// step by `i`, and its relative error has no bound where the sum is near 0. So values and the step are sums of two
/// floats: the rounded value and its rounding error.
pub struct LinspaceHalf {
    start: f64,
    step: DoubleDouble<f64>,
    /// A factor that brings ends near the limits of float64 to where nothing overflows or underflows.
    scale: f64,
    /// Values of a smaller magnitude are rounding errors of an exact 0, and are written as 0.
    min_nonzero: f64,
}

/// Elements that are computed from one base value: so few that the product of an index in the block and the upper bits
/// of the step is exact.
pub const ELEMENTS_PER_BASE: usize = 1 << 12;

impl LinspaceHalf {
    pub fn new(start: f64, end: f64, n: usize) -> LinspaceHalf {
        let largest = start.abs().max(end.abs());
        let scale = match largest {
            v if v > 2f64.powi(500) => 2f64.powi(-600),
            v if v < 2f64.powi(-500) => 2f64.powi(600),
            _ => 1.0,
        };
        let (start, gaps) = (start * scale, n.max(2) as f64 - 1.0);
        let width = two_sum(end * scale, -start);
        let first = width.hi / gaps;
        let second = ((-first).mul_add(gaps, width.hi) + width.lo) / gaps;
        let min_nonzero = largest * scale * 2f64.powi(-88);
        LinspaceHalf { start, step: two_sum(first, second), scale, min_nonzero }
    }

    /// Writes the values of a range of indices, forwards or backwards from `to`.
    ///
    /// # Safety
    /// `to + i` (or, backwards, `to - i`), counted in elements, is valid for writing a float64 for every `i` below the length
    /// of the range.
    unsafe fn write<const FORWARD: bool>(&self, range: Range<usize>, to: *mut f64) {
        let address = |from: *mut f64, i| if FORWARD { from.wrapping_add(i) } else { from.wrapping_sub(i) };
        let [_, _, _, upper, lower, unscale, min_nonzero] = self.numbers();
        for block in (range.start - range.start % ELEMENTS_PER_BASE..range.end).step_by(ELEMENTS_PER_BASE) {
            let DoubleDouble { hi: base, lo: rest } = self.at(block as f64);
            let first = block.max(range.start);
            let start = address(to, first - range.start);
            let (skipped, length) =
                ((first - block) as i32, range.end.min(block + ELEMENTS_PER_BASE) - first);
            // Captured by value: variables behind a reference would be loaded again after each store, which might have
            // changed them.
            simd(move || {
                for i in 0..length {
                    let i_float = (skipped + i as i32) as f64;
                    let sum = two_sum(base, i_float * upper);
                    let value = sum.hi + (sum.lo + (rest + i_float * lower));
                    let value = if value.abs() < min_nonzero { 0.0 } else { value };
                    // SAFETY: this function's contract: `first + i` is in the range.
                    unsafe { address(start, i).write(value * unscale) };
                }
            });
        }
    }

    /// The start, the two parts of the step, its upper bits and the rest, the inverse of the scale, and the smallest magnitude.
    pub fn numbers(&self) -> [f64; 7] {
        let upper = f64::from_bits(self.step.hi.to_bits() & !(2 * ELEMENTS_PER_BASE as u64 - 1));
        let lower = self.step.hi - upper + self.step.lo;
        [self.start, self.step.hi, self.step.lo, upper, lower, 1.0 / self.scale, self.min_nonzero]
    }

    /// The value at an index, as the sum of two floats.
    fn at(&self, index: f64) -> DoubleDouble<f64> {
        let product = index * self.step.hi;
        let lost = index.mul_add(self.step.hi, -product) + index * self.step.lo;
        let sum = two_sum(self.start, product);
        two_sum(sum.hi, sum.lo + lost)
    }
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

/// A new tensor with an expensive function of each element of a row-major tensor of one dim.
fn map_elements<A: Element, B: Element>(
    x: &Tensor,
    function: impl Fn(A) -> B + Copy + Sync,
) -> Result<Tensor> {
    assert!(x.dtype() == A::DTYPE && x.layout().is_row_major() && x.layout().rank() == 1);
    let out = vector(x.size(), B::DTYPE)?;
    let pin = x.pin(Access::Read)?;
    let from = Shared::new(pin.origin.cast::<A>());
    // SAFETY: `pin` holds `x`, which has `x.size()` contiguous elements of type A: checked above.
    by_index(&out, POWER_COST, move |i| function(unsafe { from.at(i).read() }))?;
    drop(pin);
    Ok(out)
}

const POWER_COST: usize = 16;

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

    /// A view with gaps, reversed dims and another order of dims.
    fn scattered(dtype: DType) -> Tensor {
        let memory = Tensor::new_on(Device::Cpu, &[30, 50, 70], dtype, Fill::Zero).unwrap();
        let layout = memory.layout().slice(1, None, None, -2).unwrap().slice(2, Some(1), None, 3).unwrap();
        memory.with_layout(layout.permute(&[2, 0, 1]).unwrap())
    }

    #[test]
    fn every_layout_is_filled_in_row_major_order() {
        let dense = Tensor::new_on(Device::Cpu, &[23, 30, 25], DType::I64, Fill::Zero).unwrap();
        for out in
            [scattered(DType::I64), dense.clone(), dense.with_layout(dense.layout().flip(&[0, 2]).unwrap())]
        {
            by_index(&out, 1, |i| i as i64 + 1).unwrap();
            let flat = copy::reshape(&out, &[-1]).unwrap();
            let expected = (0..out.size()).map(|i| Scalar::Int(i as i128 + 1)).collect::<Vec<_>>();
            assert_eq!(values(&flat), expected);
        }
        let (scalar, empty) = (
            Tensor::new_on(Device::Cpu, &[], DType::I64, Fill::Zero),
            Tensor::new_on(Device::Cpu, &[3, 0], DType::I64, Fill::Zero),
        );
        by_index(&empty.unwrap(), 1, |i| i as i64).unwrap();
        let scalar = scalar.unwrap();
        by_index(&scalar, 1, |i| i as i64 + 7).unwrap();
        assert_eq!(copy::single_item(&scalar).unwrap(), Scalar::Int(7));
    }

    #[test]
    fn a_run_may_start_at_any_index() {
        let whole = |n, start: i128, end: i128| values(&int_linspace(n, DType::I64, start, end).unwrap());
        let n = 50_000; // more than one piece
        let exact = |i: i128| Scalar::Int((-7 * (n - 1 - i) + 1_000_003 * i) / (n - 1));
        assert_eq!(whole(n as usize, -7, 1_000_003), (0..n).map(exact).collect::<Vec<_>>());
        let x = values(&linspace(100_001, 0.1, 0.7).unwrap());
        let (left, right) = (LinspaceHalf::new(0.1, 0.7, 100_001), LinspaceHalf::new(0.7, 0.1, 100_001));
        for (i, value) in x.iter().enumerate().skip(1).take(99_999) {
            let mut alone = [0.0];
            // SAFETY: one element.
            unsafe {
                match i < 50_000 {
                    true => left.write::<true>(i..i + 1, alone.as_mut_ptr()),
                    false => right.write::<false>(100_000 - i..100_001 - i, alone.as_mut_ptr()),
                }
            }
            assert_eq!(*value, Scalar::Float(alone[0]), "{i}");
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
