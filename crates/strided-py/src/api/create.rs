//! Functions that make tensors.

use crate::abi::detach::{detach_if_large, device_work, work_on};
use crate::abi::errors::{CallResult, Fail, type_name};
use crate::abi::refs::{new_ref, to_py};
use crate::abi::storage_object::read_storage;
use crate::abi::tensor_object::{is_tensor, wrap, wrap_with};
use crate::abi::{Arg, Value};
use crate::classes::borrow::BorrowHandle;
use crate::classes::devices::{self, Place, default_device};
use crate::classes::dtype::{self, TensorType};
use crate::classes::tensor::new_on;
use crate::convert::args::{
    ArrayArg, BorrowArg, BufferArg, DLPackArg, DataArg, FromArg, Ints, NoGrad, PathArg, PromotedArg, Rest,
    TensorArg, missing, wrong_type,
};
use crate::convert::arrays::{self, Misfit};
use crate::convert::borrow::borrowed;
use crate::convert::buffer::{from_bytes, has_buffer};
use crate::convert::dlpack;
use crate::convert::mapping::{FileRequest, from_file};
use crate::convert::numbers::python_number;
use crate::convert::results::{call_with_work, write_out};
use crate::convert::values::{Values, moved};
use pyo3::prelude::*;
use strided_core::dtype::{default_float, promote, set_default_float};
use strided_core::ops::create::{self, RangeEnd, full, range};
use strided_core::ops::{copy, elementwise, output};
use strided_core::storage::Fill;
use strided_core::{DType, Device, Layout, Scalar, Tensor};

methods! { rows(py, x: TensorArg):
    /// A new tensor with the values of nested sequences, an array, a tensor or a number. Always copies.
    ///
    /// >>> strided.tensor([[1, 2], [3, 4]])
    ///  1  2
    ///  3  4
    /// [strided.LongTensor of size 2x2]
    function tensor(data: DataArg, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => tensor_from(py, data.0, dtype, device);

    /// A tensor with these values: the tensor itself, or one on the memory of an array, if they have the dtype; otherwise
    /// a copy.
    ///
    /// >>> x = strided.zeros(2)
    /// >>> strided.as_tensor(x) is x, strided.as_tensor([1, 2]).tolist()
    /// (True, [1, 2])
    function as_tensor(data: DataArg, dtype: Option<DType> = None, device: Option<Device> = None) => {
        asarray(py, data.0, dtype, device, None)
    };

    /// A tensor with these values, by the rules of the array API: `copy=True` always copies, `copy=False` never
    /// (what cannot be had without a copy is refused), and otherwise memory is shared where that is possible.
    ///
    /// >>> x = strided.zeros(2)
    /// >>> strided.asarray(x) is x, strided.asarray(x, copy=True) is x
    /// (True, False)
    function asarray(obj | data: DataArg, dtype: Option<DType> = None, device: Option<Device> = None, copy: Option<bool> = None)
        => asarray(py, obj.0, dtype, device, copy);

    /// A new uninitialized tensor.
    ///
    /// >>> strided.empty(2, 3).shape
    /// strided.Size([2, 3])
    function empty(size | shape: Rest, out: Option<TensorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => match out {
            None => new_tensor(py, device.unwrap_or_else(default_device), size.require("size")?, dtype.unwrap_or_else(default_float), Fill::Uninitialized),
            Some(out) => {
                let wanted = Layout::row_major(size.require("size")?)?;
                write_out(py, out, dtype.unwrap_or(out.dtype()), &wanted, |_| Ok(()))
            }
        };

    /// A new tensor of zeros.
    ///
    /// >>> strided.zeros(2, 3)
    ///  0  0  0
    ///  0  0  0
    /// [strided.FloatTensor of size 2x3]
    function zeros(size | shape: Rest, out: Option<TensorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => match out {
            None => new_tensor(py, device.unwrap_or_else(default_device), size.require("size")?, dtype.unwrap_or_else(default_float), Fill::Zero),
            Some(out) => fill_out(py, out, size.require("size")?, Scalar::Bool(false), dtype),
        };

    /// A new tensor of ones.
    ///
    /// >>> strided.ones(2, 2).tolist()
    /// [[1.0, 1.0], [1.0, 1.0]]
    function ones(size | shape: Rest, out: Option<TensorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => match out {
            None => filled(py, device.unwrap_or_else(default_device), size.require("size")?, Scalar::Bool(true), dtype.unwrap_or_else(default_float)),
            Some(out) => fill_out(py, out, size.require("size")?, Scalar::Bool(true), dtype),
        };

    /// A new tensor with every element set to one value, whose type decides the dtype unless one is given.
    ///
    /// >>> strided.full((2,), 7).tolist()
    /// [7, 7]
    function full(size | shape: Ints, fill_value | value: Scalar, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None, out: Option<TensorArg> = None)
        => match out {
            None => filled(py, device.unwrap_or_else(default_device), &size.ints, fill_value, dtype.unwrap_or_else(|| elementwise::with_scalar(DType::Bool, fill_value))),
            Some(out) => fill_out(py, out, &size.ints, fill_value, dtype),
        };

    /// The identity matrix: ones on the diagonal of `n` rows and `m` columns (`n` unless given).
    ///
    /// >>> strided.eye(2, 3).tolist()
    /// [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    function eye(n: isize, m: Option<isize> = None, out: Option<TensorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None) => {
        let shape = [n, m.unwrap_or(n)];
        match out {
            None => {
                let device = device.unwrap_or_else(default_device);
                let tensor = new_on(py, device, &shape, dtype.unwrap_or_else(default_float), Fill::Uninitialized)?;
                detach_if_large(py, work_on(&tensor), || create::fill_eye(&tensor))?;
                wrap(py, tensor)
            }
            Some(out) => {
                let wanted = Layout::row_major(&shape)?;
                write_out(py, out, dtype.unwrap_or(out.dtype()), &wanted, create::fill_eye)
            }
        }
    };

    /// A new uninitialized tensor of any strides, negative ones too.
    ///
    /// >>> strided.empty_strided((2, 3), (1, 2)).stride()
    /// (1, 2)
    function empty_strided(size | shape: Ints, stride | strides: Ints, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => wrap(py, create::empty_strided(device.unwrap_or_else(default_device), &size.ints, &stride.ints, dtype.unwrap_or_else(default_float))?);

    /// A tensor without dims that holds one number, in the default dtype unless one is given.
    ///
    /// >>> strided.scalar_tensor(3).item()
    /// 3.0
    function scalar_tensor(s: Scalar, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => filled(py, device.unwrap_or_else(default_device), &[], s, dtype.unwrap_or_else(|| elementwise::with_scalar(default_float(), s)));

    /// A new uninitialized tensor of the size and dtype of another one.
    ///
    /// >>> strided.empty_like(strided.arange(3)).dtype
    /// strided.int64
    function empty_like(input | other: TensorArg, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => new_tensor(py, device.unwrap_or(input.device()), &input.layout().shape(), dtype.unwrap_or(input.dtype()), Fill::Uninitialized);

    /// A new tensor of zeros of the size and dtype of another one.
    ///
    /// >>> strided.zeros_like(strided.arange(3)).tolist()
    /// [0, 0, 0]
    function zeros_like(input | other: TensorArg, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => new_tensor(py, device.unwrap_or(input.device()), &input.layout().shape(), dtype.unwrap_or(input.dtype()), Fill::Zero);

    /// A new tensor of ones of the size and dtype of another one.
    ///
    /// >>> strided.ones_like(strided.arange(3), dtype=strided.float32).tolist()
    /// [1.0, 1.0, 1.0]
    function ones_like(input | other: TensorArg, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => filled(py, device.unwrap_or(input.device()), &input.layout().shape(), Scalar::Bool(true), dtype.unwrap_or(input.dtype()));

    /// A new tensor of the size and dtype of another one, with every element set to one value.
    ///
    /// >>> strided.full_like(strided.zeros(2), 7).tolist()
    /// [7.0, 7.0]
    function full_like(input | other: TensorArg, fill_value | value: Scalar, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => filled(py, device.unwrap_or(input.device()), &input.layout().shape(), fill_value, dtype.unwrap_or(input.dtype()));

    /// `start`, `start + step`, … up to but not including `end`; from 0 if only the end is given.
    ///
    /// >>> strided.arange(1, 7, 2).tolist()
    /// [1, 3, 5]
    function arange(start: Option<Scalar> = None, end | stop: Option<Scalar> = None, step: Option<Scalar> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None, out: Option<TensorArg> = None)
        => {
            let (device, given) = (device_of_out(device, out), of_out(dtype, out));
            let numbers = detach_if_large(py, device_work(device, 0), || counting(device, start, end, step, given, RangeEnd::Excluded))?;
            into(py, out, numbers, dtype)
        };

    /// `start`, `start + step`, … up to and including `end`, in the default dtype unless one is given.
    ///
    /// >>> strided.range(1, 2, 0.5).tolist()
    /// [1.0, 1.5, 2.0]
    function range(start: Option<Scalar> = None, end | stop: Option<Scalar> = None, step: Option<Scalar> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None, out: Option<TensorArg> = None)
        => {
            let (device, given) = (device_of_out(device, out), Some(of_out(dtype, out).unwrap_or_else(default_float)));
            let numbers = detach_if_large(py, device_work(device, 0), || counting(device, start, end, step, given, RangeEnd::Included))?;
            into(py, out, numbers, dtype)
        };

    /// `steps` numbers evenly spaced from `start` to `end`, both included.
    ///
    /// >>> strided.linspace(-1, 1, 5).tolist()
    /// [-1.0, -0.5, 0.0, 0.5, 1.0]
    function linspace(start: Scalar, end | stop: Scalar, steps | num: isize, out: Option<TensorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None) => {
        let number_dtype = spaced_dtype(of_out(dtype, out), start, end);
        let device = device_of_out(device, out);
        let work = device_work(device, steps.max(0) as usize);
        into(py, out, detach_if_large(py, work, || create::linspace(device, start, end, steps, number_dtype))?, dtype)
    };

    /// `base` to the power of `steps` exponents evenly spaced from `start` to `end`.
    ///
    /// >>> strided.logspace(0, 3, 4).tolist(), strided.logspace(0, 3, 4, base=2, dtype=strided.int64).tolist()
    /// ([1.0, 10.0, 100.0, 1000.0], [1, 2, 4, 8])
    function logspace(start: Scalar, end | stop: Scalar, steps | num: isize, base: f64 = 10.0, out: Option<TensorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None) => {
        let number_dtype = spaced_dtype(of_out(dtype, out), start, end);
        let device = device_of_out(device, out);
        // Powers in float64, which a device need not have, so that they are made on the host.
        let numbers = detach_if_large(py, steps.max(0) as usize, || create::logspace(Device::Cpu, start, end, steps, base, number_dtype))?;
        into(py, out, moved(py, numbers, device, number_dtype)?, dtype)
    };

    /// A new tensor with the values of data, in this tensor's dtype unless one is given. Always copies.
    ///
    /// >>> strided.zeros(1, dtype=strided.int16).new_tensor([1, 2]).dtype
    /// strided.int16
    method new_tensor(data: DataArg, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => tensor_from(py, data.0, Some(dtype.unwrap_or(x.dtype())), Some(device.unwrap_or(x.device())));

    /// A new uninitialized tensor, of this tensor's dtype unless one is given.
    ///
    /// >>> strided.zeros(1, dtype=strided.int16).new_empty(2, 3).shape
    /// strided.Size([2, 3])
    method new_empty(size | shape: Rest, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => new_tensor(py, device.unwrap_or(x.device()), size.require("size")?, dtype.unwrap_or(x.dtype()), Fill::Uninitialized);

    /// A new uninitialized tensor of any strides, of this tensor's dtype unless one is given.
    ///
    /// >>> strided.zeros(1).new_empty_strided((2, 3), (1, 2)).stride()
    /// (1, 2)
    method new_empty_strided(size | shape: Ints, stride | strides: Ints, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => wrap(py, create::empty_strided(device.unwrap_or(x.device()), &size.ints, &stride.ints, dtype.unwrap_or(x.dtype()))?);

    /// A new tensor of zeros, of this tensor's dtype unless one is given.
    ///
    /// >>> strided.zeros(1, dtype=strided.int16).new_zeros(2).tolist()
    /// [0, 0]
    method new_zeros(size | shape: Rest, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => new_tensor(py, device.unwrap_or(x.device()), size.require("size")?, dtype.unwrap_or(x.dtype()), Fill::Zero);

    /// A new tensor of ones, of this tensor's dtype unless one is given.
    ///
    /// >>> strided.zeros(1, dtype=strided.int16).new_ones(2).tolist()
    /// [1, 1]
    method new_ones(size | shape: Rest, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => filled(py, device.unwrap_or(x.device()), size.require("size")?, Scalar::Bool(true), dtype.unwrap_or(x.dtype()));

    /// A new tensor with every element set to one value, of this tensor's dtype unless one is given.
    ///
    /// >>> strided.zeros(1).new_full((2,), 7).tolist()
    /// [7.0, 7.0]
    method new_full(size | shape: Ints, fill_value | value: Scalar, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => filled(py, device.unwrap_or(x.device()), &size.ints, fill_value, dtype.unwrap_or(x.dtype()));

    /// A tensor on the memory of a NumPy array, or of another buffer or array interface: a write to one is a write to
    /// the other. A tensor on a read-only array is read-only.
    ///
    /// >>> import numpy
    /// >>> a = numpy.zeros(3)
    /// >>> strided.from_numpy(a).fill_(2).dtype
    /// strided.float64
    /// >>> print(a)
    /// [2. 2. 2.]
    function from_numpy(ndarray: ArrayArg) => {
        match arrays::read(ndarray.0, Misfit::Refuse)? {
            Some(tensor) => wrap(py, tensor),
            None => Err(wrong_type(ndarray.0, "ndarray", "a NumPy array or another buffer")),
        }
    };

    /// A tensor on the memory of a tensor of another library, or of a DLPack capsule; read-only if that is.
    /// `copy=True` always copies, `copy=False` refuses memory that cannot be shared.
    ///
    /// >>> import numpy
    /// >>> a = numpy.zeros(3)
    /// >>> strided.from_dlpack(a).fill_(2).dtype
    /// strided.float64
    /// >>> print(a)
    /// [2. 2. 2.]
    function from_dlpack(ext | x: DLPackArg; device: Option<Device> = None, copy: Option<bool> = None)
        => {
            let tensor = dlpack::import(ext.0, device.is_some(), copy)?;
            match device {
                Some(device) if device != tensor.device() => {
                    if copy == Some(false) {
                        return Err(Fail::Value(format!("copy is False, but a tensor on {device} needs a copy")));
                    }
                    let dtype = tensor.dtype();
                    wrap(py, moved(py, tensor, device, dtype)?)
                }
                _ => wrap(py, tensor),
            }
        };

    /// A tensor of one dim on the bytes of a buffer, as elements of a dtype. Shares the memory.
    ///
    /// >>> strided.frombuffer(b"\x01\x00\x02\x00", dtype=strided.int16).tolist()
    /// [1, 2]
    function frombuffer(buffer: BufferArg, dtype: Option<DType> = None, count: isize = -1, offset: isize = 0)
        => wrap(py, from_bytes(buffer.0, dtype.unwrap_or_else(default_float), count, offset)?);

    /// A tensor on memory that its owner may take back, and the handle by which to do so: `handle.invalidate()`, or the end
    /// of `with handle as tensor:`.
    ///
    /// The memory is that of a buffer, an array, a tensor or a storage. The tensor has its shape and dtype; with a dtype, it
    /// has one dim and takes the bytes as elements of that dtype, as in `frombuffer`. It is read-only if the memory is, or on
    /// request. It does not own its storage, nor do views of it; a clone does, and stays valid.
    ///
    /// After `invalidate`, everything that needs the elements of the tensor or of a view, or the memory of its storage, raises
    /// a StorageError, which is a RuntimeError, and the memory is not touched. Printing is no exception. Shape, strides and
    /// dtype, views of the tensor, and operations on zero elements need no memory and still work. Nothing tells whether a
    /// tensor is valid: a program that keeps a borrowed tensor knows its owner.
    ///
    /// >>> frame = bytearray(b'abcd')
    /// >>> x, handle = strided.borrow(frame)
    /// >>> x[0] = 65
    /// >>> row, kept = x[2:], x.clone()
    /// >>> handle.invalidate()
    /// >>> frame += b'ef'
    /// >>> row.sum()
    /// Traceback (most recent call last):
    /// strided.StorageError: sum: the memory was borrowed, and its owner has invalidated it
    /// >>> kept.tolist(), kept.owns_storage(), row.owns_storage()
    /// ([65, 98, 99, 100], True, False)
    function borrow(buffer: BorrowArg; dtype: Option<DType> = None, readonly: bool = False) -> "tuple[Tensor, BorrowHandle]" => {
        let tensor = borrowed(buffer.0, dtype)?;
        to_py(py, BorrowHandle::with_tensor(py, if readonly { tensor.into_readonly() } else { tensor })?)
    };

    /// A tensor of one dim on a mapped file: `Storage.from_file` with PyTorch's defaults. With `shared` and a size, a missing
    /// file is created and a short one extended, unless `create` and `grow` say otherwise.
    ///
    /// >>> import pathlib, tempfile
    /// >>> folder = tempfile.TemporaryDirectory()
    /// >>> name = pathlib.Path(folder.name, 'numbers')
    /// >>> x = strided.from_file(name, shared=True, size=6, dtype=strided.int16).view(2, 3)
    /// >>> x[1] = 7
    /// >>> strided.from_file(name, dtype=strided.int16).tolist()
    /// [0, 0, 0, 7, 7, 7]
    /// >>> folder.cleanup()
    function from_file(filename: PathArg, shared: Option<bool> = None, size: isize = 0, dtype: Option<DType> = None, readonly: bool = False, create: Option<bool> = None, grow: Option<bool> = None, offset: isize = 0) => {
        let shared = shared.unwrap_or(false);
        let extends = shared && !readonly && size != 0;
        let (create, grow) = (create.unwrap_or(extends), grow.unwrap_or(extends));
        let request = FileRequest { size, offset, shared, readonly, create, grow };
        wrap(py, from_file(filename.0, dtype.unwrap_or_else(default_float), request)?.to_tensor()?)
    };

    /// The default dtype, which `zeros(3)`, Python's floats and integer division have.
    ///
    /// >>> strided.get_default_dtype()
    /// strided.float32
    function get_default_dtype() -> "dtype" => to_py(py, dtype::object(py, default_float()));

    /// Sets the default dtype, a floating one.
    ///
    /// >>> strided.set_default_dtype(strided.float64)
    /// >>> strided.zeros(2).dtype
    /// strided.float64
    /// >>> strided.set_default_dtype(strided.float32)
    function set_default_dtype(d | dtype: DType) -> "None" => {
        set_default_float(d)?;
        to_py(py, py.None())
    };

    /// Sets the type that `Tensor` makes: a typed class or its name, such as `'strided.DoubleTensor'`. With a class of
    /// `strided.gpu` the current GPU is the default device, too.
    ///
    /// >>> strided.set_default_tensor_type(strided.DoubleTensor)
    /// >>> strided.Tensor([1, 2]).type()
    /// 'strided.DoubleTensor'
    /// >>> strided.set_default_tensor_type('strided.FloatTensor')
    function set_default_tensor_type(t | type_name: TensorType) -> "None" => {
        set_default_float(t.dtype)?;
        if t.place != Place::Any {
            devices::set_default(t.place.device(None));
        }
        to_py(py, py.None())
    };

    /// The dtype of a result of two operands.
    ///
    /// >>> strided.result_type(strided.zeros(2, dtype=strided.int8), 1.5)
    /// strided.float32
    function result_type(tensor1: PromotedArg, tensor2: PromotedArg) -> "dtype" => to_py(py, dtype::object(py, promoted(tensor1.0, tensor2.0)?));

    /// The smallest dtype that holds the values of both.
    ///
    /// >>> strided.promote_types(strided.uint8, strided.int8)
    /// strided.int16
    function promote_types(type1: DType, type2: DType) -> "dtype" => to_py(py, dtype::object(py, promote(type1, type2)?));

    /// Whether an in-place operation may store a dtype into another: never into a lower category.
    ///
    /// >>> strided.can_cast(strided.int64, strided.float32), strided.can_cast(strided.float32, strided.int64)
    /// (True, False)
    function can_cast(from_: DType, to: DType) -> "bool" => to_py(py, from_.category() <= to.category());
}

/// The device of a tensor with the values of an object: the one that is given, that of a tensor, or the default.
fn device_for(given: Option<Device>, data: Arg<'_>, values: &Tensor) -> Device {
    let has_device = || is_tensor(data) || read_storage(data).is_some();
    given.unwrap_or_else(|| if has_device() { values.device() } else { default_device() })
}

/// A new tensor with the values of an object.
fn tensor_from<'py>(
    py: Python<'py>,
    data: Arg<'_>,
    dtype: Option<DType>,
    device: Option<Device>,
) -> CallResult<Value<'py>> {
    let Values { tensor, is_new } = Values::of(data, dtype)?;
    let dtype = dtype.unwrap_or(tensor.dtype());
    let device = device_for(device, data, &tensor);
    if device != tensor.device() {
        return wrap(py, moved(py, tensor, device, dtype)?);
    }
    if is_new && tensor.dtype() == dtype {
        return wrap(py, tensor);
    }
    call_with_work(py, [], work_on(&tensor), None, |[], _| copy::to_dtype(&tensor, dtype))
}

fn asarray<'a>(
    py: Python<'a>,
    data: Arg<'a>,
    dtype: Option<DType>,
    device: Option<Device>,
    copy: Option<bool>,
) -> CallResult<Value<'a>> {
    if copy == Some(true) {
        return tensor_from(py, data, dtype, device);
    }
    let Values { tensor, is_new } = Values::of(data, dtype)?;
    let dtype = dtype.unwrap_or(tensor.dtype());
    let device = device_for(device, data, &tensor);
    let fits = tensor.dtype() == dtype && tensor.device() == device;
    if copy == Some(false) && (is_new || !fits) {
        let (from, to) = (type_name(data), dtype.name());
        let place = if tensor.device() == device { String::new() } else { format!(" on {device}") };
        return Err(Fail::Value(format!(
            "copy is False, but {from} to a tensor of {to}{place} needs a copy"
        )));
    }
    if is_tensor(data) && fits { Ok(new_ref(data)) } else { wrap(py, moved(py, tensor, device, dtype)?) }
}

/// A new tensor, constructed inside its object.
#[inline]
fn new_tensor<'py>(
    py: Python<'py>,
    device: Device,
    shape: &[isize],
    dtype: DType,
    fill: Fill,
) -> CallResult<Value<'py>> {
    if device != Device::Cpu {
        return wrap(py, new_on(py, device, shape, dtype, fill)?);
    }
    wrap_with(py, |inside| {
        *inside = Some(Tensor::new_on(Device::Cpu, shape, dtype, fill)?);
        Ok(())
    })
}

fn filled<'py>(
    py: Python<'py>,
    device: Device,
    shape: &[isize],
    value: Scalar,
    dtype: DType,
) -> CallResult<Value<'py>> {
    let size = shape.iter().fold(1usize, |a, &b| a.saturating_mul(b.max(0) as usize));
    call_with_work(py, [], device_work(device, size), None, |[], _| full(device, shape, value, dtype))
}

/// The requested device, or that of `out`, or the default one.
pub(super) fn device_of_out(device: Option<Device>, out: Option<TensorArg<'_>>) -> Device {
    device.or(out.map(|out| out.device())).unwrap_or_else(default_device)
}

/// The requested dtype, or that of `out`.
fn of_out(dtype: Option<DType>, out: Option<TensorArg<'_>>) -> Option<DType> {
    dtype.or(out.map(|out| out.dtype()))
}

fn fill_out<'a>(
    py: Python<'a>,
    out: TensorArg<'a>,
    shape: &[isize],
    value: Scalar,
    dtype: Option<DType>,
) -> CallResult<Value<'a>> {
    let wanted = Layout::row_major(shape)?;
    let result = dtype.unwrap_or_else(|| elementwise::with_scalar(DType::Bool, value));
    output::target("out", &out, result, &wanted)?;
    // The value is converted to the requested dtype first, whatever that of `out`.
    let value = match dtype {
        Some(dtype) => copy::single_item(&full(Device::Cpu, &[], value, dtype)?)?,
        None => value,
    };
    full(Device::Cpu, &[], value, out.dtype())?; // refuses a value that `out` cannot hold, before it is resized
    write_out(py, out, result, &wanted, |out| copy::fill(out, value))
}

/// A new tensor as an object, or its values copied to `out`.
pub(super) fn into<'a>(
    py: Python<'a>,
    out: Option<TensorArg<'a>>,
    tensor: Tensor,
    dtype: Option<DType>,
) -> CallResult<Value<'a>> {
    let Some(out) = out else { return wrap(py, tensor) };
    write_out(py, out, dtype.unwrap_or(out.dtype()), tensor.layout(), |out| copy::copy(out, &tensor))
}

/// The dtype of evenly spaced numbers: the default dtype, or its complex counterpart.
fn spaced_dtype(dtype: Option<DType>, start: Scalar, end: Scalar) -> DType {
    let inferred = || [start, end].iter().fold(default_float(), |d, &end| elementwise::with_scalar(d, end));
    dtype.unwrap_or_else(inferred)
}

/// The numbers of `arange` and `range`.
fn counting(
    device: Device,
    start: Option<Scalar>,
    end: Option<Scalar>,
    step: Option<Scalar>,
    dtype: Option<DType>,
    rule: RangeEnd,
) -> CallResult<Tensor> {
    let zero = Scalar::Int(0);
    let (start, end) = match (start, end) {
        (Some(end), None) => (zero, end),
        (start, Some(end)) => (start.unwrap_or(zero), end),
        (None, None) => return Err(missing("end")),
    };
    let as_int = |value| if let Scalar::Bool(v) = value { Scalar::Int(v as i128) } else { value };
    let (start, end, step) = (as_int(start), as_int(end), as_int(step.unwrap_or(Scalar::Int(1))));
    let all = [start, end, step];
    let inferred = || all.iter().fold(DType::I64, |dtype, &value| elementwise::with_scalar(dtype, value));
    let dtype = dtype.unwrap_or_else(inferred);
    Ok(range(device, start, end, step, dtype, rule)?)
}

/// The dtype of a result of two operands. A dtype and an array take part as a tensor of their dtype does.
fn promoted(a: Arg<'_>, b: Arg<'_>) -> CallResult<DType> {
    let read = |object: Arg<'_>| -> CallResult<std::result::Result<DType, Scalar>> {
        if let Some(number) = python_number(object)? {
            return Ok(Err(number));
        }
        if is_tensor(object) || has_buffer(object) {
            return Ok(Ok(Values::of(object, None)?.tensor.dtype()));
        }
        DType::from_arg(object, "tensor").map(Ok)
    };
    match (read(a)?, read(b)?) {
        (Ok(a), Ok(b)) => Ok(promote(a, b)?),
        (Ok(dtype), Err(number)) | (Err(number), Ok(dtype)) => Ok(elementwise::with_scalar(dtype, number)),
        (Err(a), Err(b)) => Ok(elementwise::with_scalar(elementwise::with_scalar(DType::Bool, a), b)),
    }
}
