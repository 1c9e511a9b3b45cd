"""An `out` without elements takes the shape of the result; one with elements must have it."""

import numpy as np
import pytest

import strided as st

x = st.tensor([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])

ONE = {
    "add": lambda out: st.add(x, 1, out=out),
    "mul by a row": lambda out: st.mul(x, x[0], out=out),
    "clamp": lambda out: st.clamp(x, min=2, out=out),
    "where": lambda out: st.where(x > 2, x, 0, out=out),
    "maximum of a pair": lambda out: st.max(x, x.flip(1), out=out),
    "sum": lambda out: st.sum(x, 1, out=out),
    "mean": lambda out: x.mean(0, True, out=out),
    "norm": lambda out: st.norm(x, 2, 1, out=out),
    "var": lambda out: st.var(x, 1, out=out),
    "cumsum": lambda out: st.cumsum(x, 1, out=out),
    "softmax": lambda out: st.softmax(x, 1, out=out),
    "diff": lambda out: st.diff(x, out=out),
    "renorm": lambda out: st.renorm(x, 2, 0, 1, out=out),
    "zeros": lambda out: st.zeros(2, 3, out=out),
    "full": lambda out: st.full((2, 2), 7.0, out=out),
    "eye": lambda out: st.eye(3, out=out),
    "arange": lambda out: st.arange(5, out=out),
    "linspace": lambda out: st.linspace(0, 1, 4, out=out),
}


@pytest.mark.parametrize("call", ONE.values(), ids=ONE)
@pytest.mark.parametrize("empty", [lambda: st.empty(0), lambda: st.empty(3, 0), lambda: st.zeros(4)[:0]])
def test_an_output_without_elements_is_resized(call, empty):
    wanted = call(None)
    out = empty()
    assert call(out) is out
    assert out.shape == wanted.shape
    np.testing.assert_array_equal(out.numpy(), wanted.numpy())


PAIRS = {
    "max": lambda out: st.max(x, 1, out=out),
    "aminmax": lambda out: st.aminmax(x, dim=0, out=out),
    "cummin": lambda out: st.cummin(x, 1, out=out),
    "var_mean": lambda out: st.var_mean(x, 0, out=out),
}


@pytest.mark.parametrize("call", PAIRS.values(), ids=PAIRS)
def test_both_outputs_of_a_pair_are_resized(call):
    wanted = call(None)
    out = (st.empty(0, dtype=wanted[0].dtype), st.empty(0, dtype=wanted[1].dtype))
    results = call(out)
    assert results[0] is out[0] and results[1] is out[1]
    for got, right in zip(out, wanted, strict=True):
        np.testing.assert_array_equal(got.numpy(), right.numpy())


@pytest.mark.parametrize("call", ONE.values(), ids=ONE)
def test_an_output_with_elements_and_another_shape_is_refused(call):
    out = st.ones(7, 5)
    with pytest.raises(st.ShapeError, match="out"):
        call(out)
    assert out.shape == (7, 5) and bool(out.all())


def test_a_lower_category_is_refused_before_the_output_is_resized():
    out = st.empty(0, dtype=st.int32)
    with pytest.raises(st.DTypeError, match="cannot be stored"):
        st.add(x, 1, out=out)
    assert out.shape == (0,)


def test_an_output_on_the_memory_of_an_operand_reads_it_first():
    base = st.arange(6.0)
    out = base[:0]
    st.add(base, base, out=out)
    assert out.tolist() == [0, 2, 4, 6, 8, 10]


def test_exported_memory_keeps_its_size():
    out = st.empty(0)
    view = memoryview(out)
    with pytest.raises(st.StorageError):
        st.add(x, 1, out=out)
    view.release()
    assert out.shape == (0,)


def test_in_place_never_changes_a_shape():
    empty = st.empty(0)
    with pytest.raises(st.ShapeError):
        empty.add_(st.zeros(3))
    assert empty.add_(1).shape == (0,)


EVERY = {
    **ONE,
    "empty": lambda out: st.empty(2, 3, out=out),
    "ones": lambda out: st.ones(2, out=out),
    "logspace": lambda out: st.logspace(0, 1, 4, out=out),
    "range": lambda out: st.range(0, 3, out=out),
    "cat": lambda out: st.cat([x, x], out=out),
    "stack": lambda out: st.stack([x, x], out=out),
    "hstack": lambda out: st.hstack([x, x], out=out),
    "matmul": lambda out: st.matmul(x, x.t(), out=out),
    "mv": lambda out: st.mv(x, x[0], out=out),
    "dot": lambda out: st.dot(x[0], x[1], out=out),
    "tensordot": lambda out: st.tensordot(x, x.t(), 1, out=out),
    "chain_matmul": lambda out: st.chain_matmul(x, x.t(), out=out),
    "addmm": lambda out: st.addmm(x[:, :2], x, x.t(), out=out),
    "conv2": lambda out: st.conv2(x, x[:1, :2], out=out),
    "cross": lambda out: st.cross(x, x, 1, out=out),
    "tril": lambda out: st.tril(x, out=out),
    "diag": lambda out: st.diag(x[0], out=out),
    "take": lambda out: st.take(x, st.tensor([1, 2]), out=out),
    "gather": lambda out: st.gather(x, 1, st.tensor([[1], [2]]), out=out),
    "index_select": lambda out: st.index_select(x, 1, st.tensor([1, 2]), out=out),
    "masked_select": lambda out: st.masked_select(x, x > 2, out=out),
    "msort": lambda out: st.msort(x, out=out),
    "median": lambda out: st.median(x, out=out),
    "quantile": lambda out: st.quantile(x, 0.5, out=out),
    "histc": lambda out: st.histc(x, 3, out=out),
    "logsumexp": lambda out: st.logsumexp(x, 1, out=out),
    "rand": lambda out: st.rand(3, out=out),
    "randn": lambda out: st.randn(3, out=out),
    "normal": lambda out: st.normal(x, 1.0, out=out),
    "bernoulli": lambda out: st.bernoulli(x / 9, out=out),
}
INDICES = {
    "argmax": lambda out: st.argmax(x, 1, out=out),
    "nonzero": lambda out: st.nonzero(x, out=out),
    "searchsorted": lambda out: st.searchsorted(x[1].flip(0).contiguous(), x, out=out),
    "randperm": lambda out: st.randperm(4, out=out),
    "multinomial": lambda out: st.multinomial(x, 2, out=out),
    "randint": lambda out: st.randint(9, (2, 3), out=out),
}
ALL_PAIRS = {
    **PAIRS,
    "min": lambda out: st.min(x, 1, out=out),
    "sort": lambda out: st.sort(x, out=out),
    "topk": lambda out: st.topk(x, 2, out=out),
    "kthvalue": lambda out: st.kthvalue(x, 2, out=out),
    "mode": lambda out: st.mode(x, out=out),
    "median along a dim": lambda out: st.median(x, 1, out=out),
    "nanmedian along a dim": lambda out: st.nanmedian(x, 1, out=out),
    "cummax": lambda out: st.cummax(x, 1, out=out),
    "std_mean": lambda out: st.std_mean(x, 1, out=out),
}


def read_only(name):
    array = np.zeros(100, np.dtype(name))
    array.flags.writeable = False
    return st.from_numpy(array)[:0]


def exported(name):
    """With a permanent export, which lasts longer than this function."""
    out = st.empty(0, dtype=name)
    out.__array_interface__
    return out


def foreign(name):
    return st.from_numpy(np.zeros(0, np.dtype(name)))


#: Outputs without elements that cannot hold a result of the dtype, and where a part of it would have been written.
UNUSABLE = {"read-only memory": read_only, "exported memory": exported, "memory of an array": foreign}


def state(out):
    return out.shape, out.stride(), out.storage_offset(), out.storage().size(), out.storage().tolist()


@pytest.mark.parametrize("call", [*EVERY.values(), *INDICES.values()], ids=[*EVERY, *INDICES])
@pytest.mark.parametrize("make", UNUSABLE.values(), ids=UNUSABLE)
def test_an_output_that_cannot_hold_the_result_stays_as_it_was(call, make):
    st.manual_seed(1)
    dtype = call(None).dtype
    out, generator = make(dtype.name), st.default_generator.get_state()
    before = state(out)
    st.manual_seed(1)
    with pytest.raises(st.StorageError):
        call(out)
    assert state(out) == before
    del generator


@pytest.mark.parametrize("call", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("name", ["bool", "int32"])
def test_an_output_of_a_lower_category_stays_as_it_was(call, name):
    if call in [EVERY[name] for name in ("empty", "zeros", "ones", "eye", "arange", "range", "linspace", "logspace")]:
        pytest.skip("numbers are made in the dtype of `out`")
    out = st.empty(0, dtype=name)
    with pytest.raises((st.DTypeError, TypeError)):
        call(out)
    assert state(out) == ((0,), (1,), 0, 0, [])


def test_a_value_that_does_not_fit_leaves_the_output_as_it_was():
    out = st.empty(0, dtype=st.uint8)
    with pytest.raises(OverflowError):
        st.full((3,), 300, out=out)
    assert state(out) == ((0,), (1,), 0, 0, [])


@pytest.mark.parametrize("bad", [0, 1])
@pytest.mark.parametrize("call", ALL_PAIRS.values(), ids=ALL_PAIRS)
@pytest.mark.parametrize("make", UNUSABLE.values(), ids=UNUSABLE)
def test_both_outputs_stay_as_they_were_if_one_is_refused(call, make, bad):
    wanted = call(None)
    for other in (lambda x: st.empty(0, dtype=x.dtype), st.zeros_like):
        outs = [other(each) for each in wanted]
        outs[bad] = make(wanted[bad].dtype.name)
        before = [state(out) for out in outs]
        with pytest.raises(st.StorageError):
            call(tuple(outs))
        assert [state(out) for out in outs] == before


@pytest.mark.parametrize("bad", [0, 1])
@pytest.mark.parametrize("call", ALL_PAIRS.values(), ids=ALL_PAIRS)
def test_both_outputs_stay_as_they_were_if_a_dtype_does_not_fit(call, bad):
    wanted = call(None)
    outs = [st.empty(0, dtype=x.dtype) for x in wanted]
    outs[bad] = st.empty(0, dtype=st.bool)
    with pytest.raises(st.DTypeError):
        call(tuple(outs))
    assert [state(out) for out in outs] == [((0,), (1,), 0, 0, [])] * 2


@pytest.mark.parametrize("name", [name for name in ALL_PAIRS if name not in ("aminmax", "var_mean", "std_mean")])
def test_an_output_for_indices_is_int64_also_if_it_has_no_elements(name):
    wanted = ALL_PAIRS[name](None)
    for shape in [(0,), wanted[1].shape]:
        outs = st.empty(0), st.zeros(shape, dtype=st.float64)
        with pytest.raises(st.DTypeError, match="int64"):
            ALL_PAIRS[name](outs)
        assert outs[0].shape == (0,) and outs[1].shape == shape


def test_a_pair_of_outputs_that_would_share_memory_is_refused():
    base = st.zeros(20)
    for outs in [(base[:0], base[:0]), (base[:0], base[1:1])]:
        with pytest.raises(st.ArgumentError, match="share memory"):
            st.std_mean(x, 1, out=outs)
        assert [out.shape for out in outs] == [(0,), (0,)] and not base.any()
