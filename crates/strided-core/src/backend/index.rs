//! Elements chosen by an index or a mask.

pub use crate::kernels::index::{IndexedOperand, MaskCounts, ScatterRule};

use super::not_computed;
use crate::error::Result;
use crate::kernels::index;
use crate::layout::Mode;
use crate::opencl;
use crate::storage::Device;
use crate::tensor::Tensor;

by_device! {
    /// Writes the chosen elements to `out`. Returns whether all indices are in range, which the host waits for.
    fn gather(out: &Tensor, source: &IndexedOperand) -> Result<bool>, on out.device() => index::gather, gpu opencl::index::gather;

    /// Combines the elements of `source` with the chosen ones.
    fn scatter(target: &IndexedOperand, source: &Tensor, rule: ScatterRule) -> Result<()>, on source.device() => index::scatter, gpu opencl::index::scatter;

    /// Adds `stride` times each index to the offsets.
    fn add_offsets(out: &Tensor, index: &Tensor, extent: isize, stride: isize) -> Result<()>, on out.device() => index::add_offsets, gpu opencl::index::add_offsets;

    /// Splits each index into one for each mode, and adds their offsets.
    fn add_unraveled_offsets(out: &Tensor, index: &Tensor, modes: &[Mode]) -> Result<()>, on out.device() => index::add_unraveled_offsets, gpu opencl::index::add_unraveled_offsets;

    /// Writes the elements that a mask selects.
    fn select(out: &Tensor, mask: &Tensor, x: &Tensor, counts: &MaskCounts) -> Result<()>, on out.device() => index::select, gpu opencl::masks::select;

    /// Writes the indices of true elements, one row for each.
    fn nonzero(out: &Tensor, mask: &Tensor, counts: &MaskCounts) -> Result<()>, on out.device() => index::nonzero, gpu opencl::masks::nonzero;

    /// Writes elements of `source`, one after the other, where a mask is true.
    fn place(x: &Tensor, mask: &Tensor, source: &Tensor, counts: &MaskCounts) -> Result<()>, on x.device() => index::place, gpu opencl::masks::place;
}
