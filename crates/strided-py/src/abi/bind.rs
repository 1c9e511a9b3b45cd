//! Parameters, and the arguments of a call sorted to them.

use super::Object;
use super::errors::{Fail, Result};
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicPtr, Ordering::*};

/// One parameter of a method or function.
pub struct Param {
    pub name: &'static str,
    /// Other keywords that mean it: `axis` for `dim`.
    pub aliases: &'static [&'static str],
    /// Its type in the stubs, as an argument of its own; empty if it is only given as `*rest`.
    pub stub: &'static str,
    /// For a parameter that takes all remaining positional arguments, such as `*size`: the type of each of them.
    pub rest: Option<&'static str>,
    pub keyword_only: bool,
    /// Whether `None` may be passed.
    pub optional: bool,
    /// The default as Python writes it.
    pub default: Option<&'static str>,
    /// The name as an interned string, so that keywords are compared by address.
    interned: AtomicPtr<ffi::PyObject>,
}

impl Param {
    /// A parameter without a default, given by position or by keyword.
    pub const fn new(name: &'static str, aliases: &'static [&'static str], stub: &'static str) -> Param {
        Param {
            name,
            aliases,
            stub,
            rest: None,
            keyword_only: false,
            optional: false,
            default: None,
            interned: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    pub const fn with_default(self, default: Option<&'static str>) -> Param {
        Param { default, ..self }
    }

    pub const fn optional(self, optional: bool) -> Param {
        Param { optional, ..self }
    }

    pub const fn with_rest(self, rest: Option<&'static str>) -> Param {
        Param { rest, ..self }
    }

    pub const fn keyword_only(self, default: &'static str) -> Param {
        Param { keyword_only: true, default: Some(default), ..self }
    }

    /// Whether a keyword is this very string object, as it is where Python's compiler made it.
    #[inline]
    fn is_interned(&self, py: Python<'_>, keyword: Object) -> bool {
        let mut interned = self.interned.load(Relaxed);
        if interned.is_null() {
            // Kept for the life of the process, like the parameter.
            interned = pyo3::types::PyString::intern(py, self.name).into_ptr();
            self.interned.store(interned, Relaxed);
        }
        keyword == interned
    }

    #[cold]
    fn is_named(&self, text: &str) -> bool {
        text == self.name && self.name != "self" || self.aliases.contains(&text)
    }
}

/// The parameter that a keyword means.
#[inline]
fn named(py: Python<'_>, params: &[Param], keyword: Object) -> Option<usize> {
    params.iter().position(|param| param.is_interned(py, keyword)).or_else(|| {
        let text = keyword_text(py, keyword);
        params.iter().position(|param| param.is_named(&text))
    })
}

/// The most parameters a method has.
pub const MOST: usize = 8;

/// The arguments of one call, borrowed: one slot per parameter, null where nothing was passed.
pub struct Args<'a> {
    pub slots: [Object; MOST],
    /// What `*rest` took.
    pub rest: &'a [Object],
}

impl<'a> Args<'a> {
    /// Nothing passed yet: what [`bind`] fills.
    pub const NONE: Args<'a> = Args { slots: [std::ptr::null_mut(); MOST], rest: &[] };

    /// Whether anything was passed for a parameter that is not `*rest`.
    #[inline(always)]
    pub fn is_given(&self, at: usize) -> bool {
        !self.slots[at].is_null()
    }
}

/// Sorts positional and keyword arguments into the slots of the parameters, which are empty before.
///
/// # Safety
/// `start`, `count` and `kwnames` are what the interpreter passed to a `METH_FASTCALL | METH_KEYWORDS` function.
#[inline]
pub unsafe fn bind<'a>(
    py: Python<'_>,
    params: &[Param],
    first: Option<Object>,
    start: *const Object,
    count: isize,
    kwnames: Object,
    bound: &mut Args<'a>,
) -> Result<()> {
    // A vectorcall may pass its own flag in the count's top bit.
    let count = (count as usize) & !(1 << (usize::BITS - 1));
    let args: &'a [Object] = match count {
        0 => &[], // where the pointer may be null
        // SAFETY: the interpreter passes `count` living objects.
        _ => unsafe { std::slice::from_raw_parts(start, count) },
    };
    let mut next = 0;
    if let Some(object) = first {
        bound.slots[0] = object;
        next = 1;
    }
    let mut taken = 0;
    while taken < args.len()
        && next < params.len()
        && params[next].rest.is_none()
        && !params[next].keyword_only
    {
        bound.slots[next] = args[taken];
        next += 1;
        taken += 1;
    }
    if taken < args.len() {
        match params.get(next) {
            Some(param) if param.rest.is_some() => bound.rest = &args[taken..],
            _ => {
                let most = next - first.is_some() as usize;
                let kind = if next < params.len() { "positional arguments" } else { "arguments" };
                return Err(Fail::Type(format!("takes at most {most} {kind}, got {count}")));
            }
        }
    }
    if !kwnames.is_null() {
        // SAFETY: a tuple of names, whose values follow the positional arguments.
        unsafe { bind_keywords(py, params, bound, start.add(count), kwnames)? };
    }
    Ok(())
}

unsafe fn bind_keywords(
    py: Python<'_>,
    params: &[Param],
    bound: &mut Args,
    values: *const Object,
    kwnames: Object,
) -> Result<()> {
    // SAFETY: `kwnames` is a tuple of strings with one value each.
    unsafe {
        for i in 0..ffi::PyTuple_Size(kwnames) {
            let keyword = ffi::PyTuple_GetItem(kwnames, i);
            let Some(at) = named(py, params, keyword) else {
                return Err(Fail::Type(format!("unknown argument '{}'", keyword_text(py, keyword))));
            };
            if !bound.slots[at].is_null() || params[at].rest.is_some() && !bound.rest.is_empty() {
                return Err(Fail::Type(format!("argument '{}' is given twice", params[at].name)));
            }
            bound.slots[at] = *values.add(i as usize);
        }
    }
    Ok(())
}

fn keyword_text(py: Python<'_>, keyword: Object) -> String {
    // SAFETY: keywords are living strings.
    unsafe { Borrowed::from_ptr(py, keyword) }.to_string()
}
