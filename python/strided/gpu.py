"""GPUs: which there are, which one is current, their memory, and the typed classes of tensors on them.

A GPU is any device of OpenCL. The library of OpenCL is loaded when it is first needed: by the first function of this module
that asks for a device, or by the first tensor on one. `strided.cuda` is another name of this module, so that
``device = 'cuda' if st.cuda.is_available() else 'cpu'`` runs as it is. `docs/devices.md` has the rules.

Each device has one queue, which does its work in order; there are no streams. Functions return before the work is done, and
what needs a number on the host (`item`, `tolist`, printing) waits for it.

>>> import strided as st
>>> isinstance(st.gpu.is_available(), bool), st.gpu.current_device()
(True, 0)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from strided import _strided as native
from strided._strided import DeviceError, OutOfMemoryError
from strided._strided import device as _Device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal, TypeAlias

    from strided._strided import BFloat16Storage as BFloat16Storage
    from strided._strided import BFloat16Tensor as BFloat16Tensor
    from strided._strided import BoolStorage as BoolStorage
    from strided._strided import BoolTensor as BoolTensor
    from strided._strided import ByteStorage as ByteStorage
    from strided._strided import ByteTensor as ByteTensor
    from strided._strided import CharStorage as CharStorage
    from strided._strided import CharTensor as CharTensor
    from strided._strided import ComplexDoubleStorage as ComplexDoubleStorage
    from strided._strided import ComplexDoubleTensor as ComplexDoubleTensor
    from strided._strided import ComplexFloatStorage as ComplexFloatStorage
    from strided._strided import ComplexFloatTensor as ComplexFloatTensor
    from strided._strided import DoubleStorage as DoubleStorage
    from strided._strided import DoubleTensor as DoubleTensor
    from strided._strided import FloatStorage as FloatStorage
    from strided._strided import FloatTensor as FloatTensor
    from strided._strided import Generator
    from strided._strided import HalfStorage as HalfStorage
    from strided._strided import HalfTensor as HalfTensor
    from strided._strided import IntStorage as IntStorage
    from strided._strided import IntTensor as IntTensor
    from strided._strided import LongStorage as LongStorage
    from strided._strided import LongTensor as LongTensor
    from strided._strided import ShortStorage as ShortStorage
    from strided._strided import ShortTensor as ShortTensor
    from strided._strided import UInt16Storage as UInt16Storage
    from strided._strided import UInt16Tensor as UInt16Tensor
    from strided._strided import UInt32Storage as UInt32Storage
    from strided._strided import UInt32Tensor as UInt32Tensor
    from strided._strided import UInt64Storage as UInt64Storage
    from strided._strided import UInt64Tensor as UInt64Tensor

    _DeviceLike: TypeAlias = _Device | str | int | None

__all__ = [
    "DeviceProperties",
    "OutOfMemoryError",
    "current_device",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "initial_seed",
    "is_available",
    "is_initialized",
    "init",
    "ipc_collect",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "synchronize",
]


# Which devices there are


def device_count() -> int:
    """Returns the number of GPUs; 0 where there is no OpenCL.

    >>> device_count() >= 0
    True
    """
    try:
        return native._gpu_count()
    except DeviceError:
        return 0


def is_available() -> bool:
    """Returns whether there is a GPU. It never raises.

    >>> import strided as st
    >>> device = 'cuda' if st.cuda.is_available() else 'cpu'
    """
    return device_count() > 0


def init() -> None:
    """Looks for devices, as the first use of one does. A DeviceError says why there are none.

    >>> init() if is_available() else None
    """
    native._gpu_count()


def is_initialized() -> bool:
    """Returns whether the library of OpenCL is loaded.

    >>> isinstance(is_initialized(), bool)
    True
    """
    return native._gpu_library() is not None


class DeviceProperties(NamedTuple):
    """What a device says of itself. Memory is in bytes.

    >>> DeviceProperties._fields[:5]
    ('name', 'vendor', 'driver', 'version', 'platform')
    """

    name: str
    vendor: str
    driver: str
    #: The version of OpenCL that the device has.
    version: str
    platform: str
    #: 'gpu', 'cpu' or 'accelerator'.
    kind: str
    compute_units: int
    #: In MHz.
    clock: int
    total_memory: int
    #: The largest single allocation.
    max_allocation: int
    local_memory: int
    max_work_group: int
    #: Whether it computes in float64.
    double: bool
    #: Whether it computes in float16. Without it halves are computed in float32, as on the CPU.
    half: bool
    #: Whether division and square root of float32 are rounded correctly.
    exact_division: bool
    #: Whether float32 has subnormal numbers.
    subnormals: bool
    #: Whether the device shares the memory of the host.
    unified_memory: bool

    @property
    def multi_processor_count(self) -> int:
        """The number of compute units, under PyTorch's name."""
        return self.compute_units

    @property
    def major(self) -> int:
        """The first number of the version of OpenCL."""
        return _version(self.version)[0]

    @property
    def minor(self) -> int:
        """The second number of the version of OpenCL."""
        return _version(self.version)[1]


def get_device_properties(device: _DeviceLike = None) -> DeviceProperties:
    """Returns what a device says of itself: the current one unless another one is named.

    >>> import strided as st
    >>> st.gpu.get_device_properties('gpu:0').total_memory > 0
    True
    """
    return DeviceProperties(**native._gpu_properties(_named(device)))


def get_device_name(device: _DeviceLike = None) -> str:
    """Returns the name of a device.

    >>> import strided as st
    >>> st.gpu.get_device_name(0) == st.gpu.get_device_properties(0).name
    True
    """
    return get_device_properties(device).name


def get_device_capability(device: _DeviceLike = None) -> tuple[int, int]:
    """Returns the version of OpenCL of a device, such as `(3, 0)`. It has nothing to do with the capabilities of CUDA.

    >>> import strided as st
    >>> st.gpu.get_device_capability() >= (1, 2)
    True
    """
    return _version(get_device_properties(device).version)


def _version(text: str) -> tuple[int, int]:
    """The numbers of a text such as 'OpenCL 3.0 PoCL HSTR: …'."""
    words = text.split()
    major, _, minor = (words[1] if len(words) > 1 else "").partition(".")
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)


# The current device


def current_device() -> int:
    """Returns the number of this thread's current GPU: that of `st.gpu.FloatTensor(2)`, `x.gpu()` and `device='gpu'`.

    >>> current_device()
    0
    """
    return native._gpu_number()


def set_device(device: _DeviceLike) -> None:
    """Makes a GPU the current one of this thread. Prefer `with st.gpu.device(i):`, which restores the former one.

    >>> import strided as st
    >>> st.gpu.set_device(0)
    >>> st.gpu.current_device()
    0
    """
    if _number(device) != -1:
        native._gpu_set_current(native._gpu_number(_named(device)))


class device:
    """Makes a GPU the current one of this thread until the end of a block; then the former one is current again.

    A tensor stays where it is, and results lie where the operands lie: the current GPU only decides where new tensors of
    `st.gpu` go. -1 and None change nothing.

    >>> with device(None):
    ...     current_device()
    0
    """

    __slots__ = ("_device", "idx")

    def __init__(self, device: _DeviceLike) -> None:
        self._device = None if _number(device) == -1 else _named(device)
        #: The number of the GPU; -1 if the block changes nothing.
        self.idx = -1 if self._device is None else native._gpu_number(self._device)

    def __enter__(self) -> None:
        native._gpu_enter(self._device)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]:
        native._gpu_leave()
        return False


class device_of(device):
    """Makes the GPU of a tensor or a storage the current one until the end of a block. An object of the CPU changes nothing.

    >>> import strided as st
    >>> with device_of(st.zeros(2)):
    ...     current_device()
    0
    """

    __slots__ = ()

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device())


def _number(device: object) -> object:
    """-1 for a device that stands for none; anything else is read by the native module."""
    return -1 if device is None or (type(device) is int and device == -1) else device


def _named(device: _DeviceLike) -> _Device | None:
    return device if device is None or isinstance(device, _Device) else _Device(device)


def synchronize(device: _DeviceLike = None) -> None:
    """Waits until a GPU has done all its work: the current one unless another one is named.

    An operation that failed on the device after its call had returned raises its error here, or in the next call that waits.

    >>> import strided as st
    >>> x = st.zeros(2, device='gpu')
    >>> st.gpu.synchronize()
    """
    native._gpu_wait(_named(device))


# Memory


def memory_allocated(device: _DeviceLike = None) -> int:
    """Returns the bytes that the tensors of this process have on a GPU.

    >>> import strided as st
    >>> before = st.gpu.memory_allocated()
    >>> x = st.zeros(1024, device='gpu:0')
    >>> st.gpu.memory_allocated() - before
    4096
    """
    return native._gpu_memory(_named(device))[0]


def max_memory_allocated(device: _DeviceLike = None) -> int:
    """Returns the most that `memory_allocated` has been since `reset_peak_memory_stats`.

    >>> import strided as st
    >>> st.gpu.max_memory_allocated() >= st.gpu.memory_allocated()
    True
    """
    return native._gpu_memory(_named(device))[1]


def memory_reserved(device: _DeviceLike = None) -> int:
    """Returns the bytes that this process holds on a GPU: those of tensors, and those that are kept for later ones.

    >>> import strided as st
    >>> st.gpu.memory_reserved() >= st.gpu.memory_allocated()
    True
    """
    used, _, cached, _ = native._gpu_memory(_named(device))
    return used + cached


def max_memory_reserved(device: _DeviceLike = None) -> int:
    """Returns the larger one of `memory_reserved` and `max_memory_allocated`: a peak of its own is not recorded.

    >>> import strided as st
    >>> st.gpu.max_memory_reserved() >= st.gpu.memory_reserved()
    True
    """
    used, peak, cached, _ = native._gpu_memory(_named(device))
    return max(used + cached, peak)


def reset_peak_memory_stats(device: _DeviceLike = None) -> None:
    """Starts to record the peak of `max_memory_allocated` anew.

    >>> import strided as st
    >>> st.gpu.reset_peak_memory_stats()
    >>> st.gpu.max_memory_allocated() == st.gpu.memory_allocated()
    True
    """
    native._gpu_reset_peak(_named(device))


def mem_get_info(device: _DeviceLike = None) -> tuple[int, int]:
    """Returns the free bytes and all bytes of a GPU. OpenCL does not say what other processes use: that counts as free.

    >>> import strided as st
    >>> free, total = st.gpu.mem_get_info()
    >>> 0 <= free <= total
    True
    """
    used, _, cached, limit = native._gpu_memory(_named(device))
    total = get_device_properties(_named(device)).total_memory
    return max(min(total - cached, limit) - used, 0), total


def memory_stats(device: _DeviceLike = None) -> dict[str, int]:
    """Returns the bytes of a GPU that are in use, at most so far, kept for later, and allowed, under names of PyTorch.

    >>> import strided as st
    >>> st.gpu.memory_stats()['allocated_bytes.all.current'] == st.gpu.memory_allocated()
    True
    """
    used, peak, cached, limit = native._gpu_memory(_named(device))
    return {
        "allocated_bytes.all.current": used,
        "allocated_bytes.all.peak": peak,
        "reserved_bytes.all.current": used + cached,
        "limit_bytes": limit,
    }


def memory_summary(device: _DeviceLike = None, abbreviated: bool = False) -> str:
    """Returns a text about the memory of a GPU, for people.

    >>> import strided as st
    >>> st.gpu.memory_summary().splitlines()[1].split()[:4]
    ['in', 'use', 'by', 'tensors']
    """
    from strided.display.numerals import bytes_text

    number = native._gpu_existing(_named(device))
    used, peak, cached, limit = native._gpu_memory(number)
    properties = get_device_properties(number)
    rows = {
        "in use by tensors": used,
        "most in use so far": peak,
        "kept for later": cached,
        "limit of this process": limit,
        "memory of the device": properties.total_memory,
        "largest allocation": properties.max_allocation,
    }
    lines = [f"gpu:{number}, {properties.name}"]
    lines += [f"  {name:<22}{bytes_text(value):>12}" for name, value in rows.items()]
    return "\n".join(lines)


def empty_cache() -> None:
    """Returns the memory that is kept for later to the drivers of all GPUs. Tensors keep theirs.

    >>> import strided as st
    >>> st.gpu.empty_cache()
    >>> st.gpu.memory_reserved() == st.gpu.memory_allocated()
    True
    """
    for number in range(device_count()):
        native._gpu_empty_cache(number)


def ipc_collect() -> None:
    """Does nothing: memory of a GPU is not shared with other processes. It exists for programs that call it.

    >>> ipc_collect()
    """


def set_per_process_memory_fraction(fraction: float, device: _DeviceLike = None) -> None:
    """Limits what this process may allocate on a GPU to a part of its memory: beyond it is an OutOfMemoryError.

    >>> import strided as st
    >>> st.gpu.set_per_process_memory_fraction(0)
    >>> x = st.zeros(1024, device='gpu')
    Traceback (most recent call last):
    strided.OutOfMemoryError: zeros: cannot allocate 4096 bytes on gpu:0
    >>> st.gpu.set_per_process_memory_fraction(1)
    """
    if not 0 <= fraction <= 1:
        raise ValueError(f"set_per_process_memory_fraction: fraction is {fraction}, wanted 0 to 1")
    total = get_device_properties(_named(device)).total_memory
    native._gpu_set_limit(_named(device), int(total * fraction))


# Random numbers: devices draw from the generators of the host, so that they draw the same numbers


def manual_seed(seed: int) -> Generator:
    """Starts the default generator anew with a seed. All devices, and the CPU, draw from that one.

    >>> manual_seed(3).initial_seed()
    3
    """
    return native.manual_seed(seed)


def manual_seed_all(seed: int) -> Generator:
    """The same as `manual_seed`.

    >>> manual_seed_all(3).initial_seed()
    3
    """
    return native.manual_seed(seed)


def seed() -> int:
    """Starts the default generator anew with a seed from the system, and returns that.

    >>> seed() == initial_seed()
    True
    """
    return native.seed()


def seed_all() -> int:
    """The same as `seed`.

    >>> seed_all() == initial_seed()
    True
    """
    return native.seed()


def initial_seed() -> int:
    """Returns the seed of the default generator.

    >>> _ = manual_seed(3)
    >>> initial_seed()
    3
    """
    return native.initial_seed()


# The typed classes: FloatTensor, FloatStorage, …

for _name, _class in native._gpu_classes():
    globals()[_name] = _class
    __all__.append(_name)
del _name, _class


def __dir__() -> list[str]:
    return __all__
