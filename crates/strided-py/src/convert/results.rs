//! Results as objects: views, new tensors, or the outputs that were given.

use super::args::{Pair, TensorArg};
use crate::abi::Object;
use crate::abi::detach::{LARGE, detached, waiting};
use crate::abi::errors::Result;
use crate::abi::refs::{again, owned};
use crate::abi::tensor_object::{replace, wrap, wrap_with};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::ffi::c_void;
use strided_core::ops::{copy, output};
use strided_core::{Layout, Tensor};

/// A view of a tensor as a new object.
#[inline(always)]
pub fn view(py: Python<'_>, x: &Tensor, layout: strided_core::Result<Layout>) -> Result<Object> {
    wrap_with(py, |slot| {
        *slot = Some(x.with_layout(layout?));
        Ok(())
    })
}

/// Views of a tensor as a tuple.
pub fn views(py: Python<'_>, x: &Tensor, layouts: strided_core::Result<Vec<Layout>>) -> Result<Object> {
    let layouts = layouts?;
    let x = x.clone(); // making objects may run code that changes the tensor's object
    let mut objects = Vec::with_capacity(layouts.len());
    for layout in layouts {
        objects.push(owned(py, view(py, &x, Ok(layout)))?);
    }
    Ok(PyTuple::new(py, objects)?.into_ptr())
}

/// A new tensor computed from one.
pub fn compute(
    py: Python<'_>,
    x: &Tensor,
    work: impl FnOnce(&Tensor) -> strided_core::Result<Tensor> + Send,
) -> Result<Object> {
    if x.size() < LARGE {
        return wrap(py, work(x)?);
    }
    let x = x.clone();
    wrap(py, detached(py, || work(&x))?)
}

/// Work that changes a tensor's elements and returns its object.
pub fn in_place(
    py: Python<'_>,
    x: TensorArg,
    work: impl FnOnce(&Tensor) -> strided_core::Result<()> + Send,
) -> Result<Object> {
    if x.size() < LARGE {
        work(&x)?;
    } else {
        let tensor = Tensor::clone(&x);
        detached(py, || work(&tensor))?;
    }
    Ok(again(x.0))
}

/// New tensors; nothing where an output was written.
pub type Made = [Option<Tensor>; 2];

/// A handle of our own on an argument.
pub fn own(argument: Option<TensorArg>) -> Option<Tensor> {
    argument.as_deref().cloned()
}

/// Work with one result: into `out`, or a new tensor.
pub fn placed(
    py: Python<'_>,
    x: TensorArg,
    out: Option<TensorArg>,
    work: impl FnOnce(&Tensor, Option<&Tensor>) -> strided_core::Result<Option<Tensor>> + Send,
) -> Result<Object> {
    placed_as_large(py, x, x.size(), out, work)
}

/// The same for work that is as large as so many elements, whatever the size of `x`.
pub fn placed_as_large(
    py: Python<'_>,
    x: TensorArg,
    size: usize,
    out: Option<TensorArg>,
    work: impl FnOnce(&Tensor, Option<&Tensor>) -> strided_core::Result<Option<Tensor>> + Send,
) -> Result<Object> {
    let [result, _] = objects(py, x, size, [out, None], |x, [out, _]| Ok([work(x, out)?, None]))?;
    Ok(result.expect("there is a result").unbind().into_ptr())
}

/// Work with two results: into a pair of outputs, or new tensors, as a tuple of `strided.return_types`.
pub fn placed_pair(
    py: Python<'_>,
    kind: &str,
    x: TensorArg,
    out: Option<Pair>,
    work: impl FnOnce(&Tensor, [Option<&Tensor>; 2]) -> strided_core::Result<Made> + Send,
) -> Result<Object> {
    let outs = out.map_or([None, None], |Pair(first, second)| [Some(first), Some(second)]);
    let [first, second] =
        objects(py, x, x.size(), outs, work)?.map(|result| result.expect("there are two results"));
    named(py, kind, (first, second))
}

/// A tuple of a class of `strided.return_types`.
fn named<'py>(py: Python<'py>, kind: &str, parts: (Bound<'py, PyAny>, Bound<'py, PyAny>)) -> Result<Object> {
    static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let classes =
        CLASSES.get_or_try_init(py, || Ok::<_, PyErr>(py.import("strided.return_types")?.dict().unbind()))?;
    let class = classes.bind(py).get_item(kind)?.expect("every kind has a class").cast_into::<PyType>();
    let (class, parts) = (class.map_err(PyErr::from)?, (parts,).into_pyobject(py)?);
    // SAFETY: tuples are made by this function, those of a class too; the class's own would only count its arguments.
    unsafe {
        let slot = ffi::PyType_GetSlot(&raw mut ffi::PyTuple_Type, ffi::Py_tp_new);
        let make = std::mem::transmute::<*mut c_void, ffi::newfunc>(slot);
        let made = make(class.as_type_ptr(), parts.as_ptr(), std::ptr::null_mut());
        Ok(Bound::from_owned_ptr_or_err(py, made)?.into_ptr())
    }
}

/// Writes a result into an `out`, which is resized if it has no elements.
fn deliver(py: Python<'_>, out: TensorArg, result: &Tensor) -> Result<Object> {
    if takes_any_shape(&out) {
        return resize_and_copy(py, out, result);
    }
    output::check(&out, result.dtype(), result.layout())?;
    in_place(py, out, |out| copy::copy(out, result))
}

/// Whether an `out` takes the shape of the result: it has no elements.
pub fn takes_any_shape(out: &Tensor) -> bool {
    out.size() == 0
}

/// Writes a result into an `out` without elements, which is resized to it.
pub fn resize_and_copy(py: Python<'_>, out: TensorArg, result: &Tensor) -> Result<Object> {
    output::check_category(&out, result.dtype())?;
    resize(py, out, &result.layout().shape())?;
    in_place(py, out, |out| copy::copy(out, result))
}

/// Gives a tensor's object another shape, row-major. The storage grows where it must.
pub fn resize(py: Python<'_>, x: TensorArg, shape: &[isize]) -> Result<()> {
    let mut tensor = Tensor::clone(&x);
    // Waits for operations of other threads, which may need to attach before they let go of their arguments.
    waiting(py, || tensor.resize(shape))?;
    // SAFETY: a tensor, and no reference into it is alive.
    unsafe { replace(x.0, tensor) };
    Ok(())
}

/// Computes, on handles of our own and detached if the work is large; the results as objects, new ones or the outputs.
fn objects<'py>(
    py: Python<'py>,
    x: TensorArg,
    size: usize,
    outs: [Option<TensorArg>; 2],
    work: impl FnOnce(&Tensor, [Option<&Tensor>; 2]) -> strided_core::Result<Made> + Send,
) -> Result<[Option<Bound<'py, PyAny>>; 2]> {
    // Where one of the outputs takes the shape of its result, all results are made first.
    let resized = outs.iter().flatten().any(|out| takes_any_shape(out));
    let targets = if resized { [None, None] } else { outs };
    let made = if size < LARGE {
        work(&x, [targets[0].as_deref(), targets[1].as_deref()])?
    } else {
        let (input, outputs) = (Tensor::clone(&x), targets.map(own));
        detached(py, || work(&input, [outputs[0].as_ref(), outputs[1].as_ref()]))?
    };
    let mut objects = [None, None];
    for (object, (new, out)) in objects.iter_mut().zip(made.into_iter().zip(outs)) {
        *object = match (new, out) {
            (Some(new), None) => Some(owned(py, wrap(py, new))?),
            (Some(new), Some(out)) => Some(owned(py, deliver(py, out, &new))?),
            (None, Some(out)) => Some(owned(py, Ok(again(out.0)))?),
            (None, None) => None,
        };
    }
    Ok(objects)
}
