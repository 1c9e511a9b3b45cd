//! Everything that reads or writes an element: loops over addresses, steps and a count.
//!
//! `map`, `fill`, `reduce`, `lines`, `generate`, `byteswap` and `item` have the safe functions that operations call: they pin tensors
//! and run kernels. A [`Kernel`] runs one innermost loop. It sees operands in four cases (all dense, left scalar, right
//! scalar, anything) and may be given an output that *is* one of its inputs, element for element; any
//! other overlap was resolved before. Tensor memory may alias, so no kernel forms a `&[T]` over it.

// Bytes moved, converted and transposed; loops made from functions of elements.
pub mod byteswap;
pub mod cast;
mod copy;
pub mod item;
pub mod loops;
mod nontemporal;
mod scratch;
mod transpose;

// Operands staged into scratch, work split for threads, functions of numbers.
pub mod maths;
mod pack;
mod split;
mod staging;

// The drivers: elementwise, by linear index, along lines.
pub mod generate;
pub mod map;

// The families.
pub mod fill;
pub mod isclose;
pub mod lines;
pub mod reduce;
pub mod round;
pub mod r#where;

pub use crate::nest::{OPERANDS, Pointers, Steps};

/// One innermost loop: addresses, steps in bytes, number of elements.
///
/// # Safety
/// For every `k` below the number of operands and every `i` below `n`, `pointers[k] + i * steps[k]` is
/// the address of an element of the type the kernel was made for, readable (operand 0: writable).
pub type Kernel = unsafe fn(pointers: &Pointers, steps: &Steps, n: usize);

/// The addresses, or the steps, of a kernel with an output and one input.
#[inline]
fn pair<T: Copy>(output: T, input: T, none: T) -> [T; OPERANDS] {
    let mut all = [none; OPERANDS];
    (all[0], all[1]) = (output, input);
    all
}
