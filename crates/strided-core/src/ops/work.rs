//! Cost estimates made before a call runs, in elements of a cheap operation. They decide whether the interpreter is released.
//! A call that has no function here costs as many elements as its operands have.
//!
//! Where the size of a result depends on the values of an operand, the estimate is too high: all but small calls are large.

use super::compose::extent;
use crate::backend::products::MULTIPLY_ADDS_PER_ELEMENT;
use crate::tensor::Tensor;

/// Several factors, of which those below 1 count as 1.
fn times(factors: impl IntoIterator<Item = usize>) -> usize {
    factors.into_iter().fold(1, |product, factor| product.saturating_mul(factor.max(1)))
}

fn sum(tensors: &[Tensor]) -> usize {
    tensors.iter().fold(0, |sum, x| x.size().saturating_add(sum))
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
