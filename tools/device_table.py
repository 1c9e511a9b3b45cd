"""Writes the table of operations by device in docs/devices.md, from calls on a device.

python tools/device_table.py             writes the table; it needs a device, and minutes to compile the programs of all calls
python tools/device_table.py --check     exits with code 1 and a message if the table is stale

The calls are those of `tests/device_cases.py`, one for each function and method.
"""

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import strided as st

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
cases, op_rows = import_module("device_cases"), import_module("op_rows")
PAGE = ROOT / "docs/devices.md"
BEGIN, END = "<!-- operations by device: tools/device_table.py -->\n", "<!-- end -->\n"
#: How long a line of the page may be.
WIDTH = 150


def on_gpu() -> dict[str, st.Tensor]:
    """The tensors of the calls, on a device."""
    return {name: st.ones(size, dtype=dtype).gpu() for name, (size, dtype) in cases.TENSORS.items()}


def outcome(call: str) -> str:
    """What a call does: "works", "missing" or "refused"."""
    tensors = on_gpu()
    try:
        eval(call, {"st": st, **tensors, "t": tensors["x"].storage()})
        st.gpu.synchronize()
    except st.DeviceError as error:
        return "missing" if "not available on gpu" in str(error) else "refused"
    except Exception:
        return "works"  # ones are no valid values for every call
    return "works"


def name_of(call: str) -> str:
    found = re.match(r"\w+\.(\w+)", call)
    return found[1] if found else call


def listed(names: set[str]) -> str:
    """Names in alphabetical order."""
    return " ".join(f"`{name}`" for name in sorted(names))


def elementwise(row: Any, operand: str) -> str:
    operands = ["k", operand, operand] if row.accepts == "select" else [operand] * row.arity
    return f"st.{row.name}({', '.join(operands)})"


def table() -> str:
    """The rows of the page."""
    found: dict[str, set[str]] = {"works": set(), "missing": set(), "refused": set()}
    for call in cases.REFUSES.strip().splitlines():
        name = name_of(call)
        if not name.startswith("_"):
            found[outcome(call)].add(name)
    rows = [row for row in op_rows.OPS.values() if hasattr(st, row.name)]
    real = {
        row.name for row in rows if outcome(elementwise(row, "j" if row.accepts in ("bits", "int") else "x")) == "works"
    }
    complex_ = {
        row.name
        for row in rows
        if row.accepts in ("any", "num", "counts", "field", "select") and outcome(elementwise(row, "z")) == "works"
    }
    missing = {row.name for row in rows} - real
    lines = [
        ("elementwise operations", f"all {len(rows)}" + (f" but {listed(missing)}" if missing else "")),
        ("of them, of complex numbers", listed(complex_)),
        ("computed on a GPU", listed(found["works"] - found["missing"])),
        ("not available on a GPU", listed(found["missing"])),
        ("refused: they need memory of the host", listed(found["refused"] - found["works"])),
    ]
    return "| | |\n|---|---|\n" + "".join(f"| {title} | {names} |\n" for title, names in lines)


def main(*arguments: str) -> int:
    if arguments not in ((), ("--check",)):
        print("device_table: takes only --check.", file=sys.stderr)
        return 2
    if not st.gpu.is_available():
        print("device_table: there is no device.", file=sys.stderr)
        return 0 if arguments else 1
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    fresh = head + BEGIN + "\n" + table() + "\n" + END + tail
    if fresh == text:
        return 0
    if arguments:
        print("device_table: docs/devices.md is stale; tools/device_table.py regenerates its table.", file=sys.stderr)
        return 1
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
