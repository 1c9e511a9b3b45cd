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


def root(size: int, power: int = 2) -> int:
    """Returns the extent of a square matrix of exactly that size, or of a tensor of more equal dims."""
    return max(round(size ** (1 / power)), 1)


def _drawn(name: str, dtype: str, count: int) -> np.ndarray:
    """Draws values as a NumPy array. bfloat16, which NumPy does not have, is float32."""
    rng = np.random.default_rng(sum(name.encode()))
    positive = name == "p"
    if dtype == "uint8":
        return rng.integers(0, 256, count, np.uint8)
    if dtype.startswith("int"):
        return rng.integers(1 if positive else -1000, 1000, count, dtype)
    kind = "float32" if dtype == "bfloat16" else dtype
    if name == "sparse":
        return (rng.integers(0, 2, count) * rng.standard_normal(count)).astype(kind)
    if name == "unit":  # repeated multiplication in place keeps magnitudes
        return rng.choice([-1.0, 1.0], count).astype(kind)
    return (rng.uniform(0.5, 100.0, count) if positive else rng.standard_normal(count)).astype(kind)


def _flat(size: int) -> tuple[int, ...]:
    return (size,)


def _square(size: int) -> tuple[int, ...]:
    return (side(size), side(size))


def _some(size: int) -> int:
    """Returns how many elements an index selects: 2M of ten million."""
    return max(size // 5, min(size, 8))


def _thin(size: int) -> int:
    """Returns the number of rows of a matrix with 8 columns."""
    return max(size // 8, 1)


#: The shape of each operand, given the size of the row. `p` is positive, `unit` is 1 or -1, half of `sparse` is 0.
SHAPES: dict[str, Callable[[int], tuple[int, ...]]] = {
    "x": _flat,
    "y": _flat,
    "p": _flat,
    "unit": _flat,
    "M": _square,
    "M2": _square,
    "row": lambda size: (side(size),),
    "col": lambda size: (side(size), 1),
    "sparse": _flat,
    "part": lambda size: (_some(size),),
    "thin": lambda size: (_thin(size), 8),
    "A": lambda size: (root(size), root(size)),
    "B": lambda size: (root(size), root(size)),
    "v": lambda size: (root(size),),
    "wide": lambda size: (2 * root(size), 2 * root(size)),
    "batch1": lambda size: (256, root(size), root(size)),
    "batch2": lambda size: (256, root(size), root(size)),
    "T": lambda size: (root(size, 4),) * 4,
    "U": lambda size: (root(size, 4),) * 4,
    "N": lambda size: (root(size, 4),) * 2,
}

#: Operands of a dtype of their own: shape, dtype and the end of the range of their random values.
INDICES: dict[str, tuple[Callable[[int], tuple[int, ...]], str, Callable[[int], int]]] = {
    "mask": (_flat, "bool", lambda size: 2),
    "idx": (lambda size: (_some(size),), "int64", lambda size: size),
    "lines": (lambda size: (side(size),), "int64", side),
    "thin_lines": (lambda size: (_thin(size),), "int64", _thin),
    "at": (_square, "int64", side),
}

#: Operands that are lists of parts of `x`, by their number.
PIECES = {"pieces": 100}


def arrays(job: Job) -> dict[str, np.ndarray]:
    """Returns the operands that any spelling of a job names."""
    words = {word for _, spelling in job.row.spellings() for word in re.findall(r"\w+", spelling)}
    if words & PIECES.keys():
        words.add("x")
    wanted = [name for name in SHAPES if name in words]
    made = {name: np.resize(_drawn(name, job.dtype, min(job.size, DRAWN)), SHAPES[name](job.size)) for name in wanted}
    for name, (shape, dtype, end) in INDICES.items():
        if name in words:
            rng = np.random.default_rng(sum(name.encode()))
            made[name] = rng.integers(0, end(job.size), shape(job.size)).astype(dtype)
    return made


def pieces(x: Any, count: int) -> list[Any]:
    """Returns views of equal parts of a vector of any library."""
    length = max(len(x) // count, 1)
    return [x[at : at + length] for at in range(0, length * min(count, len(x)), length)]


def spaces(job: Job, modules: Mapping[str, Any], crew: Crew | None = None) -> dict[str, dict[str, Any]]:
    """Returns the name space of each library: its own operands, and the library under its usual short name."""
    st, found = modules["strided"], arrays(job)

    def dtype_of(name: str, library: Any, dtype: str) -> Any:
        return getattr(library, INDICES[name][1] if name in INDICES else dtype)

    def ours(dtype: str) -> dict[str, Any]:
        return {name: st.tensor(array).to(dtype_of(name, st, dtype)) for name, array in found.items()} | {"st": st}

    made: dict[str, dict[str, Any]] = {"strided": ours(job.dtype)}
    libraries = {library for library, _ in job.row.spellings()}
    if OWN_FLOAT32 in libraries:
        made[OWN_FLOAT32] = ours("float32")
    if "numpy" in modules:
        made["numpy"] = {name: array.copy() for name, array in found.items()}
        made["numpy"] |= {"np": np, "rng": np.random.default_rng(0)}
    if torch := modules.get("torch"):
        made["torch"] = {
            name: torch.tensor(array).to(dtype_of(name, torch, job.dtype)) for name, array in found.items()
        }
        made["torch"]["torch"] = torch
    if jax := modules.get("jax"):
        made["jax"] = {name: jax.numpy.asarray(array, job.dtype) for name, array in found.items()}
        made["jax"]["jnp"] = jax.numpy
    if numexpr := modules.get("numexpr"):
        made["numexpr"] = {name: array.copy() for name, array in found.items()} | {"ne": numexpr}
    if crew and "machine" in libraries:
        made["machine"] = {name: array.copy() for name, array in found.items()} | {"np": np, "crew": crew}
    words = {word for _, spelling in job.row.spellings() for word in re.findall(r"\w+", spelling)}
    for space in made.values():
        space |= {name: pieces(space["x"], count) for name, count in PIECES.items() if name in words}
    return {library: space for library, space in made.items() if library in libraries}
