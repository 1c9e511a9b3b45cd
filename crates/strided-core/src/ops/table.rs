//! The elementwise operations, one row each. Kernels, functions, methods, in-place forms, `out=`,
//! operators, documentation and tests all follow from these rows.
//!
//! | part of a row | meaning |
//! |---|---|
//! | `add(a, b)` | its name and its operands |
//! | `any`, `num`, `real`, `field` | the dtypes it knows, as in [`switch!`](crate::switch); `field` takes integers as the default float |
//! | `same`, `bool`, `part` | the result: the operands' dtype, bool, or the dtype of one part of a complex number |
//! | `a.add(b)` | the result from operands of one type |
//! | `"+"` | its operator, if it has one |
//! | `"[1.0]", "[2.0]" => "[3.0]"` | an example for its documents: the elements of its operands, numbers, and of its result |
//! | `"Sum of …"` | a sentence about it |

use crate::dtype::{self, Category, DType};
use crate::error::{Error, Problem, Result};
use crate::kernels::map::{Binary, Twins, Unary};
use crate::scalar::{Bool, Field, Num, Real};
use crate::switch;

/// Hands the rows to a macro.
#[macro_export]
macro_rules! op_table {
    ($then:path) => {
        $then! {
            add(a, b) any   => same: a.add(b),          "+",   "[1.0, 2.0]", "[0.5, 4.0]" => "[1.5, 6.0]",    "Sum of the operands, element by element.";
            sub(a, b) num   => same: a.sub(b),          "-",   "[1.0, 2.0]", "[0.5, 4.0]" => "[0.5, -2.0]",   "Left operand minus the right one.";
            mul(a, b) any   => same: a.mul(b),          "*",   "[1.0, 2.0]", "[0.5, 4.0]" => "[0.5, 8.0]",    "Product of the operands, element by element.";
            div(a, b) field => same: a.div(b),          "/",   "[1.0, 2.0]", "[0.5, 4.0]" => "[2.0, 0.5]",    "Left operand divided by the right one; integers give the default float.";
            neg(a)    num   => same: a.neg(),           "-x",  "[1.0, -2.0]" => "[-1.0, 2.0]",                "Each element with its sign changed.";
            abs(a)    any   => part: a.abs(),           "abs", "[1.0, -2.0]" => "[1.0, 2.0]",                 "The magnitude of each element.";
            eq(a, b)  any   => bool: Bool::new(a == b), "==",  "[1.0, 2.0]", "[1.0, 4.0]" => "[True, False]", "Whether the operands are equal, element by element.";
            ne(a, b)  any   => bool: Bool::new(a != b), "!=",  "[1.0, 2.0]", "[1.0, 4.0]" => "[False, True]", "Whether the operands differ, element by element.";
            lt(a, b)  real  => bool: Bool::new(a < b),  "<",   "[1.0, 2.0]", "[1.0, 4.0]" => "[False, True]", "Whether the left operand is smaller.";
            le(a, b)  real  => bool: Bool::new(a <= b), "<=",  "[1.0, 2.0]", "[1.0, 4.0]" => "[True, True]",  "Whether the left operand is smaller or equal.";
            gt(a, b)  real  => bool: Bool::new(a > b),  ">",   "[1.0, 5.0]", "[1.0, 4.0]" => "[False, True]", "Whether the left operand is larger.";
            ge(a, b)  real  => bool: Bool::new(a >= b), ">=",  "[1.0, 2.0]", "[1.0, 4.0]" => "[True, False]", "Whether the left operand is larger or equal.";
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
    field,
}

/// How the dtype of a result follows from that of the operands.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    same,
    bool,
    part,
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
            Class::num => "a number, not bool",
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
            Class::field => "any dtype; integers and bool are taken as the default float",
        }
    }

    /// Whether operands of a dtype are computed as they are.
    #[inline]
    pub fn takes(self, dtype: DType) -> bool {
        match self {
            Class::any => true,
            Class::num => dtype != DType::Bool,
            Class::real => !dtype.is_complex(),
            Class::field => dtype.category() >= Category::Float,
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

/// Makes the function of a row: a type named after the operation that implements `Unary` or `Binary`.
macro_rules! body {
    ($name:ident ($($arg:ident),+) any => $($rest:tt)*) => { body!(@rule $name ($($arg),+) Num => $($rest)*); };
    ($name:ident ($($arg:ident),+) num => $($rest:tt)*) => { body!(@rule $name ($($arg),+) Num => $($rest)*); };
    ($name:ident ($($arg:ident),+) real => $($rest:tt)*) => { body!(@rule $name ($($arg),+) Real => $($rest)*); };
    ($name:ident ($($arg:ident),+) field => $($rest:tt)*) => { body!(@rule $name ($($arg),+) Field => $($rest)*); };
    (@rule $name:ident ($($arg:ident),+) $bound:ident => same: $body:expr) => { body!(@fn $name ($($arg),+) T: $bound => T: $body); };
    (@rule $name:ident ($($arg:ident),+) $bound:ident => bool: $body:expr) => { body!(@fn $name ($($arg),+) T: $bound => Bool: $body); };
    (@rule $name:ident ($($arg:ident),+) $bound:ident => part: $body:expr) => { body!(@fn $name ($($arg),+) T: $bound => T::Part: $body); };
    (@fn $name:ident ($a:ident) $T:ident: $bound:ident => $Out:ty: $body:expr) => {
        impl<$T: $bound> Unary<$T> for bodies::$name {
            type Out = $Out;
            #[inline(always)]
            fn apply($a: $T) -> $Out { $body }
        }
    };
    (@fn $name:ident ($a:ident, $b:ident) $T:ident: $bound:ident => $Out:ty: $body:expr) => {
        impl<$T: $bound> Binary<$T> for bodies::$name {
            type Out = $Out;
            #[inline(always)]
            fn apply($a: $T, $b: $T) -> $Out { $body }
        }
    };
}

/// Chooses the drivers by the number of operands.
macro_rules! twins {
    ($name:ident ($a:ident) $T:ident) => {
        const { &Twins::unary::<bodies::$name, $T>() }
    };
    ($name:ident ($a:ident, $b:ident) $T:ident) => {
        const { &Twins::binary::<bodies::$name, $T>() }
    };
}

macro_rules! rows {
    ($($name:ident ($($arg:ident),+) $class:ident => $rule:ident: $body:expr, $operator:literal,
        $($elements:literal),+ => $result:literal, $doc:literal;)*) => {
        /// The functions of the rows, as types.
        #[allow(non_camel_case_types)]
        mod bodies { $(pub struct $name;)* }
        $(body!($name ($($arg),+) $class => $rule: $body);)*

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
            operator: $operator,
            example: Example { operands: &[$($elements),+], result: $result },
            doc: $doc,
            kernels: |dtype| switch!(dtype, $class, T => Some(twins!($name ($($arg),+) T)), else => None),
        }),*];
    };
}
op_table!(rows);
