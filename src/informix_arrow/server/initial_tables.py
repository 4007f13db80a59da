"""Loading of tables into a server that starts (``Server(load=...)``) by a client, which the server does not import.

`informix_arrow.server` registers the client's function with `set_loader`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class TableLoader(Protocol):
    """Creates tables by means of a client.

    `url` is the address of the server, without a database; `tables` are the data by ``"database.table"``.
    """

    def __call__(self, url: str, tables: Mapping[str, Any]) -> None: ...


_loader: TableLoader | None = None


def set_loader(loader: TableLoader) -> None:
    """Register the loader."""
    global _loader
    _loader = loader


def load_tables(url: str, tables: Mapping[str, Any]) -> None:
    """Load tables over a listener; RuntimeError if no loader is registered."""
    if _loader is None:
        raise RuntimeError("No loader was passed. Import Server from informix_arrow.server.")
    _loader(url, tables)
