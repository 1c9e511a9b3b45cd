//! Everything that reads or writes an element: loops over addresses, steps and a count.
//!
//! `map`, `fill`, `index`, `random`, `reduce`, `scan`, `softmax`, `sort`, `matmul`, `generate`, `repeat`, `triangle`, `byteswap` and
//! `item` have the safe functions that `backend` calls: they pin tensors and run kernels. `tables` find the kernels of an operation.
//!
//! A [`Kernel`] runs one innermost loop. It sees its operands in four cases: all dense, left scalar, right scalar, any steps. Its output
//! may be one of its inputs, element for element; the caller has copied inputs that overlap it in any other way. Tensor memory may
//! alias, so no kernel forms a `&[T]` over it.

// a: bytes moved, converted and transposed; loops made from functions of elements.
pub mod byteswap;
pub mod cast;
mod copy;
pub mod item;
pub mod loops;
mod nontemporal;
mod scratch;
mod transpose;

// b: operands staged into scratch, work split for threads, functions of numbers.
pub mod maths;
mod pack;
mod split;
mod staging;

// c: the drivers: elementwise, by linear index, along lines.
pub mod generate;
pub mod lines;
pub mod map;

// d: the families.
pub mod fill;
pub mod index;
pub mod isclose;
pub mod matmul;
pub mod random;
pub mod reduce;
pub mod repeat;
pub mod round;
pub mod scan;
pub mod softmax;
pub mod sort;
pub mod triangle;
pub mod r#where;

// e: which of them serves an id and a dtype.
pub mod tables;

pub use crate::nest::{OPERANDS, Pointers, Steps};

/// One innermost loop: addresses, steps in bytes, number of elements. There is one signature for up to five operands, whether
/// a kernel has that many or not: operations, casts and copies share it, and the planner needs no second form.
///
/// # Safety
/// For every operand `k` that the kernel has and every `i < n`, `pointers[k] + i * steps[k]` is the address of an element
/// of the type the kernel was made for; it is readable, and writable where `k` is 0. If an element of the output overlaps
/// one of an input, both have the same address and the same `i`. If `n` is 0 the addresses may be anything.
pub type Kernel = unsafe fn(pointers: &Pointers, steps: &Steps, n: usize);

/// The addresses, sizes or steps of an output and one input; every further operand is `none`.
#[inline]
fn pair<T: Copy>(output: T, input: T, none: T) -> [T; OPERANDS] {
    let mut all = [none; OPERANDS];
    (all[0], all[1]) = (output, input);
    all
}
