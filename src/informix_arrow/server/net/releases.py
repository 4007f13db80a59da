"""Releases of Informix that the server can report, and their version texts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerRelease:
    """Version texts of a release.

    Attributes
    ----------
    product
        The text of ``DBINFO('version','full')``. JDBC cuts it at "Version " and crashes without (JDBC section 3).
    announced
        The version text of the login's reply. Its version is that of the protocol in releases before 15 (SQLI section
        4). All releases of JDBC take the product's name from the text before " Version ". JDBC 4.x also reads the
        version: it asks by SQL for the product's where it finds 9.5x. Without a name in front of the version, its
        metadata calls and its BYTE and TEXT parameters end in internal errors.
    """

    product: str
    announced: str


# Flyway and Liquibase know the product's name without IBM only.
RELEASES = {
    "12.10": ServerRelease(
        "IBM Informix Dynamic Server Version 12.10.FC14", "Informix Dynamic Server Version 9.56"
    ),
    "14.10": ServerRelease(
        "IBM Informix Dynamic Server Version 14.10.FC7W1", "Informix Dynamic Server Version 9.59"
    ),
    "15.0": ServerRelease(
        "IBM Informix Dynamic Server Version 15.0.1.0.3", "IBM Informix Dynamic Server Version 15.0.1.0.3"
    ),
}
"""Releases by the version argument of `Server`."""

DEFAULT_RELEASE = "14.10"


def find_release(version: str) -> ServerRelease:
    """Return the release of a version; ValueError for an unknown one."""
    release = RELEASES.get(version)
    if release is None:
        raise ValueError(f"version {version!r} is not known. The known versions are {', '.join(RELEASES)}.")
    return release
