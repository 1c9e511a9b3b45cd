//! Memory that crosses the border, as buffers, array interfaces and DLPack see it: lent by others, and lent to others.

use crate::abi::detach::with_threads;
use crate::abi::errors::{Fail, Result};
use pyo3::ffi;
use pyo3::prelude::*;
use strided_core::error::{Error, Problem};
use strided_core::kernels::byteswap;
use strided_core::layout::{Dims, Layout};
use strided_core::ops::copy;
use strided_core::storage::{Access, Owner, Storage};
use strided_core::{DType, Tensor};

/// Elements in the memory of someone else, as their owner describes them. Nothing of it is checked yet.
pub struct Lent {
    /// Address of the element whose indices are all zero.
    pub origin: *mut u8,
    pub shape: Dims,
    /// In bytes; `None` where the elements lie next to each other in row-major order.
    pub strides: Option<Dims>,
    pub dtype: DType,
    /// Whether the bytes of a number lie in the order of another machine.
    pub swapped: bool,
    pub readonly: bool,
}

impl Lent {
    /// A tensor on the memory. Refuses memory that our elements cannot lie in.
    ///
    /// # Safety
    /// The elements of the shape and strides stay where they are, readable and, unless `readonly`, writable,
    /// until `owner` is dropped.
    pub unsafe fn share(&self, owner: impl Owner + 'static) -> Result<Tensor> {
        match self.misfit() {
            Some(why) => Err(Fail::Storage(format!("{why}; copy it first"))),
            // SAFETY: the caller's promise.
            None => unsafe { self.place(owner) },
        }
    }

    /// A tensor with the values: on the memory where our elements can lie in it, else a copy.
    ///
    /// # Safety
    /// As for [`Lent::share`].
    pub unsafe fn share_or_copy(&self, py: Python<'_>, owner: impl Owner + 'static) -> Result<Tensor> {
        if self.misfit().is_none() {
            // SAFETY: the caller's promise.
            return unsafe { self.place(owner) };
        }
        // SAFETY: the same memory, byte by byte.
        let bytes = unsafe { self.as_bytes().place(owner) }?;
        let made = with_threads(py, bytes.size(), || copy::clone(&bytes))?;
        let made = Tensor::from_storage(made.storage().clone(), self.dtype, Layout::row_major(&self.shape)?)?;
        if self.swapped {
            byteswap::reverse_bytes(&made)?;
        }
        Ok(made)
    }

    /// # Safety
    /// As for [`Lent::share`].
    unsafe fn place(&self, owner: impl Owner + 'static) -> Result<Tensor> {
        let (layout, size) = (self.layout()?, self.dtype.size());
        let length = layout.bounds().map_or(0, |(_, high)| high as usize + 1) * size;
        let start = self.origin.wrapping_sub(layout.offset() as usize * size);
        // SAFETY: `start` and `length` cover exactly the elements, for which the caller answers.
        let storage = unsafe { Storage::foreign(start, length, self.readonly, Box::new(owner)) }?;
        Ok(Tensor::from_storage(storage, self.dtype, layout)?)
    }

    /// Refuses what can neither be shared nor copied.
    pub fn check(&self) -> Result<()> {
        let fits = self.misfit().is_none();
        if fits { self.layout() } else { self.as_bytes().layout() }.map(drop)
    }

    /// Why elements of the dtype cannot lie there, though bytes can.
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
        let strides = self.strides.iter().flatten().zip(&self.shape);
        let odd = strides.filter(|&(_, &extent)| extent > 1).find(|&(bytes, _)| bytes % size != 0);
        odd.map(|(bytes, _)| format!("the stride of {bytes} bytes is no multiple of {size}"))
    }

    /// The layout of the elements, with the lowest location at 0.
    fn layout(&self) -> Result<Layout> {
        let dense = Layout::row_major(&self.shape)?;
        if dense.size() == 0 {
            return Ok(dense);
        }
        if self.origin.is_null() {
            return Err(Fail::Storage(format!("the address of {} elements is null", dense.size())));
        }
        let size = self.dtype.size() as isize;
        let stride: Dims = match &self.strides {
            None => dense.stride(),
            // The stride of a single index means nothing, and may be anything.
            Some(strides) => std::iter::zip(strides, dense.modes())
                .map(|(&bytes, mode)| if mode.extent > 1 { bytes / size } else { mode.stride })
                .collect(),
        };
        let at_zero = Layout::strided(&self.shape, &stride, 0)?;
        let (low, high) = at_zero.bounds().unwrap_or((0, 0));
        let address = self.origin as usize;
        let first = address.checked_add_signed(low * size);
        let end = address.checked_add_signed((high + 1) * size);
        if first.is_none() || end.is_none() {
            return Err(Error::new("", Problem::TooLarge { shape: at_zero.shape_text() }).into());
        }
        Ok(Layout::strided(&self.shape, &stride, -low)?)
    }

    /// The same memory with one more dim, the bytes of an element.
    fn as_bytes(&self) -> Lent {
        let with = |dims: &Dims, last: isize| dims.iter().copied().chain([last]).collect();
        Lent {
            origin: self.origin,
            shape: with(&self.shape, self.dtype.size() as isize),
            strides: self.strides.as_ref().map(|strides| with(strides, 1)),
            dtype: DType::U8,
            swapped: false,
            readonly: self.readonly,
        }
    }
}

/// Runs what gives memory back to its owner. That may be any code; it must not swallow the exception that is
/// being raised, nor leave one of its own behind.
pub fn give_back(release: impl FnOnce()) {
    // After the interpreter is gone there is nobody left to give anything back to.
    Python::try_attach(|py| {
        // PyO3 counts how often it attached this thread. Foreign code that runs inside may have let the
        // interpreter go since (PyTorch does while it frees a tensor): only Python knows.
        // SAFETY: Python is there, and the state is given back below.
        let state = unsafe { ffi::PyGILState_Ensure() };
        let pending = PyErr::take(py);
        release();
        if let Some(error) = PyErr::take(py) {
            error.write_unraisable(py, None);
        }
        if let Some(error) = pending {
            error.restore(py);
        }
        // SAFETY: as above.
        unsafe { ffi::PyGILState_Release(state) };
    });
}

/// A tensor whose memory others look at: while this lives it stays in place, and `resize_` is refused.
pub struct Exported {
    pub tensor: Tensor,
    /// Address of the element whose indices are all zero.
    pub origin: *mut u8,
}

impl Exported {
    pub fn new(tensor: Tensor) -> Result<Exported> {
        tensor.storage().export();
        let mut exported = Exported { tensor, origin: std::ptr::null_mut() };
        exported.origin = exported.tensor.pin(Access::Read)?.origin;
        Ok(exported)
    }

    /// The address of a location.
    pub fn at(&self, location: isize) -> *const u8 {
        let steps = location - self.tensor.layout().offset();
        self.origin.wrapping_offset(steps * self.tensor.dtype().size() as isize)
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        self.tensor.storage().unexport();
    }
}
