//! Formats of files: bytes to tensors and back.
//!
//! A format is read into a [`Document`] and written from one. A document says what is in a file and where the bytes of its
//! tensors are; [`load`] brings those into memory or maps them. [`FORMATS`] has a row for each format.
//!
//! | file | |
//! |---|---|
//! | `document` | the one description of a file with tensors |
//! | `source`, `output` | where bytes come from and go to; files that are replaced atomically |
//! | `budget` | the memory that a file may take |
//! | `load`, `names`, `view_bytes` | bytes to storages; the names of tensors; tensors to bytes |
//! | `convert` | what of a document another format can hold |
//! | `json`, `literal`, `zip`, `pickle`, `opcodes`, `torch_names` | notations that formats are made of |
//! | `raw`, `npy`, `npz`, `safetensors`, `nested`, `t7`, `pt` | formats; `nested` is what `strided.save` adds to safetensors |
//! | `request` | what the functions of formats are given |
//! | `format` | the table of formats |
//!
//! Files are hostile until they are checked. A length that a file declares is compared with the bytes that are there before
//! memory is allocated for it. Nesting is walked with lists on the heap, not by recursion. An error is a
//! [`Problem::Format`](crate::error::Problem::Format) with the position of the bytes that are wrong.
//!
//! Crates were looked at first. `safetensors` wants the whole file as one slice, takes the last of two equal names, and
//! brings `serde_json`; `npyz` and `zip` read from streams only, so that a member cannot be mapped or read on its own
//! thread. What is left of them is the inflating of `flate2`, in Rust, without C code.

mod budget;
mod convert;
mod document;
mod format;
mod inflate;
mod json;
mod literal;
mod load;
mod names;
mod nested;
mod npy;
mod npz;
mod opcodes;
mod output;
mod pickle;
mod pt;
mod raw;
mod request;
mod safetensors;
mod source;
pub mod t7;
mod text;
mod torch_names;
mod view_bytes;
mod zip;

pub use budget::{Budget, default_limit};
pub use convert::{Capacity, Loss, LossKind, choose, fit};
pub use document::{
    Blob, ByteOrder, Detail, Document, ElementType, ForeignType, LuaFunction, Node, NodeId, Place, Record,
    View,
};
pub use format::{FORMATS, Format, FormatRow, open, write};
pub use load::{Loader, position_of, why_not_mapped};
pub use names::{Listed, ListedValue, OutlineRow, list_order, outline, tensor_names, value_names};
pub use nested::Overlap;
pub use npy::header_of as npy_header;
pub use output::{ByteTarget, FileOutput, NewFile};
pub use raw::{RawRequest, read_raw, write_raw};
pub use request::{ReadOptions, WriteOptions};
pub use source::{ByteSource, FileSource, MapMode};

use crate::error::{Error, Problem};

/// An error of a file at a position; the file's name is added where it is known.
#[cold]
fn fault(position: u64, reason: impl Into<String>) -> Error {
    let problem = Problem::Format { file: String::new(), offset: Some(position), reason: reason.into() };
    Error::new(problem)
}

/// An error of a file as a whole, or of an object that a format cannot hold.
#[cold]
pub fn refusal(reason: impl Into<String>) -> Error {
    Error::new(Problem::Format { file: String::new(), offset: None, reason: reason.into() })
}

/// Adds the name of the file to an error that has none.
pub fn in_file(mut error: Error, name: &str) -> Error {
    if let Problem::Format { file, .. } = &mut *error.problem
        && file.is_empty()
    {
        *file = name.into();
    }
    error
}
