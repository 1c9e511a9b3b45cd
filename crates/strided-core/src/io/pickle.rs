//! Python's pickles, as far as PyTorch writes them: an interpreter of their instructions, which makes nodes of a document.
//!
//! Classes and functions are never looked up. The names in `torch_names.rs` have a meaning that is fixed there; any other
//! name is an error. So no pickle can run code.

use super::document::{Document, Node, NodeId};
use super::source::{ByteSource, Cursor};
use super::torch_names::{self, Global};
use super::{fault, opcodes as op};
use crate::alloc::{try_collect, try_push, try_reserve, try_reserve_entry};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;

/// A value on the stack.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    Node(NodeId),
    Global(Global),
    Mark,
}

/// What a pickle leaves to its reader: the storages of PyTorch's files, and the functions that rebuild tensors.
pub trait PickleHooks {
    /// The node of a persistent id.
    fn persistent(&mut self, document: &mut Document, id: &[PickledPart], position: u64) -> Result<NodeId>;
    /// The node of a tensor, from the arguments of the function that rebuilds it. Those of `typed` functions have the dtype.
    fn tensor(
        &mut self,
        document: &mut Document,
        arguments: &[NodeId],
        typed: bool,
        position: u64,
    ) -> Result<NodeId>;
}

/// An item of a tuple in which names of classes or functions may occur.
#[derive(Clone, Debug)]
pub enum PickledPart {
    Node(NodeId),
    Global(Global),
}

/// Reads a pickle. Returns the node of its object.
pub fn read(
    source: &dyn ByteSource,
    range: Range<u64>,
    document: &mut Document,
    hooks: &mut dyn PickleHooks,
) -> Result<NodeId> {
    let cursor = Cursor::new(source, range.start, range.end);
    let mut machine = Machine {
        cursor,
        document,
        hooks,
        stack: vec![],
        memo: HashMap::new(),
        tuples: HashMap::new(),
        copies_left: (range.end - range.start) as usize,
    };
    loop {
        if let Some(item) = machine.step()? {
            return Ok(item);
        }
    }
}

struct Machine<'a> {
    cursor: Cursor<'a>,
    document: &'a mut Document,
    hooks: &'a mut dyn PickleHooks,
    stack: Vec<Item>,
    memo: HashMap<u64, Item>,
    /// Tuples in which a global occurs, which has no node: persistent ids, and arguments of a few functions.
    tuples: HashMap<NodeId, Vec<PickledPart>>,
    /// How much calls may still copy. A short pickle could otherwise copy a long list again and again.
    copies_left: usize,
}

impl Machine<'_> {
    #[cold]
    fn fault(&self, reason: impl Into<String>) -> Error {
        self.cursor.fault(reason)
    }

    fn push(&mut self, node: Node) -> Result<()> {
        let id = self.document.add(node)?;
        self.push_item(Item::Node(id))
    }

    /// A short pickle could make a long stack, so that its memory counts, too.
    fn push_item(&mut self, item: Item) -> Result<()> {
        self.document.budget.spend(size_of::<Item>())?;
        try_push(&mut self.stack, item)
    }

    fn pop(&mut self) -> Result<Item> {
        match self.stack.pop() {
            Some(Item::Mark) | None => Err(self.fault("the pickle takes a value that it has not made")),
            Some(item) => Ok(item),
        }
    }

    fn pop_node(&mut self) -> Result<NodeId> {
        match self.pop()? {
            Item::Node(node) => Ok(node),
            _ => Err(self.fault("the pickle uses a class or function as a value")),
        }
    }

    fn top_node(&mut self) -> Result<NodeId> {
        match self.stack.last() {
            Some(Item::Node(node)) => Ok(*node),
            _ => Err(self.fault("the pickle adds to what is no container")),
        }
    }

    /// The values above the last mark.
    fn pop_mark(&mut self) -> Result<Vec<Item>> {
        let at = self.stack.iter().rposition(|item| *item == Item::Mark);
        let at = at.ok_or_else(|| self.fault("the pickle has no mark"))?;
        let mut items = Vec::new();
        try_reserve(&mut items, self.stack.len() - at - 1)?;
        items.extend(self.stack.drain(at + 1..));
        self.stack.pop();
        Ok(items)
    }

    fn nodes(&self, items: Vec<Item>) -> Result<Vec<NodeId>> {
        let node = |item| match item {
            Item::Node(node) => Ok(node),
            _ => Err(self.fault("the pickle uses a class or function as a value")),
        };
        items.into_iter().map(node).collect()
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.cursor.array::<1>("the pickle")?[0])
    }

    fn u32(&mut self) -> Result<u64> {
        Ok(u64::from(u32::from_le_bytes(self.cursor.array("the pickle")?)))
    }

    /// The length of a string: 1, 4 or 8 bytes.
    fn length(&mut self, code: u8) -> Result<u64> {
        match code {
            op::SHORT_BINUNICODE | op::SHORT_BINBYTES | op::SHORT_BINSTRING => Ok(self.byte()?.into()),
            op::BINUNICODE8 | op::BINBYTES8 | op::BYTEARRAY8 => {
                Ok(u64::from_le_bytes(self.cursor.array("the pickle")?))
            }
            _ => self.u32(),
        }
    }

    fn bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        self.cursor.bytes(length, "a string of the pickle")
    }

    fn text(&mut self, length: u64) -> Result<String> {
        String::from_utf8(self.bytes(length)?).map_err(|_| self.fault("a string of the pickle is not UTF-8"))
    }

    fn line(&mut self) -> Result<String> {
        let mut line = Vec::new();
        while let Some(byte) = self.cursor.next_byte()? {
            self.cursor.take_byte();
            if byte == b'\n' {
                return String::from_utf8(line).map_err(|_| self.fault("a line of the pickle is not UTF-8"));
            }
            line.push(byte);
        }
        Err(self.fault("a line of the pickle has no end"))
    }

    /// Executes one instruction. Returns the object at the end.
    fn step(&mut self) -> Result<Option<NodeId>> {
        let position = self.cursor.position();
        match self.byte()? {
            op::STOP => return self.pop_node().map(Some),
            op::PROTO => {
                let protocol = self.byte()?;
                if protocol > 5 {
                    return Err(fault(position, format!("protocol {protocol} of pickles is not known")));
                }
            }
            op::FRAME => drop(self.cursor.array::<8>("the length of a frame")?),
            op::MARK => self.push_item(Item::Mark)?,
            op::POP => drop(self.stack.pop()),
            op::POP_MARK => drop(self.pop_mark()?),
            op::DUP => {
                let item = self.pop()?;
                self.push_item(item.clone())?;
                self.push_item(item)?;
            }
            op::NONE => self.push(Node::None)?,
            op::NEWTRUE => self.push(Node::Bool(true))?,
            op::NEWFALSE => self.push(Node::Bool(false))?,
            op::BININT => {
                let number = i32::from_le_bytes(self.cursor.array("the pickle")?);
                self.push(Node::Int(number.into()))?;
            }
            op::BININT1 => {
                let number = self.byte()?;
                self.push(Node::Int(number.into()))?;
            }
            op::BININT2 => {
                let number = u16::from_le_bytes(self.cursor.array("the pickle")?);
                self.push(Node::Int(number.into()))?;
            }
            op::LONG1 => {
                let length = self.byte()?;
                let bytes = self.bytes(length.into())?;
                self.push(long_node(&bytes))?;
            }
            op::BINFLOAT => {
                let number = f64::from_be_bytes(self.cursor.array("the pickle")?);
                self.push(Node::Float(number))?;
            }
            code @ (op::BINUNICODE | op::SHORT_BINUNICODE | op::BINUNICODE8) => {
                let length = self.length(code)?;
                let text = self.text(length)?;
                self.push(Node::Text(text))?;
            }
            code @ (op::BINBYTES
            | op::BINSTRING
            | op::SHORT_BINBYTES
            | op::SHORT_BINSTRING
            | op::BINBYTES8
            | op::BYTEARRAY8) => {
                let length = self.length(code)?;
                let bytes = self.bytes(length)?;
                self.push(Node::Bytes(bytes))?;
            }
            code => self.step_container(code, position)?,
        }
        Ok(None)
    }

    fn step_container(&mut self, code: u8, position: u64) -> Result<()> {
        match code {
            op::EMPTY_LIST | op::EMPTY_SET => self.push(Node::List(vec![]))?,
            op::EMPTY_DICT => self.push(Node::Dict(vec![]))?,
            op::EMPTY_TUPLE => self.push_tuple(vec![])?,
            op::TUPLE1..=op::TUPLE3 => {
                let count = usize::from(code - op::TUPLE1) + 1;
                let mut items = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>>>()?;
                items.reverse();
                self.push_tuple(items)?;
            }
            op::TUPLE => {
                let items = self.pop_mark()?;
                self.push_tuple(items)?;
            }
            op::LIST => {
                let items = self.pop_mark()?;
                let items = self.nodes(items)?;
                self.push(Node::List(items))?;
            }
            op::DICT => {
                let items = self.pop_mark()?;
                let pairs = self.pairs(items)?;
                self.push(Node::Dict(pairs))?;
            }
            op::APPEND => {
                let item = self.pop_node()?;
                self.extend_list(vec![item])?;
            }
            op::APPENDS | op::ADDITEMS => {
                let items = self.pop_mark()?;
                let items = self.nodes(items)?;
                self.extend_list(items)?;
            }
            op::SETITEM => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.extend_dict(vec![key, value])?;
            }
            op::SETITEMS => {
                let items = self.pop_mark()?;
                self.extend_dict(items)?;
            }
            code => self.step_object(code, position)?,
        }
        Ok(())
    }

    fn step_object(&mut self, code: u8, position: u64) -> Result<()> {
        match code {
            op::GLOBAL => {
                let (module, name) = (self.line()?, self.line()?);
                self.push_global(&module, &name, position)?;
            }
            op::STACK_GLOBAL => {
                let (name, module) = (self.pop_node()?, self.pop_node()?);
                let (Node::Text(module), Node::Text(name)) =
                    (&self.document.nodes[module], &self.document.nodes[name])
                else {
                    return Err(fault(position, "the name of a class or function is no string"));
                };
                let (module, name) = (module.clone(), name.clone());
                self.push_global(&module, &name, position)?;
            }
            op::REDUCE | op::NEWOBJ => {
                let (arguments, function) = (self.pop_node()?, self.pop()?);
                self.call(function, arguments, position)?;
            }
            op::BUILD => {
                // The state of an object, such as the `_metadata` of a state dict: the object is complete without it.
                self.pop()?;
                self.top_node()?;
            }
            op::BINPERSID => {
                let id = self.pop_node()?;
                let parts = self.parts(id).unwrap_or_else(|| vec![PickledPart::Node(id)]);
                let node = self.hooks.persistent(self.document, &parts, position)?;
                self.push_item(Item::Node(node))?;
            }
            op::BINPUT | op::LONG_BINPUT | op::MEMOIZE => {
                let number = match code {
                    op::BINPUT => self.byte()?.into(),
                    op::LONG_BINPUT => self.u32()?,
                    _ => self.memo.len() as u64,
                };
                let item = self.stack.last().filter(|item| **item != Item::Mark).cloned();
                let item =
                    item.ok_or_else(|| self.fault("the pickle remembers a value that it has not made"))?;
                self.document.budget.spend(size_of::<(u64, Item)>())?;
                try_reserve_entry(&mut self.memo)?;
                self.memo.insert(number, item);
            }
            op::BINGET | op::LONG_BINGET => {
                let number = if code == op::BINGET { self.byte()?.into() } else { self.u32()? };
                let item = self.memo.get(&number).cloned();
                let item = item
                    .ok_or_else(|| fault(position, format!("the pickle has remembered no value {number}")))?;
                self.push_item(item)?;
            }
            _ => {
                return Err(fault(
                    position,
                    format!("the pickle has the instruction {code:#04x}, which PyTorch never writes"),
                ));
            }
        }
        Ok(())
    }

    fn push_tuple(&mut self, items: Vec<Item>) -> Result<()> {
        let part = |item: &Item| match item {
            Item::Node(node) => PickledPart::Node(*node),
            Item::Global(global) => PickledPart::Global(global.clone()),
            Item::Mark => unreachable!("marks are never popped as values"),
        };
        let parts = try_collect(items.iter().map(part))?;
        let nodes =
            items.iter().filter_map(|item| if let Item::Node(node) = item { Some(*node) } else { None });
        let nodes: Vec<NodeId> = nodes.collect();
        let is_plain = nodes.len() == parts.len();
        let id = self.document.add(Node::Tuple(nodes))?;
        if !is_plain {
            self.document.budget.spend(size_of_val(&parts[..]))?;
            self.tuples.insert(id, parts);
        }
        self.push_item(Item::Node(id))
    }

    /// The items of a tuple; `None` for any other object.
    fn parts(&self, tuple: NodeId) -> Option<Vec<PickledPart>> {
        match (self.tuples.get(&tuple), &self.document.nodes[tuple]) {
            (Some(parts), _) => Some(parts.clone()),
            (None, Node::Tuple(items)) => Some(items.iter().map(|&item| PickledPart::Node(item)).collect()),
            _ => None,
        }
    }

    fn push_global(&mut self, module: &str, name: &str, position: u64) -> Result<()> {
        // A dtype is a value; a string stands for it.
        if module == "torch" && torch_names::element_type(name).is_some() {
            return self.push(Node::Text(format!("torch.{name}")));
        }
        let global = torch_names::global(module, name);
        let refused = |why| fault(position, format!("the pickle uses {module}.{name}: {why}"));
        self.push_item(Item::Global(global.map_err(refused)?))
    }

    fn pairs(&self, items: Vec<Item>) -> Result<Vec<(NodeId, NodeId)>> {
        let items = self.nodes(items)?;
        if items.len() % 2 != 0 {
            return Err(self.fault("the pickle has a key without a value"));
        }
        try_collect(items.chunks(2).map(|pair| (pair[0], pair[1])))
    }

    fn extend_list(&mut self, items: Vec<NodeId>) -> Result<()> {
        let list = self.top_node()?;
        match &mut self.document.nodes[list] {
            Node::List(list) => {
                self.document.budget.spend(size_of_val(&items[..]))?;
                try_reserve(list, items.len())?;
                list.extend(items);
            }
            _ => return Err(self.fault("the pickle appends to what is no list")),
        }
        Ok(())
    }

    fn extend_dict(&mut self, items: Vec<Item>) -> Result<()> {
        let pairs = self.pairs(items)?;
        let dict = self.top_node()?;
        match &mut self.document.nodes[dict] {
            Node::Dict(dict) => {
                self.document.budget.spend(size_of_val(&pairs[..]))?;
                try_reserve(dict, pairs.len())?;
                dict.extend(pairs);
            }
            _ => return Err(self.fault("the pickle sets items of what is no dict")),
        }
        Ok(())
    }

    /// Calls a global.
    fn call(&mut self, function: Item, arguments: NodeId, position: u64) -> Result<()> {
        let Item::Global(function) = function else {
            return Err(fault(position, "the pickle calls what is no function"));
        };
        let unfit = || fault(position, format!("the arguments of a call do not fit {function:?}"));
        match function {
            Global::RebuildFromType => {
                let parts = self.parts(arguments).ok_or_else(unfit)?;
                let [
                    PickledPart::Global(rebuild @ (Global::RebuildTensor | Global::RebuildTypedTensor)),
                    PickledPart::Global(Global::TensorClass),
                    PickledPart::Node(arguments),
                    _,
                ] = &parts[..]
                else {
                    return Err(unfit());
                };
                self.call_plain(rebuild, *arguments, position)
            }
            Global::DefaultDict => {
                match &self.parts(arguments).ok_or_else(unfit)?[..] {
                    [] | [PickledPart::Global(Global::Factory | Global::Set | Global::OrderedDict)] => {}
                    [PickledPart::Node(none)] if matches!(self.document.nodes[*none], Node::None) => {}
                    _ => return Err(unfit()),
                }
                self.push(Node::Dict(vec![]))
            }
            _ => self.call_plain(&function, arguments, position),
        }
    }

    /// Calls a global whose arguments are values.
    fn call_plain(&mut self, function: &Global, arguments: NodeId, position: u64) -> Result<()> {
        let arguments = match (&self.document.nodes[arguments], self.tuples.contains_key(&arguments)) {
            (Node::Tuple(arguments), false) => arguments.clone(),
            _ => return Err(fault(position, "the arguments of a call are no plain tuple")),
        };
        let unfit = || fault(position, format!("the arguments of a call do not fit {function:?}"));
        let copied = arguments.first().map_or(0, |&first| match &self.document.nodes[first] {
            Node::List(items) | Node::Tuple(items) => items.len(),
            Node::Dict(pairs) => pairs.len(),
            Node::Text(text) => text.len(),
            Node::Bytes(bytes) => bytes.len(),
            _ => 0,
        });
        let left = self.copies_left.checked_sub(copied);
        self.copies_left =
            left.ok_or_else(|| fault(position, "the pickle uses long arguments again and again"))?;
        let node = |index: usize| arguments.get(index).map(|&argument| &self.document.nodes[argument]);
        let made = match (function, node(0).cloned()) {
            (Global::RebuildTensor | Global::RebuildTypedTensor, _) => {
                let typed = *function == Global::RebuildTypedTensor;
                let node = self.hooks.tensor(self.document, &arguments, typed, position)?;
                return self.push_item(Item::Node(node));
            }
            (Global::RebuildParameter, Some(_)) => {
                return self.push_item(Item::Node(arguments[0]));
            }
            (Global::OrderedDict, None) => Node::Dict(vec![]),
            // A list of pairs is how Python 2 wrote an OrderedDict, a dict is how a Counter is written.
            (Global::OrderedDict, Some(Node::List(items))) => {
                let pair = |item: &NodeId| match &self.document.nodes[*item] {
                    Node::Tuple(pair) | Node::List(pair) if pair.len() == 2 => Some((pair[0], pair[1])),
                    _ => None,
                };
                Node::Dict(items.iter().map(pair).collect::<Option<_>>().ok_or_else(unfit)?)
            }
            (Global::OrderedDict, Some(Node::Dict(pairs))) => Node::Dict(pairs),
            (Global::Size, Some(Node::Tuple(items) | Node::List(items))) => Node::Tuple(items),
            (Global::Size, None) => Node::Tuple(vec![]),
            (Global::Set, Some(Node::List(items) | Node::Tuple(items))) => Node::List(items),
            (Global::Set, None) => Node::List(vec![]),
            (Global::Device, Some(Node::Text(name))) => match node(1) {
                None => Node::Text(name),
                Some(Node::Int(index)) => Node::Text(format!("{name}:{index}")),
                Some(_) => return Err(unfit()),
            },
            (Global::TensorLayout, Some(Node::Text(name))) => Node::Text(name),
            (Global::Encode, Some(Node::Text(text))) => {
                let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c as u32).ok()).collect();
                Node::Bytes(bytes.ok_or_else(unfit)?)
            }
            (Global::ByteArray, Some(Node::Bytes(bytes))) => Node::Bytes(bytes),
            (Global::ByteArray, None) => Node::Bytes(vec![]),
            (Global::Complex, Some(Node::Float(real))) => match node(1) {
                Some(Node::Float(imaginary)) => Node::Complex(real, *imaginary),
                _ => return Err(unfit()),
            },
            _ => return Err(unfit()),
        };
        self.push(made)
    }
}

/// A two's complement integer of any length, the lowest byte first.
fn long_node(bytes: &[u8]) -> Node {
    if bytes.len() > 16 {
        return Node::Huge(decimal(bytes));
    }
    let negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let number = i128::from_le_bytes(wide);
    i64::try_from(number).map_or_else(|_| Node::Huge(number.to_string()), Node::Int)
}

/// The decimal digits of a two's complement integer, of at most 255 bytes.
fn decimal(bytes: &[u8]) -> String {
    let negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
    // The magnitude: negative numbers are inverted, and one is added at the end.
    let mut carry = u32::from(negative);
    let magnitude = bytes.iter().map(|&byte| {
        carry += u32::from(if negative { !byte } else { byte });
        let low = carry & 0xff;
        carry >>= 8;
        low
    });
    let magnitude: Vec<u32> = magnitude.collect();
    // Decimal digits, the lowest first. For each byte, from the highest on, the number becomes 256 times itself plus the byte.
    let mut digits = vec![0u32];
    for byte in magnitude.iter().rev() {
        let mut carry = *byte;
        for digit in &mut digits {
            carry += *digit * 256;
            *digit = carry % 10;
            carry /= 10;
        }
        while carry > 0 {
            digits.push(carry % 10);
            carry /= 10;
        }
    }
    let text: String = digits.iter().rev().map(|&digit| char::from(b'0' + digit as u8)).collect();
    format!("{}{text}", if negative { "-" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_integers_have_their_digits() {
        let mut bytes = vec![0; 17];
        bytes[16] = 1;
        assert_eq!(decimal(&bytes), "340282366920938463463374607431768211456");
        bytes[16] = 0xff;
        assert_eq!(decimal(&bytes), "-340282366920938463463374607431768211456");
        assert!(matches!(long_node(&[0xff]), Node::Int(-1)));
        assert!(matches!(long_node(&[]), Node::Int(0)));
    }
}
