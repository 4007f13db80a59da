"""Parsing of UPDATE STATISTICS. The statement has no effect, but the objects that it names are checked."""

from __future__ import annotations

from sqlglot.tokens import TokenType

from .ddl_nodes import UpdateStatistics
from .ddl_parser import DdlParser

_ROUTINES = ("PROCEDURE", "FUNCTION", "ROUTINE")


def parse_statistics(p: DdlParser) -> UpdateStatistics:
    """Parse after UPDATE STATISTICS. Raises -201 for an unknown word."""
    mode = p.word if p.word in ("LOW", "MEDIUM", "HIGH") else ""
    p.index += bool(mode)
    found = UpdateStatistics()
    if p.accept("FOR"):
        if not p.accept("TABLE"):
            if mode:  # modes are only for tables
                raise p.syntax_error()
            return _routine(p)
        if not (p.at_end or p.word in ("DROP", "RESOLUTION", "SAMPLING", "DISTRIBUTIONS", "FORCE", "AUTO")):
            found = _table(p)
    _options(p, mode)
    p.expect_end()
    return found


def _table(p: DdlParser) -> UpdateStatistics:
    only = p.word == "ONLY" and p.peek() == "("
    if only:
        p.index += 2
    name = p.table_name()
    if only:
        p.expect(")")
    return UpdateStatistics(name, tuple(p.identifier_list()) if p.word == "(" else ())


def _routine(p: DdlParser) -> UpdateStatistics:
    specific = p.accept("SPECIFIC")
    if p.word not in _ROUTINES:
        raise p.syntax_error()
    p.index += 1
    if p.at_end and not specific:
        return UpdateStatistics()
    name = p.object_name()
    types = None if specific else p.argument_types()
    p.expect_end()
    return UpdateStatistics(routine=name, types=types, specific=specific)


def _options(p: DdlParser, mode: str) -> None:
    if mode in ("", "LOW"):
        if p.accept("DROP"):
            p.expect("DISTRIBUTIONS")
            p.accept("ONLY")
    else:
        if mode == "MEDIUM" and p.accept("SAMPLING"):
            p.expect("SIZE")
            _number(p)
        if p.accept("RESOLUTION"):
            _number(p)
            if mode == "MEDIUM" and (p.word == "." or p.token.token_type == TokenType.NUMBER):
                _number(p)
        if p.accept("DISTRIBUTIONS"):
            p.expect("ONLY")
    if not p.accept("FORCE"):
        p.accept("AUTO")


def _number(p: DdlParser) -> None:
    p.accept(".")  # before .95 it is a token of its own
    if p.token.token_type != TokenType.NUMBER:
        raise p.syntax_error()
    p.index += 1
