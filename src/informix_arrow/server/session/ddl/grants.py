"""GRANT and REVOKE, CREATE ROLE and DROP ROLE."""

from __future__ import annotations

from collections.abc import Iterable

from ...catalog import privileges
from ...catalog.catalog import FIRST_USER_TABID, TableInfo
from ...catalog.privileges import CONNECT, DBA, LEVELS, PUBLIC, RESOURCE, ROLE
from ...errors import SqlError, no_table, not_supported
from ...parse.ddl_nodes import DefineRole, Grant
from .ddl_context import DdlContext

_NOT_GRANTABLE, _NOT_REVOKED, _DEPENDENT = -302, -580, -887
_TEMPORARY, _NAME_TAKEN, _NO_ROUTINE, _NO_ROLE = -323, -310, -674, -19805
_LETTERS = {
    "SELECT": "s", "UPDATE": "u", "INSERT": "i", "DELETE": "d", "INDEX": "x", "ALTER": "a", "REFERENCES": "r",
    "UNDER": "n",
}  # fmt: skip
_VIEW_PRIVILEGES = "suid"


def run(context: DdlContext, statement: Grant | DefineRole) -> int:
    """Run one statement. It is atomic."""
    if isinstance(statement, DefineRole):
        _role(context, statement)
    elif statement.kind == "database":
        _database(context, statement)
    elif statement.kind == "role":
        _roles(context, statement)
    elif statement.kind == "routine":
        _routine(context, statement)
    else:
        _table(context, statement)
    context.schema.mark_changed()
    return 0


def _grantor(context: DdlContext, statement: Grant) -> str:
    """Return the user who grants or has granted: the session's user, or the one whom a DBA names with AS."""
    if statement.grantor and statement.grantor != context.environment.user:
        context.privileges.require_level(DBA)
        return statement.grantor
    return context.environment.user


# ---- roles ----------------------------------------------------------------------------------------
def _role(context: DdlContext, statement: DefineRole) -> None:
    context.privileges.require_level(DBA)
    con, database = context.transaction.recorder, context.current_database.require()
    kind = privileges.user_type(con, database, statement.name)
    if not statement.drop:
        if kind == ROLE and statement.if_needed:
            return
        if kind or statement.name == PUBLIC:
            raise SqlError(_NAME_TAKEN, 0, 0, statement.name)
        privileges.set_user(con, database, statement.name, ROLE)
    elif kind == ROLE:
        privileges.forget_role(con, database, statement.name)
    elif not statement.if_needed:
        raise SqlError(_NO_ROLE, 0, 0, statement.name)


def _roles(context: DdlContext, statement: Grant) -> None:
    con, database, user = (
        context.transaction.recorder,
        context.current_database.require(),
        context.environment.user,
    )
    roles = [name for name, _ in statement.privileges]
    own_roles = privileges.roles_of(con, database, [user])
    for role in roles:
        if privileges.user_type(con, database, role) != ROLE:
            raise SqlError(_NO_ROLE, 0, 0, role)
        if not own_roles.get(role) and not context.privileges.has_level(DBA):
            raise SqlError(_NOT_GRANTABLE, 0, 0, role)
    if statement.default:
        context.privileges.require_level(DBA)
        for grantee in statement.grantees:
            privileges.set_default_role(con, database, grantee, "" if statement.revoke else roles[0])
            if not statement.revoke:
                privileges.grant_role(con, database, roles[0], grantee, option=False)
        return
    for role in roles:
        for grantee in statement.grantees:
            if statement.revoke:
                if not privileges.revoke_role(con, database, role, grantee):
                    raise SqlError(_NOT_REVOKED, 0, 0, role)
                continue
            beneath = privileges.grantee_names(con, database, role, role)
            if grantee in beneath and grantee != PUBLIC:
                raise not_supported(f"GRANT of the role {role} to itself", _NOT_GRANTABLE)
            privileges.grant_role(con, database, role, grantee, option=statement.option)


# ---- databases ------------------------------------------------------------------------------------
_LEVELS = {"CONNECT": CONNECT, "RESOURCE": RESOURCE, "DBA": DBA}


def _database(context: DdlContext, statement: Grant) -> None:
    """Grant or revoke a level, each of which includes the lower ones.

    Revoking RESOURCE or DBA leaves CONNECT. CONNECT is revoked only from a user who has no higher level.
    """
    context.privileges.require_level(DBA)
    con, database = context.transaction.recorder, context.current_database.require()
    level = _LEVELS[statement.privileges[0][0]]
    for name in statement.grantees:
        current = privileges.user_type(con, database, name)
        if current == ROLE:
            raise SqlError(_NOT_GRANTABLE, 0, 0, name)
        if not statement.revoke:
            privileges.set_user(con, database, name, max(current, level, key=LEVELS.index))
        elif current == level:
            privileges.set_user(con, database, name, CONNECT if level != CONNECT else "")
        elif LEVELS.index(current) < LEVELS.index(level):
            raise SqlError(_NOT_REVOKED, 0, 0, name)


# ---- tables ---------------------------------------------------------------------------------------
def _table(context: DdlContext, statement: Grant) -> None:
    info = context.find_here(statement.name)
    if info is None:
        if context.tables.find_sequence(None, statement.name) is not None:
            return  # privileges on sequences are not checked
        raise no_table(statement.name)
    if info.temporary:
        raise SqlError(_TEMPORARY, 0, 0, info.name)
    if info.tabid < FIRST_USER_TABID:
        context.privileges.require_level(DBA)
        if all(name == "SELECT" for name, _ in statement.privileges) and not statement.revoke:
            return  # PUBLIC has it
        raise not_supported("a privilege other than SELECT on the system catalog", _NOT_GRANTABLE)
    grantor = _grantor(context, statement)
    if not statement.grantor and context.privileges.owns(info.owner):
        grantor = info.owner  # as on a real server, a DBA's grant comes from the owner
    letters, columns = _requested_privileges(info, statement, context, grantor)
    for grantee in statement.grantees:
        if statement.revoke:
            _revoke_privileges(context, info, grantor, grantee, letters, columns, restrict=statement.option)
        else:
            _grant_privileges(context, info, grantor, grantee, letters, columns, option=statement.option)


def _requested_privileges(
    info: TableInfo, statement: Grant, context: DdlContext, grantor: str
) -> tuple[set[str], dict[str, set[str]]]:
    """Return the privileges of a statement: letters, and columns by letter.

    ALL means those that the grantor may grant.
    """
    letters: set[str] = set()
    columns: dict[str, set[str]] = {}
    everything = len(statement.privileges) == len(_LETTERS) - 1
    for word, names in statement.privileges:
        letter = _LETTERS[word]
        if info.kind == "V" and letter not in _VIEW_PRIVILEGES:
            if everything:
                continue
            raise SqlError(_NOT_GRANTABLE, 0, 0, info.name)
        for name in names or ():
            info.require_column(name)
        if not statement.revoke and not _grantable(context, info, grantor, letter, names or ()):
            if everything:
                continue
            raise SqlError(_NOT_GRANTABLE, 0, 0, info.name)
        if names is None:
            letters.add(letter)
        for name in names or ():
            columns.setdefault(name, set()).add(letter)
    if not letters and not columns:
        raise SqlError(_NOT_GRANTABLE, 0, 0, info.name)
    return letters, columns


def _grantable(
    context: DdlContext, info: TableInfo, grantor: str, letter: str, columns: Iterable[str]
) -> bool:
    if grantor == context.environment.user:
        return context.privileges.has_privilege(info, letter, list(columns), grant=True)
    if grantor == info.owner and info.kind == "T":
        return True
    return context.privileges.may_grant_as(grantor, info, letter, list(columns))


def _grant_privileges(
    context: DdlContext,
    info: TableInfo,
    grantor: str,
    grantee: str,
    letters: set[str],
    columns: dict[str, set[str]],
    *,
    option: bool,
) -> None:
    con = context.transaction.recorder
    had, by_column = privileges.table_grants(con, info.database, info.tabid, grantor, grantee)
    had |= {letter.upper() if option else letter for letter in letters}
    for name, those in columns.items():
        by_column.setdefault(name, set()).update(letter.upper() if option else letter for letter in those)
    privileges.set_table_grants(con, info.database, info.tabid, grantor, grantee, had, by_column)


def _revoke_privileges(
    context: DdlContext,
    info: TableInfo,
    grantor: str,
    grantee: str,
    letters: set[str],
    columns: dict[str, set[str]],
    *,
    restrict: bool,
) -> None:
    """Revoke privileges, and those that were granted with them.

    Raises -580 if the grantee has none of them from this grantor, and -887 for RESTRICT if others depend on them.
    """
    con = context.transaction.recorder
    had, by_column = privileges.table_grants(con, info.database, info.tabid, grantor, grantee)
    revoked = letters | {letter.upper() for letter in letters}
    remaining = had - revoked
    left_by_column = {
        name: those - revoked - _with_grant_letters(columns.get(name, ()))
        for name, those in by_column.items()
    }
    if remaining == had and left_by_column == by_column:
        raise SqlError(_NOT_REVOKED, 0, 0, grantee)
    privileges.set_table_grants(con, info.database, info.tabid, grantor, grantee, remaining, left_by_column)
    lost = {letter for letter in letters if letter.upper() in had}
    lost_by_column = {
        name: {x.lower() for x in those - left_by_column[name] if x.isupper()}
        for name, those in by_column.items()
    }
    for other in privileges.grantors_to(con, info.database, info.tabid, grantee):
        still, still_by_column = privileges.table_grants(con, info.database, info.tabid, other, grantee)
        lost -= {letter.lower() for letter in still if letter.isupper()}
        for name, those in still_by_column.items():
            lost_by_column.get(name, set()).difference_update(x.lower() for x in those if x.isupper())
    lost_by_column = {name: those for name, those in lost_by_column.items() if those}
    if not lost and not lost_by_column:
        return
    for dependent in privileges.grantees_on(con, info.database, info.tabid, grantee):
        granted, granted_by_column = privileges.table_grants(
            con, info.database, info.tabid, grantee, dependent
        )
        touched = _with_grant_letters(lost) & granted or any(
            _with_grant_letters(lost | lost_by_column.get(name, set())) & those
            for name, those in granted_by_column.items()
        )
        if not touched:
            continue
        if restrict:
            raise SqlError(_DEPENDENT, 0, 0, dependent)
        _revoke_privileges(context, info, grantee, dependent, lost, lost_by_column, restrict=False)


def _with_grant_letters(letters: Iterable[str]) -> set[str]:
    return {case for letter in letters for case in (letter, letter.upper())}


# ---- routines -------------------------------------------------------------------------------------
def _routine(context: DdlContext, statement: Grant) -> None:
    con, database, grantor = (
        context.transaction.recorder,
        context.current_database.require(),
        _grantor(context, statement),
    )
    types = None if statement.types is None else tuple(context.types.resolve(t) for t in statement.types)
    routines = context.routines.find_routines(statement.name, types, specific=statement.specific)
    if not routines:
        raise SqlError(_NO_ROUTINE, 0, 0, statement.name)
    for procid, owner in routines:
        source = owner if not statement.grantor and context.privileges.owns(owner) else grantor
        if not statement.revoke and not context.privileges.may_execute(procid, owner, grant=True):
            raise SqlError(_NOT_GRANTABLE, 0, 0, statement.name)
        for grantee in statement.grantees:
            if not statement.revoke:
                had = privileges.routine_grant(con, database, procid, source, grantee)
                word = "E" if statement.option or had == "E" else "e"
                privileges.set_routine_grant(con, database, procid, source, grantee, word)
            elif privileges.routine_grant(con, database, procid, source, grantee):
                privileges.set_routine_grant(con, database, procid, source, grantee, "")
            else:
                raise SqlError(_NOT_REVOKED, 0, 0, grantee)
