"""Borrowed memory: `borrow`, its handle, and tensors whose memory was taken back."""

import copy
import ctypes
import gc
import io
import multiprocessing.shared_memory
import os
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest
import strategies as s

import strided as st

INVALID = r"the memory was borrowed, and its owner has invalidated it"


def invalid():
    """What an operation on invalid memory raises."""
    return pytest.raises(st.StorageError, match=INVALID)


class Frame(bytearray):
    """A buffer with weak references."""


@pytest.mark.parametrize("name", [name for name in s.DTYPES if name != "bfloat16"])
def test_a_borrowed_array_is_shared_in_its_dtype_and_layout(name):
    a = np.arange(24).reshape(2, 3, 4).astype(name)[::-1, :, 1::2]
    x, handle = st.borrow(a)
    assert x.dtype.name == name
    assert x.shape == a.shape
    assert x.tolist() == a.tolist()
    a[0, 0, 0] = 1
    assert x[0, 0, 0].item() == 1
    x.fill_(0)
    assert not a.any()
    handle.invalidate()
    with invalid():
        x.tolist()


@pytest.mark.parametrize("name", s.DTYPES)
def test_a_borrowed_tensor_is_shared_and_stays_valid_itself(name):
    x = st.ones(4, 6, dtype=name).t()[::-2, 1:]
    y, handle = st.borrow(x)
    assert (y.dtype, y.shape, y.stride(), y.owns_storage()) == (x.dtype, x.shape, x.stride(), False)
    y.zero_()
    assert not x.any()
    with pytest.raises(BufferError, match="exported"):
        x.storage().resize_(100)
    handle.invalidate()
    with invalid():
        y.any()
    x.storage().resize_(100)
    assert x.owns_storage()


def test_a_storage_can_be_borrowed():
    storage = st.FloatStorage([1, 2, 3])
    x, handle = st.borrow(storage)
    assert x.tolist() == [1, 2, 3]
    x[0] = 5
    handle.invalidate()
    assert storage.tolist() == [5, 2, 3]
    assert storage.resize_(1).tolist() == [5]


def test_an_array_interface_can_be_borrowed():
    class Lender:
        def __init__(self):
            self.memory = np.arange(3.0)
            self.__array_interface__ = self.memory.__array_interface__

    lender = Lender()
    alive = weakref.ref(lender)
    x, handle = st.borrow(lender)
    del lender
    x += 1
    assert alive().memory.tolist() == [1, 2, 3]
    handle.invalidate()
    assert alive() is None
    with invalid():
        x.sum()


def test_shared_memory_can_be_closed_after_it_was_invalidated():
    memory = multiprocessing.shared_memory.SharedMemory(create=True, size=16)
    try:
        x, handle = st.borrow(memory.buf, dtype=st.int32)
        x[:4].copy_([1, 2, 3, 4])
        assert memory.buf[4] == 2
        with pytest.raises(BufferError):
            memory.close()
        handle.invalidate()
        memory.close()
        with invalid():
            x.sum()
    finally:
        memory.unlink()


def test_a_dtype_takes_the_bytes_as_frombuffer_does():
    memory = bytearray(st.arange(6, dtype=st.int16).numpy().tobytes())
    x, handle = st.borrow(memory, dtype=st.int16)
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    handle.invalidate()
    memory.append(0)
    with pytest.raises(ValueError, match="borrow: 13 bytes after the offset are no multiple of the element size 2"):
        st.borrow(memory, dtype=st.int16)
    assert st.borrow(np.zeros((2, 2), np.float32), dtype="uint8")[0].shape == (16,)
    assert st.borrow(st.zeros(2), dtype="int32")[0].tolist() == [0, 0]


def test_read_only_memory_stays_so_and_other_memory_becomes_so_on_request():
    for x, _ in (st.borrow(b"abc"), st.borrow(bytearray(b"abc"), readonly=True), st.borrow(st.ones(3), readonly=True)):
        with pytest.raises(st.StorageError, match="read-only"):
            x.zero_()
        assert x.storage().readonly
    lender = st.ones(3)
    st.borrow(lender, readonly=True)
    lender.zero_()


@pytest.mark.parametrize("lender", [3, "abc", [1, 2], None, object()])
def test_an_object_without_memory_is_refused(lender):
    with pytest.raises(TypeError, match="borrow: buffer must be a buffer, an array, a Tensor or a Storage"):
        st.borrow(lender)


def test_memory_that_cannot_be_shared_is_refused():
    with pytest.raises(st.StorageError, match=r"borrow: .*; copy it first"):
        st.borrow(np.zeros(3, dtype=">f4"))


def test_the_owner_gets_its_buffer_back():
    frame = bytearray(b"abcd")
    x, handle = st.borrow(frame)
    with pytest.raises(BufferError):
        frame.append(1)
    handle.invalidate()
    frame += b"efgh" * 100_000  # moves the bytes
    with invalid():
        x.sum()
    handle.invalidate()
    y, _ = st.borrow(frame)
    assert y[4].item() == ord("e")


def everything(x):
    """Operations that need the elements of a float32 tensor of shape 2 x 3."""
    target = st.zeros(2, 3)
    return {
        "sum": lambda: x.sum(),
        "sum of a dim": lambda: x.sum(0),
        "max": lambda: x.max(1),
        "mean": lambda: st.mean(x),
        "add": lambda: x + 1,
        "add on the right": lambda: target + x,
        "add_": lambda: x.add_(1),
        "add_ of it": lambda: target.add_(x),
        "out": lambda: st.add(target, 1, out=x),
        "sin": lambda: x.sin(),
        "cast": lambda: x.double(),
        "equal": lambda: x.equal(x),
        "==": lambda: x == x,
        "where": lambda: st.where(target > 0, x, 0.0),
        "fill_": lambda: x.fill_(1),
        "zero_": lambda: x.zero_(),
        "copy_": lambda: x.copy_(target),
        "copy_ from it": lambda: target.copy_(x),
        "clone": lambda: x.clone(),
        "contiguous": lambda: x.t().contiguous(),
        "cumsum": lambda: x.cumsum(0),
        "softmax": lambda: x.softmax(0),
        "item": lambda: x[0, 0].item(),
        "item at": lambda: x.item(1, 2),
        "float": lambda: float(x[0, 0]),
        "bool": lambda: bool(x[0, 0]),
        "assign": lambda: x.__setitem__((0, 0), 1),
        "assign rows": lambda: x.__setitem__(slice(None), target),
        "tolist": lambda: x.tolist(),
        "in": lambda: 3 in x,
        "apply_": lambda: x.apply_(lambda value: value),
        "map_": lambda: target.map_(x, lambda a, b: b),
        "repr": lambda: repr(x),
        "str": lambda: str(x),
        "print": lambda: print(x, file=io.StringIO()),
        "format": lambda: f"{x:.2f}",
        "html": lambda: x._repr_html_(),
        "buffer": lambda: memoryview(x),
        "bytes": lambda: bytes(x),
        "numpy": lambda: x.numpy(),
        "asarray": lambda: np.asarray(x),
        "array interface": lambda: x.__array_interface__,
        "dlpack": lambda: x.__dlpack__(),
        "from_dlpack": lambda: np.from_dlpack(x),
        "pickle": lambda: pickle.dumps(x),
        "deepcopy": lambda: copy.deepcopy(x),
        "data_ptr": lambda: x.data_ptr(),
        "view of a dtype": lambda: x.view(st.int32),
        "as_strided": lambda: x.as_strided((2,), (1,)),
        "set_": lambda: st.Tensor().set_(x.storage(), 0, (2,)),
        "resize_": lambda: x.resize_(100),
        "share_memory_": lambda: x.share_memory_(),
        "borrow": lambda: st.borrow(x),
        "tensor": lambda: st.tensor(x),
        "Tensor of the storage": lambda: st.Tensor(x.storage()),
        "storage length": lambda: len(x.storage()),
        "storage size": lambda: x.storage().size(),
        "storage nbytes": lambda: x.storage().nbytes,
        "storage item": lambda: x.storage()[0],
        "storage slice": lambda: x.storage()[:],
        "storage assign": lambda: x.storage().__setitem__(0, 1),
        "storage tolist": lambda: x.storage().tolist(),
        "storage repr": lambda: repr(x.storage()),
        "storage clone": lambda: x.storage().clone(),
        "storage fill_": lambda: x.storage().fill_(1),
        "storage copy_": lambda: x.storage().copy_([]),
        "storage resize_": lambda: x.storage().resize_(0),
        "storage share_memory_": lambda: x.storage().share_memory_(),
        "storage view": lambda: x.storage().view(st.uint8),
        "storage data_ptr": lambda: x.storage().data_ptr(),
        "storage buffer": lambda: memoryview(x.storage()),
        "storage pickle": lambda: pickle.dumps(x.storage()),
        "storage deepcopy": lambda: copy.deepcopy(x.storage()),
        "storage in": lambda: 1 in x.storage(),
        "storage list": lambda: list(x.storage()),
    }


@pytest.mark.parametrize("operation", everything(st.zeros(2, 3)))
def test_invalid_memory_is_refused_by(operation):
    memory = np.arange(6, dtype=np.float32).reshape(2, 3)
    x, handle = st.borrow(memory)
    handle.invalidate()
    with invalid():
        everything(x)[operation]()
    assert memory.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_every_view_is_invalid_and_clones_are_valid():
    x, handle = st.borrow(np.arange(6.0).reshape(2, 3))
    views = [x[1], x.t(), x[:, ::-1], x.view(st.int64), x[None], x.storage().view(st.uint8), *x.unbind(0), x.__copy__()]
    kept = x.clone()
    assert not any(view.owns_storage() for view in views if isinstance(view, st.Tensor))
    handle.invalidate()
    for view in views:
        with invalid():
            view.tolist()
    assert kept.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert kept.owns_storage()


def test_facts_that_need_no_memory_are_still_known():
    x, handle = st.borrow(np.zeros((2, 3), np.float32))
    handle.invalidate()
    assert (x.shape, x.stride(), x.dtype, x.numel(), x.nbytes, x.type()) == ((2, 3), (3, 1), st.float32, 6, 24, "strided.FloatTensor")  # fmt: skip
    assert x.t().shape == (3, 2)
    assert [row.shape for row in x] == [(3,), (3,)]
    assert not x.owns_storage()
    assert not x.is_shared()
    storage = x.storage()
    assert storage is x.storage()
    assert (storage.dtype, storage.readonly, storage.owns_memory, storage.is_shared()) == (
        st.float32,
        False,
        False,
        False,
    )
    assert (storage.is_mapped, storage.filename, storage.type()) == (False, None, "strided.FloatStorage")
    assert sys.getsizeof(storage) > 0
    assert st.zeros_like(x).tolist() == [[0] * 3] * 2


def test_zero_elements_need_no_memory():
    x, handle = st.borrow(np.zeros((2, 3), np.float32))
    handle.invalidate()
    nothing = x[:0]
    assert nothing.sum().item() == 0
    assert nothing.clone().shape == (0, 3)
    assert nothing.tolist() == []
    nothing.fill_(1)
    assert memoryview(nothing).nbytes == 0
    assert nothing.numpy().shape == (0, 3)
    handle.invalidate()  # views without memory do not export the memory


def test_a_borrowed_tensor_without_elements_becomes_invalid_too():
    frame = bytearray()
    x, handle = st.borrow(frame)
    assert (x.tolist(), len(x.storage()), x.owns_storage()) == ([], 0, False)
    handle.invalidate()
    frame.append(1)
    with invalid():
        len(x.storage())
    with invalid():
        x.resize_(1)
    with invalid():
        st.ones(3, out=x)
    y, handle = st.borrow(st.zeros(2, 0))
    assert y.shape == (2, 0)
    handle.invalidate()


EXPORTS = {
    "memoryview": memoryview,
    "numpy": lambda x: x.numpy(),
    "numpy of a view": lambda x: x[1:].numpy(),
    "storage": lambda x: memoryview(x.storage()),
    "dlpack": lambda x: x.__dlpack__(),
    "numpy by dlpack": np.from_dlpack,
    "borrowed again": st.borrow,
}


@pytest.mark.parametrize("export", EXPORTS)
def test_exported_memory_cannot_be_invalidated(export):
    frame = bytearray(b"abcd")
    x, handle = st.borrow(frame)
    exported = EXPORTS[export](x)
    for _ in range(2):
        with pytest.raises(BufferError, match="invalidate: the storage cannot change its memory while 1 view"):
            handle.invalidate()
    assert x.tolist() == [97, 98, 99, 100]
    x[0] = 65
    assert frame[0] == 65
    del exported
    handle.invalidate()
    frame.append(1)


def test_an_address_that_was_handed_out_cannot_be_invalidated():
    x, handle = st.borrow(bytearray(b"abcd"))
    address = x.__array_interface__["data"][0]
    with pytest.raises(BufferError, match="__array_interface__"):
        handle.invalidate()
    assert ctypes.string_at(address, 4) == b"abcd"
    assert x[0].item() == 97


def test_the_function_of_apply_cannot_invalidate_the_memory():
    x, handle = st.borrow(bytearray(b"abcd"))

    def change(value):
        with pytest.raises(BufferError):
            handle.invalidate()
        return value + 1

    assert x.apply_(change).tolist() == [98, 99, 100, 101]
    handle.invalidate()


def test_the_handle_gives_the_tensor_inside_a_block_and_invalidates_it_at_the_end():
    frame = bytearray(b"abcd")
    x, handle = st.borrow(frame)
    with handle as tensor:
        assert tensor is x
        tensor[0] = 65
    frame.append(1)
    with invalid():
        x.sum()
    with invalid(), handle:
        pytest.fail("an invalid tensor has no block")


def test_the_end_of_the_block_may_come_after_the_end_of_the_memory():
    _, handle = st.borrow(bytearray(4))
    with handle:
        handle.invalidate()


def test_an_exception_in_the_block_passes_through():
    x, handle = st.borrow(bytearray(4))
    with pytest.raises(LookupError, match="mine") as raised, handle:
        raise LookupError("mine")
    assert raised.value.__context__ is None
    with invalid():
        x.sum()


def test_an_export_at_the_end_of_the_block_is_raised_there():
    frame = bytearray(b"abcd")
    x, handle = st.borrow(frame)
    with pytest.raises(BufferError, match="exported") as raised, handle as tensor:
        view = memoryview(tensor)
    assert raised.value.__context__ is None
    assert x.tolist() == [97, 98, 99, 100]
    mine = LookupError("mine")
    with pytest.raises(BufferError, match="exported") as raised, handle as tensor:
        raise mine
    assert raised.value.__context__ is mine
    view.release()
    handle.invalidate()
    frame.append(1)


def test_invalidation_waits_for_the_work_of_other_threads():
    memory = np.ones(1_000_000, np.float32)
    x, handle = st.borrow(memory)
    started, results, errors = threading.Event(), [], []

    def work():
        try:
            while True:
                results.append(x.sum().item())
                started.set()
        except st.StorageError as error:
            errors.append(str(error))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    started.wait()
    handle.invalidate()
    memory.fill(np.nan)  # nobody reads this
    for worker in workers:
        worker.join()
    assert set(results) == {1_000_000.0}
    assert len(errors) == 3
    assert all("sum" in error for error in errors)


def test_many_threads_invalidate_and_use_small_tensors():
    def use(x, start):
        start.wait()
        try:
            while True:
                x.add_(1)
        except st.StorageError:
            pass

    for _ in range(20):
        frame = Frame(64)
        (x, handle), start = st.borrow(frame), threading.Event()
        threads = [threading.Thread(target=use, args=(view, start)) for view in (x[:32], x[32:], x[::2])]
        threads += [threading.Thread(target=lambda h=handle, s=start: (s.wait(), h.invalidate())) for _ in range(2)]
        for thread in threads:
            thread.start()
        start.set()
        for thread in threads:
            thread.join()
        frame.append(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_invalidates_its_own_copy():
    frame = bytearray(b"abcd")
    x, handle = st.borrow(frame)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            handle.invalidate()
            frame.append(1)
            try:
                x.sum()
            except st.StorageError:
                code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert x.tolist() == [97, 98, 99, 100]
    handle.invalidate()


@pytest.mark.parametrize("order", ["tensor first", "handle first", "invalid, tensor first", "invalid, handle first"])
def test_the_owner_is_released_once(order):
    frame = Frame(b"abcd")
    count, alive = sys.getrefcount(frame), weakref.ref(frame)
    x, handle = st.borrow(frame)
    assert sys.getrefcount(frame) > count
    if "invalid" in order:
        for _ in range(3):
            handle.invalidate()
            assert sys.getrefcount(frame) == count
    if "tensor first" in order:
        del x
        del handle
    else:
        del handle
        if "invalid" not in order:
            assert x.tolist() == [97, 98, 99, 100]
        del x
    assert sys.getrefcount(frame) == count
    frame.append(1)
    del frame
    gc.collect()
    assert alive() is None


def test_the_handle_keeps_the_memory_and_the_tensor():
    frame = Frame(b"abcd")
    handle = st.borrow(frame)[1]
    alive = weakref.ref(frame)
    del frame
    gc.collect()
    assert alive() is not None
    with handle as tensor:
        assert tensor.tolist() == [97, 98, 99, 100]
    assert alive() is None


def test_a_lender_that_runs_code_may_use_the_invalid_tensor():
    seen = []

    class Lender:
        memory = np.arange(3.0)
        __array_interface__ = memory.__array_interface__

        def __del__(self):
            try:
                x.sum()
            except st.StorageError as error:
                seen.append(str(error))
            handle.invalidate()

    x, handle = st.borrow(Lender())
    handle.invalidate()
    assert len(seen) == 1


def test_memory_of_the_library_is_not_affected():
    used = st.memory.stats()["in_use"]
    for _ in range(10):
        _x, handle = st.borrow(bytearray(100_000))
        handle.invalidate()
    assert st.memory.stats()["in_use"] - used < 100_000


def test_a_handle_is_made_by_borrow_only():
    with pytest.raises(TypeError):
        st.BorrowHandle()
    with pytest.raises(TypeError):
        pickle.dumps(st.borrow(b"abc")[1])
