"""Devices for tests: a mark for those that need one, and PoCL's three devices on the CPU where it is installed."""

import os

import pytest

import strided as st

os.environ.setdefault("POCL_DEVICES", "pthread pthread basic")


def has_device():
    """Whether a tensor can be copied to a device."""
    try:
        st.zeros(1).gpu()
    except (RuntimeError, ValueError):
        return False
    return True


needs_gpu = pytest.mark.skipif(
    not has_device(), reason="no OpenCL device: apt install pocl-opencl-icd ocl-icd-libopencl1"
)
