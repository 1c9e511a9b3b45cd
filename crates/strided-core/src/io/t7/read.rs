//! Reads objects of .t7 files.

use super::super::budget::Budget;
use super::super::document::{Document, ElementType, LuaFunction, Node, NodeId, Place, Record};
use super::super::source::{ByteSource, Cursor};
use super::super::{fault, text};
use super::{
    BOOLEAN, CLOSURE, Encoding, FUNCTION, GENERATOR, MAX_EXACT, NIL, NUMBER, OLD_CLOSURE, STRING, TABLE,
    TORCH, TorchClass, generator_bytes,
};
use crate::alloc::{try_push, try_reserve, try_reserve_entry};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;

/// Classes whose objects are not written as tables: only their own code can read them.
const PRIVATE: &[&str] = &["tds.Hash", "tds.Vec", "tds.AtomicCounter"];

/// Reads objects one after the other. An object that was read before is referred to by its number, also by later ones.
pub struct ObjectReader {
    source: Arc<dyn ByteSource>,
    encoding: Encoding,
    /// Whether a number that occurs again is the same object.
    referenced: bool,
    document: Document,
    objects: NumberedObjects,
}

/// The nodes of objects by their numbers, which most files count from 1 on.
#[derive(Default)]
struct NumberedObjects {
    /// `NodeId::MAX` stands for no object.
    dense: Vec<NodeId>,
    sparse: HashMap<i32, NodeId>,
}

impl NumberedObjects {
    /// How far a number may be beyond the last one to be entered in the list, whose memory must not outgrow the file.
    const NEAR: usize = 16;

    fn get(&self, number: i32) -> Option<NodeId> {
        let dense = self.dense.get(number as usize).copied().filter(|&node| node != NodeId::MAX);
        dense.or_else(|| if self.sparse.is_empty() { None } else { self.sparse.get(&number).copied() })
    }

    /// Enters an object under a number, which is 1 or more.
    fn insert(&mut self, number: i32, node: NodeId) -> Result<()> {
        let at = number as usize;
        if at >= self.dense.len() + NumberedObjects::NEAR {
            try_reserve_entry(&mut self.sparse)?;
            self.sparse.insert(number, node);
            return Ok(());
        }
        if at >= self.dense.len() {
            let more = at + 1 - self.dense.len();
            try_reserve(&mut self.dense, more)?;
            self.dense.resize(at + 1, NodeId::MAX);
        }
        self.dense[at] = node;
        Ok(())
    }
}

/// An object whose parts are being read.
enum Frame {
    Table { node: NodeId, left: u32, key: Option<NodeId>, pairs: Vec<(NodeId, NodeId)> },
    Fields { node: NodeId, class: String, version: Option<String> },
    Upvalues { node: NodeId, kind: i32, bytecode: Vec<u8> },
}

/// The object of a number.
enum Numbered {
    /// A back reference.
    Known(NodeId),
    /// The first occurrence: a node for the object that follows.
    New(NodeId),
}

/// An object after its beginning was read.
enum Begun {
    /// It has no parts, or was read before.
    Done(NodeId),
    /// Its parts follow.
    Inside(Frame),
}

impl ObjectReader {
    pub fn new(
        source: Arc<dyn ByteSource>,
        encoding: Encoding,
        referenced: bool,
        budget: Budget,
    ) -> ObjectReader {
        let document = Document { source: Some(source.clone()), budget, ..Default::default() };
        ObjectReader { source, encoding, referenced, document, objects: NumberedObjects::default() }
    }

    /// All that was read so far.
    pub fn document(&self) -> &Document {
        &self.document
    }

    pub fn into_document(self) -> Document {
        self.document
    }

    pub fn set_encoding(&mut self, encoding: Encoding, referenced: bool) {
        (self.encoding, self.referenced) = (encoding, referenced);
    }

    /// Reads the object at a position. Returns its node and the position after it.
    pub fn read_object(&mut self, position: u64) -> Result<(NodeId, u64)> {
        let source = self.source.clone();
        let mut input = T7Input {
            cursor: Cursor::new(&*source, position, source.length()),
            encoding: self.encoding,
            buffer: Vec::new(),
            name: Vec::new(),
        };
        let mut frames: Vec<Frame> = Vec::new();
        loop {
            let begun = self.begin(&mut input).map_err(|error| add_class(error, &frames))?;
            let mut value = match begun {
                Begun::Done(node) => node,
                Begun::Inside(frame) => {
                    try_push(&mut frames, frame)?;
                    match frames.last() {
                        Some(Frame::Table { node, left: 0, .. }) => {
                            let node = *node;
                            frames.pop();
                            self.document.nodes[node] = Node::Table(vec![]);
                            node
                        }
                        _ => continue,
                    }
                }
            };
            // The value is a part of the object on top, which may be the last part of the one below it, and so on.
            loop {
                let Some(mut frame) = frames.pop() else { return Ok((value, input.cursor.position())) };
                match self.attach_child(&mut frame, value).map_err(|error| add_class(error, &frames))? {
                    Some(done) => value = done,
                    None => {
                        frames.push(frame);
                        break;
                    }
                }
            }
        }
    }

    /// Refuses a file in which something follows the object.
    pub fn expect_end(&self, position: u64) -> Result<()> {
        let mut cursor = Cursor::new(&*self.source, position, self.source.length());
        while self.encoding.ascii && cursor.next_byte()?.is_some_and(|byte| byte.is_ascii_whitespace()) {
            cursor.take_byte();
        }
        match cursor.left() {
            0 => Ok(()),
            left => Err(cursor.fault(format!("{left} bytes follow the object"))),
        }
    }

    /// Reads an object, or the beginning of one that has parts.
    fn begin(&mut self, input: &mut T7Input<'_>) -> Result<Begun> {
        let position = input.cursor.position();
        let kind = input.int("the kind of an object")?;
        let node = match kind {
            NIL => Node::None,
            NUMBER => number_node(input.double()?),
            BOOLEAN => Node::Bool(input.int("a boolean")? == 1),
            STRING => match String::from_utf8(input.string("a string")?) {
                Ok(text) => Node::Text(text),
                Err(error) => Node::Bytes(error.into_bytes()),
            },
            FUNCTION => {
                let (node, bytecode) = (self.document.add(Node::None)?, input.string("a function")?);
                return Ok(Begun::Inside(Frame::Upvalues { node, kind, bytecode }));
            }
            TABLE | TORCH | OLD_CLOSURE | CLOSURE => return self.begin_identified(input, kind, position),
            _ => return Err(fault(position, format!("{kind} is no kind of object"))),
        };
        Ok(Begun::Done(self.document.add(node)?))
    }

    /// An object with a number, by which it is referred to when it occurs again.
    fn begin_identified(&mut self, input: &mut T7Input<'_>, kind: i32, position: u64) -> Result<Begun> {
        let node = match self.numbered(input, position)? {
            Numbered::Known(node) => return Ok(Begun::Done(node)),
            Numbered::New(node) => node,
        };
        match kind {
            TABLE => {
                let position = input.cursor.position();
                let count = input.int("the size of a table")?;
                let left = u32::try_from(count)
                    .map_err(|_| fault(position, format!("a table has the size {count}")))?;
                // Every key and value takes two bytes or more; memory grows with what is read, not with this number.
                if u64::from(left) * 4 > input.cursor.left() {
                    return Err(fault(position, format!("a table of {left} items does not fit the file")));
                }
                Ok(Begun::Inside(Frame::Table { node, left, key: None, pairs: vec![] }))
            }
            TORCH => self.begin_torch(input, node),
            _ => {
                let bytecode = input.string("a function")?;
                Ok(Begun::Inside(Frame::Upvalues { node, kind, bytecode }))
            }
        }
    }

    /// Reads the number of an object.
    fn numbered(&mut self, input: &mut T7Input<'_>, position: u64) -> Result<Numbered> {
        let number = input.int("the number of an object")?;
        if number < 1 {
            return Err(fault(position, format!("an object has the number {number}, wanted 1 or more")));
        }
        if self.referenced
            && let Some(node) = self.objects.get(number)
        {
            return Ok(Numbered::Known(node));
        }
        let node = self.document.add(Node::None)?;
        self.objects.insert(number, node)?;
        Ok(Numbered::New(node))
    }

    fn begin_torch(&mut self, input: &mut T7Input<'_>, node: NodeId) -> Result<Begun> {
        let position = input.cursor.position();
        let version = input.class()?;
        match TorchClass::from_name(input.class_name()) {
            Some(TorchClass::Tensor(dtype)) => self.read_tensor(input, node, dtype)?,
            Some(TorchClass::Storage(dtype)) => self.read_storage(input, node, dtype)?,
            None => return self.begin_record(input, node, version, position),
        }
        Ok(Begun::Done(node))
    }

    /// An object of a class that is not known here.
    fn begin_record(
        &mut self,
        input: &mut T7Input<'_>,
        node: NodeId,
        version: Option<String>,
        position: u64,
    ) -> Result<Begun> {
        let class = input.class_name().to_string();
        if class == GENERATOR {
            let state = input.raw_bytes(generator_bytes(input.encoding.long_size), "a generator")?;
            let fields = self.document.add(Node::Bytes(state))?;
            self.document.nodes[node] = Node::Record(Box::new(Record { class, version, fields }));
            return Ok(Begun::Done(node));
        }
        let next = input.peek_int();
        if PRIVATE.contains(&class.as_str()) || next != Some(TABLE) {
            let reason = format!("objects of the class {class} are written in a format of their own");
            return Err(fault(position, reason));
        }
        Ok(Begun::Inside(Frame::Fields { node, class, version }))
    }

    fn read_tensor(&mut self, input: &mut T7Input<'_>, node: NodeId, dtype: DType) -> Result<()> {
        let position = input.cursor.position();
        let rank = input.int("the number of dims of a tensor")?;
        let fits = u64::try_from(rank).is_ok_and(|rank| rank * 4 <= input.cursor.left());
        if !fits {
            return Err(fault(position, format!("a tensor has {rank} dims")));
        }
        let mut dims = |what| {
            let dims = input.longs(rank as usize, what)?.into_iter().map(isize::try_from);
            dims.collect::<std::result::Result<SmallVec<[isize; 8]>, _>>()
                .map_err(|_| fault(position, format!("{what} are too large")))
        };
        let (shape, stride) = (dims("the sizes of a tensor")?, dims("the strides of a tensor")?);
        let offset = input.longs(1, "the offset of a tensor")?[0];
        let storage = self.storage_of_tensor(input, dtype, position)?;
        let view = self.make_tensor(dtype, (&shape, &stride), offset, storage, position)?;
        self.document.nodes[node] = Node::Tensor(view);
        Ok(())
    }

    /// The storage that follows a tensor, or `None` for nil. Anything else is refused, so that no recursion is needed.
    fn storage_of_tensor(
        &mut self,
        input: &mut T7Input<'_>,
        dtype: DType,
        position: u64,
    ) -> Result<Option<NodeId>> {
        let start = input.cursor.position();
        match input.int("the kind of an object")? {
            NIL => Ok(None),
            TORCH => match self.numbered(input, start)? {
                Numbered::Known(node) => Ok(Some(node)),
                Numbered::New(node) => {
                    input.class()?;
                    let class = TorchClass::from_name(input.class_name());
                    if class != Some(TorchClass::Storage(dtype)) {
                        return Err(wrong_storage(dtype, position));
                    }
                    self.read_storage(input, node, dtype)?;
                    Ok(Some(node))
                }
            },
            _ => Err(wrong_storage(dtype, position)),
        }
    }

    fn read_storage(&mut self, input: &mut T7Input<'_>, node: NodeId, dtype: DType) -> Result<()> {
        let position = input.cursor.position();
        let size = input.longs(1, "the size of a storage")?[0];
        let count =
            u64::try_from(size).map_err(|_| fault(position, format!("a storage has the size {size}")))?;
        let start = input.cursor.position();
        let Encoding { ascii, long_size, order } = input.encoding;
        let place = if ascii && dtype.size() > 1 {
            input.skip_numbers(count)?;
            Place::Text { position: start, end: input.cursor.position() }
        } else if dtype == DType::I64 && long_size == 4 {
            input.skip_elements(count, 4)?;
            Place::Narrow { position: start, order }
        } else {
            input.skip_elements(count, dtype.size() as u64)?;
            Place::Plain { position: start, order }
        };
        let blob = self.document.add_blob(ElementType::Known(dtype), count, place)?;
        self.document.nodes[node] =
            Node::Storage(self.document.add_whole_view(blob, ElementType::Known(dtype), start)?);
        Ok(())
    }

    /// Gives an object its next part. Returns its node if that was the last one.
    fn attach_child(&mut self, frame: &mut Frame, value: NodeId) -> Result<Option<NodeId>> {
        let (node, made) = match frame {
            Frame::Table { node, left, key, pairs } => {
                match key.take() {
                    None => *key = Some(value),
                    Some(key) => {
                        self.document.budget.spend(size_of::<(NodeId, NodeId)>())?;
                        try_push(pairs, (key, value))?;
                        *left -= 1;
                    }
                }
                if *left > 0 {
                    return Ok(None);
                }
                (*node, Node::Table(std::mem::take(pairs)))
            }
            Frame::Fields { node, class, version } => {
                let (class, version) = (std::mem::take(class), version.take());
                (*node, Node::Record(Box::new(Record { class, version, fields: value })))
            }
            Frame::Upvalues { node, kind, bytecode } => {
                let bytecode = std::mem::take(bytecode);
                (*node, Node::Function(Box::new(LuaFunction { kind: *kind, bytecode, upvalues: value })))
            }
        };
        self.document.nodes[node] = made;
        Ok(Some(node))
    }

    fn make_tensor(
        &mut self,
        dtype: DType,
        (shape, stride): (&[isize], &[isize]),
        offset: i64,
        storage: Option<NodeId>,
        position: u64,
    ) -> Result<usize> {
        let blob = match storage.map(|node| &self.document.nodes[node]) {
            Some(&Node::Storage(view)) if self.document.views[view].element == ElementType::Known(dtype) => {
                self.document.views[view].blob
            }
            // A tensor without elements may have no storage.
            None => self.document.add_blob(
                ElementType::Known(dtype),
                0,
                Place::Plain { position, order: self.encoding.order },
            )?,
            Some(_) => return Err(wrong_storage(dtype, position)),
        };
        let offset = offset.checked_sub(1).and_then(|offset| isize::try_from(offset).ok());
        let layout = match offset {
            // In Torch7 a tensor without dims is empty.
            Some(offset @ 0..) if shape.is_empty() => Layout::strided(&[0], &[1], offset),
            Some(offset @ 0..) => Layout::strided(shape, stride, offset),
            _ => return Err(fault(position, "a tensor has an offset below 1")),
        };
        let layout = layout.map_err(|error| fault(position, error.to_string()))?;
        self.document.add_view(blob, ElementType::Known(dtype), layout, position)
    }
}

#[cold]
fn wrong_storage(dtype: DType, position: u64) -> Error {
    fault(position, format!("a tensor of {} has another object as its storage", dtype.name()))
}

fn number_node(number: f64) -> Node {
    let is_integer = number.trunc() == number
        && number.abs() <= MAX_EXACT as f64
        && !(number == 0.0 && number.is_sign_negative());
    if is_integer { Node::Int(number as i64) } else { Node::Float(number) }
}

/// Adds the class of the object around an error to it.
fn add_class(error: Error, frames: &[Frame]) -> Error {
    let class = frames.iter().rev().find_map(|frame| match frame {
        Frame::Fields { class, .. } => Some(class),
        _ => None,
    });
    match (class, *error.problem) {
        (Some(class), Problem::Format { offset: Some(offset), reason, .. }) => {
            fault(offset, format!("in an object of the class {class}: {reason}"))
        }
        (_, problem) => Error::new(problem),
    }
}

/// The numbers and strings of a file.
struct T7Input<'a> {
    cursor: Cursor<'a>,
    encoding: Encoding,
    buffer: Vec<u8>,
    /// The last name of a class.
    name: Vec<u8>,
}

impl T7Input<'_> {
    /// The bytes of a number of a binary file.
    fn little_endian<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        Ok(self.encoding.order.swapped(self.cursor.array(what)?))
    }

    fn int(&mut self, what: &str) -> Result<i32> {
        if self.encoding.ascii {
            let number = text::number(&mut self.cursor, &mut self.buffer, what)?;
            self.skip_newline()?;
            return Ok(number);
        }
        Ok(i32::from_le_bytes(self.little_endian(what)?))
    }

    /// The next integer, which is not taken.
    fn peek_int(&mut self) -> Option<i32> {
        let position = self.cursor.position();
        let number = self.int("an object").ok();
        self.cursor.seek(position);
        number
    }

    fn longs(&mut self, count: usize, what: &str) -> Result<SmallVec<[i64; 8]>> {
        let Encoding { ascii, long_size, .. } = self.encoding;
        let mut longs = SmallVec::with_capacity(count);
        for _ in 0..count {
            longs.push(if ascii {
                text::number(&mut self.cursor, &mut self.buffer, what)?
            } else if long_size == 4 {
                i64::from(self.int(what)?)
            } else {
                i64::from_le_bytes(self.little_endian(what)?)
            });
        }
        if ascii && count > 0 {
            self.skip_newline()?;
        }
        Ok(longs)
    }

    fn double(&mut self) -> Result<f64> {
        if self.encoding.ascii {
            let number = text::number(&mut self.cursor, &mut self.buffer, "a number")?;
            self.skip_newline()?;
            return Ok(number);
        }
        Ok(f64::from_le_bytes(self.little_endian("a number")?))
    }

    fn string(&mut self, what: &str) -> Result<Vec<u8>> {
        let length = self.length(what)?;
        self.raw_bytes(length, what)
    }

    fn length(&mut self, what: &str) -> Result<u64> {
        let position = self.cursor.position();
        let length = self.int(what)?;
        u64::try_from(length).map_err(|_| fault(position, format!("{what} has the length {length}")))
    }

    fn raw_bytes(&mut self, length: u64, what: &str) -> Result<Vec<u8>> {
        let bytes = self.cursor.bytes(length, what)?;
        if self.encoding.ascii && length > 0 {
            self.skip_newline()?;
        }
        Ok(bytes)
    }

    /// Reads the name of a class, and the version before it, which old files lack: what follows `V `.
    fn class(&mut self) -> Result<Option<String>> {
        self.read_name("the version of a class")?;
        let name = self.class_name();
        let version = name.strip_prefix("V ").filter(|number| number.trim().parse::<f64>().is_ok());
        let Some(version) = version.map(str::to_string) else { return Ok(None) };
        self.read_name("the name of a class")?;
        Ok(Some(version))
    }

    fn class_name(&self) -> &str {
        std::str::from_utf8(&self.name).expect("`read_name` has checked it")
    }

    fn read_name(&mut self, what: &str) -> Result<()> {
        let position = self.cursor.position();
        let length = self.length(what)?;
        self.cursor.read_into(&mut self.name, length, what)?;
        if self.encoding.ascii && length > 0 {
            self.skip_newline()?;
        }
        if std::str::from_utf8(&self.name).is_err() {
            self.name.clear();
            return Err(fault(position, format!("{what} is no text")));
        }
        Ok(())
    }

    /// In text, a newline follows what one call of Torch7 wrote.
    fn skip_newline(&mut self) -> Result<()> {
        if self.cursor.next_byte()? == Some(b'\n') {
            self.cursor.take_byte();
        }
        Ok(())
    }

    fn skip_elements(&mut self, count: u64, size: u64) -> Result<()> {
        self.cursor.skip(count.saturating_mul(size), "a storage")?;
        if self.encoding.ascii && count > 0 {
            self.skip_newline()?;
        }
        Ok(())
    }

    fn skip_numbers(&mut self, count: u64) -> Result<()> {
        for _ in 0..count {
            text::word(&mut self.cursor, &mut self.buffer, "an element")?;
        }
        if count > 0 {
            self.skip_newline()?;
        }
        Ok(())
    }
}
