"""The codecs of zarr's chunks: those that are allowed, and decoding that is bounded.

A codec is built from a list of names. None is looked up in a registry, so that no folder chooses what is imported or called.
The size of what each codec decodes is known, or has a limit, before it runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from strided.files._zarr_inflate import COMPRESSORS, Refusal, Size, class_of, decompressor, short

#: Names of codecs, as in version 2 of the format and after `numcodecs.` in version 3, and their classes in numcodecs.
CHECKSUMS = {"crc32": "CRC32", "crc32c": "CRC32C", "adler32": "Adler32", "fletcher32": "Fletcher32"}
FILTERS = {
    "delta": "Delta",
    "fixedscaleoffset": "FixedScaleOffset",
    "quantize": "Quantize",
    "astype": "AsType",
    "shuffle": "Shuffle",
    "bitround": "",
    "packbits": "PackBits",
}
#: The codecs of version 3 that version 2 does not have.
VERSION_3 = ("bytes", "transpose", "sharding_indexed")

#: The most codecs that a chunk may have, those of the chunks inside a shard included.
MAX_CODECS = 32

_DTYPE = re.compile(r"([<>|=]?)(b1|[iu][1248]|f[248]|c8|c16)")
_NAMES = {"bool": "b1", "complex64": "c8", "complex128": "c16"}
_NAMES |= {f"{kind}{8 * size}": f"{kind[0]}{size}" for kind in ("int", "uint", "float") for size in (1, 2, 4, 8)}
del _NAMES["float8"]


class Step(NamedTuple):
    """A codec of a chain: the size of what it decodes, and how."""

    name: str
    size: Size
    decode: Callable[[Any, Size], Any]


def numeric_dtype(text: object) -> Any:
    """Returns the dtype of numbers that a text such as '<f4' or 'float32' means. Any other dtype is refused."""
    import numpy

    known = _NAMES.get(text, text) if isinstance(text, str) else ""
    if not (match := _DTYPE.fullmatch(known)):
        raise Refusal(f"the dtype {short(text)} is none of numbers")
    return numpy.dtype(match[1] + match[2])


class Chain:
    """The codecs of the chunks of an array, in the order of encoding.

    `shape` and `dtype` are those of a decoded chunk, and change with each codec that is added.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, fill: Any, budget: list[int] | None = None) -> None:
        self.shape, self.dtype, self.fill = shape, dtype, fill
        self.size = Size(math.prod(shape) * dtype.itemsize, True)
        self._steps: list[Step] = []
        self._left = [MAX_CODECS] if budget is None else budget
        #: Whether the size is no limit, since a shard may have bytes that its index does not mention.
        self.has_shards = False

    def add_2(self, spec: object) -> None:
        """Adds a filter or a compressor of version 2: a dict with its `id`."""
        if not isinstance(spec, dict):
            raise Refusal(f"{short(spec)} is no codec")
        name = spec.get("id")
        self._add(name, name, spec, None)

    def add_3(self, spec: object) -> None:
        """Adds a codec of version 3: a name, or a dict with its `name` and `configuration`."""
        name = spec.get("name") if isinstance(spec, dict) else spec
        config = spec.get("configuration", {}) if isinstance(spec, dict) else {}
        if not isinstance(name, str) or not isinstance(config, dict):
            raise Refusal(f"{short(spec)} is no codec")
        if name in VERSION_3:
            self._count()
            return {"bytes": self._add_bytes, "transpose": self._add_transpose}.get(name, self._add_shards)(config)
        if name == "crc32c":
            config = {"location": "end"}
        self._add(name, name.removeprefix("numcodecs."), config, self.dtype)

    def decode(self, data: Any) -> Any:
        """Decodes a chunk to bytes, which are exactly as many as its elements have."""
        for step in reversed(self._steps):
            try:
                data = step.decode(data, step.size)
                got = memoryview(data).nbytes
            except (Refusal, MemoryError):
                raise
            except Exception as error:
                raise Refusal(f"{step.name} does not decode: {error}") from None
            if got > step.size.limit or (step.size.is_exact and got != step.size.limit):
                raise Refusal(f"{step.name} decodes to {got} bytes, wanted {step.size.limit}")
        if not self._steps and memoryview(data).nbytes != self.size.limit:
            raise Refusal(f"{memoryview(data).nbytes} bytes, wanted {self.size.limit}")
        return data

    def _count(self) -> None:
        self._left[0] -= 1
        if self._left[0] < 0:
            raise Refusal(f"more than {MAX_CODECS} codecs")

    def _push(self, name: str, decode: Callable[[Any, Size], Any], encoded: Size) -> None:
        self._steps.append(Step(name, self.size, decode))
        self.size = encoded

    def _add(self, shown: object, name: object, config: dict[str, Any], default: Any) -> None:
        """Adds a codec that both versions have. `default` is the dtype that version 3 lets a codec leave out."""
        self._count()
        if not isinstance(name, str) or name not in COMPRESSORS | CHECKSUMS | FILTERS:
            raise Refusal(f"the codec {short(shown)} is not among those that strided allows")
        limit, is_exact = self.size
        if name in COMPRESSORS:
            # The most that a compressor makes of bytes that cannot be compressed.
            self._push(name, decompressor(name, config), Size(limit + limit // 32 + 4096, False))
        elif name in CHECKSUMS:
            where = config.get("location")
            if where not in (None, "start", "end"):
                raise Refusal(f"{name}: location is {short(where)}, wanted 'start' or 'end'")
            arguments = {} if where is None or name == "fletcher32" else {"location": where}
            self._push(name, _checksum(name, arguments), Size(limit + 4, is_exact))
        else:
            self._add_filter(name, config, default)

    def _add_filter(self, name: str, config: dict[str, Any], default: Any) -> None:
        limit, is_exact = self.size
        if name == "bitround":
            self._push(name, lambda data, size: data, self.size)
        elif name == "packbits":
            codec = class_of("PackBits")()
            self._push(name, lambda data, size: codec.decode(data), Size((limit + 7) // 8 + 1, is_exact))
            self.shape, self.dtype = ((limit + 7) // 8 + 1,), numeric_dtype("|u1")
        elif name == "shuffle":
            width = config.get("elementsize", 4 if default is None else None)
            width = default.itemsize if width is None and default is not None else width
            if not isinstance(width, int) or isinstance(width, bool) or not 1 <= width <= 255:
                raise Refusal(f"shuffle: elementsize is {short(width)}")
            shuffle = class_of("Shuffle")(elementsize=width)
            self._push(name, lambda data, size: shuffle.decode(data), self.size)
        else:
            self._add_cast(name, config, default)

    def _add_cast(self, name: str, config: dict[str, Any], default: Any) -> None:
        """Adds a filter whose encoded elements have a dtype of their own."""
        words = ("decode_dtype", "encode_dtype") if name == "astype" else ("dtype", "astype")
        decoded = config.get(words[0])
        decoded = default if decoded is None and default is not None else numeric_dtype(decoded)
        encoded = config.get(words[1])
        encoded = decoded if encoded is None and name != "astype" else numeric_dtype(encoded)
        if default is not None:  # version 3 has its byte order in the codec `bytes`
            decoded, encoded = decoded.newbyteorder("="), encoded.newbyteorder("=")
        is_real = name in ("fixedscaleoffset", "quantize")
        if "c" in (encoded.kind, decoded.kind) and (is_real or decoded.kind != "c"):
            raise Refusal(f"{name}: {encoded} is not decoded to {decoded}")
        arguments: dict[str, Any] = {words[0]: decoded, words[1]: encoded}
        if name == "fixedscaleoffset":
            arguments |= {key: _number(name, key, config.get(key)) for key in ("scale", "offset")}
        if name == "quantize":
            if decoded.kind != "f" or encoded.kind != "f":
                raise Refusal(f"quantize: {encoded} is not decoded to {decoded}")
            arguments["digits"] = 1  # decoding does not use it
        limit, is_exact = self.size
        if limit % decoded.itemsize:
            raise Refusal(f"{name}: {limit} bytes are no whole number of {decoded}")
        codec = class_of(FILTERS[name])(**arguments)
        self._push(name, _quiet(codec.decode), Size(limit // decoded.itemsize * encoded.itemsize, is_exact))
        self.dtype = encoded

    def _add_bytes(self, config: dict[str, Any]) -> None:
        endian = config.get("endian", "little")
        if endian not in ("little", "big"):
            raise Refusal(f"bytes: endian is {short(endian)}, wanted 'little' or 'big'")
        native, stored = self.dtype.newbyteorder("="), self.dtype.newbyteorder("<" if endian == "little" else ">")

        def decode(data: Any, size: Size) -> Any:
            return data if native == stored else elements_of(data, stored).astype(native)

        self._push("bytes", decode, self.size)

    def _add_transpose(self, config: dict[str, Any]) -> None:
        import numpy

        order = config.get("order")
        if not isinstance(order, list) or any(type(dim) is not int for dim in order):
            raise Refusal(f"transpose: order is {short(order)}")
        if sorted(order) != list(range(len(self.shape))):
            raise Refusal(f"transpose: order is {short(order)}, which is no order of {len(self.shape)} dims")
        dtype, encoded = self.dtype, tuple(self.shape[dim] for dim in order)
        inverse = [order.index(dim) for dim in range(len(order))]

        def decode(data: Any, size: Size) -> Any:
            return numpy.ascontiguousarray(elements_of(data, dtype).reshape(encoded).transpose(inverse))

        self._push("transpose", decode, self.size)
        self.shape = encoded

    def _add_shards(self, config: dict[str, Any]) -> None:
        inner = extents(config.get("chunk_shape"), "sharding_indexed: chunk_shape", least=1)
        if len(inner) != len(self.shape) or any(a % b for a, b in zip(self.shape, inner, strict=True)):
            raise Refusal(f"sharding_indexed: chunks of {inner} do not divide {self.shape}")
        codecs, location = config.get("codecs"), config.get("index_location", "end")
        if not isinstance(codecs, list) or not codecs or location not in ("start", "end"):
            raise Refusal("sharding_indexed: no list of codecs, or no location of the index")
        dtype = self.dtype.newbyteorder("=")
        chain = Chain(inner, dtype, self.fill, self._left)
        for spec in codecs:
            chain.add_3(spec)
        order, has_checksum = _index_codecs(config.get("index_codecs"))
        grid = tuple(a // b for a, b in zip(self.shape, inner, strict=True))
        shards = _Shards(self.shape, inner, grid, chain, dtype, order, has_checksum, location == "start")
        count = math.prod(grid)
        self.has_shards = True
        self._push("sharding_indexed", shards.decode, Size(count * (16 + chain.size.limit) + 4, False))


class _Shards(NamedTuple):
    """A shard: chunks, and an index of their places in it."""

    shape: tuple[int, ...]
    inner: tuple[int, ...]
    grid: tuple[int, ...]
    chain: Chain
    dtype: Any
    order: str
    has_checksum: bool
    is_index_first: bool

    def decode(self, data: Any, size: Size) -> Any:
        import numpy

        data = memoryview(data).cast("B")
        count = math.prod(self.grid)
        length = 16 * count + 4 * self.has_checksum
        if length > data.nbytes:
            raise Refusal(f"a shard of {data.nbytes} bytes, and its index has {length}")
        index: Any = data[:length] if self.is_index_first else data[data.nbytes - length :]
        if self.has_checksum:
            index = class_of("CRC32C")(location="end").decode(index)
        table = elements_of(index, numpy.dtype(self.order + "u8")).reshape(*self.grid, 2)
        whole = numpy.full(self.shape, self.chain.fill, self.dtype)
        missing = 2**64 - 1
        for place in numpy.ndindex(*self.grid):
            start, nbytes = (int(value) for value in table[place])
            if start == missing and nbytes == missing:
                continue
            if start + nbytes > data.nbytes:
                raise Refusal(f"a chunk at byte {start} of {nbytes} bytes in a shard of {data.nbytes}")
            if nbytes > self.chain.size.limit:
                raise Refusal(f"a chunk of {nbytes} bytes, wanted at most {self.chain.size.limit}")
            decoded = elements_of(self.chain.decode(data[start : start + nbytes]), self.dtype).reshape(self.inner)
            box = tuple(slice(i * n, (i + 1) * n) for i, n in zip(place, self.inner, strict=True))
            whole[box] = decoded
        return whole


def extents(value: object, what: str, least: int = 0) -> tuple[int, ...]:
    """Returns a tuple of sizes from JSON."""
    if not isinstance(value, list) or any(type(extent) is not int or extent < least for extent in value):
        raise Refusal(f"{what} is {short(value)}")
    if len(value) > 64:
        raise Refusal(f"{what} has {len(value)} dims, and 64 are read")
    sizes = tuple(value)
    if math.prod(max(extent, 1) for extent in sizes) >= 2**59:
        raise Refusal(f"{what} is {short(value)}, which is too large")
    return sizes


def _index_codecs(specs: object) -> tuple[str, bool]:
    """Returns the byte order of the index of a shard, and whether it has a checksum."""
    names = [spec.get("name") if isinstance(spec, dict) else spec for spec in specs] if isinstance(specs, list) else []
    for name in names:
        if name not in ("bytes", "crc32c"):
            raise Refusal(f"the codec {short(name)} is not among those that strided allows for the index of a shard")
    if not isinstance(specs, list) or names not in (["bytes"], ["bytes", "crc32c"]):
        raise Refusal(f"index_codecs is {short(specs)}")
    config = specs[0].get("configuration", {}) if isinstance(specs[0], dict) else {}
    endian = config.get("endian", "little") if isinstance(config, dict) else None
    if endian not in ("little", "big"):
        raise Refusal(f"bytes: endian is {short(endian)}, wanted 'little' or 'big'")
    return "<" if endian == "little" else ">", len(names) == 2


def elements_of(data: Any, dtype: Any) -> Any:
    """The elements of a buffer, in one dim."""
    import numpy

    flat = data.reshape(-1).view("u1") if isinstance(data, numpy.ndarray) else numpy.frombuffer(data, "u1")
    return flat.view(dtype)


def _number(name: str, key: str, value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or abs(value) > 1e300 or value != value:
        raise Refusal(f"{name}: {key} is {short(value)}")
    return value


def _quiet(decode: Callable[[Any], Any]) -> Callable[[Any, Size], Any]:
    """A cast of a number that does not fit gives some number, as in `Tensor.to`, and no warning."""
    import numpy

    def run(data: Any, size: Size) -> Any:
        with numpy.errstate(all="ignore"):
            return decode(elements_of(data, numpy.dtype("u1")))

    return run


def _checksum(name: str, arguments: dict[str, str]) -> Callable[[Any, Size], Any]:
    codec = class_of(CHECKSUMS[name])(**arguments)

    def decode(data: Any, size: Size) -> Any:
        if memoryview(data).nbytes < 4:
            raise Refusal(f"{name}: {memoryview(data).nbytes} bytes, and the checksum has 4")
        return codec.decode(data)

    return decode
