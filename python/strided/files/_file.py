"""Open files: what is in them, and their tensors one by one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from strided._strided import StorageError, Tensor, _file_open, dtype
from strided.files._arguments import name_of, path_of, source_of


class EntryFacts(NamedTuple):
    """What is known of an entry. The native module returns a plain tuple of these, which is made in half the time."""

    kind: str
    dtype: dtype | None
    dtype_name: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    nbytes: int | None
    storage: int
    stored: str
    position: int | None
    byte_order: str
    reason: str | None


class Content(Protocol):
    """What a `File` reads from: `_Document` of the native module, or a class for folders of zarr or sharded models."""

    def format(self) -> str: ...
    def end(self) -> int | None: ...
    def details(self) -> dict[str, str | int]: ...
    def metadata(self) -> dict[str, str]: ...
    def names(self) -> list[str]: ...
    def first_names(self) -> list[int | None]: ...
    def values(self) -> list[tuple[str, Any]]: ...
    def left_out(self, format: str, target: str, select: list[int] | None) -> list[tuple[str, list[str], str]]: ...
    def entry(self, index: int) -> EntryFacts: ...
    def load(self, max_bytes: int | None, hooks: Any) -> Any: ...
    def load_entry(self, index: int, max_bytes: int | None) -> Any: ...
    def outline(self) -> list[tuple[int, str, str, str, int | None]]: ...


class TensorsOnly:
    """The part of `Content` for tensors with one name each, and no other values."""

    def names(self) -> list[str]:
        raise NotImplementedError

    def end(self) -> int | None:
        return None

    def first_names(self) -> list[int | None]:
        return [None] * len(self.names())

    def values(self) -> list[tuple[str, Any]]:
        return []

    def left_out(self, format: str, target: str, select: list[int] | None) -> list[tuple[str, list[str], str]]:
        return []


class Entry:
    """A tensor or storage of an open file. Nothing of it is read until `load`.

    An object that occurs twice in a file has an entry under each of its names; `same_as` is the first of these names.

    >>> import io
    >>> f = io.BytesIO()
    >>> strided.save({"a": strided.arange(6).view(2, 3)}, f)
    >>> _ = f.seek(0)
    >>> entry = strided.files.open(f)["a"]
    >>> entry
    Entry('a', int64, shape (2, 3))
    >>> entry.to(strided.float32).load()
     0  1  2
     3  4  5
    [strided.FloatTensor of size 2x3]
    """

    __module__ = "strided.files"

    def __init__(self, file: File, index: int, name: str, facts: EntryFacts, same_as: str | None = None) -> None:
        self._file, self._index = file, index
        self.same_as = same_as
        self._cast: dtype | None = None
        self.name = name
        (
            self.kind,
            self.dtype,
            self.dtype_name,
            self.shape,
            self.stride,
            self.offset,
            self.nbytes,
            self.storage,
            self.stored,
            self.position,
            self.byte_order,
            self.reason,
        ) = facts

    @property
    def numel(self) -> int:
        """The number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def mappable(self) -> bool:
        """Whether a file that is opened with `mmap` maps it; `reason` says why not."""
        return self.reason is None

    def load(self) -> Any:
        """Reads or maps the tensor; it has memory of its own, also if the file has others on the same storage."""
        loaded = self._file._content().load_entry(self._index, self._file._max_bytes)
        return loaded if self._cast is None else loaded.to(self._cast)

    def to(self, dtype: dtype) -> Entry:
        """Returns an entry that is cast when it is loaded."""
        made = Entry.__new__(Entry)
        made.__dict__.update(self.__dict__)
        made._cast, made.dtype, made.dtype_name = dtype, dtype, str(dtype).removeprefix("strided.")
        made.nbytes = self.numel * dtype.itemsize
        return made

    def _load_tensor(self) -> Tensor:
        """The tensor to write: what the native module calls."""
        loaded = self.load()
        return loaded if isinstance(loaded, Tensor) else Tensor(loaded, dtype=loaded.dtype)

    def __repr__(self) -> str:
        return f"Entry({self.name!r}, {self.dtype_name}, shape {self.shape})"


class Row(NamedTuple):
    """A line of the outline of a file.

    >>> strided.files.Row(0, "", "dict", "2 items", None).kind
    'dict'
    """

    depth: int
    key: str
    kind: str
    text: str
    entry: Entry | None


class File:
    """An open file: a mapping from names to entries. `open` makes it.

    >>> import io
    >>> f = io.BytesIO()
    >>> strided.save([strided.zeros(2), "text"], f, format="t7")
    >>> _ = f.seek(0)
    >>> with strided.files.open(f) as file:
    ...     print(file.format, file.names, file.details)
    ...     for row in file.outline():
    ...         print("  " * row.depth, row.key, row.kind, row.text)
    t7 ['1'] {'encoding': 'binary', 'long_size': 8, 'byte_order': 'little'}
      list 2 items
       1 tensor 
       2 str "text"
    """  # fmt: skip

    __module__ = "strided.files"

    def __init__(self, content: Content, path: str | None, size: int | None, max_bytes: int | None) -> None:
        self._open_content: Content | None = content
        self._max_bytes = max_bytes
        self._entries: list[Entry] | None = None
        self._positions: dict[str, int] | None = None
        self._firsts: list[int | None] | None = None
        self.path = path
        self.size = size
        self.format = content.format()
        self.details = content.details()
        self.metadata = content.metadata()

    def _content(self) -> Content:
        if self._open_content is None:
            raise ValueError("the file is closed")
        return self._open_content

    @property
    def names(self) -> list[str]:
        """The names of all tensors and storages, in the order of the file. One that occurs twice has two names."""
        return self._content().names()

    @property
    def entries(self) -> list[Entry]:
        """All tensors and storages, in the order of the file."""
        if self._entries is None:
            self._entries = [self._entry(i, name) for i, name in enumerate(self.names)]
        return self._entries

    @property
    def plain_values(self) -> dict[str, Any]:
        """The values that are no tensors, by their names: numbers, strings, containers without items.

        The class of a record, which has its fields as further values, is a tuple of its name and its version.
        """
        return dict(self._content().values())

    def _entry(self, index: int, name: str) -> Entry:
        if self._firsts is None:
            self._firsts = self._content().first_names()
        first = self._firsts[index]
        same_as = None if first is None else self.names[first]
        return Entry(self, index, name, self._content().entry(index), same_as)

    def _position(self, name: object) -> int | None:
        if self._positions is None:
            self._positions = {name: i for i, name in enumerate(self.names)}
        return self._positions.get(name) if isinstance(name, str) else None

    def __getitem__(self, name: str) -> Entry:
        index = self._position(name)
        if index is None:
            from difflib import get_close_matches

            close = get_close_matches(name, self.names, n=3)
            hint = f"; close to it are {', '.join(map(repr, close))}" if close else ""
            raise KeyError(f"{name!r} is not in the file{hint}")
        return self._entry(index, name)

    def __contains__(self, name: object) -> bool:
        return self._position(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def load(self) -> Any:
        """Returns the whole object, as `strided.load` does."""
        return self._content().load(self._max_bytes, None)

    def outline(self) -> Iterator[Row]:
        """Returns the lines of the object's tree, depth first: the depth, the key, the kind, a text, and the entry."""
        names = self.names
        for depth, key, kind, text, index in self._content().outline():
            yield Row(depth, key, kind, text, None if index is None else self._entry(index, names[index]))

    def close(self) -> None:
        """Closes the file. Tensors that were loaded stay, mapped ones too."""
        self._open_content = None
        self._entries = None

    def __enter__(self) -> File:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._open_content is None else f"{len(self)} tensors"
        return f"File({self.path!r}, {self.format!r}, {state})"


def open(
    f: Any,
    *,
    format: str | None = None,
    mmap: bool | str = False,
    max_bytes: int | None = None,
    dtype: dtype | None = None,
    encoding: str | None = None,
    long_size: int | None = None,
    byte_order: str | None = None,
    op: str = "open",
) -> File:
    """Opens a file with tensors, of which only the headers are read.

    `f` is a path, a file object or a buffer. The format is recognised by the content unless it is given. With `mmap`,
    tensors are mapped where the format allows it: 'c' (or True) makes their memory private when it is written to, 'r' makes
    it read-only, 'r+' writes to the file. `max_bytes` limits the memory of the object and of loaded tensors, and what is read
    of a pipe; the default is half of the memory for the object and for pipes, and no limit for tensors. `dtype` is that of .npy elements
    without one (`V2`, which is how bfloat16 is written). `encoding`, `long_size` and `byte_order` are those of a .t7 file,
    which are found out otherwise.

    >>> import io
    >>> f = io.BytesIO()
    >>> strided.save(strided.ones(3), f, format="npy")
    >>> _ = f.seek(0)
    >>> open(f).entries
    [Entry('tensor', float32, shape (3,))]
    """
    path = path_of(f)
    if path is not None and not os.path.lexists(path):
        from strided.files._replace import recover

        recover(path)
    if path is not None and os.path.isdir(path):
        return _open_folder(path, max_bytes, op)
    if path is not None and path.endswith(".index.json"):
        from strided.files._shards import ShardedContent

        return File(ShardedContent(path, mmap, op), path, os.path.getsize(path), max_bytes)
    mode = ("c" if mmap else None) if isinstance(mmap, bool) else mmap
    options = {"mmap": mode, "format": format, "dtype": dtype, "encoding": encoding, "long_size": long_size}
    source: Any = None
    try:
        source = source_of(f, op, max_bytes)
        content = _file_open(op, source, name_of(f), {**options, "byte_order": byte_order, "max_bytes": max_bytes})
        size = os.path.getsize(path) if source is path else source[2] if isinstance(source, tuple) else len(source)
    except (IsADirectoryError, StorageError):
        # A save may have renamed a folder to this path since it was looked for above.
        if path is None or not os.path.isdir(path):
            raise
        return _open_folder(path, max_bytes, op)
    finally:
        # Not kept by the traceback of an error: a buffer of a BytesIO in a cycle crashes CPython 3.12.1 when it is collected.
        source = None
    return File(content, path, size, max_bytes)


def _open_folder(path: str, max_bytes: int | None, op: str) -> File:
    from strided.files._zarr import ZarrContent

    return File(ZarrContent(path, op), path, None, max_bytes)
