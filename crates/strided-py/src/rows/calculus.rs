//! Differences of neighbours, and integrals by trapezoids.

use crate::abi::Object;
use crate::abi::errors::{Fail, Result};
use crate::convert::args::TensorArg;
use crate::convert::results::{own, placed, placed_as_large};
use pyo3::prelude::*;
use strided_core::Tensor;
use strided_core::ops::calculus::{self, Points};

methods! { rows(py, x: TensorArg):
    /// Differences of neighbours along a dim, so many times over; of truth values, whether they differ. `prepend` and
    /// `append` are joined to the tensor first.
    ///
    /// >>> strided.tensor([1, 4, 9, 16]).diff().tolist()
    /// [3, 5, 7]
    /// >>> strided.tensor([1, 4, 9, 16]).diff(n=2, prepend=strided.tensor([0])).tolist()
    /// [2, 2, 2]
    both diff(n: isize = 1, dim | axis: isize = -1, prepend: Option<TensorArg> = None, append: Option<TensorArg> = None; out: Option<TensorArg> = None) => {
        let (prepend, append) = (own(prepend), own(append));
        let joined = [&prepend, &append].into_iter().flatten().map(Tensor::size).sum::<usize>();
        placed_as_large(py, x, x.size() + joined, out, |x, out| calculus::diff(x, n, dim, [prepend.as_ref(), append.as_ref()], out))
    };

    /// The area under the points `y` along a dim, by trapezoids; they lie at `x`, or `dx` apart (1 without either).
    ///
    /// >>> strided.trapezoid(strided.tensor([1.0, 5.0, 10.0])).item()
    /// 10.5
    /// >>> strided.trapezoid(strided.tensor([1.0, 5.0]), strided.tensor([0.0, 4.0])).item()
    /// 12.0
    function trapezoid(y: TensorArg, x: Option<TensorArg> = None; dx: Option<f64> = None, dim | axis: isize = -1)
        => under(py, y, x, dx, dim, calculus::trapezoid);

    /// `trapezoid` under its other name.
    ///
    /// >>> strided.trapz(strided.tensor([1.0, 5.0, 10.0]), dx=2.0).item()
    /// 21.0
    function trapz(y: TensorArg, x: Option<TensorArg> = None; dx: Option<f64> = None, dim | axis: isize = -1)
        => under(py, y, x, dx, dim, calculus::trapezoid);

    /// The areas of `trapezoid` up to each point but the first.
    ///
    /// >>> strided.cumulative_trapezoid(strided.tensor([1.0, 5.0, 10.0])).tolist()
    /// [3.0, 10.5]
    function cumulative_trapezoid(y: TensorArg, x: Option<TensorArg> = None; dx: Option<f64> = None, dim | axis: isize = -1)
        => under(py, y, x, dx, dim, calculus::cumulative_trapezoid);
}

fn under(
    py: Python<'_>,
    y: TensorArg,
    x: Option<TensorArg>,
    dx: Option<f64>,
    dim: isize,
    area: fn(&Tensor, Points, isize) -> strided_core::Result<Tensor>,
) -> Result<Object> {
    if x.is_some() && dx.is_some() {
        return Err(Fail::Type("x and dx exclude each other".into()));
    }
    let at = own(x);
    placed(py, y, None, |y, _| {
        let points = at.as_ref().map_or(Points::Spaced(dx.unwrap_or(1.0)), Points::At);
        area(y, points, dim).map(Some)
    })
}
