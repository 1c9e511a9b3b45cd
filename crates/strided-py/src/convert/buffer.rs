//! Python's buffer protocol, both ways: tensors as buffers, and buffers as tensors without a copy.

use super::exchange::{Exported, Lent, give_back};
use crate::abi::Object;
use crate::abi::errors::{Fail, Result, guard, type_name};
use crate::abi::refs::bound;
use crate::abi::tensor_object::tensor_of;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::null_mut;
use strided_core::layout::Dims;
use strided_core::storage::{Owner, Storage};
use strided_core::{DType, Tensor};

/// What an exported buffer keeps alive: the memory, and the arrays that the consumer looks at.
struct Export {
    memory: Exported,
    format: CString,
    shape: Dims,
    strides: Dims,
}

/// `bf_getbuffer`
pub unsafe extern "C" fn getbuffer(object: Object, view: *mut ffi::Py_buffer, flags: c_int) -> c_int {
    // SAFETY: called by the interpreter with a tensor and a view to fill.
    guard("buffer", -1, |_| unsafe {
        (*view).obj = null_mut();
        fill(tensor_of(object), &mut *view, flags)?;
        (*view).obj = ffi::Py_NewRef(object);
        Ok(0)
    })
}

/// `bf_releasebuffer`
pub unsafe extern "C" fn releasebuffer(_: Object, view: *mut ffi::Py_buffer) {
    // SAFETY: called by the interpreter with a view that `getbuffer` filled, once.
    unsafe { release(view) };
}

/// Lets go of what [`fill`] put into a view.
///
/// # Safety
/// `fill` filled the view, and this is the only call for it.
pub unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: `internal` is the export that `fill` leaked.
    unsafe { drop(Box::from_raw((*view).internal.cast::<Export>())) };
}

/// PEP 3118's format of a dtype: NumPy's own letters; bfloat16 has none.
fn format_of(dtype: DType) -> Option<&'static str> {
    const LONG: bool = size_of::<std::ffi::c_long>() == 8;
    Some(match dtype {
        DType::Bool => "?",
        DType::U8 => "B",
        DType::U16 => "H",
        DType::U32 => "I",
        DType::U64 => {
            if LONG {
                "L"
            } else {
                "Q"
            }
        }
        DType::I8 => "b",
        DType::I16 => "h",
        DType::I32 => "i",
        DType::I64 => {
            if LONG {
                "l"
            } else {
                "q"
            }
        }
        DType::F16 => "e",
        DType::BF16 => return None,
        DType::F32 => "f",
        DType::F64 => "d",
        DType::C64 => "Zf",
        DType::C128 => "Zd",
    })
}

/// Fills a buffer view of a tensor. The view's `obj` is the caller's to set.
pub fn fill(x: &Tensor, view: &mut ffi::Py_buffer, flags: c_int) -> Result<()> {
    let refuse = |text: String| Fail::Python(PyBufferError::new_err(text));
    let wants = |flag: c_int| flags & flag == flag;
    let Some(format) = format_of(x.dtype()) else {
        let name = x.dtype().name();
        return Err(refuse(format!(
            "buffers have no format for {name}; use view(uint16) for the bits or float() for the values"
        )));
    };
    if wants(ffi::PyBUF_WRITABLE) && x.storage().is_readonly() {
        return Err(refuse("the memory is read-only".into()));
    }
    let layout = x.layout();
    let (row, column) = (layout.is_row_major(), layout.is_column_major());
    let fits = (row || wants(ffi::PyBUF_STRIDES) && !wants(ffi::PyBUF_C_CONTIGUOUS))
        && (column || !wants(ffi::PyBUF_F_CONTIGUOUS))
        && (row || column || !wants(ffi::PyBUF_ANY_CONTIGUOUS));
    if !fits {
        return Err(refuse(format!(
            "a contiguous buffer is wanted, but the strides are {}",
            layout.stride_text()
        )));
    }
    if layout.rank() > ffi::PyBUF_MAX_NDIM {
        return Err(refuse(format!(
            "buffers have at most {} dims, the tensor has {}",
            ffi::PyBUF_MAX_NDIM,
            layout.rank()
        )));
    }
    let size = x.dtype().size();
    let mut export = Box::new(Export {
        memory: Exported::new(x.clone())?,
        format: CString::new(format).expect("a format has no zero byte"),
        shape: layout.shape(),
        strides: layout.modes().iter().map(|m| m.stride * size as isize).collect(),
    });
    view.buf = export.memory.origin.cast();
    view.len = (x.size() * size) as isize;
    view.itemsize = size as isize;
    view.readonly = x.storage().is_readonly() as c_int;
    view.ndim = layout.rank() as c_int;
    view.format = if wants(ffi::PyBUF_FORMAT) { export.format.as_ptr().cast_mut() } else { null_mut() };
    let arrays = layout.rank() > 0 && wants(ffi::PyBUF_ND);
    view.shape = if arrays { export.shape.as_mut_ptr() } else { null_mut() };
    view.strides = if arrays && wants(ffi::PyBUF_STRIDES) { export.strides.as_mut_ptr() } else { null_mut() };
    view.suboffsets = null_mut();
    view.internal = Box::into_raw(export).cast::<c_void>();
    Ok(())
}

/// Whether an object offers a buffer.
pub fn has_buffer(object: Object) -> bool {
    // SAFETY: callers pass a living object.
    unsafe { ffi::PyObject_CheckBuffer(object) != 0 }
}

/// Someone else's buffer, held until the storage on it is gone.
pub struct Held(Box<ffi::Py_buffer>);

// SAFETY: the view is only touched to release it, by a thread that is attached to the interpreter.
unsafe impl Send for Held {}
// SAFETY: as above.
unsafe impl Sync for Held {}
impl Owner for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: filled by PyObject_GetBuffer and released once.
        give_back(|| unsafe { ffi::PyBuffer_Release(&mut *self.0) });
    }
}

impl Held {
    pub fn start(&self) -> *mut u8 {
        self.0.buf.cast()
    }

    pub fn is_readonly(&self) -> bool {
        self.0.readonly != 0
    }

    /// The number of bytes, which must follow each other without a gap.
    pub fn contiguous_length(&self) -> Result<isize> {
        // SAFETY: a view that was filled by its exporter.
        match unsafe { ffi::PyBuffer_IsContiguous(&*self.0, b'C' as _) } {
            0 => Err(Fail::Value("the buffer is not contiguous".into())),
            _ => Ok(self.0.len),
        }
    }
}

/// A tensor on the memory of a buffer. Refuses memory that our elements cannot lie in.
pub fn import(py: Python<'_>, object: Object) -> Result<Tensor> {
    let held = acquire_numbers(py, object)?;
    let lent = lent_by(&held.0)?;
    // SAFETY: the exporter promises that the elements stay where they are until the view is released.
    unsafe { lent.share(held) }
}

/// A tensor with the values of a buffer: on its memory where that is possible, else a copy.
pub fn import_or_copy(py: Python<'_>, object: Object) -> Result<Tensor> {
    let held = acquire_numbers(py, object)?;
    let lent = lent_by(&held.0)?;
    // SAFETY: as above.
    unsafe { lent.share_or_copy(py, held) }
}

/// The buffer of an object whose elements are numbers. Strings, dates, records and objects of NumPy are refused by the
/// name of their dtype: some of them offer plain bytes as a buffer.
fn acquire_numbers(py: Python<'_>, object: Object) -> Result<Held> {
    match acquire(py, object) {
        Ok(held) if dtype_of(&held.0).is_ok_and(|(dtype, _)| dtype != DType::U8) => Ok(held),
        acquired => match dtype_without_numbers(&bound(py, object)) {
            Some(dtype) => Err(Fail::Type(format!("a tensor cannot hold elements of NumPy's dtype {dtype}"))),
            None => acquired,
        },
    }
}

/// The name of a NumPy dtype that is neither bool nor a number.
fn dtype_without_numbers(object: &Bound<'_, PyAny>) -> Option<String> {
    let dtype = object.getattr_opt("dtype").ok()??;
    let kind: String = dtype.getattr_opt("kind").ok()??.extract().ok()?;
    (!matches!(kind.as_str(), "b" | "i" | "u" | "f" | "c")).then(|| dtype.to_string())
}

/// Asks an object for its buffer, read-only if that is all it has.
pub fn acquire(py: Python<'_>, object: Object) -> Result<Held> {
    // SAFETY: a zeroed view is what PyObject_GetBuffer expects.
    unsafe {
        let mut view: Box<ffi::Py_buffer> = Box::new(std::mem::zeroed());
        if ffi::PyObject_GetBuffer(object, &mut *view, ffi::PyBUF_FULL_RO) != 0 {
            return Err(Fail::set(py));
        }
        let held = Held(view);
        if !held.0.suboffsets.is_null() {
            return Err(Fail::Value(format!(
                "{} has indirect memory, which a tensor cannot have",
                type_name(py, object)
            )));
        }
        Ok(held)
    }
}

/// The dtype that a buffer's format and item size mean, and whether its bytes are swapped.
fn dtype_of(view: &ffi::Py_buffer) -> Result<(DType, bool)> {
    // SAFETY: a format is null (bytes) or a C string that lives as long as the view.
    let format = if view.format.is_null() { c"B" } else { unsafe { CStr::from_ptr(view.format) } };
    let format = format.to_string_lossy();
    let (order, letters) = match format.chars().next() {
        Some(order @ ('@' | '=' | '<' | '>' | '!')) => (order, &format[1..]),
        _ => ('@', &format[..]),
    };
    let swapped = match order {
        '<' => cfg!(target_endian = "big"),
        '>' | '!' => cfg!(target_endian = "little"),
        _ => false,
    };
    let refuse = || Fail::Type(format!("no dtype is stored as buffers of format '{format}'"));
    let dtype = match (letters, view.itemsize) {
        ("?", 1) => DType::Bool,
        ("b" | "h" | "i" | "l" | "q" | "n", 1) => DType::I8,
        ("b" | "h" | "i" | "l" | "q" | "n", 2) => DType::I16,
        ("b" | "h" | "i" | "l" | "q" | "n", 4) => DType::I32,
        ("b" | "h" | "i" | "l" | "q" | "n", 8) => DType::I64,
        ("B" | "H" | "I" | "L" | "Q" | "N" | "c", 1) => DType::U8,
        ("B" | "H" | "I" | "L" | "Q" | "N", 2) => DType::U16,
        ("B" | "H" | "I" | "L" | "Q" | "N", 4) => DType::U32,
        ("B" | "H" | "I" | "L" | "Q" | "N", 8) => DType::U64,
        ("e", 2) => DType::F16,
        ("f", 4) => DType::F32,
        ("d", 8) => DType::F64,
        ("Zf", 8) => DType::C64,
        ("Zd", 16) => DType::C128,
        _ => return Err(refuse()),
    };
    Ok((dtype, swapped && view.itemsize > 1))
}

/// What a buffer says of its elements.
fn lent_by(view: &ffi::Py_buffer) -> Result<Lent> {
    let list = |start: *mut isize| -> Dims {
        // SAFETY: an exporter that was asked for a shape and strides gives `ndim` of each, or null.
        (0..view.ndim as usize).map(|dim| unsafe { *start.add(dim) }).collect()
    };
    let (dtype, swapped) = dtype_of(view)?;
    let shape = if view.ndim > 0 && view.shape.is_null() {
        std::iter::once(view.len / view.itemsize.max(1)).collect()
    } else {
        list(view.shape)
    };
    let strides = (!view.strides.is_null()).then(|| list(view.strides));
    Ok(Lent { origin: view.buf.cast(), shape, strides, dtype, swapped, readonly: view.readonly != 0 })
}

/// One dim over the bytes of a buffer from `offset` on, read as elements of a dtype.
pub fn from_bytes(
    py: Python<'_>,
    object: Object,
    dtype: DType,
    count: isize,
    offset: isize,
) -> Result<Tensor> {
    let held = acquire(py, object)?;
    let (length, size) = (held.contiguous_length()?, dtype.size() as isize);
    if offset < 0 || offset > length {
        return Err(Fail::Value(format!("offset {offset} is outside a buffer of {length} bytes")));
    }
    let left = length - offset;
    if count < 0 && left % size != 0 {
        return Err(Fail::Value(format!(
            "{left} bytes after the offset are no multiple of the element size {size}"
        )));
    }
    let count = if count < 0 { left / size } else { count };
    if count > left / size {
        return Err(Fail::Value(format!(
            "{count} elements of {size} bytes exceed the {left} bytes after the offset"
        )));
    }
    let start = held.start().wrapping_offset(offset);
    if count > 0 && !(start as usize).is_multiple_of(dtype.alignment()) {
        return Err(Fail::Value(format!(
            "the address at offset {offset} is no multiple of {}",
            dtype.alignment()
        )));
    }
    let readonly = held.is_readonly();
    // SAFETY: the range lies inside the buffer, which stays in place until it is released.
    let storage = unsafe { Storage::foreign(start, (count * size) as usize, readonly, Box::new(held)) }?;
    Ok(Tensor::from_whole_storage(storage, dtype)?)
}
