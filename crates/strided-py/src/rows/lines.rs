//! What is made of neighbours in a line.
use crate::methods;
methods! { rows(py, x): }
