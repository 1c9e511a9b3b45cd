//! Parameters, and the binding of a call's arguments to them.

use super::errors::{CallResult, Fail};
use super::{Arg, Object};
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicPtr, Ordering::*};

/// One parameter of a method or function.
pub struct Param {
    pub name: &'static str,
    /// Other keywords for it: `axis` for `dim`.
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

    pub const fn with_rest(self, rest: Option<&'static str>) -> Param {
        Param { rest, ..self }
    }

    pub const fn optional(self, optional: bool) -> Param {
        Param { optional, ..self }
    }

    pub const fn keyword_only(self, default: &'static str) -> Param {
        Param { keyword_only: true, default: Some(default), ..self }
    }

    /// Whether a keyword is the interned string of this name, as it is where Python's compiler made it.
    #[inline]
    fn is_interned(&self, py: Python<'_>, keyword: Arg<'_>) -> bool {
        let mut interned = self.interned.load(Relaxed);
        if interned.is_null() {
            // Kept for the life of the process, like the parameter.
            interned = pyo3::types::PyString::intern(py, self.name).into_ptr();
            self.interned.store(interned, Relaxed);
        }
        keyword.as_ptr() == interned
    }

    #[cold]
    fn is_named(&self, text: &str) -> bool {
        text == self.name && self.name != "self" || self.aliases.contains(&text)
    }
}

/// The position of the parameter that a keyword names.
#[inline]
fn position_of(py: Python<'_>, params: &[Param], keyword: Arg<'_>) -> Option<usize> {
    params.iter().position(|param| param.is_interned(py, keyword)).or_else(|| {
        let text = keyword.to_string();
        params.iter().position(|param| param.is_named(&text))
    })
}

/// The largest number of parameters that a row has.
pub const MAX_PARAMS: usize = 8;

/// The arguments of one call, one slot per parameter.
pub struct Args<'a> {
    pub slots: [Option<Arg<'a>>; MAX_PARAMS],
    /// The arguments of the parameter that takes all remaining positional ones.
    pub rest: &'a [Arg<'a>],
}

impl<'a> Args<'a> {
    /// No arguments: what [`bind`] fills.
    pub const NONE: Args<'a> = Args { slots: [None; MAX_PARAMS], rest: &[] };

    /// Whether a parameter was given, other than as `*rest`.
    #[inline(always)]
    pub fn is_given(&self, at: usize) -> bool {
        self.slots[at].is_some()
    }
}

/// Binds positional and keyword arguments to the slots of their parameters, which are empty before.
///
/// # Safety
/// `start`, `count` and `kwnames` are what the interpreter passed to a `METH_FASTCALL | METH_KEYWORDS` function that
/// runs for `'a`: `start` points to `count` live objects, followed by one for each name in the tuple `kwnames`, which may
/// be null.
#[inline(never)] // hundreds of thunks share it
pub unsafe fn bind<'a>(
    py: Python<'a>,
    params: &[Param],
    receiver: Option<Arg<'a>>,
    start: *const Object,
    count: isize,
    kwnames: Object,
    args: &mut Args<'a>,
) -> CallResult<()> {
    // A vectorcall may set a flag in the top bit of the count.
    let count = (count as usize) & !(1 << (usize::BITS - 1));
    let positional: &'a [Arg<'a>] = match count {
        0 => &[], // the pointer may be null
        // SAFETY: the contract above: `count` live objects. An `Arg` is a transparent wrapper of a pointer to one.
        _ => unsafe { std::slice::from_raw_parts(start.cast(), count) },
    };
    let mut next = 0;
    if receiver.is_some() {
        args.slots[0] = receiver;
        next = 1;
    }
    let mut taken = 0;
    while taken < count && next < params.len() && params[next].rest.is_none() && !params[next].keyword_only {
        args.slots[next] = Some(positional[taken]);
        next += 1;
        taken += 1;
    }
    if taken < count {
        match params.get(next) {
            Some(param) if param.rest.is_some() => args.rest = &positional[taken..],
            _ => {
                let most = next - receiver.is_some() as usize;
                let kind = if next < params.len() { "positional arguments" } else { "arguments" };
                return Err(Fail::Type(format!("takes at most {most} {kind}, got {count}")));
            }
        }
    }
    if !kwnames.is_null() {
        // SAFETY: the contract above: the values of the keywords follow the positional arguments.
        unsafe { bind_keywords(py, params, start.add(count).cast(), kwnames, args)? };
    }
    Ok(())
}

/// # Safety
/// `kwnames` is a tuple of strings, and `values` points to one live object for each, all alive for `'a`.
unsafe fn bind_keywords<'a>(
    py: Python<'a>,
    params: &[Param],
    values: *const Arg<'a>,
    kwnames: Object,
    args: &mut Args<'a>,
) -> CallResult<()> {
    // SAFETY: the contract above; the index is below the size of the tuple.
    unsafe {
        for i in 0..ffi::PyTuple_Size(kwnames) {
            let keyword: Arg<'a> = Borrowed::from_ptr(py, ffi::PyTuple_GetItem(kwnames, i));
            let Some(at) = position_of(py, params, keyword) else {
                let keyword = keyword.to_string();
                return Err(Fail::Type(format!("unknown argument '{keyword}'")));
            };
            if args.is_given(at) || params[at].rest.is_some() && !args.rest.is_empty() {
                return Err(Fail::Type(format!("argument '{}' is given twice", params[at].name)));
            }
            args.slots[at] = Some(*values.add(i as usize));
        }
    }
    Ok(())
}
