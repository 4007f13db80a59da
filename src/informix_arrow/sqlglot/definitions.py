"""Translation of definitions: tables, indexes, views, synonyms, sequences and privileges.

Storage clauses have no meaning elsewhere. They are left out, and named in a comment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from ..server.parse.classify import ControlStatement, ParsedStatement
from ..server.parse.ddl_nodes import (
    AddColumn,
    AddConstraint,
    AlterTable,
    ChangeStorage,
    ColumnDef,
    ConstraintDef,
    CreateIndex,
    CreateSynonym,
    CreateTable,
    CreateView,
    DefineRole,
    DefineSequence,
    DropColumn,
    DropConstraint,
    DropObject,
    Grant,
    RenameObject,
    StorageOptions,
    TruncateTable,
    UpdateStatistics,
)
from ..server.types.result_types import SERIALS
from ..wire.types import ColumnType, TypeCode
from .expressions import Scope, Source
from .names import identifier
from .queries import Catalogue, Queries, stored
from .targets import Target, is_number, refuse
from .values import Conversions, Value, is_moment, is_text

_QUERY = Callable[[str], exp.Expression]
_TRANSACTIONS = {"begin": "BEGIN", "commit": "COMMIT", "rollback": "ROLLBACK"}
_LOCKS = {"R": "ROW", "P": "PAGE", "T": "TABLE"}


@dataclass
class Definition:
    """SQL text of a definition, and what was left out."""

    sql: str
    left_out: list[str] = field(default_factory=list)


def learn(catalogue: Catalogue, parsed: ParsedStatement) -> Catalogue:
    """Return the tables that are known after a definition."""
    found = dict(catalogue)
    if isinstance(parsed, CreateTable) and not parsed.query:
        found[parsed.name.lower()] = {c.name: c.type for c in parsed.columns}
    elif isinstance(parsed, DropObject) and parsed.kind in ("TABLE", "VIEW", "SYNONYM"):
        found.pop(parsed.name.lower(), None)
    elif isinstance(parsed, RenameObject) and parsed.kind == "TABLE" and parsed.name.lower() in found:
        found[parsed.new.lower()] = found.pop(parsed.name.lower())
    elif isinstance(parsed, RenameObject) and parsed.kind == "COLUMN" and parsed.name.lower() in found:
        columns = found[parsed.name.lower()]
        found[parsed.name.lower()] = {
            (parsed.new if c == parsed.column else c): t for c, t in columns.items()
        }
    elif isinstance(parsed, CreateSynonym) and parsed.database is None and parsed.table.lower() in found:
        found[parsed.name.lower()] = found[parsed.table.lower()]
    elif isinstance(parsed, AlterTable) and parsed.name.lower() in found:
        found[parsed.name.lower()] = _altered(dict(found[parsed.name.lower()]), parsed)
    return found


def _altered(columns: dict[str, ColumnType], alter: AlterTable) -> dict[str, ColumnType]:
    for action in alter.actions:
        if isinstance(action, AddColumn):
            names = list(columns.items())
            at = [n for n, _ in names].index(action.before) if action.before in columns else len(names)
            columns = dict([*names[:at], (action.column.name, action.column.type), *names[at:]])
        elif isinstance(action, DropColumn):
            columns.pop(action.name, None)
        elif not isinstance(action, (AddConstraint, DropConstraint, ChangeStorage)):
            columns[action.column.name] = action.column.type
    return columns


class Definitions:
    """Translates definitions for one target."""

    def __init__(self, target: Target, catalogue: Catalogue, parse_query: _QUERY) -> None:
        self.target = target
        self.catalogue = catalogue
        self.parse_query = parse_query

    def translate(self, parsed: ParsedStatement, text: str) -> Definition:
        """Translate a parsed definition. Raises UnsupportedError, which names what has no equivalent."""
        if isinstance(parsed, CreateTable):
            return self._create_table(parsed, text)
        if isinstance(parsed, CreateIndex):
            return self._create_index(parsed)
        if isinstance(parsed, CreateView):
            return self._create_view(parsed)
        if isinstance(parsed, CreateSynonym):
            if parsed.database is not None:
                refuse(f"the synonym {parsed.name} of a table of another database")
            if parsed.if_not_exists:
                refuse("CREATE SYNONYM IF NOT EXISTS")
            return Definition(
                f"CREATE VIEW {self.name(parsed.name)} AS SELECT * FROM {self.name(parsed.table)}"
            )
        if isinstance(parsed, DefineSequence):
            return self._sequence(parsed)
        if isinstance(parsed, DropObject):
            kind = "VIEW" if parsed.kind == "SYNONYM" else parsed.kind
            if kind in ("SEQUENCE", "INDEX") and self.target.name in ("spark", "bigquery"):
                refuse(f"DROP {kind}")
            exists = "IF EXISTS " if parsed.if_exists else ""
            cascade = (
                " CASCADE"
                if not parsed.restrict and kind in ("TABLE", "VIEW") and self.target.name == "postgres"
                else ""
            )
            return Definition(f"DROP {kind} {exists}{self.name(parsed.name)}{cascade}")
        if isinstance(parsed, AlterTable):
            return self._alter_table(parsed)
        if isinstance(parsed, RenameObject):
            return self._rename(parsed)
        if isinstance(parsed, TruncateTable):
            return Definition(f"TRUNCATE TABLE {self.name(parsed.name)}")
        if isinstance(parsed, Grant):
            return self._grant(parsed)
        if isinstance(parsed, DefineRole):
            if self.target.name not in ("postgres", "snowflake") or parsed.if_needed:
                refuse("roles")
            return Definition(f"{'DROP' if parsed.drop else 'CREATE'} ROLE {self.name(parsed.name)}")
        if isinstance(parsed, UpdateStatistics):
            if self.target.name == "postgres" and not parsed.routine:
                return Definition(
                    f"ANALYZE{f' {self.name(parsed.table)}' if parsed.table else ''}",
                    ["UPDATE STATISTICS became ANALYZE"],
                )
            refuse("UPDATE STATISTICS")
        if (
            isinstance(parsed, ControlStatement)
            and parsed.verb in _TRANSACTIONS
            and self.target.name in ("postgres", "duckdb")
        ):
            return Definition(_TRANSACTIONS[parsed.verb])
        word = " ".join(text.split()[:3]).upper()
        refuse(f"the statement {word}")

    def name(self, name: str) -> str:
        return str(identifier(self.target, str(name)).sql(dialect=self.target.name))

    def names(self, names: list[str]) -> str:
        return ", ".join(self.name(n) for n in names)

    # ---- tables ---------------------------------------------------------------------------------------------
    def _create_table(self, table: CreateTable, text: str) -> Definition:
        target, left_out = self.target, _storage_words(table.storage)
        if "WITH ROWIDS" in text.upper():
            left_out.append("WITH ROWIDS")
        if table.temporary and not target.has_temporary_tables:
            refuse("temporary tables")
        words = "CREATE TEMPORARY TABLE" if table.temporary else "CREATE TABLE"
        exists = " IF NOT EXISTS" if table.if_not_exists else ""
        if table.query:
            rows = Queries(target, self.catalogue).statement(self.parse_query(table.query))
            return Definition(
                f"{words}{exists} {self.name(table.name)} AS {rows.sql(dialect=target.name)}", left_out
            )
        columns = {c.name: c.type for c in table.columns}
        parts = [self.column(c, table.name) for c in table.columns]
        before = "".join(
            f"CREATE SEQUENCE {self.name(_sequence_name(table.name, c))} START WITH {c.serial_start}; "
            for c in table.columns
            if target.name == "duckdb" and c.type.code in SERIALS
        )
        for constraint in table.constraints:
            written = self.constraint(constraint, columns, table.name, left_out)
            if written:
                parts.append(written)
        return Definition(f"{before}{words}{exists} {self.name(table.name)} ({', '.join(parts)})", left_out)

    def column(self, column: ColumnDef, table: str) -> str:
        t = column.type
        text = f"{self.name(column.name)} {self.type_sql(t)}"
        if t.code in SERIALS:
            text += self._identity(column, table)
        if column.default is not None:
            text += self._default(column)
        if t.not_null:
            text += " NOT NULL"
        return text

    def type_sql(self, t: ColumnType) -> str:
        kind = self.target.type_name(t)
        cast = self.target.cast(exp.Null(), kind)
        return str(cast.args["to"].sql(dialect=self.target.name))

    def _identity(self, column: ColumnDef, table: str) -> str:
        name, start = self.target.name, column.serial_start
        if name == "postgres":
            return " GENERATED BY DEFAULT AS IDENTITY" + (f" (START WITH {start})" if start != 1 else "")
        if name == "duckdb":
            return f" DEFAULT NEXTVAL('{_sequence_name(table, column)}')"
        if name == "snowflake":
            return f" IDENTITY({start}, 1)"
        refuse(f"the SERIAL {column.name}, as {name} has no numbers of its own for a column")

    def _default(self, column: ColumnDef) -> str:
        assert column.default is not None
        letter, text = column.default
        t, target = column.type, self.target
        if target.name == "spark":
            refuse("DEFAULT")
        if letter == "N":
            return " DEFAULT NULL"
        if letter == "T" and is_moment(t):
            return f" DEFAULT {target.today().sql(dialect=target.name)}"
        if letter == "C" and is_moment(t):
            now = Value(target.now(), ColumnType.datetime("YEAR TO FRACTION(5)"))
            return f" DEFAULT {Conversions(target).extended(now, t).node.sql(dialect=target.name)}"
        if letter == "U" and is_text(t) and target.name in ("postgres", "snowflake"):
            refuse("DEFAULT USER, as the names of users differ")
        if letter != "L":
            refuse(f"the default of {column.name}")
        value = Conversions(target).literal_as(text, t)
        node = Conversions(target).number_as(value, t) if is_number(t) else value.node
        return f" DEFAULT {node.sql(dialect=target.name)}"

    def constraint(
        self, c: ConstraintDef, columns: dict[str, ColumnType], table: str, left_out: list[str]
    ) -> str:
        target = self.target
        named = f"CONSTRAINT {self.name(c.name)} " if c.name else ""
        what = f"{named}{ {'P': 'PRIMARY KEY', 'U': 'UNIQUE', 'R': 'FOREIGN KEY', 'C': 'CHECK'}[c.kind] }"
        if c.disabled:
            left_out.append(f"a disabled constraint {c.name}".strip())
            return ""
        if target.name in ("spark", "bigquery", "snowflake"):
            left_out.append(f"{what}, which {target.name} does not enforce")
            return ""
        if (
            any(
                is_text(columns.get(n))
                and (columns[n].content_width and columns[n].code not in (TypeCode.CHAR, TypeCode.NCHAR))
                for n in c.columns
                if n in columns
            )
            and c.kind != "C"
        ):
            left_out.append(f"the trailing blanks of VARCHARs count in {c.name or what}")
        if c.kind == "P":
            return f"{named}PRIMARY KEY ({self.names(c.columns)})"
        if c.kind == "U":
            nulls = [n for n in c.columns if n in columns and not columns[n].not_null]
            if nulls and target.name != "postgres":
                refuse(
                    f"UNIQUE with columns that may be NULL ({', '.join(nulls)}), of which Informix allows one"
                )
            distinct = " NULLS NOT DISTINCT" if nulls else ""
            return f"{named}UNIQUE{distinct} ({self.names(c.columns)})"
        if c.kind == "R":
            parents = f" ({self.names(c.parent_columns)})" if c.parent_columns else ""
            if c.cascade and target.name == "duckdb":
                refuse("ON DELETE CASCADE")
            cascade = " ON DELETE CASCADE" if c.cascade else ""
            return f"{named}FOREIGN KEY ({self.names(c.columns)}) REFERENCES {self.name(c.parent)}{parents}{cascade}"
        return f"{named}CHECK ({self._condition(c.condition, columns, table)})"

    def _condition(self, text: str, columns: dict[str, ColumnType], table: str) -> str:
        """Translate the condition of a CHECK."""
        tree = self.parse_query(f"SELECT 1 FROM {table} WHERE {text}")
        queries = Queries(self.target, {**self.catalogue, table.lower(): columns})
        scope = Scope([Source(table.lower(), {n: stored(t) for n, t in columns.items()})])
        where = tree.args["where"]
        return str(queries.expressions.condition(where.this, scope).sql(dialect=self.target.name))

    def _alter_table(self, alter: AlterTable) -> Definition:
        target = self.target
        if target.name not in ("postgres", "duckdb"):
            refuse("ALTER TABLE")
        left_out: list[str] = []
        columns = dict(self.catalogue.get(alter.name.lower(), {}))
        parts = []
        for action in alter.actions:
            if isinstance(action, AddColumn):
                if action.before:
                    refuse("ADD with BEFORE, as columns are added at the end")
                if action.column.type.code in SERIALS:
                    refuse("ADD of a SERIAL")
                columns[action.column.name] = action.column.type
                parts.append(f"ADD COLUMN {self.column(action.column, alter.name)}")
                for constraint in action.constraints:
                    written = self.constraint(constraint, columns, alter.name, left_out)
                    parts += [f"ADD {written}"] if written else []
            elif isinstance(action, DropColumn):
                parts.append(f"DROP COLUMN {self.name(action.name)}")
            elif isinstance(action, AddConstraint):
                if target.name == "duckdb":
                    refuse("ADD CONSTRAINT")
                if action.constraint.kind in "UC" and not columns:
                    refuse(f"ADD CONSTRAINT to {alter.name}, whose columns are not known")
                written = self.constraint(action.constraint, columns, alter.name, left_out)
                parts += [f"ADD {written}"] if written else []
            elif isinstance(action, DropConstraint):
                if target.name == "duckdb":
                    refuse("DROP CONSTRAINT")
                parts.append(f"DROP CONSTRAINT {self.name(action.name)}")
            elif isinstance(action, ChangeStorage):
                left_out.append("a change of the storage")
            else:
                refuse("MODIFY of a column")
        if not parts:
            refuse("ALTER TABLE that only changes the storage")
        if target.name == "duckdb" and len(parts) > 1:
            refuse("ALTER TABLE with several changes")
        return Definition(f"ALTER TABLE {self.name(alter.name)} {', '.join(parts)}", left_out)

    # ---- others ---------------------------------------------------------------------------------------------
    def _create_index(self, index: CreateIndex) -> Definition:
        if self.target.name not in ("postgres", "duckdb"):
            refuse("CREATE INDEX")
        if index.functions:
            refuse("an index of a function")
        if index.disabled:
            refuse("a disabled index")
        columns = self.catalogue.get(index.table.lower(), {})
        nulls = ""
        if index.unique:
            nullable = [c for c, _ in index.key_columns if c not in columns or not columns[c].not_null]
            if nullable and self.target.name != "postgres":
                refuse("a UNIQUE index with columns that may be NULL, of which Informix allows one")
            nulls = " NULLS NOT DISTINCT" if nullable else ""
        exists = " IF NOT EXISTS" if index.if_not_exists else ""
        keys = ", ".join(self.name(c) + (" DESC" if down else "") for c, down in index.key_columns)
        unique = "UNIQUE " if index.unique else ""
        return Definition(
            f"CREATE {unique}INDEX{exists} {self.name(index.name)} ON {self.name(index.table)} ({keys}){nulls}"
        )

    def _create_view(self, view: CreateView) -> Definition:
        if view.checked and self.target.name != "postgres":
            refuse("WITH CHECK OPTION")
        if view.if_not_exists and self.target.name == "postgres":
            refuse("CREATE VIEW IF NOT EXISTS")
        queries = Queries(self.target, self.catalogue)
        rows = queries.statement(self.parse_query(view.query))
        columns = f" ({self.names(view.columns)})" if view.columns else ""
        exists = " IF NOT EXISTS" if view.if_not_exists else ""
        check = " WITH CHECK OPTION" if view.checked else ""
        return Definition(
            f"CREATE VIEW{exists} {self.name(view.name)}{columns} AS {rows.sql(dialect=self.target.name)}{check}"
        )

    def _sequence(self, s: DefineSequence) -> Definition:
        if self.target.name not in ("postgres", "duckdb") or not s.new:
            refuse(f"{'CREATE' if s.new else 'ALTER'} SEQUENCE")
        parts = [f"CREATE SEQUENCE{' IF NOT EXISTS' if s.if_not_exists else ''} {self.name(s.name)}"]
        if s.increment is not None:
            parts.append(f"INCREMENT BY {s.increment}")
        if s.low is not None:
            parts.append(f"MINVALUE {s.low}")
        if s.high is not None:
            parts.append(f"MAXVALUE {s.high}")
        if s.start is not None:
            parts.append(f"START WITH {s.start}")
        if s.cycle:
            parts.append("CYCLE")
        left_out = ["CACHE"] if s.cache else []
        return Definition(" ".join(parts), left_out)

    def _rename(self, r: RenameObject) -> Definition:
        if self.target.name not in ("postgres", "duckdb"):
            refuse("RENAME")
        if r.kind == "TABLE":
            return Definition(f"ALTER TABLE {self.name(r.name)} RENAME TO {self.name(r.new)}")
        if r.kind == "COLUMN":
            return Definition(
                f"ALTER TABLE {self.name(r.name)} RENAME COLUMN {self.name(r.column)} TO {self.name(r.new)}"
            )
        if r.kind in ("INDEX", "SEQUENCE") and self.target.name == "postgres":
            return Definition(f"ALTER {r.kind} {self.name(r.name)} RENAME TO {self.name(r.new)}")
        refuse(f"RENAME {r.kind}")

    def _grant(self, g: Grant) -> Definition:
        if self.target.name != "postgres":
            refuse("GRANT and REVOKE")
        if g.kind != "table" or g.grantor:
            refuse(f"{'REVOKE' if g.revoke else 'GRANT'} of privileges on what is no table")
        words, left_out = [], []
        for word, columns in g.privileges:
            if word in ("INDEX", "ALTER"):
                left_out.append(f"the privilege {word}")
                continue
            if word == "UNDER":
                refuse("the privilege UNDER")
            words.append(word + (f" ({self.names(list(columns))})" if columns else ""))
        if not words:
            refuse(f"the privilege {g.privileges[0][0]}")
        people = ", ".join("PUBLIC" if p.lower() == "public" else self.name(p) for p in g.grantees)
        if g.revoke:
            return Definition(f"REVOKE {', '.join(words)} ON {self.name(g.name)} FROM {people}", left_out)
        option = " WITH GRANT OPTION" if g.option else ""
        return Definition(f"GRANT {', '.join(words)} ON {self.name(g.name)} TO {people}{option}", left_out)


def _sequence_name(table: str, column: ColumnDef) -> str:
    return f"{table}_{column.name}_seq"


def _storage_words(storage: StorageOptions) -> list[str]:
    """Return what a statement says about the storage."""
    plain, found = StorageOptions(), []
    if storage.fragments:
        spaces = ", ".join(dict.fromkeys(space for space, _ in storage.fragments))
        kind = {"R": "FRAGMENT BY ROUND ROBIN", "E": "FRAGMENT BY EXPRESSION"}.get(storage.strategy, "")
        found.append(f"{kind} IN {spaces}".strip())
    if storage.extent != plain.extent:
        found.append(f"EXTENT SIZE {storage.extent}")
    if storage.next != plain.next:
        found.append(f"NEXT SIZE {storage.next}")
    if storage.lock != plain.lock:
        found.append(f"LOCK MODE {_LOCKS[storage.lock]}")
    return found
