"""The table that is written to: its name, its columns, and which column of the data goes where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa

from ..identifiers import WORD, needs_no_quotes
from ..operations.io_steps import Exchange
from ..operations.open_database import query_rows
from ..operations.prepare import prepare, release_statement
from ..operations.session import Session
from ..wire.describe import Column
from ..wire.errors import Error, InterfaceError, ProgrammingError

NO_SUCH_TABLE = -206

_TABLE = re.compile(
    rf"(?:(?P<database>{WORD}(?:@{WORD})?):)?(?:(?:(?P<owner>{WORD})|'(?P<quoted>{WORD})')\.)?"
    rf"(?P<name>{WORD}|\"[^\"]+\")"
)


def check_table(name: object) -> str:
    """A table's name, safe to be put into a statement: ``[database[@server]:][owner.]table``.

    ``InterfaceError`` for anything else. A name in double quotes needs DELIMIDENT.
    """
    if not isinstance(name, str) or _TABLE.fullmatch(name) is None:
        raise InterfaceError(
            f"not a table's name: {name!r}; write table, owner.table or database:owner.table"
        )
    return name


def bare_name(table: str) -> str:
    """The table's own name as the catalog holds it."""
    match = _TABLE.fullmatch(table)
    assert match is not None
    name = match["name"]
    return name[1:-1] if name.startswith('"') else name.lower()


def split_table(table: str) -> tuple[str, str]:
    """Database and owner in a table's name, each "" when it is not there."""
    match = _TABLE.fullmatch(table)
    assert match is not None
    return match["database"] or "", match["owner"] or match["quoted"] or ""


def quote(name: str, delimident: bool) -> str:
    """A column's name, as the catalog has it, for a statement; ``ProgrammingError`` where only DELIMIDENT could
    express it."""
    if delimident:  # whatever it is: a reserved word, or one with capitals
        return '"' + name.replace('"', '""') + '"'
    if needs_no_quotes(name):
        return name
    raise ProgrammingError(
        f"the column name {name!r} is no plain identifier: rename it, or connect with env={{'DELIMIDENT': 'y'}}",
        column=name,
    )


def quote_new(name: str, delimident: bool) -> str:
    """The name of a column that is to be made: as it is under DELIMIDENT, else as Informix folds it."""
    return quote(name if delimident else name.lower(), delimident)


def describe_table(session: Session, table: str) -> Exchange[tuple[Column, ...]]:
    """The columns of a table, view or synonym, in order. The server's error -206 when there is none."""
    describe = yield from prepare(session, f"SELECT * FROM {table}", 0)
    yield from release_statement(session, describe.statement_id)
    return describe.columns


def table_exists(session: Session, table: str) -> Exchange[bool]:
    """Whether there is such a table, view or synonym."""
    try:
        yield from describe_table(session, table)
    except Error as error:
        if error.sqlcode != NO_SUCH_TABLE:
            raise
        return False
    return True


def key_columns(
    session: Session, table: str, columns: Sequence[Column], near: str = "", *, primary: bool = True
) -> Exchange[tuple[str, ...]]:
    """The columns that tell a row of the table from others, as far as the catalog knows: those of the constraint
    ``near`` that was violated and, with ``primary``, those of the primary key. () where there are none.
    """
    match = _TABLE.fullmatch(table)
    assert match is not None
    catalog = f"{match['database']}:" if match["database"] else ""
    owner = match["owner"] or match["quoted"]
    owned = f" AND t.owner = '{owner}'" if owner else ""
    name, constraint = (each.replace("'", "''") for each in (bare_name(table), _last_name(near)))
    wanted = f"c.constrname = '{constraint}'" + (" OR c.constrtype = 'P'" if primary else "")
    parts = ", ".join(f"i.part{number}" for number in range(1, 17))
    sql = (
        f"SELECT {parts} FROM {catalog}systables t, {catalog}sysconstraints c, {catalog}sysindexes i "
        f"WHERE t.tabname = '{name}'{owned} AND c.tabid = t.tabid AND ({wanted}) "
        "AND i.tabid = t.tabid AND i.idxname = c.idxname"
    )
    try:
        rows = yield from query_rows(session, sql)
    except Error as error:
        if not session.usable_after(error):
            raise
        return ()
    numbers = dict.fromkeys(abs(int(part)) for row in rows for part in row if isinstance(part, int) and part)
    return tuple(columns[number - 1].name for number in numbers if number <= len(columns))


def conflict(
    session: Session,
    table: str,
    columns: Sequence[Column],
    staging: str,
    names: Sequence[str],
    key: Sequence[str],
    near: str,
) -> Exchange[str]:
    """Which staged row violates the constraint ``near`` of the table, as a sentence; "" when that is not found.

    ``names`` and ``key`` are columns as they are written in statements.
    """
    if not near:
        return ""
    unique = [quote_known(name, names) for name in (yield from key_columns(
        session, table, columns, near, primary=False
    ))]  # fmt: skip
    if not unique or not all(unique):
        return ""
    shown = list(dict.fromkeys([*key, *unique]))
    both = " AND ".join(f"s.{name} = t.{name}" for name in unique)
    same = " AND ".join(f"s.{name} = t.{name}" for name in key)
    told = ", ".join(f"s.{name}" for name in shown)
    twice = " AND ".join(f"s.{name} = o.{name}" for name in unique)
    other = " AND ".join(f"s.{name} = o.{name}" for name in key)
    for where, sql in (
        (
            f"another row of {table}",
            f"SELECT FIRST 1 {told} FROM {staging} s, {table} t WHERE {both} AND NOT ({same})",
        ),
        (
            "another row of the data",
            f"SELECT FIRST 1 {told} FROM {staging} s, {staging} o WHERE {twice} AND NOT ({other})",
        ),
    ):
        try:
            rows = yield from query_rows(session, sql)
        except Error as error:
            if not session.usable_after(error):
                raise
            return ""
        if rows:
            row = ", ".join(f"{name}={value!r}" for name, value in zip(shown, rows[0], strict=True))
            return f"The row ({row}) has the same {', '.join(unique)} as {where}."
    return ""


def quote_known(name: str, names: Sequence[str]) -> str:
    """The form in which a column is written among ``names``; "" when it is not there."""
    return next((each for each in names if each.strip('"').lower() == name.lower()), "")


def _last_name(name: str) -> str:
    """The name itself of ``owner.name``, as errors have it."""
    return name.rpartition(".")[2].strip().strip("\"'")


def map_columns(
    schema: pa.Schema,
    target: Sequence[Column],
    columns: Sequence[str] | Mapping[str, str] | None,
    table: str,
) -> list[tuple[str, Column]]:
    """Which column of the data goes into which column of the table, in the order of the data.

    Parameters
    ----------
    schema
        Of the data.
    target
        The table's columns.
    columns
        None: by name; upper and lower case are the same, as Informix folds names. A sequence: the table's
        columns for those of the data, in order. A mapping: from names of the data to names of the table; the
        data's other columns are not written.
    table
        For errors.

    Raises
    ------
    ProgrammingError
        Columns that the table does not have (all of them listed), two for the same column, or none at all.
    """
    names = list(schema.names)
    if isinstance(columns, str):
        raise InterfaceError("columns must be a sequence of names or a mapping, not a string")
    if columns is None:
        pairs = [(name, name) for name in names]
    elif isinstance(columns, Mapping):
        pairs = [(str(name), str(into)) for name, into in columns.items()]
        _list_unknown([name for name, _ in pairs if name not in names], "the data", names)
    else:
        if len(columns) != len(names):
            raise ProgrammingError(f"columns names {len(columns)} columns, the data has {len(names)}")
        pairs = [(name, str(into)) for name, into in zip(names, columns, strict=True)]
    if not pairs:
        raise ProgrammingError("the data has no columns: nothing can be written")
    exact = {column.name: column for column in target}
    folded = {column.name.lower(): column for column in reversed(target)}
    spellings = [column.name.lower() for column in target]
    for _, into in pairs:
        if into not in exact and spellings.count(into.lower()) > 1:
            raise ProgrammingError(
                f"{into} could be any of the columns of the table {table} that differ in case only: say columns=..."
            )
    found = [(name, exact.get(into) or folded.get(into.lower())) for name, into in pairs]
    unknown = [into for (_, into), (_, column) in zip(pairs, found, strict=True) if column is None]
    _list_unknown(unknown, f"the table {table}", [column.name for column in target])
    mapped = [(name, column) for name, column in found if column is not None]
    for taken, of_what in (([name for name, _ in mapped], "data"), ([c.name for _, c in mapped], "table")):
        twice = sorted({name for name in taken if taken.count(name) > 1})
        if twice:
            raise ProgrammingError(f"columns of the {of_what} named twice: {', '.join(twice)}")
    if len(set(names)) != len(names):
        raise ProgrammingError("two columns of the data have the same name")
    return mapped


def _list_unknown(names: Sequence[str], where: str, known: Sequence[str]) -> None:
    if names:
        plural = "columns" if len(names) > 1 else "column"
        raise ProgrammingError(
            f"{where} has no {plural} {', '.join(names)}; it has {', '.join(known)}. Leave out what does not belong "
            "there, or say columns=..."
        )


def insert_statement(table: str, columns: Sequence[Column], delimident: bool) -> str:
    """``INSERT INTO t (a, b) VALUES (?, ?)``."""
    names = ", ".join(quote(column.name, delimident) for column in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"
