"""The names of `strided.torch7`: those of the feature list exist, are real functions, and have examples that run."""

import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from strided import torch7 as torch

NAMES = json.loads((Path(__file__).parent / "data/features.json").read_text())["torch7"]
#: Names that come with the files.
LATER = {"save", "load", "serialize", "deserialize"}
TENSORS = [cls for cls in vars(torch).values() if isinstance(cls, type) and issubclass(cls, torch.Tensor)]
STORAGES = [cls for cls in vars(torch).values() if isinstance(cls, type) and issubclass(cls, torch.Storage)]
PARSER = doctest.DocTestParser()


def listed(*kinds):
    return sorted({name for kind in kinds for name in NAMES[kind]} - LATER)


def documents():
    """Name and document of every function and class, and of the methods of tensors and storages."""
    for name in torch.__all__:
        value = getattr(torch, name)
        yield name, value.__doc__
        if isinstance(value, type) and issubclass(value, torch.Tensor | torch.Storage):
            for key, member in inspect.getmembers(value, callable):
                if not key.startswith("_"):
                    yield f"{name}.{key}", member.__doc__


@pytest.mark.parametrize("name", listed("functions", "further_functions"))
def test_a_function_of_the_feature_list_exists(name):
    assert callable(getattr(torch, name)) and name in torch.__all__


@pytest.mark.parametrize("name", listed("tensor_methods", "further_tensor_methods"))
def test_every_tensor_class_has_a_method_of_the_feature_list(name):
    for cls in TENSORS:
        assert callable(getattr(cls, name)), cls


@pytest.mark.parametrize("name", [name for name in listed("storage_methods", "further_storage_methods")])
def test_every_storage_class_has_a_method_of_the_feature_list(name):
    owners = STORAGES if name != "string" else [torch.ByteStorage, torch.CharStorage]
    for cls in owners:
        assert callable(getattr(cls, name)), cls


def test_only_storages_of_bytes_have_strings():
    assert [cls.__name__ for cls in STORAGES if hasattr(cls, "string")] == ["ByteStorage", "CharStorage"]


def test_names_are_real_functions_that_know_their_names():
    for name in torch.__all__:
        assert getattr(torch, name).__name__ == name
        assert getattr(torch, name).__module__.startswith("strided.torch7"), name
    for key, member in inspect.getmembers(torch.DoubleTensor, inspect.isfunction):
        if not key.startswith("_"):
            assert member.__name__ == key
            inspect.signature(member)
    assert not hasattr(torch.Tensor, "__getattr__")


def test_a_method_of_the_default_class_works_for_all_classes():
    x = torch.IntTensor([1, 2, 3])
    assert torch.Tensor.narrow(x, 1, 2, 1).totable() == [2]
    assert torch.Tensor.fill(x, 7) is x and x.totable() == [7, 7, 7]


def test_everything_has_an_example():
    assert [name for name, text in documents() if not PARSER.get_examples(text or "")] == []


def run_examples(name, text):
    test = PARSER.get_doctest(text, {"torch": torch}, name, None, 0)
    report = []
    with torch.Session().activate():
        if doctest.DocTestRunner(verbose=False).run(test, out=report.append).failed:
            pytest.fail("".join(report), pytrace=False)


@pytest.mark.parametrize("name", torch.__all__)
def test_examples_of_functions_and_classes_print_what_they_say(name):
    run_examples(name, getattr(torch, name).__doc__)


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (cls, name)
        for cls in (torch.DoubleTensor, torch.CharStorage)
        for name, _ in inspect.getmembers(cls, callable)
        if not name.startswith("_")
    ],
)
def test_examples_of_methods_print_what_they_say(cls, name):
    run_examples(f"{cls.__name__}.{name}", getattr(cls, name).__doc__)


def test_the_package_is_loaded_when_it_is_first_used():
    code = "import sys, strided; print('strided.torch7' in sys.modules, strided.torch7.Tensor(2).dim())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "1"]


def test_torch7_loads_no_optional_package():
    code = "import strided.torch7, sys; print('numpy' in sys.modules, 'lupa' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
