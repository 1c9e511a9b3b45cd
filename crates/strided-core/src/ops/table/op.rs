//! The names of the operations.

use crate::op_table;

macro_rules! names {
    ($({ $name:ident $($rest:tt)* })*) => {
        /// The index of each operation in [`OPS`](super::OPS).
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Op { $($name),* }
    };
}
op_table!(names);
