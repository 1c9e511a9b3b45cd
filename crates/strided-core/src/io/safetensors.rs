//! safetensors: a header in JSON, and the elements of tensors one after the other.

use super::budget::Budget;
use super::document::{ByteOrder, Document, ElementType, Node, Place};
use super::json::{self, Json};
use super::output::FileOutput;
use super::source::{ByteSource, Cursor};
use super::{fault, refusal};
use crate::alloc::{try_collect, try_collect_ok, try_reserve, try_text};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Layout;
use std::fmt::Write;

/// The longest header that readers accept.
const MAX_HEADER: u64 = 100_000_000;
/// Where the data begins: at a multiple of this, so that it can be mapped.
const ALIGNMENT: usize = 64;
pub const METADATA: &str = "__metadata__";

const DTYPES: &[(&str, DType)] = &[
    ("BOOL", DType::Bool),
    ("U8", DType::U8),
    ("I8", DType::I8),
    ("U16", DType::U16),
    ("I16", DType::I16),
    ("F16", DType::F16),
    ("BF16", DType::BF16),
    ("U32", DType::U32),
    ("I32", DType::I32),
    ("F32", DType::F32),
    ("U64", DType::U64),
    ("I64", DType::I64),
    ("F64", DType::F64),
    ("C64", DType::C64),
];
/// The bits of types that strided lacks, by the beginnings of their names.
const FOREIGN: &[(&str, u64)] = &[("F8", 8), ("F6", 6), ("F4", 4)];

/// A tensor of a header.
pub struct Entry {
    pub name: String,
    pub element: ElementType,
    pub shape: Vec<isize>,
    /// Where its elements begin in the file, and how many bytes they are.
    pub position: u64,
    pub bytes: u64,
}

/// What a header says.
pub struct SafetensorsHeader {
    pub entries: Vec<Entry>,
    pub metadata: Vec<(String, String)>,
}

/// Whether a file begins as a safetensors file does: the length of a header that fits, and its first character.
pub fn is_recognised(start: &[u8], length: u64) -> bool {
    let declared = start.get(..8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")));
    declared.is_some_and(|declared| declared <= length - 8) && start.get(8) == Some(&b'{')
}

pub fn read_header(source: &dyn ByteSource) -> Result<SafetensorsHeader> {
    let mut cursor = Cursor::new(source, 0, source.length());
    let length = u64::from_le_bytes(cursor.array("the length of the header")?);
    if length > MAX_HEADER {
        return Err(fault(0, format!("a header of {length} bytes is longer than {MAX_HEADER}")));
    }
    let bytes = cursor.bytes(length, "the header")?;
    let text = String::from_utf8(bytes).map_err(|_| fault(8, "the header is not UTF-8"))?;
    let Json::Object(pairs) = json::parse(&text, 8)? else {
        return Err(fault(8, "the header is no JSON object"));
    };
    let data = cursor.position();
    let mut header = SafetensorsHeader { entries: Vec::new(), metadata: Vec::new() };
    try_reserve(&mut header.entries, pairs.len())?;
    let mut budget = Budget::default(); // for its probes: the entries are bounded by the header
    for (name, value) in pairs {
        budget.spend(size_of::<Entry>() + 2 * name.len())?;
        if name == METADATA {
            header.metadata = read_metadata(&value)?;
        } else {
            let entry = read_entry(&name, &value, data, cursor.left());
            header.entries.push(entry.map_err(|reason| fault(8, format!("the entry {name:?} {reason}")))?);
        }
    }
    check_coverage(&header.entries, data, source.length())?;
    Ok(header)
}

fn read_metadata(value: &Json<'_>) -> Result<Vec<(String, String)>> {
    let malformed = || fault(8, "the metadata is no JSON object of strings");
    let Json::Object(pairs) = value else { return Err(malformed()) };
    let pairs = pairs.iter().map(|(key, value)| {
        let value = value.text().ok_or_else(malformed)?;
        Ok((try_text(key)?, try_text(value)?))
    });
    try_collect_ok(pairs)
}

fn read_entry(name: &str, value: &Json<'_>, data: u64, available: u64) -> std::result::Result<Entry, String> {
    let dtype = value.get("dtype").and_then(Json::text).ok_or("has no dtype")?;
    let shape: Vec<isize> = value.get("shape").and_then(Json::integers).ok_or("has no shape")?;
    let offsets: Vec<u64> =
        value.get("data_offsets").and_then(Json::integers).ok_or("has no data_offsets")?;
    let &[begin, end] = offsets.as_slice() else { return Err("has not two data_offsets".into()) };
    if begin > end || end > available {
        return Err(format!(
            "has data_offsets {begin} and {end}, and the file has {available} bytes of data"
        ));
    }
    let element = match DTYPES.iter().find(|row| row.0 == dtype) {
        Some(row) => ElementType::Known(row.1),
        None => {
            let bits = FOREIGN.iter().find(|row| dtype.starts_with(row.0)).map(|row| row.1);
            ElementType::foreign(dtype, bits)
        }
    };
    let count = Layout::row_major(&shape).map_err(|error| format!("has a bad shape: {error}"))?.size() as u64;
    let bytes = end - begin;
    if element.bytes(count).is_some_and(|wanted| wanted != bytes) {
        return Err(format!("has {bytes} bytes for {count} elements of {dtype}"));
    }
    Ok(Entry { name: name.into(), element, shape, position: data + begin, bytes })
}

/// Refuses entries that share bytes, and bytes that belong to no entry.
fn check_coverage(entries: &[Entry], data: u64, end: u64) -> Result<()> {
    let mut sorted = try_collect(entries.iter())?;
    sorted.sort_unstable_by_key(|entry| (entry.position, entry.bytes));
    let mut at = data;
    for entry in sorted {
        if entry.position != at {
            let problem = if entry.position < at { "overlaps another" } else { "leaves a gap before it" };
            return Err(fault(entry.position, format!("the entry {:?} {problem}", entry.name)));
        }
        at += entry.bytes;
    }
    if at != end {
        return Err(fault(at, format!("{} bytes of the file belong to no entry", end - at)));
    }
    Ok(())
}

impl Entry {
    pub fn layout(&self) -> Result<Layout> {
        Layout::row_major(&self.shape)
    }

    pub fn place(&self) -> Place {
        Place::Plain { position: self.position, order: ByteOrder::Little }
    }
}

/// A document of all entries by their names.
pub fn flat_document(entries: &[Entry], budget: Budget) -> Result<Document> {
    let mut document = Document { budget, ..Default::default() };
    let mut pairs = Vec::new();
    try_reserve(&mut pairs, entries.len())?;
    for entry in entries {
        let key = document.add_text(&entry.name)?;
        pairs.push((key, document.add_tensor(entry.element.clone(), entry.layout()?, entry.place())?));
    }
    document.root = document.add(Node::Dict(pairs))?;
    document.is_flat = true;
    Ok(document)
}

/// An entry to be written: its name, and the type and extents under which its bytes are entered.
pub struct NewEntry {
    pub name: String,
    pub dtype: DType,
    pub shape: Vec<isize>,
}

impl NewEntry {
    fn bytes(&self) -> u64 {
        self.shape.iter().map(|&extent| extent as u64).product::<u64>() * self.dtype.size() as u64
    }
}

/// The order in which entries are written: those with wide elements first, so that every one is aligned.
pub fn data_order(entries: &[NewEntry]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(entries[i].dtype.size()));
    order
}

/// Writes the header of entries whose data will follow in `order`.
pub fn write_header(
    entries: &[NewEntry],
    order: &[usize],
    metadata: &[(String, String)],
    output: &mut FileOutput<'_>,
) -> Result<()> {
    let mut offsets = vec![(0, 0); entries.len()];
    let mut at = 0;
    for &i in order {
        offsets[i] = (at, at + entries[i].bytes());
        at = offsets[i].1;
    }
    let mut header = String::from("{");
    if !metadata.is_empty() {
        write_metadata(&mut header, metadata);
    }
    for (entry, (begin, end)) in entries.iter().zip(offsets) {
        let dtype = DTYPES.iter().find(|row| row.1 == entry.dtype).map(|row| row.0);
        let dtype = dtype.ok_or_else(|| cannot_hold(entry.dtype, &entry.name))?;
        if header.len() > 1 {
            header.push(',');
        }
        json::write_text(&mut header, &entry.name);
        write!(header, ":{{\"dtype\":\"{dtype}\",\"shape\":").expect("a string takes any text");
        json::write_list(&mut header, &entry.shape);
        write!(header, ",\"data_offsets\":[{begin},{end}]}}").expect("a string takes any text");
    }
    header.push('}');
    let padded = (8 + header.len()).next_multiple_of(ALIGNMENT) - 8;
    header.push_str(&" ".repeat(padded - header.len()));
    if header.len() as u64 > MAX_HEADER {
        let reason = format!("the header has {} bytes, and readers accept {MAX_HEADER}", header.len());
        return Err(refusal(reason));
    }
    output.write(&(header.len() as u64).to_le_bytes())?;
    output.write(header.as_bytes())
}

fn write_metadata(header: &mut String, metadata: &[(String, String)]) {
    json::write_text(header, METADATA);
    header.push_str(":{");
    for (i, (key, value)) in metadata.iter().enumerate() {
        if i > 0 {
            header.push(',');
        }
        json::write_text(header, key);
        header.push(':');
        json::write_text(header, value);
    }
    header.push('}');
}

fn cannot_hold(dtype: DType, name: &str) -> Error {
    refusal(format!(
        "{name:?} is {}, which a safetensors file cannot hold; convert it (--dtype)",
        dtype.name()
    ))
}
