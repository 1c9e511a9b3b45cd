//! Tensors moved to where they are needed: to the host, whose code reads them, or to the device of other operands.

use crate::abi::detach::detach;
use crate::abi::errors::CallResult;
use pyo3::prelude::*;
use strided_core::ops::copy;
use strided_core::{Device, Tensor};

/// The tensor with its elements on the host: itself, or a copy that one transfer makes.
#[inline]
pub fn on_host(py: Python<'_>, x: &Tensor) -> CallResult<Tensor> {
    on_device(py, x, Device::Cpu)
}

/// The tensor with its elements on a device: itself, or a copy that one transfer makes.
#[inline]
pub fn on_device(py: Python<'_>, x: &Tensor, device: Device) -> CallResult<Tensor> {
    let x = x.clone();
    if x.device() == device {
        return Ok(x);
    }
    Ok(detach(py, || copy::to_device(&x, device, x.dtype()))?)
}
