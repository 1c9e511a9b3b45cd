//! The nodes of a document as Python's objects: what `load` returns.

use crate::abi::Value;
use crate::abi::detach::detach_if_large;
use crate::abi::errors::CallResult;
use crate::abi::storage_object::{TypedStorage, storage_object};
use crate::abi::tensor_object::wrap;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::*;
use std::collections::HashMap;
use strided_core::error::{Error, Problem};
use strided_core::io::{Document, Loader, Node, NodeId, list_order};

/// Makes objects of nodes. A node that occurs twice is one object.
pub struct ObjectMaker<'a, 'py> {
    py: Python<'py>,
    document: &'a Document,
    loader: Loader<'a>,
    hooks: Hooks<'py>,
    made: HashMap<NodeId, Value<'py>>,
    /// Tuples whose items are being made.
    open: HashMap<NodeId, ()>,
    /// Containers that are empty so far.
    empty: Vec<NodeId>,
}

/// Functions that make the objects of one dialect; the module `strided.files` has the classes for what has no function.
pub struct Hooks<'py> {
    files: Bound<'py, PyModule>,
    /// `tensor(x)` and `storage(s)` return what stands for these.
    tensor: Option<Value<'py>>,
    storage: Option<Value<'py>>,
    /// `string(bytes)` returns a string.
    string: Option<Value<'py>>,
    /// `table()` returns an empty table, to whose items values are assigned.
    table: Option<Value<'py>>,
    /// `record(class_name, version)` returns an object, to whose items the fields are assigned.
    record: Option<Value<'py>>,
    /// `function(kind, bytecode)` returns a function, and `set_upvalues(function, upvalues)` completes it.
    function: Option<Value<'py>>,
    set_upvalues: Option<Value<'py>>,
}

impl<'py> Hooks<'py> {
    /// The functions are attributes of an object; None and missing ones are not called.
    pub fn new(py: Python<'py>, object: Option<&Value<'py>>) -> CallResult<Hooks<'py>> {
        let hook = |name: &str| match object {
            Some(object) => Ok::<_, PyErr>(object.getattr_opt(name)?.filter(|hook| !hook.is_none())),
            None => Ok(None),
        };
        Ok(Hooks {
            files: py.import("strided.files")?,
            tensor: hook("tensor")?,
            storage: hook("storage")?,
            string: hook("string")?,
            table: hook("table")?,
            record: hook("record")?,
            function: hook("function")?,
            set_upvalues: hook("set_upvalues")?,
        })
    }
}

/// What a table becomes.
enum TableKind {
    /// What the dialect has.
    Own,
    List(Vec<NodeId>),
    Dict,
    /// No dict can have its keys.
    Table,
}

impl<'a, 'py> ObjectMaker<'a, 'py> {
    pub fn new(
        py: Python<'py>,
        document: &'a Document,
        loader: Loader<'a>,
        hooks: Hooks<'py>,
        made: HashMap<NodeId, Value<'py>>,
    ) -> ObjectMaker<'a, 'py> {
        ObjectMaker { py, document, loader, hooks, made, open: HashMap::new(), empty: vec![] }
    }

    /// The object of a node.
    pub fn make(&mut self, root: NodeId) -> CallResult<Value<'py>> {
        let mut pending = vec![(root, false)];
        while let Some((node, items_are_made)) = pending.pop() {
            if items_are_made {
                self.finish_tuple(node)?;
            } else if !self.made.contains_key(&node) && !self.open.contains_key(&node) {
                self.begin(node, &mut pending)?;
            }
        }
        for node in std::mem::take(&mut self.empty) {
            self.fill(node)?;
        }
        Ok(self.made[&root].clone())
    }

    /// The objects that were made so far, by their nodes.
    pub fn into_made(self) -> HashMap<NodeId, Value<'py>> {
        self.made
    }

    /// Makes an object, or an empty container; leaves items to be made to the caller.
    fn begin(&mut self, node: NodeId, pending: &mut Vec<(NodeId, bool)>) -> CallResult<()> {
        let py = self.py;
        let pair = |&(key, value): &(NodeId, NodeId)| [(key, false), (value, false)];
        let object = match &self.document.nodes[node] {
            Node::None => py.None().into_bound(py),
            Node::Bool(value) => value.into_bound_py_any(py)?,
            Node::Int(number) => number.into_bound_py_any(py)?,
            Node::Huge(digits) => py.get_type::<PyInt>().call1((digits,))?,
            Node::Float(number) => number.into_bound_py_any(py)?,
            Node::Complex(real, imaginary) => PyComplex::from_doubles(py, *real, *imaginary).into_any(),
            Node::Text(text) => match &self.hooks.string {
                Some(string) => string.call1((PyBytes::new(py, text.as_bytes()),))?,
                None => text.into_bound_py_any(py)?,
            },
            Node::Bytes(bytes) => called(&self.hooks.string, PyBytes::new(py, bytes).into_any())?,
            Node::Tensor(view) => self.tensor(*view)?,
            Node::Storage(view) => self.storage(*view)?,
            Node::List(items) => {
                pending.extend(items.iter().map(|&item| (item, false)));
                self.empty.push(node);
                PyList::empty(py).into_any()
            }
            Node::Tuple(items) => {
                self.open.insert(node, ());
                pending.push((node, true));
                pending.extend(items.iter().map(|&item| (item, false)));
                return Ok(());
            }
            Node::Dict(pairs) => {
                pending.extend(pairs.iter().flat_map(pair));
                self.empty.push(node);
                PyDict::new(py).into_any()
            }
            Node::Table(pairs) => {
                self.empty.push(node);
                match self.table_kind(pairs) {
                    TableKind::Own => {
                        pending.extend(pairs.iter().flat_map(pair));
                        self.hooks.table.as_ref().expect("this kind has a hook").call0()?
                    }
                    TableKind::List(items) => {
                        pending.extend(items.iter().map(|&item| (item, false)));
                        PyList::empty(py).into_any()
                    }
                    TableKind::Dict => {
                        pending.extend(pairs.iter().flat_map(pair));
                        PyDict::new(py).into_any()
                    }
                    TableKind::Table => {
                        pending.extend(pairs.iter().flat_map(pair));
                        self.hooks.files.getattr("Table")?.call1((PyList::empty(py),))?
                    }
                }
            }
            Node::Record(record) => {
                pending.push((record.fields, false));
                self.empty.push(node);
                match &self.hooks.record {
                    Some(hook) => hook.call1((&record.class, &record.version))?,
                    None => self.hooks.files.getattr("Record")?.call1((
                        &record.class,
                        py.None(),
                        &record.version,
                    ))?,
                }
            }
            Node::Function(function) => {
                pending.push((function.upvalues, false));
                self.empty.push(node);
                let bytecode = PyBytes::new(py, &function.bytecode);
                match &self.hooks.function {
                    Some(hook) => hook.call1((function.kind, bytecode))?,
                    None => {
                        self.hooks.files.getattr("Function")?.call1((function.kind, bytecode, py.None()))?
                    }
                }
            }
        };
        self.made.insert(node, object);
        Ok(())
    }

    fn tensor(&mut self, view: usize) -> CallResult<Value<'py>> {
        let size = self.document.views[view].layout.size();
        let loader = &mut self.loader;
        let tensor = wrap(self.py, detach_if_large(self.py, size, || loader.tensor(view))?)?;
        called(&self.hooks.tensor, tensor)
    }

    fn storage(&mut self, view: usize) -> CallResult<Value<'py>> {
        let size = self.document.views[view].layout.size();
        let loader = &mut self.loader;
        let tensor = detach_if_large(self.py, size, || loader.tensor(view))?;
        let typed = TypedStorage { bytes: tensor.storage().clone(), dtype: tensor.dtype() };
        called(&self.hooks.storage, storage_object(self.py, typed)?)
    }

    fn finish_tuple(&mut self, node: NodeId) -> CallResult<()> {
        let Node::Tuple(items) = &self.document.nodes[node] else { return Ok(()) };
        let items: Option<Vec<_>> = items.iter().map(|item| self.made.get(item)).collect();
        let items = items.ok_or_else(|| refusal("a tuple contains itself"))?;
        let tuple = PyTuple::new(self.py, items)?.into_any();
        self.open.remove(&node);
        self.made.insert(node, tuple);
        Ok(())
    }

    /// Gives a container its items, all of which are made.
    fn fill(&self, node: NodeId) -> CallResult<()> {
        let container = &self.made[&node];
        match &self.document.nodes[node] {
            Node::List(items) => self.append(container, items),
            Node::Dict(pairs) => self.set_items(container, pairs),
            Node::Table(pairs) => match self.table_kind(pairs) {
                TableKind::Own => self.assign_items(container, pairs),
                TableKind::List(items) => self.append(container, &items),
                TableKind::Dict => self.set_items(container, pairs),
                TableKind::Table => {
                    let list = container.getattr("_pairs")?.cast_into::<PyList>().map_err(PyErr::from)?;
                    for (key, value) in pairs {
                        list.append((&self.made[key], &self.made[value]))?;
                    }
                    Ok(())
                }
            },
            Node::Record(record) => match (&self.hooks.record, &self.document.nodes[record.fields]) {
                (Some(_), Node::Table(pairs)) => self.assign_items(container, pairs),
                _ => Ok(container.setattr("fields", &self.made[&record.fields])?),
            },
            Node::Function(function) => {
                let upvalues = &self.made[&function.upvalues];
                match &self.hooks.set_upvalues {
                    Some(hook) => drop(hook.call1((container, upvalues))?),
                    None => container.setattr("upvalues", upvalues)?,
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn assign_items(&self, table: &Value<'py>, pairs: &[(NodeId, NodeId)]) -> CallResult<()> {
        for (key, value) in pairs {
            table.set_item(&self.made[key], &self.made[value])?;
        }
        Ok(())
    }

    fn append(&self, list: &Value<'py>, items: &[NodeId]) -> CallResult<()> {
        let list = list.cast::<PyList>().map_err(PyErr::from)?;
        for item in items {
            list.append(&self.made[item])?;
        }
        Ok(())
    }

    fn set_items(&self, dict: &Value<'py>, pairs: &[(NodeId, NodeId)]) -> CallResult<()> {
        let dict = dict.cast::<PyDict>().map_err(PyErr::from)?;
        for (key, value) in pairs {
            let set = dict.set_item(&self.made[key], &self.made[value]);
            set.map_err(|error| match error.is_instance_of::<pyo3::exceptions::PyTypeError>(self.py) {
                true => refusal("a key of a dict is a list or a dict").into(),
                false => crate::abi::errors::Fail::Python(error),
            })?;
        }
        Ok(())
    }

    fn table_kind(&self, pairs: &[(NodeId, NodeId)]) -> TableKind {
        if self.hooks.table.is_some() {
            return TableKind::Own;
        }
        if let Some(items) = list_order(self.document, pairs) {
            return TableKind::List(items);
        }
        // 1 and True are different keys in Lua, and equal ones in Python.
        let mut numbers = [false; 2];
        let mut booleans = [false; 2];
        for (key, _) in pairs {
            match self.document.nodes[*key] {
                Node::Table(_) => return TableKind::Table,
                Node::Bool(value) => booleans[usize::from(value)] = true,
                Node::Int(number @ 0..=1) => numbers[number as usize] = true,
                _ => {}
            }
        }
        let clash = (numbers[0] && booleans[0]) || (numbers[1] && booleans[1]);
        if clash { TableKind::Table } else { TableKind::Dict }
    }
}

/// What a hook makes of an object.
fn called<'py>(hook: &Option<Value<'py>>, object: Value<'py>) -> CallResult<Value<'py>> {
    match hook {
        Some(hook) => Ok(hook.call1((object,))?),
        None => Ok(object),
    }
}

fn refusal(reason: &str) -> Error {
    Error::new("", Problem::Format { file: String::new(), offset: None, reason: reason.into() })
}
