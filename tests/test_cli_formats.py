"""The command on files of all formats: trees, shared memory, records, metadata."""

from contextlib import nullcontext

import numpy as np
import pytest
from cli_runs import run

import strided as st


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nested():
    weight = st.arange(12.0).view(3, 4)
    return {
        "conv": {"weight": weight, "transposed": weight.t(), "bias": st.zeros(3, dtype=st.bfloat16)},
        "steps": [st.arange(5), "text", 7],
    }


@pytest.mark.parametrize("name", ["x.safetensors", "x.t7"])
def test_info_prints_the_tree_of_a_nested_object(name):
    held = nested()
    if name.endswith("t7"):
        held["conv"]["bias"] = held["conv"]["bias"].float()  # Torch7 has no bfloat16
    with pytest.warns(UserWarning, match="overlap in memory") if name == "x.safetensors" else nullcontext():
        st.save(held, name)
    shown = run("info", name)
    assert (shown.code, shown.err) == (0, "")
    rows = {line.split()[0]: line for line in shown.out.splitlines()[2:]}
    assert rows["conv"].startswith("conv ")
    assert rows["weight"].startswith("  weight ")
    assert rows["weight"].split()[1:4] == ["float32", "3x4", "4,1"]
    assert rows["transposed"].split()[1:4] == ["float32", "4x3", "1,4"]
    assert "shares memory with" in rows["transposed"] + rows["weight"]
    assert '"text"' in shown.out
    flat = run("info", name, "--list").out
    assert "conv.weight" in flat
    assert '"text"' not in flat


def test_a_converted_model_of_torch7_has_the_names_of_its_tables():
    model = {"modules": [{"weight": st.ones(2, 3), "bias": st.zeros(2)}, {"weight": st.full((2,), 3.0)}]}
    st.save(model, "model.t7")
    done = run("convert", "model.t7", "weights.safetensors")
    assert (done.code, done.err) == (0, "")
    names = [tensor["name"] for tensor in run("info", "weights.safetensors", "--json").json["tensors"]]
    assert sorted(names) == ["modules.1.bias", "modules.1.weight", "modules.2.weight"]
    assert run("diff", "model.t7", "weights.safetensors").code == 0
    assert run("show", "weights.safetensors:modules.2.weight", "--json").json["values"] == [3, 3]


def test_a_conversion_that_the_format_cannot_hold_names_the_option(folder):
    st.save({"count": st.arange(4, dtype=st.uint16)}, "x.safetensors")
    refused = run("convert", "x.safetensors", "x.t7")
    assert refused.code == 2
    assert "count" in refused.err
    assert "--dtype" in refused.err
    assert [path.name for path in folder.iterdir()] == ["x.safetensors"]
    assert run("convert", "x.safetensors", "x.t7", "--dtype", "uint16:int32").code == 0
    assert run("show", "x.t7:count", "--json").json["values"] == [0, 1, 2, 3]


def test_metadata_is_kept_where_there_is_a_place_for_it():
    st.save({"a": st.ones(3)}, "x.safetensors", metadata={"author": "someone"})
    assert "author: someone" in run("info", "x.safetensors").out
    assert run("convert", "x.safetensors", "y.safetensors", "--dtype", "float16").code == 0
    assert run("info", "y.safetensors", "--json").json["metadata"] == {"author": "someone"}
    done = run("convert", "x.safetensors", "x.npz")
    assert done.code == 0
    assert done.out.endswith("metadata that is left out: author\n")
    left_out = [{"kind": "metadata", "names": ["author"], "text": "metadata"}]
    assert run("convert", "x.safetensors", "x.npz", "--json").json["left_out"] == left_out


def test_a_conversion_to_the_same_file_is_whole():
    st.save({"a": st.arange(1000.0)}, "x.safetensors")
    assert run("convert", "x.safetensors", "x.safetensors", "--dtype", "float64").code == 0
    assert run("stats", "x.safetensors", "--json").json["tensors"][0]["max"] == 999


def test_a_storage_is_shown_as_a_vector():
    st.save([st.arange(3.0).storage()], "x.t7")
    facts = run("info", "x.t7", "--json").json["tensors"]
    assert [fact["kind"] for fact in facts] == ["storage"]
    assert run("show", f"x.t7:{facts[0]['name']}", "--json").json["values"] == [0, 1, 2]
    assert run("stats", "x.t7", "--json").json["tensors"][0]["mean"] == 1


def test_a_damaged_file_is_refused_with_its_name_and_the_place(folder):
    st.save({"a": st.ones(3)}, "x.safetensors")
    whole = (folder / "x.safetensors").read_bytes()
    (folder / "y.safetensors").write_bytes(whole[:-4])
    for command in (["info"], ["stats"], ["show"], ["convert", "z.npz"]):
        refused = run(command[0], "y.safetensors", *command[1:])
        assert (refused.code, refused.out) == (2, "")
        assert "y.safetensors" in refused.err
    assert not (folder / "z.npz").exists()


def test_a_dtype_that_strided_lacks_is_listed_and_left_out_by_a_pattern():
    header = b'{"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}'
    with open("x.safetensors", "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + bytes([1, 2, 3, 4]))
    assert "F8_E4M3" in run("info", "x.safetensors").out
    stats = run("stats", "x.safetensors", "--json").json["tensors"]
    assert "min" not in stats[0]
    assert stats[1]["max"] == 4
    assert run("diff", "x.safetensors", "x.safetensors", "--json").json["not_compared"] == ["a"]
    refused = run("show", "x.safetensors:a")
    assert refused.code == 2
    assert "F8_E4M3" in refused.err
    assert run("convert", "x.safetensors", "y.npz").code == 2
    assert run("convert", "x.safetensors", "y.npz", "--select", "b").code == 0


# Options of a format


def test_convert_compresses_an_npz_file(folder):
    st.save({"a": st.zeros(10_000)}, "x.safetensors")
    assert run("convert", "x.safetensors", "stored.npz").code == 0
    assert run("convert", "x.safetensors", "deflated.npz", "--compress").code == 0
    assert (folder / "deflated.npz").stat().st_size * 100 < (folder / "stored.npz").stat().st_size
    np.testing.assert_array_equal(np.load("deflated.npz")["a"], np.zeros(10_000, np.float32))


@pytest.mark.parametrize(
    ("words", "details"),
    [
        ([], {"encoding": "binary", "long_size": 8, "byte_order": "little"}),
        (["--encoding", "ascii"], {"encoding": "ascii"}),
        (["--long-size", "4"], {"encoding": "binary", "long_size": 4, "byte_order": "little"}),
        (["--byte-order", "big", "--encoding", "binary"], {"encoding": "binary", "long_size": 8, "byte_order": "big"}),
        (["--byte-order", "big", "--long-size", "4"], {"encoding": "binary", "long_size": 4, "byte_order": "big"}),
    ],
    ids=str,
)
def test_convert_chooses_the_encoding_of_a_t7_file(words, details):
    st.save({"a": st.arange(5), "b": st.ones(2, 3)}, "x.npz")
    assert run("convert", "x.npz", "x.t7", "--no-fsync", *words).code == 0
    assert run("info", "x.t7", "--json").json["details"] == details
    assert run("diff", "x.npz", "x.t7").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x.safetensors", "--compress"], "compress is for .npz files, and the format is safetensors"),
        (["x.npz", "--encoding", "ascii"], "encoding is for .t7 files, and the format is npz"),
        (["x.npy", "--long-size", "4"], "long_size is for .t7 files, and the format is npy"),
        (["x.t7", "--encoding", "base64"], "argument --encoding: invalid choice: 'base64'"),
        (["x.t7", "--long-size", "5"], "argument --long-size: invalid choice: 5"),
        (["x.bin", "--format", "hdf5"], "--format is hdf5, wanted one of safetensors, npy"),
    ],
    ids=str,
)
def test_options_of_another_format_are_refused(words, message, folder):
    st.save({"a": st.arange(5)}, "in.npz")
    done = run("convert", "in.npz", *words)
    assert done.code == 2
    assert message in done.err
    assert [path.name for path in folder.iterdir()] == ["in.npz"]


def test_zarr_folders_are_converted_both_ways(folder):
    zarr = pytest.importorskip("zarr")
    st.save({"a": st.arange(6).view(2, 3), "b": st.ones(2)}, "x.safetensors", metadata={"author": "someone"})
    assert run("convert", "x.safetensors", "x.zarr").code == 0
    np.testing.assert_array_equal(zarr.open("x.zarr", mode="r")["a"][...], np.arange(6).reshape(2, 3))
    assert run("diff", "x.safetensors", "x.zarr").code == 0
    assert run("convert", "x.zarr", "y.zarr", "--select", "b").code == 0
    assert run("info", "y.zarr", "--json").json["tensors"][0]["name"] == "b"
    assert run("convert", "x.zarr", "y.npz").code == 0
    assert run("diff", "x.zarr", "y.npz").code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["x.safetensors", "x.zarr", "y.npz", "y.zarr"]
