//! Copies, casts and fills.

use super::not_computed;
use crate::error::Result;
use crate::kernels::item::ScalarBytes;
use crate::kernels::{fill, map};
use crate::layout::Layout;
use crate::opencl;
use crate::storage::Device;
use crate::tensor::Tensor;

/// Copies the elements of `src` into `out`, with a cast where dtypes differ. `layout` has the shape of `out` and reaches only
/// locations that the layout of `src` reaches: it is that layout, expanded. If the operation writes more than `out`, `whole` is
/// the number of bytes that it writes. The only function whose operands may be on two devices.
#[inline]
pub fn copy(out: &Tensor, src: &Tensor, layout: &Layout, whole: usize) -> Result<()> {
    match (out.device(), src.device()) {
        (Device::Cpu, Device::Cpu) => map::copy(out, src, layout, whole),
        (Device::Test, _) | (_, Device::Test) => Err(not_computed(Device::Test)),
        (to, from) if to == from => opencl::map::copy(out, src, layout),
        _ => opencl::transfer::copy(out, src, layout),
    }
}

by_device! {
    /// [`copy`] one element after the other, in row-major order, for tensors that overlap.
    fn copy_in_order(out: &Tensor, src: &Tensor, layout: &Layout) -> Result<()>, on side(out, src) => map::copy_in_order;

    /// The running sum, or product, of the elements of a contiguous float64 or float32 tensor, in place and strictly in order.
    fn accumulate_in_order(x: &Tensor, is_product: bool) -> Result<()>, on x.device() => map::accumulate_in_order;

    /// Writes a value to every element.
    fn fill(out: &Tensor, value: ScalarBytes) -> Result<()>, on out.device() => fill::fill, gpu opencl::map::fill;
}

/// The device that copies between two tensors: the one that is not the host, if there is one.
#[inline]
fn side(out: &Tensor, src: &Tensor) -> Device {
    if out.device() == Device::Cpu { src.device() } else { out.device() }
}
