//! Copies, casts and fills. A copy from one device to another will be an arm of [`copy`].

use crate::error::Result;
use crate::kernels::item::ScalarBytes;
use crate::kernels::{fill, map};
use crate::layout::Layout;
use crate::storage::{Device, not_on_host};
use crate::tensor::Tensor;

by_device! {
    /// Copies the elements of `src` into `out`, with a cast where dtypes differ. `layout` has the shape of `out` and reaches only
    /// locations that the layout of `src` reaches: it is that layout, expanded. If the operation writes more than `out`, `whole` is
    /// the number of bytes that it writes.
    fn copy(out: &Tensor, src: &Tensor, layout: &Layout, whole: usize) -> Result<()>, on side(out, src) => map::copy;

    /// [`copy`] one element after the other, in row-major order, for tensors that overlap.
    fn copy_in_order(out: &Tensor, src: &Tensor, layout: &Layout) -> Result<()>, on side(out, src) => map::copy_in_order;

    /// The running sum, or product, of the elements of a contiguous float64 or float32 tensor, in place and strictly in order.
    fn accumulate_in_order(x: &Tensor, is_product: bool) -> Result<()>, on x.device() => map::accumulate_in_order;

    /// Writes a value to every element.
    fn fill(out: &Tensor, value: ScalarBytes) -> Result<()>, on out.device() => fill::fill;
}

/// The device that copies between two tensors: the one that is not the host, if there is one.
#[inline]
fn side(out: &Tensor, src: &Tensor) -> Device {
    if out.device() == Device::Cpu { src.device() } else { out.device() }
}
