//! The current GPU and the default device, which each thread has for itself.

use std::cell::{Cell, RefCell};
use strided_core::Device;

thread_local! {
    static CURRENT_GPU: Cell<u8> = const { Cell::new(0) };
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

/// The device of new tensors.
#[inline]
pub fn default_device() -> Device {
    DEFAULT.get()
}

/// Sets the device of new tensors outside of all blocks.
pub fn set_default(device: Device) {
    DEFAULTS.with_borrow_mut(|devices| {
        devices.clear();
        devices.push(device);
    });
    DEFAULT.set(device);
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
