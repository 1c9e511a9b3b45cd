//! Devices: where the bytes of a storage are, and who computes with them.

use crate::error::{Error, Problem, Result};
use std::fmt;
use strided_opencl::Memory;

/// Where the bytes of a storage are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// Memory that the host addresses.
    Cpu,
    /// A device of OpenCL, by its number.
    Gpu(u8),
    /// A device for tests: its memory has a length and cannot be addressed, and nothing computes on it. It shows that every
    /// path that needs host memory fails with an error.
    Test,
}

impl Device {
    /// The device in one byte; 0 is the CPU.
    pub const fn code(self) -> u8 {
        match self {
            Device::Cpu => 0,
            Device::Test => 1,
            Device::Gpu(index) => index + 2,
        }
    }

    #[inline(always)]
    pub const fn from_code(code: u8) -> Device {
        match code {
            0 => Device::Cpu,
            1 => Device::Test,
            index => Device::Gpu(index - 2),
        }
    }

    /// The name without an index.
    pub fn kind(self) -> &'static str {
        match self {
            Device::Cpu => "cpu",
            Device::Gpu(_) => "gpu",
            Device::Test => "test",
        }
    }

    /// Which one of several devices of this kind; the CPU has no index.
    pub fn index(self) -> Option<usize> {
        match self {
            Device::Cpu => None,
            Device::Gpu(index) => Some(index.into()),
            Device::Test => Some(0),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index() {
            Some(index) => write!(f, "{}:{index}", self.kind()),
            None => f.write_str(self.kind()),
        }
    }
}

/// Memory that the host cannot address.
pub enum DeviceMemory {
    Gpu(Memory),
    /// Memory of [`Device::Test`]: nothing but a length.
    Test(usize),
}

impl DeviceMemory {
    pub fn device(&self) -> Device {
        match self {
            DeviceMemory::Gpu(memory) => Device::Gpu(memory.device.index as u8),
            DeviceMemory::Test(_) => Device::Test,
        }
    }

    /// Its length in bytes.
    pub fn length(&self) -> usize {
        match self {
            DeviceMemory::Gpu(memory) => memory.length(),
            DeviceMemory::Test(length) => *length,
        }
    }

    /// Memory of another length with the common prefix, and zeros after it.
    pub fn resized(&self, bytes: usize) -> Result<DeviceMemory> {
        let DeviceMemory::Gpu(old) = self else { return Err(not_on_host(self.device())) };
        let new = Memory::new(old.device, bytes)?;
        let common = bytes.min(old.length());
        old.device.copy(old, 0, &new, 0, common, "resize_")?;
        old.device.fill_zero(&new, common, bytes - common, "resize_")?;
        Ok(DeviceMemory::Gpu(new))
    }
}

/// The error for an access by the host to memory that is on a device.
#[cold]
pub fn not_on_host(device: Device) -> Error {
    Error::new(Problem::NotOnHost { device: device.to_string() })
}
