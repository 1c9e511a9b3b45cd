//! Python's numbers as ints, floats, bools and scalars, and scalars as Python's numbers.

use super::args::{FromArg, TensorArg, wrong_type};
use super::buffer;
use crate::abi::detach::wait_for;
use crate::abi::errors::{CallResult, Fail};
use crate::abi::tensor_object::{is_tensor, tensor_of};
use crate::abi::{Arg, Value};
use pyo3::ffi;
use pyo3::prelude::*;
use strided_core::ops::copy;
use strided_core::scalar::Complex;
use strided_core::{DType, Scalar, Tensor};

impl<'a> FromArg<'a> for isize {
    const WANTED: &'static str = "an int";
    const STUB: &'static str = "SupportsIndex";
    #[inline(always)]
    fn read(object: Arg<'a>) -> CallResult<Option<isize>> {
        // SAFETY: an `Arg` is a live object, which is checked to be an int before it is read as one.
        unsafe {
            if ffi::PyLong_Check(object.as_ptr()) == 0 {
                return read_index(object);
            }
            let value = ffi::PyLong_AsSsize_t(object.as_ptr());
            if value == -1 && !ffi::PyErr_Occurred().is_null() {
                ffi::PyErr_Clear();
                return Err(Fail::IntTooLarge);
            }
            Ok(Some(value))
        }
    }
}

/// An int from an object with `__index__`, such as a NumPy integer or a tensor of one integer.
#[cold]
fn read_index(object: Arg<'_>) -> CallResult<Option<isize>> {
    let py = object.py();
    // SAFETY: an `Arg` is a live object; PyNumber_Index returns a new reference, or null with an exception set.
    let number = unsafe {
        if ffi::PyIndex_Check(object.as_ptr()) == 0 {
            return Ok(None);
        }
        Bound::from_owned_ptr_or_err(py, ffi::PyNumber_Index(object.as_ptr()))
    };
    match number {
        Ok(number) => isize::read(number.as_borrowed()),
        // A TypeError means that the object is not an int after all; any other exception is passed on.
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyTypeError>(py) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl<'a> FromArg<'a> for f64 {
    const WANTED: &'static str = "a real number";
    const STUB: &'static str = "SupportsFloat";
    fn read(object: Arg<'a>) -> CallResult<Option<f64>> {
        // SAFETY: an `Arg` is a live object, which is checked to be a float before it is read as one.
        unsafe {
            if ffi::PyFloat_CheckExact(object.as_ptr()) != 0 {
                return Ok(Some(ffi::PyFloat_AsDouble(object.as_ptr())));
            }
        }
        Ok(match Scalar::read(object)? {
            Some(Scalar::Complex(_)) | None => None,
            Some(value) => Some(value.real()),
        })
    }
}

impl<'a> FromArg<'a> for bool {
    const WANTED: &'static str = "a bool";
    const STUB: &'static str = "bool";
    fn read(object: Arg<'a>) -> CallResult<Option<bool>> {
        // SAFETY: an `Arg` is a live object; `True` is alive as long as the interpreter.
        match unsafe { (ffi::PyBool_Check(object.as_ptr()), ffi::Py_True()) } {
            (0, _) => foreign_bool(object),
            (_, is_true) => Ok(Some(object.as_ptr() == is_true)),
        }
    }

    #[inline(always)]
    fn from_arg(object: Arg<'a>, name: &'static str) -> CallResult<bool> {
        Self::read(object)?.ok_or_else(|| {
            // `x.sum(0, 1)` is meant as two dims, and passes the second one as `keepdim`.
            let wanted =
                if name == "keepdim" { "a bool (several dims are dim=(0, 1))" } else { Self::WANTED };
            wrong_type(object, name, wanted)
        })
    }
}

/// A bool of another library: a NumPy bool, or a bool tensor of one element. Numbers are not bools.
#[cold]
fn foreign_bool(object: Arg<'_>) -> CallResult<Option<bool>> {
    let single = |x: &Tensor| match x.dtype() == DType::Bool && x.size() == 1 {
        true => Ok(Some(wait_for(object.py(), x, copy::single_item)? == Scalar::Bool(true))),
        false => Ok(None),
    };
    if let Some(x) = TensorArg::read(object)? {
        return single(&x);
    }
    if !buffer::has_buffer(object) {
        return Ok(None);
    }
    single(&buffer::import_or_copy(object)?)
}

impl<'a> FromArg<'a> for Scalar {
    const WANTED: &'static str = "a number";
    const STUB: &'static str = "_Number";
    #[inline]
    fn read(object: Arg<'a>) -> CallResult<Option<Scalar>> {
        if let Some(scalar) = python_number(object)? {
            return Ok(Some(scalar));
        }
        if is_tensor(object) {
            // SAFETY: checked to be a tensor; reading its item runs no Python code.
            let x = unsafe { tensor_of(object) };
            return Ok(Some(wait_for(object.py(), x, copy::single_item)?));
        }
        other_number(object)
    }
}

/// A Python bool, int, float or complex, or an instance of a subclass of int or float that exports no buffer.
#[inline]
pub fn python_number(object: Arg<'_>) -> CallResult<Option<Scalar>> {
    let pointer = object.as_ptr();
    // SAFETY: an `Arg` is a live object, whose type is checked before each conversion.
    unsafe {
        let class = ffi::Py_TYPE(pointer);
        if class == &raw mut ffi::PyFloat_Type {
            return Ok(Some(Scalar::Float(ffi::PyFloat_AsDouble(pointer))));
        }
        if class == &raw mut ffi::PyLong_Type {
            return int_scalar(object).map(Some);
        }
        if class == &raw mut ffi::PyBool_Type {
            return Ok(Some(Scalar::Bool(pointer == ffi::Py_True())));
        }
        if class == &raw mut ffi::PyComplex_Type {
            let (re, im) = (ffi::PyComplex_RealAsDouble(pointer), ffi::PyComplex_ImagAsDouble(pointer));
            return Ok(Some(Scalar::Complex(Complex::new(re, im))));
        }
        if ffi::PyLong_Check(pointer) != 0 {
            return int_scalar(object).map(Some);
        }
        // NumPy's float64 is a subclass of float, but takes part in promotion with its dtype.
        if ffi::PyFloat_Check(pointer) != 0 && !buffer::has_buffer(object) {
            return Ok(Some(Scalar::Float(ffi::PyFloat_AsDouble(pointer))));
        }
    }
    Ok(None)
}

/// A number of another library: an object with a buffer of one element, or with `__float__`.
#[cold]
fn other_number(object: Arg<'_>) -> CallResult<Option<Scalar>> {
    if buffer::has_buffer(object) {
        let tensor = buffer::import_or_copy(object)?;
        // An array without dims is a number; bytes of length 1 are not.
        return if tensor.layout().rank() == 0 { Ok(Some(copy::single_item(&tensor)?)) } else { Ok(None) };
    }
    if object.get_type().hasattr("__float__")? {
        return Ok(Some(Scalar::Float(object.extract()?)));
    }
    Ok(None)
}

/// A Python int, of any size.
///
/// # Safety
/// The object is an int.
unsafe fn int_scalar(object: Arg<'_>) -> CallResult<Scalar> {
    let (pointer, mut overflow) = (object.as_ptr(), 0);
    // SAFETY: the contract above: a live int.
    unsafe {
        let value = ffi::PyLong_AsLongLongAndOverflow(pointer, &mut overflow);
        if overflow == 0 {
            return if value == -1 && !ffi::PyErr_Occurred().is_null() {
                Err(Fail::raised(object.py()))
            } else {
                Ok(Scalar::Int(value as i128))
            };
        }
        if overflow > 0 {
            let value = ffi::PyLong_AsUnsignedLongLong(pointer);
            if ffi::PyErr_Occurred().is_null() {
                return Ok(Scalar::Int(value as i128));
            }
            ffi::PyErr_Clear();
        }
        let value = ffi::PyLong_AsDouble(pointer);
        if ffi::PyErr_Occurred().is_null() {
            return Ok(Scalar::Huge(value));
        }
        ffi::PyErr_Clear();
        Ok(Scalar::Huge(if overflow > 0 { f64::INFINITY } else { f64::NEG_INFINITY }))
    }
}

/// A scalar as a Python number.
#[inline]
pub fn number(py: Python<'_>, value: Scalar) -> CallResult<Value<'_>> {
    // SAFETY: each function returns a new reference, or null with an exception set.
    unsafe {
        let object = match value {
            Scalar::Bool(v) => ffi::PyBool_FromLong(v as _),
            Scalar::Int(v) if v > i64::MAX as i128 => ffi::PyLong_FromUnsignedLongLong(v as u64),
            Scalar::Int(v) => ffi::PyLong_FromLongLong(v as i64),
            Scalar::Huge(v) | Scalar::Float(v) => ffi::PyFloat_FromDouble(v),
            Scalar::Complex(v) => ffi::PyComplex_FromDoubles(v.re, v.im),
        };
        Ok(Bound::from_owned_ptr_or_err(py, object)?)
    }
}
