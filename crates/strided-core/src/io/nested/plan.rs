//! Which tensors of a document share elements.

use super::super::document::{Document, Node, NodeId, Place};
use super::super::names::Listed;
use crate::layout::Layout;
use std::collections::HashMap;
use std::ops::Range;

/// The most pairs of views on one storage that are compared. Views beyond these count as overlapping.
const MAX_COMPARISONS: usize = 1 << 16;

/// Tensors and storages that are the same view of the same memory.
pub struct Member {
    /// Their positions in the document.
    pub views: Vec<usize>,
    /// Their positions in the list of names.
    pub listed: Vec<usize>,
}

/// One member, or several that are different views and overlap, directly or through others.
pub struct Group {
    pub members: Vec<Member>,
    /// The bytes of the memory that they span; empty if there are no elements.
    pub bytes: Range<usize>,
}

/// All tensors and storages in groups, in the order of their first names.
pub fn groups(document: &Document, listed: &[Listed]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    // Members with elements, by the memory that they are on.
    let mut by_memory: HashMap<Memory, Vec<Spanned>> = HashMap::new();
    for member in members(document, listed) {
        match Spanned::new(document, member) {
            Ok(spanned) => {
                by_memory.entry(Memory::of(document, spanned.member.views[0])).or_default().push(spanned);
            }
            Err(member) => groups.push(Group { members: vec![member], bytes: 0..0 }),
        }
    }
    for mut spanned in by_memory.into_values() {
        spanned.sort_by_key(|spanned| (spanned.bytes.start, spanned.bytes.end));
        groups.extend(overlapping(document, spanned));
    }
    for group in &mut groups {
        group.members.sort_by_key(|member| member.listed[0]);
    }
    groups.sort_by_key(|group| group.members[0].listed[0]);
    groups
}

/// The memory of a view.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
enum Memory {
    Storage(usize),
    Blob(usize),
}

impl Memory {
    fn of(document: &Document, view: usize) -> Memory {
        let blob = document.views[view].blob;
        match &document.blobs[blob].place {
            // Blobs of several dtypes may be on one storage.
            Place::Memory(storage) => Memory::Storage(storage.id()),
            _ => Memory::Blob(blob),
        }
    }
}

fn members(document: &Document, listed: &[Listed]) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::new();
    let mut known: HashMap<(Memory, &str, Layout), usize> = HashMap::new();
    for (at, listed) in listed.iter().enumerate() {
        let Some(view) = view_of(document, listed.node) else { continue };
        let seen = &document.views[view];
        let key = (Memory::of(document, view), seen.element.name(), seen.layout.clone());
        let next = members.len();
        let index = *known.entry(key).or_insert(next);
        if index == next {
            members.push(Member { views: vec![], listed: vec![] });
        }
        let member = &mut members[index];
        member.listed.push(at);
        if !member.views.contains(&view) {
            member.views.push(view);
        }
    }
    members
}

pub fn view_of(document: &Document, node: NodeId) -> Option<usize> {
    match document.nodes[node] {
        Node::Tensor(view) | Node::Storage(view) => Some(view),
        _ => None,
    }
}

/// A member and the bytes from its first to its last element.
struct Spanned {
    member: Member,
    bytes: Range<usize>,
}

impl Spanned {
    /// `Err(member)` if it has no elements.
    fn new(document: &Document, member: Member) -> Result<Spanned, Member> {
        let seen = &document.views[member.views[0]];
        let size = seen.element.bytes(1).unwrap_or(1) as usize;
        match seen.layout.bounds() {
            Some((low, high)) => {
                Ok(Spanned { bytes: low as usize * size..(high as usize + 1) * size, member })
            }
            None => Err(member),
        }
    }
}

/// Groups of members on one memory, which are sorted by their first bytes.
fn overlapping(document: &Document, spanned: Vec<Spanned>) -> Vec<Group> {
    // A forest: members whose roots are the same overlap.
    let mut parents: Vec<usize> = (0..spanned.len()).collect();
    let root = |parents: &mut Vec<usize>, mut at: usize| {
        while parents[at] != at {
            parents[at] = parents[parents[at]];
            at = parents[at];
        }
        at
    };
    let mut comparisons = 0;
    let mut first_open = 0;
    let mut end = 0;
    for (i, later) in spanned.iter().enumerate() {
        if later.bytes.start >= end {
            first_open = i;
        }
        end = end.max(later.bytes.end);
        for (j, earlier) in spanned[first_open..i].iter().enumerate() {
            let j = first_open + j;
            if earlier.bytes.end <= later.bytes.start || root(&mut parents, i) == root(&mut parents, j) {
                continue;
            }
            comparisons += 1;
            if comparisons > MAX_COMPARISONS || share_elements(document, earlier, later) {
                let (i, j) = (root(&mut parents, i), root(&mut parents, j));
                parents[i] = j;
            }
        }
    }
    let mut groups: HashMap<usize, Group> = HashMap::new();
    for (i, Spanned { member, bytes }) in spanned.into_iter().enumerate() {
        let group = groups
            .entry(root(&mut parents, i))
            .or_insert_with(|| Group { members: vec![], bytes: bytes.clone() });
        group.bytes = group.bytes.start.min(bytes.start)..group.bytes.end.max(bytes.end);
        group.members.push(member);
    }
    groups.into_values().collect()
}

fn share_elements(document: &Document, a: &Spanned, b: &Spanned) -> bool {
    let [a, b] = [a, b].map(|spanned| &document.views[spanned.member.views[0]]);
    // Layouts count in elements. Views with elements of different sizes count as overlapping.
    a.element.bytes(1) != b.element.bytes(1) || a.layout.overlaps(&b.layout)
}
