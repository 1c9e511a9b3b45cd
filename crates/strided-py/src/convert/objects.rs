//! Python's objects as the nodes of a document: what `save` takes.

use super::arrays::{self, Misfit};
use super::streams::call;
use super::transfer::on_host;
use crate::abi::Arg;
use crate::abi::errors::{CallResult, Fail, type_name};
use crate::abi::storage_object::read_storage;
use crate::abi::tensor_object::cloned_tensor;
use pyo3::prelude::*;
use pyo3::types::*;
use std::collections::HashMap;
use std::sync::Arc;
use strided_core::io::{
    Blob, Document, ElementType, LuaFunction, Node, NodeId, Place, Record, View, refusal,
};
use strided_core::{DType, Device, Layout, Storage, Tensor};

/// Makes a document of objects. An object that occurs twice is one node.
#[derive(Default)]
pub struct DocumentBuilder {
    pub document: Document,
    nodes: HashMap<usize, NodeId>,
    /// Keeps objects alive, so that no other gets the address of one.
    kept: Vec<Py<PyAny>>,
    blobs: HashMap<(usize, DType), usize>,
    /// Copies of storages that are on devices, which keep those alive, too.
    copied: HashMap<usize, (Storage, Storage)>,
    /// How each container was reached, for messages.
    parents: HashMap<NodeId, (NodeId, ItemKey)>,
    /// Called with an object of an unknown class; returns what to write instead, or None.
    unwrap: Option<Py<PyAny>>,
}

/// The place of an item in its container.
#[derive(Clone, Copy)]
enum ItemKey {
    Index(usize),
    Key(NodeId),
    Field,
}

/// A container whose items are still to be added.
struct Pending<'py> {
    node: NodeId,
    items: Items<'py>,
}

enum Items<'py> {
    Sequence(Vec<Bound<'py, PyAny>>),
    Pairs(Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>),
    /// The fields of a record or the upvalues of a function.
    Part(Bound<'py, PyAny>),
}

impl DocumentBuilder {
    pub fn new(unwrap: Option<Py<PyAny>>) -> DocumentBuilder {
        DocumentBuilder { unwrap, ..Default::default() }
    }

    /// A builder with the same hook that knows no object.
    pub fn fresh(&self, py: Python<'_>) -> DocumentBuilder {
        DocumentBuilder::new(self.unwrap.as_ref().map(|unwrap| unwrap.clone_ref(py)))
    }

    /// Adds an object and all that it contains. Returns its node.
    pub fn add(&mut self, object: &Bound<'_, PyAny>) -> CallResult<NodeId> {
        let mut pending = Vec::new();
        let root = self.node(object, None, &mut pending)?;
        while let Some(Pending { node, items }) = pending.pop() {
            match items {
                Items::Sequence(items) => {
                    let mut nodes = Vec::with_capacity(items.len());
                    for (i, item) in items.iter().enumerate() {
                        nodes.push(self.node(item, Some((node, ItemKey::Index(i))), &mut pending)?);
                    }
                    match &mut self.document.nodes[node] {
                        Node::List(list) | Node::Tuple(list) => *list = nodes,
                        _ => unreachable!("only sequences have such items"),
                    }
                }
                Items::Pairs(pairs) => {
                    let mut nodes = Vec::with_capacity(pairs.len());
                    for (key, value) in &pairs {
                        let key = self.node(key, Some((node, ItemKey::Field)), &mut pending)?;
                        nodes.push((key, self.node(value, Some((node, ItemKey::Key(key))), &mut pending)?));
                    }
                    match &mut self.document.nodes[node] {
                        Node::Dict(dict) | Node::Table(dict) => *dict = nodes,
                        _ => unreachable!("only dicts have such items"),
                    }
                }
                Items::Part(part) => {
                    let part = self.node(&part, Some((node, ItemKey::Field)), &mut pending)?;
                    match &mut self.document.nodes[node] {
                        Node::Record(record) => record.fields = part,
                        Node::Function(function) => function.upvalues = part,
                        _ => unreachable!("only records and functions have a part"),
                    }
                }
            }
        }
        Ok(root)
    }

    /// The node of an object; containers are entered, and their items left to the caller.
    fn node<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        parent: Option<(NodeId, ItemKey)>,
        pending: &mut Vec<Pending<'py>>,
    ) -> CallResult<NodeId> {
        if let Some(scalar) = scalar(object)? {
            return Ok(self.document.add(scalar)?);
        }
        let address = object.as_ptr() as usize;
        if let Some(&node) = self.nodes.get(&address) {
            return Ok(node);
        }
        let node = match self.container(object, pending)? {
            Some(node) => node,
            // What a dialect knows may be an array, too.
            None => match self.unwrapped(object)? {
                Some(other) if !other.is(object) => self.node(&other, parent, pending)?,
                _ => match array(object.as_borrowed())? {
                    Some(tensor) => self.tensor(object.py(), &tensor)?,
                    None => return Err(self.refusal_of(object.as_borrowed(), parent)),
                },
            },
        };
        if let Some(parent) = parent {
            self.parents.entry(node).or_insert(parent);
        }
        self.nodes.insert(address, node);
        self.kept.push(object.clone().unbind());
        Ok(node)
    }

    fn container<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        pending: &mut Vec<Pending<'py>>,
    ) -> CallResult<Option<NodeId>> {
        let mut enter = |document: &mut Document, node: Node, items: Items<'py>| {
            let node = document.add(node)?;
            pending.push(Pending { node, items });
            Ok(Some(node))
        };
        let py = object.py();
        if let Some(tensor) = cloned_tensor(object.as_borrowed()) {
            return self.tensor(py, &tensor).map(Some);
        }
        if let Some(storage) = read_storage(object.as_borrowed()) {
            let blob = self.blob(py, &storage.bytes, storage.dtype)?;
            let node = self.document.add_storage(blob, ElementType::Known(storage.dtype), 0)?;
            return Ok(Some(node));
        }
        if let Ok(dict) = object.cast::<PyDict>() {
            let pairs = dict.items().iter().map(|pair| pair.extract()).collect::<PyResult<_>>()?;
            return enter(&mut self.document, Node::Dict(vec![]), Items::Pairs(pairs));
        }
        if let Ok(list) = object.cast::<PyList>() {
            return enter(&mut self.document, Node::List(vec![]), Items::Sequence(list.iter().collect()));
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return enter(&mut self.document, Node::Tuple(vec![]), Items::Sequence(tuple.iter().collect()));
        }
        match class_in_files(object)?.as_deref() {
            Some("Record") => {
                let record = Record {
                    class: object.getattr("class_name")?.extract()?,
                    version: object.getattr("version")?.extract()?,
                    fields: 0,
                };
                let fields = Items::Part(object.getattr("fields")?);
                enter(&mut self.document, Node::Record(Box::new(record)), fields)
            }
            Some("Function") => {
                let (kind, bytecode) =
                    (object.getattr("kind")?.extract()?, object.getattr("bytecode")?.extract()?);
                let upvalues = Items::Part(object.getattr("upvalues")?);
                let function = Box::new(LuaFunction { kind, bytecode, upvalues: 0 });
                enter(&mut self.document, Node::Function(function), upvalues)
            }
            Some("Table") => {
                // Not by `collect`: PyO3 would import a module to ask for the number of items.
                let mut pairs = Vec::new();
                for pair in object.call_method0("items")?.try_iter()? {
                    pairs.push(pair?.extract()?);
                }
                enter(&mut self.document, Node::Table(vec![]), Items::Pairs(pairs))
            }
            Some("Entry") => self.deferred(object).map(Some),
            _ => Ok(None),
        }
    }

    fn tensor(&mut self, py: Python<'_>, tensor: &Tensor) -> CallResult<NodeId> {
        let blob = self.blob(py, tensor.storage(), tensor.dtype())?;
        let (element, layout) = (ElementType::Known(tensor.dtype()), tensor.layout().clone());
        self.document.views.push(View { blob, element, layout });
        Ok(self.document.add(Node::Tensor(self.document.views.len() - 1))?)
    }

    /// The memory of tensors; one blob for all tensors of a dtype on a storage.
    fn blob(&mut self, py: Python<'_>, storage: &Storage, dtype: DType) -> CallResult<usize> {
        let storage = &self.on_host(py, storage)?;
        let count = (storage.valid_length()? / dtype.size()) as u64;
        let blobs = &mut self.document.blobs;
        Ok(*self.blobs.entry((storage.id(), dtype)).or_insert_with(|| {
            blobs.push(Blob {
                element: ElementType::Known(dtype),
                count,
                place: Place::Memory(storage.clone()),
            });
            blobs.len() - 1
        }))
    }

    /// A storage that the host can read: itself, or one copy for all tensors that share it.
    fn on_host(&mut self, py: Python<'_>, storage: &Storage) -> CallResult<Storage> {
        if storage.device() == Device::Cpu {
            return Ok(storage.clone());
        }
        if let Some((_, copied)) = self.copied.get(&storage.id()) {
            return Ok(copied.clone());
        }
        let bytes = on_host(py, &Tensor::from_whole_storage(storage.clone(), DType::U8)?)?;
        self.copied.insert(storage.id(), (storage.clone(), bytes.storage().clone()));
        Ok(bytes.storage().clone())
    }

    /// A tensor of another file, which is loaded when it is written.
    fn deferred(&mut self, entry: &Bound<'_, PyAny>) -> CallResult<NodeId> {
        let name: String = entry.getattr("dtype_name")?.extract()?;
        let unknown = || refusal(format!("a tensor has the dtype {name}, which strided does not have"));
        let dtype = DType::from_name(&name).ok_or_else(unknown)?;
        let shape: Vec<isize> = entry.getattr("shape")?.extract()?;
        let entry = entry.clone().unbind();
        let load = Arc::new(move || {
            call(|py| {
                let loaded = entry.bind(py).call_method0("_load_tensor")?;
                let tensor = cloned_tensor(loaded.as_borrowed());
                tensor.ok_or_else(|| pyo3::exceptions::PyTypeError::new_err("an entry must load a tensor"))
            })
        });
        Ok(self.document.add_tensor(
            ElementType::Known(dtype),
            Layout::row_major(&shape)?,
            Place::Deferred(load),
        )?)
    }

    fn unwrapped<'py>(&self, object: &Bound<'py, PyAny>) -> CallResult<Option<Bound<'py, PyAny>>> {
        let Some(unwrap) = &self.unwrap else { return Ok(None) };
        let other = unwrap.bind(object.py()).call1((object,))?;
        Ok(if other.is_none() { None } else { Some(other) })
    }

    #[cold]
    fn refusal_of(&self, object: Arg<'_>, parent: Option<(NodeId, ItemKey)>) -> Fail {
        let mut path = String::new();
        let mut at = parent;
        while let Some((node, key)) = at {
            path = match key {
                ItemKey::Index(index) => format!("[{index}]{path}"),
                ItemKey::Key(key) => format!("[{}]{path}", self.key_text(key)),
                ItemKey::Field => path,
            };
            at = self.parents.get(&node).copied();
        }
        let wanted = "a tensor, a storage, a dict, list or tuple of them, a str, bytes, a number or None";
        Fail::Type(format!("obj{path} is {}, wanted {wanted}", type_name(object)))
    }

    fn key_text(&self, key: NodeId) -> String {
        match &self.document.nodes[key] {
            Node::Text(text) => format!("{text:?}"),
            Node::Int(number) => number.to_string(),
            _ => "…".into(),
        }
    }
}

/// A number, a string, …; `None` for other objects.
fn scalar(object: &Bound<'_, PyAny>) -> CallResult<Option<Node>> {
    Ok(Some(if object.is_none() {
        Node::None
    } else if let Ok(value) = object.cast::<PyBool>() {
        Node::Bool(value.is_true())
    } else if let Ok(number) = object.cast::<PyFloat>() {
        Node::Float(number.value())
    } else if let Ok(number) = object.cast::<PyInt>() {
        match number.extract() {
            Ok(number) => Node::Int(number),
            Err(_) => Node::Huge(number.call_method1("__format__", ("d",))?.extract()?),
        }
    } else if let Ok(text) = object.cast::<PyString>() {
        Node::Text(text.extract()?)
    } else if let Ok(bytes) = object.cast::<PyBytes>() {
        Node::Bytes(bytes.as_bytes().to_vec())
    } else if let Ok(bytes) = object.cast::<PyByteArray>() {
        Node::Bytes(bytes.to_vec())
    } else if let Ok(number) = object.cast::<PyComplex>() {
        Node::Complex(number.real(), number.imag())
    } else {
        return Ok(None);
    }))
}

/// A tensor with the values of an array of another library; `None` for other objects.
fn array(object: Arg<'_>) -> CallResult<Option<Tensor>> {
    if arrays::is_array(object)? { arrays::read(object, Misfit::Copy) } else { Ok(None) }
}

/// The name of a class of `strided.files`; `None` for classes of other modules.
fn class_in_files(object: &Bound<'_, PyAny>) -> CallResult<Option<String>> {
    let class = object.get_type();
    let is_ours =
        class.getattr("__module__")?.extract::<String>().is_ok_and(|module| module == "strided.files");
    Ok(if is_ours { Some(class.name()?.to_string()) } else { None })
}
