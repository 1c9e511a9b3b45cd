"""All names of the feature list exist, except those listed here, which are not implemented yet."""

import importlib.util
import json
from pathlib import Path

import pytest

import strided

FEATURES = json.loads((Path(__file__).parent / "data/features.json").read_text())
NAMES = FEATURES["strided"]

# A name that is implemented leaves this list; a test below checks that.
LATER: dict[str, list[str]] = {}
TO_COME = {name for names in LATER.values() for name in names}

OWNERS = {
    "functions": strided,
    "further_functions": strided,
    "tensor_methods": strided.Tensor,
    "tensor_properties": strided.Tensor,
    "further_tensor_methods": strided.Tensor,
    "storage_methods": strided.Storage,
    "further_storage_methods": strided.Storage,
    "layout_methods": strided.Layout,
    "layout_properties": strided.Layout,
}


def exists(owner, name):
    """Whether an owner has the name; a module of the package need not be imported yet."""
    return hasattr(owner, name) or (owner is strided and importlib.util.find_spec(f"strided.{name}") is not None)


def test_every_kind_of_name_is_looked_for():
    assert set(OWNERS) == set(NAMES)
    assert TO_COME <= {name for names in NAMES.values() for name in names}


@pytest.mark.parametrize("kind", OWNERS)
def test_implemented_names_exist(kind):
    assert [name for name in NAMES[kind] if name not in TO_COME and not exists(OWNERS[kind], name)] == []


def test_names_of_gpus_exist():
    assert [name for name in FEATURES["gpu"]["functions"] if not hasattr(strided.gpu, name)] == []


@pytest.mark.parametrize("kind", OWNERS)
def test_names_to_be_implemented_do_not_exist(kind):
    assert [name for name in NAMES[kind] if name in TO_COME and exists(OWNERS[kind], name)] == []


@pytest.mark.parametrize("name", NAMES["tensor_properties"])
def test_tensor_properties_need_no_call(name):
    assert not callable(getattr(strided.zeros(2, 3), name))


@pytest.mark.parametrize("name", NAMES["layout_properties"])
def test_layout_properties_need_no_call(name):
    assert not callable(getattr(strided.zeros(2, 3).layout, name))
