//! The values of any object that has some: a tensor, a storage, an array, a nested sequence or a number.

use super::args::TensorArg;
use super::arrays::{self, Misfit};
use super::sequence::from_nested;
use crate::abi::detach::{detach, detach_if_large, work_on};
use crate::abi::errors::CallResult;
use crate::abi::refs::new_ref;
use crate::abi::storage_object::read_storage;
use crate::abi::tensor_object::{cloned_tensor, wrap};
use crate::abi::{Arg, Value};
use pyo3::prelude::*;
use strided_core::ops::copy;
use strided_core::{DType, Device, Tensor};

/// Values as a tensor.
pub struct Values {
    pub tensor: Tensor,
    /// Whether the memory is new, and not shared with the object.
    pub is_new: bool,
}

impl Values {
    /// Reads an object. The dtype is that of numbers in nested sequences; other values have their own.
    pub fn of(object: Arg<'_>, dtype: Option<DType>) -> CallResult<Values> {
        if let Some(tensor) = cloned_tensor(object) {
            return Ok(Values { tensor, is_new: false });
        }
        if let Some(storage) = read_storage(object) {
            return Ok(Values { tensor: storage.to_tensor()?, is_new: false });
        }
        if let Some(tensor) = arrays::read(object, Misfit::Copy)? {
            let is_new = tensor.storage().is_owned(); // the array's memory could not be shared
            return Ok(Values { tensor, is_new });
        }
        Ok(Values { tensor: from_nested(object, dtype)?, is_new: true })
    }
}

/// The values of an object, to be written to elements of a dtype. Numbers of nested sequences are read as that dtype, and
/// refused if they do not fit; other values are cast when they are copied.
pub fn values(object: Arg<'_>, dtype: DType) -> CallResult<Tensor> {
    Ok(Values::of(object, Some(dtype))?.tensor)
}

/// A tensor in another dtype, itself if it has that dtype.
pub fn cast(py: Python<'_>, tensor: Tensor, dtype: DType) -> CallResult<Tensor> {
    if tensor.dtype() == dtype {
        Ok(tensor)
    } else {
        Ok(detach_if_large(py, work_on(&tensor), || copy::to_dtype(&tensor, dtype))?)
    }
}

/// A tensor on a device and in a dtype, itself if it is so.
pub fn moved(py: Python<'_>, tensor: Tensor, device: Device, dtype: DType) -> CallResult<Tensor> {
    if tensor.device() == device {
        return cast(py, tensor, dtype);
    }
    Ok(detach(py, || copy::to_device(&tensor, device, dtype))?)
}

/// A tensor's object in another dtype: itself if it has that dtype, unless a copy is required.
pub fn cast_object<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    dtype: DType,
    force_copy: bool,
) -> CallResult<Value<'a>> {
    if x.dtype() == dtype && !force_copy {
        return Ok(new_ref(x.object()));
    }
    let x = Tensor::clone(&x);
    wrap(py, detach_if_large(py, work_on(&x), || copy::to_dtype(&x, dtype))?)
}
