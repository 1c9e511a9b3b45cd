//! Elements that rules look at: invalid parameters, weights, and saved states as bytes.

use crate::alloc::try_collect;
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::Element;
use crate::storage::Access;
use crate::tensor::Tensor;

/// The first element of a row-major float64 tensor that is not valid.
pub fn find_invalid(x: &Tensor, valid: fn(f64) -> bool) -> Result<Option<f64>> {
    assert!(x.dtype() == DType::F64 && x.layout().is_row_major());
    let pin = x.pin(Access::Read)?;
    let from = pin.origin.cast::<f64>();
    // SAFETY: `pin` holds all elements.
    Ok((0..x.size()).map(|i| unsafe { from.add(i).read() }).find(|&value| !valid(value)))
}

/// Writes bytes to a row-major uint8 tensor of as many elements.
pub fn write_bytes(out: &Tensor, bytes: &[u8]) -> Result<()> {
    assert!(out.dtype() == DType::U8 && out.layout().is_row_major() && out.size() == bytes.len());
    let pin = out.pin(Access::Write)?;
    // SAFETY: `pin` holds as many bytes; the slice is no tensor's memory.
    unsafe { pin.origin.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    Ok(())
}

/// The elements of a row-major tensor of dtype `T`.
pub fn read_elements<T: Element>(x: &Tensor) -> Result<Vec<T>> {
    assert!(x.dtype() == T::DTYPE && x.layout().is_row_major());
    let pin = x.pin(Access::Read)?;
    let from = pin.origin.cast::<T>();
    // SAFETY: `pin` holds all elements, which are of type T as checked above.
    try_collect((0..x.size()).map(|i| unsafe { from.add(i).read() }))
}
