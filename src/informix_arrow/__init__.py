"""informix-arrow: Informix query results as Arrow columns, over the SQLI wire protocol.

>>> import informix_arrow as ifx
>>> with ifx.connect("informix://user:password@host:9088/stores?server=ol_informix") as conn:
...     table = conn.read_arrow("SELECT * FROM orders WHERE order_num > ?", (1000,))

To import the package costs next to nothing: what stands behind a name, pyarrow too, is imported when it is first used.
"""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from .applying.api import Applied, applied_token, apply_changes, keep_token
    from .bulk.report import WriteReport
    from .capturing import Changes, capture, capture_off
    from .changes.assembler import Transaction
    from .changes.merging import ChangeBatch
    from .changes.open_transaction import Change
    from .connection import Connection, connect
    from .copies.api import CopyFailed, TableCopy, copy
    from .cursor import Cursor
    from .dbapi import (
        BINARY,
        DATETIME,
        NUMBER,
        ROWID,
        STRING,
        Binary,
        Date,
        DateFromTicks,
        Time,
        TimeFromTicks,
        Timestamp,
        TimestampFromTicks,
        apilevel,
        paramstyle,
        threadsafety,
    )
    from .large_object import LargeObject
    from .one_call import read_arrow, write_arrow
    from .parallel import PartitionedResult, plan_partitions
    from .partitioned import partition_read
    from .partitions.partition import Partition
    from .pool import Pool
    from .result import Result
    from .retrying import run_transaction
    from .scroll_cursor import ScrollCursor
    from .shaping.rows import Row
    from .transactions import Rollback
    from .wire.errors import (
        CommitUnknown,
        DatabaseError,
        DataError,
        Error,
        InexactWarning,
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

    __version__: str

#: The same for the interpreter: the module of each public name.
_ROOMS = {
    ".applying.api": "Applied applied_token apply_changes keep_token",
    ".bulk.report": "WriteReport",
    ".capturing": "Changes capture capture_off",
    ".changes.assembler": "Transaction",
    ".changes.merging": "ChangeBatch",
    ".changes.open_transaction": "Change",
    ".connection": "Connection connect",
    ".copies.api": "CopyFailed TableCopy copy",
    ".cursor": "Cursor",
    ".dbapi": (
        "BINARY Binary DATETIME Date DateFromTicks NUMBER ROWID STRING Time TimeFromTicks Timestamp "
        "TimestampFromTicks apilevel paramstyle threadsafety"
    ),
    ".large_object": "LargeObject",
    ".one_call": "read_arrow write_arrow",
    ".parallel": "PartitionedResult plan_partitions",
    ".partitioned": "partition_read",
    ".partitions.partition": "Partition",
    ".pool": "Pool",
    ".result": "Result",
    ".retrying": "run_transaction",
    ".scroll_cursor": "ScrollCursor",
    ".shaping.rows": "Row",
    ".transactions": "Rollback",
    ".wire.errors": (
        "CommitUnknown DataError DatabaseError Error InexactWarning IntegrityError InterfaceError "
        "InternalError NotSupportedError OperationalError ProgrammingError ProtocolError "
        "QueryCanceled QueryTimeout Warning"
    ),
    ".wire.intervals": "YearMonthInterval",
}
_MODULES = ("aio", "dbapi")

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Applied",
    "Binary",
    "Change",
    "ChangeBatch",
    "Changes",
    "CommitUnknown",
    "Connection",
    "CopyFailed",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "InexactWarning",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "LargeObject",
    "NotSupportedError",
    "OperationalError",
    "Partition",
    "PartitionedResult",
    "Pool",
    "ProgrammingError",
    "ProtocolError",
    "QueryCanceled",
    "QueryTimeout",
    "Result",
    "Rollback",
    "Row",
    "ScrollCursor",
    "TableCopy",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Transaction",
    "Warning",
    "WriteReport",
    "YearMonthInterval",
    "__version__",
    "apilevel",
    "applied_token",
    "apply_changes",
    "capture",
    "capture_off",
    "connect",
    "copy",
    "keep_token",
    "paramstyle",
    "partition_read",
    "plan_partitions",
    "read_arrow",
    "run_transaction",
    "threadsafety",
    "write_arrow",
]


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("informix-arrow")
    except PackageNotFoundError:  # a source tree that was put on the path, not installed
        return "0+source"


def _unsupported() -> str:
    """Why the package cannot work here; "" when it can."""
    if _sys.version_info < (3, 10):  # noqa: UP036 - who copies files does not ask pip
        return f"Python 3.10 or later is needed, and this is {_sys.version.split()[0]}"
    if _sys.implementation.name != "cpython":
        return f"CPython is needed, and this is {_sys.implementation.name}"
    return ""


def _room(name: str) -> _ModuleType:
    """A module of the package; one line where its compiled code is not there."""
    try:
        return _import_module(name, __name__)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(f"{__name__}._"):
            raise
        raise ImportError(
            f"informix-arrow is installed without its compiled code for {_sys.implementation.cache_tag} on "
            f"{_sys.platform}: pip install --force-reinstall informix-arrow"
        ) from None


if _why := _unsupported():
    raise ImportError(f"informix-arrow cannot be used here: {_why}")

if not _TYPE_CHECKING:  # a type checker would take every name for known

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return _room(f".{name}")
        if name == "__version__":
            found: object = _version()
        else:
            module = next((module for module, names in _ROOMS.items() if name in names.split()), None)
            if module is None:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            found = getattr(_room(module), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
