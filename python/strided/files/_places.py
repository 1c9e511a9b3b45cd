"""Devices of tensors in files: what `save` notes of them, and where `load` moves them.

Both visit the storages of an object in one order, each once: that in which its containers have them.
"""

from __future__ import annotations

from strided._strided import Storage, Tensor, as_strided, device, uint8
from strided.files._values import Function, Record, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    #: From a storage on the CPU, and the name of the device that it was saved from, to the storage that takes its place.
    Mapping: TypeAlias = Callable[[Storage, str], Storage]

#: The entry of a file's metadata.
KEY = "strided.devices"


def note(obj: Any) -> str:
    """Returns the devices of all storages in an object; nothing if they are all on the CPU.

    >>> note({"x": strided.zeros(2)})
    ''
    """
    from strided._strided import _gpu_library

    if _gpu_library() is None:
        return ""  # no tensor can be on a GPU
    places = [str(storage.device) for storage in _storages(obj, [])]
    return " ".join(places) if any(place != "cpu" for place in places) else ""


def mapping(map_location: Any) -> Mapping | None:
    """Returns the function that an argument `map_location` stands for; None if everything stays on the CPU."""
    if map_location is None:
        return None
    if isinstance(map_location, dict):
        places = {str(device(key)): device(value) for key, value in map_location.items()}
        return lambda storage, place: storage.to(device=places.get(place, "cpu"))
    if callable(map_location):
        return lambda storage, place: _checked(map_location(storage, place), storage)
    try:
        target = device(map_location)
    except (TypeError, ValueError) as error:
        wanted = "None, a device, a dict of devices or a function"
        raise type(error)(f"load: map_location is {map_location!r}, wanted {wanted}") from None
    return None if target.type == "cpu" else lambda storage, place: storage.to(device=target)


def _checked(result: Any, storage: Storage) -> Storage:
    if result is None:
        return storage
    if not isinstance(result, Storage) or result.nbytes != storage.nbytes:
        raise TypeError("load: map_location must return a storage of the same length, or None")
    return result


def moved(loaded: Any, mapped: Mapping, noted: str) -> Any:
    """Returns a loaded object with its storages where a function of `mapping` puts them."""
    storages = list(_storages(loaded, []))
    places = noted.split()
    if len(places) != len(storages):
        places = ["cpu"] * len(storages)
    pairs = zip(storages, places, strict=True)
    targets = {_identity(storage): mapped(storage, place).view(uint8) for storage, place in pairs}
    return _replaced(loaded, targets, {})


def _identity(storage: Storage) -> Storage:
    """The one object of all storages and tensors on the same memory."""
    return storage.view(uint8)


def _storages(obj: Any, seen: list[Any]) -> Iterator[Storage]:
    """Yields each storage once, in the order of the containers. `seen` keeps objects alive, so that identities stay."""
    known: set[int] = set()
    pending = [obj]
    while pending:
        item = pending.pop()
        if isinstance(item, (Tensor, Storage)):
            storage = item.storage() if isinstance(item, Tensor) else item
            identity = _identity(storage)
            if id(identity) not in known:
                known.add(id(identity))
                seen.append(identity)
                yield storage
            continue
        parts = _parts(item)
        if parts is not None and id(item) not in known:
            known.add(id(item))
            seen.append(item)
            pending.extend(reversed(parts))


def _parts(item: Any) -> list[Any] | None:
    """The objects in a container; None for any other object."""
    if isinstance(item, dict):
        return list(item.values())
    if isinstance(item, (list, tuple)):
        return list(item)
    if isinstance(item, Record):
        return [item.fields]
    if isinstance(item, Function):
        return [item.upvalues]
    if isinstance(item, Table):
        return [part for pair in item.items() for part in pair]
    return None


def _replaced(item: Any, targets: dict[Storage, Storage], memo: dict[int, Any]) -> Any:
    """The object with other storages. Containers that can change do so in place."""
    if id(item) in memo:
        return memo[id(item)]
    result = item
    if isinstance(item, Tensor):
        memory = targets[_identity(item.storage())].view(item.dtype)
        layout = item.layout
        result = as_strided(memory, layout.shape, layout.stride, layout.offset)
    elif isinstance(item, Storage):
        result = targets[_identity(item)].view(item.dtype)
    elif isinstance(item, (dict, list)):
        memo[id(item)] = item  # a container may hold itself
        keys = list(item) if isinstance(item, dict) else range(len(item))
        for key in keys:
            item[key] = _replaced(item[key], targets, memo)
    elif isinstance(item, tuple):
        result = tuple(_replaced(part, targets, memo) for part in item)
    elif isinstance(item, Record):
        memo[id(item)] = item
        item.fields = _replaced(item.fields, targets, memo)
    elif isinstance(item, Function):
        memo[id(item)] = item
        item.upvalues = _replaced(item.upvalues, targets, memo)
    elif isinstance(item, Table):
        memo[id(item)] = item
        item._pairs[:] = [tuple(_replaced(part, targets, memo) for part in pair) for pair in item.items()]
    memo[id(item)] = result
    return result


def __dir__() -> list[str]:
    return []
