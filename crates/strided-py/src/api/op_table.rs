//! The op table as methods, in-place methods and functions: generic thunks into one `dispatch`.

use crate::abi::bind::{Args, Param, bind};
use crate::abi::errors::{CallResult, Fail, guard_value};
use crate::abi::heap::definition;
use crate::abi::refs::{arg, is_none, to_py};
use crate::abi::thunks::ParamStub;
use crate::abi::{Arg, Object, Value};
use crate::classes::elementwise::{MAX_OPERANDS, apply, call_row, plain_pair};
use crate::convert::args::{AnyArg, FromArg, OperandArg, TensorArg, keyword, missing, param, wrong_type};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use smallvec::SmallVec;
use strided_core::Scalar;
use strided_core::op_table;
use strided_core::ops::table::{DTypeClass, OPS, Op, OpRow, RowSelector};

/// The form in which an operation is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallForm {
    /// `x.add(y)`
    Method,
    /// `x.add_(y)`
    InPlace,
    /// `strided.add(x, y)`
    Function,
}

/// The parameters of a row; a call in place has no `out`, which is the last.
#[inline(always)]
fn params(index: usize, form: CallForm) -> &'static [Param] {
    let all = PARAMS[index];
    if form == CallForm::InPlace { &all[..all.len() - 1] } else { all }
}

/// Calls a row in one of its forms. Out of line: hundreds of thunks share it.
///
/// # Safety
/// `this`, `args`, `count` and `kwnames` are what the interpreter passed to a `METH_FASTCALL | METH_KEYWORDS` method or
/// function.
#[inline(never)]
unsafe fn call(
    row: &'static RowCall,
    this: Object,
    args: *const Object,
    count: isize,
    kwnames: Object,
) -> Object {
    let RowCall { index, form, name } = *row;
    // SAFETY: the interpreter calls this on a thread that is attached to it.
    let py = unsafe { Python::assume_attached() };
    guard_value(py, name, |py| {
        let mut bound = Args::NONE;
        // SAFETY: the contract above; the interpreter keeps the objects alive during the call.
        unsafe {
            let receiver = if form == CallForm::Function { None } else { Some(arg(py, this)) };
            bind(py, params(index, form), receiver, args, count, kwnames, &mut bound)
        }?;
        dispatch(py, index, form, &bound)
    })
}

/// Which row a thunk calls, in which form, and its name in errors.
#[derive(Clone, Copy)]
struct RowCall {
    index: usize,
    form: CallForm,
    name: &'static str,
}

impl RowCall {
    const fn of<const I: usize, const NAME: usize>(form: CallForm) -> RowCall {
        let (name, in_place_name) = names_of::<I, NAME>();
        RowCall { index: I, form, name: if matches!(form, CallForm::InPlace) { in_place_name } else { name } }
    }
}

/// The name of a row and of its in-place form, or those of one of its aliases.
const fn names_of<const I: usize, const NAME: usize>() -> (&'static str, &'static str) {
    if NAME == RowName::Own as usize {
        return (OPS[I].name, OPS[I].in_place_name);
    }
    let (name, in_place_name, _) = ALIASES[NAME - 1];
    (name, in_place_name)
}

fn dispatch<'a>(py: Python<'a>, index: usize, form: CallForm, args: &Args<'a>) -> CallResult<Value<'a>> {
    let row = &OPS[index];
    let arity = row.operands.len();
    let keywords = arity..arity + row.keywords.len() + row.selector.is_some() as usize;
    let out = match (form, args.slots[keywords.end]) {
        (CallForm::InPlace, _) => args.slots[0],
        (_, Some(out)) => Option::<TensorArg>::from_arg(out, "out")?.map(TensorArg::object),
        (_, None) => None,
    };
    let (operands, keywords) = (&args.slots[..arity], &args.slots[keywords]);
    if !row.without.is_empty() || keywords.iter().any(Option::is_some) {
        return dispatch_keywords(py, index, operands, keywords, out);
    }
    if let &[Some(left), Some(right)] = operands
        && let Some(operands) = plain_pair(left, right)?
    {
        return apply(py, row, &[], &operands, out);
    }
    call_row(py, row, &[], &require_all(row, operands)?, out)
}

type Operands<'a> = SmallVec<[Arg<'a>; MAX_OPERANDS]>;

/// The operands of a row, all of which must be given.
fn require_all<'a>(row: &OpRow, operands: &[Option<Arg<'a>>]) -> CallResult<Operands<'a>> {
    let name = |at| missing(row.argument(at));
    operands.iter().enumerate().map(|(at, operand)| operand.ok_or_else(|| name(at))).collect()
}

/// A call with keywords, or of a row that has variants with fewer operands.
#[cold]
fn dispatch_keywords<'a>(
    py: Python<'a>,
    index: usize,
    operands: &[Option<Arg<'a>>],
    keywords: &[Option<Arg<'a>>],
    out: Option<Arg<'a>>,
) -> CallResult<Value<'a>> {
    let mut row = &OPS[index];
    require_all(row, if row.without.is_empty() { operands } else { &operands[..1] })?;
    let mut values: SmallVec<[Option<Scalar>; MAX_OPERANDS]> = SmallVec::new();
    for (keyword, object) in row.keywords.iter().zip(keywords) {
        let object = object.filter(|&object| !(keyword.text == "None" && is_none(object)));
        values.push(object.map(|object| Scalar::from_arg(object, keyword.name)).transpose()?);
    }
    if let (Some(selector), Some(&Some(word))) = (&row.selector, keywords.get(row.keywords.len()))
        && let Some(other) = selected(selector, word)?
    {
        row = other;
    }
    let (row, operands) = without_none(row, operands)?;
    call_row(py, row, &values, &operands, out)
}

/// The variant of a row for the operands that are neither missing nor `None`, and those operands.
fn without_none<'a>(
    row: &'static OpRow,
    operands: &[Option<Arg<'a>>],
) -> CallResult<(&'static OpRow, Operands<'a>)> {
    let is_missing = |name: &str| {
        let at = row.operands.iter().position(|operand| *operand == name).expect("an operand");
        operands[at].is_none_or(is_none)
    };
    let mut variants = row.without.iter().filter(|(name, _)| is_missing(name));
    match (variants.next(), variants.next()) {
        (None, _) => Ok((row, require_all(row, operands)?)),
        (Some((_, op)), None) => {
            let is_optional = |name: &str| row.without.iter().any(|(operand, _)| *operand == name);
            let kept = std::iter::zip(row.operands, operands)
                .filter(|(name, _)| !(is_optional(name) && is_missing(name)))
                .map(|(name, operand)| operand.ok_or_else(|| missing(name)));
            Ok((&OPS[*op as usize], kept.collect::<CallResult<_>>()?))
        }
        (Some((first, _)), Some((second, _))) => {
            Err(Fail::Value(format!("{first} and {second} must not both be None")))
        }
    }
}

/// The row that the value of a selector names, if it is not the row itself.
fn selected(selector: &RowSelector, word: Arg<'_>) -> CallResult<Option<&'static OpRow>> {
    let text = match selector.default {
        "False" if bool::from_arg(word, selector.name)? => "True".into(),
        "False" => return Ok(None),
        _ if is_none(word) => return Ok(None),
        _ => match word.cast::<PyString>() {
            Ok(text) => text.to_string(),
            Err(_) => return Err(wrong_type(word, selector.name, "a str or None")),
        },
    };
    match selector.rows.iter().find(|(value, _)| *value == text) {
        Some((_, op)) => Ok(Some(&OPS[*op as usize])),
        None => {
            let values: Vec<String> = selector.rows.iter().map(|(value, _)| format!("'{value}'")).collect();
            let (name, default) = (selector.name, selector.default);
            Err(Fail::Value(format!("{name} is '{text}', wanted {default}, {}", values.join(" or "))))
        }
    }
}

/// Defines the thunk of each form.
macro_rules! thunks {
    ($($name:ident $form:ident),*) => { $(
        /// # Safety
        /// Only the interpreter calls this, as a `METH_FASTCALL | METH_KEYWORDS` method or function.
        unsafe extern "C" fn $name<const I: usize, const NAME: usize>(
            this: Object,
            args: *const Object,
            count: isize,
            kwnames: Object,
        ) -> Object {
            // SAFETY: the contract above is that of `call`.
            unsafe { call(const { &RowCall::of::<I, NAME>(CallForm::$form) }, this, args, count, kwnames) }
        }
    )* };
}
thunks!(method Method, in_place InPlace, function Function);

/// The thunks of a row under one of its names.
struct NamedRow {
    index: usize,
    name: &'static str,
    row: &'static OpRow,
    method: ffi::PyCFunctionFastWithKeywords,
    in_place: ffi::PyCFunctionFastWithKeywords,
    function: ffi::PyCFunctionFastWithKeywords,
}

impl NamedRow {
    const fn of<const I: usize, const NAME: usize>() -> NamedRow {
        NamedRow {
            index: I,
            name: names_of::<I, NAME>().0,
            row: &OPS[I],
            method: method::<I, NAME>,
            in_place: in_place::<I, NAME>,
            function: function::<I, NAME>,
        }
    }
}

/// The parameters of a row: its operands, its scalar keywords, its selector, and `out`.
macro_rules! parameters {
    (($first:ident $(, $arg:ident)* $(| $($positional:ident = $default:tt),+)? $(; $($word:ident = $other:tt),+)?) [$($selector:ident)?]) => { {
        const COUNT: usize = <[&str]>::len(&[
            stringify!($first), $(stringify!($arg),)* $($(stringify!($positional),)+)? $($(stringify!($word),)+)?
            $(stringify!($selector),)? "out",
        ]);
        // The selector is positional if the scalar keywords are.
        #[allow(dead_code)]
        const POSITIONAL: &[&str] = &[$($(stringify!($positional)),+)?];
        static ALL: [Param; COUNT] = [
            param::<OperandArg>("self", &["input"], None),
            $(param::<OperandArg>(parameters!(@name $arg), &[], None),)*
            $($(param::<Scalar>(stringify!($positional), &[], None),)+)?
            $($(keyword::<Scalar>(stringify!($word), &[], stringify!($other)),)+)?
            $(if POSITIONAL.is_empty() {
                keyword::<AnyArg>(stringify!($selector), &[], "")
            } else {
                param::<AnyArg>(stringify!($selector), &[], None)
            },)?
            keyword::<Option<TensorArg>>("out", &[], "None"),
        ];
        &ALL
    } };
    (@name b) => { "other" };
    (@name $arg:ident) => { stringify!($arg) };
}

macro_rules! named_rows {
    ($({ $name:ident [$($alias:ident)*] $args:tt $selector:tt $($rest:tt)* })*) => {
        /// The rows that Python can call, under their own names.
        fn own_names() -> Vec<NamedRow> {
            let all = [$(NamedRow::of::<{ Op::$name as usize }, { RowName::Own as usize }>()),*];
            all.into_iter().filter(|named| !named.row.is_hidden()).collect()
        }

        /// The parameters of every row.
        static PARAMS: &[&[Param]] = &[$(parameters!($args $selector)),*];

        /// A name of a row: its own, or one of the aliases of all rows.
        #[allow(non_camel_case_types)]
        enum RowName { Own, $($($alias,)*)* }

        /// The aliases of all rows: the name, the name of the in-place form, and the row.
        const ALIASES: &[(&str, &str, Op)] =
            &[$($((stringify!($alias), concat!(stringify!($alias), "_"), Op::$name),)*)*];

        /// The rows under their aliases.
        fn aliases() -> Vec<NamedRow> {
            vec![$($(NamedRow::of::<{ Op::$name as usize }, { RowName::$alias as usize }>(),)*)*]
        }
    };
}
op_table!(named_rows);

/// Signature, summary and example of a row in one of its forms.
fn docstring(index: usize, name: &str, form: CallForm) -> String {
    let row = &OPS[index];
    let (summary, dtypes) = (RowDoc::of(row).summary.join("\n"), row.class.words());
    let first = if form == CallForm::Function { "input" } else { "$self" };
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
        CallForm::InPlace => format!("{name}_({parts})\n--\n\nIn-place version of `{name}`."),
        _ => format!("{name}({parts})\n--\n\n{summary}\n\nOperands: {dtypes}."),
    };
    format!("{text}\n\n{}", example(row, name, form))
}

/// The default of a parameter, as Python writes it.
fn default_of(row: &OpRow, name: &str) -> Option<&'static str> {
    let keyword = row.keywords.iter().find(|keyword| keyword.name == name).map(|keyword| keyword.text);
    let selector =
        row.selector.iter().find(|selector| selector.name == name).map(|selector| selector.default);
    let optional = name == "out" || row.without.iter().any(|(operand, _)| *operand == name);
    keyword.or(selector).or(optional.then_some("None"))
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
fn example(row: &'static OpRow, name: &str, form: CallForm) -> String {
    let RowDoc { first, others, result, .. } = RowDoc::of(row);
    match form {
        CallForm::Method => format!(">>> {first}.{name}({others}).tolist()\n{result}"),
        CallForm::InPlace => {
            // The tensor keeps its dtype, so that booleans become numbers.
            let result = result.replace("True", "1.0").replace("False", "0.0");
            format!(">>> x = {first}\n>>> x.{name}_({others}) is x, x.tolist()\n(True, {result})")
        }
        CallForm::Function => {
            let comma = if others.is_empty() { "" } else { ", " };
            format!(">>> strided.{name}({first}{comma}{others}).tolist()\n{result}")
        }
    }
}

/// All names of a row.
fn names(row: &'static OpRow) -> impl Iterator<Item = &'static str> {
    let others =
        ALIASES.iter().filter(|(.., op)| OPS[*op as usize].name == row.name).map(|(alias, ..)| *alias);
    std::iter::once(row.name).chain(others)
}

/// Methods of Tensor: the plain and the in-place form of every row.
pub fn methods() -> Vec<ffi::PyMethodDef> {
    let mut all = Vec::new();
    for NamedRow { index, name, method, in_place, .. } in own_names().into_iter().chain(aliases()) {
        all.push(definition(name, method, &docstring(index, name, CallForm::Method)));
        all.push(definition(&format!("{name}_"), in_place, &docstring(index, name, CallForm::InPlace)));
    }
    all
}

/// Functions of the module.
pub fn functions() -> Vec<ffi::PyMethodDef> {
    let define = |row: NamedRow| {
        definition(row.name, row.function, &docstring(row.index, row.name, CallForm::Function))
    };
    own_names().into_iter().chain(aliases()).map(define).collect()
}

/// A form of a row for the stubs: its name and parameters.
pub struct OpStub {
    pub name: String,
    /// Empty for functions.
    pub class: &'static str,
    pub params: Vec<ParamStub>,
}

/// Every form of every row.
pub fn stubs() -> Vec<OpStub> {
    let mut all = Vec::new();
    for NamedRow { index, name, .. } in own_names().into_iter().chain(aliases()) {
        for (form, class) in
            [(CallForm::Method, "Tensor"), (CallForm::InPlace, "Tensor"), (CallForm::Function, "")]
        {
            let name = if form == CallForm::InPlace { format!("{name}_") } else { name.into() };
            let params = params(index, form).iter().map(|param| param_stub(&OPS[index], param)).collect();
            all.push(OpStub { name, class, params });
        }
    }
    all
}

/// A parameter of a row, with the type that follows from the row.
fn param_stub(row: &OpRow, param: &Param) -> ParamStub {
    let mut stub = ParamStub::of(param);
    stub.default = default_of(row, param.name);
    if let Some(keyword) = row.keywords.iter().find(|keyword| keyword.name == param.name) {
        // A default that is a whole number means a keyword in the category of the operands, which may be complex.
        let whole = keyword.text.parse::<i64>().is_ok();
        let real = matches!(
            row.class,
            DTypeClass::real | DTypeClass::order | DTypeClass::float | DTypeClass::floats
        );
        stub.stub = if whole && !real { Scalar::STUB } else { f64::STUB }.into();
    }
    if let Some(selector) = row.selector.iter().find(|selector| selector.name == param.name) {
        let words: Vec<String> = selector.rows.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        stub.stub = if selector.default == "False" {
            "bool".into()
        } else {
            format!("Literal[{}]", words.join(", "))
        };
    }
    if stub.default == Some("None") && !param.optional {
        stub.stub += " | None";
    }
    stub
}

/// NumPy's names of rows that have none of ours.
const NUMPY_NAMES: &[(&str, Op)] = &[
    ("conjugate", Op::conj_physical),
    ("invert", Op::bitwise_not),
    ("left_shift", Op::bitwise_left_shift),
    ("power", Op::pow),
    ("right_shift", Op::bitwise_right_shift),
    ("rint", Op::round),
];

/// NumPy functions and the rows that compute them: those of the same names, and [`NUMPY_NAMES`].
pub fn numpy_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let visible = OPS.iter().filter(|row| !row.is_hidden());
    let same = visible.flat_map(|row| names(row).map(|name| (name, row.name)));
    same.chain(NUMPY_NAMES.iter().map(|(name, op)| (*name, OPS[*op as usize].name)))
}

/// The rows as Python data, for documents and tests: name, number of operands, dtype class, result rule, operator, summary,
/// the parameters after the operands with their defaults, and all names.
pub fn table(py: Python<'_>) -> CallResult<Value<'_>> {
    let rows: Vec<_> = OPS
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.is_hidden())
        .map(|(index, row)| {
            let keywords = &params(index, CallForm::InPlace)[row.operands.len()..];
            (
                row.name,
                row.operands.len(),
                format!("{:?}", row.class),
                format!("{:?}", row.rule),
                row.operator,
                RowDoc::of(row).summary.join("\n"),
                keywords.iter().map(|param| (param.name, default_of(row, param.name))).collect::<Vec<_>>(),
                names(row).collect::<Vec<_>>(),
            )
        })
        .collect();
    to_py(py, rows)
}
