//! The op table: the elementwise operations, one row each. Kernels, functions, methods, in-place forms, `out=`,
//! operators, docstrings and the test matrix all follow from the rows. And the ids of all operations.
//!
//! Rows are tokens, and this module depends on no other. Each layer expands what it needs of them: `kernels/tables/map.rs`
//! the bodies, `ops/table/` the facts that rules need, the binding its methods. An id is all that passes between the layers.
//!
//! ```ignore
//! /// Difference of the operands: `input - alpha * other`.
//! ///
//! /// >>> strided.sub(strided.tensor([1.0, 2.0]), strided.tensor([0.5, 4.0])).tolist()
//! /// [0.5, -2.0]
//! sub | subtract(a, b; alpha = 1) num => same { a.sub(b) } with { a.sub(alpha.mul(b)) } operator "-";
//! ```
//!
//! | part of a row | meaning |
//! |---|---|
//! | `///` | the docstring: a summary, and an example that calls the function form on a tensor and prints one line. Docstrings of methods and in-place methods are derived from it. A row without one has no name in Python: other code calls it |
//! | <code>sub \| subtract</code> | the name, and further names |
//! | `(a, b)` | the operands. In Python `a` is `input` and `b` is `other`; other names are the same |
//! | `; alpha = 1` | scalar keywords and their defaults; those after <code>\|</code> instead of `;` may be positional. They take no part in promotion |
//! | `any`, `num` … | the dtypes it computes in: a `DTypeClass` of `ops/table/` |
//! | `same`, `bool`, `part` | the dtype of the result: a `ResultRule` |
//! | `{ a.sub(b) }` | the body: an exact expression over one element type `T`, vectorised by the compiler |
//! | `[scalar a.gcd(b)]` | or an expression that no CPU has vector instructions for: one scalar loop |
//! | `[Exp]` | or a function of `kernels::maths`, which has a fast and an exact body |
//! | `[Exp(x) y => z]` | or such a function applied to the expression `x`, with its result `y` passed on to the expression `z` |
//! | `[kernels f]` | or a function from the dtype to the kernels, for kernels with operands of several dtypes |
//! | `with …` | the body used when a scalar keyword differs from its default; if the first body is `_`, the only one |
//! | `operator "-"` | the Python operator |
//! | `refuses zeros` | values of the second operand that integers refuse: see `Refuses` |
//! | `by mode = None { "floor" => floor_divide }` | a keyword whose value selects another row |
//! | `without { min => clamp_max }` | the row used for the remaining operands when this one is `None` |
//! | `integers unsigned` | the code of integers that others can use: signed ones have the same bits as unsigned ones; with `copied`, integers are copied; with the name of a row, they are computed by that row. Less to compile |
//!
//! Bodies without keywords know nothing of them, so that `a + b` does not pay for `alpha`. To a kernel, keywords are further
//! inputs with step 0, cast to the dtype it computes in: an `alpha` next to halves is not rounded to a half. A keyword
//! with an integer default is limited to the category of the operands; one with a float default may be any real number.
//!
//! `x.clamp(min=0)` runs `clamp_min`: a loop over one tensor and a scalar, without a third operand.
//!
//! Rows with `[kernels …]`: `where` moves elements as bits, `isclose` has float64 tolerances for any dtype and compares
//! integers by their exact difference, `round` has an int64 number of decimals. Halves are computed in float32, except
//! in `where` and `nextafter`, which have kernels for halves themselves.

mod arithmetic;
mod comparison;
mod exponential;
mod ids;
mod integer;
mod op;
mod rounding;
mod special;
mod trigonometric;

pub use ids::{LineOp, ReduceOp};
pub use op::Op;

/// Calls a macro with all rows, each as a group:
/// `{ name [aliases] (arguments) [name of the selector] … }`. Only the core needs the rest.
#[macro_export]
macro_rules! op_table {
    ($then:path) => {
        $crate::op_table! { @next [$then] [
            arithmetic_rows exponential_rows trigonometric_rows special_rows rounding_rows comparison_rows integer_rows
        ] }
    };
    // Each file appends its rows to those before and calls `@next` again: a macro cannot return tokens.
    (@next $then:tt [$file:ident $($files:ident)*] $($rows:tt)*) => {
        $crate::$file! { $then [$($files)*] $($rows)* }
    };
    (@next [$then:path] []
        $($(#[doc = $doc:literal])* $name:ident $(| $alias:ident)* ($($args:tt)*) $class:ident => $rule:ident $body:tt
        $(with $second:tt)? $(operator $operator:literal)? $(refuses $refused:ident)?
        $(by $selector:ident = $unset:ident $choices:tt)? $(without $without:tt)? $(integers $integers:ident)?;)*) => {
        $then! { $({
            $name [$($alias)*] ($($args)*) [$($selector)?] [$($doc)*] $class $rule $body [$($second)?]
            [$($operator)?] [$($refused)?] [$($selector $unset $choices)?] [$($without)?] [$($integers)?]
        })* }
    };
}

/// Passes the operands and keywords of a row on to a macro, between other arguments: `(a b) [(alpha 1 false)]`. The
/// last word of a keyword says whether it may be positional.
macro_rules! split {
    ($then:ident ($($head:tt)*) ($($a:ident),+ $(| $($p:ident = $pd:tt),+)? $(; $($k:ident = $kd:tt),+)?) $($tail:tt)*) => {
        $then! { $($head)* ($($a)+) [$($(($p $pd true))+)? $($(($k $kd false))+)?] $($tail)* }
    };
}
pub(crate) use split;
