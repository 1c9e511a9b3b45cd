//! The classes: Tensor and its protocols and operators, Storage, Layout, Size, dtype, device and Generator;
//! and the private generators of Torch7 and DeepMind Lab.

#[macro_use]
mod slots;

pub mod borrow;
pub mod class_table;
pub mod devices;
pub mod document;
pub mod dtype;
pub mod elementwise;
pub mod generator;
pub mod iterator;
pub mod layout;
pub mod mersenne;
pub mod operators;
pub mod protocols;
pub mod size;
pub mod storage;
pub mod t7_stream;
pub mod tensor;
pub mod typed;
