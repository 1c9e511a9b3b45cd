"""Devices as programs see them: which tensor lies where, contexts, typed classes, transfers, memory, files, and what is refused."""

import concurrent.futures
import copy
import gc
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from gpu_devices import needs_gpu

import strided as st

pytestmark = [needs_gpu, pytest.mark.usefixtures("settled")]

COUNT = st.gpu.device_count()
two_gpus = pytest.mark.skipif(
    COUNT < 2, reason="wants two devices; PoCL has several with POCL_DEVICES='pthread pthread'"
)
three_gpus = pytest.mark.skipif(
    COUNT < 3, reason="wants three devices; PoCL has several with POCL_DEVICES='pthread pthread basic'"
)


@pytest.fixture(scope="module")
def used():
    """Each device was used: some bytes of it are allocated once, for checks of indices."""
    for i in range(COUNT):
        st.zeros(2, device=i)[[0]]


@pytest.fixture
def settled(used):
    """The current device and the default one are as they were, and no bytes are left allocated."""
    gc.collect()
    before = [st.gpu.memory_allocated(i) for i in range(COUNT)]
    yield
    gc.collect()
    assert (st.gpu.current_device(), str(st.get_default_device())) == (0, "cpu")
    assert [st.gpu.memory_allocated(i) for i in range(COUNT)] == before


def run(program, **variables):
    """Runs a program in another process; returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | variables, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# The example "GPU Semantics"


@three_gpus
def test_gpu_semantics():
    x = st.gpu.FloatTensor(1)
    assert x.get_device() == 0
    y = st.FloatTensor(1).gpu()
    assert y.get_device() == 0
    with st.gpu.device(1):
        a = st.gpu.FloatTensor(1)
        b = st.FloatTensor(1).gpu()
        assert a.get_device() == b.get_device() == 1
        z = x + y
        assert z.get_device() == 0  # the device of the operands, whichever is current
        c = st.randn(2).gpu(2)
        assert c.get_device() == 2
    assert (a + b).get_device() == 1
    with pytest.raises(RuntimeError, match="gpu:0 and gpu:1"):
        x + a
    assert x.copy_(a.fill_(3)).tolist() == [3.0]


@three_gpus
def test_the_same_example_in_the_words_of_pytorch():
    x = st.cuda.FloatTensor(3, 4)
    b = x.cpu()
    a = b.cuda()
    with st.cuda.device(1):
        assert st.FloatTensor(1).cuda().device == "cuda:1"
    assert [t.get_device() for t in (x, b, a, a.cuda(1), a.cuda(2))] == [0, -1, 0, 1, 2]
    assert [t.is_cuda for t in (x, b)] == [t.is_gpu for t in (x, b)] == [True, False]


def test_the_one_liner():
    device = "cuda" if st.cuda.is_available() else "cpu"
    x = st.zeros(2, 3, device=device)
    assert x.device.type == "cuda" == x.device.type and x.device.type == "gpu" and x.device.type != "cpu"
    assert (str(x.device), repr(x.device)) == ("gpu:0", "device(type='gpu', index=0)")
    assert x.device == st.device("cuda", 0) == "cuda:0" and pickle.loads(pickle.dumps(x.device)) == x.device
    assert pickle.loads(pickle.dumps(x.device.type)) == "cuda" and hash(x.device.type) == hash("gpu")


def test_both_names_are_one_module():
    import strided.cuda
    import strided.gpu

    assert st.gpu is st.cuda is strided.gpu is strided.cuda and "gpu" in dir(st)
    loaded = "import sys, strided; assert not {'strided.gpu', 'strided.cuda', 'numpy'} & set(sys.modules); import strided.cuda"
    run(f"{loaded}; assert strided.cuda.__name__ == 'strided.gpu' and not strided.gpu.is_initialized()")


# Contexts


@three_gpus
def test_contexts_nest_and_end_with_exceptions():
    again = st.gpu.device(1)
    with again:
        with st.gpu.device("gpu:2"), again, st.gpu.device_of(st.zeros(1).gpu(2)):
            assert st.gpu.current_device() == 2
        with pytest.raises(KeyError), st.gpu.device(0):
            st.gpu.set_device(2)
            raise KeyError
        assert st.gpu.current_device() == 1
        for nothing in (st.gpu.device(-1), st.gpu.device(None), st.gpu.device_of(st.zeros(1))):
            with nothing:
                assert st.gpu.current_device() == 1
    assert st.gpu.current_device() == 0
    with pytest.raises(st.DeviceError, match=r"^there is no device gpu:99; the devices are gpu:0 to gpu:\d$"):
        st.gpu.device(99).__enter__()
    with pytest.raises(ValueError, match="wanted a GPU"):
        st.gpu.device("cpu")


@two_gpus
def test_each_thread_has_its_own_current_and_default_device():
    inside = threading.Barrier(2)

    def work(number):
        with st.gpu.device(number), st.device(f"gpu:{number}"):
            inside.wait(30)
            found = st.gpu.current_device(), st.zeros(1).get_device(), st.gpu.FloatTensor(1).get_device()
            inside.wait(30)
            return found

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, (0, 1))) == [(0, 0, 0), (1, 1, 1)]
    assert (st.gpu.current_device(), st.zeros(1).get_device()) == (0, -1)


@two_gpus
def test_the_default_device():
    try:
        st.set_default_device("gpu:1")
        with st.device("cpu"):
            st.set_default_device("gpu:0")  # of the code around the block
            assert st.zeros(1).device == "cpu"
        assert st.get_default_device() == "gpu:0" and st.ones(2).device == "gpu:0"
        assert st.FloatTensor(1).is_cpu and st.Tensor(1).is_gpu and st.from_numpy(np.zeros(2)).is_cpu
        with pytest.raises(KeyError), st.device("gpu:1"):
            assert [f([1.0]).get_device() for f in (st.tensor, st.as_tensor, st.asarray, st.Tensor)] == [1] * 4
            raise KeyError
        assert st.get_default_device() == "gpu:0"
    finally:
        st.set_default_device(None)
    st.set_default_tensor_type(st.gpu.FloatTensor)
    assert st.Tensor(2).type() == "strided.gpu.FloatTensor"
    st.set_default_tensor_type("strided.FloatTensor")
    assert st.Tensor(2).type() == "strided.FloatTensor"


# Typed classes


@pytest.mark.parametrize("name", ["Float", "Half", "BFloat16", "Long", "Byte", "Double", "Bool"])
def test_typed_classes(name):
    tensor, storage = getattr(st.gpu, f"{name}Tensor"), getattr(st.gpu, f"{name}Storage")
    host = getattr(st, f"{name}Tensor")
    values = [[0, 1], [1, 1]]
    x = host(values)
    sources = [values, x, x.gpu(), x.double(), np.array(values), np.array(values, dtype="uint8")]
    for source in sources:
        made = tensor(source)
        assert made.type() == f"strided.gpu.{name}Tensor" and made.device == "gpu:0"
        assert made.tolist() == x.tolist()
    assert tensor(3, 4).tolist() == host(3, 4).tolist() and tensor(st.Size([2, 1])).shape == (2, 1)
    assert tensor().shape == (0,) and tensor(2).tolist() == host(2).tolist()
    made = tensor(x.gpu())
    assert tensor(made).is_set_to(made) and tensor(made.storage()).storage() is made.storage()
    assert [isinstance(made, kind) for kind in (tensor, host, storage, st.Tensor)] == [True, False, False, True]
    assert [isinstance(x, kind) for kind in (tensor, host)] == [False, True]
    s = storage(x.flatten().tolist())
    assert (s.type(), s.size(), s.tolist()) == (f"strided.gpu.{name}Storage", 4, x.flatten().tolist())
    assert [isinstance(s, kind) for kind in (storage, tensor, type(s))] == [True, False, True]
    assert storage(3).tolist() == host(3).tolist() and storage(x).tolist() == s.tolist()
    assert made.new(2).type() == made.type() and s.new(2).type() == s.type()
    assert repr(tensor) == f"<class 'strided.gpu.{name}Tensor'>" and getattr(st.cuda, f"{name}Tensor") is tensor


def test_types_move():
    x = st.arange(3.0)
    for target in (st.gpu.HalfTensor, "strided.gpu.HalfTensor", "torch.cuda.HalfTensor"):
        y = x.type(target)
        assert (y.type(), y.tolist()) == ("strided.gpu.HalfTensor", [0.0, 1.0, 2.0])
        assert y.type(target) is y and y.type("strided.FloatTensor").device == "cpu"
    assert x.type_as(y).type() == y.type() and y.type(st.int64).device == "gpu:0"
    assert x.storage().type(st.gpu.HalfStorage).type() == "strided.gpu.HalfStorage"
    with pytest.raises(TypeError, match="no dtype"):
        st.zeros(2, dtype="strided.gpu.FloatTensor")
    with pytest.raises(ValueError, match="wanted a GPU"):
        st.gpu.FloatTensor(2, device="cpu")
    with pytest.raises(ValueError, match="wanted 'cpu'"):
        st.FloatTensor(2, device="gpu")

    class Mine(st.gpu.FloatTensor):
        pass

    assert type(Mine(2)) is Mine and Mine(2).is_gpu


@two_gpus
def test_new_tensors_are_where_they_are_asked_for():
    x = st.zeros(2, dtype=st.int16, device="cuda:1")
    like = [
        st.empty_like(x),
        st.zeros_like(x),
        st.ones_like(x),
        st.full_like(x, 3),
        x.new_zeros(2),
        x.new_full((2,), 1),
    ]
    like += [
        x.new_tensor([1, 2]),
        x.new_ones(2),
        x.new_empty(2),
        st.tensor(x),
        st.as_tensor(x),
        x.clone(),
        x.view(1, 2),
    ]
    assert {str(y.device) for y in like} == {"gpu:1"} and {y.dtype for y in like} == {st.int16}
    for make in (st.zeros, st.ones, st.empty):
        assert make(2, 3, device=1).device == make((2, 3), device=x.device).device == "gpu:1"
    assert st.full((2,), 7, device="gpu:1").tolist() == [7, 7]
    assert st.tensor([[1, 2]], device="gpu:1").tolist() == [[1, 2]] and st.scalar_tensor(3, device=1).item() == 3
    array = np.arange(3)
    assert st.as_tensor(array, device="gpu:1").tolist() == st.asarray(array, device=x.device).tolist() == [0, 1, 2]
    assert (
        st.from_dlpack(array, device="gpu:1").tolist() == [0, 1, 2] and st.Tensor(2, device="gpu:1").get_device() == 1
    )
    for refused in (
        lambda: st.asarray(array, device="gpu:1", copy=False),
        lambda: st.asarray(x, device="cpu", copy=False),
    ):
        with pytest.raises(ValueError, match="copy is False"):
            refused()
    assert st.asarray(x, copy=False) is x and st.asarray(x, device="gpu:1") is x
    assert st.empty_strided((2, 3), (1, 2), device="gpu:1").stride() == (1, 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda device: st.arange(5, device=device),
        lambda device: st.range(0, 2, 0.5, device=device),
        lambda device: st.linspace(-1, 1, 5, device=device),
        lambda device: st.logspace(0, 3, 4, base=2, device=device),
        lambda device: st.eye(2, 3, device=device),
        lambda device: st.rand(5, device=device),
        lambda device: st.randint(0, 9, (5,), device=device),
        lambda device: st.randperm(5, device=device),
        lambda device: st.tril_indices(3, 3, device=device),
    ],
)
def test_creation_functions_give_the_same_on_a_device(make):
    st.manual_seed(5)
    expected = make("cpu")
    st.manual_seed(5)
    made = make("cuda")
    assert made.device == "gpu:0" and (made.tolist(), made.dtype) == (expected.tolist(), expected.dtype)


def test_outputs_decide_where_numbers_are_made():
    for make in (st.zeros, st.ones, st.arange, st.rand):
        assert make(3, out=st.empty(0, device="gpu", dtype=make(3).dtype)).is_gpu


# Transfers


LAYOUTS = {
    "row-major": lambda x: x,
    "transposed": lambda x: x.permute(2, 0, 1),
    "part": lambda x: x[1:, ::2, 1:],
    "reversed": lambda x: x.flip(0, 2),
    "repeated": lambda x: x[0, 0, :1].expand(3, 4),
    "one": lambda x: x[1, 2, 3],
    "none": lambda x: x[:0],
}


@two_gpus
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", [st.float32, st.bool, st.complex64], ids=str)
def test_transfers(name, dtype):
    x = LAYOUTS[name](st.arange(60).view(3, 4, 5).to(dtype))
    values = x.tolist()
    y = x.gpu()
    assert (y.tolist(), y.dtype, y.device.type) == (values, dtype, "gpu")
    if x.layout.is_contiguous:
        assert y.stride() == x.stride()  # no gaps: the memory moves as it is
    z = y.gpu(1)
    assert (z.get_device(), z.tolist()) == (1, values) and z.cpu().tolist() == values
    view = LAYOUTS[name](st.zeros(3, 4, 5, dtype=dtype, device="gpu:1"))
    if name != "repeated":
        assert view.copy_(y).tolist() == values and view.zero_().copy_(x).tolist() == values
        assert LAYOUTS[name](st.zeros(3, 4, 5, dtype=dtype)).copy_(z).tolist() == values


def test_what_is_there_stays():
    x = st.arange(6.0).gpu()
    assert x.gpu() is x.cuda(0) is x.to("gpu") is x.to("cuda:0") is x.to(device=x.device) is x.to(x) is x
    assert x.to("cuda", copy=True) is not x and x.cpu().cpu().is_cpu
    y = x.to("cpu", st.int32)
    assert (y.tolist(), y.dtype) == (list(range(6)), st.int32) and x.to(y).device == "cpu" and y.to(x).is_gpu
    assert x.to(st.float16).is_gpu and y.to(device="gpu", dtype=st.float64, non_blocking=True).dtype is st.float64
    assert y.to(0).device == "gpu:0"


def test_storages():
    x = st.arange(6.0).gpu()
    s = x.storage()
    assert s.gpu() is s and s.is_cuda and s.is_gpu and s.get_device() == 0 and s.device == "gpu:0"
    assert s.cpu().tolist() == s.tolist() == list(range(6)) and s.cpu().get_device() == -1
    assert s.cpu().gpu().type() == s.cpu().cuda(0).type() == "strided.gpu.FloatStorage"
    s[2] = 9
    s[3:5] = [7, 8]
    assert x.tolist() == [0, 1, 9, 7, 8, 5] and s[2] == 9.0 and s[:3].tolist() == [0, 1, 9]
    assert s.resize_(7).tolist() == [0, 1, 9, 7, 8, 5, 0] and s.fill_(2).clone().tolist() == [2.0] * 7
    assert s.copy_(range(7)).tolist() == list(range(7)) and s.to(device="cpu").is_cuda is False
    assert str(s).endswith("\n[strided.gpu.FloatStorage of size 7]") and "gpu:0" in s._repr_html_()


def test_page_locked_memory():
    x = st.arange(6.0).view(2, 3).t()
    y = x.pin_memory()
    assert y.is_pinned() and not x.is_pinned() and y.pin_memory() is y and st.pin_memory(y) is y
    assert y.tolist() == x.tolist() == y.gpu(non_blocking=True).tolist() and y.is_cpu
    assert x.storage().pin_memory().is_pinned() and not x.gpu().is_pinned()
    y.add_(1)
    assert y.tolist() == (x + 1).tolist() and y.numpy()[0, 0] == 1
    with pytest.raises(st.DeviceError, match=r"^pin_memory: .*gpu:0.*\.cpu\(\)"):
        x.gpu().pin_memory()


# Numbers, lists and text


def test_numbers_and_lists():
    x = st.tensor([[1.5, -2.0], [0.0, 4.0]]).gpu()
    assert (x[0, 0].item(), x.item(1, 1), float(x[0, 1]), int(x[1, 1]), bool(x[1, 0])) == (1.5, 4.0, -2.0, 4, False)
    assert complex(x[0, 0]) == 1.5 and f"{x[0, 0]:.2f}" == "1.50" and x.t().tolist() == [[1.5, 0.0], [-2.0, 4.0]]
    assert len(x) == 2 and [row.tolist() for row in x] == x.tolist() and [row.get_device() for row in x] == [0, 0]
    x[0, 0] = 7
    x[1] = [8, 9]
    x[:, 1] = st.tensor([1.0, 2.0])
    assert x.tolist() == [[7.0, 1.0], [8.0, 2.0]]
    assert [10, 20, 30][st.tensor(1).gpu()] == 20 and range(5)[st.tensor(4).gpu()] == 4
    assert st.zeros(2).fill_(st.tensor(3.0).gpu()).tolist() == [3.0, 3.0]
    x[[1, 0]] = [[1.0, 2.0], [3.0, 4.0]]
    assert x.tolist() == [[3.0, 4.0], [1.0, 2.0]] and x[[1]].tolist() == x[st.tensor([1])].tolist() == [[1.0, 2.0]]


def test_text():
    x = st.arange(12.0).view(3, 4)
    for host in (x, x.t(), x[0], x[0, 0], x[:0], st.zeros(2, 3, 4), st.arange(3000), st.zeros(60, 70), x > 3):
        y = host.gpu()
        assert repr(y) == str(y) == repr(host).replace("[strided.", "[strided.gpu.")
        assert f"{y}" == f"{host}".replace("[strided.", "[strided.gpu.")
    assert "[strided.gpu.FloatTensor of size 3]" in repr([st.zeros(3).gpu()])
    assert (
        "gpu:0" in st.zeros(3).gpu()._repr_html_() and "<b>gpu.FloatTensor</b>" in st.zeros(50, 60).gpu()._repr_html_()
    )
    assert "on gpu:0" in str(st.explain(x.gpu())) and "x.cpu()" in str(st.explain(x.gpu()))


REFUSED = {
    "numpy": lambda x: x.numpy(),
    "__array__": lambda x: x.__array__(),
    "__array_interface__": np.asarray,
    "__dlpack__": lambda x: x.__dlpack__(),
    "__dlpack_device__": lambda x: x.__dlpack_device__(),
    "buffer": memoryview,
    "data_ptr": lambda x: x.data_ptr(),
    "__bytes__": bytes,
    "share_memory_": lambda x: x.share_memory_(),
    "apply_": lambda x: x.apply_(abs),
    "borrow": st.borrow,
}


@pytest.mark.parametrize("name", REFUSED)
def test_nothing_falls_back_to_the_cpu(name):
    with pytest.raises(st.DeviceError, match=rf"^{name}: the memory is on gpu:0, .*\.cpu\(\) copies it"):
        REFUSED[name](st.zeros(2).gpu())


def test_an_array_if_it_is_asked_for():
    array = st.arange(3).gpu().numpy(force=True)
    assert array.tolist() == [0, 1, 2]


# Operands


def test_operands_on_two_devices():
    x, y = st.ones(2), st.ones(2).gpu()
    for call in (lambda: x + y, lambda: y + x, lambda: st.add(x, x, out=y), lambda: y.add_(x), lambda: y + np.ones(2)):
        with pytest.raises(st.DeviceError, match=r"^add_?: the operands are on (cpu and gpu:0|gpu:0 and cpu); "):
            call()
    assert y.tolist() == x.tolist() == [1.0, 1.0]


def test_a_tensor_without_dims_is_a_number():
    x = st.arange(3.0).gpu()
    two = st.tensor(2.0)
    results = [x + two, two + x, st.add(two, x, out=st.zeros(3).gpu()), x.clone().add_(two), x + 2]
    assert [y.tolist() for y in results] == [[2.0, 3.0, 4.0]] * 5 and {y.get_device() for y in results} == {0}
    assert (x + np.float32(2)).tolist() == [2.0, 3.0, 4.0] and two.is_cpu
    with pytest.raises(st.DeviceError, match="cpu and gpu:0"):
        st.add(two, two, out=x[0])
    with pytest.raises(st.DeviceError, match="gpu:0 and cpu"):
        two.add_(x[0])


def test_threads_use_one_device_at_once():
    def work(number):
        x = st.full((1000,), number, dtype=st.float32, device="gpu")
        for _ in range(20):
            x = (x + 1) + x
        return x[0].item()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(4)))
    assert results == [2.0**20 * number + 2.0**20 - 1 for number in range(4)]


def test_calls_on_a_device_let_other_threads_run():
    large, small = st.zeros(1 << 22).gpu(), st.zeros(4).gpu()
    waiting = threading.Event()
    seen = set()

    def watch():
        while not waiting.is_set():
            seen.add(st._strided._detached_calls())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for _ in range(20):
            for _ in range(5):
                large.add_(1)  # returns before the work is done
            small[0].item()  # waits for it
    finally:
        waiting.set()
        watcher.join()
    assert 1 in seen


# Memory


def test_memory():
    st.gpu.empty_cache()
    before = st.gpu.memory_allocated()
    x = st.zeros(1 << 18).gpu()
    assert st.gpu.memory_allocated() - before == x.nbytes <= st.gpu.max_memory_allocated()
    assert st.gpu.memory_reserved() >= st.gpu.memory_allocated()
    free, total = st.gpu.mem_get_info()
    assert 0 < free < total == st.gpu.get_device_properties(0).total_memory
    del x
    assert st.gpu.memory_allocated() == before and st.gpu.memory_reserved() > before
    st.gpu.reset_peak_memory_stats()
    st.gpu.empty_cache()
    assert st.gpu.memory_reserved() == st.gpu.max_memory_allocated() == before
    assert st.gpu.get_device_name() in st.gpu.memory_summary("gpu:0")


def test_out_of_memory():
    x = st.ones(1 << 16).gpu()
    used = st.gpu.memory_allocated()
    total = st.gpu.get_device_properties(0).total_memory
    st.gpu.set_per_process_memory_fraction((used + (1 << 18)) / total)
    try:
        y = x.clone()
        for call in (lambda: x + 1, x.clone, lambda: st.zeros(1 << 20, device="gpu"), lambda: x.cpu().gpu()):
            with pytest.raises(st.gpu.OutOfMemoryError, match=r"^\w+: cannot allocate \d+ bytes on gpu:0$") as raised:
                call()
            assert isinstance(raised.value, (MemoryError, RuntimeError))
        assert x.tolist() == y.tolist()
        del y
        assert (x + 1)[0].item() == 2.0
    finally:
        st.gpu.set_per_process_memory_fraction(1)
    with pytest.raises(ValueError, match=r"fraction is 2, wanted 0 to 1"):
        st.gpu.set_per_process_memory_fraction(2)


def test_nothing_leaks_after_errors():
    """Ten thousand operations and exceptions."""
    x = st.arange(1000.0).gpu()
    before = st.gpu.memory_allocated()
    for _ in range(1000):
        for call in (lambda: x + st.ones(1000), lambda: x.view(7), lambda: x.numpy(), lambda: x[5000], lambda: x + "a"):
            with pytest.raises((RuntimeError, IndexError, TypeError)):
                call()
        y = (x + 1).view(10, 100).t().contiguous()
        y.cpu(), y.tolist(), copy.deepcopy(y), repr(y)
    del y
    assert st.gpu.memory_allocated() == before


def test_properties():
    properties = st.gpu.get_device_properties("gpu:0")
    assert properties.multi_processor_count == properties.compute_units > 0
    assert st.gpu.get_device_capability(0) == (properties.major, properties.minor) >= (1, 2)
    assert properties.name == st.gpu.get_device_name(0) and properties.kind in ("gpu", "cpu", "accelerator")
    assert st.gpu.is_available() and st.gpu.is_initialized() and st.gpu.device_count() == COUNT > 0
    st.gpu.synchronize()
    st.gpu.manual_seed(3)
    a = st.rand(2)
    st.gpu.manual_seed_all(3)
    assert st.rand(2).equal(a) and st.Generator(device="gpu").initial_seed() == st.Generator().initial_seed()


# Copies, pickle, files


def test_copies_stay_on_the_device():
    x = st.arange(6.0).view(2, 3).gpu()
    assert copy.copy(x).is_set_to(x)
    y, row = copy.deepcopy([x, x[1]])
    assert y.device == x.device and row.storage() is y.storage() and y.storage().device == x.storage().device
    x.zero_()
    assert y.tolist() == [[0, 1, 2], [3, 4, 5]] and copy.copy(y.storage()).is_gpu and copy.deepcopy(y.storage()).is_gpu


@two_gpus
def test_pickle():
    x = st.arange(6.0).view(2, 3).gpu(1)
    y, row, turned = pickle.loads(pickle.dumps([x, x[1], x.t()]))
    assert (y.tolist(), str(y.device), turned.stride()) == (x.tolist(), "gpu:1", (1, 3))
    assert row.storage() is y.storage() and turned.is_set_to(y.t())
    large = st.zeros(1 << 19, device="gpu:1")
    assert len(pickle.dumps(large[2:7])) < 1000 and pickle.loads(pickle.dumps(large[2:7])).get_device() == 1
    data = pickle.dumps(x.storage())
    program = f"import pickle, strided\ntry: pickle.loads({data!r})\nexcept strided.DeviceError as error: print(error)"
    assert run(program, STRIDED_OPENCL="/nonexistent").startswith("pickle: the storage was on gpu:1: no GPU: OpenCL")
    assert "there is no device gpu:1" in run(program, POCL_DEVICES="pthread") or "POCL_DEVICES" not in os.environ


@three_gpus
@pytest.mark.parametrize("format", ["safetensors", "t7"])
def test_files(format):
    x = st.arange(6.0).view(2, 3).gpu(1)
    f = io.BytesIO()
    with pytest.warns() if format == "safetensors" else pytest.MonkeyPatch.context():
        st.save({"x": x, "parts": [x[1], st.ones(2)], "s": x.storage()}, f, format=format)

    def load(map_location):
        f.seek(0)
        loaded = st.load(f, map_location=map_location)
        assert (
            loaded["x"].tolist() == x.tolist() and loaded["x"].storage() is loaded["s"] is loaded["parts"][0].storage()
        )
        assert loaded["parts"][1].tolist() == [1.0, 1.0]
        return [str(y.device) for y in (loaded["x"], loaded["parts"][1])]

    noted = ["gpu:1", "cpu"] if format == "safetensors" else ["cpu", "cpu"]
    assert load(None) == load("cpu") == load(st.device("cpu")) == load(lambda storage, place: None) == ["cpu", "cpu"]
    assert load("cuda:2") == load(st.device("gpu:2")) == load(2) == ["gpu:2", "gpu:2"]
    assert load({"cuda:1": "gpu:0"}) == ["gpu:0" if noted[0] == "gpu:1" else "cpu", "cpu"]
    assert load(lambda storage, place: storage.to(device=place)) == noted
    assert load(lambda storage, place: storage.cuda(2)) == ["gpu:2", "gpu:2"]
    for wrong, error in (
        ("tpu", ValueError),
        (1.5, TypeError),
        (lambda storage, place: 3, TypeError),
        ("gpu:99", st.DeviceError),
    ):
        with pytest.raises(error):
            load(wrong)


def test_every_format_takes_tensors_of_a_device(tmp_path):
    x = st.arange(6.0).view(2, 3)
    for suffix in (".safetensors", ".npy", ".npz", ".t7", ".zarr"):
        content = x.gpu() if suffix == ".npy" else {"x": x.gpu()}
        st.save(content, tmp_path / f"file{suffix}")
        loaded = st.load(tmp_path / f"file{suffix}")
        assert (loaded if suffix == ".npy" else loaded["x"]).tolist() == x.tolist(), suffix


# Other processes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_refuses_work_on_devices():
    x = st.ones(3).gpu()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        code = 1
        try:
            st.zeros(2).add_(1)  # the CPU is not affected
            for call in (x.cpu, lambda: x + 1, lambda: st.zeros(2).gpu(), lambda: x.fill_(2), lambda: x[0].item()):
                with pytest.raises(st.DeviceError, match=r"forked after its parent had used a GPU.*'spawn'"):
                    call()
            del x
            code = 0
        finally:
            os.write(write, b"done")
            os._exit(code)
    assert os.read(read, 4) == b"done" and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(read)
    os.close(write)
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_a_program_that_ends_with_tensors_on_a_device():
    program = "import strided as st, atexit\nx = [st.zeros(10).gpu()]\nx.append(x)\natexit.register(lambda: print(x[0].tolist()[0]))"
    assert run(program) == "0.0\n"


@pytest.mark.slow
def test_the_table_of_operations_by_device_is_fresh():
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, root / "tools/device_table.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
