//! The elementwise operations, one row each. Kernels, functions, methods, in-place forms, `out=`,
//! operators, documentation and tests all follow from these rows.
//!
//! | part of a row | meaning |
//! |---|---|
//! | `add(a, b)` | its name and its operands; in Python `a` is `input` and `b` is `other`, others are called as they are |
//! | `; alpha = 1` | numbers that are given by name and take no part in promotion, with what they are else; after <code>\|</code> by position as well. One that is a whole number stays within the category of the operands, one with a point is any real number |
//! | `any`, `num` … | the dtypes it knows, as in [`switch!`](crate::switch); `field` and `float` take integers as the default float |
//! | `counts` | the numbers, where bool is taken as int64 |
//! | `floats`, `wide`, `select` | the floats with kernels for halves themselves; float64 and complex128; a condition, and any dtype |
//! | `same`, `bool`, `part` | the result: the operands' dtype, bool, or the dtype of one part of a complex number |
//! | `{a.add(b)}` | the result from operands of one type, exactly |
//! | `(a.gcd(b))` | or so, where no CPU has vectors for it: one element after the other |
//! | `[Exp]` | or a function of [`maths`](crate::kernels::maths), with a fast body and an exact one |
//! | `[Exp(a) y => y]` | or such a function of something else, and what becomes of its result |
//! | `[kernels r#where::kernels]` | or kernels by their dtype |
//! | `with {…}` | the body where one of the numbers is given and not what it is else; where the first body is `_`, the only one |
//! | `refuses zeros` | values of the second operand that have no result among integers: `zeros` or `negatives` |
//! | `by mode = None {"floor" => floor_divide}` | a word of Python that chooses another row |
//! | `without {min => clamp_max}` | the row of the other operands where one is `None` |
//! | `"+"` | its operator, if it has one |
//! | `"[1.0]", "[2.0]" => "[3.0]"` | an example for its documents: the elements of its operands, numbers, and of its result |
//! | `"Sum of …"` | a sentence about it |
//!
//! A row that ends after its body is for other code: it has no name in Python.

use crate::dtype::{self, Category, DType};
use crate::kernels::loops::{Function, KernelPair, Loops};
use crate::kernels::maths::rows as maths;
use crate::kernels::{isclose, round, r#where};
use crate::scalar::{Bits, Bool, DivRem, Field, Float, Int, NextAfter, Num, Real, Scalar};
use crate::switch;

/// Hands the rows to a macro.
#[macro_export]
macro_rules! op_table {
    ($then:path) => {
        $then! {
            add(a, b; alpha = 1) any => same {a.add(b)} with {a.add(alpha.mul(b))}, "+", "[1.0, 2.0]", "[0.5, 4.0]" => "[1.5, 6.0]", "Sum of the operands, the second one times `alpha`.";
            sub(a, b; alpha = 1) num => same {a.sub(b)} with {a.sub(alpha.mul(b))}, "-", "[1.0, 2.0]", "[0.5, 4.0]" => "[0.5, -2.0]", "Left operand minus the right one times `alpha`.";
            rsub(a, b; alpha = 1) num => same {b.sub(a)} with {b.sub(alpha.mul(a))}, "", "[1.0, 2.0]", "[0.5, 4.0]" => "[-0.5, 2.0]", "Right operand minus the left one times `alpha`.";
            mul(a, b) any => same {a.mul(b)}, "*", "[1.0, 2.0]", "[0.5, 4.0]" => "[0.5, 8.0]", "Product of the operands, element by element.";
            div(a, b) field => same {a.div(b)} by rounding_mode = None {"floor" => floor_divide, "trunc" => trunc_divide}, "/", "[1.0, 2.0]", "[0.5, 4.0]" => "[2.0, 0.5]", "Left operand divided by the right one; integers give the default float, unless `rounding_mode` (`'floor'` or `'trunc'`) makes quotients whole.";
            true_divide(a, b) field => same [kernels |dtype| (OPS[Op::div as usize].kernels)(dtype)], "", "[1.0, 2.0]", "[0.5, 4.0]" => "[2.0, 0.5]", "Left operand divided by the right one; integers give the default float.";
            floor_divide(a, b) order => same [FloorDivide] refuses zeros, "//", "[7.0, -7.0]", "[2.0, 2.0]" => "[3.0, -4.0]", "Quotient, down to a whole number.";
            trunc_divide(a, b) order => same [TruncDivide] refuses zeros, "", "[7.0, -7.0]", "[2.0, 2.0]" => "[3.0, -3.0]", "Quotient, toward zero to a whole number.";
            remainder(a, b) order => same [Remainder] refuses zeros, "%", "[7.0, -7.0]", "[2.0, 2.0]" => "[1.0, 1.0]", "What `floor_divide` leaves; it has the sign of the divisor.";
            fmod(a, b) order => same [Fmod] refuses zeros, "", "[7.0, -7.0]", "[2.0, 2.0]" => "[1.0, -1.0]", "What division toward zero leaves; it has the sign of the dividend.";
            pow(a, exponent) any => same [Pow] refuses negatives, "**", "[2.0, 3.0]", "[3.0, 2.0]" => "[8.0, 9.0]", "Left operand to the power of the right one.";
            cube(a) float => same [Cube];
            power_root(a) float => same [Sqrt(if a.is_infinite() { a.mul(a) } else { a.add(T::ZERO) }) y => y];
            float_power(a, exponent) wide => same [Pow], "", "[2.0, 4.0]", "[3.0, 0.5]" => "[8.0, 2.0]", "Left operand to the power of the right one, in float64 or complex128.";
            neg(a) num => same {a.neg()}, "-x", "[1.0, -2.0]" => "[-1.0, 2.0]", "Each element with its sign changed.";
            positive(a) num => same {a}, "+x", "[1.0, -2.0]" => "[1.0, -2.0]", "Each element as it is.";
            abs(a) any => part [Abs], "abs", "[1.0, -2.0]" => "[1.0, 2.0]", "The magnitude of each element.";
            sign(a) any => same {a.sign()}, "", "[1.5, -2.0, 0.0]" => "[1.0, -1.0, 0.0]", "-1, 0 or 1 by the sign; of a complex number, the point of the unit circle in its direction.";
            signbit(a) real => bool {Bool::new(a.is_negative())}, "", "[1.0, -2.0, -0.0]" => "[False, True, True]", "Whether the sign is negative, also that of a zero.";
            isreal(a) any => bool {Bool::new(a.is_real())}, "", "[1.0, -2.0]" => "[True, True]", "Whether each element has no imaginary part.";
            copysign(a, b) float => same {a.copysign(b)}, "", "[1.0, 2.0]", "[-1.0, 0.0]" => "[-1.0, 2.0]", "The magnitude of the left operand with the sign of the right one.";
            reciprocal(a) field => same {T::ONE.div(a)}, "", "[2.0, -4.0]" => "[0.5, -0.25]", "One divided by each element.";
            square(a) counts => same {a.mul(a)}, "", "[2.0, -3.0]" => "[4.0, 9.0]", "Each element times itself.";
            sqrt(a) field => same [Sqrt], "", "[4.0, 9.0]" => "[2.0, 3.0]", "Square root.";
            rsqrt(a) field => same [Rsqrt], "", "[4.0, 0.25]" => "[0.5, 2.0]", "One divided by the square root.";
            exp(a) field => same [Exp], "", "[0.0, 1.0]" => "[1.0, 2.7182817459106445]", "e to the power of each element.";
            exp2(a) field => same [Exp2], "", "[0.0, 3.0]" => "[1.0, 8.0]", "Two to the power of each element.";
            expm1(a) field => same [Expm1], "", "[0.0, 1.0]" => "[0.0, 1.718281865119934]", "e to the power of each element, minus one; exact near 0.";
            log(a) field => same [Log], "", "[1.0, 0.0]" => "[0.0, -inf]", "Natural logarithm.";
            log2(a) field => same [Log2], "", "[1.0, 8.0]" => "[0.0, 3.0]", "Logarithm to the base 2.";
            log10(a) field => same [Log10], "", "[1.0, 1000.0]" => "[0.0, 3.0]", "Logarithm to the base 10.";
            log1p(a) field => same [Log1p], "", "[0.0, -1.0]" => "[0.0, -inf]", "Logarithm of one plus each element; exact near 0.";
            sin(a) field => same [Sin], "", "[0.0, 1.0]" => "[0.0, 0.8414709568023682]", "Sine.";
            cos(a) field => same [Cos], "", "[0.0, 1.0]" => "[1.0, 0.5403022766113281]", "Cosine.";
            tan(a) field => same [Tan], "", "[0.0, 1.0]" => "[0.0, 1.5574077367782593]", "Tangent.";
            asin(a) field => same [Asin], "", "[0.0, 2.0]" => "[0.0, nan]", "Inverse sine.";
            acos(a) field => same [Acos], "", "[1.0, 2.0]" => "[0.0, nan]", "Inverse cosine.";
            atan(a) field => same [Atan], "", "[0.0, 1.0]" => "[0.0, 0.7853981852531433]", "Inverse tangent.";
            atan2(a, b) float => same [Atan2], "", "[0.0, 1.0]", "[1.0, 0.0]" => "[0.0, 1.5707963705062866]", "The angle of the point whose y is the left operand and whose x is the right one.";
            sinh(a) field => same [Sinh], "", "[0.0, 1.0]" => "[0.0, 1.175201177597046]", "Hyperbolic sine.";
            cosh(a) field => same [Cosh], "", "[0.0, 1.0]" => "[1.0, 1.5430806875228882]", "Hyperbolic cosine.";
            tanh(a) field => same [Tanh], "", "[0.0, 1.0]" => "[0.0, 0.7615941762924194]", "Hyperbolic tangent.";
            asinh(a) field => same [Asinh], "", "[0.0, 1.0]" => "[0.0, 0.8813735842704773]", "Inverse hyperbolic sine.";
            acosh(a) field => same [Acosh], "", "[1.0, 0.0]" => "[0.0, nan]", "Inverse hyperbolic cosine.";
            atanh(a) field => same [Atanh], "", "[0.0, 1.0]" => "[0.0, inf]", "Inverse hyperbolic tangent.";
            hypot(a, b) float => same [Hypot], "", "[3.0, 5.0]", "[4.0, 12.0]" => "[5.0, 13.0]", "The hypotenuse of a right triangle with these legs.";
            sigmoid(a) field => same [Sigmoid], "", "[0.0, 1.0]" => "[0.5, 0.7310585975646973]", "1 / (1 + exp(-x)).";
            erf(a) float => same [Erf], "", "[0.0, 1.0]" => "[0.0, 0.8427007794380188]", "The error function.";
            erfc(a) float => same [Erfc], "", "[0.0, 1.0]" => "[1.0, 0.15729920566082]", "One minus the error function, exact where that is small.";
            erfinv(a) float => same [Erfinv], "", "[0.0, 1.0]" => "[0.0, inf]", "Inverse of the error function.";
            lgamma(a) float => same [Lgamma], "", "[1.0, 4.0]" => "[0.0, 1.7917594909667969]", "Logarithm of the magnitude of the gamma function.";
            digamma(a) float => same [Digamma], "", "[1.0, 2.0]" => "[-0.5772156715393066, 0.42278432846069336]", "Derivative of `lgamma`.";
            softplus(a | beta = 1, threshold = 20) float => same [Softplus] with [Softplus(a.mul(beta)) y => if a.mul(beta) > threshold { a } else { y.div(beta) }], "", "[0.0, -1.0]" => "[0.6931471824645996, 0.3132616877555847]", "log(1 + exp(beta x)) / beta; with a `beta` or `threshold` of your own, x itself where beta x is above the threshold.";
            logit(a | eps = None) float => same [Logit] with [Logit(if a < eps { eps } else if a > T::ONE.sub(eps) { T::ONE.sub(eps) } else { a }) y => y], "", "[0.5, 1.0]" => "[0.0, inf]", "log(x / (1 - x)); with `eps`, of x brought between eps and 1 - eps.";
            sinc(a) field => same [Sinc], "", "[0.0, 0.5]" => "[1.0, 0.6366197466850281]", "sin(pi x) / (pi x), and 1 at 0.";
            logaddexp(a, b) field => same [Logaddexp], "", "[0.0, 1.0]", "[0.0, 1.0]" => "[0.6931471824645996, 1.6931471824645996]", "Logarithm of the sum of both operands' exponentials; of complex numbers its principal value.";
            logaddexp2(a, b) field => same [Logaddexp2], "", "[0.0, 1.0]", "[0.0, 1.0]" => "[1.0, 2.0]", "Logarithm to the base 2 of the sum of two to the power of both operands; of complex numbers its principal value.";
            xlogy(a, b) float => same [Xlogy], "", "[0.0, 2.0]", "[0.0, 1.0]" => "[0.0, 0.0]", "Left operand times the logarithm of the right one; 0 where the left one is 0.";
            floor(a) real => same {a.floor()}, "", "[1.5, -1.5]" => "[1.0, -2.0]", "Down to a whole number.";
            ceil(a) real => same {a.ceil()}, "", "[1.5, -1.5]" => "[2.0, -1.0]", "Up to a whole number.";
            trunc(a) real => same {a.trunc()}, "", "[1.5, -1.5]" => "[1.0, -1.0]", "Toward zero to a whole number.";
            round(a; decimals = 0) real => same {a.round()} with [kernels round::kernels], "", "[1.5, 2.5, -0.75]" => "[2.0, 2.0, -1.0]", "To the nearest whole number, or number of `decimals`; the even one of two. An integer whose tens (or hundreds) are beyond its dtype becomes the nearest that are not.";
            frac(a) float => same {a.sub(a.trunc())}, "", "[1.5, -1.25]" => "[0.5, -0.25]", "What `trunc` takes away.";
            maximum(a, b) real => same {a.maximum(b)}, "", "[1.0, 5.0]", "[2.0, 4.0]" => "[2.0, 5.0]", "The larger operand; NaN if one of them is.";
            minimum(a, b) real => same {a.minimum(b)}, "", "[1.0, 5.0]", "[2.0, 4.0]" => "[1.0, 4.0]", "The smaller operand; NaN if one of them is.";
            fmax(a, b) real => same {a.fmax(b)}, "", "[1.0, 1e999 * 0]", "[2.0, 4.0]" => "[2.0, 4.0]", "The larger operand; one that is NaN does not count.";
            fmin(a, b) real => same {a.fmin(b)}, "", "[1.0, 1e999 * 0]", "[2.0, 4.0]" => "[1.0, 4.0]", "The smaller operand; one that is NaN does not count.";
            clamp_min(a, min) order => same {a.maximum(min)}, "", "[-1.0, 5.0]", "[0.0, 0.0]" => "[0.0, 5.0]", "Each element, or the bound where it is below; NaN if one of them is.";
            clamp_max(a, max) order => same {a.minimum(max)}, "", "[-1.0, 5.0]", "[1.0, 1.0]" => "[-1.0, 1.0]", "Each element, or the bound where it is above; NaN if one of them is.";
            clamp(a, min, max) order => same {a.maximum(min).minimum(max)} without {min => clamp_max, max => clamp_min}, "", "[-1.0, 0.5, 5.0]", "[0.0, 0.0, 0.0]", "[1.0, 1.0, 1.0]" => "[0.0, 0.5, 1.0]", "Each element brought between bounds, of which one may be None; the upper one where they cross, NaN if one of the three is.";
            relu(a) order => same {a.maximum(T::ZERO)}, "", "[-1.0, 5.0]" => "[0.0, 5.0]", "Each element, or 0 where it is below.";
            nan_to_num(a | nan = 0.0, posinf = largest, neginf = lowest) any => same _ with {a.finite_or(nan, posinf, neginf)}, "", "[1.5, 1e999 * 0]" => "[1.5, 0.0]", "Each element, or a number where it is NaN or infinite: else the largest and the lowest of the dtype.";
            nextafter(a, b) floats => same {a.next_after(b)}, "", "[1.0, 0.0]", "[2.0, 1.0]" => "[1.0000001192092896, 1.401298464324817e-45]", "The next number of the dtype after the left operand, on the way to the right one.";
            ldexp(a, b) field => same [Ldexp], "", "[1.0, 3.0]", "[4.0, -1.0]" => "[16.0, 1.5]", "Left operand times two to the power of the right one.";
            lerp(a, end, weight) field => same {if weight.is_small() { a.add(weight.mul(end.sub(a))) } else { end.sub(end.sub(a).mul(T::ONE.sub(weight))) }}, "", "[0.0, 1.0]", "[4.0, 3.0]", "[0.25, 0.5]" => "[1.0, 2.0]", "The point between the first two operands at a share of the way.";
            addcmul(a, tensor1, tensor2; value = 1) num => same {a.add(tensor1.mul(tensor2))} with {a.add(value.mul(tensor1).mul(tensor2))}, "", "[1.0, 2.0]", "[2.0, 3.0]", "[4.0, 5.0]" => "[9.0, 17.0]", "The first operand plus `value` times the product of the others.";
            addcdiv(a, tensor1, tensor2; value = 1) field => same {a.add(tensor1.div(tensor2))} with {a.add(value.mul(tensor1).div(tensor2))}, "", "[1.0, 2.0]", "[8.0, 3.0]", "[4.0, 1.5]" => "[3.0, 4.0]", "The first operand plus `value` times the quotient of the others.";
            isnan(a) any => bool {Bool::new(a != a)}, "", "[1.0, 1e999 * 0]" => "[False, True]", "Whether each element is NaN.";
            isinf(a) any => bool {Bool::new(a.is_infinite())}, "", "[1.0, -1e999]" => "[False, True]", "Whether each element is infinite.";
            isfinite(a) any => bool {Bool::new(a.is_finite())}, "", "[1.0, 1e999]" => "[True, False]", "Whether each element is neither infinite nor NaN.";
            isneginf(a) real => bool {Bool::new(a.is_infinite() & a.is_negative())}, "", "[1.0, -1e999]" => "[False, True]", "Whether each element is minus infinity.";
            isposinf(a) real => bool {Bool::new(a.is_infinite() & !a.is_negative())}, "", "[1.0, 1e999]" => "[False, True]", "Whether each element is plus infinity.";
            isclose(a, b | rtol = 1e-05, atol = 1e-08) any => bool _ with [kernels isclose::kernels::<false>] by equal_nan = False {"True" => isclose_nan}, "", "[1.0, 2.0]", "[1.000001, 2.1]" => "[True, False]", "Whether the operands differ by at most `atol` plus `rtol` times the right one; NaN equals NaN with `equal_nan`.";
            isclose_nan(a, b | rtol = 1e-05, atol = 1e-08) any => bool _ with [kernels isclose::kernels::<true>];
            r#where(condition, a, b) select => same [kernels r#where::kernels];
            eq(a, b) any => bool {Bool::new(a == b)}, "==", "[1.0, 2.0]", "[1.0, 4.0]" => "[True, False]", "Whether the operands are equal, element by element.";
            ne(a, b) any => bool {Bool::new(a != b)}, "!=", "[1.0, 2.0]", "[1.0, 4.0]" => "[False, True]", "Whether the operands differ, element by element.";
            lt(a, b) real => bool {Bool::new(a < b)}, "<", "[1.0, 2.0]", "[1.0, 4.0]" => "[False, True]", "Whether the left operand is smaller.";
            le(a, b) real => bool {Bool::new(a <= b)}, "<=", "[1.0, 2.0]", "[1.0, 4.0]" => "[True, True]", "Whether the left operand is smaller or equal.";
            gt(a, b) real => bool {Bool::new(a > b)}, ">", "[1.0, 5.0]", "[1.0, 4.0]" => "[False, True]", "Whether the left operand is larger.";
            ge(a, b) real => bool {Bool::new(a >= b)}, ">=", "[1.0, 2.0]", "[1.0, 4.0]" => "[True, False]", "Whether the left operand is larger or equal.";
            logical_and(a, b) any => bool {Bool::new(a.is_nonzero() & b.is_nonzero())}, "", "[1.0, 0.0]", "[2.0, 4.0]" => "[True, False]", "Whether both operands differ from 0.";
            logical_or(a, b) any => bool {Bool::new(a.is_nonzero() | b.is_nonzero())}, "", "[1.0, 0.0]", "[2.0, 0.0]" => "[True, False]", "Whether one of the operands differs from 0.";
            logical_xor(a, b) any => bool {Bool::new(a.is_nonzero() ^ b.is_nonzero())}, "", "[1.0, 0.0]", "[2.0, 4.0]" => "[False, True]", "Whether exactly one of the operands differs from 0.";
            logical_not(a) any => bool {Bool::new(!a.is_nonzero())}, "", "[1.0, 0.0]" => "[False, True]", "Whether each element is 0.";
            bitwise_and(a, b) bits => same {a.and(b)}, "&", "[6, 5]", "[3, 4]" => "[2, 4]", "The bits that both operands have.";
            bitwise_or(a, b) bits => same {a.or(b)}, "|", "[6, 5]", "[3, 4]" => "[7, 5]", "The bits that one of the operands has.";
            bitwise_xor(a, b) bits => same {a.xor(b)}, "^", "[6, 5]", "[3, 4]" => "[5, 1]", "The bits that exactly one of the operands has.";
            bitwise_not(a) bits => same {a.not()}, "~x", "[6, -1]" => "[-7, 0]", "Each bit transposed around.";
            bitwise_left_shift(a, b) int => same {a.shift_left(b)}, "<<", "[1, 3]", "[4, 1]" => "[16, 6]", "The bits moved up by so many places.";
            bitwise_right_shift(a, b) int => same {a.shift_right(b)}, ">>", "[16, -6]", "[4, 1]" => "[1, -3]", "The bits moved down by so many places; the sign stays.";
            deg2rad(a) float => same {a.mul(T::of(std::f64::consts::PI / 180.0))}, "", "[0.0, 180.0]" => "[0.0, 3.1415927410125732]", "Degrees as radians.";
            rad2deg(a) float => same {a.mul(T::of(180.0 / std::f64::consts::PI))}, "", "[0.0, 1.0]" => "[0.0, 57.295780181884766]", "Radians as degrees.";
            conj_physical(a) any => same {a.conj()}, "", "[1.0, -2.0]" => "[1.0, -2.0]", "The complex conjugate, written out.";
            angle(a) field => part [Angle], "", "[1.0, -2.0]" => "[0.0, 3.1415927410125732]", "The angle of each number in the complex plane.";
            heaviside(a, values) real => same {{ let step = if a > T::ZERO { T::ONE } else { T::ZERO }; let step = if a == T::ZERO { values } else { step }; if a != a { a } else { step } }}, "", "[-1.5, 0.0, 2.0]", "[0.5, 0.5, 0.5]" => "[0.0, 0.5, 1.0]", "0 below 0, 1 above, and the right operand at 0.";
            gcd(a, b) int => same (a.gcd(b)), "", "[12, 9]", "[18, 6]" => "[6, 3]", "Greatest common divisor.";
            lcm(a, b) int => same (a.lcm(b)), "", "[4, 3]", "[6, 5]" => "[12, 15]", "Least common multiple.";
        }
    };
}

/// Which dtypes an operation knows. Named as the classes of [`switch!`](crate::switch).
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    any,
    num,
    counts,
    real,
    order,
    bits,
    int,
    field,
    float,
    floats,
    wide,
    select,
}

/// How the dtype of a result follows from that of the operands.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    same,
    bool,
    part,
}

/// Values of the second operand that have no result among integers.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuses {
    nothing,
    zeros,
    negatives,
}

/// What a row does to a few elements, as Python writes them.
pub struct Example {
    /// One list per operand: `[1.0, 2.0]`.
    pub operands: &'static [&'static str],
    pub result: &'static str,
}

/// One elementwise operation.
pub struct Row {
    pub name: &'static str,
    /// `add_`
    pub in_place_name: &'static str,
    /// Names of the operands.
    pub operands: &'static [&'static str],
    pub class: Class,
    pub rule: Rule,
    pub refuses: Refuses,
    /// `+`, or empty.
    pub operator: &'static str,
    pub example: Example,
    pub doc: &'static str,
    /// Numbers that come after the operands.
    pub keywords: &'static [Keyword],
    /// A word that chooses another row.
    pub chooser: Option<Chooser>,
    /// Operands that may be `None`, and the row for the others then.
    pub without: &'static [(&'static str, Op)],
    /// The kernels for operands of a compute dtype.
    pub kernels: Kernels,
    /// The kernels that take the numbers as well.
    pub with: Option<Kernels>,
    /// Whether those are the only ones.
    pub always: bool,
    /// Whether a call without numbers needs nothing out of the ordinary: kernels of one dtype, float32 for halves.
    pub plain: bool,
}

pub type Kernels = fn(DType) -> Option<&'static KernelPair>;

/// A number of a row.
pub struct Keyword {
    pub name: &'static str,
    /// Whether it may be given by position.
    pub positional: bool,
    /// What it is if it is not given, as Python writes it.
    pub text: &'static str,
    pub default: Default,
}

/// What a number is if it is not given.
pub enum Default {
    Number(fn() -> Scalar),
    /// It is not needed.
    Nothing,
    /// The largest and the lowest number of the operands' dtype.
    Largest,
    Lowest,
}

/// A word whose value chooses another row.
pub struct Chooser {
    pub name: &'static str,
    /// The value that chooses none, as Python writes it, and the others with their rows.
    pub default: &'static str,
    pub rows: &'static [(&'static str, Op)],
}

impl Row {
    /// What an operand is called in Python.
    pub fn argument(&self, at: usize) -> &'static str {
        match self.operands[at] {
            "a" => "input",
            "b" => "other",
            name => name,
        }
    }

    /// Whether the row is only for other code.
    pub fn is_hidden(&self) -> bool {
        self.doc.is_empty()
    }
}

impl Keyword {
    /// The number that was given, or what it is else.
    pub fn resolve(&self, given: Option<Scalar>, operand: DType) -> Scalar {
        given.unwrap_or_else(|| match self.default {
            Default::Number(number) => number(),
            Default::Nothing => Scalar::Float(f64::NAN),
            Default::Largest => operand.largest(),
            Default::Lowest => operand.lowest(),
        })
    }

    /// Whether a number is what it is else.
    pub fn is_default(&self, value: Scalar) -> bool {
        match (&self.default, value) {
            (Default::Number(number), Scalar::Int(value)) => match number() {
                Scalar::Int(wanted) => value == wanted,
                wanted => wanted == Scalar::Float(value as f64),
            },
            (Default::Number(number), Scalar::Float(value)) => match number() {
                Scalar::Int(wanted) => value == wanted as f64,
                wanted => wanted == Scalar::Float(value),
            },
            _ => false,
        }
    }

    /// Whether it says how far apart numbers may be, so that it is not negative.
    pub fn is_tolerance(&self) -> bool {
        matches!(self.name, "rtol" | "atol")
    }

    /// Whether every real number will do, whatever the operands are.
    pub fn is_real(&self) -> bool {
        !matches!(self.default, Default::Number(number) if matches!(number(), Scalar::Int(_)))
    }
}

/// A name without the mark that keeps Rust from reading it as a keyword.
pub const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

impl Class {
    /// The dtype that operands are brought to before the operation, given the one they have in common, or what they
    /// would have to be.
    #[inline]
    pub fn operand_dtype(self, common: DType) -> std::result::Result<DType, &'static str> {
        if self.takes(common) {
            return Ok(common);
        }
        Err(match self {
            Class::field => return Ok(dtype::default_float()),
            Class::float | Class::floats if common.category() < Category::Float => {
                return Ok(dtype::default_float());
            }
            Class::counts => return Ok(DType::I64),
            Class::wide => return Ok(if common.is_complex() { DType::C128 } else { DType::F64 }),
            Class::num => "a number, not bool",
            Class::order => "a real number, not bool",
            Class::bits => "bool or an integer dtype",
            Class::int => "an integer dtype",
            _ => "a real dtype",
        })
    }

    /// Whether integers are computed as floats, so that two of them need no integer dtype in common.
    #[inline]
    pub fn makes_floats(self) -> bool {
        matches!(self, Class::field | Class::float | Class::floats | Class::wide)
    }

    /// The dtypes it knows, in words.
    pub fn words(self) -> &'static str {
        match self {
            Class::any => "any dtype",
            Class::num => "any dtype but bool",
            Class::counts => "any dtype; bool is taken as int64",
            Class::real => "any dtype but the complex ones",
            Class::order => "any dtype but bool and the complex ones",
            Class::bits => "bool and the integers",
            Class::int => "the integers",
            Class::field => "any dtype; integers and bool are taken as the default float",
            Class::float | Class::floats => {
                "any dtype but the complex ones; integers and bool are taken as the default float"
            }
            Class::wide => "any dtype, taken as float64 or complex128",
            Class::select => "a condition, which is bool, and any dtype",
        }
    }

    /// Whether operands of a dtype are computed as they are.
    #[inline]
    pub fn takes(self, dtype: DType) -> bool {
        match self {
            Class::any | Class::select => true,
            Class::num | Class::counts => dtype != DType::Bool,
            Class::real => !dtype.is_complex(),
            Class::order => dtype != DType::Bool && !dtype.is_complex(),
            Class::bits => dtype.category() <= Category::Int,
            Class::int => dtype.category() == Category::Int,
            Class::field => dtype.category() >= Category::Float,
            Class::float | Class::floats => dtype.category() == Category::Float,
            Class::wide => matches!(dtype, DType::F64 | DType::C128),
        }
    }

    /// The dtype in which operands of a dtype are computed.
    #[inline]
    pub fn compute(self, operand: DType) -> DType {
        if matches!(self, Class::floats | Class::select) { operand } else { operand.compute() }
    }
}

impl Rule {
    #[inline]
    pub fn result_dtype(self, operand: DType) -> DType {
        match self {
            Rule::same => operand,
            Rule::bool => DType::Bool,
            Rule::part => operand.real(),
        }
    }
}

/// Hands the operands and the numbers of a row to a macro, between other things: `(a b) [(alpha 1 false)]`, where the
/// last word says whether the number may be given by position.
macro_rules! split {
    ($then:ident ($($head:tt)*) ($($a:ident),+ $(| $($p:ident = $pd:tt),+)? $(; $($w:ident = $wd:tt),+)?) $($tail:tt)*) => {
        $then! { $($head)* ($($a)+) [$($(($p $pd true))+)? $($(($w $wd false))+)?] $($tail)* }
    };
}

/// Makes the function of a row: a type named after the operation that implements `Function`. The
/// first one takes the operands, the second one the numbers as well.
macro_rules! body {
    (first $name:ident ($($a:ident)+) $words:tt $($rest:tt)*) => {
        body!(@class $name ($($a),+) $($rest)*);
    };
    (second $name:ident ($($a:ident)+) [$(($word:ident $default:tt $positional:ident))+] $($rest:tt)*) => {
        body!(@class $name ($($a),+ $(, $word)+) $($rest)*);
    };
    (@class $name:ident $args:tt $class:ident $rule:ident _) => {};
    (@class $name:ident $args:tt $class:ident $rule:ident [kernels $kernels:expr]) => {};
    (@class $name:ident $args:tt any $($rest:tt)*) => { body!(@rule $name $args Num $($rest)*); };
    (@class $name:ident $args:tt num $($rest:tt)*) => { body!(@rule $name $args Num $($rest)*); };
    (@class $name:ident $args:tt counts $($rest:tt)*) => { body!(@rule $name $args Num $($rest)*); };
    (@class $name:ident $args:tt real $($rest:tt)*) => { body!(@rule $name $args Real $($rest)*); };
    (@class $name:ident $args:tt order $($rest:tt)*) => { body!(@rule $name $args DivRem $($rest)*); };
    (@class $name:ident $args:tt bits $($rest:tt)*) => { body!(@rule $name $args Bits $($rest)*); };
    (@class $name:ident $args:tt int $($rest:tt)*) => { body!(@rule $name $args Int $($rest)*); };
    (@class $name:ident $args:tt field $($rest:tt)*) => { body!(@rule $name $args Field $($rest)*); };
    (@class $name:ident $args:tt float $($rest:tt)*) => { body!(@rule $name $args Float $($rest)*); };
    (@class $name:ident $args:tt floats $($rest:tt)*) => { body!(@rule $name $args NextAfter $($rest)*); };
    (@class $name:ident $args:tt wide $($rest:tt)*) => { body!(@rule $name $args Field $($rest)*); };
    (@rule $name:ident $args:tt $bound:ident same $body:tt) => { body!(@fn $name $args T: $bound => T: $body); };
    (@rule $name:ident $args:tt $bound:ident bool $body:tt) => { body!(@fn $name $args T: $bound => Bool: $body); };
    (@rule $name:ident ($a:ident) $bound:ident part [$maths:ident]) => {
        body!(@maths $name ($a) T: $bound => T::Part: $maths, Part1, 1);
    };
    (@rule $name:ident $args:tt $bound:ident part $body:tt) => { body!(@fn $name $args T: $bound => T::Part: $body); };
    (@fn $name:ident ($($a:ident),+) $T:ident: $bound:ident => $Out:ty: {$body:expr}) => {
        body!(@exact $name ($($a),+) $T: $bound => $Out: $body, Light);
    };
    (@fn $name:ident ($($a:ident),+) $T:ident: $bound:ident => $Out:ty: ($body:expr)) => {
        body!(@exact $name ($($a),+) $T: $bound => $Out: $body, Plain);
    };
    (@exact $name:ident ($($a:ident),+) $T:ident: $bound:ident => $Out:ty: $body:expr, $loops:ident) => {
        impl<$T: $bound> Function<$T, { arity!($($a)+) }> for bodies::$name::Body {
            type Out = $Out;
            const LOOPS: Loops = Loops::$loops;
            #[inline(always)]
            #[allow(clippy::eq_op)]
            fn apply([$($a),+]: [$T; arity!($($a)+)]) -> $Out { $body }
        }
    };
    (@fn $name:ident ($a:ident) $T:ident: $bound:ident => $Out:ty: [$maths:ident]) => {
        body!(@maths $name ($a) $T: $bound => $Out: $maths, Function1, 1);
    };
    // A function of one float, of something that is computed before; its result goes through something else.
    (@fn $name:ident ($($a:ident),+) $T:ident: $bound:ident => $Out:ty: [$maths:ident($before:expr) $y:ident => $after:expr]) => {
        impl<$T: $bound> Function<$T, { arity!($($a)+) }> for bodies::$name::Body where maths::$maths: maths::Function1<$T> {
            type Out = $Out;
            const LOOPS: Loops = <maths::$maths as maths::Function1<$T>>::LOOPS;
            #[inline(always)]
            fn apply([$($a),+]: [$T; arity!($($a)+)]) -> $Out {
                let $y = <maths::$maths as maths::Function1<$T>>::exact($before);
                $after
            }
            #[inline(always)]
            #[allow(unused_variables, clippy::let_and_return)]
            fn block<const L: usize>([$($a),+]: [[$T; L]; arity!($($a)+)]) -> [$Out; L] {
                let mut results = first!($($a)+);
                for i in 0..L {
                    $(let $a = $a[i];)+
                    results[i] = $before;
                }
                results = <maths::$maths as maths::Function1<$T>>::block(results);
                for i in 0..L {
                    $(let $a = $a[i];)+
                    results[i] = { let $y = results[i]; $after };
                }
                results
            }
        }
    };
    (@fn $name:ident ($a:ident, $b:ident) $T:ident: $bound:ident => $Out:ty: [$maths:ident]) => {
        body!(@maths $name ($a, $b) $T: $bound => $Out: $maths, Function2, 2);
    };
    (@maths $name:ident ($($a:ident),+) $T:ident: $bound:ident => $Out:ty: $maths:ident, $function:ident, $n:literal) => {
        impl<$T: $bound> Function<$T, $n> for bodies::$name::Body where maths::$maths: maths::$function<$T> {
            type Out = $Out;
            const LOOPS: Loops = <maths::$maths as maths::$function<$T>>::LOOPS;
            #[inline(always)]
            fn apply([$($a),+]: [$T; $n]) -> $Out { <maths::$maths as maths::$function<$T>>::exact($($a),+) }
            #[inline(always)]
            fn block<const L: usize>([$($a),+]: [[$T; L]; $n]) -> [$Out; L] {
                <maths::$maths as maths::$function<$T>>::block($($a),+)
            }
        }
    };
}

/// The number of names.
macro_rules! arity {
    ($a:ident) => {
        1
    };
    ($a:ident $($rest:ident)+) => {
        1 + arity!($($rest)+)
    };
}

/// The first of some names.
macro_rules! first {
    ($a:ident $($rest:ident)*) => {
        $a
    };
}

/// The kernels of a body, by dtype.
macro_rules! kernels {
    ($which:ident $name:ident $args:tt $words:tt $class:ident _) => {
        |_| None
    };
    ($which:ident $name:ident $args:tt $words:tt $class:ident [kernels $kernels:expr]) => {
        $kernels
    };
    (first $name:ident ($($a:ident)+) $words:tt $class:ident $body:tt) => {
        kernels!(@of $name $class $($a)+)
    };
    (second $name:ident ($($a:ident)+) [$(($word:ident $default:tt $positional:ident))+] $class:ident $body:tt) => {
        kernels!(@of $name $class $($a)+ $($word)+)
    };
    (@of $name:ident $class:ident $($a:ident)+) => {
        |dtype| switch!(dtype, $class, T => Some(const { &KernelPair::of::<bodies::$name::Body, T, { arity!($($a)+) }>() }), else => None)
    };
}

/// The names of a row's operands.
macro_rules! operands {
    (($($a:ident)+) $words:tt) => {
        &[$(stringify!($a)),+]
    };
}

/// The numbers of a row.
macro_rules! keywords {
    ($args:tt [$(($word:ident $default:tt $positional:ident))*]) => {
        &[$(Keyword {
            name: stringify!($word),
            positional: $positional,
            text: keywords!(@text $default),
            default: keywords!(@default $default),
        }),*]
    };
    (@text largest) => { "None" };
    (@text lowest) => { "None" };
    (@text $default:tt) => { stringify!($default) };
    (@default None) => { Default::Nothing };
    (@default largest) => { Default::Largest };
    (@default lowest) => { Default::Lowest };
    (@default $number:literal) => { Default::Number(|| Scalar::from($number)) };
}

/// What a row refuses, if it says so.
macro_rules! refused {
    () => {
        Refuses::nothing
    };
    ($what:ident) => {
        Refuses::$what
    };
}

/// The word that chooses another row, if there is one; the rows for operands that are not there; a row's second kernels.
macro_rules! chooser {
    () => { None };
    ($name:ident $default:ident {$($value:literal => $row:ident),+}) => {
        Some(Chooser { name: stringify!($name), default: stringify!($default), rows: &[$(($value, Op::$row)),+] })
    };
}
macro_rules! without {
    () => { &[] };
    ({$($operand:ident => $row:ident),+}) => { &[$((stringify!($operand), Op::$row)),+] };
}
macro_rules! second {
    ($name:ident $args:tt $class:ident) => { None };
    ($name:ident $args:tt $class:ident $second:tt) => { Some(split!(kernels (second $name) $args $class $second)) };
}
macro_rules! is_none {
    (_) => {
        true
    };
    ($body:tt) => {
        false
    };
}

macro_rules! rows {
    ($($name:ident $args:tt $class:ident => $rule:ident $body:tt $(with $second:tt)? $(refuses $refused:ident)?
        $(by $word:ident = $unset:ident $choices:tt)? $(without $without:tt)?
        $(, $operator:literal, $($elements:literal),+ => $result:literal, $doc:literal)?;)*) => {
        /// The functions of the rows, as types.
        #[allow(non_camel_case_types, dead_code)]
        mod bodies {
            // A module for each, so that each is compiled for itself: see `cpu::Task::Home`.
            $(pub mod $name { pub struct Body; })*
        }
        $(split! { body (first $name) $args $class $rule $body })*
        $($(split! { body (second $name) $args $class $rule $second })?)*

        /// The number of each operation in [`OPS`].
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Op { $($name),* }

        /// All rows.
        pub static OPS: &[Row] = &[$(Row {
            name: plain(stringify!($name)),
            in_place_name: concat!(stringify!($name), "_"),
            operands: split!(operands () $args),
            class: Class::$class,
            rule: Rule::$rule,
            refuses: refused!($($refused)?),
            operator: concat!($($operator)?),
            example: Example { operands: &[$($($elements),+)?], result: concat!($($result)?) },
            doc: concat!($($doc)?),
            keywords: split!(keywords () $args),
            chooser: chooser!($($word $unset $choices)?),
            without: without!($($without)?),
            kernels: split!(kernels (first $name) $args $class $body),
            with: second!($name $args $class $($second)?),
            always: is_none!($body),
            plain: !is_none!($body) && !matches!(Class::$class, Class::floats | Class::select),
        }),*];
    };
}
op_table!(rows);
