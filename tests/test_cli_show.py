"""`strided show` and `strided stats`: numbers, heat maps, pictures and statistics."""

import struct
import sys
import zlib

import numpy as np
import pytest
from cli_runs import arrays, run, run_in_terminal, write_npz
from hypothesis import given
from hypothesis import strategies as hs
from hypothesis.extra import numpy as hnp

import strided as st
from strided.cli._colours import Scale
from strided.cli._commands.show import parse_index, picture
from strided.cli._commands.stats import bars, statistics
from strided.cli._heatmap import heat_map
from strided.cli._png import png_bytes
from strided.cli._target import blocks


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_show_prints_a_tensor_and_a_part_of_it():
    write_npz("x.npz")
    shown = run("show", "x.npz:count")
    assert shown.out == f"count: int64, 10, stride (1,)\n{st.arange(10)}\n"
    part = run("show", "x.npz:conv.weight", "--slice", "1, ::2, -3:", "--json").json
    assert part["shape"] == [2, 3]
    np.testing.assert_array_equal(np.array(part["values"], np.float32), arrays()["conv.weight"][1, ::2, -3:])


def test_show_needs_the_name_of_one_tensor_of_many():
    write_npz("x.npz")
    refused = run("show", "x.npz")
    assert refused.code == 2
    assert "there are 8 tensors in x.npz; name one as x.npz:NAME" in refused.err
    misspelt = run("show", "x.npz:cont")
    assert "there is no tensor 'cont' in x.npz; did you mean 'count'" in misspelt.err
    np.save("y.npy", np.arange(3))
    assert run("show", "y.npy").code == 0


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("0", (0,)),
        ("0, ::2, -3:", np.s_[0, ::2, -3:]),
        ("[1:5]", (slice(1, 5),)),
        ("..., None, -1", (..., None, -1)),
        ("5:1:-2", (slice(5, 1, -2),)),
        ("", ()),
    ],
)
def test_indices_are_read_as_in_python(text, index):
    assert parse_index(text) == index


@pytest.mark.parametrize("text", ["a", "1:b", "1:2:3:4", "1.5", "__import__('os')", "0, 99", "1, 2, 3, 4, 5"])
def test_bad_indices_are_refused(text):
    write_npz("x.npz")
    refused = run("show", "x.npz:conv.weight", "--slice", text)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("strided show: ")


# Colours, heat maps and pictures


def test_levels_go_from_the_lowest_number_to_the_highest_one():
    assert Scale(st.tensor([2.0, 4.0, 3.0])).levels.tolist() == [0, 255, 128]
    assert Scale(st.tensor([-4.0, 2.0, 0.0])).levels.tolist() == [0, 191, 128]
    assert Scale(st.tensor([5, 5])).levels.tolist() == [0, 0]
    assert Scale(st.tensor([1e308, -1e308], dtype=st.float64)).levels.tolist() == [255, 0]
    assert Scale(st.tensor([float("nan"), 1.0, float("inf")])).levels.tolist() == [256, 0, 256]
    assert Scale(st.tensor([3 + 4j, 0j])).high == 5
    assert Scale(st.zeros(0)).levels.numel() == 0


def test_colours_are_red_below_zero_white_at_zero_and_blue_above():
    scale = Scale(st.tensor([-1.0, 0.0, 1.0]))
    colours = [scale.palette()[level] for level in scale.levels.tolist()]
    below, zero, above = colours
    assert below[0] > below[2]
    assert min(zero) > 250
    assert above[2] > above[0]


def test_a_heat_map_has_a_character_for_each_element():
    # 20 numbers at equal distances, and ten characters: each is used twice.
    lines = list(heat_map(st.arange(20).view(2, 10), 40, 20, colour=False))
    assert lines == ["  ..::--==", "++**##%%@@", "0 to 19; denser is larger"]


def test_a_large_heat_map_is_sampled():
    lines = list(heat_map(st.arange(10_000).view(100, 100), 30, 10, colour=False))
    assert [len(line) for line in lines[:-1]] == [25] * 10
    assert lines[-1].endswith("every 10 x 4 elements one")


def test_a_coloured_heat_map_has_two_rows_in_a_line():
    lines = list(heat_map(st.arange(6.0).view(3, 2), 40, 40, colour=True))
    assert len(lines) == 3
    assert lines[0].count("▀") == 2
    assert lines[0].count("\x1b[48;2;") == 2
    assert "\x1b[48" not in lines[1]  # there is no fourth row
    assert lines[0].endswith("\x1b[0m")


def test_show_draws_a_heat_map_of_any_rank():
    write_npz("x.npz")
    for name in ("conv.weight", "count", "one", "flags", "z", "half"):
        assert run("show", f"x.npz:{name}", "--heat").code == 0
    assert run("show", "x.npz:empty", "--heat").out.endswith("no elements\n")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_gets_a_coloured_heat_map():
    np.save("x.npy", np.arange(6.0).reshape(2, 3))
    code, shown = run_in_terminal("show", "x.npy", "--heat")
    assert code == 0
    assert shown.count("▀") == 3
    assert "▀" not in run_in_terminal("show", "x.npy", "--heat", "--plain")[1]


def read_png(data):
    """The pixels of a PNG that has no filters: an own reader of the chunks."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, colour, rest) == (8, 2, [0, 0, 0])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


@given(hnp.arrays(np.uint8, hs.tuples(hs.integers(1, 5), hs.integers(1, 5), hs.just(3))))
def test_a_picture_has_the_pixels_of_the_tensor(array):
    np.testing.assert_array_equal(read_png(png_bytes(st.tensor(array))), array)


def test_show_writes_a_picture_with_a_pixel_for_each_element(folder):
    np.save("x.npy", np.array([[-1.0, 0.0], [0.5, np.nan], [1.0, 0.0]]))
    done = run("show", "x.npy", "--image", "x.png")
    assert done.out.endswith("x.png: 2 x 3 pixels\n")
    pixels = read_png((folder / "x.png").read_bytes())
    assert pixels.shape == (3, 2, 3)
    assert pixels[0, 0, 0] > pixels[0, 0, 2]  # red
    assert pixels[2, 0, 2] > pixels[2, 0, 0]  # blue
    assert pixels[0, 1].min() > 250  # white
    assert pixels[1, 1].tolist() == [240, 180, 20]  # yellow


def test_a_tensor_with_three_channels_is_a_picture_already():
    levels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    np.testing.assert_array_equal(np.asarray(picture(st.tensor(levels))), levels)
    np.testing.assert_array_equal(np.asarray(picture(st.tensor(levels / np.float32(255)))), levels)


def test_pictures_that_cannot_be_are_refused(folder):
    write_npz("x.npz")
    refused = run("show", "x.npz:empty", "--image", "x.png")
    assert refused.code == 2
    assert "no elements" in refused.err
    np.save("large.npy", np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), (1 << 13, (1 << 13) + 1), (0, 0)))
    assert "--slice chooses a part" in run("show", "large.npy", "--image", "x.png").err
    assert run("show", "x.npz:count", "--image", "missing/x.png").code == 2
    assert sorted(path.name for path in folder.iterdir()) == ["large.npy", "x.npz"]


# Statistics

floats = hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=6), elements=hs.floats(-1e6, 1e6, width=32))


@given(floats, hs.integers(1, 20))
def test_statistics_are_those_of_numpy(array, bins):
    facts = statistics(st.tensor(array), bins)
    assert (facts["min"], facts["max"]) == (array.min(), array.max())
    assert facts["mean"] == pytest.approx(array.mean(), rel=1e-9, abs=1e-9)
    if array.size > 1:
        assert facts["std"] == pytest.approx(array.std(ddof=1), rel=1e-7, abs=1e-7)
    else:
        assert facts["std"] is None
    assert facts["zero"] == (array == 0).sum()
    assert sum(facts["histogram"]) == array.size


def test_a_histogram_is_that_of_numpy():
    array = np.random.default_rng(3).normal(size=1000)
    counts, _ = np.histogram(array, 16)
    assert statistics(st.tensor(array), 16)["histogram"] == counts.tolist()


def test_statistics_of_blocks_are_those_of_the_whole(monkeypatch):
    array = np.random.default_rng(4).normal(100, 1, size=(50, 40)).astype(np.float32)
    whole = statistics(st.tensor(array).t(), 8)
    monkeypatch.setattr("strided.cli._commands.stats.blocks", lambda x: blocks(x, 64))
    apart = statistics(st.tensor(array).t(), 8)
    for name in ("mean", "std"):
        assert apart[name] == pytest.approx(whole[name], rel=1e-12)
    assert apart["histogram"] == whole["histogram"]
    assert whole["std"] == pytest.approx(array.astype(np.float64).std(ddof=1), rel=1e-9)


@given(hnp.array_shapes(min_dims=0, max_dims=4, max_side=7), hs.integers(1, 30))
def test_blocks_have_all_elements_in_order_and_none_is_too_large(shape, most):
    x = st.arange(int(np.prod(shape))).view(shape)
    parts = list(blocks(x, most))
    assert [value for part in parts for value in part.reshape(-1).tolist()] == x.reshape(-1).tolist()
    assert all(part.numel() <= most for part in parts)
    assert all(part.storage() is x.storage() for part in parts)


def test_stats_counts_what_is_not_finite_apart():
    write_npz("x.npz")
    facts = {tensor["name"]: tensor for tensor in run("stats", "x.npz", "--json").json["tensors"]}
    half = facts["half"]
    assert (half["min"], half["max"], half["mean"], half["nan"], half["inf"]) == (1, 2, 1.5, 1, 2)
    assert (facts["z"]["max"], facts["z"]["zero"]) == (5, 1)
    assert (facts["flags"]["mean"], facts["one"]["std"]) == (pytest.approx(2 / 3), None)
    assert facts["empty"]["min"] is None
    shown = run("stats", "x.npz", "--select", "h*", "--bins", "4").out.splitlines()
    assert shown[0].split()[0] == "name"
    assert shown[1].split()[:3] == ["half", "float16", "5"]
    assert run("stats", "x.npz", "--bins", "0").code == 2


def test_bars_tell_an_empty_bin_from_one_with_few_elements(capsys):
    drawn = bars([0, 1, 1000])
    assert drawn[0] == " "
    assert len(set(drawn)) == 3
    assert bars(None) == ""
