//! Copies between the host and a device, and between devices.

use super::launch::{self, Held, device_of};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::map;
use crate::layout::Layout;
use crate::scalar::Scalar;
use crate::storage::{Access, Device, Fill};
use crate::tensor::Tensor;
use crate::threads;

/// Copies the elements of `src` into `out`, which is on another device. `layout` is that of `src`, expanded to the shape of `out`.
///
/// What moves is row-major: elements of another order, or of another dtype, are copied on their side first.
pub fn copy(out: &Tensor, src: &Tensor, layout: &Layout) -> Result<()> {
    if out.size() == 0 {
        return Ok(());
    }
    if !layout.is_row_major() || src.dtype() != out.dtype() {
        let staged = row_major(src.device(), layout, out.dtype())?;
        copy_within(&staged, src, layout)?;
        return copy(out, &staged, staged.layout());
    }
    if !out.layout().is_row_major() {
        let staged = row_major(out.device(), out.layout(), out.dtype())?;
        copy(&staged, src, layout)?;
        return copy_within(out, &staged, staged.layout());
    }
    let size = out.dtype().size();
    let bytes = out.size() * size;
    let first = layout.offset() as usize * size;
    let at = out.layout().offset() as usize * size;
    match (out.device(), src.device()) {
        (Device::Cpu, _) => {
            let from = Held::new(src, Access::Read)?;
            launch::wait(device_of(src)?)?;
            out.storage().read_device(at, from.memory(), first, bytes)
        }
        (_, Device::Cpu) => {
            let to = Held::new(out, Access::Write)?;
            // A bad index is reported when the host reads.
            device_of(out)?.wait(&mut threads::interrupt_watch())?;
            src.storage().write_device(first, to.memory(), at, bytes)
        }
        _ => between_devices(out, src, layout, bytes),
    }
}

/// Copies bytes from one device to another: by one command if they share a context, else through the host.
fn between_devices(out: &Tensor, src: &Tensor, layout: &Layout, bytes: usize) -> Result<()> {
    let (to, from) = (Held::new(out, Access::Write)?, Held::new(src, Access::Read)?);
    let (target, source) = (device_of(out)?, device_of(src)?);
    let size = out.dtype().size();
    let (first, at) = (layout.offset() as usize * size, out.layout().offset() as usize * size);
    // The queues of two devices know nothing of each other's work.
    launch::wait(source)?;
    if target.shares_context(source) {
        target.copy(from.memory(), first, to.memory(), at, bytes, "copy_")?;
        return launch::wait(target);
    }
    let staged = row_major(Device::Cpu, out.layout(), out.dtype())?;
    copy(&staged, src, layout)?;
    copy(out, &staged, staged.layout())
}

fn row_major(device: Device, layout: &Layout, dtype: DType) -> Result<Tensor> {
    Tensor::with_new_memory(device, layout.row_major_like(), dtype, Fill::Uninitialized)
}

/// A copy on one device.
fn copy_within(out: &Tensor, src: &Tensor, layout: &Layout) -> Result<()> {
    match out.device() {
        Device::Cpu => map::copy(out, src, layout, 0),
        _ => super::map::copy(out, src, layout),
    }
}

/// The element at a location.
pub fn item(x: &Tensor, location: isize) -> Result<Scalar> {
    let layout = Layout::strided(&[], &[], location)?;
    let one = x.with_layout(layout);
    let host = row_major(Device::Cpu, one.layout(), x.dtype())?;
    copy(&host, &one, one.layout())?;
    crate::kernels::item::get(&host, 0)
}

/// Writes a number to the element at a location.
pub fn set(x: &Tensor, location: isize, value: Scalar) -> Result<()> {
    let bytes = crate::kernels::item::ScalarBytes::new(value, x.dtype())?;
    let one = x.with_layout(Layout::strided(&[], &[], location)?);
    super::map::fill(&one, bytes)
}

/// A row-major copy on the host.
pub fn on_host(x: &Tensor) -> Result<Tensor> {
    let host = row_major(Device::Cpu, x.layout(), x.dtype())?;
    copy(&host, x, x.layout())?;
    Ok(host)
}

/// A copy on a device of a row-major tensor of the host.
pub fn on_device(device: Device, x: &Tensor) -> Result<Tensor> {
    let out = row_major(device, x.layout(), x.dtype())?;
    copy(&out, x, x.layout())?;
    Ok(out)
}
