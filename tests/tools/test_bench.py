"""Benchmarks that write a page, with tiny operands: every row runs or says why not, and the files are well-formed.

Times are not checked.
"""

import json
import math
import platform
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import _book as book
import _compare as compare
import _operands as operands
import _plot as plot
import _scaling as scaling
import _timing as timing
import contraction
import dialects
import indexing
import operations
import order
import strided as st

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
JOBS = operations.jobs(400, in_cache=300)


def job_name(job):
    return f"{job.row.group}: {job.row.name}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A quick run of bench/operations.py, in a process of its own."""
    out = tmp_path_factory.mktemp("results")
    command = [sys.executable, ROOT / "bench/operations.py", "--quick", "--out", out, "--json", out / "figures.json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "operations.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def figures(folder):
    return json.loads((folder / "figures.json").read_text())


@pytest.fixture(scope="module")
def drawings(folder):
    return {path.name: ET.parse(path).getroot() for path in folder.glob("*.svg")}


def tables(page):
    """Yields each table as a list of rows of cells, without the line of dashes below the heading."""
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        lines = [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in block.splitlines()]
        yield [line for at, line in enumerate(lines) if at != 1]


# The rows


def test_rows_of_a_group_have_distinct_names():
    names = [job_name(job) for job in JOBS]
    assert len(set(names)) == len(names)


def value(library, spelling, space):
    statement, names = compare.runnable(library, spelling, space)
    return eval(statement, dict(names))


def as_array(found):
    if hasattr(found, "to") and "bfloat16" in str(found.dtype):
        found = found.double()
    return np.asarray(found)


@pytest.mark.parametrize("library", operations.PEERS)
def test_all_spellings_of_a_row_compute_the_same(library):
    module = pytest.importorskip(library)
    if library == "jax":
        module.config.update("jax_enable_x64", True)
    missing = set()
    compared = 0
    for job in JOBS:
        for peer, spelling in job.row.spellings():
            if peer != library:
                continue
            spaces = operands.spaces(job, {"strided": st, library: module})
            theirs = as_array(value(library, spelling, spaces[library]))
            try:
                ours = as_array(value("strided", job.row.strided, spaces["strided"]))
            except AttributeError as error:
                missing.add(error.name)
                continue
            assert ours.shape == theirs.shape, job_name(job)
            # numexpr sums in a wider type.
            assert ours.dtype == theirs.dtype or library == "numexpr", job_name(job)
            half = job.dtype in ("float16", "bfloat16")
            np.testing.assert_allclose(ours, theirs, rtol=2e-2 if half else 1e-4, atol=1e-4, err_msg=job_name(job))
            compared += 1
    assert compared > 20
    assert not [name for name in missing if hasattr(st.Tensor, name)]


def after(library, spelling, space):
    """The value of a spelling; if it has none because it is an assignment, the operand that it writes."""
    statement, names = compare.runnable(library, spelling, space)
    if " = " not in statement:
        return as_array(eval(statement, names)) if library != "numpy" else eval(statement, names)
    exec(statement, names)
    return as_array(names["x"])


@pytest.mark.parametrize("library", indexing.PEERS)
def test_all_spellings_of_a_row_of_indexing_compute_the_same(library):
    """Functions of NumPy that return None write their first argument; `nonzero` returns columns."""
    module = pytest.importorskip(library)
    missing, compared = set(), 0
    for job in indexing.jobs(400, called=50):
        for peer, spelling in job.row.spellings():
            if peer != library or "np.put(" in spelling or "np.compress" in spelling:
                continue
            if ("scatter_" in job.row.name and library == "torch") or "[idx] = part" in job.row.name:
                continue  # which of repeated indices counts is not defined
            spaces = operands.spaces(job, {"strided": st, library: module})
            theirs = after(library, spelling, spaces[library])
            if theirs is None:
                theirs = spaces[library]["x" if "x" in spaces[library] else "M"]
            try:
                ours = after("strided", job.row.strided, spaces["strided"])
            except AttributeError as error:
                missing.add(error.name)
                continue
            theirs = np.stack(theirs, 1) if isinstance(theirs, tuple) else np.asarray(theirs)
            theirs = theirs[:, None] if "flatnonzero" in spelling else theirs
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5, err_msg=f"{job_name(job)}: {spelling}")
            compared += 1
    assert compared > 20
    assert not [name for name in missing if hasattr(st.Tensor, name) or hasattr(st, name)]


@pytest.mark.parametrize("library", order.PEERS)
def test_all_spellings_of_a_row_of_order_compute_the_same(library):
    module = pytest.importorskip(library)
    compared = 0
    for job in order.jobs(900):
        for peer, spelling in job.row.spellings():
            if peer != library:
                continue
            spaces = operands.spaces(job, {"strided": st, library: module})
            theirs = after(library, spelling, spaces[library])
            ours = after("strided", job.row.strided, spaces["strided"])
            # The order of equal elements differs, their indices are not compared.
            np.testing.assert_array_equal(ours, np.asarray(theirs), err_msg=f"{job_name(job)}: {spelling}")
            compared += 1
    assert compared > 30


def test_crew_writes_every_byte_in_place():
    for threads in (1, 2, 3):
        crew = compare.Crew(threads)
        array = np.arange(1001, dtype=np.float32)
        before = array.view(np.uint8).copy()
        crew(np.invert, array)
        assert (array.view(np.uint8) == ~before).all()
        crew(np.bitwise_xor, array, array.copy())
        assert not array.any()


# A run


def test_every_row_is_in_a_table_or_left_out(page, figures):
    for row in figures["rows"]:
        skipped = [line for line in page.splitlines() if line.startswith(f"* `{row['row']}`: ")]
        assert ("strided" in row["left out"]) == bool(skipped) == (not row["seconds"])
        assert bool(skipped) != (f"| `{row['row']}` | " in page)
    run = [(row["group"].partition(",")[0], row["row"]) for row in figures["rows"]]
    expected = [(job.row.group.partition(",")[0], job.row.name) for job in JOBS]
    # The names of groups contain the size of matrices, which differs between the quick run and JOBS.
    assert [(re.sub(r"\d+", "", group), name) for group, name in run] == [
        (re.sub(r"\d+", "", group), name) for group, name in expected
    ]


def test_only_names_that_do_not_exist_are_left_out(figures):
    for row in figures["rows"]:
        assert set(row["left out"]) <= {"strided"}
        for sentence in row["left out"].values():
            name = re.fullmatch(r"strided has no (\w+) yet", sentence)[1]
            assert not hasattr(st.Tensor, name) and not hasattr(st, name)


def test_tables_are_rectangles_with_numbers_in_them(page):
    found = list(tables(page))
    assert len(found) >= 10
    for head, *rows in found:
        assert rows
        for row in rows:
            assert len(row) == len(head)
        for at, name in enumerate(head):
            if name in ("ratio", "strided", "NumPy", "gain", "slope"):
                assert all(math.isfinite(float(row[at])) for row in rows if row[at] or name != "NumPy")


def test_the_ratio_is_that_of_the_times(page, figures):
    rows = {(row["group"], row["row"]): row for row in figures["rows"]}
    aims = {job.row.name: job.row.against for job in JOBS}
    compared = 0
    for section in page.split("\n## ")[1:]:
        group = section.partition("\n")[0]
        for head, *lines in tables(section):
            if "ratio" not in head:
                continue
            for line in lines:
                cell = dict(zip(head, line, strict=True))
                row = rows[group, cell["row"].strip("`")]
                counted = aims[row["row"]] or [name for name in row["seconds"] if name != "strided"]
                ratio = row["seconds"]["strided"] / min(row["seconds"][name] for name in counted)
                assert cell["ratio"] == f"{ratio:.2f}"
                assert (cell["verdict"] == "met") == (ratio <= row["aim"])
                compared += 1
    assert compared == sum(not row["left out"] for row in figures["rows"])


def test_the_page_describes_the_hardware_but_names_no_host_or_path(page):
    for word in ("CPU", "caches", "memory", "system", "Python", "strided", "numpy"):
        assert f"| {word} | " in page
    assert re.search(r"Measured on \d{4}-\d\d-\d\d by", page)
    for secret in (platform.node(), str(Path.home()), str(ROOT), sys.prefix):
        assert not secret or not re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", page)


def test_the_page_shows_every_plot(page, drawings):
    assert re.findall(r"!\[[^]]+\]\(([^)]+)\)", page)
    assert set(re.findall(r"\]\(([^)]+\.svg)\)", page)) == set(drawings)


def test_texts_of_plots_are_inside_the_page(drawings):
    for name, root in drawings.items():
        _, _, width, height = map(float, root.get("viewBox").split())
        texts = root.findall(f"{SVG}text")
        assert texts
        for text in texts:
            assert 0 <= float(text.get("x")) <= width and 0 <= float(text.get("y")) <= height, (name, text.text)
        assert "prefers-color-scheme: dark" in root.find(f"{SVG}style").text


def test_a_plot_has_a_line_per_library_and_a_point_per_size(drawings, figures):
    assert {slope["row"] for slope in figures["slopes"]} == {row.name for row in scaling.SUBJECTS}
    for slope in figures["slopes"]:
        root = drawings[f"operations-{slope['row'].replace('x + y', 'add')}.svg"]
        lines = root.findall(f"{SVG}polyline")
        assert len(lines) == len(slope["seconds"]) >= 2
        for line, times in zip(lines, slope["seconds"].values(), strict=True):
            points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
            assert len(points) == len(times) >= 2
            # A longer time is higher up.
            up = sorted(range(len(points)), key=lambda at: -list(times.values())[at])
            assert [points[at][1] for at in up] == sorted(y for _, y in points)


def test_the_chart_has_a_bar_per_ratio(drawings, figures):
    bars = [bar.get("data-name") for bar in drawings["operations-ratios.svg"].iter(f"{SVG}path")]
    assert sorted(bars) == sorted(row["row"] for row in figures["rows"] if row["seconds"])


@pytest.mark.parametrize(("name", "least"), [("indexing", 50), ("random_numbers", 15), ("order", 30)])
def test_a_quick_run(tmp_path, name, least):
    command = [
        sys.executable,
        ROOT / f"bench/{name}.py",
        "--quick",
        "--out",
        tmp_path,
        "--json",
        tmp_path / "figures.json",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    rows = json.loads((tmp_path / "figures.json").read_text())["rows"]
    assert len({(row["group"], row["row"]) for row in rows}) == len(rows) > least
    test_only_names_that_do_not_exist_are_left_out({"rows": rows})
    for row in rows:
        assert (f"| `{row['row']}` | " in page) == bool(row["seconds"])
        assert row["aim"] == indexing.AIM
    assert f"]({name}-ratios.svg)" in page and (tmp_path / f"{name}-ratios.svg").exists()


@pytest.mark.parametrize("library", contraction.PEERS)
def test_all_spellings_of_a_row_of_contraction_compute_the_same(library):
    module = pytest.importorskip(library)
    for job in contraction.jobs(6):
        if job.dtype.startswith("int"):
            continue  # the sums of NumPy's spellings may have another dtype
        rtol = 0.1 if "16" in job.dtype else 1e-4
        for peer, spelling in job.row.spellings():
            if peer == library and not (library == "numpy" and job.dtype == "bfloat16"):
                spaces = operands.spaces(job, {"strided": st, library: module})
                theirs = np.asarray(eval(spelling, spaces[library]))
                ours = as_array(eval(job.row.strided, spaces["strided"]))
                np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol, err_msg=f"{job_name(job)}: {spelling}")


def test_a_quick_run_of_contraction(tmp_path):
    command = [
        sys.executable,
        ROOT / "bench/contraction.py",
        "--quick",
        "--out",
        tmp_path,
        "--json",
        tmp_path / "figures.json",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "figures.json").read_text())["rows"]
    assert len({(row["group"], row["row"]) for row in rows}) == len(rows) > 30
    assert [row["row"] for row in rows if not row["seconds"]] == []


# Options


@pytest.mark.parametrize(
    ("words", "local"),
    [
        ([], False),
        (["--rounds", "3"], False),
        (["--rows", "exp"], True),
        (["--size", "1000"], True),
        (["--quick"], True),
    ],
)
def test_only_a_complete_run_writes_results_that_git_tracks(words, local):
    assert operations.arguments(words).out == book.RESULTS / ("local" if local else "")


def test_options_after_quick_override_its_defaults():
    args = operations.arguments(["--quick", "--size", "77", "--rounds", "9"])
    assert (args.size, args.rounds, args.quick) == (77, 9, True)


@pytest.mark.parametrize("words", [["--rows", "["], ["--size", "0"], ["--rounds", "0"], ["--threads", "0"]])
def test_invalid_options_are_refused(words, capsys):
    with pytest.raises(SystemExit) as caught:
        operations.arguments(words)
    assert caught.value.code == 2
    assert words[0] in capsys.readouterr().err


def test_dev_lists_the_benches():
    done = subprocess.run([sys.executable, ROOT / "dev", "bench", "--list"], capture_output=True, text=True, check=True)
    for path in (ROOT / "bench").glob("[!_]*.py"):
        first = re.match(r'"""(.*)', path.read_text(encoding="utf-8"))[1]
        assert re.search(rf"bench {path.stem} +{re.escape(first)}", done.stdout)
    wrong = subprocess.run([sys.executable, ROOT / "dev", "bench", "nothing"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "operations" in wrong.stderr


# Single functions


def test_a_row_is_skipped_if_strided_fails_and_a_failing_peer_is_left_out():
    class Tensor:
        def work(self):
            return 1

    row = compare.Row("work", "x.work()", ("1 / 0", "x.work()"), ("x.other()",), aim=1e9)
    spaces = {library: {"x": Tensor()} for library in ("strided", "numpy", "torch")}
    result = compare.measure_row(row, spaces, None, rounds=1, pause=0.0)
    assert set(result.seconds) == {"strided", "numpy"} and not result.skipped
    assert result.left_out == {"numpy": "1 / 0: ZeroDivisionError: division by zero", "torch": "torch has no other yet"}
    result = compare.measure_row(row._replace(strided="x.later()"), spaces, None, rounds=1, pause=0.0)
    assert result.skipped and result.ratio is None and not result.misses
    assert result.left_out == {"strided": "strided has no later yet"}
    assert "strided has no later yet" in compare.line(result)


def test_a_ratio_is_to_the_best_peer_that_counts():
    seconds = {"strided": 2.0, "numpy": 4.0, "torch": 1.0}
    result = compare.Result(compare.Row("r", "x", aim=0.7), seconds, 4.0, {})
    assert (result.ratio, result.misses) == (2.0, True)
    result = result._replace(row=result.row._replace(against=("numpy",)))
    assert (result.ratio, result.misses) == (0.5, False)
    assert result._replace(row=result.row._replace(limit=0.4)).misses


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_the_slope_of_a_power_is_its_exponent(exponent):
    slope = scaling.Slope("power", {"strided": {10**k: 3e-9 * 10 ** (k * exponent) for k in range(3, 8)}})
    assert slope.steepness("strided") == pytest.approx(exponent)
    assert slope.last_step("strided") == pytest.approx(exponent)
    assert scaling.Slope("one", {"strided": {10: 1.0}}).steepness("strided") is None


def test_a_gain_below_its_aim_misses():
    assert scaling.Gain("exp", "strided", 3.0, 2.0, 1.7).misses
    assert not scaling.Gain("exp", "strided", 3.5, 2.0, 1.7).misses
    assert not scaling.Gain("exp", "torch", 1.0, 2.0).misses


@pytest.mark.parametrize(
    ("exponent", "words"), [(-10, "0.1 ns"), (-9, "1 ns"), (-5, "10 µs"), (-3, "1 ms"), (-1, "100 ms"), (1, "10 s")]
)
def test_durations(exponent, words):
    assert plot.duration(exponent) == words


def test_names_are_escaped_and_times_of_zero_can_be_drawn():
    name = """<x> & "y" 'z'"""
    root = ET.fromstring(plot.lines(name, name, {name: {1000: 0.0}, "other": {1000: 1.0}}, ["other", name]))
    assert root.get("aria-label") == name
    drawn = [(line.get("data-name"), line.get("class")) for line in root.iter(f"{SVG}polyline")]
    assert drawn == [(name, "line1"), ("other", "line0")]
    root = ET.fromstring(plot.bars(name, name, [plot.Bar(name, name, 9.0, None, False)]))
    assert [bar.get("data-name") for bar in root.iter(f"{SVG}path")] == [name]


def test_names_at_the_ends_of_lines_do_not_cover_each_other():
    series = {f"series {at}": {1000: 1e-6, 10000: 1e-5 + at * 1e-9} for at in range(5)}
    root = ET.fromstring(plot.lines("crowd", "", series, list(series)))
    heights = sorted(float(text.get("y")) for text in root.iter(f"{SVG}text") if text.text in series)
    assert len(heights) == 5
    assert all(below - above > 14.9 for above, below in pairwise(heights))


def test_bars_end_at_their_ratio_and_those_beyond_the_axis_in_an_arrow():
    rows = [
        plot.Bar("half", "g", 0.5, 0.6, False),
        plot.Bar("one", "g", 1.0, 0.6, True),
        plot.Bar("ten", "g", 10, 1, True),
    ]
    root = ET.fromstring(plot.bars("bars", "", rows))
    half, one, ten = root.iter(f"{SVG}path")
    length = [float(re.search(r"h([\d.]+)", bar.get("d"))[1]) for bar in (half, one, ten)]
    assert length[1] == pytest.approx(2 * length[0]) and length[2] == pytest.approx(2 * length[1])
    assert [bar.get("class") for bar in (half, one, ten)] == ["met", "missed", "missed"]
    assert "l8 6l-8 6" in ten.get("d") and "l8" not in one.get("d")


@pytest.mark.parametrize("row", dialects.ROWS, ids=lambda row: row.python)
def test_every_row_of_the_front_ends_runs(row):
    space = dialects.names()
    assert timing.sampler(row.python, space)(1) >= 0 and timing.sampler(row.core, space)(1) >= 0
    if timing.installed("lupa"):
        (sample,) = dialects.lua_samplers(space, [row.lua])
        assert sample(1) >= 0
