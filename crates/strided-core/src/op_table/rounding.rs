//! Rounding, extremes and bounds. Rows of the op table: [`super`] explains their form.

#[doc(hidden)]
#[macro_export]
macro_rules! rounding_rows {
    ($($before:tt)*) => { $crate::op_table! { @next $($before)*

    /// Rounds down to a whole number.
    ///
    /// >>> strided.floor(strided.tensor([1.5, -1.5])).tolist()
    /// [1.0, -2.0]
    floor(a) real => same { a.floor() } integers copied;

    /// Rounds up to a whole number.
    ///
    /// >>> strided.ceil(strided.tensor([1.5, -1.5])).tolist()
    /// [2.0, -1.0]
    ceil(a) real => same { a.ceil() } integers copied;

    /// Rounds toward zero to a whole number.
    ///
    /// >>> strided.trunc(strided.tensor([1.5, -1.5])).tolist()
    /// [1.0, -1.0]
    trunc | fix(a) real => same { a.trunc() } integers copied;

    /// Rounds to the nearest whole number, or to `decimals` decimals. Ties go to the even neighbour. An integer
    /// whose nearest multiple of 10**-decimals exceeds its dtype becomes the nearest multiple that fits.
    ///
    /// >>> strided.round(strided.tensor([1.5, 2.5, -0.75])).tolist()
    /// [2.0, 2.0, -1.0]
    round(a; decimals = 0) real => same { a.round() } with [kernels round::kernels] integers copied;

    /// Fractional part: `x - trunc(x)`.
    ///
    /// >>> strided.frac(strided.tensor([1.5, -1.25])).tolist()
    /// [0.5, -0.25]
    frac(a) float => same { a.sub(a.trunc()) };

    /// Larger one of the operands, and NaN if either is NaN.
    ///
    /// >>> strided.maximum(strided.tensor([1.0, 5.0]), strided.tensor([2.0, 4.0])).tolist()
    /// [2.0, 5.0]
    maximum(a, b) real => same { a.maximum(b) };

    /// Smaller one of the operands, and NaN if either is NaN.
    ///
    /// >>> strided.minimum(strided.tensor([1.0, 5.0]), strided.tensor([2.0, 4.0])).tolist()
    /// [1.0, 4.0]
    minimum(a, b) real => same { a.minimum(b) };

    /// Larger one of the operands. If one of them is NaN, the other.
    ///
    /// >>> strided.fmax(strided.tensor([1.0, 1e999 * 0]), strided.tensor([2.0, 4.0])).tolist()
    /// [2.0, 4.0]
    fmax(a, b) real => same { a.fmax(b) } integers maximum;

    /// Smaller one of the operands. If one of them is NaN, the other.
    ///
    /// >>> strided.fmin(strided.tensor([1.0, 1e999 * 0]), strided.tensor([2.0, 4.0])).tolist()
    /// [1.0, 4.0]
    fmin(a, b) real => same { a.fmin(b) } integers minimum;

    /// Raises elements below `min` to `min`. NaN if either is NaN.
    ///
    /// >>> strided.clamp_min(strided.tensor([-1.0, 5.0]), 0).tolist()
    /// [0.0, 5.0]
    clamp_min(a, min) order => same [kernels |dtype| kernels(Op::maximum, Body::First, dtype)];

    /// Lowers elements above `max` to `max`. NaN if either is NaN.
    ///
    /// >>> strided.clamp_max(strided.tensor([-1.0, 5.0]), 1).tolist()
    /// [-1.0, 1.0]
    clamp_max(a, max) order => same [kernels |dtype| kernels(Op::minimum, Body::First, dtype)];

    /// Clamps elements to [`min`, `max`]; one of the bounds may be None. Where `min` exceeds `max` the result
    /// is `max`. NaN if any operand is NaN.
    ///
    /// >>> strided.clamp(strided.tensor([-1.0, 0.5, 5.0]), 0, 1).tolist()
    /// [0.0, 0.5, 1.0]
    clamp | clip(a, min, max) order => same { a.maximum(min).minimum(max) }
        without { min => clamp_max, max => clamp_min };

    /// Replaces NaN by `nan`, infinity by `posinf` and -infinity by `neginf`. By default the infinities become
    /// the largest and the lowest number of the dtype.
    ///
    /// >>> strided.nan_to_num(strided.tensor([1.5, 1e999 * 0])).tolist()
    /// [1.5, 0.0]
    nan_to_num(a | nan = 0.0, posinf = largest, neginf = lowest) any => same _
        with { a.finite_or(nan, posinf, neginf) };

    /// Next number of the dtype after `input` in the direction of `other`.
    ///
    /// >>> strided.nextafter(strided.tensor([1.0, 0.0]), strided.tensor([2.0, 1.0])).tolist()
    /// [1.0000001192092896, 1.401298464324817e-45]
    nextafter(a, b) floats => same { a.next_after(b) };

    } };
}
