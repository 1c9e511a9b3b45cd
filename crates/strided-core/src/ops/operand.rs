//! Operands that may be tensors or numbers.

use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// A tensor, or a scalar that takes on the dtype of the tensors.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    Tensor(&'a Tensor),
    Scalar(Scalar),
}

impl<'a> Operand<'a> {
    #[inline]
    pub fn tensor(&self) -> Option<&'a Tensor> {
        match *self {
            Operand::Tensor(x) => Some(x),
            Operand::Scalar(_) => None,
        }
    }

    /// The same operand, with a handle of its own on the tensor.
    pub fn with_handle(self) -> OwnedOperand {
        match self {
            Operand::Tensor(x) => OwnedOperand::Tensor(x.clone()),
            Operand::Scalar(number) => OwnedOperand::Scalar(number),
        }
    }
}

/// An [`Operand`] with a handle of its own on the tensor.
pub enum OwnedOperand {
    Tensor(Tensor),
    Scalar(Scalar),
}

impl OwnedOperand {
    pub fn borrow(&self) -> Operand<'_> {
        match self {
            OwnedOperand::Tensor(x) => Operand::Tensor(x),
            OwnedOperand::Scalar(number) => Operand::Scalar(*number),
        }
    }
}
