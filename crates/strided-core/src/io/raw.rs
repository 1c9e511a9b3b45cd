//! Raw binary: the elements of one tensor, and nothing else.

use super::document::ByteOrder;
use super::output::FileOutput;
use super::refusal;
use super::source::ByteSource;
use super::view_bytes::write_tensor;
use crate::backend::byte_order::reverse_bytes;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::tensor::Tensor;

/// What to read.
pub struct RawRequest {
    pub dtype: DType,
    /// The number of elements, or all that are left.
    pub count: Option<u64>,
    /// In bytes.
    pub offset: u64,
    pub order: ByteOrder,
}

/// A tensor of one dim with the elements of a file.
pub fn read_raw(source: &dyn ByteSource, request: &RawRequest) -> Result<Tensor> {
    let RawRequest { dtype, count, offset, order } = *request;
    let (length, each) = (source.length(), dtype.size() as u64);
    let Some(left) = length.checked_sub(offset) else {
        return Err(refusal(format!("offset is {offset}, and the file has {length} bytes")));
    };
    let count = match count {
        Some(count) => count,
        None if left.is_multiple_of(each) => left / each,
        None => {
            let name = dtype.name();
            let reason =
                format!("{left} bytes from byte {offset} on are no multiple of the {each} bytes of {name}");
            return Err(refusal(format!("{reason}; give a count")));
        }
    };
    if count.checked_mul(each).is_none_or(|bytes| bytes > left) {
        let name = dtype.name();
        return Err(refusal(format!(
            "{count} elements of {name} from byte {offset} on need more than the {left} bytes that the file has there"
        )));
    }
    // Below the length of a file, and so within `isize`.
    let storage = source.read_storage(offset, (count * each) as usize)?;
    let tensor = Tensor::from_storage(storage, dtype, Layout::row_major(&[count as isize])?)?;
    if order != ByteOrder::NATIVE {
        reverse_bytes(&tensor)?;
    }
    Ok(tensor)
}

/// Writes the elements of a tensor in row-major order.
pub fn write_raw(tensor: &Tensor, order: ByteOrder, output: &mut FileOutput<'_>) -> Result<()> {
    write_tensor(tensor, order, output)
}
