//! Bits and divisors of integers. Rows of the op table: [`super`] explains their form.

#[doc(hidden)]
#[macro_export]
macro_rules! integer_rows {
    ($($before:tt)*) => { $crate::op_table! { @next $($before)*

    /// Bitwise AND.
    ///
    /// >>> strided.bitwise_and(strided.tensor([6, 5]), strided.tensor([3, 4])).tolist()
    /// [2, 4]
    bitwise_and(a, b) bits => same { a.and(b) } operator "&" integers unsigned;

    /// Bitwise OR.
    ///
    /// >>> strided.bitwise_or(strided.tensor([6, 5]), strided.tensor([3, 4])).tolist()
    /// [7, 5]
    bitwise_or(a, b) bits => same { a.or(b) } operator "|" integers unsigned;

    /// Bitwise exclusive OR.
    ///
    /// >>> strided.bitwise_xor(strided.tensor([6, 5]), strided.tensor([3, 4])).tolist()
    /// [5, 1]
    bitwise_xor(a, b) bits => same { a.xor(b) } operator "^" integers unsigned;

    /// Bitwise NOT; for bool logical negation.
    ///
    /// >>> strided.bitwise_not(strided.tensor([6, -1])).tolist()
    /// [-7, 0]
    bitwise_not(a) bits => same { a.not() } operator "~x" integers unsigned;

    /// Shifts bits left. A negative or too large shift gives 0.
    ///
    /// >>> strided.bitwise_left_shift(strided.tensor([1, 3]), strided.tensor([4, 1])).tolist()
    /// [16, 6]
    bitwise_left_shift(a, b) int => same { a.shift_left(b) } operator "<<";

    /// Shifts bits right and keeps the sign. A negative or too large shift gives 0, or -1 for negative
    /// integers.
    ///
    /// >>> strided.bitwise_right_shift(strided.tensor([16, -6]), strided.tensor([4, 1])).tolist()
    /// [1, -3]
    bitwise_right_shift(a, b) int => same { a.shift_right(b) } operator ">>";

    /// Greatest common divisor.
    ///
    /// >>> strided.gcd(strided.tensor([12, 9]), strided.tensor([18, 6])).tolist()
    /// [6, 3]
    gcd(a, b) int => same [scalar a.gcd(b)];

    /// Least common multiple. It wraps where it exceeds the dtype.
    ///
    /// >>> strided.lcm(strided.tensor([4, 3]), strided.tensor([6, 5])).tolist()
    /// [12, 15]
    lcm(a, b) int => same [scalar a.lcm(b)];

    } };
}
