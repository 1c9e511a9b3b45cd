"""The sequential generators of Torch7 and DeepMind Lab, against Torch7, libstdc++, NumPy and the C++ standard."""

import copy
import json
import pickle
import re
import struct
import threading
from pathlib import Path

import numpy as np
import pytest

import strided as st
from strided import _strided
from strided._strided import _LabGenerator, _TorchGenerator

DATA = Path(__file__).parent / "data"
# Printed by Torch7 at commit 814ea4a, and by a program that uses libstdc++ 12 as DeepMind Lab does.
TORCH = json.loads((DATA / "torch7_random.json").read_text())
LAB = json.loads((DATA / "libstdcxx_random.json").read_text())
# Logarithms and angles are those of the C library, whose versions differ in the last bit.
LIBM = ("normal", "exponential", "cauchy", "log_normal")
DTYPES = [st.uint8, st.int8, st.int16, st.int32, st.int64, st.float32, st.float64]


def check_numbers(got, expected, name):
    if name.startswith(LIBM):
        np.testing.assert_allclose(got, expected, rtol=1e-6 if "float32" in name else 4e-16)
    else:
        assert got == expected


# Torch7


@pytest.mark.parametrize("seed", [0, 1, 123, 2**32 - 1, 2**32 + 7])
@pytest.mark.parametrize(
    "call",
    [
        "random",
        "random(10)",
        "random(-3,7)",
        "uniform(-2,3)",
        "normal(1,2.5)",
        "exponential(1.5)",
        "cauchy(1,2)",
        "log_normal(0.5,0.25)",
        "geometric(0.9)",
        "bernoulli(0.3)",
    ],
)
def test_single_numbers_are_those_of_torch7(seed, call):
    expected = TORCH[f"seed {seed}, {call}"]
    name, _, arguments = call.rstrip(")").partition("(")
    numbers = [json.loads(text) for text in arguments.split(",") if text]
    generator = _TorchGenerator(seed)
    check_numbers([getattr(generator, name)(*numbers) for _ in expected], expected, name)


FILLS = [name.removeprefix("fill ") for name in TORCH if re.match("fill u?(int|float)", name)]


@pytest.mark.parametrize("name", FILLS)
def test_fills_of_a_narrowed_transposed_matrix_are_those_of_torch7(name):
    dtype, _, call = name.partition(", ")
    distribution, *parameters = call.split()
    x = st.zeros(3, 4, dtype=dtype).t().narrow(0, 1, 3)
    _TorchGenerator(42).fill(x, distribution, *map(json.loads, parameters))
    expected = TORCH[f"fill {name}"]
    if distribution in LIBM:
        np.testing.assert_allclose(x.reshape(-1).tolist(), expected, rtol=2e-7 if dtype == "float32" else 4e-16)
    else:
        assert x.reshape(-1).tolist() == expected


def test_every_dtype_and_distribution_of_torch7_was_recorded():
    assert len(FILLS) == 7 * 5 + 2 * 5


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bernoulli_with_a_tensor_of_probabilities_is_that_of_torch7(dtype):
    p = st.tensor([0, 0.125, 0.25, 0.5, 0.5, 0.75, 0.875, 1, 1], dtype=st.float32)
    expected = TORCH[f"bernoulli_each {str(dtype).removeprefix('strided.')}"]
    for probabilities in (p, p.double(), p.view(3, 3), p.flip(0).flip(0)):
        x = st.zeros(9, dtype=dtype)
        _TorchGenerator(42).bernoulli_each(x, probabilities)
        assert x.tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 10, 25])
def test_permutations_are_those_of_torch7(n):
    permutation = _TorchGenerator(7).randperm(n)
    assert permutation.dtype == st.int64
    assert (permutation + 1).tolist() == TORCH[f"randperm {n}"]


@pytest.mark.parametrize("dtype", [st.float32, st.float64], ids=str)
def test_samples_of_categories_are_those_of_torch7(dtype):
    name = f"multinomial {str(dtype).removeprefix('strided.')}"
    p = st.tensor([0.1, 2.5, 0, 0.7, 1.3, 0.01], dtype=dtype)
    rows = st.tensor([[0.1, 0.2, 0.7], [5, 0, 1], [1, 1, 1]], dtype=dtype)

    def sampled(*arguments):
        return (_TorchGenerator(5).multinomial(*arguments) + 1).reshape(-1).tolist()

    assert sampled(p, 20, True) == TORCH[f"{name} with replacement"]
    assert sampled(p, 5, False) == TORCH[f"{name} without replacement"]
    assert sampled(rows, 3, False) == TORCH[f"{name} rows"]
    assert sampled(rows.t().contiguous().t(), 6, True) == TORCH[f"{name} rows with replacement"]
    assert _TorchGenerator(5).multinomial(rows, 2).shape == (3, 2)
    assert _TorchGenerator(5).multinomial(p, 2).shape == (2,)


@pytest.mark.parametrize("dtype", [st.float32, st.float64], ids=str)
def test_the_alias_method_is_that_of_torch7(dtype):
    name = f"alias {str(dtype).removeprefix('strided.')}"
    aliases, kept = _TorchGenerator().alias_setup(st.tensor([0.1, 0.2, 0.05, 0.3, 0.25, 0.1], dtype=dtype))
    assert (aliases + 1).tolist() == TORCH[f"{name} J"]
    assert kept.dtype == dtype
    assert kept.tolist() == TORCH[f"{name} q"]
    draws = _TorchGenerator(5).alias_draw(20, aliases, kept)
    assert (draws + 1).tolist() == TORCH[f"{name} draws"]


def hash_of(state):
    value = 0
    for byte in state:
        value = (value * 31 + byte) % 2**32
    return value


def test_states_are_the_bytes_of_torch7():
    generator = _TorchGenerator(99)
    assert len(generator.state()) == TORCH["state bytes"]
    assert hash_of(generator.state()) == TORCH["state fresh"]
    generator.random()
    assert hash_of(generator.state()) == TORCH["state after random"]
    generator.normal()
    generator.normal()
    # The state after one or two normal numbers is the same but for the flag. Its logarithm is the C library's.
    generator.random()
    for _ in range(620):
        generator.random()
    words = _TorchGenerator(99)
    for _ in range(624):
        words.random()
    assert generator.state()[:5016] == words.state()[:5016]
    generator.seed(-3)
    assert hash_of(generator.state()) == TORCH["state of a negative seed"]
    assert generator.initial_seed() == 2**64 + TORCH["initial seed -3"]


def test_words_and_uniform_numbers_are_those_of_numpy():
    for seed in (0, 5, 2**32 - 1):
        numpy = np.random.RandomState(seed)
        generator = _TorchGenerator(seed)
        words = numpy.randint(0, 2**32, 2000, dtype=np.uint32).tolist()
        assert [generator.random() for _ in words] == words
        generator.seed(seed)
        x = st.zeros(2000, dtype=st.float64)
        generator.fill(x, "uniform")
        assert (x * 2**32).tolist() == words


def test_the_ten_thousandth_word_is_that_of_the_standard():
    torch, lab = _TorchGenerator(5489), _LabGenerator()
    for _ in range(9999):
        torch.random()
        lab.next()
    assert (torch.random(), lab.next()) == (4123659995, 9981545732273789042)


@pytest.mark.parametrize("dtype", [*DTYPES, st.uint16, st.bool, st.float16, st.bfloat16, st.complex64], ids=str)
@pytest.mark.parametrize("distribution", ["random", "uniform", "normal", "geometric", "bernoulli"])
def test_a_fill_of_any_layout_draws_in_row_major_order(dtype, distribution):
    parameters = {"uniform": (0, 200), "normal": (50, 5), "geometric": (0.9,)}.get(distribution, ())
    expected = st.zeros(6, 4, 3, dtype=dtype)
    generator = _TorchGenerator(3)
    generator.fill(expected, distribution, *parameters)
    after = generator.random()
    layouts = [
        st.zeros(3, 4, 6, dtype=dtype).permute(2, 1, 0),
        st.zeros(12, 4, 6, dtype=dtype)[::2, :, ::2],
        st.zeros(6, 4, 3, dtype=dtype).flip(1),
    ]
    for x in layouts:
        generator = _TorchGenerator(3)
        generator.fill(x, distribution, *parameters)
        assert x.tolist() == expected.tolist()
        assert generator.random() == after


def test_a_large_fill_continues_across_blocks():
    x = st.zeros(300_001, dtype=st.float32)
    _TorchGenerator(8).fill(x, "uniform")
    words = np.random.RandomState(8).randint(0, 2**32, 300_001, dtype=np.uint32)
    np.testing.assert_array_equal(np.asarray(x), (words / 2.0**32).astype(np.float32))


def test_the_last_draw_stays_where_elements_overlap():
    x = st.zeros(1, 2, dtype=st.float64)
    generator = _TorchGenerator(1)
    generator.fill(x.expand(3, 2), "uniform")
    assert x.expand(3, 2).reshape(-1).tolist() == TORCH["fill of expanded"]
    assert generator.uniform() == TORCH["next after expanded"][0]


def test_defaults_of_fills_are_those_of_single_numbers():
    for name in ("uniform", "normal", "log_normal", "cauchy", "bernoulli"):
        x = st.zeros(5, dtype=st.float64)
        _TorchGenerator(4).fill(x, name)
        generator = _TorchGenerator(4)
        assert x.tolist() == [getattr(generator, name)() for _ in range(5)]


def test_a_state_continues_where_it_was_taken():
    generator = _TorchGenerator(12)
    for _ in range(1300):
        generator.normal()
        copies = [_TorchGenerator(0), generator.clone(), copy.copy(generator), pickle.loads(pickle.dumps(generator))]
        copies[0].set_state(generator.state())
        expected = generator.clone().normal()
        assert [copied.normal() for copied in copies] == [expected] * 4
        generator.random()


def changed(state, offset, form, value):
    state = bytearray(state)
    struct.pack_into(form, state, offset, value)
    return bytes(state)


def test_bytes_that_are_no_state_are_refused_and_change_nothing():
    generator = _TorchGenerator(5)
    generator.random()
    state = generator.state()
    bad = {
        "no bytes": b"",
        "short": state[:-1],
        "long": state + b"\0",
        "zeros": bytes(5048),
        "not seeded": changed(state, 12, "<i", 0),
        "no draws left": changed(state, 8, "<i", 0),
        "too many left": changed(state, 8, "<i", 625),
        "negative left": changed(state, 8, "<i", -1),
        "next word behind the last": changed(state, 16, "<Q", 625),
        "reads behind the words": changed(state, 16, "<Q", 2),
        "a word of 33 bits": changed(state, 24 + 8 * 623, "<Q", 2**32),
    }
    for name, data in bad.items():
        with pytest.raises(ValueError, match=r"set_state: state is"):
            generator.set_state(data)
        assert generator.state() == state, name
    generator.set_state(changed(state, 16, "<Q", 0))  # early, and inside
    generator.set_state(bytearray(state) and state)
    with pytest.raises(TypeError):
        generator.set_state("text")


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("random", (0,)),
        ("random", (3, 2)),
        ("random", (-(2**63), 2**63 - 1)),
        ("normal", (0, 0)),
        ("normal", (0, float("nan"))),
        ("log_normal", (0, -1)),
        ("geometric", (0,)),
        ("geometric", (1,)),
        ("geometric", (float("nan"),)),
        ("bernoulli", (-0.1,)),
        ("bernoulli", (1.5,)),
        ("bernoulli", (float("nan"),)),
    ],
)
def test_bad_parameters_are_refused_and_draw_nothing(call, arguments):
    generator = _TorchGenerator(5)
    state = generator.state()
    with pytest.raises(ValueError, match=rf"{call}: \w+ is .*, wanted"):
        getattr(generator, call)(*arguments)
    x = st.full((3,), 7.0)
    with pytest.raises(ValueError, match=r"fill: \w+ is .*, wanted"):
        generator.fill(x, call, *arguments)
    assert generator.state() == state
    assert x.tolist() == [7, 7, 7]


def test_torch7_checks_bounds_always_and_parameters_when_it_draws():
    generator = _TorchGenerator(5)
    empty = st.zeros(0)
    generator.fill(empty, "normal", 0, -1)
    generator.fill(empty, "bernoulli", 7)
    with pytest.raises(ValueError, match="b is 0, wanted 1 or more"):
        generator.fill(empty, "random", 0)
    assert generator.state() == _TorchGenerator(5).state()


def test_other_bad_arguments_are_refused_and_draw_nothing():
    generator = _TorchGenerator(5)
    state = generator.state()
    x = st.zeros(3)
    refused = [
        lambda: generator.fill(x, "gaussian"),
        lambda: generator.bernoulli_each(x, st.tensor([0.0, 2.0, 0.0])),
        lambda: generator.bernoulli_each(x, st.zeros(4)),
        lambda: generator.bernoulli_each(x, st.zeros(3, dtype=st.int64)),
        lambda: generator.randperm(0),
        lambda: generator.multinomial(st.zeros(3), 1),
        lambda: generator.multinomial(st.tensor([[1.0, 1.0], [0.0, 0.0]]), 1),
        lambda: generator.multinomial(st.tensor([1.0, float("nan")]), 1, True),
        lambda: generator.multinomial(st.ones(3), 0),
        lambda: generator.multinomial(st.ones(3), 4),
        lambda: generator.multinomial(st.ones(2, 2, 2), 1),
        lambda: generator.multinomial(st.zeros(0), 1, True),
        lambda: generator.alias_setup(st.zeros(3)),
        lambda: generator.alias_setup(st.zeros(0)),
        lambda: generator.alias_setup(st.ones(2, 2)),
        lambda: generator.alias_draw(2, st.zeros(2, dtype=st.int64), st.ones(3)),
        lambda: generator.alias_draw(2, st.zeros(0, dtype=st.int64), st.ones(0)),
        lambda: generator.alias_draw(2, st.zeros(2, dtype=st.int64), st.full((2,), 1.5)),
        lambda: generator.alias_draw(2, st.zeros(2), st.ones(2)),
        lambda: generator.alias_draw(-1, st.zeros(2, dtype=st.int64), st.ones(2)),
    ]
    for call in refused:
        with pytest.raises((ValueError, TypeError), match=r"wanted|must"):
            call()
    with pytest.raises(TypeError, match="tensor must be a Tensor, got list"):
        generator.fill([1.0], "uniform")
    with pytest.raises(TypeError, match="a, the parameter of exponential, is missing"):
        generator.fill(x, "exponential")
    assert generator.state() == state
    assert x.tolist() == [0, 0, 0]


def test_a_read_only_tensor_is_refused_and_draws_nothing():
    array = np.zeros(3)
    array.flags.writeable = False
    generator, lab = _TorchGenerator(5), _LabGenerator(5)
    for call in (lambda x: generator.fill(x, "uniform"), lab.shuffle):
        with pytest.raises((RuntimeError, ValueError)):
            call(st.from_numpy(array))
    assert generator.state() == _TorchGenerator(5).state()
    assert lab.state() == _LabGenerator(5).state()


def test_threads_that_share_a_generator_never_draw_a_number_twice():
    generator = _TorchGenerator(5)
    tensors = [st.zeros(40_000, dtype=st.int64) for _ in range(4)]
    threads = [threading.Thread(target=generator.fill, args=(x, "random")) for x in tensors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = st.zeros(160_000, dtype=st.int64)
    _TorchGenerator(5).fill(expected, "random")
    drawn = sorted(value for x in tensors for value in x.tolist())
    assert drawn == sorted(expected.tolist())


def test_without_a_seed_torch7_generators_differ():
    assert _TorchGenerator().initial_seed() != _TorchGenerator().initial_seed()
    generator = _TorchGenerator(1)
    assert generator.seed() == generator.initial_seed() != 1


# DeepMind Lab

LAB_SEEDS = [0, 1, 5489, 1234567890123456789, 2**64 - 1]
WEIGHTS = [
    [1, 2, 3, 4],
    [0, 0, 1],
    [0.5],
    [0, 0],
    [3, -1, 2],
    [1e300, 1e300],
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
]


@pytest.mark.parametrize("seed", LAB_SEEDS)
def test_numbers_are_those_of_libstdcxx(seed):
    prefix = f"seed {seed}, "
    cases = {name.removeprefix(prefix): values for name, values in LAB.items() if name.startswith(prefix)}
    assert len(cases) == 23
    for name, expected in cases.items():
        call, *texts = name.split()
        arguments = [json.loads(text) for text in texts]
        generator = _LabGenerator(seed)
        if call == "discrete":
            assert [generator.discrete(WEIGHTS[arguments[0]]) for _ in expected] == expected, name
        elif call == "shuffle":
            x = st.arange(arguments[0])
            generator.shuffle(x)
            assert x.tolist() == expected, name
        elif call == "normal":
            drawn = [generator.normal(*arguments) for _ in expected]
            np.testing.assert_allclose(drawn, expected, rtol=4e-16)  # its logarithm is the C library's
        else:
            assert [getattr(generator, call)(*arguments) for _ in expected] == expected, name


@pytest.mark.parametrize("dtype", [*DTYPES, st.bool, st.float16, st.complex128], ids=str)
def test_a_shuffle_moves_elements_of_every_size_and_stride(dtype):
    order = st.arange(11)
    _LabGenerator(9).shuffle(order)
    for view in (lambda x: x, lambda x: st.stack([x, x, x], 1)[:, 1], lambda x: x.flip(0).clone().flip(0)):
        x = view((st.arange(11) * 5 % 7).to(dtype))
        expected = x.index_select(0, order)
        _LabGenerator(9).shuffle(x)
        assert x.tolist() == expected.tolist()


def test_a_state_of_lab_continues_where_it_was_taken():
    generator = _LabGenerator(12)
    for _ in range(700):
        copies = [_LabGenerator(0), generator.clone(), copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))]
        copies[0].set_state(generator.state())
        assert {copied.next() for copied in copies} == {generator.next()}
    generator.seed(12)
    assert generator.state() == _LabGenerator(12).state()
    state = generator.state()
    for bad in (b"", state[:-1], changed(state, 8 * 312, "<Q", 313), changed(state, 8 * 312, "<Q", 2**64 - 1)):
        with pytest.raises(ValueError, match="state is"):
            generator.set_state(bad)
    assert generator.state() == state


def test_bad_arguments_of_lab_are_refused_and_draw_nothing():
    generator = _LabGenerator(3)
    state = generator.state()
    refused = [
        lambda: generator.uniform_int(2, 1),
        lambda: generator.uniform_int(-1, 1),
        lambda: generator.uniform_int(0, 2**64),
        lambda: generator.discrete([]),
        lambda: generator.discrete(["a"]),
        lambda: generator.shuffle(st.zeros(2, 2)),
        lambda: generator.shuffle([1, 2]),
    ]
    for call in refused:
        with pytest.raises((ValueError, OverflowError, TypeError)):
            call()
    assert generator.state() == state


def test_the_classes_are_private():
    for name in ("_TorchGenerator", "_LabGenerator"):
        assert name not in st.__all__
        assert name not in _strided.__all__
        assert not hasattr(st, name)
