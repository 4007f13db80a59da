"""Status codes of ADBC, and the conversion of exceptions to them."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

import pyarrow as pa

import informix_arrow as ifx


class Status(IntEnum):
    """The status codes of ADBC."""

    OK = 0
    UNKNOWN = 1
    NOT_IMPLEMENTED = 2
    NOT_FOUND = 3
    ALREADY_EXISTS = 4
    INVALID_ARGUMENT = 5
    INVALID_STATE = 6
    INVALID_DATA = 7
    INTEGRITY = 8
    INTERNAL = 9
    IO = 10
    CANCELLED = 11
    TIMEOUT = 12
    UNAUTHENTICATED = 13
    UNAUTHORIZED = 14


class AdbcError(Exception):
    """A call that the driver refuses itself."""

    def __init__(self, status: Status, text: str) -> None:
        super().__init__(text)
        self.status = status


#: Of the server's errors whose class does not decide.
_BY_SQLCODE = {
    **dict.fromkeys((-206, -218, -329, -674), Status.NOT_FOUND),
    **dict.fromkeys((-310, -316, -390, -673), Status.ALREADY_EXISTS),
    **dict.fromkeys((-951, -952, -956), Status.UNAUTHENTICATED),
    **dict.fromkeys((-272, -273, -274, -275, -387, -388, -389), Status.UNAUTHORIZED),
}
_BY_CLASS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], Status], ...] = (
    (ifx.QueryTimeout, Status.TIMEOUT),
    ((ifx.QueryCanceled, KeyboardInterrupt), Status.CANCELLED),
    (ifx.IntegrityError, Status.INTEGRITY),
    (ifx.DataError, Status.INVALID_DATA),
    (ifx.NotSupportedError, Status.NOT_IMPLEMENTED),
    ((ifx.ProgrammingError, ifx.InterfaceError), Status.INVALID_ARGUMENT),
    (ifx.OperationalError, Status.IO),
    (ifx.InternalError, Status.INTERNAL),
    (ifx.Error, Status.UNKNOWN),
    ((pa.ArrowInvalid, UnicodeError, TypeError, ValueError), Status.INVALID_ARGUMENT),
    (pa.ArrowNotImplementedError, Status.NOT_IMPLEMENTED),
    (OSError, Status.IO),
)
#: Attributes of errors that become details, under these names.
_DETAILS = ("sqlcode", "isamcode", "offset", "near", "row", "column", "statement", "rows")

Failure: TypeAlias = tuple[bytes, bytes, int, list[tuple[bytes, bytes]]]
"""Message, SQLSTATE ("" if there is none), vendor code (0 if there is none), and details."""


def status_of(error: BaseException) -> Status:
    """Return the status code of an exception."""
    if isinstance(error, AdbcError):
        return error.status
    code = getattr(error, "sqlcode", None)
    if code in _BY_SQLCODE and not isinstance(error, ifx.IntegrityError):
        return _BY_SQLCODE[code]
    return next((status for kind, status in _BY_CLASS if isinstance(error, kind)), Status.INTERNAL)


def failure_of(error: BaseException) -> tuple[int, Failure]:
    """Return the status code of an exception, and its fields for AdbcError."""
    text = str(error) or type(error).__name__
    if not isinstance(error, AdbcError | ifx.Error):
        text = f"{type(error).__name__}: {text}"
    found = {name: getattr(error, name, None) for name in _DETAILS}
    found["isamcode"] = found["isamcode"] or None  # 0: there is none
    details = [(name.encode(), _encoded(value)) for name, value in found.items() if value is not None]
    code = getattr(error, "sqlcode", None) or 0
    return int(status_of(error)), (
        _encoded(text),
        _encoded(getattr(error, "sqlstate", None) or ""),
        code,
        details,
    )


def _encoded(value: object) -> bytes:
    """Return a value as text that C can hold."""
    return str(value).encode("utf-8", "replace").replace(b"\0", b"\\0")
