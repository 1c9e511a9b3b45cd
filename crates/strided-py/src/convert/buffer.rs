//! Python's buffer protocol, in both directions: tensors as buffers, and buffers as tensors without a copy.

use super::exchange::{Exported, ForeignBuffer, release_attached};
use crate::abi::errors::{CallResult, Fail, guard, type_name};
use crate::abi::refs::arg;
use crate::abi::tensor_object::tensor_of;
use crate::abi::{Arg, Object};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::null_mut;
use strided_core::layout::Dims;
use strided_core::storage::{Owner, Storage};
use strided_core::{DType, Tensor};

/// What an exported buffer keeps alive: the memory, and the format, shape and strides that its view points to.
struct ExportedBuffer {
    memory: Exported,
    format: CString,
    shape: Dims,
    strides: Dims,
}

/// `bf_getbuffer`
///
/// # Safety
/// `object` is a tensor, and `view` points to a view to fill: the interpreter's contract for this slot.
pub unsafe extern "C" fn getbuffer(object: Object, view: *mut ffi::Py_buffer, flags: c_int) -> c_int {
    // SAFETY: the interpreter calls this on a thread that is attached to it.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: the contract above. Filling the view runs no Python code.
    guard(py, "buffer", -1, |py| unsafe {
        (*view).obj = null_mut();
        fill(tensor_of(arg(py, object)), &mut *view, flags)?;
        (*view).obj = ffi::Py_NewRef(object);
        Ok(0)
    })
}

/// `bf_releasebuffer`
///
/// # Safety
/// [`getbuffer`] filled the view, which is released once: the interpreter's contract for this slot.
pub unsafe extern "C" fn releasebuffer(_: Object, view: *mut ffi::Py_buffer) {
    // SAFETY: the contract above is that of `release`.
    unsafe { release(view) };
}

/// Frees what [`fill`] put into a view.
///
/// # Safety
/// `fill` filled the view, and this is called once for it.
pub unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: `fill` set `internal` to a leaked box of this type.
    unsafe { drop(Box::from_raw((*view).internal.cast::<ExportedBuffer>())) };
}

/// The PEP 3118 format of a dtype, in NumPy's letters; bfloat16 has none.
fn format_of(dtype: DType) -> Option<&'static str> {
    const LONG_IS_64: bool = size_of::<std::ffi::c_long>() == 8; // NumPy's int64 is C's long where that has 64 bits
    Some(match dtype {
        DType::Bool => "?",
        DType::U8 => "B",
        DType::U16 => "H",
        DType::U32 => "I",
        DType::U64 if LONG_IS_64 => "L",
        DType::U64 => "Q",
        DType::I8 => "b",
        DType::I16 => "h",
        DType::I32 => "i",
        DType::I64 if LONG_IS_64 => "l",
        DType::I64 => "q",
        DType::F16 => "e",
        DType::BF16 => return None,
        DType::F32 => "f",
        DType::F64 => "d",
        DType::C64 => "Zf",
        DType::C128 => "Zd",
    })
}

/// Fills a buffer view of a tensor. The caller sets the view's `obj`.
pub fn fill(x: &Tensor, view: &mut ffi::Py_buffer, flags: c_int) -> CallResult<()> {
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
    let (row_major, column_major) = (layout.is_row_major(), layout.is_column_major());
    let fits = (row_major || wants(ffi::PyBUF_STRIDES) && !wants(ffi::PyBUF_C_CONTIGUOUS))
        && (column_major || !wants(ffi::PyBUF_F_CONTIGUOUS))
        && (row_major || column_major || !wants(ffi::PyBUF_ANY_CONTIGUOUS));
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
    let mut export = Box::new(ExportedBuffer {
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

/// Whether an object exports a buffer.
pub fn has_buffer(object: Arg<'_>) -> bool {
    // SAFETY: an `Arg` is a live object.
    unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) != 0 }
}

/// A buffer of another object, held until the storage on it is dropped.
pub struct HeldBuffer(Box<ffi::Py_buffer>);

// SAFETY: after its construction the view is only read, or released by a thread that `release_attached` attaches.
unsafe impl Send for HeldBuffer {}
// SAFETY: shared references only read fields that never change.
unsafe impl Sync for HeldBuffer {}
impl Owner for HeldBuffer {}

impl Drop for HeldBuffer {
    fn drop(&mut self) {
        // SAFETY: `acquire` had PyObject_GetBuffer fill the view; it is released here only.
        release_attached(|| unsafe { ffi::PyBuffer_Release(&mut *self.0) });
    }
}

impl HeldBuffer {
    pub fn start(&self) -> *mut u8 {
        self.0.buf.cast()
    }

    pub fn is_readonly(&self) -> bool {
        self.0.readonly != 0
    }

    /// The number of bytes. Refuses a buffer that is not contiguous.
    pub fn contiguous_length(&self) -> CallResult<isize> {
        // SAFETY: the exporter filled the view.
        match unsafe { ffi::PyBuffer_IsContiguous(&*self.0, b'C' as _) } {
            0 => Err(Fail::Value("the buffer is not contiguous".into())),
            _ => Ok(self.0.len),
        }
    }
}

/// A tensor on the memory of a buffer. Refuses memory that a tensor cannot share.
pub fn import(object: Arg<'_>) -> CallResult<Tensor> {
    let held = acquire_numbers(object)?;
    let foreign = foreign_buffer(&held.0)?;
    // SAFETY: the buffer protocol keeps the elements in place until the view is released, which `held` does when dropped.
    unsafe { foreign.share(held) }
}

/// A tensor with the values of a buffer: on its memory if a tensor can share it, otherwise a copy.
pub fn import_or_copy(object: Arg<'_>) -> CallResult<Tensor> {
    let held = acquire_numbers(object)?;
    let foreign = foreign_buffer(&held.0)?;
    // SAFETY: the buffer protocol keeps the elements in place until the view is released, which `held` does when dropped.
    unsafe { foreign.share_or_copy(object.py(), held) }
}

/// The buffer of an object whose elements are numbers. Strings, dates, records and objects of NumPy are refused by the
/// name of their dtype, since some of them export plain bytes.
fn acquire_numbers(object: Arg<'_>) -> CallResult<HeldBuffer> {
    match acquire(object) {
        Ok(held) if dtype_of(&held.0).is_ok_and(|(dtype, _)| dtype != DType::U8) => Ok(held),
        acquired => match dtype_without_numbers(object) {
            Some(dtype) => Err(Fail::Type(format!("a tensor cannot hold elements of NumPy's dtype {dtype}"))),
            None => acquired,
        },
    }
}

/// The name of a NumPy dtype that is neither bool nor a number.
fn dtype_without_numbers(object: Arg<'_>) -> Option<String> {
    let dtype = object.getattr_opt("dtype").ok()??;
    let kind: String = dtype.getattr_opt("kind").ok()??.extract().ok()?;
    (!matches!(kind.as_str(), "b" | "i" | "u" | "f" | "c")).then(|| dtype.to_string())
}

/// The buffer of an object, read-only if that is all it exports.
pub fn acquire(object: Arg<'_>) -> CallResult<HeldBuffer> {
    // SAFETY: PyObject_GetBuffer takes a live object and a zeroed view.
    unsafe {
        let mut view: Box<ffi::Py_buffer> = Box::new(std::mem::zeroed());
        if ffi::PyObject_GetBuffer(object.as_ptr(), &mut *view, ffi::PyBUF_FULL_RO) != 0 {
            return Err(Fail::raised(object.py()));
        }
        let held = HeldBuffer(view);
        if !held.0.suboffsets.is_null() {
            return Err(Fail::Value(format!(
                "{} has indirect memory, which a tensor cannot have",
                type_name(object)
            )));
        }
        Ok(held)
    }
}

/// The dtype of a buffer's format and item size, and whether its elements are in the opposite byte order.
fn dtype_of(view: &ffi::Py_buffer) -> CallResult<(DType, bool)> {
    // SAFETY: the exporter sets the format to null, which means bytes, or to a C string that lives as long as the view.
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

/// The elements of a buffer, as its exporter describes them.
fn foreign_buffer(view: &ffi::Py_buffer) -> CallResult<ForeignBuffer> {
    let list = |start: *mut isize| -> Dims {
        // SAFETY: `acquire` asked for shape and strides: the exporter sets each to `ndim` numbers, or to null, which the
        // callers below exclude.
        (0..view.ndim as usize).map(|dim| unsafe { *start.add(dim) }).collect()
    };
    let (dtype, swapped) = dtype_of(view)?;
    let shape = if view.ndim > 0 && view.shape.is_null() {
        std::iter::once(view.len / view.itemsize.max(1)).collect()
    } else {
        list(view.shape)
    };
    let strides = (!view.strides.is_null()).then(|| list(view.strides));
    Ok(ForeignBuffer {
        origin: view.buf.cast(),
        shape,
        strides,
        dtype,
        swapped,
        readonly: view.readonly != 0,
    })
}

/// A tensor of one dim on the bytes of a buffer from `offset` on, as elements of a dtype.
pub fn from_bytes(object: Arg<'_>, dtype: DType, count: isize, offset: isize) -> CallResult<Tensor> {
    let held = acquire(object)?;
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
    // SAFETY: the checks above keep the range inside the buffer, which stays in place until `held` is dropped.
    let storage = unsafe { Storage::foreign(start, (count * size) as usize, readonly, Box::new(held)) }?;
    Ok(Tensor::from_whole_storage(storage, dtype)?)
}
