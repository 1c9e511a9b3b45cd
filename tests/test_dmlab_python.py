"""Python manners of Lab's tensors: sharing with the top level, borrowing, NumPy, pickle, errors and documents."""

import copy
import doctest
import gc
import inspect
import json
import math
import pickle
import re
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs

import strided as st
from strided import dmlab as lab
from strided.dmlab import tensor

CLASSES = [
    lab.ByteTensor,
    lab.CharTensor,
    lab.Int16Tensor,
    lab.Int32Tensor,
    lab.Int64Tensor,
    lab.FloatTensor,
    lab.DoubleTensor,
]
METHODS = [row.name for row in tensor.ROWS if row.name != "__call"]


def arguments(name, z):
    """Arguments that a method accepts."""
    given = {
        "select": (1, 1),
        "narrow": (1, 1, 1),
        "transpose": (1, 2),
        "reverse": (1,),
        "reshape": ([4],),
        "apply": (lambda value: value,),
        "applyIndexed": (lambda value, index: value,),
        "shuffle": (lab.random,),
    }
    if name in ("copy", "cadd", "csub", "cmul", "cdiv", "dot", "mmul"):
        return (z,)
    return given.get(name, (1,) if name in ("fill", "add", "sub", "mul", "div") else ())


def borrowed():
    """A tensor of 2x2 tens on memory that it does not own, a view of it, and the handle of the memory."""
    core, handle = st.borrow(st.full((2, 2), 10, dtype=st.float64))
    z = lab.from_strided(core)
    return z, z(1), handle


def test_conversion_to_and_from_the_top_level_shares_memory():
    x = st.arange(6, dtype=st.int32).view(2, 3)
    z = lab.from_strided(x)
    assert isinstance(z, lab.Int32Tensor)
    assert z.strided() is x
    z.add(1)
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    x.t()[0].zero_()
    assert z.val() == [[0, 2, 3], [0, 5, 6]]
    assert lab.from_strided(x.t()[::2]).val() == [[0, 0], [3, 6]]


def test_a_tensor_without_dims_becomes_one_of_extent_1():
    x = st.tensor(5.0)
    z = lab.from_strided(x)
    assert z.shape() == [1]
    z.val(7)
    assert x.item() == 7


@pytest.mark.parametrize("dtype", [st.bool, st.uint16, st.float16, st.bfloat16, st.complex64])
def test_dtypes_without_a_class_are_refused(dtype):
    with pytest.raises(TypeError, match=rf"no tensor of {dtype.name}; it has tensors of uint8, int8, .*, float64$"):
        lab.from_strided(st.zeros(2, dtype=dtype))
    with pytest.raises(lab.LabError, match=r"must be a strided\.Tensor, got list"):
        lab.from_strided([1])


def test_the_shape_without_dims_survives_the_round_trip():
    z = lab.FloatTensor()
    assert z.strided().shape == (0,)
    for other in (lab.from_strided(z.strided()), pickle.loads(pickle.dumps(z)), copy.copy(z), copy.deepcopy(z)):
        assert other.shape() == []
    assert lab.from_strided(st.empty(0)).shape() == [0]


def test_pickle_and_copies():
    z = lab.ByteTensor([[1, 2], [3, 4]])
    pair = pickle.loads(pickle.dumps([z, z(1)]))
    assert pair[0] == z and type(pair[0]) is lab.ByteTensor
    pair[1].fill(9)
    assert pair[0].val() == [[9, 9], [3, 4]]
    deep = copy.deepcopy([z, z(1)])
    deep[1].fill(9)
    assert (deep[0].val(), z.val()) == ([[9, 9], [3, 4]], [[1, 2], [3, 4]])
    copy.copy(z).fill(0)
    assert z.sum() == 0


def test_numpy_shares_memory():
    z = lab.Int16Tensor([[1, 2], [3, 4]]).transpose(1, 2)
    array = z.numpy()
    array[0, 1] = 30
    assert z.val() == [[1, 30], [2, 4]]
    assert np.asarray(z).tolist() == [[1, 30], [2, 4]]
    assert np.from_dlpack(z).tolist() == [[1, 30], [2, 4]]
    if sys.version_info >= (3, 12):
        assert memoryview(z).tolist() == [[1, 30], [2, 4]]


def test_arrays_and_ranges_are_tables():
    assert lab.DoubleTensor(np.eye(2)).val() == [[1, 0], [0, 1]]
    assert lab.Int32Tensor(range(3)).val() == [0, 1, 2]
    assert lab.Int32Tensor(((1, 2), (3, 4))).val() == [[1, 2], [3, 4]]
    assert lab.DoubleTensor([np.float32(0.5), np.int64(2)]).val() == [0.5, 2]
    assert lab.DoubleTensor(np.int64(3), 1).shape() == [3, 1]
    assert lab.DoubleTensor(st.ones(2)).val() == [1, 1]


def test_texts_are_what_lab_prints_without_the_last_line_end():
    z = lab.DoubleTensor([5])
    assert z.tostring() == "[deepmind.lab.tensor.DoubleTensor]\nShape: [1]5\n"
    assert str(z) == repr(z) == "[deepmind.lab.tensor.DoubleTensor]\nShape: [1]5"
    assert str(lab.DoubleTensor([5, 6])) == lab.DoubleTensor([5, 6]).tostring()


def brackets(array, limit):
    """Lab's text for an array of rank 1 to 3 with whole numbers: a model that walks over all indices as Lab does."""
    width, rank = max(len(str(value)) for value in array.flat), array.ndim
    skips = [range(3, extent - 3) if array.size > limit and extent >= 7 else range(0) for extent in array.shape]
    text = ""
    for index in np.ndindex(*array.shape):
        opening = next((i for i, at in enumerate(reversed(index)) if at), rank)
        skipped = next((i for i, at in enumerate(index) if at in skips[i]), None)
        if skipped is not None:
            if index[skipped] == 3 and opening + skipped + 1 >= rank:
                text += " " * (rank - opening) + "...," + "\n" * opening if opening else "..., "
            continue
        text += (" " * (rank - opening) + "[" * opening if opening else "") + str(array[index]).rjust(width)
        closing = next((i for i in range(rank) if index[-1 - i] + 1 != array.shape[-1 - i]), rank)
        text += ", " if not closing else "]" * closing + ("," + "\n" * closing if closing < rank else "")
    return text


@given(hs.lists(hs.integers(1, 9), min_size=1, max_size=3), hs.integers(-1, 80))
def test_brackets_follow_the_rules_of_the_original(shape, limit):
    array = np.arange(np.prod(shape)).reshape(shape) * 7 - 20
    if array.size > 1:
        text = lab.Int64Tensor(array.tolist()).tostring(limit)
        assert text.split("\n", 2)[2] == brackets(array, array.size if limit < 0 else limit)


@given(hs.lists(hs.floats(width=32) | hs.sampled_from([0.0, 1.0, 123456.0, 1234567.0]), min_size=2, max_size=20))
def test_numbers_have_six_digits_and_one_width(values):
    texts = [f"{value:g}" if value == value else "-nan" if math.copysign(1, value) < 0 else "nan" for value in values]
    width = max(map(len, texts))
    line = "[" + ", ".join(text.rjust(width) for text in texts) + "]"
    for cls in (lab.FloatTensor, lab.DoubleTensor):
        assert str(cls(values)).splitlines()[-1] == line


def test_the_width_of_a_shortened_tensor_is_that_of_all_elements():
    z = lab.DoubleTensor(2000)
    z.narrow(1, 1000, 1).fill(-0.000123456)
    assert str(z).splitlines()[-1] == "[" + ", ".join([*["0".rjust(12)] * 3, "...", *["0".rjust(12)] * 3]) + "]"
    z.narrow(1, 1000, 1).fill(100)
    assert str(z).splitlines()[-1] == "[  0,   0,   0, ...,   0,   0,   0]"
    z.narrow(1, 1000, 1).fill(1e-100)
    assert str(z).splitlines()[-1] == "[     0,      0,      0, ...,      0,      0,      0]"


def test_hash_is_identity_and_truth_needs_one_element():
    z, y = lab.DoubleTensor([1]), lab.DoubleTensor([1])
    assert z == y and len({z, y}) == 2 and hash(z) == hash(z)
    assert z and not lab.DoubleTensor([0])
    for size in (2, 3):
        with pytest.raises(ValueError, match=f"the truth of a tensor of {size} elements"):
            bool(lab.DoubleTensor(size))
    with pytest.raises(ValueError, match="0 elements"):
        bool(lab.DoubleTensor())


def test_there_are_no_attributes_but_methods():
    z = lab.DoubleTensor(2)
    with pytest.raises(AttributeError):
        z.foo = 1
    with pytest.raises(AttributeError):
        z.foo
    assert weakref.ref(z)() is z
    assert not hasattr(z, "__dict__")


def test_classes_are_told_apart_and_can_have_subclasses():
    class Texture(lab.ByteTensor):
        """A tensor with a method of its own."""

        def brighten(self):
            return self.mul(2)

    texture = Texture([1, 2])
    assert isinstance(texture, lab.ByteTensor) and not isinstance(texture, lab.CharTensor)
    assert texture.brighten() is texture and texture.val() == [2, 4]
    assert type(texture.clone()) is lab.ByteTensor
    assert texture == lab.ByteTensor([2, 4])


@pytest.mark.parametrize(
    ("use", "kind", "text"),
    [
        (lambda z: z.select(1, 0), IndexError, "dim, index, received: 1, 0; dims and indices start at 1"),
        (lambda z: z.select(-1, 1), IndexError, "dim, index, received: -1, 1"),
        (lambda z: z.select(1.0, 1), TypeError, "dim, index, received: 1, 1; 1.0 is no int"),
        (lambda z: z.select("1", 1), TypeError, "dim, index, received: 1, 1"),
        (lambda z: z.select(True, 1), TypeError, "dim, index, received: true, 1"),
        (lambda z: z.select(2**70, 1), IndexError, "dim, index, received: 1.18059e+21, 1"),
        (lambda z: z.select(10**400, 1), IndexError, "dim, index, received: inf, 1"),
        (lambda z: z.select(), TypeError, "dim, index, received: (none), (none)"),
        (lambda z: z.select(None, {}), TypeError, "dim, index, received: (nil), (table)"),
        (lambda z: z.select(print, len), TypeError, "dim, index, received: function [1], function [1]"),
        (lambda z: z.select(lambda: 0, 1), TypeError, "dim, index, received: function [0], 1"),
        (lambda z: z(slice(1, 2)), TypeError, "Invalid Index!; use narrow(dim, index, size) for a part of a dim"),
        (lambda z: z(0), IndexError, "Invalid Index!; dims and indices start at 1"),
        (lambda z: z.narrow(1, 1, -1), IndexError, "dim, index, size received: 1, 1, -1"),
        (lambda z: z.narrow(1, 2, 2**64), IndexError, "dim, index, size received: 1, 2, 1.84467e+19"),
        (lambda z: z.transpose(1, 3), IndexError, "Must contain 1 based indexes, received: 1, 3"),
        (lambda z: z.reverse(None), TypeError, "Must contain 1 based dim received: (nil)"),
        (lambda z: z.reshape(6), TypeError, "Must be called on a contiguous tensor with a matching element count."),
        (lambda z: z.reshape([2.0, 3]), TypeError, "a matching element count.; 2.0 is no int"),
        (
            lambda z: z.reshape([-2, -3]),
            IndexError,
            "Must be called on a contiguous tensor with a matching element count.",
        ),
        (lambda z: z.reshape([2**40, 2**40]), ValueError, "Must be called on a contiguous tensor with a matching"),
        (lambda z: z.add(10**400), TypeError, "matches last dimension received: inf"),
        (lambda z: z.add("x{}y"), TypeError, "matches last dimension received: x{}y"),
        (lambda z: z.clamp("a"), TypeError, "TypeMismatch Arg1 must be a nil or valid min value"),
        (lambda z: z.apply(5), TypeError, "apply] - attempt to call a number value"),
        (lambda z: z.tostring("a"), TypeError, "Invalid number of elements passed to function."),
    ],
)
def test_bad_arguments_have_the_text_of_lab_and_change_nothing(use, kind, text):
    z = lab.DoubleTensor([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(kind) as caught:
        use(z)
    assert isinstance(caught.value, lab.LabError) and isinstance(caught.value, RuntimeError)
    assert text in str(caught.value)
    assert re.match(r"\[deepmind\.lab\.tensor\.DoubleTensor\.\w+\] - ", str(caught.value))
    assert z.val() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda: lab.DoubleTensor(2, None), "[Tensor.CreateFromArgs] Failed to read Tensor shape."),
        (
            lambda: lab.DoubleTensor(0),
            "[Tensor.CreateFromArgs] Failed to read Tensor shape.",
        ),
        (lambda: lab.DoubleTensor(-1), "[Tensor.CreateFromArgs] Failed to read Tensor shape."),
        (lambda: lab.DoubleTensor(2.5), "[Tensor.CreateFromArgs] Failed to read Tensor shape.; 2.5 is no int"),
        (lambda: lab.DoubleTensor("2"), "[Tensor.CreateFromArgs] Failed to read Tensor shape."),
        (lambda: lab.DoubleTensor([1], 2), "[Tensor.Create] 'Must only pass one argument for table construction."),
        (
            lambda: lab.DoubleTensor(2, range=[1]),
            "[Tensor.Create] 'Must only pass one argument for table construction.",
        ),
        (lambda: lab.DoubleTensor(foo=[1]), "[Tensor.Create] Named constructor must be 'range' or 'file'"),
        (lambda: lab.DoubleTensor(range=[1], file={}), "[Tensor.Create] Must supply only one named contructor."),
        (lambda: lab.DoubleTensor(lab.DoubleTensor(2)), "[Tensor.Create] Must supply only one named contructor."),
        (lambda: lab.DoubleTensor(range=5), "[Tensor.Create] 'range' must contain a table."),
        (lambda: lab.DoubleTensor(file=5), "[Tensor.Create] 'file' must contain a table."),
        (lambda: lab.DoubleTensor(range=[]), "[Tensor.CreateFromRange] Failed to read Tensor range."),
        (lambda: lab.DoubleTensor(range=[1, 2, 3, 4]), "[Tensor.CreateFromRange] Failed to read Tensor range."),
        (lambda: lab.DoubleTensor(range=[1, math.inf]), "[Tensor.CreateFromRange] Invalid Tensor range."),
        (lambda: lab.DoubleTensor(range=[math.nan]), "[Tensor.CreateFromRange] Invalid Tensor range."),
        (lambda: lab.Int64Tensor(range=[1, 2, 0.5]), "[Tensor.CreateFromRange] Step size must not be zero."),
    ],
)
def test_bad_constructions_have_the_text_of_lab(use, text):
    with pytest.raises(lab.LabError) as caught:
        use()
    assert str(caught.value) == text


def test_sizes_that_no_memory_holds_are_refused():
    for sizes in ((2**62,), (2**40, 2**40), (2**31,) * 3):
        with pytest.raises((MemoryError, OverflowError, ValueError)):
            lab.DoubleTensor(*sizes)


def test_parameters_have_names_and_surplus_arguments_are_refused():
    z = lab.DoubleTensor([[1, 2, 3], [4, 5, 6]])
    assert z.narrow(dim=2, index=2, size=2) == z.narrow(2, 2, 2) == z.narrow(2, size=2, index=2)
    assert z.clamp(maximum=4).val() == [[1, 2, 3], [4, 4, 4]]
    assert z.val(value=[[1, 2, 3], [4, 5, 6]]) == [[1, 2, 3], [4, 5, 6]]
    for use, text in (
        (lambda: z.select(1, 2, 3), "select: takes 2 arguments, got 3"),
        (lambda: z.select(1, dim=1), "select: argument 'dim' was passed twice"),
        (lambda: z.select(1, i=1), "select: has no parameter 'i'; it has dim, index"),
        (lambda: z.sum(axis=1), "sum: has no parameter 'axis'; it has none"),
    ):
        with pytest.raises(lab.LabTypeError) as caught:
            use()
        assert str(caught.value) == text


def test_a_method_of_another_class_names_its_own():
    with pytest.raises(TypeError) as caught:
        lab.ByteTensor.sum(lab.DoubleTensor([5]))
    text = str(caught.value)
    assert text.startswith("First argument must be an object of type: 'deepmind.lab.tensor.ByteTensor'\nDid you forget")
    assert "'sum'?\nArgument received: 'user pointer: [0x" in text and text.endswith("Shape: [1]5\n'")


def test_exceptions_of_a_callback_come_out_as_they_are():
    def fail(value):
        if value > 2:
            raise KeyError("mine")
        return 0

    z = lab.DoubleTensor([1, 2, 3, 4])
    with pytest.raises(KeyError, match="mine"):
        z.apply(fail)
    assert z.val() == [0, 0, 3, 4]


def test_a_session_of_lua_follows_its_rules():
    with lab.Session(lua=True).activate():
        z = lab.DoubleTensor({1: {1: 1, 2: 2}, 2: {1: 3, 2: 4}})
        assert z(2.9, 1.1).val() == 3
        assert z.sum(1, 2, 3) == 10
        assert z.val(1, 2) == [[1, 2], [3, 4]]
        assert z.floor(5) == 5
        assert lab.DoubleTensor(2**32 + 2).shape() == [2]
        for method in (z.apply, z.applyIndexed):
            with pytest.raises(lab.LabError, match=r"\.apply(Indexed)?\] - mine$"):
                method(lambda *_: (_ for _ in ()).throw(RuntimeError("mine")))


def test_sessions_of_threads_do_not_mix():
    inside, checked = threading.Event(), threading.Event()
    seen = []

    def other():
        with lab.Session(lua=True).activate():
            inside.set()
            checked.wait(10)
            seen.append(lab.current().lua)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(10)
    seen.append(lab.current().lua)
    checked.set()
    thread.join()
    assert seen == [False, True]


@pytest.mark.parametrize("name", METHODS)
def test_a_tensor_whose_memory_was_taken_back_refuses_every_method(name):
    z, y, handle = borrowed()
    k = z.clone()
    assert not z.ownsStorage() and not y.ownsStorage() and k.ownsStorage()
    other = lab.DoubleTensor(2, 2)
    handle.invalidate()
    handle.invalidate()
    for x in (z, y, z):
        with pytest.raises(lab.LabError) as caught:
            getattr(x, name)(*arguments(name, other))
        text = "Trying to access invalidated object of type: 'deepmind.lab.tensor.DoubleTensor' with method '{}'."
        assert str(caught.value) == text.format(name)
    assert k.val() == [[10, 10], [10, 10]]


def test_other_uses_of_taken_back_memory_are_refused_but_for_equality():
    z, y, handle = borrowed()
    handle.invalidate()
    for use, name in (
        (lambda: z(1, 1), "__call"),
        (lambda: str(z), "__tostring"),
        (lambda: repr(z), "__tostring"),
        (lambda: z.numpy(), "numpy"),
        (lambda: bool(z), "__bool__"),
        (lambda: pickle.dumps(z), "__reduce__"),
        (lambda: lab.DoubleTensor(2, 2).copy(z), "__tostring"),
    ):
        with pytest.raises(lab.LabError, match=f"invalidated object of type: .* with method '{name}'"):
            use()
    assert z == z and z != y and lab.DoubleTensor(2, 2) != z and z != lab.DoubleTensor(2, 2)


def test_views_without_elements_are_taken_back_too():
    z, _, handle = borrowed()
    empty = z.narrow(1, 1, 0)
    handle.invalidate()
    with pytest.raises(lab.LabError, match="invalidated"):
        empty.size()


def test_memory_is_not_taken_back_while_it_is_used():
    z, _, handle = borrowed()
    array = z.numpy()
    with pytest.raises(BufferError):
        handle.invalidate()
    del array
    gc.collect()

    def callback(value):
        with pytest.raises(BufferError):
            handle.invalidate()

    z.apply(callback)
    handle.invalidate()


def test_a_borrowed_frame_is_written_in_place():
    frame = bytearray(6)
    core, handle = st.borrow(frame)
    with handle:
        lab.from_strided(core).reshape([2, 3]).fill([1, 2, 3])
    assert frame == bytearray([1, 2, 3, 1, 2, 3])
    frame.append(7)  # the owner has its buffer back


def test_read_only_memory_is_not_written():
    z = lab.from_strided(st.frombuffer(b"abc", dtype=st.uint8))
    assert z.val() == [97, 98, 99]
    for use in (lambda: z.fill(1), lambda: z.add(1), lambda: z.val([1, 2, 3]), lambda: z.apply(lambda v: 1)):
        with pytest.raises(st.StorageError, match="read-only"):
            use()
    assert z.clone().add(1).val() == [98, 99, 100]


@pytest.mark.parametrize("cls", [*CLASSES, lab.RandomView], ids=lambda cls: cls.__name__)
def test_methods_are_functions_with_documents_and_examples(cls):
    names = [name for name in dir(cls) if not name.startswith("_")]
    assert len(names) > 4
    for name in names:
        function = getattr(cls, name)
        assert inspect.isfunction(function) and function.__name__ == name
        assert "self" in inspect.signature(function).parameters
        test = doctest.DocTestParser().get_doctest(function.__doc__, {}, f"{cls.__name__}.{name}", None, 0)
        assert test.examples
        report = []
        assert not doctest.DocTestRunner(verbose=False).run(test, out=report.append).failed, "".join(report)


def test_all_classes_have_all_methods():
    assert {frozenset(dir(cls)) for cls in CLASSES} == {frozenset(dir(lab.DoubleTensor))}
    assert set(METHODS) <= set(dir(lab.DoubleTensor))


def test_the_front_end_is_loaded_when_it_is_first_used():
    code = "import sys, strided; a = 'strided.dmlab' in sys.modules; strided.dmlab; print(a, 'strided.dmlab' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "False"]


@pytest.mark.parametrize(
    ("kind", "owner"),
    [("functions", lab), ("tensor_methods", lab.FloatTensor), ("random_methods", lab.random)],
)
def test_all_names_of_the_feature_list_exist(kind, owner):
    features = json.loads((Path(__file__).parent / "data/features.json").read_text())["dmlab"]
    names = features[kind] + features[f"further_{kind}"]
    assert names and [name for name in names if not hasattr(owner, name)] == []


def test_names():
    assert set(dir(lab)) == set(lab.__all__)
    assert all(hasattr(lab, name) for name in lab.__all__)


VALUES = hs.one_of(
    hs.sampled_from(
        [
            None,
            True,
            "a",
            "1",
            b"x",
            print,
            object(),
            {},
            [],
            [[]],
            [1],
            [1, 2],
            [[1, 2], [3, 4]],
            {1: 2},
            {"range": [2]},
        ]
    ),
    hs.sampled_from(
        [slice(1, 2), ..., 1j, 2**31, 2**32 + 1, 2**63, -(2**63), 2**64, 10**400, np.float64(1), np.int8(2), np.eye(2)]
    ),
    hs.sampled_from(
        [math.nan, math.inf, -math.inf, 1e300, -0.0, 1e-320, lab.random, lab.DoubleTensor(2, 2), lab.ByteTensor(4)]
    ),
    hs.integers(-2, 4),
    hs.floats(),
)


@given(hs.sampled_from(CLASSES), hs.sampled_from(METHODS), hs.lists(VALUES, max_size=4), hs.booleans())
def test_any_argument_is_accepted_or_refused_with_a_lab_error(cls, name, values, lua):
    with lab.Session(lua=lua).activate():
        z = cls([[1, 2], [3, 4]]).narrow(2, 1, 2)
        try:
            getattr(z, name)(*values)
        except lab.LabError as error:
            assert str(error)
        assert z.shape() == [2, 2]
        str(z)


def is_modest(value):
    """Whether no tensor of three such sizes, and no range with such ends and such a step, fills the memory.

    Numbers that are larger or smaller than any that memory could hold are refused, and so are modest.
    """
    if not isinstance(value, (int, float)) or value == 0 or value != value:
        return True
    return 0.01 <= abs(value) <= 100 or abs(value) >= 2**63 or abs(value) <= 1e-30


@given(
    hs.sampled_from(CLASSES),
    hs.lists(VALUES.filter(is_modest), max_size=3),
    hs.sampled_from(["", "range", "file"]),
    hs.booleans(),
)
def test_any_construction_gives_a_tensor_or_an_error(cls, values, keyword, lua):
    with lab.Session(lua=lua).activate():
        try:
            z = cls(**{keyword: values}) if keyword else cls(*values)
        except (lab.LabError, MemoryError, OverflowError, ValueError) as error:
            assert str(error)
        else:
            assert z.size() == math.prod(z.shape()) or z.shape() == []


@given(
    hs.sampled_from(["seed", "uniformInt", "uniformReal", "normalDistribution", "discreteDistribution"]),
    hs.lists(VALUES, max_size=3),
)
def test_any_argument_of_random_numbers_is_accepted_or_refused_with_a_lab_error(name, values):
    try:
        getattr(lab.random, name)(*values)
    except lab.LabError as error:
        assert str(error)
