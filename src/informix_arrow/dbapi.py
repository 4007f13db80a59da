"""The PEP 249 module: ``from informix_arrow import dbapi; dbapi.connect(...)``.

``threadsafety`` is 2: threads may share the module and connections, because a lock serialises their statements. A
cursor may be used by one thread at a time.
"""

from __future__ import annotations

from .connection import Connection, connect
from .cursor import ArrowStream, Cursor
from .rows.dbapi_types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    SqlType,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    TypeObject,
)
from .rows.python_rows import Row
from .scroll_cursor import ScrollCursor
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

apilevel = "2.0"
threadsafety = 2
paramstyle = "qmark"

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "ArrowStream",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "ProtocolError",
    "QueryCanceled",
    "QueryTimeout",
    "Row",
    "ScrollCursor",
    "SqlType",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "TypeObject",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]
