//! The current GPU and the default device, which each thread has for itself.

use std::cell::{Cell, RefCell};
use strided_core::Device;

thread_local! {
    static CURRENT_GPU: Cell<u8> = const { Cell::new(0) };
    /// The GPUs that were current before the blocks `with gpu.device(i):` that this thread is in, innermost last.
    static FORMER_GPUS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The default devices of the blocks `with device:` that this thread is in, innermost last. The first one, if any, was set by
    /// `set_default_device`.
    static DEFAULTS: RefCell<Vec<Device>> = const { RefCell::new(Vec::new()) };
    /// The last of them. Every creation function reads it.
    static DEFAULT: Cell<Device> = const { Cell::new(Device::Cpu) };
}

/// The number of the GPU on which memory is allocated unless another one is named.
pub fn current() -> u8 {
    CURRENT_GPU.get()
}

pub fn set_current(index: u8) {
    CURRENT_GPU.set(index);
}

/// Enters a block in which another GPU is current.
pub fn push_current(index: u8) {
    FORMER_GPUS.with_borrow_mut(|former| former.push(CURRENT_GPU.replace(index)));
}

/// Leaves a block.
pub fn pop_current() {
    if let Some(former) = FORMER_GPUS.with_borrow_mut(Vec::pop) {
        CURRENT_GPU.set(former);
    }
}

/// Where a constructor makes a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where the values are, and new ones on the default device: `Tensor`.
    Any,
    /// On the CPU: `FloatTensor`.
    Host,
    /// On the GPU where the values are, or the current one: `gpu.FloatTensor`.
    Gpu,
    On(Device),
}

impl Place {
    /// The device of a new tensor of values that are on a device already, or are yet to be made.
    #[inline]
    pub fn device(self, present: Option<Device>) -> Device {
        match (present, self) {
            (Some(device), _) if self.has(device) => device,
            (_, Place::Any) => default_device(),
            (_, Place::Host) => Device::Cpu,
            (_, Place::Gpu) => Device::Gpu(current()),
            (_, Place::On(device)) => device,
        }
    }

    /// Whether a device is one of these.
    pub fn has(self, device: Device) -> bool {
        match self {
            Place::Any => true,
            Place::Host => !matches!(device, Device::Gpu(_)),
            Place::Gpu => matches!(device, Device::Gpu(_)),
            Place::On(own) => device == own,
        }
    }
}

/// The device of new tensors.
#[inline]
pub fn default_device() -> Device {
    DEFAULT.get()
}

/// Sets the device of new tensors outside of all blocks `with device:`, which keep theirs.
pub fn set_default(device: Device) {
    DEFAULTS.with_borrow_mut(|devices| {
        match devices.first_mut() {
            Some(outermost) => *outermost = device,
            None => devices.push(device),
        }
        DEFAULT.set(devices[devices.len() - 1]);
    });
}

/// Enters a block.
pub fn push_default(device: Device) {
    DEFAULTS.with_borrow_mut(|devices| {
        if devices.is_empty() {
            devices.push(Device::Cpu);
        }
        devices.push(device);
    });
    DEFAULT.set(device);
}

/// Leaves a block.
pub fn pop_default() {
    DEFAULTS.with_borrow_mut(|devices| {
        devices.pop();
        DEFAULT.set(devices.last().copied().unwrap_or(Device::Cpu));
    });
}
