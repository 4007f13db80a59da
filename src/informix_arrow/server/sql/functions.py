"""Built-in functions: what DuckDB calls each, and the Informix type of the result. Unknown ones are -674."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ...wire.types import ColumnType
from ..catalog import text
from ..errors import SqlError
from . import lob_functions, number_functions, schema_functions, text_functions, time_functions, windows
from .context import Ex, Scope
from .nested_types import is_collection
from .number_functions import Handler
from .result_types import (
    character,
    common,
    plain,
)

if TYPE_CHECKING:
    from .expressions import ExpressionTranslator


def call(tr: ExpressionTranslator, name: str, nodes: list[exp.Expression], scope: Scope) -> Ex:
    """Translate a call of a built-in function."""
    if name == "dbinfo":
        return _dbinfo(tr, nodes, scope)
    if name in lob_functions.READERS:
        return lob_functions.reader(tr, name, nodes, scope)
    if name in lob_functions.CALLS:
        raise lob_functions.outside(name)
    aggregate = windows.spread(tr, name, nodes, scope)
    if aggregate is not None:
        return aggregate
    handler = BUILTIN.get(name)
    if handler is None:
        found = tr.ctx.call_routine(tr, name, nodes, scope)
        if found is None:
            raise SqlError(-674, 0, 0, name)
        return found
    low, high, function = handler
    args = [tr.settle(tr.expr(node, scope)) for node in nodes]
    if not low <= len(args) <= high:
        raise SqlError(-664, 0, 0, name)
    return tr.as_key(function(tr, args))


def is_builtin(name: str) -> bool:
    """Whether a function of this name is the server's own."""
    special = name == "dbinfo" or name in lob_functions.READERS | lob_functions.CALLS
    return special or name in BUILTIN


def _cardinality(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    if not is_collection(args[0].type):
        raise SqlError(-9634, 0, 0, "cardinality")
    return Ex(f"CAST(len({args[0].sql}) AS INTEGER)", ColumnType.integer())


def _nvl(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    t: ColumnType | None = None
    for arg in args:
        t = common(t, arg.type)
    return tr.of_type(f"coalesce({', '.join(tr.to(a, t) for a in args)})", t)


def _decode(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    this, rest = args[0], args[1:]
    arms = []
    for i in range(0, len(rest) - 1, 2):
        a, b = tr.ctx.meet(this, rest[i])
        arms.append((f"{a} IS NOT DISTINCT FROM {b}", rest[i + 1]))
    return tr.choose(arms, rest[-1] if len(rest) % 2 else None)


def _nullif(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    a, b = tr.ctx.meet(args[0], args[1])
    t = args[0].type
    sql = f"(CASE WHEN {a} = {b} THEN NULL ELSE {args[0].sql} END)"
    return Ex(sql, plain(t) if t is not None else None, packed=args[0].packed)


def _extreme(duck: str) -> Handler:
    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        t: ColumnType | None = None
        for arg in args:
            t = common(t, arg.type)
        return tr.of_type(f"{duck}({', '.join(tr.to(a, t) for a in args)})", t)

    return handler


def _dbinfo(tr: ExpressionTranslator, nodes: list[exp.Expression], scope: Scope) -> Ex:
    """DBINFO (SERVER-BEHAVIOUR section 4): session values are filled in when the statement runs."""
    if nodes and isinstance(nodes[0], exp.Literal) and nodes[0].is_string and len(nodes) == 2:
        word = str(nodes[0].this).lower()
        if word == "utc_to_datetime":
            seconds = tr.ctx.hint(tr.expr(nodes[1], scope), ColumnType.integer())
            sql = f"(TIMESTAMP '1970-01-01' + to_seconds(CAST({seconds.sql} AS BIGINT)))"
            return Ex(sql, ColumnType.datetime("YEAR TO SECOND"))
        if word == "dbspace":
            number = tr.ctx.hint(tr.expr(nodes[1], scope), ColumnType.integer())
            return Ex(f"(CASE WHEN {number.sql} IS NOT NULL THEN 'rootdbs' END)", character(128))
    words = [str(n.this).lower() for n in nodes if isinstance(n, exp.Literal)]
    if len(words) != len(nodes) or not words:
        raise SqlError(-664, 0, 0, "dbinfo")
    ctx = tr.ctx
    if words[0] in ("sqlca.sqlerrd1", "sqlca.sqlerrd2", "sessionid"):
        return Ex(f"CAST({ctx.value(words[0].removeprefix('sqlca.'))} AS INTEGER)", ColumnType.integer())
    if words[0] == "serial8":
        return Ex(f"CAST({ctx.value('serial8')} AS BIGINT)", ColumnType.int8())
    if words[0] == "bigserial":
        return Ex(f"CAST({ctx.value('bigserial')} AS BIGINT)", ColumnType.bigint())
    if words[0] == "utc_current":
        return Ex(f"CAST({ctx.value('utc')} AS INTEGER)", ColumnType.integer())
    if words[0] == "get_tz":
        return Ex("'GMT+0'", character(255))
    if words[0] == "coserverid":
        return Ex("1", ColumnType.integer())
    key = ",".join(words)
    if key not in ctx.constants:
        raise SqlError(-728, 0, 0, words[-1])
    value = ctx.constants[key]
    return Ex(text(value), character(128 if words[0] in ("dbname", "dbhostname") else 255))


BUILTIN: dict[str, tuple[int, int, Handler]] = {
    **schema_functions.FUNCTIONS,
    **text_functions.FUNCTIONS,
    **time_functions.FUNCTIONS,
    **number_functions.FUNCTIONS,
    "cardinality": (1, 1, _cardinality),
    "nvl": (2, 2, _nvl),
    "coalesce": (1, 64, _nvl),
    "nvl2": (3, 3, lambda tr, a: tr.choose([(f"{a[0].sql} IS NOT NULL", a[1])], a[2])),
    "nullif": (2, 2, _nullif),
    "decode": (3, 129, _decode),
    "greatest": (1, 64, _extreme("greatest")),
    "least": (1, 64, _extreme("least")),
}
