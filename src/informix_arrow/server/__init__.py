"""The embedded SQLI server: Informix's wire protocol with DuckDB as its SQL engine.

    with Server() as server:
        conn = informix_arrow.connect(server.url("stores_demo"))

IBM's JDBC driver and ``informix-driver`` use it unchanged. It imports the wire layer and the C codecs and nothing of
the client. There is one exception, in this module: ``load=`` uses `informix_arrow.preload`, an ordinary client, which
is registered below.

The names are imported when they are used: `parse`, the syntax of Informix SQL, needs no DuckDB and is also used by
`informix_arrow.sqlglot`, on every operating system and with Python 3.10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import SqlError
    from .net.directory import DirectoryFormatUnknown, DirectoryInUse
    from .net.faults import Faults
    from .net.query_log import Query, QueryLog
    from .server import Server

__all__ = ["DirectoryFormatUnknown", "DirectoryInUse", "Faults", "Query", "QueryLog", "Server", "SqlError"]

_MODULES = {
    "DirectoryFormatUnknown": "net.directory",
    "DirectoryInUse": "net.directory",
    "Faults": "net.faults",
    "Query": "net.query_log",
    "QueryLog": "net.query_log",
    "Server": "server",
    "SqlError": "errors",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    _require_platform()
    from ..preload import load
    from .initial_tables import set_loader

    set_loader(load)
    found = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = found
    return found


def _require_platform() -> None:
    """Raise ImportError if the server cannot run here, with what to do about it."""
    import select
    import sys

    if not hasattr(select, "poll"):
        raise ImportError(
            "The embedded server needs poll(), which this operating system (such as Windows) does not have. Run "
            "`informix-arrow serve` in a container or under WSL, and connect to it from here."
        )
    if sys.version_info < (3, 11):
        raise ImportError(
            "The embedded server needs Python 3.11 or later, as DuckDB 2 does. This is Python "
            f"{sys.version.split()[0]}. Run `informix-arrow serve` with another Python, and connect to it from here."
        )
    try:
        import duckdb
        import sqlglot  # noqa: F401
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in {"duckdb", "sqlglot"}:
            raise
        raise ModuleNotFoundError(
            f"The embedded server needs {missing.name}. Run pip install 'informix-arrow[server]'",
            name=missing.name,
        ) from missing
    if int(duckdb.__version__.partition(".")[0]) < 2:
        raise ImportError(
            f"The embedded server needs DuckDB 2.0 or later. This is DuckDB {duckdb.__version__}. "
            "Run pip install --upgrade 'informix-arrow[server]'"
        )
