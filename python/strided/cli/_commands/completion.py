"""`strided completion`: scripts that complete this command in bash, zsh and fish."""

from __future__ import annotations

import argparse

from strided.cli._table import COMMANDS

EXAMPLES = """
  source <(strided completion bash)                                   # in ~/.bashrc
  source <(strided completion zsh)                                    # in ~/.zshrc, after compinit
  strided completion fish > ~/.config/fish/completions/strided.fish
"""
# {commands} are the names, {cases} the options of each command, {values} the words that may follow an option or a command.
# All other words are files.
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
    case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
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
FISH_WORDS = "complete -c strided -n '__fish_seen_subcommand_from {name}' -f -a '{words}'"
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
    cases, values = [], []
    for name in COMMANDS:
        words = [option.option_strings[-1] for option in options_of(name)]
        cases.append(f'        {name}) options="{" ".join([*words, "--help"])}" ;;')
        for action in actions_of(name):
            # Positional arguments follow the command.
            before = action.option_strings[-1] if action.option_strings else name
            if action.choices is not None:
                words = [str(choice) for choice in action.choices]
                values.append(
                    f'        "{name} {before}") COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word")); return ;;'
                )
    parts = {"commands": " ".join(COMMANDS), "cases": "\n".join(cases), "values": "\n".join(values)}
    return {"bash": BASH, "zsh": ZSH}[shell].format(**parts)


def _fish() -> str:
    lines = [FISH_COMMAND.format(name=command.name, summary=_quoted(command.summary)) for command in COMMANDS.values()]
    for name in COMMANDS:
        for action in actions_of(name):
            if action.choices is not None and not action.option_strings:
                lines.append(FISH_WORDS.format(name=name, words=" ".join(map(str, action.choices))))
        for option in options_of(name):
            rest = "" if option.nargs == 0 else " -r"
            if option.choices is not None:
                rest = f" -x -a '{' '.join(map(str, option.choices))}'"
            help = _quoted(option.help or "")
            word = option.option_strings[-1]
            written = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}"
            lines.append(FISH_OPTION.format(name=name, option=written, help=help, rest=rest))
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def actions_of(name: str) -> list[argparse.Action]:
    """The arguments of a command, without --help."""
    parser = argparse.ArgumentParser(add_help=False)
    COMMANDS[name].load().arguments(parser)
    return parser._actions


def options_of(name: str) -> list[argparse.Action]:
    """The options of a command, without --help."""
    return [action for action in actions_of(name) if action.option_strings]
