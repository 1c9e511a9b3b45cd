//! The ids of the elementwise operations.

use crate::op_table;

macro_rules! names {
    ($({ $name:ident $($rest:tt)* })*) => {
        /// The id of an elementwise operation: the index of its row.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Op { $($name),* }
    };
}
op_table!(names);
