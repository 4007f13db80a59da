"""How commands are declared: each with an example in its ``--help``."""

from __future__ import annotations

import argparse
from typing import TypeAlias

#: What ``add_subparsers`` gives, to which each command adds itself.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def command(commands: Commands, name: str, summary: str, example: str) -> argparse.ArgumentParser:
    """Declare a command; ``example`` is shown as it is below its options."""
    return commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example:\n{example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def whole_number(text: str) -> int:
    """A number of at least 1, with or without underscores, for argparse."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return value
