//! Powers, roots, exponentials and logarithms. Rows of the op table: [`super`] explains their form.

#[doc(hidden)]
#[macro_export]
macro_rules! exponential_rows {
    ($($before:tt)*) => { $crate::op_table! { @next $($before)*

    /// Raises `input` to the power `exponent`. Integers to negative integer powers are refused.
    ///
    /// >>> strided.pow(strided.tensor([2.0, 3.0]), strided.tensor([3.0, 2.0])).tolist()
    /// [8.0, 9.0]
    pow(a, exponent) any => same [Pow] operator "**" refuses negatives;

    // `x ** 3` of floats runs this row: see `elementwise::power_shortcut`.
    cube(a) float => same [Cube];

    // `x ** 0.5` of floats runs this row. It differs from `sqrt` at -0.0 (0.0) and -infinity (infinity).
    power_root(a) float => same [Sqrt(if a.is_infinite() { a.mul(a) } else { a.add(T::ZERO) }) y => y];

    /// Raises `input` to the power `exponent`, computed in float64 or complex128.
    ///
    /// >>> strided.float_power(strided.tensor([2.0, 4.0]), strided.tensor([3.0, 0.5])).tolist()
    /// [8.0, 2.0]
    float_power(a, exponent) wide => same [Pow];

    /// Square root.
    ///
    /// >>> strided.sqrt(strided.tensor([4.0, 9.0])).tolist()
    /// [2.0, 3.0]
    sqrt(a) field => same [Sqrt];

    /// Reciprocal of the square root.
    ///
    /// >>> strided.rsqrt(strided.tensor([4.0, 0.25])).tolist()
    /// [0.5, 2.0]
    rsqrt(a) field => same [Rsqrt];

    /// Exponential function.
    ///
    /// >>> strided.exp(strided.tensor([0.0, 1.0])).tolist()
    /// [1.0, 2.7182817459106445]
    exp(a) field => same [Exp];

    /// 2 to the power of each element.
    ///
    /// >>> strided.exp2(strided.tensor([0.0, 3.0])).tolist()
    /// [1.0, 8.0]
    exp2(a) field => same [Exp2];

    /// `exp(x) - 1`, accurate near 0.
    ///
    /// >>> strided.expm1(strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, 1.718281865119934]
    expm1(a) field => same [Expm1];

    /// Multiplies by a power of two: `input * 2**other`.
    ///
    /// >>> strided.ldexp(strided.tensor([1.0, 3.0]), strided.tensor([4.0, -1.0])).tolist()
    /// [16.0, 1.5]
    ldexp(a, b) field => same [Ldexp];

    /// Natural logarithm.
    ///
    /// >>> strided.log(strided.tensor([1.0, 0.0])).tolist()
    /// [0.0, -inf]
    log(a) field => same [Log];

    /// Base-2 logarithm.
    ///
    /// >>> strided.log2(strided.tensor([1.0, 8.0])).tolist()
    /// [0.0, 3.0]
    log2(a) field => same [Log2];

    /// Base-10 logarithm.
    ///
    /// >>> strided.log10(strided.tensor([1.0, 1000.0])).tolist()
    /// [0.0, 3.0]
    log10(a) field => same [Log10];

    /// `log(1 + x)`, accurate near 0.
    ///
    /// >>> strided.log1p(strided.tensor([0.0, -1.0])).tolist()
    /// [0.0, -inf]
    log1p(a) field => same [Log1p];

    /// `log(exp(input) + exp(other))`, without intermediate overflow. For complex numbers the principal value.
    ///
    /// >>> strided.logaddexp(strided.tensor([0.0, 1.0]), strided.tensor([0.0, 1.0])).tolist()
    /// [0.6931471824645996, 1.6931471824645996]
    logaddexp(a, b) field => same [Logaddexp];

    /// `log2(2**input + 2**other)`, without intermediate overflow. For complex numbers the principal value.
    ///
    /// >>> strided.logaddexp2(strided.tensor([0.0, 1.0]), strided.tensor([0.0, 1.0])).tolist()
    /// [1.0, 2.0]
    logaddexp2(a, b) field => same [Logaddexp2];

    /// `input * log(other)`, and 0 where `input` is 0 and `other` is not NaN.
    ///
    /// >>> strided.xlogy(strided.tensor([0.0, 2.0]), strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, 0.0]
    xlogy(a, b) float => same [Xlogy];

    } };
}
