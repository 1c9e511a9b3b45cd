"""The program: finds the command, reads its arguments, and turns failures into sentences and exit codes.

Exit codes: 0 if all is well; 1 if a comparison found a difference or a check a problem; 2 if the command could not do
its work, such as for wrong arguments or an unreadable file.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from strided.cli._failure import Failure
from strided.cli._table import COMMANDS, Command

INTERRUPTED = 130  # as a shell reports Ctrl-C
BROKEN_PIPE = 141  # as a shell reports a reader that has left, as in `strided info x.npz | head -1`


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command `strided` with these words, or with those of the process. Returns the exit code.

    >>> main(["--version"])
    strided 0.1.0
    0
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except SystemExit as exit:  # argparse has printed what is wrong, or the help
        return exit.code if isinstance(exit.code, int) else 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python would complain when it closes the output at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


def _run(words: list[str]) -> int:
    if not words or words[0] not in COMMANDS:
        return _run_without_command(words)
    command = COMMANDS[words[0]]
    options = parser_of(command).parse_args(words[1:])
    try:
        return command.load().run(options)
    except Failure as failure:
        reason: object = failure
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        reason = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else error
    except (ValueError, IndexError, OverflowError, RuntimeError, ImportError) as error:
        reason = _without_function(error)  # FormatError, and the errors of the core: their messages are for people
    except MemoryError:
        reason = "there is not enough memory"
    print(f"strided {command.name}: {reason}", file=sys.stderr)
    return 2


def _without_function(error: Exception) -> str:
    """The message of an error. That of a FormatError begins with the name of a function, which users did not call."""
    from strided import FormatError

    facts = vars(error)
    if not isinstance(error, FormatError) or "reason" not in facts:
        return str(error)
    where = [facts["file"]] if facts["file"] else []
    where += [f"byte {facts['offset']}"] if facts["offset"] is not None else []
    return ": ".join([*where, facts["reason"]])


def _run_without_command(words: list[str]) -> int:
    """Shows the help or the version, or says that there is no such command."""
    parser = argparse.ArgumentParser(
        prog="strided",
        usage="strided COMMAND [ARGUMENT ...]",
        description="Looks at files of tensors, compares and converts them, draws layouts, and runs Lua.",
        epilog=_overview(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    options, _ = parser.parse_known_args(words)
    if options.version:
        from strided import __version__

        print(f"strided {__version__}")
        return 0
    if options.command:
        from difflib import get_close_matches

        close = get_close_matches(options.command, COMMANDS, 1)
        hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(COMMANDS)}"
        print(f"strided: there is no command {options.command}{hint}", file=sys.stderr)
        return 2
    parser.print_help()
    return 0


def _overview() -> str:
    lines = [f"  {command.name:<12}{command.summary}" for command in COMMANDS.values()]
    examples = [
        "  strided info model.t7",
        "  strided show weights.npz:conv1.weight --slice '0, 0' --image kernel.png",
        "  strided diff before.safetensors after.safetensors",
        "  strided convert model.t7 weights.safetensors --dtype bfloat16",
    ]
    last = "`strided COMMAND --help` explains a command."
    return "\n".join(["commands:", *lines, "", "examples:", *examples, "", last])


def parser_of(command: Command) -> argparse.ArgumentParser:
    """The parser of the arguments of a command."""
    module = command.load()
    parser = argparse.ArgumentParser(
        prog=f"strided {command.name}",
        description=f"{command.summary[0].upper()}{command.summary[1:]}.",
        epilog=f"examples:{module.EXAMPLES.rstrip()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.arguments(parser)
    return parser
