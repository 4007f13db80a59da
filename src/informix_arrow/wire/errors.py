"""PEP 249's exceptions, and the conversion of a server's SQLCODE to an exception with a helpful text.

The server sends an SQLCODE, an ISAM code, a character position and one token, never a text (SQLI section 10). The
texts are our own and are in ``error_catalogue``.
"""

from __future__ import annotations

import builtins
import re
import unicodedata
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from .encode_fault import EncodeFault
from .error_catalogue import ERRORS, ISAM, ISAM_ADVICE
from .redaction import hide_credentials, hide_secrets

__all__ = [
    "ISAM",
    "CommitUnknown",
    "DataError",
    "DatabaseError",
    "Error",
    "ErrorInfo",
    "InexactWarning",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "ProtocolError",
    "QueryCanceled",
    "QueryTimeout",
    "RefusedRow",
    "Warning",
    "database_error",
    "error_info",
]


class Warning(builtins.UserWarning):
    """An important warning, for example that the server truncated text while storing it (PEP 249).

    Issued through Python's ``warnings``. ``warnings.simplefilter("error", Warning)`` turns them into errors.
    """


class InexactWarning(Warning):
    """A floating DECIMAL(p) was read as float64, the default, and has digits that float64 cannot hold.

    Issued once for each column of a result. ``floating_decimals="string"`` or a ``pyarrow.decimal128(p, s)`` reads
    all digits.
    """


class RefusedRow(NamedTuple):
    """One row of an ``executemany`` that the server refused."""

    row: int
    """Number of the row, from 0."""
    sqlcode: int
    isamcode: int
    """0 if there is none."""


class Error(Exception):
    """Base class of every error of this package (PEP 249).

    Attributes
    ----------
    sqlcode, isamcode
        The server's error number and the lower-level cause. None if the error did not come from the server.
    offset
        1-based character position in the statement. None if unknown.
    near
        The token of SQ_ERR: a table, column, constraint or index name.
    sqlstate
        Five-character SQLSTATE if one is known.
    row, column
        0-based row of the result or of the data being written, and the column's name, if a value is at fault.
    rows
        For ``executemany``: the rows that took effect in spite of the error. Their number if they are the first ones,
        else their indexes, from 0. None if that is not known, and for other calls.
    refused
        For ``executemany``: a :class:`RefusedRow` for each row that the server refused.
    """

    rows: int | tuple[int, ...] | None = None
    refused: tuple[RefusedRow, ...] = ()
    place = ""  # the words at the beginning of the text that say where: "Row 5", "orders.unl, line 7", a table's name
    hint = ""  # the sentence at the end of the text that names an argument of the function, if any
    hint_argument = ""  # that argument
    shows_value = False  # True if the text begins with the value that was refused
    _transient = False  # for errors without a code that is transient

    def __init__(
        self,
        *args: object,
        sqlcode: int | None = None,
        isamcode: int | None = None,
        offset: int | None = None,
        near: str | None = None,
        sqlstate: str | None = None,
        statement: str | None = None,
        row: int | None = None,
        column: str | None = None,
        transient: bool = False,
    ) -> None:
        super().__init__(*args)
        if transient:
            self._transient = True
        self.sqlcode = sqlcode
        self.isamcode = isamcode
        self.offset = offset
        self.near = near
        self.sqlstate = sqlstate
        self.statement = statement
        self.row = row
        self.column = column

    @property
    def transient(self) -> bool:
        """True if the operation would probably succeed later, in a new transaction.

        It is True for errors caused by other sessions' locks, a deadlock, a limit of sessions, or the network. After a
        network error :attr:`Connection.closed` is true, and you have to reconnect.

        It is False if the statement, the data or missing privileges are at fault, for operations ended by
        ``cancel()`` or a time limit, and for :class:`CommitUnknown`, which must not be repeated without checking.
        """
        if isinstance(self, CommitUnknown | QueryCanceled):
            return False
        return self._transient or self.sqlcode in _TRANSIENT or self.isamcode in _TRANSIENT_ISAM

    @property
    def statement(self) -> str | None:
        """The SQL text that failed. In a statement that may contain a password, strings are replaced by stars."""
        return self._statement

    @statement.setter
    def statement(self, value: str | None) -> None:
        self._statement = value if value is None else hide_secrets(value, same_length=True)


_E = TypeVar("_E", bound=Error)


def prefix_location(error: Error, where: str) -> None:
    """Prefix the text of an error with where it occurred."""
    error.args = (f"{where}: {error.args[0] if error.args else error}", *error.args[1:])


def error_at(kind: type[_E], place: str, text: str, *, column: str | None = None) -> _E:
    """Return an error whose text begins with its place."""
    error = kind(f"{place}: {text}", column=column)
    error.place = place
    return error


def unfit_value(value: object, predicate: str) -> DataError:
    """Return the error for a value that a column cannot hold. Its text begins with the value."""
    error = DataError(f"{value!r} {predicate}")
    error.shows_value = True
    return error


def set_place(error: Error, place: str, more: str = "") -> None:
    """Put another place in front of an error's text, instead of the one that it has, if any."""
    text = str(error.args[0]) if error.args else ""
    behind = text[len(error.place) :] if error.place else f": {text}"
    error.place = place
    error.args = (f"{place}{more}{behind}", *error.args[1:])


class InterfaceError(Error):
    """The interface was used incorrectly: a closed connection, a bad argument.

    The text shows what the caller passed. Passwords of connection strings in it are hidden.
    """

    def __init__(self, *args: object, **attributes: Any) -> None:
        super().__init__(
            *[hide_credentials(each) if isinstance(each, str) else each for each in args], **attributes
        )


class DatabaseError(Error):
    """Base class of errors that are related to the database."""


class DataError(DatabaseError):
    """A value does not fit: it is too long, out of range, or not expressible in its type or code set."""

    fault: EncodeFault | None = None  # set by the encoder


class OperationalError(DatabaseError):
    """The database could not perform an operation: connection, locks, space, interruption."""


class CommitUnknown(OperationalError):
    """The connection was lost after COMMIT was sent and before the server replied.

    The transaction may or may not be committed. Check before you repeat it. The connection is closed.
    """


class QueryCanceled(OperationalError):
    """The statement was interrupted: by ``cancel()``, a time limit, or the server's administrator (SQLCODE -213).

    The server undoes what the statement did, as after any failed statement. A transaction stays open.
    """


class QueryTimeout(QueryCanceled):
    """The statement was interrupted because it exceeded the ``timeout`` of its call."""


class IntegrityError(DatabaseError):
    """A constraint was violated: duplicate key, NULL in NOT NULL, missing parent."""


class InternalError(DatabaseError):
    """The server had an internal error, or a statement or cursor id is invalid."""


class ProgrammingError(DatabaseError):
    """The statement is at fault: syntax, missing table or column, wrong number of parameters."""


class NoResultError(ProgrammingError):
    """The statement returns no rows, and was not executed, because the call is for queries."""


class NotSupportedError(DatabaseError):
    """This package or the server does not support an operation. The text names it."""


class ProtocolError(OperationalError):
    """The peer sent something that violates the wire format. SQLI cannot resynchronise, so the connection is
    closed."""


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """The catalogue's information on one SQLCODE.

    ``text`` is the cause. It may contain ``{near}``, which stands for SQ_ERR's token. ``advice`` is the next step
    ("" if there is none). ``sqlstate`` is the SQLSTATE that the vendor maps the code to, or None.
    """

    sqlcode: int
    text: str
    advice: str
    error_class: type[Error]
    sqlstate: str | None


INTERRUPTED = -213

#: SQLCODEs of errors that are transient: locks and exclusive use, limits of sessions, the network.
_TRANSIENT = frozenset((
    -233, -263, -289, -314, -347, -378, -425, -702, -705, -753, -861, -908, -912, -913, -930, -932, -934, -936, -953,
    -1806, -1809, -25571, -25580, -25582, -25583, -25586, -25587, -25588,
))  # fmt: skip
#: Likewise for ISAM codes: open elsewhere, locked record, locked table, too many users, deadlock, locked key, server
#: going down, lock timeout, database locked, too many transactions.
_TRANSIENT_ISAM = frozenset((-106, -107, -113, -129, -143, -144, -149, -154, -178, -190))

_CLASSES: dict[str, type[Error]] = {
    "data": DataError,
    "integrity": IntegrityError,
    "internal": InternalError,
    "operational": OperationalError,
    "programming": ProgrammingError,
    "unsupported": NotSupportedError,
    "database": DatabaseError,
}

# For codes that the catalogue lacks, the first range that contains the code applies. Informix numbers errors by area.
_RANGES: tuple[tuple[int, int, str, str], ...] = (
    (-299, -201, "programming", "The server refused the statement"),
    (-799, -300, "programming", "The server refused the statement"),
    (-899, -800, "programming", "The server refused the statement"),
    (-999, -900, "operational", "The connection to the database server failed"),
    (-1299, -1200, "data", "A value could not be converted"),
    (-9999, -9600, "programming", "A user-defined type or routine failed"),
    (-12999, -12000, "operational", "A smart large object operation failed"),
    (-19999, -19800, "operational", "A smart large object operation failed"),
    (-23999, -23100, "operational", "Locale or code set conversion failed"),
    (-25999, -25500, "operational", "The network connection failed"),
    (-199, -100, "operational", "A file or index operation failed"),
)


def error_info(sqlcode: int) -> ErrorInfo:
    """Look up an SQLCODE. An unknown code gets a general text for its range, so there is always a result."""
    known = ERRORS.get(sqlcode)
    if known is not None:
        kind, sqlstate, text, advice = known
        error_class = QueryCanceled if sqlcode == INTERRUPTED else _CLASSES[kind]
        return ErrorInfo(sqlcode, text, advice, error_class, sqlstate or None)
    area = ((kind, text) for low, high, kind, text in _RANGES if low <= sqlcode <= high)
    kind, text = next(area, ("database", "The database server reported an error"))
    return ErrorInfo(
        sqlcode, text, f"Run finderr {sqlcode} on the server for an explanation.", _CLASSES[kind], None
    )


# Errors of reading, changing or locking a row, for which the ISAM code is the actual cause.
_ROW_CODES = frozenset({-240, -243, -244, -245, -246, -250, -263, -271, -346})
_DUPLICATE = -100
_SEE_ISAM = "See the ISAM code."


def database_error(
    sqlcode: int,
    isamcode: int = 0,
    offset: int = 0,
    near: str = "",
    statement: str | None = None,
) -> Error:
    """Create the exception for one SQ_ERR.

    The text has the cause with the token filled in, the codes, the ISAM cause, the advice, and the line of the
    statement that ``offset`` points into, with a caret under the position. ``offset`` 0 means that there is no
    position. Secrets in the statement that :mod:`.redaction` finds are replaced by stars, also in ``statement``.
    """
    info = error_info(sqlcode)
    error_class, sqlstate, advice = info.error_class, info.sqlstate, info.advice
    near = near.strip()
    if sqlcode in _ROW_CODES and isamcode == _DUPLICATE:
        error_class, sqlstate = IntegrityError, "23000"
    if sqlcode in _ROW_CODES or (issubclass(error_class, OperationalError) and isamcode != _DUPLICATE):
        advice = ISAM_ADVICE.get(isamcode, advice)
    if not isamcode:
        advice = advice.removeprefix(_SEE_ISAM).lstrip()
    lines = [f"{_fill(info.text, near)} (SQLCODE {sqlcode}{_isam_suffix(isamcode)})."]
    if advice:
        lines.append(_fill(advice, near))
    if statement:
        statement = hide_secrets(statement, same_length=True)
        if offset > 0:
            lines.extend(_caret(statement, offset))
    return error_class(
        "\n".join(lines),
        sqlcode=sqlcode,
        isamcode=isamcode,
        offset=offset or None,
        near=near or None,
        sqlstate=sqlstate,
        statement=statement,
    )


_ASIDE = re.compile(r" \([a-z ]*'\{near\}'\)")  # " (constraint '{near}')"
_OBJECT = re.compile(r"\b(on|to|of|with|for|than|from or to) '\{near\}'")


def _fill(text: str, near: str) -> str:
    """Put the token in its place. Without a token, remove the words around it so that the text still reads well."""
    if near:
        return text.replace("{near}", near)
    text = _OBJECT.sub(r"\1 it", _ASIDE.sub("", text))
    return text.replace(" '{near}'", "").rstrip(":")


def _isam_suffix(isamcode: int) -> str:
    if not isamcode:
        return ""
    meaning = ISAM.get(isamcode)
    return f", ISAM {isamcode}: {meaning}" if meaning else f", ISAM {isamcode}"


def _caret(statement: str, offset: int, width: int = 100) -> list[str]:
    """Return the statement's line with the 1-based character ``offset``, cut to ``width``, and a line with a
    caret.

    The caret is placed by the width of characters in terminals: two cells for East Asian ones, none for combining
    marks.
    """
    index = min(offset, len(statement)) - 1
    start = statement.rfind("\n", 0, index) + 1
    end = statement.find("\n", index)
    line = statement[start : end if end >= 0 else len(statement)].rstrip("\r")
    line = "".join(" " if unicodedata.category(ch) == "Cc" else ch for ch in line)
    column = index - start
    cut = max(0, column - width * 2 // 3)
    indent = sum(_cells(ch) for ch in line[cut:column]) + max(0, column - max(cut, len(line)))
    return ["  " + line[cut : cut + width], "  " + " " * indent + "^"]


def _cells(ch: str) -> int:
    if unicodedata.combining(ch):
        return 0
    return 2 if unicodedata.east_asian_width(ch) in "WF" else 1
