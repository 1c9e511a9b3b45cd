"""The command `strided`: looks at files of tensors, compares and converts them, draws layouts, runs Lua.

    strided info model.safetensors
    python -m strided show weights.npz:conv1 --slice '0, ::2'

`_table.py` has one row for each command, and each command is a module of `_commands`. Commands know nothing of formats:
they read and write through `strided.files`. Every command works without further packages; the extra `strided[cli]`
adds colour, tables and progress bars of rich on a terminal.
"""

from strided.cli._failure import Failure as Failure
from strided.cli._program import main as main

__all__ = ["Failure", "main"]


def __dir__() -> list[str]:
    return __all__
