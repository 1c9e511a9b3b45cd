"""Torch7's random numbers: a Mersenne Twister whose stream is published, and the numbers that are made of it."""

import copy
import pickle

import numpy as np
import pytest

from strided import torch7 as torch


def words(seed, count):
    """The words of MT19937 after the initialisation of 2002, from NumPy."""
    engine = np.random.MT19937()
    engine._legacy_seeding(seed)
    return engine.random_raw(count).astype(np.uint64)


def array(x):
    return x.strided().numpy()


@pytest.fixture(autouse=True)
def own_session():
    with torch.Session().activate():
        yield


def test_the_default_seed_gives_the_published_numbers():
    torch.manualSeed(5489)
    drawn = [torch.random() for _ in range(10000)]
    assert drawn[0] == 3499211612 and drawn[9999] == 4123659995  # the C++ standard names the latter


@pytest.mark.parametrize("seed", [0, 1, 123, 2**31, 2**32 - 1])
def test_words_equal_numpy(seed):
    torch.manualSeed(seed)
    assert [torch.random() for _ in range(1500)] == words(seed, 1500).tolist()


def test_uniform_numbers_are_words_divided_by_two_to_the_32():
    torch.manualSeed(7)
    np.testing.assert_array_equal(array(torch.rand(3, 50)).reshape(-1), words(7, 150) / 2**32)
    torch.manualSeed(7)
    np.testing.assert_array_equal(array(torch.FloatTensor(9).uniform(2, 4)), (words(7, 9) / 2**32 * 2 + 2).astype("f4"))


def test_normal_numbers_are_pairs_of_cosine_and_sine():
    torch.manualSeed(11)
    u = words(11, 40).reshape(-1, 2) / 2**32
    radius = np.sqrt(-2 * np.log(1 - u[:, 1]))
    expected = np.stack([radius * np.cos(2 * np.pi * u[:, 0]), radius * np.sin(2 * np.pi * u[:, 0])], 1).reshape(-1)
    np.testing.assert_allclose(array(torch.randn(40)), expected, rtol=1e-14, atol=1e-15)


def test_the_second_half_of_a_pair_is_kept_across_calls_and_in_the_state():
    torch.manualSeed(11)
    four = torch.randn(4).totable()
    torch.manualSeed(11)
    assert [torch.normal(), torch.randn(1)[1]] == four[:2]
    torch.normal()
    state = torch.getRNGState()
    assert torch.normal() == four[3]
    torch.setRNGState(state)
    assert torch.normal() == four[3]
    torch.manualSeed(11)  # a seed drops the half
    assert torch.normal() == four[0]


def test_whole_numbers_are_remainders_of_words():
    torch.manualSeed(3)
    drawn = [torch.random(10) for _ in range(20)] + [torch.random(-3, 3) for _ in range(20)]
    w = words(3, 40).astype(np.int64)
    assert drawn == [*(w[:20] % 10 + 1).tolist(), *(w[20:] % 7 - 3).tolist()]


@pytest.mark.parametrize(
    "cls, modulus",
    [
        (torch.ByteTensor, 2**8),
        (torch.CharTensor, 2**7),
        (torch.ShortTensor, 2**15),
        (torch.IntTensor, 2**31),
        (torch.LongTensor, 2**63),
        (torch.FloatTensor, 2**24 + 1),
        (torch.DoubleTensor, 2**53 + 1),
    ],
)
def test_each_type_has_its_range_of_whole_numbers(cls, modulus):
    torch.manualSeed(9)
    assert cls(50).random().totable() == (words(9, 50) % modulus).astype(array(cls(1)).dtype).tolist()


def test_permutations_are_fisher_and_yates_swaps():
    torch.manualSeed(21)
    expected = list(range(1, 31))
    for i, word in enumerate(words(21, 29).tolist()):
        z = i + word % (30 - i)
        expected[i], expected[z] = expected[z], expected[i]
    assert torch.randperm(30).totable() == expected


def test_other_distributions_follow_their_formulas():
    torch.manualSeed(2)
    u = words(2, 6) / 2**32
    drawn = [torch.exponential(3), torch.cauchy(1, 2), torch.geometric(0.4), torch.bernoulli(0.7)]
    assert drawn[0] == pytest.approx(-np.log(1 - u[0]) / 3, rel=1e-14)
    assert drawn[1] == pytest.approx(1 + 2 * np.tan(np.pi * (u[1] - 0.5)), rel=1e-13)
    assert drawn[2] == int(np.log(1 - u[2]) / np.log(0.4)) + 1 and drawn[3] == int(u[3] <= 0.7)
    torch.manualSeed(2)
    expected = np.exp(np.sqrt(-2 * np.log(1 - u[1])) * np.cos(2 * np.pi * u[0]) * 2 + 1)
    assert torch.logNormal() == pytest.approx(expected, rel=1e-13)


def test_weights_are_drawn_by_their_cumulated_sums():
    torch.manualSeed(13)
    weights = np.array([1.0, 0, 3, 4])
    drawn = torch.multinomial(torch.Tensor(weights.tolist()), 500, True)
    assert drawn.totable() == (np.searchsorted(weights.cumsum() / 8, words(13, 500) / 2**32) + 1).tolist()
    without = torch.multinomial(torch.ones(5, 6), 6)
    np.testing.assert_array_equal(np.sort(array(without), 1), np.tile(np.arange(1, 7), (5, 1)))


def test_the_alias_method_draws_by_weight():
    torch.manualSeed(1)
    state = torch.multinomialAliasSetup(torch.Tensor([0.5, 0.5]))
    assert [part.type() for part in state] == ["torch.LongTensor", "torch.DoubleTensor"]
    drawn = array(torch.multinomialAlias(torch.LongTensor(2000), state))
    assert set(drawn.tolist()) == {1, 2} and 900 < (drawn == 1).sum() < 1100


def test_a_generator_of_its_own_does_not_touch_that_of_the_session():
    torch.manualSeed(1)
    expected = torch.rand(3).totable()
    own = torch.Generator()
    torch.manualSeed(own, 5)
    torch.manualSeed(1)
    first = torch.random(own), torch.rand(own, 2).totable(), torch.Tensor(2).normal(own, 0, 1).totable()
    assert torch.rand(3).totable() == expected and torch.initialSeed(own) == 5
    torch.manualSeed(own, 5)
    assert first == (torch.random(own), torch.rand(own, 2).totable(), torch.Tensor(2).normal(own, 0, 1).totable())


def test_sessions_have_generators_of_their_own():
    torch.manualSeed(1)
    with torch.Session().activate():
        torch.manualSeed(2)
        torch.rand(5)
    assert torch.random() == words(1, 1)[0]


def test_seeds_are_signed_numbers():
    torch.manualSeed(-1)
    assert torch.initialSeed() == -1
    assert -(2**63) <= torch.seed() == torch.initialSeed() < 2**63
    with pytest.raises(torch.TorchError, match=r"^invalid arguments: string \nexpected arguments: \[Generator\] long$"):
        torch.manualSeed("a")


def test_states_that_are_none_are_refused():
    before = torch.getRNGState()
    for state, text in (
        (torch.ByteTensor(3), "RNG state is wrong size"),
        (torch.ByteTensor(5048, 2).select(2, 1), "RNG state needs to be contiguous"),
        (torch.ByteTensor(5048).zero(), "Invalid RNG state"),
    ):
        with pytest.raises(torch.TorchError, match=text):
            torch.setRNGState(state)
    assert torch.getRNGState().totable() == before.totable() and before.size().totable() == [5048]


def test_generators_can_be_copied_and_pickled():
    own = torch.Generator()
    torch.manualSeed(own, 5)
    others = copy.copy(own), copy.deepcopy(own), pickle.loads(pickle.dumps(own))
    expected = torch.random(own)
    assert [torch.random(other) for other in others] == [expected] * 3
