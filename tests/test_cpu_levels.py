"""All instruction levels of this CPU: `STRIDED_CPU` selects one; exact rows have the same bits, others keep their error bounds."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

import strided as st

TESTS = Path(__file__).resolve().parent
LEVELS = st._strided._cpu_levels()
#: The levels of an architecture.
NAMES = {"x86_64": ["baseline", "avx2", "avx512"], "AMD64": ["baseline", "avx2", "avx512"]}
NAMES |= {machine: ["baseline", "neon"] for machine in ("aarch64", "arm64")}


def run(level, *argv):
    """The output of a separate Python process that uses a level."""
    env = {name: value for name, value in os.environ.items() if name != "STRIDED_CPU"}
    if level is not None:
        env["STRIDED_CPU"] = level
    done = subprocess.run([sys.executable, *argv], env=env, cwd=TESTS, capture_output=True, text=True)
    assert done.returncode == 0, f"at level {level}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def levels_of(value):
    return run(value, "-c", "import strided; print(*strided._strided._cpu_levels())").split()


def test_the_switch_names_the_highest_level_wanted():
    best = levels_of(None)
    assert best[: len(LEVELS)] == LEVELS and best[0] == "baseline"
    names = NAMES.get(platform.machine(), ["baseline"])
    assert best == names[: len(best)]
    assert "neon" not in names or best == names  # every CPU with aarch64 has it
    for count, level in enumerate(best, 1):
        assert levels_of(level) == best[:count]
    # A value that is not a level is ignored, and so is a level of another architecture.
    others = {name for levels in NAMES.values() for name in levels} - set(names)
    for nonsense in ("", "AVX2", "sse9", "avx2 ", "2", *others):
        assert levels_of(nonsense) == best


DIGEST = """
import hashlib
import numpy as np
import strided as st
from test_elementwise import EXACT, GOOD, STEPWISE, arguments
from strategies import COMPLEX, LAYOUTS, values_of
for op, name in GOOD:
    if op in EXACT | STEPWISE | {"sqrt", "deg2rad", "reciprocal"} and not (op == "sqrt" and name in COMPLEX):
        digest = hashlib.sha256()
        for layout in LAYOUTS:
            tensors, _ = arguments(op, name, layout)
            got = values_of(getattr(st, op)(*tensors))
            digest.update(np.where(got == got, got, 0).tobytes())  # which NaN it is depends on the order of operands
        print(op, name, digest.hexdigest())
"""


REDUCED = """
import numpy as np
import strided as st
x = st.from_numpy(np.random.default_rng(5).standard_normal((7, 300, 1031)).astype(np.float32))
for y in (x, x.double(), x.half(), x[:, ::2, ::-1], x.transpose(1, 2)):
    for dim in (None, 0, 1, 2):
        for name in ("sum", "prod", "mean", "var", "norm", "amax", "argmin"):
            print(name, dim, getattr(y, name)(dim=dim).double().sum().item().hex())
    print(y.cumsum(1).double().sum().item().hex(), y.flatten().cumsum(0)[-1].item())
"""


def test_reductions_do_not_depend_on_the_level():
    found = {level: run(level, "-c", REDUCED) for level in LEVELS}
    assert len(set(found.values())) == 1


PRODUCTS = """
import numpy as np
import strided as st
random = np.random.default_rng(5)
for dtype in (st.float32, st.float64):
    x, y = (st.from_numpy(random.standard_normal((9, 1000))).to(dtype) for _ in range(2))
    print((x @ y.t()).numpy().tobytes().hex())
"""


def test_products_use_the_level():
    """Rows times rows are summed in the lanes of a vector register: the bits of each level are different."""
    found = [run(level, "-c", PRODUCTS).splitlines() for level in LEVELS]
    for results in zip(*found, strict=True):
        assert len(set(results)) == len(LEVELS)


def test_exact_rows_do_not_depend_on_the_level():
    found = {level: run(level, "-c", DIGEST).splitlines() for level in LEVELS}
    assert len(found["baseline"]) > 300
    for level in LEVELS:
        assert found[level] == found["baseline"], level


@pytest.mark.slow  # CI runs samples of all tests of kernels at these levels
@pytest.mark.parametrize("level", LEVELS[:-1])
def test_the_other_levels_are_as_accurate(level):
    """Tests of hostile arguments, limits, special values and halves, at the levels below that of this process."""
    files = ["test_elementwise.py", "test_special_values.py", "test_division.py", "test_transposed.py", "test_sum.py"]
    chosen = [
        *files,
        "-k",
        "hostile or last_finite or special_cases or test_limits or every_half or reversed or one_nan",
    ]
    done = run(level, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen)
    assert " passed" in done and " failed" not in done


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="protects pages by the system's own calls")
@pytest.mark.parametrize("level", LEVELS)
def test_no_operation_reads_or_writes_beyond_a_tensor(level):
    assert run(level, "guard_pages.py").endswith("done\n")
