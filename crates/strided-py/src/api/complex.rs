//! The parts of complex numbers, and views of complex elements as pairs of real ones.

use crate::abi::detach::{detach_if_large, work_on};
use crate::abi::errors::CallResult;
use crate::abi::refs::new_ref;
use crate::abi::tensor_object::wrap;
use crate::abi::{Arg, Value};
use crate::classes::elementwise::call_row;
use crate::convert::args::TensorArg;
use crate::convert::numbers::python_number;
use crate::convert::values::values;
use pyo3::prelude::*;
use strided_core::Tensor;
use strided_core::ops::copy;
use strided_core::ops::table::{OPS, Op};

methods! { rows(py, x: TensorArg):
    /// The complex conjugate: a copy, or the tensor itself if it is not complex.
    ///
    /// >>> strided.tensor([1 + 2j]).conj().tolist()
    /// [(1-2j)]
    both conj() => if x.dtype().is_complex() {
        call_row(py, &OPS[Op::conj_physical as usize], &[], &[x.object()], None)
    } else {
        Ok(new_ref(x.object()))
    };

    /// The real parts: a view, or the tensor itself if it is not complex.
    ///
    /// >>> strided.real(strided.tensor([1 + 2j, 3 - 4j])).tolist()
    /// [1.0, 3.0]
    function real(input: TensorArg) => real(py, input);

    /// The imaginary parts of a complex tensor, as a view.
    ///
    /// >>> strided.imag(strided.tensor([1 + 2j, 3 - 4j])).tolist()
    /// [2.0, -4.0]
    function imag(input: TensorArg) => wrap(py, input.part(1)?);

    /// Complex elements as pairs of real ones along a new last dim: a view.
    ///
    /// >>> strided.tensor([1 + 2j, 3 - 4j]).view_as_real().tolist()
    /// [[1.0, 2.0], [3.0, -4.0]]
    both view_as_real() => wrap(py, x.view_as_real()?);

    /// Pairs of real elements along the last dim as complex ones: a view.
    ///
    /// >>> strided.tensor([[1.0, 2.0], [3.0, -4.0]]).view_as_complex().tolist()
    /// [(1+2j), (3-4j)]
    both view_as_complex() => wrap(py, x.view_as_complex()?);
}

properties! { properties(py, x: TensorArg):
    /// The real parts: a view, or the tensor itself if it is not complex.
    ///
    /// >>> x = strided.tensor([1 + 2j, 3 - 4j])
    /// >>> x.real.zero_().tolist(), x.tolist()
    /// ([0.0, 0.0], [2j, -4j])
    real -> "Tensor" => real(py, x), set |x| if x.dtype().is_complex() { x.part(0) } else { Ok(x.clone()) };

    /// The imaginary parts of a complex tensor, as a view.
    ///
    /// >>> strided.tensor([1 + 2j, 3 - 4j]).imag.tolist()
    /// [2.0, -4.0]
    imag -> "Tensor" => wrap(py, x.part(1)?), set |x| x.part(1);
}

fn real<'a>(py: Python<'a>, x: TensorArg<'a>) -> CallResult<Value<'a>> {
    if x.dtype().is_complex() { wrap(py, x.part(0)?) } else { Ok(new_ref(x.object())) }
}

/// Writes a value, broadcast and cast, to a part of a tensor's elements.
fn assign_part(
    py: Python<'_>,
    x: TensorArg<'_>,
    value: Arg<'_>,
    part: fn(&Tensor) -> strided_core::Result<Tensor>,
) -> CallResult<()> {
    if let Some(number) = python_number(value)? {
        let part = part(&x)?;
        return Ok(detach_if_large(py, work_on(&part), || copy::fill(&part, number))?);
    }
    let source = values(value, x.dtype().real())?; // before the tensor is used: reading may run Python code
    let part = part(&x)?;
    Ok(detach_if_large(py, work_on(&part), || copy::copy(&part, &source))?)
}
