//! What is made of neighbours in a line or of pairs of lines.

use crate::args::{Object, TensorArg};
use crate::errors::{Fail, Result};
use crate::methods;
use crate::results::{own, placed, placed_as_large};
use pyo3::prelude::*;
use strided_core::Tensor;
use strided_core::ops::lines::{self, Points, Weights};

methods! { rows(py, x):
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
        placed_as_large(py, x, x.size() + joined, out, |x, out| lines::diff(x, n, dim, [prepend.as_ref(), append.as_ref()], out))
    };

    /// The area under the points `y` along a dim, by trapezoids; they lie at `x`, or `dx` apart (1 without either).
    ///
    /// >>> strided.trapezoid(strided.tensor([1.0, 5.0, 10.0])).item()
    /// 10.5
    /// >>> strided.trapezoid(strided.tensor([1.0, 5.0]), strided.tensor([0.0, 4.0])).item()
    /// 12.0
    function trapezoid(y: TensorArg, x: Option<TensorArg> = None; dx: Option<f64> = None, dim | axis: isize = -1)
        => under(py, y, x, dx, dim, lines::trapezoid);

    /// `trapezoid` under its other name.
    ///
    /// >>> strided.trapz(strided.tensor([1.0, 5.0, 10.0]), dx=2.0).item()
    /// 21.0
    function trapz(y: TensorArg, x: Option<TensorArg> = None; dx: Option<f64> = None, dim | axis: isize = -1)
        => under(py, y, x, dx, dim, lines::trapezoid);

    /// The areas of `trapezoid` up to each point but the first.
    ///
    /// >>> strided.cumulative_trapezoid(strided.tensor([1.0, 5.0, 10.0])).tolist()
    /// [3.0, 10.5]
    function cumulative_trapezoid(y: TensorArg, x: Option<TensorArg> = None; dx: Option<f64> = None, dim | axis: isize = -1)
        => under(py, y, x, dx, dim, lines::cumulative_trapezoid);

    /// The cross products of vectors of three along a dim; without one, along the first dim of extent 3.
    ///
    /// >>> strided.tensor([1, 0, 0]).cross(strided.tensor([0, 1, 0])).tolist()
    /// [0, 0, 1]
    both cross(other: TensorArg, dim | axis: Option<isize> = None; out: Option<TensorArg> = None) => {
        let other = Tensor::clone(&other);
        let size = x.size().max(other.size());
        placed_as_large(py, x, size, out, |x, out| lines::cross(x, &other, dim, out))
    };

    /// The tensor with every slice along a dim whose p-norm exceeds `maxnorm` scaled down to it.
    ///
    /// >>> strided.tensor([[3.0, 4.0], [0.5, 0.0]]).renorm(2, 0, 2.5).tolist()
    /// [[1.5, 2.0], [0.5, 0.0]]
    both renorm(p: f64, dim | axis: isize, maxnorm: f64; out: Option<TensorArg> = None)
        => placed(py, x, out, |x, out| lines::renorm(x, p, dim, maxnorm, out));

    /// `renorm` in place.
    ///
    /// >>> strided.tensor([[3.0, 4.0], [0.5, 0.0]]).renorm_(2, 0, 2.5).tolist()
    /// [[1.5, 2.0], [0.5, 0.0]]
    method renorm_(p: f64, dim | axis: isize, maxnorm: f64)
        => placed(py, x, Some(x), |x, out| lines::renorm(x, p, dim, maxnorm, out));

    /// The covariances of variables, which are rows; columns are observations. `fweights` says how often each
    /// observation was made, `aweights` how much it counts.
    ///
    /// >>> strided.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).cov().tolist()
    /// [[1.0, -1.0], [-1.0, 1.0]]
    both cov(; correction: isize = 1, fweights: Option<TensorArg> = None, aweights: Option<TensorArg> = None) => {
        let (frequency, importance) = (own(fweights), own(aweights));
        let weights = Weights { frequency: frequency.as_ref(), importance: importance.as_ref() };
        placed_as_large(py, x, x.size().saturating_mul(x.size()), None, |x, _| lines::cov(x, correction as f64, weights).map(Some))
    };

    /// The correlation coefficients of variables, which are rows; columns are observations.
    ///
    /// >>> strided.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).corrcoef().tolist()
    /// [[1.0, -1.0], [-1.0, 1.0]]
    both corrcoef()
        => placed_as_large(py, x, x.size().saturating_mul(x.size()), None, |x, _| lines::corrcoef(x).map(Some));
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
        let points = at.as_ref().map_or(Points::Apart(dx.unwrap_or(1.0)), Points::At);
        area(y, points, dim).map(Some)
    })
}
