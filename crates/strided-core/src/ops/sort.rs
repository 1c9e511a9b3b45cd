//! Sorting and selection along a dim: `sort`, `argsort`, `msort`, `topk`, `kthvalue`, `median`, `nanmedian`, `mode`.
//!
//! NaN is larger than every number, all NaNs are equal, and so are -0.0 and 0.0. Equal elements keep their order, whether
//! or not a stable order is asked for. The elements that are returned keep their bits.

use super::{copy, create};
use crate::backend::sort::{self, OrderRequest};
pub use crate::backend::sort::{LineRank, QuickTask};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::wrap_dim;
use crate::scalar::Scalar;
use crate::storage::Fill;
use crate::tensor::Tensor;

/// Refuses complex dtypes, which have no order.
pub(super) fn check_order(argument: &'static str, x: &Tensor) -> Result<()> {
    if x.dtype().is_complex() {
        return Err(Error::dtype(argument, x.dtype(), "a real dtype"));
    }
    Ok(())
}

/// A tensor whose elements along a dim are contiguous: row-major, with that dim last.
struct LastDim {
    x: Tensor,
    dim: usize,
    rank: usize,
    length: usize,
}

impl LastDim {
    /// A view of the tensor, or a copy. A tensor of rank 0 is a line of one element.
    fn new(x: &Tensor, dim: isize) -> Result<LastDim> {
        check_order("input", x)?;
        let rank = x.layout().rank();
        let dim = wrap_dim(dim, rank.max(1))?;
        let moved = match rank {
            0 => x.with_layout(x.layout().unsqueeze(0)?),
            _ if dim + 1 == rank => x.clone(),
            _ => x.with_layout(x.layout().movedim(&[dim as isize], &[-1])?),
        };
        let length = moved.layout().modes()[rank.max(1) - 1].extent as usize;
        Ok(LastDim { x: row_major(moved)?, dim, rank, length })
    }

    /// A new tensor for `kept` elements of each line.
    fn result(&self, kept: usize, dtype: DType) -> Result<Tensor> {
        let mut shape = self.x.layout().shape();
        *shape.last_mut().expect("there is a dim") = kept as isize;
        Tensor::like(&self.x, &shape, dtype)
    }

    /// Moves the sorted dim of a result, the last one, to its place, or removes it.
    fn move_dim_back(&self, result: Tensor, keepdim: bool) -> Result<Tensor> {
        let last = self.rank.max(1) as isize - 1;
        if !keepdim || self.rank == 0 {
            let layout = result.layout().select(last, 0)?;
            return Ok(result.with_layout(layout));
        }
        if self.dim as isize == last {
            return Ok(result);
        }
        let layout = result.layout().movedim(&[-1], &[self.dim as isize])?;
        row_major(result.with_layout(layout))
    }

    /// Refuses lines without elements.
    fn check_not_empty(&self) -> Result<()> {
        if self.length == 0 {
            let shape = self.x.layout().shape_text();
            return Err(Error::new(Problem::EmptyReduction { variant: "", shape }));
        }
        Ok(())
    }

    /// Runs a kernel with new tensors for `kept` elements of each line.
    fn order_lines(
        &self,
        kept: usize,
        descending: bool,
        wanted: Wanted,
        kernel: impl Fn(&OrderRequest) -> Result<()>,
    ) -> Result<[Option<Tensor>; 2]> {
        let values = wanted.values.then(|| self.result(kept, self.x.dtype())).transpose()?;
        let indices = wanted.indices.then(|| self.result(kept, DType::I64)).transpose()?;
        let (values_out, indices_out) = (values.as_ref(), indices.as_ref());
        kernel(&OrderRequest {
            x: &self.x,
            length: self.length,
            descending,
            kept,
            values: values_out,
            indices: indices_out,
        })?;
        Ok([values, indices])
    }

    /// Runs a kernel that keeps some elements of each line, and returns both values and indices.
    fn order_lines_to_pair(
        &self,
        kept: usize,
        descending: bool,
        keepdim: bool,
        kernel: impl Fn(&OrderRequest) -> Result<()>,
    ) -> Result<(Tensor, Tensor)> {
        let [values, indices] =
            self.order_lines(kept, descending, Wanted { values: true, indices: true }, kernel)?;
        let with_dim = |result: Option<Tensor>| self.move_dim_back(result.expect("it was wanted"), keepdim);
        Ok((with_dim(values)?, with_dim(indices)?))
    }
}

/// Which results of a sort are wanted.
#[derive(Clone, Copy)]
struct Wanted {
    values: bool,
    indices: bool,
}

/// The tensor itself if it is row-major, or a copy.
pub(super) fn row_major(x: Tensor) -> Result<Tensor> {
    if x.layout().is_row_major() { Ok(x) } else { copy::clone(&x) }
}

/// `sort`: the elements along a dim in order, and their indices.
pub fn sort(x: &Tensor, dim: isize, descending: bool) -> Result<(Tensor, Tensor)> {
    let lines = LastDim::new(x, dim)?;
    lines.order_lines_to_pair(lines.length, descending, true, sort::sort)
}

/// `sort` without the indices.
pub fn sorted(x: &Tensor, dim: isize, descending: bool) -> Result<Tensor> {
    let lines = LastDim::new(x, dim)?;
    let wanted = Wanted { values: true, indices: false };
    let [values, _] = lines.order_lines(lines.length, descending, wanted, sort::sort)?;
    lines.move_dim_back(values.expect("it was wanted"), true)
}

/// `argsort`: the indices that sort the elements along a dim.
pub fn argsort(x: &Tensor, dim: isize, descending: bool) -> Result<Tensor> {
    let lines = LastDim::new(x, dim)?;
    let wanted = Wanted { values: false, indices: true };
    let [_, indices] = lines.order_lines(lines.length, descending, wanted, sort::sort)?;
    lines.move_dim_back(indices.expect("it was wanted"), true)
}

/// `topk`: the first `k` elements along a dim in descending order, or in ascending order unless `largest`, and their
/// indices.
pub fn topk(x: &Tensor, k: isize, dim: isize, largest: bool) -> Result<(Tensor, Tensor)> {
    let lines = LastDim::new(x, dim)?;
    let least = (lines.rank == 0) as isize; // a number has no result without elements
    if k < least || k as usize > lines.length {
        return Err(wrong_k(x, &lines, k, least));
    }
    let k = k as usize;
    if k > lines.length / 4 && lines.rank > 0 {
        // Most of a line is sorted faster than it is selected and sorted.
        let (values, indices) = sort(x, dim, largest)?;
        let first = |all: Tensor| {
            all.layout().narrow(dim, 0, k as isize).and_then(|part| row_major(all.with_layout(part)))
        };
        return Ok((first(values)?, first(indices)?));
    }
    lines.order_lines_to_pair(k, largest, true, sort::select_first)
}

/// `kthvalue`: the `k`th smallest element along a dim, where the smallest one is the first, and its index.
pub fn kthvalue(x: &Tensor, k: isize, dim: isize, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let lines = LastDim::new(x, dim)?;
    if k < 1 || k as usize > lines.length {
        return Err(wrong_k(x, &lines, k, 1));
    }
    lines.order_lines_to_pair(1, false, keepdim, |request| {
        sort::select(request, LineRank::Nth(k as usize - 1))
    })
}

#[cold]
fn wrong_k(x: &Tensor, lines: &LastDim, k: isize, least: isize) -> Error {
    let (dim, shape) = (lines.dim, x.layout().shape_text());
    Error::argument("k", k, format!("{least} to {}, the extent of dim {dim} (shape {shape})", lines.length))
}

/// The medians along a dim, and their indices: the lower one of two middle elements.
pub fn median_along(x: &Tensor, rank: LineRank, dim: isize, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let lines = LastDim::new(x, dim)?;
    lines.check_not_empty()?;
    lines.order_lines_to_pair(1, false, keepdim, |request| sort::select(request, rank))
}

/// The median of all elements. Without elements it is NaN for floats, and refused for other dtypes.
pub fn median(x: &Tensor, rank: LineRank) -> Result<Tensor> {
    if x.size() == 0 && x.dtype().is_float() {
        return create::full(x.device(), &[], Scalar::Float(f64::NAN), x.dtype());
    }
    Ok(median_along(&copy::reshape(x, &[-1])?, rank, 0, false)?.0)
}

/// `mode`: the most frequent element along a dim, and its last index. Of several, the smallest one counts.
pub fn mode(x: &Tensor, dim: isize, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let lines = LastDim::new(x, dim)?;
    lines.check_not_empty()?;
    lines.order_lines_to_pair(1, false, keepdim, sort::mode)
}

/// The elements along a dim as Torch7's quicksort or quickselect leaves them, and their indices.
pub fn quick(x: &Tensor, dim: isize, task: QuickTask) -> Result<(Tensor, Tensor)> {
    let lines = LastDim::new(x, dim)?;
    if x.dtype() == DType::Bool || x.dtype().compute() != x.dtype() {
        return Err(Error::dtype("input", x.dtype(), "an integer dtype, float32 or float64"));
    }
    if let QuickTask::Select(rank) = task
        && rank >= lines.length
    {
        return Err(Error::argument("k", rank, format!("less than {}, the extent of the dim", lines.length)));
    }
    let values = copy::clone(&lines.x)?;
    let indices =
        Tensor::with_new_memory(values.device(), values.layout().clone(), DType::I64, Fill::Uninitialized)?;
    if lines.length > 0 {
        sort::quick_lines(&values, &indices, lines.length, task)?;
    }
    Ok((lines.move_dim_back(values, true)?, lines.move_dim_back(indices, true)?))
}
