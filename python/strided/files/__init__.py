"""Files with tensors: save, load, look inside, and write tensor by tensor.

`strided.save` and `strided.load` write and read whole objects. `open` reads the headers of a file only: it lists the tensors
with their dtypes and layouts, and loads them one by one. `write` writes tensors one after the other, and `convert` a whole
file in another format, in the memory of its largest storage. `docs/files.md` has the formats.

>>> import pathlib, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> name = pathlib.Path(folder.name, "model.safetensors")
>>> strided.save({"weight": strided.ones(2, 3), "steps": 7}, name)
>>> with open(name) as file:
...     print(file.names, file["weight"].shape, file["weight"].load().sum().item())
['weight'] (2, 3) 6.0
>>> strided.load(name)["steps"]
7
>>> folder.cleanup()
"""

from __future__ import annotations

from strided._strided import FormatError
from strided.files._convert import Conversion, LeftOut, LossError, convert
from strided.files._file import Entry, File, Row, open
from strided.files._formats import FORMATS, format_of
from strided.files._raw import _tofile as _tofile
from strided.files._raw import fromfile, open_memmap
from strided.files._values import Function, Record, Table
from strided.files._whole import load, save, write

__all__ = [
    "Conversion",
    "Entry",
    "FORMATS",
    "File",
    "FormatError",
    "Function",
    "LeftOut",
    "LossError",
    "Record",
    "Row",
    "Table",
    "convert",
    "format_of",
    "fromfile",
    "load",
    "open",
    "open_memmap",
    "save",
    "write",
]


def __dir__() -> list[str]:
    return [name for name in __all__ if name != "FORMATS"]
