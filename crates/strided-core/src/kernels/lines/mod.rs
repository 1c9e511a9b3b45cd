//! The line driver: runs any function from lines to lines, where a line is the elements along one dim.
//!
//! The driver hides dtypes, strides and threads. A family (`scan`, `softmax`) brings a `TileKernel` and decides how
//! lines are visited; the kernel then sees tiles of one dtype whose lanes are adjacent in memory.
//!
//! ```text
//! line    the elements along one dim. Element i has position i
//! chunk   CHUNK consecutive positions of a line: the unit by which long lines are cut
//! lane    what one vector lane works on: a line, or one chunk of a line
//! strip   some neighbouring lanes: the address of the first, and the bytes from lane to lane
//! tile    some consecutive positions of a strip. A row has one position of all lanes, which are adjacent:
//!
//!                  lane 0   lane 1   lane 2  …
//!         row 0    a[0]     b[0]     c[0]
//!         row 1    a[1]     b[1]     c[1]
//! ```
//!
//! How a family uses it:
//!
//! 1. `with_lines` pins the tensors of a `LineRequest` and passes on a `LineJob`, which describes all lines.
//! 2. The family chooses how the lines are visited:
//!    * `LineJob::for_each_strip`: many lines. Threads share the strips; a lane is a whole line;
//!    * `LineJob::for_each_bundle` and `LineJob::for_each_chunk_group`: few long lines, one line (or bundle of
//!      adjacent lines) after the other. Threads share its chunks; a lane is a chunk. Results that depend on earlier
//!      chunks take several passes.
//! 3. For each strip, `LineJob::walk_tiles` runs the kernel tile by tile: on the tensors' own memory where their lanes
//!    are adjacent and need no cast, otherwise in scratch. A kernel that passes over its lines several times may stage
//!    a whole strip with `LineJob::with_staged_strip`; lines can also be staged one after the other with
//!    `LineOperand::read_lines`.
//!
//! Chunks are cut by position alone, never by the number of threads. A kernel that combines elements in an order that
//! follows from positions therefore returns the same bits for every layout and number of threads.

mod job;
mod lanes;
mod operand;
mod run;
mod tile;

pub use job::LineRequest;
pub(super) use job::{LineJob, Strip, with_lines};
pub(super) use lanes::{Widened, map_lanes};
pub(super) use run::LineScratch;
pub(super) use tile::{LineTile, TileKernel, TileRows};

use crate::error::Result;

/// A function of lines for one compute dtype.
pub type LineFunction = fn(&LineRequest) -> Result<()>;

/// Elements of a chunk.
pub(super) const CHUNK: usize = 256;
/// Lanes whose state a kernel holds in registers.
pub(super) const REGISTER_LANES: usize = 16;
/// Lanes of a strip whose lanes are adjacent in only one of output and input.
const MEDIUM_LANES: usize = 64;
/// The most lanes of a strip.
pub(super) const MAX_LANES: usize = 256;
/// Bytes of each scratch buffer for a tile.
pub(super) const TILE_BYTES: usize = 32 << 10;

/// A line of at least this many elements is cut into chunks for several threads, if there are few lines.
pub(super) const LONG_LINE: usize = 16 * CHUNK;
/// If there are at least this many lines, threads share whole lines.
pub(super) const MANY_LINES: usize = 64;
/// At least this many adjacent lines are walked side by side; fewer are walked one after the other.
pub(super) const MIN_ADJACENT_LINES: usize = 4;
/// Elements of a strip of short lines: they share the cost of starting a strip.
const MIN_STRIP_ELEMENTS: usize = 2048;
/// Elements of a thread's task, for an operation as cheap as an addition.
pub(super) const TASK_ELEMENTS: usize = 64 << 10;
/// The most elements of a task, which cannot be interrupted, for an operation as cheap as an addition.
pub(super) const MAX_TASK_ELEMENTS: usize = 64 << 20;
/// The most bytes of lines that are staged whole, so that they stay in the L2 cache from pass to pass.
pub(super) const MAX_STAGED_BYTES: usize = 256 << 10;
