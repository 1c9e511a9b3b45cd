"""Print options: what they change, for how long, and which are refused."""

import os
import sys
from math import inf, nan

import pytest

from strided.display import Options, get_printoptions, printoptions, set_printoptions, text


class Values(list):
    """The part of a storage that printing uses."""

    def tolist(self):
        return list(self)

    def type(self):
        return "strided.DoubleStorage"


@pytest.fixture(autouse=True)
def same_options_afterwards():
    before = get_printoptions()
    yield
    set_printoptions(**before)


def test_set_printoptions_changes_what_is_named():
    set_printoptions(precision=2, linewidth=40)
    set_printoptions(edgeitems=5)
    assert get_printoptions() == {
        "precision": 2,
        "threshold": 1000,
        "edgeitems": 5,
        "linewidth": 40,
        "sci_mode": None,
    }
    assert text.storage(Values([0.5])) == " 0.50\n[strided.DoubleStorage of size 1]"
    set_printoptions(linewidth=None)
    assert get_printoptions()["linewidth"] is None


def test_profiles():
    set_printoptions(profile="full", precision=6)
    assert get_printoptions()["threshold"] == inf
    assert get_printoptions()["precision"] == 6
    set_printoptions(profile="short")
    assert get_printoptions()["edgeitems"] == 2
    set_printoptions(profile="default")
    assert get_printoptions() == Options().fields()


def test_printoptions_are_restored_at_the_end_of_the_block():
    with pytest.raises(KeyError), printoptions(precision=1) as chosen:
        assert chosen.precision == get_printoptions()["precision"] == 1
        raise KeyError
    assert get_printoptions()["precision"] == 4


def test_what_numpy_calls_suppress():
    set_printoptions(suppress=True)
    assert get_printoptions()["sci_mode"] is False
    set_printoptions(suppress=False)
    assert get_printoptions()["sci_mode"] is None
    with pytest.raises(TypeError, match=r"^printoptions: suppress is "):
        set_printoptions(suppress=True, sci_mode=True)


def test_printoptions_takes_positions_too():
    with printoptions(2, 10):
        assert (get_printoptions()["precision"], get_printoptions()["threshold"]) == (2, 10)


def test_one_printoptions_object_nested_in_itself():
    short = printoptions(profile="short")
    with short, printoptions(precision=7), short:
        assert get_printoptions()["precision"] == 2
    assert get_printoptions() == Options().fields()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"precision": -1}, ValueError),
        ({"precision": 1000}, ValueError),
        ({"precision": 2.0}, TypeError),
        ({"precision": None}, TypeError),
        ({"threshold": -1}, ValueError),
        ({"threshold": nan}, TypeError),
        ({"edgeitems": 0}, ValueError),
        ({"edgeitems": True}, TypeError),
        ({"linewidth": 0}, ValueError),
        ({"linewidth": "80"}, TypeError),
        ({"sci_mode": "yes"}, TypeError),
        ({"profile": "tiny"}, ValueError),
        ({"suppress": 1}, TypeError),
    ],
)
def test_wrong_options_are_refused_and_change_nothing(wrong, error):
    before = get_printoptions()
    (name,) = wrong
    with pytest.raises(error, match=f"^printoptions: {name} is "):
        set_printoptions(**{"precision": 3, "edgeitems": 7} | wrong)
    with pytest.raises(error), printoptions(**wrong):
        pass
    assert get_printoptions() == before


def test_a_terminal_gives_the_width(monkeypatch):
    class Terminal:
        def isatty(self):
            return True

        def fileno(self):
            return 1

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(os, "get_terminal_size", lambda descriptor: os.terminal_size((40, 24)))
    assert Options().width() == 40
    assert Options(linewidth=100).width() == 100
    monkeypatch.setattr(os, "get_terminal_size", lambda descriptor: os.terminal_size((0, 0)))
    assert Options().width() == 80
    monkeypatch.setattr(sys, "stdout", None)
    assert Options().width() == 80
