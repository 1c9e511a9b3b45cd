//! DLPack, both ways: tensors of other libraries without a copy, whatever their language.
//!
//! A tensor travels as a struct of C in a Python capsule. The capsule is called `dltensor` (since DLPack 1.0
//! `dltensor_versioned`); whoever takes the struct out renames it to `used_…` and calls the struct's deleter
//! when done. The destructor of a capsule that nobody renamed does it instead. So the owner is told once.

use super::args::{TwoInts, Untyped};
use super::exchange::{Exported, Lent, give_back};
use crate::abi::Object;
use crate::abi::detach::with_threads;
use crate::abi::errors::{Fail, Result, attached, type_name};
use crate::abi::refs::bound;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::ffi::{CStr, c_void};
use std::mem::offset_of;
use std::ptr::null_mut;
use strided_core::error::{Error, Problem};
use strided_core::layout::{Dims, Layout, shape_text};
use strided_core::ops::copy;
use strided_core::storage::Owner;
use strided_core::{DType, Tensor};

/// The version that we speak. All of one major version have the same structs.
const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 1 };

#[repr(C)]
struct DLPackVersion {
    major: u32,
    minor: u32,
}

#[repr(C)]
struct DLDevice {
    device_type: i32,
    device_id: i32,
}

#[repr(C)]
struct DLDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DLTensor {
    data: *mut c_void,
    device: DLDevice,
    ndim: i32,
    dtype: DLDataType,
    shape: *mut i64,
    /// In elements. Null (before DLPack 1.2) for row-major.
    strides: *mut i64,
    byte_offset: u64,
}

type Deleter<M> = Option<unsafe extern "C" fn(*mut M)>;

#[repr(C)]
struct DLManagedTensor {
    dl_tensor: DLTensor,
    manager_ctx: *mut c_void,
    deleter: Deleter<DLManagedTensor>,
}

#[repr(C)]
struct DLManagedTensorVersioned {
    version: DLPackVersion,
    manager_ctx: *mut c_void,
    /// The last field that a struct of another major version has at the same place.
    deleter: Deleter<DLManagedTensorVersioned>,
    flags: u64,
    dl_tensor: DLTensor,
}

const READ_ONLY: u64 = 1 << 0;
const IS_COPIED: u64 = 1 << 1;

// The structs as a C compiler lays them out where pointers have 64 bits.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<DLPackVersion>() == 8 && size_of::<DLDevice>() == 8 && size_of::<DLDataType>() == 4);
    assert!(offset_of!(DLTensor, device) == 8 && offset_of!(DLTensor, ndim) == 16);
    assert!(offset_of!(DLTensor, dtype) == 20 && offset_of!(DLTensor, shape) == 24);
    assert!(offset_of!(DLTensor, strides) == 32 && offset_of!(DLTensor, byte_offset) == 40);
    assert!(size_of::<DLTensor>() == 48);
    assert!(offset_of!(DLManagedTensor, manager_ctx) == 48 && offset_of!(DLManagedTensor, deleter) == 56);
    assert!(size_of::<DLManagedTensor>() == 64);
    assert!(offset_of!(DLManagedTensorVersioned, manager_ctx) == 8);
    assert!(offset_of!(DLManagedTensorVersioned, deleter) == 16);
    assert!(offset_of!(DLManagedTensorVersioned, flags) == 24);
    assert!(offset_of!(DLManagedTensorVersioned, dl_tensor) == 32);
    assert!(size_of::<DLManagedTensorVersioned>() == 80);
};

/// The two forms of a tensor that knows how to be deleted.
trait Managed: Sized + 'static {
    const NAME: &'static CStr;
    const USED: &'static CStr;
    fn new(tensor: DLTensor, minor: u32, flags: u64, deleter: Deleter<Self>) -> Self;
    /// The version, if the struct has one.
    fn version(&self) -> Option<&DLPackVersion> {
        None
    }
    fn flags(&self) -> u64 {
        0
    }
    fn deleter(&self) -> Deleter<Self>;
    fn tensor(&self) -> &DLTensor;
}

impl Managed for DLManagedTensor {
    const NAME: &'static CStr = c"dltensor";
    const USED: &'static CStr = c"used_dltensor";
    fn new(dl_tensor: DLTensor, _: u32, _: u64, deleter: Deleter<Self>) -> Self {
        DLManagedTensor { dl_tensor, manager_ctx: null_mut(), deleter }
    }
    fn deleter(&self) -> Deleter<Self> {
        self.deleter
    }
    fn tensor(&self) -> &DLTensor {
        &self.dl_tensor
    }
}

impl Managed for DLManagedTensorVersioned {
    const NAME: &'static CStr = c"dltensor_versioned";
    const USED: &'static CStr = c"used_dltensor_versioned";
    fn new(dl_tensor: DLTensor, minor: u32, flags: u64, deleter: Deleter<Self>) -> Self {
        let version = DLPackVersion { major: VERSION.major, minor };
        DLManagedTensorVersioned { version, manager_ctx: null_mut(), deleter, flags, dl_tensor }
    }
    fn version(&self) -> Option<&DLPackVersion> {
        Some(&self.version)
    }
    fn flags(&self) -> u64 {
        self.flags
    }
    fn deleter(&self) -> Deleter<Self> {
        self.deleter
    }
    fn tensor(&self) -> &DLTensor {
        &self.dl_tensor
    }
}

/// DLPack's number of the CPU, as it lies in `DLDevice`.
pub const CPU: i32 = 1;

fn device_name(device_type: isize) -> &'static str {
    match device_type {
        1 => "CPU",
        2 => "CUDA",
        3 => "CUDA host",
        4 => "OpenCL",
        7 => "Vulkan",
        8 => "Metal",
        9 => "VPI",
        10 => "ROCm",
        11 => "ROCm host",
        12 => "ExtDev",
        13 => "CUDA managed",
        14 => "oneAPI",
        15 => "WebGPU",
        16 => "Hexagon",
        17 => "MAIA",
        18 => "Trainium",
        _ => "unknown",
    }
}

/// DLPack's type of a dtype.
fn data_type(dtype: DType) -> DLDataType {
    let code = match dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => 0,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 1,
        DType::F16 | DType::F32 | DType::F64 => 2,
        DType::BF16 => 4,
        DType::C64 | DType::C128 => 5,
        DType::Bool => 6,
    };
    DLDataType { code, bits: 8 * dtype.size() as u8, lanes: 1 }
}

/// The dtype of DLPack's type.
fn dtype_of(&DLDataType { code, bits, lanes }: &DLDataType) -> Result<DType> {
    let known = DType::ALL.iter().copied().find(|&dtype| {
        let same = data_type(dtype);
        (code, bits, lanes) == (same.code, same.bits, same.lanes)
    });
    known.ok_or_else(|| {
        Fail::Storage(format!(
            "no dtype is stored as DLPack's code {code} with {bits} bits and {lanes} lanes"
        ))
    })
}

// Lending: `x.__dlpack__()`

/// A tensor on its way, and what its struct points to. The struct comes first: its address is that of the whole.
#[repr(C)]
struct Lending<M> {
    managed: M,
    #[allow(dead_code)] // held for its `Drop`
    memory: Exported,
    /// The extents, then the strides.
    #[allow(dead_code)] // the struct points to them
    numbers: Vec<i64>,
}

/// The deleter of what we lend, for consumers: any thread may call it, attached to the interpreter or not.
unsafe extern "C" fn delete<M: Managed>(managed: *mut M) {
    if !managed.is_null() {
        // SAFETY: `capsule` leaked it, and a consumer calls the deleter once.
        unsafe { drop(Box::from_raw(managed.cast::<Lending<M>>())) };
    }
}

/// The destructor of our capsules: deletes what nobody took.
unsafe extern "C" fn destroy<M: Managed>(capsule: Object) {
    // SAFETY: called by the interpreter with a capsule of `capsule`; its name says whether it is still full.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) != 0 {
            delete(ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr()).cast::<M>());
        }
    }
}

/// What a consumer asks of `__dlpack__`.
pub struct Request {
    pub stream: Option<Untyped>,
    pub max_version: Option<TwoInts>,
    pub dl_device: Option<TwoInts>,
    pub copy: Option<bool>,
}

/// `x.__dlpack__()`: a capsule with the tensor, or with a copy of it.
pub fn export(py: Python<'_>, x: Tensor, request: Request) -> Result<Object> {
    if request.stream.is_some() {
        return Err(Fail::Value("stream must be None: the CPU has no streams".into()));
    }
    if let Some(TwoInts(device, id)) = request.dl_device
        && (device, id) != (CPU as isize, 0)
    {
        let name = device_name(device);
        return Err(Fail::Storage(format!("dl_device is ({device}, {id}), {name}, wanted (1, 0), the CPU")));
    }
    let version = request.max_version.filter(|&TwoInts(major, _)| major >= 1);
    let backward = x.size() > 0 && x.layout().modes().iter().any(|mode| mode.extent > 1 && mode.stride < 0);
    if backward && request.copy == Some(false) {
        return Err(Fail::Storage(format!(
            "the strides {} are not all positive or 0: that needs a copy, and copy is False",
            x.layout().stride_text()
        )));
    }
    let copied = backward || request.copy == Some(true);
    let x = if copied { with_threads(py, x.size(), || copy::clone(&x))? } else { x };
    match version {
        Some(TwoInts(major, minor)) => {
            let readonly = if x.storage().is_readonly() { READ_ONLY } else { 0 };
            let flags = readonly | if copied { IS_COPIED } else { 0 };
            let most = if major > VERSION.major as isize { VERSION.minor as isize } else { minor };
            capsule::<DLManagedTensorVersioned>(py, x, most.clamp(0, VERSION.minor as isize) as u32, flags)
        }
        None if x.storage().is_readonly() => Err(Fail::Storage(
            "the memory is read-only, and a capsule without version cannot say so; \
             ask with max_version=(1, 0) or copy=True, or clone the tensor"
                .into(),
        )),
        None => capsule::<DLManagedTensor>(py, x, 0, 0),
    }
}

fn capsule<M: Managed>(py: Python<'_>, x: Tensor, minor: u32, flags: u64) -> Result<Object> {
    let layout = x.layout();
    let rank = layout.rank();
    if rank > ffi::PyBUF_MAX_NDIM {
        return Err(Fail::Storage(format!("{rank} dims are more than {}", ffi::PyBUF_MAX_NDIM)));
    }
    // Where a stride means nothing, consumers get the one they would expect.
    let dense = Layout::row_major(&layout.shape())?;
    let strides =
        layout.modes().iter().zip(dense.modes()).map(|(mode, plain)| {
            if mode.extent > 1 && layout.size() > 0 { mode.stride } else { plain.stride }
        });
    let mut numbers: Vec<i64> =
        layout.shape().into_iter().chain(strides).map(|number| number as i64).collect();
    let (dtype, is_empty) = (data_type(x.dtype()), x.size() == 0);
    let memory = Exported::new(x)?;
    let tensor = DLTensor {
        data: if is_empty { null_mut() } else { memory.origin.cast() },
        device: DLDevice { device_type: CPU, device_id: 0 },
        ndim: rank as i32,
        dtype,
        shape: numbers.as_mut_ptr(),
        strides: numbers.as_mut_ptr().wrapping_add(rank),
        byte_offset: 0,
    };
    let managed = M::new(tensor, minor, flags, Some(delete::<M>));
    let lending = Box::into_raw(Box::new(Lending { managed, memory, numbers }));
    // SAFETY: the capsule owns what was leaked, until someone takes it out.
    unsafe {
        let capsule = ffi::PyCapsule_New(lending.cast(), M::NAME.as_ptr(), Some(destroy::<M>));
        if capsule.is_null() {
            drop(Box::from_raw(lending));
            return Err(Fail::set(py));
        }
        Ok(capsule)
    }
}

// Borrowing: `from_dlpack`

/// Someone else's tensor, deleted when the storage on it is gone.
struct Taken<M: Managed>(*mut M);

// SAFETY: the struct is only touched to delete it, by a thread that is attached to the interpreter.
unsafe impl<M: Managed> Send for Taken<M> {}
// SAFETY: as above.
unsafe impl<M: Managed> Sync for Taken<M> {}
impl<M: Managed> Owner for Taken<M> {}

impl<M: Managed> Drop for Taken<M> {
    fn drop(&mut self) {
        // SAFETY: taken out of its capsule, so that nobody else deletes it.
        give_back(|| unsafe {
            if let Some(deleter) = (*self.0).deleter() {
                deleter(self.0);
            }
        });
    }
}

/// A tensor on the memory of whatever speaks DLPack, or of a capsule; a copy where asked for or needed.
pub fn import(ext: Object, to_cpu: bool, copy: Option<bool>) -> Result<Tensor> {
    // References are dropped on the way, perhaps the last ones.
    attached(|py| {
        let ext = bound(py, ext);
        let capsule = if ext.is_instance_of::<PyCapsule>() { ext } else { asked(&ext, to_cpu, copy)? };
        // SAFETY: a living capsule with a name or none.
        let is = |name: &CStr| unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) } != 0;
        if is(DLManagedTensorVersioned::NAME) {
            taken::<DLManagedTensorVersioned>(&capsule, copy)
        } else if is(DLManagedTensor::NAME) {
            taken::<DLManagedTensor>(&capsule, copy)
        } else if is(DLManagedTensorVersioned::USED) || is(DLManagedTensor::USED) {
            Err(Fail::Storage("the capsule is used: its tensor was taken out already".into()))
        } else {
            Err(Fail::Storage("the capsule is none of DLPack, to judge by its name".into()))
        }
    })
}

/// The capsule that `ext.__dlpack__` gives.
fn asked<'py>(ext: &Bound<'py, PyAny>, to_cpu: bool, copy: Option<bool>) -> Result<Bound<'py, PyAny>> {
    let py = ext.py();
    let Some(export) = ext.getattr_opt(intern!(py, "__dlpack__"))? else {
        let text = format!("from_dlpack: {} has no __dlpack__", type_name(py, ext.as_ptr()));
        return Err(PyAttributeError::new_err(text).into());
    };
    let words = PyDict::new(py);
    words.set_item("max_version", (VERSION.major, VERSION.minor))?;
    if to_cpu {
        words.set_item("dl_device", (CPU, 0))?;
    }
    // A copy that is asked for we make ourselves: then the memory is ours, with all its rights.
    if copy == Some(false) {
        words.set_item("copy", false)?;
    }
    let capsule = match export.call((), Some(&words)) {
        // A producer from before these words.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => export.call0()?,
        other => other?,
    };
    if capsule.is_instance_of::<PyCapsule>() {
        return Ok(capsule);
    }
    Err(Fail::Type(format!(
        "__dlpack__ of {} returned {}, wanted a capsule",
        type_name(py, ext.as_ptr()),
        type_name(py, capsule.as_ptr())
    )))
}

/// Takes the tensor out of a capsule of this form. A capsule that is refused stays as it was, for someone
/// else or for its destructor.
fn taken<M: Managed>(capsule: &Bound<'_, PyAny>, copy: Option<bool>) -> Result<Tensor> {
    let py = capsule.py();
    // SAFETY: the caller saw that the capsule has this name, and no code has run since.
    let managed = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), M::NAME.as_ptr()) }.cast::<M>();
    if !managed.is_aligned() {
        return Err(Fail::Storage("the capsule's pointer is no multiple of 8".into()));
    }
    let take = || {
        // SAFETY: the capsule is alive, and the name lives forever.
        match unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), M::USED.as_ptr()) } {
            0 => Ok(Taken(managed)),
            _ => Err(Fail::set(py)),
        }
    };
    // SAFETY: by its name the capsule holds such a struct, and keeps it until it is renamed. The version comes
    // first in every version.
    if let Some(DLPackVersion { major, minor }) = unsafe { (*managed).version() }
        && *major != VERSION.major
    {
        let text = format!("the capsule has DLPack's version {major}.{minor}, wanted {}.x", VERSION.major);
        drop(take()?); // DLPack's rule: whoever finds a version it does not know deletes the tensor
        return Err(Fail::Storage(text));
    }
    // SAFETY: as above, of our version.
    let (flags, lent) = unsafe { ((*managed).flags(), lent_by((*managed).tensor())) };
    let lent = Lent { readonly: flags & READ_ONLY != 0, ..lent? };
    if copy == Some(false) && flags & IS_COPIED != 0 {
        return Err(Fail::Storage("the producer made a copy, and copy is False".into()));
    }
    if copy == Some(false)
        && let Some(why) = lent.misfit()
    {
        return Err(Fail::Storage(format!("{why}, which needs a copy, and copy is False")));
    }
    lent.check()?;
    // SAFETY: the producer promises that the elements stay where they are until its deleter is called.
    let tensor = unsafe { lent.share_or_copy(py, take()?) }?;
    if copy == Some(true) && !tensor.storage().is_owned() {
        return Ok(with_threads(py, tensor.size(), || copy::clone(&tensor))?);
    }
    Ok(tensor)
}

/// What a producer says of its elements.
fn lent_by(tensor: &DLTensor) -> Result<Lent> {
    let device = tensor.device.device_type;
    if device != CPU {
        let name = device_name(device as isize);
        return Err(Fail::Storage(format!(
            "the tensor is on device type {device}, {name}, wanted 1, the CPU"
        )));
    }
    let dtype = dtype_of(&tensor.dtype)?;
    // A wrong number would make us read far beyond the arrays.
    if !(0..=ffi::PyBUF_MAX_NDIM as i32).contains(&tensor.ndim) {
        return Err(Fail::Storage(format!("{} dims, wanted 0 to {}", tensor.ndim, ffi::PyBUF_MAX_NDIM)));
    }
    if tensor.ndim > 0 && tensor.shape.is_null() {
        return Err(Fail::Storage(format!("the shape of {} dims is null", tensor.ndim)));
    }
    let list = |start: *mut i64| {
        // SAFETY: a producer's arrays have `ndim` numbers each.
        (0..tensor.ndim as usize).map(move |dim| unsafe { start.add(dim).read_unaligned() })
    };
    let shape: Dims = list(tensor.shape).map(|extent| extent as isize).collect();
    let too_large = || Error::new("", Problem::TooLarge { shape: shape_text(&shape) });
    // The stride of a single index means nothing, and so does any without elements.
    let bytes = |(stride, &extent): (i64, &isize)| match extent {
        ..=1 => Some(0),
        _ => isize::try_from(stride).ok()?.checked_mul(dtype.size() as isize),
    };
    let strides = if tensor.strides.is_null() || shape.contains(&0) {
        None
    } else {
        let strides: Option<Dims> = list(tensor.strides).zip(&shape).map(bytes).collect();
        Some(strides.ok_or_else(too_large)?)
    };
    let offset = match tensor.data.is_null() {
        true => 0, // null stays null
        false => usize::try_from(tensor.byte_offset).map_err(|_| too_large())?,
    };
    (tensor.data as usize).checked_add(offset).ok_or_else(too_large)?;
    let origin = tensor.data.cast::<u8>().wrapping_add(offset);
    Ok(Lent { origin, shape, strides, dtype, swapped: false, readonly: false })
}
