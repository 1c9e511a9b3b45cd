//! Writes safetensors files, with the object in their metadata.

use super::super::document::{ByteOrder, Document, ElementType, Node, NodeId, Place};
use super::super::json;
use super::super::load::Loader;
use super::super::names::{Listed, first_names, is_identified, tensor_names};
use super::super::output::FileOutput;
use super::super::refusal;
use super::super::request::WriteOptions;
use super::super::safetensors::{self, METADATA, NewEntry};
use super::super::view_bytes::write_tensor;
use super::plan::{Group, groups};
use super::{KEY, VERSION, max_span};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::tensor::Tensor;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Bytes of an entry for elements of several sizes begin at a multiple of this, so that all offsets are whole.
const MIXED_ALIGNMENT: usize = 16;

/// Tensors that overlap: other readers see one entry with their memory.
pub struct Overlap {
    pub entry: String,
    pub names: Vec<String>,
}

/// Writes a document.
pub fn write(document: &Document, _: &WriteOptions, output: &mut FileOutput<'_>) -> Result<Vec<Overlap>> {
    if let Some((key, _)) = document.metadata.iter().find(|(key, _)| key == KEY || key == METADATA) {
        return Err(refusal(format!("the metadata {key:?} is strided's own")));
    }
    // Aliases serve other readers. If there are too many, they are left to our string in the metadata.
    let listed = tensor_names(document).or_else(|_| first_names(document))?;
    let plan = Plan::new(document, &listed)?;
    let mut metadata = document.metadata.clone();
    if !plan.is_flat(document) {
        metadata.push((KEY.into(), plan.nodes(document)?));
    }
    // As `safetensors.torch.save_model` does. The user's own strings go first.
    let taken: HashSet<String> = metadata.iter().map(|(key, _)| key.clone()).collect();
    metadata.extend(plan.aliases.iter().filter(|(alias, _)| !taken.contains(alias)).cloned());
    let order = safetensors::data_order(&plan.entries);
    safetensors::write_header(&plan.entries, &order, &metadata, output)?;
    for i in order {
        write_tensor(&plan.tensor(document, i)?, ByteOrder::Little, output)?;
    }
    Ok(plan.overlaps)
}

/// The entries of a file, and the entry of each view.
struct Plan {
    /// One entry per group.
    groups: Vec<Group>,
    entries: Vec<NewEntry>,
    /// The group of a view.
    group_of: HashMap<usize, usize>,
    /// Names that have no entry of their own, and the entry that has their elements.
    aliases: Vec<(String, String)>,
    overlaps: Vec<Overlap>,
}

impl Plan {
    fn new(document: &Document, listed: &[Listed]) -> Result<Plan> {
        let mut plan = Plan {
            groups: groups(document, listed),
            entries: vec![],
            group_of: HashMap::new(),
            aliases: vec![],
            overlaps: vec![],
        };
        let taken: HashSet<&str> = listed.iter().map(|listed| listed.name.as_str()).collect();
        let mut number = 0;
        for (at, group) in plan.groups.iter_mut().enumerate() {
            for member in &group.members {
                plan.group_of.extend(member.views.iter().map(|&view| (view, at)));
            }
            let names = |group: &Group| {
                let all = group.members.iter().flat_map(|member| &member.listed);
                all.map(|&at| listed[at].name.clone()).collect::<Vec<_>>()
            };
            if let [member] = &group.members[..] {
                let (view, name) = (member.views[0], &listed[member.listed[0]].name);
                plan.entries.push(plain_entry(document, view, name)?);
                let others = names(group).into_iter().skip(1);
                plan.aliases.extend(others.map(|other| (other, name.clone())));
                continue;
            }
            while taken.contains(format!("storage.{number}").as_str()) {
                number += 1;
            }
            let name = format!("storage.{number}");
            number += 1;
            plan.overlaps.push(Overlap { entry: name.clone(), names: names(group) });
            plan.entries.push(storage_entry(document, group, name));
        }
        Ok(plan)
    }

    /// Whether the entries alone describe the object: a dict of tensors, each stored under its key.
    fn is_flat(&self, document: &Document) -> bool {
        let pairs = match &document.nodes[document.root] {
            Node::Dict(pairs) => pairs,
            Node::Table(pairs) if !pairs.is_empty() => pairs, // without items it is a list
            _ => return false,
        };
        // Entries are in the order of their names in the dict, unless a tensor occurs twice.
        pairs.len() == self.entries.len()
            && pairs.iter().zip(&self.entries).all(|(&(key, value), entry)| {
                let (Node::Text(key), Node::Tensor(view)) = (&document.nodes[key], &document.nodes[value])
                else {
                    return false;
                };
                let seen = &document.views[*view];
                *key == entry.name
                    && self.entries[self.group_of[view]].name == entry.name
                    && seen.element == ElementType::Known(entry.dtype)
                    && has_default_strides(&seen.layout)
            })
    }

    /// What an entry contains.
    fn tensor(&self, document: &Document, i: usize) -> Result<Tensor> {
        let (group, entry) = (&self.groups[i], &self.entries[i]);
        let view = group.members[0].views[0];
        let mut loader = Loader::new(document, true, None);
        if group.members.len() == 1 {
            return loader.separate_tensor(view);
        }
        let storage = loader.storage(document.views[view].blob)?;
        let size = entry.dtype.size();
        let start = (group.bytes.start / size) as isize;
        let layout = Layout::strided(&[(group.bytes.len() / size) as isize], &[1], start)?;
        Tensor::from_storage(storage, entry.dtype, layout)
    }

    /// The object in JSON.
    fn nodes(&self, document: &Document) -> Result<String> {
        // Scalars are written inside their containers, so that only the others have numbers; the root has 0.
        let mut writer = NodeWriter {
            plan: self,
            document,
            text: format!("{{\"version\":{VERSION},\"nodes\":["),
            numbers: HashMap::from([(document.root, 0)]),
            numbered: vec![document.root],
        };
        let mut at = 0;
        while at < writer.numbered.len() {
            if at > 0 {
                writer.text.push(',');
            }
            writer.node(writer.numbered[at]);
            at += 1;
        }
        writer.text.push_str("]}");
        Ok(writer.text)
    }
}

struct NodeWriter<'a> {
    plan: &'a Plan,
    document: &'a Document,
    text: String,
    numbers: HashMap<NodeId, usize>,
    /// The nodes that have a number, in the order of the numbers.
    numbered: Vec<NodeId>,
}

/// Writes to a string, which takes any text.
macro_rules! put {
    ($text:expr, $($format:tt)*) => { write!($text, $($format)*).expect("a string takes any text") };
}

impl NodeWriter<'_> {
    fn node(&mut self, node: NodeId) {
        let document = self.document;
        match &document.nodes[node] {
            Node::List(items) => self.items("list", items),
            Node::Tuple(items) => self.items("tuple", items),
            Node::Dict(pairs) => self.pairs("dict", pairs),
            // A table of names is a dict to Python. Any other keeps its keys, by which its items are named.
            Node::Table(pairs) if !pairs.is_empty() && pairs.iter().all(|pair| is_text(document, pair.0)) => {
                self.pairs("dict", pairs);
            }
            Node::Table(pairs) => self.pairs("table", pairs),
            Node::Record(record) => {
                self.text.push_str("{\"record\":");
                json::write_text(&mut self.text, &record.class);
                if let Some(version) = &record.version {
                    self.text.push_str(",\"version\":");
                    json::write_text(&mut self.text, version);
                }
                self.text.push_str(",\"fields\":");
                self.value(record.fields);
                self.text.push('}');
            }
            Node::Function(function) => {
                put!(self.text, "{{\"function\":{},\"bytecode\":", function.kind);
                write_hexadecimal(&mut self.text, &function.bytecode);
                self.text.push_str(",\"upvalues\":");
                self.value(function.upvalues);
                self.text.push('}');
            }
            Node::Tensor(view) => self.tensor(*view),
            Node::Storage(view) => {
                self.text.push_str("{\"storage\":");
                json::write_text(&mut self.text, &self.plan.entries[self.plan.group_of[view]].name);
                put!(self.text, ",\"dtype\":\"{}\"}}", document.views[*view].element.name());
            }
            scalar => write_scalar(&mut self.text, scalar),
        }
    }

    /// A key or an item of a container.
    fn value(&mut self, node: NodeId) {
        let value = &self.document.nodes[node];
        if !is_identified(value) {
            return write_scalar(&mut self.text, value);
        }
        let next = self.numbered.len();
        let number = *self.numbers.entry(node).or_insert(next);
        if number == next {
            self.numbered.push(node);
        }
        put!(self.text, "{{\"node\":{number}}}");
    }

    fn items(&mut self, kind: &str, items: &[NodeId]) {
        put!(self.text, "{{\"{kind}\":[");
        for (i, &item) in items.iter().enumerate() {
            if i > 0 {
                self.text.push(',');
            }
            self.value(item);
        }
        self.text.push_str("]}");
    }

    fn pairs(&mut self, kind: &str, pairs: &[(NodeId, NodeId)]) {
        put!(self.text, "{{\"{kind}\":[");
        for (i, &(key, item)) in pairs.iter().enumerate() {
            self.text.push_str(if i > 0 { ",[" } else { "[" });
            self.value(key);
            self.text.push(',');
            self.value(item);
            self.text.push(']');
        }
        self.text.push_str("]}");
    }

    fn tensor(&mut self, view: usize) {
        let group = self.plan.group_of[&view];
        let (group, entry) = (&self.plan.groups[group], &self.plan.entries[group]);
        let seen = &self.document.views[view];
        let (text, layout) = (&mut self.text, &seen.layout);
        text.push_str("{\"tensor\":");
        json::write_text(text, &entry.name);
        let dtype = seen.element.name();
        if group.members.len() > 1 {
            let size = seen.element.bytes(1).unwrap_or(1) as usize;
            let offset = layout.offset() - (group.bytes.start / size) as isize;
            put!(text, ",\"dtype\":\"{dtype}\",\"shape\":");
            json::write_list(text, layout.shape());
            text.push_str(",\"stride\":");
            json::write_list(text, layout.stride());
            put!(text, ",\"offset\":{offset}");
        } else {
            if seen.element != ElementType::Known(entry.dtype) {
                put!(text, ",\"dtype\":\"{dtype}\",\"shape\":");
                json::write_list(text, layout.shape());
            }
            if !has_default_strides(layout) && is_noted(self.document, view) {
                text.push_str(",\"memory_stride\":");
                json::write_list(text, layout.stride());
            }
        }
        text.push('}');
    }
}

fn is_text(document: &Document, node: NodeId) -> bool {
    matches!(document.nodes[node], Node::Text(_))
}

/// Whether the strides are those of a new tensor of this shape, also in dims of extent 1.
fn has_default_strides(layout: &Layout) -> bool {
    layout.row_major_like().stride() == layout.stride()
}

/// Whether the strides of a tensor that is alone in its entry are restored when it is loaded.
fn is_noted(document: &Document, view: usize) -> bool {
    let seen = &document.views[view];
    let layout = &seen.layout;
    let span = layout.bounds().map_or(0, |(low, high)| (high - low + 1) as usize);
    // A deferred tensor has no strides before it is computed.
    !matches!(document.blobs[seen.blob].place, Place::Deferred(_)) && span <= max_span(layout.size())
}

/// The entry of a tensor that shares no element with another.
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

/// The entry of views that overlap: elements of their common dtype, or bytes.
fn storage_entry(document: &Document, group: &mut Group, name: String) -> NewEntry {
    let views = group.members.iter().map(|member| member.views[0]);
    let mut dtypes = views.filter_map(|view| document.views[view].element.known());
    let first = dtypes.next().unwrap_or(DType::U8);
    let same = dtypes.all(|dtype| dtype == first);
    if !same {
        group.bytes.start -= group.bytes.start % MIXED_ALIGNMENT;
    }
    let dtype = match first {
        _ if !same => DType::U8,
        DType::C128 => DType::F64,
        first => first,
    };
    NewEntry { name, dtype, shape: vec![(group.bytes.len() / dtype.size()) as isize] }
}

fn write_scalar(text: &mut String, node: &Node) {
    let float =
        |number: &f64| if number.is_finite() { format!("{number:?}") } else { format!("\"{number}\"") };
    match node {
        Node::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Node::Int(number) => put!(text, "{number}"),
        Node::Huge(digits) => text.push_str(digits),
        Node::Float(number) if number.is_finite() => text.push_str(&float(number)),
        Node::Float(number) => put!(text, "{{\"float\":{}}}", float(number)),
        Node::Complex(real, imaginary) => {
            put!(text, "{{\"complex\":[{},{}]}}", float(real), float(imaginary));
        }
        Node::Text(string) => json::write_text(text, string),
        Node::Bytes(bytes) => {
            text.push_str("{\"bytes\":");
            write_hexadecimal(text, bytes);
            text.push('}');
        }
        _ => text.push_str("null"), // None; `NodeWriter` has written all containers
    }
}

fn write_hexadecimal(text: &mut String, bytes: &[u8]) {
    text.push('"');
    bytes.iter().for_each(|byte| put!(text, "{byte:02x}"));
    text.push('"');
}
