//! The names of a document's tensors: the keys on the way to them, joined by dots. And its outline, for people.

use super::document::{Document, Node, NodeId};
use std::collections::{HashMap, HashSet};

/// Deeper paths are shortened, and so are long keys on the way: a hostile file could otherwise have names that are longer
/// than itself.
const MAX_DEPTH: usize = 256;
const MAX_KEY: usize = 200;
/// Characters of a string that an outline shows.
const MAX_SHOWN: usize = 60;

/// A tensor or storage of a document. One that is reached on two ways has the name of the first.
pub struct Listed {
    pub name: String,
    pub node: NodeId,
}

/// A line of the outline.
pub struct OutlineRow {
    pub depth: usize,
    pub key: String,
    pub kind: &'static str,
    pub text: String,
    /// The position in [`tensor_names`].
    pub listed: Option<usize>,
}

/// All tensors and storages, in the order of the file.
pub fn tensor_names(document: &Document) -> Vec<Listed> {
    if document.is_flat
        && let Node::Dict(pairs) = &document.nodes[document.root]
    {
        let listed = |&(key, node): &(NodeId, NodeId)| Listed { name: key_text(&document.nodes[key]), node };
        return pairs.iter().map(listed).collect();
    }
    let mut walk = Walk::new(document);
    while walk.step().is_some() {}
    walk.listed
}

/// The name of a tensor or storage, for messages.
pub fn name_of(document: &Document, view: usize) -> String {
    let is_wanted = |listed: &&Listed| matches!(document.nodes[listed.node], Node::Tensor(other) | Node::Storage(other) if other == view);
    match tensor_names(document).iter().find(is_wanted) {
        Some(listed) if listed.node != document.root => format!("{:?}", listed.name),
        _ => "the tensor".into(),
    }
}

/// The object as a tree, depth first.
pub fn outline(document: &Document) -> Vec<OutlineRow> {
    let mut walk = Walk::new(document);
    let mut rows = Vec::new();
    while let Some(index) = walk.step() {
        let visit = &walk.visits[index];
        let (kind, text) = match visit.first {
            Some(first) => ("reference", walk.path(first)),
            None => described(document, visit.node),
        };
        rows.push(OutlineRow {
            depth: visit.depth,
            key: visit.key.clone(),
            kind,
            text,
            listed: visit.listed,
        });
    }
    rows
}

/// One occurrence of a node.
struct NodeVisit {
    node: NodeId,
    parent: Option<usize>,
    key: String,
    depth: usize,
    /// The visit in which the node occurred before.
    first: Option<usize>,
    listed: Option<usize>,
}

struct Walk<'a> {
    document: &'a Document,
    visits: Vec<NodeVisit>,
    /// Nodes to visit, the next one last: the node, the visit of its parent, and its key.
    pending: Vec<(NodeId, Option<usize>, String)>,
    /// The visit in which each node occurred first.
    first_visits: Vec<Option<usize>>,
    listed: Vec<Listed>,
    taken: HashSet<String>,
    /// How often each name was already taken when another tensor would have had it.
    repeats: HashMap<String, usize>,
}

impl<'a> Walk<'a> {
    fn new(document: &'a Document) -> Walk<'a> {
        let pending =
            if document.nodes.is_empty() { vec![] } else { vec![(document.root, None, String::new())] };
        Walk {
            document,
            visits: vec![],
            pending,
            first_visits: vec![None; document.nodes.len()],
            listed: vec![],
            taken: HashSet::new(),
            repeats: HashMap::new(),
        }
    }

    /// Visits the next node, and returns the position of the visit.
    fn step(&mut self) -> Option<usize> {
        let (node, parent, key) = self.pending.pop()?;
        let depth = parent.map_or(0, |parent| self.visits[parent].depth + 1);
        let index = self.visits.len();
        let mut visit = NodeVisit { node, parent, key, depth, first: None, listed: None };
        if is_identified(&self.document.nodes[node]) {
            visit.first = self.first_visits[node];
            self.first_visits[node].get_or_insert(index);
        }
        self.visits.push(visit);
        if self.visits[index].first.is_none() {
            match &self.document.nodes[node] {
                Node::Tensor(_) | Node::Storage(_) => self.list(index),
                _ => self.push_children(index),
            }
        }
        Some(index)
    }

    fn list(&mut self, visit: usize) {
        let node = self.visits[visit].node;
        let wanted = match (&self.document.nodes[node], self.visits[visit].parent) {
            (Node::Tensor(_), None) => "tensor".into(),
            (_, None) => "storage".into(),
            _ => self.path(visit),
        };
        let mut name = wanted;
        while !self.taken.insert(name.clone()) {
            // A name with a number may be taken as well; then its own repeats are counted.
            let count = self.repeats.entry(name.clone()).or_insert(1);
            *count += 1;
            name = format!("{name}#{count}");
        }
        self.visits[visit].listed = Some(self.listed.len());
        self.listed.push(Listed { name, node });
    }

    /// The keys from the root to a visit.
    fn path(&self, visit: usize) -> String {
        if self.visits[visit].depth <= 1 {
            return self.visits[visit].key.clone();
        }
        let mut keys = vec![self.visits[visit].key.as_str()];
        let mut at = self.visits[visit].parent;
        while let Some(parent) = at {
            let NodeVisit { key, parent, .. } = &self.visits[parent];
            if parent.is_some() {
                keys.push(shortened(key, MAX_KEY));
            }
            if keys.len() > MAX_DEPTH {
                return format!("…{visit}.{}", keys[0]);
            }
            at = *parent;
        }
        keys.reverse();
        keys.join(".")
    }

    fn push_children(&mut self, visit: usize) {
        let nodes = &self.document.nodes;
        let node = self.visits[visit].node;
        let before = self.pending.len();
        let parent = Some(visit);
        match &nodes[node] {
            Node::List(items) | Node::Tuple(items) => {
                self.pending.extend(items.iter().enumerate().map(|(i, &item)| (item, parent, i.to_string())));
            }
            Node::Dict(pairs) | Node::Table(pairs) => self.push_pairs(pairs, parent),
            // The fields of a record are its children.
            Node::Record(record) => match &nodes[record.fields] {
                Node::Table(pairs) | Node::Dict(pairs) => self.push_pairs(pairs, parent),
                _ => self.pending.push((record.fields, parent, "fields".into())),
            },
            Node::Function(function) => self.pending.push((function.upvalues, parent, "upvalues".into())),
            _ => {}
        }
        self.pending[before..].reverse();
    }

    fn push_pairs(&mut self, pairs: &[(NodeId, NodeId)], parent: Option<usize>) {
        let nodes = &self.document.nodes;
        self.pending.extend(pairs.iter().map(|&(key, value)| (value, parent, key_text(&nodes[key]))));
    }
}

/// Whether it matters that a node occurs twice.
fn is_identified(node: &Node) -> bool {
    !matches!(
        node,
        Node::None
            | Node::Bool(_)
            | Node::Int(_)
            | Node::Huge(_)
            | Node::Float(_)
            | Node::Complex(..)
            | Node::Text(_)
            | Node::Bytes(_)
    )
}

fn key_text(key: &Node) -> String {
    match key {
        Node::None => "None".into(),
        Node::Bool(true) => "True".into(),
        Node::Bool(false) => "False".into(),
        Node::Int(number) => number.to_string(),
        Node::Huge(digits) => digits.clone(),
        Node::Float(number) => number.to_string(),
        Node::Text(text) => text.clone(),
        Node::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => "<object>".into(),
    }
}

/// The kind of a node, and a short text about it.
fn described(document: &Document, node: NodeId) -> (&'static str, String) {
    let items = |count: usize| if count == 1 { "1 item".into() } else { format!("{count} items") };
    match &document.nodes[node] {
        Node::None => ("None", "None".into()),
        Node::Bool(value) => ("bool", if *value { "True" } else { "False" }.into()),
        Node::Int(number) => ("int", number.to_string()),
        Node::Huge(digits) => ("int", shortened(digits, MAX_SHOWN).into()),
        Node::Float(number) => ("float", format!("{number:?}")),
        Node::Complex(real, imaginary) => ("complex", format!("{real}{imaginary:+}j")),
        Node::Text(text) => ("str", format!("{:?}", shortened(text, MAX_SHOWN))),
        Node::Bytes(bytes) => ("bytes", format!("{} bytes", bytes.len())),
        Node::List(list) => ("list", items(list.len())),
        Node::Tuple(tuple) => ("tuple", items(tuple.len())),
        Node::Dict(pairs) => ("dict", items(pairs.len())),
        Node::Table(pairs) if list_order(document, pairs).is_some() => ("list", items(pairs.len())),
        Node::Table(pairs) => ("dict", items(pairs.len())),
        Node::Record(record) => ("record", record.class.clone()),
        Node::Function(function) => ("function", format!("{} bytes of bytecode", function.bytecode.len())),
        Node::Tensor(_) => ("tensor", String::new()),
        Node::Storage(_) => ("storage", String::new()),
    }
}

fn shortened(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// The values of a table in the order of its keys, if those are 1 to n.
pub fn list_order(document: &Document, pairs: &[(NodeId, NodeId)]) -> Option<Vec<NodeId>> {
    let mut values = vec![NodeId::MAX; pairs.len()];
    for &(key, value) in pairs {
        let Node::Int(number) = document.nodes[key] else { return None };
        let slot = usize::try_from(number).ok()?.checked_sub(1).and_then(|at| values.get_mut(at))?;
        if *slot != NodeId::MAX {
            return None;
        }
        *slot = value;
    }
    Some(values)
}
