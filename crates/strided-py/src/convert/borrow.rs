//! Tensors on memory that its owner may take back.

use super::args::wrong_type;
use super::arrays::{self, Misfit};
use super::buffer::from_bytes;
use super::exchange::{Exported, ForeignBuffer};
use crate::abi::Arg;
use crate::abi::errors::CallResult;
use crate::abi::storage_object::read_storage;
use crate::abi::tensor_object::cloned_tensor;
use strided_core::storage::Owner;
use strided_core::{DType, Tensor};

/// A tensor with a storage of its own on the memory of an object, never a copy. With a dtype, it takes the bytes as elements
/// of that dtype.
pub fn borrowed(object: Arg<'_>, dtype: Option<DType>) -> CallResult<Tensor> {
    if let Some(dtype) = dtype {
        return from_bytes(object, dtype, -1, 0);
    }
    if let Some(tensor) = cloned_tensor(object) {
        return borrowed_tensor(tensor);
    }
    if let Some(storage) = read_storage(object) {
        return borrowed_tensor(storage.to_tensor()?);
    }
    match arrays::read(object, Misfit::Refuse)? {
        Some(tensor) => Ok(tensor),
        None => Err(wrong_type(object, "buffer", "a buffer, an array, a Tensor or a Storage")),
    }
}

/// Keeps the memory of a tensor in place.
struct LentTensor(Tensor);

impl Owner for LentTensor {}

impl Drop for LentTensor {
    fn drop(&mut self) {
        self.0.storage().unexport();
    }
}

/// A tensor with a storage of its own on the elements of another tensor.
fn borrowed_tensor(lender: Tensor) -> CallResult<Tensor> {
    let exported = Exported::new(lender.clone())?;
    lender.storage().export();
    let (layout, dtype, readonly) = (lender.layout().clone(), lender.dtype(), lender.storage().is_readonly());
    let owner = LentTensor(lender);
    let size = dtype.size() as isize;
    let strides = layout.modes().iter().map(|mode| mode.stride * size).collect();
    let (origin, shape) = (exported.origin, layout.shape());
    let foreign = ForeignBuffer { origin, shape, strides: Some(strides), dtype, swapped: false, readonly };
    // SAFETY: the elements of a tensor whose storage is exported, which `owner` takes back when it is dropped.
    unsafe { foreign.share(owner) }
}
