//! Methods, functions and properties as data, and the thunks by which the interpreter calls them.
//!
//! They are declared as rows of the `methods!` and `properties!` macros of `api/methods.rs`.

use super::bind::{Args, Param, bind};
use super::errors::{CallResult, guard_value};
use super::heap::{definition, leak_text};
use super::refs::arg;
use super::{Arg, Object, Value};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;

/// Where a row appears in Python.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RowPlace {
    /// As a method of the class with this name.
    Method(&'static str),
    Function,
}

type Thunk = ffi::PyCFunctionFastWithKeywords;

/// A row as data, with a thunk for each place in which it appears.
pub struct MethodRow {
    pub name: &'static str,
    pub origin: Option<Origin>,
    pub params: &'static [Param],
    pub doc: &'static [&'static str],
    pub signature: Signature,
    pub thunks: Vec<(RowPlace, Thunk)>,
    /// NumPy functions that the row computes when they are called with tensors.
    pub numpy_names: &'static [&'static str],
}

/// The row that another name or the in-place form was declared with, whose docstring it shares.
#[derive(Clone, Copy)]
pub struct Origin {
    name: &'static str,
    /// What the new name is to that row: `In-place version of`.
    relation: &'static str,
}

/// The result type of a row in the stubs; `{}` is the class whose method it is.
#[derive(Clone, Copy)]
pub enum Signature {
    Returns(&'static str),
    /// Whole signatures, for a result type that depends on the arguments: `(dim: SupportsIndex) -> int`.
    Overloads(&'static [&'static str]),
}

/// A parameter in the stubs.
pub struct ParamStub {
    pub name: &'static str,
    /// Other keywords for it.
    pub aliases: &'static [&'static str],
    /// Its type.
    pub stub: String,
    /// The type of each of `*rest`.
    pub rest: Option<&'static str>,
    pub keyword_only: bool,
    pub default: Option<&'static str>,
}

impl ParamStub {
    pub fn of(param: &Param) -> ParamStub {
        let none = if param.optional { " | None" } else { "" };
        ParamStub {
            name: param.name,
            aliases: param.aliases,
            stub: format!("{}{none}", param.stub),
            rest: param.rest,
            keyword_only: param.keyword_only,
            default: param.default,
        }
    }
}

/// What the `methods!` macro generates for a row, for the generic thunks below.
pub trait RowFacts {
    const NAME: &'static str;
    const DOC: &'static [&'static str];
    const SIGNATURE: Signature;
    const ORIGIN: Option<Origin> = None;
    /// Whether the last parameter is `out`.
    const HAS_OUT: bool;
    /// All parameters; the first one of a method is the receiver.
    fn params() -> &'static [Param];
}

/// The body of a row.
pub trait RowBody: RowFacts {
    fn call<'a>(py: Python<'a>, args: &Args<'a>) -> CallResult<Value<'a>>;
}

/// The body of a row of views as a method of `Layout`.
pub trait LayoutRowBody: RowFacts {
    fn call_on_layout<'a>(py: Python<'a>, args: &Args<'a>) -> CallResult<Value<'a>>;
}

/// The body of a row as its in-place form.
pub trait InPlaceBody: RowFacts {
    fn call_in_place<'a>(py: Python<'a>, args: &Args<'a>) -> CallResult<Value<'a>>;
}

/// A further name that a row declares.
pub trait Name {
    const NAME: &'static str;
}

/// The row `R` under the name `N`.
pub struct Alias<R, N>(PhantomData<(R, N)>);

impl<R: RowFacts, N: Name> RowFacts for Alias<R, N> {
    const NAME: &'static str = N::NAME;
    const DOC: &'static [&'static str] = R::DOC;
    const SIGNATURE: Signature = R::SIGNATURE;
    const ORIGIN: Option<Origin> = Some(Origin { name: R::NAME, relation: "Another name for" });
    const HAS_OUT: bool = R::HAS_OUT;
    #[inline(always)]
    fn params() -> &'static [Param] {
        R::params()
    }
}

impl<R: RowBody, N: Name> RowBody for Alias<R, N> {
    #[inline(always)]
    fn call<'a>(py: Python<'a>, args: &Args<'a>) -> CallResult<Value<'a>> {
        R::call(py, args)
    }
}

impl<R: LayoutRowBody, N: Name> LayoutRowBody for Alias<R, N> {
    #[inline(always)]
    fn call_on_layout<'a>(py: Python<'a>, args: &Args<'a>) -> CallResult<Value<'a>> {
        R::call_on_layout(py, args)
    }
}

/// The in-place form of the row `R`, whose name is `N`. It has no `out`.
pub struct InPlaceForm<R, N>(PhantomData<(R, N)>);

impl<R: RowFacts, N: Name> RowFacts for InPlaceForm<R, N> {
    const NAME: &'static str = N::NAME;
    const DOC: &'static [&'static str] = R::DOC;
    const SIGNATURE: Signature = R::SIGNATURE;
    const ORIGIN: Option<Origin> = Some(Origin { name: R::NAME, relation: "In-place version of" });
    const HAS_OUT: bool = false;
    #[inline(always)]
    fn params() -> &'static [Param] {
        let all = R::params();
        &all[..all.len() - R::HAS_OUT as usize]
    }
}

impl<R: InPlaceBody, N: Name> RowBody for InPlaceForm<R, N> {
    #[inline(always)]
    fn call<'a>(py: Python<'a>, args: &Args<'a>) -> CallResult<Value<'a>> {
        R::call_in_place(py, args)
    }
}

/// Whether the last of these names is `out`.
pub const fn ends_with_out(names: &[&str]) -> bool {
    matches!(names, [.., last] if matches!(last.as_bytes(), [b'o', b'u', b't']))
}

impl MethodRow {
    pub fn of<R: RowFacts>() -> MethodRow {
        MethodRow {
            name: R::NAME,
            origin: R::ORIGIN,
            params: R::params(),
            doc: R::DOC,
            signature: R::SIGNATURE,
            thunks: Vec::new(),
            numpy_names: &[],
        }
    }

    #[inline(never)] // rows are made once, and there are hundreds
    fn with(mut self, place: RowPlace, thunk: Thunk) -> MethodRow {
        self.thunks.push((place, thunk));
        self
    }

    pub fn with_method<R: RowBody>(self, class: &'static str) -> MethodRow {
        self.with(RowPlace::Method(class), row::<R>)
    }

    pub fn with_layout_method<R: LayoutRowBody>(self) -> MethodRow {
        self.with(RowPlace::Method("Layout"), layout_method::<R>)
    }

    pub fn with_numpy_names(mut self, names: &'static [&'static str]) -> MethodRow {
        self.numpy_names = names;
        self
    }

    pub fn with_function<R: RowBody>(self) -> MethodRow {
        self.with(RowPlace::Function, row::<R>)
    }
}

/// Defines the function by which the interpreter calls a row: it binds the arguments, of which the receiver of a method is the
/// first, and runs a body of the row.
macro_rules! thunk {
    ($name:ident: $body:ident::$call:ident) => {
        /// # Safety
        /// Only the interpreter calls this, as a `METH_FASTCALL | METH_KEYWORDS` method or function.
        unsafe extern "C" fn $name<R: $body>(
            this: Object,
            args: *const Object,
            count: isize,
            kwnames: Object,
        ) -> Object {
            // SAFETY: the interpreter calls this on a thread that is attached to it.
            let py = unsafe { Python::assume_attached() };
            guard_value(py, R::NAME, |py| {
                let mut bound = Args::NONE;
                // SAFETY: the interpreter passed these, and keeps the objects alive during the call.
                unsafe { bind(py, R::params(), receiver(py, this), args, count, kwnames, &mut bound) }?;
                R::$call(py, &bound)
            })
        }
    };
}
thunk!(row: RowBody::call);
thunk!(layout_method: LayoutRowBody::call_on_layout);

/// The receiver of a method. A function has none: the interpreter passes its module there. One thunk for both halves the code
/// of the rows.
///
/// # Safety
/// `this` is what the interpreter passed to a method or function, and it is alive for `'a`.
#[inline(always)]
unsafe fn receiver<'a>(py: Python<'a>, this: Object) -> Option<Arg<'a>> {
    // SAFETY: this function's contract.
    unsafe { (ffi::PyModule_CheckExact(this) == 0).then(|| arg(py, this)) }
}

/// Python's definitions of the rows that appear in a place. They are never freed.
pub fn definitions(rows: &[MethodRow], place: RowPlace) -> Vec<ffi::PyMethodDef> {
    let first = if place == RowPlace::Function { "input" } else { "$self" };
    let here = |row: &MethodRow| row.thunks.iter().find(|(at, _)| *at == place).map(|(_, thunk)| *thunk);
    rows.iter().filter_map(|row| Some(definition(row.name, here(row)?, &docstring(row, first)))).collect()
}

/// `name($self, dim, keepdim=False)`, the line that marks it as a signature, and the documentation.
fn docstring(row: &MethodRow, first: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (at, param) in row.params.iter().enumerate() {
        let star = if param.rest.is_some() { "*" } else { "" };
        if param.keyword_only && !parts.iter().any(|part| part.starts_with('*')) {
            parts.push("*".into());
        }
        let default = param.default.map_or(String::new(), |value| format!("={value}"));
        let name = if at == 0 && param.name == "self" { first } else { param.name };
        parts.push(format!("{star}{name}{default}"));
    }
    let text = match row.origin {
        None => doc_text(row.doc),
        Some(origin) => shared_docstring(row, origin),
    };
    format!("{}({})\n--\n\n{text}", row.name, parts.join(", "))
}

/// The docstring of an alias or in-place form: one sentence, and the row's example with this name instead of the row's.
fn shared_docstring(row: &MethodRow, Origin { name, relation }: Origin) -> String {
    let start = row.doc.iter().position(|line| line.trim_start().starts_with(">>>")).unwrap_or(row.doc.len());
    let mut example = String::new();
    for part in doc_text(&row.doc[start..]).split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
        match part.strip_prefix(name) {
            Some("(") => example.extend([row.name, "("]),
            _ => example.push_str(part),
        }
    }
    format!("{relation} `{name}`.\n\n{example}")
}

/// A computed attribute of a class, perhaps one that can be assigned to.
pub struct PropertyRow {
    pub class: &'static str,
    pub name: &'static str,
    pub doc: &'static [&'static str],
    /// Its type in the stubs.
    pub stub: &'static str,
    pub get: Getter,
    pub set: Option<Setter>,
}

pub type Getter = unsafe extern "C" fn(Object, *mut c_void) -> Object;
pub type Setter = unsafe extern "C" fn(Object, Object, *mut c_void) -> c_int;

/// Python's definitions of the properties of a class. Their texts are never freed.
pub fn property_definitions(rows: &[PropertyRow], class: &str) -> Vec<ffi::PyGetSetDef> {
    let of_class = rows.iter().filter(|row| row.class == class);
    of_class
        .map(|row| ffi::PyGetSetDef {
            name: leak_text(row.name).as_ptr(),
            get: Some(row.get),
            set: row.set,
            doc: leak_text(&doc_text(row.doc)).as_ptr(),
            closure: null_mut(),
        })
        .collect()
}

/// The lines of a doc comment as one text.
fn doc_text(doc: &[&str]) -> String {
    let lines: Vec<&str> = doc.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}
