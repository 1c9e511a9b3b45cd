//! Indexing: where the elements are that an index or a mask chooses, and which indices are refused.
//!
//! `keys` plans `x[...]`, `along` the functions over one dim (`index_select`, `gather`, `scatter`, …) and over all elements
//! (`take`, `put`), `masks` what a mask selects. All of them make an [`IndexPlan`], which a kernel gathers from or scatters
//! to.

pub mod along;
pub mod keys;
pub mod masks;

use super::{copy, create};
use crate::backend::host_reads;
use crate::backend::index::{self, IndexedOperand, ScatterRule};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use crate::scalar::Scalar;
use crate::storage::{Device, Fill};
use crate::tensor::{Tensor, common_device, shares_memory};

/// Whether negative indices count from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negatives {
    Wrap,
    Refuse,
}

/// When an index is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RangeCheck {
    /// Before anything is written.
    First,
    /// While elements are gathered: see [`try_gather`].
    WhileGathering,
}

/// Gathers the elements of a plan, and checks the index on the way. If it is out of range, the plan is made again with the
/// check first, whose error names the index.
fn try_gather(operation: &'static str, plan: impl Fn(RangeCheck) -> Result<IndexPlan>) -> Result<Tensor> {
    if let (elements, true) = plan(RangeCheck::WhileGathering)?.gather(operation)? {
        return Ok(elements);
    }
    Ok(plan(RangeCheck::First)?.gather(operation)?.0) // in range if another thread has changed the index meanwhile
}

/// An index into a dim.
pub(super) struct CheckedIndex {
    /// int64, in the shape the caller gave it.
    tensor: Tensor,
    extent: isize,
    stride: isize,
    /// Whether negative elements count from the end.
    wraps: bool,
}

/// The number of the dim, its extent and the shape around it, as messages show them.
#[derive(Clone, Copy)]
pub(super) struct IndexedDim<'a> {
    pub dim: usize,
    pub extent: isize,
    pub layout: &'a Layout,
}

impl IndexedDim<'_> {
    #[cold]
    fn out_of_range(&self, index: i128) -> Error {
        let (dim, extent, shape) = (self.dim, self.extent, self.layout.shape_text());
        Error::new(Problem::IndexRange { index, dim, extent, shape })
    }
}

/// An index as int64. Refuses other dtypes than integers.
pub(super) fn as_int64(index: &Tensor) -> Result<Tensor> {
    match index.dtype() {
        DType::I64 => Ok(index.clone()),
        dtype if dtype.is_int() => copy::to_dtype(index, DType::I64),
        got => Err(Error::dtype("index", got, "an integer dtype")),
    }
}

/// Refuses an index that is not an integer tensor, or out of range: that is left to the gather if `check` says so.
fn check_index(
    index: &Tensor,
    dim: IndexedDim,
    stride: isize,
    negatives: Negatives,
    check: RangeCheck,
) -> Result<CheckedIndex> {
    let tensor = as_int64(index)?;
    let wraps = negatives == Negatives::Wrap && index.dtype() != DType::U64;
    let is_deferred = match tensor.device() {
        Device::Cpu => check == RangeCheck::WhileGathering,
        // A device checks when it uses the index, so that the host need not wait. No index is used where there are no elements.
        _ => dim.layout.size() > 0,
    };
    if is_deferred && dim.extent > 0 {
        return Ok(CheckedIndex { tensor, extent: dim.extent, stride, wraps });
    }
    if let Some((low, high)) = host_reads::min_max(&tensor)? {
        let lowest = if wraps { -dim.extent } else { 0 };
        // A large uint64 is negative as int64.
        let value = |index_value: i64| match index.dtype() {
            DType::U64 => index_value as u64 as i128,
            _ => index_value as i128,
        };
        if (low as i128) < lowest as i128 {
            return Err(dim.out_of_range(value(low)));
        }
        if high as i128 >= dim.extent as i128 {
            return Err(dim.out_of_range(value(high)));
        }
    }
    Ok(CheckedIndex { tensor, extent: dim.extent, stride, wraps })
}

/// Which elements of a tensor an index chooses: see `kernels/index/`.
pub(super) struct IndexPlan {
    tensor: Tensor,
    base: Layout,
    /// In the shape of the positions.
    index: Tensor,
    extent: isize,
    stride: isize,
    wraps: bool,
    /// Whether the index is one of offsets, which were checked when they were made.
    is_checked: bool,
}

impl IndexPlan {
    /// A plan for one index tensor, or for several, whose elements must have been checked to be in range: they become one tensor
    /// of offsets. `base` is the layout of the elements with index 0: it has the shape of the positions, and stride 0 along the
    /// dims of the index. `place` expands the layout of an index tensor to that shape.
    fn new(
        tensor: &Tensor,
        base: Layout,
        indices: Vec<CheckedIndex>,
        place: impl Fn(&Layout) -> Result<Layout>,
    ) -> Result<IndexPlan> {
        if let [index] = &indices[..] {
            let layout = place(index.tensor.layout())?;
            return Ok(IndexPlan::of_one(tensor, base, index, layout));
        }
        // Several indices become one, of offsets from the lowest location that they can choose.
        let layouts: Vec<&Layout> = indices.iter().map(|index| index.tensor.layout()).collect();
        let shape = crate::layout::broadcast(&layouts)?;
        let reach = |index: &CheckedIndex| (index.extent - 1).max(0) * index.stride;
        let lowest: isize = indices.iter().map(|index| reach(index).min(0)).sum();
        let highest: isize = indices.iter().map(|index| reach(index).max(0)).sum();
        let offsets = create::full(tensor.device(), &shape, Scalar::Int(-lowest as i128), DType::I64)?;
        if offsets.size() > 0 {
            for index in &indices {
                index::add_offsets(&offsets, &index.tensor, index.extent, index.stride)?;
            }
        }
        let base = base.at_offset(base.offset() + lowest);
        let index = offsets.with_layout(place(offsets.layout())?);
        let (tensor, extent) = (tensor.clone(), highest - lowest + 1);
        Ok(IndexPlan { tensor, base, index, extent, stride: 1, wraps: false, is_checked: true })
    }

    /// A plan for one index, with its layout in the shape of the positions.
    fn of_one(tensor: &Tensor, base: Layout, index: &CheckedIndex, layout: Layout) -> IndexPlan {
        let &CheckedIndex { tensor: ref indices, extent, stride, wraps } = index;
        let (tensor, index) = (tensor.clone(), indices.with_layout(layout));
        IndexPlan { tensor, base, index, extent, stride, wraps, is_checked: false }
    }

    /// A plan for one index that has the shape of the positions.
    fn of_elements(tensor: &Tensor, base: Layout, index: CheckedIndex) -> IndexPlan {
        let layout = index.tensor.layout().clone();
        IndexPlan::of_one(tensor, base, &index, layout)
    }

    /// Whether there are no positions.
    fn is_empty(&self) -> bool {
        self.base.size() == 0
    }

    fn operand(&self, operation: &'static str) -> IndexedOperand<'_> {
        let &IndexPlan { ref tensor, ref base, ref index, extent, stride, wraps, is_checked } = self;
        let operation = if is_checked { "" } else { operation };
        IndexedOperand { tensor, base, index, extent, stride, wraps, operation }
    }

    /// The chosen elements as a new tensor, and whether all indices are known to be in range: false if there are no
    /// positions, since no index was read.
    fn gather(&self, operation: &'static str) -> Result<(Tensor, bool)> {
        common_device([&self.tensor, &self.index])?;
        let layout = self.base.row_major_like();
        let out =
            Tensor::with_new_memory(self.tensor.device(), layout, self.tensor.dtype(), Fill::Uninitialized)?;
        let in_range = !self.is_empty() && index::gather(&out, &self.operand(operation))?;
        Ok((out, in_range))
    }

    #[cold]
    fn values_error(&self, values: &Tensor) -> Error {
        let wanted = format!("values that broadcast to {}, the chosen elements", self.base.shape_text());
        Error::shape("value", format!("a tensor of shape {}", values.layout().shape_text()), wanted)
    }

    /// Combines the values with the chosen elements. They are broadcast to the positions and cast.
    fn scatter(mut self, operation: &'static str, values: &Tensor, rule: ScatterRule) -> Result<()> {
        common_device([&self.tensor, &self.index, values])?;
        self.tensor.check_writable()?;
        let layout = copy::expanded(values.layout(), &self.base).map_err(|_| self.values_error(values))?;
        if self.is_empty() {
            return Ok(());
        }
        let values = if values.dtype() != self.tensor.dtype() {
            copy::to_dtype(values, self.tensor.dtype())?
        } else if shares_memory(&self.tensor, values) {
            copy::clone(values)?
        } else {
            values.with_layout(layout)
        };
        let layout = copy::expanded(values.layout(), &self.base)?;
        if shares_memory(&self.tensor, &self.index) {
            self.index = copy::clone(&self.index)?;
        }
        index::scatter(&self.operand(operation), &values.with_layout(layout), rule)
    }
}
