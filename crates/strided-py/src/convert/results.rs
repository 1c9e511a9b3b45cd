//! How a method calls the engine: it runs a rule on the tensors of its operands, detached from the interpreter if that is much
//! work, and returns the result as a new object, or the output that the caller passed.
//!
//! A rule gets references to the tensors inside the objects as long as no other Python thread can run. Detached, it gets handles
//! of its own, since other threads may replace the tensors of the objects meanwhile. So the work must be known before the rule
//! runs: it is the number of elements of the operands, unless the rule's family in `ops/` has a function for it.

use super::args::{TensorArg, TensorPair};
use crate::abi::Value;
use crate::abi::detach::{
    DEVICE_WORK, MIN_DETACHED_ELEMENTS, detach, detach_if_large, detach_to_wait, work_on,
};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::late::{self, Late};
use crate::abi::refs::{new_ref, new_tuple};
use crate::abi::tensor_object::{replace, wrap, wrap_with};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use smallvec::SmallVec;
use std::ffi::c_void;
use strided_core::ops::{Out, OutPair, copy, output};
use strided_core::{DType, Device, Layout, Result, Tensor};

/// A view of a tensor as a new object.
#[inline(always)]
pub fn view<'py>(py: Python<'py>, x: &Tensor, layout: Result<Layout>) -> CallResult<Value<'py>> {
    wrap_with(py, |inside| {
        *inside = Some(x.with_layout(layout?));
        Ok(())
    })
}

/// Views of a tensor as a tuple.
pub fn views<'py>(py: Python<'py>, x: &Tensor, layouts: Result<Vec<Layout>>) -> CallResult<Value<'py>> {
    let x = x.clone(); // making objects may run Python code that replaces the object's tensor
    new_tuple(py, layouts?.into_iter().map(|layout| view(py, &x, Ok(layout))))
}

/// Tensors as a tuple of new objects.
pub fn tuple_of(py: Python<'_>, tensors: Vec<Tensor>) -> CallResult<Value<'_>> {
    new_tuple(py, tensors.into_iter().map(|x| wrap(py, x)))
}

/// Runs a rule. Its work is the number of elements of the operands.
#[inline]
pub fn call<'a, const N: usize>(
    py: Python<'a>,
    operands: [TensorArg<'a>; N],
    out: Option<TensorArg<'a>>,
    rule: impl FnOnce([&Tensor; N], Out) -> Result<Tensor> + Send,
) -> CallResult<Value<'a>> {
    let work = operands.iter().fold(0, |sum, x| x.size().saturating_add(sum));
    call_with_work(py, operands, work, out, rule)
}

/// [`call`] with the work in elements of a cheap operation.
pub fn call_with_work<'a, const N: usize>(
    py: Python<'a>,
    operands: [TensorArg<'a>; N],
    work: usize,
    out: Option<TensorArg<'a>>,
    rule: impl FnOnce([&Tensor; N], Out) -> Result<Tensor> + Send,
) -> CallResult<Value<'a>> {
    let work = with_devices(&operands, work);
    if out.is_none() && work < MIN_DETACHED_ELEMENTS {
        return wrap_with(py, |inside| {
            *inside = Some(rule(operands.each_ref().map(|x| &**x), Out::New)?);
            Ok(())
        });
    }
    let mut rule = Some(rule);
    call_into(py, &operands, work, out, &mut |tensors, out| {
        rule.take().expect(CALLED_ONCE)(array_of(tensors), out)
    })
}

/// [`call_with_work`] with the receiver as a separate argument of the rule.
pub fn call_with_others<'a, const N: usize>(
    py: Python<'a>,
    x: TensorArg<'a>,
    others: [TensorArg<'a>; N],
    work: usize,
    out: Option<TensorArg<'a>>,
    rule: impl FnOnce(&Tensor, [&Tensor; N], Out) -> Result<Tensor> + Send,
) -> CallResult<Value<'a>> {
    let work = with_devices(&others, with_devices(&[x], work));
    if out.is_none() && work < MIN_DETACHED_ELEMENTS {
        return wrap_with(py, |inside| {
            *inside = Some(rule(&x, others.each_ref().map(|x| &**x), Out::New)?);
            Ok(())
        });
    }
    let operands: SmallVec<[TensorArg; 4]> = std::iter::once(x).chain(others).collect();
    let mut rule = Some(rule);
    call_into(py, &operands, work, out, &mut |tensors, out| {
        rule.take().expect(CALLED_ONCE)(tensors[0], array_of(&tensors[1..]), out)
    })
}

/// [`call_with_work`] with an output, or for much work. Not generic over the rule, so that it is compiled once.
fn call_into<'a>(
    py: Python<'a>,
    operands: &[TensorArg<'a>],
    work: usize,
    out: Option<TensorArg<'a>>,
    rule: &mut (dyn FnMut(&[&Tensor], Out) -> Result<Tensor> + Send),
) -> CallResult<Value<'a>> {
    let target = out.filter(|out| !output::takes_any_shape(out));
    let result = run_rule(py, operands, work, target, None, &mut |tensors, [target, _]| {
        rule(tensors, target.map_or(Out::New, Out::Into))
    })?;
    match (out, target) {
        (None, _) => wrap(py, result),
        (Some(out), Some(_)) => Ok(new_ref(out.object())),
        (Some(out), None) => write_to_out(py, out, &result),
    }
}

/// Runs a rule with two results, into a pair of outputs or new tensors. Returns a tuple of `strided.return_types`. `positions`
/// says that the second result has positions, whose output must be int64.
pub fn call_pair<'a, const N: usize>(
    py: Python<'a>,
    kind: &str,
    positions: bool,
    operands: [TensorArg<'a>; N],
    out: Option<TensorPair<'a>>,
    rule: impl FnOnce([&Tensor; N], OutPair) -> Result<[Tensor; 2]> + Send,
) -> CallResult<Value<'a>> {
    let mut rule = Some(rule);
    call_into_pair(py, kind, positions, &operands, out, &mut |tensors, outs| {
        rule.take().expect(CALLED_ONCE)(array_of(tensors), outs)
    })
}

/// [`call_pair`], not generic over the rule.
fn call_into_pair<'a>(
    py: Python<'a>,
    kind: &str,
    positions: bool,
    operands: &[TensorArg<'a>],
    out: Option<TensorPair<'a>>,
    rule: &mut (dyn FnMut(&[&Tensor], OutPair) -> Result<[Tensor; 2]> + Send),
) -> CallResult<Value<'a>> {
    let outs = out.map(|TensorPair(first, second)| [first, second]);
    // If an output takes the shape of its result, both results are new tensors at first.
    let targets = outs.filter(|outs| !outs.iter().any(|out| output::takes_any_shape(out)));
    let work = operands.iter().fold(0, |sum, x| work_on(x).saturating_add(sum));
    let [first, second] = targets.map_or([None, None], |outs| outs.map(Some));
    let results = run_rule(py, operands, work, first, second, &mut |tensors, targets| match targets {
        [Some(first), Some(second)] => rule(tensors, OutPair::Into([first, second])),
        _ => rule(tensors, OutPair::New),
    })?;
    let objects = match (outs, targets) {
        (None, _) => {
            let [first, second] = results;
            (wrap(py, first)?, wrap(py, second)?)
        }
        (Some([first, second]), Some(_)) => (new_ref(first.object()), new_ref(second.object())),
        (Some(outs), None) => write_to_pair(py, outs, &results, positions)?,
    };
    named_tuple(py, kind, objects)
}

/// Runs a rule that changes the elements of a tensor; returns its object.
pub fn in_place<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    rule: impl FnOnce(&Tensor) -> Result<()> + Send,
) -> CallResult<Value<'a>> {
    let work = x.size();
    in_place_with_work(py, x, [], work, |x, []| rule(x))
}

/// [`in_place`] with other operands, and with the work in elements of a cheap operation.
pub fn in_place_with_work<'a, const N: usize>(
    py: Python<'a>,
    x: TensorArg<'a>,
    others: [TensorArg<'a>; N],
    work: usize,
    rule: impl FnOnce(&Tensor, [&Tensor; N]) -> Result<()> + Send,
) -> CallResult<Value<'a>> {
    let work = with_devices(&others, with_devices(&[x], work));
    if work < MIN_DETACHED_ELEMENTS {
        rule(&x, others.each_ref().map(|x| &**x))?;
    } else {
        let mut rule = Some(rule);
        run_rule(py, &others, work, Some(x), None, &mut |others, [x, _]| {
            rule.take().expect(CALLED_ONCE)(x.expect("passed above"), array_of(others))
        })?;
    }
    Ok(new_ref(x.object()))
}

/// The work of a call on tensors of any device.
#[inline(always)]
fn with_devices<const N: usize>(operands: &[TensorArg<'_>; N], work: usize) -> usize {
    // One branch for all operands: almost all calls are on the host.
    let on_host = operands.iter().fold(true, |on_host, x| on_host & (x.device() == Device::Cpu));
    if on_host { work } else { DEVICE_WORK }
}

/// Clones the tensor of an optional argument, for a rule that may run detached.
pub fn cloned(argument: Option<TensorArg<'_>>) -> Option<Tensor> {
    argument.as_deref().cloned()
}

const CALLED_ONCE: &str = "a rule is called once";

fn array_of<'t, const N: usize>(tensors: &[&'t Tensor]) -> [&'t Tensor; N] {
    tensors.try_into().expect("a rule gets the operands of its call")
}

/// Runs a rule on tensors, detached from the interpreter if it is much work.
fn run_rule<'a, R: Send>(
    py: Python<'a>,
    operands: &[TensorArg<'a>],
    work: usize,
    first: Option<TensorArg<'a>>,
    second: Option<TensorArg<'a>>,
    rule: &mut (dyn FnMut(&[&Tensor], [Option<&Tensor>; 2]) -> R + Send),
) -> R {
    if work < MIN_DETACHED_ELEMENTS {
        let tensors: SmallVec<[&Tensor; 4]> = operands.iter().map(|x| &**x).collect();
        return rule(&tensors, [first.as_deref(), second.as_deref()]);
    }
    let handles: SmallVec<[Tensor; 4]> = operands.iter().map(|x| Tensor::clone(x)).collect();
    let (first, second) = (cloned(first), cloned(second));
    detach(py, || {
        let tensors: SmallVec<[&Tensor; 4]> = handles.iter().collect();
        rule(&tensors, [first.as_ref(), second.as_ref()])
    })
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
    write: impl FnOnce(&Tensor) -> Result<()> + Send,
) -> CallResult<Value<'a>> {
    let target = output::target("out", &out, result, wanted)?;
    if output::takes_any_shape(&out) {
        grow(py, std::slice::from_ref(&target))?;
    }
    detach_if_large(py, work_on(&target), || write(&target))?;
    Ok(finish_out(out, target))
}

/// Makes the storages of outputs long enough for their results.
fn grow(py: Python<'_>, targets: &[Tensor]) -> CallResult<()> {
    // Waits for operations of other threads, which may need the interpreter to release their arguments.
    Ok(detach_to_wait(py, || targets.iter().try_for_each(Tensor::grow_storage))?)
}

/// The object of an output after its result was written to `target`: it becomes `target` if it had no elements.
fn finish_out<'a>(out: TensorArg<'a>, target: Tensor) -> Value<'a> {
    if output::takes_any_shape(&out) {
        // SAFETY: `out` is a tensor, and no reference to its old tensor is used again.
        unsafe { replace(out.object(), target) };
    }
    new_ref(out.object())
}

/// Writes two results to outputs, of which one or both take the shape of their result. Both are checked before one is changed.
fn write_to_pair<'a>(
    py: Python<'a>,
    outs: [TensorArg<'a>; 2],
    results: &[Tensor; 2],
    positions: bool,
) -> CallResult<(Value<'a>, Value<'a>)> {
    let [first, second] = results;
    let targets = [
        output::target("out[0]", &outs[0], first.dtype(), first.layout())?,
        output::target("out[1]", &outs[1], second.dtype(), second.layout())?,
    ];
    if positions {
        output::check_indices("out[1]", &targets[1])?;
    }
    output::check_disjoint(&targets[0], &targets[1])?;
    grow(py, &targets)?;
    let pairs = || targets.iter().zip(results);
    let elements = targets.iter().fold(0, |sum, x| work_on(x).saturating_add(sum));
    detach_if_large(py, elements, || pairs().try_for_each(|(target, result)| copy::copy(target, result)))?;
    let [first, second] = targets;
    Ok((finish_out(outs[0], first), finish_out(outs[1], second)))
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
