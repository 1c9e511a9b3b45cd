//! The nodes of a document as Python's objects: what `load` returns.

use crate::abi::Value;
use crate::abi::detach::detach_if_large;
use crate::abi::errors::CallResult;
use crate::abi::refs::to_py;
use crate::abi::storage_object::{TypedStorage, storage_object};
use crate::abi::tensor_object::wrap;
use pyo3::prelude::*;
use pyo3::types::*;
use std::collections::HashSet;
use strided_core::alloc::{try_push, try_reserve};
use strided_core::io::{Budget, Document, Loader, Node, NodeId, Record, list_order, refusal};

/// Makes Python objects from nodes. A node that occurs twice becomes one object.
pub struct ObjectMaker<'a, 'py> {
    py: Python<'py>,
    document: &'a Document,
    loader: Loader<'a>,
    hooks: Hooks<'py>,
    /// The objects that exist so far, by node.
    made: MadeObjects,
    /// Tuples whose items are being made.
    open: HashSet<NodeId>,
    /// Containers to be filled.
    empty: Vec<NodeId>,
    /// Records that the dialect has a class for.
    own_records: HashSet<NodeId>,
    /// Fails before memory runs out: PyO3 panics if a small object cannot be allocated.
    memory: Budget,
}

/// An estimate, on the high side, of the bytes of a small Python object and its slot in a container.
const OBJECT_BYTES: usize = 160;

/// The objects of nodes, by the numbers of the nodes.
pub type MadeObjects = Vec<Option<Py<PyAny>>>;

/// Functions of a front end that make its objects; where one is missing, a class of `strided.files` is used.
pub struct Hooks<'py> {
    files: Bound<'py, PyModule>,
    /// `tensor(x)` and `storage(s)` return what stands for these.
    tensor: Option<Value<'py>>,
    storage: Option<Value<'py>>,
    /// `string(bytes)` returns a string.
    string: Option<Value<'py>>,
    /// `table()` returns an empty table, to whose items values are assigned.
    table: Option<Value<'py>>,
    /// `record(class_name, version)` returns an object, or None for one of `strided.files`. Its fields are assigned to its
    /// items; if it is bytes, `set_state(object, bytes)` completes it.
    record: Option<Value<'py>>,
    set_state: Option<Value<'py>>,
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
            set_state: hook("set_state")?,
            function: hook("function")?,
            set_upvalues: hook("set_upvalues")?,
        })
    }
}

/// The class of a table.
enum TableKind {
    /// The dialect's own.
    Own,
    List(Vec<NodeId>),
    Dict,
    /// `strided.files.Table`: its keys cannot be those of a dict.
    Table,
}

impl<'a, 'py> ObjectMaker<'a, 'py> {
    pub fn new(
        py: Python<'py>,
        document: &'a Document,
        loader: Loader<'a>,
        hooks: Hooks<'py>,
        mut made: MadeObjects,
    ) -> CallResult<ObjectMaker<'a, 'py>> {
        let more = document.nodes.len().saturating_sub(made.len());
        try_reserve(&mut made, more)?;
        made.resize_with(document.nodes.len(), || None);
        let (open, empty, own_records) = (HashSet::new(), vec![], HashSet::new());
        let memory = Budget::default();
        Ok(ObjectMaker { py, document, loader, hooks, made, open, empty, own_records, memory })
    }

    /// The object of a node.
    pub fn make(&mut self, root: NodeId) -> CallResult<Value<'py>> {
        // A stack. Objects are made in the order of the file, so that it is read sequentially.
        let mut pending = vec![(root, false)];
        while let Some((node, items_are_made)) = pending.pop() {
            if items_are_made {
                self.finish_tuple(node)?;
            } else if self.made[node].is_none() && !self.open.contains(&node) {
                self.begin(node, &mut pending)?;
            }
        }
        for node in std::mem::take(&mut self.empty) {
            self.fill(node)?;
        }
        Ok(self.object(root).clone())
    }

    /// The object of a node, which was made before.
    fn object(&self, node: NodeId) -> &Value<'py> {
        self.made[node].as_ref().expect("parts are made before the whole").bind(self.py)
    }

    /// The objects that were made so far.
    pub fn into_made(self) -> MadeObjects {
        self.made
    }

    /// Makes an object, or an empty container whose items it pushes to `pending`.
    fn begin(&mut self, node: NodeId, pending: &mut Vec<(NodeId, bool)>) -> CallResult<()> {
        let py = self.py;
        let text_bytes = match &self.document.nodes[node] {
            Node::Text(text) => text.len(),
            Node::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        self.memory.spend(OBJECT_BYTES + text_bytes)?;
        let pair = |&(key, value): &(NodeId, NodeId)| [(value, false), (key, false)];
        let object = match &self.document.nodes[node] {
            Node::Text(text) => match &self.hooks.string {
                Some(string) => string.call1((PyBytes::new(py, text.as_bytes()),))?,
                None => to_py(py, text)?,
            },
            Node::Bytes(bytes) => pass_to_hook(&self.hooks.string, PyBytes::new(py, bytes).into_any())?,
            Node::Tensor(view) => self.tensor(*view)?,
            Node::Storage(view) => self.storage(*view)?,
            Node::List(items) => {
                try_reserve(pending, items.len())?;
                pending.extend(items.iter().rev().map(|&item| (item, false)));
                try_push(&mut self.empty, node)?;
                PyList::empty(py).into_any()
            }
            Node::Tuple(items) => {
                self.open.insert(node);
                pending.push((node, true));
                pending.extend(items.iter().rev().map(|&item| (item, false)));
                return Ok(());
            }
            Node::Dict(pairs) => {
                try_reserve(pending, 2 * pairs.len())?;
                pending.extend(pairs.iter().rev().flat_map(pair));
                try_push(&mut self.empty, node)?;
                PyDict::new(py).into_any()
            }
            Node::Table(pairs) => {
                try_reserve(pending, 2 * pairs.len())?;
                try_push(&mut self.empty, node)?;
                let kind = self.table_kind(pairs);
                match &kind {
                    TableKind::List(items) => pending.extend(items.iter().rev().map(|&item| (item, false))),
                    _ => pending.extend(pairs.iter().rev().flat_map(pair)),
                }
                match kind {
                    TableKind::Own => self.hooks.table.as_ref().expect("this kind has a hook").call0()?,
                    TableKind::List(_) => PyList::empty(py).into_any(),
                    TableKind::Dict => PyDict::new(py).into_any(),
                    TableKind::Table => self.hooks.files.getattr("Table")?.call1((PyList::empty(py),))?,
                }
            }
            Node::Record(record) => {
                pending.push((record.fields, false));
                try_push(&mut self.empty, node)?;
                self.record(node, record)?
            }
            Node::Function(function) => {
                pending.push((function.upvalues, false));
                try_push(&mut self.empty, node)?;
                let bytecode = PyBytes::new(py, &function.bytecode);
                match &self.hooks.function {
                    Some(hook) => hook.call1((function.kind, bytecode))?,
                    None => {
                        self.hooks.files.getattr("Function")?.call1((function.kind, bytecode, py.None()))?
                    }
                }
            }
            value => plain_object(py, value)?.expect("the other nodes are numbers"),
        };
        self.made[node] = Some(object.unbind());
        Ok(())
    }

    fn record(&mut self, node: NodeId, record: &Record) -> CallResult<Value<'py>> {
        if let Some(hook) = &self.hooks.record {
            let own = hook.call1((&record.class, &record.version))?;
            if !own.is_none() {
                self.own_records.insert(node);
                return Ok(own);
            }
        }
        let class = self.hooks.files.getattr("Record")?;
        Ok(class.call1((&record.class, self.py.None(), &record.version))?)
    }

    fn tensor(&mut self, view: usize) -> CallResult<Value<'py>> {
        let size = self.document.views[view].layout.size();
        let loader = &mut self.loader;
        let tensor = wrap(self.py, detach_if_large(self.py, size, || loader.tensor(view))?)?;
        pass_to_hook(&self.hooks.tensor, tensor)
    }

    fn storage(&mut self, view: usize) -> CallResult<Value<'py>> {
        let size = self.document.views[view].layout.size();
        let loader = &mut self.loader;
        let tensor = detach_if_large(self.py, size, || loader.tensor(view))?;
        let typed = TypedStorage { bytes: tensor.storage().clone(), dtype: tensor.dtype() };
        pass_to_hook(&self.hooks.storage, storage_object(self.py, typed)?)
    }

    fn finish_tuple(&mut self, node: NodeId) -> CallResult<()> {
        let Node::Tuple(items) = &self.document.nodes[node] else { return Ok(()) };
        let items: Option<Vec<_>> = items.iter().map(|&item| self.made[item].as_ref()).collect();
        let items = items.ok_or_else(|| refusal("a tuple contains itself"))?;
        let tuple = PyTuple::new(self.py, items)?.into_any();
        self.open.remove(&node);
        self.made[node] = Some(tuple.unbind());
        Ok(())
    }

    /// Fills a container. All of its items are made.
    fn fill(&self, node: NodeId) -> CallResult<()> {
        let container = self.object(node);
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
                        list.append((self.object(*key), self.object(*value)))?;
                    }
                    Ok(())
                }
            },
            Node::Record(record) => {
                match (self.own_records.contains(&node), &self.document.nodes[record.fields]) {
                    (true, Node::Table(pairs)) => self.assign_items(container, pairs),
                    (true, Node::Bytes(state)) => {
                        if let Some(hook) = &self.hooks.set_state {
                            hook.call1((container, PyBytes::new(self.py, state)))?;
                        }
                        Ok(())
                    }
                    _ => Ok(container.setattr("fields", self.object(record.fields))?),
                }
            }
            Node::Function(function) => {
                let upvalues = self.object(function.upvalues);
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
            table.set_item(self.object(*key), self.object(*value))?;
        }
        Ok(())
    }

    fn append(&self, list: &Value<'py>, items: &[NodeId]) -> CallResult<()> {
        let list = list.cast::<PyList>().map_err(PyErr::from)?;
        for item in items {
            list.append(self.object(*item))?;
        }
        Ok(())
    }

    fn set_items(&self, dict: &Value<'py>, pairs: &[(NodeId, NodeId)]) -> CallResult<()> {
        let dict = dict.cast::<PyDict>().map_err(PyErr::from)?;
        for (key, value) in pairs {
            let set = dict.set_item(self.object(*key), self.object(*value));
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

/// The object of a number or a string; `None` for other nodes.
pub fn plain_object<'py>(py: Python<'py>, node: &Node) -> CallResult<Option<Value<'py>>> {
    Ok(Some(match node {
        Node::None => py.None().into_bound(py),
        Node::Bool(value) => to_py(py, *value)?,
        Node::Int(number) => to_py(py, *number)?,
        Node::Huge(digits) => py.get_type::<PyInt>().call1((digits,))?,
        Node::Float(number) => to_py(py, *number)?,
        Node::Complex(real, imaginary) => PyComplex::from_doubles(py, *real, *imaginary).into_any(),
        Node::Text(text) => to_py(py, text)?,
        Node::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        _ => return Ok(None),
    }))
}

/// The object that a hook returns for an object; without the hook, the object itself.
fn pass_to_hook<'py>(hook: &Option<Value<'py>>, object: Value<'py>) -> CallResult<Value<'py>> {
    match hook {
        Some(hook) => Ok(hook.call1((object,))?),
        None => Ok(object),
    }
}
