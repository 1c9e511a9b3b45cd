"""DLPack's structs in ctypes, capsules made from them, and producers of several DLPack versions."""

import ctypes

import numpy as np
import pytest


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Legacy(ctypes.Structure):
    _fields_ = (("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))
    name, used = b"dltensor", b"used_dltensor"


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )
    name, used = b"dltensor_versioned", b"used_dltensor_versioned"


READ_ONLY, IS_COPIED = 1, 2
CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6}
FORMS = pytest.mark.parametrize("form", [Legacy, Versioned], ids=["legacy", "versioned"])
Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def api(name, result, *arguments):
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


new_capsule = api("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
name_of = api("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)
is_valid = api("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
pointer_in = api("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
keep_forever = api("Py_IncRef", None, ctypes.py_object)
rename = api("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)


def look(capsule):
    """The struct in a capsule."""
    form = Versioned if name_of(capsule) == Versioned.name else Legacy
    struct = form.from_address(pointer_in(capsule, form.name))
    struct.capsule = capsule  # keeps the memory of the struct alive
    return struct


class Producer:
    """Six int32 in a capsule, every field of which may be overridden with a wrong value. Counts calls of its deleter."""

    def __init__(self, form=Versioned, name=None, address=None, during=None, shape=(2, 3), strides=(3, 1), **lies):
        self.numbers = (ctypes.c_int32 * 6)(*range(6))
        self.deleted = 0
        self.words = None
        dims = [None if dims is None else (ctypes.c_int64 * len(dims))(*dims) for dims in (shape, strides)]
        facts = {"data": ctypes.addressof(self.numbers), "device_type": 1, "ndim": len(shape or ()), "bits": 32}
        facts |= {"lanes": 1, "major": 1, "minor": 0}
        self.managed = form()
        for key, value in (facts | lies).items():
            owner = self.managed.tensor if hasattr(DLTensor, key) else self.managed
            setattr(owner, key, value)
        for key, values in zip(("shape", "strides"), dims, strict=True):
            if values is not None:
                setattr(self.managed.tensor, key, ctypes.cast(values, ctypes.POINTER(ctypes.c_int64)))

        def delete(pointer):
            assert pointer == ctypes.addressof(self.managed)
            self.deleted += 1
            if during:
                during()

        def destroy(capsule):
            if is_valid(capsule, form.name):
                delete(ctypes.addressof(self.managed))

        # C code holds no references to these, and the collector frees a cycle in any order: keep them forever.
        self.callbacks = Callback(delete), Callback(destroy), dims
        keep_forever(self)
        if "deleter" not in lies:
            self.managed.deleter = ctypes.cast(self.callbacks[0], ctypes.c_void_p)
        address = ctypes.addressof(self.managed) if address is None else address
        self.name = form.name if name is None else name
        self.capsule = new_capsule(address, self.name, ctypes.cast(self.callbacks[1], ctypes.c_void_p))

    def __dlpack__(self, **words):
        self.words = words
        return self.capsule


class Plain:
    """A producer from before DLPack 1.0."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


class Watched(np.ndarray):
    """An array that supports weak references."""
