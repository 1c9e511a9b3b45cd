//! Random numbers: the generator, and the kernels that fill tensors with the numbers of a draw.
//!
//! An element depends on the seed, the offset of the draw and the linear index of the element alone: any number of threads
//! and any layout give the same numbers. All arithmetic is such that every CPU returns the same bits.
//!
//! `torch_generator` and `lab_generator` are the sequential generators of Torch7 and DeepMind Lab, whose Mersenne twisters
//! are in `mersenne`. Each of their numbers depends on the state that the number before has left.

mod arithmetic;
mod bytes;
mod continuous;
mod discrete;
pub mod generator;
mod lab_generator;
mod mersenne;
mod multinomial;
mod permutation;
mod philox;
mod poisson;
mod run;
mod torch_draws;
mod torch_generator;

pub use bytes::{find_invalid, read_elements, write_bytes};
pub use continuous::{cauchy, exponential, largest_uniform, log_normal, normal, uniform};
pub use discrete::{IntegerDraw, bernoulli, bernoulli_each, geometric, integers};
pub use generator::Generator;
pub use lab_generator::{LAB_DEFAULT_SEED, LAB_STATE_BYTES, LabGenerator, shuffle_lab};
pub use multinomial::{WeightProblem, with_replacement, without_replacement};
pub use permutation::permutation;
pub use philox::{Draw, GROUP};
pub use poisson::poisson;
pub use torch_draws::{
    alias_tables, bernoulli_torch, draw_aliases, fill_torch, multinomial_torch, permute_torch,
};
pub use torch_generator::{TORCH_STATE_BYTES, TorchDraw, TorchGenerator, range_size};
