"""The releases of Informix that the server can pass for, and how each says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerRelease:
    """What a release calls itself.

    Attributes
    ----------
    product
        The text of ``DBINFO('version','full')``. JDBC cuts it at "Version " and crashes without (JDBC section 3).
    announced
        The version text of the login's reply, which is the protocol's own on most builds (SQLI section 4).
    """

    product: str
    announced: str


# Drivers make the product's name of the text, and programs that were written against 12.10 know it without IBM's.
RELEASES = {
    "12.10": ServerRelease("Informix Dynamic Server Version 12.10.FC14", "9.56"),
    "14.10": ServerRelease("IBM Informix Dynamic Server Version 14.10.FC7W1", "9.59"),
    "15.0": ServerRelease(
        "IBM Informix Dynamic Server Version 15.0.1.0.3", "IBM Informix Dynamic Server Version 15.0.1.0.3"
    ),
}
"""By the number that `Server` takes."""

DEFAULT_RELEASE = "14.10"


def find_release(version: str) -> ServerRelease:
    """ValueError for one that is not known."""
    found = RELEASES.get(version)
    if found is None:
        raise ValueError(f"version {version!r} is none that the server knows: {', '.join(RELEASES)}")
    return found
