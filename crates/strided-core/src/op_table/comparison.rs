//! Comparisons, tests of a single number, logic, and selection. Rows of the op table: [`super`] explains their form.

#[doc(hidden)]
#[macro_export]
macro_rules! comparison_rows {
    ($($before:tt)*) => { $crate::op_table! { @next $($before)*

    /// Whether the operands are equal.
    ///
    /// >>> strided.eq(strided.tensor([1.0, 2.0]), strided.tensor([1.0, 4.0])).tolist()
    /// [True, False]
    eq(a, b) any => bool { Bool::new(a == b) } operator "==" integers unsigned;

    /// Whether the operands differ.
    ///
    /// >>> strided.ne(strided.tensor([1.0, 2.0]), strided.tensor([1.0, 4.0])).tolist()
    /// [False, True]
    ne | not_equal(a, b) any => bool { Bool::new(a != b) } operator "!=" integers unsigned;

    /// Whether `input < other`.
    ///
    /// >>> strided.lt(strided.tensor([1.0, 2.0]), strided.tensor([1.0, 4.0])).tolist()
    /// [False, True]
    lt | less(a, b) real => bool { Bool::new(a < b) } operator "<";

    /// Whether `input <= other`.
    ///
    /// >>> strided.le(strided.tensor([1.0, 2.0]), strided.tensor([1.0, 4.0])).tolist()
    /// [True, True]
    le | less_equal(a, b) real => bool { Bool::new(a <= b) } operator "<=";

    /// Whether `input > other`.
    ///
    /// >>> strided.gt(strided.tensor([1.0, 5.0]), strided.tensor([1.0, 4.0])).tolist()
    /// [False, True]
    gt | greater(a, b) real => bool { Bool::new(a > b) } operator ">";

    /// Whether `input >= other`.
    ///
    /// >>> strided.ge(strided.tensor([1.0, 2.0]), strided.tensor([1.0, 4.0])).tolist()
    /// [True, False]
    ge | greater_equal(a, b) real => bool { Bool::new(a >= b) } operator ">=";

    /// Whether `abs(input - other) <= atol + rtol * abs(other)`. With `equal_nan`, two NaNs are close.
    ///
    /// >>> strided.isclose(strided.tensor([1.0, 2.0]), strided.tensor([1.000001, 2.1])).tolist()
    /// [True, False]
    isclose(a, b | rtol = 1e-05, atol = 1e-08) any => bool _ with [kernels isclose::kernels::<false>]
        by equal_nan = False { "True" => isclose_nan };

    // `isclose` with `equal_nan=True`.
    isclose_nan(a, b | rtol = 1e-05, atol = 1e-08) any => bool _ with [kernels isclose::kernels::<true>];

    // Function and method differ in the order of arguments: `api/elementwise.rs` of the binding defines both.
    r#where(condition, a, b) select => same [kernels r#where::kernels];

    /// Whether each element is NaN.
    ///
    /// >>> strided.isnan(strided.tensor([1.0, 1e999 * 0])).tolist()
    /// [False, True]
    isnan(a) any => bool { Bool::new(a != a) } integers unsigned;

    /// Whether each element is infinite.
    ///
    /// >>> strided.isinf(strided.tensor([1.0, -1e999])).tolist()
    /// [False, True]
    isinf(a) any => bool { Bool::new(a.is_infinite()) } integers unsigned;

    /// Whether each element is neither infinite nor NaN.
    ///
    /// >>> strided.isfinite(strided.tensor([1.0, 1e999])).tolist()
    /// [True, False]
    isfinite(a) any => bool { Bool::new(a.is_finite()) } integers unsigned;

    /// Whether each element is negative infinity.
    ///
    /// >>> strided.isneginf(strided.tensor([1.0, -1e999])).tolist()
    /// [False, True]
    isneginf(a) real => bool { Bool::new(a.is_infinite() & a.is_negative()) } integers unsigned;

    /// Whether each element is positive infinity.
    ///
    /// >>> strided.isposinf(strided.tensor([1.0, 1e999])).tolist()
    /// [False, True]
    isposinf(a) real => bool { Bool::new(a.is_infinite() & !a.is_negative()) } integers unsigned;

    /// Whether the imaginary part of each element is 0, as it is in every real dtype.
    ///
    /// >>> strided.isreal(strided.tensor([1.0, -2.0])).tolist()
    /// [True, True]
    isreal(a) any => bool { Bool::new(a.is_real()) } integers unsigned;

    /// Whether the sign bit of each element is set. It is for -0.0.
    ///
    /// >>> strided.signbit(strided.tensor([1.0, -2.0, -0.0])).tolist()
    /// [False, True, True]
    signbit(a) real => bool { Bool::new(a.is_negative()) };

    /// Whether both operands are nonzero.
    ///
    /// >>> strided.logical_and(strided.tensor([1.0, 0.0]), strided.tensor([2.0, 4.0])).tolist()
    /// [True, False]
    logical_and(a, b) any => bool { Bool::new(a.is_nonzero() & b.is_nonzero()) } integers unsigned;

    /// Whether at least one operand is nonzero.
    ///
    /// >>> strided.logical_or(strided.tensor([1.0, 0.0]), strided.tensor([2.0, 0.0])).tolist()
    /// [True, False]
    logical_or(a, b) any => bool { Bool::new(a.is_nonzero() | b.is_nonzero()) } integers unsigned;

    /// Whether exactly one operand is nonzero.
    ///
    /// >>> strided.logical_xor(strided.tensor([1.0, 0.0]), strided.tensor([2.0, 4.0])).tolist()
    /// [False, True]
    logical_xor(a, b) any => bool { Bool::new(a.is_nonzero() ^ b.is_nonzero()) } integers unsigned;

    /// Whether each element is 0.
    ///
    /// >>> strided.logical_not(strided.tensor([1.0, 0.0])).tolist()
    /// [False, True]
    logical_not(a) any => bool { Bool::new(!a.is_nonzero()) } integers unsigned;

    } };
}
