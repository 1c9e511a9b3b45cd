//! What is in a file: an object made of containers, numbers, strings and tensors, and where the bytes of the tensors are.
//! Every format is read into a [`Document`] and written from one.

use super::budget::Budget;
use super::fault;
use super::source::ByteSource;
use crate::alloc::try_push;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::storage::Storage;
use crate::tensor::Tensor;
use std::sync::Arc;

/// The position of a node in its document.
pub type NodeId = usize;

/// A value. Containers refer to their items by position, so that an object that occurs twice, or contains itself, is one
/// node.
#[derive(Clone, Debug)]
pub enum Node {
    None,
    Bool(bool),
    Int(i64),
    /// The digits of an integer beyond 64 bits.
    Huge(String),
    Float(f64),
    Complex(f64, f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<NodeId>),
    Tuple(Vec<NodeId>),
    Dict(Vec<(NodeId, NodeId)>),
    /// A Lua table: with the keys 1 to n it is a list to Python, otherwise a dict.
    Table(Vec<(NodeId, NodeId)>),
    /// An object of a class that is not known here, with the node of its fields.
    Record(Box<Record>),
    /// A Lua function.
    Function(Box<LuaFunction>),
    /// The position of a [`View`].
    Tensor(usize),
    /// A storage: the position of a view of one dim, with all elements.
    Storage(usize),
}

impl Node {
    /// Bytes on the heap.
    fn payload(&self) -> usize {
        match self {
            Node::Huge(text) | Node::Text(text) => text.len(),
            Node::Bytes(bytes) => bytes.len(),
            Node::List(items) | Node::Tuple(items) => size_of_val(&items[..]),
            Node::Dict(pairs) | Node::Table(pairs) => size_of_val(&pairs[..]),
            Node::Record(record) => size_of::<Record>() + record.class.len(),
            Node::Function(function) => size_of::<LuaFunction>() + function.bytecode.len(),
            _ => 0,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Record {
    pub class: String,
    /// What follows `V ` in the file; `None` before classes had versions.
    pub version: Option<String>,
    pub fields: NodeId,
}

#[derive(Clone, Debug)]
pub struct LuaFunction {
    /// The number of the kind of function in a .t7 file: 6, 7 or 8.
    pub kind: i32,
    pub bytecode: Vec<u8>,
    pub upvalues: NodeId,
}

/// The type of elements in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementType {
    Known(DType),
    /// One that strided lacks.
    Foreign(Box<ForeignType>),
}

/// A type that strided lacks.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignType {
    pub name: String,
    pub bits: Option<u64>,
}

impl ElementType {
    pub fn foreign(name: impl Into<String>, bits: Option<u64>) -> ElementType {
        ElementType::Foreign(Box::new(ForeignType { name: name.into(), bits }))
    }

    pub fn name(&self) -> &str {
        match self {
            ElementType::Known(dtype) => dtype.name(),
            ElementType::Foreign(foreign) => &foreign.name,
        }
    }

    pub fn known(&self) -> Option<DType> {
        match self {
            ElementType::Known(dtype) => Some(*dtype),
            ElementType::Foreign(_) => None,
        }
    }

    /// The bytes of a number of elements, if the size of one is known.
    pub fn bytes(&self, count: u64) -> Option<u64> {
        let bits = match self {
            ElementType::Known(dtype) => 8 * dtype.size() as u64,
            ElementType::Foreign(foreign) => foreign.bits?,
        };
        count.checked_mul(bits).map(|bits| bits.div_ceil(8))
    }
}

/// A run of elements of one type: the memory of tensors.
#[derive(Clone)]
pub struct Blob {
    pub element: ElementType,
    pub count: u64,
    pub place: Place,
}

/// A tensor: one way of looking at a blob. Its elements may be of another type than those that the blob was stored as.
#[derive(Clone)]
pub struct View {
    pub blob: usize,
    pub element: ElementType,
    pub layout: Layout,
}

/// Where the bytes of a blob are.
#[derive(Clone)]
pub enum Place {
    /// In memory.
    Memory(Storage),
    /// Computed when it is needed: a row-major tensor.
    Deferred(Arc<dyn Fn() -> Result<Tensor> + Send + Sync>),
    /// In the file, as they are in memory, or with the bytes of each element reversed.
    Plain { position: u64, order: ByteOrder },
    /// In the file as 4-byte integers that are 8-byte ones in memory.
    Narrow { position: u64, order: ByteOrder },
    /// In the file, compressed, after `skipped` other bytes of the same stream; `crc` is the checksum
    /// of all of it.
    Deflated { position: u64, compressed: u64, skipped: u64, order: ByteOrder, crc: u32 },
    /// In the file as decimal numbers.
    Text { position: u64, end: u64 },
    /// In the file in row-major order. In memory the elements have the strides of `layout`, which begins at offset 0.
    RowMajor { position: u64, order: ByteOrder, layout: Box<Layout> },
    /// The elements of another blob, cast.
    Cast(Box<Blob>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub const NATIVE: ByteOrder =
        if cfg!(target_endian = "little") { ByteOrder::Little } else { ByteOrder::Big };

    /// The bytes of a number in this order, from or to little-endian ones.
    pub fn swapped<const N: usize>(self, mut bytes: [u8; N]) -> [u8; N] {
        if self == ByteOrder::Big {
            bytes.reverse();
        }
        bytes
    }

    pub const fn name(self) -> &'static str {
        match self {
            ByteOrder::Little => "little",
            ByteOrder::Big => "big",
        }
    }
}

/// A fact about a file that is of interest to a person.
#[derive(Clone, Debug)]
pub enum Detail {
    Text(String),
    Number(u64),
}

/// The content of a file.
#[derive(Default)]
pub struct Document {
    pub nodes: Vec<Node>,
    pub root: NodeId,
    pub views: Vec<View>,
    pub blobs: Vec<Blob>,
    /// Whether the object is a flat dict of distinct tensors, as in most safetensors files.
    pub is_flat: bool,
    /// The user's strings in the header of a safetensors file.
    pub metadata: Vec<(String, String)>,
    pub details: Vec<(&'static str, Detail)>,
    /// Where the bytes of blobs are; `None` if all of them are in memory.
    pub source: Option<Arc<dyn ByteSource>>,
    /// Where the object ends, if the file may go on after it.
    pub end: Option<u64>,
    /// The name of the file, if errors of reading it must be told from those of another one.
    pub name: String,
    /// The memory that nodes, which are made of few bytes of a file, may still take.
    pub budget: Budget,
}

impl Document {
    /// Adds a node, if the budget allows it and there is memory for it.
    pub fn add(&mut self, node: Node) -> Result<NodeId> {
        self.budget.spend(size_of::<Node>() + node.payload())?;
        try_push(&mut self.nodes, node)?;
        Ok(self.nodes.len() - 1)
    }

    pub fn add_text(&mut self, text: impl Into<String>) -> Result<NodeId> {
        self.add(Node::Text(text.into()))
    }

    /// A tensor that has a blob of its own.
    pub fn add_tensor(&mut self, element: ElementType, layout: Layout, place: Place) -> Result<NodeId> {
        let count = layout.bounds().map_or(0, |(_, high)| high as u64 + 1);
        let blob = self.add_blob(element.clone(), count, place)?;
        try_push(&mut self.views, View { blob, element, layout })?;
        self.add(Node::Tensor(self.views.len() - 1))
    }

    pub fn add_blob(&mut self, element: ElementType, count: u64, place: Place) -> Result<usize> {
        try_push(&mut self.blobs, Blob { element, count, place })?;
        Ok(self.blobs.len() - 1)
    }

    /// Adds a view of a blob. Refuses one that leaves the blob.
    pub fn add_view(
        &mut self,
        blob: usize,
        element: ElementType,
        layout: Layout,
        position: u64,
    ) -> Result<usize> {
        let Blob { element: stored, count, .. } = &self.blobs[blob];
        let fits = |end: u64| match (element.bytes(end), stored.bytes(*count)) {
            (Some(end), Some(available)) if element != *stored => end <= available,
            _ => element == *stored && end <= *count,
        };
        if let Some((low, high)) = layout.bounds()
            && (low < 0 || !fits(high as u64 + 1))
        {
            let (shape, stored) = (layout.shape_text(), stored.name());
            let reason =
                format!("a tensor of shape {shape} reaches elements {low} to {high} of {count} {stored}");
            return Err(fault(position, reason));
        }
        if layout.offset() < 0 {
            // Only a tensor without elements gets here: it has no bounds.
            return Err(fault(position, format!("a tensor has the negative offset {}", layout.offset())));
        }
        try_push(&mut self.views, View { blob, element, layout })?;
        Ok(self.views.len() - 1)
    }

    /// The node of a storage with all elements of a blob.
    pub fn add_storage(&mut self, blob: usize, element: ElementType, position: u64) -> Result<NodeId> {
        let view = self.add_whole_view(blob, element, position)?;
        self.add(Node::Storage(view))
    }

    /// Adds a view of one dim, of all elements of a blob.
    pub fn add_whole_view(&mut self, blob: usize, element: ElementType, position: u64) -> Result<usize> {
        let Blob { element: stored, count, .. } = &self.blobs[blob];
        let count = match (element.bytes(1), stored.bytes(*count)) {
            (Some(each @ 1..), Some(available)) if element != *stored => available / each,
            _ => *count,
        };
        let extent = isize::try_from(count).unwrap_or(isize::MAX);
        let layout = Layout::row_major(&[extent]).map_err(|error| fault(position, error.to_string()))?;
        self.add_view(blob, element, layout, position)
    }

    pub fn detail(&mut self, name: &'static str, detail: Detail) {
        self.details.push((name, detail));
    }
}
