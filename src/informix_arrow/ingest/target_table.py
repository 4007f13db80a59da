"""The table to write to: its name, its columns, and which column of the data goes into which of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa

from ..operations.io_steps import Exchange
from ..operations.open_database import query_rows
from ..operations.prepare import prepare, release_statement
from ..operations.session import Session
from ..wire.describe import Column
from ..wire.errors import Error, InterfaceError, ProgrammingError
from ..wire.quoting import WORD, double_quoted, needs_no_quotes

NO_SUCH_TABLE = -206

_TABLE = re.compile(
    rf"(?:(?P<database>{WORD}(?:@{WORD})?):)?(?:(?:(?P<owner>{WORD})|'(?P<quoted>{WORD})')\.)?"
    rf"(?P<name>{WORD}|\"[^\"]+\")"
)


def check_table(name: object) -> str:
    """Check that a table's name is safe to put into a statement: ``[database[@server]:][owner.]table``.

    Raises ``InterfaceError`` for anything else. A name in double quotes needs DELIMIDENT.
    """
    if not isinstance(name, str) or _TABLE.fullmatch(name) is None:
        raise InterfaceError(
            f"{name!r} is not a table name. Write table, owner.table or database:owner.table."
        )
    return name


def bare_name(table: str) -> str:
    """Return the table's own name as the catalog has it."""
    match = _TABLE.fullmatch(table)
    assert match is not None
    name = match["name"]
    return name[1:-1] if name.startswith('"') else name.lower()


def split_table(table: str) -> tuple[str, str]:
    """Return database and owner of a table's name, each "" if it is missing."""
    match = _TABLE.fullmatch(table)
    assert match is not None
    return match["database"] or "", match["owner"] or match["quoted"] or ""


def quote(name: str, delimident: bool) -> str:
    """Quote a column's name from the catalog for a statement.

    Raises ``ProgrammingError`` if the name needs quotes and DELIMIDENT is not set.
    """
    if delimident:  # always: the name may be a reserved word or have capitals
        return double_quoted(name)
    if needs_no_quotes(name):
        return name
    raise ProgrammingError(
        f"The column name {name!r} is not a plain identifier. Rename it, or connect with "
        "env={'DELIMIDENT': 'y'}.",
        column=name,
    )


def quote_new(name: str, delimident: bool) -> str:
    """Quote the name of a column to be created. With DELIMIDENT the name is kept. Otherwise it is in lower case,
    as Informix stores it."""
    return quote(name if delimident else name.lower(), delimident)


def describe_table(session: Session, table: str) -> Exchange[tuple[Column, ...]]:
    """Return the columns of a table, view or synonym, in order. The server raises error -206 if there is none."""
    describe = yield from prepare(session, f"SELECT * FROM {table}", 0)
    yield from release_statement(session, describe.statement_id)
    return describe.columns


def table_exists(session: Session, table: str) -> Exchange[bool]:
    """Return whether there is such a table, view or synonym."""
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
    """Return the columns that identify a row of the table, as far as the catalog knows.

    They are those of the violated constraint ``near`` and, with ``primary``, those of the primary key. () if there
    are none.
    """
    match = _TABLE.fullmatch(table)
    assert match is not None
    catalog = f"{match['database']}:" if match["database"] else ""
    owner = match["owner"] or match["quoted"]
    owned = f" AND t.owner = '{owner}'" if owner else ""
    name, constraint = (each.replace("'", "''") for each in (bare_name(table), _last_name(near)))
    condition = f"c.constrname = '{constraint}'" + (" OR c.constrtype = 'P'" if primary else "")
    parts = ", ".join(f"i.part{number}" for number in range(1, 17))
    sql = (
        f"SELECT {parts} FROM {catalog}systables t, {catalog}sysconstraints c, {catalog}sysindexes i "
        f"WHERE t.tabname = '{name}'{owned} AND c.tabid = t.tabid AND ({condition}) "
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
    """Return a sentence on the staged row that violates the constraint ``near`` of the table. "" if none is found.

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
    selected = ", ".join(f"s.{name}" for name in shown)
    twice = " AND ".join(f"s.{name} = o.{name}" for name in unique)
    other = " AND ".join(f"s.{name} = o.{name}" for name in key)
    for where, sql in (
        (
            f"another row of {table}",
            f"SELECT FIRST 1 {selected} FROM {staging} s, {table} t WHERE {both} AND NOT ({same})",
        ),
        (
            "another row of the data",
            f"SELECT FIRST 1 {selected} FROM {staging} s, {staging} o WHERE {twice} AND NOT ({other})",
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
    """Return how a column is written among ``names``. "" if it is not one of them."""
    return next((each for each in names if each.strip('"').lower() == name.lower()), "")


def _last_name(name: str) -> str:
    """Return the name without the owner in ``owner.name``, as errors report it."""
    return name.rpartition(".")[2].strip().strip("\"'")


def map_columns(
    schema: pa.Schema,
    target: Sequence[Column],
    columns: Sequence[str] | Mapping[str, str] | None,
    table: str,
) -> list[tuple[str, Column]]:
    """Return which column of the data goes into which column of the table, in the order of the data.

    Parameters
    ----------
    schema
        The schema of the data.
    target
        The columns of the table.
    columns
        None: match by name, ignoring case, as Informix folds names. A sequence: the table's columns for those of the
        data, in order. A mapping: from names of the data to names of the table; the data's other columns are not
        written.
    table
        The table's name, for errors.

    Raises
    ------
    ProgrammingError
        Columns that the table does not have (all of them listed), two for the same column, or none at all.
    """
    names = list(schema.names)
    if isinstance(columns, str):
        raise InterfaceError("columns must be a sequence of names or a mapping, not a string.")
    if columns is None:
        pairs = [(name, name) for name in names]
    elif isinstance(columns, Mapping):
        pairs = [(str(name), str(into)) for name, into in columns.items()]
        _list_unknown([name for name, _ in pairs if name not in names], "The data", names)
    else:
        if len(columns) != len(names):
            raise ProgrammingError(f"columns= names {len(columns)} columns, but the data has {len(names)}.")
        pairs = [(name, str(into)) for name, into in zip(names, columns, strict=True)]
    if not pairs:
        raise ProgrammingError("The data has no columns. Nothing can be written.")
    exact = {column.name: column for column in target}
    folded = {column.name.lower(): column for column in reversed(target)}
    spellings = [column.name.lower() for column in target]
    for _, into in pairs:
        if into not in exact and spellings.count(into.lower()) > 1:
            raise ProgrammingError(
                f"{into} matches several columns of the table {table} that differ in case only. Map the "
                "columns with columns=..."
            )
    matches = [(name, exact.get(into) or folded.get(into.lower())) for name, into in pairs]
    unknown = [into for (_, into), (_, column) in zip(pairs, matches, strict=True) if column is None]
    _list_unknown(unknown, f"The table {table}", [column.name for column in target])
    mapped = [(name, column) for name, column in matches if column is not None]
    for used, owner in (([name for name, _ in mapped], "data"), ([c.name for _, c in mapped], "table")):
        twice = sorted({name for name in used if used.count(name) > 1})
        if twice:
            raise ProgrammingError(f"Columns of the {owner} named twice: {', '.join(twice)}.")
    if len(set(names)) != len(names):
        raise ProgrammingError("Two columns of the data have the same name.")
    return mapped


def _list_unknown(names: Sequence[str], where: str, known: Sequence[str]) -> None:
    if names:
        plural = "columns" if len(names) > 1 else "column"
        raise ProgrammingError(
            f"{where} has no {plural} {', '.join(names)}. It has {', '.join(known)}. Leave out the others, "
            "or map them with columns=."
        )


def insert_statement(table: str, columns: Sequence[Column], delimident: bool) -> str:
    """Return ``INSERT INTO t (a, b) VALUES (?, ?)``."""
    names = ", ".join(quote(column.name, delimident) for column in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"
