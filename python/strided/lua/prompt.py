"""A prompt for Lua: lines with history and completion, whose values are printed."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Any

from strided.lua.errors import LuaError
from strided.lua.runtime import LINE, Lua

__all__ = ["run"]

HISTORY = "~/.strided_lua_history"
HISTORY_LENGTH = 1000
#: What completion is about: a path of names, and the beginning of one more.
PATH = re.compile(r"(?:([A-Za-z_][\w.:]*)[.:])?(\w*)$")


def run(lua: Lua) -> None:
    """Reads lines until the end of the input, which is Ctrl-D, and runs them."""
    readline = _prepare(lua)
    try:
        while True:
            try:
                source = _read()
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                print()
                continue
            _execute(lua, source)
    finally:
        if readline:
            _save(readline)


def _execute(lua: Lua, source: str) -> None:
    """Runs a line, and asks for more of them if it is not complete."""
    try:
        while lua._call(LINE, (source,)):
            source += "\n" + input(">> ")
    except LuaError as error:
        print(error)
    except (KeyboardInterrupt, EOFError):
        print()


def _read() -> str:
    return input("> ")


def completions(lua: Lua, text: str) -> list[str]:
    """The ways to complete a name at the end of a line.

    >>> from strided.lua import Lua
    >>> completions(Lua(), "y = torch.range(1, 3); torch.DoubleTensor.narr")
    ['torch.DoubleTensor.narrow']
    """
    match = PATH.search(text)
    if match is None:
        return []
    path, start = match[1] or "", match[2]
    try:
        names = lua.names(path)
    except LuaError:
        return []
    before = match[0][: len(match[0]) - len(start)]
    shown = [name for name in names if name.startswith(start) and (start or not name.startswith("_"))]
    return [before + name for name in shown if name.isidentifier()]


def _prepare(lua: Lua) -> Any:
    """Sets up history and completion, where Python has readline."""
    try:
        import readline
    except ImportError:  # on Windows
        return None
    found: list[str] = []

    def complete(text: str, state: int) -> str | None:
        if state == 0:
            found[:] = completions(lua, text)
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n()[]{}<>=+-*/%^#,;'\"~")
    readline.parse_and_bind("tab: complete")
    with suppress(OSError):
        readline.read_history_file(os.path.expanduser(HISTORY))
    return readline


def _save(readline: Any) -> None:
    readline.set_history_length(HISTORY_LENGTH)
    with suppress(OSError):  # a home that cannot be written
        readline.write_history_file(os.path.expanduser(HISTORY))
