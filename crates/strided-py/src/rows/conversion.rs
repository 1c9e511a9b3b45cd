//! Conversions: to other dtypes, to NumPy, and new tensors of the same type.

use crate::abi::Object;
use crate::abi::errors::{Fail, Result, type_name};
use crate::abi::refs::{again, bound, give, python};
use crate::classes::dtype::{self, Device};
use crate::classes::tensor::construct;
use crate::convert::args::{FromArg, Objects, TargetArg, TensorArg, TwoInts, Untyped};
use crate::convert::dlpack;
use crate::convert::values::converted;
use pyo3::prelude::*;
use strided_core::{DType, Tensor};

methods! { rows(py, x: TensorArg):
    /// The tensor in another dtype, or in the dtype of another tensor; itself if it has it already.
    ///
    /// >>> strided.tensor([1.7, -1.7]).to(strided.int32).tolist()
    /// [1, -1]
    method to(target | other: Option<TargetArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, copy: bool = False, non_blocking: bool = False)
        => to(py, x, target, dtype, copy);

    /// The name of the tensor's type, or the tensor as another type.
    ///
    /// >>> strided.zeros(2).type()
    /// 'strided.FloatTensor'
    /// >>> strided.zeros(2).type('strided.IntTensor').dtype
    /// strided.int32
    method r#type(dtype: Option<DType> = None, non_blocking: bool = False)
        -> ["(dtype: None = None, non_blocking: bool = False) -> str", "(dtype: _DTypeLike, non_blocking: bool = False) -> Tensor"] => match dtype {
        Some(dtype) => converted(py, x.0, dtype, false),
        None => give(py, format!("strided.{}Tensor", x.dtype().torch_name())),
    };

    /// The tensor in the dtype of another one.
    ///
    /// >>> strided.arange(3).type_as(strided.zeros(1)).tolist()
    /// [0.0, 1.0, 2.0]
    method type_as(other: TensorArg) => converted(py, x.0, other.dtype(), false);

    /// The tensor in another dtype, as a copy unless `copy=False`: NumPy's name for `to`.
    ///
    /// >>> strided.tensor([1.5, -1.5]).astype(strided.int32).tolist()
    /// [1, -1]
    method astype(dtype: DType, copy: bool = True) => converted(py, x.0, dtype, copy);

    /// The tensor as bool: whether each element differs from 0.
    ///
    /// >>> strided.tensor([0, 2]).bool().tolist()
    /// [False, True]
    method bool() => converted(py, x.0, DType::Bool, false);

    /// The tensor as uint8.
    ///
    /// >>> strided.tensor([1.9, 255.0]).byte().tolist()
    /// [1, 255]
    method byte() => converted(py, x.0, DType::U8, false);

    /// The tensor as int8.
    ///
    /// >>> strided.tensor([-1.9, 127.0]).char().tolist()
    /// [-1, 127]
    method char() => converted(py, x.0, DType::I8, false);

    /// The tensor as int16.
    ///
    /// >>> strided.tensor([-1.5, 300.0]).short().tolist()
    /// [-1, 300]
    method short() => converted(py, x.0, DType::I16, false);

    /// The tensor as int32.
    ///
    /// >>> strided.tensor([1.7, -1.7]).int().tolist()
    /// [1, -1]
    method int() => converted(py, x.0, DType::I32, false);

    /// The tensor as int64.
    ///
    /// >>> strided.tensor([1.7, -1.7]).long().tolist()
    /// [1, -1]
    method long() => converted(py, x.0, DType::I64, false);

    /// The tensor as float16.
    ///
    /// >>> strided.tensor([0.1, 1]).half().tolist()
    /// [0.0999755859375, 1.0]
    method half() => converted(py, x.0, DType::F16, false);

    /// The tensor as bfloat16.
    ///
    /// >>> strided.tensor([0.1, 1]).bfloat16().tolist()
    /// [0.10009765625, 1.0]
    method bfloat16() => converted(py, x.0, DType::BF16, false);

    /// The tensor as float32.
    ///
    /// >>> strided.tensor([1, 2]).float().tolist()
    /// [1.0, 2.0]
    method float() => converted(py, x.0, DType::F32, false);

    /// The tensor as float64.
    ///
    /// >>> strided.tensor([1, 2]).double().tolist()
    /// [1.0, 2.0]
    method double() => converted(py, x.0, DType::F64, false);

    /// The tensor as complex64.
    ///
    /// >>> strided.tensor([1, 2]).cfloat().tolist()
    /// [(1+0j), (2+0j)]
    method cfloat() => converted(py, x.0, DType::C64, false);

    /// The tensor as complex128.
    ///
    /// >>> strided.tensor([1, 2]).cdouble().tolist()
    /// [(1+0j), (2+0j)]
    method cdouble() => converted(py, x.0, DType::C128, false);

    /// The tensor on the CPU, where it is already.
    ///
    /// >>> x = strided.zeros(2)
    /// >>> x.cpu() is x
    /// True
    method cpu() => Ok(again(x.0));

    /// A new tensor of this tensor's type, made as its typed class makes one.
    ///
    /// >>> x = strided.DoubleTensor(2, 3)
    /// >>> x.new(x.size()).copy_(x).type()
    /// 'strided.DoubleTensor'
    method new(args: Objects) => construct(py, x.dtype(), args.as_slice());

    /// A NumPy array on the same memory.
    ///
    /// >>> x = strided.zeros(3)
    /// >>> x.numpy()[1] = 7
    /// >>> x.tolist()
    /// [0.0, 7.0, 0.0]
    method numpy(force: bool = False) -> "_NDArray" => python(py, "strided._numpy", "to_numpy", (bound(py, x.0),));

    /// NumPy's protocol for its functions: called with tensors they return tensors.
    ///
    /// >>> import numpy
    /// >>> numpy.mean(strided.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    ///  2
    ///  3
    /// [strided.FloatTensor of size 2]
    method __array_function__(func: Untyped, types: Untyped, args: Untyped, kwargs: Untyped) -> "Any" => {
        let [func, types, args, kwargs] = [func, types, args, kwargs].map(|argument| bound(py, argument.0));
        python(py, "strided._numpy", "array_function", (bound(py, x.0), func, types, args, kwargs))
    };

    /// NumPy's way to ask for an array.
    method __array__(dtype: Option<Untyped> = None, copy: Option<Untyped> = None) -> "_NDArray" => {
        let plain = |value: Option<Untyped>| value.map_or(py.None().into_bound(py), |value| bound(py, value.0));
        python(py, "strided._numpy", "to_array", (bound(py, x.0), plain(dtype), plain(copy)))
    };

    /// A DLPack capsule of the tensor, for another library to take: `their.from_dlpack(x)` asks for it.
    ///
    /// >>> strided.from_dlpack(strided.arange(3).__dlpack__(max_version=(1, 0))).tolist()
    /// [0, 1, 2]
    method __dlpack__(; stream: Option<Untyped> = None, max_version: Option<TwoInts> = None, dl_device: Option<TwoInts> = None, copy: Option<bool> = None) -> "CapsuleType"
        => dlpack::export(py, Tensor::clone(&x), dlpack::Request { stream, max_version, dl_device, copy });

    /// The device as DLPack numbers it: 1 is the CPU, of which there is one.
    ///
    /// >>> strided.zeros(2).__dlpack_device__()
    /// (1, 0)
    method __dlpack_device__() -> "tuple[int, int]" => give(py, (dlpack::CPU, 0));
}

fn to(
    py: Python<'_>,
    x: TensorArg,
    target: Option<TargetArg>,
    dtype: Option<DType>,
    copy: bool,
) -> Result<Object> {
    let Some(TargetArg(target)) = target else {
        return converted(py, x.0, dtype.unwrap_or(x.dtype()), copy);
    };
    if let Some(other) = TensorArg::read(py, target)? {
        return converted(py, x.0, other.dtype(), copy);
    }
    if bound(py, target).is_instance_of::<Device>() {
        return converted(py, x.0, dtype.unwrap_or(x.dtype()), copy);
    }
    if let Ok(text) = bound(py, target).cast::<pyo3::types::PyString>() {
        let text = text.to_string();
        return match dtype::from_text(&text) {
            Some(dtype) => converted(py, x.0, dtype, copy),
            None if Device::read(py, target).is_ok() => converted(py, x.0, dtype.unwrap_or(x.dtype()), copy),
            None => Err(Fail::Value(format!(
                "target is '{text}', wanted a dtype or a device; the only device is 'cpu'"
            ))),
        };
    }
    match DType::read(py, target)? {
        Some(dtype) => converted(py, x.0, dtype, copy),
        None => Err(Fail::Type(format!(
            "target must be a dtype, a device or a Tensor, got {}",
            type_name(py, target)
        ))),
    }
}
