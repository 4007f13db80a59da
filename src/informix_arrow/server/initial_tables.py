"""Who loads tables into a server that starts (``Server(load=...)``): a client, which the server does not know.

The client's side is handed in by `set_loader`. `informix_arrow.server` does that where it is put together; nothing
beneath imports a client.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class TableLoader(Protocol):
    """Makes tables by way of a client.

    `url` is where the server listens, without a database; `tables` are the data by ``"database.table"``.
    """

    def __call__(self, url: str, tables: Mapping[str, Any]) -> None: ...


_loader: TableLoader | None = None


def set_loader(loader: TableLoader) -> None:
    """From here on tables are loaded by this one."""
    global _loader
    _loader = loader


def load_tables(url: str, tables: Mapping[str, Any]) -> None:
    """Load over a listener; RuntimeError when nobody was handed in who can."""
    if _loader is None:
        raise RuntimeError("no loader was handed in: import Server from informix_arrow.server")
    _loader(url, tables)
