"""``informix-arrow adbc-manifest``."""

from __future__ import annotations

import argparse
from importlib import import_module

from .exit_codes import DONE, Failure
from .parser import Commands, command

EXAMPLE = """\
  informix-arrow adbc-manifest
  informix-arrow adbc-manifest --env --remove"""


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "adbc-manifest", EXAMPLE)
    where = parser.add_mutually_exclusive_group()
    for place, text in (
        ("user", "for all programs of this user (default)"),
        ("system", "for all users; needs administrator rights"),
        ("env", "into the first folder of ADBC_DRIVER_PATH, else into this virtual or conda environment"),
    ):
        where.add_argument(
            f"--{place}", dest="place", action="store_const", const=place, default="user", help=text
        )
    parser.add_argument("--remove", action="store_true", help="remove the manifest and its files")


def run(options: argparse.Namespace) -> int:
    """Write the manifest, or remove it, and print its path."""
    # By its name: the driver is a package of its own, which the client does not depend on.
    manifest = import_module("adbc_driver_informix.manifest")
    folder = manifest.folder_of(options.place)
    if options.remove:
        removed = manifest.remove_manifest(folder)
        print(f"{'Removed' if removed else 'There was no'} {folder / 'informix.toml'}")
        return DONE
    try:
        written = manifest.write_manifest(folder)
    except FileNotFoundError as error:
        if error.filename:
            raise
        raise Failure(
            f"The manifest was not written: {error}. In Python programs adbc_driver_informix works without it."
        ) from None
    print(f"Wrote {written}")
    return DONE
