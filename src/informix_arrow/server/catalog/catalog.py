"""Declared types and constraints. They are stored in DuckDB tables of a hidden schema and so take part in the
transaction.

Each Informix database is one attached DuckDB database. Its schema `_ifx` holds what DuckDB cannot express (declared
types, constraint names, serial starts). The catalogue tables that clients query (systables, syscolumns, ...) are
queries over it (system_views.py). Only the session knows its temporary tables.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from operator import itemgetter
from typing import Any, Protocol

import pyarrow.compute as pc

from ...wire.quoting import double_quoted
from ...wire.types import ColumnType
from ..errors import OWNER_MARK, no_column
from ..parse.ddl_nodes import StorageOptions
from ..types.nested_types import UserDefinedType, declare, distinct, named_row
from ..types.result_types import SERIALS, is_character, may_end_in_blanks, not_null
from . import trigger_tables
from .system_views import INDEX_PARTS, not_null_number, system_table
from .trigger_tables import TriggerInfo

FIRST_USER_TABID = 100
FIRST_USER_TYPE = 2048
SYNONYMS = ("P", "S")
SEQUENCE = "Q"
"""Values of systables.tabtype."""


class SqlConnection(Protocol):
    """An object that executes SQL: a DuckDB connection, or a session's recorder."""

    def execute(self, query: str, parameters: Any = ...) -> Any: ...


def duck_database(database: str) -> str:
    """Return the DuckDB name of an Informix database. The prefix keeps the names `temp` and `system` free."""
    return double_quoted("d_" + database)


def duplicate_key_query(info: TableInfo, columns: Sequence[str]) -> str:
    """Return a query that has a row if a key occurs twice. NULL equals NULL in a key."""
    names = ", ".join(key_part(info, name) for name in columns)
    return f"SELECT 1 FROM {info.duck_name} GROUP BY {names} HAVING count(*) > 1 LIMIT 1"


def nullable_columns(info: TableInfo, columns: Collection[str]) -> list[str]:
    """Return the columns of a key that may be NULL."""
    return [c.name for c in info.columns if c.name in columns and not c.type.not_null]


def key_part(info: TableInfo, name: str, alias: str = "") -> str:
    """Return SQL for a column as a key value: text without trailing blanks. DuckDB's indexes use the same
    expression."""
    column = f"{double_quoted(alias)}.{double_quoted(name)}" if alias else double_quoted(name)
    return key_text(column) if name in info.blank_padded else column


def key_text(sql: str) -> str:
    """Return SQL for a text without trailing blanks, as DuckDB's indexes store it."""
    return f"rtrim({sql}, ' ')"


def key_texts(column: Any) -> Any:
    """Strip trailing blanks like `key_text`, from a list of texts or an Arrow array."""
    if isinstance(column, list):
        return [text if text is None else text.rstrip(" ") for text in column]
    return pc.utf8_rtrim(column, " ")


def same_key_condition(
    info: TableInfo, columns: Sequence[str], left: str, right: str, *, nulls: bool = True
) -> str:
    """Return the condition that two rows have the same key. With `nulls`, NULL equals NULL."""
    nullable = nullable_columns(info, columns) if nulls else ()
    return " AND ".join(
        f"{key_part(info, c, left)} {'IS NOT DISTINCT FROM' if c in nullable else '='} {key_part(info, c, right)}"
        for c in columns
    )


def parent_condition(info: TableInfo, foreign: ForeignKey, child: str, parent: str) -> str:
    """Return the condition that a child row refers to a parent row. `child` and `parent` are the aliases of the
    tables."""
    parts = []
    for child_column, parent_column in zip(foreign.columns, foreign.parent_columns, strict=True):
        column = info.column(child_column)
        name = f"{double_quoted(parent)}.{double_quoted(parent_column)}"
        if column is not None and is_character(column.type):
            # most texts have no blanks, and DuckDB sees that in a quarter of the time of RTRIM
            name = f"(CASE WHEN suffix({name}, ' ') THEN {key_text(name)} ELSE {name} END)"
        parts.append(f"{name} = {key_part(info, child_column, child)}")
    return " AND ".join(parts)


def first_row(con: SqlConnection, sql: str, parameters: Any = None) -> tuple[Any, ...] | None:
    """Return the first row of a query. The whole result is fetched: DuckDB refuses new work while a result is
    unfinished."""
    rows = (con.execute(sql, parameters) if parameters is not None else con.execute(sql)).fetchall()
    return tuple(rows[0]) if rows else None


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """One declared column.

    `default` is Informix's default as (kind, text). The kinds: L literal, N null, T today, C current, U user.
    """

    name: str
    type: ColumnType
    default: tuple[str, str] | None = None
    serial_start: int = 1

    @property
    def is_serial(self) -> bool:
        return self.type.code in SERIALS


@dataclass(frozen=True, slots=True)
class UniqueConstraint:
    """A primary key (P), unique constraint (U) or unique index (I)."""

    name: str
    kind: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckConstraint:
    """A CHECK constraint. `duck_sql` is its condition as DuckDB SQL over the bare column names."""

    name: str
    duck_sql: str
    informix_sql: str
    sqlcode: int = -530


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key to the key columns of another table of the same database."""

    name: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]
    cascade: bool = False  # ON DELETE CASCADE


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """An index created by CREATE INDEX. Its key columns are (column, descending)."""

    name: str
    unique: bool
    key_columns: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class DisabledObjects:
    """The constraints and indexes of a table that SET ... DISABLED has switched off."""

    unique_constraints: tuple[UniqueConstraint, ...] = ()
    checks: tuple[CheckConstraint, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    indexes: tuple[IndexInfo, ...] = ()

    @property
    def names(self) -> list[str]:
        names = [unique.name for unique in self.unique_constraints]
        names += [check.name for check in self.checks]
        names += [foreign.name for foreign in self.foreign_keys]
        return names + [index.name for index in self.indexes]


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table or view with all its declarations."""

    name: str
    tabid: int
    kind: str  # T table, V view, S system view
    columns: tuple[ColumnInfo, ...]
    database: str
    duck_name: str  # qualified DuckDB name, or for a system view its query in parentheses
    unique_constraints: tuple[UniqueConstraint, ...] = ()
    checks: tuple[CheckConstraint, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    indexes: tuple[IndexInfo, ...] = ()
    disabled: DisabledObjects = DisabledObjects()
    viewtext: str = ""
    with_check_option: bool = False  # a view WITH CHECK OPTION
    is_delimited: bool = False  # a view whose text is read with DELIMIDENT, which older servers did not store
    is_expanded: bool = False  # a view whose query needs values of the session, such as TODAY and USER
    storage: StorageOptions = field(default_factory=StorageOptions, compare=False)
    temporary: bool = False
    owner: str = field(default="informix", compare=False)
    children: tuple[str, ...] = field(default=(), compare=False)  # tables with foreign keys to this one
    triggers: tuple[TriggerInfo, ...] = field(default=(), compare=False)  # in firing order
    is_fully_logged: bool = field(default=False, compare=False)  # its rows are written to the change log
    blank_padded: frozenset[str] = field(init=False, compare=False, repr=False)
    """Columns whose key values ignore trailing blanks but which store them."""

    def __post_init__(self) -> None:
        padded = frozenset(c.name for c in self.columns if may_end_in_blanks(c.type))
        object.__setattr__(self, "blank_padded", padded)

    def column(self, name: str) -> ColumnInfo | None:
        for column in self.columns:
            if column.name == name:
                return column
        return None

    def require_column(self, name: str, offset: int = 0) -> ColumnInfo:
        """Return a column: -217 if there is none of that name, at this offset of the statement."""
        column = self.column(name)
        if column is None:
            raise no_column(name, offset)
        return column

    @property
    def has_triggers(self) -> bool:
        """True if a change of its rows may fire a trigger. Fast paths must skip such a table."""
        return any(trigger.enabled for trigger in self.triggers)

    def fired_by(self, event: str, columns: Collection[str] = ()) -> tuple[TriggerInfo, ...]:
        """Return the enabled triggers that an INSERT (I), a DELETE (D) or an UPDATE (U) of these columns fires, in
        firing order."""
        if not self.triggers:
            return ()
        changed = frozenset(columns)
        return tuple(trigger for trigger in self.triggers if trigger.fired_by(event, changed))

    @property
    def has_engine_checks(self) -> bool:
        """True if rows must satisfy rules that DuckDB does not know."""
        return bool(self.foreign_keys) or any(check.sqlcode != -530 for check in self.checks)

    @property
    def has_simple_updates(self) -> bool:
        """True if an UPDATE that keeps the keys needs only locks and the change itself. It then reads and changes no
        other rows, fires no trigger and logs nothing."""
        return self.kind == "T" and not (self.temporary or self.has_triggers or self.is_fully_logged)

    @property
    def keys(self) -> tuple[UniqueConstraint, ...]:
        """All constraints and unique indexes that forbid duplicates."""
        extra = tuple(
            UniqueConstraint(i.name, "I", tuple(c for c, _ in i.key_columns))
            for i in self.indexes
            if i.unique
        )
        return self.unique_constraints + extra


def load_table(con: SqlConnection, database: str, name: str) -> TableInfo | None:
    """Return the description of a table as the transaction of `con` sees it, None if there is no such table.

    Every first use of a table asks this: rows are chosen and sorted here, as DuckDB plans ORDER BY, IN and a join for
    longer than it runs them.
    """
    db = duck_database(database)
    row = first_row(
        con,
        f"SELECT tabid, tabtype, viewtext, details, owner FROM {db}._ifx.tables WHERE tabname = ?",
        [name],
    )
    if row is None or row[1] not in ("T", "V", *SYNONYMS):
        return None
    tabid, tabtype, viewtext, details, owner = row
    if tabtype in SYNONYMS:
        return load_table(con, *json.loads(details)["stands for"])
    columns = tuple(
        ColumnInfo(
            colname,
            _stored_type(con, database, declared, required, extended_id),
            (defkind, deftext or "") if defkind else None,
            serial_start or 1,
        )
        for _, colname, declared, required, extended_id, defkind, deftext, serial_start in sorted(
            con.execute(
                "SELECT colno, colname, declared, required, extended_id, defkind, deftext, serial_start "
                f"FROM {db}._ifx.columns WHERE tabid = ?",
                [tabid],
            ).fetchall(),
            key=itemgetter(0),
        )
    )
    if not columns:
        return None  # a row of systables whose table this server does not offer
    extra: dict[str, Any] = json.loads(details) if details else {}
    info = TableInfo(
        name,
        tabid,
        "S" if tabid < FIRST_USER_TABID else tabtype,
        columns,
        database,
        system_table(name, db, database) if tabid < FIRST_USER_TABID else f"{db}.main.{double_quoted(name)}",
        tuple(UniqueConstraint(u["name"], u["kind"], tuple(u["columns"])) for u in extra.get("uniques", ())),
        tuple(CheckConstraint(c["name"], c["duck"], c["informix"]) for c in extra.get("checks", ())),
        tuple(
            ForeignKey(
                f["name"],
                tuple(f["columns"]),
                f["parent"],
                tuple(f["parent_columns"]),
                f.get("cascade", False),
            )
            for f in extra.get("foreigns", ())
        ),
        tuple(
            IndexInfo(i["name"], i["unique"], tuple((c, bool(d)) for c, d in i["parts"]))
            for i in extra.get("indexes", ())
        ),
        DisabledObjects(),
        viewtext or "",
        extra.get("checked", False),
        extra.get("delimited", False),
        extra.get("expanded", False),
        _storage(extra.get("storage")),
        owner=owner,
        children=_children(con, db, tabid),
        triggers=_triggers(con, db, tabid, [c.name for c in columns]),
    )
    disabled = extra.get("disabled")
    return with_disabled(info, set(disabled)) if disabled else info


def with_disabled(info: TableInfo, names: Collection[str]) -> TableInfo:
    """Return a table whose constraints and indexes of these names are disabled, and all others enabled."""
    off = info.disabled
    uniques = (*info.unique_constraints, *off.unique_constraints)
    checks = (*info.checks, *off.checks)
    foreigns = (*info.foreign_keys, *off.foreign_keys)
    indexes = (*info.indexes, *off.indexes)
    return replace(
        info,
        unique_constraints=tuple(u for u in uniques if u.name not in names),
        checks=tuple(c for c in checks if c.name not in names),
        foreign_keys=tuple(f for f in foreigns if f.name not in names),
        indexes=tuple(i for i in indexes if i.name not in names),
        disabled=DisabledObjects(
            tuple(u for u in uniques if u.name in names),
            tuple(c for c in checks if c.name in names),
            tuple(f for f in foreigns if f.name in names),
            tuple(i for i in indexes if i.name in names),
        ),
    )


def _children(con: SqlConnection, db: str, tabid: int) -> tuple[str, ...]:
    """Return the names of the tables with a foreign key to a table."""
    if tabid < FIRST_USER_TABID:
        return ()
    numbers = con.execute(
        f"SELECT tabid FROM {db}._ifx.constraints WHERE ptabid = ? AND constrtype = 'R'", [tabid]
    ).fetchall()
    if not numbers:
        return ()
    names = con.execute(
        f"SELECT tabname FROM {db}._ifx.tables WHERE list_contains(?, tabid)",
        [[number for (number,) in numbers]],
    ).fetchall()
    return tuple(sorted(name for (name,) in names))


def _triggers(con: SqlConnection, db: str, tabid: int, names: list[str]) -> tuple[TriggerInfo, ...]:
    if tabid < FIRST_USER_TABID:
        return ()
    rows = con.execute(trigger_tables.QUERY.format(db=db), [tabid]).fetchall()
    return trigger_tables.from_rows(rows, names)


@dataclass(frozen=True, slots=True)
class SequenceInfo:
    """A sequence. `duck_name` is its DuckDB name, `settings` the options of CREATE SEQUENCE (increment, low, high,
    ...)."""

    name: str
    tabid: int
    duck_name: str
    settings: dict[str, Any] = field(hash=False)


def load_sequence(con: SqlConnection, database: str, name: str) -> SequenceInfo | None:
    """Return a sequence by name, None if there is none."""
    db = duck_database(database)
    query = f"SELECT tabid, details FROM {db}._ifx.tables WHERE tabname = ? AND tabtype = '{SEQUENCE}'"
    row = first_row(con, query, [name])
    if row is None:
        return None
    tabid, details = row
    return SequenceInfo(name, tabid, f"{db}.main.{double_quoted(f'_sequence_{tabid}')}", json.loads(details))


def _storage(stored: dict[str, Any] | None) -> StorageOptions:
    if stored is None:
        return StorageOptions()
    return StorageOptions(**{**stored, "fragments": [(space, text) for space, text in stored["fragments"]]})


def declared_text(t: ColumnType) -> str:
    """Return a type's declaration in the form that `declare` parses."""
    return t.extended_name if isinstance(t, UserDefinedType) else t.sql


def _stored_type(
    con: SqlConnection, database: str, declared: str, required: bool, extended_id: int
) -> ColumnType:
    t = declare(declared, lambda name: find_type(con, database, name))
    if isinstance(t, UserDefinedType) and not t.extended_id:
        t = replace(t, extended_id=extended_id)
    return not_null(t) if required else t


def find_type(con: SqlConnection, database: str, name: str) -> ColumnType | None:
    """Return a named ROW or DISTINCT type of the database, None if there is none."""
    row = first_row(
        con,
        f"SELECT extended_id, mode, definition FROM {duck_database(database)}._ifx.xtdtypes "
        "WHERE name = ? AND mode IN ('R', 'D')",
        [name],
    )
    if row is None:
        return None
    extended_id, mode, definition = row
    if mode == "R":
        return named_row(name, definition, extended_id)
    return distinct(name, declare(definition, lambda inner: find_type(con, database, inner)), extended_id)


def _details(info: TableInfo) -> str:
    disabled = info.disabled.names
    info = with_disabled(info, ())
    return json.dumps(
        {
            "uniques": [
                {"name": u.name, "kind": u.kind, "columns": u.columns} for u in info.unique_constraints
            ],
            "checks": [{"name": c.name, "duck": c.duck_sql, "informix": c.informix_sql} for c in info.checks],
            "foreigns": [
                {
                    "name": f.name,
                    "columns": f.columns,
                    "parent": f.parent,
                    "parent_columns": f.parent_columns,
                    "cascade": f.cascade,
                }
                for f in info.foreign_keys
            ],
            "indexes": [{"name": i.name, "unique": i.unique, "parts": i.key_columns} for i in info.indexes],
            "disabled": disabled,
            "checked": info.with_check_option,
            "delimited": info.is_delimited,
            "expanded": info.is_expanded,
            "padded_keys": True,  # release 0.1.0, which can use the directory, needs it
            "storage": asdict(info.storage),
        }
    )


def table_row(
    info: TableInfo, owner: str = "informix", site: str | None = None, flags: int = 0
) -> list[object]:
    """Return the row of a table in the hidden table `tables`, without its date."""
    return [
        info.tabid, info.name, owner, "V" if info.kind == "V" else "T", info.viewtext or None, info.storage.lock, site,
        flags, _details(info),
    ]  # fmt: skip


def column_rows(info: TableInfo) -> list[list[object]]:
    """Return the rows of a table's columns in the hidden table `columns`."""
    return [
        [
            info.tabid, number, c.name, declared_text(c.type), c.type.not_null, c.type.word, c.type.encoded_length,
            c.type.extended_id, c.default[0] if c.default else None, c.default[1] if c.default else None,
            c.serial_start if c.is_serial else None,
        ]
        for number, c in enumerate(info.columns, 1)
    ]  # fmt: skip


def store_table(
    con: SqlConnection,
    info: TableInfo,
    owner: str = "informix",
    *,
    site: str | None = None,
    flags: int = 0,
) -> None:
    """Write the description of a new table or view in the open transaction."""
    db = duck_database(info.database)
    placeholders = "?, ?, ?, ?, current_date, ?, ?, ?, ?, ?"
    con.execute(f"INSERT INTO {db}._ifx.tables VALUES ({placeholders})", table_row(info, owner, site, flags))
    insert_rows(con, f"{db}._ifx.columns", column_rows(info))
    _store_keys(con, info, owner)


def _store_keys(con: SqlConnection, info: TableInfo, owner: str) -> None:
    """Write constraints and indexes.

    The owner is that in their names (owned_names.py), or else that of the table.

    As on a real server every key has an index, also a foreign key. The name of an index that the user did not name
    begins with a blank.
    """
    info = with_disabled(info, ())
    db = duck_database(info.database)
    numbers = {c.name: i for i, c in enumerate(info.columns, 1)}

    def index(name: str, kind: str, columns: Iterable[tuple[str, bool]]) -> str:
        parts = [-numbers[c] if descending else numbers[c] for c, descending in columns]
        row = [
            name,
            info.tabid,
            kind,
            ",".join(map(str, parts)),
            _owner_in(name) or owner,
            *(parts + [0] * INDEX_PARTS)[:INDEX_PARTS],
        ]
        indexes.append(row)
        return name

    indexes: list[list[object]] = []
    constraints: list[list[object]] = []

    def constraint(number: int, name: str, kind: str, *rest: object) -> None:
        named = _owner_in(name) or owner
        constraints.append([info.tabid * 100 + number, name, info.tabid, kind, *rest, named])

    for position, unique in enumerate(info.unique_constraints):
        key_index = index(f" {info.tabid}_{position + 1}", "U", ((c, False) for c in unique.columns))
        constraint(position, unique.name, unique.kind, key_index, None, None, None)
    for position, check in enumerate(info.checks):
        constraint(_FIRST_CHECK + position, check.name, "C", None, None, None, None)
    for position, foreign in enumerate(info.foreign_keys):
        name = f" {info.tabid}_{len(info.unique_constraints) + position + 1}"
        key_index = index(name, "D", ((c, False) for c in foreign.columns))
        rule = "C" if foreign.cascade else "R"
        constraint(
            _FIRST_FOREIGN + position, foreign.name, "R", key_index, *_parent(con, info, foreign), rule
        )
    for declared_index in info.indexes:
        index(declared_index.name, "U" if declared_index.unique else "D", declared_index.key_columns)
    for column in info.columns:
        if column.type.not_null:
            number = not_null_number(info.tabid, numbers[column.name])
            constraints.append(
                [number, f"n{info.tabid}_{number}", info.tabid, "N", None, None, None, None, owner]
            )
    insert_rows(con, f"{db}._ifx.indexes", indexes)
    insert_rows(
        con,
        f"{db}._ifx.constraints (constrid, constrname, tabid, constrtype, idxname, ptabid, pconstrid, delrule, owner)",
        constraints,
    )


def insert_rows(con: SqlConnection, table: str, rows: Sequence[Sequence[object]]) -> None:
    """Insert rows by one statement, none for no rows."""
    if rows:
        places = ", ".join([f"({', '.join('?' * len(rows[0]))})"] * len(rows))
        con.execute(f"INSERT INTO {table} VALUES {places}", [value for row in rows for value in row])


def _owner_in(name: str) -> str:
    """Return the owner in the stored name of an object, "" if it is stored under its name alone."""
    return name.partition(OWNER_MARK)[2]


_FIRST_CHECK, _FIRST_FOREIGN = 30, 60  # within the hundred constraint numbers of a table


def _parent(con: SqlConnection, info: TableInfo, foreign: ForeignKey) -> tuple[int | None, int | None]:
    """Return the number of the table that a foreign key refers to, and the number of the key there."""
    parent = info if foreign.parent == info.name else load_table(con, info.database, foreign.parent)
    if parent is None:
        return None, None
    keys = [
        n for n, u in enumerate(parent.unique_constraints) if set(u.columns) == set(foreign.parent_columns)
    ]
    return parent.tabid, parent.tabid * 100 + keys[0] if keys else None


def forget_table(con: SqlConnection, info: TableInfo) -> None:
    """Remove the description of a table in the open transaction."""
    db = duck_database(info.database)
    for name in ("tables", "columns", "indexes", "constraints"):
        con.execute(f"DELETE FROM {db}._ifx.{name} WHERE tabid = ?", [info.tabid])


def replace_table(con: SqlConnection, old: TableInfo, new: TableInfo) -> None:
    """Replace a description after ALTER, CREATE INDEX or RENAME."""
    forget_table(con, old)
    store_table(con, new, new.owner)


_NUMBERED = {
    # A fragment of a table has a number too
    "table": (
        "tables",
        "greatest(tabid, coalesce(list_max("
        "from_json(details::JSON -> '$.storage.parts', '[\"INTEGER\"]')), 0))",
        FIRST_USER_TABID,
    ),
    "type": ("xtdtypes", "extended_id", FIRST_USER_TYPE),
    "routine": ("procedures", "procid", 100),  # smaller ones belong to the built-in routines of a real server
    "trigger": ("triggers", "trigid", 1),
    "lob": ("lob_chunks", "id", 1),
}
"""The table of the hidden schema that has the objects of a kind, their number in it, and the first number."""


def highest_number(con: SqlConnection, database: str, kind: str) -> int:
    """Return the highest number of a kind of objects, or the one before the first number if there are none."""
    table, number, first = _NUMBERED[kind]
    [(highest,)] = con.execute(f"SELECT max({number}) FROM {duck_database(database)}._ifx.{table}").fetchall()
    return max(first - 1, highest or 0)
