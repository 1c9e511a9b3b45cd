"""Archives that PyTorch itself writes. `test_files_pt.py` has archives that are written by hand, also damaged ones."""

import collections
import io
import zipfile

import numpy as np
import pytest

import strided as st

torch = pytest.importorskip("torch", reason="PyTorch writes these files")


def saved(obj, **options):
    file = io.BytesIO()
    torch.save(obj, file, **options)
    file.seek(0)
    return file


def bytes_of(x):
    """The elements of a tensor of PyTorch in row-major order, as bytes: a comparison of bits in every dtype."""
    x = x.detach().resolve_conj().resolve_neg().contiguous()
    return x.reshape(-1).view(torch.uint8).numpy().tobytes() if x.numel() else b""


def assert_same(ours, theirs):
    assert str(ours.dtype).removeprefix("strided.") == str(theirs.dtype).removeprefix("torch.")
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert ours.contiguous().flatten().view(st.uint8).numpy().tobytes() == bytes_of(theirs)


def numbers(dtype, *shape):
    """Numbers of both signs where the dtype has them, which all dtypes hold exactly."""
    x = torch.arange(np.prod(shape, dtype=int)).reshape(shape) % 7 - (0 if str(dtype).startswith("torch.uint") else 3)
    return (x + 0.5j * x).to(dtype) if dtype.is_complex else x.to(dtype)


SHARED_DTYPES = [
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
]
FOREIGN_DTYPES = {
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1, "complex32": 4,
    "float4_e2m1fn_x2": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", SHARED_DTYPES)
def test_every_dtype_that_both_have_is_read_exactly(name):
    dtype = getattr(torch, name)
    x = numbers(dtype, 5, 3)
    held = {"all": x, "part": x[1:4, ::2], "transposed": x.t(), "one": x[2, 1], "empty": x[:0]}
    loaded = st.load(saved(held))
    for key, theirs in held.items():
        assert_same(loaded[key], theirs)
        assert tuple(loaded[key].stride()) == theirs.stride()
        assert loaded[key].storage() is loaded["all"].storage()


@pytest.mark.parametrize(("name", "itemsize"), FOREIGN_DTYPES.items())
def test_a_dtype_that_strided_lacks_is_listed_and_refused_by_name(name, itemsize):
    dtype = getattr(torch, name, None)
    if dtype is None:
        pytest.skip(f"this PyTorch has no {name}")
    foreign = torch.zeros(6 * itemsize, dtype=torch.uint8).view(dtype)
    file = saved({"foreign": foreign, "known": torch.ones(2)})
    with st.files.open(file) as opened:
        entry = opened["foreign"]
        assert (entry.dtype, entry.dtype_name, entry.shape, entry.nbytes) == (None, name, (6,), 6 * itemsize)
        assert opened["known"].load().tolist() == [1, 1]
        with pytest.raises(st.FormatError, match=f"dtype {name}, which strided does not have"):
            entry.load()
        with pytest.raises(st.FormatError, match=name):
            opened.load()


def test_a_state_dict_has_the_names_and_numbers_of_its_model():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten(), torch.nn.Linear(4, 2)
    )
    state = model.state_dict()
    loaded = st.load(saved(state))
    assert list(loaded) == list(state)
    for name, theirs in state.items():
        assert_same(loaded[name], theirs)


def test_the_state_of_an_optimizer_is_read():
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    loaded = st.load(saved(state))
    assert loaded["param_groups"] == state["param_groups"]
    for number, facts in state["state"].items():
        for key, theirs in facts.items():
            assert_same(loaded["state"][number][key], theirs)


def test_parameters_buffers_and_tensors_with_attributes_are_tensors():
    attributed, parameter = torch.ones(2), torch.nn.Parameter(torch.ones(2))
    attributed.note = parameter.note = "a note"
    held = [
        torch.nn.Parameter(torch.ones(2)),
        torch.nn.Parameter(torch.ones(2), requires_grad=False),
        torch.ones(2, requires_grad=True),
        torch.nn.Buffer(torch.ones(2)),
        attributed,
        parameter,
    ]
    for x in st.load(saved(held)):
        assert isinstance(x, st.Tensor)
        assert x.tolist() == [1, 1]


def test_containers_and_values_are_read():
    held = {
        "list": [
            1,
            -300,
            2**40,
            -(2**63),
            2**70,
            -(2**200),
            0.5,
            float("inf"),
            None,
            True,
            "text",
            b"\xff\x00",
            1 + 2j,
        ],
        "tuple": ((), (1,), (1, 2, 3, 4)),
        5: collections.OrderedDict(a=1, b=[2]),
        "counter": collections.Counter("aab"),
        "defaultdict": collections.defaultdict(list, a=[1]),
        "size": torch.Size([2, 3]),
    }
    for protocol in (2, 3, 4, 5):
        loaded = st.load(saved(held, pickle_protocol=protocol))
        assert loaded == held
        assert [type(value) for value in loaded.values()] == [list, tuple, dict, dict, dict, tuple]
    others = [{3}, frozenset([3]), bytearray(b"ab"), torch.device("cuda", 1), torch.device("cpu"), torch.bfloat16]
    assert st.load(saved(others)) == [[3], [3], b"ab", "cuda:1", "cpu", "torch.bfloat16"]


def test_objects_that_occur_twice_and_cycles_are_read():
    shared, cycle = [1], {}
    cycle["self"] = cycle
    loaded = st.load(saved([shared, shared, cycle]))
    assert loaded[0] is loaded[1]
    assert loaded[2]["self"] is loaded[2]


def test_views_share_their_storage_again():
    x = torch.arange(12.0).view(3, 4)
    held = [x, x.t(), x[1, 1:], x.expand(2, 3, 4), torch.ones(2)]
    loaded = st.load(saved(held))
    loaded[2].fill_(-1)
    x[1, 1:] = -1
    for ours, theirs in zip(loaded, held, strict=True):
        assert_same(ours, theirs)
        assert tuple(ours.stride()) == theirs.stride()
    assert loaded[4].storage() is not loaded[0].storage()


def test_empty_tensors_and_those_without_dims_are_read():
    held = [torch.zeros(0), torch.zeros(2, 0, 3), torch.tensor(7), torch.zeros(0, dtype=torch.uint16)]
    for ours, theirs in zip(st.load(saved(held)), held, strict=True):
        assert_same(ours, theirs)


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_conjugated_and_negated_views_have_their_numbers(name):
    z = numbers(getattr(torch, name), 3, 4) + (
        0.5 + 0.25j
    )  # without zeros, whose signs PyTorch's own paths disagree on
    held = {
        "z": z,
        "conj": z.conj(),
        "twice": z.conj().conj(),
        "adjoint": z.conj().t()[1:, ::2],
        "negated": torch._neg_view(z),
        "imaginary": (z + 0).conj().imag,  # PyTorch writes a storage in one dtype only
        "both": torch._neg_view(z.conj()),
        "half": torch._neg_view(numbers(torch.bfloat16, 5)),
        "int": torch._neg_view(numbers(torch.int16, 5)),
    }
    file = saved(held)
    loaded = st.load(file)
    for key, theirs in held.items():
        assert_same(loaded[key], theirs)
    file.seek(0)
    with st.files.open(file) as opened:
        assert opened["z"].mappable
        assert opened["conj"].reason == "computed when it is loaded"
        assert_same(opened["adjoint"].load(), held["adjoint"])
        written = io.BytesIO()
        st.files.write(written, {name: opened[name] for name in ("z", "adjoint")})
    written.seek(0)
    assert_same(st.load(written)["adjoint"], held["adjoint"])


def test_a_conjugated_view_cannot_be_larger_than_its_storage():
    with pytest.raises(st.FormatError, match="repeats its elements"):
        st.load(saved(torch.ones(1, dtype=torch.complex64).conj().expand(1 << 40)))


@pytest.mark.filterwarnings("ignore")  # of PyTorch: typed storages are deprecated
def test_storages_are_read():
    typed, untyped = st.load(saved([torch.arange(3.0).storage(), torch.arange(3, dtype=torch.uint8).untyped_storage()]))
    assert isinstance(typed, st.Storage)
    assert (typed.dtype, typed.tolist()) == (st.float32, [0, 1, 2])
    assert (untyped.dtype, untyped.tolist()) == (st.uint8, [0, 1, 2])


def test_a_file_is_mapped(tmp_path):
    path = tmp_path / "x.pt"
    x = torch.arange(1 << 20, dtype=torch.float64)
    torch.save({"x": x, "y": x[10:20], "small": torch.ones(3, dtype=torch.uint16)}, path)
    loaded = st.load(path, mmap="r")
    assert all(tensor.storage().filename == str(path) for tensor in loaded.values())
    assert_same(loaded["x"], x)
    assert_same(loaded["y"], x[10:20])


def test_a_big_endian_archive_of_a_dtype_without_a_storage_class_is_read():
    x = torch.arange(3).to(torch.uint16)
    file, swapped = saved(x), io.BytesIO()
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(swapped, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("byteorder"):
                data = b"big"
            if name.endswith("data/0"):
                data = np.frombuffer(data, "<u2").astype(">u2").tobytes()
            target.writestr(name, data)
    swapped.seek(0)
    assert_same(st.load(swapped), x)


# What is refused


class Module(torch.nn.Module):
    """A module of somebody's own."""


CALLS = []


class Evil:
    def __reduce__(self):
        return CALLS.append, ("called",)


REFUSED = {
    "a module": (lambda: torch.nn.Linear(2, 2), r"torch\.nn\.modules\.linear\.Linear.*save its state_dict"),
    "an own module": (lambda: Module(), r"Module.*no code runs; save the state_dict"),
    "sparse": (lambda: torch.eye(3).to_sparse(), r"sparse tensor.*to_dense"),
    "compressed": (lambda: torch.eye(3).to_sparse_csr(), r"sparse tensor.*to_dense"),
    "quantized": (lambda: torch.quantize_per_tensor(torch.ones(3), 0.5, 0, torch.qint8), r"quantized.*dequantize"),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), r"nested tensor.*unbind"),
    "meta": (lambda: torch.empty(3, device="meta"), r"meta device has no elements"),
    "an array": (lambda: np.ones(3), r"objects of NumPy"),
    "a function": (lambda: torch.relu, r"no code runs"),
    "a class": (lambda: io.BytesIO, r"no code runs"),
    "a generator": (lambda: torch.Generator(), r"torch\._C\.Generator"),
}


@pytest.mark.filterwarnings("ignore")  # of PyTorch, about tensors of these kinds
@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_tensor_and_no_container_is_refused_by_name(make, message):
    with pytest.raises(st.FormatError, match=message):
        st.load(saved({"x": make()}))


def test_a_pickle_that_calls_a_function_does_not_call_it():
    with pytest.raises(st.FormatError, match="getattr"):
        st.load(saved(Evil()))
    assert CALLS == []


def test_the_format_before_archives_is_refused_by_name():
    with pytest.raises(st.FormatError, match=r"before version 1\.6"):
        st.load(saved(torch.ones(3), _use_new_zipfile_serialization=False))


@pytest.mark.filterwarnings("ignore")  # of PyTorch: TorchScript is deprecated
def test_torchscript_is_refused_by_name():
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), file)
    file.seek(0)
    with pytest.raises(st.FormatError, match="TorchScript"):
        st.load(file)


def test_a_converted_file_has_the_numbers_of_the_model(tmp_path):
    from cli_runs import run

    model = torch.nn.Linear(3, 2)
    torch.save({"model": model.state_dict(), "epoch": 3}, tmp_path / "x.pt")
    assert run("convert", tmp_path / "x.pt", tmp_path / "x.safetensors").code == 0
    safetensors = pytest.importorskip("safetensors.torch")
    loaded = safetensors.load_file(tmp_path / "x.safetensors")
    assert torch.equal(loaded["model.weight"], model.weight)
    assert torch.equal(loaded["model.bias"], model.bias)
