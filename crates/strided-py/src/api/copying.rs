//! Copying, filling and resizing.

use crate::abi::Arg;
use crate::abi::detach::work_on;
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::new_ref;
use crate::abi::storage_object::read_storage;
use crate::abi::tensor_object::replace;
use crate::convert::args::{DataArg, FromArg, Ints, MemoryArg, Rest, TensorArg, wrong_type};
use crate::convert::numbers::python_number;
use crate::convert::results::{call, in_place, in_place_with_work, resize};
use crate::convert::values::values;
use strided_core::layout::Dims;
use strided_core::ops::copy;
use strided_core::{DType, Layout, Scalar, Tensor};

methods! { rows(py, x: TensorArg):
    /// A row-major copy with memory of its own.
    ///
    /// >>> x = strided.zeros(2)
    /// >>> x.clone().fill_(1).tolist(), x.tolist()
    /// ([1.0, 1.0], [0.0, 0.0])
    both clone() alias method copy => call(py, [x], None, |[x], _| copy::clone(x));

    /// The tensor itself if it is contiguous in row-major order, otherwise such a copy.
    ///
    /// >>> x = strided.zeros(2, 3)
    /// >>> x.contiguous() is x, x.t().contiguous().stride()
    /// (True, (2, 1))
    method contiguous() => if x.layout().is_row_major() { Ok(new_ref(x.object())) } else { call(py, [x], None, |[x], _| copy::clone(x)) };

    /// Writes the values of a tensor, an array or a nested sequence into this tensor, broadcast and cast.
    ///
    /// >>> strided.zeros(2, 2).copy_([1, 2]).tolist()
    /// [[1.0, 2.0], [1.0, 2.0]]
    method copy_(src | other: DataArg, non_blocking: bool = False) => {
        if let Some(number) = python_number(src.0)? {
            return in_place(py, x, |x| copy::fill(x, number));
        }
        let source = values(src.0, x.dtype())?;
        let work = work_on(&x).max(work_on(&source));
        in_place_with_work(py, x, [], work, |x, []| copy::copy(x, &source))
    };

    /// Sets every element.
    ///
    /// >>> strided.zeros(2).fill_(3.5).tolist()
    /// [3.5, 3.5]
    method fill_(value: Scalar) => in_place(py, x, |x| copy::fill(x, value));

    /// Sets every element to 0.
    ///
    /// >>> strided.ones(2).zero_().tolist()
    /// [0.0, 0.0]
    method zero_() => in_place(py, x, |x| copy::fill(x, Scalar::Bool(false)));

    /// Makes the tensor a view of another tensor's storage, with the layout of that tensor, or of a storage: the whole,
    /// or with an offset, sizes and strides. Nothing is copied.
    ///
    /// >>> s = strided.FloatStorage([1, 2, 3, 4])
    /// >>> strided.Tensor().set_(s, 1, (3,)).tolist()
    /// [2.0, 3.0, 4.0]
    method set_(source: MemoryArg, storage_offset | offset: isize = 0, size | shape: Option<Ints> = None, stride | strides: Option<Ints> = None) => {
        let tensor = view_of(x.dtype(), source.0, storage_offset, size, stride)?;
        // SAFETY: `x` is a tensor, and no reference to its old tensor is used again.
        unsafe { replace(x.object(), tensor) };
        Ok(new_ref(x.object()))
    };

    /// Changes the size of the tensor, in row-major order. The storage grows if it must, and never shrinks.
    ///
    /// >>> strided.arange(6).resize_(2, 2).tolist()
    /// [[0, 1], [2, 3]]
    method resize_(size | sizes: Rest) => {
        resize(py, x, size.require("size")?)?;
        Ok(new_ref(x.object()))
    };

    /// `resize_` to the size of another tensor.
    ///
    /// >>> strided.arange(6).resize_as_(strided.zeros(3, 2)).shape
    /// strided.Size([3, 2])
    method resize_as_(other | template: TensorArg) => {
        let shape = other.layout().shape();
        resize(py, x, &shape)?;
        Ok(new_ref(x.object()))
    };
}

/// A view of a tensor's storage, or of a storage, of the same dtype.
fn view_of(
    dtype: DType,
    source: Arg<'_>,
    offset: isize,
    size: Option<Ints>,
    stride: Option<Ints>,
) -> CallResult<Tensor> {
    let (storage, mut layout) = if let Some(other) = TensorArg::read(source)? {
        if other.dtype() != dtype {
            return Err(Fail::Type(format!(
                "source is {}, the tensor is {}",
                other.dtype().name(),
                dtype.name()
            )));
        }
        if size.is_none() {
            if offset != 0 {
                return Err(Fail::Value("an offset into a tensor's storage needs a size too".into()));
            }
            return Ok(Tensor::clone(&other));
        }
        (other.storage().clone(), other.layout().clone())
    } else if let Some(storage) = read_storage(source) {
        if storage.dtype != dtype {
            return Err(Fail::Type(format!(
                "source is {}, the tensor is {}",
                storage.dtype.name(),
                dtype.name()
            )));
        }
        let length = (storage.bytes.valid_length()? / dtype.size()) as isize;
        if offset < 0 || offset > length {
            return Err(Fail::Value(format!("offset {offset} is outside a storage of {length} elements")));
        }
        let left = length - offset;
        (storage.bytes.clone(), Layout::strided(&[left], &[1], offset)?)
    } else {
        return Err(wrong_type(source, "source", "a Tensor or a Storage"));
    };
    if let Some(Ints { ints: size, .. }) = size {
        let stride: Dims = match stride {
            Some(stride) => stride.ints,
            None => Layout::row_major(&size)?.stride(),
        };
        layout = Layout::strided(&size, &stride, offset)?;
    }
    Ok(Tensor::from_storage(storage, dtype, layout)?)
}
