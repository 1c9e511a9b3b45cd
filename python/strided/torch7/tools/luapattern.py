"""Lua patterns, matched as Lua does, with a limit on the number of steps: some patterns would take hours."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import NamedTuple

from strided.torch7.errors import TorchError

#: Steps of one search, which take about half a second.
MAX_STEPS = 500_000
_MAX_CAPTURES = 32

_CLASSES = {
    "a": string.ascii_letters,
    "c": "".join(map(chr, [*range(32), 127])),
    "d": string.digits,
    "g": string.ascii_letters + string.digits + string.punctuation,
    "l": string.ascii_lowercase,
    "p": string.punctuation,
    "s": " \t\n\v\f\r",
    "u": string.ascii_uppercase,
    "w": string.ascii_letters + string.digits,
    "x": string.hexdigits,
    "z": "\0",
}
_ALL = frozenset(map(chr, range(256)))

#: Where each capture begins and ends; the end is None while it is open.
_Captures = tuple[tuple[int, int | None], ...]


class _Item(NamedTuple):
    """A part of a pattern. Only a set of characters may be repeated."""

    kind: str
    members: frozenset[str] = frozenset()
    repeat: str = ""
    text: str = ""


class _Steps:
    """What is left of the steps of a search."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MAX_STEPS

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise TorchError("pattern too complex")


def search(pattern: str, text: str) -> str | None:
    """What `string.match` of Lua returns: the first capture, or without captures all that fits; None if nothing does.

    >>> search("^a%d+$", "a12"), search("x-(y)", "xxy"), search("(a*)*b", "aaaa"), search("%f[%w]%w+%b()", "= f(x)")
    ('a12', 'y', None, 'f(x)')
    """
    subject, wanted = _bytes_of(text), _bytes_of(pattern)
    anchored = wanted.startswith("^")
    items = list(_items(wanted[anchored:]))
    steps = _Steps()
    for start in range(1 if anchored else len(subject) + 1):
        span = _span(items, subject, start, steps)
        if span is not None:
            return subject[slice(*span)].encode("latin-1").decode("utf-8", "replace")
    return None


def _bytes_of(text: str) -> str:
    """A text with one character for each byte."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


# Reading a pattern


def _items(pattern: str) -> Iterator[_Item]:
    i = 0
    while i < len(pattern):
        letter, after = pattern[i], pattern[i + 1 : i + 2]
        if letter in "()":
            is_position = pattern.startswith("()", i)
            yield _Item("position" if is_position else "open" if letter == "(" else "close")
            i += 2 if is_position else 1
        elif letter == "$" and not after:
            yield _Item("end")
            i += 1
        elif letter == "%" and after == "b":
            if len(pattern) < i + 4:
                raise TorchError("unbalanced pattern")
            yield _Item("balance", text=pattern[i + 2 : i + 4])
            i += 4
        elif letter == "%" and after == "f":
            if not pattern.startswith("[", i + 2):
                raise TorchError("missing '[' after '%f' in pattern")
            members, i = _set(pattern, i + 2)
            yield _Item("frontier", members)
        elif letter == "%" and after in string.digits and after:
            yield _Item("again", text=after)
            i += 2
        else:
            members, i = _single(pattern, i)
            repeat = pattern[i : i + 1] if pattern.startswith(("*", "+", "-", "?"), i) else ""
            i += len(repeat)
            if repeat == "+":
                yield _Item("one", members)
                repeat = "*"
            yield _Item("one", members, repeat)


def _single(pattern: str, i: int) -> tuple[frozenset[str], int]:
    """The characters that one place of a pattern accepts, and where the next place begins."""
    if pattern[i] == "[":
        return _set(pattern, i)
    if pattern[i] == "%":
        return _class(pattern, i), i + 2
    return _ALL if pattern[i] == "." else frozenset(pattern[i]), i + 1


def _class(pattern: str, i: int) -> frozenset[str]:
    """What `%` and a letter stand for."""
    letter = pattern[i + 1 : i + 2]
    if not letter:
        raise TorchError("malformed pattern (ends with '%')")
    members = _CLASSES.get(letter.lower())
    if members is None:
        return frozenset(letter)
    return _ALL - set(members) if letter.isupper() else frozenset(members)


def _set(pattern: str, i: int) -> tuple[frozenset[str], int]:
    """A set in brackets. A bracket that follows the first one at once is a member."""
    complement = pattern.startswith("^", i + 1)
    first = i = i + 2 if complement else i + 1
    members: frozenset[str] = frozenset()
    while i == first or not pattern.startswith("]", i):
        if i >= len(pattern):
            raise TorchError("malformed pattern (missing ']')")
        if pattern[i] == "%":
            members |= _class(pattern, i)
            i += 2
        elif pattern.startswith("-", i + 1) and i + 2 < len(pattern) and pattern[i + 2] != "]":
            members |= set(map(chr, range(ord(pattern[i]), ord(pattern[i + 2]) + 1)))
            i += 3
        else:
            members |= {pattern[i]}
            i += 1
    return _ALL - members if complement else members, i + 1


# Matching


def _span(items: list[_Item], text: str, start: int, steps: _Steps) -> tuple[int, int] | None:
    """Where the first capture, or the whole, begins and ends, if all items fit from a position on.

    What was not tried yet is on a stack, with the next attempt on top.
    """
    attempts: list[tuple[int, int, _Captures]] = [(0, start, ())]
    while attempts:
        steps.spend(1)
        i, at, captures = attempts.pop()
        if i == len(items):
            first = (start, at)
            for begin, end in reversed(captures):
                if end is None:
                    raise TorchError("unfinished capture")
                first = (begin, end)
            return first
        item = items[i]
        if item.kind == "one":
            fits = at < len(text) and text[at] in item.members
            if item.repeat == "-":
                attempts += [(i, at + 1, captures), (i + 1, at, captures)] if fits else [(i + 1, at, captures)]
                continue
            if item.repeat:
                attempts.append((i + 1, at, captures))
            if fits:
                attempts.append((i if item.repeat == "*" else i + 1, at + 1, captures))
            continue
        step = _step(item, text, at, captures, steps)
        if step is not None:
            attempts.append((i + 1, *step))
    return None


def _step(item: _Item, text: str, at: int, captures: _Captures, steps: _Steps) -> tuple[int, _Captures] | None:
    """Where an item that can fit in one way only ends, and the captures after it; None if it does not fit."""
    match item.kind:
        case "open" | "position":
            if len(captures) == _MAX_CAPTURES:
                raise TorchError("too many captures")
            return at, (*captures, (at, None if item.kind == "open" else at))
        case "close":
            return at, _closed(captures, at)
        case "end":
            return (at, captures) if at == len(text) else None
        case "balance":
            end = _balanced(text, at, item.text, steps)
        case "again":
            end = _repeated(text, at, captures, int(item.text), steps)
        case _:  # the frontier of a set
            before, after = text[at - 1] if at else "\0", text[at] if at < len(text) else "\0"
            end = at if before not in item.members and after in item.members else None
    return None if end is None else (end, captures)


def _closed(captures: _Captures, at: int) -> _Captures:
    for number in reversed(range(len(captures))):
        begin, end = captures[number]
        if end is None:
            return (*captures[:number], (begin, at), *captures[number + 1 :])
    raise TorchError("invalid pattern capture")


def _balanced(text: str, at: int, ends: str, steps: _Steps) -> int | None:
    """The end of a part that begins with one character and ends where another one balances it."""
    opening, closing = ends[0], ends[1]
    if text[at : at + 1] != opening:
        return None
    depth = 1
    for end in range(at + 1, len(text)):
        steps.spend(1)
        if text[end] == closing:
            depth -= 1
            if not depth:
                return end + 1
        elif text[end] == opening:
            depth += 1
    return None


def _repeated(text: str, at: int, captures: _Captures, number: int, steps: _Steps) -> int | None:
    """The end of a part that equals an earlier capture."""
    begin, end = captures[number - 1] if 0 < number <= len(captures) else (0, None)
    if end is None:
        raise TorchError("invalid capture index")
    steps.spend(end - begin)
    return at + end - begin if text.startswith(text[begin:end], at) else None
