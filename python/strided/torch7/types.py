"""The eight element types of Torch7, and the classes that stand for them."""

from __future__ import annotations

import strided as st

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from strided.torch7.storage import StorageBase
    from strided.torch7.tensor import TensorBase

#: Short name -> dtype. The names of the classes are made of these: `Byte` gives `ByteTensor` and `ByteStorage`.
DTYPES: dict[str, st.dtype] = {
    "Byte": st.uint8,
    "Char": st.int8,
    "Short": st.int16,
    "Int": st.int32,
    "Long": st.int64,
    "Half": st.float16,
    "Float": st.float32,
    "Double": st.float64,
}
#: dtype -> short name.
NAMES: dict[st.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}
#: dtype -> what Torch7 calls the C type of its elements.
REAL_NAMES: dict[st.dtype, str] = {
    dtype: "unsigned char" if name == "Byte" else name.lower() for name, dtype in DTYPES.items()
}

#: dtype -> tensor class; filled by `tensor`.
CLASSES: dict[st.dtype, type[TensorBase]] = {}
#: dtype -> storage class; filled by `storage`.
STORAGES: dict[st.dtype, type[StorageBase]] = {}

_new: Any = object.__new__


def wrap_tensor(core: st.Tensor) -> TensorBase:
    """A Torch7 tensor that holds a tensor of the core. It must have a dtype of Torch7 and at least one dim."""
    x: TensorBase = _new(CLASSES[core.dtype])
    x._tensor = core
    return x


def wrap_storage(core: st.Storage) -> StorageBase:
    """A Torch7 storage that holds a storage of the core."""
    s: StorageBase = _new(STORAGES[core.dtype])
    s._storage = core
    return s


def class_named(name: Any) -> type[TensorBase]:
    """The tensor class of a name such as `torch.IntTensor`."""
    dtype = DTYPES.get(name.removeprefix("torch.").removesuffix("Tensor")) if isinstance(name, str) else None
    if dtype is not None and name == CLASSES[dtype]._typename:
        return CLASSES[dtype]
    from strided.torch7.errors import TorchTypeError, with_hint

    raise TorchTypeError(with_hint("attempt to index a nil value", f"there is no tensor type {name!r}"))
