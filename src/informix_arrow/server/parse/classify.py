"""Classification of statements by their first words, and parsing of all statements but queries and data changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ...wire.describe import StatementType as St
from ..errors import SqlError, not_supported, syntax_error
from .ddl_nodes import (
    AlterTable,
    ChangeStorage,
    CreateIndex,
    CreateSynonym,
    CreateTable,
    CreateType,
    CreateView,
    DefineRole,
    DefineSequence,
    DropObject,
    DropType,
    Grant,
    RenameObject,
    SetObjects,
    TruncateTable,
    UpdateStatistics,
)
from .ddl_parser import DdlParser
from .isolation import parse_retain_update_locks, parse_set_isolation, parse_set_transaction
from .privileges import parse_grant, parse_user
from .spl.nodes import DropRoutine, ExecuteRoutine, Routine
from .spl.parser import parse_call, parse_drop_routine, parse_routine
from .spl.routine_checks import check_routine
from .spl.trigger_nodes import CreateTrigger, DropTrigger, SetTriggers
from .spl.triggers import parse_trigger
from .statistics import parse_statistics


@dataclass(slots=True)
class ControlStatement:
    """A statement about the session.

    `verb` is begin, commit, rollback, savepoint, release, rollback to, database, create database, drop database, rename
    database, close database, isolation, transaction, retain update locks, lock mode, lock table, unlock table,
    constraints, allow newline, role ("" for none, DEFAULT), or accept (no effect).
    """

    verb: str
    name: str = ""
    options: tuple[str, ...] = ()


DdlStatement = (
    CreateTable
    | DropObject
    | CreateIndex
    | CreateView
    | CreateSynonym
    | DefineSequence
    | AlterTable
    | RenameObject
    | TruncateTable
    | CreateType
    | DropType
    | Grant
    | DefineRole
    | CreateTrigger
    | DropTrigger
    | SetTriggers
    | SetObjects
    | UpdateStatistics
)

ParsedStatement = DdlStatement | Routine | DropRoutine | ExecuteRoutine | ControlStatement | None

_UNTYPED_STATEMENT = 0
"""Statement type of statements without one in SERVER-BEHAVIOUR section 3. Clients only need to see that it is no
SELECT."""


def reject_other_database(database: str) -> None:
    """Reject any database name, where the current database is unknown."""
    raise not_supported(f"DDL in the database {database}, which is not the open one")


_QUERIES = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "("})
_QUERY_START = re.compile(
    r"\s*(?:(?:SELECT|INSERT|DELETE|MERGE|WITH)\b|UPDATE\s+(?!STATISTICS\b)\w)", re.IGNORECASE
)
"""Start of a statement for the dialect. The match needs no tokens: the dialect tokenizes it and reports errors."""


def classify(
    sql: str, delimident: bool, require_here: Callable[[str], None] = reject_other_database
) -> tuple[int, ParsedStatement]:
    """Return the statement type and the parsed statement; (0, None) for queries and data changes, which the dialect
    parses.

    `require_here` is called for each database named before an object, and raises for any but the current one. Raises
    -201 with the offset for an unknown statement, -202 for a NUL character, which no value may contain.
    """
    if "\0" in sql:
        raise SqlError(-202, offset=sql.index("\0") + 1)
    if _QUERY_START.match(sql):
        return 0, None
    p = DdlParser(sql, delimident)
    if p.at_end:
        raise syntax_error(1)
    word = p.word
    if word in _QUERIES and not (word == "UPDATE" and p.peek() == "STATISTICS"):
        return 0, None
    handler = _STATEMENTS.get(word)
    if handler is None:
        raise syntax_error(p.token.start + 1)
    p.index += 1
    found = handler(p)
    for database in p.databases:
        require_here(database)
    return found


def _update(p: DdlParser) -> tuple[int, ParsedStatement]:
    p.expect("STATISTICS")
    return St.UPDATE_STATISTICS, parse_statistics(p)


def _create(p: DdlParser) -> tuple[int, ParsedStatement]:
    if p.accept("DATABASE"):
        return _create_database(p)
    if p.word in ("FUNCTION", "PROCEDURE", "DBA") or (p.word == "OR" and p.peek(2) != "VIEW"):
        return St.CREATE_PROCEDURE, check_routine(parse_routine(p.sql, p.delimident), p.delimident)
    if p.word == "TRIGGER":
        return _UNTYPED_STATEMENT, parse_trigger(p.sql, p.delimident)
    temporary = p.accept("TEMP") or p.accept("TEMPORARY")
    raw = not temporary and (p.accept("RAW") or p.accept("STANDARD"))
    if p.accept("TABLE"):
        return (St.CREATE_TEMP_TABLE if temporary else St.CREATE_TABLE), p.create_table(temporary)
    if temporary or raw:
        raise p.syntax_error()
    unique = p.accept("UNIQUE") or p.accept("DISTINCT")
    p.accept("CLUSTER")
    if p.accept("INDEX"):
        return St.CREATE_INDEX, p.create_index(unique)
    if not unique and p.accept("VIEW"):
        return St.CREATE_VIEW, p.create_view()
    for kind in ("ROW", "DISTINCT"):
        if (kind == "DISTINCT" and unique and p.accept("TYPE")) or p.accept(kind, "TYPE"):
            return _UNTYPED_STATEMENT, p.create_type(kind)
    if unique:
        raise p.syntax_error()
    if p.accept("SEQUENCE"):
        return _UNTYPED_STATEMENT, p.sequence(new=True)
    private = p.accept("PRIVATE")
    if (private or p.accept("PUBLIC") or p.word == "SYNONYM") and p.accept("SYNONYM"):
        return St.CREATE_SYNONYM, p.create_synonym(private)
    if p.accept("ROLE"):
        exists = p.accept("IF", "NOT", "EXISTS")
        name = parse_user(p)
        p.expect_end()
        return _UNTYPED_STATEMENT, DefineRole(name, False, exists)
    if p.word in _UNSUPPORTED_OBJECTS:
        raise not_supported(f"CREATE {p.word}", -201, p.token.start + 1)
    raise p.syntax_error()


_UNSUPPORTED_OBJECTS = frozenset({"OPAQUE", "SCHEMA", "EXTERNAL"})


def _create_database(p: DdlParser) -> tuple[int, ParsedStatement]:
    exists = p.accept("IF", "NOT", "EXISTS")
    name = p.identifier()
    options: list[str] = ["if not exists"] if exists else []
    if p.accept("IN"):
        p.identifier()
    if p.accept("WITH"):
        buffered = p.accept("BUFFERED")
        p.expect("LOG")
        options.append("buffered" if buffered else "log")
        if p.accept("MODE"):
            p.expect("ANSI")
            options.append("ansi")
    p.accept("NLSCASE", "SENSITIVE")
    p.expect_end()
    return St.CREATE_DATABASE, ControlStatement("create database", name, tuple(options))


def _drop(p: DdlParser) -> tuple[int, ParsedStatement]:
    kinds = {
        "TABLE": St.DROP_TABLE, "VIEW": St.DROP_VIEW, "INDEX": St.DROP_INDEX, "DATABASE": St.DROP_DATABASE,
        "SYNONYM": St.DROP_SYNONYM, "SEQUENCE": _UNTYPED_STATEMENT,
    }  # fmt: skip
    kind = p.word
    if p.accept("ROW", "TYPE") or p.accept("TYPE"):
        exists = p.accept("IF", "EXISTS")
        name: str = p.object_name()
        p.accept("RESTRICT")
        p.expect_end()
        return _UNTYPED_STATEMENT, DropType(kind, name, exists)
    if kind in ("FUNCTION", "PROCEDURE", "ROUTINE", "SPECIFIC"):
        return St.DROP_PROCEDURE, parse_drop_routine(p)
    if kind == "ROLE":
        p.index += 1
        exists = p.accept("IF", "EXISTS")
        name = parse_user(p)
        p.expect_end()
        return _UNTYPED_STATEMENT, DefineRole(name, True, exists)
    if p.accept("TRIGGER"):
        exists = p.accept("IF", "EXISTS")
        name = p.object_name()
        p.expect_end()
        return _UNTYPED_STATEMENT, DropTrigger(name, exists)
    if kind not in kinds:
        raise p.syntax_error()
    p.index += 1
    exists = p.accept("IF", "EXISTS")
    if kind == "DATABASE":
        name = p.identifier()
        p.expect_end()
        return kinds[kind], ControlStatement("drop database", name, ("if exists",) if exists else ())
    name = p.index_name() if kind == "INDEX" else p.table_name()
    restrict = not p.accept("CASCADE") and p.accept("RESTRICT")
    p.accept("ONLINE")
    p.expect_end()
    return kinds[kind], DropObject(kind, name, exists, restrict)


def _begin(p: DdlParser) -> tuple[int, ParsedStatement]:
    if p.accept("WORK"):
        p.accept("WITHOUT", "REPLICATION")
    p.expect_end()
    return St.BEGIN_WORK, ControlStatement("begin")


def _commit(p: DdlParser) -> tuple[int, ParsedStatement]:
    p.accept("WORK")
    p.expect_end()
    return St.COMMIT_WORK, ControlStatement("commit")


def _rollback(p: DdlParser) -> tuple[int, ParsedStatement]:
    p.accept("WORK")
    if p.accept("TO", "SAVEPOINT") or p.accept("TO"):
        name = "" if p.at_end else p.identifier()
        p.expect_end()
        return St.ROLLBACK_WORK, ControlStatement("rollback to", name)
    p.expect_end()
    return St.ROLLBACK_WORK, ControlStatement("rollback")


def _savepoint(p: DdlParser) -> tuple[int, ParsedStatement]:
    name = p.identifier()
    unique = p.accept("UNIQUE")
    p.expect_end()
    return St.SAVEPOINT, ControlStatement("savepoint", name, ("unique",) if unique else ())


def _release(p: DdlParser) -> tuple[int, ParsedStatement]:
    p.expect("SAVEPOINT")
    name = p.identifier()
    p.expect_end()
    return St.SAVEPOINT, ControlStatement("release", name)


_SET = {
    "ISOLATION": St.SET_ISOLATION,
    "TRANSACTION": St.SET_ISOLATION,
    "LOCK": St.SET_LOCK_MODE,
    "EXPLAIN": St.SET_EXPLAIN,
    "LOG": St.SET_LOG,
    "BUFFERED": St.SET_LOG,
    "CONSTRAINTS": St.SET_CONSTRAINTS,
    "PDQPRIORITY": St.SET_EXPLAIN,
    "OPTIMIZATION": St.SET_EXPLAIN,
    "ENVIRONMENT": St.SET_EXPLAIN,
    "DEBUG": St.SET_EXPLAIN,
    "STATEMENT": St.SET_EXPLAIN,
    "ROLE": St.SET_EXPLAIN,
    "INDEXES": St.SET_CONSTRAINTS,
    "COLLATION": St.SET_EXPLAIN,
    "DATASKIP": St.SET_EXPLAIN,
    "NO": St.SET_EXPLAIN,
    "TRIGGERS": St.SET_CONSTRAINTS,
    "AUTOFREE": St.SET_EXPLAIN,
    "DEFERRED_PREPARE": St.SET_EXPLAIN,
    "USER": St.SET_EXPLAIN,
}
_IGNORED_SETTINGS = frozenset({"LOG", "AUTOFREE", "DEFERRED_PREPARE"})


def _set(p: DdlParser) -> tuple[int, ParsedStatement]:
    word = p.word
    if word not in _SET:
        raise p.syntax_error()
    if word == "LOCK":
        p.index += 1
        p.expect("MODE")
        p.expect("TO")
        if p.accept("NOT"):
            p.expect("WAIT")
            seconds = "0"
        else:
            p.expect("WAIT")
            seconds = str(p.integer()) if not p.at_end else "-1"
        p.expect_end()
        return _SET[word], ControlStatement("lock mode", seconds)
    if word == "ROLE":
        p.index += 1
        name = "" if p.word in ("NULL", "NONE") else parse_user(p) if p.word != "DEFAULT" else "DEFAULT"
        p.index += name in ("", "DEFAULT")
        p.expect_end()
        return _SET[word], ControlStatement("role", name)
    if word == "ENVIRONMENT" and p.peek() == "RETAINUPDATELOCKS":
        p.index += 2
        return _SET[word], ControlStatement("retain update locks", "", parse_retain_update_locks(p))
    if word in ("ISOLATION", "TRANSACTION"):
        p.index += 1
        level, options = parse_set_isolation(p) if word == "ISOLATION" else parse_set_transaction(p)
        return _SET[word], ControlStatement(word.lower(), level, options)
    triggers = _set_triggers(p)
    if triggers is not None:
        return _SET[word], triggers
    if word in ("CONSTRAINTS", "INDEXES"):
        return _SET[word], _set_constraints(p)
    if p.index + 1 >= len(p.tokens) and word not in _IGNORED_SETTINGS:
        raise syntax_error(len(p.sql))
    return _SET[word], ControlStatement("accept")


def _set_constraints(p: DdlParser) -> ControlStatement | SetObjects:
    """Parse SET CONSTRAINTS ALL, SET CONSTRAINTS or INDEXES with names, or a list of both FOR a table."""
    kinds = {p.word}
    p.index += 1
    while p.accept(","):
        kinds.add(p.word)
        p.index += 1
    table = ""
    names: list[str] = []
    constraints = kinds == {"CONSTRAINTS"}
    if p.accept("FOR"):
        table = p.table_name()
    elif not (constraints and p.word == "ALL" and p.peek() in ("DEFERRED", "IMMEDIATE") and p.accept("ALL")):
        read = p.constraint_name if constraints else p.index_name
        names.append(read())
        while p.accept(","):
            names.append(read())
    mode = p.word
    if mode in ("DEFERRED", "IMMEDIATE") and constraints and not table:
        p.index += 1
        p.expect_end()
        return ControlStatement("constraints", mode.lower(), tuple(names))
    if not kinds <= _KINDS:
        raise p.syntax_error()
    enabled = _object_mode(p)
    p.expect_end()
    return SetObjects(frozenset(kinds), enabled, tuple(names), table)


def _object_mode(p: DdlParser) -> bool:
    """Parse a mode and NOVALIDATE. Return whether the objects are in effect."""
    enabled = p.object_mode()
    if enabled:
        p.accept("NOVALIDATE")
    return enabled


_KINDS = frozenset({"CONSTRAINTS", "INDEXES", "TRIGGERS"})


def _set_triggers(p: DdlParser) -> SetTriggers | SetObjects | None:
    """Parse SET TRIGGERS, alone or in a list of kinds FOR a table. Return None if TRIGGERS is not named."""
    start, kinds = p.index, {p.word}
    p.index += 1
    while kinds <= _KINDS and p.accept(","):
        kinds.add(p.word)
        p.index += 1
    if "TRIGGERS" not in kinds:
        p.index = start
        return None
    names: list[str] = []
    table = ""
    if p.accept("FOR"):
        table = p.table_name()
    elif kinds == {"TRIGGERS"}:
        names.append(p.object_name())
        while p.accept(","):
            names.append(p.object_name())
    else:
        raise p.syntax_error()
    if p.word == "FILTERING":  # of constraints and unique indexes only
        raise p.syntax_error()
    enabled = _object_mode(p)
    p.expect_end()
    if len(kinds) > 1:
        return SetObjects(frozenset(kinds), enabled, tuple(names), table)
    return SetTriggers(enabled, tuple(names), table)


def _database(p: DdlParser) -> tuple[int, ParsedStatement]:
    name = p.identifier()
    p.accept("EXCLUSIVE") or p.accept("SHARE")
    p.expect_end()
    return St.DATABASE, ControlStatement("database", name)


def _close(p: DdlParser) -> tuple[int, ParsedStatement]:
    p.expect("DATABASE")
    p.expect_end()
    return St.CLOSE_DATABASE, ControlStatement("close database")


def _alter(p: DdlParser) -> tuple[int, ParsedStatement]:
    if p.accept("TABLE"):
        return St.ALTER_TABLE, p.alter_table()
    if p.accept("SEQUENCE"):
        return _UNTYPED_STATEMENT, p.sequence(new=False)
    if p.accept("INDEX"):
        p.object_name()
        p.expect("TO")
        p.accept("NOT")
        p.expect("CLUSTER")
        p.expect_end()
        return St.ALTER_INDEX, ControlStatement("accept")
    if p.accept("FRAGMENT", "ON"):
        return _alter_fragment(p)
    raise not_supported(f"ALTER {p.word}", -201, p.token.start + 1)


def _alter_fragment(p: DdlParser) -> tuple[int, ParsedStatement]:
    """Parse ALTER FRAGMENT ON TABLE or INDEX after these words. Storage is only kept for the catalogue."""
    is_index = p.accept("INDEX")
    if not is_index:
        p.expect("TABLE")
    name = p.index_name() if is_index else p.table_name()
    if not p.accept("INIT"):
        raise not_supported(f"ALTER FRAGMENT .. {p.word}", -201, p.token.start + 1)
    p.accept("WITH", "ROWIDS")
    storage = p.storage_clause()
    p.expect_end()
    if is_index:
        return _UNTYPED_STATEMENT, SetObjects(frozenset({"INDEXES"}), True, (name,))
    fields = {"strategy": storage.strategy, "fragments": storage.fragments, "parts": []}
    return _UNTYPED_STATEMENT, AlterTable(name, [ChangeStorage(fields)])


def _rename(p: DdlParser) -> tuple[int, ParsedStatement]:
    if p.accept("DATABASE"):
        name = p.identifier()
        if p.accept("."):  # the owner came first
            name = p.identifier()
        p.expect("TO")
        new = p.identifier()
        p.expect_end()
        return _UNTYPED_STATEMENT, ControlStatement("rename database", name, (new,))
    if p.accept("COLUMN"):
        p.skip_database()
        parts = p.qualified_column()
        if len(parts) < 2:
            raise p.syntax_error()
        table, column = parts
        p.expect("TO")
        new = p.identifier()
        p.expect_end()
        return St.RENAME_COLUMN, RenameObject("COLUMN", table, new, column)
    for kind, read, statement_type in (
        ("TABLE", p.table_name, St.RENAME_TABLE),
        ("INDEX", p.index_name, _UNTYPED_STATEMENT),
        ("SEQUENCE", p.table_name, _UNTYPED_STATEMENT),
        ("CONSTRAINT", p.constraint_name, _UNTYPED_STATEMENT),
    ):
        if p.accept(kind):
            name = read()
            p.expect("TO")
            new = p.object_name()
            p.expect_end()
            return statement_type, RenameObject(kind, name, new)
    raise not_supported(f"RENAME {p.word}", -201, p.token.start + 1)


def _truncate(p: DdlParser) -> tuple[int, ParsedStatement]:
    p.accept("TABLE")
    name = p.table_name()
    for word in ("DROP", "REUSE"):
        if p.accept(word):
            p.expect("STORAGE")
    p.accept("KEEP", "STATISTICS")
    p.expect_end()
    return St.DELETE_ALL, TruncateTable(name)


def _lock(p: DdlParser) -> tuple[int, ParsedStatement]:
    p.expect("TABLE")
    name = p.table_name()
    p.expect("IN")
    mode = p.word.lower()
    if not (p.accept("SHARE") or p.accept("EXCLUSIVE")):
        raise p.syntax_error()
    p.expect("MODE")
    p.expect_end()
    return St.LOCK_TABLE, ControlStatement("lock table", name, (mode,))


def _unlock(p: DdlParser) -> tuple[int, ParsedStatement]:
    p.expect("TABLE")
    name = p.table_name()
    p.expect_end()
    return St.UNLOCK_TABLE, ControlStatement("unlock table", name)


def _grant(p: DdlParser, *, revoke: bool) -> tuple[int, ParsedStatement]:
    return St.REVOKE if revoke else St.GRANT, parse_grant(p, revoke=revoke) or ControlStatement("accept")


def _execute(p: DdlParser) -> tuple[int, ParsedStatement]:
    if not (p.accept("FUNCTION") or p.accept("PROCEDURE") or p.accept("ROUTINE")):
        raise p.syntax_error()
    return _call(p)


def _call(p: DdlParser) -> tuple[int, ParsedStatement]:
    call = parse_call(p)
    if call.name == "ifx_allow_newline":
        return St.EXECUTE_PROCEDURE, _allow_newline(call)
    return St.EXECUTE_PROCEDURE, call


def _allow_newline(call: ExecuteRoutine) -> ControlStatement:
    """Parse IFX_ALLOW_NEWLINE('t' or 'f'), which allows line breaks in the session's quoted strings."""
    argument = call.arguments.strip()
    if argument.lower() not in ("'t'", "'f'", '"t"', '"f"'):
        raise SqlError(-664, 0, 0, call.name)
    return ControlStatement("allow newline", argument[1].lower())


_STATEMENTS: dict[str, Callable[[DdlParser], tuple[int, ParsedStatement]]] = {
    "UPDATE": _update,
    "CREATE": _create,
    "DROP": _drop,
    "BEGIN": _begin,
    "COMMIT": _commit,
    "ROLLBACK": _rollback,
    "SAVEPOINT": _savepoint,
    "RELEASE": _release,
    "SET": _set,
    "DATABASE": _database,
    "CLOSE": _close,
    "ALTER": _alter,
    "RENAME": _rename,
    "TRUNCATE": _truncate,
    "LOCK": _lock,
    "UNLOCK": _unlock,
    "GRANT": partial(_grant, revoke=False),
    "REVOKE": partial(_grant, revoke=True),
    "EXECUTE": _execute,
    "CALL": _call,
}
