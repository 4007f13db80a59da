"""The command line, ``informix-arrow``: a module for each command.

Such a module has ``add(commands)``, which declares the command and its options and names the function that runs it:
that gets the namespace and returns the exit code (``exits``). What is costly to import, it imports there. What commands
share has modules of its own: ``connecting`` (URL and password), ``exits``, ``progress``, ``files``, ``formats``.
"""

from __future__ import annotations

import argparse
import functools
import warnings
from collections.abc import Callable, Sequence

from . import (
    compare,
    completion,
    copy,
    demo,
    describe,
    doctor,
    exporting,
    importing,
    load,
    ping,
    query,
    serve,
    tables,
    unload,
)
from .exits import PROGRAM, guarded, say

COMMANDS = (
    query,
    load,
    unload,
    copy,
    exporting,
    importing,
    compare,
    tables,
    describe,
    ping,
    doctor,
    serve,
    demo,
    completion,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is one of those in ``exits``."""
    options = parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        return guarded(functools.partial(run, options), verbose=options.verbose)


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    made = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Queries, loads, unloads and checks of Informix databases; and a server for tests.",
    )
    made.add_argument("--version", action="version", version=f"{PROGRAM} {_version()}")
    made.add_argument(
        "-v", "--verbose", action="store_true", help="errors with the statement and all that is known"
    )
    commands = made.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    for each in dict.fromkeys(commands.choices.values()):  # behind the command as well
        each.add_argument(
            "-v", "--verbose", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
    return made


def _version() -> str:
    from .. import __version__

    return __version__


def _warn(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
    say(f"warning: {' '.join(str(message).split())}")
