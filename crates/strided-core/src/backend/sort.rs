//! Sorted and selected elements, searches in sorted sequences, histograms.

pub use crate::kernels::sort::{EqualBins, LineRank, OrderRequest, QuickTask};

use super::not_computed;
use crate::error::Result;
use crate::kernels::sort;
use crate::storage::Device;
use crate::tensor::Tensor;

by_device! {
    /// Sorts lines.
    fn sort(request: &OrderRequest) -> Result<()>, on request.x.device() => sort::sort;

    /// The first elements of each sorted line.
    fn select_first(request: &OrderRequest) -> Result<()>, on request.x.device() => sort::select_first;

    /// One element of each sorted line.
    fn select(request: &OrderRequest, rank: LineRank) -> Result<()>, on request.x.device() => sort::select;

    /// The most frequent element of each line.
    fn mode(request: &OrderRequest) -> Result<()>, on request.x.device() => sort::mode;

    /// Lines as Torch7's quicksort or quickselect leaves them.
    fn quick_lines(values: &Tensor, positions: &Tensor, length: usize, task: QuickTask) -> Result<()>, on values.device() => sort::quick_lines;

    /// The indices that sort rows.
    fn sort_rows(x: &Tensor, columns: usize, out: &Tensor) -> Result<()>, on x.device() => sort::sort_rows;

    /// The index of each number in a sorted sequence.
    fn search(sequence: &Tensor, length: usize, numbers: &Tensor, right: bool, out: &Tensor) -> Result<()>, on out.device() => sort::search;

    /// How often each index occurs, or the sum of its weights.
    fn count(index: &Tensor, weights: Option<&Tensor>, out: &Tensor) -> Result<()>, on out.device() => sort::count;

    /// How many elements are in each of some bins of equal width.
    fn count_in_bins(x: &Tensor, bins: EqualBins, out: &Tensor) -> Result<()>, on out.device() => sort::count_in_bins;
}
