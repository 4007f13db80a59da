"""The command line, ``informix-arrow``: a module for each command.

Each module has ``add(commands)``, which declares the command and its options, and ``run(options)``, which gets the
parsed options and returns the exit code (`exit_codes`). Only the module of the called command is imported; `parser`
lists all commands. Commands share the modules `connection_options` (URL and password), `exit_codes`, `progress`,
`files` and `formats`.
"""

from __future__ import annotations

import argparse
import functools
import sys
import warnings
from collections.abc import Callable, Collection, Sequence
from importlib import import_module

from .exit_codes import PROGRAM, open_streams, print_error, report_interrupt, run_guarded
from .interrupts import terminable
from .parser import COMMANDS, ArgumentParser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code, one of those in `exit_codes`."""
    try:
        with terminable():
            open_streams()
            return _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt as interrupt:  # before the command has begun: imports take time
        return report_interrupt(interrupt)


def _run(words: Sequence[str]) -> int:
    called = next((word for word in words if not word.startswith("-")), "")
    options = parser(COMMANDS if called == "completion" else (called,)).parse_args(words)
    run: Callable[[argparse.Namespace], int] = options.run
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        return run_guarded(
            functools.partial(run, options), verbose=options.verbose, options=vars(options).keys()
        )


def parser(complete: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """Return the parser of all commands, with the options of some. The others are there by name only."""
    root = ArgumentParser(
        prog=PROGRAM,
        description="Query, load, unload, copy and check Informix databases, and run a server for tests.",
    )
    root.add_argument("--version", action="version", version=f"{PROGRAM} {_version()}")
    root.add_argument("-v", "--verbose", action="store_true", help="show errors in full, with the statement")
    commands = root.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, (module, summary) in COMMANDS.items():
        if name in complete:
            declared = import_module(f".{module}", __name__)
            declared.add(commands)
            commands.choices[name].set_defaults(run=declared.run)
        else:
            commands.add_parser(name, help=summary)
    for each in dict.fromkeys(commands.choices.values()):  # accepted after the command as well
        each.add_argument(
            "-v", "--verbose", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
    return root


def _version() -> str:
    from .. import __version__

    return __version__


def _warn(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
    print_error(f"warning: {' '.join(str(message).split())}")
