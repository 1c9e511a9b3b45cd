//! Elementwise operations whose arguments no row of the op table describes, and the parts of complex numbers.

use crate::abi::detach::with_threads;
use crate::abi::errors::Fail;
use crate::abi::refs::{again, give, owned};
use crate::abi::tensor_object::{tensor_of, wrap};
use crate::classes::elementwise::call_row;
use crate::classes::tensor::real;
use crate::convert::args::{Any, TensorArg};
use strided_core::Scalar;
use strided_core::ops::elementwise;
use strided_core::ops::table::{OPS, Op};

methods! { rows(py, x):
    /// Elements of `input` where a condition holds, those of `other` where it does not. Tensors, or numbers, are
    /// broadcast to one shape; the condition is bool and takes no part in promotion.
    ///
    /// >>> x = strided.tensor([-1.5, 0.5, 2.5])
    /// >>> strided.where(x > 0, x, 0).tolist()
    /// [0.0, 0.5, 2.5]
    function r#where(condition: Any, input: Option<Any> = None, other: Option<Any> = None; out: Option<TensorArg> = None)
        => match (input, other) {
            (Some(input), Some(other)) => {
                let operands = [condition.0, input.0, other.0];
                call_row(py, &OPS[Op::r#where as usize], &[], &operands, out.map(|out| out.0))
            }
            (None, None) => Err(Fail::Type("a condition alone has no indices here: pass input and other as well".into())),
            _ => Err(Fail::Type("input and other are given together".into())),
        };

    /// The tensor's elements where a condition holds, those of `other` where it does not.
    ///
    /// >>> x = strided.tensor([-1.5, 0.5, 2.5])
    /// >>> x.where(x > 0, 0).tolist()
    /// [0.0, 0.5, 2.5]
    method r#where(condition: Any, other: Any) => call_row(py, &OPS[Op::r#where as usize], &[], &[condition.0, x.0, other.0], None);

    /// Whether all elements of two tensors are close, as `isclose` says.
    ///
    /// >>> x = strided.tensor([1.0, 2.0])
    /// >>> x.allclose(x + 1e-7), x.allclose(x + 1)
    /// (True, False)
    both allclose(other: Any, rtol: f64 = 1e-05, atol: f64 = 1e-08, equal_nan: bool = False) => {
        let row = if equal_nan { Op::isclose_nan } else { Op::isclose };
        let given = [rtol, atol].map(|tolerance| Some(Scalar::Float(tolerance)));
        let near = owned(py, call_row(py, &OPS[row as usize], &given, &[x.0, other.0], None))?;
        // SAFETY: the result of an operation is a tensor, copied at once.
        let near = unsafe { tensor_of(near.as_ptr()) }.clone();
        give(py, with_threads(py, near.size(), || elementwise::all(&near))?)
    };

    /// Rounded to whole numbers, or to so many decimals: Python's `round(x, ndigits)`.
    ///
    /// >>> strided.tensor([1.125, 2.5]).__round__(2).tolist()
    /// [1.1200000047683716, 2.5]
    method __round__(ndigits: Option<isize> = None) => {
        let decimals = [ndigits.map(|digits| Scalar::Int(digits as i128))];
        call_row(py, &OPS[Op::round as usize], &decimals, &[x.0], None)
    };

    /// The complex conjugate: a copy, or the tensor itself where it is not complex.
    ///
    /// >>> strided.tensor([1 + 2j]).conj().tolist()
    /// [(1-2j)]
    both conj() => if x.dtype().is_complex() {
        call_row(py, &OPS[Op::conj_physical as usize], &[], &[x.0], None)
    } else {
        Ok(again(x.0))
    };

    /// The real parts: a view, the tensor itself where it is not complex.
    ///
    /// >>> strided.real(strided.tensor([1 + 2j, 3 - 4j])).tolist()
    /// [1.0, 3.0]
    function real(input: TensorArg) => real(py, input.0);

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
