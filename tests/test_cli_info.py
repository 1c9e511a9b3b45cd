"""`strided info`, `strided doctor`, `strided tour` and `strided layout`."""

import json
import re

import numpy as np
import pytest
from cli_runs import arrays, run, write_npz

import strided as st
from strided.cli._commands import doctor
from strided.cli._commands.layout import apply_views


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_info_lists_names_dtypes_shapes_strides_and_bytes():
    write_npz("x.npz")
    lines = run("info", "x.npz").out.splitlines()
    assert lines[0].startswith("x.npz: npz")
    assert "8 tensors of" in lines[0]
    rows = {line.split()[0]: line.split() for line in lines if line}
    for name, array in arrays().items():
        shape = "x".join(map(str, array.shape)) or "()"
        assert rows[name][1:3] == [array.dtype.name, shape]
        assert rows[name][4] == f"{array.nbytes:,}"
    assert rows["conv.weight"][3] == "15,5,1"


def test_info_as_json_is_the_description_of_each_tensor():
    write_npz("x.npz")
    facts = run("info", "x.npz", "--json").json
    assert (facts["file"], facts["format"]) == ("x.npz", "npz")
    assert [tensor["name"] for tensor in facts["tensors"]] == list(arrays())
    weight = facts["tensors"][0]
    assert weight["dtype"] == "float32"
    assert weight["shape"] == [4, 3, 5]
    assert weight["stride"] == [15, 5, 1]
    assert weight["nbytes"] == 240


def test_info_of_some_tensors():
    write_npz("x.npz")
    for words in (["x.npz", "--select", "conv.*"], ["x.npz", "--select", "conv.w*", "--select", "*.bias"]):
        names = [tensor["name"] for tensor in run("info", *words, "--json").json["tensors"]]
        assert names == ["conv.weight", "conv.bias"]
    assert [tensor["name"] for tensor in run("info", "x.npz:count", "--json").json["tensors"]] == ["count"]
    refused = run("info", "x.npz", "--select", "cont*")
    assert refused.code == 2
    assert "no tensor matches 'cont*'" in refused.err
    assert "'count'" in refused.err


def test_info_lists_a_dtype_that_strided_lacks():
    np.savez("x.npz", when=np.array(["2020-01-01"], "M8[D]"), w=np.ones(2))
    shown = run("info", "x.npz")
    assert shown.code == 0
    assert "strided has no such dtype" in shown.out
    facts = run("info", "x.npz", "--json").json["tensors"]
    assert [tensor["shape"] for tensor in facts] == [[1], [2]]


def test_info_of_a_file_with_a_colon_in_its_name():
    np.save("a:b.npy", np.arange(3))
    assert run("info", "a:b.npy").code == 0
    assert run("show", "a:b.npy", "--json").json["values"] == [0, 1, 2]


# layout


def test_a_layout_is_drawn_from_a_shape_or_from_a_file():
    assert run("layout", "2,3").out == f"{st.draw(st.Layout.row_major((2, 3)))}\n"
    assert run("layout", "2x3", "--stride", "1,2", "--offset", "4").out == f"{st.draw(st.Layout((2, 3), (1, 2), 4))}\n"
    np.save("x.npy", np.zeros((3, 4)))
    assert run("layout", "x.npy").out == run("layout", "3,4").out
    assert run("layout", "3,4", "--explain").out == f"{st.explain(st.Layout.row_major((3, 4)))}\n"


def test_a_layout_as_json_and_as_a_picture(folder):
    facts = run("layout", "2,3", "--view", "t()", "--json").json
    assert (facts["shape"], facts["stride"], facts["is_column_major"]) == ([3, 2], [1, 3], True)
    done = run("layout", "2,3", "--svg", "out.svg")
    assert done.code == 0
    assert (folder / "out.svg").read_text(encoding="utf-8") == st.Layout.row_major((2, 3)).svg()


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("t()", lambda x: x.t()),
        ("[1:, ::2]", lambda x: x[1:, ::2]),
        ("t()[0]", lambda x: x.t()[0]),
        ("flip(0).narrow(1, 1, 2)", lambda x: x.flip(0).narrow(1, 1, 2)),
        ("unfold(1, size=2, step=1)", lambda x: x.unfold(1, 2, 1)),
        ("[..., -1]", lambda x: x[..., -1]),
    ],
)
def test_views_of_a_layout_are_those_of_its_methods(text, view):
    layout = st.Layout.row_major((3, 4))
    assert apply_views(layout, text) == view(layout)


@pytest.mark.parametrize(
    "text",
    ["__class__()", "t(layout)", "shape", "t().", "is_contiguous()", "t(1, 2, 3)", "nope()", "t().__init__()", "(1)"],
)
def test_other_expressions_are_no_views(text):
    refused = run("layout", "3,4", "--view", text)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("strided layout: ")


@pytest.mark.parametrize(
    "words", [["foo"], ["3,a"], ["3,4", "--stride", "1"], ["-3"], ["3,4", "--view", "narrow(0, 9, 9)"]]
)
def test_bad_layouts_are_refused(words):
    assert run("layout", *words).code == 2


# doctor and tour


def test_the_doctor_names_the_build_the_cpu_and_the_packages():
    shown = run("doctor")
    assert shown.code == 0
    for fact in (st.__version__, "devices", "gpu", "all is well"):
        assert fact in shown.out
    facts = run("doctor", "--json").json
    assert facts["ok"] is True
    assert facts["packages"]["numpy"] == np.__version__
    assert re.search("baseline|avx2|avx512|neon", facts["facts"]["instructions"])
    assert facts["facts"]["threads"].startswith(str(st.get_num_threads()))


def test_the_doctor_reports_a_check_that_fails(monkeypatch):
    def broken():
        raise RuntimeError("no such memory")

    monkeypatch.setitem(doctor.CHECKS, "sums", lambda: False)
    monkeypatch.setitem(doctor.CHECKS, "views", broken)
    shown = run("doctor", "--json")
    assert shown.code == 1
    assert json.loads(shown.out)["checks"]["sums"] == "wrong result"
    assert json.loads(shown.out)["checks"]["views"] == "RuntimeError: no such memory"


def test_the_tour_runs_and_shows_each_statement_with_its_value():
    shown = run("tour")
    assert shown.code == 0
    assert ">>> x.storage() is x.t().storage()           # nothing was copied\nTrue" in shown.out
    assert "IndexError" in shown.out or "ShapeError" in shown.out
    section = run("tour", "--section", "2").out
    assert section.strip() in shown.out
    assert section.startswith("\n2. ")
    assert run("tour", "--section", "99").code == 2
