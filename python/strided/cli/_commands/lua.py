"""`strided lua`: runs a Lua script that was written for Torch7 or DeepMind Lab, or shows a prompt."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import Any

EXAMPLES = """
  strided lua train.lua --epochs 3       (words after the script are its own: the table arg)
  strided lua -e "print(torch.range(1, 6):view(2, 3))"
  strided lua --sandbox --timeout 5 --memory 100000000 level.lua
  strided lua                            (a prompt; Ctrl-D ends it)

exit code: 1 if the script raises an error, or that of os.exit
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options come before the script; all words after it belong to the script."""
    parser.add_argument("-e", dest="source", metavar="CODE", help="run this code, before the script if there is one")
    parser.add_argument("--lua", default="luajit", metavar="VERSION", help="luajit (default) or 5.1 to 5.5")
    parser.add_argument("--path", action="append", default=[], metavar="FOLDER", help="a folder where require looks")
    parser.add_argument(
        "--sandbox",
        action="store_true",
        help="no files, processes, FFI, bytecode: against accidents, and not against hostile scripts",
    )
    parser.add_argument("--root", metavar="FOLDER", help="the folder whose files a sandbox may open")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end the script after this time")
    parser.add_argument("--memory", type=int, metavar="BYTES", help="limit the memory of Lua, without that of tensors")
    parser.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="script [argument ...]", help="a file; - is the input"
    )


def run(options: argparse.Namespace) -> int:
    from strided.lua import LuaError

    interactive = options.source is None and not options.words
    lua = _runtime(options, interactive)
    try:
        if interactive:
            from strided.lua import prompt

            print(f"{lua.eval('jit and jit.version or _VERSION')}, strided. Ctrl-D ends.")
            prompt.run(lua)
            return 0
        if options.timeout is None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # Lua does not ask for signals: Ctrl-C ends the process
        if options.source is not None:
            lua.execute(options.source, name="(command line)")
        if options.words:
            _run_script(lua, *options.words)
    except LuaError as error:
        sys.stdout.flush()
        print(f"strided lua: {error}", error.traceback, sep="\n", file=sys.stderr)
        return 1
    return 0


def _runtime(options: argparse.Namespace, interactive: bool) -> Any:
    from strided.lua import Lua

    return Lua(
        options.lua,
        path=options.path,
        sandbox=options.sandbox,
        root=options.root,
        timeout=options.timeout,
        memory=options.memory,
        jit=not interactive,  # so that Ctrl-C ends a line, and not the prompt
    )


def _run_script(lua: Any, script: str, *words: str) -> None:
    if script == "-":
        lua["arg"] = {0: "-"} | dict(enumerate(words, 1))
        lua.execute(sys.stdin.buffer.read(), *words, name="stdin")
    else:
        lua.dofile(script, *words)
