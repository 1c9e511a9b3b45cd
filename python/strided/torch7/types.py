"""The eight element types of Torch7, and the classes that stand for them."""

from __future__ import annotations

from typing import NamedTuple

import strided as st

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from strided.torch7.tensor.classes import Tensor
    from strided.torch7.tensor.storage import Storage


class ElementType(NamedTuple):
    """An element type, and for documents: what its elements are, some numbers, and what they become as elements."""

    dtype: st.dtype
    elements: str
    numbers: str
    stored: str


#: Short name -> element type. The names of the classes are made of these: `Byte` gives `ByteTensor` and `ByteStorage`.
ELEMENTS = {
    "Byte": ElementType(st.uint8, "unsigned integers of 8 bits", "[255, 256]", "[255, 0]"),
    "Char": ElementType(st.int8, "signed integers of 8 bits", "[127, 128]", "[127, -128]"),
    "Short": ElementType(st.int16, "signed integers of 16 bits", "[1.5, -1.5]", "[1, -1]"),
    "Int": ElementType(st.int32, "signed integers of 32 bits", "[1.5, -1.5]", "[1, -1]"),
    "Long": ElementType(st.int64, "signed integers of 64 bits", "[2**40]", "[1099511627776]"),
    "Half": ElementType(st.float16, "floats of 16 bits", "[0.1]", "[0.0999755859375]"),
    "Float": ElementType(st.float32, "floats of 32 bits", "[0.1]", "[0.10000000149011612]"),
    "Double": ElementType(st.float64, "floats of 64 bits", "[0.1]", "[0.1]"),
}
#: Short name -> dtype.
DTYPES: dict[str, st.dtype] = {name: element.dtype for name, element in ELEMENTS.items()}
#: dtype -> short name.
NAMES: dict[st.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}
#: dtype -> what Torch7 calls the C type of its elements.
REAL_NAMES: dict[st.dtype, str] = {
    dtype: "unsigned char" if name == "Byte" else name.lower() for name, dtype in DTYPES.items()
}

#: dtype -> tensor class; filled by `tensor.typed`.
CLASSES: dict[st.dtype, type[Tensor]] = {}
#: dtype -> storage class; filled by `tensor.typed`.
STORAGES: dict[st.dtype, type[Storage]] = {}

_new: Any = object.__new__


def wrap_tensor(core: st.Tensor) -> Tensor:
    """A Torch7 tensor that holds a tensor of the core. It must have a dtype of Torch7 and at least one dim."""
    x: Tensor = _new(CLASSES[core.dtype])
    x._tensor = core
    return x


def wrap_storage(core: st.Storage) -> Storage:
    """A Torch7 storage that holds a storage of the core."""
    s: Storage = _new(STORAGES[core.dtype])
    s._storage = core
    return s


def class_named(name: Any) -> type[Tensor]:
    """The tensor class of a name such as `torch.IntTensor`."""
    dtype = DTYPES.get(name.removeprefix("torch.").removesuffix("Tensor")) if isinstance(name, str) else None
    if dtype is not None and name == CLASSES[dtype]._typename:
        return CLASSES[dtype]
    from strided.torch7.errors import TorchTypeError, with_hint

    raise TorchTypeError(with_hint("attempt to index a nil value", f"there is no tensor type {name!r}"))
