//! The rows of the `methods!` macro, by what they are about.

pub mod convert;
pub mod create;
pub mod elements;
pub mod lines;
pub mod query;
pub mod reduce;
pub mod scans;
pub mod system;
pub mod values;
pub mod views;

use crate::methods::Row;

/// Every row.
pub fn all() -> Vec<Row> {
    [
        views::rows(),
        query::rows(),
        values::rows(),
        elements::rows(),
        reduce::rows(),
        create::rows(),
        convert::rows(),
        system::rows(),
        scans::rows(),
        lines::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
