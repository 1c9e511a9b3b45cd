//! One element at a time: between memory and [`Scalar`].

use super::cast::Cast;
use crate::dtype::{Category, DType};
use crate::error::{Error, Problem, Result};
use crate::scalar::{Bool, Complex, Element, Scalar};
use crate::storage::{Access, Pinned};
use crate::switch;
use crate::tensor::Tensor;

/// Sixteen aligned bytes: room for one element of any dtype.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct ScalarBytes([u8; 16]);

impl ScalarBytes {
    pub const EMPTY: ScalarBytes = ScalarBytes([0; 16]);

    /// The scalar as an element of the dtype. Refuses an integer that does not fit; a fraction is cut.
    pub fn new(value: Scalar, dtype: DType) -> Result<ScalarBytes> {
        check_fits(value, dtype)?;
        Ok(ScalarBytes::cast(value, dtype))
    }

    /// The scalar cast to the dtype by the rules of `copy_`: wraps and cuts.
    pub fn cast(value: Scalar, dtype: DType) -> ScalarBytes {
        let mut slot = ScalarBytes::EMPTY;
        // SAFETY: a slot is aligned for and as large as any element.
        unsafe { store(slot.0.as_mut_ptr(), dtype, value) };
        slot
    }

    /// The element of one dtype as an element of another.
    pub fn recast(self, from: DType, to: DType) -> ScalarBytes {
        // SAFETY: a slot holds an element of the dtype it was made for.
        ScalarBytes::cast(unsafe { load(self.0.as_ptr(), from) }, to)
    }

    /// The address, for a kernel that reads it with step 0.
    pub fn address(&self) -> *mut u8 {
        self.0.as_ptr().cast_mut()
    }
}

/// Refuses integers (and complex numbers with an imaginary part) that the dtype cannot hold.
#[inline]
pub fn check_fits(value: Scalar, dtype: DType) -> Result<()> {
    if matches!(value, Scalar::Float(_) | Scalar::Bool(_)) { Ok(()) } else { check_range(value, dtype) }
}

/// Whether an integer lies beyond the largest number of a floating dtype.
pub fn rounds_to_infinity(value: Scalar, dtype: DType) -> bool {
    let magnitude = match value {
        Scalar::Int(v) => (v as f64).abs(),
        Scalar::Huge(v) => v.abs(),
        _ => return false,
    };
    let largest = match dtype {
        DType::F16 => 65504.0,
        DType::BF16 | DType::F32 => f32::MAX as f64,
        _ => f64::INFINITY,
    };
    magnitude > largest
}

fn check_range(value: Scalar, dtype: DType) -> Result<()> {
    let text = match value {
        Scalar::Int(v) if dtype.is_int() => {
            let (low, high) = dtype.int_range().expect("an integer dtype has a range");
            if (low..=high).contains(&v) {
                return Ok(());
            }
            v.to_string()
        }
        Scalar::Huge(v) if dtype.category() <= Category::Int || v.is_infinite() => {
            "an integer this large".into()
        }
        Scalar::Complex(v) if !dtype.is_complex() && v.im != 0.0 => format!("{v}"),
        _ => return Ok(()),
    };
    Err(Error::new("", Problem::DoesNotFit { value: text, dtype }))
}

/// The element of a tensor at a location of its storage.
#[inline]
pub fn get(x: &Tensor, location: isize) -> Result<Scalar> {
    let pin = pin_one(x, location, Access::Read)?;
    // SAFETY: the location is pinned.
    Ok(unsafe { load(pin.origin, x.dtype()) })
}

/// Sets the element of a tensor at a location of its storage. Refuses an integer that does not fit.
#[inline]
pub fn set(x: &Tensor, location: isize, value: Scalar) -> Result<()> {
    check_fits(value, x.dtype())?;
    let pin = pin_one(x, location, Access::Write)?;
    // SAFETY: the location is pinned.
    unsafe { store(pin.origin, x.dtype(), value) };
    Ok(())
}

/// Writes the elements of a new tensor one after the other, in row-major order.
pub struct Writer<'a> {
    pin: Pinned<'a>,
    dtype: DType,
    next: usize,
    end: usize,
}

impl<'a> Writer<'a> {
    /// `out` is row-major without gaps.
    pub fn new(out: &'a Tensor) -> Result<Writer<'a>> {
        assert!(out.layout().is_row_major());
        Ok(Writer { pin: out.pin(Access::Write)?, dtype: out.dtype(), next: 0, end: out.size() })
    }

    /// How many elements are still to be written.
    pub fn left(&self) -> usize {
        self.end - self.next
    }

    /// Location of the next element, counted from the tensor's first.
    pub fn position(&self) -> usize {
        self.next
    }

    /// Passes over elements that are written in another way.
    pub fn skip(&mut self, count: usize) {
        assert!(count <= self.left());
        self.next += count;
    }

    /// Writes the next element. Refuses an integer that does not fit.
    pub fn push(&mut self, value: Scalar) -> Result<()> {
        check_fits(value, self.dtype)?;
        let (at, dtype) = (self.advance(), self.dtype);
        // SAFETY: `at` is an element of the pinned tensor.
        unsafe { store(at, dtype, value) };
        Ok(())
    }

    /// [`Writer::push`] of a float, which is what most lists hold.
    #[inline]
    pub fn push_float(&mut self, value: f64) -> Result<()> {
        match self.dtype {
            // SAFETY: an element of the pinned tensor, of this dtype.
            DType::F32 => unsafe { self.advance().cast::<f32>().write(value as f32) },
            // SAFETY: likewise.
            DType::F64 => unsafe { self.advance().cast::<f64>().write(value) },
            _ => self.push(Scalar::Float(value))?,
        }
        Ok(())
    }

    /// The address of the next element, which is then behind.
    #[inline]
    fn advance(&mut self) -> *mut u8 {
        assert!(self.next < self.end);
        let at = self.pin.origin.wrapping_add(self.next * self.dtype.size());
        self.next += 1;
        at
    }
}

#[inline]
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
/// `at` is the address of an initialised element of the dtype.
#[inline]
pub unsafe fn load(at: *const u8, dtype: DType) -> Scalar {
    macro_rules! read {
        ($t:ty) => {
            // SAFETY: the caller's promise.
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

/// Writes an element, cast by the rules of `copy_`.
///
/// # Safety
/// `at` is the address of a writable element of the dtype.
#[inline]
pub unsafe fn store(at: *mut u8, dtype: DType, value: Scalar) {
    // SAFETY: the caller's promise.
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
        Scalar::Huge(v) | Scalar::Float(v) => v.cast(),
        Scalar::Complex(v) => v.cast(),
    }
}
