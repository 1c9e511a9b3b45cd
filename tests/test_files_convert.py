"""Conversion of files loses nothing: references, values, nesting, sharing; and what other readers see."""

import io
import json
import struct
import warnings

import numpy as np
import pytest
import safetensors.numpy
from cli_runs import run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

import strided as st
from strided import files


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def header(path):
    data = path.read_bytes() if hasattr(path, "read_bytes") else path
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8 : 8 + length])


def convert(source, target, **options):
    """Converts a file in memory, and returns the new one."""
    out = io.BytesIO()
    converted = files.convert(io.BytesIO(source), out, format=target, **options)
    return out.getvalue(), converted


def dumped(obj, format="safetensors"):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of tensors that overlap
        st.save(obj, file, format=format)
    return file.getvalue()


# References

TIED = {"embed.weight": "w", "lm_head.weight": "w"}


def tied(w):
    return dict.fromkeys(TIED, w)


@pytest.mark.parametrize("format", ["safetensors", "t7"])
def test_a_tensor_with_two_names_has_two_entries(format):
    file = files.open(io.BytesIO(dumped(tied(st.arange(6.0).view(2, 3)), format)))
    assert file.names == ["embed.weight", "lm_head.weight"]
    assert [entry.same_as for entry in file.entries] == [None, "embed.weight"]
    assert file["lm_head.weight"].load().tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("format", ["safetensors", "t7"])
def test_a_container_with_two_names_has_the_names_of_its_tensors_twice(format):
    state = {"w": st.arange(3.0), "steps": 7}
    file = files.open(io.BytesIO(dumped({"ema": state, "model": state}, format)))
    assert file.names == ["ema.w", "model.w"]
    assert file.plain_values == {"ema.steps": 7, "model.steps": 7}
    assert [row.kind for row in file.outline()].count("reference") == 1
    state["self"] = state
    file = files.open(io.BytesIO(dumped({"ema": state, "model": state}, format)))
    assert file.names == ["ema.w", "model.w"], "an object inside itself is not entered again"


@pytest.mark.parametrize("source", ["x.safetensors", "x.t7"])
@pytest.mark.parametrize("target", ["y.safetensors", "y.t7", "y.npz"])
def test_the_command_knows_every_name(source, target):
    st.save(tied(st.arange(6.0).view(2, 3)), source)
    assert run("show", f"{source}:lm_head.weight", "--json").json["values"] == [[0, 1, 2], [3, 4, 5]]
    assert [fact["name"] for fact in run("stats", source, "--json").json["tensors"]] == [*TIED]
    assert run("convert", source, target).code == 0
    assert run("diff", source, target).code == 0
    assert {name: x.tolist() for name, x in st.load(target).items()} == {name: [[0, 1, 2], [3, 4, 5]] for name in TIED}
    st.save({"embed.weight": st.arange(6.0).view(2, 3)}, "one.safetensors")
    missing = run("diff", source, "one.safetensors", "--json")
    assert missing.code == 1
    assert [(fact["name"], fact["kind"]) for fact in missing.json["differences"]] == [("lm_head.weight", "missing")]


def test_references_to_references_do_not_multiply_without_end():
    nested = [st.ones(1)]
    for _ in range(60):
        nested = [nested, nested]
    data = dumped(nested)
    with pytest.raises(st.FormatError, match="too many to list"):
        files.open(io.BytesIO(data)).names
    with pytest.raises(st.FormatError, match="too many to list"):
        list(files.open(io.BytesIO(data)).outline())
    assert st.load(io.BytesIO(data))[0] is not None


# Values


def test_values_are_kept_where_the_format_can_keep_them():
    st.save({"w": st.ones(2), "epoch": 3, "notes": ["a", {"lr": 0.5}], "none": []}, "x.safetensors")
    for target in ("y.safetensors", "y.t7"):
        assert run("convert", "x.safetensors", target).code == 0
        loaded = st.load(target)
        assert (loaded["epoch"], loaded["notes"], loaded["none"]) == (3, ["a", {"lr": 0.5}], [])
        assert run("diff", "x.safetensors", "y.safetensors").out == "1 tensor and 4 values, no difference\n"


@pytest.mark.parametrize("target", ["y.npz", "y.npy"])
def test_values_that_a_format_cannot_keep_are_listed_and_nothing_is_written(folder, target):
    st.save({"w": st.ones(2), "epoch": 3, "opt": {"lr": 0.5}}, "x.safetensors")
    (folder / target).write_bytes(b"old")
    refused = run("convert", "x.safetensors", target)
    assert (refused.code, refused.out) == (1, "")
    assert "epoch: int 3" in refused.err
    assert "opt.lr: float 0.5" in refused.err
    assert "--drop-values" in refused.err
    assert (folder / target).read_bytes() == b"old"
    assert run("convert", "x.safetensors", target, "--json").json["left_out"][0]["names"] == ["epoch"]
    done = run("convert", "x.safetensors", target, "--drop-values")
    assert done.code == 0
    assert "values that are left out: epoch, opt.lr" in done.out
    assert np.load(target, allow_pickle=False) is not None


def test_values_that_lua_lacks_are_reported():
    values = {"none": None, "huge": 2**70, "long": 2**53 + 1, "complex": 1j, "kept": 2**53}
    data = dumped({"w": st.ones(2), **values})
    with pytest.raises(files.LossError) as error:
        convert(data, "t7")
    assert [loss.names for loss in error.value.left_out] == [["none"], ["huge"], ["long"], ["complex"]]
    written, converted = convert(data, "t7", drop_values=True)
    assert set(st.load(io.BytesIO(written))) == {"w", "kept"}
    assert len(converted.left_out) == 4


def test_a_selection_has_no_values():
    data = dumped({"a": st.ones(2), "b": st.zeros(3), "epoch": 3})
    written, converted = convert(data, "npz", select=["b"])
    assert list(np.load(io.BytesIO(written))) == ["b"]
    assert converted == files.Conversion({"b": "float32"}, 12, [])


def test_diff_compares_values():
    st.save({"w": st.ones(2), "epoch": 3, "nan": float("nan"), "flag": True, "old": 1}, "x.safetensors")
    st.save({"w": st.ones(2), "epoch": 4, "nan": float("nan"), "flag": 1}, "y.safetensors")
    found = run("diff", "x.safetensors", "y.safetensors")
    assert found.code == 1
    rows = {line.split()[0]: line for line in found.out.splitlines()[1:] if line}
    assert rows.keys() == {"epoch", "flag", "old"}
    assert "3 and 4" in rows["epoch"]
    assert "True and 1" in rows["flag"]
    assert "only in x.safetensors" in rows["old"]
    assert run("diff", "x.safetensors", "y.safetensors", "--select", "w").code == 0


def test_records_and_functions_of_lua_survive_in_the_default_format():
    table = files.Table([(1, "one"), (True, "yes")])
    record = files.Record("nn.Linear", {"weight": st.ones(2, 3), "table": table}, "1")
    function = files.Function(6, b"\x1bLua", [3])
    data = dumped({"net": record, "f": function}, "t7")
    there, _ = convert(data, "safetensors")
    back, _ = convert(there, "t7")
    assert back == data
    loaded = st.load(io.BytesIO(there))
    assert (loaded["net"].class_name, loaded["net"].version) == ("nn.Linear", "1")
    assert list(loaded["net"].fields["table"].items()) == [(1, "one"), (True, "yes")]
    assert (loaded["f"].kind, loaded["f"].bytecode, loaded["f"].upvalues) == (6, b"\x1bLua", [3])
    assert {name: array.tolist() for name, array in safetensors.numpy.load(there).items()} == {
        "net.weight": [[1, 1, 1], [1, 1, 1]]
    }


# What other readers see


def test_a_transposed_tensor_is_row_major_under_its_own_name():
    x = st.arange(12.0).view(3, 4)
    data = dumped({"w": x.t()})
    seen = safetensors.numpy.load(data)
    assert list(seen) == ["w"]
    np.testing.assert_array_equal(seen["w"], x.numpy().T)
    back = st.load(io.BytesIO(data))["w"]
    assert (back.shape, back.stride(), back.tolist()) == ((4, 3), (1, 4), x.t().tolist())
    assert not files.open(io.BytesIO(data))["w"].mappable


ALONE = {
    "every second column": lambda x: x[:, ::2],
    "reversed": lambda x: x.flip(0, 1),
    "expanded": lambda x: x[0].expand(5, 4),
    "windows": lambda x: x[0].unfold(0, 2, 1),
    "permuted": lambda x: x.view(3, 2, 2).permute(1, 2, 0),
}


@pytest.mark.parametrize("view", ALONE.values(), ids=ALONE)
@pytest.mark.parametrize("dtype", [st.float32, st.bfloat16, st.complex128], ids=str)
def test_a_tensor_of_any_strides_is_seen_by_other_readers_and_restored_here(view, dtype):
    x = view(st.arange(12).view(3, 4).to(dtype))
    data = dumped({"w": x})
    assert [name for name in header(data) if name != "__metadata__"] == ["w"]
    back = st.load(io.BytesIO(data))["w"]
    assert (back.stride(), back.dtype, back.tolist()) == (x.stride(), x.dtype, x.tolist())


def test_a_column_of_a_large_matrix_is_loaded_row_major():
    x = st.zeros(1000, 1000)[:, 0]
    data = dumped({"column": x})
    assert len(data) < 5000
    few = st.zeros(10, 100)[:, 0]
    assert st.load(io.BytesIO(dumped({"column": few})))["column"].stride() == (100,)
    assert st.load(io.BytesIO(data))["column"].stride() == (1,)


def test_disjoint_views_of_one_storage_have_entries_of_their_own():
    qkv = st.arange(24.0).view(4, 6)
    parts = {"q": qkv[:, :2], "k": qkv[:, 2:4], "v": qkv[:, 4:], "even": st.arange(10)[::2]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file = io.BytesIO()
        st.save(parts, file)
    seen = safetensors.numpy.load(file.getvalue())
    assert list(seen) == ["q", "k", "v", "even"] or set(seen) == {"q", "k", "v", "even"}
    for name, x in parts.items():
        np.testing.assert_array_equal(seen[name], x.numpy())
        assert st.load(io.BytesIO(file.getvalue()))[name].stride() == x.stride()


def test_names_of_the_same_view_are_noted_as_save_model_does():
    w = st.arange(6.0).view(2, 3)
    data = dumped({"embed.weight": w, "lm_head.weight": w, "same.view": w[:], "other": st.ones(1)})
    head = header(data)
    assert {name for name in head if name != "__metadata__"} == {"embed.weight", "other"}
    noted = {key: value for key, value in head["__metadata__"].items() if key != "strided"}
    assert noted == {"lm_head.weight": "embed.weight", "same.view": "embed.weight"}
    back = st.load(io.BytesIO(data))
    assert back["lm_head.weight"] is back["embed.weight"]
    assert back["same.view"].storage() is back["embed.weight"].storage()
    assert files.open(io.BytesIO(data)).metadata == {}


def test_metadata_of_the_user_stays_even_if_it_looks_like_a_name():
    file = io.BytesIO()
    metadata = {"x": "w", "tied": "mine"}
    w = st.ones(2)
    st.save({"w": w, "tied": w}, file, metadata=metadata)
    assert files.open(io.BytesIO(file.getvalue())).metadata == metadata
    plain = io.BytesIO(safetensors.numpy.save({"w": np.ones(2)}, metadata={"tied": "w"}))
    assert files.open(plain).metadata == {"tied": "w"}


def test_views_that_overlap_are_named_in_a_warning():
    x = st.arange(4.0)
    with pytest.warns(
        UserWarning, match="save: 'all', 'part' overlap in memory; other readers see 'storage.0'"
    ) as seen:
        st.save({"all": x, "part": x[1:3]}, "x.safetensors")
    assert seen[0].filename == __file__
    back = st.load("x.safetensors")
    back["all"].zero_()
    assert back["part"].tolist() == [0, 0]
    done = run("convert", "x.safetensors", "y.safetensors")
    assert "all, part: overlap in memory, other readers see 'storage.0'" in done.out
    done = run("convert", "x.safetensors", "y.npz")
    assert "all, part: no longer share memory" in done.out


def test_elements_of_several_sizes_on_one_storage_survive():
    x = st.arange(16, dtype=st.uint8)
    data = dumped({"bytes": x[5:13], "doubles": x[8:16].view(st.float64), "first": st.ones(3, dtype=st.uint8)})
    for mmap in (False, True):
        with open("x.safetensors", "wb") as file:
            file.write(data)
        back = st.load("x.safetensors", mmap=mmap)
        assert back["bytes"].tolist() == list(range(5, 13))
        back["doubles"].zero_()
        assert back["bytes"].tolist() == [5, 6, 7, 0, 0, 0, 0, 0]


# Names of files


@pytest.mark.parametrize("name", ["x.csv", "x.h5", "x.pkl", "x.txt", "x.safetensor"])
def test_an_unknown_suffix_is_an_error_that_lists_the_formats(folder, name):
    st.save({"w": st.ones(2)}, "in.npz")
    for call in (lambda: st.save(st.ones(2), name), lambda: files.write(name, {"w": st.ones(2)})):
        with pytest.raises(ValueError, match=r"has the suffix \.\w+, wanted \.safetensors, \.strided, \.npy"):
            call()
    refused = run("convert", "in.npz", name)
    assert refused.code == 2
    assert ".safetensors" in refused.err
    assert [path.name for path in folder.iterdir()] == ["in.npz"]
    st.save(st.ones(2), name, format="npy")
    assert np.load(name).tolist() == [1, 1]


def test_a_name_without_a_suffix_is_of_the_default_format():
    st.save({"w": st.ones(2)}, "weights")
    assert files.open("weights").format == "safetensors"


def test_diff_blames_the_file_for_which_the_name_was_given():
    st.save({"a": st.ones(2), "b": st.ones(2)}, "x.npz")
    st.save({"a": st.ones(2), "c": st.ones(2)}, "y.npz")
    assert "there is no tensor 'nothing' in y.npz" in run("diff", "x.npz", "y.npz:nothing").err
    assert "there is no tensor 'nothing' in x.npz" in run("diff", "x.npz:nothing", "y.npz").err
    assert "there is no tensor 'c' in x.npz" in run("diff", "x.npz", "y.npz:c").err
    assert run("diff", "x.npz", "y.npz:a").code == 0


def test_errors_of_a_conversion_name_the_input_and_the_tensor(folder):
    np.savez_compressed("x.npz", good=np.ones(100), bad=np.arange(100_000.0))
    data = bytearray((folder / "x.npz").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (folder / "x.npz").write_bytes(data)
    refused = run("convert", "x.npz", "y.safetensors")
    assert refused.code == 2
    assert "x.npz" in refused.err
    assert '"bad"' in refused.err
    assert not (folder / "y.safetensors").exists()
    st.save({"h": st.ones(2, dtype=st.bfloat16)}, "h.safetensors")
    assert '"h" is bfloat16, which a .t7 file cannot hold' in run("convert", "h.safetensors", "h.t7").err


def test_casts_keep_sharing():
    x = st.arange(6.0)
    data = dumped({"all": x, "part": x[2:4], "ints": st.arange(3)})
    written, converted = convert(data, "t7", dtype=st.float64)
    assert converted.tensors == {"all": "float64", "part": "float64", "ints": "int64"}
    back = st.load(io.BytesIO(written))
    assert back["all"].dtype is st.float64
    back["all"].zero_()
    assert back["part"].tolist() == [0, 0]
    mixed, _ = convert(data, "safetensors", dtype=lambda entry: st.float16 if entry.name == "part" else None)
    back = st.load(io.BytesIO(mixed))
    assert (back["all"].dtype, back["part"].dtype, back["part"].tolist()) == (st.float32, st.float16, [2, 3])


# Any object, any pair of formats

NAMES = some.text("abc", min_size=1, max_size=3)
SCALARS = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(-(2**60), 2**60),
    some.floats(allow_nan=False),
    some.text("xyz", max_size=3),
    some.complex_numbers(allow_nan=False, allow_infinity=False),
)


@some.composite
def objects(draw):
    """Nested containers of values and of views of a few storages, some of them several times."""
    bases = [st.arange(12.0) + 100 * i for i in range(2)] + [st.arange(12)]
    views = [
        lambda x: x,
        lambda x: x.view(3, 4),
        lambda x: x.view(3, 4).t(),
        lambda x: x.view(3, 4)[:, 1],
        lambda x: x[2:5],
        lambda x: x[6:9],
        lambda x: x.flip(0),
        lambda x: x[:0],
    ]
    pool = [draw(some.sampled_from(views))(draw(some.sampled_from(bases))) for _ in range(draw(some.integers(1, 4)))]
    leaves = some.one_of(SCALARS, some.sampled_from(pool))
    shared = draw(some.lists(leaves, max_size=2))
    inside = some.recursive(
        some.one_of(leaves, some.just(shared)),
        lambda child: some.one_of(some.lists(child, max_size=3), some.dictionaries(NAMES, child, max_size=3)),
        max_leaves=8,
    )
    return {"root": draw(inside), "t": pool[0], **draw(some.dictionaries(NAMES, inside, max_size=2))}


def listing(obj):
    """The tensors and the values of an object by their names, by a walk of its own."""
    found_tensors, found_values = [], []

    def walk(x, path, ancestors):
        if isinstance(x, st.Tensor):
            found_tensors.append((path, x))
        elif isinstance(x, dict | list) and x and id(x) not in ancestors:
            items = x.items() if isinstance(x, dict) else enumerate(x)
            for key, item in items:
                walk(item, (*path, str(key)), {*ancestors, id(x)})
        elif not (isinstance(x, dict | list) and x):
            found_values.append((path, x))

    walk(obj, (), set())
    return found_tensors, found_values


def shares(x, y):
    """Whether two tensors have an element in common, by writing to one of them."""
    if not x.numel() or not y.numel():
        return False
    kept, before = x.clone(), y.clone()
    x.fill_(-1)
    changed = not y.equal(before)
    x.copy_(kept)
    return changed


def groups(named):
    """The names of tensors that are the same view or have an element in common, directly or through others."""
    found = []
    for name, x in named:
        joined = [group for group in found if any(shares(x, y) or is_same_view(x, y) for _, y in group)]
        found = [group for group in found if group not in joined]
        found.append([(name, x), *(pair for group in joined for pair in group)])
    return {frozenset(name for name, _ in group) for group in found if len(group) > 1}


def is_same_view(x, y):
    facts = [(z.dtype, z.shape, z.stride(), z.storage_offset()) for z in (x, y)]
    return x.storage() is y.storage() and facts[0] == facts[1]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(objects(), some.sampled_from(["safetensors", "t7"]), some.sampled_from(["safetensors", "t7", "npz"]))
def test_any_object_goes_through_any_pair_of_formats(obj, first, second):
    start = dumped(obj)
    try:
        there, _ = convert(start, first)
        lost_before = []
    except files.LossError as error:
        lost_before = [loss.names[0] for loss in error.left_out]
        there, _ = convert(start, first, drop_values=True)
    written, converted = convert(there, second, drop_values=True)
    wanted_tensors, wanted_values = listing(obj)
    # Torch7 leaves out what Lua has no value for, numbers the items of lists from 1 on, and flattens tensors without
    # elements. What is left out is exactly what is reported.
    through_lua = "t7" in (first, second)
    missing = {".".join(path) for path, value in wanted_values if through_lua and not lua_has(value)}
    if second == "npz":
        opened = files.open(io.BytesIO(there))
        lost = {loss.names[0] for loss in converted.left_out if loss.kind == "value"}
        assert lost == set(opened.plain_values)
        arrays = np.load(io.BytesIO(written))
        assert list(arrays) == opened.names
        for (_, x), name in zip(wanted_tensors, opened.names, strict=True):
            np.testing.assert_array_equal(arrays[name], x.numpy())
        if first == "safetensors":
            lost = {frozenset(loss.names) for loss in converted.left_out if loss.kind == "sharing"}
            assert lost == groups(list(zip(opened.names, [x for _, x in wanted_tensors], strict=True)))
        return
    if first == "t7":
        assert set(lost_before) == missing
    elif second == "t7":
        assert {loss.names[0] for loss in converted.left_out if loss.kind == "value"} == missing
    loaded = st.load(io.BytesIO(written))
    got_tensors, got_values = listing(loaded)
    assert [x.tolist() for _, x in got_tensors] == [x.tolist() for _, x in wanted_tensors]
    kept = [value for path, value in wanted_values if ".".join(path) not in missing]
    if not through_lua:
        assert [path for path, _ in got_tensors] == [path for path, _ in wanted_tensors]
        assert got_values == wanted_values
    else:
        assert len(got_values) >= len(kept)
    for i, (_, x) in enumerate(wanted_tensors):
        for j, (_, y) in enumerate(wanted_tensors[:i]):
            flipped = through_lua and any(stride < 0 for z in (x, y) for stride in z.stride())
            if not flipped:  # Torch7 has no negative strides: such a tensor is copied
                assert shares(got_tensors[i][1], got_tensors[j][1]) == shares(x, y)
                assert (got_tensors[i][1] is got_tensors[j][1]) == (x is y)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(objects())
def test_any_object_becomes_a_folder_of_zarr_with_what_it_can_have(obj):
    pytest.importorskip("zarr")
    data = dumped(obj)
    opened = files.open(io.BytesIO(data))
    converted = files.convert(io.BytesIO(data), "x.zarr", drop_values=True, fsync=False)
    tensors, values = listing(obj)
    assert {loss.names[0] for loss in converted.left_out if loss.kind == "value"} == set(opened.plain_values)
    assert len(opened.plain_values) == len(values)
    folder = files.open("x.zarr")
    assert sorted(folder.names) == sorted(opened.names)
    for (_, x), name in zip(tensors, opened.names, strict=True):
        assert folder[name].load().tolist() == x.tolist()


def lua_has(value):
    """Whether Lua has a value: it has no None and no complex numbers, and its numbers are doubles."""
    if value is None or isinstance(value, complex):
        return False
    return isinstance(value, bool) or not isinstance(value, int) or abs(value) <= 2**53
