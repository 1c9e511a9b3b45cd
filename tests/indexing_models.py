"""Plain definitions of reading and writing by index: NumPy for `x[key]`, loops over elements for PyTorch's functions.

A model takes arrays, leaves them as they are and returns a new array. It raises IndexError for an index out of range and
ValueError for other arguments that must be refused. Reductions are computed in the dtype of the array.
"""

import math

import numpy as np

# x[key] and x[key] = values


def positions(shape, key):
    """The position in row-major order of each element that a NumPy key selects."""
    return np.asarray(np.arange(math.prod(shape)).reshape(shape)[key])


def read(a, key):
    return np.asarray(a.reshape(-1)[positions(a.shape, key)])


def write(a, key, values, accumulate=False):
    """The array after `a[key] = values`. Of repeated indices the last one in row-major order counts.

    NumPy's own assignment iterates in the order of the memory of the indices.
    """
    where = positions(a.shape, key)
    # As in NumPy, values may have additional leading dims of extent 1.
    lead = max(values.ndim - where.ndim, 0)
    if values.shape[:lead] != (1,) * lead:
        raise ValueError(f"values of shape {values.shape} do not broadcast to {where.shape}")
    values = np.broadcast_to(values.reshape(values.shape[lead:]), where.shape).astype(a.dtype)
    flat = a.reshape(-1).copy()
    if accumulate:
        np.add.at(flat, where.reshape(-1), values.reshape(-1))
    else:
        flat[where.reshape(-1)] = values.reshape(-1)
    return flat.reshape(a.shape)


# Arguments


def refuse_unless(condition, message):
    if not condition:
        raise ValueError(message)


def wrapped(dim, rank):
    """A dim counted from the front; a tensor of rank 0 has the dims 0 and -1."""
    rank = max(rank, 1)
    if not -rank <= dim < rank:
        raise IndexError(f"dim {dim} is out of range for rank {rank}")
    return dim % rank


def in_range(index, extent, negative=False):
    """The indices, with negative ones counted from the end if they are allowed."""
    for i in index.flat:
        if not (-extent if negative else 0) <= int(i) < extent:
            raise IndexError(f"index {i} is out of range for extent {extent}")
    index = index.astype(np.int64)
    return np.where(index < 0, index + extent, index)


def at_least_1d(*arrays):
    """Arrays of rank 0 as arrays of one element, as PyTorch treats them here."""
    return [a.reshape(1) if a.ndim == 0 else a for a in arrays]


def replaced(at, dim, index):
    return (*at[:dim], int(index), *at[dim + 1 :])


# How values that arrive at the same element are combined


def combined(values, reduce, dtype):
    """One value of several."""
    values = np.array(values, dtype)
    with np.errstate(all="ignore"):
        if reduce == "sum":
            return np.logical_or.reduce(values) if dtype.kind == "b" else np.add.reduce(values, dtype=dtype)
        if reduce == "prod":
            return np.logical_and.reduce(values) if dtype.kind == "b" else np.multiply.reduce(values, dtype=dtype)
        if reduce == "mean":
            total = np.add.reduce(values, dtype=dtype)
            # The mean of integers is rounded down.
            return total // dtype.type(len(values)) if dtype.kind in "iu" else total / dtype.type(len(values))
        return {"amax": np.maximum, "amin": np.minimum}[reduce].reduce(values)


def reduced(a, arrivals, reduce, include_self):
    """An array whose elements are combined with the values that arrive there: (position, value) pairs, in order."""
    there = {}
    for to, value in arrivals:
        there.setdefault(to, [a[to]] if include_self else []).append(value)
    out = a.copy()
    for to, values in there.items():
        out[to] = combined(values, reduce, a.dtype)
    return out


# index_*: one index per slice of a dim


def _slices(a, dim, index):
    """The array with at least one dim, the dim, and the checked indices."""
    (b, index), dim = at_least_1d(a, index), wrapped(dim, a.ndim)
    refuse_unless(index.ndim == 1, "index has more than one dim")
    return b, dim, in_range(index, b.shape[dim])


def index_select(a, dim, index):
    refuse_unless(a.ndim or index.size == 1, "an element of rank 0 is selected once")
    b, dim, index = _slices(a, dim, index)
    out = np.empty((*b.shape[:dim], len(index), *b.shape[dim + 1 :]), a.dtype)
    for at in np.ndindex(out.shape):
        out[at] = b[replaced(at, dim, index[at[dim]])]
    return out if a.ndim else out.reshape(())


def _slice_arrivals(a, dim, index, source):
    """The array with at least one dim, and the position and value of each element of the source."""
    b, dim, index = _slices(a, dim, index)
    if source.ndim == 0:
        (source,) = at_least_1d(source)
    wanted = (*b.shape[:dim], len(index), *b.shape[dim + 1 :])
    refuse_unless(source.shape == wanted, f"source is {source.shape}, not {wanted}")
    return b, [(replaced(at, dim, index[at[dim]]), source[at]) for at in np.ndindex(source.shape)]


def index_copy(a, dim, index, source):
    b, arrivals = _slice_arrivals(a, dim, index, source)
    out = b.copy()
    for to, value in arrivals:
        out[to] = value
    return out.reshape(a.shape)


def index_add(a, dim, index, source, *, alpha=1):
    with np.errstate(all="ignore"):
        scaled = source & bool(alpha) if a.dtype.kind == "b" else (source * a.dtype.type(alpha)).astype(a.dtype)
    b, arrivals = _slice_arrivals(a, dim, index, scaled)
    return reduced(b, arrivals, "sum", True).reshape(a.shape)


def index_reduce(a, dim, index, source, reduce, *, include_self=True):
    b, arrivals = _slice_arrivals(a, dim, index, source)
    return reduced(b, arrivals, reduce, include_self).reshape(a.shape)


def index_fill(a, dim, index, value):
    b, dim, index = _slices(a, dim, index)
    out = b.copy()
    for at in np.ndindex((*b.shape[:dim], len(index), *b.shape[dim + 1 :])):
        out[replaced(at, dim, index[at[dim]])] = value
    return out.reshape(a.shape)


def index_put(a, indices, values, accumulate=False):
    return write(a, tuple(indices), values, accumulate)


# take and put: positions in row-major order


def take(a, index):
    refuse_unless(a.size or not index.size, "nothing can be taken from no elements")
    return a.reshape(-1)[in_range(index, a.size, negative=True)]


def put(a, index, source, accumulate=False):
    refuse_unless(index.size == source.size, "index and source have different sizes")
    refuse_unless(a.size or not index.size, "nothing can be put into no elements")
    index = in_range(index, a.size, negative=True)
    flat = a.reshape(-1).copy()
    for i, value in zip(index.flat, source.flat, strict=True):
        flat[i] = combined([flat[i], value], "sum", a.dtype) if accumulate else value
    return flat.reshape(a.shape)


def take_along_dim(a, indices, dim=None):
    if dim is None:
        a, indices, dim = a.reshape(-1), indices.reshape(-1), 0
    refuse_unless(a.ndim == indices.ndim, "input and indices have different ranks")
    if a.ndim == 0:
        raise IndexError("rank 0 has no dim to take along")
    dim = wrapped(dim, a.ndim)
    both = [(1,) if i == dim else (n, m) for i, (n, m) in enumerate(zip(a.shape, indices.shape, strict=True))]
    common = [np.broadcast_shapes(*((n,) for n in pair))[0] for pair in both]
    a = np.broadcast_to(a, replaced(tuple(common), dim, a.shape[dim]))
    indices = np.broadcast_to(indices, replaced(tuple(common), dim, indices.shape[dim]))
    indices = in_range(indices, a.shape[dim], negative=True)
    out = np.empty(indices.shape, a.dtype)
    for at in np.ndindex(out.shape):
        out[at] = a[replaced(at, dim, indices[at])]
    return out


# gather and scatter: one index per element


def gather(a, dim, index):
    dim = wrapped(dim, a.ndim)
    b, i = at_least_1d(a, index)
    if index.size:
        refuse_unless(b.ndim == i.ndim, "input and index have different ranks")
        fits = (n <= m for d, (n, m) in enumerate(zip(i.shape, b.shape, strict=True)) if d != dim)
        refuse_unless(all(fits), "index is larger than input")
    out = np.empty(i.shape, a.dtype)
    if index.size:
        i = in_range(i, b.shape[dim])
    for at in np.ndindex(out.shape):
        out[at] = b[replaced(at, dim, i[at])]
    return out.reshape(index.shape)


def _arrivals(a, dim, index, src):
    """The array with at least one dim, and the position and value of each element that an index moves."""
    dim = wrapped(dim, a.ndim)
    b, i = at_least_1d(a, index)
    if not index.size:
        return b, []
    refuse_unless(b.ndim == i.ndim, "input and index have different ranks")
    fits = (n <= m for d, (n, m) in enumerate(zip(i.shape, b.shape, strict=True)) if d != dim)
    refuse_unless(all(fits), "index is larger than input")
    if isinstance(src, np.ndarray):
        (src,) = at_least_1d(src)
        refuse_unless(src.ndim == i.ndim, "index and src have different ranks")
        refuse_unless(all(n <= m for n, m in zip(i.shape, src.shape, strict=True)), "index is larger than src")
        value = src.__getitem__
    else:
        number = a.dtype.type(src)

        def value(at):
            return number

    i = in_range(i, b.shape[dim])
    return b, [(replaced(at, dim, i[at]), value(at)) for at in np.ndindex(i.shape)]


def scatter(a, dim, index, src, *, reduce=None):
    b, arrivals = _arrivals(a, dim, index, src)
    if reduce:
        return reduced(b, arrivals, {"add": "sum", "multiply": "prod"}[reduce], True).reshape(a.shape)
    out = b.copy()
    for to, value in arrivals:
        out[to] = value
    return out.reshape(a.shape)


def scatter_add(a, dim, index, src):
    return scatter_reduce(a, dim, index, src, "sum")


def scatter_reduce(a, dim, index, src, reduce, *, include_self=True):
    b, arrivals = _arrivals(a, dim, index, src)
    return reduced(b, arrivals, reduce, include_self).reshape(a.shape)


# Masks


def masked_select(a, mask):
    a, mask = np.broadcast_arrays(a, mask)
    return np.array([a[at] for at in np.ndindex(a.shape) if mask[at]], a.dtype)


def masked_fill(a, mask, value):
    a, mask = np.broadcast_arrays(a, mask)
    out = a.copy()
    for at in np.ndindex(a.shape):
        if mask[at]:
            out[at] = value
    return out


def masked_scatter(a, mask, source):
    a, mask = np.broadcast_arrays(a, mask)
    out, values = a.copy(), iter(source.reshape(-1))
    refuse_unless(source.size >= np.count_nonzero(mask), "source has too few elements")
    for at in np.ndindex(a.shape):
        if mask[at]:
            out[at] = next(values)
    return out


def nonzero(a, *, as_tuple=False):
    if as_tuple:
        (a,) = at_least_1d(a)
        return tuple(nonzero(a).T)
    found = [at for at in np.ndindex(a.shape) if a[at]]
    return np.array(found, np.int64).reshape(len(found), a.ndim)


def argwhere(a):
    return nonzero(a)


def where(condition):
    return nonzero(condition, as_tuple=True)


# Copies of a tensor with one view of it replaced


def _with(a, view, src):
    out = a.copy()
    part = view(out)
    refuse_unless(part.shape == src.shape, f"src is {src.shape}, not {part.shape}")
    for at in np.ndindex(part.shape):
        part[at] = src[at]
    return out


def select_scatter(a, src, dim, index):
    if a.ndim == 0:
        raise IndexError("rank 0 has no dim to select from")
    dim = wrapped(dim, a.ndim)
    (index,) = in_range(np.array([index]), a.shape[dim], negative=True)
    return _with(a, lambda out: out[(slice(None),) * dim + (index, ...)], src)


def slice_scatter(a, src, dim=0, start=None, end=None, step=1):
    refuse_unless(step > 0, "step is not positive")
    if a.ndim == 0:
        raise IndexError("rank 0 has no dim to slice")
    dim = wrapped(dim, a.ndim)
    return _with(a, lambda out: out[(slice(None),) * dim + (slice(start, end, step),)], src)


def diagonal_scatter(a, src, offset=0, dim1=0, dim2=1):
    def diagonal(out):
        view = np.diagonal(out, offset, dim1, dim2)
        view.flags.writeable = True
        return view

    if a.ndim < 2:
        raise IndexError("a diagonal needs two dims")
    dim1, dim2 = wrapped(dim1, a.ndim), wrapped(dim2, a.ndim)
    refuse_unless(dim1 != dim2, "dim1 and dim2 are the same")
    return _with(a, diagonal, src)


def fill_diagonal(a, fill_value, wrap=False):
    refuse_unless(a.ndim >= 2, "a diagonal needs two dims")
    refuse_unless(a.ndim == 2 or len(set(a.shape)) == 1, "the extents differ")
    out = a.copy()
    for at in range(min(a.shape)):
        out[(at,) * a.ndim] = fill_value
    if wrap and a.ndim == 2:  # after a row without, the diagonal starts again
        for at in range(0, a.size, a.shape[1] + 1):
            out[divmod(at, a.shape[1])] = fill_value
    return out
