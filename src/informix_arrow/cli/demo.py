"""``informix-arrow demo``."""

from __future__ import annotations

import argparse

from .exit_codes import FAILED, print_error
from .parser import Commands, command


def add(commands: Commands) -> None:
    """Declare the command."""
    command(commands, "demo", "  informix-arrow demo")


def run(_: argparse.Namespace) -> int:
    """Run the demo. Return 0 if every row came back equal to what was loaded."""
    from . import demo_program

    try:
        from ..server import Server  # noqa: F401 (checks that it can run; the demo starts it as a process)
    except ImportError as missing:
        print_error(str(missing))
        return FAILED
    return demo_program.run()
