"""Programs where there is no library of OpenCL, or no device: nothing raises but what needs one, and the error says what to install."""

import os
import subprocess
import sys

import pytest


def run(program, **variables):
    """Runs a program in another process; returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | variables, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


NO_DEVICE = """
import strided as st
assert not st.cuda.is_available() and st.gpu.device_count() == 0 and st.gpu.current_device() == 0
device = "cuda" if st.cuda.is_available() else "cpu"
assert st.zeros(2, device=device).tolist() == [0, 0] and st.device("gpu").type == "cuda"
for call in (lambda: st.zeros(1).gpu(), lambda: st.gpu.FloatTensor(2), lambda: st.gpu.set_device(0), st.gpu.synchronize,
             lambda: st.zeros(2, device="gpu"), lambda: st.zeros(2).pin_memory(), st.gpu.get_device_name, st.gpu.init):
    try:
        call()
    except st.DeviceError as error:
        text = str(error)
        assert "no GPU" in text and "apt install" in text and "STRIDED_OPENCL" in text, text
    else:
        raise AssertionError("no error")
st.gpu.empty_cache()
print(text)
"""


def test_no_library():
    assert "looked for /nonexistent" in run(NO_DEVICE, STRIDED_OPENCL="/nonexistent")


@pytest.mark.skipif(sys.platform != "linux", reason="the loader that reads OCL_ICD_VENDORS is that of Linux")
def test_a_library_without_devices():
    shown = run(NO_DEVICE, OCL_ICD_VENDORS="/nonexistent/")
    assert "has no device" in shown or "OpenCL was not found" in shown
