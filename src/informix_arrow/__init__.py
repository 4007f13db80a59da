"""informix-arrow: Informix query results as Arrow columns, over the SQLI wire protocol.

>>> import informix_arrow as ifx
>>> with ifx.connect("informix://user:password@host:9088/stores?server=ol_informix") as conn:
...     table = conn.read_arrow("SELECT * FROM orders WHERE order_num > ?", (1000,))

Importing the package is cheap. The module of a name, and pyarrow, are imported when the name is first used.
"""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from .cdc.assembler import Transaction as Transaction
    from .cdc.capture import Changes as Changes
    from .cdc.capture import capture as capture
    from .cdc.capture import capture_off as capture_off
    from .cdc.change_batch import ChangeBatch as ChangeBatch
    from .cdc.open_transaction import Change as Change
    from .connection import Connection as Connection
    from .connection import connect as connect
    from .cursor import Cursor as Cursor
    from .dbapi import BINARY as BINARY
    from .dbapi import DATETIME as DATETIME
    from .dbapi import NUMBER as NUMBER
    from .dbapi import ROWID as ROWID
    from .dbapi import STRING as STRING
    from .dbapi import Binary as Binary
    from .dbapi import Date as Date
    from .dbapi import DateFromTicks as DateFromTicks
    from .dbapi import Time as Time
    from .dbapi import TimeFromTicks as TimeFromTicks
    from .dbapi import Timestamp as Timestamp
    from .dbapi import TimestampFromTicks as TimestampFromTicks
    from .dbapi import apilevel as apilevel
    from .dbapi import paramstyle as paramstyle
    from .dbapi import threadsafety as threadsafety
    from .ingest.report import WriteReport as WriteReport
    from .large_object import LargeObject as LargeObject
    from .partition.partition import Partition as Partition
    from .partition.result import PartitionedResult as PartitionedResult
    from .partition.result import plan_partitions as plan_partitions
    from .pool import Pool as Pool
    from .replicate.apply import Applied as Applied
    from .replicate.apply import applied_token as applied_token
    from .replicate.apply import apply_changes as apply_changes
    from .replicate.apply import keep_token as keep_token
    from .replicate.copy import CopyFailed as CopyFailed
    from .replicate.copy import TableCopy as TableCopy
    from .replicate.copy import copy as copy
    from .result import Result as Result
    from .retry import run_transaction as run_transaction
    from .rows.python_rows import Row as Row
    from .scroll_cursor import ScrollCursor as ScrollCursor
    from .shortcuts import partition_read as partition_read
    from .shortcuts import read_arrow as read_arrow
    from .shortcuts import write_arrow as write_arrow
    from .transactions import Rollback as Rollback
    from .wire.errors import CommitUnknown as CommitUnknown
    from .wire.errors import DatabaseError as DatabaseError
    from .wire.errors import DataError as DataError
    from .wire.errors import Error as Error
    from .wire.errors import InexactWarning as InexactWarning
    from .wire.errors import IntegrityError as IntegrityError
    from .wire.errors import InterfaceError as InterfaceError
    from .wire.errors import InternalError as InternalError
    from .wire.errors import NotSupportedError as NotSupportedError
    from .wire.errors import OperationalError as OperationalError
    from .wire.errors import ProgrammingError as ProgrammingError
    from .wire.errors import ProtocolError as ProtocolError
    from .wire.errors import QueryCanceled as QueryCanceled
    from .wire.errors import QueryTimeout as QueryTimeout
    from .wire.errors import Warning as Warning
    from .wire.intervals import YearMonthInterval as YearMonthInterval

    __version__: str

#: The same for the interpreter: the public names of each module, which is imported on the first use of one of
#: them.
_LAZY_EXPORTS = {
    ".replicate.apply": "Applied applied_token apply_changes keep_token",
    ".ingest.report": "WriteReport",
    ".cdc.capture": "Changes capture capture_off",
    ".cdc.assembler": "Transaction",
    ".cdc.change_batch": "ChangeBatch",
    ".cdc.open_transaction": "Change",
    ".connection": "Connection connect",
    ".replicate.copy": "CopyFailed TableCopy copy",
    ".cursor": "Cursor",
    ".dbapi": (
        "BINARY Binary DATETIME Date DateFromTicks NUMBER ROWID STRING Time TimeFromTicks Timestamp "
        "TimestampFromTicks apilevel paramstyle threadsafety"
    ),
    ".large_object": "LargeObject",
    ".partition.result": "PartitionedResult plan_partitions",
    ".partition.partition": "Partition",
    ".pool": "Pool",
    ".result": "Result",
    ".retry": "run_transaction",
    ".scroll_cursor": "ScrollCursor",
    ".rows.python_rows": "Row",
    ".shortcuts": "partition_read read_arrow write_arrow",
    ".transactions": "Rollback",
    ".wire.errors": (
        "CommitUnknown DataError DatabaseError Error InexactWarning IntegrityError InterfaceError "
        "InternalError NotSupportedError OperationalError ProgrammingError ProtocolError "
        "QueryCanceled QueryTimeout Warning"
    ),
    ".wire.intervals": "YearMonthInterval",
}
_MODULES = ("aio", "dbapi")


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("informix-arrow")
    except PackageNotFoundError:  # a source tree on the path, not installed
        return "0+source"


def _unsupported() -> str:
    """Return why the package cannot work here; "" if it can."""
    if _sys.version_info < (3, 10):  # noqa: UP036  - not checked by pip if files are copied
        return f"Python 3.10 or later is needed, and this is {_sys.version.split()[0]}"
    if _sys.implementation.name != "cpython":
        return f"CPython is needed, and this is {_sys.implementation.name}"
    return ""


def _import_submodule(name: str) -> _ModuleType:
    """Return a module of the package. Raises a one-line error if its compiled code is missing."""
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

# Only for the interpreter: type checkers use the imports above, and would accept any name with this function.
if not _TYPE_CHECKING:
    __all__ = sorted(["__version__", *" ".join(_LAZY_EXPORTS.values()).split()])

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return _import_submodule(f".{name}")
        if name == "__version__":
            value: object = _version()
        else:
            module = next((module for module, names in _LAZY_EXPORTS.items() if name in names.split()), None)
            if module is None:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            value = getattr(_import_submodule(module), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted([*__all__, *_MODULES])
