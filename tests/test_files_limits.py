"""What a file may take: memory, disk and time; and files that are pipes, devices or mapped."""

import errno
import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import zipfile

import numpy as np
import pytest

import strided as st
from strided import files
from strided import torch7 as torch

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the address space")
unix = pytest.mark.skipif(os.name != "posix", reason="has no FIFOs")


def run_python(code, *words, **options):
    """Runs a program that limits its own memory. A crash or an abort is a negative code."""
    program = textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)], capture_output=True, text=True, timeout=120, **options
    )


# Objects of many nodes


def pickle_bomb(path, count, instruction=b"]"):
    """A .pt file whose pickle is one instruction again and again: one byte of the pickle, many of memory."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + instruction * count + b".")
        archive.writestr("archive/version", "3\n")


@pytest.mark.parametrize("instruction", [b"]", b"(", b"N", b")", b"}", b"]2", b"]q\x00"], ids=repr)
@pytest.mark.parametrize("read", [st.load, files.open], ids=["load", "open"])
def test_the_nodes_of_a_pickle_count_against_max_bytes(tmp_path, instruction, read):
    path = tmp_path / "bomb.pt"
    pickle_bomb(path, 300_000 // len(instruction), instruction)
    with pytest.raises(st.FormatError, match="more than 1000000 bytes; max_bytes= sets another limit"):
        read(path, max_bytes=1_000_000)


LIMITED = """
    import resource, sys
    import strided as st
    from strided import cli, files
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    limit = used + int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        {call}
    except (MemoryError, st.FormatError) as error:
        print(type(error).__name__)
    else:
        print("loaded")
"""
CALLS = {
    "load": "st.load(sys.argv[1])",
    "open": "st.files.open(sys.argv[1]).names",
    "info": "assert cli.main(['info', sys.argv[1]]) in (0, 2)",
    "convert": "assert cli.main(['convert', sys.argv[1], sys.argv[1] + '.safetensors']) in (0, 2)",
}


@linux
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("megabytes", [5, 40, 200])
def test_a_pickle_that_does_not_fit_the_memory_is_an_error(tmp_path, call, megabytes):
    path = tmp_path / "bomb.pt"
    pickle_bomb(path, 30_000_000)
    done = run_python(LIMITED.replace("{call}", CALLS[call]), path, megabytes << 20)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.split()[-1] in ("MemoryError", "loaded")
    if call in ("load", "open"):
        assert "MemoryError" in done.stdout


@linux
@pytest.mark.parametrize("format", ["t7", "safetensors", "npz"])
@pytest.mark.parametrize("megabytes", [2, 10, 40, 400])
def test_a_file_of_many_values_is_read_or_is_a_memory_error(tmp_path, format, megabytes):
    path = tmp_path / f"x.{format}"
    if format == "npz":
        st.save({f"name {i}": st.ones(1) for i in range(20_000)}, path)
    else:
        st.save([[i, str(i)] for i in range(150_000)], path)
    for call in ("load", "open"):
        done = run_python(LIMITED.replace("{call}", CALLS[call]), path, megabytes << 20)
        assert done.returncode == 0, done.stderr[-500:]
        assert done.stdout.split()[-1] in ("MemoryError", "loaded")
        if megabytes == 400:
            assert done.stdout == "loaded\n"


# Files without a length


@unix
def test_an_endless_device_is_read_up_to_max_bytes():
    with pytest.raises(st.FormatError, match=r"load: /dev/zero: has no length, and more than 1000 bytes"):
        st.load("/dev/zero", max_bytes=1000)
    assert st.fromfile("/dev/zero", st.int32, count=5).tolist() == [0] * 5


@unix
def test_an_endless_pipe_is_read_up_to_a_share_of_the_memory(monkeypatch):
    assert 0 < files._arguments._default_max_bytes() < 1 << 60
    monkeypatch.setattr(files._arguments, "_default_max_bytes", lambda: 100_000_000)
    reading, writing = os.pipe()

    def write():
        try:
            while True:
                os.write(writing, bytes(1 << 16))
        except OSError:
            pass
        finally:
            os.close(writing)

    thread = threading.Thread(target=write)
    thread.start()
    with pytest.raises(st.FormatError, match="more than 100000000 bytes"), os.fdopen(reading, "rb") as pipe:
        st.load(pipe)
    thread.join()


@unix
def test_a_pipe_with_an_end_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: st.save({"x": st.arange(100_000.0)}, path, format="npz"))
    writer.start()
    loaded = st.load(path)
    writer.join()
    assert loaded["x"].tolist() == st.arange(100_000.0).tolist()


@unix
@pytest.mark.parametrize("call", ["st.save({'x': x}, path, format='npz')", "x.tofile(path)"])
@pytest.mark.parametrize("has_reader", [False, True], ids=["nobody reads", "a reader stops"])
def test_writing_to_a_pipe_waits_without_the_lock_and_can_be_interrupted(tmp_path, call, has_reader):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    waits = "st._strided._detached_calls()" if has_reader else "current().f_code.co_name == 'target_of'"
    program = f"""
        import signal, sys, threading
        import strided as st
        def current():
            return sys._current_frames()[threading.main_thread().ident]
        def watch():
            while not {waits}:
                pass
            print("waits", flush=True)
        def interrupt_once(*_):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, interrupt_once)
        path, x = sys.argv[1], st.zeros(10_000_000)
        threading.Thread(target=watch, daemon=True).start()
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    words = [sys.executable, "-c", textwrap.dedent(program), str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if has_reader else None
        assert process.stdout.readline() == "waits\n"  # the other thread goes on
        for _ in range(600):  # a signal just before a system call does not interrupt it
            process.send_signal(signal.SIGINT)
            try:
                process.wait(0.1)
                break
            except subprocess.TimeoutExpired:
                pass
        process.kill()
        assert process.stdout.read() == "interrupted\n"
        assert process.wait() == 0
        if reader is not None:
            os.close(reader)


# Mapped files


@linux
def test_a_new_mapped_file_has_its_space_on_the_disk(tmp_path):
    path = tmp_path / "x.npy"
    x = st.open_memmap(path, "w+", st.float64, (1000, 1000))
    assert os.stat(path).st_blocks * 512 >= 8_000_000
    assert not x.any().item()


def test_a_full_disk_is_an_error_and_the_old_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "x.npy"
    st.save(st.arange(3), path)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match="No space left") as error:
        st.open_memmap(path, "w+", st.float64, (1000, 1000))
    assert error.value.filename == str(path)
    assert np.load(path).tolist() == [0, 1, 2]
    assert os.listdir(tmp_path) == ["x.npy"]


REPLACED = {
    "open_memmap": "st.open_memmap(path, 'w+', st.float32, (3,))",
    "tofile": "st.ones(3).tofile(path)",
    "save": "st.save(st.ones(3), path)",
    "a Torch7 DiskFile": "torch7.DiskFile(path, 'w').writeInt(1)",
    "torch7.save": "torch7.save(path, [1])",
}


@pytest.mark.parametrize("call", REPLACED.values(), ids=REPLACED)
def test_a_file_that_is_mapped_here_is_replaced_and_not_shortened(tmp_path, call):
    path = tmp_path / "x.npy"
    st.save(st.arange(1_000_000.0), path)
    os.chmod(path, 0o640)
    program = f"""
        import sys
        import strided as st
        from strided import torch7
        path = sys.argv[1]
        old = st.load(path, mmap="r")
        {call}
        print(old.sum(dtype=st.float64).item())
    """
    done = run_python(program, path)
    assert (done.returncode, done.stdout) == (0, "499999500000.0\n"), done.stderr
    assert os.stat(path).st_size < 1000
    assert os.stat(path).st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["x.npy"]


def test_a_link_to_a_mapped_file_stays_a_link(tmp_path):
    st.save(st.arange(3), tmp_path / "x.npy")
    link = tmp_path / "link.npy"
    link.symlink_to("x.npy")
    st.open_memmap(link, "w+", st.float32, (2,)).fill_(1)
    assert link.is_symlink()
    assert np.load(tmp_path / "x.npy").tolist() == [1, 1]


# Files of Torch7 with several objects


@pytest.mark.parametrize("mode", ["binary", "ascii"])
def test_torch7_loads_the_first_of_several_objects(tmp_path, mode):
    path = str(tmp_path / "several.t7")
    file = torch.DiskFile(path, "w")
    getattr(file, mode)()
    file.writeObject(torch.Tensor([1, 2]))
    file.writeObject({"second": 2})
    file.close()
    assert torch.load(path, mode).totable() == [1, 2]
    if mode == "binary":
        assert torch.load(path).totable() == [1, 2]
    with pytest.raises(st.FormatError, match="bytes follow the object"):
        st.load(path, encoding=mode)


def test_torch7_still_names_what_is_wrong_with_a_damaged_file(tmp_path):
    path = str(tmp_path / "x.t7")
    torch.save(path, {"x": torch.Tensor([1, 2])})
    with open(path, "r+b") as file:
        file.truncate(30)
    with pytest.raises(torch.TorchError, match=r"needs \d+ bytes"):
        torch.load(path)


def test_a_buffer_has_a_length():
    f = io.BytesIO()
    st.save({"x": st.arange(3)}, f)
    assert st.load(memoryview(f.getvalue()), max_bytes=10_000)["x"].tolist() == [0, 1, 2]
