"""The type of a GPU: what `device.type` returns."""

from __future__ import annotations

__all__ = ["GPU"]


class DeviceType(str):
    """The word 'gpu', which equals 'cuda', too: programs for PyTorch compare with that."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return other in ("gpu", "cuda") if type(other) is str else str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> str:
        return "GPU"


GPU = DeviceType("gpu")
