"""The memory of large tensors: how much there is, and how much of it waits to be used again.

Blocks of more than 64 KB are kept when their tensor is gone, because new pages cost more than most operations on
them: up to `limit()` bytes. Those that nobody wanted for ten seconds go when the next large block is freed.
`STRIDED_DEBUG=1` fills new memory with bytes of 255 (NaN, -1) and freed memory with bytes of 221, so that what reads
either is seen.

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
    """What the allocator holds, in bytes. Blocks of up to 4 KB are not counted.

    `in_use` and `blocks`: what tensors have now; `peak`: the most they had at once; `cached` and `cached_blocks`:
    what is kept for later; `hits` and `misses`: large requests that a kept block could serve, or not; `limit`: the
    most that is kept.

    >>> sorted(stats())
    ['blocks', 'cached', 'cached_blocks', 'hits', 'in_use', 'limit', 'misses', 'peak']
    """
    return _memory_stats()


def trim() -> int:
    """Give all that is kept back to the system. Returns how many blocks that were.

    >>> _ = trim()
    >>> stats()["cached"]
    0
    """
    return _memory_trim()


def limit(bytes: int | None = None) -> int:
    """The most bytes that are kept, after setting it if a number is given.

    At first it is an eighth of the memory that this process may use. 0 keeps nothing.

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
