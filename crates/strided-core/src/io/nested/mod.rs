//! What `strided.save` adds to safetensors: nested objects, and tensors of any strides that share memory.
//!
//! A tensor that shares no element with another is an entry under its own name, in row-major order, as in any safetensors
//! file. Tensors that overlap are views of an entry of bytes, `storage.0` and so on. One string of the metadata, `strided`,
//! has the object in JSON: a list of nodes that refer to each other, so that an object that occurs twice, or contains
//! itself, is one node. A dict of row-major tensors needs no such string. `docs/format.md` describes it.

mod plan;
mod read;
mod write;

pub use plan::groups;
pub use read::read;
pub use write::{Overlap, write};

/// The key of our string in the metadata.
const KEY: &str = "strided";
const VERSION: u64 = 1;

/// The most elements that a tensor may span to be loaded with the strides that it had in memory. A column of a large matrix
/// becomes row-major: the gaps between its elements would take more memory than they are worth.
fn max_span(elements: usize) -> usize {
    const MAX_SPREAD: usize = 64;
    const SMALL: usize = 1 << 13;
    elements.saturating_mul(MAX_SPREAD).max(SMALL)
}
