"""``informix-arrow demo``."""

from __future__ import annotations

import argparse

from .helping import Commands, command


def add(commands: Commands) -> None:
    """Declare the command."""
    demo = command(commands, "demo")
    demo.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Run the demo; 0 when every row came back equal to what was loaded."""
    from .. import demo

    return demo.run()
