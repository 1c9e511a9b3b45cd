//! `Size`, the tuple of a tensor's extents, and `x.size`: an int that can be called.

use crate::abi::bind::{Args, Param, bind};
use crate::abi::errors::{CallResult, Fail, guard_value};
use crate::abi::heap::{SUBCLASSABLE, leak_text, make_type, offset_member, plain_definition, slot};
use crate::abi::refs::{call_python, is_none, new_ref, to_py};
use crate::abi::tensor_object::{cached_size, tensor_type};
use crate::abi::{Arg, Object, Value};
use crate::convert::args::{FromArg, TensorArg, param, sequence_of_ints};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyTuple};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use strided_core::layout::Dims;

static SIZE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

/// The slot behind `tuple[key]`. Looking up the method and calling it would take ten times as long.
static TUPLE_SUBSCRIPT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Whether an object is a `Size`.
pub fn is_size(object: Arg<'_>) -> bool {
    // SAFETY: an `Arg` is a live object; `register` made the type, which is never freed.
    unsafe { ffi::PyObject_TypeCheck(object.as_ptr(), SIZE.load(Relaxed)) != 0 }
}

/// A new `Size`. Takes its extents by value: making the object may start a garbage collection, and so run any code, which
/// may change the tensor that they come from. The same holds for [`new_tuple`].
#[inline]
pub fn new_size(py: Python<'_>, extents: Dims) -> CallResult<Value<'_>> {
    // SAFETY: `Size` is a tuple without further fields; PyType_GenericAlloc returns a new one, or null with an exception set.
    unsafe { fill_tuple(py, ffi::PyType_GenericAlloc(SIZE.load(Relaxed), extents.len() as isize), &extents) }
}

/// A new plain tuple of ints.
#[inline]
pub fn new_tuple(py: Python<'_>, items: Dims) -> CallResult<Value<'_>> {
    // SAFETY: PyTuple_New returns a new tuple, or null with an exception set.
    unsafe { fill_tuple(py, ffi::PyTuple_New(items.len() as isize), &items) }
}

/// # Safety
/// `tuple` is a new tuple of as many items as `items`, or null with an exception set.
#[inline]
unsafe fn fill_tuple<'py>(py: Python<'py>, tuple: Object, items: &[isize]) -> CallResult<Value<'py>> {
    // SAFETY: the contract above. No other code has seen the tuple; PyTuple_SetItem takes over the reference to the item.
    unsafe {
        let tuple = Bound::from_owned_ptr_or_err(py, tuple)?;
        for (i, &item) in items.iter().enumerate() {
            let item = ffi::PyLong_FromSsize_t(item);
            if item.is_null() || ffi::PyTuple_SetItem(tuple.as_ptr(), i as isize, item) != 0 {
                return Err(Fail::raised(py));
            }
        }
        Ok(tuple)
    }
}

slots! {
    /// `repr(size)`
    fn size_repr(py, size: Arg) -> Value, "Size" => {
        let mut texts = Vec::new();
        // Not by `collect`: PyO3 would import a module to ask for the number of items.
        for item in size.try_iter()? {
            texts.push(item?.repr()?.to_string());
        }
        to_py(py, format!("strided.Size([{}])", texts.join(", ")))
    }

    /// `size.__reduce__()`: the class and its items. The oldest protocols of pickle know no class with a `__new__` like that of
    /// Size.
    fn size_reduce(py, size: Arg, _none: Object) -> Value, "Size" => {
        let items = py.get_type::<PyTuple>().call1((size,))?;
        to_py(py, (size.get_type(), (items,)))
    }

    /// `size.numel()`
    fn size_numel(py, size: Arg, _none: Object) -> Value, "numel" => {
        let extents: Vec<isize> = size.extract()?;
        to_py(py, extents.iter().try_fold(1isize, |a, &b| a.checked_mul(b)))
    }

    /// `tp_new` of `Size` and of subclasses: a Size of the ints of an iterable. Other items are refused here, not where the Size
    /// is used.
    fn size_new(py, class: Class, args: Arg, kwargs: OptionalArg) -> Value, "Size" => {
        if kwargs.map_or(Ok(0), |kwargs| kwargs.len())? > 0 {
            return Err(Fail::Type("takes no keyword arguments".into()));
        }
        // Python's tuple iterates, and refuses an object that cannot be iterated.
        let items =
            py.get_type::<PyTuple>().call1(args.cast::<PyTuple>().map_err(PyErr::from)?.to_owned())?;
        let mut extents = Dims::new();
        for item in items.try_iter()? {
            extents.push(isize::from_arg(item?.as_borrowed(), "an item of a Size")?);
        }
        // SAFETY: instances of `class` are tuples; the new one has as many items as extents.
        unsafe { fill_tuple(py, ffi::PyType_GenericAlloc(class, extents.len() as isize), &extents) }
    }

    /// `size[key]`
    fn size_subscript(py, size: Arg, key: Arg) -> Value, "Size" => {
        // SAFETY: `register` stored this slot of tuples, of which a Size is one. It returns a new reference, or null with an
        // exception set.
        let found = unsafe {
            let subscript =
                std::mem::transmute::<*mut c_void, ffi::binaryfunc>(TUPLE_SUBSCRIPT.load(Relaxed));
            Bound::from_owned_ptr_or_opt(py, subscript(size.as_ptr(), key.as_ptr()))
        };
        let found = found.ok_or_else(|| Fail::raised(py))?;
        if key.is_exact_instance_of::<PySlice>() { as_size(found) } else { Ok(found) }
    }

    /// `size + other`
    fn size_concat(py, left: Arg, right: Arg) -> Value, "Size" => {
        as_size(py.get_type::<PyTuple>().getattr("__add__")?.call1((left, right))?)
    }
}

/// A tuple as a `Size`, if its items are ints, as those of a slice or a sum of sizes are.
fn as_size(tuple: Value<'_>) -> CallResult<Value<'_>> {
    match sequence_of_ints(tuple.as_borrowed())? {
        Some(extents) => new_size(tuple.py(), extents),
        None => Ok(tuple),
    }
}

/// Makes the class `Size`.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let numel = "numel($self)\n--\n\nThe number of elements: the product of the extents.\n\n>>> strided.Size([2, 3]).numel()\n6";
    let methods = vec![
        plain_definition("numel", size_numel, ffi::METH_NOARGS, numel),
        plain_definition("__reduce__", size_reduce, ffi::METH_NOARGS, "For pickle."),
        ffi::PyMethodDef::zeroed(),
    ];
    let doc = "The extents of a tensor: a tuple of ints.\n\n>>> strided.Size([4, 4, 3, 2])\nstrided.Size([4, 4, 3, 2])";
    let slots = vec![
        slot(ffi::Py_tp_new, size_new as *mut c_void),
        slot(ffi::Py_tp_repr, size_repr as *mut c_void),
        slot(ffi::Py_mp_subscript, size_subscript as *mut c_void),
        slot(ffi::Py_sq_concat, size_concat as *mut c_void),
        slot(ffi::Py_tp_methods, methods.leak().as_mut_ptr().cast()),
        slot(ffi::Py_tp_doc, leak_text(doc).as_ptr().cast_mut().cast()),
    ];
    let base = Some(&raw mut ffi::PyTuple_Type);
    // SAFETY: each slot has the function type of its number; instances are as large as tuples.
    let class = unsafe { make_type(py, c"strided.Size", 0, SUBCLASSABLE, base, slots)? };
    SIZE.store(class.as_ptr().cast(), Relaxed);
    // SAFETY: a type that lives as long as the interpreter, and a slot that it has.
    TUPLE_SUBSCRIPT
        .store(unsafe { ffi::PyType_GetSlot(&raw mut ffi::PyTuple_Type, ffi::Py_mp_subscript) }, Relaxed);
    module.add("Size", class)
}

/// The descriptor of `x.size`. A call `x.size()` is one of a method, without an object in between; a lookup without a call
/// makes an int, which can be called later.
#[repr(C)]
struct SizeDescriptor {
    head: ffi::PyObject,
    call: ffi::vectorcallfunc,
}

static PARAMS: [Param; 2] =
    [param::<TensorArg>("self", &["input"], None), param::<Option<isize>>("dim", &["axis"], Some("None"))];

/// # Safety
/// Only the interpreter calls this, as a vectorcall, or [`descriptor_slow_call`].
unsafe extern "C" fn descriptor_call(
    _: Object,
    args: *const Object,
    count: usize,
    kwnames: Object,
) -> Object {
    // SAFETY: the interpreter calls this on a thread that is attached to it.
    let py = unsafe { Python::assume_attached() };
    guard_value(py, "size", |py| {
        let mut bound = Args::NONE;
        // SAFETY: the arguments of a vectorcall are those of a fast call; the caller keeps them alive during the call.
        unsafe { bind(py, &PARAMS, None, args, count as isize, kwnames, &mut bound) }?;
        let x = TensorArg::from_args(&bound, 0, "input")?;
        match bound.slots[1] {
            Some(dim) => extent(py, x, dim),
            None => size_of_tensor(x),
        }
    })
}

slots! {
    /// `tp_call`, for callers that do not use vectorcall.
    fn descriptor_slow_call(py, this: Object, args: Arg, kwargs: OptionalArg) -> Value, "size" => {
        let positional = args.extract::<Vec<Bound<'_, PyAny>>>()?;
        let mut all: Vec<Object> = positional.iter().map(|argument| argument.as_ptr()).collect();
        let mut names = Vec::new();
        if let Some(kwargs) = kwargs {
            for (name, value) in kwargs.cast::<PyDict>().map_err(PyErr::from)?.iter() {
                all.push(value.as_ptr()); // alive as long as the dict
                names.push(name);
            }
        }
        let names = PyTuple::new(py, names)?;
        // SAFETY: live objects in the order of a vectorcall: positional arguments, then the values of the keywords. The
        // result is a new reference, or null with an exception set.
        unsafe {
            let result = descriptor_call(this, all.as_ptr(), positional.len(), names.as_ptr());
            Ok(Bound::from_owned_ptr_or_err(py, result)?)
        }
    }

    /// `x.size` without a call, or `Tensor.size`.
    fn descriptor_get(py, this: Arg, x: OptionalArg, _class: Object) -> Value, "size" => {
        match x.map_or(Ok(None), TensorArg::read)? {
            Some(x) => call_python(py, "strided._size", "Count", (size_of_tensor(x)?,)),
            None => Ok(new_ref(this)),
        }
    }
}

/// The Size of a tensor.
pub fn size_of_tensor(x: TensorArg<'_>) -> CallResult<Value<'_>> {
    let py = x.object().py();
    // SAFETY: a `TensorArg` is a tensor, and a Size is immutable.
    unsafe { cached_size(x.object(), |extents| new_size(py, extents)) }
}

/// The extent of a dim, or all of them for `None`.
fn extent<'a>(py: Python<'a>, x: TensorArg<'a>, dim: Arg<'a>) -> CallResult<Value<'a>> {
    if is_none(dim) {
        return size_of_tensor(x);
    }
    let dim = isize::from_arg(dim, "dim")?;
    let layout = x.layout();
    to_py(py, layout.modes()[layout.wrap_dim(dim)?].extent)
}

/// Adds `size` to the tensor class.
pub fn add_size_descriptor(py: Python<'_>) -> PyResult<()> {
    let offset = std::mem::offset_of!(SizeDescriptor, call);
    let doc = "size($self, dim=None)\n--\n\nThe extents as a Size, or the extent of one dim. Without a call: the number of elements.\n\n\
        >>> x = strided.zeros(3, 4)\n>>> x.size()\nstrided.Size([3, 4])\n>>> x.size(0)\n3\n>>> x.size\n12";
    let slots = vec![
        slot(ffi::Py_tp_descr_get, descriptor_get as *mut c_void),
        slot(ffi::Py_tp_call, descriptor_slow_call as *mut c_void),
        offset_member(c"__vectorcalloffset__", offset),
        slot(ffi::Py_tp_doc, leak_text(doc).as_ptr().cast_mut().cast()),
    ];
    // The two flags are not in the limited API's headers before 3.12, but they mean the same in 3.11.
    const HAVE_VECTORCALL: u32 = 1 << 11;
    const METHOD_DESCRIPTOR: u32 = 1 << 17;
    let (size, flags) = (size_of::<SizeDescriptor>(), HAVE_VECTORCALL | METHOD_DESCRIPTOR);
    // SAFETY: each slot has the function type of its number; the new instance is a `SizeDescriptor`, whose only field is set
    // before other code sees it. `tensor::register` made the tensor type, which is never freed.
    unsafe {
        let class = make_type(py, c"strided.size_descriptor", size, flags, None, slots)?;
        let object = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class.as_ptr().cast(), 0))?;
        (*object.as_ptr().cast::<SizeDescriptor>()).call = descriptor_call;
        Bound::from_borrowed_ptr(py, tensor_type().cast()).setattr("size", object)
    }
}
