"""Explains in words what a tensor is, how it is stored, and what operations on it cost.

Nothing is guessed. Whether an operation is a view is decided by applying it to the layout. A recipe for the layout is
evaluated, and shown only if it produces the layout.
"""

from __future__ import annotations

from html import escape
from itertools import pairwise

from .cells import subject
from .numerals import bytes_text

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strided._strided import Layout, Tensor

__all__ = ["Cost", "Explanation", "explain", "recipe"]

MARKS = {"free": "#22a06b", "writes": "#2563eb", "copies": "#d97706", "refused": "#dc2626"}


class Cost:
    """The cost of one operation. `outcome` is "free", "writes", "copies" or "refused"; `because` gives the reason.

    >>> import strided as st
    >>> explain(st.zeros(2, 3).t()).costs[3]
    x.reshape(6): copies 24 B, because dims 0 and 1 do not fold
    """

    __slots__ = ("amount", "because", "operation", "outcome")

    def __init__(self, operation: str, outcome: str, because: str = "", amount: str = "") -> None:
        self.operation, self.outcome, self.because, self.amount = operation, outcome, because, amount

    def words(self) -> str:
        """Returns outcome, amount and reason as text."""
        return " ".join(filter(None, [self.outcome, self.amount])) + (f", {self.because}" if self.because else "")

    def __repr__(self) -> str:
        return f"{self.operation}: {self.words()}"


class Explanation:
    """The result of `explain`, which prints as text: a `title`, a list of `facts`, the `costs` of operations.

    `recipe` is an expression that makes the layout, or None if there is no short one.

    >>> import strided as st
    >>> explain(st.zeros(4, 5)[1:3, ::2].t()).recipe
    'Layout((4, 5))[1:3, ::2].t()'
    """

    def __init__(self, title: str, facts: list[str], recipe: str | None, costs: list[Cost]) -> None:
        self.title, self.facts, self.recipe, self.costs = title, facts, recipe, costs

    def __str__(self) -> str:
        width = max(len(cost.operation) for cost in self.costs)
        lines = [self.title, *(f"  {fact}" for fact in self._sentences()), "", "what it costs"]
        return "\n".join([*lines, *(f"  {cost.operation:{width}}  {cost.words()}" for cost in self.costs)])

    __repr__ = __str__

    def _sentences(self) -> list[str]:
        return [*self.facts, *([f"the same as {self.recipe}"] if self.recipe else [])]

    def _repr_html_(self) -> str:
        from .notebook import card

        facts = "".join(f"<li>{escape(fact)}</li>" for fact in self._sentences())
        rows = "".join(
            f'<tr style="background:none"><td style="text-align:left"><code>{escape(cost.operation)}</code></td>'
            f'<td style="text-align:left"><span style="color:{MARKS[cost.outcome]}">●</span> {escape(cost.words())}</td></tr>'
            for cost in self.costs
        )
        body = f'<ul style="margin:0 0 8px;padding-left:18px">{facts}</ul><table style="color:inherit"><tbody>{rows}</tbody></table>'
        name, _, rest = self.title.partition(" ")
        return card(name, rest, [], body)


def explain(x: Tensor | Layout) -> Explanation:
    """Explains in words what a tensor or a layout is, how it is stored, and what operations on it cost.

    >>> import strided as st
    >>> st.explain(st.arange(12).view(3, 4).t())
    LongTensor of size 4x3, 96 B
      12 of the 12 elements of its storage, in memory of its own
      strides (1, 4), offset 0
      column-major: the first index varies fastest, and there are no gaps
      the same as Layout((3, 4)).t()
    <BLANKLINE>
    what it costs
      x.t()           free, a view
      x[0]            free, a view
      x.view(12)      refused, because dims 0 and 1 do not fold
      x.reshape(12)   copies 96 B, because dims 0 and 1 do not fold
      x.flatten()     copies 96 B, because dims 0 and 1 do not fold
      x.contiguous()  copies 96 B, because it is not row-major
      x.clone()       copies 96 B, always
      x.numpy()       free, an array on the same memory
      x.zero_()       writes 96 B, in place
    """
    layout, tensor = subject(x, "explain")
    size = "x".join(map(str, layout.shape)) or "()"
    facts = _in_words(layout)
    if tensor is None:
        amount = f"{layout.size} element{'s' * (layout.size != 1)}"
        return Explanation(f"Layout of size {size}", facts, recipe(layout), _costs(layout, amount))
    storage = tensor.storage()
    title = f"{tensor.type().partition('.')[2]} of size {size}, {bytes_text(tensor.nbytes)}"
    owner = "memory of its own" if storage.owns_memory else "memory of another object"
    if tensor.device.type != "cpu":
        owner += f" on {tensor.device}"
    share = layout.size if layout.is_injective else f"{layout.size} indices, within {layout.span}"
    facts.insert(
        0, f"{share} of the {len(storage)} elements of its storage, in {owner}{', read-only' * storage.readonly}"
    )
    costs = _costs(layout, bytes_text(tensor.nbytes)) + _tensor_costs(tensor, storage.readonly)
    return Explanation(title, facts, recipe(layout, len(storage)), costs)


# The layout


def _in_words(layout: Layout) -> list[str]:
    facts = [f"strides {layout.stride}, offset {layout.offset}", *_order(layout)]
    for dim, (extent, stride) in enumerate(zip(layout.shape, layout.stride, strict=True)):
        if extent > 1 and stride == 0:
            facts.append(f"dim {dim} repeats the same elements {extent} times (stride 0), as expand makes it")
        elif extent > 1 and stride < 0:
            facts.append(f"dim {dim} runs backwards (stride {stride}), as flip makes it")
    if not layout.is_injective and 0 not in layout.stride:
        share = "share" if layout.size > layout.span else "may share"  # the test is bounded, and may not decide
        facts.append(f"several indices {share} an element, as in the windows of unfold")
    return facts


def _order(layout: Layout) -> list[str]:
    if layout.size == 0:
        return ["no elements"]
    if layout.is_row_major and layout.is_column_major:
        return ["contiguous: the elements are adjacent and in order"]
    if layout.is_row_major:
        return ["row-major: the last index varies fastest, and there are no gaps"]
    if layout.is_column_major:
        return ["column-major: the first index varies fastest, and there are no gaps"]
    if layout.is_contiguous:
        return ["no gaps, but neither row-major nor column-major"]
    if layout.is_injective:
        return [f"{layout.span - layout.size} gaps: {layout.size} elements in a span of {layout.span}"]
    return []


def recipe(layout: Layout, length: int = 0) -> str | None:
    """A short expression that makes the layout from a row-major one: a slice, a permutation, flips and an expand.

    The row-major layout is as large as the `length` of a storage allows. None if there is no such expression.

    >>> import strided as st
    >>> recipe(st.Layout((3, 2), (-4, 0), 8), 12)
    'Layout((12,))[::4].flip(0)[:, None].expand(3, 2)'
    """
    shape, stride = layout.shape, layout.stride
    moving = [dim for dim in range(layout.nmode) if shape[dim] > 1 and stride[dim]]
    by_stride = sorted(moving, key=lambda dim: -abs(stride[dim]))
    part = _part(layout, by_stride, length)
    if part is None:
        return None
    steps = [part, *_reorderings(layout, moving, by_stride)]
    made = eval("".join(steps), {"Layout": type(layout)})  # the text is our own, built from ints
    same = all(a == b for a, b, extent in zip(made.stride, stride, shape, strict=True) if extent > 1)
    return "".join(steps) if same and made.shape == shape and made.offset == layout.offset else None


def _part(layout: Layout, by_stride: Sequence[int], length: int) -> str | None:
    """The slice of a row-major layout that has these dims with the absolute strides; None if there is none.

    The stride of a dim is the size of a row of the dims after it; that of the last dim is the step of the slice.
    """
    if layout.bounds is None or layout.bounds[0] < 0:
        return None
    low = layout.bounds[0]
    strides = [abs(layout.stride[dim]) for dim in by_stride]
    if not strides:
        return f"Layout(({max(length, low + 1)},))[{low}]"
    units = [*strides[:-1], 1]
    if any(row % unit for row, unit in pairwise(units)):
        return None
    starts = [low // units[0], *(low % row // unit for row, unit in pairwise(units))]
    ranges = []
    for at, (start, dim) in enumerate(zip(starts, by_stride, strict=True)):
        step = strides[at] // units[at]
        ranges.append(range(start, start + (layout.shape[dim] - 1) * step + 1, step))
    extents = [row // unit for row, unit in pairwise(units)]
    extents.insert(0, max(length // units[0], ranges[0].stop))
    if any(part.stop > extent for part, extent in zip(ranges, extents, strict=True)):
        return None
    keys = [_slice_text(part, extent) for part, extent in zip(ranges, extents, strict=True)]
    return f"Layout({tuple(extents)})" + (f"[{', '.join(keys)}]" if set(keys) != {":"} else "")


def _slice_text(part: range, extent: int) -> str:
    start = str(part.start) if part.start else ""
    stop = "" if len(part) == len(range(part.start, extent, part.step)) else str(part.stop)
    return f"{start}:{stop}" + (f":{part.step}" if part.step > 1 else "")


def _reorderings(layout: Layout, moving: Sequence[int], by_stride: Sequence[int]) -> list[str]:
    """The views that give the dims of a slice their order and direction, and add the dims of stride 0."""
    views = []
    order = [by_stride.index(dim) for dim in moving]
    if order != sorted(order):
        views.append(".t()" if len(order) == 2 else f".permute({', '.join(map(str, order))})")
    views += [f".flip({at})" for at, dim in enumerate(moving) if layout.stride[dim] < 0]
    if len(moving) < layout.nmode:
        views.append(f"[{', '.join(':' if dim in moving else 'None' for dim in range(layout.nmode))}]")
    if any(layout.shape[dim] > 1 for dim in range(layout.nmode) if dim not in moving):
        views.append(f".expand({', '.join(map(str, layout.shape))})")
    return views


# The costs


def _costs(layout: Layout, amount: str) -> list[Cost]:
    """The costs that depend on the layout alone."""
    size = layout.size
    view = [f"x.{name}" for name, rank in (("t()", 2), ("transpose(0, 1)", 3)) if min(layout.nmode, 3) == rank]
    view += ["x[0]"] if layout.nmode and layout.shape[0] else []
    costs = [Cost(operation, "free", "a view") for operation in view]
    folds = not _refused(layout.view, size)
    because = "" if folds else f"because {_unfoldable(layout)} do not fold"
    free = ("free", "a view")
    costs.append(Cost(f"x.view({size})", *(free if folds else ("refused", because))))
    costs += [
        Cost(operation, *(free if folds else ("copies", because, amount)))
        for operation in (f"x.reshape({size})", "x.flatten()")
    ]
    contiguous = (
        ("free", "it is row-major already")
        if layout.is_row_major
        else ("copies", "because it is not row-major", amount)
    )
    return [*costs, Cost("x.contiguous()", *contiguous), Cost("x.clone()", "copies", "always", amount)]


def _tensor_costs(x: Tensor, readonly: bool) -> list[Cost]:
    """The costs that also depend on the dtype and the memory."""
    moves = []
    if x.device.type != "cpu":
        array = Cost("x.numpy()", "refused", f"because the memory is on {x.device}")
        moves.append(Cost("x.cpu()", "copies", f"from {x.device} to the CPU", bytes_text(x.nbytes)))
    else:
        try:
            memoryview(x).release()
            array = Cost("x.numpy()", "free", "an array on the same memory")
        except BufferError as error:
            array = Cost("x.numpy()", "refused", f"because {error}")
    if readonly:
        write = Cost("x.zero_()", "refused", "because the memory is read-only")
    elif x.layout.is_injective:
        write = Cost("x.zero_()", "writes", "in place", bytes_text(x.nbytes))
    else:
        write = Cost("x.zero_()", "refused", "because elements share memory")
    return [*moves, array, write]


def _unfoldable(layout: Layout) -> str:
    """Names the first shortest run of neighbouring dims that do not fold into one."""
    dims = range(layout.nmode)
    last = next(last for last in dims if _refused(layout.flatten, 0, last))
    first = next(first for first in reversed(dims[:last]) if _refused(layout.flatten, first, last))
    return f"dims {first} and {last}" if last == first + 1 else f"dims {first} to {last}"


def _refused(view: Callable[..., Layout], *arguments: int) -> bool:
    try:
        view(*arguments)
    except ValueError:
        return True
    return False


def __dir__() -> list[str]:
    return __all__
