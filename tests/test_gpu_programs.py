"""Programs for devices: compilers that refuse, programs that are kept on disk, waits that end early, and contexts."""

import os
import subprocess
import sys

import pytest
from gpu_devices import needs_gpu

import strided as st

pytestmark = needs_gpu

COPY = "__kernel void copy(__global float *a, __global const float *b) { a[get_global_id(0)] = b[get_global_id(0)]; }"


def run(code, **variables):
    """The output of a program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", "import strided as st\n" + code],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_program_that_the_compiler_refuses_is_an_error_with_its_log():
    with pytest.raises(st.DeviceError, match=r"a program could not be compiled for gpu:0:[\s\S]*nonsense"):
        st._strided._gpu_compile("__kernel void f() { nonsense; }")
    assert (st.ones(2).gpu() + 1).tolist() == [2.0, 2.0]


def test_programs_are_kept_on_disk(tmp_path):
    code = f"st._strided._gpu_compile({COPY!r}); print(st._strided._gpu_programs())"
    folder = tmp_path / "new" / "folder"
    variables = {"STRIDED_OPENCL_CACHE": str(folder)}
    assert run(code, **variables) == "(1, 0)"
    (file,) = list(folder.iterdir())
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == 0
    assert run(code, **variables) == "(0, 1)"
    # Another text is another program; no folder means that none is kept.
    assert run(code.replace("float", "int "), **variables) == "(1, 0)"
    assert run(code, STRIDED_OPENCL_CACHE="") == "(1, 0)"
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[-1] ^= 1
    for damaged in (b"", whole[:10], whole[:-1], bytes(flipped), whole[: len(whole) // 2] + b"x" * 100, b"x" * 5000):
        file.write_bytes(damaged)
        assert run(code, **variables) == "(1, 0)"
        assert file.read_bytes()[:30] == whole[:30]
    assert run(code, **variables) == "(0, 1)"


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    code = f"st._strided._gpu_compile({COPY!r}); print(st._strided._gpu_programs())"
    assert run(code, STRIDED_OPENCL_CACHE=str(tmp_path / "file")) == "(1, 0)"


@pytest.mark.skipif(os.name != "posix", reason="no signals")
def test_ctrl_c_ends_a_wait():
    """The work goes on: the process ends without waiting for it."""
    code = """
import os, signal, threading
x = st.rand(2000, 2000).gpu()
(x @ x)[0, 0].item()
for _ in range(500):
    y = x @ x
threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,)).start()
try:
    st.gpu.synchronize()
except KeyboardInterrupt:
    print("interrupted", y.shape == (2000, 2000), flush=True)
os._exit(0)
"""
    # PoCL's device `basic` works while the host waits in every call.
    assert run(code, POCL_DEVICES="pthread") == "interrupted True"


def test_devices_without_a_common_context():
    code = """
x = st.arange(12.0).view(3, 4).gpu(0)
y = x.t().gpu(1)
z = st.zeros(4, 3, device='gpu:2')
z.copy_(y)
print(y.device, y.tolist() == x.t().tolist(), z.cpu().equal(x.cpu().t()))
try:
    x + y.t()
except st.DeviceError as error:
    print(error)
"""
    printed = run(code, STRIDED_OPENCL_SEPARATE_CONTEXTS="1").splitlines()
    assert printed == ["gpu:1 True True", "add: the operands are on gpu:0 and gpu:1; they must be on one device"]


def test_a_bad_index_is_an_error_of_synchronize():
    x = st.arange(4.0).gpu()
    y = x.index_select(0, st.tensor([1, 9]).gpu())
    with pytest.raises(IndexError, match="index_select: index 9 is outside extent 4"):
        st.gpu.synchronize()
    assert y.tolist() == [1.0, 0.0]
