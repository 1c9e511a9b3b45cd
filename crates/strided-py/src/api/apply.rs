//! Functions over elements: `apply_`, `map_` and `map2_` call a Python function for each element.

use crate::abi::detach::{detach_if_large, work_on};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::{call_with, is_none, new_ref};
use crate::abi::tensor_object::wrap;
use crate::abi::{Arg, Value};
use crate::convert::args::{CallableArg, FromArg, RestObjects, TensorArg};
use crate::convert::exchange::Exported;
use crate::convert::numbers::number;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple};
use std::ptr::null_mut;
use strided_core::backend::items as item;
use strided_core::layout::{Dims, Mode};
use strided_core::ops::copy;
use strided_core::storage::Access;
use strided_core::tensor::conflict;
use strided_core::{DType, Error, Layout, Scalar, Tensor};

methods! { rows(py, this: TensorArg):
    /// Replaces each element by the result of a function of it, in row-major order.
    ///
    /// The function gets a Python number and returns a number, which must fit the dtype as in `fill_`, or None, which keeps
    /// the element. An exception of the function ends the call; the elements that were written until then keep their new
    /// values. The function may use the tensor, but nothing can resize its storage until the call ends.
    ///
    /// >>> strided.arange(4).apply_(lambda a: a * a).tolist()
    /// [0, 1, 4, 9]
    /// >>> strided.tensor([-2.0, 3.0]).apply_(lambda a: 0 if a < 0 else None).tolist()
    /// [0.0, 3.0]
    method apply_(callable: CallableArg) => replace_each(py, this, &[], callable.0);

    /// Replaces each element by the result of a function of it and of the element of another tensor, which is expanded to
    /// the shape of this one.
    ///
    /// The rules of `apply_` hold. The other tensor may have any dtype. If it shares memory with this one, the function
    /// gets its elements as they were before the call.
    ///
    /// >>> strided.arange(4).view(2, 2).map_(strided.tensor([10, 20]), lambda a, b: a + b).tolist()
    /// [[10, 21], [12, 23]]
    method map_(tensor: TensorArg, callable: CallableArg) => replace_each(py, this, &[("tensor", tensor)], callable.0);

    /// Replaces each element by the result of a function of it and of the elements of two other tensors: `map_` with one
    /// more tensor.
    ///
    /// >>> strided.arange(3).map2_(strided.arange(3), strided.tensor(5), lambda a, b, c: a + b * c).tolist()
    /// [0, 6, 12]
    method map2_(x: TensorArg, y: TensorArg, callable: CallableArg) => replace_each(py, this, &[("x", x), ("y", y)], callable.0);

    /// Calls a function with views of the elements of a tensor, one after the other in row-major order. Further arguments
    /// follow: elements of tensors that have as many or are expanded to the first one, and other objects as they are.
    ///
    /// The function may write to elements that overlap.
    ///
    /// >>> x = strided.zeros(1).expand(3)
    /// >>> strided._strided._each_in_order(strided.Tensor.add_, x, 2)
    /// >>> x.tolist()
    /// [6.0, 6.0, 6.0]
    function _each_in_order(callable: CallableArg, input: TensorArg, others: RestObjects) -> "None" => each_in_order(py, callable.0, input, others.0);

    /// Replaces each element by its sum with the one before it, or their product, and returns the tensor. Each result is
    /// rounded to the dtype, and none is computed in another order.
    ///
    /// >>> x = strided.tensor([1.0, 2.0, 3.0, 4.0])
    /// >>> strided._strided._accumulate_in_order(x).tolist()
    /// [1.0, 3.0, 6.0, 10.0]
    function _accumulate_in_order(input: TensorArg, product: bool = False) -> "Tensor" => {
        let x = Tensor::clone(&input);
        detach_if_large(py, work_on(&x), || copy::accumulate_in_order(&x, product))?;
        Ok(new_ref(input.object()))
    };

    /// Copies elements one after the other in row-major order, where tensors overlap too.
    ///
    /// >>> x = strided.tensor([1, 2, 3])
    /// >>> strided._strided._copy_in_order(x[1:], x[:-1])
    /// >>> x.tolist()
    /// [1, 1, 1]
    function _copy_in_order(input: TensorArg, src: TensorArg) -> "None" => {
        let (out, src) = (Tensor::clone(&input), Tensor::clone(&src));
        detach_if_large(py, work_on(&out), || copy::copy_in_order(&out, &src))?;
        Ok(py.None().into_bound(py))
    };
}

/// Calls a function with each element of `x`, as a view without dims, and those of the other tensors.
fn each_in_order<'a>(
    py: Python<'a>,
    callable: Arg<'a>,
    x: TensorArg<'a>,
    others: &[Arg<'a>],
) -> CallResult<Value<'a>> {
    let x = Tensor::clone(&x);
    let shape = x.layout().shape();
    let mut tensors = vec![(0, x)];
    let mut arguments: Vec<Value<'a>> = vec![py.None().into_bound(py)];
    for &other in others {
        if let Some(other) = TensorArg::read(other)? {
            let layout = other.layout();
            let pairs = layout.size() == tensors[0].1.size();
            let layout = if pairs { layout.clone() } else { layout.expand(&shape)? };
            tensors.push((arguments.len(), other.with_layout(layout)));
        }
        arguments.push(new_ref(other));
    }
    for position in 0..tensors[0].1.size() as isize {
        for (at, tensor) in &tensors {
            let element = Layout::scalar().at_offset(tensor.layout().location_at(position));
            arguments[*at] = wrap(py, tensor.with_layout(element))?;
        }
        callable.call1(PyTuple::new(py, &arguments)?)?;
    }
    Ok(py.None().into_bound(py))
}

/// The largest number of arguments of a function: the element, and those of two other tensors.
const MAX_OPERANDS: usize = 3;
/// A function in C does not look for signals itself; here the loop does, after this many calls.
const CALLS_PER_SIGNAL_CHECK: usize = 1 << 12;

/// Calls the function for each element of `x` and writes the results. The other tensors come with their names.
fn replace_each<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    inputs: &[(&'static str, TensorArg<'a>)],
    callable: Arg<'a>,
) -> CallResult<Value<'a>> {
    let out = Tensor::clone(&x);
    out.check_writable()?;
    drop(out.pin(Access::Write)?); // refuses read-only memory
    // The function runs any code, so the elements are exported instead of pinned: a resize by the function is refused. If
    // they were pinned, it would wait for itself.
    let mut operands = vec![Exported::new(out)?];
    for (name, input) in inputs {
        let input = expanded_input(py, &operands[0].tensor, name, Tensor::clone(input))?;
        operands.push(Exported::new(input)?);
    }
    let (mut walk, dtype) = (ElementWalk::new(&operands), operands[0].tensor.dtype());
    let mut calls = 0;
    while walk.next_row() {
        for _ in 0..walk.row_length {
            calls += 1;
            if calls % CALLS_PER_SIGNAL_CHECK == 0 {
                py.check_signals()?;
            }
            let result = walk.call(py, callable)?;
            // SAFETY: the walk is at an element of the output, which was pinned for writing above. Its memory stays in
            // place while exported.
            unsafe { write_result(walk.pointers[0], dtype, result.as_borrowed()) }?;
            walk.step();
        }
    }
    Ok(new_ref(x.object()))
}

/// Writes the result of a function to an element, unless it is None.
///
/// # Safety
/// `at` is the aligned address of a writable element of the dtype.
#[inline]
unsafe fn write_result(at: *mut u8, dtype: DType, result: Arg<'_>) -> CallResult<()> {
    // The results that most functions have, without a Scalar in between.
    match dtype {
        DType::F32 | DType::F64 if result.is_exact_instance_of::<PyFloat>() => {
            // SAFETY: checked to be a float.
            let value = unsafe { ffi::PyFloat_AsDouble(result.as_ptr()) };
            // SAFETY: the contract above.
            unsafe {
                if dtype == DType::F32 {
                    at.cast::<f32>().write(value as f32);
                } else {
                    at.cast::<f64>().write(value);
                }
            }
            return Ok(());
        }
        DType::I64 if result.is_exact_instance_of::<PyInt>() => {
            let mut overflow = 0;
            // SAFETY: checked to be an int.
            let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(result.as_ptr(), &mut overflow) };
            if overflow == 0 {
                // SAFETY: the contract above.
                unsafe { at.cast::<i64>().write(value) };
                return Ok(());
            }
        }
        _ => {}
    }
    if is_none(result) {
        return Ok(());
    }
    let value = Scalar::from_arg(result, "the result of callable")?;
    item::check_fits(value, dtype)?;
    // SAFETY: the contract above.
    unsafe { item::store(at, dtype, value) };
    Ok(())
}

/// An input in the shape of the output: a view, or a view of a copy if writing to the output could change it.
fn expanded_input(py: Python<'_>, out: &Tensor, name: &'static str, input: Tensor) -> CallResult<Tensor> {
    let shape = out.layout().shape();
    let Ok(layout) = input.layout().expand(&shape) else {
        let (got, wanted) = (input.layout().shape_text(), out.layout().shape_text());
        let got = format!("of shape {got}");
        return Err(Error::shape(name, got, format!("one that expands to {wanted}")).into());
    };
    let expanded = input.with_layout(layout);
    if !conflict(out, &expanded) {
        return Ok(expanded);
    }
    let copied = detach_if_large(py, work_on(&input), || copy::clone(&input))?;
    let layout = copied.layout().expand(&shape)?;
    Ok(copied.with_layout(layout))
}

/// A position in tensors of one shape, which moves along rows, in row-major order.
struct ElementWalk<'e> {
    operands: &'e [Exported],
    /// The dims other than the last one, and the index in each; `None` before the first row.
    outer: &'e [Mode],
    index: Option<Dims>,
    /// The extent of the last dim, and the distance in bytes of its elements in each operand.
    row_length: isize,
    row_steps: [isize; MAX_OPERANDS],
    /// The element of each operand at the position, null behind the last operand.
    pointers: [*mut u8; MAX_OPERANDS],
}

impl<'e> ElementWalk<'e> {
    fn new(operands: &'e [Exported]) -> ElementWalk<'e> {
        let (last, outer) = match operands[0].tensor.layout().modes().split_last() {
            Some((last, outer)) => (last.extent, outer),
            None => (1, &[][..]),
        };
        let mut walk = ElementWalk {
            operands,
            outer,
            index: None,
            row_length: last,
            row_steps: [0; MAX_OPERANDS],
            pointers: [null_mut(); MAX_OPERANDS],
        };
        for (at, operand) in operands.iter().enumerate() {
            walk.pointers[at] = operand.origin;
            walk.row_steps[at] = byte_step(&operand.tensor, outer.len());
        }
        walk
    }

    /// Moves from the end of a row to the start of the next one, or to the first one. Returns false if there is none.
    fn next_row(&mut self) -> bool {
        let Some(index) = &mut self.index else {
            self.index = Some(self.outer.iter().map(|_| 0).collect());
            return self.operands[0].tensor.size() > 0;
        };
        for (pointer, step) in self.pointers.iter_mut().zip(self.row_steps) {
            *pointer = pointer.wrapping_offset(-self.row_length * step);
        }
        for (dim, mode) in self.outer.iter().enumerate().rev() {
            index[dim] += 1;
            let indices = if index[dim] < mode.extent { 1 } else { 1 - mode.extent };
            for (pointer, operand) in self.pointers.iter_mut().zip(self.operands) {
                *pointer = pointer.wrapping_offset(indices * byte_step(&operand.tensor, dim));
            }
            if index[dim] < mode.extent {
                return true;
            }
            index[dim] = 0;
        }
        false
    }

    /// Moves to the next element of the row.
    #[inline]
    fn step(&mut self) {
        for (pointer, step) in self.pointers.iter_mut().zip(self.row_steps) {
            *pointer = pointer.wrapping_offset(step);
        }
    }

    /// Calls a function with the elements here as Python numbers.
    #[inline]
    fn call<'py>(&self, py: Python<'py>, callable: Arg<'py>) -> CallResult<Value<'py>> {
        let mut numbers: [Option<Value<'py>>; MAX_OPERANDS] = [None, None, None];
        for (at, operand) in self.operands.iter().enumerate() {
            // SAFETY: the pointer is at an element of the operand, whose memory stays in place while exported.
            numbers[at] = Some(unsafe { number_at(py, self.pointers[at], operand.tensor.dtype()) }?);
        }
        call_with(callable, &numbers)
    }
}

/// The distance in bytes of neighbours along a dim; 0 behind the last dim.
fn byte_step(x: &Tensor, dim: usize) -> isize {
    x.layout().modes().get(dim).map_or(0, |mode| mode.stride * x.dtype().size() as isize)
}

/// An element as a Python number.
///
/// # Safety
/// `at` is the aligned address of an initialised element of the dtype.
#[inline]
unsafe fn number_at(py: Python<'_>, at: *const u8, dtype: DType) -> CallResult<Value<'_>> {
    // SAFETY: the contract above. Each function returns a new reference, or null with an exception set.
    unsafe {
        let object = match dtype {
            DType::F32 => ffi::PyFloat_FromDouble(at.cast::<f32>().read() as f64),
            DType::F64 => ffi::PyFloat_FromDouble(at.cast::<f64>().read()),
            DType::I64 => ffi::PyLong_FromLongLong(at.cast::<i64>().read()),
            _ => return number(py, item::load(at, dtype)),
        };
        Bound::from_owned_ptr_or_opt(py, object).ok_or_else(|| Fail::raised(py))
    }
}
