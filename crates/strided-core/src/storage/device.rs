//! Devices: where the bytes of a storage are, and who computes with them.

use crate::error::{Error, Problem};
use std::fmt;

/// Where the bytes of a storage are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// Memory that the host addresses.
    Cpu,
    /// A device for tests: its memory has a length and cannot be addressed, and nothing computes on it. It shows that every
    /// path that needs host memory fails with an error.
    Test,
}

impl Device {
    /// The name without an index.
    pub fn kind(self) -> &'static str {
        match self {
            Device::Cpu => "cpu",
            Device::Test => "test",
        }
    }

    /// Which one of several devices of this kind; the CPU has no index.
    pub fn index(self) -> Option<usize> {
        match self {
            Device::Cpu => None,
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

/// Memory that the host cannot address. It is released when it is dropped.
pub trait DeviceMemory: Send + Sync {
    fn device(&self) -> Device;
    /// Its length in bytes.
    fn length(&self) -> usize;
}

/// Memory of [`Device::Test`]: nothing but a length.
pub struct TestMemory(pub usize);

impl DeviceMemory for TestMemory {
    fn device(&self) -> Device {
        Device::Test
    }

    fn length(&self) -> usize {
        self.0
    }
}

/// The error for an access by the host to memory that is on a device.
#[cold]
pub fn not_on_host(device: Device) -> Error {
    Error::new(Problem::NotOnHost { device: device.to_string() })
}
