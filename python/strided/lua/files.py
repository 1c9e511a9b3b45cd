"""Which files a script may read, and where its modules are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

__all__ = ["Files", "template_of"]

#: Patterns of module files within a folder; `?` is the name of the module.
PATTERNS = ("?.lua", "?/init.lua")


class Files:
    """The files of one runtime: all of them, or in a sandbox those below one folder."""

    def __init__(
        self, path: Iterable[str | os.PathLike[str]], sandbox: bool, root: str | os.PathLike[str] | None
    ) -> None:
        self.sandbox = sandbox
        self.root = None if root is None else os.path.realpath(root)
        if sandbox and self.root is not None and not os.path.isdir(self.root):
            raise NotADirectoryError(f"Lua: root is {os.fspath(root)!r}, wanted a folder")  # type: ignore[arg-type]
        self.folders = [self.absolute(os.fspath(folder)) for folder in path]

    def absolute(self, folder: str) -> str:
        """A folder of `path`, made absolute in a sandbox: `resolve` would look for a relative one below the root."""
        return os.path.abspath(folder) if self.sandbox else folder

    def resolve(self, name: str) -> str:
        """The path that is opened for a name. In a sandbox, names are relative to the root, and must not leave it."""
        if not self.sandbox:
            return name
        if self.root is None:
            raise PermissionError(f"cannot open {name}: this sandbox has no files (no root= was given)")
        path = os.path.realpath(os.path.join(self.root, name))
        if os.path.commonpath([path, self.root]) != self.root:
            raise PermissionError(f"cannot open {name}: outside of the root of this sandbox")
        return path

    def read_source(self, name: Any) -> bytes:
        """The content of a script."""
        try:
            with open(self.resolve(_name(name)), "rb") as file:
                return file.read()
        except PermissionError as error:
            raise type(error)(error.args[0] if error.errno is None else f"cannot open {name}") from None
        except (OSError, ValueError) as error:
            raise FileNotFoundError(f"cannot open {name}") from error

    def find_module(self, module: Any, template: Any) -> str | tuple[None, str]:
        """The file of a module, or None and a text that lists where it was sought."""
        tried = []
        path = _name(module).replace(".", "/")
        for pattern in _name(template).split(";"):
            if not pattern:
                continue
            name = pattern.replace("?", path)
            try:
                if os.path.isfile(self.resolve(name)):
                    return name
            except (PermissionError, ValueError):
                pass
            tried.append(f"\n\tno file '{name}'")
        return None, "".join(tried)


def template_of(folders: Iterable[str]) -> str:
    """Folders as a part of Lua's `package.path`.

    >>> template_of(["levels"])
    'levels/?.lua;levels/?/init.lua'
    """
    return ";".join(f"{folder}/{pattern}" for folder in folders for pattern in PATTERNS)


def _name(name: Any) -> str:
    """The name of a file as a `str`, as the operating system decodes it."""
    return os.fsdecode(name) if isinstance(name, bytes) else str(name)
