"""Values of .t7 files that Python has no class for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Record:
    """An object of a Torch7 class that is not known here, such as `nn.Linear`: the name of the class, and its fields.

    >>> linear = strided.files.Record("nn.Linear", {"weight": strided.zeros(2, 3)})
    >>> linear
    Record('nn.Linear', weight)
    >>> linear["weight"].shape
    strided.Size([2, 3])
    """

    __module__ = "strided.files"
    __slots__ = ("__weakref__", "class_name", "fields", "version")

    def __init__(self, class_name: str, fields: Any, version: str | None = "1") -> None:
        self.class_name = class_name
        self.fields = fields
        self.version = version

    def __getitem__(self, key: Any) -> Any:
        return self.fields[key]

    def __contains__(self, key: object) -> bool:
        return key in self.fields

    def keys(self) -> list[Any]:
        """Returns the names of the fields."""
        return list(self.fields) if isinstance(self.fields, dict) else []

    def __repr__(self) -> str:
        return f"Record({', '.join([repr(self.class_name), *map(str, self.keys())])})"


class Function:
    """A Lua function of a .t7 file: bytecode, which is kept and never run, and the values of its upvalues.

    >>> strided.files.Function(8, b"...", [])
    Function(3 bytes)
    """

    __module__ = "strided.files"
    __slots__ = ("__weakref__", "bytecode", "kind", "upvalues")

    def __init__(self, kind: int, bytecode: bytes, upvalues: Any) -> None:
        self.kind = kind
        self.bytecode = bytecode
        self.upvalues = upvalues

    def __repr__(self) -> str:
        return f"Function({len(self.bytecode)} bytes)"


class Table:
    """A Lua table whose keys no dict can have: tables, or both 1 and true. A sequence of pairs.

    >>> table = strided.files.Table([(1, "one"), (True, "yes")])
    >>> list(table.items())
    [(1, 'one'), (True, 'yes')]
    """

    __module__ = "strided.files"
    __slots__ = ("__weakref__", "_pairs")

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        self._pairs = pairs

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Returns the pairs of keys and values."""
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __repr__(self) -> str:
        return f"Table({len(self)} items)"
