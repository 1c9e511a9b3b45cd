"""`strided completion`: scripts that complete this command in bash, zsh and fish."""

from __future__ import annotations

import argparse

from strided.cli._table import COMMANDS

EXAMPLES = """
  source <(strided completion bash)                                   # in ~/.bashrc
  source <(strided completion zsh)                                    # in ~/.zshrc, after compinit
  strided completion fish > ~/.config/fish/completions/strided.fish
"""
# {commands} are the names, {cases} the options of each command. Words that are no option are files.
BASH = """\
_strided() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" options=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
    case "$word" in
        -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
        *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}}
complete -o filenames -o bashdefault -F _strided strided
"""
ZSH = "autoload -U +X bashcompinit && bashcompinit\n" + BASH
FISH_COMMAND = "complete -c strided -n __fish_use_subcommand -f -a {name} -d '{summary}'"
FISH_OPTION = "complete -c strided -n '__fish_seen_subcommand_from {name}' {option} -d '{help}'{rest}"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"])


def run(options: argparse.Namespace) -> int:
    print(script(options.shell), end="")
    return 0


def script(shell: str) -> str:
    """The script for a shell.

    >>> "info" in script("bash")
    True
    """
    if shell == "fish":
        return _fish()
    cases = [
        f'        {name}) options="{" ".join(option.option_strings[-1] for option in options_of(name))} --help" ;;'
        for name in COMMANDS
    ]
    return {"bash": BASH, "zsh": ZSH}[shell].format(commands=" ".join(COMMANDS), cases="\n".join(cases))


def _fish() -> str:
    lines = [FISH_COMMAND.format(name=command.name, summary=_quoted(command.summary)) for command in COMMANDS.values()]
    for name in COMMANDS:
        for option in options_of(name):
            rest = "" if option.nargs == 0 else " -r"
            help = _quoted(option.help or "")
            word = option.option_strings[-1]
            written = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}"
            lines.append(FISH_OPTION.format(name=name, option=written, help=help, rest=rest))
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def options_of(name: str) -> list[argparse.Action]:
    """The options of a command, without --help."""
    parser = argparse.ArgumentParser(add_help=False)
    COMMANDS[name].load().arguments(parser)
    return [action for action in parser._actions if action.option_strings]
