//! Fills: one value written to every element.

use super::item::ScalarBytes;
use super::map::move_elements;
use crate::error::Result;
use crate::layout::Layout;
use crate::storage::Access;
use crate::tensor::Tensor;

/// Writes `value`, an element of the output's dtype, to every element of `out`.
pub fn fill(out: &Tensor, value: ScalarBytes) -> Result<()> {
    let pin = out.pin(Access::Write)?;
    // SAFETY: `pin` holds `out` for writing; `value` is one element of its dtype, and a layout of rank 0 broadcasts
    // to any shape.
    unsafe { move_elements(out, pin.origin, &Layout::scalar(), out.dtype(), value.address(), 0) }
}
