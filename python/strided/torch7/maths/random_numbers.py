"""Random numbers: Torch7's generator, so that a seed gives the numbers that Torch7 gives.

A function without a tensor returns a number, with one it fills the tensor. Every function takes a generator as its first
argument, or after the tensor; without one it uses that of the session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import strided as st
from strided.torch7.calls.arguments import entries, is_table, one_based, type_error, zero_based
from strided.torch7.calls.forms import BadArgument, Form, Row, Run
from strided.torch7.calls.results import deliver, new_tensor
from strided.torch7.errors import TorchIndexError, TorchTypeError, TorchValueError
from strided.torch7.maths.generator import Generator, default_generator
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.copying import store
from strided.torch7.tensor.geometry import different_counts, ndim, resize_to
from strided.torch7.types import CLASSES, wrap_tensor

_STATE_BYTES = 5048
#: The dtypes of weights that the engine reads.
_FLOATS = (st.float32, st.float64)


# Numbers and fills: name of Torch7 -> name of the engine, and what is wrong with an argument that it refuses

_ENGINE_NAMES = {"logNormal": "log_normal"}
_SPREAD = (2, "standard deviation must be strictly positive")
_PROBLEMS = {
    "random": (2, "upper bound must be larger than lower bound"),
    "normal": _SPREAD,
    "logNormal": _SPREAD,
    "geometric": (1, "must be > 0 and < 1"),
    "bernoulli": (1, "must be >= 0 and <= 1"),
}


def _parameter_error(name: str, parameters: Sequence[Any]) -> BadArgument:
    if name == "random" and len(parameters) == 1:
        return BadArgument(1, "upper bound must be strictly positive", TorchValueError)
    return BadArgument(*_PROBLEMS[name], TorchValueError)


def _number(name: str) -> Run:
    method = _ENGINE_NAMES.get(name, name)

    def run(generator: Generator, *parameters: Any) -> Any:
        try:
            return getattr(generator._engine, method)(*parameters)
        except (ValueError, OverflowError):
            raise _parameter_error(name, parameters) from None

    return run


def _fill(name: str) -> Run:
    engine_name = _ENGINE_NAMES.get(name, name)

    def run(t: Tensor, generator: Generator, *parameters: Any) -> Tensor:
        core = t._tensor
        try:
            generator._engine.fill(core, engine_name, *parameters)
        except (ValueError, OverflowError):
            if core.layout.is_injective:
                raise _parameter_error(name, parameters) from None
            fresh = run(wrap_tensor(st.empty(core.shape, dtype=core.dtype)), generator, *parameters)
            store(core, fresh._tensor)
        return t

    return run


def _bernoulli_each(t: Tensor, generator: Generator, p: Tensor) -> Tensor:
    core, chances = t._tensor, p._tensor
    if core.numel() != chances.numel():
        raise different_counts(("self", "p"), (core, chances))
    try:
        generator._engine.bernoulli_each(core, chances)
    except ValueError:
        raise _parameter_error("bernoulli", ()) from None
    return t


# Tensors of random numbers


def _sized(name: str) -> Run:
    fill = _fill(name)

    def run(r: Tensor | None, cls: type[Tensor], generator: Generator, sizes: Sequence[int]) -> Tensor:
        if r is None:
            r = new_tensor(cls, sizes)
        else:
            resize_to(r, sizes)
        filled: Tensor = fill(r, generator, 0, 1)
        return filled

    return run


def _randperm(r: Tensor | None, cls: type[Tensor], generator: Generator, n: int) -> Tensor:
    if n <= 0:
        raise BadArgument(1, "must be strictly positive", TorchValueError)
    return deliver(r, one_based(generator._engine.randperm(n).to(cls._dtype)))


def _multinomial(r: Tensor | None, generator: Generator, p: Tensor, n: int, replacement: bool) -> Tensor:
    core = p._tensor
    if not ndim(core):
        raise BadArgument(2, "dimension 1 out of range of 0D tensor", TorchIndexError)
    while core.ndim > 2:  # Torch7 looks at two dims only
        core = core.select(2, 0)
    if n <= 0:
        raise BadArgument(2, "cannot sample n_sample < 0 samples", TorchValueError)
    if not replacement and n > core.size(-1):
        text = "cannot sample n_sample > prob_dist:size(1) samples without replacement"
        raise BadArgument(2, text, TorchValueError)
    if core.dtype not in _FLOATS:
        core = core.to(st.float64)
    try:
        drawn = generator._engine.multinomial(core, n, bool(replacement))
    except ValueError:
        text = "invalid multinomial distribution (sum of probabilities <= 0)"
        raise BadArgument(2, text, TorchValueError) from None
    return deliver(r, one_based(drawn))


def _alias_setup(p: Tensor, j: Tensor | None, q: Tensor | None) -> tuple[Tensor, Tensor]:
    core = p._tensor
    weights = core if core.dtype in _FLOATS else core.to(st.float64)
    try:
        aliases, chances = default_generator()._engine.alias_setup(weights.reshape(-1))
    except ValueError:
        raise BadArgument(2, "q_min is less than 0", TorchValueError) from None
    return deliver(j, one_based(aliases)), deliver(q, chances.to(core.dtype))


def _alias_draw(r: Tensor | None, generator: Generator, j: Tensor, q: Tensor) -> Tensor:
    if r is None:
        r = new_tensor(CLASSES[st.int64], ())
    aliases, chances = zero_based(j._tensor).reshape(-1), q._tensor.reshape(-1)
    if aliases.numel() != chances.numel() or not chances.numel():
        raise different_counts(("J", "q"), (aliases, chances))
    if chances.dtype not in _FLOATS:
        chances = chances.to(st.float64)
    try:
        drawn = generator._engine.alias_draw(r._tensor.numel(), aliases, chances)
    except ValueError:
        raise _parameter_error("bernoulli", ()) from None
    store(r._tensor, one_based(drawn).reshape(r._tensor.shape))
    return r


# Seeds and states


def _signed(seed: int) -> int:
    """A seed as a signed number, which Torch7 returns."""
    return (seed + (1 << 63)) % (1 << 64) - (1 << 63)


def _seed(generator: Generator) -> int:
    return _signed(generator._engine.seed())


def _initial_seed(generator: Generator) -> int:
    return _signed(generator._engine.initial_seed())


def _manual_seed(generator: Generator, seed: int) -> None:
    generator._engine.seed(seed)


def _get_state(generator: Generator, r: Tensor | None) -> Tensor:
    return deliver(r, st.frombuffer(bytearray(generator._engine.state()), dtype=st.uint8))


def _set_state(generator: Generator, state: Tensor | None) -> Tensor:
    if state is None:
        raise BadArgument(1, "RNG state is wrong size", TorchValueError)
    core = state._tensor
    if core.numel() != _STATE_BYTES:
        raise BadArgument(1, "RNG state is wrong size", TorchValueError)
    if not core.is_contiguous():
        raise BadArgument(1, "RNG state needs to be contiguous", TorchValueError)
    try:
        generator._engine.set_state(bytes(memoryview(core.contiguous())))
    except ValueError:
        raise BadArgument(1, "Invalid RNG state", TorchValueError) from None
    return state


def _distribution(name: str, doc: str, words: str) -> Row:
    """The row of a distribution. Its parameters have the type of the tensor in messages, and are read as doubles."""
    example = f">>> torch.manualSeed(1)\n>>> x = torch.{name}({'0.5' if '=' not in words else ''})\n"
    example += f">>> x = torch.Tensor(3).{name}({'0.5' if '=' not in words else ''})"
    own = words.replace("double", "param") if name != "geometric" else words
    forms = (Form(f"Generator {words}", _number(name)), Form(f"self Generator {own}", _fill(name)))
    return Row(name, doc, example, forms)


ROWS: list[Row] = [
    Row(
        "random",
        "Whole numbers: from 1 to a bound, between two bounds, or of any size.",
        ">>> torch.manualSeed(1)\n>>> torch.random(1, 6)\n2\n>>> x = torch.IntTensor(3).random(10)",
        (
            Form("Generator long long", _number("random")),
            Form("Generator long", _number("random")),
            Form("Generator", _number("random")),
            Form("self Generator long long", _fill("random")),
            Form("self Generator long", _fill("random")),
            Form("self Generator", _fill("random")),
        ),
    ),
    _distribution("geometric", "Numbers of trials until the first success, by the probability of failure.", "double"),
    Row(
        "bernoulli",
        "1 with a probability, else 0; a tensor may have a probability for each element.",
        ">>> torch.manualSeed(1)\n>>> torch.bernoulli(1)\n1\n>>> x = torch.Tensor(2).bernoulli(torch.Tensor([0, 1]))",
        (
            Form("Generator double=0.5", _number("bernoulli")),
            Form("self Generator double=0.5", _fill("bernoulli")),
            Form("self Generator Float", _bernoulli_each),
            Form("self Generator Double", _bernoulli_each),
        ),
    ),
    _distribution("uniform", "Numbers between two bounds, 0 and 1 unless given.", "double=0 double=1"),
    _distribution("normal", "Normal numbers with a mean and a standard deviation.", "double=0 double=1"),
    _distribution("cauchy", "Cauchy numbers with a median and a width.", "double=0 double=1"),
    _distribution(
        "logNormal", "Numbers whose logarithm is normal, with its mean and standard deviation.", "double=1 double=2"
    ),
    _distribution("exponential", "Exponential numbers with a rate.", "double"),
    Row(
        "rand",
        "A tensor of uniform numbers between 0 and 1.",
        ">>> torch.rand(2, 3).size().totable()\n[2, 3]",
        (Form("dst cls Generator sizes", _sized("uniform")),),
    ),
    Row(
        "randn",
        "A tensor of normal numbers.",
        ">>> torch.randn(2, 3).size().totable()\n[2, 3]",
        (Form("dst cls Generator sizes", _sized("normal")),),
    ),
    Row(
        "randperm",
        "The numbers from 1 to n in random order.",
        ">>> values, indices = torch.randperm(4).sort()\n>>> values.totable()\n[1.0, 2.0, 3.0, 4.0]",
        (Form("dst cls Generator long", _randperm),),
    ),
    Row(
        "multinomial",
        "Indices drawn by weights, `n` from each row: a LongTensor. Without replacement unless the last argument is True.",
        ">>> torch.multinomial(torch.Tensor([0, 1, 0]), 2, True).totable()\n[2, 2]",
        (Form("dstLong Generator T int boolean=False", _multinomial),),
    ),
    Row(
        "multinomialAliasSetup_",
        "The table of the alias method for weights: see `multinomialAliasSetup`.",
        ">>> j, q = torch.multinomialAliasSetup_(torch.Tensor([0.5, 0.5]))",
        (Form("T dstLong dst", _alias_setup),),
    ),
    Row(
        "multinomialAlias_",
        "Fills a LongTensor with indices drawn by the alias method: see `multinomialAlias`.",
        ">>> j, q = torch.multinomialAliasSetup_(torch.Tensor([0.5, 0.5]))\n"
        ">>> x = torch.DoubleTensor.multinomialAlias_(torch.LongTensor(3), j, q)",
        (Form("dstLong Generator Long T", _alias_draw),),
    ),
]

#: Functions of generators, which are not methods of tensors.
GENERATOR_ROWS: list[Row] = [
    Row(
        "seed",
        "Seeds the generator from the system, and returns the seed.",
        ">>> torch.seed() == torch.initialSeed()\nTrue",
        (Form("Generator", _seed),),
    ),
    Row(
        "initialSeed",
        "The seed that the generator was started with.",
        ">>> torch.manualSeed(123)\n>>> torch.initialSeed()\n123",
        (Form("Generator", _initial_seed),),
    ),
    Row(
        "manualSeed",
        "Starts the generator anew with a seed.",
        ">>> torch.manualSeed(1)\n>>> torch.random()\n1791095845",
        (Form("Generator long", _manual_seed),),
    ),
    Row(
        "getRNGState",
        "The state of the generator, a ByteTensor.",
        ">>> state = torch.getRNGState()\n>>> x = torch.random()\n>>> y = torch.setRNGState(state)\n>>> torch.random() == x\nTrue",
        (Form("Generator newByte", _get_state),),
    ),
    Row(
        "setRNGState",
        "Sets the state of the generator to one that `getRNGState` returned.",
        ">>> x = torch.setRNGState(torch.getRNGState())",
        (Form("Generator newByte", _set_state),),
    ),
]


def multinomialAliasSetup(probs: Tensor, state: Any = None) -> list[Tensor]:
    """Prepares the alias method, which draws from the same weights many times: `[J, q]` for `multinomialAlias`.

    >>> from strided import torch7 as torch
    >>> state = torch.multinomialAliasSetup(torch.Tensor([0.2, 0.4, 0.4]))
    >>> torch.multinomialAlias(torch.LongTensor(4), state).size(1)
    4
    """
    if not isinstance(probs, Tensor):
        raise TorchTypeError("multinomialAliasSetup: a tensor of weights is expected")
    if not is_table(state):
        return list(
            type(probs).multinomialAliasSetup_(probs, new_tensor(CLASSES[st.int64], ()), new_tensor(type(probs), ()))
        )
    pair = type(probs).multinomialAliasSetup_(probs, *_alias_state(state, "multinomialAliasSetup"))
    if isinstance(state, list | dict):
        first = 0 if isinstance(state, list) else 1
        state[first], state[first + 1] = pair
    return state  # type: ignore[no-any-return]


def multinomialAlias(output: Tensor, state: Any) -> Tensor:
    """Fills a LongTensor with indices by the alias method.

    >>> from strided import torch7 as torch
    >>> state = torch.multinomialAliasSetup(torch.Tensor([0.2, 0.4, 0.4]))
    >>> x = torch.multinomialAlias(torch.LongTensor(4), state)
    """
    j, q = _alias_state(state, "multinomialAlias")
    drawn: Tensor = type(q).multinomialAlias_(output, j, q)
    return drawn


def _alias_state(state: Any, name: str) -> Sequence[Any]:
    """The two tensors that `multinomialAliasSetup` made."""
    found = entries(state)[:2]
    if len(found) < 2 or not all(isinstance(value, Tensor) for value in found):
        raise type_error(state, 3, name, "table of two tensors")
    return found


PUBLIC: tuple[Any, ...] = (Generator, multinomialAlias, multinomialAliasSetup)
