//! The values of anything that has some: a tensor, a storage, an array, a nested sequence or a number.

use super::arrays::{self, Misfit};
use super::sequence::from_nested;
use crate::abi::Object;
use crate::abi::detach::with_threads;
use crate::abi::errors::Result;
use crate::abi::refs::again;
use crate::abi::storage_object;
use crate::abi::tensor_object::{is_tensor, tensor_of, wrap};
use pyo3::prelude::*;
use strided_core::ops::copy;
use strided_core::{DType, Tensor};

/// The values of a tensor, a storage, an array or a nested sequence, to be written into elements of a dtype. Numbers of
/// nested sequences are read as that dtype, and refused where they do not fit; others are cast when they are copied.
pub fn values(py: Python<'_>, value: Object, dtype: DType) -> Result<Tensor> {
    Ok(taken(py, value, Some(dtype))?.tensor)
}

/// Values that were brought in.
pub struct Taken {
    pub tensor: Tensor,
    /// Whether the memory is new and nobody else's.
    pub is_new: bool,
}

/// The values of anything that has some.
pub fn taken(py: Python<'_>, data: Object, dtype: Option<DType>) -> Result<Taken> {
    if is_tensor(data) {
        // SAFETY: it is a tensor, copied at once.
        return Ok(Taken { tensor: unsafe { tensor_of(data) }.clone(), is_new: false });
    }
    if let Some(storage) = storage_object::read(py, data) {
        return Ok(Taken { tensor: storage.whole()?, is_new: false });
    }
    if let Some(tensor) = arrays::read(py, data, Misfit::Copy)? {
        let is_new = tensor.storage().is_owned(); // memory of others could not be shared
        return Ok(Taken { tensor, is_new });
    }
    Ok(Taken { tensor: from_nested(py, data, dtype)?, is_new: true })
}

/// A tensor in another dtype, itself if it has it already.
pub fn cast(py: Python<'_>, tensor: Tensor, dtype: DType) -> Result<Tensor> {
    if tensor.dtype() == dtype {
        Ok(tensor)
    } else {
        Ok(with_threads(py, tensor.size(), || copy::to_dtype(&tensor, dtype))?)
    }
}

/// A tensor of a dtype with the values of anything: on the same memory where that has the dtype.
pub fn shared_or_cast(py: Python<'_>, data: Object, dtype: DType) -> Result<Tensor> {
    cast(py, taken(py, data, Some(dtype))?.tensor, dtype)
}

/// The object of a tensor of a dtype, itself if it has it already.
pub fn converted(py: Python<'_>, this: Object, dtype: DType, force: bool) -> Result<Object> {
    // SAFETY: callers pass a tensor.
    let x = unsafe { tensor_of(this) };
    if x.dtype() == dtype && !force {
        return Ok(again(this));
    }
    let x = x.clone();
    wrap(py, with_threads(py, x.size(), || copy::to_dtype(&x, dtype))?)
}
