//! Nested Python sequences as tensors, and tensors as nested lists. There is no recursion, so that depth costs memory and no
//! stack.

use super::arrays::{self, Misfit};
use super::exchange::Exported;
use super::numbers::{number, python_number};
use super::transfer::on_host;
use crate::abi::errors::{CallResult, Fail, type_name};
use crate::abi::lists;
use crate::abi::refs::arg;
use crate::abi::storage_object::read_storage;
use crate::abi::tensor_object::cloned_tensor;
use crate::abi::{Arg, Value};
use pyo3::exceptions::PyRecursionError;
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::c_long;
use strided_core::backend::host_reads;
use strided_core::backend::items::{self as item, SmallElements};
use strided_core::dtype::{Category, default_float, element, promote};
use strided_core::layout::{Dims, Mode, shape_text};
use strided_core::ops::{copy, elementwise::with_scalar};
use strided_core::storage::Fill;
use strided_core::{DType, Device, Layout, Scalar, Tensor, switch};

/// A tensor from nested sequences of numbers; if no dtype is given, the numbers decide.
pub fn from_nested(object: Arg<'_>, dtype: Option<DType>) -> CallResult<Tensor> {
    let needs_dtype = dtype.is_none();
    let mut found =
        NestedShape { shape: Dims::new(), number_depth: None, needs_dtype, weak: None, strong: None };
    visit(object, |event| found.add(event))?;
    let dtype = dtype.unwrap_or_else(|| found.dtype());
    let out = Tensor::new_on(Device::Cpu, &found.shape, dtype, Fill::Uninitialized)?;
    // No other code knows the tensor yet, so its pin may be held while Python code runs.
    let mut writer = item::Writer::new(&out)?;
    visit(object, |event| write(&out, &mut writer, event))?;
    if writer.left() > 0 {
        return Err(changed());
    }
    drop(writer);
    Ok(out)
}

/// A step of a walk over nested sequences.
enum Visit<'a> {
    /// A sequence of `length` items begins.
    Open {
        depth: usize,
        length: usize,
    },
    Number {
        depth: usize,
        value: Scalar,
    },
    /// A list or tuple of Python numbers only.
    Numbers {
        depth: usize,
        items: &'a NumberList<'a>,
    },
    /// A tensor, storage or array inside the sequences.
    Array {
        depth: usize,
        tensor: &'a Tensor,
    },
}

/// Walks nested sequences in order.
fn visit(root: Arg<'_>, mut event: impl FnMut(Visit) -> CallResult<()>) -> CallResult<()> {
    let py = root.py();
    let mut open: Vec<OpenSequence> = Vec::new();
    let mut limit = usize::MAX;
    let mut item = root.to_owned(); // owned, since the sequence that holds it may change
    loop {
        let (depth, object) = (open.len(), item.as_borrowed());
        if let Some(value) = python_number(object)? {
            event(Visit::Number { depth, value })?;
        } else if let Some(tensor) = cloned_tensor(object) {
            event(Visit::Array { depth, tensor: &tensor })?;
        } else if let Some(storage) = read_storage(object) {
            event(Visit::Array { depth, tensor: &storage.to_tensor()? })?;
        } else if let Some(items) = NumberList::of(object) {
            event(Visit::Numbers { depth, items: &items })?;
        } else if let Some(sequence) = OpenSequence::of(&item)? {
            if depth == UNCHECKED_DEPTH {
                limit = recursion_limit(py)?;
            }
            if depth > limit {
                return Err(PyRecursionError::new_err(
                    "tensor: sequences are nested deeper than the recursion limit",
                )
                .into());
            }
            event(Visit::Open { depth, length: sequence.length as usize })?;
            open.push(sequence);
        } else if let Some(tensor) = arrays::read(object, Misfit::Copy)? {
            event(Visit::Array { depth, tensor: &tensor })?;
        } else {
            match converted_number(object)? {
                Some(value) => event(Visit::Number { depth, value })?,
                None => return Err(Fail::Type(format!("a tensor cannot hold {}", type_name(object)))),
            }
        }
        item = loop {
            let Some(sequence) = open.last_mut() else { return Ok(()) };
            match sequence.next(py)? {
                Some(next) => break next,
                None => drop(open.pop()),
            }
        };
    }
}

/// Nesting up to this depth is not compared with the recursion limit, whose lookup would cost small tensors too much.
const UNCHECKED_DEPTH: usize = 64;

fn recursion_limit(py: Python<'_>) -> CallResult<usize> {
    Ok(py.import("sys")?.call_method0("getrecursionlimit")?.extract()?)
}

/// The number of an object that converts itself to int or float, such as a Fraction or a Decimal.
fn converted_number(object: Arg<'_>) -> CallResult<Option<Scalar>> {
    if object.hasattr("__index__")? {
        return python_number(object.call_method0("__index__")?.as_borrowed());
    }
    if object.hasattr("__float__")? {
        return Ok(Some(Scalar::Float(object.call_method0("__float__")?.extract()?)));
    }
    Ok(None)
}

/// A list or tuple whose items are all exactly bools, ints, floats or complex numbers: reading it runs no Python code.
struct NumberList<'a> {
    object: Arg<'a>,
    is_list: bool,
    length: isize,
}

impl<'a> NumberList<'a> {
    #[inline]
    fn of(object: Arg<'a>) -> Option<NumberList<'a>> {
        let pointer = object.as_ptr();
        // SAFETY: an `Arg` is a live object, whose type is checked before it is used as a list or tuple.
        unsafe {
            let class = ffi::Py_TYPE(pointer);
            let is_list = class == &raw mut ffi::PyList_Type;
            if !is_list && class != &raw mut ffi::PyTuple_Type {
                return None;
            }
            let length = if is_list { ffi::PyList_Size(pointer) } else { ffi::PyTuple_Size(pointer) };
            let list = NumberList { object, is_list, length };
            let is_number = |item: Arg<'_>| {
                let class = ffi::Py_TYPE(item.as_ptr());
                class == &raw mut ffi::PyFloat_Type
                    || class == &raw mut ffi::PyLong_Type
                    || class == &raw mut ffi::PyBool_Type
                    || class == &raw mut ffi::PyComplex_Type
            };
            (length > 0 && (0..length).all(|at| is_number(list.item(at)))).then_some(list)
        }
    }

    #[inline]
    fn item(&self, at: isize) -> Arg<'_> {
        let pointer = self.object.as_ptr();
        // SAFETY: no Python code runs between `of`, which measured the length, and the last use of an item, so that the
        // list does not change meanwhile and keeps its items alive.
        unsafe {
            let item = if self.is_list {
                ffi::PyList_GetItem(pointer, at)
            } else {
                ffi::PyTuple_GetItem(pointer, at)
            };
            arg(self.object.py(), item)
        }
    }

    /// The dtype of the numbers, promoted with another: only their types matter.
    fn dtype(&self, mut dtype: DType) -> DType {
        let mut last = std::ptr::null_mut();
        for at in 0..self.length {
            // SAFETY: an item is a live object.
            let class = unsafe { ffi::Py_TYPE(self.item(at).as_ptr()) };
            if class == last {
                continue;
            }
            last = class;
            let number = if class == &raw mut ffi::PyFloat_Type {
                Scalar::Float(0.0)
            } else if class == &raw mut ffi::PyLong_Type {
                Scalar::Int(0)
            } else if class == &raw mut ffi::PyBool_Type {
                Scalar::Bool(false)
            } else {
                Scalar::Complex(Default::default())
            };
            dtype = with_scalar(dtype, number);
        }
        dtype
    }

    fn write(&self, writer: &mut item::Writer) -> CallResult<()> {
        for at in 0..self.length {
            let item = self.item(at);
            // SAFETY: an item is a live object, which is checked to be a float before it is read as one.
            unsafe {
                if ffi::Py_TYPE(item.as_ptr()) == &raw mut ffi::PyFloat_Type {
                    writer.push_float(ffi::PyFloat_AsDouble(item.as_ptr()))?;
                    continue;
                }
            }
            if let Some(value) = python_number(item)? {
                writer.push(value)?;
            }
        }
        Ok(())
    }
}

/// A sequence that is being walked.
struct OpenSequence<'py> {
    sequence: Value<'py>,
    is_list: bool,
    is_tuple: bool,
    length: isize,
    /// The index of the next item.
    at: isize,
}

impl<'py> OpenSequence<'py> {
    /// Opens lists, tuples and other sequences, but no text and no array.
    fn of(object: &Value<'py>) -> CallResult<Option<OpenSequence<'py>>> {
        let pointer = object.as_ptr();
        // SAFETY: a `Value` is a live object.
        unsafe {
            let (is_list, is_tuple) = (ffi::PyList_Check(pointer) != 0, ffi::PyTuple_Check(pointer) != 0);
            if !is_list && !is_tuple {
                let is_text = ffi::PyUnicode_Check(pointer) != 0;
                if is_text
                    || ffi::PySequence_Check(pointer) == 0
                    || ffi::PyDict_Check(pointer) != 0
                    || arrays::is_array(object.as_borrowed())?
                {
                    return Ok(None);
                }
            }
            let length = ffi::PySequence_Size(pointer);
            if length < 0 {
                return Err(Fail::raised(object.py()));
            }
            Ok(Some(OpenSequence { sequence: object.clone(), is_list, is_tuple, length, at: 0 }))
        }
    }

    fn next(&mut self, py: Python<'py>) -> CallResult<Option<Value<'py>>> {
        if self.at == self.length {
            return Ok(None);
        }
        let (object, at) = (self.sequence.as_ptr(), self.at);
        self.at += 1;
        // SAFETY: `self` owns the sequence; each call checks the index against the present length. Items of lists and
        // tuples are borrowed, and turned into new references at once.
        unsafe {
            let item = if self.is_list {
                Bound::from_borrowed_ptr_or_opt(py, ffi::PyList_GetItem(object, at))
            } else if self.is_tuple {
                Bound::from_borrowed_ptr_or_opt(py, ffi::PyTuple_GetItem(object, at))
            } else {
                Bound::from_owned_ptr_or_opt(py, ffi::PySequence_GetItem(object, at))
            };
            item.map(Some).ok_or_else(|| {
                if ffi::PyErr_ExceptionMatches(ffi::PyExc_IndexError) == 0 {
                    return Fail::raised(py);
                }
                ffi::PyErr_Clear();
                changed()
            })
        }
    }
}

/// The shape of nested sequences, and the dtype of their numbers.
struct NestedShape {
    shape: Dims,
    /// The depth of the numbers, once one was visited.
    number_depth: Option<usize>,
    /// Whether the numbers decide the dtype.
    needs_dtype: bool,
    /// The dtype of the Python numbers.
    weak: Option<DType>,
    /// The promoted dtype of the tensors and arrays.
    strong: Option<DType>,
}

impl NestedShape {
    fn add(&mut self, event: Visit) -> CallResult<()> {
        match event {
            Visit::Open { depth, length } => {
                if self.number_depth.is_some_and(|numbers| depth >= numbers) {
                    return Err(self.ragged(depth, format!("a sequence of {length}"), "a number"));
                }
                self.add_extent(depth, length as isize)
            }
            Visit::Numbers { depth, items } => {
                self.add(Visit::Open { depth, length: items.length as usize })?;
                self.add_number(depth + 1)?;
                if self.needs_dtype {
                    self.weak = Some(items.dtype(self.weak.unwrap_or(DType::Bool)));
                }
                Ok(())
            }
            Visit::Number { depth, value } => {
                self.add_number(depth)?;
                self.weak = Some(with_scalar(self.weak.unwrap_or(DType::Bool), value));
                Ok(())
            }
            Visit::Array { depth, tensor } => {
                for (dim, mode) in tensor.layout().modes().iter().enumerate() {
                    self.add_extent(depth + dim, mode.extent)?;
                }
                self.add_number(depth + tensor.layout().rank())?;
                let strong =
                    self.strong.map_or(Ok(tensor.dtype()), |dtype| promote(dtype, tensor.dtype()))?;
                self.strong = Some(strong);
                Ok(())
            }
        }
    }

    /// Adds the extent of the dim at some depth, or compares it with the one that is known.
    fn add_extent(&mut self, depth: usize, length: isize) -> CallResult<()> {
        if depth == self.shape.len() && self.number_depth.is_none() {
            self.shape.push(length);
            return Ok(());
        }
        match self.shape.get(depth) {
            Some(&extent) if extent == length => Ok(()),
            Some(&extent) => {
                Err(self.ragged(depth, format!("a sequence of {length}"), &format!("one of {extent}")))
            }
            None => Err(self.ragged(depth, format!("a sequence of {length}"), "a number")),
        }
    }

    fn add_number(&mut self, depth: usize) -> CallResult<()> {
        match self.number_depth {
            None if depth == self.shape.len() => {
                self.number_depth = Some(depth);
                Ok(())
            }
            Some(numbers) if numbers == depth => Ok(()),
            _ => Err(self.ragged(depth, "a number".into(), "a sequence")),
        }
    }

    fn ragged(&self, depth: usize, got: String, wanted: &str) -> Fail {
        Fail::Value(format!(
            "ragged nesting: {got} at depth {depth}, wanted {wanted} (shape so far {})",
            shape_text(&self.shape)
        ))
    }

    fn dtype(&self) -> DType {
        match (self.strong, self.weak) {
            (None, None) => default_float(),
            (None, Some(weak)) => weak,
            (Some(strong), None) => strong,
            // Python's numbers are weak: they raise the category of arrays, not their width.
            (Some(strong), Some(weak)) if weak.category() <= strong.category() => strong,
            (Some(strong), Some(weak)) => match weak.category() {
                Category::Complex if strong == DType::F64 => DType::C128,
                _ => weak,
            },
        }
    }
}

/// Writes the numbers of the second walk, in order.
fn write(out: &Tensor, writer: &mut item::Writer, event: Visit) -> CallResult<()> {
    let count = match &event {
        Visit::Open { .. } => 0,
        Visit::Number { .. } => 1,
        Visit::Numbers { items, .. } => items.length as usize,
        Visit::Array { tensor, .. } => tensor.size(),
    };
    if count > writer.left() {
        return Err(changed());
    }
    match event {
        Visit::Open { .. } => Ok(()),
        Visit::Number { value, .. } => Ok(writer.push(value)?),
        Visit::Numbers { items, .. } => items.write(writer),
        Visit::Array { tensor, .. } => {
            let (start, shape) = (writer.position() as isize, tensor.layout().shape());
            writer.skip(count);
            let part = Layout::strided(&[count as isize], &[1], start)?.view(&shape)?;
            Ok(copy::copy(&out.with_layout(part), tensor)?)
        }
    }
}

/// The sequence changed between the two walks.
fn changed() -> Fail {
    Fail::Value("the sequence changed while it was read".into())
}

/// Nested lists of a tensor's numbers; a number for a tensor without dims.
///
/// Making objects may start a garbage collection, and so run any code, which may resize the storage. If that were pinned,
/// such a resize would wait for itself. So the elements of a small tensor are copied under a pin that is dropped before
/// the first object is made. The storage of any other tensor is exported: a resize by such code is refused.
pub fn to_nested<'py>(py: Python<'py>, x: &Tensor) -> CallResult<Value<'py>> {
    let (exported, x) = (&mut None, &on_host(py, x)?);
    let dtype = x.dtype();
    let modes: SmallVec<[Mode; 4]> = x.layout().modes().iter().copied().collect();
    let mut copied = SmallElements::UNINIT;
    let first = match host_reads::small_elements(&mut copied, x)? {
        Some(first) => first,
        None => exported.insert(Exported::new(x.clone())?).origin,
    };
    if modes.len() > UNCHECKED_DEPTH && modes.len() > recursion_limit(py)? {
        return Err(PyRecursionError::new_err("tolist: more dims than the recursion limit").into());
    }
    // SAFETY: `first` is in `copied`, which has the elements in the order of the modes, or in exported memory, which stays
    // in place and against which the layout was checked. Both live until this function returns.
    unsafe { lists(py, first, &modes, dtype) }
}

/// Nested lists of the elements from `first` on; a number if there are no modes.
///
/// # Safety
/// `first` is the address of the element whose indices are all zero. All elements of the modes are readable, and stay so
/// whatever Python code runs.
unsafe fn lists<'py>(
    py: Python<'py>,
    mut first: *const u8,
    modes: &[Mode],
    dtype: DType,
) -> CallResult<Value<'py>> {
    let Some((row, outer)) = modes.split_last() else {
        // SAFETY: the contract above.
        return number(py, unsafe { item::load(first, dtype) });
    };
    let step = |mode: &Mode| mode.stride * dtype.size() as isize;
    // SAFETY: the contract above: from the first element of a row on, there are `extent` elements of the dtype.
    let row_list = |first| unsafe { row_list(py, first, dtype, row.extent, step(row)) };
    let Some((rows, outer)) = outer.split_last() else { return row_list(first) };
    // Lists that are being filled, outermost first, with the index that each has reached and the address of its next item.
    let mut open: SmallVec<[(Value<'py>, isize, *const u8); 2]> = SmallVec::new();
    loop {
        let mut item = match outer.get(open.len()) {
            Some(mode) if mode.extent > 0 => {
                open.push((new_list(py, mode.extent)?, 0, first));
                continue;
            }
            Some(_) => new_list(py, 0)?,
            // The two innermost modes are a matrix, for which the general case would take half as long again.
            None => {
                let list = new_list(py, rows.extent)?;
                for i in 0..rows.extent {
                    set_item(&list, i, row_list(first)?);
                    first = first.wrapping_offset(step(rows));
                }
                list
            }
        };
        loop {
            let depth = open.len();
            let Some((list, index, next)) = open.last_mut() else { return Ok(item) };
            set_item(list, *index, item);
            *index += 1;
            if *index < outer[depth - 1].extent {
                *next = next.wrapping_offset(step(&outer[depth - 1]));
                first = *next;
                break;
            }
            item = open.pop().expect("the list that is full").0;
        }
    }
}

/// Sets an item of a list that no other code has seen.
#[inline(always)]
fn set_item(list: &Value<'_>, at: isize, item: Value<'_>) {
    // SAFETY: a live list; the call checks the index, and takes over the reference to the item.
    unsafe { ffi::PyList_SetItem(list.as_ptr(), at, item.into_ptr()) };
}

/// The list of the elements of a row.
///
/// # Safety
/// `first + i * step` is a readable element of the dtype for each `i < extent`, whatever Python code runs.
#[inline]
unsafe fn row_list<'py>(
    py: Python<'py>,
    first: *const u8,
    dtype: DType,
    extent: isize,
    step: isize,
) -> CallResult<Value<'py>> {
    let list = new_list(py, extent)?;
    // SAFETY: a list. Numbers are made without running Python code, so that its length does not change.
    let items = unsafe { lists::items(&list) };
    // One loop for each dtype: `$make` returns a new reference, or null with an exception set.
    macro_rules! row {
        ($element:ty, $v:ident => $make:expr) => {{
            let mut at = first;
            for i in 0..extent {
                // SAFETY: the contract of `row_list`. The list takes over the reference to the item; it has `extent` items,
                // which are null until they are set.
                unsafe {
                    let $v = at.cast::<$element>().read();
                    let item = $make;
                    if item.is_null() {
                        return Err(Fail::raised(py));
                    }
                    match items {
                        Some(items) => items.offset(i).write(item),
                        None => _ = ffi::PyList_SetItem(list.as_ptr(), i, item),
                    }
                }
                at = at.wrapping_offset(step);
            }
        }};
    }
    switch!(@ dtype,
        T => row!(T, v => make_int(v as i64)),
        else => match dtype {
            DType::Bool => row!(element::Bool, v => ffi::PyBool_FromLong(v.get() as _)),
            DType::U64 => row!(u64, v => ffi::PyLong_FromUnsignedLongLong(v)),
            DType::F16 => row!(element::F16, v => ffi::PyFloat_FromDouble(v.to_f64())),
            DType::BF16 => row!(element::BF16, v => ffi::PyFloat_FromDouble(v.to_f64())),
            DType::F32 => row!(f32, v => ffi::PyFloat_FromDouble(v as f64)),
            DType::F64 => row!(f64, v => ffi::PyFloat_FromDouble(v)),
            DType::C64 => row!(element::C64, v => ffi::PyComplex_FromDoubles(v.re as f64, v.im as f64)),
            _ => row!(element::C128, v => ffi::PyComplex_FromDoubles(v.re, v.im)),
        };
        U8 U16 U32 I8 I16 I32 I64);
    Ok(list)
}

/// An int as a new reference, or null with an exception set.
///
/// # Safety
/// The thread is attached to the interpreter.
#[inline(always)]
unsafe fn make_int(value: i64) -> *mut ffi::PyObject {
    // SAFETY: the contract above.
    unsafe {
        let long = value as c_long;
        // Where it fits: PyLong_FromLongLong takes twice as long.
        if long as i64 == value { ffi::PyLong_FromLong(long) } else { ffi::PyLong_FromLongLong(value) }
    }
}

/// A list of `length` items, all of which must be set before other code sees it.
fn new_list(py: Python<'_>, length: isize) -> CallResult<Value<'_>> {
    // SAFETY: PyList_New returns a new reference, or null with MemoryError set.
    Ok(unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(length)) }?)
}
