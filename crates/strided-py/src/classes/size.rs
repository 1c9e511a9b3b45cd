//! `Size`, the tuple of a tensor's extents, and `x.size`: an int that can be called.

use crate::abi::Object;
use crate::abi::bind::{Args, Param, bind};
use crate::abi::errors::{Fail, Result, guard};
use crate::abi::heap::{SUBCLASSED, forever, make_type, slot};
use crate::abi::refs::{again, bound, give, owned, python};
use crate::abi::tensor_object::{cached_size, is_tensor, tensor_of, tensor_type};
use crate::convert::args::{FromArg, TensorArg, param, sequence_of_ints};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use strided_core::layout::Dims;

static SIZE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

/// Whether an object is a `Size`.
pub fn is_size(object: Object) -> bool {
    // SAFETY: a living object; the type lives as long as the module.
    unsafe { ffi::PyObject_TypeCheck(object, SIZE.load(Relaxed)) != 0 }
}

/// A new `Size`. Takes its extents by value: making the object may run a garbage collection, and so any
/// code, which may change the tensor that they come from. The same holds for [`new_tuple`].
#[inline]
pub fn new_size(py: Python<'_>, extents: Dims) -> Result<Object> {
    // SAFETY: `Size` is a tuple without further fields.
    unsafe { fill_tuple(py, ffi::PyType_GenericAlloc(SIZE.load(Relaxed), extents.len() as isize), &extents) }
}

/// A new plain tuple of ints.
#[inline]
pub fn new_tuple(py: Python<'_>, items: Dims) -> Result<Object> {
    // SAFETY: a new tuple.
    unsafe { fill_tuple(py, ffi::PyTuple_New(items.len() as isize), &items) }
}

/// # Safety
/// `tuple` is null or a new tuple of as many items.
unsafe fn fill_tuple(py: Python<'_>, tuple: Object, items: &[isize]) -> Result<Object> {
    if tuple.is_null() {
        return Err(Fail::set(py));
    }
    for (i, &item) in items.iter().enumerate() {
        // SAFETY: nobody else has seen the tuple; `PyTuple_SetItem` takes the new reference.
        unsafe {
            let item = ffi::PyLong_FromSsize_t(item);
            if item.is_null() || ffi::PyTuple_SetItem(tuple, i as isize, item) != 0 {
                ffi::Py_DECREF(tuple);
                return Err(Fail::set(py));
            }
        }
    }
    Ok(tuple)
}

unsafe extern "C" fn size_repr(object: Object) -> Object {
    guard("Size", null_mut(), |py| {
        // SAFETY: called with a Size.
        let items = unsafe { Bound::from_borrowed_ptr(py, object) }.try_iter()?;
        let texts: Vec<String> = items.map(|item| Ok(item?.repr()?.to_string())).collect::<PyResult<_>>()?;
        give(py, format!("strided.Size([{}])", texts.join(", ")))
    })
}

/// `Size` and its items: the oldest protocols of pickle know no class with a `__new__` like that of Size.
unsafe extern "C" fn size_reduce(object: Object, _: Object) -> Object {
    guard("Size", null_mut(), |py| {
        // SAFETY: called with a Size.
        let size = unsafe { Bound::from_borrowed_ptr(py, object) };
        let items = py.get_type::<pyo3::types::PyTuple>().call1((size.clone(),))?;
        give(py, (size.get_type(), (items,)))
    })
}

unsafe extern "C" fn size_numel(object: Object, _: Object) -> Object {
    guard("numel", null_mut(), |py| {
        // SAFETY: called with a Size.
        let extents: Vec<isize> = unsafe { Bound::from_borrowed_ptr(py, object) }.extract()?;
        give(py, extents.iter().try_fold(1isize, |a, &b| a.checked_mul(b)))
    })
}

/// `tp_new`: a Size of the ints of an iterable. Anything else is refused here, and not where the Size is used.
unsafe extern "C" fn size_new(class: *mut ffi::PyTypeObject, args: Object, kwargs: Object) -> Object {
    guard("Size", null_mut(), |py| {
        if !kwargs.is_null() && bound(py, kwargs).len()? > 0 {
            return Err(Fail::Type("takes no keyword arguments".into()));
        }
        // Python's own tuple does the iterating, and refuses what cannot be iterated.
        let items = py
            .get_type::<pyo3::types::PyTuple>()
            .call1(bound(py, args).cast::<pyo3::types::PyTuple>().map_err(PyErr::from)?)?;
        let mut extents = Dims::new();
        for item in items.try_iter()? {
            extents.push(isize::from_arg(py, item?.as_ptr(), "an item of a Size")?);
        }
        // SAFETY: `class` is Size or a subclass of it, whose instances are tuples of as many items.
        unsafe { fill_tuple(py, ffi::PyType_GenericAlloc(class, extents.len() as isize), &extents) }
    })
}

/// A tuple as a `Size`, where a slice or a sum of sizes is one.
fn as_size(py: Python<'_>, tuple: Bound<'_, PyAny>) -> Result<Object> {
    match sequence_of_ints(py, tuple.as_ptr())? {
        Some(extents) => new_size(py, extents),
        None => Ok(tuple.into_ptr()),
    }
}

unsafe extern "C" fn size_subscript(object: Object, key: Object) -> Object {
    guard("Size", null_mut(), |py| {
        let item = py.get_type::<pyo3::types::PyTuple>().getattr("__getitem__")?;
        let found = item.call1((bound(py, object), bound(py, key)))?;
        // SAFETY: a living object.
        if unsafe { ffi::Py_TYPE(key) } == &raw mut ffi::PySlice_Type {
            as_size(py, found)
        } else {
            Ok(found.into_ptr())
        }
    })
}

unsafe extern "C" fn size_concat(left: Object, right: Object) -> Object {
    guard("Size", null_mut(), |py| {
        let add = py.get_type::<pyo3::types::PyTuple>().getattr("__add__")?;
        as_size(py, add.call1((bound(py, left), bound(py, right)))?)
    })
}

/// The signatures of the class's methods.
pub const SIGNATURES: &[(&str, &[&str])] = &[
    ("numel", &["() -> int"]),
    ("__add__", &["(other: tuple[int, ...], /) -> Size"]),
    ("__getitem__", &["(index: SupportsIndex, /) -> int", "(index: slice, /) -> Size"]),
];

/// Makes the class `Size`.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let methods = vec![
        ffi::PyMethodDef {
            ml_name: c"numel".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunction: size_numel },
            ml_flags: ffi::METH_NOARGS,
            ml_doc: c"numel($self)\n--\n\nThe number of elements: the product of the extents.\n\n>>> strided.Size([2, 3]).numel()\n6".as_ptr(),
        },
        ffi::PyMethodDef {
            ml_name: c"__reduce__".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunction: size_reduce },
            ml_flags: ffi::METH_NOARGS,
            ml_doc: c"For pickle.".as_ptr(),
        },
        ffi::PyMethodDef::zeroed(),
    ];
    let doc = "The extents of a tensor: a tuple of ints.\n\n>>> strided.Size([4, 4, 3, 2])\nstrided.Size([4, 4, 3, 2])";
    let slots = vec![
        slot(ffi::Py_tp_new, size_new as *mut c_void),
        slot(ffi::Py_tp_repr, size_repr as *mut c_void),
        slot(ffi::Py_mp_subscript, size_subscript as *mut c_void),
        slot(ffi::Py_sq_concat, size_concat as *mut c_void),
        slot(ffi::Py_tp_methods, methods.leak().as_mut_ptr().cast()),
        slot(ffi::Py_tp_doc, forever(doc).as_ptr().cast_mut().cast()),
    ];
    let base = Some(&raw mut ffi::PyTuple_Type);
    // SAFETY: the slots match their numbers; instances are tuples.
    let class = unsafe { make_type(py, c"strided.Size", 0, SUBCLASSED, base, slots)? };
    SIZE.store(class.as_ptr().cast(), Relaxed);
    module.add("Size", class)
}

/// `x.size`: a descriptor that is called like a method without making an object, and that gives an
/// int (which can be called later) where it is only looked up.
#[repr(C)]
struct Descriptor {
    head: ffi::PyObject,
    call: ffi::vectorcallfunc,
}

unsafe extern "C" fn descriptor_call(
    _: Object,
    args: *const Object,
    count: usize,
    kwnames: Object,
) -> Object {
    guard("size", null_mut(), |py| {
        let mut passed = Args::NONE;
        // SAFETY: what the interpreter passed.
        unsafe { bind(py, &DESCRIPTOR, None, args, count as isize, kwnames, &mut passed) }?;
        let x = TensorArg::from_args(py, &passed, 0, "input")?;
        if passed.is_given(1) { extent(py, x.0, passed.slots[1]) } else { whole(py, x.0) }
    })
}

static DESCRIPTOR: [Param; 2] =
    [param::<TensorArg>("self", &["input"], None), param::<Option<isize>>("dim", &["axis"], Some("None"))];

/// `tp_call`, for callers that do not use vectorcall.
unsafe extern "C" fn descriptor_slow_call(this: Object, args: Object, kwargs: Object) -> Object {
    guard("size", null_mut(), |py| {
        let positional = bound(py, args).extract::<Vec<Bound<'_, PyAny>>>()?;
        let mut all: Vec<Object> = positional.iter().map(|argument| argument.as_ptr()).collect();
        let mut names = Vec::new();
        if !kwargs.is_null() {
            let kwargs = bound(py, kwargs).cast_into::<pyo3::types::PyDict>().map_err(PyErr::from)?;
            for (name, value) in kwargs.iter() {
                all.push(value.as_ptr()); // kept alive by `kwargs`
                names.push(name);
            }
        }
        let names = pyo3::types::PyTuple::new(py, names)?;
        // SAFETY: living objects, laid out as a vectorcall has them.
        let found = unsafe { descriptor_call(this, all.as_ptr(), positional.len(), names.as_ptr()) };
        if found.is_null() { Err(Fail::set(py)) } else { Ok(found) }
    })
}

/// The Size of a tensor.
pub fn whole(py: Python<'_>, x: Object) -> Result<Object> {
    // SAFETY: callers saw that it is a tensor; a Size is immutable.
    unsafe { cached_size(x, |extents| new_size(py, extents)) }
}

fn extent(py: Python<'_>, x: Object, dim: Object) -> Result<Object> {
    // SAFETY: `None` lives as long as the interpreter.
    if dim == unsafe { ffi::Py_None() } {
        return whole(py, x);
    }
    let dim = isize::from_arg(py, dim, "dim")?;
    // SAFETY: callers saw that it is a tensor; the dim was read before.
    let layout = unsafe { tensor_of(x) }.layout();
    let extent = layout.modes()[layout.wrap_dim(dim)?].extent;
    // SAFETY: a new reference, or null with an exception.
    unsafe { Ok(ffi::PyLong_FromSsize_t(extent)) }
}

unsafe extern "C" fn descriptor_get(this: Object, x: Object, _: Object) -> Object {
    guard("size", null_mut(), |py| {
        if x.is_null() || !is_tensor(x) {
            return Ok(again(this));
        }
        let shape = owned(py, whole(py, x))?;
        python(py, "strided._size", "Count", (shape,))
    })
}

/// Puts `size` into the tensor class.
pub fn add_size_descriptor(py: Python<'_>) -> PyResult<()> {
    let offset = std::mem::offset_of!(Descriptor, call) as isize;
    let members = vec![
        ffi::PyMemberDef {
            name: c"__vectorcalloffset__".as_ptr(),
            type_code: ffi::Py_T_PYSSIZET,
            offset,
            flags: ffi::Py_READONLY,
            doc: std::ptr::null(),
        },
        // SAFETY: the zeroed end of the list.
        unsafe { std::mem::zeroed() },
    ];
    let doc = "size($self, dim=None)\n--\n\nThe extents as a Size, or the extent of one dim. Without a call: the number of elements.\n\n\
        >>> x = strided.zeros(3, 4)\n>>> x.size()\nstrided.Size([3, 4])\n>>> x.size(0)\n3\n>>> x.size\n12";
    let slots = vec![
        slot(ffi::Py_tp_descr_get, descriptor_get as *mut c_void),
        slot(ffi::Py_tp_call, descriptor_slow_call as *mut c_void),
        slot(ffi::Py_tp_members, members.leak().as_mut_ptr().cast()),
        slot(ffi::Py_tp_doc, forever(doc).as_ptr().cast_mut().cast()),
    ];
    // The two flags are not in the limited API's headers before 3.12, but they mean the same in 3.11.
    const HAVE_VECTORCALL: u32 = 1 << 11;
    const METHOD_DESCRIPTOR: u32 = 1 << 17;
    let (size, flags) = (size_of::<Descriptor>(), HAVE_VECTORCALL | METHOD_DESCRIPTOR);
    // SAFETY: the slots match their numbers; the new instance is a `Descriptor` whose only field is then set.
    unsafe {
        let class = make_type(py, c"strided.size_descriptor", size, flags, None, slots)?;
        let object = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class.as_ptr().cast(), 0))?;
        (*object.as_ptr().cast::<Descriptor>()).call = descriptor_call;
        Bound::from_borrowed_ptr(py, tensor_type().cast()).setattr("size", object)
    }
}
