"""How tensors and storages are pickled and deep-copied.

A tensor is a storage, an offset, sizes and strides; so that tensors which share a storage share it again,
the storage is an object of its own in the pickle. A small view of a large storage would drag all of it
along: then only the span of the view is taken.
"""

import copy
import pickle

from strided._strided import Size, Storage, Tensor, as_strided_on, dtype, storage_from_bytes

#: Storages up to this many bytes are always taken whole.
WHOLE = 1 << 20


def reduce_tensor(x: Tensor, protocol: int):
    """``Tensor.__reduce_ex__``."""
    storage = x.storage()
    layout = x.layout
    if storage.nbytes <= WHOLE or 2 * layout.span * x.itemsize >= storage.nbytes:
        return rebuild_tensor, (storage, layout.offset, tuple(x.shape), x.stride())
    low = layout.bounds[0] if layout.size else 0
    span = flat(x, low, layout.span)
    return rebuild_from_span, (*_parts(span, protocol), layout.offset - low, tuple(x.shape), x.stride())
