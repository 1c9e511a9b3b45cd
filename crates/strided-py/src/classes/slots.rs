//! The `slots!` macro: functions that the interpreter calls for the protocols and operators of our types.
//!
//! ```ignore
//! slots! {
//!     /// `len(x)`
//!     fn length(py, x: TensorArg) -> isize, "len" => { x.layout().modes().first().map_or(0, |mode| mode.extent) }
//! }
//! ```
//! Errors and panics of a body are raised under the name in quotes.
//!
//! | type of a parameter | what the interpreter passes |
//! |---|---|
//! | `TensorArg` | a tensor: the slot is one of Tensor |
//! | `Arg` | a live object |
//! | `OptionalArg` | a live object, or null, which is `None` |
//! | `Class` | a live type |
//! | `Object`, `isize`, `c_int` | this |
//!
//! The result is a `Value`, an `Object`, which may be null, or a number, of which -1 means an exception.

macro_rules! slots {
    ($(
        $(#[$doc:meta])+
        $vis:vis fn $name:ident $(<const $index:ident: usize>)? ($py:ident $(, $arg:ident: $kind:ident)*) -> $result:ident, $op:expr => $body:block
    )*) => { $(
        $(#[$doc])+
        ///
        /// # Safety
        /// Only the interpreter calls this, with what the types of the parameters stand for.
        $vis unsafe extern "C" fn $name $(<const $index: usize>)? ($($arg: slots!(@raw $kind)),*) -> slots!(@raw $result) {
            // SAFETY: the interpreter calls this on a thread that is attached to it.
            let py = unsafe { ::pyo3::Python::assume_attached() };
            slots!(@guard $result py $op, |$py| {
                $(slots!(@bind $kind $py $arg);)*
                $body
            })
        }
    )* };
    (@raw Class) => { *mut ::pyo3::ffi::PyTypeObject };
    (@raw isize) => { isize };
    (@raw c_int) => { ::std::ffi::c_int };
    (@raw $object:ident) => { $crate::abi::Object };
    (@bind TensorArg $py:ident $arg:ident) => {
        // SAFETY: this function's contract; the interpreter keeps the tensor alive during the call.
        let $arg = unsafe { $crate::convert::args::TensorArg::of_slot($crate::abi::refs::arg($py, $arg)) };
    };
    (@bind Arg $py:ident $arg:ident) => {
        // SAFETY: this function's contract; the interpreter keeps the object alive during the call.
        let $arg = unsafe { $crate::abi::refs::arg($py, $arg) };
    };
    (@bind OptionalArg $py:ident $arg:ident) => {
        // SAFETY: this function's contract; the interpreter keeps the object alive during the call.
        let $arg = (!$arg.is_null()).then(|| unsafe { $crate::abi::refs::arg($py, $arg) });
    };
    (@bind $raw:ident $py:ident $arg:ident) => {};
    (@guard Value $py:ident $op:expr, $body:expr) => { $crate::abi::errors::guard_value($py, $op, $body) };
    (@guard Object $py:ident $op:expr, $body:expr) => {
        $crate::abi::errors::guard($py, $op, ::std::ptr::null_mut(), $body)
    };
    (@guard $number:ident $py:ident $op:expr, $body:expr) => { $crate::abi::errors::guard($py, $op, -1, $body) };
}
