//! A method or function as data, and the thunks by which the interpreter calls it.
//!
//! The rows themselves are written with the `methods!` macro of `rows/methods.rs`.

use super::Object;
use super::bind::{Args, Param, bind};
use super::errors::{Result, guard};
use super::heap::definition;
use pyo3::ffi;
use pyo3::prelude::*;

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
    /// A row whose first parameter is read as an `X`.
    pub fn of<X, C: Call<X>>() -> Row {
        Row {
            name: C::NAME,
            place: C::PLACE,
            params: C::params(),
            doc: C::DOC,
            method: method::<X, C>,
            function: function::<X, C>,
            layout_method: None,
        }
    }

    /// The same row as a method of `Layout` besides, where the first parameter is read as an `L`.
    pub fn with_layout_method<L, C: Call<L>>(self) -> Row {
        Row { layout_method: Some(method::<L, C>), ..self }
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

unsafe extern "C" fn function<X, C: Call<X>>(
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
