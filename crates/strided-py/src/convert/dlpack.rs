//! DLPack, in both directions: tensors of other libraries without a copy.
//!
//! A tensor is passed as a C struct in a Python capsule named `dltensor` (since DLPack 1.0 `dltensor_versioned`). The
//! consumer renames the capsule to `used_…` and calls the struct's deleter when it is done. If no consumer renamed the capsule,
//! its destructor calls the deleter. So the deleter is called once.

use super::args::{TwoInts, UntypedArg};
use super::exchange::{Exported, ForeignBuffer, release_attached};
use crate::abi::detach::{detach_if_large, work_on};
use crate::abi::errors::{CallResult, Fail, attached, type_name};
use crate::abi::{Arg, Object, Value};
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::ffi;
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

/// The version that is implemented. The structs of all versions with the same major number are equal.
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
    /// The fields up to this one have the same offsets in every major version.
    deleter: Deleter<DLManagedTensorVersioned>,
    flags: u64,
    dl_tensor: DLTensor,
}

const READ_ONLY: u64 = 1 << 0;
const IS_COPIED: u64 = 1 << 1;

// The layout of the structs in C, where pointers have 64 bits.
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

/// The two forms of the struct in a capsule.
trait ManagedTensor: Sized + 'static {
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

impl ManagedTensor for DLManagedTensor {
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

impl ManagedTensor for DLManagedTensorVersioned {
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

/// The device type of the CPU.
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
fn dtype_of(&DLDataType { code, bits, lanes }: &DLDataType) -> CallResult<DType> {
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

// Export: `x.__dlpack__()`

/// The struct of an exported tensor, and what it points to. The struct comes first, so that its address is that of the
/// whole.
#[repr(C)]
struct ExportedDLPack<M> {
    managed: M,
    #[allow(dead_code)] // held for its `Drop`
    memory: Exported,
    /// The extents, then the strides.
    #[allow(dead_code)] // the struct points to them
    numbers: Vec<i64>,
}

/// The deleter of exported tensors. Any thread may call it, attached to the interpreter or not.
///
/// # Safety
/// `managed` is null, or the pointer of a capsule that [`capsule`] made, and is deleted once.
unsafe extern "C" fn delete<M: ManagedTensor>(managed: *mut M) {
    if !managed.is_null() {
        // SAFETY: the contract above: `capsule` leaked a box of this type, which begins with the struct.
        unsafe { drop(Box::from_raw(managed.cast::<ExportedDLPack<M>>())) };
    }
}

/// The destructor of our capsules: deletes the tensor if no consumer took it.
///
/// # Safety
/// The interpreter calls this once, with a capsule that [`capsule`] made.
unsafe extern "C" fn destroy<M: ManagedTensor>(capsule: Object) {
    // SAFETY: a capsule that still has its first name holds the pointer that `capsule` put in.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) != 0 {
            delete(ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr()).cast::<M>());
        }
    }
}

/// The arguments of `__dlpack__`.
pub struct ExportRequest<'a> {
    pub stream: Option<UntypedArg<'a>>,
    pub max_version: Option<TwoInts>,
    pub dl_device: Option<TwoInts>,
    pub copy: Option<bool>,
}

/// `x.__dlpack__()`: a capsule with the tensor, or with a copy of it.
pub fn export<'py>(py: Python<'py>, x: Tensor, request: ExportRequest<'_>) -> CallResult<Value<'py>> {
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
    // DLPack has no negative strides.
    let reversed = x.size() > 0 && x.layout().modes().iter().any(|mode| mode.extent > 1 && mode.stride < 0);
    if reversed && request.copy == Some(false) {
        return Err(Fail::Storage(format!(
            "the strides {} are not all positive or 0: that needs a copy, and copy is False",
            x.layout().stride_text()
        )));
    }
    let copied = reversed || request.copy == Some(true);
    let x = if copied { detach_if_large(py, work_on(&x), || copy::clone(&x))? } else { x };
    match version {
        Some(TwoInts(major, minor)) => {
            let readonly = if x.storage().is_readonly() { READ_ONLY } else { 0 };
            let flags = readonly | if copied { IS_COPIED } else { 0 };
            let minor = if major > VERSION.major as isize { VERSION.minor as isize } else { minor };
            capsule::<DLManagedTensorVersioned>(py, x, minor.clamp(0, VERSION.minor as isize) as u32, flags)
        }
        None if x.storage().is_readonly() => Err(Fail::Storage(
            "the memory is read-only, and a capsule without version cannot say so; \
             ask with max_version=(1, 0) or copy=True, or clone the tensor"
                .into(),
        )),
        None => capsule::<DLManagedTensor>(py, x, 0, 0),
    }
}

fn capsule<M: ManagedTensor>(py: Python<'_>, x: Tensor, minor: u32, flags: u64) -> CallResult<Value<'_>> {
    let layout = x.layout();
    let rank = layout.rank();
    if rank > ffi::PyBUF_MAX_NDIM {
        return Err(Fail::Storage(format!("{rank} dims are more than {}", ffi::PyBUF_MAX_NDIM)));
    }
    // A stride that is never used gets the row-major value, which is what consumers compare with.
    let row_major = Layout::row_major(&layout.shape())?;
    let strides = layout.modes().iter().zip(row_major.modes()).map(|(mode, contiguous)| {
        if mode.extent > 1 && layout.size() > 0 { mode.stride } else { contiguous.stride }
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
    let exported = Box::into_raw(Box::new(ExportedDLPack { managed, memory, numbers }));
    // SAFETY: the capsule owns the leaked box, until a consumer takes it; without a capsule it is still ours.
    unsafe {
        let capsule = ffi::PyCapsule_New(exported.cast(), M::NAME.as_ptr(), Some(destroy::<M>));
        if capsule.is_null() {
            drop(Box::from_raw(exported));
            return Err(Fail::raised(py));
        }
        Ok(Bound::from_owned_ptr(py, capsule))
    }
}

// Import: `from_dlpack`

/// A tensor of another library, deleted when the storage on it is dropped.
struct ImportedDLPack<M: ManagedTensor>(*mut M);

// SAFETY: the struct is only used in `drop`, by a thread that `release_attached` attaches to the interpreter.
unsafe impl<M: ManagedTensor> Send for ImportedDLPack<M> {}
// SAFETY: shared references do not use the struct.
unsafe impl<M: ManagedTensor> Sync for ImportedDLPack<M> {}
impl<M: ManagedTensor> Owner for ImportedDLPack<M> {}

impl<M: ManagedTensor> Drop for ImportedDLPack<M> {
    fn drop(&mut self) {
        // SAFETY: `import_capsule` renamed the capsule, so that only this deletes the tensor.
        release_attached(|| unsafe {
            if let Some(deleter) = (*self.0).deleter() {
                deleter(self.0);
            }
        });
    }
}

/// A tensor on the memory of a tensor of another library, or of a capsule; a copy if `copy` or the memory requires it.
pub fn import(ext: Arg<'_>, to_cpu: bool, copy: Option<bool>) -> CallResult<Tensor> {
    // References are dropped here, perhaps the last ones.
    attached(ext.py(), |py| {
        let ext = ext.to_owned().unbind().into_bound(py);
        let capsule =
            if ext.is_instance_of::<PyCapsule>() { ext } else { request_capsule(&ext, to_cpu, copy)? };
        // SAFETY: a live capsule, with a name or none.
        let is = |name: &CStr| unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) } != 0;
        if is(DLManagedTensorVersioned::NAME) {
            import_capsule::<DLManagedTensorVersioned>(&capsule, copy)
        } else if is(DLManagedTensor::NAME) {
            import_capsule::<DLManagedTensor>(&capsule, copy)
        } else if is(DLManagedTensorVersioned::USED) || is(DLManagedTensor::USED) {
            Err(Fail::Storage("the capsule is used: its tensor was taken out already".into()))
        } else {
            Err(Fail::Storage("the capsule is none of DLPack, to judge by its name".into()))
        }
    })
}

/// The capsule that `ext.__dlpack__` returns.
fn request_capsule<'py>(ext: &Value<'py>, to_cpu: bool, copy: Option<bool>) -> CallResult<Value<'py>> {
    let py = ext.py();
    let Some(export) = ext.getattr_opt("__dlpack__")? else {
        let text = format!("from_dlpack: {} has no __dlpack__", type_name(ext.as_borrowed()));
        return Err(PyAttributeError::new_err(text).into());
    };
    let keywords = PyDict::new(py);
    keywords.set_item("max_version", (VERSION.major, VERSION.minor))?;
    if to_cpu {
        keywords.set_item("dl_device", (CPU, 0))?;
    }
    // A requested copy is made here, not by the producer: then the memory is our own.
    if copy == Some(false) {
        keywords.set_item("copy", false)?;
    }
    let capsule = match export.call((), Some(&keywords)) {
        // A producer that does not know these keywords.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => export.call0()?,
        other => other?,
    };
    if capsule.is_instance_of::<PyCapsule>() {
        return Ok(capsule);
    }
    Err(Fail::Type(format!(
        "__dlpack__ of {} returned {}, wanted a capsule",
        type_name(ext.as_borrowed()),
        type_name(capsule.as_borrowed())
    )))
}

/// Takes the tensor out of a capsule of this form. A capsule that is refused is left for another consumer, or for its
/// destructor.
fn import_capsule<M: ManagedTensor>(capsule: &Value<'_>, copy: Option<bool>) -> CallResult<Tensor> {
    let py = capsule.py();
    // SAFETY: `import` checked that the capsule has this name, and no Python code has run since.
    let managed = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), M::NAME.as_ptr()) }.cast::<M>();
    if !managed.is_aligned() {
        return Err(Fail::Storage("the capsule's pointer is no multiple of 8".into()));
    }
    let take = || {
        // SAFETY: the capsule is live, and the name is static.
        match unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), M::USED.as_ptr()) } {
            0 => Ok(ImportedDLPack(managed)),
            _ => Err(Fail::raised(py)),
        }
    };
    // SAFETY: by its name the capsule holds such a struct, and keeps it until it is renamed. The version is the first field
    // in every version.
    if let Some(DLPackVersion { major, minor }) = unsafe { (*managed).version() }
        && *major != VERSION.major
    {
        let text = format!("the capsule has DLPack's version {major}.{minor}, wanted {}.x", VERSION.major);
        drop(take()?); // DLPack's rule: a consumer that does not know the version deletes the tensor
        return Err(Fail::Storage(text));
    }
    // SAFETY: by its name the capsule holds such a struct, and its version was checked.
    let (flags, foreign) = unsafe { ((*managed).flags(), foreign_buffer((*managed).tensor())) };
    let foreign = ForeignBuffer { readonly: flags & READ_ONLY != 0, ..foreign? };
    if copy == Some(false) && flags & IS_COPIED != 0 {
        return Err(Fail::Storage("the producer made a copy, and copy is False".into()));
    }
    if copy == Some(false)
        && let Some(reason) = foreign.misfit()
    {
        return Err(Fail::Storage(format!("{reason}, which needs a copy, and copy is False")));
    }
    foreign.check()?;
    // SAFETY: by DLPack's rules the elements stay in place until the deleter is called, when the owner is dropped.
    let tensor = unsafe { foreign.share_or_copy(py, take()?) }?;
    if copy == Some(true) && !tensor.storage().is_owned() {
        return Ok(detach_if_large(py, work_on(&tensor), || copy::clone(&tensor))?);
    }
    Ok(tensor)
}

/// The elements of a producer, as it describes them.
fn foreign_buffer(tensor: &DLTensor) -> CallResult<ForeignBuffer> {
    let device = tensor.device.device_type;
    if device != CPU {
        let name = device_name(device as isize);
        return Err(Fail::Storage(format!(
            "the tensor is on device type {device}, {name}, wanted 1, the CPU"
        )));
    }
    let dtype = dtype_of(&tensor.dtype)?;
    // A wrong number of dims would make us read beyond the arrays.
    if !(0..=ffi::PyBUF_MAX_NDIM as i32).contains(&tensor.ndim) {
        return Err(Fail::Storage(format!("{} dims, wanted 0 to {}", tensor.ndim, ffi::PyBUF_MAX_NDIM)));
    }
    if tensor.ndim > 0 && tensor.shape.is_null() {
        return Err(Fail::Storage(format!("the shape of {} dims is null", tensor.ndim)));
    }
    let list = |start: *mut i64| {
        // SAFETY: a producer's arrays, which the callers below check for null, have `ndim` numbers each.
        (0..tensor.ndim as usize).map(move |dim| unsafe { start.add(dim).read_unaligned() })
    };
    let shape: Dims = list(tensor.shape).map(|extent| extent as isize).collect();
    let too_large = || Error::new(Problem::TooLarge { shape: shape_text(&shape) });
    // Strides of dims of extent 1, or of tensors without elements, are never used, and may be anything.
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
    Ok(ForeignBuffer { origin, shape, strides, dtype, swapped: false, readonly: false })
}
