//! Differences of neighbours, and integrals by trapezoids.

use crate::abi::Value;
use crate::abi::errors::{CallResult, Fail};
use crate::convert::args::TensorArg;
use crate::convert::results::{call, call_with_work, cloned};
use pyo3::prelude::*;
use strided_core::Tensor;
use strided_core::ops::calculus::{self, Points};

methods! { rows(py, x: TensorArg):
    /// The `n`-th differences of neighbours along a dim; of bools, whether neighbours differ. `prepend` and `append` are
    /// joined to the tensor first.
    ///
    /// >>> strided.tensor([1, 4, 9, 16]).diff().tolist()
    /// [3, 5, 7]
    /// >>> strided.tensor([1, 4, 9, 16]).diff(n=2, prepend=strided.tensor([0])).tolist()
    /// [2, 2, 2]
    both diff(n: isize = 1, dim | axis: isize = -1, prepend: Option<TensorArg> = None, append: Option<TensorArg> = None; out: Option<TensorArg> = None) => {
        let (prepend, append) = (cloned(prepend), cloned(append));
        let joined = [&prepend, &append].into_iter().flatten().map(Tensor::size).sum::<usize>();
        call_with_work(py, [x], x.size() + joined, out, |[x], out| calculus::diff(x, n, dim, [prepend.as_ref(), append.as_ref()], out))
    };

    /// The integral of the points `y` along a dim, by the trapezoidal rule. The points are at `x`, or `dx` apart (1 if neither is given).
    ///
    /// >>> strided.trapezoid(strided.tensor([1.0, 5.0, 10.0])).item()
    /// 10.5
    /// >>> strided.trapezoid(strided.tensor([1.0, 5.0]), strided.tensor([0.0, 4.0])).item()
    /// 12.0
    function trapezoid(y: TensorArg, x: Option<TensorArg> = None; dx: Option<f64> = None, dim | axis: isize = -1) alias trapz
        => integrated(py, y, x, dx, dim, calculus::trapezoid);

    /// The integrals of `trapezoid` up to each point but the first.
    ///
    /// >>> strided.cumulative_trapezoid(strided.tensor([1.0, 5.0, 10.0])).tolist()
    /// [3.0, 10.5]
    function cumulative_trapezoid(y: TensorArg, x: Option<TensorArg> = None; dx: Option<f64> = None, dim | axis: isize = -1)
        => integrated(py, y, x, dx, dim, calculus::cumulative_trapezoid);
}

fn integrated<'a>(
    py: Python<'a>,
    y: TensorArg<'a>,
    x: Option<TensorArg<'a>>,
    dx: Option<f64>,
    dim: isize,
    rule: fn(&Tensor, Points, isize) -> strided_core::Result<Tensor>,
) -> CallResult<Value<'a>> {
    if x.is_some() && dx.is_some() {
        return Err(Fail::Type("x and dx exclude each other".into()));
    }
    let at = cloned(x);
    call(py, [y], None, |[y], _| {
        let points = at.as_ref().map_or(Points::Spaced(dx.unwrap_or(1.0)), Points::At);
        rule(y, points, dim)
    })
}
