//! Memory shared with other libraries, whatever the protocol (buffers, array interfaces, DLPack): their memory as tensors,
//! and tensors whose memory they use.

use crate::abi::detach::detach_if_large;
use crate::abi::errors::{CallResult, Fail};
use pyo3::ffi;
use pyo3::prelude::*;
use strided_core::backend::byte_order;
use strided_core::error::{Error, Problem};
use strided_core::layout::{Dims, Layout};
use strided_core::ops::copy;
use strided_core::storage::{Access, Owner, Storage, not_on_host};
use strided_core::{DType, Device, Tensor};

/// Elements in the memory of another library, as that library describes them. Nothing is checked yet.
pub struct ForeignBuffer {
    /// Address of the element whose indices are all zero.
    pub origin: *mut u8,
    pub shape: Dims,
    /// In bytes; `None` if the elements are contiguous in row-major order.
    pub strides: Option<Dims>,
    pub dtype: DType,
    /// Whether the elements are in the opposite byte order.
    pub swapped: bool,
    pub readonly: bool,
}

impl ForeignBuffer {
    /// A tensor on the memory. Refuses memory that is not aligned for the dtype, or has strides between elements.
    ///
    /// # Safety
    /// The elements of the shape and strides stay at their addresses, readable and, unless `readonly`, writable, until
    /// `owner` is dropped.
    pub unsafe fn share(&self, owner: impl Owner + 'static) -> CallResult<Tensor> {
        match self.misfit() {
            Some(reason) => Err(Fail::Storage(format!("{reason}; copy it first"))),
            // SAFETY: the contract above is that of `to_tensor`.
            None => unsafe { self.to_tensor(owner) },
        }
    }

    /// A tensor with the values: on the memory if it can be shared, otherwise a copy.
    ///
    /// # Safety
    /// As for [`ForeignBuffer::share`].
    pub unsafe fn share_or_copy(&self, py: Python<'_>, owner: impl Owner + 'static) -> CallResult<Tensor> {
        if self.misfit().is_none() {
            // SAFETY: the contract above is that of `to_tensor`.
            return unsafe { self.to_tensor(owner) };
        }
        // SAFETY: the bytes of the elements are the same memory, which the contract above covers.
        let bytes = unsafe { self.as_bytes().to_tensor(owner) }?;
        let copied = detach_if_large(py, bytes.size(), || copy::clone(&bytes))?;
        let layout = Layout::row_major(&self.shape)?;
        let copied = Tensor::from_storage(copied.storage().clone(), self.dtype, layout)?;
        if self.swapped {
            byte_order::reverse_bytes(&copied)?;
        }
        Ok(copied)
    }

    /// # Safety
    /// As for [`ForeignBuffer::share`].
    unsafe fn to_tensor(&self, owner: impl Owner + 'static) -> CallResult<Tensor> {
        let (layout, size) = (self.layout()?, self.dtype.size());
        let length = layout.bounds().map_or(0, |(_, high)| high as usize + 1) * size;
        let start = self.origin.wrapping_sub(layout.offset() as usize * size);
        // SAFETY: `layout` puts the lowest location at 0, so `start` and `length` cover exactly the elements that the
        // contract of `share` is about.
        let storage = unsafe { Storage::foreign(start, length, self.readonly, Box::new(owner)) }?;
        Ok(Tensor::from_storage(storage, self.dtype, layout)?)
    }

    /// Refuses memory that can neither be shared nor copied.
    pub fn check(&self) -> CallResult<()> {
        let fits = self.misfit().is_none();
        if fits { self.layout() } else { self.as_bytes().layout() }.map(drop)
    }

    /// Why a tensor of the dtype cannot share the memory, though one of bytes can.
    pub fn misfit(&self) -> Option<String> {
        if self.shape.contains(&0) {
            return None;
        }
        if self.swapped {
            return Some("the bytes are in the byte order of another machine".into());
        }
        let (size, alignment) = (self.dtype.size() as isize, self.dtype.alignment());
        if !(self.origin as usize).is_multiple_of(alignment) {
            return Some(format!("the address is no multiple of {alignment}"));
        }
        let mut strides = self.strides.iter().flatten().zip(&self.shape);
        let between = strides.find(|&(bytes, &extent)| extent > 1 && bytes % size != 0);
        between.map(|(bytes, _)| format!("the stride of {bytes} bytes is no multiple of {size}"))
    }

    /// The layout of the elements, with the lowest location at 0.
    fn layout(&self) -> CallResult<Layout> {
        let row_major = Layout::row_major(&self.shape)?;
        if row_major.size() == 0 {
            return Ok(row_major);
        }
        if self.origin.is_null() {
            return Err(Fail::Storage(format!("the address of {} elements is null", row_major.size())));
        }
        let size = self.dtype.size() as isize;
        let stride: Dims = match &self.strides {
            None => row_major.stride(),
            // The stride of a dim of extent 1 is never used, and other libraries set it to anything.
            Some(strides) => std::iter::zip(strides, row_major.modes())
                .map(|(&bytes, mode)| if mode.extent > 1 { bytes / size } else { mode.stride })
                .collect(),
        };
        let at_zero = Layout::strided(&self.shape, &stride, 0)?;
        let (low, high) = at_zero.bounds().unwrap_or((0, 0));
        let address = self.origin as usize;
        let first = address.checked_add_signed(low * size);
        let end = address.checked_add_signed((high + 1) * size);
        if first.is_none() || end.is_none() {
            return Err(Error::new(Problem::TooLarge { shape: at_zero.shape_text() }).into());
        }
        Ok(Layout::strided(&self.shape, &stride, -low)?)
    }

    /// The same memory with one more dim, the bytes of an element.
    fn as_bytes(&self) -> ForeignBuffer {
        let with = |dims: &Dims, last: isize| dims.iter().copied().chain([last]).collect();
        ForeignBuffer {
            origin: self.origin,
            shape: with(&self.shape, self.dtype.size() as isize),
            strides: self.strides.as_ref().map(|strides| with(strides, 1)),
            dtype: DType::U8,
            swapped: false,
            readonly: self.readonly,
        }
    }
}

/// Runs code that returns memory to its owner, attached to the interpreter. It may run any Python code; an exception that
/// is being raised meanwhile is kept, and one that the code raises is reported as unraisable.
pub fn release_attached(release: impl FnOnce()) {
    // When the interpreter is gone there is no owner left.
    Python::try_attach(|py| {
        // PyO3 counts how often it attached this thread. Other code further up the stack may have detached it since, as
        // PyTorch does while it frees a tensor; only Python knows.
        // SAFETY: the interpreter is initialized, as `try_attach` succeeded, and the state is released below.
        let state = unsafe { ffi::PyGILState_Ensure() };
        let pending = PyErr::take(py);
        release();
        if let Some(error) = PyErr::take(py) {
            error.write_unraisable(py, None);
        }
        if let Some(error) = pending {
            error.restore(py);
        }
        // SAFETY: the state of the call above, on the same thread.
        unsafe { ffi::PyGILState_Release(state) };
    });
}

/// A tensor whose memory others may use: while this exists the memory stays in place, and `resize_` is refused.
pub struct Exported {
    pub tensor: Tensor,
    /// Address of the element whose indices are all zero.
    pub origin: *mut u8,
}

impl Exported {
    /// Refuses memory that the host cannot address.
    pub fn new(tensor: Tensor) -> CallResult<Exported> {
        check_on_host(tensor.storage())?;
        tensor.storage().export();
        let mut exported = Exported { tensor, origin: std::ptr::null_mut() };
        exported.origin = exported.tensor.pin(Access::Read)?.origin;
        Ok(exported)
    }
}

/// Refuses memory that the host cannot address. Everything that leaves as an address passes here: [`Exported`] (buffers, DLPack,
/// lists, borrowed tensors, callbacks), [`export_permanently`] and [`address_of`].
pub fn check_on_host(storage: &Storage) -> CallResult<()> {
    match storage.device() {
        Device::Cpu => Ok(()),
        device => Err(not_on_host(device).into()),
    }
}

/// The address of the element whose indices are all zero, for others who never say that they are done with it: the memory stays
/// in place from now on.
pub fn export_permanently(x: &Tensor) -> CallResult<usize> {
    check_on_host(x.storage())?;
    drop(x.pin(Access::Read)?); // before the export: an error leaves the storage as it was
    x.storage().export_permanently();
    Ok(x.pin(Access::Read)?.origin as usize)
}

/// The address of the first byte of a storage at this moment, for `data_ptr`.
pub fn address_of(storage: &Storage) -> CallResult<usize> {
    check_on_host(storage)?;
    storage.check_valid()?;
    Ok(storage.address()?)
}

impl Drop for Exported {
    fn drop(&mut self) {
        self.tensor.storage().unexport();
    }
}
