//! Elementwise operations.

pub use crate::kernels::OPERANDS;
pub use crate::kernels::map::{Input, Output};
pub use crate::kernels::tables::map::Body;

use super::not_computed;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::map;
use crate::kernels::tables::map::kernels;
use crate::op_table::Op;
use crate::opencl;
use crate::storage::Device;

/// Applies a body of an operation, computed in a dtype, to inputs on a device. They broadcast to the output. An input either is
/// `out`, with the same layout, or does not overlap it. Elements of another dtype are cast.
///
/// # Panics
/// If the operation is not computed in the dtype; rules choose one of its class.
#[inline(always)]
pub fn compute_elements<const N: usize>(
    device: Device,
    op: Op,
    body: Body,
    compute: DType,
    inputs: &[Input; N],
    out: Output,
) -> Result<()> {
    match device {
        Device::Cpu => map::compute_elements(kernels(op, body, compute).expect(IN_CLASS), inputs, out),
        Device::Gpu(_) => opencl::map::compute_elements(op, body, compute, inputs, out),
        device => Err(not_computed(device)),
    }
}

/// The dtypes in which a body takes its operands and keywords, on every device.
pub fn operand_dtypes(op: Op, body: Body, compute: DType) -> &'static [DType; OPERANDS - 1] {
    kernels(op, body, compute).expect(IN_CLASS).operands()
}

const IN_CLASS: &str = "the operation has kernels for each dtype of its class";
