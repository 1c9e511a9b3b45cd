"""What holds for every row of the table of formats."""

import io
import random
from pathlib import Path

import file_cases
import pytest

import strided as st
from strided import files
from strided.files._formats import ROWS

ROOT = Path(__file__).resolve().parent.parent
NATIVE = [name for name, row in ROWS.items() if row.write is None]


def items_of(obj):
    """The tensors and values of an object by their names; the content of storages as tensors."""
    with files.open(io.BytesIO(file_cases.saved(obj, "safetensors"))) as file:
        tensors = {entry.name: (entry.dtype, entry.shape, entry.load().tolist()) for entry in file.entries}
        return tensors, file.plain_values


def test_every_format_has_random_files():
    assert set(file_cases.FILES) == set(NATIVE)


@pytest.mark.parametrize("name", NATIVE)
def test_files_are_recognised_and_survive_another_save(name):
    for i in range(100):
        data = file_cases.FILES[name](random.Random(f"whole {i}"))
        assert files.open(io.BytesIO(data)).format == name
        loaded = st.load(io.BytesIO(data))
        try:
            again = file_cases.saved(loaded, name)
        except st.FormatError as error:
            assert "read, not written" in str(error)
            continue
        assert items_of(st.load(io.BytesIO(again))) == items_of(loaded)


def test_the_documentation_lists_every_suffix():
    table = (ROOT / "docs/files.md").read_text().partition("## Formats")[2].partition("\n## ")[0]
    assert all(f"`{suffix}`" in table for row in ROWS.values() for suffix in row.suffixes)


@pytest.mark.parametrize("name", NATIVE)
def test_an_argument_of_another_format_is_refused(name):
    options = {"metadata": {"a": "b"}, "compress": True, "encoding": "ascii", "long_size": 4, "byte_order": "big"}
    assert {option for row in ROWS.values() for option in row.options} == set(options)
    for option in options.keys() - set(ROWS[name].options):
        with pytest.raises(ValueError, match=rf"save: {option} is for \..* files, and the format is {name}"):
            st.save(st.ones(1), io.BytesIO(), format=name, **{option: options[option]})
