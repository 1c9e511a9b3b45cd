//! Which code serves an operation: from an id and a dtype to the kernels.

/// Declares a static of kernels. In the harness of unit tests it is a constant: the compiler compiles all that statics refer
/// to, and so would compile every kernel for tests that use few of them.
macro_rules! table_static {
    ($(#[$doc:meta])* $name:ident: $type:ty = $value:expr) => {
        $(#[$doc])*
        #[cfg(not(test))]
        static $name: $type = $value;
        $(#[$doc])*
        #[cfg(test)]
        const $name: $type = $value;
    };
}

pub mod lines;
pub mod map;
pub mod reduce;
