//! Random numbers: the generator, and the kernels that fill tensors with the numbers of a draw.
//!
//! An element depends on the seed, the offset of the draw and the linear index of the element alone: any number of threads
//! and any layout give the same numbers. All arithmetic is such that every CPU returns the same bits.
//!
//! [`mersenne`] has the sequential generators of Torch7 and DeepMind Lab.

mod arithmetic;
mod bytes;
mod continuous;
mod discrete;
pub mod generator;
pub mod mersenne;
mod multinomial;
mod permutation;
mod philox;
mod poisson;
mod run;

pub use bytes::{find_invalid, read_bytes, write_bytes};
pub use continuous::{cauchy, exponential, log_normal, normal, uniform};
pub use discrete::{bernoulli, bernoulli_each, geometric, integers};
pub use generator::Generator;
pub use multinomial::{WeightProblem, with_replacement, without_replacement};
pub use permutation::permutation;
pub use poisson::poisson;
