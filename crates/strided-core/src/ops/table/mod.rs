//! The facts of the op table that rules need: dtypes, results, keywords and documents of each row. Which kernels serve a row
//! is known below the boundary.

mod expand;
mod row;

pub use crate::op_table::Op;
pub use expand::OPS;
pub use row::{
    DTypeClass, KeywordDefault, OpRow, Refuses, ResultRule, RowSelector, ScalarKeyword, strip_raw,
};
