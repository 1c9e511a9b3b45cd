"""Elements chosen by an index on devices: results as on the CPU, and bad indices, which are reported when the host waits next."""

import pytest
from gpu_devices import needs_gpu

import strided as st

pytestmark = needs_gpu

#: A dtype of each size of elements.
DTYPES = [st.float32, st.int64]
DTYPES += [pytest.param(dtype, marks=pytest.mark.slow) for dtype in (st.bool, st.int16, st.complex128)]

#: Views of a tensor of shape 6x5x4.
LAYOUTS = {
    "dense": lambda x: x,
    "transposed": lambda x: x.permute(2, 0, 1),
    "step 2": lambda x: x[::2, 1::2, ::3],
    "negative": lambda x: x[::-1, :, ::-2],
    "offset": lambda x: x[2:, 1:],
    "stride 0": lambda x: x[:1].expand(4, 5, 4),
    "size 1": lambda x: x[:1, :1, :1],
}


def numbers(*shape, dtype=st.float32):
    return st.arange(st.zeros(shape).numel()).reshape(shape).to(dtype)


def same(function, *tensors):
    """The result on a device is that on the CPU."""
    expected, result = function(*tensors), function(*(x.gpu() for x in tensors))
    assert result.dtype == expected.dtype and result.shape == expected.shape
    assert str(result.device) == "gpu:0" and result.cpu().equal(expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_gather(layout, dtype):
    x, view = numbers(6, 5, 4, dtype=dtype), LAYOUTS[layout]
    for dim in range(3):
        extent = view(x).shape[dim]
        index = st.tensor([extent - 1, 0, extent // 2, 0])
        same(lambda x, i, dim=dim: view(x).index_select(dim, i), x, index)
        same(lambda x, i, dim=dim: view(x).index_select(dim, i[::-2]), x, index)
        shape = list(view(x).shape)
        shape[dim] = 3
        index = (st.arange(st.zeros(shape).numel()) % extent).reshape(shape)
        same(lambda x, i, dim=dim: view(x).gather(dim, i), x, index)
    same(lambda x, i: view(x)[i], x, st.tensor([[0, -1], [-1, 0]]))
    same(lambda x, i: view(x)[..., i], x, st.tensor([0, -1, 0]))
    same(lambda x, i: view(x)[i, :, i], x, st.tensor([0, -1, 0]))
    same(lambda x, i: view(x)[i, i, i], x, st.tensor([[0], [-1]]))
    same(lambda x, i: view(x).take(i), x, st.tensor([0, -1, view(x).numel() - 1]))


def test_indices_of_other_dtypes_and_without_elements():
    x = numbers(6, 5)
    same(lambda x, i: x.index_select(0, i.to(st.int32)), x, st.tensor([5, 1]))
    same(lambda x, i: x[i], x, st.zeros((0, 3), dtype=st.int64))
    same(lambda x, i: x.index_select(1, i), x, st.zeros(0, dtype=st.int64))
    same(lambda x, i: x[:, :0][i], x, st.tensor([1, 2]))
    same(lambda x, i: x[0, 0].index_select(0, i), x, st.tensor([0]))
    with pytest.raises(IndexError):
        x.gpu()[:0][st.tensor([0]).gpu()]
    with pytest.raises(TypeError):
        x.gpu().index_select(0, x.gpu()[0])


#: A call with an index out of range, the index and the extent, what the operation is called, and its result.
BAD_READS = [
    (lambda x, d: x.index_select(0, d([1, 7, 0])), 7, 3, "index_select", [[3, 4, 5], [0, 0, 0], [0, 1, 2]]),
    (lambda x, d: x.index_select(0, d([-1])), -1, 3, "index_select", [[0, 0, 0]]),
    (lambda x, d: x.gather(1, d([[0], [3], [1]])), 3, 3, "gather", [[0], [0], [7]]),
    (lambda x, d: x[d([-4, 2])], -4, 3, "index", [[0, 0, 0], [6, 7, 8]]),
    (lambda x, d: x[d([0, 9]), d([1, 1])], 9, 3, "index", [1, 0]),
    (lambda x, d: x.take(d([8, 9])), 9, 9, "take", [8, 0]),
    (lambda x, d: x.t()[::2].take(d([1, 6])), 6, 6, "take", [3, 0]),
    (lambda x, d: x.index_select(0, d([2**62])), 2**62, 3, "index_select", [[0, 0, 0]]),
]


@pytest.mark.parametrize("number", range(len(BAD_READS)))
def test_a_bad_read_gives_0_and_is_reported_by_the_next_wait(number):
    call, index, extent, name, expected = BAD_READS[number]
    x = numbers(3, 3).gpu()
    result = call(x, lambda values: st.tensor(values).gpu())
    message = rf"^{name}: index {index} is outside extent {extent} \(found on gpu:0 after the call returned\)$"
    with pytest.raises(IndexError, match=message):
        x.cpu()
    # Reported once; the device works on.
    assert result.cpu().tolist() == expected
    assert x.index_select(0, st.tensor([1]).gpu()).cpu().tolist() == [[3, 4, 5]]


def test_only_the_first_bad_index_is_reported():
    x, first, second = numbers(3, 3).gpu(), st.tensor([5]).gpu(), st.tensor([[6]]).gpu()
    x.index_select(0, first)
    x.gather(0, second)
    with pytest.raises(IndexError, match="index_select: index 5"):
        x[0, 0].item()
    assert x[1, 1].item() == 4


def test_a_bad_index_of_one_device_is_not_reported_by_another():
    try:
        other = numbers(3).gpu(1)
    except (RuntimeError, ValueError):
        pytest.skip("one device")
    x = numbers(3).gpu()
    x[st.tensor([3]).gpu()]
    assert other.cpu().tolist() == [0, 1, 2]
    with pytest.raises(IndexError, match="gpu:0"):
        x.cpu()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_writes(layout):
    """The last of several values for one element stays, as on the CPU."""
    view = LAYOUTS[layout]
    if layout == "stride 0":
        return
    index = st.tensor([0, -1, 0])

    def assign(x, i, values):
        view(x)[i] = values
        return x

    def assign_elements(x, i, values):
        view(x)[i, :, i] = values.reshape(-1)[:3].reshape(3, 1)
        return x

    def copy(x, i, values):
        view(x).index_copy_(0, i[::2], values[::2])
        return x

    def assign_one(x, i, values):
        view(x)[:, i] = 9
        view(x)[i[:1], ..., i[:1]] = 8
        return x

    def fill(x, i, values):
        view(x).index_fill_(2, i[::2], 7)
        return x

    def scatter(x, i, values):
        view(x).scatter_(0, st.zeros(view(x).shape, dtype=st.int64, device=x.device), view(x).flip(0))
        return x

    def put(x, i, values):
        view(x).put_(i, values.reshape(-1)[:3])
        return x

    rows = view(numbers(6, 5, 4))[index].clone() + 100
    rows[2] += 1000
    for function in (assign, assign_elements, assign_one, copy, fill, scatter, put):
        x = numbers(6, 5, 4)
        expected = function(x.clone(), index, rows)
        assert function(x.gpu(), index.gpu(), rows.gpu()).cpu().equal(expected), function.__name__


def test_a_bad_write_is_skipped():
    x = numbers(3, 3).gpu()
    x[st.tensor([1, 5]).gpu()] = st.full((2, 3), 9.0).gpu()
    with pytest.raises(IndexError, match=r"^index_put_: index 5 is outside extent 3"):
        x.cpu()
    assert x.cpu().tolist() == [[0, 1, 2], [9, 9, 9], [6, 7, 8]]
    x[st.tensor([0, -4]).gpu(), st.tensor([0, 2]).gpu()] = 5.0
    with pytest.raises(IndexError, match="index -4 is outside extent 3"):
        x.cpu()
    assert x.cpu().tolist() == [[5, 1, 2], [9, 9, 9], [6, 7, 8]]


COMBINED = [
    st.float32,
    *(pytest.param(t, marks=pytest.mark.slow) for t in (st.float16, st.int64, st.uint8, st.bool, st.complex64)),
]


@pytest.mark.parametrize("dtype", COMBINED, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_that_are_combined(layout, dtype):
    """Sums of one element are added in row-major order, so that they have the bits of the CPU."""
    view = LAYOUTS[layout]
    if layout == "stride 0":
        return
    generator = st.Generator().manual_seed(1)
    x = (st.randn(6, 5, 4, generator=generator) * 3).to(dtype)
    shape = view(x).shape
    values = (st.randn(9, *shape[1:], generator=generator) * 3).to(dtype)
    index = st.randint(0, shape[0], (9,), generator=generator)
    elements = st.randint(0, shape[0], (9, *shape[1:]), generator=generator)
    calls = [
        lambda x, v, i, e: view(x).index_add_(0, i, v),
        lambda x, v, i, e: view(x).index_add_(-1, i[:0], view(x)[..., :0].clone()),
        lambda x, v, i, e: view(x).scatter_add_(0, e, v),
        lambda x, v, i, e: view(x).scatter_add_(0, e[::-1], v),
        lambda x, v, i, e: view(x).scatter_reduce_(0, e, v, "prod"),
        lambda x, v, i, e: view(x).put_(i * 0, v[..., 0, 0].clone(), accumulate=True),
        lambda x, v, i, e: view(x).index_put_((i, i * 0), v[:, 0].clone(), accumulate=True),
    ]
    if not dtype.is_complex:
        calls.append(lambda x, v, i, e: view(x).scatter_reduce_(0, e, v, "amax"))
        calls.append(lambda x, v, i, e: view(x).scatter_reduce_(0, e, v, "amin", include_self=False))

    def changed(call, *tensors):
        call(*tensors)
        return tensors[0]

    for call in calls:
        expected = changed(call, x.clone(), values, index, elements)
        result = changed(call, *(t.gpu() for t in (x, values, index, elements)))
        assert result.cpu().tolist() == expected.tolist()


def test_long_sums_of_one_place():
    index = st.arange(50_000) * 7 % 10
    values = st.randn(50_000, generator=st.Generator().manual_seed(2))
    same(lambda i, v: st.zeros(11, device=v.device).index_add_(0, i, v), index, values)
    same(lambda i, v: st.zeros(11, device=v.device).scatter_add_(0, i, v), index, values)


def test_a_bad_index_of_a_sum_is_skipped():
    x = numbers(3, 3).gpu()
    x.index_add_(0, st.tensor([1, 3]).gpu(), st.ones(2, 3).gpu())
    with pytest.raises(IndexError, match=r"^index_add_: index 3 is outside extent 3 \(found on gpu:0"):
        x.cpu()
    assert x.cpu().tolist() == [[0, 1, 2], [4, 5, 6], [6, 7, 8]]


def test_masks_and_where():
    x = numbers(6, 5)
    mask = x % 3 == 0
    same(lambda x, m: x.masked_fill(m, -1), x, mask)
    same(lambda x, m: x.t().masked_fill(m.t(), -1), x, mask)
    same(lambda x, m: x.masked_fill(m[0], -1), x, mask)
    same(lambda x, m: st.where(m, x, x[::-1]), x, mask)

    def assign(x, m):
        x[m] = 5
        return x

    same(lambda x, m: assign(x.clone(), m), x, mask)


def test_joins_and_views():
    x, y = numbers(6, 5), numbers(6, 5) + 100
    same(lambda x, y: st.cat([x, y], 1), x, y)
    same(lambda x, y: st.cat([x.t(), y.t()[::-1]]), x, y)
    same(lambda x, y: st.stack([x, y], -1), x, y)

    def assign(x, y):
        x = x.clone()
        x.narrow(0, 1, 2).copy_(y[::3])
        x[4:, ::2] = y[0, :3]
        x[0] = 7
        return x

    same(assign, x, y)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_selections(layout):
    view = LAYOUTS[layout]
    x = numbers(6, 5, 4)
    mask = x % 3 == 0
    same(lambda x, m: view(x)[view(m)], x, mask)
    same(lambda x, m: view(x).masked_select(view(m)), x, mask)
    same(lambda x, m: view(x)[view(m)[:, 0, 0]], x, mask)
    same(lambda x, m: view(x)[view(m)], x, mask & False)
    same(lambda m: view(m).nonzero(), mask)

    def place(x, m):
        x[...] = 1
        view(x)[view(m)] = st.arange(120, device=x.device).float()[: int(view(m).cpu().sum())]
        return x

    if layout != "stride 0":
        same(lambda x, m: place(x.clone(), m), x, mask)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_triangles(layout):
    view = LAYOUTS[layout]
    for diagonal in (-1, 0, 2):
        same(lambda x, d=diagonal: view(x).tril(d), numbers(6, 5, 4))
        same(lambda x, d=diagonal: view(x).triu(d), numbers(6, 5, 4))
    if layout != "stride 0":
        same(lambda x: [x, view(x).tril_(1)][0], numbers(6, 5, 4))
    assert st.tril_indices(4, 3, device="gpu").cpu().equal(st.tril_indices(4, 3))
