//! Methods, functions and properties as data, and the thunks by which the interpreter calls them.
//!
//! They are written as rows of the `methods!` and `properties!` macros of `rows/methods.rs`.

use super::Object;
use super::bind::{Args, Param, bind};
use super::errors::{Result, guard};
use super::heap::{definition, forever};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// A class that has rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Tensor,
    Storage,
    Layout,
    DType,
    Device,
}

impl Class {
    /// Its name in Python.
    pub fn name(self) -> &'static str {
        match self {
            Class::Tensor => "Tensor",
            Class::Storage => "Storage",
            Class::Layout => "Layout",
            Class::DType => "dtype",
            Class::Device => "device",
        }
    }
}

/// Where a row appears in Python.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Method(Class),
    Function,
}

type Thunk = ffi::PyCFunctionFastWithKeywords;

/// A row as data, with its thunks.
pub struct Row {
    pub name: &'static str,
    pub params: &'static [Param],
    pub doc: &'static [&'static str],
    pub signature: Signature,
    pub thunks: Vec<(Place, Thunk)>,
    /// Functions of NumPy that it computes when they are called with tensors.
    pub numpy_names: &'static [&'static str],
}

/// What a row returns, in the words of the stubs; `{}` is the class whose method it is.
#[derive(Clone, Copy)]
pub enum Signature {
    Returns(&'static str),
    /// Whole signatures, for a result that depends on the arguments: `(dim: int) -> int`.
    Overloads(&'static [&'static str]),
}

/// What the macro makes of a row, for the generic thunks below.
pub trait Facts {
    const NAME: &'static str;
    const DOC: &'static [&'static str];
    const SIGNATURE: Signature;
    /// All parameters; the first one of a method is the receiver.
    fn params() -> &'static [Param];
}

/// A row's body, where the first parameter is read as an `X`.
pub trait Call<X>: Facts {
    fn call(py: Python<'_>, args: &Args) -> Result<Object>;
}

impl Row {
    pub fn of<C: Facts>() -> Row {
        Row {
            name: C::NAME,
            params: C::params(),
            doc: C::DOC,
            signature: C::SIGNATURE,
            thunks: Vec::new(),
            numpy_names: &[],
        }
    }

    /// The row as a method, whose receiver is read as an `X`.
    pub fn with_method<X, C: Call<X>>(mut self, class: Class) -> Row {
        self.thunks.push((Place::Method(class), method::<X, C>));
        self
    }

    /// The row as the implementation of functions of NumPy.
    pub fn with_numpy_names(mut self, names: &'static [&'static str]) -> Row {
        self.numpy_names = names;
        self
    }

    /// The row as a function, whose first argument is read as an `X` if it is called `input`.
    pub fn with_function<X, C: Call<X>>(mut self) -> Row {
        self.thunks.push((Place::Function, function::<X, C>));
        self
    }
}

unsafe extern "C" fn method<X, C: Call<X>>(
    this: Object,
    args: *const Object,
    count: isize,
    kwnames: Object,
) -> Object {
    guard(C::NAME, null_mut(), |py| {
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
    guard(C::NAME, null_mut(), |py| {
        let mut bound = Args::NONE;
        // SAFETY: what the interpreter passed.
        unsafe { bind(py, C::params(), None, args, count, kwnames, &mut bound) }?;
        C::call(py, &bound)
    })
}

/// Python's definitions of the rows that appear in a place. They live as long as the process.
pub fn definitions(rows: &[Row], place: Place) -> Vec<ffi::PyMethodDef> {
    let first = if place == Place::Function { "input" } else { "$self" };
    let here = |row: &Row| row.thunks.iter().find(|(at, _)| *at == place).map(|(_, thunk)| *thunk);
    rows.iter().filter_map(|row| Some(definition(row.name, here(row)?, &doc(row, first)))).collect()
}

/// `name($self, dim, keepdim=False)`, the mark that makes it a signature, and the documentation.
fn doc(row: &Row, first: &str) -> String {
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
    format!("{}({})\n--\n\n{}", row.name, parts.join(", "), text(row.doc))
}

/// An attribute of a class that is computed, and perhaps assigned to.
pub struct Property {
    pub class: Class,
    pub name: &'static str,
    pub doc: &'static [&'static str],
    /// Its type in the stubs.
    pub stub: &'static str,
    pub get: Getter,
    pub set: Option<Setter>,
}

pub type Getter = unsafe extern "C" fn(Object, *mut c_void) -> Object;
pub type Setter = unsafe extern "C" fn(Object, Object, *mut c_void) -> c_int;

/// Python's definitions of the properties of a class. They live as long as the process.
pub fn property_definitions(properties: &[Property], class: Class) -> Vec<ffi::PyGetSetDef> {
    let own = properties.iter().filter(|property| property.class == class);
    own.map(|property| ffi::PyGetSetDef {
        name: forever(property.name).as_ptr(),
        get: Some(property.get),
        set: property.set,
        doc: forever(&text(property.doc)).as_ptr(),
        closure: null_mut(),
    })
    .collect()
}

/// The lines of a doc comment as one text.
fn text(doc: &[&str]) -> String {
    let lines: Vec<&str> = doc.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}
