"""Informix error codes for errors in the engine (SERVER-BEHAVIOUR section 1).

They have three sources: our own checks, which raise `SqlError` at once; sqlglot's parser, whose position becomes the
offset of -201; and DuckDB, whose exceptions are recognised by class and text.
"""

from __future__ import annotations

import logging
import re
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

log = logging.getLogger("informix_arrow.server")

ISAM_DUPLICATE = -100
ISAM_LOCKED = -107
ISAM_NO_FILE = -111
ISAM_NO_SPACE = -131
ISAM_LOCK_TIMEOUT = -154
ISAM_INTERRUPTED = -157

OWNER_MARK = "\x1f"
"""Separates name and owner of an object that is stored under both (catalog/owned_names.py)."""
_INTERNAL, _ISAM_INTERNAL = -768, -172
_OUT_OF_MEMORY = -208


class SqlError(Exception):
    """A statement was refused or failed.

    Attributes: `sqlcode` and `isamcode` (the two shorts of SQ_ERR), `offset` (1-based character of the statement, 0 =
    none), `near` (the one token that SQ_ERR carries: table, column or constraint), `detail` (for logs, never sent).
    """

    def __init__(
        self, sqlcode: int, isamcode: int = 0, offset: int = 0, near: str = "", detail: str = ""
    ) -> None:
        near = near.partition(OWNER_MARK)[0]
        super().__init__(sqlcode, isamcode, offset, near, detail)
        self.sqlcode = sqlcode
        self.isamcode = isamcode
        self.offset = offset
        self.near = near
        self.detail = detail

    def __str__(self) -> str:
        text = f"sqlcode {self.sqlcode}, isam {self.isamcode}"
        if self.near:
            text += f", near {self.near!r}"
        if self.offset:
            text += f", offset {self.offset}"
        return f"{text}: {self.detail}" if self.detail else text


def syntax_error(offset: int, detail: str = "") -> SqlError:
    """Return -201 at a 1-based character position.

    Only the first line of `detail` is kept: the next ones quote the statement, which may contain a password.
    """
    return SqlError(-201, 0, max(1, offset), "", detail.partition("\n")[0])


def no_table(name: str, offset: int = 0) -> SqlError:
    return SqlError(-206, ISAM_NO_FILE, offset, name)


def no_column(name: str, offset: int = 0) -> SqlError:
    return SqlError(-217, 0, offset, name)


def internal_error(detail: str = "") -> SqlError:
    """Return the error for a fault of the server itself. Its token is an id that must be logged with the cause."""
    return SqlError(_INTERNAL, _ISAM_INTERNAL, 0, f"fault {secrets.token_hex(4)}", detail)


def out_of_memory(problem: BaseException) -> SqlError:
    """Return the error for a statement that ran out of memory, in DuckDB, Arrow or Python."""
    return SqlError(_OUT_OF_MEMORY, 0, 0, "", str(problem) or type(problem).__name__)


_NEVER_SENT = (0, -937)  # the layout of their SQ_ERR is not known (JDBC section 5)


def can_be_sent(problem: SqlError) -> bool:
    """Return whether SQ_ERR can carry the error. RAISE EXCEPTION and fault injection accept any number."""
    short = range(-(2**15), 2**15)
    return problem.sqlcode in short and problem.isamcode in short and problem.sqlcode not in _NEVER_SENT


UNSUPPORTED = "not supported by this server: "
"""Start of the `detail` of an error about something that this server does not support."""


def not_supported(what: str, sqlcode: int = -201, offset: int = 1) -> SqlError:
    """Return the error for something that a real server supports and this one does not (yet); `what` goes to
    the log.
    """
    return SqlError(sqlcode, 0, offset if sqlcode == -201 else 0, what, UNSUPPORTED + what)


_INVALIDATED_DATABASE = re.compile(
    r'Database "([^"]+)" has been invalidated|'
    r'Checkpoint failed for database "([^"]+)". The database has been invalidated'
)
_RAISED_CODE = re.compile(r"IFX(-\d+)(?: of ([^\n]+))?")
# (pattern in DuckDB's message, sqlcode, isamcode); the first match wins, group 1 becomes the token
_MESSAGES: tuple[tuple[re.Pattern[str], int, int], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), code, isam)
    for pattern, code, isam in (
        (r"NOT NULL constraint failed: (?:.*\.)?(\S+)", -391, 0),
        (r"CHECK constraint failed on table \"?([^\"]+?)\"? with", -530, 0),
        (r"duplicate key|primary key or unique constraint|unique constraint", -268, ISAM_DUPLICATE),
        (r"more than one row returned by a subquery", -284, 0),
        (r"division by zero", -1202, 0),
        (r"nextval: reached maximum value of sequence", -8313, 0),
        (r"nextval: reached minimum value of sequence", -8314, 0),
        (r"currval: sequence is not yet defined", -8315, 0),
        (r"column \"([^\"]+)\" must appear in the group by", -294, 0),
        (r"must appear in the group by clause", -294, 0),
        (r"ambiguous reference to column name \"([^\"]+)\"", -324, 0),
        (r"referenced column \"([^\"]+)\" not found", -217, 0),
        # Wrong names are found before DuckDB sees them; these were dropped by another session since.
        (r"does not have a column named", -710, 0),
        (r"(?:table|view) with name \"?([^\"\s!]+)\"? already exists", -310, 0),
        (r"table with name \"?([^\"\s!]+)\"? does not exist", -206, ISAM_NO_FILE),
        (r"max expression depth limit", -208, 0),
        (r"aggregate function calls cannot be nested", -544, 0),
        (r"cannot contain aggregates", -595, 0),
        (r"set operations can only apply|set operation.*number of", -317, 0),
        (r"cannot take (?:square root|logarithm)|is undefined|out of range for numeric function", -1223, 0),
        (r"can't be cast.*destination type float", -1222, 0),
        (r"can't be cast.*destination type double", -1223, 0),
        (r"can't be cast.*destination type uint32", -1267, 0),  # days, from plan/values/datetimes.py
        (r"can't be cast.*destination type uint64", -1218, 0),
        (r"(?:out of range|can't be cast).*int16|overflow.*int16", -1214, 0),
        (r"(?:out of range|can't be cast).*int32|overflow.*int32", -1215, 0),
        (r"(?:out of range|can't be cast).*int(?:64|128)|overflow.*int(?:64|128)", -1284, 0),
        (
            r"decimal.*out of range|overflow.*decimal|decimal.*overflow|(?:casting|cast) value .* to (?:type )?decimal",
            -1226,
            0,
        ),
        (r"could not convert string .* to (?:u?int|float|double|decimal|hugeint|real)", -1213, 0),
        (r"could not convert string .* to bool", -9634, 0),
        (r"(?:date|timestamp|time) field value out of range", -1263, 0),
        (r"invalid date field format", -1218, 0),
        (r"invalid timestamp field format|invalid time field", -1262, 0),
        (r"like pattern must not end with escape", -201, 0),
        (r"no function matches|does not exist.*function|function with name", -674, 0),
        (r"conflict|transaction.*altered|write-write", -244, ISAM_LOCKED),
        (r"interrupt", -213, ISAM_INTERRUPTED),
        (r"no space left|file too large|disk quota|could not write", -271, ISAM_NO_SPACE),
        # of a database that must be attached again (session.database_recovery)
        (
            r"invalidated because checkpointing failed|checkpoint failed for database|"
            r'catalog "d_[^"]+" does not exist',
            -271,
            ISAM_NO_SPACE,
        ),
        (r"overflow|out of range", -1226, 0),
    )
)


def from_duckdb(error: duckdb.Error) -> SqlError:
    """Return the Informix error for a DuckDB error. An unexpected one is an internal error and is logged."""
    import duckdb  # not above: the parser, which raises SqlError, is also used without DuckDB

    message = str(error)
    own = _RAISED_CODE.search(message)
    if own:
        return SqlError(int(own.group(1)), 0, 0, own.group(2) or "", message)
    first_line = message.split("\n", 1)[0]
    for pattern, code, isam in _MESSAGES:
        found = pattern.search(first_line)
        if found:
            token = found.group(1) if found.groups() and found.group(1) else ""
            return SqlError(code, isam, 0, token, message)
    if isinstance(error, duckdb.ParserException):
        return SqlError(-201, 0, 1, "", message)
    if isinstance(error, duckdb.ConversionException):
        return SqlError(-1260, detail=message)
    if isinstance(error, duckdb.BinderException):
        return SqlError(-9634, detail=message)
    if isinstance(error, duckdb.OutOfMemoryException):
        return out_of_memory(error)
    fault = internal_error(message)
    log.error(
        "%s: DuckDB raised an unexpected error: %s: %s",
        fault.near,
        type(error).__name__,
        first_line,
        exc_info=error,
    )
    return fault


def is_durable(error: duckdb.Error) -> bool:
    """Return whether a failed COMMIT has taken effect: only DuckDB's work after it has failed."""
    return "COMMIT succeeded and is durable" in str(error)


def invalidated_database(error: BaseException) -> str:
    """Return DuckDB's name of the database that a failed write has invalidated; "" for other errors."""
    import duckdb

    found = _INVALIDATED_DATABASE.search(str(error)) if isinstance(error, duckdb.Error) else None
    return found.group(1) or found.group(2) if found else ""


def is_conflict(error: SqlError) -> bool:
    """Return whether it is a write-write conflict between sessions, which a fresh snapshot may resolve."""
    return error.sqlcode == -244 and error.isamcode == ISAM_LOCKED
