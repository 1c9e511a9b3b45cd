//! Elementwise operations whose arguments no row of the op table describes.

use super::masks::columns;
use crate::abi::detach::{detach_if_large, work_on};
use crate::abi::errors::Fail;
use crate::abi::refs::to_py;
use crate::classes::elementwise::call_row;
use crate::convert::args::{ConditionArg, FromArg, OperandArg, TensorArg};
use crate::convert::values::Values;
use strided_core::backend::host_reads;
use strided_core::ops::table::{OPS, Op};
use strided_core::{Scalar, Tensor};

methods! { rows(py, x: TensorArg):
    /// Elements of `input` where a condition is true, and of `other` where it is not. Tensors and numbers are broadcast to
    /// one shape; the condition is bool and takes no part in promotion. A condition alone results in the indices of its
    /// true elements: `nonzero(as_tuple=True)`.
    ///
    /// >>> x = strided.tensor([-1.5, 0.5, 2.5])
    /// >>> strided.where(x > 0, x, 0).tolist()
    /// [0.0, 0.5, 2.5]
    function r#where(condition: ConditionArg, input: Option<OperandArg> = None, other: Option<OperandArg> = None; out: Option<TensorArg> = None)
        => match (input, other) {
            (Some(input), Some(other)) => {
                let operands = [condition.0, input.0, other.0];
                call_row(py, &OPS[Op::r#where as usize], &[], &operands, out.map(TensorArg::object))
            }
            (None, None) => columns(py, Values::of(condition.0, None)?.tensor),
            _ => Err(Fail::Type("input and other are given together".into())),
        };

    /// Elements of the tensor where a condition is true, and of `other` where it is not.
    ///
    /// >>> x = strided.tensor([-1.5, 0.5, 2.5])
    /// >>> x.where(x > 0, 0).tolist()
    /// [0.0, 0.5, 2.5]
    method r#where(condition: ConditionArg, other: OperandArg) => call_row(py, &OPS[Op::r#where as usize], &[], &[condition.0, x.object(), other.0], None);

    /// Whether all elements of two tensors are close, by the rule of `isclose`.
    ///
    /// >>> x = strided.tensor([1.0, 2.0])
    /// >>> x.allclose(x + 1e-7), x.allclose(x + 1)
    /// (True, False)
    both allclose(other: OperandArg, rtol: f64 = 1e-05, atol: f64 = 1e-08, equal_nan: bool = False) -> "bool" => {
        let row = if equal_nan { Op::isclose_nan } else { Op::isclose };
        let tolerances = [rtol, atol].map(|tolerance| Some(Scalar::Float(tolerance)));
        let close = call_row(py, &OPS[row as usize], &tolerances, &[x.object(), other.0], None)?;
        let close = Tensor::clone(&*TensorArg::from_arg(close.as_borrowed(), "close")?);
        to_py(py, detach_if_large(py, work_on(&close), || host_reads::all(&close))?)
    };

    /// The elements rounded to whole numbers, or to `ndigits` decimals: Python's `round(x, ndigits)`.
    ///
    /// >>> strided.tensor([1.125, 2.5]).__round__(2).tolist()
    /// [1.1200000047683716, 2.5]
    method __round__(ndigits: Option<isize> = None) => {
        let decimals = [ndigits.map(|digits| Scalar::Int(digits as i128))];
        call_row(py, &OPS[Op::round as usize], &decimals, &[x.object()], None)
    };
}
