"""The exceptions of the Torch7 front end: their text is Torch7's own.

Torch7 raises strings. Here they are exceptions, of the class that a Python programmer would catch; all of them are
`TorchError`.
"""

from __future__ import annotations


class TorchError(RuntimeError):
    """An error whose text is that of Torch7, without the position in its sources.

    >>> from strided import torch7 as torch
    >>> try:
    ...     torch.Tensor(3).narrow(2, 1, 1)
    ... except torch.TorchError as error:
    ...     print(error)
    bad argument #1 to 'narrow' (out of range)
    """


class TorchIndexError(TorchError, IndexError):
    """An index or a dimension out of range."""


class TorchTypeError(TorchError, TypeError):
    """An argument of the wrong type."""


class TorchValueError(TorchError, ValueError):
    """An argument with a value that is not accepted."""


def bad_argument(
    number: int, name: str, text: str, kind: type[TorchError] = TorchError, method: bool = True
) -> TorchError:
    """The error of a C function about an argument, as Lua words it.

    Lua does not count the receiver of a method call: `number` counts all arguments, `self` being number 1.
    """
    if not method:
        return kind(f"bad argument #{number} to '{name}' ({text})")
    if number == 1:
        return kind(f"calling '{name}' on bad self ({text})")
    return kind(f"bad argument #{number - 1} to '{name}' ({text})")
