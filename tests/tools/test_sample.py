"""Samples of the tests, as `./dev test --sample` runs them."""

from typing import NamedTuple

from conftest import sample


class Item(NamedTuple):
    nodeid: str


ITEMS = [Item(f"tests/test_a.py::test_{name}[{case}]") for name in "pqrs" for case in range(50)] + [
    Item("tests/test_b.py::test")
]


def test_a_sample_has_one_case_of_each_function_before_a_second_one():
    for seed in "123":
        functions = [item.nodeid.partition("[")[0] for item in sample(ITEMS, 5, seed)]
        assert len(functions) == len(set(functions)) == 5
        assert len(sample(ITEMS, 9, seed)) == 9
        assert sample(ITEMS, 1000, seed) == set(ITEMS)


def test_a_sample_depends_on_the_seed_and_not_on_the_order():
    assert sample(ITEMS, 20, "1") == sample(ITEMS[::-1], 20, "1")
    assert len({frozenset(sample(ITEMS, 20, str(seed))) for seed in range(10)}) == 10
