"""The examples of the documentation of Torch7, of early PyTorch and of layouts, in the names of this library."""

import numpy as np
import pytest

import strided as st


@pytest.fixture(autouse=True)
def plain_options():
    with st.printoptions(profile="default", linewidth=80, sci_mode=None):
        yield


def test_torch7_sizes():
    z = st.Tensor(4, 5, 6, 2)
    assert z.size() == (4, 5, 6, 2)
    s = st.LongStorage(6)
    s[0], s[1], s[2], s[3], s[4], s[5] = 4, 5, 6, 2, 7, 3
    x = st.Tensor(st.Size(list(s)))
    assert x.ndimension() == x.dim() == x.ndim == 6
    assert x.size() == x.shape == (4, 5, 6, 2, 7, 3) and x.size(3) == 2 and x.size(-1) == 3


def test_torch7_printed_storage():
    s = st.LongStorage([4, 5, 6, 2, 7, 3])
    assert repr(s) == " 4\n 5\n 6\n 2\n 7\n 3\n[strided.LongStorage of size 6]"


def test_torch7_location_of_an_element():
    x = st.Tensor(7, 7, 7)
    x[2][3][4] = 5
    assert x[2][3][4].item() == x[2, 3, 4].item() == 5
    s = x.storage()
    assert s[x.storage_offset() + 2 * x.stride(0) + 3 * x.stride(1) + 4 * x.stride(2)] == 5
    assert s[x.layout.location(2, 3, 4)] == 5
    assert x.storageOffset() == x.storage_offset() == 0


def test_torch7_a_tensor_is_a_view_of_a_storage():
    x = st.DoubleTensor(4, 5)
    s = x.storage()
    for i in range(s.size()):
        s[i] = i + 1
    assert len(s) == s.size() == 20
    assert str(x) == (
        "  1   2   3   4   5\n  6   7   8   9  10\n 11  12  13  14  15\n 16  17  18  19  20\n[strided.DoubleTensor of size 4x5]"
    )
    assert x.stride() == (5, 1)
    assert x.layout.is_row_major and x.is_contiguous()


def test_torch7_types():
    for name, low, high in (
        ("Byte", 0, 255),
        ("Char", -128, 127),
        ("Short", -(2**15), 2**15 - 1),
        ("Int", -(2**31), 2**31 - 1),
    ):
        make = getattr(st, f"{name}Tensor")
        assert make([low, high]).tolist() == [low, high]
        with pytest.raises(OverflowError):
            make([high + 1])
    assert st.FloatTensor(1).element_size() == 4 and st.DoubleTensor(1).element_size() == 8


def test_torch7_default_type(default_dtype):
    assert st.Tensor(1).type() == "strided.FloatTensor"
    st.set_default_tensor_type("torch.DoubleTensor")
    assert st.Tensor(1).type() == "strided.DoubleTensor"
    st.set_default_tensor_type("strided.FloatTensor")
    assert st.Tensor(1).type() == "strided.FloatTensor"


def test_torch7_narrow():
    x = st.Tensor(5).zero_()
    assert str(x) == " 0\n 0\n 0\n 0\n 0\n[strided.FloatTensor of size 5]"
    x.narrow(0, 1, 3).fill_(1)
    assert str(x) == " 0\n 1\n 1\n 1\n 0\n[strided.FloatTensor of size 5]"
    y = st.Tensor(x.size()).copy_(x)
    z = x.clone()
    x.zero_()
    assert y.tolist() == z.tolist() == [0, 1, 1, 1, 0]


def test_early_pytorch_allocation_conversion_and_queries():
    a = st.FloatTensor(3, 4)
    assert str(a) == " 0  0  0  0\n 0  0  0  0\n 0  0  0  0\n[strided.FloatTensor of size 3x4]"
    b = a.long()
    assert str(b) == " 0  0  0  0\n 0  0  0  0\n 0  0  0  0\n[strided.LongTensor of size 3x4]"
    assert b is not a and b.data_ptr() != a.data_ptr()
    assert str(a.size()) == "strided.Size([3, 4])" and a.size() == (3, 4)
    assert a.dim() == a.ndimension() == 2
    c = a.numpy()
    assert str(type(c)) == "<class 'numpy.ndarray'>"


def test_early_pytorch_seven_types_on_the_cpu():
    for name in ("Float", "Double", "Byte", "Char", "Short", "Int", "Long"):
        x = getattr(st, f"{name}Tensor")(2)
        assert x.type() == f"strided.{name}Tensor" and str(x.device) == "cpu"


def test_early_pytorch_a_tensor_is_a_view_of_a_storage():
    x = st.Tensor(4, 5)
    s = x.storage()
    for i in range(s.size()):
        s[i] = i
    assert str(x) == (
        "  0   1   2   3   4\n  5   6   7   8   9\n 10  11  12  13  14\n 15  16  17  18  19\n[strided.FloatTensor of size 4x5]"
    )


def test_early_pytorch_narrow():
    x = st.Tensor(5).zero_()
    view = x.narrow(0, 1, 2)
    assert view.fill_(1) is view
    assert str(x) == " 0\n 1\n 1\n 0\n 0\n[strided.FloatTensor of size 5]"
    assert x.select(0, 1).item() == 1 and x.select(0, 1).data_ptr() == view.data_ptr()
    y = x.new(x.size()).copy_(x)
    z = x.clone()
    assert y.tolist() == z.tolist() == x.tolist() and y.type() == x.type()
    assert len({x.data_ptr(), y.data_ptr(), z.data_ptr()}) == 3


def test_early_pytorch_tensor_of_a_tensor():
    x = st.Tensor(2, 5).fill_(3.14)
    text = " 3.1400  3.1400  3.1400  3.1400  3.1400\n 3.1400  3.1400  3.1400  3.1400  3.1400\n[strided.FloatTensor of size 2x5]"
    assert repr(x) == text
    y = st.Tensor(x)
    assert repr(y) == text
    y.zero_()
    assert repr(x) == " 0  0  0  0  0\n 0  0  0  0  0\n[strided.FloatTensor of size 2x5]"


def test_early_pytorch_constructors():
    assert st.Tensor().size() == (0,)
    assert st.Tensor(2, 5).size() == (2, 5)
    assert st.Tensor(st.Size([4, 4, 3, 2])).size() == (4, 4, 3, 2)
    s = st.FloatStorage([1, 2, 3])
    x = st.FloatTensor(s)
    assert x.tolist() == [1, 2, 3] and x.storage() is s and x.storage_offset() == 0
    assert (
        repr(st.Tensor([[1, 2, 3, 4], [5, 6, 7, 8]])) == " 1  2  3  4\n 5  6  7  8\n[strided.FloatTensor of size 2x4]"
    )
    assert st.Tensor(((1, 2), (3, 4))).tolist() == [[1, 2], [3, 4]]


def test_early_pytorch_arrays():
    a = np.array([0, 0, 1, 1, 0, 1, 1, 0, 0, 0])
    b = st.LongTensor(a)
    assert repr(b) == " 0\n 0\n 1\n 1\n 0\n 1\n 1\n 0\n 0\n 0\n[strided.LongTensor of size 10]"
    b[3] = 100
    assert a[3] == 100
    b = st.IntTensor(a)
    b[3] = 30000
    assert a[3] == 100


def test_early_pytorch_numpy():
    a = st.from_numpy(np.zeros(2))
    assert a.type() == "strided.DoubleTensor"
    values = [[-1.0453, 1.4730, -1.8990, -0.7763], [1.8155, 1.4004, -1.5286, 1.0420], [0.6551, 1.0258, 0.1152, -0.3239]]
    a = st.Tensor(values)
    b = a.numpy()
    assert b.dtype == np.float32
    text = "-1.0453  1.4730 -1.8990 -0.7763\n 1.8155  1.4004 -1.5286  1.0420\n 0.6551  1.0258  0.1152 -0.3239\n[strided.FloatTensor of size 3x4]"
    assert repr(a) == text
    a[2][2] = 1000
    assert b[2][2] == 1000
    b[0, 0] = 5
    assert a[0][0].item() == 5


def test_early_pytorch_methods_by_heading():
    x, y = st.arange(4.0), st.zeros(3, 4)
    assert st.is_tensor(x) and st.is_tensor(x.long()) and not st.is_tensor(1)
    assert st.is_storage(x.storage()) and not st.is_storage(x)
    assert (
        x.expand_as(y).shape
        == st.expand_as(x, y).shape
        == x.expand(3, 4).shape
        == st.expand(x, (3, -1)).shape
        == (3, 4)
    )
    assert (
        x.view(2, 2).shape
        == st.view(x, (2, 2)).shape
        == x.view_as(st.zeros(2, 2)).shape
        == st.view_as(x, st.zeros(2, 2)).shape
        == (2, 2)
    )
    assert y.permute(1, 0).shape == st.permute(y, (1, 0)).shape == (4, 3)
    assert x.copy().tolist() == x.tolist() and x.copy().data_ptr() != x.data_ptr()
    assert [p.tolist() for p in x.split(3)] == [[0, 1, 2], [3]] and isinstance(x.split(3, dim=0), tuple)
    assert [p.tolist() for p in x.chunk(2)] == [[0, 1], [2, 3]]
    assert st.tensor(3).tolist() == 3 and x.view(2, 2).tolist() == [[0, 1], [2, 3]]
    assert x.unsqueeze(1).shape == st.unsqueeze(x, 1).shape == (4, 1)
    z = x.clone()
    assert z.unsqueeze_(0) is z and z.shape == (1, 4)
    assert (x + x).tolist() == (x + x).tolist() == st.add(x, x).tolist() == x.add(x).tolist() == [0, 2, 4, 6]
    assert (1 + x).tolist() == (x + 1).tolist() == [1, 2, 3, 4]
    assert (x - 1).tolist() == st.sub(x, 1).tolist() == [-1, 0, 1, 2] and (1 - x).tolist() == [1, 0, -1, -2]
    assert (x * 2).tolist() == (2 * x).tolist() == st.mul(x, 2).tolist() == [0, 2, 4, 6]
    assert (x / 2).tolist() == st.div(x, 2).tolist() == [0, 0.5, 1, 1.5]
    assert (2 / st.tensor([1.0, 4.0])).tolist() == [2, 0.5]
    assert (-x).tolist() == x.neg().tolist() == st.neg(x).tolist() == [0, -1, -2, -3]
    kept, address = x, x.data_ptr()
    x += 1
    x -= 2
    x *= 3
    x /= 2
    assert x is kept and x.data_ptr() == address and x.tolist() == [-1.5, 0, 1.5, 3]


def test_layout_terms():
    x = st.DoubleTensor(4, 5, 9, 3)
    layout = x.layout
    assert (
        layout.nmode == x.ndim == 4 and layout.shape == (4, 5, 9, 3) and layout.stride == x.stride() == (135, 27, 3, 1)
    )
    assert layout.size == layout.span == x.numel() == 540 and layout.is_contiguous and layout.is_row_major
    y = x[::-1, :, 1:]
    assert y.layout.offset == y.storage_offset() == 3 * 135 + 3
    assert y.data_ptr() == x.data_ptr() + 8 * (3 * 135 + 3)
    assert not y.layout.is_contiguous and y.layout.is_injective
    assert x.layout.span == 1 + sum((n - 1) * abs(s) for n, s in zip(x.shape, x.stride(), strict=True))
    assert x.fold((3, 2)).shape == (4, 5, 27)
    assert x.fold().shape == (540,)
    with pytest.raises(ValueError, match=r"^fold: "):
        x[:, :, 1:].fold()
