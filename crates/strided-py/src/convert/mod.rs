//! From Python's values to tensors, scalars and ints, and back: arguments, indices, sequences, buffers, DLPack.

pub mod args;
pub mod arrays;
pub mod borrow;
pub mod buffer;
pub mod dlpack;
pub mod documents;
pub mod exchange;
pub mod file_options;
pub mod in_place;
pub mod index;
pub mod keys;
pub mod mapping;
pub mod numbers;
pub mod objects;
pub mod results;
pub mod sequence;
pub mod streams;
pub mod tensors;
pub mod transfer;
pub mod values;
