//! Writes objects of .t7 files, byte for byte as Torch7 does.

use super::super::document::{ByteOrder, Document, Node, NodeId, Place, View};
use super::super::load::Loader;
use super::super::names::{is_container, name_of};
use super::super::output::FileOutput;
use super::super::view_bytes::{each_piece, write_tensor};
use super::super::{refusal, text};
use super::{
    BOOLEAN, Encoding, FUNCTION, GENERATOR, MAX_EXACT, NIL, NUMBER, STRING, TABLE, TORCH, TorchClass,
};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::ops::copy;
use crate::tensor::Tensor;
use half::f16;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The version of every class of Torch7.
const VERSION: &str = "1";

/// Writes objects one after the other. An object that was written before is referred to by its number.
pub struct ObjectWriter {
    pub encoding: Encoding,
    /// Whether an object that occurs again is referred to; otherwise it is written again.
    pub referenced: bool,
    numbers: HashMap<Identity, i32>,
    count: i32,
}

/// What makes two occurrences the same object. The storages of tensors are known by their blobs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Identity {
    Node(NodeId),
    /// Views of several dtypes on one blob have a storage for each.
    Blob(usize, DType),
    /// An object that occurs once.
    Unique,
}

/// A stack of work.
enum WriteTask {
    Object(NodeId),
    /// A key of a list.
    Number(f64),
    /// The end of a container.
    Leave(NodeId),
}

impl ObjectWriter {
    pub fn new(encoding: Encoding, referenced: bool) -> ObjectWriter {
        ObjectWriter { encoding, referenced, numbers: HashMap::new(), count: 0 }
    }

    /// Writes the object at a node of a document. Calls with the same document share numbers.
    pub fn write_object(
        &mut self,
        document: &Document,
        root: NodeId,
        output: &mut FileOutput<'_>,
    ) -> Result<()> {
        let mut sink = Sink { encoding: self.encoding, output };
        let mut loader = Loader::new(document, true, None);
        let mut tasks = vec![WriteTask::Object(root)];
        // The containers around the present object. Without references, one inside itself would never end.
        let mut open: HashSet<NodeId> = HashSet::new();
        while let Some(task) = tasks.pop() {
            let node = match task {
                WriteTask::Object(node) => node,
                WriteTask::Number(number) => {
                    sink.number(number)?;
                    continue;
                }
                WriteTask::Leave(node) => {
                    open.remove(&node);
                    continue;
                }
            };
            if !self.referenced && is_container(&document.nodes[node]) {
                if !open.insert(node) {
                    return Err(refusal("an object contains itself, which needs references"));
                }
                tasks.push(WriteTask::Leave(node));
            }
            self.write_node(document, node, &mut sink, &mut loader, &mut tasks)?;
        }
        Ok(())
    }

    fn write_node(
        &mut self,
        document: &Document,
        node: NodeId,
        sink: &mut Sink<'_, '_>,
        loader: &mut Loader<'_>,
        tasks: &mut Vec<WriteTask>,
    ) -> Result<()> {
        let is_nil = |node: NodeId| matches!(document.nodes[node], Node::None);
        match &document.nodes[node] {
            Node::None => sink.int(NIL),
            Node::Bool(value) => {
                sink.int(BOOLEAN)?;
                sink.int(i32::from(*value))
            }
            Node::Int(number) if number.unsigned_abs() <= MAX_EXACT as u64 => sink.number(*number as f64),
            Node::Int(number) => Err(too_large(&number.to_string())),
            Node::Huge(digits) => Err(too_large(digits)),
            Node::Complex(..) => Err(refusal("Lua has no complex numbers")),
            Node::Float(number) => sink.number(*number),
            Node::Text(text) => sink.text(text.as_bytes()),
            Node::Bytes(bytes) => sink.text(bytes),
            Node::List(items) | Node::Tuple(items) => {
                if self.enter(sink, TABLE, Identity::Node(node))? {
                    // A table has no items that are nil.
                    let present = items.iter().enumerate().filter(|&(_, &item)| !is_nil(item));
                    sink.count(present.clone().count())?;
                    for (i, &item) in present.rev() {
                        tasks.extend([WriteTask::Object(item), WriteTask::Number(i as f64 + 1.0)]);
                    }
                }
                Ok(())
            }
            Node::Dict(pairs) | Node::Table(pairs) => {
                if self.enter(sink, TABLE, Identity::Node(node))? {
                    if pairs.iter().any(|&(key, _)| is_nil(key)) {
                        return Err(refusal("a key is None, and no key of a Lua table is nil"));
                    }
                    let present = pairs.iter().filter(|&&(_, item)| !is_nil(item));
                    sink.count(present.clone().count())?;
                    for &(key, item) in present.rev() {
                        tasks.extend([WriteTask::Object(item), WriteTask::Object(key)]);
                    }
                }
                Ok(())
            }
            Node::Record(record) => {
                if self.enter(sink, TORCH, Identity::Node(node))? {
                    if let Some(version) = &record.version {
                        sink.string(format!("V {version}").as_bytes())?;
                    }
                    sink.string(record.class.as_bytes())?;
                    match &document.nodes[record.fields] {
                        Node::Bytes(state) if record.class == GENERATOR => sink.raw_bytes(state)?,
                        _ => tasks.push(WriteTask::Object(record.fields)),
                    }
                }
                Ok(())
            }
            Node::Function(function) => {
                if function.kind == FUNCTION {
                    sink.int(FUNCTION)?;
                } else if !self.enter(sink, function.kind, Identity::Node(node))? {
                    return Ok(());
                }
                sink.string(&function.bytecode)?;
                tasks.push(WriteTask::Object(function.upvalues));
                Ok(())
            }
            Node::Tensor(view) => {
                if self.enter(sink, TORCH, Identity::Node(node))? {
                    self.write_tensor(document, *view, sink, loader)?;
                }
                Ok(())
            }
            Node::Storage(view) => {
                let View { blob, .. } = &document.views[*view];
                let dtype = writable(document, *view)?;
                self.write_storage(sink, Identity::Blob(*blob, dtype), dtype, &mut || loader.tensor(*view))
            }
        }
    }

    /// Writes the kind and the number of an object. Returns whether the object itself must follow.
    fn enter(&mut self, sink: &mut Sink<'_, '_>, kind: i32, identity: Identity) -> Result<bool> {
        sink.int(kind)?;
        if self.referenced
            && let Some(&number) = self.numbers.get(&identity)
        {
            sink.int(number)?;
            return Ok(false);
        }
        self.count =
            self.count.checked_add(1).ok_or_else(|| refusal("a .t7 file holds at most 2^31 objects"))?;
        if self.referenced && identity != Identity::Unique {
            self.numbers.insert(identity, self.count);
        }
        sink.int(self.count)?;
        Ok(true)
    }

    fn write_class(sink: &mut Sink<'_, '_>, dtype: DType, what: &str) -> Result<()> {
        let name = TorchClass::name_of(dtype, what).expect("`writable` has checked the dtype");
        sink.string(format!("V {VERSION}").as_bytes())?;
        sink.string(name.as_bytes())
    }

    fn write_tensor(
        &mut self,
        document: &Document,
        index: usize,
        sink: &mut Sink<'_, '_>,
        loader: &mut Loader<'_>,
    ) -> Result<()> {
        let View { blob, layout, .. } = &document.views[index];
        let dtype = writable(document, index)?;
        Self::write_class(sink, dtype, "Tensor")?;
        let place = &document.blobs[*blob].place;
        if layout.size() == 0 {
            return self.write_empty(document, index, sink, loader);
        }
        // Torch7 has no negative strides. A deferred tensor has a storage of its own.
        let copied = layout.stride().iter().any(|&stride| stride < 0);
        if copied || matches!(place, Place::Deferred(_)) {
            let tensor = loader.separate_tensor(index)?;
            Self::write_layout(sink, &layout.row_major_like())?;
            return self.write_storage(sink, Identity::Unique, dtype, &mut || Ok(tensor.clone()));
        }
        Self::write_layout(sink, layout)?;
        self.write_storage(sink, Identity::Blob(*blob, dtype), dtype, &mut || {
            let tensor = loader.tensor(index)?;
            Tensor::from_whole_storage(tensor.storage().clone(), dtype)
        })
    }

    fn write_layout(sink: &mut Sink<'_, '_>, layout: &Layout) -> Result<()> {
        // A tensor without dims has one element here and none in Torch7: it becomes a tensor of one dim.
        let (shape, stride) = match layout.rank() {
            0 => (vec![1], vec![1]),
            _ => (layout.shape().to_vec(), layout.stride().to_vec()),
        };
        sink.count(shape.len())?;
        sink.longs(&shape)?;
        sink.longs(&stride)?;
        sink.longs(&[layout.offset() + 1])
    }

    /// A tensor without elements has no dims in Torch7. It keeps its storage, if that has elements.
    fn write_empty(
        &mut self,
        document: &Document,
        index: usize,
        sink: &mut Sink<'_, '_>,
        loader: &mut Loader<'_>,
    ) -> Result<()> {
        let View { blob, layout, .. } = &document.views[index];
        sink.int(0)?;
        let has_storage = document.blobs[*blob].count > 0;
        sink.longs(&[if has_storage { layout.offset() + 1 } else { 1 }])?;
        if !has_storage {
            return sink.int(NIL);
        }
        let dtype = writable(document, index)?;
        self.write_storage(sink, Identity::Blob(*blob, dtype), dtype, &mut || {
            Tensor::from_whole_storage(loader.tensor(index)?.storage().clone(), dtype)
        })
    }

    /// Writes a storage with the elements of a tensor.
    fn write_storage(
        &mut self,
        sink: &mut Sink<'_, '_>,
        identity: Identity,
        dtype: DType,
        elements: &mut dyn FnMut() -> Result<Tensor>,
    ) -> Result<()> {
        if !self.enter(sink, TORCH, identity)? {
            return Ok(());
        }
        Self::write_class(sink, dtype, "Storage")?;
        let elements = elements()?;
        sink.longs(&[elements.size() as isize])?;
        sink.elements(&elements)
    }
}

fn too_large(digits: &str) -> Error {
    refusal(format!("{digits} does not fit a number of Lua, which is a double"))
}

/// Whether a table can have a value as an item.
pub fn is_held(node: &Node) -> bool {
    match node {
        Node::None | Node::Huge(_) | Node::Complex(..) => false,
        Node::Int(number) => number.unsigned_abs() <= MAX_EXACT as u64,
        _ => true,
    }
}

/// The dtype of elements that Torch7 has a type for.
fn writable(document: &Document, view: usize) -> Result<DType> {
    let element = &document.views[view].element;
    let dtype = element.known().filter(|&dtype| TorchClass::name_of(dtype, "").is_some());
    dtype.ok_or_else(|| {
        let (name, dtype) = (name_of(document, view), element.name());
        refusal(format!("{name} is {dtype}, which a .t7 file cannot hold; convert it (--dtype)"))
    })
}

/// The numbers and strings of a file.
struct Sink<'a, 'b> {
    encoding: Encoding,
    output: &'a mut FileOutput<'b>,
}

impl Sink<'_, '_> {
    fn int(&mut self, number: i32) -> Result<()> {
        if self.encoding.ascii {
            return self.output.write(format!("{number}\n").as_bytes());
        }
        self.output.write(&self.encoding.order.swapped(number.to_le_bytes()))
    }

    fn count(&mut self, count: usize) -> Result<()> {
        let number = i32::try_from(count);
        self.int(
            number.map_err(|_| refusal(format!("{count} items or bytes are more than a .t7 file counts")))?,
        )
    }

    fn longs(&mut self, numbers: &[isize]) -> Result<()> {
        if self.encoding.ascii {
            if numbers.is_empty() {
                return Ok(());
            }
            let words: Vec<String> = numbers.iter().map(isize::to_string).collect();
            return self.output.write(format!("{}\n", words.join(" ")).as_bytes());
        }
        numbers.iter().try_for_each(|&number| self.long(number as i64))
    }

    /// A long integer in binary.
    fn long(&mut self, number: i64) -> Result<()> {
        if self.encoding.long_size == 4 {
            let short = i32::try_from(number);
            return self.int(short.map_err(|_| refusal(format!("{number} does not fit a long of 4 bytes")))?);
        }
        self.output.write(&self.encoding.order.swapped(number.to_le_bytes()))
    }

    /// An object that is a number.
    fn number(&mut self, number: f64) -> Result<()> {
        self.int(NUMBER)?;
        self.double(number)
    }

    /// An object that is a string.
    fn text(&mut self, bytes: &[u8]) -> Result<()> {
        self.int(STRING)?;
        self.string(bytes)
    }

    fn double(&mut self, number: f64) -> Result<()> {
        if self.encoding.ascii {
            return self.output.write(format!("{}\n", text::general(number, 17)).as_bytes());
        }
        self.output.write(&self.encoding.order.swapped(number.to_le_bytes()))
    }

    fn string(&mut self, bytes: &[u8]) -> Result<()> {
        self.count(bytes.len())?;
        self.raw_bytes(bytes)
    }

    fn raw_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.output.write(bytes)?;
        if self.encoding.ascii && !bytes.is_empty() { self.output.write(b"\n") } else { Ok(()) }
    }

    /// The elements of a storage.
    fn elements(&mut self, elements: &Tensor) -> Result<()> {
        let dtype = elements.dtype();
        if self.encoding.ascii && dtype.size() > 1 {
            return self.text_elements(elements);
        }
        if dtype == DType::I64 && !self.encoding.ascii && self.encoding.long_size == 4 {
            let elements =
                if elements.layout().is_row_major() { elements.clone() } else { copy::clone(elements)? };
            return each_piece(&elements, ByteOrder::NATIVE, &mut |piece| {
                piece.chunks_exact(8).try_for_each(|bytes| {
                    self.long(i64::from_ne_bytes(bytes.try_into().expect("pieces are whole elements")))
                })
            });
        }
        write_tensor(elements, self.encoding.order, self.output)?;
        if self.encoding.ascii && elements.size() > 0 { self.output.write(b"\n") } else { Ok(()) }
    }

    fn text_elements(&mut self, elements: &Tensor) -> Result<()> {
        let mut left = elements.size();
        let mut line = String::new();
        each_piece(elements, ByteOrder::NATIVE, &mut |piece| {
            line.clear();
            for bytes in piece.chunks_exact(elements.dtype().size()) {
                left -= 1;
                push_number(&mut line, elements.dtype(), bytes);
                line.push(if left > 0 { ' ' } else { '\n' });
            }
            self.output.write(line.as_bytes())
        })
    }
}

/// Appends an element as C's `printf` writes it.
fn push_number(line: &mut String, dtype: DType, bytes: &[u8]) {
    macro_rules! element {
        ($t:ty) => {
            <$t>::from_ne_bytes(bytes.try_into().expect("a chunk is an element"))
        };
    }
    match dtype {
        DType::I16 => write!(line, "{}", element!(i16)).expect("a string takes any text"),
        DType::I32 => write!(line, "{}", element!(i32)).expect("a string takes any text"),
        DType::I64 => write!(line, "{}", element!(i64)).expect("a string takes any text"),
        DType::F16 => line.push_str(&text::general(f64::from(element!(f16)), 9)),
        DType::F32 => line.push_str(&text::general(f64::from(element!(f32)), 9)),
        _ => line.push_str(&text::general(element!(f64), 17)),
    }
}
