"""The public names of the package and its modules: none is an imported module, and `import *` shadows no builtin."""

import builtins
import importlib
import inspect
import pickle
import pkgutil
import pydoc
import subprocess
import sys
from types import ModuleType

import pytest

import strided as st

# `help` shows these: text that every module has.
SPECIAL = set(dir(ModuleType("empty"))) | {
    "__file__",
    "__path__",
    "__builtins__",
    "__cached__",
    "__version__",
    "__all__",
}
# The modules inside these packages are not public: a package shows what is.
FRONT_ENDS = ("strided.torch7.", "strided.dmlab.", "strided.lua.", "strided.cli.")
PUBLIC_MODULES = ["strided"] + [
    module.name
    for module in pkgutil.walk_packages(st.__path__, "strided.", onerror=lambda name: None)
    if not any(part.startswith("_") for part in module.name.split(".")) and not module.name.startswith(FRONT_ENDS)
]


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_a_module_shows_only_names_of_its_own(name):
    module = importlib.import_module(name)
    shown = set(dir(module)) - SPECIAL - {"__dir__", "__getattr__"}
    for key in shown:
        value = getattr(module, key)
        if isinstance(value, ModuleType):
            assert value.__name__ == f"{name}.{key}" or value is st.cuda, f"{key} is an import"
        else:
            owner = getattr(value, "__module__", None) or type(value).__module__
            assert owner.partition(".")[0] == "strided", f"{key} comes from {owner}"
    assert not shown & {"TYPE_CHECKING", "annotations", "operator", "sys"}


def test_the_package_shows_functions_classes_dtypes_and_modules():
    assert {"sum", "max", "Tensor", "FloatTensor", "float32", "bool", "draw", "memory", "testing"} <= set(dir(st))


def test_a_star_import_leaves_builtins_alone():
    names = {}
    exec("from strided import *", names)
    names.pop("__builtins__")
    assert not [name for name in names if hasattr(builtins, name)]
    everything = {
        name for name in dir(st) if not name.startswith("_") and not isinstance(getattr(st, name), ModuleType)
    }
    assert set(names) == {name for name in everything if not hasattr(builtins, name)}
    assert {"abs", "all", "any", "bool", "float", "int", "max", "min", "pow", "range", "round", "sum"} <= everything


def test_a_star_import_loads_no_optional_package():
    code = "from strided import *; import sys; print('numpy' in sys.modules, 'hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_help_names_the_package():
    functions = [value for name in dir(st) if inspect.isbuiltin(value := getattr(st, name))]
    assert len(functions) > 100
    assert {function.__module__ for function in functions} == {"strided"}
    assert pydoc.render_doc(st.sum, renderer=pydoc.plaintext).splitlines()[0].endswith("function sum in module strided")
    assert pickle.loads(pickle.dumps(st.sum)) is st.sum


def test_classes_name_the_package():
    classes = [value for name in dir(st) if isinstance(value := getattr(st, name), type) and not name.startswith("_")]
    assert {value.__module__ for value in classes} <= {"strided", "strided.display.options"}
