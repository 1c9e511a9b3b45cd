//! Python's protocols of Tensor: indexing, length, iteration, truth, conversion to numbers, text.

use super::elementwise::contains;
use super::iterator;
use super::operators::compare;
use crate::abi::detach::{detach_if_large, device_work, wait_for, work_on};
use crate::abi::errors::{CallResult, Fail, guard_value};
use crate::abi::heap::{definition, slot};
use crate::abi::late;
use crate::abi::refs::{arg, call_python, to_py};
use crate::abi::tensor_object::wrap;
use crate::abi::{Arg, Object, Value};
use crate::convert::args::TensorArg;
use crate::convert::index::{BasicKey, location, read_basic_key};
use crate::convert::keys::{ReadKeys, beside, read_keys};
use crate::convert::numbers::{number, python_number};
use crate::convert::results::view;
use crate::convert::transfer::on_device;
use crate::convert::values::{Values, values};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::ffi::{c_int, c_void};
use strided_core::backend::items;
use strided_core::layout::Index;
use strided_core::ops::Operand;
use strided_core::ops::index::keys;
use strided_core::ops::{copy, work};
use strided_core::{Scalar, Tensor};

slots! {
    /// `x[key]`
    fn subscript(py, x: TensorArg, key: Arg) -> Value, "index" => {
        let mut indices = BasicKey::new();
        if !read_basic_key(key, &mut indices)? {
            return get_advanced(py, x, key);
        }
        view(py, &x, x.layout().index(&indices))
    }

    /// `x[i]` for C callers and iteration.
    fn sequence_item(py, x: TensorArg, at: isize) -> Value, "index" => {
        if at < 0 {
            return Err(Fail::Index("the index is negative".into())); // callers have added the length already
        }
        view(py, &x, x.layout().index(&[Index::At(at)]))
    }

    /// `x[key] = value`, or `del x[key]`, which has no value.
    fn assign_subscript(py, x: TensorArg, key: Arg, value: OptionalArg) -> c_int, "index" => {
        let Some(value) = value else {
            return Err(Fail::Type("elements of a tensor cannot be deleted".into()));
        };
        let number = python_number(value)?;
        match (number, location(&x, key)) {
            (Some(number), Some(location)) => wait_for(py, &x, |x| items::set(x, location, number))?,
            (Some(number), None) => assign_number(py, x, key, number)?,
            (None, _) => assign_values(py, x, key, value)?,
        }
        Ok(0)
    }

    /// `len(x)`
    fn length(py, x: TensorArg) -> isize, "len" => {
        match x.layout().modes().first() {
            Some(mode) => Ok(mode.extent),
            None => Err(Fail::Type("a tensor without dimension has no length".into())),
        }
    }

    /// `iter(x)`
    fn iterate(py, x: TensorArg) -> Value, "iter" => { iterator::iterate(py, x) }

    /// `value in x`: whether any element equals it.
    fn contains_value(py, x: TensorArg, value: Arg) -> c_int, "in" => {
        let found = match python_number(value)? {
            Some(number) => contains(py, &Tensor::clone(&x), Operand::Scalar(number)),
            None => {
                let values = Values::of(value, None)?.tensor;
                contains(py, &Tensor::clone(&x), Operand::Tensor(&values))
            }
        };
        Ok(found? as c_int)
    }

    /// `bool(x)`
    fn truth(py, x: TensorArg) -> c_int, "bool" => {
        if x.size() != 1 {
            let shape = x.layout().shape_text();
            let text = format!("bool: a tensor of shape {shape} has no single truth value");
            return Err(PyValueError::new_err(text).into());
        }
        Ok(!wait_for(py, &x, copy::single_item)?.is_zero() as c_int)
    }

    /// `float(x)`
    fn to_float(py, x: TensorArg) -> Value, "float" => {
        match wait_for(py, &x, copy::single_item)? {
            Scalar::Complex(_) => {
                let text = "float: a complex number has no single float; use .real";
                Err(PyTypeError::new_err(text).into())
            }
            value => to_py(py, value.real()),
        }
    }

    /// `int(x)`, by the rules of `int(float)`: inf and nan are refused.
    fn to_int(py, x: TensorArg) -> Value, "int" => {
        let value = number(py, wait_for(py, &x, copy::single_item)?)?;
        Ok(py.get_type::<pyo3::types::PyInt>().call1((value,))?)
    }

    /// `operator.index(x)`
    fn to_index(py, x: TensorArg) -> Value, "index" => {
        if !x.dtype().is_int() || x.size() != 1 {
            let (name, shape) = (x.dtype().name(), x.layout().shape_text());
            let text = format!("only a tensor of one integer is an index, got {name} of shape {shape}");
            return Err(Fail::Type(text));
        }
        number(py, wait_for(py, &x, copy::single_item)?)
    }

    /// `repr(x)`
    fn repr(py, x: Arg) -> Value, "repr" => { call_python(py, "strided.display.text", "tensor", (x,)) }
}

/// `x[key]` with index tensors or masks.
#[inline(never)]
fn get_advanced<'a>(py: Python<'a>, x: TensorArg<'a>, key: Arg<'a>) -> CallResult<Value<'a>> {
    match read_keys(key)? {
        ReadKeys::View(indices) => view(py, &x, x.layout().index(&indices)),
        ReadKeys::Advanced(keys) => {
            let x = Tensor::clone(&x);
            let keys = beside(py, &x, keys)?;
            wrap(
                py,
                detach_if_large(py, device_work(x.device(), work::keyed(&x, &keys)), || {
                    keys::get(&x, &keys)
                })?,
            )
        }
    }
}

fn assign_number(py: Python<'_>, x: TensorArg<'_>, key: Arg<'_>, number: Scalar) -> CallResult<()> {
    let target = Target::of(key)?; // before the tensor is used: reading the key may run Python code
    target.assign(py, Tensor::clone(&x), Operand::Scalar(number))
}

fn assign_values(py: Python<'_>, x: TensorArg<'_>, key: Arg<'_>, value: Arg<'_>) -> CallResult<()> {
    let (target, source) = (Target::of(key)?, values(value, x.dtype())?); // before the tensor is used: both may run Python code
    target.assign(py, Tensor::clone(&x), Operand::Tensor(&source))
}

/// The elements that an assignment writes to.
struct Target(ReadKeys);

impl Target {
    fn of(key: Arg<'_>) -> CallResult<Target> {
        let mut indices = BasicKey::new();
        let basic = read_basic_key(key, &mut indices)?;
        Ok(Target(if basic { ReadKeys::View(indices) } else { read_keys(key)? }))
    }

    fn assign(self, py: Python<'_>, x: Tensor, value: Operand) -> CallResult<()> {
        match self.0 {
            ReadKeys::View(indices) => {
                let part = x.with_layout(x.layout().index(&indices)?);
                let work = work_on(&part).max(value.tensor().map_or(0, work_on));
                detach_if_large(py, work, || match value {
                    Operand::Tensor(source) => copy::copy(&part, source),
                    Operand::Scalar(number) => copy::fill(&part, number),
                })?;
            }
            ReadKeys::Advanced(keys) => {
                let keys = beside(py, &x, keys)?;
                let moved = match value {
                    Operand::Tensor(source) => Some(on_device(py, source, x.device())?),
                    Operand::Scalar(_) => None,
                };
                let value = moved.as_ref().map_or(value, Operand::Tensor);
                detach_if_large(py, device_work(x.device(), work::keyed(&x, &keys)), || {
                    keys::set(&x, &keys, value)
                })?
            }
        }
        Ok(())
    }
}

/// `hash(x)`, by identity, since `==` compares elements.
///
/// # Safety
/// Only the interpreter calls this slot.
unsafe extern "C" fn hash(this: Object) -> ffi::Py_hash_t {
    // The low bits of an address are equal for all objects; -1 would mean an error.
    (this as usize).rotate_right(4) as ffi::Py_hash_t & !1
}

/// The protocol slots of Tensor.
pub fn slots() -> Vec<ffi::PyType_Slot> {
    vec![
        slot(ffi::Py_mp_subscript, subscript as *mut c_void),
        slot(ffi::Py_mp_ass_subscript, assign_subscript as *mut c_void),
        slot(ffi::Py_mp_length, length as *mut c_void),
        slot(ffi::Py_sq_length, length as *mut c_void),
        slot(ffi::Py_sq_item, sequence_item as *mut c_void),
        slot(ffi::Py_sq_contains, contains_value as *mut c_void),
        slot(ffi::Py_tp_iter, iterate as *mut c_void),
        slot(ffi::Py_nb_bool, truth as *mut c_void),
        slot(ffi::Py_nb_float, to_float as *mut c_void),
        slot(ffi::Py_nb_int, to_int as *mut c_void),
        slot(ffi::Py_nb_index, to_index as *mut c_void),
        slot(ffi::Py_tp_repr, repr as *mut c_void),
        slot(ffi::Py_tp_hash, hash as *mut c_void),
        slot(ffi::Py_tp_richcompare, compare as *mut c_void),
    ]
}

/// `__array_ufunc__`: NumPy's protocol for universal functions, which is written in Python. It takes any keywords, which no
/// row can.
///
/// # Safety
/// Only the interpreter calls this, as a `METH_FASTCALL | METH_KEYWORDS` method.
unsafe extern "C" fn array_ufunc(this: Object, args: *const Object, count: isize, kwnames: Object) -> Object {
    // SAFETY: the interpreter calls this on a thread that is attached to it.
    let py = unsafe { Python::assume_attached() };
    guard_value(py, "__array_ufunc__", |py| {
        // SAFETY: the interpreter passes `count` live objects, followed by a value for each name, and keeps all of them
        // alive during the call.
        let object = |i: isize| unsafe { arg(py, *args.offset(i)) };
        // SAFETY: the interpreter keeps the receiver alive during the call.
        let receiver = unsafe { arg(py, this) };
        let positional = std::iter::once(receiver).chain((0..count).map(object));
        let keywords = PyDict::new(py);
        if !kwnames.is_null() {
            // SAFETY: the interpreter keeps the tuple of names alive during the call.
            for (i, name) in unsafe { arg(py, kwnames) }.try_iter()?.enumerate() {
                keywords.set_item(name?, object(count + i as isize))?;
            }
        }
        let positional = PyTuple::new(py, positional.collect::<Vec<_>>())?;
        let (module, function) = ("strided._numpy", "array_ufunc");
        Ok(late::first_call(module, function, || {
            py.import(module)?.getattr(function)?.call(positional, Some(&keywords))
        })?)
    })
}

/// Methods that are not declared as rows.
pub fn methods() -> Vec<ffi::PyMethodDef> {
    let doc = "__array_ufunc__($self, ufunc, method, *inputs, **kwargs)\n--\n\n\
        NumPy's protocol for universal functions: called with tensors they return tensors.\n\n\
        >>> import numpy\n\
        >>> numpy.add(strided.tensor([1.0, 2.0]), 1).tolist()\n\
        [2.0, 3.0]";
    vec![definition("__array_ufunc__", array_ufunc, doc)]
}
