//! Elements of a device, for code of the host that reads them.

use crate::abi::detach::detach;
use crate::abi::errors::CallResult;
use pyo3::prelude::*;
use strided_core::ops::copy;
use strided_core::{Device, Tensor};

/// The tensor with its elements on the host: itself, or a copy that one transfer makes.
#[inline]
pub fn on_host(py: Python<'_>, x: &Tensor) -> CallResult<Tensor> {
    let x = x.clone();
    if x.device() == Device::Cpu {
        return Ok(x);
    }
    Ok(detach(py, || copy::to_device(&x, Device::Cpu, x.dtype()))?)
}
