//! Storages on memory that the host cannot address, and the check of a layout that needs no pin.

use super::buffer::{Backing, Buffer};
use super::{Access, Device, DeviceMemory, Fill, Storage, not_on_host};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use std::sync::Arc;
use strided_opencl::{HostMemory, Memory};

impl Storage {
    /// Allocates memory on another device than the host.
    #[cold]
    pub(super) fn new_off_host(device: Device, bytes: usize, fill: Fill) -> Result<Storage> {
        match device {
            Device::Gpu(index) => {
                let memory = Memory::new(strided_opencl::device(index.into())?, bytes)?;
                if fill == Fill::Zero {
                    memory.device.fill_zero(&memory, 0, bytes, "zeros")?;
                }
                Storage::on_device(DeviceMemory::Gpu(memory))
            }
            // Nothing computes there, so that nothing can write zeros.
            Device::Test if fill == Fill::Uninitialized => Storage::on_device(DeviceMemory::Test(bytes)),
            device => Err(not_on_host(device)),
        }
    }

    /// A storage on memory that the host cannot address.
    pub fn on_device(memory: DeviceMemory) -> Result<Storage> {
        Storage::with_header(Buffer::on_device(Arc::new(memory)), false)
    }

    /// A storage on page-locked memory of the host, for transfers to and from a device.
    pub fn page_locked(device: Device, bytes: usize) -> Result<Storage> {
        let Some(index) = device.index() else {
            return Err(Error::argument("device", device, "a GPU"));
        };
        let memory = HostMemory::new(strided_opencl::device(index)?, bytes)?;
        let start = memory.start;
        // SAFETY: the memory has this many bytes until it is dropped.
        unsafe { Storage::foreign(start, bytes, false, Box::new(memory)) }
    }

    /// Whether the memory is page-locked.
    pub fn is_page_locked(&self) -> bool {
        let _pinned = self.pin_buffer();
        // SAFETY: the pin keeps the buffer from being exchanged.
        let buffer = unsafe { &*self.header().buffer.get() };
        matches!(&buffer.backing, Backing::Foreign(owner) if owner.is_page_locked())
    }

    /// The memory of the elements of a layout. It stays valid for work that is enqueued, even if the storage gets other memory
    /// meanwhile. Refuses memory of the host, a layout with locations outside the storage, and writing to read-only memory.
    pub fn device_memory(&self, layout: &Layout, dtype: DType, access: Access) -> Result<Arc<DeviceMemory>> {
        if access == Access::Write && self.is_readonly() {
            return Err(Error::new(Problem::ReadOnly));
        }
        let _pinned = self.pin_buffer();
        // SAFETY: the pin keeps the buffer from being exchanged.
        let buffer = unsafe { &*self.header().buffer.get() };
        let Backing::Device(memory) = &buffer.backing else {
            return Err(Error::new(Problem::NotOnDevice));
        };
        check_bounds(layout, memory.length() / dtype.size())?;
        Ok(memory.clone())
    }

    /// Refuses a layout with locations outside the storage, or an address that is not aligned for the dtype. Memory of a device
    /// is aligned for every dtype.
    pub fn check_elements(&self, layout: &Layout, dtype: DType) -> Result<()> {
        if self.device() == Device::Cpu {
            while self.try_pin(layout, dtype, Access::Read)?.is_none() {
                self.wait_until_open();
            }
            return Ok(());
        }
        check_bounds(layout, self.valid_length()? / dtype.size())
    }
}

/// Refuses locations outside a storage of this many elements.
fn check_bounds(layout: &Layout, length: usize) -> Result<()> {
    match layout.bounds() {
        Some((low, high)) if low < 0 || high >= length as isize => {
            Err(Error::new(Problem::OutsideStorage { first: low, last: high, length }))
        }
        _ => Ok(()),
    }
}
