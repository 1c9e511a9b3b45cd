"""Devices of OpenCL for tests: importing this chooses PoCL's, and `needs_gpu` skips tests where there is none.

PoCL computes on the CPU, and is asked for three devices: "gpu:0" and "gpu:1" share a context, "gpu:2" is of another kind.
"""

import functools
import os

os.environ.setdefault("POCL_DEVICES", "pthread pthread basic")  # before the library is loaded, at the first use of a device

import pytest

import strided as st

MISSING = "no OpenCL device: apt install pocl-opencl-icd ocl-icd-libopencl1"


@functools.cache
def has_gpu():
    try:
        st.zeros(1).gpu()
    except st.DeviceError:
        return False
    return True


#: A mark for tests that need a device.
needs_gpu = pytest.mark.skipif(not has_gpu(), reason=MISSING)


def on_gpu(x, device="gpu:0"):
    """The same elements on a device, with the same strides."""
    if x.numel() == 0 or x.dim() == 0:
        return x.to(device)
    reach = [(n - 1) * s for n, s in zip(x.shape, x.stride(), strict=True)]
    low, length = sum(min(r, 0) for r in reach), sum(map(abs, reach)) + 1
    first = x.storage_offset() + low
    memory = x.as_strided((length,), (1,), first).to(device)
    return memory.as_strided(x.shape, x.stride(), -low)
