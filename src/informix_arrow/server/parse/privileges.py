"""Parsing of GRANT and REVOKE."""

from __future__ import annotations

from sqlglot.tokens import TokenType

from ...wire.types import ColumnType
from ..errors import not_supported
from .ddl_nodes import Grant
from .ddl_parser import DdlParser

DATABASE = frozenset({"CONNECT", "RESOURCE", "DBA"})
TABLE = ("SELECT", "UPDATE", "INSERT", "DELETE", "INDEX", "ALTER", "REFERENCES", "UNDER")
_COLUMN_PRIVILEGES = frozenset({"SELECT", "UPDATE", "REFERENCES"})
_ROUTINES = frozenset({"FUNCTION", "PROCEDURE", "ROUTINE"})
_UNSUPPORTED = frozenset({"SETSESSIONAUTH", "SECURITY", "EXEMPTION", "DBSECADM", "ACCESS", "FRAGMENT"})

Privilege = tuple[str, tuple[str, ...] | None]


def parse_grant(p: DdlParser, *, revoke: bool) -> Grant | None:
    """Parse after GRANT or REVOKE. Return None for USAGE of types and languages, which everybody has."""
    if p.word in _UNSUPPORTED:
        raise not_supported(f"{'REVOKE' if revoke else 'GRANT'} {p.word}", -201, p.token.start + 1)
    if p.word == "USAGE":
        return None
    if p.word in DATABASE and p.peek() in ("TO", "FROM"):
        word = p.word
        p.index += 1
        return _parse_grant_options(p, revoke, "database", ((word, None),))
    if p.accept("EXECUTE", "ON"):
        return _routine(p, revoke)
    if p.word in TABLE or p.word == "ALL":
        privileges = _privileges(p)
        p.expect("ON")
        return _parse_grant_options(p, revoke, "table", privileges, name=p.table_name())
    default = p.accept("DEFAULT", "ROLE")
    roles = [parse_user(p)] if not (default and revoke and p.word == "FROM") else []
    while p.accept(","):
        roles.append(parse_user(p))
    return _parse_grant_options(p, revoke, "role", tuple((role, None) for role in roles), default=default)


def _privileges(p: DdlParser) -> tuple[Privilege, ...]:
    if p.accept("ALL"):
        p.accept("PRIVILEGES")
        return tuple((word, None) for word in TABLE if word != "UNDER")
    privileges: list[Privilege] = []
    while True:
        word = p.word
        if word not in TABLE:
            raise p.syntax_error()
        p.index += 1
        columns = tuple(p.identifier_list()) if p.word == "(" and word in _COLUMN_PRIVILEGES else None
        privileges.append((word, columns))
        if not p.accept(","):
            return tuple(privileges)


def _routine(p: DdlParser, revoke: bool) -> Grant:
    specific = p.accept("SPECIFIC")
    if p.word in _ROUTINES:
        p.index += 1
    name = p.object_name()
    types = p.argument_types()
    return _parse_grant_options(
        p, revoke, "routine", (("EXECUTE", None),), name=name, types=types, specific=specific
    )


def _parse_grant_options(
    p: DdlParser,
    revoke: bool,
    kind: str,
    privileges: tuple[Privilege, ...],
    *,
    name: str = "",
    types: tuple[ColumnType, ...] | None = None,
    specific: bool = False,
    default: bool = False,
) -> Grant:
    p.expect("FROM" if revoke else "TO")
    grantees = [parse_user(p)]
    while p.accept(","):
        grantees.append(parse_user(p))
    option = not revoke and p.accept("WITH", "GRANT", "OPTION")
    grantor = parse_user(p) if p.accept("AS") else ""
    if revoke:
        option = p.accept("RESTRICT")
        if not option:
            p.accept("CASCADE")
    p.expect_end()
    return Grant(revoke, kind, privileges, tuple(grantees), name, option, grantor, types, specific, default)


def parse_user(p: DdlParser) -> str:
    """Parse the name of a user or role: `ann`, `'ann'`, or `"ann"`."""
    if not p.at_end and p.token.token_type == TokenType.STRING:
        p.index += 1
        return str(p.tokens[p.index - 1].text).strip()
    return p.identifier()
