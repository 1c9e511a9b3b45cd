"""The versions of Lua that lupa brings, and which of its modules has each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Name of a version -> module of lupa.
VERSIONS = {
    "luajit": "luajit21",
    "5.1": "lua51",
    "5.2": "lua52",
    "5.3": "lua53",
    "5.4": "lua54",
    "5.5": "lua55",
}


def backend(version: str) -> Any:
    """The module of lupa for a version."""
    if version not in VERSIONS:
        wanted = ", ".join(repr(name) for name in VERSIONS)
        raise ValueError(f"Lua: version is {version!r}, wanted one of {wanted}")
    try:
        return import_module(f"lupa.{VERSIONS[version]}")
    except ModuleNotFoundError as error:
        if error.name == "lupa":
            raise ModuleNotFoundError(
                "strided.lua needs the package lupa: install it with `pip install 'strided[lua]'`", name="lupa"
            ) from None
        raise ModuleNotFoundError(f"the installed lupa has no Lua {version}", name=error.name) from None
