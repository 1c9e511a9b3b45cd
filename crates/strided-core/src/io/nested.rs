//! What `strided.save` adds to safetensors: nested objects, and tensors of any strides that share memory.
//!
//! A row-major tensor that is alone on its memory is an entry under its own name, as in any safetensors file. All others
//! are entries of bytes, `storage.0` and so on. One string of the metadata, `strided`, has the object in JSON: a list of
//! nodes that refer to each other, so that an object that occurs twice, or contains itself, is one node. A dict of
//! row-major tensors needs no such string. `docs/format.md` describes it.

use super::document::{ByteOrder, Document, ElementType, Node, NodeId, Place, View};
use super::json::{self, Json};
use super::load::Loader;
use super::names::{Listed, tensor_names};
use super::output::FileOutput;
use super::safetensors::{self, METADATA, NewEntry, SafetensorsHeader};
use super::source::ByteSource;
use super::view_bytes::write_tensor;
use super::{fault, refusal};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::storage::Storage;
use crate::tensor::Tensor;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

const KEY: &str = "strided";
const VERSION: u64 = 1;

/// Reads a safetensors file: nested if it has our string, and otherwise a dict of its entries.
pub fn read(source: &dyn ByteSource) -> Result<Document> {
    let SafetensorsHeader { entries, mut metadata } = safetensors::read_header(source)?;
    let mut document = match metadata.iter().position(|(key, _)| key == KEY) {
        Some(at) => read_nodes(&metadata.remove(at).1, &entries)?,
        None => safetensors::flat_document(&entries)?,
    };
    document.metadata = metadata;
    Ok(document)
}

/// A document from our string. Its errors have positions in the string.
fn read_nodes(text: &str, entries: &[safetensors::Entry]) -> Result<Document> {
    let inside = |reason: &str| fault(8, format!("the metadata 'strided' {reason}"));
    let object = json::parse(text, 0).map_err(|error| inside(&format!("is damaged: {error}")))?;
    match object.get("version").and_then(Json::integer::<u64>) {
        Some(VERSION) => {}
        Some(version) => return Err(inside(&format!("has version {version}; a newer strided reads it"))),
        None => return Err(inside("has no version")),
    }
    let nodes = object.get("nodes").and_then(Json::list).filter(|nodes| !nodes.is_empty());
    let nodes = nodes.ok_or_else(|| inside("has no nodes"))?;
    let mut reader = NodeReader::new(entries, nodes.len());
    for (i, node) in nodes.iter().enumerate() {
        let made = reader.node(node).map_err(|reason| inside(&format!("has a bad node {i}: {reason}")))?;
        reader.document.nodes[i] = made;
    }
    Ok(reader.document)
}

struct NodeReader<'a> {
    /// Its first nodes are those of the string; values inside containers follow.
    document: Document,
    count: usize,
    entries: HashMap<&'a str, &'a safetensors::Entry>,
    blobs: HashMap<&'a str, usize>,
}

type Parsed<T> = std::result::Result<T, String>;

impl<'a> NodeReader<'a> {
    fn new(entries: &'a [safetensors::Entry], count: usize) -> NodeReader<'a> {
        let document = Document { nodes: vec![Node::None; count], ..Default::default() };
        let entries = entries.iter().map(|entry| (entry.name.as_str(), entry)).collect();
        NodeReader { document, count, entries, blobs: HashMap::new() }
    }

    fn node(&mut self, node: &Json<'_>) -> Parsed<Node> {
        if let Some(items) = node.get("list") {
            return Ok(Node::List(self.items(items)?));
        }
        if let Some(items) = node.get("tuple") {
            return Ok(Node::Tuple(self.items(items)?));
        }
        if let Some(pairs) = node.get("dict") {
            let pairs = pairs.list().ok_or("a dict is no list of pairs")?;
            let pairs = pairs.iter().map(|pair| match pair.list() {
                Some([key, value]) => Ok((self.value(key)?, self.value(value)?)),
                _ => Err("an item of a dict is no pair".to_string()),
            });
            return Ok(Node::Dict(pairs.collect::<Parsed<_>>()?));
        }
        if let Some(name) = node.get("tensor") {
            return self.tensor(name, node);
        }
        if let Some(name) = node.get("storage") {
            let (blob, _) = self.blob(name)?;
            let element = ElementType::Known(dtype_of(node)?.ok_or("a storage has no dtype")?);
            let made = self.document.add_storage(blob, element, 0).map_err(|error| error.to_string())?;
            return Ok(self.document.nodes[made].clone());
        }
        self.scalar(node)
    }

    fn items(&mut self, items: &Json<'_>) -> Parsed<Vec<NodeId>> {
        items.list().ok_or("items are no list")?.iter().map(|item| self.value(item)).collect()
    }

    /// A value inside a container: a reference to a node, or a number, a string, …
    fn value(&mut self, value: &Json<'_>) -> Parsed<NodeId> {
        if let Some(node) = value.get("node") {
            let node: Option<usize> = node.integer();
            return node.filter(|&node| node < self.count).ok_or_else(|| "it refers to no node".into());
        }
        let scalar = self.scalar(value)?;
        Ok(self.document.add(scalar))
    }

    fn scalar(&self, value: &Json<'_>) -> Parsed<Node> {
        Ok(match value {
            Json::Null => Node::None,
            Json::Bool(value) => Node::Bool(*value),
            Json::Number(digits) if digits.contains(['.', 'e', 'E']) => Node::Float(float_of(value)?),
            Json::Number(digits) => match digits.parse() {
                Ok(number) => Node::Int(number),
                Err(_) => Node::Huge((*digits).into()),
            },
            Json::Text(text) => Node::Text(text.to_string()),
            Json::Object(pairs) => match pairs.as_slice() {
                [(kind, value)] if kind == "float" => Node::Float(float_of(value)?),
                [(kind, Json::List(parts))] if kind == "complex" && parts.len() == 2 => {
                    Node::Complex(float_of(&parts[0])?, float_of(&parts[1])?)
                }
                [(kind, Json::Text(digits))] if kind == "bytes" => Node::Bytes(bytes_of(digits)?),
                _ => return Err("its kind is not known".into()),
            },
            Json::List(_) => return Err("a list is not a value".into()),
        })
    }

    fn tensor(&mut self, name: &Json<'_>, node: &Json<'_>) -> Parsed<Node> {
        let (blob, entry) = self.blob(name)?;
        let dtype = dtype_of(node)?;
        let element = dtype.map_or_else(|| entry.element.clone(), ElementType::Known);
        let dims = |key: &str| match node.get(key) {
            Some(dims) => {
                dims.integers().map(Some).ok_or_else(|| format!("its {key} is not made of integers"))
            }
            None => Ok(None),
        };
        let shape: Vec<isize> = dims("shape")?.unwrap_or_else(|| entry.shape.clone());
        let layout = match (dims("stride")?, node.get("offset")) {
            (Some(stride), offset) => {
                let offset = offset.map_or(Some(0), Json::integer).ok_or("its offset is no integer")?;
                Layout::strided(&shape, &stride, offset)
            }
            (None, _) => Layout::row_major(&shape),
        };
        let layout = layout.map_err(|error| error.to_string())?;
        let view = self.document.add_view(blob, element, layout, entry.position);
        Ok(Node::Tensor(view.map_err(|error| error.to_string())?))
    }

    /// The blob of an entry.
    fn blob(&mut self, name: &Json<'_>) -> Parsed<(usize, &'a safetensors::Entry)> {
        let name = name.text().ok_or("the name of an entry is no string")?;
        let Some((&name, &entry)) = self.entries.get_key_value(name) else {
            return Err(format!("there is no entry {name:?}"));
        };
        let next = self.document.blobs.len();
        let blob = *self.blobs.entry(name).or_insert(next);
        if blob == next {
            let count = entry.layout().map_err(|error| error.to_string())?.size() as u64;
            self.document.add_blob(entry.element.clone(), count, entry.place());
        }
        Ok((blob, entry))
    }
}

fn dtype_of(node: &Json<'_>) -> Parsed<Option<DType>> {
    let Some(dtype) = node.get("dtype") else { return Ok(None) };
    let dtype = dtype.text().and_then(DType::from_name);
    dtype.map(Some).ok_or_else(|| "its dtype is not known".into())
}

fn float_of(value: &Json<'_>) -> Parsed<f64> {
    let text = match value {
        Json::Number(digits) => digits,
        Json::Text(text) => text.as_ref(),
        _ => "",
    };
    text.parse().map_err(|_| "a number is malformed".into())
}

fn bytes_of(digits: &str) -> Parsed<Vec<u8>> {
    let digit = |byte: &u8| (*byte as char).to_digit(16).map(|digit| digit as u8);
    let digits: Option<Vec<u8>> = digits.as_bytes().iter().map(digit).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2)).ok_or("bytes are not hexadecimal")?;
    Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// A part of memory that becomes one entry.
struct Segment {
    /// The memory, in bytes, or `None` for one tensor that is loaded when it is written.
    memory: Option<(Storage, usize, usize)>,
    views: Vec<usize>,
}

/// Writes a document.
pub fn write(document: &Document, output: &mut FileOutput<'_>) -> Result<()> {
    if let Some((key, _)) = document.metadata.iter().find(|(key, _)| key == KEY || key == METADATA) {
        return Err(refusal(format!("the metadata {key:?} is strided's own")));
    }
    let listed = tensor_names(document);
    let plan = Plan::new(document, &listed)?;
    let mut metadata = document.metadata.clone();
    if !plan.is_flat(document) {
        metadata.push((KEY.into(), plan.nodes(document)?));
    }
    let order = safetensors::data_order(&plan.entries);
    safetensors::write_header(&plan.entries, &order, &metadata, output)?;
    for i in order {
        write_tensor(&plan.tensor(document, i)?, ByteOrder::Little, output)?;
    }
    Ok(())
}

/// Which entries there are, and which part of an entry each view is.
struct Plan {
    segments: Vec<Segment>,
    /// One per segment.
    entries: Vec<NewEntry>,
    /// The segment of a view.
    segment_of: HashMap<usize, usize>,
}

impl Plan {
    fn new(document: &Document, listed: &[Listed]) -> Result<Plan> {
        let segments = find_segments(document, listed);
        let names: HashMap<usize, &str> = listed
            .iter()
            .filter_map(|listed| Some((view_of(document, listed.node)?, listed.name.as_str())))
            .collect();
        let mut plan = Plan { segments: vec![], entries: vec![], segment_of: HashMap::new() };
        let mut taken: HashSet<String> = listed.iter().map(|listed| listed.name.clone()).collect();
        let mut number = 0;
        let storages: HashSet<usize> = document
            .nodes
            .iter()
            .filter_map(|node| if let Node::Storage(view) = node { Some(*view) } else { None })
            .collect();
        for segment in segments {
            let entry = match segment.views[..] {
                [view] if !storages.contains(&view) && is_dense(document, view) => {
                    plain_entry(document, view, names[&view])?
                }
                _ => {
                    let mut name = format!("storage.{number}");
                    while !taken.insert(name.clone()) {
                        number += 1;
                        name = format!("storage.{number}");
                    }
                    number += 1;
                    storage_entry(document, &segment, name)
                }
            };
            plan.segment_of.extend(segment.views.iter().map(|&view| (view, plan.segments.len())));
            plan.segments.push(segment);
            plan.entries.push(entry);
        }
        Ok(plan)
    }

    /// Whether the object is a dict of tensors that are entries under their keys: then a reader needs to know no more.
    fn is_flat(&self, document: &Document) -> bool {
        let Node::Dict(pairs) = &document.nodes[document.root] else { return false };
        pairs.len() == self.entries.len()
            && pairs.iter().all(|&(key, value)| {
                let (Node::Text(key), Node::Tensor(view)) = (&document.nodes[key], &document.nodes[value]) else {
                    return false;
                };
                let entry = &self.entries[self.segment_of[view]];
                *key == entry.name && is_exactly(document, *view, entry)
            })
            // Entries are in the order of the file's names, which is that of the dict unless a tensor occurs twice.
            && self.entries.iter().zip(pairs).all(|(entry, pair)| {
                matches!(&document.nodes[pair.0], Node::Text(key) if *key == entry.name)
            })
    }

    /// What an entry contains.
    fn tensor(&self, document: &Document, i: usize) -> Result<Tensor> {
        let (segment, entry) = (&self.segments[i], &self.entries[i]);
        let Some((storage, start, end)) = &segment.memory else {
            return Loader::new(document, true, None).separate_tensor(segment.views[0]);
        };
        let size = entry.dtype.size();
        let layout = Layout::strided(&[((end - start) / size) as isize], &[1], (start / size) as isize)?;
        Tensor::from_storage(storage.clone(), entry.dtype, layout)
    }

    /// The object in JSON.
    fn nodes(&self, document: &Document) -> Result<String> {
        // Scalars are written inside their containers, so that only the others have numbers; the root has 0.
        let mut numbers: HashMap<NodeId, usize> = HashMap::from([(document.root, 0)]);
        let mut pending = vec![document.root];
        let mut text = format!("{{\"version\":{VERSION},\"nodes\":[");
        let mut at = 0;
        while at < pending.len() {
            let node = pending[at];
            if at > 0 {
                text.push(',');
            }
            self.write_node(document, node, &mut text, &mut |child| {
                let next = pending.len();
                *numbers.entry(child).or_insert_with(|| {
                    pending.push(child);
                    next
                })
            })?;
            at += 1;
        }
        text.push_str("]}");
        Ok(text)
    }

    fn write_node(
        &self,
        document: &Document,
        node: NodeId,
        text: &mut String,
        number: &mut dyn FnMut(NodeId) -> usize,
    ) -> Result<()> {
        let mut value = |text: &mut String, node: NodeId| match &document.nodes[node] {
            Node::List(_) | Node::Tuple(_) | Node::Dict(_) | Node::Tensor(_) | Node::Storage(_) => {
                write!(text, "{{\"node\":{}}}", number(node)).expect("a string takes any text");
                Ok(())
            }
            scalar => write_scalar(text, scalar),
        };
        match &document.nodes[node] {
            Node::List(items) | Node::Tuple(items) => {
                let is_list = matches!(document.nodes[node], Node::List(_));
                text.push_str(if is_list { "{\"list\":[" } else { "{\"tuple\":[" });
                for (i, &item) in items.iter().enumerate() {
                    if i > 0 {
                        text.push(',');
                    }
                    value(text, item)?;
                }
                text.push_str("]}");
            }
            Node::Dict(pairs) => {
                text.push_str("{\"dict\":[");
                for (i, &(key, item)) in pairs.iter().enumerate() {
                    text.push_str(if i > 0 { ",[" } else { "[" });
                    value(text, key)?;
                    text.push(',');
                    value(text, item)?;
                    text.push(']');
                }
                text.push_str("]}");
            }
            Node::Tensor(view) => self.write_tensor_node(document, *view, text),
            Node::Storage(view) => {
                text.push_str("{\"storage\":");
                json::write_text(text, &self.entries[self.segment_of[view]].name);
                let dtype = document.views[*view].element.name();
                write!(text, ",\"dtype\":\"{dtype}\"}}").expect("a string takes any text");
            }
            scalar => write_scalar(text, scalar)?,
        }
        Ok(())
    }

    fn write_tensor_node(&self, document: &Document, view: usize, text: &mut String) {
        let segment = self.segment_of[&view];
        let (entry, seen) = (&self.entries[segment], &document.views[view]);
        text.push_str("{\"tensor\":");
        json::write_text(text, &entry.name);
        if !is_exactly(document, view, entry) {
            let size = seen.element.bytes(1).unwrap_or(1) as usize;
            let start = self.segments[segment].memory.as_ref().map_or(0, |(_, start, _)| start / size);
            let offset =
                if seen.layout.bounds().is_some() { seen.layout.offset() - start as isize } else { 0 };
            write!(text, ",\"dtype\":\"{}\",\"shape\":", seen.element.name())
                .expect("a string takes any text");
            json::write_list(text, seen.layout.shape());
            text.push_str(",\"stride\":");
            json::write_list(text, seen.layout.stride());
            write!(text, ",\"offset\":{offset}").expect("a string takes any text");
        }
        text.push('}');
    }
}

fn view_of(document: &Document, node: NodeId) -> Option<usize> {
    match document.nodes[node] {
        Node::Tensor(view) | Node::Storage(view) => Some(view),
        _ => None,
    }
}

/// The parts of memory that tensors span. Spans that overlap are one part, whatever their dtypes.
fn find_segments(document: &Document, listed: &[Listed]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut spans: HashMap<usize, Vec<(usize, usize, usize)>> = HashMap::new();
    for view in listed.iter().filter_map(|listed| view_of(document, listed.node)) {
        let seen = &document.views[view];
        let size = seen.element.bytes(1).unwrap_or(1) as usize;
        match (&document.blobs[seen.blob].place, seen.layout.bounds()) {
            (Place::Memory(storage), Some((low, high))) => {
                let span = (low as usize * size, (high as usize + 1) * size, view);
                spans.entry(storage.id()).or_default().push(span);
            }
            _ => segments.push(Segment { memory: None, views: vec![view] }),
        }
    }
    for mut spans in spans.into_values() {
        spans.sort();
        let mut end = 0;
        for (first, (low, high, view)) in spans.into_iter().enumerate() {
            let Place::Memory(storage) = &document.blobs[document.views[view].blob].place else { continue };
            match segments.last_mut() {
                Some(Segment { memory: Some((_, _, last)), views }) if first > 0 && low < end => {
                    *last = high.max(*last);
                    views.push(view);
                }
                _ => segments.push(Segment { memory: Some((storage.clone(), low, high)), views: vec![view] }),
            }
            end = end.max(high);
        }
    }
    // In the order of the file's names.
    segments.sort_by_key(|segment| segment.views.iter().min().copied());
    segments
}

/// Whether the elements of a view follow each other in its memory.
fn is_dense(document: &Document, view: usize) -> bool {
    let View { layout, blob, .. } = &document.views[view];
    layout.is_row_major() || !matches!(document.blobs[*blob].place, Place::Memory(_))
}

/// Whether an entry by itself says all about a view.
fn is_exactly(document: &Document, view: usize, entry: &NewEntry) -> bool {
    let seen = &document.views[view];
    seen.element == ElementType::Known(entry.dtype)
        && seen.layout.shape()[..] == entry.shape[..]
        && Layout::row_major(&entry.shape).is_ok_and(|layout| layout.stride() == seen.layout.stride())
}

/// The entry of a tensor that is alone on its memory.
fn plain_entry(document: &Document, view: usize, name: &str) -> Result<NewEntry> {
    let seen = &document.views[view];
    let dtype = seen.element.known().ok_or_else(|| {
        refusal(format!("{name:?} has the dtype {}, which strided does not have", seen.element.name()))
    })?;
    let mut shape = seen.layout.shape().to_vec();
    if dtype == DType::C128 {
        shape.push(2);
        return Ok(NewEntry { name: name.into(), dtype: DType::F64, shape });
    }
    Ok(NewEntry { name: name.into(), dtype, shape })
}

/// The entry of a part of memory: elements of the common dtype of the views, or bytes.
fn storage_entry(document: &Document, segment: &Segment, name: String) -> NewEntry {
    let mut dtypes = segment.views.iter().filter_map(|&view| document.views[view].element.known());
    let first = dtypes.next().unwrap_or(DType::U8);
    let bytes = segment.memory.as_ref().map_or(0, |(_, start, end)| end - start);
    let stored = if first == DType::C128 { DType::F64 } else { first };
    let same = dtypes.all(|dtype| dtype == first) && bytes.is_multiple_of(stored.size());
    let dtype = if same { stored } else { DType::U8 };
    NewEntry { name, dtype, shape: vec![(bytes / dtype.size()) as isize] }
}

fn write_scalar(text: &mut String, node: &Node) -> Result<()> {
    let float =
        |number: &f64| if number.is_finite() { format!("{number:?}") } else { format!("\"{number}\"") };
    match node {
        Node::None => text.push_str("null"),
        Node::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Node::Int(number) => text.push_str(&number.to_string()),
        Node::Huge(digits) => text.push_str(digits),
        Node::Float(number) if number.is_finite() => text.push_str(&float(number)),
        Node::Float(number) => {
            write!(text, "{{\"float\":{}}}", float(number)).expect("a string takes any text")
        }
        Node::Complex(real, imaginary) => {
            let (real, imaginary) = (float(real), float(imaginary));
            write!(text, "{{\"complex\":[{real},{imaginary}]}}").expect("a string takes any text");
        }
        Node::Text(string) => json::write_text(text, string),
        Node::Bytes(bytes) => {
            text.push_str("{\"bytes\":\"");
            bytes.iter().for_each(|byte| write!(text, "{byte:02x}").expect("a string takes any text"));
            text.push_str("\"}");
        }
        Node::Record(record) => {
            return Err(refusal(format!("an object of the class {} is no plain data", record.class)));
        }
        Node::Function(_) => return Err(refusal("a Lua function is no plain data")),
        _ => return Err(refusal("a Lua table is no plain data")),
    }
    Ok(())
}
