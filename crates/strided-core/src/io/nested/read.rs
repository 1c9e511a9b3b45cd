//! Reads safetensors files, and the object in the metadata of those that `strided.save` wrote.

use super::super::budget::Budget;
use super::super::document::{ByteOrder, Document, ElementType, LuaFunction, Node, NodeId, Place, Record};
use super::super::json::{self, Json};
use super::super::names::tensor_names;
use super::super::request::OpenedFile;
use super::super::safetensors::{self, SafetensorsHeader};
use super::super::{fault, refusal};
use super::{KEY, VERSION, max_span};
use crate::alloc::{try_collect_ok, try_reserve_entry, try_text};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use std::collections::HashMap;

/// Reads a safetensors file: nested if it has our string, and otherwise a dict of its entries.
pub fn read(file: &OpenedFile<'_>) -> Result<Document> {
    let SafetensorsHeader { entries, mut metadata } = safetensors::read_header(&*file.source)?;
    let budget = file.budget.clone();
    let mut document = match metadata.iter().position(|(key, _)| key == KEY) {
        Some(at) => {
            let document = read_nodes(&metadata.remove(at).1, &entries, budget)?;
            remove_aliases(&mut metadata, &document, &entries)?;
            document
        }
        None => safetensors::flat_document(&entries, budget)?,
    };
    document.metadata = metadata;
    Ok(document)
}

/// Removes the strings that tell other readers under which name a tensor with several names was written.
fn remove_aliases(
    metadata: &mut Vec<(String, String)>,
    document: &Document,
    entries: &[safetensors::Entry],
) -> Result<()> {
    let entries = by_name(entries)?;
    let may_be_alias = |(key, value): &(String, String)| {
        !entries.contains_key(key.as_str()) && entries.contains_key(value.as_str())
    };
    if !metadata.iter().any(may_be_alias) {
        return Ok(());
    }
    let blob_position = |node: NodeId| match document.nodes[node] {
        Node::Tensor(view) | Node::Storage(view) => {
            super::super::load::position_of(&document.blobs[document.views[view].blob].place)
        }
        _ => None,
    };
    let listed = tensor_names(document)?;
    let positions: HashMap<&str, Option<u64>> =
        listed.iter().map(|listed| (listed.name.as_str(), blob_position(listed.node))).collect();
    metadata.retain(|pair| {
        let (key, value) = (pair.0.as_str(), pair.1.as_str());
        !may_be_alias(pair) || positions.get(key) != Some(&Some(entries[value].position))
    });
    Ok(())
}

/// A document from our string. Its errors have positions in the string.
fn read_nodes(text: &str, entries: &[safetensors::Entry], budget: Budget) -> Result<Document> {
    let inside = |reason: &str| fault(8, format!("the metadata 'strided' {reason}"));
    let damaged = |error: Error, what: String| match *error.problem {
        Problem::Format { ref reason, .. } => inside(&format!("{what}: {reason}")),
        Problem::OutOfMemory { .. } => error,
        _ => inside(&format!("{what}: {error}")),
    };
    let object = json::parse(text, 0).map_err(|error| damaged(error, "is damaged".into()))?;
    match object.get("version").and_then(Json::integer::<u64>) {
        Some(VERSION) => {}
        Some(version) => return Err(inside(&format!("has version {version}; a newer strided reads it"))),
        None => return Err(inside("has no version")),
    }
    let nodes = object.get("nodes").and_then(Json::list).filter(|nodes| !nodes.is_empty());
    let nodes = nodes.ok_or_else(|| inside("has no nodes"))?;
    let mut reader = NodeReader::new(entries, nodes.len(), budget)?;
    for (i, node) in nodes.iter().enumerate() {
        let made = reader.node(node).map_err(|error| damaged(error, format!("has a bad node {i}")))?;
        reader.document.nodes[i] = made;
    }
    Ok(reader.document)
}

fn by_name(entries: &[safetensors::Entry]) -> Result<HashMap<&str, &safetensors::Entry>> {
    let mut by_name = HashMap::new();
    for entry in entries {
        try_reserve_entry(&mut by_name)?;
        by_name.insert(entry.name.as_str(), entry);
    }
    Ok(by_name)
}

struct NodeReader<'a> {
    /// Its first nodes are those of the string; values inside containers follow.
    document: Document,
    count: usize,
    entries: HashMap<&'a str, &'a safetensors::Entry>,
    /// The blob of an entry, by its name and the strides that its elements have in memory, if they are noted.
    blobs: HashMap<(&'a str, Option<Vec<isize>>), usize>,
}

impl<'a> NodeReader<'a> {
    fn new(entries: &'a [safetensors::Entry], count: usize, budget: Budget) -> Result<NodeReader<'a>> {
        let mut document = Document { budget, ..Default::default() };
        for _ in 0..count {
            document.add(Node::None)?;
        }
        let entries = by_name(entries)?;
        Ok(NodeReader { document, count, entries, blobs: HashMap::new() })
    }

    fn node(&mut self, node: &Json<'_>) -> Result<Node> {
        if let Some(items) = node.get("list") {
            return Ok(Node::List(self.items(items)?));
        }
        if let Some(items) = node.get("tuple") {
            return Ok(Node::Tuple(self.items(items)?));
        }
        if let Some(pairs) = node.get("dict") {
            return Ok(Node::Dict(self.pairs(pairs)?));
        }
        if let Some(pairs) = node.get("table") {
            return Ok(Node::Table(self.pairs(pairs)?));
        }
        if let Some(name) = node.get("tensor") {
            return self.tensor(name, node);
        }
        if let Some(name) = node.get("storage") {
            let (blob, _) = self.blob(name)?;
            let dtype = dtype_of(node)?.ok_or_else(|| refusal("a storage has no dtype"))?;
            return Ok(Node::Storage(self.document.add_whole_view(blob, ElementType::Known(dtype), 0)?));
        }
        if let Some(class) = node.get("record") {
            let class = class.text().ok_or_else(|| refusal("the class of a record is no string"))?.into();
            let version = node.get("version").and_then(Json::text).map(str::to_string);
            let fields = self.part(node, "fields")?;
            return Ok(Node::Record(Box::new(Record { class, version, fields })));
        }
        if let Some(kind) = node.get("function") {
            let kind = kind.integer().ok_or_else(|| refusal("the kind of a function is no integer"))?;
            let bytecode = node.get("bytecode").and_then(Json::text);
            let bytecode = bytes_of(bytecode.ok_or_else(|| refusal("a function has no bytecode"))?)?;
            let upvalues = self.part(node, "upvalues")?;
            return Ok(Node::Function(Box::new(LuaFunction { kind, bytecode, upvalues })));
        }
        self.scalar(node)
    }

    /// The value of a member that a node must have.
    fn part(&mut self, node: &Json<'_>, key: &str) -> Result<NodeId> {
        let part = node.get(key).ok_or_else(|| refusal(format!("it has no {key}")))?;
        self.value(part)
    }

    fn pairs(&mut self, pairs: &Json<'_>) -> Result<Vec<(NodeId, NodeId)>> {
        let pairs = pairs.list().ok_or_else(|| refusal("a dict is no list of pairs"))?;
        let pair = |pair: &Json<'_>| match pair.list() {
            Some([key, value]) => Ok((self.value(key)?, self.value(value)?)),
            _ => Err(refusal("an item of a dict is no pair")),
        };
        try_collect_ok(pairs.iter().map(pair))
    }

    fn items(&mut self, items: &Json<'_>) -> Result<Vec<NodeId>> {
        let items = items.list().ok_or_else(|| refusal("items are no list"))?;
        try_collect_ok(items.iter().map(|item| self.value(item)))
    }

    /// A value inside a container: a reference to a node, or a number, a string, …
    fn value(&mut self, value: &Json<'_>) -> Result<NodeId> {
        if let Some(node) = value.get("node") {
            let node: Option<usize> = node.integer();
            return node.filter(|&node| node < self.count).ok_or_else(|| refusal("it refers to no node"));
        }
        let scalar = self.scalar(value)?;
        self.document.add(scalar)
    }

    fn scalar(&self, value: &Json<'_>) -> Result<Node> {
        Ok(match value {
            Json::Null => Node::None,
            Json::Bool(value) => Node::Bool(*value),
            Json::Number(digits) if digits.contains(['.', 'e', 'E']) => Node::Float(float_of(value)?),
            Json::Number(digits) => match digits.parse() {
                Ok(number) => Node::Int(number),
                Err(_) => Node::Huge((*digits).into()),
            },
            Json::Text(text) => Node::Text(try_text(text)?),
            Json::Object(pairs) => match pairs.as_slice() {
                [(kind, value)] if kind == "float" => Node::Float(float_of(value)?),
                [(kind, Json::List(parts))] if kind == "complex" && parts.len() == 2 => {
                    Node::Complex(float_of(&parts[0])?, float_of(&parts[1])?)
                }
                [(kind, Json::Text(digits))] if kind == "bytes" => Node::Bytes(bytes_of(digits)?),
                _ => return Err(refusal("its kind is not known")),
            },
            Json::List(_) => return Err(refusal("a list is not a value")),
        })
    }

    fn tensor(&mut self, name: &Json<'_>, node: &Json<'_>) -> Result<Node> {
        let entry = self.entry(name)?;
        let dtype = dtype_of(node)?;
        let element = dtype.map_or_else(|| entry.element.clone(), ElementType::Known);
        let dims = |key: &str| match node.get(key) {
            Some(dims) => {
                dims.integers().map(Some).ok_or_else(|| refusal(format!("its {key} is not made of integers")))
            }
            None => Ok(None),
        };
        let shape: Vec<isize> = dims("shape")?.unwrap_or_else(|| entry.shape.clone());
        let layout = match (dims("stride")?, node.get("offset")) {
            (Some(stride), offset) => {
                let offset = offset.map_or(Some(0), Json::integer);
                Layout::strided(&shape, &stride, offset.ok_or_else(|| refusal("its offset is no integer"))?)
            }
            (None, _) => Layout::row_major(&shape),
        };
        let layout = layout?;
        let (blob, layout) = match dims("memory_stride")? {
            Some(stride) => self.blob_in_memory(entry, element.clone(), &layout, stride)?,
            None => (self.entry_blob(entry)?, layout),
        };
        Ok(Node::Tensor(self.document.add_view(blob, element, layout, entry.position)?))
    }

    fn entry(&self, name: &Json<'_>) -> Result<&'a safetensors::Entry> {
        let name = name.text().ok_or_else(|| refusal("the name of an entry is no string"))?;
        let entry = self.entries.get(name).copied();
        entry.ok_or_else(|| refusal(format!("there is no entry {name:?}")))
    }

    /// The blob of an entry, and the entry.
    fn blob(&mut self, name: &Json<'_>) -> Result<(usize, &'a safetensors::Entry)> {
        let entry = self.entry(name)?;
        Ok((self.entry_blob(entry)?, entry))
    }

    fn entry_blob(&mut self, entry: &'a safetensors::Entry) -> Result<usize> {
        let next = self.document.blobs.len();
        let blob = *self.blobs.entry((&entry.name, None)).or_insert(next);
        if blob == next {
            // The header was checked: the shape has a layout.
            let count = entry.shape.iter().map(|&extent| extent as u64).product();
            self.document.add_blob(entry.element.clone(), count, entry.place())?;
        }
        Ok(blob)
    }

    /// The blob of an entry whose elements are row-major in the file, and have other strides in memory.
    fn blob_in_memory(
        &mut self,
        entry: &'a safetensors::Entry,
        element: ElementType,
        in_file: &Layout,
        stride: Vec<isize>,
    ) -> Result<(usize, Layout)> {
        let covered = element.bytes(in_file.size() as u64);
        if !in_file.is_row_major() || in_file.offset() != 0 || covered != Some(entry.bytes) {
            return Err(refusal("its elements are not all of its entry, in row-major order"));
        }
        let layout = Layout::strided(&in_file.shape(), &stride, 0)?;
        let Some((low, high)) = layout.bounds() else { return Ok((self.entry_blob(entry)?, layout)) };
        let span = (high as i128 - low as i128 + 1) as u128;
        if span > max_span(layout.size()) as u128 {
            return Err(refusal(format!("its strides spread {} elements over {span}", layout.size())));
        }
        let layout = Layout::strided(&in_file.shape(), &stride, -low)?;
        let next = self.document.blobs.len();
        let blob = *self.blobs.entry((&entry.name, Some(stride))).or_insert(next);
        if blob == next {
            let place = Place::RowMajor {
                position: entry.position,
                order: ByteOrder::Little,
                layout: Box::new(layout.clone()),
            };
            self.document.add_blob(element, span as u64, place)?;
        }
        Ok((blob, layout))
    }
}

fn dtype_of(node: &Json<'_>) -> Result<Option<DType>> {
    let Some(dtype) = node.get("dtype") else { return Ok(None) };
    let dtype = dtype.text().and_then(DType::from_name);
    dtype.map(Some).ok_or_else(|| refusal("its dtype is not known"))
}

fn float_of(value: &Json<'_>) -> Result<f64> {
    let text = match value {
        Json::Number(digits) => digits,
        Json::Text(text) => text.as_ref(),
        _ => "",
    };
    text.parse().map_err(|_| refusal("a number is malformed"))
}

fn bytes_of(digits: &str) -> Result<Vec<u8>> {
    let digit = |byte: &u8| (*byte as char).to_digit(16).map(|digit| digit as u8);
    let digits: Option<Vec<u8>> = digits.as_bytes().iter().map(digit).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2));
    let digits = digits.ok_or_else(|| refusal("bytes are not hexadecimal"))?;
    Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
