"""``informix-arrow demo``."""

from __future__ import annotations

import argparse


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    demo = commands.add_parser("demo", help="load real data into an embedded server and read it into Polars")
    demo.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Run the demo; 0 when every row came back equal to what was loaded."""
    from .. import demo

    return demo.run()
