//! The rows of the op table, expanded into data.

use super::row::{
    DTypeClass, KeywordDefault, OpRow, Refuses, ResultRule, RowSelector, ScalarKeyword, strip_raw,
};
use crate::op_table;
use crate::op_table::{Op, split};
use crate::scalar::Scalar;

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
        [$($operator:literal)?] [$($refused:ident)?] [$($by:tt)*] [$($without:tt)?] $integers:tt
    })*) => {
        /// All rows, in the order of [`Op`].
        pub static OPS: &[OpRow] = &[$(OpRow {
                op: Op::$name,
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
                needs_keywords: is_absent!($body),
                is_plain: !is_absent!($body) && !matches!(DTypeClass::$class, DTypeClass::floats | DTypeClass::select),
        }),*];
    };
}
op_table!(expand);
