//! Elements with their bytes reversed, as files and arrays of the other byte order have them.

use super::not_computed;
use crate::error::Result;
use crate::kernels::byteswap;
use crate::storage::Device;
use crate::tensor::Tensor;

by_device! {
    /// Reverses the bytes of each element, or of each part of a complex one.
    fn reverse_bytes(x: &Tensor) -> Result<()>, on x.device() => byteswap::reverse_bytes;
}
