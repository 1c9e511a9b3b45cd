//! What the functions of formats are given: a file to be read, and options.

use super::budget::Budget;
use super::document::ByteOrder;
use super::source::ByteSource;
use super::zip::{self, Member};
use crate::dtype::DType;
use crate::error::Result;
use std::cell::OnceCell;
use std::sync::Arc;

/// How the numbers of a .t7 file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    pub ascii: bool,
    /// Bytes of a long integer in binary: 4 or 8.
    pub long_size: usize,
    pub order: ByteOrder,
}

impl Default for Encoding {
    /// What Torch7 writes on today's machines.
    fn default() -> Encoding {
        Encoding { ascii: false, long_size: 8, order: ByteOrder::Little }
    }
}

/// What is known of the encoding of a .t7 file.
#[derive(Clone, Copy, Debug, Default)]
pub struct EncodingHints {
    pub ascii: Option<bool>,
    pub long_size: Option<usize>,
    pub order: Option<ByteOrder>,
}

impl EncodingHints {
    /// The encoding of a new file.
    pub fn or_default(self) -> Encoding {
        let default = Encoding::default();
        Encoding {
            ascii: self.ascii.unwrap_or(default.ascii),
            long_size: self.long_size.unwrap_or(default.long_size),
            order: self.order.unwrap_or(default.order),
        }
    }
}

/// What the caller knows of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The dtype of raw elements (`V2`) of a .npy file.
    pub dtype: Option<DType>,
    pub encoding: EncodingHints,
    /// The memory that the object may take, without the elements of tensors; a share of the memory there is without it.
    pub max_bytes: Option<u64>,
}

/// How to write a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Deflates the members of a .npz file.
    pub compress: bool,
    pub encoding: Encoding,
}

/// A file whose format is being found, or whose headers are being read.
pub struct OpenedFile<'a> {
    pub source: Arc<dyn ByteSource>,
    pub options: &'a ReadOptions,
    pub budget: Budget,
    /// The first bytes; empty if the caller has named the format.
    pub start: Vec<u8>,
    pub members: OnceCell<Vec<Member>>,
}

impl OpenedFile<'_> {
    pub fn is_archive(&self) -> bool {
        self.start.starts_with(zip::LOCAL) || self.start.starts_with(zip::END)
    }

    /// The members of a zip archive, whose directory is read once.
    pub fn members(&self) -> Result<&[Member]> {
        if self.members.get().is_none() {
            let _ = self.members.set(zip::read_directory(&*self.source)?);
        }
        Ok(self.members.get().expect("set above"))
    }
}
