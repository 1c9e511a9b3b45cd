//! Elements that a mask selects. The shape of the result depends on the mask, so that the host reads it, and finds the positions.

use super::index::{gather, scatter};
use super::{map, transfer};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::index::{self, IndexedOperand, MaskCounts, ScatterRule};
use crate::layout::Layout;
use crate::storage::{Device, Fill};
use crate::tensor::Tensor;

/// [`MaskCounts::new`]
pub fn mask_counts(mask: &Tensor) -> Result<MaskCounts> {
    MaskCounts::new(&transfer::on_host(mask)?)
}

/// [`index::nonzero`]
pub fn nonzero(out: &Tensor, mask: &Tensor, counts: &MaskCounts) -> Result<()> {
    let layout = out.layout().row_major_like();
    let host = Tensor::with_new_memory(Device::Cpu, layout, DType::I64, Fill::Uninitialized)?;
    index::nonzero(&host, &transfer::on_host(mask)?, counts)?;
    transfer::copy(out, &host, host.layout())
}

/// The linear indices of the true elements of a mask, on its device.
fn positions(mask: &Tensor, counts: &MaskCounts) -> Result<Tensor> {
    let host = transfer::on_host(mask)?;
    let flat = host.with_layout(host.layout().view(&[-1])?);
    let total = counts.total() as isize;
    let rows = Tensor::new_on(Device::Cpu, &[total, 1], DType::I64, Fill::Uninitialized)?;
    index::nonzero(&rows, &flat, counts)?;
    transfer::on_device(mask.device(), &rows.with_layout(rows.layout().view(&[total])?))
}

/// Calls a function with a row-major tensor and where its elements at some positions are.
fn at_positions<T>(
    x: &Tensor,
    positions: &Tensor,
    work: impl FnOnce(&IndexedOperand) -> Result<T>,
) -> Result<T> {
    let base = Layout::strided(&[positions.size() as isize], &[0], x.layout().offset())?;
    let extent = x.size() as isize;
    work(&IndexedOperand {
        tensor: x,
        base: &base,
        index: positions,
        extent,
        stride: 1,
        wraps: false,
        operation: "",
    })
}

/// A row-major copy on the same device.
fn dense(x: &Tensor) -> Result<Tensor> {
    let out =
        Tensor::with_new_memory(x.device(), x.layout().row_major_like(), x.dtype(), Fill::Uninitialized)?;
    map::copy(&out, x, x.layout())?;
    Ok(out)
}

/// [`index::select`]
pub fn select(out: &Tensor, mask: &Tensor, x: &Tensor, counts: &MaskCounts) -> Result<()> {
    if counts.total() == 0 {
        return Ok(());
    }
    let x = if x.layout().is_row_major() { x.clone() } else { dense(x)? };
    at_positions(&x, &positions(mask, counts)?, |source| gather(out, source).map(drop))
}

/// [`index::place`]
pub fn place(x: &Tensor, mask: &Tensor, source: &Tensor, counts: &MaskCounts) -> Result<()> {
    if counts.total() == 0 {
        return Ok(());
    }
    let target = if x.layout().is_row_major() { x.clone() } else { dense(x)? };
    let first = Layout::strided(&[counts.total() as isize], &[1], source.layout().offset())?;
    let values = source.with_layout(first);
    at_positions(&target, &positions(mask, counts)?, |to| scatter(to, &values, ScatterRule::Replace))?;
    if target.is_set_to(x) { Ok(()) } else { map::copy(x, &target, target.layout()) }
}
