"""Sending shared memory through multiprocessing: by handle, so that both sides use the same memory.

The reducer is registered when this module is imported, which happens when memory is first shared or received:
multiprocessing's pickler copies the registered reducers when it is made. A mapped file is sent as its path. Anonymous
memory is sent as its file descriptor, once per message even if several storages are in it; the sender keeps the memory
until the message is received.
"""

from __future__ import annotations

import os
from multiprocessing import context, reduction, resource_sharer
from weakref import WeakValueDictionary

from strided._pickle import SharedPart
from strided._strided import (
    ByteStorage,
    Storage,
    StorageError,
    _attach_memory,
    _known_memory,
    _part_of_memory,
    _shared_handle,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Serves file descriptors to the receivers of messages, from a thread that starts with the first message.
_server: Any = resource_sharer._resource_sharer  # type: ignore[attr-defined]

#: The memory that is being pickled into messages, by its identity. Pickle's memo keeps the values alive.
_sending: WeakValueDictionary[Any, _Memory] = WeakValueDictionary()


class _Memory:
    """The anonymous memory that contains a storage: an object, so that pickle writes it once."""

    def __init__(self, storage: Storage, descriptor: int, identity: tuple[int, int]) -> None:
        self.storage = storage  # keeps the descriptor open
        self.descriptor = descriptor
        self.identity = identity

    def __reduce__(self) -> tuple[Any, ...]:
        # A process that is being started inherits descriptors; any other process fetches them.
        starting = context.get_spawning_popen() is not None
        return load_memory, (reduction.DupFd(self.descriptor) if starting else _Ticket(self), self.identity)


class _Ticket:
    """Stands for a descriptor in a message, like multiprocessing's `DupFd`, but without a duplicate for each message."""

    def __init__(self, memory: _Memory) -> None:
        def send(connection: Any, pid: int) -> None:
            reduction.send_handle(connection, memory.descriptor, pid)

        self.id = _server.register(send, lambda: None)

    def detach(self) -> int:
        """Fetches the descriptor, which the caller then owns."""
        with _server.get_connection(self.id) as connection:
            return reduction.recv_handle(connection)


def reduce_shared(part: SharedPart) -> tuple[Any, ...]:
    """The reducer that multiprocessing's pickler uses."""
    memory, nbytes = part.memory, part.memory.nbytes
    if (part.start, part.stop) != (0, nbytes):
        return load_part, (memory, part.start)
    handle = _shared_handle(memory)
    if len(handle) == 4:
        return load_file, (*handle, nbytes)
    descriptor, start, identity = handle
    whole = _sending.get(identity)
    if whole is None:
        whole = _sending[identity] = _Memory(memory, descriptor, identity)
    return _part_of_memory, (whole, start, nbytes)


def load_memory(duplicate: Any, identity: tuple[int, int]) -> Storage:
    """Returns a storage on all of the memory behind a descriptor that was sent.

    The descriptor is fetched even if this process has the memory already: that tells the sender that it arrived.
    """
    try:
        descriptor = duplicate.detach()
    except (OSError, EOFError) as error:
        known = _known_memory(identity)
        if known is None:
            raise StorageError("multiprocessing: the process that sent shared memory has ended or let go") from error
        return known
    try:
        return _attach_memory(descriptor)
    finally:
        os.close(descriptor)


def load_part(memory: Storage, start: int) -> tuple[Storage, int]:
    """Returns the whole storage and the start of a range in it, which `load_tensor` combines."""
    return memory, start


def load_file(path: str, offset: int, readonly: bool, identity: tuple[int, int] | None, nbytes: int) -> Storage:
    """Returns a storage on the file that the sender has mapped."""
    if nbytes == 0:
        return ByteStorage()
    memory = ByteStorage.from_file(path, True, nbytes, readonly=readonly, offset=offset)
    if _shared_handle(memory)[3] != identity:
        raise StorageError(f"multiprocessing: {path!r} is another file than the one that was mapped")
    return memory


reduction.ForkingPickler.register(SharedPart, reduce_shared)
