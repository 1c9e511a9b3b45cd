//! Several tensors against each other: `broadcast_tensors`, `meshgrid`, `cartesian_prod`, and `combinations` of the elements
//! of one.

use super::join::{common_dtype, no_tensors};
use super::{copy, rearrange};
use crate::alloc::{try_collect, try_collect_ok};
use crate::backend::repeat::{self, Combinations};
use crate::error::{Error, Problem, Result};
use crate::layout::{Dims, Layout, MAX_SPAN, broadcast};
use crate::storage::Fill;
use crate::tensor::{Tensor, common_device};

/// Views of the tensors, expanded to one shape.
pub fn broadcast_tensors(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let layouts = try_collect(tensors.iter().map(Tensor::layout))?;
    let shape = broadcast(&layouts)?;
    try_collect_ok(tensors.iter().map(|x| Ok(x.with_layout(x.layout().expand(&shape)?))))
}

/// The shape to which shapes broadcast.
pub fn broadcast_shapes(shapes: &[Dims]) -> Result<Dims> {
    let layouts = try_collect_ok(shapes.iter().map(|shape| Layout::row_major(shape)))?;
    broadcast(&try_collect(layouts.iter())?)
}

/// Views of vectors, expanded to the grid of all combinations of their elements. Vector `k` varies along dim `k`; if
/// `swapped`, the first two dims are exchanged (`indexing='xy'`).
pub fn meshgrid(tensors: &[Tensor], swapped: bool) -> Result<Vec<Tensor>> {
    if tensors.is_empty() {
        return Err(no_tensors());
    }
    let mut shape = Dims::new();
    for (position, x) in tensors.iter().enumerate() {
        if x.layout().rank() > 1 {
            let what = format!("has shape {}, wanted at most 1 dim", x.layout().shape_text());
            return Err(Error::new(Problem::TensorAt { position, what }));
        }
        shape.push(x.size() as isize);
    }
    rearrange::check_product(&shape)?;
    let rank = tensors.len();
    let grid = |(dim, x): (usize, &Tensor)| {
        let mut own: Dims = smallvec::smallvec![1; rank];
        own[dim] = shape[dim];
        let layout = x.layout().view(&own)?.expand(&shape)?;
        let layout = if swapped && rank > 1 { layout.transpose(0, 1)? } else { layout };
        Ok(x.with_layout(layout))
    };
    try_collect_ok(tensors.iter().enumerate().map(grid))
}

/// All combinations of one element of each vector, one in each row. One vector is returned as it is.
pub fn cartesian_prod(tensors: &[Tensor]) -> Result<Tensor> {
    let dtype = common_dtype(tensors)?;
    if let Some(position) = tensors.iter().position(|x| x.layout().rank() != 1) {
        let what = format!("has shape {}, wanted 1 dim", tensors[position].layout().shape_text());
        return Err(Error::new(Problem::TensorAt { position, what }));
    }
    if let [only] = tensors {
        return Ok(only.clone());
    }
    let mut shape: Dims = tensors.iter().map(|x| x.size() as isize).collect();
    shape.push(tensors.len() as isize);
    let out = Tensor::new_on(common_device(tensors)?, &shape, dtype, Fill::Uninitialized)?;
    for (column, x) in meshgrid(tensors, false)?.iter().enumerate() {
        copy::copy(&out.with_layout(out.layout().select(-1, column as isize)?), x)?;
    }
    let rows: isize = shape[..tensors.len()].iter().product();
    Ok(out.with_layout(out.layout().view(&[rows, tensors.len() as isize])?))
}

/// All combinations of `length` elements of a vector in the order of their positions, one in each row.
pub fn combinations(x: &Tensor, length: isize, with_replacement: bool) -> Result<Tensor> {
    if x.layout().rank() != 1 {
        return Err(Error::new(Problem::Rank { rank: x.layout().rank(), wanted: "1" }));
    }
    if length < 0 {
        return Err(Error::argument("r", length, "0 or more"));
    }
    if length == 0 {
        return Tensor::like(x, &[0], x.dtype()); // as in PyTorch
    }
    let rule = Combinations { n: x.size(), length: length as usize, with_replacement };
    let count = rule.count().filter(|&count| count <= MAX_SPAN as u128);
    let rows = count.map_or(MAX_SPAN, |count| count as isize);
    let out = Tensor::like(x, &[rows, length], x.dtype())?;
    if out.size() > 0 {
        let x = if x.layout().is_row_major() { x.clone() } else { copy::clone(x)? };
        repeat::combine(&out, &x, rule)?;
    }
    Ok(out)
}
