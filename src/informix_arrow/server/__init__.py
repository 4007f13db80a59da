"""The embedded SQLI server: Informix's wire protocol with DuckDB as its SQL engine.

    with Server() as server:
        conn = informix_arrow.connect(server.url("stores_demo"))

IBM's JDBC driver and ``informix-driver`` use it unchanged. It imports the wire layer and the C codecs and nothing of
the client. There is one exception, in this module: ``load=`` uses `informix_arrow.preload`, an ordinary client, which
is registered below.
"""

from __future__ import annotations

import select as _select
import sys as _sys

if not hasattr(_select, "poll"):
    raise ImportError(
        "The embedded server needs poll(), which this operating system (such as Windows) does not have. Run "
        "`informix-arrow serve` in a container or under WSL, and connect to it from here."
    )
if _sys.version_info < (3, 11):
    raise ImportError(
        f"The embedded server needs Python 3.11 or later, as DuckDB 2 does. This is Python {_sys.version.split()[0]}. "
        "Run `informix-arrow serve` with another Python, and connect to it from here."
    )
try:
    import duckdb as _duckdb
    import sqlglot as _sqlglot  # noqa: F401
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.partition(".")[0] not in {"duckdb", "sqlglot"}:
        raise
    raise ModuleNotFoundError(
        f"The embedded server needs {missing.name}. Run pip install 'informix-arrow[server]'",
        name=missing.name,
    ) from missing
if int(_duckdb.__version__.partition(".")[0]) < 2:
    raise ImportError(
        f"The embedded server needs DuckDB 2.0 or later. This is DuckDB {_duckdb.__version__}. "
        "Run pip install --upgrade 'informix-arrow[server]'"
    )

from ..preload import load as _load
from .errors import SqlError
from .initial_tables import set_loader
from .net.directory import DirectoryFormatUnknown, DirectoryInUse
from .net.faults import Faults
from .net.query_log import Query, QueryLog
from .server import Server

__all__ = ["DirectoryFormatUnknown", "DirectoryInUse", "Faults", "Query", "QueryLog", "Server", "SqlError"]

set_loader(_load)
