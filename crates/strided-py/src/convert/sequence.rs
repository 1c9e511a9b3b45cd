//! Nested Python sequences to tensors, and back. No recursion: depth costs memory, not stack.

use super::args::python_number;
use super::arrays::{self, Misfit};
use super::exchange::Exported;
use crate::abi::Object;
use crate::abi::errors::{Fail, Result, type_name};
use crate::abi::storage_object;
use crate::abi::tensor_object::{is_tensor, tensor_of};
use pyo3::exceptions::PyRecursionError;
use pyo3::ffi;
use pyo3::prelude::*;
use strided_core::dtype::{Category, default_float, promote};
use strided_core::kernels::item;
use strided_core::layout::{Dims, Mode, shape_text};
use strided_core::ops::{copy, elementwise::with_scalar};
use strided_core::storage::Fill;
use strided_core::{DType, Layout, Scalar, Tensor};

/// A tensor from nested sequences of numbers; without a dtype the numbers decide.
pub fn from_nested(py: Python<'_>, object: Object, dtype: Option<DType>) -> Result<Tensor> {
    let mut found =
        Found { shape: Dims::new(), leaves: None, needs_dtype: dtype.is_none(), dtype: None, strong: None };
    visit(py, object, |event| found.note(event))?;
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => found.dtype()?,
    };
    let out = Tensor::new(&found.shape, dtype, Fill::Uninitialized)?;
    // The tensor is still nobody else's, so that its pin can be held while other code runs.
    let mut writer = item::Writer::new(&out)?;
    visit(py, object, |event| write(&out, &mut writer, event))?;
    if writer.left() > 0 {
        return Err(changed());
    }
    drop(writer);
    Ok(out)
}

/// What a walk over nested sequences meets.
enum Event<'a> {
    /// A sequence of so many items, at this depth.
    Open {
        depth: usize,
        length: usize,
    },
    Number {
        depth: usize,
        value: Scalar,
    },
    /// A list or tuple of Python's own numbers and nothing else.
    Numbers {
        depth: usize,
        items: &'a Flat<'a>,
    },
    /// A tensor or buffer inside the nest.
    Array {
        depth: usize,
        tensor: &'a Tensor,
    },
}

/// Walks nested sequences in order.
fn visit(py: Python<'_>, root: Object, mut event: impl FnMut(Event) -> Result<()>) -> Result<()> {
    let mut open: Vec<Level> = Vec::new();
    let mut limit = usize::MAX;
    let mut item = root;
    let mut owned; // keeps the item of a changing sequence alive
    loop {
        let depth = open.len();
        if let Some(value) = python_number(py, item)? {
            event(Event::Number { depth, value })?;
        } else if is_tensor(item) {
            // SAFETY: it is a tensor; cloned, because what follows may run Python code.
            let tensor = unsafe { tensor_of(item) }.clone();
            event(Event::Array { depth, tensor: &tensor })?;
        } else if let Some(storage) = storage_object::read(py, item) {
            event(Event::Array { depth, tensor: &storage.whole()? })?;
        } else if let Some(items) = Flat::of(py, item) {
            event(Event::Numbers { depth, items: &items })?;
        } else if let Some(level) = Level::open(py, item)? {
            if depth == 64 {
                limit = recursion_limit(py)?;
            }
            if depth > limit {
                return Err(PyRecursionError::new_err(
                    "tensor: sequences are nested deeper than the recursion limit",
                )
                .into());
            }
            event(Event::Open { depth, length: level.length as usize })?;
            open.push(level);
        } else if let Some(tensor) = arrays::read(py, item, Misfit::Copy)? {
            event(Event::Array { depth, tensor: &tensor })?;
        } else {
            match number_like(py, item)? {
                Some(value) => event(Event::Number { depth, value })?,
                None => return Err(Fail::Type(format!("a tensor cannot hold {}", type_name(py, item)))),
            }
        }
        loop {
            let Some(level) = open.last_mut() else { return Ok(()) };
            match level.next(py)? {
                Some(next) => {
                    item = next.as_ptr();
                    owned = next;
                    break;
                }
                None => drop(open.pop()),
            }
        }
        let _ = &owned;
    }
}

fn recursion_limit(py: Python<'_>) -> Result<usize> {
    Ok(py.import("sys")?.call_method0("getrecursionlimit")?.extract()?)
}

/// Numbers of other kinds: Fraction, Decimal, and whatever converts itself to float or int.
fn number_like(py: Python<'_>, object: Object) -> Result<Option<Scalar>> {
    // SAFETY: a living object.
    let object = unsafe { Borrowed::from_ptr(py, object) };
    if object.hasattr("__index__")? {
        let value = object.call_method0("__index__")?;
        return python_number(py, value.as_ptr());
    }
    if object.hasattr("__float__")? {
        return Ok(Some(Scalar::Float(object.call_method0("__float__")?.extract()?)));
    }
    Ok(None)
}

/// A list or tuple in which every item is exactly a bool, int, float or complex: reading it runs no code.
struct Flat<'a> {
    py: Python<'a>,
    object: Object,
    is_list: bool,
    length: isize,
}

impl<'a> Flat<'a> {
    #[inline]
    fn of(py: Python<'a>, object: Object) -> Option<Flat<'a>> {
        // SAFETY: a living object; lengths and items are asked of what they are asked for.
        unsafe {
            let class = ffi::Py_TYPE(object);
            let is_list = class == &raw mut ffi::PyList_Type;
            if !is_list && class != &raw mut ffi::PyTuple_Type {
                return None;
            }
            let length = if is_list { ffi::PyList_Size(object) } else { ffi::PyTuple_Size(object) };
            let flat = Flat { py, object, is_list, length };
            let plain = |item| {
                let class = ffi::Py_TYPE(item);
                class == &raw mut ffi::PyFloat_Type
                    || class == &raw mut ffi::PyLong_Type
                    || class == &raw mut ffi::PyBool_Type
                    || class == &raw mut ffi::PyComplex_Type
            };
            (length > 0 && (0..length).all(|at| plain(flat.item(at)))).then_some(flat)
        }
    }

    #[inline]
    fn item(&self, at: isize) -> Object {
        // SAFETY: no code runs between the measuring of the length and the last item.
        unsafe {
            if self.is_list {
                ffi::PyList_GetItem(self.object, at)
            } else {
                ffi::PyTuple_GetItem(self.object, at)
            }
        }
    }

    /// The dtype that its numbers ask for, joined with another: only their kinds matter.
    fn dtype(&self, mut dtype: DType) -> DType {
        let mut last = std::ptr::null_mut();
        for at in 0..self.length {
            // SAFETY: a living object.
            let class = unsafe { ffi::Py_TYPE(self.item(at)) };
            if class == last {
                continue;
            }
            last = class;
            let kind = if class == &raw mut ffi::PyFloat_Type {
                Scalar::Float(0.0)
            } else if class == &raw mut ffi::PyLong_Type {
                Scalar::Int(0)
            } else if class == &raw mut ffi::PyBool_Type {
                Scalar::Bool(false)
            } else {
                Scalar::Complex(Default::default())
            };
            dtype = with_scalar(dtype, kind);
        }
        dtype
    }

    fn write(&self, writer: &mut item::Writer) -> Result<()> {
        for at in 0..self.length {
            let item = self.item(at);
            // SAFETY: a living object.
            if unsafe { ffi::Py_TYPE(item) } == &raw mut ffi::PyFloat_Type {
                // SAFETY: it is a float.
                let value = unsafe { ffi::PyFloat_AsDouble(item) };
                writer.push_float(value)?;
            } else if let Some(value) = python_number(self.py, item)? {
                writer.push(value)?;
            }
        }
        Ok(())
    }
}

/// A sequence that is being walked.
struct Level<'py> {
    sequence: Bound<'py, PyAny>,
    is_list: bool,
    is_tuple: bool,
    length: isize,
    at: isize,
}

impl<'py> Level<'py> {
    /// Opens lists, tuples and other sequences; not text, not what offers its memory.
    fn open(py: Python<'py>, object: Object) -> Result<Option<Level<'py>>> {
        // SAFETY: a living object.
        unsafe {
            let (is_list, is_tuple) = (ffi::PyList_Check(object) != 0, ffi::PyTuple_Check(object) != 0);
            if !is_list && !is_tuple {
                let text = ffi::PyUnicode_Check(object) != 0;
                if text
                    || ffi::PySequence_Check(object) == 0
                    || ffi::PyDict_Check(object) != 0
                    || arrays::is_array(py, object)?
                {
                    return Ok(None);
                }
            }
            let length = ffi::PySequence_Size(object);
            if length < 0 {
                return Err(Fail::set(py));
            }
            let sequence = Bound::from_borrowed_ptr(py, object);
            Ok(Some(Level { sequence, is_list, is_tuple, length, at: 0 }))
        }
    }

    fn next(&mut self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        if self.at == self.length {
            return Ok(None);
        }
        let (object, at) = (self.sequence.as_ptr(), self.at);
        self.at += 1;
        // SAFETY: a living sequence; each call checks the index against the present length.
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
                    return Fail::set(py);
                }
                ffi::PyErr_Clear();
                changed()
            })
        }
    }
}

/// The shape and dtype that the numbers ask for.
struct Found {
    shape: Dims,
    /// At which depth the numbers are, once one was met.
    leaves: Option<usize>,
    /// Whether the numbers decide the dtype.
    needs_dtype: bool,
    /// What Python's numbers ask for.
    dtype: Option<DType>,
    /// What tensors and arrays inside ask for.
    strong: Option<DType>,
}

impl Found {
    fn note(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Open { depth, length } => {
                if self.leaves.is_some_and(|leaves| depth >= leaves) {
                    return Err(self.ragged(depth, format!("a sequence of {length}"), "a number"));
                }
                self.extent(depth, length as isize)
            }
            Event::Numbers { depth, items } => {
                self.note(Event::Open { depth, length: items.length as usize })?;
                self.leaf(depth + 1)?;
                if self.needs_dtype {
                    self.dtype = Some(items.dtype(self.dtype.unwrap_or(DType::Bool)));
                }
                Ok(())
            }
            Event::Number { depth, value } => {
                self.leaf(depth)?;
                self.dtype = Some(with_scalar(self.dtype.unwrap_or(DType::Bool), value));
                Ok(())
            }
            Event::Array { depth, tensor } => {
                for (dim, mode) in tensor.layout().modes().iter().enumerate() {
                    self.extent(depth + dim, mode.extent)?;
                }
                self.leaf(depth + tensor.layout().rank())?;
                let strong =
                    self.strong.map_or(Ok(tensor.dtype()), |dtype| promote(dtype, tensor.dtype()))?;
                self.strong = Some(strong);
                Ok(())
            }
        }
    }

    /// Notes the extent of the dim at some depth.
    fn extent(&mut self, depth: usize, length: isize) -> Result<()> {
        if depth == self.shape.len() && self.leaves.is_none() {
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

    fn leaf(&mut self, depth: usize) -> Result<()> {
        match self.leaves {
            None if depth == self.shape.len() => {
                self.leaves = Some(depth);
                Ok(())
            }
            Some(leaves) if leaves == depth => Ok(()),
            _ => Err(self.ragged(depth, "a number".into(), "a sequence")),
        }
    }

    fn ragged(&self, depth: usize, got: String, wanted: &str) -> Fail {
        Fail::Value(format!(
            "ragged nesting: {got} at depth {depth}, wanted {wanted} (shape so far {})",
            shape_text(&self.shape)
        ))
    }

    fn dtype(&self) -> Result<DType> {
        Ok(match (self.strong, self.dtype) {
            (None, None) => default_float(),
            (None, Some(dtype)) => dtype,
            (Some(strong), None) => strong,
            // Python's numbers are weak: they raise the category of arrays, not their size.
            (Some(strong), Some(dtype)) if dtype.category() <= strong.category() => strong,
            (Some(strong), Some(dtype)) => match dtype.category() {
                Category::Complex if strong == DType::F64 => DType::C128,
                _ => dtype,
            },
        })
    }
}

/// Writes the numbers of a second walk one after the other.
fn write(out: &Tensor, writer: &mut item::Writer, event: Event) -> Result<()> {
    let count = match &event {
        Event::Open { .. } => 0,
        Event::Number { .. } => 1,
        Event::Numbers { items, .. } => items.length as usize,
        Event::Array { tensor, .. } => tensor.size(),
    };
    if count > writer.left() {
        return Err(changed());
    }
    match event {
        Event::Open { .. } => Ok(()),
        Event::Number { value, .. } => Ok(writer.push(value)?),
        Event::Numbers { items, .. } => items.write(writer),
        Event::Array { tensor, .. } => {
            let (start, shape) = (writer.position() as isize, tensor.layout().shape());
            writer.skip(count);
            let part = Layout::strided(&[count as isize], &[1], start)?.view(&shape)?;
            Ok(copy::copy(&out.with_layout(part), tensor)?)
        }
    }
}

/// The sequence is not what it was a moment ago.
fn changed() -> Fail {
    Fail::Value("the sequence changed while it was read".into())
}

/// Nested lists of a tensor's numbers; a number for a tensor without dimension.
///
/// Takes the tensor by value, and exports its storage: making objects may run a garbage collection and so
/// any code. A resize is then refused, where a pin would make such code wait for itself.
pub fn to_nested<'py>(py: Python<'py>, x: Tensor) -> Result<Bound<'py, PyAny>> {
    let exported = Exported::new(x)?;
    let x = &exported.tensor;
    let modes = x.layout().modes();
    if modes.len() > 64 && modes.len() > recursion_limit(py)? {
        return Err(PyRecursionError::new_err("tolist: more dims than the recursion limit").into());
    }
    // Lists that are being filled, outermost first, and the index and location each has reached.
    let mut open: Vec<(Bound<'py, PyAny>, isize, isize)> = Vec::new();
    let mut location = x.layout().offset();
    loop {
        let mut made = if open.len() < modes.len() {
            let Mode { extent, stride } = modes[open.len()];
            let list = list_of(py, extent)?;
            if open.len() + 1 == modes.len() {
                fill_row(&list, exported.at(location), x.dtype(), extent, stride)?;
                list
            } else if extent > 0 {
                open.push((list, 0, location));
                continue;
            } else {
                list
            }
        } else {
            // SAFETY: the location belongs to the tensor, whose memory stays in place while exported.
            number(py, unsafe { item::load(exported.at(location), x.dtype()) })?
        };
        loop {
            let depth = open.len();
            let Some((list, index, start)) = open.last_mut() else { return Ok(made) };
            // SAFETY: a new list of our own with room at this index; it takes the reference.
            unsafe { ffi::PyList_SetItem(list.as_ptr(), *index, made.into_ptr()) };
            *index += 1;
            if *index < modes[depth - 1].extent {
                location = *start + *index * modes[depth - 1].stride;
                break;
            }
            made = open.pop().expect("the list that is full").0;
        }
    }
}

/// Sets the items of a new list to the elements of a row of exported memory.
fn fill_row(
    list: &Bound<'_, PyAny>,
    first: *const u8,
    dtype: DType,
    extent: isize,
    stride: isize,
) -> Result<()> {
    let (py, step) = (list.py(), stride * dtype.size() as isize);
    let set = |i: isize, made: *mut ffi::PyObject| {
        if made.is_null() {
            return Err(Fail::set(py));
        }
        // SAFETY: a new list of our own with an item at this index; it takes the reference.
        unsafe { ffi::PyList_SetItem(list.as_ptr(), i, made) };
        Ok(())
    };
    // One loop for each of the dtypes that most lists have.
    macro_rules! row {
        ($element:ty, $make:expr) => {{
            for i in 0..extent {
                // SAFETY: the row's elements are in exported memory, which stays in place; `$make` returns a new
                // reference, or null with an exception set.
                set(i, unsafe { $make(first.wrapping_offset(i * step).cast::<$element>().read()) })?;
            }
        }};
    }
    match dtype {
        DType::F32 => row!(f32, |v: f32| ffi::PyFloat_FromDouble(v as f64)),
        DType::F64 => row!(f64, |v: f64| ffi::PyFloat_FromDouble(v)),
        DType::I64 => row!(i64, |v: i64| ffi::PyLong_FromLongLong(v)),
        _ => {
            for i in 0..extent {
                // SAFETY: as above, an element of the dtype.
                let value = unsafe { item::load(first.wrapping_offset(i * step), dtype) };
                set(i, number(py, value)?.into_ptr())?;
            }
        }
    }
    Ok(())
}

/// A list with room for so many items, all of which must be set before anyone sees it.
fn list_of(py: Python<'_>, length: isize) -> Result<Bound<'_, PyAny>> {
    // SAFETY: a new reference, or null with MemoryError set.
    Ok(unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(length)) }?)
}

/// A number as Python's object.
#[inline]
pub fn number(py: Python<'_>, value: Scalar) -> Result<Bound<'_, PyAny>> {
    // SAFETY: new references, checked for null.
    let object = unsafe {
        match value {
            Scalar::Bool(v) => ffi::PyBool_FromLong(v as _),
            Scalar::Int(v) if v > i64::MAX as i128 => ffi::PyLong_FromUnsignedLongLong(v as u64),
            Scalar::Int(v) => ffi::PyLong_FromLongLong(v as i64),
            Scalar::Huge(v) | Scalar::Float(v) => ffi::PyFloat_FromDouble(v),
            Scalar::Complex(v) => ffi::PyComplex_FromDoubles(v.re, v.im),
        }
    };
    // SAFETY: a new reference or null with an exception set.
    Ok(unsafe { Bound::from_owned_ptr_or_err(py, object) }?)
}
