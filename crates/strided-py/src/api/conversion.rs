//! Conversions: to other dtypes, also of storages, to NumPy, and new tensors of the same type.

use crate::abi::Value;
use crate::abi::detach::detach;
use crate::abi::errors::{CallResult, Fail, type_name};
use crate::abi::refs::{call_python, new_ref, to_py};
use crate::abi::storage_object::{TypedStorage, storage_object};
use crate::abi::tensor_object::wrap;
use crate::classes::devices::Place;
use crate::classes::dtype::{self, PyDevice, TensorType, gpu_of, type_text};
use crate::classes::storage::new_storage;
use crate::classes::tensor::construct;
use crate::convert::args::{FromArg, RestObjects, StorageArg, TargetArg, TensorArg, TwoInts, UntypedArg};
use crate::convert::values::{cast_object, moved};
use crate::convert::{dlpack, exchange};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use strided_core::ops::copy;
use strided_core::{DType, Device, Storage, Tensor};

methods! { rows(py, x: TensorArg):
    /// The tensor in another dtype, on another device, or as another tensor is: `to(dtype)`, `to('gpu:1')`, `to(other)`. Itself
    /// if it is so already, unless `copy`.
    ///
    /// >>> strided.tensor([1.7, -1.7]).to(strided.int32).tolist()
    /// [1, -1]
    method to(target | other: Option<TargetArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, copy: bool = False, non_blocking: bool = False)
        => to(py, x, target, dtype, device, copy);

    /// The name of the tensor's type, or the tensor as another type. The class of another device, such as
    /// `'strided.gpu.FloatTensor'`, moves it there.
    ///
    /// >>> strided.zeros(2).type()
    /// 'strided.FloatTensor'
    /// >>> strided.zeros(2).type('strided.IntTensor').dtype
    /// strided.int32
    method r#type(dtype: Option<TensorType> = None, non_blocking: bool = False)
        -> ["(dtype: None = None, non_blocking: bool = False) -> str", "(dtype: _DTypeLike, non_blocking: bool = False) -> Tensor"] => match dtype {
        Some(target) => move_to(py, x, target.device_for(&x), target.dtype, false),
        None => to_py(py, type_text(x.device(), x.dtype(), "Tensor")),
    };

    /// The tensor in the dtype of another one, and on its device.
    ///
    /// >>> strided.arange(3).type_as(strided.zeros(1)).tolist()
    /// [0.0, 1.0, 2.0]
    method type_as(other: TensorArg) => move_to(py, x, other.device(), other.dtype(), false);

    /// The tensor in another dtype, as a copy unless `copy=False`: NumPy's name for `to`.
    ///
    /// >>> strided.tensor([1.5, -1.5]).astype(strided.int32).tolist()
    /// [1, -1]
    method astype(dtype: DType, copy: bool = True) => cast_object(py, x, dtype, copy);

    /// The tensor on the CPU: itself, or a copy of one that is on a GPU.
    ///
    /// >>> x = strided.zeros(2)
    /// >>> x.cpu() is x
    /// True
    method cpu() => move_to(py, x, Device::Cpu, x.dtype(), false);

    /// The tensor on a GPU: the current one, or that of a number. A tensor that is there already is returned as it is.
    ///
    /// >>> strided.zeros(2).gpu(0).device
    /// device(type='gpu', index=0)
    method gpu(device: Option<PyDevice> = None, non_blocking: bool = False) alias cuda
        => move_to(py, x, Device::Gpu(gpu_of(device)?), x.dtype(), false);

    /// A copy in page-locked memory, from which transfers to a GPU take less time; itself if it is there already. Tensors of
    /// the CPU only.
    ///
    /// >>> strided.zeros(2).pin_memory('gpu:0').is_pinned()
    /// True
    both pin_memory(device: Option<PyDevice> = None) => {
        exchange::check_on_host(x.storage())?;
        if x.storage().is_page_locked() {
            return Ok(new_ref(x.object()));
        }
        wrap(py, page_locked(py, Tensor::clone(&x), device)?)
    };

    /// Whether the tensor is in page-locked memory.
    ///
    /// >>> strided.zeros(2).is_pinned()
    /// False
    method is_pinned(device: Option<PyDevice> = None) -> "bool" => to_py(py, x.storage().is_page_locked());

    /// The number of the GPU that has the tensor; -1 on the CPU.
    ///
    /// >>> strided.zeros(2).get_device()
    /// -1
    method get_device() -> "int" => to_py(py, gpu_number(x.device()));

    /// A new tensor of this tensor's type, from the arguments of its typed class.
    ///
    /// >>> x = strided.DoubleTensor(2, 3)
    /// >>> x.new(x.size()).copy_(x).type()
    /// 'strided.DoubleTensor'
    method new(args: RestObjects) => construct(py, x.dtype(), Place::On(x.device()), args.0);

    /// A NumPy array on the same memory. A tensor on a GPU is refused, or copied to the CPU if `force`.
    ///
    /// >>> x = strided.zeros(3)
    /// >>> x.numpy()[1] = 7
    /// >>> x.tolist()
    /// [0.0, 7.0, 0.0]
    method numpy(force: bool = False) -> "_NDArray" => {
        if force && x.device() != Device::Cpu {
            let copied = move_to(py, x, Device::Cpu, x.dtype(), false)?;
            return call_python(py, "strided._numpy", "to_numpy", (copied,));
        }
        exchange::check_on_host(x.storage())?;
        call_python(py, "strided._numpy", "to_numpy", (x.object(),))
    };

    /// NumPy's protocol for its functions: called with tensors they return tensors.
    ///
    /// >>> import numpy
    /// >>> numpy.mean(strided.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    ///  2
    ///  3
    /// [strided.FloatTensor of size 2]
    method __array_function__(func: UntypedArg, types: UntypedArg, args: UntypedArg, kwargs: UntypedArg) -> "Any"
        => call_python(py, "strided._numpy", "array_function", (x.object(), func.0, types.0, args.0, kwargs.0));

    /// NumPy's protocol for conversion to an array.
    method __array__(dtype: Option<UntypedArg> = None, copy: Option<UntypedArg> = None) -> "_NDArray" => {
        exchange::check_on_host(x.storage())?;
        let (dtype, copy) = (dtype.map(|dtype| dtype.0), copy.map(|copy| copy.0));
        call_python(py, "strided._numpy", "to_array", (x.object(), dtype, copy))
    };

    /// A DLPack capsule of the tensor, for `from_dlpack` of another library.
    ///
    /// >>> strided.from_dlpack(strided.arange(3).__dlpack__(max_version=(1, 0))).tolist()
    /// [0, 1, 2]
    method __dlpack__(; stream: Option<UntypedArg> = None, max_version: Option<TwoInts> = None, dl_device: Option<TwoInts> = None, copy: Option<bool> = None) -> "CapsuleType"
        => dlpack::export(py, Tensor::clone(&x), dlpack::ExportRequest { stream, max_version, dl_device, copy });

    /// The DLPack device type and number: 1 is the CPU, of which there is one.
    ///
    /// >>> strided.zeros(2).__dlpack_device__()
    /// (1, 0)
    method __dlpack_device__() -> "tuple[int, int]" => {
        exchange::check_on_host(x.storage())?;
        to_py(py, (dlpack::CPU, 0))
    };
}

/// `x.byte()` and its like, of tensors and of storages: the name, the dtype, what it makes of the elements, and for the example
/// a class of storages, numbers, and what they become.
macro_rules! casts {
    ($($name:ident $dtype:ident $text:literal, $class:literal $numbers:literal => $result:literal;)*) => {
        methods! { tensor_casts(py, x: TensorArg): $(
            #[doc = concat!("The tensor as ", $text, ".")]
            #[doc = ""]
            #[doc = concat!(">>> strided.tensor(", $numbers, ").", stringify!($name), "().tolist()")]
            #[doc = $result]
            method $name() => cast_object(py, x, DType::$dtype, false);
        )* }

        methods! { storage_casts(py, x: StorageArg): $(
            #[doc = concat!("The storage as ", $text, ".")]
            #[doc = ""]
            #[doc = concat!(">>> strided.", $class, "Storage(", $numbers, ").", stringify!($name), "().tolist()")]
            #[doc = $result]
            method $name() -> "Storage" => cast_storage(py, &x, DType::$dtype);
        )* }
    };
}
casts! {
    bool Bool "bool: whether each element differs from 0", "Long" "[0, 2]" => "[False, True]";
    byte U8 "uint8", "Float" "[1.9, 255.0]" => "[1, 255]";
    char I8 "int8", "Float" "[-1.9, 127.0]" => "[-1, 127]";
    short I16 "int16", "Float" "[-1.5, 300.0]" => "[-1, 300]";
    int I32 "int32", "Float" "[1.7, -1.7]" => "[1, -1]";
    long I64 "int64", "Float" "[1.7, -1.7]" => "[1, -1]";
    half F16 "float16", "Float" "[0.1, 1]" => "[0.0999755859375, 1.0]";
    bfloat16 BF16 "bfloat16", "Float" "[0.1, 1]" => "[0.10009765625, 1.0]";
    float F32 "float32", "Long" "[1, 2]" => "[1.0, 2.0]";
    double F64 "float64", "Long" "[1, 2]" => "[1.0, 2.0]";
    cfloat C64 "complex64", "Long" "[1, 2]" => "[(1+0j), (2+0j)]";
    cdouble C128 "complex128", "Long" "[1, 2]" => "[(1+0j), (2+0j)]";
}

/// A storage as another dtype, itself if it has that dtype.
pub fn cast_storage<'a>(py: Python<'a>, x: &StorageArg<'a>, dtype: DType) -> CallResult<Value<'a>> {
    if x.dtype == dtype { Ok(new_ref(x.object)) } else { new_storage(py, &x.to_tensor()?, dtype) }
}

/// A storage on a device and in a dtype: itself if it is so.
pub fn move_storage<'a>(
    py: Python<'a>,
    x: &StorageArg<'a>,
    device: Device,
    dtype: DType,
) -> CallResult<Value<'a>> {
    if x.bytes.device() == device {
        return cast_storage(py, x, dtype);
    }
    let moved = moved(py, x.to_tensor()?, device, dtype)?;
    Ok(storage_object(py, TypedStorage { bytes: moved.storage().clone(), dtype })?)
}

/// A tensor on a device and in a dtype: itself if it is so, unless `copy`.
fn move_to<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    device: Device,
    dtype: DType,
    copy: bool,
) -> CallResult<Value<'a>> {
    if x.device() == device {
        return cast_object(py, x, dtype, copy);
    }
    wrap(py, moved(py, Tensor::clone(&x), device, dtype)?)
}

/// The number of a GPU, or -1.
pub fn gpu_number(device: Device) -> isize {
    if let Device::Gpu(index) = device { index.into() } else { -1 }
}

/// A row-major copy in memory that is page-locked for a GPU.
pub fn page_locked(py: Python<'_>, x: Tensor, device: Option<PyDevice>) -> CallResult<Tensor> {
    let device = Device::Gpu(gpu_of(device)?);
    let copied = detach(py, || {
        let storage = Storage::page_locked(device, x.size() * x.dtype().size())?;
        let out = Tensor::from_storage(storage, x.dtype(), x.layout().row_major_like())?;
        copy::copy(&out, &x).map(|()| out)
    });
    Ok(copied?)
}

fn to<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    target: Option<TargetArg<'a>>,
    dtype: Option<DType>,
    device: Option<Device>,
    copy: bool,
) -> CallResult<Value<'a>> {
    let given = device;
    let device = given.unwrap_or(x.device());
    let Some(TargetArg(target)) = target else {
        return move_to(py, x, device, dtype.unwrap_or(x.dtype()), copy);
    };
    if let Some(other) = TensorArg::read(target)? {
        return move_to(py, x, given.unwrap_or(other.device()), other.dtype(), copy);
    }
    let text = target.cast::<PyString>().map(|text| text.to_string()).ok();
    if let Some(text) = &text
        && let Some(dtype) = dtype::from_text(text)?
    {
        return move_to(py, x, device, dtype, copy);
    }
    if text.is_some() || target.cast::<PyDevice>().is_ok() || target.is_exact_instance_of::<PyInt>() {
        let named = Device::read(target).map_err(|fail| match (fail, &text) {
            (Fail::Value(_), Some(text)) => Fail::Value(format!(
                "target is '{text}', wanted a dtype or a device: 'cpu', 'gpu' or 'gpu:0' ('cuda' is 'gpu')"
            )),
            (fail, _) => fail,
        })?;
        return move_to(py, x, named.unwrap_or(device), dtype.unwrap_or(x.dtype()), copy);
    }
    match DType::read(target)? {
        Some(dtype) => move_to(py, x, device, dtype, copy),
        None => Err(Fail::Type(format!(
            "target must be a dtype, a device or a Tensor, got {}",
            type_name(target)
        ))),
    }
}
