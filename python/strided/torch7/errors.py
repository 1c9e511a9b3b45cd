"""The exceptions of the Torch7 front end: their text is Torch7's own.

Torch7 raises strings. Here they are exceptions, of the class that a Python programmer would catch; all of them are
`TorchError`. A hint for Python programmers may follow the text of Torch7 after `; `. A Lua program gets no hints.
"""

from __future__ import annotations

from strided.torch7.session import current


class TorchError(RuntimeError):
    """An error whose text is that of Torch7, without the position in its sources.

    >>> from strided import torch7 as torch
    >>> try:
    ...     torch.Tensor(3).narrow(2, 1, 1)
    ... except torch.TorchError as error:
    ...     print(error)
    bad argument #1 to 'narrow' (out of range)
    """

    #: The number of the argument, `self` being number 1, and what is wrong with it; `None` if it is not about one.
    argument: tuple[int, str] | None = None


class TorchIndexError(TorchError, IndexError):
    """An index or a dimension out of range.

    >>> from strided import torch7 as torch
    >>> try:
    ...     torch.Tensor(3)[4]
    ... except IndexError as error:
    ...     print(error)
    bad argument #2 to '?' (out of range)
    """


class TorchTypeError(TorchError, TypeError):
    """An argument of the wrong type.

    >>> from strided import torch7 as torch
    >>> try:
    ...     torch.Tensor(3).copy([1, 2, 3])
    ... except TypeError as error:
    ...     print(error)
    bad argument #1 to 'copy' (torch.*Tensor expected, got table)
    """


class TorchValueError(TorchError, ValueError):
    """An argument with a value that is not accepted.

    >>> from strided import torch7 as torch
    >>> try:
    ...     torch.Tensor(3).view(2, 2)
    ... except ValueError as error:
    ...     print(error)
    Wrong size for view. Input size: 3. Output size: 2x2
    """


def with_hint(text: str, hint: str) -> str:
    """The text, followed by a hint unless a Lua program asks."""
    return f"{text}; {hint}" if hint and not current().lua else text


def bad_argument(
    number: int, name: str | None, text: str, kind: type[TorchError] = TorchError, hint: str = ""
) -> TorchError:
    """The error of a C function about one of its arguments, in the words of Lua.

    `number` counts all arguments, so that `self` is number 1; Lua does not count it in a method call. A function without
    a name was not called by one: a constructor or an operator.
    """
    if name is None:
        message = f"bad argument #{number} to '?' ({text})"
    elif number == 1:
        message = f"calling '{name}' on bad self ({text})"
    else:
        message = f"bad argument #{number - 1} to '{name}' ({text})"
    error = kind(with_hint(message, hint))
    error.argument = (number, text)
    return error


def out_of_range(number: int, name: str | None, given: int, text: str = "out of range") -> TorchError:
    """The error about a dim or an index that is out of range."""
    return bad_argument(number, name, text, TorchIndexError, "dims and indices count from 1" if given == 0 else "")
