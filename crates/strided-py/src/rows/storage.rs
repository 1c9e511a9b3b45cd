//! Methods and properties of Storage.

use crate::abi::Object;
use crate::abi::detach::{waiting, with_threads};
use crate::abi::errors::Result;
use crate::abi::refs::{again, bound, give, python};
use crate::abi::storage_object::{Run, bound_storage};
use crate::classes::dtype::{self, Device};
use crate::classes::storage::{Source, constructed, flat};
use crate::convert::args::{DataArg, Objects, StorageArg, Untyped};
use crate::convert::mapping;
use crate::convert::sequence::to_nested;
use pyo3::prelude::*;
use strided_core::ops::copy;
use strided_core::{DType, Layout, Scalar, Tensor};

methods! { rows(py, x: StorageArg):
    /// A new storage of the same dtype, made as the class makes one.
    ///
    /// >>> strided.IntStorage(2).new([7, 8]).tolist()
    /// [7, 8]
    method new(args: Objects) -> "Storage" => object(py, constructed(py, x.dtype, args.as_slice())?);

    /// The number of elements.
    ///
    /// >>> strided.FloatStorage(5).size()
    /// 5
    method size() -> "int" => give(py, x.length());

    /// Sets every element.
    ///
    /// >>> strided.ShortStorage(3).fill_(7).tolist()
    /// [7, 7, 7]
    method fill_(value: Scalar) -> "Storage" => {
        let whole = x.whole()?;
        with_threads(py, whole.size(), || copy::fill(&whole, value))?;
        Ok(again(x.object))
    };

    /// Writes the values of a storage, a tensor, an array or a sequence of the same length, cast.
    ///
    /// >>> strided.IntStorage(2).copy_([1.5, -1.5]).tolist()
    /// [1, -1]
    method copy_(source: DataArg, non_blocking: bool = False) -> "Storage" => {
        Source::Values(flat(py, source.0, None)?).write(py, &x.whole()?)?;
        Ok(again(x.object))
    };

    /// Changes the number of elements. The common prefix is kept, new elements are 0. Refused while a buffer
    /// of the storage is in use, and for memory that belongs to someone else.
    ///
    /// >>> strided.LongStorage([1, 2, 3]).resize_(5).tolist()
    /// [1, 2, 3, 0, 0]
    method resize_(size: isize) -> "Storage" => {
        let bytes = Layout::row_major(&[size])?.size() * x.dtype.size();
        // Waits for operations of other threads, which may need the interpreter to finish.
        let storage = &x.storage;
        waiting(py, || storage.bytes.resize(bytes))?;
        Ok(again(x.object))
    };

    /// A copy with memory of its own.
    ///
    /// >>> s = strided.LongStorage([1, 2])
    /// >>> s.clone().fill_(0).tolist(), s.tolist()
    /// ([0, 0], [1, 2])
    method clone() -> "Storage" => copied(py, &x.whole()?, x.dtype);

    /// The same bytes as elements of another dtype. Bytes that fill no element are left out.
    ///
    /// >>> strided.FloatStorage([1]).view(strided.uint8).tolist()
    /// [0, 0, 128, 63]
    method view(dtype: DType) -> "Storage" => {
        let run = Run { bytes: x.bytes.clone(), dtype };
        run.whole()?; // refuses an address that elements of this dtype cannot have
        object(py, run)
    };

    /// The storage as another dtype; itself if it has it already.
    ///
    /// >>> strided.FloatStorage([1.5, 2.5]).to(strided.int16).tolist()
    /// [1, 2]
    method to(dtype: DType) -> "Storage" => converted(py, &x, dtype);

    /// The name of the storage's type, or the storage as another type.
    ///
    /// >>> strided.FloatStorage(2).type()
    /// 'strided.FloatStorage'
    method r#type(dtype: Option<DType> = None)
        -> ["(dtype: None = None) -> str", "(dtype: _DTypeLike) -> Storage"] => match dtype {
        Some(dtype) => converted(py, &x, dtype),
        None => give(py, format!("strided.{}Storage", x.dtype.torch_name())),
    };

    /// The storage as bool.
    ///
    /// >>> strided.LongStorage([0, 2]).bool().tolist()
    /// [False, True]
    method bool() -> "Storage" => converted(py, &x, DType::Bool);

    /// The storage as uint8.
    ///
    /// >>> strided.FloatStorage([1.9, 255.0]).byte().tolist()
    /// [1, 255]
    method byte() -> "Storage" => converted(py, &x, DType::U8);

    /// The storage as int8.
    ///
    /// >>> strided.FloatStorage([-1.9, 127.0]).char().tolist()
    /// [-1, 127]
    method char() -> "Storage" => converted(py, &x, DType::I8);

    /// The storage as int16.
    ///
    /// >>> strided.FloatStorage([-1.5, 300.0]).short().tolist()
    /// [-1, 300]
    method short() -> "Storage" => converted(py, &x, DType::I16);

    /// The storage as int32.
    ///
    /// >>> strided.FloatStorage([1.7, -1.7]).int().tolist()
    /// [1, -1]
    method int() -> "Storage" => converted(py, &x, DType::I32);

    /// The storage as int64.
    ///
    /// >>> strided.FloatStorage([1.7, -1.7]).long().tolist()
    /// [1, -1]
    method long() -> "Storage" => converted(py, &x, DType::I64);

    /// The storage as float16.
    ///
    /// >>> strided.FloatStorage([0.1, 1]).half().tolist()
    /// [0.0999755859375, 1.0]
    method half() -> "Storage" => converted(py, &x, DType::F16);

    /// The storage as bfloat16.
    ///
    /// >>> strided.FloatStorage([0.1, 1]).bfloat16().tolist()
    /// [0.10009765625, 1.0]
    method bfloat16() -> "Storage" => converted(py, &x, DType::BF16);

    /// The storage as float32.
    ///
    /// >>> strided.LongStorage([1, 2]).float().tolist()
    /// [1.0, 2.0]
    method float() -> "Storage" => converted(py, &x, DType::F32);

    /// The storage as float64.
    ///
    /// >>> strided.LongStorage([1, 2]).double().tolist()
    /// [1.0, 2.0]
    method double() -> "Storage" => converted(py, &x, DType::F64);

    /// The storage as complex64.
    ///
    /// >>> strided.LongStorage([1, 2]).cfloat().tolist()
    /// [(1+0j), (2+0j)]
    method cfloat() -> "Storage" => converted(py, &x, DType::C64);

    /// The storage as complex128.
    ///
    /// >>> strided.LongStorage([1, 2]).cdouble().tolist()
    /// [(1+0j), (2+0j)]
    method cdouble() -> "Storage" => converted(py, &x, DType::C128);

    /// A list of Python numbers.
    ///
    /// >>> strided.IntStorage([1, 2, 3]).tolist()
    /// [1, 2, 3]
    method tolist() -> "list[Any]" => Ok(to_nested(py, x.whole()?)?.into_ptr());

    /// The address of the first element. `resize_` may change it.
    ///
    /// >>> s = strided.FloatStorage(3)
    /// >>> s.data_ptr() == strided.FloatTensor(s).data_ptr()
    /// True
    method data_ptr() -> "int" => give(py, x.bytes.address());

    /// Bytes per element.
    ///
    /// >>> strided.DoubleStorage(3).element_size()
    /// 8
    method element_size() -> "int" => give(py, x.dtype.size());

    /// Moves the memory to where other processes can share it. Storages and tensors on it stay what they are. A
    /// process that is forked sees the same memory, and so does one that is sent the storage, or a tensor on
    /// it, by multiprocessing.
    ///
    /// >>> s = strided.FloatStorage([1, 2])
    /// >>> s.share_memory_().is_shared(), s.tolist()
    /// (True, [1.0, 2.0])
    method share_memory_() -> "Storage" => {
        mapping::share(py, &x.bytes)?;
        Ok(again(x.object))
    };

    /// Whether other processes may see what is written: shared memory, or a file that is mapped so.
    ///
    /// >>> strided.FloatStorage(2).is_shared()
    /// False
    method is_shared() -> "bool" => give(py, x.bytes.is_shared());

    /// Waits until all that was written has reached the mapped file.
    ///
    /// >>> strided.FloatStorage(2).flush()
    /// Traceback (most recent call last):
    /// strided.StorageError: flush: the storage is not in a file
    method flush() -> "None" => {
        mapping::flush(py, &x.bytes)?;
        give(py, py.None())
    };

    /// The card that a notebook shows.
    method _repr_html_() -> "str" => python(py, "strided.display.notebook", "storage", (bound(py, x.object),));

    /// A copy with memory of its own.
    method __copy__() -> "Storage" => copied(py, &x.whole()?, x.dtype);

    /// A copy, made once for all tensors on the storage.
    method __deepcopy__(memo: Untyped) -> "Storage" => python(py, "strided._pickle", "deepcopy_storage", (bound(py, x.object), bound(py, memo.0)));

    /// How pickle takes the storage apart.
    method __reduce_ex__(protocol: Untyped) -> "str | tuple[Any, ...]" => python(py, "strided._pickle", "reduce_storage", (bound(py, x.object), bound(py, protocol.0)));

    /// The bytes of the object and of the memory that it owns.
    method __sizeof__() -> "int" => {
        let object: usize = bound(py, x.object).get_type().getattr("__basicsize__")?.extract()?;
        give(py, object + if x.bytes.is_owned() { x.bytes.length() } else { 0 })
    };
}

properties! { properties(py, x: StorageArg):
    /// Bytes of all elements.
    ///
    /// >>> strided.DoubleStorage(3).nbytes
    /// 24
    nbytes -> "int" => give(py, x.length() * x.dtype.size());

    /// The type of the elements.
    ///
    /// >>> strided.ByteStorage(3).dtype
    /// strided.uint8
    dtype -> "dtype" => give(py, dtype::object(py, x.dtype));

    /// Where the memory lies.
    ///
    /// >>> strided.ByteStorage(3).device
    /// device(type='cpu')
    device -> "device" => give(py, Device);

    /// Whether the elements can only be read.
    ///
    /// >>> strided.ByteStorage(3).readonly, strided.ByteStorage(b'abc').readonly
    /// (False, True)
    readonly -> "bool" => give(py, x.bytes.is_readonly());

    /// Whether the memory is the storage's own: not lent by an array or another buffer, not mapped or shared.
    ///
    /// >>> strided.ByteStorage(3).owns_memory, strided.ByteStorage(b'abc').owns_memory
    /// (True, False)
    owns_memory -> "bool" => give(py, x.bytes.is_owned());

    /// Whether the memory is a mapped file.
    ///
    /// >>> strided.FloatStorage(2).is_mapped
    /// False
    is_mapped -> "bool" => give(py, mapping::filename(&x.bytes).is_some());

    /// The full path of the mapped file, or None.
    ///
    /// >>> strided.FloatStorage(2).filename is None
    /// True
    filename -> "str | None" => give(py, mapping::filename(&x.bytes));
}

fn object(py: Python<'_>, run: Run) -> Result<Object> {
    Ok(bound_storage(py, run)?.into_ptr())
}

/// A new storage with the values of a tensor.
fn copied(py: Python<'_>, values: &Tensor, dtype: DType) -> Result<Object> {
    let made = with_threads(py, values.size(), || copy::to_dtype(values, dtype))?;
    object(py, Run { bytes: made.storage().clone(), dtype })
}

/// The storage as another dtype, itself if it has it already.
fn converted(py: Python<'_>, x: &StorageArg, dtype: DType) -> Result<Object> {
    if x.dtype == dtype { Ok(again(x.object)) } else { copied(py, &x.whole()?, dtype) }
}
