//! Special functions, and functions of neural networks. Rows of the op table: [`super`] explains their form.

#[doc(hidden)]
#[macro_export]
macro_rules! special_rows {
    ($($before:tt)*) => { $crate::op_table! { @next $($before)*

    /// Error function.
    ///
    /// >>> strided.erf(strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, 0.8427007794380188]
    erf(a) float => same [Erf];

    /// Complementary error function: `1 - erf(x)`, accurate where that is small.
    ///
    /// >>> strided.erfc(strided.tensor([0.0, 1.0])).tolist()
    /// [1.0, 0.15729920566082]
    erfc(a) float => same [Erfc];

    /// Inverse of the error function.
    ///
    /// >>> strided.erfinv(strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, inf]
    erfinv(a) float => same [Erfinv];

    /// Logarithm of the absolute value of the gamma function.
    ///
    /// >>> strided.lgamma(strided.tensor([1.0, 4.0])).tolist()
    /// [0.0, 1.7917594909667969]
    lgamma(a) float => same [Lgamma];

    /// Derivative of `lgamma`.
    ///
    /// >>> strided.digamma(strided.tensor([1.0, 2.0])).tolist()
    /// [-0.5772156715393066, 0.42278432846069336]
    digamma(a) float => same [Digamma];

    /// Logistic function: `1 / (1 + exp(-x))`.
    ///
    /// >>> strided.sigmoid(strided.tensor([0.0, 1.0])).tolist()
    /// [0.5, 0.7310585975646973]
    sigmoid(a) field => same [Sigmoid];

    /// Inverse of `sigmoid`: `log(x / (1 - x))`. With `eps`, x is first clamped to [eps, 1 - eps].
    ///
    /// >>> strided.logit(strided.tensor([0.5, 1.0])).tolist()
    /// [0.0, inf]
    logit(a | eps = None) float => same [Logit]
        with [Logit(if a < eps { eps } else if a > T::ONE.sub(eps) { T::ONE.sub(eps) } else { a }) y => y];

    /// `log(1 + exp(beta * x)) / beta`. If `beta` or `threshold` is given, x itself where `beta * x` exceeds
    /// `threshold`.
    ///
    /// >>> strided.softplus(strided.tensor([0.0, -1.0])).tolist()
    /// [0.6931471824645996, 0.3132616877555847]
    // No threshold by default: the fast body is accurate everywhere, so that x + 2e-9 at x = 20 is not cut to x.
    softplus(a | beta = 1, threshold = 20) float => same [Softplus]
        with [Softplus(a.mul(beta)) y => if a.mul(beta) > threshold { a } else { y.div(beta) }];

    /// Rectifier: `maximum(x, 0)`.
    ///
    /// >>> strided.relu(strided.tensor([-1.0, 5.0])).tolist()
    /// [0.0, 5.0]
    relu(a) order => same { a.maximum(T::ZERO) };

    /// Step function: 0 for negative elements, 1 for positive ones, and `values` at 0.
    ///
    /// >>> strided.heaviside(strided.tensor([-1.5, 0.0, 2.0]), strided.tensor([0.5, 0.5, 0.5])).tolist()
    /// [0.0, 0.5, 1.0]
    heaviside(a, values) real => same {
        let step = if a > T::ZERO { T::ONE } else { T::ZERO };
        let step = if a == T::ZERO { values } else { step };
        if a != a { a } else { step }
    };

    } };
}
