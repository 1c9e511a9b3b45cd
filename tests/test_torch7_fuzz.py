"""Torch7's maths with arguments of any kind: a call returns, or raises an error of Torch7."""

import random

import numpy as np
import pytest

import strided as st
from strided import torch7 as torch
from strided.torch7 import public

ROWS = [row for module in public.MODULES for row in module.ROWS]
CLASSES = [torch.ByteTensor, torch.IntTensor, torch.LongTensor, torch.HalfTensor, torch.FloatTensor, torch.DoubleTensor]
SHAPES = [
    lambda cls: cls(),
    lambda cls: cls([7]),
    lambda cls: cls([3, 1, 2]),
    lambda cls: cls([[1, 2, 3], [4, 5, 6]]),
    lambda cls: cls(2, 3).fill(1).t(),
    lambda cls: cls(3, 1).fill(1).expand(3, 4),
    lambda cls: cls(2, 3, 4).fill(1),
    lambda cls: cls(4, 4).fill(2).narrow(1, 2, 2),
]
NUMBERS = [0, 1, 2, 3, -1, 100, 0.5, -1.5]
ODD = [
    *(2**31, -(2**63), 2**70, float("nan"), float("inf"), 1e300, True, None, "a", "V", "1", "torch.IntTensor", b"x"),
    *(
        [],
        [1],
        {},
        {1: 2},
        (1, 2),
        len,
        object(),
        np.float32(2),
        np.int64(1),
        np.ones(3),
        st.ones(2),
        torch.Generator(),
    ),
]
#: Functions whose arguments are sizes: they would make tensors of any size.
SIZED = {
    "zeros",
    "ones",
    "rand",
    "randn",
    "eye",
    "range",
    "linspace",
    "logspace",
    "randperm",
    "histc",
    "bhistc",
    "reshape",
}


def arguments(rng, cls):
    for _ in range(rng.randrange(6)):
        kind = rng.random()
        if kind < 0.5:
            yield rng.choice(SHAPES)(cls if rng.random() < 0.9 else rng.choice(CLASSES))
        elif kind < 0.85:
            yield rng.choice(NUMBERS)
        elif kind < 0.9:
            yield [rng.choice(SHAPES)(cls) for _ in range(rng.randrange(3))]
        else:
            yield rng.choice(ODD)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_call_with_any_arguments_returns_or_raises_an_error_of_torch7(row):
    rng = random.Random(row.name)
    for _ in range(60):
        cls = rng.choice(CLASSES)
        given = list(arguments(rng, cls))
        if row.name in SIZED:
            given = [value for value in given if not isinstance(value, int | float) or abs(value) < 1e6]
        function = getattr(rng.choice([torch, cls]), row.name)
        try:
            function(*given)
        except (torch.TorchError, ZeroDivisionError) as error:
            assert str(error)
