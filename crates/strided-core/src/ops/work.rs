//! Cost estimates made before a call runs, in elements of a cheap operation. They decide whether the interpreter is released.
//! A call that has no function here costs as many elements as its operands have.
//!
//! Where the size of a result depends on the values of an operand, the estimate is too high: all but small calls are large.

use super::compose::extent;
use super::index::along::{DimIndex, IndexForm};
use super::index::keys::Key;
use crate::backend::products::MULTIPLY_ADDS_PER_ELEMENT;
use crate::layout::{Index, Layout};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Several factors, of which those below 1 count as 1.
fn times(factors: impl IntoIterator<Item = usize>) -> usize {
    factors.into_iter().fold(1, |product, factor| product.saturating_mul(factor.max(1)))
}

fn sum(tensors: &[Tensor]) -> usize {
    tensors.iter().fold(0, |sum, x| x.size().saturating_add(sum))
}

/// The elements at one index of a dim.
fn slice(x: &Tensor, dim: usize) -> usize {
    let others = x.layout().modes().iter().enumerate().filter(|(at, _)| *at != dim);
    others.map(|(_, mode)| mode.extent as usize).product()
}

/// `x[keys]`, read or written: the elements that the keys choose, and those of their index tensors and masks.
pub fn keyed(x: &Tensor, keys: &[Key]) -> usize {
    if let [Key::Indices(index)] = keys {
        return index.size().saturating_mul(slice(x, 0) + 1); // most calls, without a layout
    }
    let mut basic = SmallVec::<[Index; 4]>::new();
    let (mut positions, mut elements) = (1usize, 0usize);
    let mut previous: Option<&Layout> = None;
    for key in keys {
        match key {
            Key::Basic(index) => basic.push(*index),
            Key::Flag(_) => {}
            Key::Indices(index) => {
                basic.push(Index::At(0));
                elements = elements.saturating_add(index.size());
                // Index tensors are broadcast: one of the same shape as the previous one adds no positions.
                if !previous.is_some_and(|shape| shape.same_shape(index.layout())) {
                    positions = positions.saturating_mul(index.size());
                }
                previous = Some(index.layout());
            }
            Key::Mask(mask) => {
                basic.extend(std::iter::repeat_n(Index::At(0), mask.layout().rank()));
                elements = elements.saturating_add(mask.size());
                positions = positions.saturating_mul(mask.size());
            }
        }
    }
    // What the basic entries leave of the other dims is chosen for each position.
    let rest = x.layout().index(&basic).map_or(0, |rest| rest.size());
    positions.saturating_mul(rest).saturating_add(elements)
}

/// Elements or slices that an index chooses along a dim, and the elements of the index.
pub fn picked(x: &Tensor, DimIndex { dim, index, form }: DimIndex) -> usize {
    let elements = match (form, x.layout().wrap_dim(dim)) {
        (IndexForm::Slices, Ok(dim)) => slice(x, dim),
        _ => 1,
    };
    index.size().saturating_mul(elements + 1)
}

/// `take_along_dim`: operands are broadcast along the other dims. Without a dim, they may be copied.
pub fn taken_along(x: &Tensor, index: &Tensor, dim: Option<isize>) -> usize {
    let Some(Ok(dim)) = dim.map(|dim| x.layout().wrap_dim(dim)) else { return x.size() + index.size() };
    let modes = x.layout().modes().iter().zip(index.layout().modes()).enumerate();
    let extents =
        modes.map(|(at, (x, index))| if at == dim { index.extent } else { index.extent.max(x.extent) });
    times(extents.map(|extent| extent as usize)).saturating_mul(2)
}

/// The product of matrices, and what is added to it.
pub fn product(a: &Tensor, b: &Tensor) -> usize {
    let columns = match b.layout().rank() {
        0 | 1 => 1,
        rank => extent(b, rank - 1) as usize,
    };
    let multiply_adds = a.size().saturating_mul(columns);
    (multiply_adds / MULTIPLY_ADDS_PER_ELEMENT).max(a.size()).max(b.size())
}

/// The product of several matrices.
pub fn chain(matrices: &[Tensor]) -> usize {
    sum(matrices).saturating_mul(MULTIPLY_ADDS_PER_ELEMENT)
}

/// A contraction, whose number of multiplications is known only after its equation was read.
pub fn contraction(operands: &[Tensor]) -> usize {
    times(operands.iter().map(Tensor::size)) / MULTIPLY_ADDS_PER_ELEMENT
}

/// The distances of all pairs of rows.
pub fn distances(a: &Tensor, b: &Tensor) -> usize {
    let rows = match b.layout().rank() {
        0 | 1 => 1,
        rank => extent(b, rank - 2) as usize,
    };
    a.size().saturating_mul(rows) / MULTIPLY_ADDS_PER_ELEMENT
}

/// A convolution.
pub fn convolution(x: &Tensor, kernel: &Tensor) -> usize {
    x.size().saturating_mul(kernel.size()) / MULTIPLY_ADDS_PER_ELEMENT
}

/// A copy with margins.
pub fn padded(x: &Tensor, margins: &[isize]) -> usize {
    let margins = margins.iter().fold(1usize, |sum, size| sum.saturating_add(size.unsigned_abs()));
    x.size().saturating_mul(margins)
}

/// A copy whose dims are repeated.
pub fn repeated(x: &Tensor, repeats: &[isize]) -> usize {
    repeats.iter().fold(x.size(), |size, &count| size.saturating_mul(count.max(0) as usize))
}

/// A matrix with elements on a diagonal.
pub fn on_diagonal(x: &Tensor, offset: isize) -> usize {
    x.size().saturating_mul(x.size().saturating_add(offset.unsigned_abs()))
}

/// A result with an element for each pair of elements, such as a covariance matrix.
pub fn pairs(elements: usize) -> usize {
    elements.saturating_mul(elements)
}

/// A result with an element for each combination of elements, one of each tensor.
pub fn combinations(tensors: &[Tensor]) -> usize {
    times(tensors.iter().map(Tensor::size))
}
