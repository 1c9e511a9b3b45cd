//! Torch7's .t7: objects one inside the other, in binary or as text.
//!
//! A file says neither how wide its long integers are nor in which order the bytes of its numbers are, so that reading tries
//! one encoding after the other. The one in which the object ends where the file does is taken.

mod read;
mod write;

pub use read::ObjectReader;
pub use write::{ObjectWriter, is_held};

use super::document::{ByteOrder, Detail, Document};
use super::fault;
use super::nested::Overlap;
use super::output::FileOutput;
pub use super::request::{Encoding, EncodingHints};
use super::request::{OpenedFile, WriteOptions};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};

/// Numbers of the kinds of objects.
const NIL: i32 = 0;
const NUMBER: i32 = 1;
const STRING: i32 = 2;
const TABLE: i32 = 3;
const TORCH: i32 = 4;
const BOOLEAN: i32 = 5;
const FUNCTION: i32 = 6;
const OLD_CLOSURE: i32 = 7;
const CLOSURE: i32 = 8;
/// Integers up to this size are exact in a double, which is what numbers of Lua are.
const MAX_EXACT: i64 = 1 << 53;

/// Whether a file may be a .t7 file: it begins with the number of a kind, in one of the encodings.
pub fn is_recognised(start: &[u8]) -> bool {
    match start {
        [0..=8, 0, 0, 0, ..] | [0, 0, 0, 0..=8, ..] => true,
        _ => {
            let text = start.trim_ascii_start();
            matches!(text, [b'0'..=b'8', rest @ ..] if rest.first().is_none_or(u8::is_ascii_whitespace))
        }
    }
}

/// Reads a file that is one object.
pub fn read(file: &OpenedFile<'_>) -> Result<Document> {
    let mut furthest: Option<Error> = None;
    for encoding in candidates(file.options.encoding) {
        match read_as(file, encoding) {
            Ok(document) => return Ok(document),
            // The attempt that came furthest is the one that most likely is right.
            Err(error) => {
                if furthest.as_ref().is_none_or(|other| offset_of(&error) > offset_of(other)) {
                    furthest = Some(error);
                }
            }
        }
    }
    Err(furthest.unwrap_or_else(|| fault(0, "no encoding of .t7 files fits the arguments")))
}

fn offset_of(error: &Error) -> Option<u64> {
    match *error.problem {
        Problem::Format { offset, .. } => offset,
        _ => Some(u64::MAX), // a failed system call, or memory that ran out: no other encoding helps
    }
}

fn candidates(hints: EncodingHints) -> impl Iterator<Item = Encoding> {
    let orders = [ByteOrder::Little, ByteOrder::Big];
    let binary = orders.into_iter().flat_map(|order| [8, 4].map(|long_size| (false, long_size, order)));
    let text = (true, hints.long_size.unwrap_or(8), hints.order.unwrap_or(ByteOrder::Little));
    binary
        .chain([text])
        .map(|(ascii, long_size, order)| Encoding { ascii, long_size, order })
        .filter(move |encoding| hints.ascii.is_none_or(|ascii| ascii == encoding.ascii))
        .filter(move |encoding| hints.long_size.is_none_or(|size| size == encoding.long_size))
        .filter(move |encoding| hints.order.is_none_or(|order| order == encoding.order))
}

fn read_as(file: &OpenedFile<'_>, encoding: Encoding) -> Result<Document> {
    let mut reader = ObjectReader::new(file.source.clone(), encoding, true, file.budget.clone());
    let (root, end) = reader.read_object(0)?;
    reader.expect_end(end)?;
    let mut document = reader.into_document();
    document.root = root;
    document.detail("encoding", Detail::Text(if encoding.ascii { "ascii" } else { "binary" }.into()));
    if !encoding.ascii {
        document.detail("long_size", Detail::Number(encoding.long_size as u64));
        document.detail("byte_order", Detail::Text(encoding.order.name().into()));
    }
    Ok(document)
}

/// Writes a document as one object.
pub fn write(
    document: &Document,
    options: &WriteOptions,
    output: &mut FileOutput<'_>,
) -> Result<Vec<Overlap>> {
    ObjectWriter::new(options.encoding, true).write_object(document, document.root, output)?;
    Ok(vec![])
}

/// Torch7's names of types, without `torch.` and `Tensor` or `Storage`.
const TYPES: &[(&str, DType)] = &[
    ("Byte", DType::U8),
    ("Char", DType::I8),
    ("Short", DType::I16),
    ("Int", DType::I32),
    ("Long", DType::I64),
    ("Half", DType::F16),
    ("Float", DType::F32),
    ("Double", DType::F64),
];

/// Whether a class is that of tensors or of storages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TorchClass {
    Tensor(DType),
    Storage(DType),
}

impl TorchClass {
    /// The class of a name. Those of CUDA are read as the classes of the CPU that hold the same numbers.
    fn from_name(name: &str) -> Option<TorchClass> {
        let name = name.strip_prefix("torch.")?;
        let (name, class): (&str, fn(DType) -> TorchClass) = match name.strip_suffix("Tensor") {
            Some(name) => (name, TorchClass::Tensor),
            None => (name.strip_suffix("Storage")?, TorchClass::Storage),
        };
        if name == "Cuda" {
            return Some(class(DType::F32));
        }
        let name = name.strip_prefix("Cuda").unwrap_or(name);
        TYPES.iter().find(|row| row.0 == name).map(|row| class(row.1))
    }

    /// The name of the class of a dtype; bool is written as bytes.
    fn name_of(dtype: DType, what: &str) -> Option<String> {
        let dtype = if dtype == DType::Bool { DType::U8 } else { dtype };
        TYPES.iter().find(|row| row.1 == dtype).map(|row| format!("torch.{}{what}", row.0))
    }
}

/// The class of random number generators, whose objects are the bytes of a C structure.
const GENERATOR: &str = "torch.Generator";

/// The bytes of a generator: 624 long integers of state, and some numbers more.
fn generator_bytes(long_size: usize) -> u64 {
    if long_size == 4 { 2544 } else { 5048 }
}
