//! The names of a document's tensors: the keys on the way to them, joined by dots. And its outline, for people.

use super::budget::Budget;
use super::document::{Document, Node, NodeId};
use super::refusal;
use crate::alloc::{try_collect, try_filled, try_push, try_reserve, try_reserve_entry};
use crate::error::{Problem, Result};
use std::collections::HashMap;

/// Deeper paths are shortened, and so are long keys on the way: a hostile file could otherwise have names that are longer
/// than itself.
const MAX_DEPTH: usize = 256;
const MAX_KEY: usize = 200;
/// Limits the bytes of all names: nested references multiply, since every way to an object is a name of it.
const MAX_LISTING: u64 = 1 << 26;
/// Bytes of a visit, with its key and the pending nodes after it.
const VISIT_BYTES: usize = 256;
/// Bytes of a typical key.
const KEY_BYTES: usize = 32;
/// Characters of a string that an outline shows.
const MAX_SHOWN: usize = 60;

/// A tensor or storage of a document under one of its names.
pub struct Listed {
    pub name: String,
    pub node: NodeId,
    /// The position of the object's first name, if this is a further one.
    pub first: Option<usize>,
}

/// A value that is no tensor, under its name: a number, a string, a container without items, the class of a record, a
/// function.
pub struct ListedValue {
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

/// All tensors and storages, in the order of the file, and under every name that leads to them: an object that occurs twice
/// has two names, and so has all that it contains.
pub fn tensor_names(document: &Document) -> Result<Vec<Listed>> {
    if document.is_flat
        && let Node::Dict(pairs) = &document.nodes[document.root]
    {
        let listed = |&(key, node): &(NodeId, NodeId)| Listed {
            name: key_text(&document.nodes[key]),
            node,
            first: None,
        };
        return try_collect(pairs.iter().map(listed));
    }
    let mut walk = Walk::new(document)?;
    while walk.step()?.is_some() {}
    Ok(walk.listed)
}

/// All tensors and storages, in the order of the file, each under its first name.
pub fn first_names(document: &Document) -> Result<Vec<Listed>> {
    let mut walk = Walk::new(document)?;
    walk.follows_references = false;
    while walk.step()?.is_some() {}
    Ok(walk.listed)
}

/// All values that are no tensors, under every name that leads to them.
pub fn value_names(document: &Document) -> Result<Vec<ListedValue>> {
    let mut walk = Walk::new(document)?;
    let (mut values, mut names) = (Vec::new(), UniqueNames::default());
    while let Some(index) = walk.step()? {
        let visit = &walk.visits[index];
        let is_value = match &document.nodes[visit.node] {
            Node::Tensor(_) | Node::Storage(_) => false,
            Node::List(items) | Node::Tuple(items) => items.is_empty(),
            Node::Dict(pairs) | Node::Table(pairs) => pairs.is_empty(),
            _ => true,
        };
        if is_value {
            let node = visit.node;
            let wanted = if visit.parent.is_none() { "value".into() } else { walk.path(index) };
            walk.spend(wanted.len())?;
            try_push(&mut values, ListedValue { name: names.unique(wanted)?, node })?;
        }
    }
    Ok(values)
}

/// The name of a tensor or storage, for messages.
pub fn name_of(document: &Document, view: usize) -> String {
    let is_wanted = |listed: &&Listed| matches!(document.nodes[listed.node], Node::Tensor(other) | Node::Storage(other) if other == view);
    match tensor_names(document).unwrap_or_default().iter().find(is_wanted) {
        Some(listed) if listed.node != document.root => format!("{:?}", listed.name),
        _ => "the tensor".into(),
    }
}

/// The object as a tree, depth first. What a reference leads to is not repeated.
pub fn outline(document: &Document) -> Result<Vec<OutlineRow>> {
    let mut walk = Walk::new(document)?;
    let mut rows = Vec::new();
    while let Some(index) = walk.step()? {
        let visit = &walk.visits[index];
        if visit.is_repeated {
            continue;
        }
        let (kind, text) = match visit.first {
            Some(first) => ("reference", walk.path(first)),
            None => describe(document, visit.node),
        };
        let row = OutlineRow { depth: visit.depth, key: visit.key.clone(), kind, text, listed: visit.listed };
        try_push(&mut rows, row)?;
    }
    Ok(rows)
}

/// Unique names.
#[derive(Default)]
struct UniqueNames {
    taken: HashMap<String, ()>,
    /// How often each name was already taken when it was wanted again.
    repeats: HashMap<String, usize>,
}

impl UniqueNames {
    /// A name, or if it is taken, one with a number.
    fn unique(&mut self, wanted: String) -> Result<String> {
        let mut name = wanted;
        try_reserve_entry(&mut self.taken)?;
        while self.taken.insert(name.clone(), ()).is_some() {
            // A name with a number may be taken as well; then its own repeats are counted.
            try_reserve_entry(&mut self.repeats)?;
            let count = self.repeats.entry(name.clone()).or_insert(1);
            *count += 1;
            name = format!("{name}#{count}");
        }
        Ok(name)
    }
}

/// One occurrence of a node.
struct NodeVisit {
    node: NodeId,
    parent: Option<usize>,
    key: String,
    depth: usize,
    /// The visit in which the node occurred before.
    first: Option<usize>,
    /// Whether an object that contains the node occurred before.
    is_repeated: bool,
    listed: Option<usize>,
}

/// A stack of work.
enum Pending {
    /// Visits a node: its parent's visit, and its key there.
    Visit(NodeId, Option<usize>, String),
    /// Ends the visit of a container.
    Leave(NodeId),
}

struct Walk<'a> {
    document: &'a Document,
    follows_references: bool,
    visits: Vec<NodeVisit>,
    pending: Vec<Pending>,
    /// The visit in which each node occurred first.
    first_visits: Vec<Option<usize>>,
    /// Whether each node contains the present one. Such a node is not entered again.
    entered: Vec<bool>,
    listed: Vec<Listed>,
    /// The position in `listed` of each tensor's first name.
    first_listed: HashMap<NodeId, usize>,
    names: UniqueNames,
    budget: Budget,
    /// Tries from time to time whether there is memory for the keys.
    memory: Budget,
}

impl<'a> Walk<'a> {
    fn new(document: &'a Document) -> Result<Walk<'a>> {
        let pending = if document.nodes.is_empty() {
            vec![]
        } else {
            vec![Pending::Visit(document.root, None, String::new())]
        };
        Ok(Walk {
            document,
            follows_references: true,
            visits: vec![],
            pending,
            first_visits: try_filled(document.nodes.len(), None)?,
            entered: try_filled(document.nodes.len(), false)?,
            listed: vec![],
            first_listed: HashMap::new(),
            names: UniqueNames::default(),
            budget: Budget::new(MAX_LISTING),
            memory: Budget::default(),
        })
    }

    /// Visits the next node, and returns the position of the visit.
    fn step(&mut self) -> Result<Option<usize>> {
        let (node, parent, key) = loop {
            match self.pending.pop() {
                None => return Ok(None),
                Some(Pending::Leave(node)) => self.entered[node] = false,
                Some(Pending::Visit(node, parent, key)) => break (node, parent, key),
            }
        };
        let index = self.visits.len();
        let (mut depth, mut is_repeated) = (0, false);
        if let Some(parent) = parent {
            let parent = &self.visits[parent];
            (depth, is_repeated) = (parent.depth + 1, parent.is_repeated || parent.first.is_some());
        }
        let mut visit = NodeVisit { node, parent, key, depth, first: None, is_repeated, listed: None };
        if is_identified(&self.document.nodes[node]) {
            visit.first = self.first_visits[node];
            self.first_visits[node].get_or_insert(index);
        }
        if is_repeated {
            // References to references could multiply without end.
            self.spend(VISIT_BYTES + visit.key.len())?;
        }
        let is_reference = visit.first.is_some();
        try_push(&mut self.visits, visit)?;
        if is_reference && !self.follows_references {
            return Ok(Some(index));
        }
        match &self.document.nodes[node] {
            Node::Tensor(_) | Node::Storage(_) => self.list(index)?,
            _ if self.entered[node] => {}
            _ => self.push_children(index)?,
        }
        Ok(Some(index))
    }

    fn spend(&mut self, bytes: usize) -> Result<()> {
        self.budget.spend(bytes).map_err(|error| match *error.problem {
            Problem::Format { .. } => {
                refusal("the names of the tensors, with all references, are too many to list")
            }
            _ => error,
        })
    }

    fn list(&mut self, visit: usize) -> Result<()> {
        let node = self.visits[visit].node;
        let wanted = match (&self.document.nodes[node], self.visits[visit].parent) {
            (Node::Tensor(_), None) => "tensor".into(),
            (_, None) => "storage".into(),
            _ => self.path(visit),
        };
        self.spend(wanted.len())?;
        let name = self.names.unique(wanted)?;
        try_reserve_entry(&mut self.first_listed)?;
        let at = self.listed.len();
        let first = *self.first_listed.entry(node).or_insert(at);
        self.visits[visit].listed = Some(at);
        try_push(&mut self.listed, Listed { name, node, first: Some(first).filter(|&first| first < at) })
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

    fn push_children(&mut self, visit: usize) -> Result<()> {
        let nodes = &self.document.nodes;
        let node = self.visits[visit].node;
        let count = match &nodes[node] {
            Node::List(items) | Node::Tuple(items) => items.len(),
            Node::Dict(pairs) | Node::Table(pairs) => pairs.len(),
            Node::Record(_) | Node::Function(_) => 1,
            _ => return Ok(()),
        };
        try_reserve(&mut self.pending, count + 1)?;
        self.memory.spend(count.saturating_mul(KEY_BYTES))?;
        self.entered[node] = true;
        self.pending.push(Pending::Leave(node));
        let before = self.pending.len();
        let parent = Some(visit);
        match &nodes[node] {
            Node::List(items) | Node::Tuple(items) => {
                let visit = |(i, &item): (usize, &NodeId)| Pending::Visit(item, parent, i.to_string());
                self.pending.extend(items.iter().enumerate().map(visit));
            }
            Node::Dict(pairs) | Node::Table(pairs) => self.push_pairs(pairs, parent)?,
            // The fields of a record are its children.
            Node::Record(record) => match &nodes[record.fields] {
                Node::Table(pairs) | Node::Dict(pairs) => self.push_pairs(pairs, parent)?,
                _ => self.pending.push(Pending::Visit(record.fields, parent, "fields".into())),
            },
            Node::Function(function) => {
                self.pending.push(Pending::Visit(function.upvalues, parent, "upvalues".into()));
            }
            _ => {}
        }
        self.pending[before..].reverse();
        Ok(())
    }

    fn push_pairs(&mut self, pairs: &[(NodeId, NodeId)], parent: Option<usize>) -> Result<()> {
        let nodes = &self.document.nodes;
        try_reserve(&mut self.pending, pairs.len())?;
        let visit = |&(key, value): &(NodeId, NodeId)| Pending::Visit(value, parent, key_text(&nodes[key]));
        self.pending.extend(pairs.iter().map(visit));
        Ok(())
    }
}

/// Whether a node contains others.
pub fn is_container(node: &Node) -> bool {
    matches!(
        node,
        Node::List(_) | Node::Tuple(_) | Node::Dict(_) | Node::Table(_) | Node::Record(_) | Node::Function(_)
    )
}

/// Whether a node is an object with an identity; numbers and strings are only equal or not.
pub fn is_identified(node: &Node) -> bool {
    is_container(node) || matches!(node, Node::Tensor(_) | Node::Storage(_))
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
pub fn describe(document: &Document, node: NodeId) -> (&'static str, String) {
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
