"""The rows of the binding: every method, function and property is declared once, with its types."""

import collections
import inspect

import pytest

from strided import _strided as native

ROWS = native._signatures()
CLASSES = sorted({owner for owner, *_ in ROWS if owner})


def test_no_name_is_declared_twice():
    counts = collections.Counter((owner, name) for owner, name, *_ in ROWS)
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_function_of_the_module_has_a_row():
    functions = {name for name, value in vars(native).items() if inspect.isbuiltin(value)}
    assert functions == {name for owner, name, *_ in ROWS if not owner}


@pytest.mark.parametrize("owner", CLASSES)
def test_every_row_of_a_class_is_its_member(owner):
    members = vars(getattr(native, owner))
    assert [name for of, name, *_ in ROWS if of == owner and name not in members] == []


@pytest.mark.parametrize("owner", ["", *CLASSES])
def test_the_parameters_of_a_row_are_those_of_its_text_signature(owner):
    for of, name, params, *_ in ROWS:
        if of != owner or params is None:
            continue
        value = getattr(getattr(native, owner) if owner else native, name)
        names = ["input" if param[0] == "self" and not owner else param[0] for param in params]
        assert list(inspect.signature(value).parameters) == names, f"{owner}.{name}"


def test_the_method_and_the_function_of_complex_parts_agree():
    x = native.tensor([1 + 2j, 3 - 4j])
    assert native.real(x).tolist() == x.real.tolist() == [1.0, 3.0]
    assert native.imag(x).tolist() == x.imag.tolist() == [2.0, -4.0]
    assert native.view_as_real(x).tolist() == x.view_as_real().tolist() == [[1.0, 2.0], [3.0, -4.0]]
    assert native.view_as_real(x).is_set_to(x.view_as_real())
