"""The operands of benchmark rows, `x`, `y`, `M` and others, which are created for each row and library."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from _compare import Crew, Row

#: A further peer: strided itself with float32 operands, for rows about float16 and bfloat16.
OWN_FLOAT32 = "strided float32"

#: The number of random values that are drawn; longer operands repeat them.
DRAWN = 1_000_000


class Job(NamedTuple):
    """A row with the dtype and size of its operands."""

    row: Row
    dtype: str
    size: int


def side(size: int) -> int:
    """Returns the extent of a square matrix of about that size: 3000 for ten million."""
    return max(round(math.sqrt(0.9 * size)), 1)


def _drawn(name: str, dtype: str, count: int) -> np.ndarray:
    """Draws values as a NumPy array. bfloat16, which NumPy does not have, is float32."""
    rng = np.random.default_rng(sum(name.encode()))
    positive = name == "p"
    if dtype == "uint8":
        return rng.integers(0, 256, count, np.uint8)
    if dtype.startswith("int"):
        return rng.integers(1 if positive else -1000, 1000, count, dtype)
    kind = "float32" if dtype == "bfloat16" else dtype
    if name == "unit":  # repeated multiplication in place keeps magnitudes
        return rng.choice([-1.0, 1.0], count).astype(kind)
    return (rng.uniform(0.5, 100.0, count) if positive else rng.standard_normal(count)).astype(kind)


def _flat(size: int) -> tuple[int, ...]:
    return (size,)


def _square(size: int) -> tuple[int, ...]:
    return (side(size), side(size))


#: The shape of each operand, given the size of the row. `p` is positive, `unit` is 1 or -1.
SHAPES: dict[str, Callable[[int], tuple[int, ...]]] = {
    "x": _flat,
    "y": _flat,
    "p": _flat,
    "unit": _flat,
    "M": _square,
    "M2": _square,
    "row": lambda size: (side(size),),
    "col": lambda size: (side(size), 1),
}


def arrays(job: Job) -> dict[str, np.ndarray]:
    """Returns the operands that any spelling of a job names."""
    words = {word for _, spelling in job.row.spellings() for word in re.findall(r"\w+", spelling)}
    wanted = [name for name in SHAPES if name in words]
    return {name: np.resize(_drawn(name, job.dtype, min(job.size, DRAWN)), SHAPES[name](job.size)) for name in wanted}


def spaces(job: Job, modules: Mapping[str, Any], crew: Crew | None = None) -> dict[str, dict[str, Any]]:
    """Returns the name space of each library: its own operands, and the library under its usual short name."""
    st, found = modules["strided"], arrays(job)
    made: dict[str, dict[str, Any]] = {
        "strided": {name: st.tensor(array).to(getattr(st, job.dtype)) for name, array in found.items()} | {"st": st},
    }
    libraries = {library for library, _ in job.row.spellings()}
    if OWN_FLOAT32 in libraries:
        made[OWN_FLOAT32] = {name: st.tensor(array).to(st.float32) for name, array in found.items()} | {"st": st}
    if "numpy" in modules:
        made["numpy"] = {name: array.copy() for name, array in found.items()} | {"np": np}
    if torch := modules.get("torch"):
        dtype = getattr(torch, job.dtype)
        made["torch"] = {name: torch.tensor(array).to(dtype) for name, array in found.items()} | {"torch": torch}
    if jax := modules.get("jax"):
        made["jax"] = {name: jax.numpy.asarray(array, job.dtype) for name, array in found.items()}
        made["jax"]["jnp"] = jax.numpy
    if numexpr := modules.get("numexpr"):
        made["numexpr"] = {name: array.copy() for name, array in found.items()} | {"ne": numexpr}
    if crew and "machine" in libraries:
        made["machine"] = {name: array.copy() for name, array in found.items()} | {"np": np, "crew": crew}
    return {library: space for library, space in made.items() if library in libraries}
