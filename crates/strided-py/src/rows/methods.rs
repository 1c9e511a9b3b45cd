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

macro_rules! methods {
    ($rows:ident ($py:ident, $x:ident): $(
        $(#[doc = $doc:literal])+
        $place:ident $name:ident ( $($params:tt)* ) => $body:expr;
    )*) => {
        pub fn $rows() -> Vec<$crate::abi::thunks::Row> {
            vec![$( methods!(@$place $name $py $x ($($params)*) [$($doc),+] $body) ),*]
        }
    };
    (@both $name:ident $py:ident $x:ident $params:tt $doc:tt $body:expr) => { {
        methods!(@facts Both $name [$x] $params $doc);
        methods!(@call [$crate::convert::args::TensorArg] $py [$x] $params $body);
        $crate::abi::thunks::Row::of::<$crate::convert::args::TensorArg, This>()
    } };
    (@method $name:ident $py:ident $x:ident $params:tt $doc:tt $body:expr) => { {
        methods!(@facts Method $name [$x] $params $doc);
        methods!(@call [$crate::convert::args::TensorArg] $py [$x] $params $body);
        $crate::abi::thunks::Row::of::<$crate::convert::args::TensorArg, This>()
    } };
    (@function $name:ident $py:ident $x:ident $params:tt $doc:tt $body:expr) => { {
        methods!(@facts Function $name [] $params $doc);
        methods!(@call [$crate::convert::args::TensorArg] $py [] $params $body);
        $crate::abi::thunks::Row::of::<$crate::convert::args::TensorArg, This>()
    } };
    // The layout is looked up after the other arguments were read: that may run code which changes a tensor's.
    (@view $name:ident $py:ident $x:ident $params:tt $doc:tt $body:expr) => { {
        use $crate::classes::layout::Viewer;
        methods!(@facts Both $name [$x] $params $doc);
        methods!(@call [$crate::convert::args::TensorArg] $py [this] $params { let $x = this.layout(); this.show($py, $body) });
        methods!(@call [$crate::classes::layout::LayoutArg] $py [this] $params { let $x = this.layout(); this.show($py, $body) });
        $crate::abi::thunks::Row::of::<$crate::convert::args::TensorArg, This>()
            .with_layout_method::<$crate::classes::layout::LayoutArg, This>()
    } };
    (@facts $place:ident $name:ident [$($x:ident)?]
        ($($param:ident $(| $alias:ident)* : $type:ty $(= $default:expr)?),*
            $(; $($word:ident $(| $other:ident)* : $word_type:ty = $word_default:expr),+)?) [$($doc:literal),+]) => {
        struct This;
        impl $crate::abi::thunks::Facts for This {
            const NAME: &'static str = ::strided_core::ops::table::plain(stringify!($name));
            const PLACE: $crate::abi::thunks::Place = $crate::abi::thunks::Place::$place;
            const DOC: &'static [&'static str] = &[$($doc),+];
            #[inline(always)]
            fn params() -> &'static [$crate::abi::bind::Param] {
                const COUNT: usize = <[&str]>::len(
                    &[$(stringify!($x),)? $(stringify!($param),)* $($(stringify!($word)),+)?]
                );
                static PARAMS: [$crate::abi::bind::Param; COUNT] = [
                    $(methods!(@input $x),)?
                    $($crate::abi::bind::Param::new(
                        stringify!($param),
                        &[$(stringify!($alias)),*],
                        <$type as $crate::convert::args::FromArg>::REST,
                        methods!(@text $($default)?),
                    ),)*
                    $($($crate::abi::bind::Param::by_name(
                        stringify!($word),
                        &[$(stringify!($other)),*],
                        stringify!($word_default),
                    )),+)?
                ];
                &PARAMS
            }
        }
    };
    (@call [$first:ty] $py:ident [$($x:ident)?]
        ($($param:ident $(| $alias:ident)* : $type:ty $(= $default:expr)?),*
            $(; $($word:ident $(| $other:ident)* : $word_type:ty = $word_default:expr),+)?) $body:expr) => {
        impl $crate::abi::thunks::Call<$first> for This {
            #[inline(always)]
            #[allow(non_upper_case_globals, unused_variables, unused_mut, unused_assignments, dead_code)]
            fn call($py: ::pyo3::Python<'_>, args: &$crate::abi::bind::Args) -> $crate::abi::errors::Result<$crate::abi::Object> {
                const True: bool = true;
                const False: bool = false;
                let mut at = 0;
                $(
                    let $x = <$first as $crate::convert::args::FromArg>::from_args($py, args, 0, "input")?;
                    at += 1;
                )?
                $(
                    let $param: $type = methods!(@read $py args at (stringify!($param)) $type $(, $default)?);
                    at += 1;
                )*
                $($(
                    let $word: $word_type =
                        methods!(@read $py args at (stringify!($word)) $word_type, $word_default);
                    at += 1;
                )+)?
                $body
            }
        }
    };
    (@input $x:ident) => { $crate::abi::bind::Param::new("self", &["input"], false, None) };
    (@text) => { None };
    (@text $default:expr) => { Some(stringify!($default)) };
    (@read $py:ident $args:ident $at:ident ($name:expr) $type:ty) => {
        <$type as $crate::convert::args::FromArg>::from_args($py, $args, $at, $name)?
    };
    (@read $py:ident $args:ident $at:ident ($name:expr) $type:ty, $default:expr) => {
        if $args.is_given($at) { <$type as $crate::convert::args::FromArg>::from_args($py, $args, $at, $name)? } else { $default }
    };
}
