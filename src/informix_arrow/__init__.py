"""informix-arrow: Informix query results as Arrow columns, over the SQLI wire protocol.

>>> import informix_arrow as ifx
>>> with ifx.connect("informix://user:password@host:9088/stores?server=ol_informix") as conn:
...     table = conn.read_arrow("SELECT * FROM orders WHERE order_num > ?", (1000,))
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from .bulk.report import WriteReport
from .connecting import connect, read_arrow, write_arrow
from .connection import Connection
from .cursor import Cursor
from .large_object import LargeObject
from .pool import Pool
from .result import Result
from .rows import Row
from .scroll_cursor import ScrollCursor
from .transactions import Rollback
from .wire.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    ProtocolError,
    QueryCanceled,
    QueryTimeout,
    Warning,
)
from .wire.intervals import YearMonthInterval

try:
    __version__ = version("informix-arrow")
except PackageNotFoundError:  # a source tree that was put on the path, not installed
    __version__ = "0+source"

__all__ = [
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "LargeObject",
    "NotSupportedError",
    "OperationalError",
    "Pool",
    "ProgrammingError",
    "ProtocolError",
    "QueryCanceled",
    "QueryTimeout",
    "Result",
    "Rollback",
    "Row",
    "ScrollCursor",
    "Warning",
    "WriteReport",
    "YearMonthInterval",
    "__version__",
    "connect",
    "read_arrow",
    "write_arrow",
]
