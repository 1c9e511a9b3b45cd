//! NumPy's .npy: a header in Python's notation, and the elements of one array.

use super::document::{ByteOrder, Detail, Document, ElementType, Node, Place};
use super::literal::{self, Literal};
use super::load::Loader;
use super::nested::Overlap;
use super::output::FileOutput;
use super::request::{OpenedFile, WriteOptions};
use super::source::Cursor;
use super::view_bytes::write_tensor;
use super::{fault, refusal};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::tensor::Tensor;

pub const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Headers end at a multiple of this many bytes, and so elements are aligned.
const ALIGNMENT: usize = 64;
/// NumPy leaves room for this many digits of the first extent, so that a file can grow in place.
const GROWTH_DIGITS: usize = 21;
/// The longest header that is read. NumPy refuses more than 10000 bytes unless it is told otherwise.
const MAX_HEADER: u64 = 1 << 20;

/// What a header says.
pub struct NpyHeader {
    pub version: (u8, u8),
    pub element: ElementType,
    pub order: ByteOrder,
    pub layout: Layout,
    /// Bytes of the header, with the magic number.
    pub length: u64,
}

/// Reads a header from the position of a cursor. `dtype` is that of raw elements (`V2`).
pub fn read_header(cursor: &mut Cursor<'_>, dtype: Option<DType>) -> Result<NpyHeader> {
    let start = cursor.position();
    let magic: [u8; 8] = cursor.array("the header of a .npy file")?;
    if &magic[..6] != MAGIC {
        return Err(fault(start, "no .npy file: it does not begin with \\x93NUMPY"));
    }
    let version = (magic[6], magic[7]);
    let length = match version {
        (1, 0) => u64::from(u16::from_le_bytes(cursor.array("the length of the header")?)),
        (2 | 3, 0) => u64::from(u32::from_le_bytes(cursor.array("the length of the header")?)),
        (major, minor) => {
            return Err(fault(start + 6, format!("version {major}.{minor} of .npy is not known")));
        }
    };
    if length > MAX_HEADER {
        return Err(cursor.fault(format!("a header of {length} bytes is longer than {MAX_HEADER}")));
    }
    let position = cursor.position();
    let bytes = cursor.bytes(length, "the header")?;
    // Versions 1 and 2 are Latin-1, which differs from UTF-8 in names of fields only.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().map(|&b| b as char).collect());
    let (element, order, layout) = parse_header(&text, position, dtype)?;
    Ok(NpyHeader { version, element, order, layout, length: cursor.position() - start })
}

fn parse_header(text: &str, position: u64, dtype: Option<DType>) -> Result<(ElementType, ByteOrder, Layout)> {
    let malformed = |what: &str| fault(position, format!("the header {what}: {}", text.trim_end()));
    let Literal::Dict(pairs) = literal::parse(text, position)? else { return Err(malformed("is no dict")) };
    let find = |name: &str| {
        let mut found = pairs.iter().filter(|(key, _)| matches!(key, Literal::Text(key) if key == name));
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Ok(value),
            _ => Err(malformed(&format!("does not have one '{name}'"))),
        }
    };
    let (descr, fortran, shape) = (find("descr")?, find("fortran_order")?, find("shape")?);
    if pairs.len() != 3 {
        return Err(malformed("has other keys than descr, fortran_order and shape"));
    }
    let Literal::Bool(fortran) = *fortran else { return Err(malformed("has no bool as fortran_order")) };
    let Literal::Sequence(extents) = shape else { return Err(malformed("has no tuple as shape")) };
    let extent = |literal: &Literal| match literal {
        Literal::Int(number) => isize::try_from(*number).ok().filter(|&extent| extent >= 0),
        _ => None,
    };
    let shape: Option<Vec<isize>> = extents.iter().map(extent).collect();
    let shape = shape.ok_or_else(|| malformed("has a shape that is not made of extents"))?;
    let layout = if fortran { Layout::column_major(&shape) } else { Layout::row_major(&shape) };
    let layout = layout.map_err(|error| fault(position, error.to_string()))?;
    let (element, order) = element_type(descr, dtype);
    Ok((element, order, layout))
}

/// The type and byte order that a `descr` means.
fn element_type(descr: &Literal, dtype: Option<DType>) -> (ElementType, ByteOrder) {
    let Literal::Text(descr) = descr else {
        return (ElementType::foreign("struct", None), ByteOrder::NATIVE);
    };
    let (order, kind) = match descr.split_at_checked(1) {
        Some((">", kind)) => (ByteOrder::Big, kind),
        Some(("<", kind)) => (ByteOrder::Little, kind),
        Some(("|" | "=", kind)) => (ByteOrder::NATIVE, kind),
        _ => (ByteOrder::NATIVE, descr.as_str()),
    };
    let bytes = kind.get(1..).and_then(|digits| digits.parse::<u64>().ok());
    if let Some(dtype) = DType::ALL.iter().find(|dtype| kind_of(**dtype) == kind && **dtype != DType::BF16) {
        return (ElementType::Known(*dtype), order);
    }
    if let Some(dtype) = dtype
        && kind.starts_with('V')
        && bytes == Some(dtype.size() as u64)
    {
        return (ElementType::Known(dtype), order);
    }
    // The letters of numbers, bytes and dates count bytes; `U` counts characters of four.
    let bits = match kind.as_bytes().first() {
        Some(b'U') => bytes.and_then(|characters| characters.checked_mul(32)),
        Some(b'M' | b'm') => Some(64),
        Some(b'O') => None,
        _ => bytes.and_then(|bytes| bytes.checked_mul(8)),
    };
    (ElementType::foreign(descr.as_str(), bits), order)
}

/// NumPy's letter and size of a dtype. bfloat16, which NumPy lacks, is two raw bytes.
fn kind_of(dtype: DType) -> String {
    let letter = match dtype {
        DType::Bool => 'b',
        DType::BF16 => 'V',
        _ if dtype.is_complex() => 'c',
        _ if dtype.is_float() => 'f',
        _ if dtype.is_signed() => 'i',
        _ => 'u',
    };
    format!("{letter}{}", dtype.size())
}

/// Reads a .npy file.
pub fn read(file: &OpenedFile<'_>) -> Result<Document> {
    let mut cursor = Cursor::new(&*file.source, 0, file.source.length());
    let header = read_header(&mut cursor, file.options.dtype)?;
    let mut document = Document::default();
    let (major, minor) = header.version;
    document.detail("version", Detail::Text(format!("{major}.{minor}")));
    let position = cursor.position();
    check_length(&header, cursor.left(), position)?;
    document.end = header.element.bytes(header.layout.size() as u64).map(|bytes| position + bytes);
    let place = Place::Plain { position, order: header.order };
    document.root = document.add_tensor(header.element, header.layout, place)?;
    Ok(document)
}

/// Refuses an array that needs more bytes than follow its header. Pickled objects have no length.
pub fn check_length(header: &NpyHeader, left: u64, position: u64) -> Result<()> {
    match header.element.bytes(header.layout.size() as u64) {
        Some(bytes) if bytes > left => {
            let (shape, name) = (header.layout.shape_text(), header.element.name());
            let reason =
                format!("{shape} elements of {name} need {bytes} bytes, and {left} follow the header");
            Err(fault(position, reason))
        }
        _ => Ok(()),
    }
}

/// The header of a tensor's file, and whether the elements follow in column-major order.
pub fn header_of(dtype: DType, layout: &Layout) -> (Vec<u8>, bool) {
    let fortran = !layout.is_row_major() && layout.is_column_major();
    let shape: Vec<String> = layout.shape().iter().map(isize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let order = if dtype.real().size() == 1 { '|' } else { '<' };
    let mut text = format!(
        "{{'descr': '{order}{}', 'fortran_order': {}, 'shape': ({}{comma}), }}",
        kind_of(dtype),
        if fortran { "True" } else { "False" },
        shape.join(", "),
    );
    if let Some(grows) = if fortran { shape.last() } else { shape.first() } {
        text.push_str(&" ".repeat(GROWTH_DIGITS.saturating_sub(grows.len())));
    }
    let wide = 10 + text.len() + 1 + ALIGNMENT > usize::from(u16::MAX);
    let before = if wide { 12 } else { 10 };
    let length = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before;
    text.push_str(&" ".repeat(length - text.len() - 1));
    text.push('\n');
    let mut header = MAGIC.to_vec();
    if wide {
        header.extend([2, 0]);
        header.extend((length as u32).to_le_bytes());
    } else {
        header.extend([1, 0]);
        header.extend((length as u16).to_le_bytes());
    }
    header.extend(text.as_bytes());
    (header, fortran)
}

/// The elements in the order in which a file with this header has them.
pub fn in_file_order(tensor: &Tensor, fortran: bool) -> Result<Tensor> {
    if !fortran {
        return Ok(tensor.clone());
    }
    let dims: Vec<isize> = (0..tensor.layout().rank() as isize).rev().collect();
    Ok(tensor.with_layout(tensor.layout().permute(&dims)?))
}

/// Writes the only tensor of a document.
pub fn write(document: &Document, _: &WriteOptions, output: &mut FileOutput<'_>) -> Result<Vec<Overlap>> {
    let (Some(&Node::Tensor(view)), 1) = (document.nodes.get(document.root), document.views.len()) else {
        let reason = "a .npy file holds one tensor, and nothing else; .npz and .safetensors hold several";
        return Err(refusal(reason));
    };
    let tensor = Loader::new(document, true, None).separate_tensor(view)?;
    let (header, fortran) = header_of(tensor.dtype(), tensor.layout());
    output.write(&header)?;
    write_tensor(&in_file_order(&tensor, fortran)?, ByteOrder::Little, output)?;
    Ok(vec![])
}
