//! Everything that reads or writes an element: loops over addresses, steps and a count.
//!
//! `launch`, `reduce`, `lines`, `create`, `swap` and `item` have the safe functions that operations call: they pin tensors
//! and run kernels. A [`Kernel`] runs one innermost loop. It sees operands in four cases (all dense, left scalar, right
//! scalar, anything) and may be given an output that *is* one of its inputs, element for element; any
//! other overlap was resolved before. Tensor memory may alias, so no kernel forms a `&[T]` over it.

mod blocks;
pub mod cast;
pub mod close;
mod copy;
pub mod create;
mod drive;
mod gather;
pub mod item;
pub mod launch;
pub mod lines;
pub mod map;
pub mod maths;
pub mod reduce;
pub mod round;
pub mod select;
mod stream;
pub mod swap;
mod transpose;

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
