"""The commands, one row each. A command is a module of `_commands` with `arguments`, `run` and `EXAMPLES`."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import NamedTuple, Protocol, cast


class Module(Protocol):
    """What the module of a command offers."""

    EXAMPLES: str

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the arguments of the command."""

    def run(self, options: argparse.Namespace) -> int:
        """Runs the command, and returns its exit code."""


class Command(NamedTuple):
    """A command: its name, and what it does in one line."""

    name: str
    summary: str

    def load(self) -> Module:
        """Imports the module of the command."""
        return cast(Module, import_module(f"strided.cli._commands.{self.name}"))


COMMANDS = {
    command.name: command
    for command in [
        Command("info", "what is in a file: names, dtypes, shapes, strides, bytes"),
        Command("show", "the numbers of a tensor, as text, as a heat map or as a picture"),
        Command("stats", "minimum, maximum, mean, deviation and a histogram of each tensor"),
        Command("diff", "what differs between two files, and by how much"),
        Command("convert", "writes the tensors of a file in another format or dtype"),
        Command("layout", "draws a layout: which element is where in memory"),
        Command("lua", "runs a Lua script with the tensors of Torch7 and DeepMind Lab"),
        Command("tour", "shows what tensors can do, step by step"),
        Command("doctor", "the build, the CPU, threads and optional packages"),
        Command("completion", "prints a script that completes this command in a shell"),
    ]
}
