"""Tools for tests of programs that use tensors: comparison with tolerances, and strategies for hypothesis.

>>> import strided
>>> from strided.testing import assert_close
>>> assert_close(strided.tensor([0.1, 0.2]) + 0.2, strided.tensor([0.3, 0.4]))

The strategies (`tensors`, `shapes`, `dtypes`, `layouts`, …) need hypothesis, which is imported when the first of them is
used; ``pip install strided[testing]`` installs it.
"""

from strided.testing._close import assert_close as assert_close
from strided.testing._close import assert_equal as assert_equal
from strided.testing._distance import ulp_distance as ulp_distance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strided.testing._strategies import broadcastable_shapes as broadcastable_shapes
    from strided.testing._strategies import dtypes as dtypes
    from strided.testing._strategies import elements as elements
    from strided.testing._strategies import indices as indices
    from strided.testing._strategies import layouts as layouts
    from strided.testing._strategies import shapes as shapes
    from strided.testing._strategies import slices as slices
    from strided.testing._strategies import tensors as tensors
    from strided.testing._strategies import views as views

_STRATEGIES = {
    *("broadcastable_shapes", "dtypes", "elements", "indices", "layouts", "shapes", "slices", "tensors", "views")
}

#: The strategies are left out, so that `from strided.testing import *` does not need hypothesis.
__all__ = ["assert_close", "assert_equal", "ulp_distance"]


def __getattr__(name: str) -> object:
    if name not in _STRATEGIES:
        raise AttributeError(f"module 'strided.testing' has no attribute '{name}'")
    try:
        from strided.testing import _strategies
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "hypothesis":
            raise
        raise ModuleNotFoundError(
            f"strided.testing.{name} needs hypothesis; pip install strided[testing] installs it", name=missing.name
        ) from None
    value = getattr(_strategies, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_STRATEGIES})
