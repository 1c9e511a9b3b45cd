//! The table of formats: what the rest of the library knows of each, and the functions that read and write it.

use super::budget::{Budget, default_limit};
use super::convert::Capacity;
use super::document::Document;
use super::nested::Overlap;
use super::output::FileOutput;
use super::request::{OpenedFile, ReadOptions, WriteOptions};
use super::source::{ByteSource, Cursor};
use super::{fault, nested, npy, npz, pt, refusal, safetensors, t7};
use crate::error::{Error, Result};
use std::cell::OnceCell;
use std::sync::Arc;

/// A row of the table.
pub struct FormatRow {
    pub name: &'static str,
    /// The suffixes by which `save` chooses the format.
    pub suffixes: &'static [&'static str],
    /// The arguments of `save` that this format takes and others refuse.
    pub options: &'static [&'static str],
    /// Whether files begin with a magic number. Formats without one are recognised last.
    has_magic: bool,
    /// Whether a file begins as one of this format does.
    recognise: fn(&OpenedFile<'_>) -> Result<bool>,
    /// Parses everything but the elements.
    open: fn(&OpenedFile<'_>) -> Result<Document>,
    /// For a format that is only read, the reason why it is not written.
    writer: std::result::Result<FormatWriter, &'static str>,
}

/// How a format is written.
pub struct FormatWriter {
    pub capacity: Capacity,
    /// Returns the tensors that other readers do not see under their names, because they overlap.
    write: fn(&Document, &WriteOptions, &mut FileOutput<'_>) -> Result<Vec<Overlap>>,
}

pub type Format = &'static FormatRow;

/// All formats.
pub static FORMATS: &[FormatRow] = &[
    FormatRow {
        name: "npy",
        suffixes: &[".npy"],
        options: &[],
        has_magic: true,
        recognise: |file| Ok(file.start.starts_with(npy::MAGIC)),
        open: npy::read,
        writer: Ok(FormatWriter { capacity: Capacity::OneTensor, write: npy::write }),
    },
    FormatRow {
        name: "npz",
        suffixes: &[".npz"],
        options: &["compress"],
        has_magic: true,
        recognise: npz::is_recognised,
        open: npz::read,
        writer: Ok(FormatWriter { capacity: Capacity::NamedTensors, write: npz::write }),
    },
    FormatRow {
        name: "safetensors",
        suffixes: &[".safetensors", ".strided"],
        options: &["metadata"],
        has_magic: false,
        recognise: |file| Ok(safetensors::is_recognised(&file.start, file.source.length())),
        open: nested::read,
        writer: Ok(FormatWriter { capacity: Capacity::Everything, write: nested::write }),
    },
    FormatRow {
        name: "t7",
        suffixes: &[".t7"],
        options: &["encoding", "long_size", "byte_order"],
        has_magic: false,
        recognise: |file| Ok(t7::is_recognised(&file.start)),
        open: t7::read,
        writer: Ok(FormatWriter { capacity: Capacity::Tables, write: t7::write }),
    },
    FormatRow {
        name: "pt",
        suffixes: &[".pt", ".pth"],
        options: &[],
        has_magic: true,
        recognise: pt::is_recognised,
        open: pt::read,
        writer: Err("files of PyTorch are read, not written; .safetensors is for both"),
    },
];

impl FormatRow {
    pub fn from_name(name: &str) -> Option<Format> {
        FORMATS.iter().find(|format| format.name == name)
    }

    pub fn writer(&self) -> Result<&FormatWriter> {
        self.writer.as_ref().map_err(|reason| refusal(*reason))
    }
}

/// Bytes at the beginning of a file that recognition looks at.
const START: u64 = 512;

/// Parses everything but the elements of a file. Its format is recognised unless it is given.
pub fn open(
    source: Arc<dyn ByteSource>,
    format: Option<Format>,
    options: &ReadOptions,
) -> Result<(Format, Document)> {
    let budget = Budget::new(options.max_bytes.unwrap_or_else(default_limit));
    let (start, members) = (Vec::new(), OnceCell::new());
    let mut file = OpenedFile { source, options, budget, start, members };
    let format = match format {
        Some(format) => format,
        None => recognise(&mut file)?,
    };
    let mut document = (format.open)(&file)?;
    document.source = Some(file.source);
    Ok((format, document))
}

/// The format of a file, by its content.
fn recognise(file: &mut OpenedFile<'_>) -> Result<Format> {
    let length = file.source.length();
    file.start = Cursor::new(&*file.source, 0, length).bytes(length.min(START), "the beginning")?;
    if file.start.is_empty() {
        return Err(fault(0, "the file is empty"));
    }
    let (certain, likely): (Vec<_>, Vec<_>) = FORMATS.iter().partition(|format| format.has_magic);
    for format in certain.into_iter().chain(likely) {
        if (format.recognise)(file)? {
            return Ok(format);
        }
    }
    Err(unknown(file))
}

#[cold]
fn unknown(file: &OpenedFile<'_>) -> Error {
    if file.is_archive() {
        return fault(0, "a zip archive without tensors: no member is a .npy file or a pickle of PyTorch");
    }
    let shown: Vec<String> = file.start.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    refusal(format!("no known format: the file begins with the bytes {}", shown.join(" ")))
}

/// Writes a document as a file. Returns the tensors that other readers do not see under their names, because they overlap.
pub fn write(
    document: &Document,
    format: Format,
    options: &WriteOptions,
    output: &mut FileOutput<'_>,
) -> Result<Vec<Overlap>> {
    if !document.metadata.is_empty() && !format.options.contains(&"metadata") {
        return Err(refusal(format!("a .{} file has no metadata; .safetensors has", format.name)));
    }
    (format.writer()?.write)(document, options, output)
}
