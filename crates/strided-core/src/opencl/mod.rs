//! What computes on devices of OpenCL: the counterpart of `kernels/`.
//!
//! A call becomes one launch of a kernel or a few. The source of a program is made for an operation and its dtypes; strides and
//! extents are arguments. Rules have decided dtypes, shapes and the device, and have checked that operands share it.
//!
//! | file | what it has |
//! |---|---|
//! | `source/`, [`source`] | types, conversions and functions of numbers, in OpenCL C 1.2 |
//! | [`expression`] | the bodies of the op table as expressions |
//! | [`program`] | programs by what they compute |
//! | [`launch`] | memory of tensors, launches over elements and nests, waits |
//! | [`fault`] | bad indices that kernels find |
//! | [`map`] | elementwise operations, copies and fills |
//! | [`reduce`] | reductions |
//! | [`lines`] | softmax |
//! | [`index`], [`masks`] | elements that an index or a mask chooses |
//! | [`products`] | products of matrices |
//! | [`generate`], [`triangle`] | numbers that follow from their position, triangles of matrices |
//! | [`random`] | random numbers |
//! | [`transfer`] | copies from and to the host and other devices, single elements |

pub mod expression;
pub mod fault;
pub mod generate;
pub mod index;
pub mod launch;
pub mod lines;
pub mod map;
pub mod masks;
pub mod products;
pub mod program;
pub mod random;
pub mod reduce;
pub mod source;
pub mod transfer;
pub mod triangle;
