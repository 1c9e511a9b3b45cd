//! NumPy's .npz: a zip archive of .npy files.

use super::document::{ByteOrder, Detail, Document, Node, Place};
use super::inflate::{self, Inflater};
use super::load::Loader;
use super::nested::Overlap;
use super::npy::{self, NpyHeader};
use super::output::FileOutput;
use super::request::{OpenedFile, WriteOptions};
use super::source::{ByteSource, Cursor};
use super::view_bytes::{each_piece, write_tensor};
use super::zip::{self, Archive, Checksum, Member};
use super::{fault, pt, refusal};
use crate::alloc::{try_filled, try_push};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::tensor::Tensor;
use flate2::{Compress, Compression, FlushCompress, Status};

/// The most bytes of a deflated member that are inflated to read its header.
const MAX_HEADER: usize = 1 << 16;

/// Whether a file is an archive with arrays, or an empty one. One with a pickle is PyTorch's.
pub fn is_recognised(file: &OpenedFile<'_>) -> Result<bool> {
    if !file.is_archive() {
        return Ok(false);
    }
    let members = file.members()?;
    let has_arrays = members.is_empty() || members.iter().any(|member| member.name.ends_with(".npy"));
    Ok(has_arrays && !members.iter().any(|member| pt::is_pickle(&member.name)))
}

/// Reads the directory of an archive and the headers of its arrays.
pub fn read(file: &OpenedFile<'_>) -> Result<Document> {
    let mut document = Document { budget: file.budget.clone(), ..Default::default() };
    let mut pairs = Vec::new();
    let mut others = 0;
    for member in file.members()? {
        let Some(name) = member.name.strip_suffix(".npy") else {
            others += 1;
            continue;
        };
        let (header, place) = read_member(&*file.source, member, file.options.dtype)?;
        let key = document.add_text(name)?;
        try_push(&mut pairs, (key, document.add_tensor(header.element, header.layout, place)?))?;
    }
    if others > 0 {
        document.detail("other members", Detail::Number(others));
    }
    document.root = document.add(Node::Dict(pairs))?;
    document.is_flat = true;
    Ok(document)
}

fn read_member(source: &dyn ByteSource, member: &Member, dtype: Option<DType>) -> Result<(NpyHeader, Place)> {
    let Member { position, compressed, size, method, .. } = *member;
    match method {
        zip::STORED => {
            let mut cursor = Cursor::new(source, position, position + size);
            let header = npy::read_header(&mut cursor, dtype)?;
            npy::check_length(&header, cursor.left(), cursor.position())?;
            let place = Place::Plain { position: cursor.position(), order: header.order };
            Ok((header, place))
        }
        zip::DEFLATED => {
            if !inflate::is_possible(size, compressed) {
                let reason = format!("{compressed} deflated bytes cannot become {size}");
                return Err(fault(position, reason));
            }
            let mut start = try_filled(MAX_HEADER.min(size as usize), 0)?;
            let got = Inflater::new(source, position..position + compressed).read(&mut start)?;
            start.truncate(got);
            // A position in the inflated member is none in the file; that of the member is.
            let header = npy::read_header(&mut Cursor::new(&start, 0, got as u64), dtype);
            let header = header.map_err(|error| at_member(error, position))?;
            npy::check_length(&header, size.saturating_sub(header.length), position)?;
            let (skipped, order) = (header.length, header.order);
            Ok((header, Place::Deflated { position, compressed, skipped, order, crc: member.crc }))
        }
        other => {
            Err(fault(position, format!("the member {:?} is compressed by method {other}", member.name)))
        }
    }
}

/// Moves an error in an inflated header to the position of the member.
fn at_member(error: Error, position: u64) -> Error {
    match *error.problem {
        Problem::Format { reason, .. } => fault(position, format!("in the deflated data: {reason}")),
        _ => error,
    }
}

/// Writes the tensors of a document under their names.
pub fn write(
    document: &Document,
    options: &WriteOptions,
    output: &mut FileOutput<'_>,
) -> Result<Vec<Overlap>> {
    let mut archive = Archive::default();
    for (name, view) in named_tensors(document)? {
        let tensor = Loader::new(document, true, None).separate_tensor(view)?;
        let (header, fortran) = npy::header_of(tensor.dtype(), tensor.layout());
        let tensor = npy::in_file_order(&tensor, fortran)?;
        let write_member = if options.compress { write_deflated } else { write_stored };
        write_member(&mut archive, output, &format!("{name}.npy"), &header, &tensor)?;
    }
    archive.finish(output)?;
    Ok(vec![])
}

fn write_stored(
    archive: &mut Archive,
    output: &mut FileOutput<'_>,
    name: &str,
    header: &[u8],
    tensor: &Tensor,
) -> Result<()> {
    let mut checksum = Checksum::default();
    checksum.add(header);
    each_piece(tensor, ByteOrder::Little, &mut |piece| {
        checksum.add(piece);
        Ok(())
    })?;
    let size = (header.len() + tensor.size() * tensor.dtype().size()) as u64;
    archive.stored(output, name, size, checksum.value())?;
    output.write(header)?;
    write_tensor(tensor, ByteOrder::Little, output)
}

fn write_deflated(
    archive: &mut Archive,
    output: &mut FileOutput<'_>,
    name: &str,
    header: &[u8],
    tensor: &Tensor,
) -> Result<()> {
    let size = (header.len() + tensor.size() * tensor.dtype().size()) as u64;
    let member = archive.begin_deflated(output, name, size)?;
    let mut checksum = Checksum::default();
    let mut stream = Compress::new(Compression::default(), false);
    let mut buffer = vec![0; 1 << 16];
    let mut deflate = |mut piece: &[u8], flush: FlushCompress, output: &mut FileOutput<'_>| -> Result<()> {
        loop {
            let before = (stream.total_in(), stream.total_out());
            let status =
                stream.compress(piece, &mut buffer, flush).map_err(|error| refusal(error.to_string()))?;
            piece = &piece[(stream.total_in() - before.0) as usize..];
            output.write(&buffer[..(stream.total_out() - before.1) as usize])?;
            let is_done =
                if flush == FlushCompress::Finish { status == Status::StreamEnd } else { piece.is_empty() };
            if is_done {
                return Ok(());
            }
        }
    };
    checksum.add(header);
    deflate(header, FlushCompress::None, output)?;
    each_piece(tensor, ByteOrder::Little, &mut |piece| {
        checksum.add(piece);
        deflate(piece, FlushCompress::None, output)
    })?;
    deflate(&[], FlushCompress::Finish, output)?;
    archive.end_deflated(output, member, size, checksum.value())
}

/// The tensors of a flat dict by their names, or those of a list by NumPy's names for them.
fn named_tensors(document: &Document) -> Result<Vec<(String, usize)>> {
    let tensor = |name: String, node: usize| match document.nodes[node] {
        Node::Tensor(view) => Ok((name, view)),
        _ => Err(refusal(format!(
            "the value of {name:?} is no tensor; .npz holds a dict or a list of tensors"
        ))),
    };
    match &document.nodes[document.root] {
        Node::Tensor(view) => Ok(vec![("arr_0".into(), *view)]),
        Node::List(items) | Node::Tuple(items) => {
            items.iter().enumerate().map(|(i, &item)| tensor(format!("arr_{i}"), item)).collect()
        }
        Node::Dict(pairs) => {
            let named = pairs.iter().map(|&(key, value)| match &document.nodes[key] {
                Node::Text(name) => tensor(name.clone(), value),
                _ => Err(refusal("a key is no string; .npz holds a dict or a list of tensors")),
            });
            named.collect()
        }
        _ => Err(refusal("the object is no tensor; .npz holds a dict or a list of tensors")),
    }
}
