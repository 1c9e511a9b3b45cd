//! Conversion: a document with some of another's tensors, cast, and reduced to what the new format can hold.

use super::document::{Blob, Document, ElementType, Node, NodeId, Place};
use super::names::{Listed, describe, tensor_names, value_names};
use super::nested::groups;
use super::{refusal, t7};
use crate::dtype::DType;
use crate::error::Result;
use std::collections::{HashMap, HashSet};

/// Something that the new file does not have.
pub struct Loss {
    /// The tensors or values.
    pub names: Vec<String>,
    pub kind: LossKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// A value that is no tensor is left out.
    Value,
    /// Tensors that shared memory are written one by one.
    Sharing,
    /// A tensor gets another dtype or shape, because the format has no such one.
    Change,
}

impl LossKind {
    pub const fn name(self) -> &'static str {
        match self {
            LossKind::Value => "value",
            LossKind::Sharing => "sharing",
            LossKind::Change => "change",
        }
    }
}

/// A document with some of the tensors, by their positions in the list of names, and with other dtypes for some of its views.
/// The elements stay where they are.
pub fn choose(
    document: &Document,
    listed: &[Listed],
    positions: Option<&[usize]>,
    casts: &HashMap<usize, DType>,
) -> Result<Document> {
    let mut selected = Document {
        nodes: document.nodes.clone(),
        root: document.root,
        views: document.views.clone(),
        blobs: document.blobs.clone(),
        is_flat: document.is_flat,
        source: document.source.clone(),
        ..Document::default()
    };
    if let Some(positions) = positions {
        let mut pairs = Vec::with_capacity(positions.len());
        for &at in positions {
            let listed = listed.get(at).ok_or_else(|| refusal(format!("there is no tensor {at}")))?;
            pairs.push((selected.add_text(&listed.name)?, listed.node));
        }
        selected.root = selected.add(Node::Dict(pairs))?;
        selected.is_flat = false;
    }
    cast(&mut selected, casts);
    Ok(selected)
}

/// Casts views. The memory of views that are all cast alike is cast as a whole, so that they share it as before.
fn cast(document: &mut Document, casts: &HashMap<usize, DType>) {
    let mut by_blob: HashMap<usize, Vec<usize>> = HashMap::new();
    for (view, seen) in document.views.iter().enumerate() {
        by_blob.entry(seen.blob).or_default().push(view);
    }
    for (blob, views) in by_blob {
        let wanted: HashSet<Option<DType>> = views.iter().map(|view| casts.get(view).copied()).collect();
        let stored = &document.blobs[blob];
        let is_whole = wanted.len() == 1
            && views.iter().all(|&view| document.views[view].element == stored.element)
            && !matches!(stored.place, Place::Deferred(_));
        if is_whole {
            if let Some(Some(dtype)) = wanted.into_iter().next() {
                document.blobs[blob] = cast_blob(stored, dtype);
                views.iter().for_each(|&view| document.views[view].element = ElementType::Known(dtype));
            }
            continue;
        }
        for view in views {
            if let Some(&dtype) = casts.get(&view) {
                let seen = &document.views[view];
                // The blob as elements of the view's dtype.
                let count = seen.layout.bounds().map_or(0, |(_, high)| high as u64 + 1);
                let Blob { place, .. } = &document.blobs[blob];
                let part = Blob { element: seen.element.clone(), count, place: place.clone() };
                document.blobs.push(cast_blob(&part, dtype));
                let seen = &mut document.views[view];
                (seen.blob, seen.element) = (document.blobs.len() - 1, ElementType::Known(dtype));
            }
        }
    }
}

fn cast_blob(original: &Blob, dtype: DType) -> Blob {
    let (element, count) = (ElementType::Known(dtype), original.count);
    Blob { element, count, place: Place::Cast(Box::new(original.clone())) }
}

/// What a format can hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    Everything,
    /// Tables of Lua.
    Tables,
    /// Tensors under names.
    NamedTensors,
    OneTensor,
}

/// Reduces a document to what a format of this name and capacity can hold. Returns what is lost.
pub fn fit(document: &mut Document, format: &str, capacity: Capacity) -> Result<Vec<Loss>> {
    let mut losses = Vec::new();
    if capacity == Capacity::Everything {
        return Ok(losses);
    }
    let listed = tensor_names(document)?;
    let values = if document.is_flat { vec![] } else { value_names(document)? };
    let is_held = |node: NodeId| capacity == Capacity::Tables && t7::is_held(&document.nodes[node]);
    let lost: Vec<NodeId> = values.iter().map(|value| value.node).filter(|&node| !is_held(node)).collect();
    for value in values.iter().filter(|value| !is_held(value.node)) {
        let (kind, text) = describe(document, value.node);
        let text = if text == kind { text } else { format!("{kind} {text}") };
        losses.push(Loss { names: vec![value.name.clone()], kind: LossKind::Value, text });
    }
    match capacity {
        Capacity::Everything => {}
        Capacity::Tables => {
            losses.extend(changed_tensors(document, &listed));
            // An item that is None is left out.
            lost.into_iter().for_each(|node| document.nodes[node] = Node::None);
        }
        Capacity::NamedTensors => {
            losses.extend(lost_sharing(document, &listed));
            flatten(document, &listed)?;
        }
        Capacity::OneTensor => {
            let [only] = &listed[..] else {
                let count = listed.len();
                let reason = format!("a .{format} file holds one tensor, got {count}; .npz holds several");
                return Err(refusal(reason));
            };
            let node = as_tensor(document, only.node)?;
            (document.root, document.is_flat) = (node, false);
        }
    }
    Ok(losses)
}

/// Tensors whose dtype or shape Torch7 lacks.
fn changed_tensors(document: &Document, listed: &[Listed]) -> Vec<Loss> {
    let mut losses = Vec::new();
    for listed in listed {
        let Node::Tensor(view) = document.nodes[listed.node] else { continue };
        let seen = &document.views[view];
        let mut change = |text: &str| {
            let names = vec![listed.name.clone()];
            losses.push(Loss { names, kind: LossKind::Change, text: text.into() });
        };
        if seen.element == ElementType::Known(DType::Bool) {
            change("bool becomes uint8");
        }
        match (seen.layout.rank(), seen.layout.size()) {
            (0, _) => change("no dims become one"),
            (1, 0) => {}
            (_, 0) => change("a tensor without elements loses its dims"),
            _ => {}
        }
    }
    losses
}

/// Tensors on the same memory.
fn lost_sharing(document: &Document, listed: &[Listed]) -> Vec<Loss> {
    let names = |positions: &mut dyn Iterator<Item = usize>| -> Vec<String> {
        positions.map(|at| listed[at].name.clone()).collect()
    };
    let groups = groups(document, listed);
    let shared = groups.iter().map(|group| {
        let mut positions = group.members.iter().flat_map(|member| member.listed.iter().copied());
        names(&mut positions)
    });
    shared
        .filter(|names| names.len() > 1)
        .map(|names| Loss { names, kind: LossKind::Sharing, text: "no longer share memory".into() })
        .collect()
}

/// Makes the document a dict of all tensors under their names.
fn flatten(document: &mut Document, listed: &[Listed]) -> Result<()> {
    let mut pairs = Vec::with_capacity(listed.len());
    for listed in listed {
        let key = document.add_text(&listed.name)?;
        pairs.push((key, as_tensor(document, listed.node)?));
    }
    document.root = document.add(Node::Dict(pairs))?;
    document.is_flat = true;
    Ok(())
}

/// The node of a tensor, or one for a storage as a tensor of one dim.
fn as_tensor(document: &mut Document, node: NodeId) -> Result<NodeId> {
    match document.nodes[node] {
        Node::Storage(view) => document.add(Node::Tensor(view)),
        _ => Ok(node),
    }
}
