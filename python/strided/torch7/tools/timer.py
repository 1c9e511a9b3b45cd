"""`Timer`: a stopwatch."""

from __future__ import annotations

import os
import time


def _clocks() -> tuple[float, float, float]:
    """The time of the clock, and the user time and system time of the process."""
    spent = os.times()
    return time.time(), spent.user, spent.system


class Timer:
    """A stopwatch, which runs from the start.

    >>> from strided import torch7 as torch
    >>> timer = torch.Timer()
    >>> timer
    torch.Timer [status: running]
    >>> timer.stop().time()["real"] >= 0
    True
    """

    __slots__ = ("__weakref__", "_running", "_started", "_total")
    _typename = "torch.Timer"

    def __init__(self) -> None:
        self._running = True
        self._total = (0.0, 0.0, 0.0)
        self._started = _clocks()

    def reset(self) -> Timer:
        """Counts from 0 again.

        >>> from strided import torch7 as torch
        >>> torch.Timer().stop().reset().time()["real"]
        0.0
        """
        self._total = (0.0, 0.0, 0.0)
        self._started = _clocks()
        return self

    def stop(self) -> Timer:
        """Stops; `resume` goes on from here.

        >>> from strided import torch7 as torch
        >>> torch.Timer().stop()
        torch.Timer [status: stopped]
        """
        if self._running:
            self._total = self._elapsed()
            self._running = False
        return self

    def resume(self) -> Timer:
        """Goes on after `stop`.

        >>> from strided import torch7 as torch
        >>> torch.Timer().stop().resume()
        torch.Timer [status: running]
        """
        if not self._running:
            self._running = True
            self._started = _clocks()
        return self

    def time(self) -> dict[str, float]:
        """The seconds: of the clock, spent by the process, and spent in the system for it.

        >>> from strided import torch7 as torch
        >>> sorted(torch.Timer().time())
        ['real', 'sys', 'user']
        """
        return dict(zip(("real", "user", "sys"), self._elapsed(), strict=True))

    def _elapsed(self) -> tuple[float, float, float]:
        if not self._running:
            return self._total
        real, user, system = (
            total + now - then for total, now, then in zip(self._total, _clocks(), self._started, strict=True)
        )
        return real, user, system

    def __repr__(self) -> str:
        return f"torch.Timer [status: {'running' if self._running else 'stopped'}]"
