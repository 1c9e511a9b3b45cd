"""Every example in the documents runs and prints what it says, and every public name has a document with one."""

import doctest
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest
from gpu_devices import device_error

import strided
from strided import _strided as native

ROOT = Path(__file__).resolve().parent.parent
PARSER = doctest.DocTestParser()
# The modules inside these packages are not public: a package shows what is.
FRONT_ENDS = ("strided.torch7.", "strided.dmlab.", "strided.lua.", "strided.cli.")
FENCE = re.compile(r"^```(\w*)")
NO_DEVICE = device_error()

pytestmark = pytest.mark.usefixtures("default_dtype")  # an example may change it


def native_documents():
    """Name and document of everything public in the native module, members of classes included."""
    for name in native.__all__:
        value = getattr(native, name)
        if isinstance(value, native.dtype):
            continue  # a constant: its class has the document
        yield name, value.__doc__
        if isinstance(value, type):
            members = {key: member for key, member in sorted(vars(value).items()) if not key.startswith("_")}
            for key, member in members.items():
                if not isinstance(member, native.dtype):
                    yield f"{name}.{key}", (member.__func__ if isinstance(member, staticmethod) else member).__doc__


def python_modules():
    """Names of the package and of all modules in it, but for the native one."""
    found = [module.name for module in pkgutil.walk_packages(strided.__path__, "strided.", onerror=lambda name: None)]
    return ["strided", *(name for name in found if name != native.__name__)]


def markdown_examples(path):
    """The ```python blocks of a file with >>> in them, as one example after another; all other lines are blank."""
    lines = path.read_text().splitlines()
    kept, language = [], None
    for line in lines:
        fence = FENCE.match(line)
        kept.append(line if language in ("python", "pycon") and not fence else "")
        if fence:
            language = (fence[1] or "text") if language is None else None
    return PARSER.get_doctest("\n".join(kept) + "\n", {}, path.name, str(path), 0)


def native_examples():
    for name, text in native_documents():
        yield PARSER.get_doctest(text or "", {}, name, None, 0)


def has_example(text):
    return bool(PARSER.get_examples(text or ""))


def can_run(test):
    """Whether there is a device for a test with examples of one."""
    return NO_DEVICE is None or not any(
        "gpu" in example.source or "cuda" in example.source for example in test.examples
    )


def run(test):
    if not can_run(test):
        pytest.skip(NO_DEVICE)
    test.globs |= {"strided": strided, "st": strided}
    report = []
    if doctest.DocTestRunner(verbose=False).run(test, out=report.append).failed:
        pytest.fail("".join(report), pytrace=False)


@pytest.mark.parametrize("test", [test for test in native_examples() if test.examples], ids=lambda test: test.name)
def test_native_examples_print_what_they_say(test):
    run(test)


@pytest.mark.parametrize("name", python_modules())
def test_examples_in_python_print_what_they_say(name):
    module = importlib.import_module(name)
    for test in filter(can_run, doctest.DocTestFinder().find(module, name, globs=dict(vars(module)))):
        run(test)


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))], ids=lambda path: path.name
)
def test_examples_in_documents_print_what_they_say(path):
    run(markdown_examples(path))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_example_programs_run(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


#: A path in backticks: it has a slash or ends like a file. Documents leave out leading folders that the context makes clear.
PATH_IN_TEXT = re.compile(r"`([\w./*-]+(?:/[\w.*-]*|\.(?:rs|py|pyi|md|toml|txt|json|svg)))`")


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_paths_in_documents_exist(name):
    paths = {path.removeprefix("./").rstrip("/") for path in PATH_IN_TEXT.findall((ROOT / name).read_text())}
    assert len(paths) > 10
    found = {
        path
        for path in paths
        if any(ROOT.glob(path)) or any(any((ROOT / base).rglob(path)) for base in ("crates", "python"))
    }
    assert sorted(paths - found) == []


def test_examples_are_found():
    names = {test.name for test in native_examples() if test.examples}
    assert {"Tensor", "Tensor.narrow", "narrow", "Tensor.size", "Size", "Size.numel", "dtype"} <= names
    assert len(markdown_examples(ROOT / "README.md").examples) > 10


def test_everything_native_has_an_example():
    assert [name for name, text in native_documents() if not has_example(text)] == []


@pytest.mark.parametrize("name", python_modules())
def test_everything_public_in_python_has_an_example(name):
    module = importlib.import_module(name)
    assert module.__doc__
    values = {key: value for key, value in vars(module).items() if getattr(value, "__module__", None) == name}
    inner = "._" in name or name.startswith(FRONT_ENDS)
    public = {} if inner else {key: value for key, value in values.items() if not key.startswith("_")}
    assert [key for key, value in public.items() if callable(value) and not has_example(value.__doc__)] == []
