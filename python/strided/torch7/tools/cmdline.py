"""`CmdLine`: reads the options and arguments of a program, prints its help, and logs what it prints."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TextIO

from strided._dialect.lua import lua_type
from strided.torch7.errors import TorchError
from strided.torch7.session import current
from strided.torch7.tools.luatext import number_in, text_of


class _Entry(NamedTuple):
    """An option, or an argument if it has no default."""

    key: str
    help: str | None
    kind: str | None
    default: Any = None

    def line(self, width: int) -> str:
        """Its line in the help."""
        name = f"<{_stripped(self.key)}>" if self.default is None else self.key
        text = f"  {name:<{width}}" + (f" {self.help}" if self.help else "")
        return text if self.default is None else f"{text} [{text_of(self.default)}]"

    def width(self) -> int:
        return len(self.key) if self.default is not None else len(_stripped(self.key)) + 2


def _stripped(key: str) -> str:
    """A key without the dashes before it."""
    return key.lstrip("-")


class CmdLine:
    """Options and arguments of a program.

    >>> from strided import torch7 as torch
    >>> cmd = torch.CmdLine()
    >>> cmd.text("Training")
    >>> cmd.argument("-data", "the data")
    >>> cmd.option("-rate", 0.1, "learning rate")
    >>> cmd.option("-fast", False, "be quick")
    >>> cmd.parse(["-rate", "0.5", "-fast", "x.t7"])
    {'rate': 0.5, 'fast': True, 'data': 'x.t7'}
    """

    _typename = "torch.CmdLine"

    def __init__(self, argseparator: str | None = None, keyseparator: str | None = None) -> None:
        self.argseparator = argseparator or ","
        self.keyseparator = keyseparator or "="
        self.options: dict[str, _Entry] = {}
        self.arguments: list[_Entry] = []
        self.helplines: list[_Entry | str] = []
        self.dateformat: str | None = None
        self.silentio = False

    # Declarations

    def argument(self, key: str, help: str | None = None, type: str | None = None) -> None:
        """Declares an argument, which the program must be given.

        >>> from strided import torch7 as torch
        >>> cmd = torch.CmdLine()
        >>> cmd.argument("-data", "the data")
        >>> cmd.parse(["x.t7"])
        {'data': 'x.t7'}
        """
        self.arguments.append(_Entry(key, help, type))
        self.helplines.append(self.arguments[-1])

    def option(self, key: str, default: Any = None, help: str | None = None, type: str | None = None) -> None:
        """Declares an option with a default, whose type its value has. An option with a truth value has no value: it
        turns the default around.

        >>> from strided import torch7 as torch
        >>> cmd = torch.CmdLine()
        >>> cmd.option("-n", 3, "how many")
        >>> cmd.parse(["-n", "5"]), cmd.parse([])
        ({'n': 5}, {'n': 3})
        """
        if default is None:
            raise TorchError(f"option {key} has no default value")
        if lua_type(default) != (type or lua_type(default)):
            raise TorchError(f"option {key} has wrong default type value")
        self.options[key] = _Entry(key, help, type or lua_type(default), default)
        self.helplines.append(self.options[key])

    def text(self, text: str | None = None) -> None:
        """Adds a line to the help.

        >>> from strided import torch7 as torch
        >>> cmd = torch.CmdLine()
        >>> cmd.text("Options:")
        """
        if text is not None and not isinstance(text, str):
            raise TorchError("assertion failed!")
        self.helplines.append(text or "")

    # Reading

    def default(self) -> dict[str, Any]:
        """The options with their defaults.

        >>> from strided import torch7 as torch
        >>> cmd = torch.CmdLine()
        >>> cmd.option("-n", 3)
        >>> cmd.default()
        {'n': 3}
        """
        return {_stripped(key): entry.default for key, entry in self.options.items()}

    def parse(self, arg: Sequence[str] | Mapping[Any, Any] | None = None) -> dict[str, Any]:
        """The values of all options and arguments in the words of a command line, `sys.argv` unless they are given. Prints
        the help and exits for `-help`, and also if something is wrong.

        >>> from strided import torch7 as torch
        >>> cmd = torch.CmdLine()
        >>> cmd.option("-n", 3)
        >>> cmd.parse(["-n", "4"])
        {'n': 4}
        """
        if arg is None:
            arg = sys.argv[1:] if current().owns_process else []
        words = _words(arg)
        params = self.default()
        given = 0
        while words:
            word = words.pop(0)
            if word in ("-help", "-h", "--help"):
                self.help(arg)
                raise _end(0)
            if word in self.options:
                params[_stripped(word)] = self._read_option(self.options[word], words)
            else:
                if given >= len(self.arguments):
                    self.error(f"invalid argument: {word}")
                self._read_argument(params, self.arguments[given], word)
                given += 1
        if given != len(self.arguments):
            self.error("not enough arguments")
        return params

    def _read_argument(self, params: dict[str, Any], argument: _Entry, word: str) -> None:
        if argument.kind and argument.kind != "string":
            self.error(f"invalid argument type for argument {argument.key} (should be {argument.kind})")
        params[_stripped(argument.key)] = word

    def _read_option(self, option: _Entry, words: list[str]) -> Any:
        if option.kind == "boolean":
            return not option.default
        if not words:
            self.error(f"missing argument for option {option.key}")
        word = words.pop(0)
        if option.kind == "string":
            return word
        if option.kind != "number":
            self.error(f"unknown required option type {option.kind}")
        value = number_in(word)
        if value is None:
            self.error(f"invalid type for option {option.key} (should be {option.kind})")
        return value

    def error(self, message: str) -> None:
        """Prints a message and the help, and exits.

        >>> from strided import torch7 as torch
        >>> try:
        ...     torch.CmdLine().error("wrong")
        ... except SystemExit as stop:
        ...     print(stop.code)
        <BLANKLINE>
        <BLANKLINE>
        Usage: [options]
        1
        """
        print("")
        sys.stdout.flush()
        sys.stderr.write(message)
        print("")
        self.help()
        raise _end(1)

    def help(self, arg: Any = None) -> None:
        """Prints the usage, the arguments and the options.

        >>> from strided import torch7 as torch
        >>> cmd = torch.CmdLine()
        >>> cmd.option("-n", 3, "how many")
        >>> cmd.help()
        Usage: [options]
          -n how many [3]
        """
        program = f"{arg[0]} " if isinstance(arg, dict) and 0 in arg else ""
        names = "".join(f" <{_stripped(argument.key)}>" for argument in self.arguments)
        width = max((entry.width() for entry in self.helplines if not isinstance(entry, str)), default=0)
        lines = [entry if isinstance(entry, str) else entry.line(width) for entry in self.helplines]
        print("\n".join([f"Usage: {program}[options]{names}", *lines]))

    # Names and logs

    def string(self, prefix: str | None, params: Mapping[str, Any], ignore: Mapping[str, Any] | None = None) -> str:
        """A name for a run: the prefix, the arguments, and the options that differ from their defaults.

        >>> from strided import torch7 as torch
        >>> cmd = torch.CmdLine()
        >>> cmd.option("-n", 3)
        >>> cmd.string("run", {"n": 4}, {})
        n	4	3
        'run,n=4'
        """
        ignored = ignore or {}
        arguments: dict[int, str] = {}
        options = []
        keys = [_stripped(argument.key) for argument in self.arguments]
        for key, value in params.items():
            option = self.options.get(f"-{key}")
            if ignored.get(key):
                print(f"-- ignore option {key}")
            elif option is not None:
                if value != option.default or ignored.get(key) is False:
                    shown = ("t" if value else "f") if isinstance(value, bool) else text_of(value)
                    options.append(f"{key}{self.keyseparator}{shown}")
                    print(key, shown, text_of(option.default), sep="\t")
            elif key in keys:
                arguments[len(keys) - 1 - keys[::-1].index(key)] = f"{key}{self.keyseparator}{text_of(value)}"
            else:
                print(f"WARNING: unknown option/argument: {key} IGNORING for DIRECTORY NAME")
        parts = [arguments[number] for number in sorted(arguments)]
        parts += sorted(options) or ([""] if parts else [])  # Torch7 writes the separator between the two always
        return self.argseparator.join([prefix or "", *parts])

    def silent(self) -> None:
        """Makes `log` write to the file only.

        >>> from strided import torch7 as torch
        >>> torch.CmdLine().silent()
        """
        self.silentio = True

    def addTime(self, name: str | None = None, format: str | None = None) -> None:
        """Makes `log` put the time before every line.

        >>> from strided import torch7 as torch
        >>> torch.CmdLine().addTime("run", "%F %T")
        """
        format = format or "%Y-%m-%d %H:%M:%S"
        if not isinstance(format, str):
            raise TorchError("Argument has to be string")
        self.dateformat = format + ("" if name is None else f"[{name}]: ")

    def log(self, file: str | TextIO, params: Mapping[str, Any] | None = None) -> Callable[..., None]:
        """Starts a log: returns a function that prints to the screen and to a file. Lua replaces its `print` by it.

        >>> import io
        >>> from strided import torch7 as torch
        >>> cmd, file = torch.CmdLine(), io.StringIO()
        >>> cmd.silent()
        >>> write = cmd.log(file, {"n": 3})
        >>> write("hello", 1)
        >>> file.getvalue().splitlines()[2:]
        ['n 3 ', '[----------------------] ', 'hello 1 ']
        """
        append = _appender(file) if isinstance(file, str) else _writer(file)

        def write(*values: Any) -> None:
            texts = [text_of(value) for value in values]
            if not self.silentio:
                print(*texts, sep="\t")
            stamp = [time.strftime(self.dateformat)] if self.dateformat else []
            append(" ".join([*stamp, *texts, "\n"]))

        write(f"[program started on {time.strftime('%c')}]")
        write("[command line arguments]")
        for key, value in (params or {}).items():
            write(key, value)
        write("[----------------------]")
        return write


def _end(code: int) -> BaseException:
    """What is raised to end the program. A script in a sandbox is not the program."""
    if current().owns_process:
        return SystemExit(code)
    return TorchError(f"CmdLine: the script ends with exit code {code}")


def _writer(stream: TextIO) -> Callable[[str], None]:
    def write(text: str) -> None:
        stream.write(text)
        stream.flush()

    return write


def _appender(name: str) -> Callable[[str], None]:
    """Empties a file, and returns a function that adds to it. It is closed in between: a log never ends."""
    path = current().resolve(name)
    open(path, "w").close()

    def write(text: str) -> None:
        with open(path, "a") as stream:
            stream.write(text)

    return write


def _words(arg: Sequence[str] | Mapping[Any, Any]) -> list[str]:
    """The words of a command line: of a list, or of Lua's table, whose number 0 is the program."""
    if isinstance(arg, Mapping):
        count = next(number for number in range(1, len(arg) + 2) if number not in arg)
        return [arg[number] for number in range(1, count)]
    return list(arg)
