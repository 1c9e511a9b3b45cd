//! Facts about a tensor: its dims, its memory, its type. And functions for the Python part of the library.

use super::op_table;
use crate::abi::Value;
use crate::abi::errors::CallResult;
use crate::abi::refs::{call_python, new_ref, to_py};
use crate::abi::storage_object::{TypedStorage, read_storage, storage_object};
use crate::abi::tensor_object::{is_tensor, wrap};
use crate::classes::size::new_tuple;
use crate::convert::args::{AnyArg, IdentityArg, Ints, RestIndex, SharedArg, TensorArg, UntypedArg};
use crate::convert::exchange::{address_of, check_on_host};
use crate::convert::index::item_at;
use crate::convert::mapping::{attach, find_mapped, handle, part, share};
use crate::convert::sequence::to_nested;
use pyo3::ffi;
use pyo3::prelude::*;
use strided_core::storage::Fill;
use strided_core::{DType, Device, Tensor};

methods! { rows(py, x: TensorArg):
    /// The number of dims.
    ///
    /// >>> strided.zeros(2, 3).dim()
    /// 2
    method dim() alias ndimension -> "int" => to_py(py, x.layout().rank());

    /// The strides as a tuple, or the stride of one dim: the distance between neighbours in the storage.
    ///
    /// >>> strided.zeros(4, 5).stride()
    /// (5, 1)
    method stride(dim | axis: Option<isize> = None)
        -> ["(dim: None = None) -> tuple[int, ...]", "(dim: SupportsIndex) -> int", "(*, axis: SupportsIndex) -> int"] => match dim {
        None => new_tuple(py, x.layout().stride()),
        Some(dim) => to_py(py, x.layout().modes()[x.layout().wrap_dim(dim)?].stride),
    };

    /// The storage of the tensor. Tensors that share it return the same object.
    ///
    /// >>> x = strided.zeros(2, 3)
    /// >>> x.storage() is x[1].storage()
    /// True
    method storage() -> "Storage" => new_storage(py, TypedStorage { bytes: x.storage().clone(), dtype: x.dtype() });

    /// The location of the first element in the storage.
    ///
    /// >>> strided.zeros(4, 5)[2, 3:].storage_offset()
    /// 13
    method storage_offset() alias storageOffset -> "int" => to_py(py, x.layout().offset());

    /// The number of elements.
    ///
    /// >>> strided.zeros(4, 5).numel()
    /// 20
    both numel() alias method nelement -> "int" => to_py(py, x.size());

    /// Bytes per element.
    ///
    /// >>> strided.zeros(3, dtype=strided.float64).element_size()
    /// 8
    method element_size() -> "int" => to_py(py, x.dtype().size());

    /// Whether the elements are contiguous in row-major order.
    ///
    /// >>> strided.zeros(2, 3).t().is_contiguous()
    /// False
    method is_contiguous() -> "bool" => to_py(py, x.layout().is_row_major());

    /// Whether both have the same shape.
    ///
    /// >>> strided.zeros(2, 3).is_same_size(strided.ones(2, 3))
    /// True
    both is_same_size(other: TensorArg) -> "bool" => to_py(py, x.layout().same_shape(other.layout()));

    /// Whether both have the same storage, offset, shape and strides.
    ///
    /// >>> x = strided.zeros(2, 3)
    /// >>> x.is_set_to(x.view(2, 3)), x.is_set_to(x.clone())
    /// (True, False)
    both is_set_to(other: TensorArg) -> "bool" => to_py(py, x.is_set_to(&other));

    /// The address of the first element (of the element whose indices are all 0).
    ///
    /// >>> x = strided.zeros(4)
    /// >>> x[1:].data_ptr() - x.data_ptr()
    /// 4
    method data_ptr() -> "int" => {
        let shift = x.layout().offset() * x.dtype().size() as isize;
        to_py(py, address_of(x.storage())?.wrapping_add_signed(shift))
    };

    /// The only element, or the one with these indices, as a Python number.
    ///
    /// >>> strided.arange(12).view(3, 4).item(2, 3)
    /// 11
    method item(index: RestIndex) -> "Any" => item_at(py, &x, index.0);

    /// Nested lists of Python numbers; a number for a tensor without dims.
    ///
    /// >>> strided.arange(4).view(2, 2).tolist()
    /// [[0, 1], [2, 3]]
    method tolist() -> "Any" => to_nested(py, &x);

    /// Whether the dtype is a floating-point type.
    ///
    /// >>> strided.zeros(2).is_floating_point(), strided.arange(2).is_floating_point()
    /// (True, False)
    both is_floating_point() -> "bool" => to_py(py, x.dtype().is_float());

    /// Whether the dtype is complex.
    ///
    /// >>> strided.tensor([1j]).is_complex()
    /// True
    both is_complex() -> "bool" => to_py(py, x.dtype().is_complex());

    /// Whether the dtype can hold negative numbers.
    ///
    /// >>> strided.zeros(2, dtype=strided.uint8).is_signed()
    /// False
    both is_signed() -> "bool" => to_py(py, x.dtype().is_signed());

    /// Whether the library owns the tensor's memory: it is not that of an array or another buffer, not mapped and not shared.
    ///
    /// >>> strided.zeros(2).owns_storage(), strided.frombuffer(bytearray(8)).owns_storage()
    /// (True, False)
    method owns_storage() -> "bool" => to_py(py, x.storage().is_owned());

    /// Moves the storage to shared memory, with all tensors on it. A forked process sees the same memory, and so does a
    /// process that gets the tensor through multiprocessing.
    ///
    /// >>> x = strided.zeros(2, 3)
    /// >>> row = x[1]
    /// >>> x.share_memory_() is x, row.is_shared(), x.storage() is row.storage()
    /// (True, True, True)
    method share_memory_() => {
        let storage = x.storage().clone();
        share(py, &storage)?;
        Ok(new_ref(x.object()))
    };

    /// Whether other processes may see writes: the memory is shared, or a shared map of a file.
    ///
    /// >>> strided.zeros(2).is_shared(), strided.zeros(2).share_memory_().is_shared()
    /// (False, True)
    method is_shared() -> "bool" => to_py(py, x.storage().is_shared());

    /// A tuple by which another process finds the memory of a shared storage.
    function _shared_handle(storage: SharedArg) -> "tuple[Any, ...]" => to_py(py, handle(storage.0)?);

    /// A storage of bytes on the whole shared memory of a file descriptor.
    function _attach_memory(descriptor: isize) -> "Storage" => new_storage(py, attach(descriptor)?);

    /// A storage of bytes on the whole shared memory with a device and inode, if this process has mapped it.
    function _known_memory(identity: IdentityArg) -> "Storage | None" => match find_mapped(identity.0)? {
        Some(storage) => new_storage(py, storage),
        None => to_py(py, py.None()),
    };

    /// A storage on a part of the shared memory of another storage.
    function _part_of_memory(storage: SharedArg, start: isize, length: isize) -> "Storage" => new_storage(py, part(storage.0, start, length)?);

    /// Whether an object is a tensor, of any type.
    ///
    /// >>> strided.is_tensor(strided.zeros(2)), strided.is_tensor([1, 2])
    /// (True, False)
    function is_tensor(obj: AnyArg) -> "bool" => to_py(py, is_tensor(obj.0));

    /// The op table: (name, operands, class, rule, operator, summary, keywords, names) of every elementwise operation.
    function _ops() -> "list[tuple[str, int, str, str, str, str, list[tuple[str, str]], list[str]]]" => op_table::table(py);

    /// The instruction levels up to the one in use, the lowest first; `STRIDED_CPU` sets the highest one.
    function _cpu_levels() -> "list[str]" => {
        let used = strided_core::cpu::level();
        let names = strided_core::cpu::Level::ALL.into_iter().filter(|level| *level <= used).map(|level| level.name());
        to_py(py, names.collect::<Vec<_>>())
    };

    /// A tensor for tests in memory that the host cannot address, on the device `test:0`.
    function _unaddressable(size: Ints, dtype: DType) => wrap(py, Tensor::new_on(Device::Test, &size.ints, dtype, Fill::Uninitialized)?);

    /// The number of lists, tuples, dicts and other containers whose `repr` this thread is writing.
    function _repr_depth() -> "int" => to_py(py, repr_depth(py)?);

    /// Whether an object is a storage, of any type.
    ///
    /// >>> strided.is_storage(strided.FloatStorage(2)), strided.is_storage(strided.zeros(2))
    /// (True, False)
    function is_storage(obj: AnyArg) -> "bool" => to_py(py, read_storage(obj.0).is_some());

    /// Formats the number of a tensor with one element, or every element.
    method __format__(spec: UntypedArg) -> "str" => call_python(py, "strided.display.text", "format", (x.object(), spec.0));

    /// The HTML that a notebook shows.
    method _repr_html_() -> "str" => call_python(py, "strided.display.notebook", "tensor", (x.object(),));

    /// A new tensor on the same storage.
    method __copy__() => wrap(py, Tensor::clone(&x));

    /// A copy whose storage is copied once for all tensors that share it.
    method __deepcopy__(memo: UntypedArg) => call_python(py, "strided._pickle", "deepcopy_tensor", (x.object(), memo.0));

    /// The parts that pickle stores.
    method __reduce_ex__(protocol: UntypedArg) -> "str | tuple[Any, ...]" => call_python(py, "strided._pickle", "reduce_tensor", (x.object(), protocol.0));

    /// The elements' bytes in row-major order.
    method __bytes__() -> "bytes" => {
        check_on_host(x.storage())?;
        call_python(py, "strided._numpy", "to_bytes", (x.object(),))
    };

    /// The only element as a complex number.
    method __complex__() -> "complex" => call_python(py, "strided._numpy", "to_complex", (x.object(),));
}

/// CPython lists the containers that are being written under this key of the thread's dict (`Py_ReprEnter`), so that
/// one which contains itself ends. Without the key the depth is 0.
fn repr_depth(py: Python<'_>) -> CallResult<usize> {
    // SAFETY: the thread is attached. The dict is a borrowed reference, or null if there is none.
    let dict = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyThreadState_GetDict()) };
    let Some(containers) = dict.and_then(|dict| dict.get_item("Py_Repr").ok()) else { return Ok(0) };
    Ok(containers.len()?)
}

fn new_storage(py: Python<'_>, storage: TypedStorage) -> CallResult<Value<'_>> {
    Ok(storage_object(py, storage)?)
}
