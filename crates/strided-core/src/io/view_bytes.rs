//! Tensors as bytes of a file: their elements in row-major order.

use super::document::ByteOrder;
use super::output::{FileOutput, copied_pieces};
use crate::backend::byte_order::reverse_bytes;
use crate::error::Result;
use crate::ops::copy;
use crate::tensor::Tensor;

/// Elements that are copied at a time to make them contiguous: 4 MB of the widest dtype.
const GATHERED: usize = 1 << 18;

/// Writes the elements of a tensor in row-major order.
pub fn write_tensor(x: &Tensor, order: ByteOrder, output: &mut FileOutput<'_>) -> Result<()> {
    each_part(x, order, &mut |part| {
        let (at, length) = byte_range(part);
        output.write_storage(part.storage(), at, length)
    })
}

/// Calls a function with the bytes of the elements in row-major order, piece by piece.
pub fn each_piece(x: &Tensor, order: ByteOrder, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    each_part(x, order, &mut |part| {
        let (at, length) = byte_range(part);
        copied_pieces(part.storage(), at, length, take)
    })
}

/// The bytes of a row-major tensor in its storage.
fn byte_range(x: &Tensor) -> (usize, usize) {
    let size = x.dtype().size();
    (x.layout().offset() as usize * size, x.size() * size)
}

/// Splits a tensor into row-major tensors in the byte order of the file: itself, or copies of parts of it, so that a large
/// view with gaps needs little memory.
fn each_part(x: &Tensor, order: ByteOrder, take: &mut dyn FnMut(&Tensor) -> Result<()>) -> Result<()> {
    let swapped = order != ByteOrder::NATIVE && x.dtype().real().size() > 1;
    if x.size() == 0 {
        return Ok(());
    }
    if x.layout().is_row_major() && !swapped {
        return take(x);
    }
    if x.size() > GATHERED {
        // The dim to split along is the first one that has more than one index.
        let layout = x.layout();
        let dim = layout.modes().iter().position(|mode| mode.extent > 1).unwrap_or(0);
        let extent = layout.modes()[dim].extent;
        let rows = ((GATHERED as isize) / (x.size() as isize / extent)).clamp(1, extent - 1);
        for start in (0..extent).step_by(rows as usize) {
            let part = layout.narrow(dim as isize, start, rows.min(extent - start))?;
            each_part(&x.with_layout(part), order, take)?;
        }
        return Ok(());
    }
    let gathered = copy::clone(x)?;
    if swapped {
        reverse_bytes(&gathered)?;
    }
    take(&gathered)
}
