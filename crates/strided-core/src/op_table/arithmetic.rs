//! Sums, products, quotients and signs. Rows of the op table: [`super`] explains their form.

#[doc(hidden)]
#[macro_export]
macro_rules! arithmetic_rows {
    ($($before:tt)*) => { $crate::op_table! { @next $($before)*

    /// Sum of the operands: `input + alpha * other`.
    ///
    /// >>> strided.add(strided.tensor([1.0, 2.0]), strided.tensor([0.5, 4.0])).tolist()
    /// [1.5, 6.0]
    add(a, b; alpha = 1) any => same { a.add(b) } with { a.add(alpha.mul(b)) } operator "+" integers unsigned;

    /// Difference of the operands: `input - alpha * other`.
    ///
    /// >>> strided.sub(strided.tensor([1.0, 2.0]), strided.tensor([0.5, 4.0])).tolist()
    /// [0.5, -2.0]
    sub | subtract(a, b; alpha = 1) num => same { a.sub(b) } with { a.sub(alpha.mul(b)) } operator "-" integers unsigned;

    /// Difference with the operands swapped: `other - alpha * input`.
    ///
    /// >>> strided.rsub(strided.tensor([1.0, 2.0]), strided.tensor([0.5, 4.0])).tolist()
    /// [-0.5, 2.0]
    rsub(a, b; alpha = 1) num => same { b.sub(a) } with { b.sub(alpha.mul(a)) } integers unsigned;

    /// Product of the operands.
    ///
    /// >>> strided.mul(strided.tensor([1.0, 2.0]), strided.tensor([0.5, 4.0])).tolist()
    /// [0.5, 8.0]
    mul | multiply(a, b) any => same { a.mul(b) } operator "*" integers unsigned;

    /// Quotient of the operands. Integers are divided in the default float. With `rounding_mode` 'floor' or
    /// 'trunc' the quotient is rounded down or toward zero, and integers stay integers.
    ///
    /// >>> strided.div(strided.tensor([1.0, 2.0]), strided.tensor([0.5, 4.0])).tolist()
    /// [2.0, 0.5]
    div | divide(a, b) field => same { a.div(b) } operator "/"
        by rounding_mode = None { "floor" => floor_divide, "trunc" => trunc_divide };

    /// Quotient of the operands. Integers are divided in the default float.
    ///
    /// >>> strided.true_divide(strided.tensor([1.0, 2.0]), strided.tensor([0.5, 4.0])).tolist()
    /// [2.0, 0.5]
    true_divide(a, b) field => same [kernels |dtype| kernels(Op::div, Body::First, dtype)];

    /// Quotient of the operands, rounded down.
    ///
    /// >>> strided.floor_divide(strided.tensor([7.0, -7.0]), strided.tensor([2.0, 2.0])).tolist()
    /// [3.0, -4.0]
    floor_divide(a, b) order => same [FloorDivide] operator "//" refuses zeros;

    /// Quotient of the operands, rounded toward zero.
    ///
    /// >>> strided.trunc_divide(strided.tensor([7.0, -7.0]), strided.tensor([2.0, 2.0])).tolist()
    /// [3.0, -3.0]
    trunc_divide(a, b) order => same [TruncDivide] refuses zeros;

    /// Remainder of `floor_divide`. It has the sign of the divisor.
    ///
    /// >>> strided.remainder(strided.tensor([7.0, -7.0]), strided.tensor([2.0, 2.0])).tolist()
    /// [1.0, 1.0]
    remainder(a, b) order => same [Remainder] operator "%" refuses zeros;

    /// Remainder of `trunc_divide`. It has the sign of the dividend.
    ///
    /// >>> strided.fmod(strided.tensor([7.0, -7.0]), strided.tensor([2.0, 2.0])).tolist()
    /// [1.0, -1.0]
    fmod(a, b) order => same [Fmod] refuses zeros;

    /// Reciprocal of each element: `1 / x`.
    ///
    /// >>> strided.reciprocal(strided.tensor([2.0, -4.0])).tolist()
    /// [0.5, -0.25]
    reciprocal(a) field => same { T::ONE.div(a) };

    /// Square of each element.
    ///
    /// >>> strided.square(strided.tensor([2.0, -3.0])).tolist()
    /// [4.0, 9.0]
    square(a) counts => same { a.mul(a) } integers unsigned;

    /// Adds a product: `input + value * tensor1 * tensor2`.
    ///
    /// >>> strided.addcmul(strided.tensor([1.0, 2.0]), strided.tensor([2.0, 3.0]), strided.tensor([4.0, 5.0])).tolist()
    /// [9.0, 17.0]
    addcmul(a, tensor1, tensor2; value = 1) num => same { a.add(tensor1.mul(tensor2)) }
        with { a.add(value.mul(tensor1).mul(tensor2)) } integers unsigned;

    /// Adds a quotient: `input + value * tensor1 / tensor2`.
    ///
    /// >>> strided.addcdiv(strided.tensor([1.0, 2.0]), strided.tensor([8.0, 3.0]), strided.tensor([4.0, 1.5])).tolist()
    /// [3.0, 4.0]
    addcdiv(a, tensor1, tensor2; value = 1) field => same { a.add(tensor1.div(tensor2)) }
        with { a.add(value.mul(tensor1).div(tensor2)) };

    /// Linear interpolation: `input + weight * (end - input)`.
    ///
    /// >>> strided.lerp(strided.tensor([0.0, 1.0]), strided.tensor([4.0, 3.0]), strided.tensor([0.25, 0.5])).tolist()
    /// [1.0, 2.0]
    lerp(a, end, weight) field => same {
        // Measured from the nearer end, so that weights 0 and 1 give the ends exactly.
        if weight.is_small() { a.add(weight.mul(end.sub(a))) } else { end.sub(end.sub(a).mul(T::ONE.sub(weight))) }
    };

    /// Negates each element.
    ///
    /// >>> strided.neg(strided.tensor([1.0, -2.0])).tolist()
    /// [-1.0, 2.0]
    neg | negative(a) num => same { a.neg() } operator "-x" integers unsigned;

    /// Copies the elements: unary plus.
    ///
    /// >>> strided.positive(strided.tensor([1.0, -2.0])).tolist()
    /// [1.0, -2.0]
    positive(a) num => same { a } operator "+x" integers copied;

    /// Absolute value of each element; for complex numbers the magnitude.
    ///
    /// >>> strided.abs(strided.tensor([1.0, -2.0])).tolist()
    /// [1.0, 2.0]
    abs | absolute(a) any => part [Abs] operator "abs";

    /// Sign of each element: -1, 0 or 1. For complex numbers `z / abs(z)`, and 0 where z is 0.
    ///
    /// >>> strided.sign(strided.tensor([1.5, -2.0, 0.0])).tolist()
    /// [1.0, -1.0, 0.0]
    sign | sgn(a) any => same { a.sign() };

    /// Magnitude of `input` with the sign of `other`.
    ///
    /// >>> strided.copysign(strided.tensor([1.0, 2.0]), strided.tensor([-1.0, 0.0])).tolist()
    /// [-1.0, 2.0]
    copysign(a, b) float => same { a.copysign(b) };

    /// Complex conjugate of each element, as a copy.
    ///
    /// >>> strided.conj_physical(strided.tensor([1.0, -2.0])).tolist()
    /// [1.0, -2.0]
    conj_physical(a) any => same { a.conj() } integers copied;

    } };
}
