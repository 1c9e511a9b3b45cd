"""`strided doctor`: the build, the CPU, threads, devices and optional packages, and whether the module computes right."""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from strided.cli import _output as output

EXAMPLES = """
  strided doctor
  strided doctor --json

exit code: 1 if a check fails
"""
# What each optional package is for.
EXTRAS = {
    "numpy": "arrays that share memory with tensors",
    "rich": "colours, tables and progress bars of this command",
    "lupa": "strided.lua: Lua scripts",
    "zarr": "zarr arrays and groups",
    "hypothesis": "strategies of strided.testing",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    output.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    facts, gpus, packages = build(), devices(), extras()
    checks = {name: _outcome(check) for name, check in CHECKS.items()}
    failed = any(outcome != "ok" for outcome in checks.values())
    if options.json:
        output.print_json({"facts": facts, "devices": gpus, "packages": packages, "checks": checks, "ok": not failed})
        return int(failed)
    for title, rows in (("strided", facts), ("devices", gpus), ("optional packages", packages), ("checks", checks)):
        output.print_title(options, title)
        width = max(map(len, rows))
        for name, value in rows.items():
            print(f"  {name:<{width}}  {value}")
        print()
    print("a check failed" if failed else "all is well")
    return int(failed)


def build() -> dict[str, str]:
    """Facts about the module, the interpreter and the machine."""
    import strided as st
    from strided import _strided

    native = _strided._build_info()
    settings = {name: value for name, value in os.environ.items() if name.startswith("STRIDED_")}
    return {
        "version": st.__version__,
        "module": f"{Path(_strided.__file__ or '').name}, {native['build']}, {native['system']}",
        "Python": f"{platform.python_version()} ({sys.implementation.name})",
        "system": platform.platform(),
        "instructions": f"{native['instructions']}, {native['kernels']} kernels",
        "threads": f"{st.get_num_threads()} of {os.cpu_count()} CPUs",
        "settings": ", ".join(f"{name}={value}" for name, value in settings.items()) or "none (variables STRIDED_…)",
    }


def devices() -> dict[str, str]:
    """The GPUs and the library of OpenCL, or how to get one."""
    import strided as st
    from strided.display.numerals import bytes_text

    found = {"cpu": platform.processor() or platform.machine()}
    try:
        st.gpu.init()
    except st.DeviceError as error:
        return {**found, "gpu": str(error)}
    for number in range(st.gpu.device_count()):
        facts = st.gpu.get_device_properties(number)
        parts = [
            facts.name if facts.kind == "gpu" else f"{facts.name} (a device of kind {facts.kind})",
            f"driver {facts.driver}",
            bytes_text(facts.total_memory),
            "float64" if facts.double else "no float64",
        ]
        found[f"gpu:{number}"] = ", ".join(parts)
    return {**found, "OpenCL": st._strided._gpu_library() or "not loaded"}


def extras() -> dict[str, str]:
    """The versions of optional packages, or what they would add."""
    found = {}
    for name, purpose in EXTRAS.items():
        try:
            found[name] = version(name) if importlib.util.find_spec(name) else f"not installed: {purpose}"
        except PackageNotFoundError:
            found[name] = "installed"
    return found


def _outcome(check: Callable[[], bool]) -> str:
    try:
        return "ok" if check() else "wrong result"
    except Exception as error:  # a check that fails in any way is what the user wants to read
        return f"{type(error).__name__}: {error}"


def _sums() -> bool:
    import strided as st

    x = st.arange(1_000_000, dtype=st.float64).view(1000, 1000)
    return bool(x.sum().item() == 499_999_500_000 and x.t().sum(dim=0).equal(x.sum(dim=1)))


def _views() -> bool:
    import strided as st

    x = st.arange(24).view(2, 3, 4)
    x.permute(2, 0, 1)[1:3, :, ::2].fill_(-1)
    return bool((x == -1).sum().item() == 8)


def _products() -> bool:
    import strided as st

    x = st.arange(64.0).view(8, 8)
    return bool((x @ st.eye(8)).equal(x))


def _shared_memory() -> bool:
    import pickle

    import strided as st

    x = st.arange(5).share_memory_()
    return bool(pickle.loads(pickle.dumps(x)).equal(x))


CHECKS = {"sums": _sums, "views": _views, "matrix products": _products, "shared memory": _shared_memory}
