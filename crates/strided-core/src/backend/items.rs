//! Single elements: numbers written to them, and numbers as elements of a dtype. Reading one is in
//! [`host_reads`](super::host_reads).

pub use crate::kernels::item::{ScalarBytes, SmallElements, Writer, check_fits, rounds_to_infinity};
// At addresses that host memory has: a pin or an export gave them.
pub use crate::kernels::item::{load, store};

use super::not_computed;
use crate::error::Result;
use crate::kernels::item;
use crate::opencl;
use crate::scalar::Scalar;
use crate::storage::Device;
use crate::tensor::Tensor;

by_device! {
    /// Writes a number to the element at a location.
    fn set(x: &Tensor, location: isize, value: Scalar) -> Result<()>, on x.device() => item::set, gpu opencl::transfer::set;
}
