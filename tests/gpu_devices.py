"""Tests on GPUs: three devices of PoCL where it is installed, which computes on the CPU."""

import os

import pytest

os.environ.setdefault("POCL_DEVICES", "pthread pthread basic")

import strided as st


def device_error():
    """Why there is no device; None if there is one."""
    try:
        st.zeros(1, device="gpu")
    except st.DeviceError as error:
        return str(error)
    return None


_error = device_error()
if _error and os.environ.get("STRIDED_NEEDS_GPU"):
    raise RuntimeError(f"STRIDED_NEEDS_GPU is set: {_error}")

#: Marks tests that compute on a device.
needs_gpu = pytest.mark.skipif(
    _error is not None,
    reason="no OpenCL device: apt install --no-install-recommends ocl-icd-libopencl1 pocl-opencl-icd",
)


def on_gpu(x, device="gpu:0"):
    """The same elements on a device, with the same strides."""
    if x.numel() == 0 or x.dim() == 0:
        return x.to(device)
    reach = [(n - 1) * s for n, s in zip(x.shape, x.stride(), strict=True)]
    low, length = sum(min(r, 0) for r in reach), sum(map(abs, reach)) + 1
    memory = x.as_strided((length,), (1,), x.storage_offset() + low).to(device)
    return memory.as_strided(x.shape, x.stride(), -low)
