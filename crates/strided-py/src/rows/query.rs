//! Questions about a tensor: its dims, its place in memory, its type.

use super::op_table;
use crate::abi::Object;
use crate::abi::errors::Result;
use crate::abi::refs::{again, bound, give, python};
use crate::abi::storage_object::{self, Run, bound_storage};
use crate::abi::tensor_object::{is_tensor, wrap};
use crate::classes::size::new_tuple;
use crate::convert::args::{AnyArg, IdentityArg, IndexArgs, SharedArg, TensorArg, Untyped};
use crate::convert::index::item;
use crate::convert::mapping::{attach, handle, known, part, share};
use crate::convert::sequence::to_nested;
use pyo3::types::PyAnyMethods;
use strided_core::Tensor;

methods! { rows(py, x: TensorArg):
    /// The number of dims.
    ///
    /// >>> strided.zeros(2, 3).dim()
    /// 2
    method dim() -> "int" => give(py, x.layout().rank());

    /// The number of dims.
    ///
    /// >>> strided.zeros(2, 3).ndimension()
    /// 2
    method ndimension() -> "int" => give(py, x.layout().rank());

    /// The strides as a tuple, or the stride of one dim: how far apart neighbours lie in the storage.
    ///
    /// >>> strided.zeros(4, 5).stride()
    /// (5, 1)
    method stride(dim | axis: Option<isize> = None)
        -> ["(dim: None = None) -> tuple[int, ...]", "(dim: SupportsIndex) -> int", "(*, axis: SupportsIndex) -> int"] => match dim {
        None => new_tuple(py, x.layout().stride()),
        Some(dim) => give(py, x.layout().modes()[x.layout().wrap_dim(dim)?].stride),
    };

    /// The storage that the tensor looks at. Tensors that share it get the same object.
    ///
    /// >>> x = strided.zeros(2, 3)
    /// >>> x.storage() is x[1].storage()
    /// True
    method storage() -> "Storage" => storage_object::storage_object(py, x.storage(), x.dtype());

    /// The location of the first element in the storage, counted from 0.
    ///
    /// >>> strided.zeros(4, 5)[2, 3:].storage_offset()
    /// 13
    method storage_offset() -> "int" => give(py, x.layout().offset());

    /// `storage_offset` as the oldest documents spell it.
    ///
    /// >>> strided.zeros(4, 5)[2].storageOffset()
    /// 10
    method storageOffset() -> "int" => give(py, x.layout().offset());

    /// The number of elements.
    ///
    /// >>> strided.zeros(4, 5).numel()
    /// 20
    both numel() -> "int" => give(py, x.size());

    /// The number of elements.
    ///
    /// >>> strided.zeros(4, 5).nelement()
    /// 20
    method nelement() -> "int" => give(py, x.size());

    /// Bytes per element.
    ///
    /// >>> strided.zeros(3, dtype=strided.float64).element_size()
    /// 8
    method element_size() -> "int" => give(py, x.dtype().size());

    /// Whether the elements lie next to each other in row-major order.
    ///
    /// >>> strided.zeros(2, 3).t().is_contiguous()
    /// False
    method is_contiguous() -> "bool" => give(py, x.layout().is_row_major());

    /// Whether both have the same shape.
    ///
    /// >>> strided.zeros(2, 3).is_same_size(strided.ones(2, 3))
    /// True
    both is_same_size(other: TensorArg) -> "bool" => give(py, x.layout().same_shape(other.layout()));

    /// Whether both look at the same storage with the same offset, shape and strides.
    ///
    /// >>> x = strided.zeros(2, 3)
    /// >>> x.is_set_to(x.view(2, 3)), x.is_set_to(x.clone())
    /// (True, False)
    both is_set_to(other: TensorArg) -> "bool" => give(py, x.is_set_to(&other));

    /// The address of the first element (of the element whose indices are all 0).
    ///
    /// >>> x = strided.zeros(4)
    /// >>> x[1:].data_ptr() - x.data_ptr()
    /// 4
    method data_ptr() -> "int" => {
        let shift = x.layout().offset() * x.dtype().size() as isize;
        give(py, x.storage().address().wrapping_add_signed(shift))
    };

    /// The only element, or the one with these indices, as a Python number.
    ///
    /// >>> strided.arange(12).view(3, 4).item(2, 3)
    /// 11
    method item(index: IndexArgs) -> "Any" => item(py, &x, index.0.as_slice());

    /// Nested lists of Python numbers; a number for a tensor without dimension.
    ///
    /// >>> strided.arange(4).view(2, 2).tolist()
    /// [[0, 1], [2, 3]]
    method tolist() -> "Any" => Ok(to_nested(py, Tensor::clone(&x))?.into_ptr());

    /// Whether the dtype is a floating one.
    ///
    /// >>> strided.zeros(2).is_floating_point(), strided.arange(2).is_floating_point()
    /// (True, False)
    both is_floating_point() -> "bool" => give(py, x.dtype().is_float());

    /// Whether the dtype is complex.
    ///
    /// >>> strided.tensor([1j]).is_complex()
    /// True
    both is_complex() -> "bool" => give(py, x.dtype().is_complex());

    /// Whether the dtype has negative numbers.
    ///
    /// >>> strided.zeros(2, dtype=strided.uint8).is_signed()
    /// False
    both is_signed() -> "bool" => give(py, x.dtype().is_signed());

    /// Whether the tensor's memory is its own: not lent by an array or another buffer, not mapped or shared.
    ///
    /// >>> strided.zeros(2).owns_storage(), strided.frombuffer(bytearray(8)).owns_storage()
    /// (True, False)
    method owns_storage() -> "bool" => give(py, x.storage().is_owned());

    /// Moves the storage to memory that other processes can share; all tensors on it go with it. A process that
    /// is forked sees the same memory, and so does one that is sent the tensor by multiprocessing.
    ///
    /// >>> x = strided.zeros(2, 3)
    /// >>> row = x[1]
    /// >>> x.share_memory_() is x, row.is_shared(), x.storage() is row.storage()
    /// (True, True, True)
    method share_memory_() => {
        let storage = x.storage().clone();
        share(py, &storage)?;
        Ok(again(x.0))
    };

    /// Whether other processes may see what is written: shared memory, or a file that is mapped so.
    ///
    /// >>> strided.zeros(2).is_shared(), strided.zeros(2).share_memory_().is_shared()
    /// (False, True)
    method is_shared() -> "bool" => give(py, x.storage().is_shared());

    /// What another process needs to find the memory of a shared storage.
    function _shared_handle(storage: SharedArg) -> "tuple[Any, ...]" => give(py, handle(py, storage.0)?);

    /// A storage of bytes on all the shared memory behind a file descriptor.
    function _attach_memory(descriptor: isize) -> "Storage" => given(py, attach(descriptor)?);

    /// A storage of bytes on all the shared memory of a device and a number, if it is mapped here.
    function _known_memory(identity: IdentityArg) -> "Storage | None" => match known(py, identity.0)? {
        Some(run) => given(py, run),
        None => give(py, py.None()),
    };

    /// A storage on a part of the shared memory in which another one lies.
    function _part_of_memory(storage: SharedArg, start: isize, length: isize) -> "Storage" => given(py, part(py, storage.0, start, length)?);

    /// Whether an object is a tensor, of any type.
    ///
    /// >>> strided.is_tensor(strided.zeros(2)), strided.is_tensor([1, 2])
    /// (True, False)
    function is_tensor(obj: AnyArg) -> "bool" => give(py, is_tensor(obj.0));

    /// The op table: (name, operands, class, rule, operator, doc) of every elementwise operation.
    function _ops() -> "list[tuple[str, int, str, str, str, str, list[tuple[str, str]], list[str]]]" => op_table::table(py);

    /// The levels of instructions up to the one in use, the lowest first; `STRIDED_CPU` names the highest one wanted.
    function _cpu_levels() -> "list[str]" => {
        let used = strided_core::cpu::level();
        let names = strided_core::cpu::Level::ALL.into_iter().filter(|level| *level <= used).map(|level| level.name());
        give(py, names.collect::<Vec<_>>())
    };

    /// The number of lists, tuples, dicts and other containers whose `repr` this thread is writing.
    function _repr_depth() -> "int" => give(py, repr_depth(py)?);

    /// Whether an object is a storage, of any type.
    ///
    /// >>> strided.is_storage(strided.FloatStorage(2)), strided.is_storage(strided.zeros(2))
    /// (True, False)
    function is_storage(obj: AnyArg) -> "bool" => give(py, storage_object::read(py, obj.0).is_some());

    /// Formats the number of a tensor with one element, or every element.
    method __format__(spec: Untyped) -> "str" => python(py, "strided.display.text", "format", (this(py, x), bound(py, spec.0)));

    /// The card that a notebook shows.
    method _repr_html_() -> "str" => python(py, "strided.display.notebook", "tensor", (this(py, x),));

    /// A new handle on the same storage.
    method __copy__() => wrap(py, Tensor::clone(&x));

    /// A copy whose storage is copied once for all tensors that share it.
    method __deepcopy__(memo: Untyped) => python(py, "strided._pickle", "deepcopy_tensor", (this(py, x), bound(py, memo.0)));

    /// How pickle takes the tensor apart.
    method __reduce_ex__(protocol: Untyped) -> "str | tuple[Any, ...]" => python(py, "strided._pickle", "reduce_tensor", (this(py, x), bound(py, protocol.0)));

    /// The elements' bytes in row-major order.
    method __bytes__() -> "bytes" => python(py, "strided._numpy", "to_bytes", (this(py, x),));

    /// The only element as a complex number.
    method __complex__() -> "complex" => python(py, "strided._numpy", "to_complex", (this(py, x),));
}

/// CPython lists the containers that are being written under this key of the thread's dict (`Py_ReprEnter`), so that
/// one which contains itself ends. Without the key the depth is 0.
fn repr_depth(py: pyo3::Python<'_>) -> Result<usize> {
    // SAFETY: the thread is attached. The dict is a borrowed reference, or null if there is none.
    let dict = unsafe { pyo3::Bound::from_borrowed_ptr_or_opt(py, pyo3::ffi::PyThreadState_GetDict()) };
    let Some(containers) = dict.and_then(|dict| dict.get_item("Py_Repr").ok()) else { return Ok(0) };
    Ok(containers.len()?)
}

fn given(py: pyo3::Python<'_>, run: Run) -> Result<Object> {
    Ok(bound_storage(py, run)?.into_ptr())
}

fn this<'py>(py: pyo3::Python<'py>, x: TensorArg) -> pyo3::Bound<'py, pyo3::PyAny> {
    bound(py, x.0)
}
