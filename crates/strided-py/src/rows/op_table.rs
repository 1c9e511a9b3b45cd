//! The op table as methods, in-place methods and functions: generic thunks into one `dispatch`.

use super::signatures::ParamStub;
use crate::abi::Object;
use crate::abi::bind::{Args, Param, bind};
use crate::abi::errors::{Fail, Result, guard};
use crate::abi::heap::definition;
use crate::abi::refs::{bound, give};
use crate::abi::thunks::Class;
use crate::classes::elementwise::{MOST, apply, call_row, plain_pair};
use crate::convert::args::{AnyArg, FromArg, OperandArg, TensorArg, keyword, param, wrong_type};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use smallvec::SmallVec;
use std::ptr::null_mut;
use strided_core::Scalar;
use strided_core::op_table;
use strided_core::ops::table::{DTypeClass, OPS, Op, OpRow, RowSelector};

/// How an operation was called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `x.add(y)`
    Method,
    /// `x.add_(y)`
    InPlace,
    /// `strided.add(x, y)`
    Function,
}

/// The parameters of a row: all of them, without `out` if the call is in place.
#[inline(always)]
fn params(index: usize, form: Form) -> &'static [Param] {
    let all = PARAMS[index];
    if form == Form::InPlace { &all[..all.len() - 1] } else { all }
}

/// One call of a row in any of its forms.
#[inline(always)]
unsafe fn call<const I: usize, const NAME: usize>(
    form: Form,
    this: Object,
    args: *const Object,
    count: isize,
    kwnames: Object,
) -> Object {
    let (name, in_place_name) = const { called::<I, NAME>() };
    guard(if form == Form::InPlace { in_place_name } else { name }, null_mut(), |py| {
        let first = if form == Form::Function { None } else { Some(this) };
        let mut bound = Args::NONE;
        // SAFETY: what the interpreter passed.
        unsafe { bind(py, params(I, form), first, args, count, kwnames, &mut bound) }?;
        dispatch(py, I, form, &bound)
    })
}

/// The names of a row, by itself and in place, under one of its aliases.
const fn called<const I: usize, const NAME: usize>() -> (&'static str, &'static str) {
    if NAME == Alias::Own as usize {
        return (OPS[I].name, OPS[I].in_place_name);
    }
    let (name, in_place_name, _) = ALIASES[NAME - 1];
    (name, in_place_name)
}

fn dispatch(py: Python<'_>, index: usize, form: Form, args: &Args) -> Result<Object> {
    let row = &OPS[index];
    let arity = row.operands.len();
    let words = arity..arity + row.keywords.len() + row.selector.is_some() as usize;
    let out = match form {
        Form::InPlace => Some(args.slots[0]),
        _ if args.is_given(words.end) => {
            Option::<TensorArg>::from_arg(py, args.slots[words.end], "out")?.map(|out| out.0)
        }
        _ => None,
    };
    let (operands, words) = (&args.slots[..arity], &args.slots[words]);
    if !row.without.is_empty() || words.iter().any(|word| !word.is_null()) {
        return dispatch_words(py, index, operands, words, out);
    }
    check_there(index, operands)?;
    if let &[left, right] = operands
        && let Some(operands) = plain_pair(py, left, right)?
    {
        return apply(py, row, &[], &operands, out);
    }
    call_row(py, row, &[], operands, out)
}

/// Refuses a call without one of the operands.
#[inline]
fn check_there(index: usize, operands: &[Object]) -> Result<()> {
    let Some(at) = operands.iter().position(|object| object.is_null()) else { return Ok(()) };
    Err(Fail::Type(format!("argument '{}' is missing", OPS[index].argument(at))))
}

/// A call with numbers or a word that chooses the row, or of a row that can do without an operand.
#[cold]
fn dispatch_words(
    py: Python<'_>,
    index: usize,
    operands: &[Object],
    words: &[Object],
    out: Option<Object>,
) -> Result<Object> {
    let mut row = &OPS[index];
    check_there(index, if row.without.is_empty() { operands } else { &operands[..1] })?;
    let mut given: SmallVec<[Option<Scalar>; MOST]> = SmallVec::new();
    for (keyword, &object) in row.keywords.iter().zip(words) {
        let unset = object.is_null() || keyword.text == "None" && is_none(object);
        given.push(if unset { None } else { Some(Scalar::from_arg(py, object, keyword.name)?) });
    }
    if let (Some(chooser), Some(&word)) = (&row.selector, words.get(row.keywords.len()))
        && !word.is_null()
        && let Some(other) = chosen(py, chooser, word)?
    {
        row = other;
    }
    let (row, operands) = without_none(row, operands)?;
    call_row(py, row, &given, &operands, out)
}

/// The row for the operands that are there, and those.
fn without_none(
    row: &'static OpRow,
    operands: &[Object],
) -> Result<(&'static OpRow, SmallVec<[Object; MOST]>)> {
    let missing = |name: &str| {
        let at = row.operands.iter().position(|operand| *operand == name).expect("an operand");
        operands[at].is_null() || is_none(operands[at])
    };
    let mut instead = row.without.iter().filter(|(name, _)| missing(name));
    match (instead.next(), instead.next()) {
        (None, _) => Ok((row, operands.into())),
        (Some((_, op)), None) => {
            let there = row.operands.iter().zip(operands).filter(|(name, _)| {
                let optional = row.without.iter().any(|(operand, _)| operand == *name);
                !(optional && missing(name))
            });
            Ok((&OPS[*op as usize], there.map(|(_, object)| *object).collect()))
        }
        (Some((first, _)), Some((second, _))) => {
            Err(Fail::Value(format!("{first} and {second} must not both be None")))
        }
    }
}

fn is_none(object: Object) -> bool {
    // SAFETY: `None` lives as long as the interpreter.
    object == unsafe { ffi::Py_None() }
}

/// The row that a word chooses, if it is another one.
fn chosen(py: Python<'_>, chooser: &RowSelector, word: Object) -> Result<Option<&'static OpRow>> {
    let text = match chooser.default {
        "False" if bool::from_arg(py, word, chooser.name)? => "True".into(),
        "False" => return Ok(None),
        _ if is_none(word) => return Ok(None),
        _ => match bound(py, word).cast::<PyString>() {
            Ok(text) => text.to_string(),
            Err(_) => return Err(wrong_type(py, word, chooser.name, "a str or None")),
        },
    };
    match chooser.rows.iter().find(|(value, _)| *value == text) {
        Some((_, op)) => Ok(Some(&OPS[*op as usize])),
        None => {
            let values: Vec<String> = chooser.rows.iter().map(|(value, _)| format!("'{value}'")).collect();
            let (name, default) = (chooser.name, chooser.default);
            Err(Fail::Value(format!("{name} is '{text}', wanted {default}, {}", values.join(" or "))))
        }
    }
}

/// Makes the functions that the interpreter calls, one for each form.
macro_rules! thunks {
    ($($name:ident $form:ident),*) => { $(
        unsafe extern "C" fn $name<const I: usize, const NAME: usize>(
            this: Object,
            args: *const Object,
            count: isize,
            kwnames: Object,
        ) -> Object {
            // SAFETY: passed on.
            unsafe { call::<I, NAME>(Form::$form, this, args, count, kwnames) }
        }
    )* };
}
thunks!(method Method, in_place InPlace, function Function);

/// What Python needs of a row under one of its names.
struct Made {
    index: usize,
    name: &'static str,
    row: &'static OpRow,
    method: ffi::PyCFunctionFastWithKeywords,
    in_place: ffi::PyCFunctionFastWithKeywords,
    function: ffi::PyCFunctionFastWithKeywords,
}

impl Made {
    const fn of<const I: usize, const NAME: usize>() -> Made {
        Made {
            index: I,
            name: called::<I, NAME>().0,
            row: &OPS[I],
            method: method::<I, NAME>,
            in_place: in_place::<I, NAME>,
            function: function::<I, NAME>,
        }
    }
}

/// The parameters of a row: its operands, its numbers, the word that chooses another row, and `out`.
macro_rules! parameters {
    (($first:ident $(, $arg:ident)* $(| $($place:ident = $default:tt),+)? $(; $($word:ident = $other:tt),+)?) [$($chooser:ident)?]) => { {
        const COUNT: usize = <[&str]>::len(&[
            stringify!($first), $(stringify!($arg),)* $($(stringify!($place),)+)? $($(stringify!($word),)+)?
            $(stringify!($chooser),)? "out",
        ]);
        // The word is given by position where the numbers are.
        #[allow(dead_code)]
        const PLACES: &[&str] = &[$($(stringify!($place)),+)?];
        static ALL: [Param; COUNT] = [
            param::<OperandArg>("self", &["input"], None),
            $(param::<OperandArg>(parameters!(@name $arg), &[], None),)*
            $($(param::<Scalar>(stringify!($place), &[], None),)+)?
            $($(keyword::<Scalar>(stringify!($word), &[], stringify!($other)),)+)?
            $(if PLACES.is_empty() {
                keyword::<AnyArg>(stringify!($chooser), &[], "")
            } else {
                param::<AnyArg>(stringify!($chooser), &[], None)
            },)?
            keyword::<Option<TensorArg>>("out", &[], "None"),
        ];
        &ALL
    } };
    (@name b) => { "other" };
    (@name $arg:ident) => { stringify!($arg) };
}

macro_rules! made {
    ($({ $name:ident [$($alias:ident)*] $args:tt $selector:tt $($rest:tt)* })*) => {
        /// The rows that have names in Python.
        fn made() -> Vec<Made> {
            let all = [$(Made::of::<{ Op::$name as usize }, { Alias::Own as usize }>()),*];
            all.into_iter().filter(|made| !made.row.is_hidden()).collect()
        }

        /// The parameters of every row.
        static PARAMS: &[&[Param]] = &[$(parameters!($args $selector)),*];

        /// The number of each name of a row: 0 for its own.
        #[allow(non_camel_case_types)]
        enum Alias { Own, $($($alias,)*)* }

        /// Alias, the same in place, row.
        const ALIASES: &[(&str, &str, Op)] =
            &[$($((stringify!($alias), concat!(stringify!($alias), "_"), Op::$name),)*)*];

        fn aliases() -> Vec<Made> {
            vec![$($(Made::of::<{ Op::$name as usize }, { Alias::$alias as usize }>(),)*)*]
        }
    };
}
op_table!(made);

/// Signature, sentence and example of a row in one of its forms.
fn document(index: usize, name: &str, form: Form) -> String {
    let row = &OPS[index];
    let (summary, dtypes) = (RowDoc::of(row).summary.join("\n"), row.class.words());
    let first = if form == Form::Function { "input" } else { "$self" };
    let mut parts = vec![first.to_string()];
    for param in &params(index, form)[1..] {
        if param.keyword_only && !parts.iter().any(|part| part == "*") {
            parts.push("*".into());
        }
        let default = default_of(row, param.name).map_or(String::new(), |value| format!("={value}"));
        parts.push(format!("{}{default}", param.name));
    }
    let parts = parts.join(", ");
    let text = match form {
        Form::InPlace => format!("{name}_({parts})\n--\n\nIn-place version of `{name}`."),
        _ => format!("{name}({parts})\n--\n\n{summary}\n\nOperands: {dtypes}."),
    };
    format!("{text}\n\n{}", example(row, name, form))
}

/// What a parameter of a row is if it is not given, as Python writes it.
fn default_of(row: &OpRow, name: &str) -> Option<&'static str> {
    let number = row.keywords.iter().find(|keyword| keyword.name == name).map(|keyword| keyword.text);
    let word = row.selector.iter().find(|chooser| chooser.name == name).map(|chooser| chooser.default);
    let optional = name == "out" || row.without.iter().any(|(operand, _)| *operand == name);
    number.or(word).or(optional.then_some("None"))
}

/// The docstring of a row, in parts.
struct RowDoc {
    summary: Vec<&'static str>,
    /// The example: the first operand, the other arguments, and the output.
    first: &'static str,
    others: &'static str,
    result: &'static str,
}

impl RowDoc {
    /// Reads the lines of a row: summary, empty line, `>>> strided.name(first, others).tolist()`, output.
    fn of(row: &'static OpRow) -> RowDoc {
        let mut lines = row.doc.iter().map(|line| line.trim());
        let summary = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let mut example = || {
            let call = lines.next()?.strip_prefix(">>> strided.")?.strip_prefix(row.name)?;
            let arguments = call.strip_prefix('(')?.strip_suffix(").tolist()")?;
            let (first, others) = arguments.split_at(arguments.find(')')? + 1);
            Some((first, others.strip_prefix(", ").unwrap_or(others), lines.next()?))
        };
        let (first, others, result) =
            example().unwrap_or_else(|| panic!("the row {} has no example of the known form", row.name));
        RowDoc { summary, first, others, result }
    }
}

/// A row's example in one of its forms.
fn example(row: &'static OpRow, name: &str, form: Form) -> String {
    let RowDoc { first, others, result, .. } = RowDoc::of(row);
    match form {
        Form::Method => format!(">>> {first}.{name}({others}).tolist()\n{result}"),
        Form::InPlace => {
            // The tensor keeps its dtype, so that booleans become numbers.
            let result = result.replace("True", "1.0").replace("False", "0.0");
            format!(">>> x = {first}\n>>> x.{name}_({others}) is x, x.tolist()\n(True, {result})")
        }
        Form::Function => {
            let comma = if others.is_empty() { "" } else { ", " };
            format!(">>> strided.{name}({first}{comma}{others}).tolist()\n{result}")
        }
    }
}

/// The names under which a row is called.
fn names(row: &'static OpRow) -> impl Iterator<Item = &'static str> {
    let others =
        ALIASES.iter().filter(|(.., op)| OPS[*op as usize].name == row.name).map(|(alias, ..)| *alias);
    std::iter::once(row.name).chain(others)
}

/// Methods of Tensor: the plain and the in-place form of every row.
pub fn methods() -> Vec<ffi::PyMethodDef> {
    let mut all = Vec::new();
    for Made { index, name, method, in_place, .. } in made().into_iter().chain(aliases()) {
        all.push(definition(name, method, &document(index, name, Form::Method)));
        all.push(definition(&format!("{name}_"), in_place, &document(index, name, Form::InPlace)));
    }
    all
}

/// Functions of the module.
pub fn functions() -> Vec<ffi::PyMethodDef> {
    let define =
        |made: Made| definition(made.name, made.function, &document(made.index, made.name, Form::Function));
    made().into_iter().chain(aliases()).map(define).collect()
}

/// A form of a row as data for the stubs: the name, and its parameters, with the types that follow from the row.
pub struct Stub {
    pub name: String,
    pub class: Option<Class>,
    pub params: Vec<ParamStub>,
}

/// Every form of every row.
pub fn stubs() -> Vec<Stub> {
    let mut all = Vec::new();
    for Made { index, name, .. } in made().into_iter().chain(aliases()) {
        for (form, class) in [
            (Form::Method, Some(Class::Tensor)),
            (Form::InPlace, Some(Class::Tensor)),
            (Form::Function, None),
        ] {
            let name = if form == Form::InPlace { format!("{name}_") } else { name.into() };
            let params = params(index, form).iter().map(|param| param_stub(&OPS[index], param)).collect();
            all.push(Stub { name, class, params });
        }
    }
    all
}

fn param_stub(row: &OpRow, param: &Param) -> ParamStub {
    let mut stub = ParamStub::of(param);
    stub.default = default_of(row, param.name);
    if let Some(keyword) = row.keywords.iter().find(|keyword| keyword.name == param.name) {
        // A whole number takes the category of the operands, which may be complex; others are real.
        let whole = keyword.text.parse::<i64>().is_ok();
        let real = matches!(
            row.class,
            DTypeClass::real | DTypeClass::order | DTypeClass::float | DTypeClass::floats
        );
        stub.stub = if whole && !real { Scalar::STUB } else { f64::STUB }.into();
    }
    if let Some(chooser) = row.selector.iter().find(|chooser| chooser.name == param.name) {
        let words: Vec<String> = chooser.rows.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        stub.stub =
            if chooser.default == "False" { "bool".into() } else { format!("Literal[{}]", words.join(", ")) };
    }
    if stub.default == Some("None") && !param.optional {
        stub.stub += " | None";
    }
    stub
}

/// NumPy's names of rows, where they are no names of ours.
const NUMPY_NAMES: &[(&str, Op)] = &[
    ("conjugate", Op::conj_physical),
    ("invert", Op::bitwise_not),
    ("left_shift", Op::bitwise_left_shift),
    ("power", Op::pow),
    ("right_shift", Op::bitwise_right_shift),
    ("rint", Op::round),
];

/// Functions of NumPy, and the rows that compute them: those of the same names, and [`NUMPY_NAMES`].
pub fn numpy_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let visible = OPS.iter().filter(|row| !row.is_hidden());
    let same = visible.flat_map(|row| names(row).map(|name| (name, row.name)));
    same.chain(NUMPY_NAMES.iter().map(|(name, op)| (*name, OPS[*op as usize].name)))
}

/// The rows as Python data, for documents and tests: name, number of operands, class, rule, operator, sentence,
/// the parameters behind the operands, and all names.
pub fn table(py: Python<'_>) -> Result<Object> {
    let rows: Vec<_> = OPS
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.is_hidden())
        .map(|(index, row)| {
            let words = &params(index, Form::InPlace)[row.operands.len()..];
            (
                row.name,
                row.operands.len(),
                format!("{:?}", row.class),
                format!("{:?}", row.rule),
                row.operator,
                RowDoc::of(row).summary.join("\n"),
                words.iter().map(|param| (param.name, default_of(row, param.name))).collect::<Vec<_>>(),
                names(row).collect::<Vec<_>>(),
            )
        })
        .collect();
    give(py, rows)
}
