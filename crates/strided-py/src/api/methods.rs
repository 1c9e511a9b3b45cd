//! The `methods!` and `properties!` macros. A row is a name, typed parameters, a docstring with an example, and a body;
//! the parser, the method, the function, the text signature and the stub follow from it.
//!
//! ```ignore
//! methods! { rows(py, x: TensorArg):
//!     /// A view of `length` indices of a dim, from `start` on.
//!     view narrow(dim | axis: isize, start: isize, length: isize) => x.narrow(dim, start, length);
//!
//!     /// The number of elements.
//!     both numel() -> "int" => to_py(py, x.size());
//! }
//! ```
//! | part of a row | meaning |
//! |---|---|
//! | `method`, `function`, `both` | a method of the receiver's class; a function; both, where the function calls its first parameter `input` |
//! | `view` | what `both` makes, and a method of `Layout`: in the body `x` is the layout, and the result is the new layout, or several |
//! | `dim \| axis: isize = 0` | a parameter, other keywords for it, the type it is read as ([`FromArg`]), and its default as Python writes it |
//! | `size: Rest` | a parameter that takes all remaining positional arguments |
//! | `; out: Option<TensorArg> = None` | parameters after `;` are keyword-only |
//! | `#[numpy(max, amax)]` | above the row: NumPy functions that the row computes when they are called with tensors |
//! | `also cumsum_` | methods that are the in-place form, without `out`: in the body `x` is a [`Target`], and decides where the result goes |
//! | `alias swapdims, method copy` | further names, in the places of the row, or in the one that is named |
//! | `-> "int"` | the type of the result in the stubs; `"Tensor"` if it is left out. `{}` is the class whose method it is |
//! | `-> ["(dim: None = None) -> Size", …]` | whole signatures, if the type of the result depends on the arguments |
//!
//! In a body, `py` is the interpreter and `x` the receiver. A type in a stub is written as in Python, or with one of the
//! names that the head of the stubs defines, such as `_Ints`.
//!
//! In-place forms and aliases get a docstring of their own: one sentence, and the row's example under that name.
//!
//! [`FromArg`]: crate::convert::args::FromArg
//! [`Target`]: crate::convert::in_place::Target

macro_rules! methods {
    // A table of functions only, which have no receiver.
    ($rows:ident ($py:ident): $($table:tt)*) => {
        methods! { $rows($py, _none: ()): $($table)* }
    };
    ($rows:ident ($py:ident, $x:ident: $receiver:ty): $(
        $(#[doc = $doc:expr])+
        $(#[numpy($($numpy:ident),+)])?
        $place:ident $name:ident $params:tt
            $(also $($in_place:ident),+)?
            $(alias $($alias:ident $($alias_name:ident)?),+)?
            $(-> $returns:tt)? => $body:expr;
    )*) => {
        pub fn $rows() -> Vec<$crate::abi::thunks::MethodRow> {
            let mut rows = Vec::new();
            $( {
                struct This;
                methods!(@facts $place $name [$receiver] $x $params [$($doc),+] [$($returns)?]);
                methods!(@bodies $place [$receiver] $py $x $params $body);
                rows.push(methods!(@row $place [$receiver] This)$(.with_numpy_names(&[$(stringify!($numpy)),+]))?);
                $(
                    methods!(@in_place $place $py $x $params $body);
                    $(rows.push({
                        methods!(@name $in_place);
                        methods!(@row method [$receiver] $crate::abi::thunks::InPlaceForm<This, Other>)
                    });)+
                )?
                $($(rows.push(methods!(@alias $place [$receiver] $alias $($alias_name)?));)+)?
            } )*
            rows
        }
    };
    // The row in the places where it appears.
    (@row method [$receiver:ty] $row:ty) => {
        $crate::abi::thunks::MethodRow::of::<$row>()
            .with_method::<$row>(<$receiver as $crate::convert::args::Receiver>::CLASS)
    };
    (@row function [$receiver:ty] $row:ty) => {
        $crate::abi::thunks::MethodRow::of::<$row>().with_function::<$row>()
    };
    (@row both [$receiver:ty] $row:ty) => { methods!(@row method [$receiver] $row).with_function::<$row>() };
    (@row view [$receiver:ty] $row:ty) => { methods!(@row both [$receiver] $row).with_layout_method::<$row>() };
    (@alias $place:ident [$receiver:ty] $name:ident) => { {
        methods!(@name $name);
        methods!(@row $place [$receiver] $crate::abi::thunks::Alias<This, Other>)
    } };
    (@alias $_:ident [$receiver:ty] $place:ident $name:ident) => { methods!(@alias $place [$receiver] $name) };
    (@name $name:ident) => {
        struct Other;
        impl $crate::abi::thunks::Name for Other {
            const NAME: &'static str = stringify!($name);
        }
    };
    (@bodies function [$receiver:ty] $py:ident $x:ident $params:tt $body:expr) => {
        methods!(@call [$receiver] RowBody call $py [] $params $body);
    };
    // The layout is looked up after the other arguments were read: reading may run code that changes a tensor's layout.
    (@bodies view [$receiver:ty] $py:ident $x:ident $params:tt $body:expr) => {
        use $crate::classes::layout::Viewer;
        methods!(@call [$receiver] RowBody call $py [this] $params {
            let $x = this.layout();
            this.view_object($py, $body)
        });
        methods!(@call [$crate::classes::layout::LayoutArg] LayoutRowBody call_on_layout $py [this] $params {
            let $x = this.layout();
            this.view_object($py, $body)
        });
    };
    (@bodies $place:ident [$receiver:ty] $py:ident $x:ident $params:tt $body:expr) => {
        methods!(@call [$receiver] RowBody call $py [$x] $params $body);
    };
    (@in_place view $py:ident $x:ident $params:tt $body:expr) => {
        methods!(@call [$crate::convert::in_place::InPlace] InPlaceBody call_in_place $py [this] $params {
            let $x = this.layout();
            this.replace_layout($body)
        });
    };
    (@in_place $place:ident $py:ident $x:ident $params:tt $body:expr) => {
        methods!(@call [$crate::convert::in_place::InPlace] InPlaceBody call_in_place $py [$x] $params $body);
    };
    (@facts function $name:ident [$receiver:ty] $x:ident $params:tt $doc:tt $returns:tt) => {
        methods!(@params $name [$receiver] [] $params $doc (methods!(@signature "Tensor" $returns)));
    };
    (@facts view $name:ident [$receiver:ty] $x:ident $params:tt $doc:tt $returns:tt) => {
        methods!(@params $name [$receiver] [$x] $params $doc (methods!(@signature "{}" $returns)));
    };
    (@facts $place:ident $name:ident [$receiver:ty] $x:ident $params:tt $doc:tt $returns:tt) => {
        methods!(@params $name [$receiver] [$x] $params $doc (methods!(@signature "Tensor" $returns)));
    };
    (@params $name:ident [$receiver:ty] [$($x:ident)?]
        ($($param:ident $(| $alias:ident)* : $type:ty $(= $default:expr)?),*
            $(; $($word:ident $(| $other:ident)* : $word_type:ty = $word_default:expr),+)?)
        [$($doc:expr),+] ($signature:expr)) => {
        impl $crate::abi::thunks::RowFacts for This {
            const NAME: &'static str = ::strided_core::ops::table::strip_raw(stringify!($name));
            const DOC: &'static [&'static str] = &[$($doc),+];
            const SIGNATURE: $crate::abi::thunks::Signature = $signature;
            const HAS_OUT: bool = $crate::abi::thunks::ends_with_out(&[$($(stringify!($word)),+)?]);
            #[inline(always)]
            fn params() -> &'static [$crate::abi::bind::Param] {
                const COUNT: usize = <[&str]>::len(
                    &[$(stringify!($x),)? $(stringify!($param),)* $($(stringify!($word)),+)?]
                );
                static PARAMS: [$crate::abi::bind::Param; COUNT] = [
                    $(methods!(@input $x [$receiver]),)?
                    $($crate::convert::args::param::<$type>(
                        stringify!($param),
                        &[$(stringify!($alias)),*],
                        methods!(@text $($default)?),
                    ),)*
                    $($($crate::convert::args::keyword::<$word_type>(
                        stringify!($word),
                        &[$(stringify!($other)),*],
                        stringify!($word_default),
                    )),+)?
                ];
                &PARAMS
            }
        }
    };
    (@call [$first:ty] $body_trait:ident $call:ident $py:ident [$($x:ident)?]
        ($($param:ident $(| $alias:ident)* : $type:ty $(= $default:expr)?),*
            $(; $($word:ident $(| $other:ident)* : $word_type:ty = $word_default:expr),+)?) $body:expr) => {
        impl $crate::abi::thunks::$body_trait for This {
            #[inline(always)]
            #[allow(non_upper_case_globals, non_snake_case, unused_variables, unused_mut, unused_assignments, dead_code)]
            fn $call<'a>(
                $py: ::pyo3::Python<'a>,
                args: &$crate::abi::bind::Args<'a>,
            ) -> $crate::abi::errors::CallResult<$crate::abi::Value<'a>> {
                const True: bool = true;
                const False: bool = false;
                let mut at = 0;
                $(
                    let $x = <$first as $crate::convert::args::FromArg>::from_args(args, 0, "input")?;
                    at += 1;
                )?
                $(
                    let $param: $type = methods!(@read args at (stringify!($param)) $type $(, $default)?);
                    at += 1;
                )*
                $($(
                    let $word: $word_type =
                        methods!(@read args at (stringify!($word)) $word_type, $word_default);
                    at += 1;
                )+)?
                $body
            }
        }
    };
    (@input $x:ident [$receiver:ty]) => { $crate::convert::args::param::<$receiver>("self", &["input"], None) };
    (@text) => { None };
    (@text $default:expr) => { Some(stringify!($default)) };
    (@read $args:ident $at:ident ($name:expr) $type:ty) => {
        <$type as $crate::convert::args::FromArg>::from_args($args, $at, $name)?
    };
    (@read $args:ident $at:ident ($name:expr) $type:ty, $default:expr) => {
        if $args.is_given($at) { <$type as $crate::convert::args::FromArg>::from_args($args, $at, $name)? } else { $default }
    };
    (@signature $default:literal []) => { $crate::abi::thunks::Signature::Returns($default) };
    (@signature $default:literal [$returns:literal]) => { $crate::abi::thunks::Signature::Returns($returns) };
    (@signature $default:literal [[$($overload:literal),+]]) => {
        $crate::abi::thunks::Signature::Overloads(&[$($overload),+])
    };
}

/// Properties: a name, the type in the stubs, and a body over the receiver. One that can be assigned to has a second
/// body, which returns the tensor that is written to.
macro_rules! properties {
    ($properties:ident ($py:ident, $x:ident: $receiver:ty): $(
        $(#[doc = $doc:literal])+
        $name:ident -> $stub:literal => $body:expr $(, set $part:expr)?;
    )*) => {
        pub fn $properties() -> Vec<$crate::abi::thunks::PropertyRow> {
            vec![$( {
                /// # Safety
                /// Only the descriptor of the property calls this, with an instance of the class.
                unsafe extern "C" fn get(
                    this: $crate::abi::Object,
                    _: *mut ::std::ffi::c_void,
                ) -> $crate::abi::Object {
                    const NAME: &str = ::strided_core::ops::table::strip_raw(stringify!($name));
                    // SAFETY: the interpreter calls this on a thread that is attached to it.
                    let py = unsafe { ::pyo3::Python::assume_attached() };
                    $crate::abi::errors::guard_value(py, NAME, |$py| {
                        // SAFETY: the contract above; the interpreter keeps the object alive during the call.
                        #[allow(unused_variables)]
                        let $x = unsafe {
                            let this = $crate::abi::refs::arg($py, this);
                            <$receiver as $crate::convert::args::Receiver>::of_property(this)
                        }?;
                        $body
                    })
                }
                $crate::abi::thunks::PropertyRow {
                    class: <$receiver as $crate::convert::args::Receiver>::CLASS,
                    name: ::strided_core::ops::table::strip_raw(stringify!($name)),
                    doc: &[$($doc),+],
                    stub: $stub,
                    get,
                    set: properties!(@set $name $($part)?),
                }
            } ),*]
        }
    };
    (@set $name:ident) => { None };
    (@set $name:ident $part:expr) => { {
        /// # Safety
        /// Only the descriptor of the property calls this, with a tensor, and a live value or null.
        unsafe extern "C" fn set(
            this: $crate::abi::Object,
            value: $crate::abi::Object,
            _: *mut ::std::ffi::c_void,
        ) -> ::std::ffi::c_int {
            // SAFETY: the interpreter calls this on a thread that is attached to it.
            let py = unsafe { ::pyo3::Python::assume_attached() };
            $crate::abi::errors::guard(py, stringify!($name), -1, |py| {
                if value.is_null() {
                    return Err($crate::abi::errors::Fail::Type("cannot be deleted".into()));
                }
                // SAFETY: the contract above; the interpreter keeps both alive during the call.
                unsafe {
                    let x = $crate::convert::args::TensorArg::of_slot($crate::abi::refs::arg(py, this));
                    assign_part(py, x, $crate::abi::refs::arg(py, value), $part)?;
                }
                Ok(0)
            })
        }
        Some(set)
    } };
}
