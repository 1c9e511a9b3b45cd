"""The allocator of large tensors: how much memory it holds, and how much of that it keeps for later.

A freed block of more than 64 KB is kept for the next request of its size, because fresh pages cost more than most
operations on them. At most `limit()` bytes are kept, and a block that was not used for ten seconds goes back to the
system when the next large block is freed.

`STRIDED_DEBUG=1` fills new memory with the byte 255 (NaN in floats, -1 in integers) and freed memory with 221, which
makes reads of either visible.

>>> import strided as st
>>> x = st.zeros(1000, 1000)
>>> st.memory.stats()["in_use"] >= x.nbytes
True
"""

import operator
import sys

from strided._strided import _memory_limit, _memory_stats, _memory_trim

__all__ = ["limit", "stats", "trim"]


def stats() -> dict[str, int]:
    """Returns what the allocator holds. Sizes are in bytes; blocks of up to 4 KB are not counted.

    * `in_use`, `blocks`: memory of live tensors;
    * `peak`: the highest `in_use` so far;
    * `cached`, `cached_blocks`: free memory that is kept for later;
    * `hits`, `misses`: large requests that a kept block could serve, and those that it could not;
    * `limit`: the most that is kept.

    >>> sorted(stats())
    ['blocks', 'cached', 'cached_blocks', 'hits', 'in_use', 'limit', 'misses', 'peak']
    """
    return _memory_stats()


def trim() -> int:
    """Returns all kept memory to the system. The result is the number of blocks.

    >>> _ = trim()
    >>> stats()["cached"]
    0
    """
    return _memory_trim()


def limit(bytes: int | None = None) -> int:
    """Returns the most bytes that are kept, after setting it if a number is given.

    The default is an eighth of the memory that this process may use. 0 keeps nothing.

    >>> before = limit()
    >>> limit(100_000_000)
    100000000
    >>> limit(before) == before
    True
    """
    if bytes is None:
        return _memory_limit()
    bytes = operator.index(bytes)
    if bytes < 0:
        raise ValueError(f"memory.limit: bytes is {bytes}, wanted 0 or more")
    if bytes > sys.maxsize:
        raise OverflowError(f"memory.limit: bytes is {bytes}, wanted at most {sys.maxsize}")
    return _memory_limit(bytes)


def __dir__() -> list[str]:
    return __all__
