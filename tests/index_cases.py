"""Random calls of everything that reads or writes by index, each compared with its model: for tests and for the fuzzer.

A case has operands, a statement as Python source, the same statement as a function of tensors, and a model of it as a
function of arrays. `check` runs both and compares the result, all storages, and whether the call is refused.
"""

import warnings

import indexing_models as models
import numpy as np
from index_expressions import TENSOR_INDEX, random_key
from random_tensors import (
    ANY,
    ORDERED,
    PRELUDE,
    SMALL,
    Operand,
    broadcastable,
    random_index,
    random_operand,
    random_shape,
    rounded,
    window,
)
from strategies import COMPLEX, DTYPES, INTS, is_same, values_of

import strided as st

REFUSALS = (IndexError, ValueError, TypeError, RuntimeError, OverflowError)


class Difference(AssertionError):
    """A case and what went wrong, as source that shows it."""


class Case:
    """One call. `run` and `model` take the operands by name, as tensors and as arrays.

    `target` is the operand that is written, if any. `copy` and `view` say what the result must be. `may_refuse` allows
    strided to refuse what the model accepts. `close` allows errors of a few ULP.
    """

    def __init__(self, label, operands, text, run, model, **options):
        self.label, self.operands, self.text, self.run, self.model = label, operands, text, run, model
        self.target = options.pop("target", None)
        self.view = options.pop("view", None)
        self.may_refuse = options.pop("may_refuse", False)
        self.close = options.pop("close", False)
        assert not options

    def source(self):
        """The case as a program."""
        lines, shared = [], {}
        for name, operand in self.operands.items():
            twin = shared.setdefault(id(operand.elements), name)
            if twin == name and sum(other.elements is operand.elements for other in self.operands.values()) > 1:
                lines.append(f"{name}_storage = {operand.source_of_base()}")
            is_shared = any(line.startswith(f"{twin}_storage") for line in lines)
            lines.append(f"{name} = {operand.source(f'{twin}_storage' if is_shared else None)}")
        return PRELUDE + "\n".join([*lines, self.text])

    def fail(self, sentence):
        raise Difference(f"{self.source()}\n# {sentence}")

    def check(self):
        """Compares the call with the model. Returns whether it was accepted."""
        operands = self.operands.values()
        bases = {id(operand.elements): operand.base() for operand in operands}
        tensors = {name: operand.on(bases[id(operand.elements)]) for name, operand in self.operands.items()}
        arrays = {name: operand.array() for name, operand in self.operands.items()}
        wanted, expected = outcome(self.model, arrays)
        got, refused = outcome(self.run, tensors)
        contents = {id(operand.elements): operand.elements for operand in operands}
        if expected is not None:
            self.check_refusal(got, refused, expected)
        elif refused is not None:
            # NumPy does not compare the extents of a mask without elements.
            of_empty_mask = "a mask of shape" in str(refused) and np.size(wanted) == 0
            if not (isinstance(refused, REFUSALS) and (self.may_refuse or of_empty_mask)):
                self.fail(f"{type(refused).__name__}: {refused}; wanted {describe(wanted)}")
        elif self.target is None:
            self.check_result(got, wanted)
        else:
            operand = self.operands[self.target]
            name = operand.name
            changed = operand.elements.copy()
            if wanted.shape != operand.shape:
                self.fail(f"the model has shape {wanted.shape}, the target {operand.shape}")
            operand.on(changed)[...] = rounded(wanted, name)
            contents[id(operand.elements)] = changed
            if got is not None and got is not tensors[self.target]:
                self.fail("the result is not the target")
        for operand in operands:
            found, right = values_of(bases[id(operand.elements)]), contents[id(operand.elements)]
            if not self.agree(found, right):
                word = "refused, but the storage" if refused is not None else "the storage"
                self.fail(f"{word} is {found.tolist()}, wanted {right.tolist()}")
        return refused is None

    def check_refusal(self, got, refused, expected):
        if refused is None:
            self.fail(f"wanted {type(expected).__name__}: {expected}; got {describe(got)}")
        if not isinstance(refused, REFUSALS):
            self.fail(f"{type(refused).__name__}: {refused}; wanted {type(expected).__name__}: {expected}")
        if isinstance(expected, IndexError) and not isinstance(refused, (IndexError, TypeError)):
            self.fail(f"{type(refused).__name__}: {refused}; wanted IndexError: {expected}")
        if not str(refused):
            self.fail(f"{type(refused).__name__} has no message")

    def check_result(self, got, wanted):
        if isinstance(wanted, tuple):
            if not isinstance(got, tuple) or len(got) != len(wanted):
                self.fail(f"got {describe(got)}, wanted {len(wanted)} tensors")
            for one, model in zip(got, wanted, strict=True):
                self.check_result(one, model)
            return
        if not isinstance(got, st.Tensor):
            self.fail(f"got {describe(got)}, wanted a tensor")
        # A result has the dtype of the first operand, but positions are int64.
        first = next(iter(self.operands.values()))
        name = "int64" if wanted.dtype == np.int64 else first.name
        if got.dtype.name != name:
            self.fail(f"the result is {got.dtype}, wanted {name}")
        wanted = rounded(wanted, name)
        if not self.agree(values_of(got), wanted):
            self.fail(f"got {describe(got)}, wanted {describe(wanted)}")
        if self.view is False and not got.is_contiguous():
            self.fail(f"the result has strides {got.stride()}, wanted row-major order")

    def agree(self, got, wanted):
        if is_same(got, wanted):
            return True
        if not self.close or got.shape != wanted.shape or got.dtype != wanted.dtype:
            return False
        return bool(np.allclose(got, wanted, rtol=4 * np.finfo(got.dtype).eps, atol=0, equal_nan=True))


def outcome(function, operands):
    """The result of a call, or the exception it raised."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(**operands), None
    except Exception as error:
        return None, error


def describe(value):
    if isinstance(value, st.Tensor):
        return f"{value.tolist()} (shape {tuple(value.shape)}, {value.dtype})"
    return f"{value.tolist()} (shape {value.shape})" if isinstance(value, np.ndarray) else repr(value)


# x[key] and x[key] = values


def keyed(r, overlap, large):
    """A tensor and a key for it, now and then large enough for several threads."""
    name = r.choice(DTYPES)
    if not large:
        x = random_operand(r, name, random_shape(r), overlap=overlap)
        return x, random_key(r, x.shape)
    x = random_operand(r, name, random_shape(r, 1, 3, 1, 200, 20_000), overlap=overlap)
    return x, random_key(r, x.shape, side=100, most=3000)


def read_case(r, large=False):
    x, key = keyed(r, overlap=True, large=large)
    return Case(
        "x[key]",
        {"x": x},
        f"print(x[{key.text}])",
        lambda x: x[key.ours],
        lambda x: models.read(x, key.model),
        view=key.is_basic,
        # NumPy does not look at indices if none are left after broadcasting.
        may_refuse=key.spoilt and has_no_elements(x.shape, key),
    )


def has_no_elements(shape, key):
    try:
        return models.positions(shape, key.model).size == 0
    except IndexError:
        return False


def write_case(r, large=False):
    """Writes a tensor of the same or another dtype, a view of the target, an array, nested lists, or a number."""
    x, key = keyed(r, overlap=False, large=large)
    name = x.name
    try:
        shape = models.positions(x.shape, key.model).shape
    except IndexError:
        shape = (2,)
    shape = (*(1,) * r.choice((0, 0, 0, 0, 1)), *broadcastable(r, shape))
    if r.random() < 0.04:
        shape = (*shape[:-1], 5)
    options = {"target": "x", "may_refuse": key.spoilt and has_no_elements(x.shape, key)}
    kind = r.choice(("tensor", "tensor", "cast", "window", "array", "list", "number"))
    v = window(r, x, shape) if kind == "window" else None
    if v is None:
        v = random_operand(r, r.choice(DTYPES) if kind == "cast" else name, shape, SMALL if kind == "cast" else ANY)
    values = v.array()
    if kind == "number" or ((name == "bfloat16" or 0 in shape) and kind in ("array", "list")):
        number = r.choice(SMALL[name])
        plain, model, text = number, np.asarray(number), repr(number)
    elif kind == "array":
        plain, model, text = values, values, f"np.array({values.tolist()}, np.{values.dtype})"
    elif kind == "list":
        plain, model, text = values.tolist(), values, repr(values.tolist())
    else:
        cast = values_of(v.tensor().to(x.tensor().dtype)).copy() if kind == "cast" else values

        def assign_tensor(x, v):
            x[key.ours] = v

        model = lambda x, v: models.write(x, key.model, cast)  # noqa: E731
        return Case(
            f"x[key] = {kind}", {"x": x, "v": v}, f"x[{key.text}] = v\nprint(x)", assign_tensor, model, **options
        )

    def assign(x):
        x[key.ours] = plain

    return Case(
        f"x[key] = {kind}",
        {"x": x},
        f"x[{key.text}] = {text}\nprint(x)",
        assign,
        lambda x: models.write(x, key.model, model),
        **options,
    )


def own_index_case(r):
    """The index shares the storage of the target."""
    name = r.choice(TENSOR_INDEX)
    n = r.randint(1, 9)
    x = random_operand(r, name, (n,), list(range(-n if not name.startswith("u") and r.random() < 0.5 else 0, n)), False)
    i = window(r, x, random_shape(r, 1, 2, 1, 4, 6)) or x
    number = r.choice((0, 1, 100))

    def assign(x, i):
        x[i] = number

    return Case(
        "x[window of x] = number",
        {"x": x, "i": i},
        f"x[i] = {number}\nprint(x)",
        assign,
        lambda x, i: models.write(x, (i,), np.asarray(number)),
        target="x",
    )


# PyTorch's functions: each makes its operands and other arguments. The first operand is the tensor itself.


class Call:
    """The arguments of a function. The positional argument number `source` may be a view of x; `options` are a case's."""

    def __init__(self, x, *args, source=None, options=(), **keywords):
        self.x, self.args, self.keywords, self.source, self.options = x, args, keywords, source, dict(options)


def some_dtype(r, *, real=False, no_bool=False):
    return r.choice([n for n in DTYPES if not (real and n in COMPLEX) and not (no_bool and n == "bool")])


def some_dim(r, rank):
    rank = max(rank, 1)
    return r.randint(-rank, rank - 1) if r.random() < 0.97 else r.choice((rank, -rank - 1))


def indices(r, shape, extent, negative=False):
    """Indices into an extent, of any integer dtype. A few are out of range."""
    low, high = -extent if negative and r.random() < 0.5 else 0, extent - 1
    if r.random() < 0.04:
        low, high = low - 1, high + 1
    if extent == 0 and r.random() < 0.8:
        shape = (*shape[:-1], 0) if shape else (0,)
    if r.random() < 0.01:
        return Operand("int64", r.choices((0, 2**63 - 1, -(2**63)), k=int(np.prod(shape))), shape)
    return random_index(r, r.choice(INTS if not negative else TENSOR_INDEX), shape, low, high)


def slice_of(r, x):
    """A dim, an index of one dim, and the shape of as many slices."""
    dim = some_dim(r, len(x.shape))
    at = dim % max(len(x.shape), 1)
    extent = x.shape[at] if x.shape else 1
    count = r.choice((0, 1, 2, 3, 5)) if x.shape else 1
    index = indices(r, (count,) if r.random() < 0.93 or count != 1 else (), extent)
    count = int(np.prod(index.shape))
    shape = (*x.shape[:at], count, *x.shape[at + 1 :]) if x.shape else ()
    if r.random() < 0.03:
        shape = (*shape[:-1], 7)
    return dim, index, shape


def target(r, values=ANY, max_rank=4, **kind):
    return random_operand(r, some_dtype(r, **kind), random_shape(r, 0, max_rank, 0, 4, 60), values, overlap=False)


def index_select(r):
    x = target(r)
    dim, index, _ = slice_of(r, x)
    return Call(x, dim, index)


def index_copy(r):
    x = target(r)
    dim, index, shape = slice_of(r, x)
    return Call(x, dim, index, random_operand(r, x.name, shape), source=2)


def index_add(r):
    x = target(r, SMALL)
    dim, index, shape = slice_of(r, x)
    keywords = {"alpha": r.choice([1, 2] if x.name.startswith("u") else [1, 2, -1])} if r.random() < 0.5 else {}
    if x.name == "bool":
        keywords = {}
    return Call(x, dim, index, random_operand(r, x.name, shape, SMALL), source=2, **keywords)


def reduction(r, names):
    """A reduction, its keywords, and the target that it accepts."""
    reduce = r.choice(names)
    keywords = {"include_self": r.random() < 0.5} if r.random() < 0.7 else {}
    extreme = reduce in ("amax", "amin")
    values = ORDERED if extreme else SMALL
    return reduce, keywords, target(r, values, real=extreme, no_bool=True), values


def index_reduce(r):
    reduce, keywords, x, values = reduction(r, ("prod", "mean", "amax", "amin"))
    dim, index, shape = slice_of(r, x)
    source = random_operand(r, x.name, shape, values)
    return Call(x, dim, index, source, reduce, source=2, options={"close": x.name in COMPLEX}, **keywords)


def index_fill(r):
    x = target(r)
    dim, index, _ = slice_of(r, x)
    value = random_operand(r, x.name, (), SMALL) if r.random() < 0.3 else r.choice(SMALL[x.name])
    return Call(x, dim, index, value)


def index_put(r):
    x = target(r, SMALL)
    common, made, dim = random_shape(r, 0, 2, 0, 3, 6), [], 0
    if r.random() < 0.3:
        common = common[-1:]
    while dim < len(x.shape) and (r.random() < 0.8 or not made):
        extent, chance = x.shape[dim], r.random()
        if chance < 0.2 and len(common) < 2:
            count = min(common[0] if common else 1, extent)
            mask = [True] * count + [False] * (extent - count)
            r.shuffle(mask)
            made.append(Operand("bool", mask, (extent,)))
        else:
            made.append(indices(r, broadcastable(r, common), extent, negative=True))
        dim += 1
    if not made:
        made.append(Operand("bool", [True], ()))
    try:
        shape = models.positions(x.shape, tuple(index.array() for index in made)).shape
    except IndexError:
        shape = ()
    values = random_operand(r, x.name, broadcastable(r, shape), SMALL)
    keywords = {"accumulate": r.random() < 0.6} if r.random() < 0.8 else {}
    # PyTorch accepts no index for a tensor of rank 0.
    return Call(x, tuple(made), values, source=1, options={"may_refuse": not x.shape}, **keywords)


def flat_index(r, x):
    size = int(np.prod(x.shape))
    return indices(r, random_shape(r, 0, 3, 0, 4, 12), size, negative=True)


def take(r):
    x = target(r)
    return Call(x, flat_index(r, x))


def put(r):
    x = target(r, SMALL)
    index = flat_index(r, x)
    shape = index.shape if r.random() < 0.7 else (int(np.prod(index.shape)) + (r.random() < 0.05),)
    keywords = {"accumulate": r.random() < 0.6} if r.random() < 0.8 else {}
    return Call(x, index, random_operand(r, x.name, shape, SMALL), source=1, **keywords)


def take_along_dim(r):
    x = target(r)
    if r.random() < 0.2:
        return Call(x, flat_index(r, x))
    rank = len(x.shape)
    if rank == 0:
        return Call(x, indices(r, random_shape(r, 0, 1), 1, negative=True), 0 if r.random() < 0.5 else -1)
    dim = r.randint(-rank, rank - 1)
    shape = [extent if r.random() < 0.8 else 1 for extent in x.shape]
    shape[dim] = r.randint(0, 4)
    return Call(x, indices(r, tuple(shape), x.shape[dim], negative=True), dim)


def element_index(r, x):
    """A dim and an index of the rank of a tensor, not larger than it in other dims."""
    dim = some_dim(r, len(x.shape))
    at = dim % max(len(x.shape), 1)
    if not x.shape:
        return dim, indices(r, () if r.random() < 0.6 else (r.randint(0, 2),), 1)
    shape = [r.randint(max(extent - 1, 0), extent) for extent in x.shape]
    shape[at] = r.randint(0, 5)
    if r.random() < 0.03:
        shape[r.randrange(len(shape))] += 1
    index = indices(r, tuple(shape), x.shape[at])
    return dim, index


def gather(r):
    x = target(r)
    dim, index = element_index(r, x)
    return Call(x, dim, index)


def source_of(r, x, index, values):
    shape = tuple(extent + (r.random() < 0.2) for extent in index.shape)
    if r.random() < 0.03 and shape:
        shape = (*shape[:-1], max(index.shape[-1] - 1, 0))
    return random_operand(r, x.name, shape, values)


def scatter(r):
    reduce = r.choice((None, None, "add", "multiply"))
    values = SMALL if reduce else ANY
    x = target(r, values, no_bool=bool(reduce))
    dim, index = element_index(r, x)
    keywords = {"reduce": reduce} if reduce else {}
    if r.random() < 0.3:
        return Call(x, dim, index, r.choice(SMALL[x.name]), **keywords)
    return Call(x, dim, index, source_of(r, x, index, values), source=2, options=unchecked(index), **keywords)


def unchecked(index):
    """With an index without elements, PyTorch accepts any src."""
    return {"may_refuse": 0 in index.shape}


def scatter_add(r):
    x = target(r, SMALL)
    dim, index = element_index(r, x)
    return Call(x, dim, index, source_of(r, x, index, SMALL), source=2, options=unchecked(index))


def scatter_reduce(r):
    reduce, keywords, x, values = reduction(r, ("sum", "prod", "mean", "amax", "amin"))
    dim, index = element_index(r, x)
    source = source_of(r, x, index, values)
    options = {"close": x.name in COMPLEX, **unchecked(index)}
    return Call(x, dim, index, source, reduce, source=2, options=options, **keywords)


def mask_for(r, x, may_be_larger=True):
    shape = x.shape if r.random() < 0.6 else broadcastable(r, x.shape)
    if may_be_larger and r.random() < 0.2:
        shape = (2, *x.shape)
    if r.random() < 0.03:
        shape = (*shape, 7)
    return random_operand(r, "bool" if r.random() < 0.75 else "uint8", shape, [0, 1])


def masked_select(r):
    x = random_operand(r, r.choice(DTYPES), random_shape(r, 0, 4, 0, 4, 60))
    return Call(x, mask_for(r, x))


def masked_fill(r):
    x = target(r)
    value = random_operand(r, x.name, (), SMALL) if r.random() < 0.3 else r.choice(SMALL[x.name])
    return Call(x, mask_for(r, x), value)


def masked_scatter(r):
    x = target(r)
    mask = mask_for(r, x)
    try:
        size = int(np.prod(np.broadcast_shapes(x.shape, mask.shape)))
    except ValueError:
        size = 1
    shape = (size,) if r.random() < 0.7 else (2, (size + 1) // 2)
    if r.random() < 0.15:
        shape = (size // 2,)
    return Call(x, mask, random_operand(r, x.name, shape), source=1)


def nonzero(r):
    x = random_operand(r, r.choice(DTYPES), random_shape(r, 0, 5, 0, 4, 60), SMALL)
    return Call(x, **({"as_tuple": r.random() < 0.7} if r.random() < 0.7 else {}))


def argwhere(r):
    return Call(random_operand(r, r.choice(DTYPES), random_shape(r, 0, 5, 0, 4, 60), SMALL))


where = argwhere


def select_scatter(r):
    x = target(r)
    rank = len(x.shape)
    dim = some_dim(r, rank)
    at = dim % max(rank, 1)
    extent = x.shape[at] if rank else 1
    index = r.randint(-extent, max(extent - 1, 0)) if r.random() < 0.95 else r.choice((extent, -extent - 1))
    shape = (*x.shape[:at], *x.shape[at + 1 :])
    return Call(x, random_operand(r, x.name, wrong_sometimes(r, shape)), dim, index, source=0)


def wrong_sometimes(r, shape):
    return (*shape, 3) if r.random() < 0.03 else shape


def slice_scatter(r):
    x = target(r)
    rank = len(x.shape)
    dim = some_dim(r, rank)
    at = dim % max(rank, 1)
    extent = x.shape[at] if rank else 1

    def bound():
        return None if r.random() < 0.3 else r.randint(-extent - 2, extent + 2)

    start, end, step = bound(), bound(), r.choice((1, 1, 2, 3))
    count = len(range(*slice(start, end, step).indices(extent)))
    shape = (*x.shape[:at], count, *x.shape[at + 1 :])
    return Call(x, random_operand(r, x.name, wrong_sometimes(r, shape)), dim, start, end, step, source=0)


def diagonal_scatter(r):
    x = target(r)
    rank = len(x.shape)
    if rank < 2:
        return Call(x, random_operand(r, x.name, (1,)), source=0)
    dim1, dim2 = r.sample(range(rank), 2)
    dim1 = dim1 if r.random() < 0.7 else dim1 - rank
    offset = r.randint(-4, 4)
    shape = np.diagonal(x.array(), offset, dim1, dim2).shape
    return Call(x, random_operand(r, x.name, wrong_sometimes(r, shape)), offset, dim1, dim2, source=0)


def fill_diagonal(r):
    x = target(r)
    if r.random() < 0.8:
        extent = r.randint(0, 4)
        shape = (r.randint(0, 9), extent) if r.random() < 0.7 else (extent,) * 3
        x = random_operand(r, x.name, shape, overlap=False)
    return Call(x, r.choice(SMALL[x.name]), **({"wrap": r.random() < 0.7} if r.random() < 0.7 else {}))


ALL = ("function", "method", "in place", "out")
NO_OUT = ALL[:3]
READS = ("function", "method", "out")
NEW = ("function", "method")

#: name -> (maker of calls, forms)
FUNCTIONS = {
    "index_select": (index_select, READS),
    "index_copy": (index_copy, ALL),
    "index_add": (index_add, ALL),
    "index_reduce": (index_reduce, ALL),
    "index_fill": (index_fill, NO_OUT),
    "index_put": (index_put, NO_OUT),
    "take": (take, READS),
    "take_along_dim": (take_along_dim, READS),
    "put": (put, NO_OUT),
    "gather": (gather, READS),
    "scatter": (scatter, ALL),
    "scatter_add": (scatter_add, ALL),
    "scatter_reduce": (scatter_reduce, ALL),
    "masked_select": (masked_select, READS),
    "masked_fill": (masked_fill, NO_OUT),
    "masked_scatter": (masked_scatter, NO_OUT),
    "masked_copy": (masked_scatter, NO_OUT),
    "nonzero": (nonzero, NEW),
    "argwhere": (argwhere, NEW),
    "where": (where, ("function",)),
    "select_scatter": (select_scatter, NEW),
    "slice_scatter": (slice_scatter, NEW),
    "diagonal_scatter": (diagonal_scatter, NEW),
    "fill_diagonal": (fill_diagonal, ("in place",)),
}


def function_case(r, name=None, form=None):
    """A call of one of PyTorch's functions."""
    name = name or r.choice(list(FUNCTIONS))
    maker, forms = FUNCTIONS[name]
    return case_of(r, name, maker(r), form or r.choice(forms))


def case_of(r, name, call, form):
    args = list(call.args)
    if call.source is not None and form != "function" and r.random() < 0.2:
        args[call.source] = window(r, call.x, args[call.source].shape) or args[call.source]
    operands = {"x": call.x, **dict(zip("vijkabcd", operands_in(args), strict=False))}
    names = {id(operand): name for name, operand in operands.items()}
    function = getattr(models, {"masked_copy": "masked_scatter"}.get(name, name))
    called = f"{name}_" if form == "in place" else name
    options = {"view": False if name in ("index_select", "gather", "take") else None, **call.options}
    keywords = dict(call.keywords)

    def model(x, out=None, **arrays):
        found = function(x, *replaced(args, names, {"x": x, **arrays}), **call.keywords)
        if form == "in place" and found.shape != x.shape:
            raise ValueError("the result is larger than the tensor")
        return found

    if form == "in place":
        options["target"] = "x"
    elif form == "out":
        wanted, _ = outcome(model, {word: operand.array() for word, operand in operands.items()})
        if wanted is not None:
            keywords["out"] = operands["out"] = random_operand(r, call.x.name, wanted.shape, overlap=False)
            names[id(operands["out"])] = "out"
            options["target"] = "out"

    def run(**tensors):
        owner, first = (tensors["x"], []) if form in ("method", "in place") else (st, [tensors["x"]])
        given = dict(zip(keywords, replaced(keywords.values(), names, tensors), strict=True))
        return getattr(owner, called)(*first, *replaced(args, names, tensors), **given)

    texts = [text_of(arg, names) for arg in args]
    texts += [f"{word}={text_of(value, names)}" for word, value in keywords.items()]
    owner, first = ("x", []) if form in ("method", "in place") else ("st", ["x"])
    text = f"print({owner}.{called}({', '.join([*first, *texts])}))"
    return Case(f"{called}(out=)" if form == "out" else called, operands, text, run, model, **options)


def operands_in(args):
    for arg in args:
        if isinstance(arg, Operand):
            yield arg
        elif isinstance(arg, tuple):
            yield from operands_in(arg)


def replaced(args, names, made):
    """Arguments with what was made of the operands in their place."""
    return [
        tuple(replaced(arg, names, made))
        if isinstance(arg, tuple)
        else made[names[id(arg)]]
        if id(arg) in names
        else arg
        for arg in args
    ]


def text_of(arg, names):
    if isinstance(arg, tuple):
        return "(" + "".join(f"{text_of(item, names)}, " for item in arg) + ")"
    return names.get(id(arg)) or repr(arg)


def random_case(r):
    """Any case: about a third each read `x[key]`, write it, and call a function. A few are large."""
    chance, large = r.random(), r.random() < 0.01
    if chance < 0.3:
        return read_case(r, large)
    if chance < 0.58:
        return write_case(r, large)
    if chance < 0.62:
        return own_index_case(r)
    return function_case(r)


#: The families of `tools/fuzz.py`.
FAMILIES = {"indexing": random_case}
