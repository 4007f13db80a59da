"""``informix-arrow completion``: scripts for shells to complete commands and options, generated from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from .exit_codes import DONE, PROGRAM
from .parser import Commands, command

EXAMPLE = """\
  source <(informix-arrow completion bash)
  informix-arrow completion fish > ~/.config/fish/completions/informix-arrow.fish"""
SHELLS = ("bash", "zsh", "fish")


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, "completion", EXAMPLE)
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    parser.set_defaults(commands=commands)


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    print("\n".join({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](options.commands)))
    return DONE


def _options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        for name in action.option_strings:
            if name.startswith("--") and action.help is not argparse.SUPPRESS:
                yield name, action


def _words(parser: argparse.ArgumentParser) -> str:
    positional = [
        str(choice)
        for action in parser._actions
        if not action.option_strings
        for choice in action.choices or ()
    ]
    return " ".join([*dict(_options(parser)), *positional])


def _bash(commands: Commands) -> Iterator[str]:
    yield "_informix_arrow() {"
    yield "    local current=${COMP_WORDS[COMP_CWORD]} words="
    yield '    case "${COMP_WORDS[1]}" in'
    for name, parser in commands.choices.items():
        if any(action.choices for _, action in _options(parser)):
            yield f'        {name}) case "${{COMP_WORDS[COMP_CWORD-1]}}" in'
            for option, action in _options(parser):
                if action.choices:
                    yield f'            {option}) words="{" ".join(map(str, action.choices))}";;'
            yield f'            *) words="{_words(parser)}";; esac;;'
        else:
            yield f'        {name}) words="{_words(parser)}";;'
    yield "    esac"
    yield f'    [ "$COMP_CWORD" = 1 ] && words="{" ".join(commands.choices)} --version --help"'
    yield '    COMPREPLY=($(compgen -W "$words" -- "$current"))'
    yield "}"
    yield f"complete -o default -F _informix_arrow {PROGRAM}"


def _zsh(commands: Commands) -> Iterator[str]:
    yield f"#compdef {PROGRAM}"
    yield "autoload -U +X bashcompinit && bashcompinit"
    yield from _bash(commands)


def _fish(commands: Commands) -> Iterator[str]:
    yield f"complete -c {PROGRAM} -n __fish_use_subcommand -f -a '{' '.join(commands.choices)}'"
    for name, parser in commands.choices.items():
        for option, action in _options(parser):
            values = f" -x -a '{' '.join(map(str, action.choices))}'" if action.choices else ""
            yield f"complete -c {PROGRAM} -n '__fish_seen_subcommand_from {name}' -l {option[2:]}{values}"
