//! Single elements: reading, writing and range checks, between memory and [`Scalar`].

use super::cast::Cast;
use crate::dtype::{Category, DType};
use crate::error::{Error, Problem, Result};
use crate::scalar::{Bool, Complex, Element, Scalar};
use crate::storage::{Access, Pinned};
use crate::switch;
use crate::tensor::Tensor;
use std::mem::MaybeUninit;

/// One element of any dtype, in 16 aligned bytes. It does not know its dtype.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct ScalarBytes([u8; 16]);

impl ScalarBytes {
    pub const EMPTY: ScalarBytes = ScalarBytes([0; 16]);

    /// Converts a scalar to an element of a dtype. Refuses a value that does not fit; truncates a fraction.
    pub fn new(value: Scalar, dtype: DType) -> Result<ScalarBytes> {
        check_fits(value, dtype)?;
        Ok(ScalarBytes::cast(value, dtype))
    }

    /// Casts a scalar to a dtype by the rules of `copy_`: integers wrap, fractions are truncated.
    pub fn cast(value: Scalar, dtype: DType) -> ScalarBytes {
        let mut bytes = ScalarBytes::EMPTY;
        // SAFETY: `bytes` is 16 bytes, aligned to 16: as large as and aligned for any element.
        unsafe { store(bytes.0.as_mut_ptr(), dtype, value) };
        bytes
    }

    /// Casts the element from dtype `from` to dtype `to`.
    pub fn recast(self, from: DType, to: DType) -> ScalarBytes {
        // SAFETY: the 16 bytes are initialised and aligned for any element, and every bit pattern is a valid one.
        ScalarBytes::cast(unsafe { load(self.0.as_ptr(), from) }, to)
    }

    /// The bytes, of which an element uses the first ones.
    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The address of the element, for a kernel that reads it with step 0 and writes nothing there.
    pub fn address(&self) -> *mut u8 {
        self.0.as_ptr().cast_mut()
    }
}

/// Refuses a number that the dtype cannot hold: an integer out of range; for an integer dtype, a float that is out of range
/// after truncation, or NaN; for a real dtype, a complex number with an imaginary part.
#[inline]
pub fn check_fits(value: Scalar, dtype: DType) -> Result<()> {
    match value {
        Scalar::Bool(_) => Ok(()),
        Scalar::Float(_) | Scalar::Int(_) if !dtype.is_int() => Ok(()),
        _ => check_range(value, dtype),
    }
}

/// Whether an integer is beyond the largest finite number of a floating dtype.
pub fn rounds_to_infinity(value: Scalar, dtype: DType) -> bool {
    let magnitude = match value {
        Scalar::Int(v) => (v as f64).abs(),
        Scalar::Huge(v) => v.abs(),
        _ => return false,
    };
    dtype.is_float() && magnitude > dtype.largest().real()
}

fn check_range(value: Scalar, dtype: DType) -> Result<()> {
    let range = dtype.int_range().filter(|_| dtype.is_int()); // a bool takes any number
    let fits = match (value, range) {
        (Scalar::Int(v), Some((low, high))) => (low..=high).contains(&v),
        (Scalar::Huge(v), _) => dtype.category() > Category::Int && !v.is_infinite(),
        (Scalar::Complex(v), _) if !dtype.is_complex() && v.im != 0.0 => false,
        (Scalar::Complex(v), Some(range)) => truncates_into(v.re, range, dtype)?,
        (Scalar::Float(v), Some(range)) => truncates_into(v, range, dtype)?,
        _ => true,
    };
    if fits {
        return Ok(());
    }
    let value = match value {
        Scalar::Huge(_) => "an integer this large".into(),
        other => other.to_string(),
    };
    Err(Error::new(Problem::DoesNotFit { value, dtype }))
}

/// Whether a float without its fraction is within the range of an integer dtype. NaN is refused as such: it is not out of
/// range, it is not a number.
fn truncates_into(value: f64, (low, high): (i128, i128), dtype: DType) -> Result<bool> {
    if value.is_nan() {
        return Err(Error::new(Problem::NanToInt { dtype }));
    }
    // The cast saturates, so infinities are outside of every range.
    Ok((low..=high).contains(&(value as i128)))
}

/// Reads the element of a tensor at a location of its storage.
#[inline]
pub fn get(x: &Tensor, location: isize) -> Result<Scalar> {
    let pin = pin_one(x, location, Access::Read)?;
    // SAFETY: `pin_one` pinned the location for an element of this dtype.
    Ok(unsafe { load(pin.origin, x.dtype()) })
}

/// Writes the element of a tensor at a location of its storage. Refuses a value that does not fit.
#[inline]
pub fn set(x: &Tensor, location: isize, value: Scalar) -> Result<()> {
    check_fits(value, x.dtype())?;
    let pin = pin_one(x, location, Access::Write)?;
    // SAFETY: `pin_one` pinned the location for writing an element of this dtype.
    unsafe { store(pin.origin, x.dtype(), value) };
    Ok(())
}

/// Bytes of elements that are copied rather than exported: a copy takes fewer locked instructions.
const SMALL_BYTES: usize = 1024;

/// A copy of the elements of a small row-major tensor, for code that may not hold a pin while it uses them.
#[repr(C, align(16))]
pub struct SmallElements([MaybeUninit<u8>; SMALL_BYTES]);

impl SmallElements {
    pub const UNINIT: SmallElements = SmallElements([MaybeUninit::uninit(); SMALL_BYTES]);

    /// Copies the elements of a tensor, and returns the address of the first one; `None` if the tensor has more than fit,
    /// or is not row-major.
    #[inline]
    pub fn copy(&mut self, x: &Tensor) -> Result<Option<*const u8>> {
        let bytes = x.size().saturating_mul(x.dtype().size());
        if bytes > SMALL_BYTES || !x.layout().is_row_major() {
            return Ok(None);
        }
        let (pin, to) = (x.pin(Access::Read)?, self.0.as_mut_ptr().cast::<u8>());
        // SAFETY: the elements of a row-major tensor are adjacent, and `pin` holds them; `bytes` were checked to fit.
        unsafe { to.copy_from_nonoverlapping(pin.origin, bytes) };
        Ok(Some(to))
    }
}

/// Writes the elements of a row-major tensor one after the other.
pub struct Writer<'a> {
    pin: Pinned<'a>,
    dtype: DType,
    next: usize,
    end: usize,
}

impl<'a> Writer<'a> {
    /// A writer that starts at the first element of `out`, which is row-major.
    pub fn new(out: &'a Tensor) -> Result<Writer<'a>> {
        assert!(out.layout().is_row_major());
        Ok(Writer { pin: out.pin(Access::Write)?, dtype: out.dtype(), next: 0, end: out.size() })
    }

    /// Number of elements that remain.
    pub fn left(&self) -> usize {
        self.end - self.next
    }

    /// Linear index of the next element.
    pub fn position(&self) -> usize {
        self.next
    }

    /// Skips elements that are written by other means.
    pub fn skip(&mut self, count: usize) {
        assert!(count <= self.left());
        self.next += count;
    }

    /// Writes the next element. Refuses a value that does not fit.
    pub fn push(&mut self, value: Scalar) -> Result<()> {
        check_fits(value, self.dtype)?;
        let (at, dtype) = (self.advance(), self.dtype);
        // SAFETY: `advance` returned an element of the tensor, which `self.pin` holds for writing.
        unsafe { store(at, dtype, value) };
        Ok(())
    }

    /// [`Writer::push`] of a float, faster for the two dtypes that most lists of floats become.
    #[inline]
    pub fn push_float(&mut self, value: f64) -> Result<()> {
        match self.dtype {
            // SAFETY: `advance` returned an element of the tensor, which `self.pin` holds and whose dtype is float32.
            DType::F32 => unsafe { self.advance().cast::<f32>().write(value as f32) },
            // SAFETY: `advance` returned an element of the tensor, which `self.pin` holds and whose dtype is float64.
            DType::F64 => unsafe { self.advance().cast::<f64>().write(value) },
            _ => self.push(Scalar::Float(value))?,
        }
        Ok(())
    }

    /// Returns the address of the next element and moves on.
    #[inline]
    fn advance(&mut self) -> *mut u8 {
        assert!(self.next < self.end);
        let at = self.pin.origin.wrapping_add(self.next * self.dtype.size());
        self.next += 1;
        at
    }
}

/// Pins one location of a tensor's storage, and waits while that is being resized.
#[inline(always)]
fn pin_one(x: &Tensor, location: isize, access: Access) -> Result<Pinned<'_>> {
    loop {
        match x.storage().try_pin_at(location, x.dtype(), access)? {
            Some(pin) => return Ok(pin),
            None => x.storage().wait_until_open(),
        }
    }
}

/// Reads an element.
///
/// # Safety
/// `at` is the aligned address of an initialised element of the dtype.
#[inline]
pub unsafe fn load(at: *const u8, dtype: DType) -> Scalar {
    macro_rules! read {
        ($t:ty) => {
            // SAFETY: this function's contract; each arm below reads the type of its dtype.
            unsafe { at.cast::<$t>().read() }
        };
    }
    match dtype {
        DType::Bool => Scalar::Bool(read!(Bool).get()),
        DType::U64 => Scalar::Int(read!(u64) as i128),
        DType::F32 => Scalar::Float(read!(f32) as f64),
        DType::F64 => Scalar::Float(read!(f64)),
        DType::C64 => Scalar::Complex(Cast::<Complex<f64>>::cast(read!(Complex<f32>))),
        DType::C128 => Scalar::Complex(read!(Complex<f64>)),
        DType::F16 => Scalar::Float(Cast::<f64>::cast(read!(half::f16))),
        DType::BF16 => Scalar::Float(Cast::<f64>::cast(read!(half::bf16))),
        _ => {
            Scalar::Int(switch!(dtype, int, T => Cast::<i64>::cast(read!(T)), else => unreachable!()) as i128)
        }
    }
}

/// Writes an element, cast to the dtype by the rules of `copy_`.
///
/// # Safety
/// `at` is the aligned address of a writable element of the dtype.
#[inline]
pub unsafe fn store(at: *mut u8, dtype: DType, value: Scalar) {
    // SAFETY: this function's contract; T is the type of the dtype.
    switch!(dtype, all, T => unsafe { at.cast::<T>().write(from_scalar::<T>(value)) }, else => unreachable!())
}

#[inline(always)]
fn from_scalar<T: Element>(value: Scalar) -> T
where
    Bool: Cast<T>,
    i64: Cast<T>,
    u64: Cast<T>,
    f64: Cast<T>,
    Complex<f64>: Cast<T>,
{
    match value {
        Scalar::Bool(v) => Bool::new(v).cast(),
        Scalar::Int(v) if v > i64::MAX as i128 => (v as u64).cast(),
        Scalar::Int(v) => (v as i64).cast(),
        // Casts of elements go through int64, which would lose the upper half of uint64.
        Scalar::Float(v) if T::DTYPE == DType::U64 && (TWO_TO_63..2.0 * TWO_TO_63).contains(&v) => {
            (v as u64).cast()
        }
        Scalar::Huge(v) | Scalar::Float(v) => v.cast(),
        Scalar::Complex(v) if T::DTYPE == DType::U64 => from_scalar(Scalar::Float(v.re)),
        Scalar::Complex(v) => v.cast(),
    }
}

const TWO_TO_63: f64 = (1u64 << 63) as f64;
