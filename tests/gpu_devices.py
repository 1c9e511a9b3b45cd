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
