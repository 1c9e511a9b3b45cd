//! PyTorch's .pt: a zip archive of a pickle and the bytes of storages. Read only, and only tensors and plain containers.

use super::document::{Blob, ByteOrder, Detail, Document, ElementType, Node, NodeId, Place, View};
use super::load::Loader;
use super::pickle::{self, PickleHooks, PickledPart};
use super::request::OpenedFile;
use super::source::{ByteSource, Cursor};
use super::torch_names::{self, Global};
use super::zip::{self, Member};
use super::{fault, inflate};
use crate::alloc::try_filled;
use crate::error::Result;
use crate::layout::Layout;
use crate::ops::Operand;
use crate::ops::copy;
use crate::ops::elementwise::apply;
use crate::ops::table::Op;
use crate::tensor::Tensor;
use std::collections::HashMap;
use std::sync::Arc;

/// The beginning of what PyTorch wrote before version 1.6: a pickle of this number.
const OLD: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
const PICKLE: &str = "data.pkl";
/// The longest pickle that is inflated into memory; PyTorch stores them as they are.
const MAX_DEFLATED_PICKLE: u64 = 1 << 28;

/// Whether a member of an archive is the pickle of a .pt file.
pub fn is_pickle(name: &str) -> bool {
    name == PICKLE || name.strip_suffix(PICKLE).is_some_and(|folder| folder.ends_with('/'))
}

/// Whether a file is an archive with a pickle. What PyTorch wrote before is refused.
pub fn is_recognised(file: &OpenedFile<'_>) -> Result<bool> {
    if file.is_archive() {
        return Ok(file.members()?.iter().any(|member| is_pickle(&member.name)));
    }
    if file.start.starts_with(OLD) || file.start.get(257..262) == Some(b"ustar") {
        let reason = "the format that PyTorch wrote before version 1.6, which only PyTorch reads: load it there and save it again";
        return Err(fault(0, reason));
    }
    Ok(false)
}

/// Reads the pickle of an archive.
pub fn read(file: &OpenedFile<'_>) -> Result<Document> {
    let (source, members) = (&*file.source, file.members()?);
    let mut pickles = members.iter().filter(|member| is_pickle(&member.name));
    let Some(pickle) = pickles.next() else { return Err(fault(0, "the archive has no data.pkl")) };
    if let Some(second) = pickles.next() {
        return Err(fault(second.position, format!("the archive has two pickles, {:?} too", second.name)));
    }
    let folder = pickle.name.strip_suffix(PICKLE).unwrap_or_default();
    if members.iter().any(|member| member.name == format!("{folder}constants.pkl")) {
        return Err(fault(
            pickle.position,
            "a TorchScript archive: its objects are code; save the state dict instead",
        ));
    }
    let order = byte_order(source, members, folder)?;
    let by_name: HashMap<&str, &Member> =
        members.iter().map(|member| (member.name.as_str(), member)).collect();
    let mut storages = Storages {
        source: &file.source,
        members: by_name,
        folder,
        order,
        nodes: HashMap::new(),
        typed: HashMap::new(),
    };
    let mut document = Document { budget: file.budget.clone(), ..Default::default() };
    document.detail("byte_order", Detail::Text(order.name().into()));
    document.root = match pickle.method {
        zip::DEFLATED => {
            document.budget.spend(pickle.size as usize)?;
            let bytes = inflate_member(source, pickle)?;
            let length = bytes.len() as u64;
            pickle::read(&bytes, 0..length, &mut document, &mut storages)?
        }
        _ => {
            let range = pickle.position..pickle.position + pickle.size;
            pickle::read(source, range, &mut document, &mut storages)?
        }
    };
    Ok(document)
}

/// The byte order of the storages, which archives since PyTorch 2.1 say.
fn byte_order(source: &dyn ByteSource, members: &[Member], folder: &str) -> Result<ByteOrder> {
    let name = format!("{folder}byteorder");
    let Some(member) = members.iter().find(|member| member.name == name) else {
        return Ok(ByteOrder::Little);
    };
    let bytes = match member.method {
        zip::DEFLATED => inflate_member(source, member)?,
        _ => {
            let length = member.size.min(16);
            Cursor::new(source, member.position, member.position + length).bytes(length, "the byte order")?
        }
    };
    match bytes.trim_ascii() {
        b"little" => Ok(ByteOrder::Little),
        b"big" => Ok(ByteOrder::Big),
        _ => Err(fault(member.position, "the byte order is neither little nor big")),
    }
}

fn inflate_member(source: &dyn ByteSource, member: &Member) -> Result<Vec<u8>> {
    let Member { position, compressed, size, crc, .. } = *member;
    if size > MAX_DEFLATED_PICKLE || !inflate::is_possible(size, compressed) {
        return Err(fault(position, format!("{compressed} deflated bytes cannot become a pickle of {size}")));
    }
    let mut bytes = try_filled(size as usize, 0)?;
    inflate::inflate_into(source, position..position + compressed, 0, crc, &mut bytes)?;
    Ok(bytes)
}

/// The storages of an archive, entered into the document when the pickle refers to them.
struct Storages<'a> {
    source: &'a Arc<dyn ByteSource>,
    members: HashMap<&'a str, &'a Member>,
    folder: &'a str,
    order: ByteOrder,
    /// The node of a storage by its key and type.
    nodes: HashMap<(String, &'static str), NodeId>,
    /// The blob of elements of a dtype on the bytes of another blob.
    typed: HashMap<(usize, String), usize>,
}

impl PickleHooks for Storages<'_> {
    /// `("storage", class, key, location, count)`
    fn persistent(&mut self, document: &mut Document, id: &[PickledPart], position: u64) -> Result<NodeId> {
        let malformed = || fault(position, "the pickle refers to what is no storage");
        let [
            PickledPart::Node(tag),
            PickledPart::Global(Global::Storage(class)),
            PickledPart::Node(key),
            _,
            PickledPart::Node(count),
        ] = id
        else {
            return Err(malformed());
        };
        let (Node::Text(tag), Node::Text(key)) = (&document.nodes[*tag], &document.nodes[*key]) else {
            return Err(malformed());
        };
        let Node::Int(count) = document.nodes[*count] else { return Err(malformed()) };
        if tag != "storage" {
            return Err(malformed());
        }
        let known = (key.clone(), *class);
        if let Some(&node) = self.nodes.get(&known) {
            return Ok(node);
        }
        let node = self.enter(document, key.clone(), class, count, position)?;
        self.nodes.insert(known, node);
        Ok(node)
    }

    /// `(storage, offset, size, stride, requires_grad, hooks, [dtype,] metadata)`
    fn tensor(
        &mut self,
        document: &mut Document,
        arguments: &[NodeId],
        typed: bool,
        position: u64,
    ) -> Result<NodeId> {
        let malformed = || fault(position, "the pickle rebuilds a tensor from the wrong arguments");
        let &[storage, offset, size, stride, ref rest @ ..] = arguments else { return Err(malformed()) };
        let Node::Storage(view) = document.nodes[storage] else { return Err(malformed()) };
        let integer = |node: NodeId| match document.nodes[node] {
            Node::Int(number) => isize::try_from(number).ok(),
            _ => None,
        };
        let integers = |node: NodeId| match &document.nodes[node] {
            Node::Tuple(items) | Node::List(items) => items.iter().map(|&item| integer(item)).collect(),
            _ => None,
        };
        let parts: Option<(isize, Vec<isize>, Vec<isize>)> =
            (|| Some((integer(offset)?, integers(size)?, integers(stride)?)))();
        let (offset, size, stride) = parts.ok_or_else(malformed)?;
        let layout =
            Layout::strided(&size, &stride, offset).map_err(|error| fault(position, error.to_string()))?;
        let metadata = rest.get(if typed { 3 } else { 2 });
        let bits = metadata.map_or(Ok(LazyBits::default()), |&node| lazy_bits(document, node, position))?;
        let blob = match (typed, rest.get(2).map(|&dtype| &document.nodes[dtype])) {
            (false, _) => document.views[view].blob,
            (true, Some(Node::Text(dtype))) => {
                let name = dtype.strip_prefix("torch.").ok_or_else(malformed)?;
                let element = torch_names::element_type(name).ok_or_else(malformed)?;
                self.typed_blob(document, document.views[view].blob, element)?
            }
            (true, _) => return Err(malformed()),
        };
        let element = document.blobs[blob].element.clone();
        let view = document.add_view(blob, element, layout, position)?;
        if bits == LazyBits::default() || document.views[view].element.known().is_none() {
            return document.add(Node::Tensor(view));
        }
        let View { element, layout, .. } = document.views.pop().expect("it was added above");
        // A tensor that repeats elements could have any size when it is computed.
        if layout.size() as u64 > document.blobs[blob].count {
            return Err(fault(position, "a tensor that is to be conjugated or negated repeats its elements"));
        }
        let shape = layout.row_major_like();
        let place = bits.place(self.source.clone(), document.blobs[blob].clone(), element.clone(), layout);
        document.add_tensor(element, shape, place)
    }
}

/// What PyTorch computes lazily: the conjugate bit, set by `x.conj()`, and the negative bit, set by `torch._neg_view(x)`.
#[derive(Clone, Copy, Default, PartialEq)]
struct LazyBits {
    conjugate: bool,
    negate: bool,
}

/// The metadata of a tensor: a dict of bits by their names.
fn lazy_bits(document: &Document, node: NodeId, position: u64) -> Result<LazyBits> {
    let mut bits = LazyBits::default();
    let pairs = match &document.nodes[node] {
        Node::None => return Ok(bits),
        Node::Dict(pairs) => pairs,
        _ => return Err(fault(position, "the metadata of a tensor is no dict")),
    };
    for &(key, value) in pairs {
        match (&document.nodes[key], &document.nodes[value]) {
            (Node::Text(key), Node::Bool(bit)) if key == "conj" => bits.conjugate = *bit,
            (Node::Text(key), Node::Bool(bit)) if key == "neg" => bits.negate = *bit,
            (key, _) => {
                return Err(fault(position, format!("a tensor has metadata that is not known: {key:?}")));
            }
        }
    }
    Ok(bits)
}

impl LazyBits {
    /// Where the elements of a tensor come from that are computed when it is loaded.
    fn place(self, source: Arc<dyn ByteSource>, blob: Blob, element: ElementType, layout: Layout) -> Place {
        Place::Deferred(Arc::new(move || {
            let view = View { blob: 0, element: element.clone(), layout: layout.clone() };
            let stored = Document {
                source: Some(source.clone()),
                blobs: vec![blob.clone()],
                views: vec![view],
                ..Document::default()
            };
            let mut x: Tensor = Loader::new(&stored, false, None).separate_tensor(0)?;
            for (wanted, op) in [(self.conjugate, Op::conj_physical), (self.negate, Op::neg)] {
                if wanted {
                    x = apply(op, &[Operand::Tensor(&x)])?;
                }
            }
            if x.layout().is_row_major() { Ok(x) } else { copy::clone(&x) }
        }))
    }
}

impl Storages<'_> {
    /// The blob of elements of a dtype on the bytes of a storage, which has no dtype of its own.
    fn typed_blob(&mut self, document: &mut Document, bytes: usize, element: ElementType) -> Result<usize> {
        let next = document.blobs.len();
        let blob = *self.typed.entry((bytes, element.name().to_string())).or_insert(next);
        if blob == next {
            let Blob { element: stored, count, place } = document.blobs[bytes].clone();
            let (available, each) = (stored.bytes(count).unwrap_or(0), element.bytes(1).unwrap_or(1).max(1));
            document.add_blob(element, available / each, place)?;
        }
        Ok(blob)
    }

    fn enter(
        &self,
        document: &mut Document,
        key: String,
        class: &'static str,
        count: i64,
        position: u64,
    ) -> Result<NodeId> {
        let name = format!("{}data/{key}", self.folder);
        let member = self.members.get(name.as_str());
        let member = member.ok_or_else(|| fault(position, format!("the archive has no member {name:?}")))?;
        let element = torch_names::element_type(class).unwrap_or_else(|| ElementType::foreign(class, None));
        let count =
            u64::try_from(count).map_err(|_| fault(position, format!("a storage has {count} elements")))?;
        if element.bytes(count).is_some_and(|bytes| bytes > member.size) {
            let reason = format!("a storage of {count} elements of {class} has {} bytes", member.size);
            return Err(fault(member.position, reason));
        }
        let (start, order) = (member.position, self.order);
        let place = match member.method {
            zip::STORED => Place::Plain { position: start, order },
            zip::DEFLATED if inflate::is_possible(member.size, member.compressed) => Place::Deflated {
                position: start,
                compressed: member.compressed,
                skipped: 0,
                order,
                crc: member.crc,
            },
            method => {
                let reason = format!("the member {name:?} is compressed by method {method}, or says so");
                return Err(fault(start, reason));
            }
        };
        let blob = document.add_blob(element.clone(), count, place)?;
        document.add_storage(blob, element, start)
    }
}
