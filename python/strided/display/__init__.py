"""Tensors, storages and layouts as text, as notebook cards and as drawings, and the print options.

This package is loaded by the first `repr`. Drawings and explanations are loaded when they are first used.
"""

from .options import Options, get_printoptions, printoptions, set_printoptions

__all__ = ["Options", "get_printoptions", "printoptions", "set_printoptions"]


def __dir__() -> list[str]:
    return __all__
