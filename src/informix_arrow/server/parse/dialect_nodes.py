"""Syntax tree nodes that only Informix has."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

SERVER = "informix server"
"""Key of the server's name in the `meta` of a table: `database@server:table`."""


CALL_OWNER = "owner"
"""Key of the owner in the `meta` of a call in another database, `db:owner.f()`: its text, and whether it is quoted."""


class DatetimeLiteral(exp.Expression):  # type: ignore[misc]
    """`DATETIME (2026-01-31 10:00) YEAR TO MINUTE`: this = the text, qualifier = its span."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "qualifier": True}


class IntervalLiteral(exp.Expression):  # type: ignore[misc]
    """`INTERVAL (3 04:05) DAY TO MINUTE`."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "qualifier": True}


class CurrentDatetime(exp.Expression):  # type: ignore[misc]
    """`CURRENT [YEAR TO SECOND]` and `SYSDATE` (which is FRACTION(5))."""

    arg_types: ClassVar[dict[str, bool]] = {"qualifier": True}


class Today(exp.Expression):  # type: ignore[misc]
    """`TODAY`."""

    arg_types: ClassVar[dict[str, bool]] = {}


class Extend(exp.Expression):  # type: ignore[misc]
    """`EXTEND (x, YEAR TO DAY)`."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "qualifier": False}


class Units(exp.Expression):  # type: ignore[misc]
    """`x UNITS DAY`."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "unit": True}


class CollectionLiteral(exp.Expression):  # type: ignore[misc]
    """`SET{1, 2}`, `MULTISET{..}`, `LIST{..}` or `ROW('Alice', 30)`, with kind and expressions."""

    arg_types: ClassVar[dict[str, bool]] = {"kind": True, "expressions": False}


class RoutineRows(exp.Expression):  # type: ignore[misc]
    """`TABLE (FUNCTION f(1, 2))` in FROM: the rows that a routine returns; this = the call."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class ConnectByRoot(exp.Expression):  # type: ignore[misc]
    """`CONNECT_BY_ROOT x` in a hierarchical query: the value in the root of a row."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class LocalVariable(exp.Expression):  # type: ignore[misc]
    """`y # INTEGER` as an argument: a variable of the statement that receives the value of an OUT parameter."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "to": True}


class OuterTables(exp.Expression):  # type: ignore[misc]
    """`OUTER b` or `OUTER (b, OUTER c)` in a FROM list. The join conditions are in WHERE."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class CurrentOf(exp.Expression):  # type: ignore[misc]
    """`WHERE CURRENT OF cursor`."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}
