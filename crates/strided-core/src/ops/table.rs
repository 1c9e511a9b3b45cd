//! The elementwise operations, one row each. Kernels, functions, methods, in-place forms, `out=`,
//! operators, documentation and tests all follow from these rows.
//!
//! | part of a row | meaning |
//! |---|---|
//! | `add(a, b)` | its name and its operands; in Python `a` is `input` and `b` is `other`, others are called as they are |
//! | `any`, `num` … | the dtypes it knows, as in [`switch!`](crate::switch); `field` and `float` take integers as the default float |
//! | `same`, `bool`, `part` | the result: the operands' dtype, bool, or the dtype of one part of a complex number |
//! | `{a.add(b)}` | the result from operands of one type, exactly |
//! | `(a.gcd(b))` | or so, where no CPU has vectors for it: one element after the other |
//! | `[Exp]` | or a function of [`maths`](crate::kernels::maths), with a fast body and an exact one |
//! | `refuses zeros` | values of the second operand that have no result among integers: `zeros` or `negatives` |
//! | `"+"` | its operator, if it has one |
//! | `"[1.0]", "[2.0]" => "[3.0]"` | an example for its documents: the elements of its operands, numbers, and of its result |
//! | `"Sum of …"` | a sentence about it |

use crate::dtype::{self, Category, DType};
use crate::error::{Error, Problem, Result};
use crate::kernels::map::{Function, Loops, Twins};
use crate::kernels::maths::rows as maths;
use crate::scalar::{Bits, Bool, Field, Float, Int, Num, Order, Real};
use crate::switch;

/// Hands the rows to a macro.
#[macro_export]
macro_rules! op_table {
    ($then:path) => {
        $then! {
            add(a, b) any => same {a.add(b)}, "+", "[1.0, 2.0]", "[0.5, 4.0]" => "[1.5, 6.0]", "Sum of the operands, element by element.";
            sub(a, b) num => same {a.sub(b)}, "-", "[1.0, 2.0]", "[0.5, 4.0]" => "[0.5, -2.0]", "Left operand minus the right one.";
            rsub(a, b) num => same {b.sub(a)}, "", "[1.0, 2.0]", "[0.5, 4.0]" => "[-0.5, 2.0]", "Right operand minus the left one.";
            mul(a, b) any => same {a.mul(b)}, "*", "[1.0, 2.0]", "[0.5, 4.0]" => "[0.5, 8.0]", "Product of the operands, element by element.";
            div(a, b) field => same {a.div(b)}, "/", "[1.0, 2.0]", "[0.5, 4.0]" => "[2.0, 0.5]", "Left operand divided by the right one; integers give the default float.";
            floor_divide(a, b) order => same (a.floor_div(b)) refuses zeros, "//", "[7.0, -7.0]", "[2.0, 2.0]" => "[3.0, -4.0]", "Quotient, down to a whole number.";
            remainder(a, b) order => same (a.remainder(b)) refuses zeros, "%", "[7.0, -7.0]", "[2.0, 2.0]" => "[1.0, 1.0]", "What `floor_divide` leaves; it has the sign of the divisor.";
            fmod(a, b) order => same (a.fmod(b)) refuses zeros, "", "[7.0, -7.0]", "[2.0, 2.0]" => "[1.0, -1.0]", "What division toward zero leaves; it has the sign of the dividend.";
            pow(a, b) num => same [Pow] refuses negatives, "**", "[2.0, 3.0]", "[3.0, 2.0]" => "[8.0, 9.0]", "Left operand to the power of the right one.";
            neg(a) num => same {a.neg()}, "-x", "[1.0, -2.0]" => "[-1.0, 2.0]", "Each element with its sign changed.";
            positive(a) num => same {a}, "+x", "[1.0, -2.0]" => "[1.0, -2.0]", "Each element as it is.";
            abs(a) any => part {a.abs()}, "abs", "[1.0, -2.0]" => "[1.0, 2.0]", "The magnitude of each element.";
            sign(a) any => same {a.sign()}, "", "[1.5, -2.0, 0.0]" => "[1.0, -1.0, 0.0]", "-1, 0 or 1 by the sign; of a complex number, the point of the unit circle in its direction.";
            signbit(a) real => bool {Bool::new(a.is_negative())}, "", "[1.0, -2.0, -0.0]" => "[False, True, True]", "Whether the sign is negative, also that of a zero.";
            copysign(a, b) float => same {a.copysign(b)}, "", "[1.0, 2.0]", "[-1.0, 0.0]" => "[-1.0, 2.0]", "The magnitude of the left operand with the sign of the right one.";
            reciprocal(a) field => same {T::ONE.div(a)}, "", "[2.0, -4.0]" => "[0.5, -0.25]", "One divided by each element.";
            square(a) num => same {a.mul(a)}, "", "[2.0, -3.0]" => "[4.0, 9.0]", "Each element times itself.";
            sqrt(a) field => same [Sqrt], "", "[4.0, 9.0]" => "[2.0, 3.0]", "Square root.";
            rsqrt(a) float => same [Rsqrt], "", "[4.0, 0.25]" => "[0.5, 2.0]", "One divided by the square root.";
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
            sigmoid(a) float => same [Sigmoid], "", "[0.0, 1.0]" => "[0.5, 0.7310585975646973]", "1 / (1 + exp(-x)).";
            erf(a) float => same [Erf], "", "[0.0, 1.0]" => "[0.0, 0.8427007794380188]", "The error function.";
            erfc(a) float => same [Erfc], "", "[0.0, 1.0]" => "[1.0, 0.15729920566082]", "One minus the error function, exact where that is small.";
            erfinv(a) float => same [Erfinv], "", "[0.0, 1.0]" => "[0.0, inf]", "Inverse of the error function.";
            lgamma(a) float => same [Lgamma], "", "[1.0, 4.0]" => "[0.0, 1.7917594909667969]", "Logarithm of the magnitude of the gamma function.";
            digamma(a) float => same [Digamma], "", "[1.0, 2.0]" => "[-0.5772156715393066, 0.42278432846069336]", "Derivative of `lgamma`.";
            sinc(a) float => same [Sinc], "", "[0.0, 0.5]" => "[1.0, 0.6366197466850281]", "sin(pi x) / (pi x), and 1 at 0.";
            logaddexp(a, b) float => same [Logaddexp], "", "[0.0, 1.0]", "[0.0, 1.0]" => "[0.6931471824645996, 1.6931471824645996]", "Logarithm of the sum of both operands' exponentials.";
            xlogy(a, b) float => same [Xlogy], "", "[0.0, 2.0]", "[0.0, 1.0]" => "[0.0, 0.0]", "Left operand times the logarithm of the right one; 0 where the left one is 0.";
            floor(a) real => same {a.floor()}, "", "[1.5, -1.5]" => "[1.0, -2.0]", "Down to a whole number.";
            ceil(a) real => same {a.ceil()}, "", "[1.5, -1.5]" => "[2.0, -1.0]", "Up to a whole number.";
            trunc(a) real => same {a.trunc()}, "", "[1.5, -1.5]" => "[1.0, -1.0]", "Toward zero to a whole number.";
            frac(a) float => same {a.sub(a.trunc())}, "", "[1.5, -1.25]" => "[0.5, -0.25]", "What `trunc` takes away.";
            maximum(a, b) real => same {a.maximum(b)}, "", "[1.0, 5.0]", "[2.0, 4.0]" => "[2.0, 5.0]", "The larger operand; NaN if one of them is.";
            minimum(a, b) real => same {a.minimum(b)}, "", "[1.0, 5.0]", "[2.0, 4.0]" => "[1.0, 4.0]", "The smaller operand; NaN if one of them is.";
            fmax(a, b) real => same {a.fmax(b)}, "", "[1.0, 1e999 * 0]", "[2.0, 4.0]" => "[2.0, 4.0]", "The larger operand; one that is NaN does not count.";
            fmin(a, b) real => same {a.fmin(b)}, "", "[1.0, 1e999 * 0]", "[2.0, 4.0]" => "[1.0, 4.0]", "The smaller operand; one that is NaN does not count.";
            lerp(a, end, weight) float => same {if weight.maximum(weight.neg()) < T::of(0.5) { a.add(weight.mul(end.sub(a))) } else { end.sub(end.sub(a).mul(T::ONE.sub(weight))) }}, "", "[0.0, 1.0]", "[4.0, 3.0]", "[0.25, 0.5]" => "[1.0, 2.0]", "The point between the first two operands at a share of the way.";
            addcmul(a, tensor1, tensor2) num => same {a.add(tensor1.mul(tensor2))}, "", "[1.0, 2.0]", "[2.0, 3.0]", "[4.0, 5.0]" => "[9.0, 17.0]", "The first operand plus the product of the others.";
            addcdiv(a, tensor1, tensor2) field => same {a.add(tensor1.div(tensor2))}, "", "[1.0, 2.0]", "[8.0, 3.0]", "[4.0, 1.5]" => "[3.0, 4.0]", "The first operand plus the quotient of the others.";
            isnan(a) any => bool {Bool::new(a != a)}, "", "[1.0, 1e999 * 0]" => "[False, True]", "Whether each element is NaN.";
            isinf(a) any => bool {Bool::new(a.is_infinite())}, "", "[1.0, -1e999]" => "[False, True]", "Whether each element is infinite.";
            isfinite(a) any => bool {Bool::new(a.is_finite())}, "", "[1.0, 1e999]" => "[True, False]", "Whether each element is neither infinite nor NaN.";
            isneginf(a) real => bool {Bool::new(a.is_infinite() & a.is_negative())}, "", "[1.0, -1e999]" => "[False, True]", "Whether each element is minus infinity.";
            isposinf(a) real => bool {Bool::new(a.is_infinite() & !a.is_negative())}, "", "[1.0, 1e999]" => "[False, True]", "Whether each element is plus infinity.";
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
            bitwise_not(a) bits => same {a.not()}, "~x", "[6, -1]" => "[-7, 0]", "Each bit turned around.";
            bitwise_left_shift(a, b) int => same {a.shift_left(b)}, "<<", "[1, 3]", "[4, 1]" => "[16, 6]", "The bits moved up by so many places.";
            bitwise_right_shift(a, b) int => same {a.shift_right(b)}, ">>", "[16, -6]", "[4, 1]" => "[1, -3]", "The bits moved down by so many places; the sign stays.";
            deg2rad(a) float => same {a.mul(T::of(std::f64::consts::PI / 180.0))}, "", "[0.0, 180.0]" => "[0.0, 3.1415927410125732]", "Degrees as radians.";
            rad2deg(a) float => same {a.mul(T::of(180.0 / std::f64::consts::PI))}, "", "[0.0, 1.0]" => "[0.0, 57.295780181884766]", "Radians as degrees.";
            conj_physical(a) any => same {a.conj()}, "", "[1.0, -2.0]" => "[1.0, -2.0]", "The complex conjugate, written out.";
            angle(a) field => part {a.angle()}, "", "[1.0, -2.0]" => "[0.0, 3.1415927410125732]", "The angle of each number in the complex plane.";
            heaviside(a, b) order => same {if a != a { a } else if a == T::ZERO { b } else if a > T::ZERO { T::ONE } else { T::ZERO }}, "", "[-1.5, 0.0, 2.0]", "[0.5, 0.5, 0.5]" => "[0.0, 0.5, 1.0]", "0 below 0, 1 above, and the right operand at 0.";
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
    real,
    order,
    bits,
    int,
    field,
    float,
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
    /// The kernels for operands of a compute dtype.
    pub kernels: fn(DType) -> Option<&'static Twins>,
}

impl Class {
    /// The dtype that operands are brought to before the operation, given the one they have in common.
    #[inline]
    pub fn operand_dtype(self, common: DType, op: &'static str) -> Result<DType> {
        if self.takes(common) {
            return Ok(common);
        }
        let refused = match self {
            Class::field => return Ok(dtype::default_float()),
            Class::float if common.category() < Category::Float => return Ok(dtype::default_float()),
            Class::num => "a number, not bool",
            Class::order => "a real number, not bool",
            Class::bits => "bool or an integer dtype",
            Class::int => "an integer dtype",
            _ => "a real dtype",
        };
        Err(Error::new(op, Problem::WrongDType { argument: "operand", got: common, wanted: refused }))
    }

    /// The dtypes it knows, in words.
    pub fn words(self) -> &'static str {
        match self {
            Class::any => "any dtype",
            Class::num => "any dtype but bool",
            Class::real => "any dtype but the complex ones",
            Class::order => "any dtype but bool and the complex ones",
            Class::bits => "bool and the integers",
            Class::int => "the integers",
            Class::field => "any dtype; integers and bool are taken as the default float",
            Class::float => {
                "any dtype but the complex ones; integers and bool are taken as the default float"
            }
        }
    }

    /// Whether operands of a dtype are computed as they are.
    #[inline]
    pub fn takes(self, dtype: DType) -> bool {
        match self {
            Class::any => true,
            Class::num => dtype != DType::Bool,
            Class::real => !dtype.is_complex(),
            Class::order => dtype != DType::Bool && !dtype.is_complex(),
            Class::bits => dtype.category() <= Category::Int,
            Class::int => dtype.category() == Category::Int,
            Class::field => dtype.category() >= Category::Float,
            Class::float => dtype.category() == Category::Float,
        }
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

/// Makes the function of a row: a type named after the operation that implements `Function`.
macro_rules! body {
    ($name:ident $args:tt any $($rest:tt)*) => { body!(@rule $name $args Num $($rest)*); };
    ($name:ident $args:tt num $($rest:tt)*) => { body!(@rule $name $args Num $($rest)*); };
    ($name:ident $args:tt real $($rest:tt)*) => { body!(@rule $name $args Real $($rest)*); };
    ($name:ident $args:tt order $($rest:tt)*) => { body!(@rule $name $args Order $($rest)*); };
    ($name:ident $args:tt bits $($rest:tt)*) => { body!(@rule $name $args Bits $($rest)*); };
    ($name:ident $args:tt int $($rest:tt)*) => { body!(@rule $name $args Int $($rest)*); };
    ($name:ident $args:tt field $($rest:tt)*) => { body!(@rule $name $args Field $($rest)*); };
    ($name:ident $args:tt float $($rest:tt)*) => { body!(@rule $name $args Float $($rest)*); };
    (@rule $name:ident $args:tt $bound:ident same $body:tt) => { body!(@fn $name $args T: $bound => T: $body); };
    (@rule $name:ident $args:tt $bound:ident bool $body:tt) => { body!(@fn $name $args T: $bound => Bool: $body); };
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
    ($a:ident $b:ident) => {
        2
    };
    ($a:ident $b:ident $c:ident) => {
        3
    };
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

macro_rules! rows {
    ($($name:ident ($($arg:ident),+) $class:ident => $rule:ident $body:tt $(refuses $refused:ident)?, $operator:literal,
        $($elements:literal),+ => $result:literal, $doc:literal;)*) => {
        /// The functions of the rows, as types.
        #[allow(non_camel_case_types)]
        mod bodies {
            // A module for each, so that each is compiled for itself: see `cpu::Task::Home`.
            $(pub mod $name { pub struct Body; })*
        }
        $(body!($name ($($arg),+) $class $rule $body);)*

        /// The number of each operation in [`OPS`].
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy)]
        pub enum Op { $($name),* }

        /// All rows.
        pub static OPS: &[Row] = &[$(Row {
            name: stringify!($name),
            in_place_name: concat!(stringify!($name), "_"),
            operands: &[$(stringify!($arg)),+],
            class: Class::$class,
            rule: Rule::$rule,
            refuses: refused!($($refused)?),
            operator: $operator,
            example: Example { operands: &[$($elements),+], result: $result },
            doc: $doc,
            kernels: |dtype| switch!(dtype, $class, T => Some(const { &Twins::of::<bodies::$name::Body, T, { arity!($($arg)+) }>() }), else => None),
        }),*];
    };
}
op_table!(rows);
