//! The `methods!` macro: a row is a name, typed parameters, a documentation line and a body; the parser,
//! the method, the function and the text signature follow.
//!
//! ```ignore
//! methods! { VIEWS(py, x):
//!     /// A view of `length` indices of a dim, from `start` on.
//!     view narrow(dim | axis: isize, start: isize, length: isize) => x.narrow(dim, start, length);
//! }
//! ```
//! `both` makes a method and a function (whose first parameter is called `input`), `method` and
//! `function` only one. A parameter may have other names (`dim | axis`) and a default, written as in
//! Python; one of type `Rest` takes all positional arguments that are left, and those behind `;` are only
//! given by name. In the body, `py` is the interpreter and `x` the tensor.
//!
//! `view` makes what `both` does and a method of `Layout` besides: in its body `x` is the layout, and the
//! result is the layout that `x` becomes, or several.

use crate::args::{Args, LayoutArg, Object, Param, TensorArg, bind};
use crate::errors::{Result, guard};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, CString};
pub use strided_core::ops::table::plain;

/// Where a row appears.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Both,
    Method,
    Function,
    /// Among the methods of `Layout`. A row is there if it has a thunk for it.
    Layout,
}

/// A row as data, with its thunks.
pub struct Row {
    pub name: &'static str,
    pub place: Place,
    pub params: &'static [Param],
    pub doc: &'static [&'static str],
    pub method: ffi::PyCFunctionFastWithKeywords,
    pub function: ffi::PyCFunctionFastWithKeywords,
    pub layout_method: Option<ffi::PyCFunctionFastWithKeywords>,
}

/// What the macro makes of a row, for the generic thunks below.
pub trait Facts {
    const NAME: &'static str;
    const PLACE: Place;
    const DOC: &'static [&'static str];
    /// All parameters; the first one of a method is the tensor itself.
    fn params() -> &'static [Param];
}

/// A row's body, where the first parameter is read as an `X`.
pub trait Call<X>: Facts {
    fn call(py: Python<'_>, args: &Args) -> Result<Object>;
}

impl Row {
    pub fn of<C: Call<TensorArg>>() -> Row {
        let (name, place, params, doc) = (C::NAME, C::PLACE, C::params(), C::DOC);
        Row {
            name,
            place,
            params,
            doc,
            method: method::<TensorArg, C>,
            function: function::<C>,
            layout_method: None,
        }
    }
    pub fn of_view<C: Call<TensorArg> + Call<LayoutArg>>() -> Row {
        Row { layout_method: Some(method::<LayoutArg, C>), ..Row::of::<C>() }
    }
}

unsafe extern "C" fn method<X, C: Call<X>>(
    this: Object,
    args: *const Object,
    count: isize,
    kwnames: Object,
) -> Object {
    guard(C::NAME, std::ptr::null_mut(), |py| {
        let mut bound = Args::NONE;
        // SAFETY: what the interpreter passed.
        unsafe { bind(py, C::params(), Some(this), args, count, kwnames, &mut bound) }?;
        C::call(py, &bound)
    })
}

unsafe extern "C" fn function<C: Call<TensorArg>>(
    _: Object,
    args: *const Object,
    count: isize,
    kwnames: Object,
) -> Object {
    guard(C::NAME, std::ptr::null_mut(), |py| {
        let mut bound = Args::NONE;
        // SAFETY: what the interpreter passed.
        unsafe { bind(py, C::params(), None, args, count, kwnames, &mut bound) }?;
        C::call(py, &bound)
    })
}

/// Python's definitions of the rows that appear in a place. They live as long as the process.
pub fn definitions<'a>(rows: impl Iterator<Item = &'a Row>, place: Place) -> Vec<ffi::PyMethodDef> {
    rows.filter_map(|row| {
        let here = row.place == Place::Both || row.place == place;
        let (thunk, first) = match place {
            Place::Layout => (row.layout_method?, "$self"),
            _ if !here => return None,
            Place::Function => (row.function, "input"),
            _ => (row.method, "$self"),
        };
        Some(definition(row.name, thunk, &doc(row, first)))
    })
    .collect()
}

/// One definition, on text that is never freed.
pub fn definition(name: &str, thunk: ffi::PyCFunctionFastWithKeywords, doc: &str) -> ffi::PyMethodDef {
    ffi::PyMethodDef {
        ml_name: forever(name).as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: thunk },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: forever(doc).as_ptr(),
    }
}

/// Text for the life of the process.
pub fn forever(text: &str) -> &'static CStr {
    Box::leak(CString::new(text).expect("no zero byte in a name or a document").into_boxed_c_str())
}

/// `name($self, dim, keepdim=False)`, the mark that makes it a signature, and the documentation.
fn doc(row: &Row, first: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (at, param) in row.params.iter().enumerate() {
        let star = if param.rest { "*" } else { "" };
        if param.keyword_only && !parts.iter().any(|part| part.starts_with('*')) {
            parts.push("*".into());
        }
        let default = param.default.map_or(String::new(), |value| format!("={value}"));
        let name = if at == 0 && param.name == "self" { first } else { param.name };
        parts.push(format!("{star}{name}{default}"));
    }
    let lines: Vec<&str> = row.doc.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    format!("{}({})\n--\n\n{}", row.name, parts.join(", "), lines.join("\n"))
}

#[macro_export]
macro_rules! methods {
    ($rows:ident ($py:ident, $x:ident): $(
        $(#[doc = $doc:literal])+
        $place:ident $name:ident ( $($params:tt)* ) => $body:expr;
    )*) => {
        pub fn $rows() -> Vec<$crate::methods::Row> {
            vec![$( $crate::methods!(@$place $name $py $x ($($params)*) [$($doc),+] $body) ),*]
        }
    };
    (@both $name:ident $py:ident $x:ident $params:tt $doc:tt $body:expr) => { {
        $crate::methods!(@facts Both $name [$x] $params $doc);
        $crate::methods!(@call TensorArg $py [$x] $params $body);
        $crate::methods::Row::of::<This>()
    } };
    (@method $name:ident $py:ident $x:ident $params:tt $doc:tt $body:expr) => { {
        $crate::methods!(@facts Method $name [$x] $params $doc);
        $crate::methods!(@call TensorArg $py [$x] $params $body);
        $crate::methods::Row::of::<This>()
    } };
    (@function $name:ident $py:ident $x:ident $params:tt $doc:tt $body:expr) => { {
        $crate::methods!(@facts Function $name [] $params $doc);
        $crate::methods!(@call TensorArg $py [] $params $body);
        $crate::methods::Row::of::<This>()
    } };
    // The layout is looked up after the other arguments were read: that may run code which changes a tensor's.
    (@view $name:ident $py:ident $x:ident $params:tt $doc:tt $body:expr) => { {
        use $crate::layout::Viewer;
        $crate::methods!(@facts Both $name [$x] $params $doc);
        $crate::methods!(@call TensorArg $py [this] $params { let $x = this.layout(); this.show($py, $body) });
        $crate::methods!(@call LayoutArg $py [this] $params { let $x = this.layout(); this.show($py, $body) });
        $crate::methods::Row::of_view::<This>()
    } };
    (@facts $place:ident $name:ident [$($x:ident)?]
        ($($param:ident $(| $alias:ident)* : $type:ty $(= $default:expr)?),*
            $(; $($word:ident $(| $other:ident)* : $word_type:ty = $word_default:expr),+)?) [$($doc:literal),+]) => {
        struct This;
        impl $crate::methods::Facts for This {
            const NAME: &'static str = $crate::methods::plain(stringify!($name));
            const PLACE: $crate::methods::Place = $crate::methods::Place::$place;
            const DOC: &'static [&'static str] = &[$($doc),+];
            #[inline(always)]
            fn params() -> &'static [$crate::args::Param] {
                const COUNT: usize = <[&str]>::len(
                    &[$(stringify!($x),)? $(stringify!($param),)* $($(stringify!($word)),+)?]
                );
                static PARAMS: [$crate::args::Param; COUNT] = [
                    $($crate::methods!(@input $x),)?
                    $($crate::args::Param::new(
                        stringify!($param),
                        &[$(stringify!($alias)),*],
                        <$type as $crate::args::FromArg>::REST,
                        $crate::methods!(@text $($default)?),
                    ),)*
                    $($($crate::args::Param::by_name(
                        stringify!($word),
                        &[$(stringify!($other)),*],
                        stringify!($word_default),
                    )),+)?
                ];
                &PARAMS
            }
        }
    };
    (@call $first:ident $py:ident [$($x:ident)?]
        ($($param:ident $(| $alias:ident)* : $type:ty $(= $default:expr)?),*
            $(; $($word:ident $(| $other:ident)* : $word_type:ty = $word_default:expr),+)?) $body:expr) => {
        impl $crate::methods::Call<$crate::args::$first> for This {
            #[inline(always)]
            #[allow(non_upper_case_globals, unused_variables, unused_mut, unused_assignments, dead_code)]
            fn call($py: ::pyo3::Python<'_>, args: &$crate::args::Args) -> $crate::errors::Result<$crate::args::Object> {
                const True: bool = true;
                const False: bool = false;
                let mut at = 0;
                $(
                    let $x = <$crate::args::$first as $crate::args::FromArg>::from_args($py, args, 0, "input")?;
                    at += 1;
                )?
                $(
                    let $param: $type = $crate::methods!(@read $py args at (stringify!($param)) $type $(, $default)?);
                    at += 1;
                )*
                $($(
                    let $word: $word_type =
                        $crate::methods!(@read $py args at (stringify!($word)) $word_type, $word_default);
                    at += 1;
                )+)?
                $body
            }
        }
    };
    (@input $x:ident) => { $crate::args::Param::new("self", &["input"], false, None) };
    (@text) => { None };
    (@text $default:expr) => { Some(stringify!($default)) };
    (@read $py:ident $args:ident $at:ident ($name:expr) $type:ty) => {
        <$type as $crate::args::FromArg>::from_args($py, $args, $at, $name)?
    };
    (@read $py:ident $args:ident $at:ident ($name:expr) $type:ty, $default:expr) => {
        if $args.is_given($at) { <$type as $crate::args::FromArg>::from_args($py, $args, $at, $name)? } else { $default }
    };
}
