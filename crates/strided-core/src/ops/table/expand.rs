//! The rows of the op table, expanded into kernels and data.

use super::op::Op;
use super::row::{
    DTypeClass, KeywordDefault, OpRow, Refuses, ResultRule, RowSelector, ScalarKeyword, strip_raw,
};
use crate::kernels::loops::{Function, KernelPair, Loops};
use crate::kernels::maths::functions as maths;
use crate::kernels::{isclose, round, r#where};
use crate::op_table;
use crate::scalar::{Bits, Bool, DivRem, Field, Float, Int, NextAfter, Num, Real, Scalar};
use crate::switch;

/// Passes the operands and keywords of a row on to a macro, between other arguments: `(a b) [(alpha 1 false)]`. The
/// last word of a keyword says whether it may be positional.
macro_rules! split {
    ($then:ident ($($head:tt)*) ($($a:ident),+ $(| $($p:ident = $pd:tt),+)? $(; $($k:ident = $kd:tt),+)?) $($tail:tt)*) => {
        $then! { $($head)* ($($a)+) [$($(($p $pd true))+)? $($(($k $kd false))+)?] $($tail)* }
    };
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

/// The kernels of a body: a function of the dtype.
macro_rules! kernels {
    ($which:ident $name:ident $args:tt $keywords:tt $class:ident _) => {
        |_| None
    };
    ($which:ident $name:ident $args:tt $keywords:tt $class:ident [kernels $kernels:expr]) => {
        $kernels
    };
    (first $name:ident ($($a:ident)+) $keywords:tt $class:ident $body:tt) => {
        kernels!(@of $name $class $($a)+)
    };
    (second $name:ident ($($a:ident)+) [$(($keyword:ident $default:tt $positional:ident))+] $class:ident $body:tt) => {
        kernels!(@of $name $class $($a)+ $($keyword)+)
    };
    (@of $name:ident $class:ident $($a:ident)+) => {
        |dtype| switch!(dtype, $class, T => Some(const { &KernelPair::of::<bodies::$name::Body, T, { arity!($($a)+) }>() }), else => None)
    };
}

/// The kernels of the body behind `with`, if there is one.
macro_rules! keyword_kernels {
    ($name:ident $args:tt $class:ident) => {
        None
    };
    ($name:ident $args:tt $class:ident $second:tt) => {
        Some(split!(kernels (second $name) $args $class $second))
    };
}

/// The names of the operands.
macro_rules! operands {
    (($($a:ident)+) $keywords:tt) => {
        &[$(stringify!($a)),+]
    };
}

/// The scalar keywords.
macro_rules! keywords {
    ($args:tt [$(($keyword:ident $default:tt $positional:ident))*]) => {
        &[$(ScalarKeyword {
            name: stringify!($keyword),
            positional: $positional,
            text: keywords!(@text $default),
            default: keywords!(@default $default),
        }),*]
    };
    (@text largest) => { "None" };
    (@text lowest) => { "None" };
    (@text $default:tt) => { stringify!($default) };
    (@default None) => { KeywordDefault::Absent };
    (@default largest) => { KeywordDefault::Largest };
    (@default lowest) => { KeywordDefault::Lowest };
    (@default $number:literal) => { KeywordDefault::Number(|| Scalar::from($number)) };
}

/// The clause `refuses`.
macro_rules! refuses {
    () => {
        Refuses::none
    };
    ($values:ident) => {
        Refuses::$values
    };
}

/// The clause `by`.
macro_rules! selector {
    () => { None };
    ($name:ident $default:ident {$($value:literal => $row:ident),+}) => {
        Some(RowSelector { name: stringify!($name), default: stringify!($default), rows: &[$(($value, Op::$row)),+] })
    };
}

/// The clause `without`.
macro_rules! without {
    () => { &[] };
    ({$($operand:ident => $row:ident),+}) => { &[$((stringify!($operand), Op::$row)),+] };
}

/// Whether a body is `_`.
macro_rules! is_absent {
    (_) => {
        true
    };
    ($body:tt) => {
        false
    };
}

macro_rules! expand {
    ($({
        $name:ident $aliases:tt $args:tt $selector:tt [$($doc:literal)*] $class:ident $rule:ident $body:tt [$($second:tt)?]
        [$($operator:literal)?] [$($refused:ident)?] [$($by:tt)*] [$($without:tt)?]
    })*) => {
        /// The functions of the rows, as types.
        #[allow(non_camel_case_types, dead_code)]
        mod bodies {
            // One module per row, so that each row is a codegen unit of its own: see `cpu::Task::Home`.
            $(pub mod $name { pub struct Body; })*
        }
        $(functions! { $name $args $class $rule $body $($second)? })*

        row_static! {
            /// All rows, in the order of [`Op`].
            OPS: &[OpRow] = &[$(OpRow {
                name: strip_raw(stringify!($name)),
                in_place_name: concat!(stringify!($name), "_"),
                operands: split!(operands () $args),
                class: DTypeClass::$class,
                rule: ResultRule::$rule,
                refuses: refuses!($($refused)?),
                operator: concat!($($operator)?),
                doc: &[$($doc),*],
                keywords: split!(keywords () $args),
                selector: selector!($($by)*),
                without: without!($($without)?),
                kernels: split!(kernels (first $name) $args $class $body),
                keyword_kernels: keyword_kernels!($name $args $class $($second)?),
                needs_keywords: is_absent!($body),
                is_plain: !is_absent!($body) && !matches!(DTypeClass::$class, DTypeClass::floats | DTypeClass::select),
            }),*]
        }
    };
}
op_table!(expand);
