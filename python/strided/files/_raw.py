"""Raw binary files, and arrays in .npy files as memory."""

from __future__ import annotations

import builtins
import errno
import os
import stat
from typing import Any

from strided._strided import Tensor, _npy_header, _raw_read, _raw_write, dtype, get_default_dtype
from strided.files._arguments import fault, name_of, position_of, source_of, target_of
from strided.files._file import open


def fromfile(
    f: Any,
    dtype: dtype | None = None,
    count: int = -1,
    offset: int = 0,
    byteorder: str = "native",
) -> Tensor:
    """Reads a tensor of one dim from raw binary: `count` elements from byte `offset` on, or all that are left with -1.

    `f` is a path, a file object, which is read from its position on, or a buffer. `byteorder` is 'native', 'little' or 'big'.
    `dtype` is the default dtype unless it is given.

    >>> import io
    >>> fromfile(io.BytesIO(bytes([0, 1, 0, 2])), strided.int16, byteorder="big")
     1
     2
    [strided.ShortTensor of size 2]
    """
    wanted = None if count == -1 else count
    start = position_of(f)
    dtype = dtype or get_default_dtype()
    most = None if count < 0 else offset + count * dtype.itemsize
    read = _raw_read(source_of(f, "fromfile", wanted=most), name_of(f), dtype, wanted, offset, byteorder)
    if start is not None:
        f.seek(start + offset + read.nbytes)
    return read


def _tofile(x: Tensor, f: Any, byteorder: str | None, fsync: bool) -> None:
    """Implements `Tensor.tofile`."""
    with target_of(f, "tofile") as target:
        _raw_write(x, target, name_of(f), byteorder or "native", fsync)


def open_memmap(
    path: Any,
    mode: str = "r+",
    dtype: dtype | None = None,
    shape: tuple[int, ...] | int | None = None,
    fortran_order: bool = False,
) -> Tensor:
    """Maps the tensor of a .npy file, as `numpy.lib.format.open_memmap` does.

    `mode` is 'r' (read-only), 'r+' (writes go to the file), 'c' (writes are private) or 'w+', which makes a file of zeros of
    the given dtype and shape first.

    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> name = pathlib.Path(folder.name, "x.npy")
    >>> x = open_memmap(name, "w+", strided.float32, (2, 3))
    >>> _ = x.fill_(1).storage().flush()
    >>> strided.load(name).sum().item()
    6.0
    >>> del x
    >>> folder.cleanup()
    """
    if mode not in ("r", "r+", "c", "w+"):
        raise ValueError(f"open_memmap: mode is '{mode}', wanted 'r', 'r+', 'c' or 'w+'")
    if mode == "w+":
        _create(path, dtype or get_default_dtype(), shape, fortran_order)
    with open(path, format="npy", mmap="r+" if mode == "w+" else mode, dtype=dtype, op="open_memmap") as file:
        entry = file.entries[0]
        if not entry.mappable:
            raise fault("open_memmap", name_of(path), f"the elements cannot be mapped: {entry.reason}")
        if dtype is not None and entry.dtype != dtype:
            raise ValueError(f"open_memmap: dtype is {dtype}, and the file has {entry.dtype_name}")
        return file.load()  # type: ignore[no-any-return]


def _create(path: Any, dtype: dtype, shape: tuple[int, ...] | int | None, fortran_order: bool) -> None:
    """Creates a .npy file of zeros, with its space on the disk reserved. It replaces an old one; maps of that stay as they are."""
    if shape is None:
        raise ValueError("open_memmap: mode 'w+' needs a shape")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    header, nbytes = _npy_header(dtype, sizes, fortran_order)
    name = os.path.realpath(os.fsdecode(path))
    folder, base = os.path.split(name)
    temporary = os.path.join(folder, f".{base}.{os.urandom(8).hex()}.tmp")
    try:
        # Not with the module tempfile, which ignores the umask.
        with builtins.open(temporary, "xb") as file:
            file.write(header)
            file.flush()
            _reserve(file.fileno(), len(header) + nbytes)
            if os.path.exists(name):
                os.chmod(temporary, stat.S_IMODE(os.stat(name).st_mode))
        os.replace(temporary, name)
    except OSError as error:
        # The user knows the other name.
        raise OSError(error.errno, error.strerror, os.fsdecode(path)) from None
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def _reserve(file: int, size: int) -> None:
    """Sets the length of a file and reserves its space: a write to mapped memory on a full disk ends the process."""
    if not hasattr(os, "posix_fallocate"):
        os.truncate(file, size)
        return
    try:
        os.posix_fallocate(file, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):
            raise
        os.truncate(file, size)
