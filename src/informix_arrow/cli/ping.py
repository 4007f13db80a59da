"""``informix-arrow ping``."""

from __future__ import annotations

import argparse
import time

from . import connection_options
from .parser import Commands, command

EXAMPLE = "  informix-arrow ping informix://user@host:9088/stores --password-file ~/.informix"


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "ping", EXAMPLE)
    connection_options.add_options(parser, "URL")


def run(options: argparse.Namespace) -> int:
    """Log in, ping, and print the server and the round-trip time."""
    (url,) = connection_options.take_url(options.words, ())
    parameters = connection_options.resolve_parameters(url, options)
    began = time.monotonic()
    with connection_options.open_from_parameters(parameters) as connection:
        there = time.monotonic()
        connection.ping()
        answered = time.monotonic()
        version = connection.adbc_get_info()["vendor_version"]
        print(
            f"{connection_options.display_name(parameters)}: {connection.server_name}, {version}; "
            f"login {(there - began) * 1e3:.1f} ms, ping {(answered - there) * 1e3:.1f} ms"
        )
    return 0
