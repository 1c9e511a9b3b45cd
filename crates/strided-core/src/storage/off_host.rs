//! Storages on memory that the host cannot address, and the check of a layout that needs no pin.

use super::buffer::Buffer;
use super::device::TestMemory;
use super::{Access, Device, DeviceMemory, Fill, Storage, not_on_host};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;

impl Storage {
    /// Allocates memory on another device than the host.
    #[cold]
    pub(super) fn new_off_host(device: Device, bytes: usize, fill: Fill) -> Result<Storage> {
        match device {
            // Nothing computes there, so that nothing can write zeros.
            Device::Test if fill == Fill::Uninitialized => Storage::on_device(Box::new(TestMemory(bytes))),
            device => Err(not_on_host(device)),
        }
    }

    /// A storage on memory that the host cannot address.
    pub fn on_device(memory: Box<dyn DeviceMemory>) -> Result<Storage> {
        Storage::with_header(Buffer::on_device(memory), false)
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
        let length = self.valid_length()? / dtype.size();
        match layout.bounds() {
            Some((low, high)) if low < 0 || high >= length as isize => {
                Err(Error::new(Problem::OutsideStorage { first: low, last: high, length }))
            }
            _ => Ok(()),
        }
    }
}
