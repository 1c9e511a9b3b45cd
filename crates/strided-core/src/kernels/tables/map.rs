//! Which kernels serve an elementwise operation: the bodies of the op table, as functions of elements.

use crate::dtype::{Category, DType};
use crate::kernels::copy::CopyElement;
use crate::kernels::loops::{ElementwiseKernels, Function, Loops};
use crate::kernels::maths::functions as maths;
use crate::kernels::{isclose, round, r#where};
use crate::op_table;
use crate::op_table::{Op, split};
use crate::scalar::{Bits, Bool, DivRem, Field, Float, Int, NextAfter, Num, Real};
use crate::switch;

/// One of the bodies of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// The one that takes the operands.
    First,
    /// The one that takes the scalar keywords as well.
    WithKeywords,
}

/// The kernels for operands of a compute dtype.
type KernelsByDType = fn(DType) -> Option<&'static ElementwiseKernels>;

/// The kernels of a body for operands of a dtype, if the operation is computed in it.
#[inline(always)]
pub fn kernels(op: Op, body: Body, dtype: DType) -> Option<&'static ElementwiseKernels> {
    match body {
        Body::First => KERNELS[op as usize](dtype),
        Body::WithKeywords => KEYWORD_KERNELS[op as usize](dtype),
    }
}

/// Implements `Function` for the type of a row, once per body.
macro_rules! functions {
    ($name:ident $args:tt $class:ident $rule:ident $body:tt $($second:tt)?) => {
        split! { function (first $name) $args $class $rule $body }
        $(split! { function (second $name) $args $class $rule $second })?
    };
}

/// Implements `Function` for one body of a row. The `first` body takes the operands, the `second` one the keywords as
/// well, so that the two implementations differ in the number of arguments.
macro_rules! function {
    (first $name:ident ($($a:ident)+) $keywords:tt $($rest:tt)*) => {
        function!(@class $name ($($a),+) $($rest)*);
    };
    (second $name:ident ($($a:ident)+) [$(($keyword:ident $default:tt $positional:ident))+] $($rest:tt)*) => {
        function!(@class $name ($($a),+ $(, $keyword)+) $($rest)*);
    };
    (@class $name:ident $args:tt $class:ident $rule:ident _) => {};
    (@class $name:ident $args:tt $class:ident $rule:ident [kernels $kernels:expr]) => {};
    (@class $name:ident $args:tt any $($rest:tt)*) => { function!(@rule $name $args Num $($rest)*); };
    (@class $name:ident $args:tt num $($rest:tt)*) => { function!(@rule $name $args Num $($rest)*); };
    (@class $name:ident $args:tt counts $($rest:tt)*) => { function!(@rule $name $args Num $($rest)*); };
    (@class $name:ident $args:tt real $($rest:tt)*) => { function!(@rule $name $args Real $($rest)*); };
    (@class $name:ident $args:tt order $($rest:tt)*) => { function!(@rule $name $args DivRem $($rest)*); };
    (@class $name:ident $args:tt bits $($rest:tt)*) => { function!(@rule $name $args Bits $($rest)*); };
    (@class $name:ident $args:tt int $($rest:tt)*) => { function!(@rule $name $args Int $($rest)*); };
    (@class $name:ident $args:tt field $($rest:tt)*) => { function!(@rule $name $args Field $($rest)*); };
    (@class $name:ident $args:tt float $($rest:tt)*) => { function!(@rule $name $args Float $($rest)*); };
    (@class $name:ident $args:tt floats $($rest:tt)*) => { function!(@rule $name $args NextAfter $($rest)*); };
    (@class $name:ident $args:tt wide $($rest:tt)*) => { function!(@rule $name $args Field $($rest)*); };
    (@rule $name:ident $args:tt $bound:ident same $body:tt) => { function!(@fn $name $args T: $bound => T: $body); };
    (@rule $name:ident $args:tt $bound:ident bool $body:tt) => { function!(@fn $name $args T: $bound => Bool: $body); };
    (@rule $name:ident ($a:ident) $bound:ident part [$maths:ident]) => {
        function!(@maths $name ($a) T: $bound => T::Part: $maths, Part1, 1);
    };
    (@rule $name:ident $args:tt $bound:ident part $body:tt) => { function!(@fn $name $args T: $bound => T::Part: $body); };
    (@fn $name:ident $args:tt $T:ident: $bound:ident => $Out:ty: {$($body:tt)+}) => {
        function!(@exact $name $args $T: $bound => $Out: Light, $($body)+);
    };
    (@fn $name:ident $args:tt $T:ident: $bound:ident => $Out:ty: [scalar $($body:tt)+]) => {
        function!(@exact $name $args $T: $bound => $Out: Plain, $($body)+);
    };
    (@exact $name:ident ($($a:ident),+) $T:ident: $bound:ident => $Out:ty: $loops:ident, $($body:tt)+) => {
        impl<$T: $bound> Function<$T, { arity!($($a)+) }> for bodies::$name::Body {
            type Out = $Out;
            const LOOPS: Loops = Loops::$loops;
            #[inline(always)]
            #[allow(clippy::eq_op)]
            fn apply([$($a),+]: [$T; arity!($($a)+)]) -> $Out { $($body)+ }
        }
    };
    (@fn $name:ident ($a:ident) $T:ident: $bound:ident => $Out:ty: [$maths:ident]) => {
        function!(@maths $name ($a) $T: $bound => $Out: $maths, Function1, 1);
    };
    // `[Exp(x) y => z]`: `$before` is x, `$after` is z.
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
        function!(@maths $name ($a, $b) $T: $bound => $Out: $maths, Function2, 2);
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

/// The first one of some names.
macro_rules! first {
    ($a:ident $($rest:ident)*) => {
        $a
    };
}

/// The kernels of a body: a function of the dtype. The last argument is the clause `integers` of the row.
macro_rules! kernels {
    ($which:ident $name:ident $args:tt $keywords:tt $class:ident _ $integers:tt) => {
        |_| None
    };
    ($which:ident $name:ident $args:tt $keywords:tt $class:ident [kernels $kernels:expr] $integers:tt) => {
        $kernels
    };
    (first $name:ident ($($a:ident)+) $keywords:tt $class:ident $body:tt $integers:tt) => {
        kernels!(@of $name $class { arity!($($a)+) } $integers)
    };
    (second $name:ident ($($a:ident)+) [$(($keyword:ident $default:tt $positional:ident))+] $class:ident $body:tt $integers:tt) => {
        kernels!(@of $name $class { arity!($($a)+ $($keyword)+) } $integers)
    };
    (@of $name:ident $class:ident $n:tt []) => {
        |dtype| switch!(dtype, $class, T => kernels!(@pair $name T $n), else => None)
    };
    (@of $name:ident $class:ident $n:tt [unsigned]) => {
        |dtype| match dtype {
            DType::I8 => kernels!(@pair $name u8 $n, I8),
            DType::I16 => kernels!(@pair $name u16 $n, I16),
            DType::I32 => kernels!(@pair $name u32 $n, I32),
            DType::I64 => kernels!(@pair $name u64 $n, I64),
            dtype => kernels!(@unsigned $class dtype $name $n),
        }
    };
    (@of $name:ident $class:ident $n:tt [copied]) => {
        |dtype| copies(dtype).or_else(|| kernels!(@floats $class dtype $name $n))
    };
    (@of $name:ident $class:ident $n:tt [$row:ident]) => {
        |dtype| if dtype.category() < Category::Float {
            kernels(Op::$row, Body::First, dtype)
        } else {
            kernels!(@floats $class dtype $name $n)
        }
    };
    // The dtypes of a class but signed integers.
    (@unsigned any $dtype:ident $name:ident $n:tt) => {
        switch!(@ $dtype, T => kernels!(@pair $name T $n), else => None; Bool U8 U16 U32 U64 F32 F64 C64 C128)
    };
    (@unsigned num $dtype:ident $name:ident $n:tt) => {
        switch!(@ $dtype, T => kernels!(@pair $name T $n), else => None; U8 U16 U32 U64 F32 F64 C64 C128)
    };
    (@unsigned counts $dtype:ident $name:ident $n:tt) => { kernels!(@unsigned num $dtype $name $n) };
    (@unsigned real $dtype:ident $name:ident $n:tt) => {
        switch!(@ $dtype, T => kernels!(@pair $name T $n), else => None; Bool U8 U16 U32 U64 F32 F64)
    };
    (@unsigned bits $dtype:ident $name:ident $n:tt) => {
        switch!(@ $dtype, T => kernels!(@pair $name T $n), else => None; Bool U8 U16 U32 U64)
    };
    // The floating dtypes of a class.
    (@floats real $dtype:ident $name:ident $n:tt) => {
        switch!($dtype, float, T => kernels!(@pair $name T $n), else => None)
    };
    (@floats $class:ident $dtype:ident $name:ident $n:tt) => {
        switch!($dtype, field, T => kernels!(@pair $name T $n), else => None)
    };
    (@pair $name:ident $T:ident $n:tt $(, $signed:ident)?) => {
        Some(const { &ElementwiseKernels::of::<bodies::$name::Body, $T, $n>()$(.reading(DType::$signed))? })
    };
}

/// The kernels that copy integers and bools. All integers of a width share one.
fn copies(dtype: DType) -> Option<&'static ElementwiseKernels> {
    macro_rules! copies {
        ($($T:ty: $($D:ident)+),+) => {
            match dtype {
                $($(DType::$D => Some(const { &ElementwiseKernels::of::<CopyElement, $T, 1>().reading(DType::$D) }),)+)+
                _ => None,
            }
        };
    }
    copies!(u8: Bool U8 I8, u16: U16 I16, u32: U32 I32, u64: U64 I64)
}

/// The kernels of the body behind `with`, if there is one.
macro_rules! keyword_kernels {
    ($name:ident $args:tt $class:ident $integers:tt) => {
        |_| None
    };
    ($name:ident $args:tt $class:ident $integers:tt $second:tt) => {
        split!(kernels (second $name) $args $class $second $integers)
    };
}

macro_rules! expand {
    ($({
        $name:ident $aliases:tt $args:tt $selector:tt $doc:tt $class:ident $rule:ident $body:tt [$($second:tt)?]
        $operator:tt $refused:tt $by:tt $without:tt $integers:tt
    })*) => {
        /// The functions of the rows, as types.
        #[allow(non_camel_case_types, dead_code)]
        mod bodies {
            // One module per row, so that each row is a codegen unit of its own: see `cpu::Specialised::Home`.
            $(pub mod $name { pub struct Body; })*
        }
        $(functions! { $name $args $class $rule $body $($second)? })*

        table_static! {
            /// The kernels of the first body of each row, in the order of [`Op`].
            KERNELS: [KernelsByDType; ROWS] = [$(split!(kernels (first $name) $args $class $body $integers)),*]
        }
        table_static! {
            /// The kernels of the body behind `with`, in the same order.
            KEYWORD_KERNELS: [KernelsByDType; ROWS] = [$(keyword_kernels!($name $args $class $integers $($second)?)),*]
        }
        const ROWS: usize = [$(Op::$name),*].len();
    };
}
op_table!(expand);
