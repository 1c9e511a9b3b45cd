"""The cost of a call in the front ends, from Python and from Lua, compared with the same call of the core.

    ./dev bench dialects                       builds for release first
    python bench/dialects.py --json FILE       measures the built module, and writes the figures to a file

A front end reads the arguments of a call as its original does and then calls the core; a row shows what that costs. Lua is
measured if lupa is installed.
"""

import argparse
import json
from typing import Any, NamedTuple

import _timing as timing
import strided as st
from strided import dmlab, torch7

#: ns that a call may take from Python and from Lua.
LIMITS = {"python": 1000, "lua": 8000}

Results = dict[str, dict[str, float]]  # row -> "python", "lua", "core" -> ns


class Row(NamedTuple):
    """One call in Python, in Lua, and of the core.

    `x`, `y` are 8 doubles of Torch7 in one dim, `i` 8 ints, `m` and `e` are 2x2; `l` are 8 doubles of Lab, `l2` is 2x2; `a`, `b`, `k`,
    `n`, `d` are tensors of the core.
    """

    python: str
    lua: str
    core: str


ROWS = [
    Row("x.add(1)", "x:add(1)", "a.add_(1)"),
    Row("x.add(y)", "x:add(y)", "a.add_(b)"),
    Row("x.mul(0.5)", "x:mul(0.5)", "a.mul_(0.5)"),
    Row("x.cmul(y)", "x:cmul(y)", "a.mul_(b)"),
    Row("i.add(1)", "i:add(1)", "k.add_(1)"),
    Row("torch.add(x, 1)", "torch.add(x, 1)", "st.add(a, 1)"),
    Row("torch.add(x, y)", "torch.add(x, y)", "st.add(a, b)"),
    Row("x + y", "z = x + y", "a + b"),
    Row("x * 2", "z = x * 2", "a * 2"),
    Row("x.sqrt()", "x:sqrt()", "a.sqrt_()"),
    Row("x.sum()", "z = x:sum()", "a.sum().item()"),
    Row("x.max()", "z = x:max()", "a.max().item()"),
    Row("x.sum(1)", "z = x:sum(1)", "a.sum(0, True)"),
    Row("x.lt(1)", "z = x:lt(1)", "a < 1"),
    Row("x.fill(1)", "x:fill(1)", "a.fill_(1)"),
    Row("x.uniform()", "x:uniform()", "a.uniform_()"),
    Row("torch.mm(m, m)", "z = torch.mm(m, m)", "st.mm(n, n)"),
    Row("m.addmm(0, 1, m, m)", "m:addmm(0, 1, m, m)", "st.addmm(n, n, n, beta=0, out=n)"),
    Row("torch.zeros(8)", "z = torch.zeros(8)", "st.zeros(8)"),
    Row("x.narrow(1, 2, 3)", "z = x:narrow(1, 2, 3)", "a.narrow(0, 1, 3)"),
    Row("m.select(1, 2)", "z = m:select(1, 2)", "n.select(0, 1)"),
    Row("m.t()", "z = m:t()", "n.t()"),
    Row("x[3]", "z = x[3]", "a[2].item()"),
    Row("m[[1, 2]]", "z = m[{1, 2}]", "n[0, 1].item()"),
    Row("m[[[1, 2], []]]", "z = m[{{1, 2}, {}}]", "n[0:2]"),
    Row("m[[[], 2]]", "z = m[{{}, 2}]", "n[:, 1]"),
    Row("m[[1, 2]] = 0", "m[{1, 2}] = 0", "n[0, 1] = 0"),
    Row("m[[[1, 2], []]] = e", "m[{{1, 2}, {}}] = e", "n[0:2] = d"),
    Row("m[[[], 2]] = 1", "m[{{}, 2}] = 1", "n[:, 1] = 1"),
    Row("x.size(1)", "z = x:size(1)", "a.size(0)"),
    Row("x.clone()", "z = x:clone()", "a.clone()"),
    Row("l.add(1)", "l:add(1)", "a.add_(1)"),
    Row("l2.mmul(l2)", "z = l2:mmul(l2)", "n @ n"),
]


def names() -> dict[str, Any]:
    """The names that the calls use. Elements are 0 and 1, so that repeated calls neither overflow nor become subnormal."""
    ones = torch7.ones(8)
    matrix = torch7.eye(2)
    return {
        "torch": torch7,
        "st": st,
        "x": ones,
        "y": torch7.zeros(8),
        "i": torch7.IntTensor(8).fill(1),
        "m": matrix,
        "e": torch7.eye(2),
        "l": dmlab.DoubleTensor([[1.0] * 8]),
        "l2": dmlab.DoubleTensor([[1.0, 0.0], [0.0, 1.0]]),
        "a": st.ones(8, dtype=st.float64),
        "b": st.zeros(8, dtype=st.float64),
        "k": st.ones(8, dtype=st.int32),
        "n": st.eye(2, dtype=st.float64),
        "d": st.eye(2, dtype=st.float64),
    }


def lua_samplers(space: dict[str, Any], calls: list[str]) -> list[timing.Sample]:
    """Functions that run a call a number of times in Lua and return the seconds."""
    from strided.lua import Lua

    runtime = Lua()
    runtime.execute("torch = require 'torch'")
    for name in ("x", "y", "i", "m", "e", "l", "l2"):
        runtime[name] = space[name]
    samplers = []
    for call in calls:
        # The operands are local variables, as in a script that is fast.
        head = "local torch, x, y, i, m, e, l, l2, clock, z = torch, x, y, i, m, e, l, l2, os.clock"
        loop = f"return function(count) local start = clock() for _ = 1, count do {call} end return clock() - start end"
        samplers.append(runtime.execute(f"{head} {loop}"))
    return samplers


def measure(rounds: int, lua: bool) -> Results:
    """ns per call of each row."""
    space = names()
    entries = [(row.python, kind, getattr(row, kind)) for row in ROWS for kind in ("python", "core")]
    samples = [timing.sampler(text, space) for _, _, text in entries]
    if lua:
        entries += [(row.python, "lua", row.lua) for row in ROWS]
        samples += lua_samplers(space, [row.lua for row in ROWS])
    results: Results = {row.python: {} for row in ROWS}
    for (name, kind, _), seconds in zip(entries, timing.best(samples, rounds), strict=True):
        results[name][kind] = round(seconds * 1e9, 1)
    return results


def table(results: Results) -> list[str]:
    """Aligned lines: ns from Python, from Lua, and of the core."""
    kinds = [kind for kind in ("python", "lua", "core") if any(kind in found for found in results.values())]
    rows = [["call", *kinds]]
    rows += [[name, *(f"{found[kind]:.0f}" for kind in kinds)] for name, found in results.items()]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(widths[at]) if at == 0 else cell.rjust(widths[at]) for at, cell in enumerate(row))
        for row in rows
    ]


def verdict(results: Results) -> str:
    """A sentence that names the rows above the limits."""
    above = [
        f"{name} ({kind})"
        for name, found in results.items()
        for kind, limit in LIMITS.items()
        if found.get(kind, 0) > limit
    ]
    limits = " and ".join(f"{limit} ns from {kind.capitalize()}" for kind, limit in LIMITS.items())
    return f"Above {limits}: {', '.join(above)}." if above else f"Every row is below {limits}."


def main() -> None:
    parser = argparse.ArgumentParser(description="ns per call of the Torch7 and Lab front ends")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to a file")
    parser.add_argument("--rounds", type=int, default=100, help="samples of each call; the best one counts")
    options = parser.parse_args()
    lupa = timing.installed("lupa")
    header = timing.machine(st, lupa)
    print(header)
    print(f"ns per call, best of {options.rounds} interleaved rounds, minus an empty loop\n")
    results = measure(options.rounds, lupa is not None)
    print("\n".join(table(results)))
    print(f"\n{verdict(results)}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": header, "rounds": options.rounds, "rows": results}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
