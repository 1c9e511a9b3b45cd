"""Laws of Lab's tensors, with NumPy as the model: chains of views, arithmetic through them, and order."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as hs

from strided import dmlab as lab

shapes = hs.lists(hs.integers(1, 5), min_size=1, max_size=4)


@hs.composite
def views(draw):
    """A tensor and steps of views with their NumPy counterparts, applied to both."""
    shape = draw(shapes)
    array = np.arange(1, np.prod(shape) + 1, dtype=np.int64).reshape(shape)
    tensor = lab.Int64Tensor(array.tolist())
    z, a = tensor, array
    for _ in range(draw(hs.integers(0, 5))):
        z, a = draw(steps(z, a))
    return tensor, z, array, a


@hs.composite
def steps(draw, z, a):
    """One more view of a Lab tensor and of an array."""
    dim, other = draw(hs.integers(0, a.ndim - 1)), draw(hs.integers(0, a.ndim - 1))
    kind = draw(hs.sampled_from(["select", "narrow", "transpose", "reverse", "call"]))
    if kind == "transpose":
        return z.transpose(dim + 1, other + 1), a.swapaxes(dim, other)
    if kind == "reverse" or not a.shape[dim] or not a.shape[0]:
        return z.reverse(dim + 1), np.flip(a, dim)
    dim = 0 if kind == "call" else dim
    index = draw(hs.integers(0, a.shape[dim] - 1))
    size = draw(hs.integers(0, a.shape[dim] - index)) if kind == "narrow" else 1
    part = a[(slice(None),) * dim + (slice(index, index + size),)]
    if kind == "narrow":
        return z.narrow(dim + 1, index + 1, size), part
    return (z(index + 1) if kind == "call" else z.select(dim + 1, index + 1)), (
        part.squeeze(dim) if a.ndim > 1 else part
    )


@given(views())
def test_chains_of_views_are_those_of_numpy(given_views):
    _, z, _, a = given_views
    assert z.shape() == list(a.shape)
    assert z.val() == (a.item() if a.shape == (1,) else a.tolist())
    assert z.sum() == a.sum()
    assert z.clone() == z


@given(views(), hs.integers(-50, 50), hs.sampled_from(["add", "sub", "mul", "fill"]))
def test_arithmetic_through_a_view_changes_its_elements_alone(given_views, number, method):
    tensor, z, array, a = given_views
    getattr(z, method)(number)
    a[...] = {"add": a + number, "sub": a - number, "mul": a * number, "fill": np.full_like(a, number)}[method]
    assert tensor.strided().tolist() == array.tolist()


@given(views(), hs.data())
def test_a_reshape_is_refused_or_gives_a_view_in_row_major_order(given_views, data):
    tensor, z, array, a = given_views
    shape = data.draw(hs.sampled_from([[a.size], [1, a.size], [a.size, 1]]))
    assume(a.size)
    try:
        reshaped = z.reshape(shape)
    except lab.LabError:
        assert not z.strided().is_contiguous() or any(
            extent == 1 and stride != expected
            for extent, stride, expected in zip(
                a.shape, z.strided().stride(), z.clone().strided().stride(), strict=True
            )
        )
        return
    assert reshaped.strided().tolist() == a.reshape(shape).tolist()
    reshaped.fill(0)
    a[...] = 0
    assert tensor.strided().tolist() == array.tolist()


@given(hs.integers(2, 6), hs.data())
def test_operations_between_overlapping_views_are_serial(extent, data):
    """The model visits the elements one after the other, and reads what it has written."""
    array = np.arange(1, extent * extent + 1, dtype=np.int64).reshape(extent, extent)
    tensor = lab.Int64Tensor(array.tolist())

    def part():
        rows, columns = (sorted(data.draw(hs.tuples(hs.integers(0, 1), hs.integers(0, 1)))) for _ in range(2))
        z = tensor.narrow(1, rows[0] + 1, extent - 1).narrow(2, columns[0] + 1, extent - 1)
        a = array[rows[0] : rows[0] + extent - 1, columns[0] : columns[0] + extent - 1]
        if data.draw(hs.booleans()):
            z, a = z.transpose(1, 2), a.T
        dim = data.draw(hs.integers(0, 2))
        return (z, a) if dim == 2 else (z.reverse(dim + 1), np.flip(a, dim))

    (z, a), (y, b) = part(), part()
    method, operation = data.draw(
        hs.sampled_from([("copy", lambda p, q: q), ("cadd", np.add), ("csub", np.subtract), ("cmul", np.multiply)])
    )
    getattr(z, method)(y)
    with np.errstate(over="ignore"):
        for index in np.ndindex(*a.shape):
            a[index] = operation(a[index], b[index])
    assert tensor.val() == array.tolist()


@given(hs.lists(hs.floats(-1e6, 1e6), max_size=700))
def test_sums_and_products_are_those_of_a_loop(numbers):
    total, product = 0.0, 1.0
    for number in numbers:
        total += number
        product *= number
    z = lab.DoubleTensor(numbers)
    assert z.sum() == total
    assert z.product() == product or (np.isnan(product) and np.isnan(z.product()))
