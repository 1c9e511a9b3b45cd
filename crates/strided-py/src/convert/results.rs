//! Results as objects: views, new tensors, or the outputs that the caller passed.

use super::args::{TensorArg, TensorPair};
use crate::abi::Value;
use crate::abi::detach::{MIN_DETACHED_ELEMENTS, detach, detach_if_large, detach_to_wait};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::late::{self, Late};
use crate::abi::refs::{new_ref, new_tuple};
use crate::abi::tensor_object::{replace, wrap, wrap_with};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::ffi::c_void;
use strided_core::ops::{copy, output};
use strided_core::{DType, Layout, Tensor};

/// A view of a tensor as a new object.
#[inline(always)]
pub fn view<'py>(
    py: Python<'py>,
    x: &Tensor,
    layout: strided_core::Result<Layout>,
) -> CallResult<Value<'py>> {
    wrap_with(py, |inside| {
        *inside = Some(x.with_layout(layout?));
        Ok(())
    })
}

/// Views of a tensor as a tuple.
pub fn views<'py>(
    py: Python<'py>,
    x: &Tensor,
    layouts: strided_core::Result<Vec<Layout>>,
) -> CallResult<Value<'py>> {
    let x = x.clone(); // making objects may run Python code that replaces the object's tensor
    new_tuple(py, layouts?.into_iter().map(|layout| view(py, &x, Ok(layout))))
}

/// Tensors as a tuple of new objects.
pub fn tuple_of(py: Python<'_>, tensors: Vec<Tensor>) -> CallResult<Value<'_>> {
    new_tuple(py, tensors.into_iter().map(|x| wrap(py, x)))
}

/// A new tensor computed from one.
pub fn compute<'py>(
    py: Python<'py>,
    x: &Tensor,
    work: impl FnOnce(&Tensor) -> strided_core::Result<Tensor> + Send,
) -> CallResult<Value<'py>> {
    if x.size() < MIN_DETACHED_ELEMENTS {
        return wrap(py, work(x)?);
    }
    let x = x.clone();
    wrap(py, detach(py, || work(&x))?)
}

/// Work that changes a tensor's elements; returns its object.
pub fn in_place<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    work: impl FnOnce(&Tensor) -> strided_core::Result<()> + Send,
) -> CallResult<Value<'a>> {
    if x.size() < MIN_DETACHED_ELEMENTS {
        work(&x)?;
    } else {
        let tensor = Tensor::clone(&x);
        detach(py, || work(&tensor))?;
    }
    Ok(new_ref(x.object()))
}

/// New tensors; `None` for a result that was written to an output.
pub type NewTensors = [Option<Tensor>; 2];

/// A handle of our own on an argument.
pub fn cloned(argument: Option<TensorArg<'_>>) -> Option<Tensor> {
    argument.as_deref().cloned()
}

/// Work with one result: written to `out`, or a new tensor.
pub fn into_out<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    out: Option<TensorArg<'a>>,
    work: impl FnOnce(&Tensor, Option<&Tensor>) -> strided_core::Result<Option<Tensor>> + Send,
) -> CallResult<Value<'a>> {
    sized_into_out(py, x, x.size(), out, work)
}

/// As [`into_out`], for work on a number of elements other than that of `x`.
pub fn sized_into_out<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    elements: usize,
    out: Option<TensorArg<'a>>,
    work: impl FnOnce(&Tensor, Option<&Tensor>) -> strided_core::Result<Option<Tensor>> + Send,
) -> CallResult<Value<'a>> {
    if out.is_none() && elements < MIN_DETACHED_ELEMENTS {
        return wrap_with(py, |inside| {
            *inside = work(&x, None)?;
            assert!(inside.is_some(), "there is a result");
            Ok(())
        });
    }
    let mut work = once(|x: &Tensor, [out, _]: Outputs| Ok([work(x, out)?, None]));
    let [result, _] = run(py, x, elements, [out, None], SecondResult::Values, &mut work)?;
    Ok(result.expect("there is a result"))
}

/// Work on `elements` elements of tensors on which it has handles of its own. Its result is written to `out`, or a new
/// tensor.
pub fn owned_into_out<'a>(
    py: Python<'a>,
    elements: usize,
    out: Option<TensorArg<'a>>,
    work: impl FnOnce(Option<&Tensor>) -> strided_core::Result<Option<Tensor>> + Send,
) -> CallResult<Value<'a>> {
    let mut work = Some(work);
    let mut once = |out: Option<&Tensor>| work.take().expect("called once")(out);
    run_owned(py, elements, out, &mut once)
}

/// [`owned_into_out`], once for all kinds of work.
fn run_owned<'a>(
    py: Python<'a>,
    elements: usize,
    out: Option<TensorArg<'a>>,
    work: &mut (dyn FnMut(Option<&Tensor>) -> strided_core::Result<Option<Tensor>> + Send),
) -> CallResult<Value<'a>> {
    let target = out.filter(|out| !output::takes_any_shape(out));
    let new = if elements < MIN_DETACHED_ELEMENTS {
        work(target.as_deref())?
    } else {
        let target = cloned(target);
        detach(py, || work(target.as_ref()))?
    };
    Ok(delivered(py, new, out)?.expect("there is a result"))
}

/// What the second of two results is. An output for indices must be int64.
#[derive(Clone, Copy, PartialEq)]
pub enum SecondResult {
    Values,
    Indices,
}

/// Work with two results: written to a pair of outputs, or new tensors. Returns a tuple of `strided.return_types`.
pub fn into_out_pair<'a>(
    py: Python<'a>,
    kind: &str,
    second: SecondResult,
    x: TensorArg<'a>,
    out: Option<TensorPair<'a>>,
    work: impl FnOnce(&Tensor, Outputs) -> strided_core::Result<NewTensors> + Send,
) -> CallResult<Value<'a>> {
    let outs = out.map_or([None, None], |TensorPair(first, second)| [Some(first), Some(second)]);
    let [first, second] = run(py, x, x.size(), outs, second, &mut once(work))?
        .map(|result| result.expect("there are two results"));
    named_tuple(py, kind, (first, second))
}

/// A tuple of a class of `strided.return_types`.
fn named_tuple<'py>(py: Python<'py>, kind: &str, items: (Value<'py>, Value<'py>)) -> CallResult<Value<'py>> {
    static CLASSES: Late<Py<PyDict>> = Late::new();
    // A copy of the module's names: its own dict is cleared when the interpreter shuts down.
    let import = || Ok(late::import(py, "strided.return_types")?.dict().copy()?.unbind());
    let classes = CLASSES.get_or_make(py, import)?.bind(py);
    let class = classes.get_item(kind)?.ok_or_else(|| Fail::Type(format!("there is no class {kind}")))?;
    let class = class.cast_into::<PyType>().map_err(PyErr::from)?;
    let arguments = (items,).into_pyobject(py)?;
    // SAFETY: `tp_new` of tuple makes an instance of a subclass from a tuple of one argument, a sequence. It is called
    // directly because `__new__` of the class, written in Python, only counts its arguments. The result is a new reference,
    // or null with an exception set.
    unsafe {
        let slot = ffi::PyType_GetSlot(&raw mut ffi::PyTuple_Type, ffi::Py_tp_new);
        let new = std::mem::transmute::<*mut c_void, ffi::newfunc>(slot);
        let tuple = new(class.as_type_ptr(), arguments.as_ptr(), std::ptr::null_mut());
        Ok(Bound::from_owned_ptr_or_err(py, tuple)?)
    }
}

/// Writes a result to an output, which is resized if it has no elements.
pub fn write_to_out<'a>(py: Python<'a>, out: TensorArg<'a>, result: &Tensor) -> CallResult<Value<'a>> {
    write_out(py, out, result.dtype(), result.layout(), |out| copy::copy(out, result))
}

/// Writes a result of this dtype and shape to an output by a function. An output without elements is resized to the result. If
/// anything fails, the output keeps its shape.
pub fn write_out<'a>(
    py: Python<'a>,
    out: TensorArg<'a>,
    result: DType,
    wanted: &Layout,
    write: impl FnOnce(&Tensor) -> strided_core::Result<()> + Send,
) -> CallResult<Value<'a>> {
    let target = output::target("out", &out, result, wanted)?;
    if output::takes_any_shape(&out) {
        grow(py, &[Some(target.clone())])?;
    }
    detach_if_large(py, target.size(), || write(&target))?;
    Ok(written(out, target))
}

/// Makes the storages of outputs long enough for their results.
fn grow(py: Python<'_>, targets: &[Option<Tensor>]) -> CallResult<()> {
    // Waits for operations of other threads, which may need the interpreter to release their arguments.
    Ok(detach_to_wait(py, || targets.iter().flatten().try_for_each(Tensor::grow_storage))?)
}

/// The object of an output whose result was written to `target`. It takes the shape of the result if it had no elements.
fn written<'a>(out: TensorArg<'a>, target: Tensor) -> Value<'a> {
    if output::takes_any_shape(&out) {
        // SAFETY: `out` is a tensor, and no reference to its old tensor is used again.
        unsafe { replace(out.object(), target) };
    }
    new_ref(out.object())
}

/// Changes the shape of a tensor's object, in row-major order. The storage grows if it must.
pub fn resize(py: Python<'_>, x: TensorArg<'_>, shape: &[isize]) -> CallResult<()> {
    let mut tensor = Tensor::clone(&x);
    // Waits for operations of other threads, which may need the interpreter to release their arguments.
    detach_to_wait(py, || tensor.resize(shape))?;
    // SAFETY: `x` is a tensor, and no reference to its old tensor is used again.
    unsafe { replace(x.object(), tensor) };
    Ok(())
}

/// The outputs that work writes to; `None` for a new tensor.
type Outputs<'t> = [Option<&'t Tensor>; 2];

/// Work that is called once, as a function that can be called through a pointer: [`run`] exists once for all kinds of work.
fn once(
    work: impl FnOnce(&Tensor, Outputs) -> strided_core::Result<NewTensors> + Send,
) -> impl FnMut(&Tensor, Outputs) -> strided_core::Result<NewTensors> + Send {
    let mut work = Some(work);
    move |x, outs| work.take().expect("called once")(x, outs)
}

/// Runs work, on handles of our own and detached if there are many elements. The results are new objects or the outputs.
fn run<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    elements: usize,
    outs: [Option<TensorArg<'a>>; 2],
    second: SecondResult,
    work: &mut (dyn FnMut(&Tensor, Outputs) -> strided_core::Result<NewTensors> + Send),
) -> CallResult<[Option<Value<'a>>; 2]> {
    // If an output takes the shape of its result, all results are new tensors at first.
    let any_shape = outs.iter().flatten().any(|out| output::takes_any_shape(out));
    let targets = if any_shape { [None, None] } else { outs };
    let tensors = if elements < MIN_DETACHED_ELEMENTS {
        work(&x, [targets[0].as_deref(), targets[1].as_deref()])?
    } else {
        let (input, outputs) = (Tensor::clone(&x), targets.map(cloned));
        detach(py, || work(&input, [outputs[0].as_ref(), outputs[1].as_ref()]))?
    };
    if any_shape {
        return deliver(py, tensors, outs, second);
    }
    let mut results = [None, None];
    for (result, (new, out)) in results.iter_mut().zip(tensors.into_iter().zip(outs)) {
        *result = delivered(py, new, out)?;
    }
    Ok(results)
}

/// Writes new tensors to outputs, of which some take the shape of their result. All are checked before one is changed.
fn deliver<'a>(
    py: Python<'a>,
    new: NewTensors,
    outs: [Option<TensorArg<'a>>; 2],
    second: SecondResult,
) -> CallResult<[Option<Value<'a>>; 2]> {
    let names = if outs[1].is_some() { ["out[0]", "out[1]"] } else { ["out"; 2] };
    let mut targets = [None, None];
    for (k, target) in targets.iter_mut().enumerate() {
        if let (Some(new), Some(out)) = (&new[k], outs[k]) {
            *target = Some(output::target(names[k], &out, new.dtype(), new.layout())?);
        }
    }
    if let [Some(first), Some(other)] = &targets {
        if second == SecondResult::Indices {
            output::check_indices(names[1], other)?;
        }
        output::check_disjoint(first, other)?;
    }
    grow(py, &targets)?;
    let pairs = || targets.iter().flatten().zip(new.iter().flatten());
    let elements = pairs().map(|(target, _)| target.size()).sum();
    detach_if_large(py, elements, || pairs().try_for_each(|(target, new)| copy::copy(target, new)))?;
    let mut results = [None, None];
    for ((result, target), out) in results.iter_mut().zip(targets).zip(outs) {
        *result = target.zip(out).map(|(target, out)| written(out, target));
    }
    Ok(results)
}

/// A new tensor as an object, or written to an output. Without a new tensor, the output, to which the work has written.
fn delivered<'a>(
    py: Python<'a>,
    new: Option<Tensor>,
    out: Option<TensorArg<'a>>,
) -> CallResult<Option<Value<'a>>> {
    Ok(match (new, out) {
        (Some(new), None) => Some(wrap(py, new)?),
        (Some(new), Some(out)) => Some(write_to_out(py, out, &new)?),
        (None, Some(out)) => Some(new_ref(out.object())),
        (None, None) => None,
    })
}
