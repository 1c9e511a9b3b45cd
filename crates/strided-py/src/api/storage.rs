//! Methods and properties of Storage.

use super::conversion::{gpu_number, move_storage, page_locked};
use crate::abi::Value;
use crate::abi::detach::{detach_if_large, detach_to_wait, work_on};
use crate::abi::errors::CallResult;
use crate::abi::refs::{call_python, new_ref, to_py};
use crate::abi::storage_object::{TypedStorage, storage_object};
use crate::classes::devices::Place;
use crate::classes::dtype::{self, PyDevice, TensorType, gpu_of, type_text};
use crate::classes::storage::{AssignedValues, constructed, flat_values, new_storage};
use crate::convert::args::{DataArg, RestObjects, StorageArg, UntypedArg};
use crate::convert::exchange::{address_of, check_on_host};
use crate::convert::mapping;
use crate::convert::sequence::to_nested;
use pyo3::prelude::*;
use strided_core::ops::copy;
use strided_core::{DType, Device, Layout, Scalar};

methods! { rows(py, x: StorageArg):
    /// A new storage of the same dtype, from the arguments of the class.
    ///
    /// >>> strided.IntStorage(2).new([7, 8]).tolist()
    /// [7, 8]
    method new(args: RestObjects) -> "Storage" => {
        object(py, constructed(py, x.dtype, Place::On(x.bytes.device()), args.0)?)
    };

    /// The number of elements.
    ///
    /// >>> strided.FloatStorage(5).size()
    /// 5
    method size() -> "int" => to_py(py, x.length()?);

    /// Sets every element.
    ///
    /// >>> strided.ShortStorage(3).fill_(7).tolist()
    /// [7, 7, 7]
    method fill_(value: Scalar) -> "Storage" => {
        let elements = x.to_tensor()?;
        detach_if_large(py, work_on(&elements), || copy::fill(&elements, value))?;
        Ok(new_ref(x.object))
    };

    /// Writes the values of a storage, a tensor, an array or a sequence of the same length, cast to the dtype.
    ///
    /// >>> strided.IntStorage(2).copy_([1.5, -1.5]).tolist()
    /// [1, -1]
    method copy_(source: DataArg, non_blocking: bool = False) -> "Storage" => {
        AssignedValues::Each(flat_values(py, source.0, None)?).write(py, &x.to_tensor()?)?;
        Ok(new_ref(x.object))
    };

    /// Changes the number of elements. The common prefix is kept, new elements are 0. Refused while a buffer
    /// of the storage is in use, and for memory that another library owns.
    ///
    /// >>> strided.LongStorage([1, 2, 3]).resize_(5).tolist()
    /// [1, 2, 3, 0, 0]
    method resize_(size: isize) -> "Storage" => {
        let bytes = Layout::row_major(&[size])?.size() * x.dtype.size();
        // Waits for operations of other threads, which may need the interpreter to finish.
        let storage = &x.storage;
        detach_to_wait(py, || storage.bytes.resize(bytes))?;
        Ok(new_ref(x.object))
    };

    /// A copy with memory of its own.
    ///
    /// >>> s = strided.LongStorage([1, 2])
    /// >>> s.clone().fill_(0).tolist(), s.tolist()
    /// ([0, 0], [1, 2])
    method clone() -> "Storage" => new_storage(py, &x.to_tensor()?, x.dtype);

    /// The same bytes as elements of another dtype, without the bytes of an incomplete last element.
    ///
    /// >>> strided.FloatStorage([1]).view(strided.uint8).tolist()
    /// [0, 0, 128, 63]
    method view(dtype: DType) -> "Storage" => {
        let viewed = TypedStorage { bytes: x.bytes.clone(), dtype };
        viewed.to_tensor()?; // refuses an address that is not aligned for the dtype
        object(py, viewed)
    };

    /// The storage as another dtype, or on another device; itself if it is so.
    ///
    /// >>> strided.FloatStorage([1.5, 2.5]).to(strided.int16).tolist()
    /// [1, 2]
    method to(dtype: Option<DType> = None, device: Option<Device> = None) -> "Storage"
        => move_storage(py, &x, device.unwrap_or(x.bytes.device()), dtype.unwrap_or(x.dtype));

    /// The storage on the CPU: itself, or a copy of one that is on a GPU.
    ///
    /// >>> s = strided.FloatStorage([1.5, 2.5])
    /// >>> s.cpu() is s
    /// True
    method cpu() -> "Storage" => move_storage(py, &x, Device::Cpu, x.dtype);

    /// The storage on a GPU: the current one, or that of a number. One that is there already is returned as it is.
    ///
    /// >>> strided.FloatStorage(2).gpu(0).device
    /// device(type='gpu', index=0)
    method gpu(device: Option<PyDevice> = None, non_blocking: bool = False) alias cuda -> "Storage"
        => move_storage(py, &x, Device::Gpu(gpu_of(device)?), x.dtype);

    /// A copy in page-locked memory, from which transfers to a GPU take less time; itself if it is there already. Storages of
    /// the CPU only.
    ///
    /// >>> strided.FloatStorage(2).pin_memory('gpu:0').is_pinned()
    /// True
    method pin_memory(device: Option<PyDevice> = None) -> "Storage" => {
        check_on_host(&x.bytes)?;
        if x.bytes.is_page_locked() {
            return Ok(new_ref(x.object));
        }
        let copied = page_locked(py, x.to_tensor()?, device)?;
        object(py, TypedStorage { bytes: copied.storage().clone(), dtype: x.dtype })
    };

    /// Whether the storage is page-locked.
    ///
    /// >>> strided.FloatStorage(2).is_pinned()
    /// False
    method is_pinned(device: Option<PyDevice> = None) -> "bool" => to_py(py, x.bytes.is_page_locked());

    /// The number of the GPU that has the storage; -1 on the CPU.
    ///
    /// >>> strided.FloatStorage(2).get_device()
    /// -1
    method get_device() -> "int" => to_py(py, gpu_number(x.bytes.device()));

    /// The name of the storage's type, or the storage as another type.
    ///
    /// >>> strided.FloatStorage(2).type()
    /// 'strided.FloatStorage'
    method r#type(dtype: Option<TensorType> = None)
        -> ["(dtype: None = None) -> str", "(dtype: _DTypeLike) -> Storage"] => match dtype {
        Some(target) => move_storage(py, &x, target.device_for(&x.to_tensor()?), target.dtype),
        None => to_py(py, type_text(x.bytes.device(), x.dtype, "Storage")),
    };

    /// A list of Python numbers.
    ///
    /// >>> strided.IntStorage([1, 2, 3]).tolist()
    /// [1, 2, 3]
    method tolist() -> "list[Any]" => to_nested(py, &x.to_tensor()?);

    /// The address of the first element. `resize_` may change it.
    ///
    /// >>> s = strided.FloatStorage(3)
    /// >>> s.data_ptr() == strided.FloatTensor(s).data_ptr()
    /// True
    method data_ptr() -> "int" => {
        to_py(py, address_of(&x.bytes)?)
    };

    /// Bytes per element.
    ///
    /// >>> strided.DoubleStorage(3).element_size()
    /// 8
    method element_size() -> "int" => to_py(py, x.dtype.size());

    /// Moves the bytes to shared memory; tensors on the storage go with it. A forked process sees the same memory,
    /// and so does a process that gets the storage, or a tensor on it, through multiprocessing.
    ///
    /// >>> s = strided.FloatStorage([1, 2])
    /// >>> s.share_memory_().is_shared(), s.tolist()
    /// (True, [1.0, 2.0])
    method share_memory_() -> "Storage" => {
        mapping::share(py, &x.bytes)?;
        Ok(new_ref(x.object))
    };

    /// Whether other processes may see writes: the memory is shared, or a shared map of a file.
    ///
    /// >>> strided.FloatStorage(2).is_shared()
    /// False
    method is_shared() -> "bool" => to_py(py, x.bytes.is_shared());

    /// Waits until all writes are in the mapped file.
    ///
    /// >>> strided.FloatStorage(2).flush()
    /// Traceback (most recent call last):
    /// strided.StorageError: flush: the storage is not in a file
    method flush() -> "None" => {
        mapping::flush(py, &x.bytes)?;
        to_py(py, py.None())
    };

    /// The HTML that a notebook shows.
    method _repr_html_() -> "str" => call_python(py, "strided.display.notebook", "storage", (x.object,));

    /// A copy with memory of its own.
    method __copy__() -> "Storage" => new_storage(py, &x.to_tensor()?, x.dtype);

    /// A copy, made once for all tensors on the storage.
    method __deepcopy__(memo: UntypedArg) -> "Storage" => call_python(py, "strided._pickle", "deepcopy_storage", (x.object, memo.0));

    /// The parts that pickle stores.
    method __reduce_ex__(protocol: UntypedArg) -> "str | tuple[Any, ...]" => call_python(py, "strided._pickle", "reduce_storage", (x.object, protocol.0));

    /// The bytes of the object and of the memory that it owns.
    method __sizeof__() -> "int" => {
        let object: usize = x.object.get_type().getattr("__basicsize__")?.extract()?;
        to_py(py, object + if x.bytes.is_owned() { x.bytes.length() } else { 0 })
    };
}

properties! { properties(py, x: StorageArg):
    /// Bytes of all elements.
    ///
    /// >>> strided.DoubleStorage(3).nbytes
    /// 24
    nbytes -> "int" => to_py(py, x.length()? * x.dtype.size());

    /// The type of the elements.
    ///
    /// >>> strided.ByteStorage(3).dtype
    /// strided.uint8
    dtype -> "dtype" => to_py(py, dtype::object(py, x.dtype));

    /// The device of the memory.
    ///
    /// >>> strided.ByteStorage(3).device
    /// device(type='cpu')
    device -> "device" => to_py(py, PyDevice(x.bytes.device()));

    /// Whether the memory is on a GPU, of any maker: PyTorch's name for `is_gpu`.
    ///
    /// >>> strided.ByteStorage(3).is_cuda
    /// False
    is_cuda -> "bool" => to_py(py, gpu_number(x.bytes.device()) >= 0);

    /// Whether the memory is on a GPU.
    ///
    /// >>> strided.ByteStorage(3).is_gpu
    /// False
    is_gpu -> "bool" => to_py(py, gpu_number(x.bytes.device()) >= 0);

    /// Whether writes are refused.
    ///
    /// >>> strided.ByteStorage(3).readonly, strided.ByteStorage(b'abc').readonly
    /// (False, True)
    readonly -> "bool" => to_py(py, x.bytes.is_readonly());

    /// Whether the library owns the memory: it is not that of an array or another buffer, not mapped and not shared.
    ///
    /// >>> strided.ByteStorage(3).owns_memory, strided.ByteStorage(b'abc').owns_memory
    /// (True, False)
    owns_memory -> "bool" => to_py(py, x.bytes.is_owned());

    /// Whether the memory is a mapped file.
    ///
    /// >>> strided.FloatStorage(2).is_mapped
    /// False
    is_mapped -> "bool" => to_py(py, mapping::filename(&x.bytes).is_some());

    /// The full path of the mapped file, or None.
    ///
    /// >>> strided.FloatStorage(2).filename is None
    /// True
    filename -> "str | None" => to_py(py, mapping::filename(&x.bytes));
}

fn object(py: Python<'_>, storage: TypedStorage) -> CallResult<Value<'_>> {
    Ok(storage_object(py, storage)?)
}
