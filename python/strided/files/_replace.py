"""New folders that take the place of old ones, as `save` does for files: the old folder or the new one, whole.

A folder is written under a temporary name beside its place, `.NAME.PID-TOKEN.tmp`, and then exchanged with the old one in one
step. Where the system has no such step, the old one is renamed to `.NAME.PID-TOKEN.old` first. If the process ends there,
the next `open` or `save` renames it back. The process that writes a temporary folder holds a lock on it, so that the
next `save` can remove what a killed process has left.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

_TEMPORARY = re.compile(r"\.(?P<name>.+)\.\d+-[0-9a-f]{16}\.(?P<kind>tmp|old)", re.DOTALL)
#: Errors with which systems say that they cannot exchange two names.
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
#: Errors of a rename to a name that another process has just made.
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR)
#: The number of the system call, for a C library without the function.
_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}


def is_temporary(name: str) -> bool:
    """Whether a folder has a name of a new or an old folder."""
    return _TEMPORARY.fullmatch(name) is not None


def folder_identity(path: str) -> tuple[int, ...]:
    """What tells a folder from another that has taken its place; empty if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_ctime_ns


def _beside(path: str, kind: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{os.getpid()}-{secrets.token_hex(8)}.{kind}")


def _leftovers(path: str, kind: str) -> list[str]:
    """The paths of all temporary folders of a path."""
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return []
    found = [(_TEMPORARY.fullmatch(item), item) for item in names]
    return [
        os.path.join(folder, item) for match, item in found if match and match.group("name", "kind") == (name, kind)
    ]


class NewFolder:
    """A folder under a temporary name. `commit` puts it in its place; without it, the end of the block removes it."""

    def __init__(self, path: str) -> None:
        # Through a link, the folder that it points to is replaced, not the link.
        self.path = os.path.realpath(path)
        recover(self.path)
        _remove_leftovers(self.path)
        self.temporary, self._lock = _create(self.path)

    def __enter__(self) -> NewFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _remove(self.temporary)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def commit(self, fsync: bool) -> None:
        """Puts the folder in its place. With `fsync`, its files and then its name are on the disk when this returns."""
        with suppress(OSError):
            # Who may read the old folder may read the new one. A system that refuses this keeps its default.
            if os.path.isdir(self.path):
                os.chmod(self.temporary, stat.S_IMODE(os.stat(self.path).st_mode) | stat.S_IRWXU)
        if self._lock is not None and not os.path.samestat(os.stat(self.temporary), os.fstat(self._lock)):
            raise OSError(errno.ESTALE, "the folder was replaced while it was written", self.temporary)
        if fsync:
            _sync_tree(self.temporary)
        _put(self.temporary, self.path)
        if fsync:
            _sync(os.path.dirname(self.path))


def recover(path: str) -> bool:
    """Gives an old folder its name back, if a process ended after it had renamed it and before the new one was there."""
    if os.path.lexists(path):
        return False
    try:
        candidates = sorted(_leftovers(path, "old"), key=lambda old: os.lstat(old).st_ctime_ns)
        os.rename(candidates[-1], path)
    except (OSError, IndexError):
        return False
    return True


def _create(path: str) -> tuple[str, int | None]:
    """Makes a temporary folder, and locks it where the file system can."""
    while True:
        temporary = _beside(path, "tmp")
        os.mkdir(temporary)
        try:
            lock = _lock(temporary, wait=True)
        except FileNotFoundError:
            continue  # another process took it for a leftover before it was locked
        if lock is None:
            return temporary, None
        try:
            if os.path.samestat(os.stat(temporary), os.fstat(lock)):
                return temporary, lock
        except FileNotFoundError:
            pass
        os.close(lock)


def _lock(folder: str, wait: bool) -> int | None:
    """Locks a folder for as long as the process lives, or until the descriptor is closed. None if that is not possible."""
    try:
        import fcntl
    except ImportError:
        return None
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        return None
    return handle


def _remove_leftovers(path: str) -> None:
    """Removes what killed processes have left. A folder that is being written is locked."""
    for temporary in _leftovers(path, "tmp"):
        try:
            lock = _lock(temporary, wait=False)
        except OSError:
            continue
        if lock is not None:
            _remove(temporary)
            os.close(lock)
    if os.path.lexists(path):
        for old in _leftovers(path, "old"):
            _remove(old)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.remove(path)


def _put(new: str, path: str) -> None:
    """Renames a folder to a path. What was there is under the old name, or removed."""
    while True:
        if _exchange(new, path):
            return
        if not os.path.lexists(path):
            if _rename(new, path):
                return
            continue
        old = _beside(path, "old")
        try:
            os.rename(path, old)
        except FileNotFoundError:
            continue
        try:
            done = _rename(new, path)
        except OSError:
            os.rename(old, path)
            raise
        _remove(old)
        if done:
            return


def _rename(new: str, path: str) -> bool:
    """Renames, or returns False if there is something under the new name."""
    try:
        os.rename(new, path)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        raise
    return True


def _exchange(new: str, path: str) -> bool:
    """Exchanges two names in one step. False if the system cannot, or if one of them does not exist."""
    call = _exchange_call()
    if call is None:
        return False
    code = call(os.fsencode(new), os.fsencode(path))
    if code == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_EXCHANGE or number == errno.ENOENT:
        return False
    raise OSError(number, os.strerror(number), path)


def _exchange_call() -> Callable[[bytes, bytes], int] | None:
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            swap = library.renamex_np
            return lambda new, path: int(swap(new, path, ctypes.c_uint(2)))
        if not sys.platform.startswith("linux"):
            return None
    except (OSError, TypeError, AttributeError):
        return None
    here, flag = ctypes.c_int(-100), ctypes.c_uint(2)  # AT_FDCWD, RENAME_EXCHANGE
    if hasattr(library, "renameat2"):
        return lambda new, path: int(library.renameat2(here, new, here, path, flag))
    number = _RENAMEAT2.get(platform.machine())
    if number is None or sys.maxsize < 2**32:
        return None
    return lambda new, path: int(library.syscall(ctypes.c_long(number), here, new, here, path, flag))


def _sync_tree(folder: str) -> None:
    for inside, _, names in os.walk(folder, topdown=False):
        for name in names:
            handle = os.open(os.path.join(inside, name), os.O_RDWR if os.name == "nt" else os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        _sync(inside)


def _sync(folder: str) -> None:
    """Some systems refuse to sync a folder; its files are on the disk by then."""
    try:
        handle = os.open(folder or ".", os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
