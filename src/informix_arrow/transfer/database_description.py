"""Describe a database as the SQL that creates it. Objects that cannot be expressed are listed."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ..connection import Connection
from ..wire.errors import Error
from ..wire.quoting import needs_no_quotes, quote_if_needed
from ..wire.type_codes import TypeCode
from .date_format import format_date

# Names that the server generated. They contain table numbers, which differ in a copy.
_GENERATED_NAME = re.compile(r"[purcn]?\d+_\d+")
_ABSENT = (-206, -217, -272, -329, -387)  # the catalogue table does not exist, or may not be read
_PRIVILEGES = {
    "s": "select",
    "u": "update",
    "i": "insert",
    "d": "delete",
    "x": "index",
    "a": "alter",
    "r": "references",
}
_FIRST_USER_TABLE = 100
_FIRST_USER_TYPE = 2048  # extended_id of types that users created
_UNION = 50  # tables in one UNION ALL
_CHECKS = (
    "SELECT k.tabid, k.constrid, k.constrname, c.seqno, c.checktext FROM sysconstraints k, syschecks c "
    "WHERE c.constrid = k.constrid AND c.type = 'T' ORDER BY 1, 2, 4"
)
_TYPES = f"SELECT x.name, x.mode FROM sysxtdtypes x WHERE x.extended_id >= {_FIRST_USER_TYPE}"
_SEQUENCES = (
    "SELECT t.owner, t.tabname, q.start_val, q.inc_val, q.min_val, q.max_val, q.cycle, q.cache "
    "FROM syssequences q, systables t WHERE t.tabid = q.tabid ORDER BY 1, 2"
)
_VIEWS = (
    f"SELECT v.tabid, v.seqno, v.viewtext FROM sysviews v WHERE v.tabid >= {_FIRST_USER_TABLE} ORDER BY 1, 2"
)
_SYNONYMS = "SELECT s.tabid, s.btabid FROM syssyntable s ORDER BY 1"
_ROUTINES = (
    "SELECT p.procid, p.procname, b.seqno, b.data FROM sysprocedures p, sysprocbody b "
    "WHERE p.mode IN ('O', 'D', 'R', 'T') AND b.procid = p.procid AND b.datakey = 'T' ORDER BY 1, 3"
)
_TRIGGERS = (
    "SELECT g.trigid, g.trigname, b.datakey, b.seqno, b.data FROM systriggers g, systrigbody b "
    "WHERE b.trigid = g.trigid AND b.datakey IN ('D', 'A') ORDER BY 1, 4"
)
_PRIVILEGES_OF_TABLES = (
    "SELECT a.tabid, a.grantee, a.tabauth FROM systabauth a "
    f"WHERE a.tabid >= {_FIRST_USER_TABLE} ORDER BY 1, 2"
)
_USERS = "SELECT u.username, u.usertype FROM sysusers u ORDER BY 1"
_QUERIES = (
    _CHECKS, _TYPES, _SEQUENCES, _VIEWS, _SYNONYMS, _ROUTINES, _TRIGGERS, _PRIVILEGES_OF_TABLES, _USERS,
)  # fmt: skip

Rows = dict[tuple[str, str], list[dict[str, Any]]]
"""Rows of a metadata table by owner and name of the table."""


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """A column of a CREATE TABLE statement. ``day`` is the default of a DATE column, if the server reports a date."""

    declaration: str
    default: str | None
    day: dt.date | None
    is_nullable: bool

    def sql(self, dbdate: str) -> str:
        """Return the column's line, with a date in the format ``dbdate``."""
        default = self.default if self.day is None else f"'{format_date(self.day, dbdate)}'"
        text = self.declaration if default is None else f"{self.declaration} default {default}"
        return text if self.is_nullable else f"{text} not null"


@dataclass(frozen=True, slots=True)
class TableDescription:
    """A table: its columns, its names and its sizes."""

    owner: str
    name: str
    tabid: int
    column_list: tuple[ColumnDescription, ...]
    options: str  # of CREATE TABLE
    row_size: int
    index_size: int

    def create(self, dbdate: str) -> str:
        """Return the CREATE TABLE statement, with dates in the format ``dbdate``."""
        lines = ",\n".join(f"    {column.sql(dbdate)}" for column in self.column_list)
        return f"create table {self.sql}\n  (\n{lines}\n  ){self.options}"

    @property
    def sql(self) -> str:
        """``"owner".t``."""
        return f'"{self.owner}".{self.name}'


@dataclass(slots=True)
class DatabaseDescription:
    """A database: its tables, and the statements to run before and after they are created, in order."""

    database: str
    before: list[str] = field(default_factory=list)
    tables: list[TableDescription] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    omitted: list[str] = field(default_factory=list)


def describe(connection: Connection) -> DatabaseDescription:
    """Describe the connection's database."""
    return _Describer(connection).run()


class _Describer:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._description = DatabaseDescription("")
        # What is known of each table, by owner and name.
        self._columns: Rows = {}
        self._index_parts: Rows = {}
        self._foreign_key_parts: Rows = {}
        self._fragments: Rows = {}
        self._check_texts: dict[int, list[tuple[str, str]]] = {}
        self._serials: dict[tuple[str, str], int | None] = {}

    def run(self) -> DatabaseDescription:
        description, connection = self._description, self._connection
        description.database = str(connection.adbc_current_catalog)
        connection.prepare(_QUERIES)
        listed = connection.tables().to_pylist()
        tables = [each for each in listed if each["table_type"] == "TABLE"]
        self._read_tables(tables)
        self._types(tables)
        self._sequences()
        keys: list[str] = []
        foreign: list[str] = []
        indexes: list[str] = []
        for table in sorted(tables, key=lambda each: each["table_id"]):
            if quote_if_needed(table["table_name"]) != table["table_name"]:
                description.omitted.append(
                    f"table {table['table_name']!r} with its rows: its name needs DELIMIDENT, rename it first"
                )
                continue
            description.tables.append(self._table(table, keys, foreign, indexes))
        description.after += [*keys, *indexes, *foreign]
        self._views(listed)
        self._synonyms(listed)
        self._routines()
        self._triggers()
        self._privileges()
        for each in listed:
            if each["table_type"] not in ("TABLE", "VIEW", "SYNONYM", "PRIVATE SYNONYM", "SYSTEM TABLE"):
                description.omitted.append(f"{each['table_type'].lower()} {each['table_name']}")
        return description

    # ---- tables ----------------------------------------------------------------------------------------------------

    def _read_tables(self, tables: list[dict[str, Any]]) -> None:
        """Read what the catalogue has of all tables, by one query for each kind of object."""
        self._columns = _by_table(self._connection.columns())
        self._index_parts = _by_table(self._connection.indexes())
        self._foreign_key_parts = _by_table(self._connection.foreign_keys())
        self._fragments = _by_table(self._connection.fragments())
        for (tabid, _, name), text in _join_pieces(self._rows_if_exists(_CHECKS), 3):
            self._check_texts.setdefault(tabid, []).append((name, text))
        self._read_serials(tables)

    def _read_serials(self, tables: list[dict[str, Any]]) -> None:
        """Read the largest number of each SERIAL column: the server does not report where numbering continues."""
        by_type: dict[int, list[tuple[tuple[str, str], str]]] = {}
        for table in tables:
            key = table["table_schema"].strip(), table["table_name"]
            for column in self._columns.get(key, ()):
                if column["is_serial"] and needs_no_quotes(table["table_name"]):
                    by_type.setdefault(column["type_code"], []).append((key, column["column_name"]))
        for columns in by_type.values():
            for start in range(0, len(columns), _UNION):
                part = columns[start : start + _UNION]
                selects = [
                    f'SELECT {number}, MAX({column}) FROM "{owner}".{name}'
                    for number, ((owner, name), column) in enumerate(part)
                ]
                for number, most in self._rows(" UNION ALL ".join(selects)):
                    self._serials[part[number][0]] = most

    def _table(
        self, table: dict[str, Any], keys: list[str], foreign: list[str], indexes: list[str]
    ) -> TableDescription:
        owner, name = key = table["table_schema"].strip(), table["table_name"]
        sql = f'"{owner}".{name}'
        columns = self._columns.get(key, [])
        lock = f" lock mode {table['lock_level'].lower()}" if table["lock_level"] in ("ROW", "PAGE") else ""
        index_size = self._indexes(sql, self._index_parts.get(key, []), columns, keys, indexes)
        self._foreign_keys(sql, self._foreign_key_parts.get(key, []), foreign)
        self._checks(sql, table["table_id"], keys)
        if any(
            each["fragment_type"] == "TABLE" and each["strategy"] not in (None, "IN DBSPACE", "TABLE")
            for each in self._fragments.get(key, ())
        ):
            self._description.omitted.append(f"fragmentation of {sql}: its rows are there, in one piece")
        return TableDescription(
            owner,
            name,
            table["table_id"],
            tuple(self._column(key, column) for column in columns),
            lock,
            table["row_size"] or 0,
            index_size,
        )

    def _column(self, table: tuple[str, str], column: dict[str, Any]) -> ColumnDescription:
        name, declared = column["column_name"], column["data_type"]
        if column["is_serial"]:
            declared = f"{declared}{self._next_serial(table)}"
        default = column["column_default"]
        day = _date_of(default) if column["type_code"] == TypeCode.DATE else None
        return ColumnDescription(f"{name} {declared}", default, day, column["is_nullable"])

    def _next_serial(self, table: tuple[str, str]) -> str:
        """Return where numbering continues, such as ``(103)``: after the largest number."""
        most = self._serials.get(table)
        return f"({most + 1})" if most is not None and 0 < most < 2**31 - 1 else ""

    def _indexes(
        self,
        sql: str,
        parts: list[dict[str, Any]],
        columns: list[dict[str, Any]],
        keys: list[str],
        indexes: list[str],
    ) -> int:
        size = 0
        widths = {column["column_name"]: _width(column) for column in columns}
        for index_name, of_index in _group(parts, "index_name").items():
            first = of_index[0]
            size += 9 + sum(widths.get(part["column_name"], 4) for part in of_index)
            if any(part["column_name"] is None for part in of_index):
                self._description.omitted.append(
                    f"index {index_name.strip()} on {sql}: it is over a function"
                )
                continue
            if first["constraint_type"] in ("PRIMARY KEY", "UNIQUE"):
                named = _named(first["constraint_name"])
                listed = ", ".join(part["column_name"] for part in of_index)
                keys.append(
                    f"alter table {sql} add constraint {first['constraint_type'].lower()} ({listed}){named}"
                )
            if first["constraint_type"] is None or not _GENERATED_NAME.fullmatch(index_name.strip()):
                if first["constraint_type"] in ("PRIMARY KEY", "UNIQUE"):
                    continue  # the constraint creates its own index
                kind = ("unique " if first["is_unique"] else "") + (
                    "cluster " if first["is_clustered"] else ""
                )
                listed = ", ".join(
                    part["column_name"] + (" desc" if part["sort_order"] == "DESC" else "")
                    for part in of_index
                )
                indexes.append(
                    f'create {kind}index "{first["index_schema"].strip()}".{index_name} on {sql} ({listed})'
                )
        return size

    def _foreign_keys(self, sql: str, parts_of_table: list[dict[str, Any]], foreign: list[str]) -> None:
        for name, parts in _group(parts_of_table, "constraint_name").items():
            first = parts[0]
            columns = ", ".join(part["column_name"] for part in parts)
            referenced = ", ".join(part["referenced_column_name"] for part in parts)
            target = f'"{first["referenced_table_schema"].strip()}".{first["referenced_table_name"]}'
            cascade = " on delete cascade" if first["delete_rule"] == "CASCADE" else ""
            named = _named(name)
            foreign.append(
                f"alter table {sql} add constraint foreign key ({columns}) references {target} ({referenced})"
                f"{cascade}{named}"
            )

    def _checks(self, sql: str, tabid: int, keys: list[str]) -> None:
        for name, text in self._check_texts.get(tabid, ()):
            named = _named(name)
            text = text.strip()
            keys.append(
                f"alter table {sql} add constraint check {text if text.startswith('(') else f'({text})'}{named}"
            )

    # ---- everything else -------------------------------------------------------------------------------------------

    def _types(self, tables: list[dict[str, Any]]) -> None:
        """Add the DISTINCT types of columns. Other user-defined types are listed as omitted."""
        declarations: dict[str, str] = {}
        for table in tables:
            if not needs_no_quotes(table["table_name"]):
                continue
            owner, table_name = table["table_schema"].strip(), table["table_name"]
            if not any(
                column["extended_id"] >= _FIRST_USER_TYPE
                for column in self._columns.get((owner, table_name), ())
            ):
                continue
            name = f'"{owner}".{table_name}'
            with self._connection.query(f"SELECT * FROM {name} WHERE 1 = 0") as result:
                schema: pa.Schema = result.schema
            for each in schema:
                metadata = each.metadata or {}
                if b"informix.source_type" in metadata:
                    declarations[metadata[b"informix.type"].decode()] = metadata[
                        b"informix.source_type"
                    ].decode()
        self._description.before += [
            f"create distinct type {name} as {source}" for name, source in declarations.items()
        ]
        for name, mode in self._rows_if_exists(_TYPES):
            if mode in ("D", "R") and name and name not in declarations:
                kind = "distinct" if mode == "D" else "row"
                self._description.omitted.append(f"{kind} type {name}")

    def _sequences(self) -> None:
        for owner, name, start, step, least, most, cycle, cache in self._rows_if_exists(_SEQUENCES):
            self._description.before.append(
                f'create sequence "{owner}".{name} increment by {step} start with {start} maxvalue {most} '
                f"minvalue {least} {'cycle' if cycle == '1' else 'nocycle'} {f'cache {cache}' if cache else 'nocache'}"
            )
            self._description.omitted.append(f"position of the sequence {name}: it begins at {start} again")

    def _views(self, listed: list[dict[str, Any]]) -> None:
        texts = dict(_join_pieces(self._rows_if_exists(_VIEWS), 1))
        for each in listed:
            if each["table_type"] == "VIEW" and (each["table_id"],) not in texts:
                self._description.omitted.append(
                    f"view {each['table_name']}: the catalogue does not show its text"
                )
        self._description.after += _clean(texts[key] for key in sorted(texts))

    def _synonyms(self, listed: list[dict[str, Any]]) -> None:
        names = {each["table_id"]: each for each in listed}
        for tabid, target in self._rows_if_exists(_SYNONYMS):
            synonym, base = names.get(tabid), names.get(target)
            if synonym is None:
                continue
            if base is None:
                self._description.omitted.append(
                    f"synonym {synonym['table_name']}: it is for a table of another database"
                )
                continue
            kind = "private " if synonym["table_type"] == "PRIVATE SYNONYM" else ""
            self._description.after.append(
                f'create {kind}synonym "{synonym["table_schema"].strip()}".{synonym["table_name"]} '
                f'for "{base["table_schema"].strip()}".{base["table_name"]}'
            )

    def _routines(self) -> None:
        for (_, name), text in _join_pieces(self._rows_if_exists(_ROUTINES), 2):
            if text.strip():
                self._description.after += _clean([text])
            else:
                self._description.omitted.append(f"routine {name}: the catalogue does not show its text")

    def _triggers(self) -> None:
        texts: dict[int, dict[str, str]] = {}
        for trigid, _, key, _, data in self._rows_if_exists(_TRIGGERS):
            parts = texts.setdefault(trigid, {"D": "", "A": ""})
            parts[key] += data
        self._description.after += _clean(
            f"{parts['D'].rstrip()} {parts['A']}" for _, parts in sorted(texts.items())
        )

    def _privileges(self) -> None:
        tables = {table.tabid: table for table in self._description.tables}
        rows = self._rows_if_exists(_PRIVILEGES_OF_TABLES)
        for tabid, grantee, letters in rows:
            table = tables.get(tabid)
            if table is None or grantee == table.owner:
                continue
            for grantable in (False, True):
                words = [
                    word
                    for letter, word in _PRIVILEGES.items()
                    if (letter.upper() if grantable else letter) in letters
                ]
                if words and not (grantee == "public" and not grantable and letters.startswith("su-idx---")):
                    grant = " with grant option" if grantable else ""
                    self._description.after.append(
                        f'grant {", ".join(words)} on {table.sql} to "{grantee}"{grant}'
                    )
            if "*" in letters:
                self._description.omitted.append(f"privileges of {grantee} on single columns of {table.sql}")
        for table in self._description.tables:
            if not any(tabid == table.tabid and grantee == "public" for tabid, grantee, _ in rows):
                self._description.after.append(f'revoke all on {table.sql} from "public"')
        users = self._rows_if_exists(_USERS)
        names = [name for name, kind in users if name not in ("public", "informix") and kind in "CRDG"]
        if names:
            self._description.omitted.append(
                f"users, roles and their privileges on the database: {', '.join(names)}"
            )

    # ---- queries ---------------------------------------------------------------------------------------------------

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        table = self._connection.read_arrow(sql, char_padding="keep")
        columns = [column.to_pylist() for column in table.columns]
        return list(zip(*columns, strict=True))

    def _rows_if_exists(self, sql: str) -> list[tuple[Any, ...]]:
        """Return rows of the catalogue, with trailing blanks removed. No rows if a release has no such table."""
        try:
            rows = self._rows(sql)
        except Error as error:
            if error.sqlcode not in _ABSENT:
                raise
            self._description.omitted.append(
                f"what {re.findall(r'FROM (?:systables t, )?(sys[a-z]+)', sql)[0]} tells: {error}"
            )
            return []
        # The last column may be a piece of a text, in which blanks are significant.
        return [
            (*(value.rstrip(" ") if isinstance(value, str) else value for value in row[:-1]), row[-1])
            for row in rows
        ]


def _by_table(metadata: pa.Table) -> Rows:
    rows: Rows = {}
    for row in metadata.to_pylist():
        rows.setdefault((row["table_schema"].strip(), row["table_name"]), []).append(row)
    return rows


def _group(parts: list[dict[str, Any]], key: str) -> dict[str, list[dict[str, Any]]]:
    """Return the columns of each index or constraint of a table, in order."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for part in sorted(parts, key=lambda part: part["ordinal_position"]):
        groups.setdefault(part[key], []).append(part)
    return groups


def _named(constraint: str) -> str:
    """Return the clause with the name of a constraint; "" for a name that the server generated."""
    return "" if _GENERATED_NAME.fullmatch(constraint) else f" constraint {constraint}"


def _date_of(default: str | None) -> dt.date | None:
    """Return the date of a default such as ``'2004-02-16'``. Another form may mean several days: None."""
    match = re.fullmatch(r"'(\d{4}-\d\d-\d\d)'", default or "")
    try:
        return dt.date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def _width(column: dict[str, Any]) -> int:
    """Return about how many bytes a column takes in an index. It is only information for readers of the file."""
    if column["character_maximum_length"]:
        return int(column["character_maximum_length"])
    return (column["numeric_precision"] + 3) // 2 if column["numeric_precision"] else 8


def _join_pieces(rows: Sequence[tuple[Any, ...]], key: int) -> list[tuple[tuple[Any, ...], str]]:
    """Join texts that the catalogue stores in pieces, by the first ``key`` columns. The piece is the last column."""
    texts: dict[tuple[Any, ...], str] = {}
    for row in rows:
        texts[row[:key]] = texts.get(row[:key], "") + (row[-1] or "")
    return list(texts.items())


def _clean(texts: Iterable[str]) -> list[str]:
    """Remove the trailing semicolons and blanks that the catalogue stores with statements."""
    return [text.strip().rstrip(";").rstrip() for text in texts]
