//! `x[...]` with index tensors and masks, by NumPy's rules.
//!
//! Integers, slices, `...` and `None` make a view first. The index tensors then choose from dims of that view. They are
//! broadcast to one shape, whose dims replace the chosen ones if all index entries are next to each other, and come first
//! if a slice, `...` or `None` is between two of them. An integer counts as an index entry there.

use super::{
    CheckedIndex, IndexPlan, IndexedDim, Negatives, RangeCheck, as_int64, check_index, masks, try_gather,
};
use crate::backend::host_reads;
use crate::backend::index::ScatterRule;
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::{Dims, Index, Layout, Mode, broadcast, shape_text};
use crate::ops::Operand;
use crate::ops::create;
use crate::scalar::Scalar;
use crate::storage::Device;
use crate::tensor::{Tensor, common_device};

/// One entry between the brackets.
pub enum Key {
    /// An integer, a slice, `...` or `None`.
    Basic(Index),
    /// An integer tensor.
    Indices(Tensor),
    /// A bool tensor, for as many dims as it has.
    Mask(Tensor),
    /// A bool: a new dim with one index, or with none.
    Flag(bool),
}

/// `x[keys]` as a new tensor.
pub fn get(x: &Tensor, keys: &[Key]) -> Result<Tensor> {
    if let [Key::Mask(mask)] = keys
        && mask.layout().same_shape(x.layout())
    {
        return masks::select(x, mask);
    }
    if let [Key::Indices(index)] = keys
        && common_device([x, index]).is_ok()
        && let Some(elements) = host_reads::small_gather(x, index)?
    {
        return Ok(elements);
    }
    try_gather("index", |check| plan(x, keys, check))
}

/// `x[keys] = value`. The value is broadcast and cast; a number must fit the dtype. If an element is chosen several times,
/// the last value in row-major order stays.
pub fn set(x: &Tensor, keys: &[Key], value: Operand) -> Result<()> {
    put(x, keys, value, ScatterRule::Replace)
}

/// [`set`] that combines the values with the elements by a rule.
pub fn put(x: &Tensor, keys: &[Key], value: Operand, rule: ScatterRule) -> Result<()> {
    let number;
    let values = match value {
        Operand::Tensor(values) => values,
        Operand::Scalar(value) => {
            number = create::full(x.device(), &[], value, x.dtype())?;
            &number
        }
    };
    if let [Key::Mask(mask)] = keys
        && rule == ScatterRule::Replace
        && mask.layout().same_shape(x.layout())
    {
        return masks::assign(x, mask, values);
    }
    plan(x, keys, RangeCheck::First)?.scatter("index_put_", values, rule)
}

/// A dim that an index tensor chooses from.
struct ChosenDim {
    /// The dim of the view.
    view_dim: usize,
    /// The dim of `x`, as messages name it.
    dim: usize,
    index: Tensor,
}

fn plan(x: &Tensor, keys: &[Key], check: RangeCheck) -> Result<IndexPlan> {
    let layout = x.layout();
    if let ([Key::Indices(index)], [first, rest @ ..]) = (keys, layout.modes()) {
        return plan_first_dim(x, index, *first, rest, check);
    }
    let (basic, chosen) = split_keys(x.device(), layout, keys)?;
    let view = layout.index(&basic)?;
    let shapes: Vec<&Layout> = chosen.iter().map(|c| c.index.layout()).collect();
    let shape = broadcast(&shapes).map_err(|_| shapes_error(&shapes))?;
    let is_empty = shape.contains(&0);
    // The dims that no index chooses from, and how many of them are in front of the dims of the index.
    let rest: Vec<usize> = (0..view.rank()).filter(|dim| chosen.iter().all(|c| c.view_dim != *dim)).collect();
    let before = dims_before_index(layout, keys);
    let (positions, strides) = positions(&view, &rest, &shape, before);
    let check = if chosen.len() == 1 { check } else { RangeCheck::First };
    let mut indices = Vec::with_capacity(chosen.len());
    for ChosenDim { view_dim, dim, index } in chosen {
        let mode = view.modes()[view_dim];
        let dim = IndexedDim { dim, extent: mode.extent, layout };
        // NumPy accepts any index if there are no positions.
        indices.push(if is_empty {
            CheckedIndex { tensor: as_int64(&index)?, extent: mode.extent, stride: mode.stride, wraps: true }
        } else {
            check_index(&index, dim, mode.stride, Negatives::Wrap, check)?
        });
    }
    let base = Layout::strided(&positions, &strides, view.offset())?;
    IndexPlan::new(x, base, indices, |index| {
        let index = index.expand(&shape)?;
        let mut strides = Dims::from_elem(0, positions.len());
        strides[before..before + shape.len()].copy_from_slice(&index.stride());
        Layout::strided(&positions, &strides, index.offset())
    })
}

/// The plan of `x[index]`, which needs none of the general rules.
fn plan_first_dim(
    x: &Tensor,
    index: &Tensor,
    first: Mode,
    rest: &[Mode],
    check: RangeCheck,
) -> Result<IndexPlan> {
    let Mode { extent, stride } = first;
    let layout = x.layout();
    let index = check_index(index, IndexedDim { dim: 0, extent, layout }, stride, Negatives::Wrap, check)?;
    let (mut shape, mut index_strides) = (index.tensor.layout().shape(), index.tensor.layout().stride());
    let mut strides = Dims::from_elem(0, shape.len());
    shape.extend(rest.iter().map(|mode| mode.extent));
    strides.extend(rest.iter().map(|mode| mode.stride));
    index_strides.resize(shape.len(), 0);
    let base = Layout::strided(&shape, &strides, layout.offset())?;
    let index_layout = Layout::strided(&shape, &index_strides, index.tensor.layout().offset())?;
    Ok(IndexPlan::of_one(x, base, &index, index_layout))
}

/// The shape of the positions, and the strides of the view along them: 0 for the dims of the index.
fn positions(view: &Layout, rest: &[usize], index: &[isize], before: usize) -> (Dims, Dims) {
    let (mut shape, mut strides) = (Dims::new(), Dims::new());
    for (at, &dim) in rest.iter().enumerate() {
        if at == before {
            shape.extend_from_slice(index);
            strides.resize(shape.len(), 0);
        }
        shape.push(view.modes()[dim].extent);
        strides.push(view.modes()[dim].stride);
    }
    if before >= rest.len() {
        shape.extend_from_slice(index);
        strides.resize(shape.len(), 0);
    }
    (shape, strides)
}

/// The entries that make the view, with `:` where an index tensor chooses, and the index tensors. A mask becomes the
/// indices of its true elements, one tensor for each of its dims.
fn split_keys(device: Device, layout: &Layout, keys: &[Key]) -> Result<(Vec<Index>, Vec<ChosenDim>)> {
    let mut basic = Vec::with_capacity(keys.len());
    let mut chosen = Vec::new();
    let (mut dim, mut view_dim) = (0, 0);
    for key in keys {
        match key {
            Key::Basic(index) => {
                basic.push(*index);
                let (used, made) = match index {
                    Index::At(_) => (1, 0),
                    Index::Slice { .. } => (1, 1),
                    Index::NewAxis => (0, 1),
                    Index::Ellipsis => {
                        let rest = layout.rank().saturating_sub(used_dims(keys));
                        (rest, rest)
                    }
                };
                (dim, view_dim) = (dim + used, view_dim + made);
            }
            Key::Indices(tensor) => {
                basic.push(Index::ALL);
                chosen.push(ChosenDim { view_dim, dim, index: tensor.clone() });
                (dim, view_dim) = (dim + 1, view_dim + 1);
            }
            Key::Mask(mask) => {
                check_mask(layout, dim, mask)?;
                for index in masks::nonzero_columns(mask)? {
                    basic.push(Index::ALL);
                    chosen.push(ChosenDim { view_dim, dim, index });
                    (dim, view_dim) = (dim + 1, view_dim + 1);
                }
            }
            Key::Flag(flag) => {
                basic.push(Index::NewAxis);
                let index = create::full(device, &[*flag as isize], Scalar::Int(0), DType::I64)?;
                chosen.push(ChosenDim { view_dim, dim, index });
                view_dim += 1;
            }
        }
    }
    Ok((basic, chosen))
}

/// How many dims of the tensor the entries use, without `...`.
fn used_dims(keys: &[Key]) -> usize {
    let used = |key: &Key| match key {
        Key::Basic(Index::At(_) | Index::Slice { .. }) | Key::Indices(_) => 1,
        Key::Mask(mask) => mask.layout().rank(),
        Key::Basic(Index::Ellipsis | Index::NewAxis) | Key::Flag(_) => 0,
    };
    keys.iter().map(used).sum()
}

/// How many dims of the result come before those of the index: see the module.
fn dims_before_index(layout: &Layout, keys: &[Key]) -> usize {
    let is_index =
        |key: &Key| !matches!(key, Key::Basic(Index::Slice { .. } | Index::Ellipsis | Index::NewAxis));
    // Without an index, as in `index_put(x, (), value)`, the view is written.
    let (Some(first), Some(last)) = (keys.iter().position(is_index), keys.iter().rposition(is_index)) else {
        return 0;
    };
    if !keys[first..=last].iter().all(is_index) {
        return 0;
    }
    let made = |key: &Key| match key {
        Key::Basic(Index::Ellipsis) => layout.rank().saturating_sub(used_dims(keys)),
        _ => 1,
    };
    keys[..first].iter().map(made).sum()
}

/// Refuses a mask whose extents differ from those of the dims from `dim` on.
fn check_mask(layout: &Layout, dim: usize, mask: &Tensor) -> Result<()> {
    for (at, mode) in mask.layout().modes().iter().enumerate() {
        // Too many dims are refused when the view is made.
        let Some(wanted) = layout.modes().get(dim + at) else { return Ok(()) };
        if mode.extent != wanted.extent {
            let (mask, shape) = (mask.layout().shape_text(), layout.shape_text());
            let extents = (mode.extent, wanted.extent);
            return Err(Error::new(Problem::MaskShape { mask, shape, dim: dim + at, extents }));
        }
    }
    Ok(())
}

#[cold]
fn shapes_error(shapes: &[&Layout]) -> Error {
    let shapes: Vec<String> = shapes.iter().map(|layout| shape_text(&layout.shape())).collect();
    Error::new(Problem::IndexShapes { shapes: shapes.join(", ") })
}
