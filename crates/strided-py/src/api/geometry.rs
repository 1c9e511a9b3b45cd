//! Cross products, and slices scaled to a norm.

use crate::convert::args::TensorArg;
use crate::convert::in_place::Target;
use crate::convert::results::call;
use strided_core::ops::geometry;

methods! { rows(py, x: TensorArg):
    /// The cross products of vectors of three elements along a dim; by default the first dim of extent 3.
    ///
    /// >>> strided.tensor([1, 0, 0]).cross(strided.tensor([0, 1, 0])).tolist()
    /// [0, 0, 1]
    both cross(other: TensorArg, dim | axis: Option<isize> = None; out: Option<TensorArg> = None) =>
        call(py, [x, other], out, |[a, b], out| geometry::cross(a, b, dim, out));

    /// The tensor, with every slice along a dim whose p-norm exceeds `maxnorm` scaled down to that norm.
    ///
    /// >>> strided.tensor([[3.0, 4.0], [0.5, 0.0]]).renorm(2, 0, 2.5).tolist()
    /// [[1.5, 2.0], [0.5, 0.0]]
    both renorm(p: f64, dim | axis: isize, maxnorm: f64; out: Option<TensorArg> = None) also renorm_
        => x.call(py, [], x.size(), out, |x, [], out| geometry::renorm(x, p, dim, maxnorm, out));
}
