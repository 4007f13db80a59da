"""Parsing of SET ISOLATION, SET TRANSACTION and SET ENVIRONMENT RETAINUPDATELOCKS."""

from __future__ import annotations

from sqlglot.tokens import TokenType

from .ddl_parser import DdlParser

_LEVELS: dict[tuple[str, ...], str] = {
    ("DIRTY", "READ"): "dirty read",
    ("COMMITTED", "READ"): "committed read",
    ("CURSOR", "STABILITY"): "cursor stability",
    ("REPEATABLE", "READ"): "repeatable read",
}
_RETAINABLE_LEVELS = (("DIRTY", "READ"), ("COMMITTED", "READ"), ("CURSOR", "STABILITY"))
_ANSI_LEVELS: dict[tuple[str, ...], str] = {
    ("READ", "UNCOMMITTED"): "dirty read",
    ("READ", "COMMITTED"): "committed read",
    ("REPEATABLE", "READ"): "repeatable read",
    ("SERIALIZABLE",): "repeatable read",
}


def parse_set_isolation(p: DdlParser) -> tuple[str, tuple[str, ...]]:
    """Parse `ISOLATION [TO] level [WITH WARNING] [LAST COMMITTED] [RETAIN UPDATE LOCKS]`. Return the level and
    ("retain",)."""
    p.accept("TO")
    level = _one_of(p, _LEVELS)
    if level == "dirty read":
        p.accept("WITH", "WARNING")
    elif level == "committed read" and p.accept("LAST", "COMMITTED"):
        level = "last committed"
    retain = p.accept("RETAIN", "UPDATE", "LOCKS")
    p.expect_end()
    return level, ("retain",) if retain else ()


def parse_set_transaction(p: DdlParser) -> tuple[str, tuple[str, ...]]:
    """Parse `TRANSACTION {ISOLATION LEVEL level | READ ONLY | READ WRITE}, ...`. Return the level, "" for none, and
    options."""
    level, options = "", set()
    while True:
        if p.accept("ISOLATION", "LEVEL"):
            level = _one_of(p, _ANSI_LEVELS)
        elif p.accept("READ", "ONLY"):
            options.add("read only")
        elif not p.accept("READ", "WRITE"):
            raise p.syntax_error()
        if not p.accept(","):
            break
    p.expect_end()
    return level, tuple(options)


def parse_retain_update_locks(p: DdlParser) -> tuple[str, ...]:
    """Parse `ENVIRONMENT RETAINUPDATELOCKS 'DIRTY READ'`, `'COMMITTED READ'`, `'CURSOR STABILITY'`, `'ALL'` or
    `'NONE'`.

    Return the levels at which update locks are retained.
    """
    if p.token.token_type != TokenType.STRING:
        raise p.syntax_error()
    levels = tuple(p.token.text.upper().split())
    if levels not in (("ALL",), ("NONE",)) and levels not in _RETAINABLE_LEVELS:
        raise p.syntax_error()
    p.index += 1
    p.expect_end()
    if levels == ("NONE",):
        return ()
    return tuple(_LEVELS[words] for words in _RETAINABLE_LEVELS if levels in (("ALL",), words))


def _one_of(p: DdlParser, levels: dict[tuple[str, ...], str]) -> str:
    for words, level in levels.items():
        if p.accept(*words):
            return level
    raise p.syntax_error()
