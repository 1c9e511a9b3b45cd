"""Lua patterns in Python, against those of Lua."""

import importlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

pytest.importorskip("lupa")

from strided.torch7.errors import TorchError
from strided.torch7.tools.luapattern import search

#: Parts of patterns: letters, what is special alone, and what is special together. A position capture is a number in Lua.
PARTS = [
    *"aab.%*+-?)]^$",
    "%a",
    "%d",
    "%W",
    "%s",
    "%1",
    "%b()",
    "%f[a]",
    "[ab]",
    "[^a]",
    "[a-c]",
    "(a)",
    "(a",
    "é",
    "[%a-]",
    "[]]",
]
patterns = (
    some.lists(some.sampled_from(PARTS), max_size=7)
    .map("".join)
    .filter(lambda pattern: "(a)" in pattern or "()" not in pattern.replace("%b()", ""))
)
texts = some.text("aabc1 ()*é-", max_size=8)

MATCH = "function(pattern, text) return pcall(string.match, text, pattern) end"


def lua_match(version):
    return importlib.import_module(f"lupa.{version}").LuaRuntime(encoding="latin-1").eval(MATCH)


LUAS = {version: lua_match(version) for version in ("luajit21", "lua51", "lua54")}


def bytes_of(text):
    return text.encode().decode("latin-1")


@settings(max_examples=1000)
@given(patterns, texts)
def test_a_pattern_fits_what_it_fits_in_lua(pattern, text):
    for match in LUAS.values():
        works, wanted, *_ = match(bytes_of(pattern), bytes_of(text))  # the first one of several captures
        try:
            found = search(pattern, text)
        except TorchError as error:
            # A pattern that is not complete is refused at once, and in Lua when a match gets there.
            assert not works or "malformed" in str(error) or "unbalanced" in str(error)
        else:
            assert works
            assert found == (None if wanted is None else wanted.encode("latin-1").decode("utf-8", "replace"))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [(".-.-.-.-b", "a" * 300), ("%b()", "(" * 5000), ("(.*)%1%1b", "a" * 3000), ("a-a-a-a-a-b", "a" * 200)],
)
def test_a_pattern_that_would_take_hours_is_an_error(pattern, text):
    with pytest.raises(TorchError, match="pattern too complex"):
        search(pattern, text)


def test_a_repetition_of_a_group_is_a_character():
    """As a regular expression, the pattern would take time that doubles with each letter."""
    assert search("(a*)*b", "a" * 100) is None
    assert search("(a*)*b", "aa*b") == "aa"
