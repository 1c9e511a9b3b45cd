//! The boundary between rules and the code that computes. Rules (`ops/`), formats of files and the binding call this module
//! alone; only this module calls `kernels/`, the code for the CPU.
//!
//! | family | what it computes |
//! |---|---|
//! | [`map`] | elementwise operations |
//! | [`copy`] | copies, casts and fills |
//! | [`reduce`] | reductions |
//! | [`lines`] | functions from lines to lines: scans, softmax |
//! | [`index`] | elements chosen by an index or a mask |
//! | [`sort`] | sorted and selected elements, searches, histograms |
//! | [`products`] | products of matrices, distances |
//! | [`random`] | random numbers |
//! | [`generate`] | numbers that follow from their position |
//! | [`repeat`] | repeated rows, combinations, triangles |
//! | [`items`] | single elements |
//! | [`byte_order`] | reversed bytes |
//!
//! Each function is a match on the device of its result. A second device is an arm in each of them. Rules have checked that the
//! operands share a device; what they forget fails when a kernel pins memory that the host cannot address.
//!
//! [`host_reads`] has the functions whose results are numbers on the host: each waits for the device.

/// Declares functions that are served by the device of one of their arguments: by the function after `=>` on the CPU, and by the one
/// after `gpu` on a GPU, if there is one.
macro_rules! by_device {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty, on $device:expr => $cpu:path $(, gpu $gpu:path)?;)*) => { $(
        $(#[$doc])*
        #[inline]
        pub fn $name($($argument: $type),*) -> $result {
            match $device {
                Device::Cpu => $cpu($($argument),*),
                Device::Test => Err(not_computed(Device::Test)),
                other => on_gpu!([$($gpu)?] other, $($argument),*),
            }
        }
    )* };
}

/// Calls the function for GPUs, or refuses if there is none.
macro_rules! on_gpu {
    ([] $device:ident, $($argument:expr),*) => {
        Err(not_computed($device))
    };
    ([$function:path] $device:ident, $($argument:expr),*) => {{
        let _ = $device;
        $function($($argument),*)
    }};
}

/// Declares functions that make a tensor on a device, which is their first argument; a function for GPUs gets it, too.
macro_rules! on_device {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty => $cpu:path $(, gpu $gpu:path)?;)*) => { $(
        $(#[$doc])*
        pub fn $name(device: Device, $($argument: $type),*) -> $result {
            match device {
                Device::Cpu => $cpu($($argument),*),
                Device::Test => Err(not_computed(Device::Test)),
                other => on_gpu!([$($gpu)?] other, device, $($argument),*),
            }
        }
    )* };
}

pub mod byte_order;
pub mod copy;
pub mod generate;
pub mod host_reads;
pub mod index;
pub mod items;
pub mod lines;
pub mod map;
pub mod products;
pub mod random;
pub mod reduce;
pub mod repeat;
pub mod sort;

use crate::error::{Error, Problem};
use crate::storage::{Device, not_on_host};

/// The error for something that a device does not compute.
#[cold]
fn not_computed(device: Device) -> Error {
    match device {
        Device::Gpu(_) => Error::new(Problem::NotOnGpu { what: String::new(), device: device.to_string() }),
        device => not_on_host(device),
    }
}
