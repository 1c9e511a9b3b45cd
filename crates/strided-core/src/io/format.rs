//! Which formats there are, and how the format of a file is recognised.

use super::budget::{Budget, default_limit};
use super::document::Document;
use super::load::Loader;
use super::nested::Overlap;
use super::output::FileOutput;
use super::source::{ByteSource, Cursor};
use super::t7::{self, EncodingHints, ObjectWriter};
use super::{fault, nested, npy, npz, pt, refusal, safetensors, zip};
use crate::dtype::DType;
use crate::error::Result;
use std::sync::Arc;

/// A format of files with tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Npy,
    Npz,
    Safetensors,
    T7,
    Pt,
}

impl Format {
    pub const ALL: &'static [Format] =
        &[Format::Npy, Format::Npz, Format::Safetensors, Format::T7, Format::Pt];

    pub const fn name(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Safetensors => "safetensors",
            Format::T7 => "t7",
            Format::Pt => "pt",
        }
    }

    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name() == name)
    }
}

/// What the caller knows of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    pub format: Option<Format>,
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
    pub encoding: t7::Encoding,
}

/// Bytes by which formats are recognised.
const START: u64 = 512;
/// The beginning of what PyTorch wrote before version 1.6: a pickle of this number.
const OLD_PT: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

pub const NOT_WRITTEN: &str = "files of PyTorch are read, not written; .safetensors is for both";

/// Reads the headers of a file.
pub fn open(source: Arc<dyn ByteSource>, options: &ReadOptions) -> Result<(Format, Document)> {
    let format = match options.format {
        Some(format) => format,
        None => recognise(&*source)?,
    };
    let budget = Budget::new(options.max_bytes.unwrap_or_else(default_limit));
    let mut document = match format {
        Format::Npy => npy::read(&*source, options.dtype)?,
        Format::Npz => npz::read(&*source, zip::read_directory(&*source)?, options.dtype, budget)?,
        Format::Pt => pt::read(&source, zip::read_directory(&*source)?, budget)?,
        Format::Safetensors => nested::read(&*source, budget)?,
        Format::T7 => t7::read(&source, options.encoding, &budget)?,
    };
    document.source = Some(source);
    Ok((format, document))
}

/// The format of a file, by its content.
fn recognise(source: &dyn ByteSource) -> Result<Format> {
    let length = source.length();
    let start = Cursor::new(source, 0, length).bytes(length.min(START), "the beginning")?;
    if start.is_empty() {
        return Err(fault(0, "the file is empty"));
    }
    if start.starts_with(npy::MAGIC) {
        return Ok(Format::Npy);
    }
    if start.starts_with(zip::LOCAL) || start.starts_with(zip::END) {
        return recognise_archive(source);
    }
    if start.starts_with(OLD_PT) || start.get(257..262) == Some(b"ustar") {
        return Err(fault(
            0,
            "the format that PyTorch wrote before version 1.6, which only PyTorch reads: load it there and save it again",
        ));
    }
    if safetensors::is_recognised(&start, length) {
        return Ok(Format::Safetensors);
    }
    if t7::is_recognised(&start) {
        return Ok(Format::T7);
    }
    let shown: Vec<String> = start.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Err(refusal(format!("no known format: the file begins with the bytes {}", shown.join(" "))))
}

fn recognise_archive(source: &dyn ByteSource) -> Result<Format> {
    let members = zip::read_directory(source)?;
    if members.iter().any(|member| pt::is_pickle(&member.name)) {
        return Ok(Format::Pt);
    }
    if members.is_empty() || members.iter().any(|member| member.name.ends_with(".npy")) {
        return Ok(Format::Npz);
    }
    Err(fault(0, "a zip archive without tensors: no member is a .npy file or a pickle of PyTorch"))
}

/// Writes a document as a file. Returns the tensors that only strided finds under their names.
pub fn write(
    document: &Document,
    format: Format,
    options: &WriteOptions,
    output: &mut FileOutput<'_>,
) -> Result<Vec<Overlap>> {
    if format != Format::Safetensors && !document.metadata.is_empty() {
        return Err(refusal(format!("a .{} file has no metadata; .safetensors has", format.name())));
    }
    match format {
        Format::Npy => {
            let view = npy::only_tensor(document)?;
            npy::write(&Loader::new(document, true, None).separate_tensor(view)?, output)?;
        }
        Format::Npz => npz::write(document, options.compress, output)?,
        Format::Safetensors => return nested::write(document, output),
        Format::T7 => {
            ObjectWriter::new(options.encoding, true).write_object(document, document.root, output)?;
        }
        Format::Pt => return Err(refusal(NOT_WRITTEN)),
    }
    Ok(vec![])
}
