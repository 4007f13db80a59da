"""Calls by name: built-in functions over values, DBINFO, and functions of files, routines and aggregates. Unknown names
raise -674."""

from __future__ import annotations

from sqlglot import exp

from ....wire.types import ColumnType
from ...errors import SqlError
from ...parse.query_names import routine_name
from ...types.quoting import quote_string
from ...types.result_types import character
from ..functions.builtin import BUILTIN
from ..scope import Scope, TypedExpression
from ..translator import NodeTranslators, Translator
from ..values.single_evaluation import evaluate_once
from . import client_files, user_routines
from .aggregates import translate_spread


def call(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    """`name(...)`."""
    name, nodes = node.name.lower(), list(node.expressions)
    if name == "dbinfo":
        return _dbinfo(tr, nodes, scope)
    if name in client_files.LOADERS:
        return client_files.translate_loader(tr, name, nodes, scope)
    if name in client_files.ROW_CALLS:
        raise client_files.misplaced_call(name)
    aggregate = translate_spread(tr, name, nodes, scope)
    if aggregate is not None:
        return aggregate
    handler = BUILTIN.get(name)
    if handler is None:
        found = user_routines.translate_call(tr, routine_name(node), nodes, scope)
        if found is None:
            raise SqlError(-674, 0, 0, name)
        return found
    low, high, function = handler
    args = [tr.values.with_inferred_type(tr.expr(node, scope)) for node in nodes]
    if not low <= len(args) <= high:
        raise SqlError(-664, 0, 0, name)
    values = tr.values
    return evaluate_once(tr.ctx, lambda given: values.as_key(function(values, given)), args)


def is_builtin(name: str) -> bool:
    """Return whether a built-in function has this name."""
    special = name == "dbinfo" or name in client_files.LOADERS | client_files.ROW_CALLS
    return special or name in BUILTIN


def _dbinfo(tr: Translator, nodes: list[exp.Expression], scope: Scope) -> TypedExpression:
    """Translate DBINFO (SERVER-BEHAVIOUR section 4). The session supplies its values at execution."""
    if nodes and isinstance(nodes[0], exp.Literal) and nodes[0].is_string and len(nodes) == 2:
        word = str(nodes[0].this).lower()
        if word == "utc_to_datetime":
            seconds = tr.ctx.as_count(tr.expr(nodes[1], scope))
            sql = f"(TIMESTAMP '1970-01-01' + to_seconds(CAST({seconds.sql} AS BIGINT)))"
            return TypedExpression(sql, ColumnType.datetime("YEAR TO SECOND"))
        if word == "dbspace":
            number = tr.ctx.as_count(tr.expr(nodes[1], scope))
            return TypedExpression(f"(CASE WHEN {number.sql} IS NOT NULL THEN 'rootdbs' END)", character(128))
    words = [str(n.this).lower() for n in nodes if isinstance(n, exp.Literal)]
    if len(words) != len(nodes) or not words:
        raise SqlError(-664, 0, 0, "dbinfo")
    ctx = tr.ctx
    if words[0] in ("sqlca.sqlerrd1", "sqlca.sqlerrd2", "sessionid"):
        return TypedExpression(
            f"CAST({ctx.session_value(words[0].removeprefix('sqlca.'))} AS INTEGER)", ColumnType.integer()
        )
    if words[0] == "serial8":
        return TypedExpression(f"CAST({ctx.session_value('serial8')} AS BIGINT)", ColumnType.int8())
    if words[0] == "bigserial":
        return TypedExpression(f"CAST({ctx.session_value('bigserial')} AS BIGINT)", ColumnType.bigint())
    if words[0] == "utc_current":
        return TypedExpression(f"CAST({ctx.session_value('utc')} AS INTEGER)", ColumnType.integer())
    if words[0] == "get_tz":
        return TypedExpression("'GMT+0'", character(255))
    if words[0] == "coserverid":
        return TypedExpression("1", ColumnType.integer())
    if words[0] == "cdrsession":  # there is no replication
        return TypedExpression("0", ColumnType.integer())
    key = ",".join(words)
    if key not in ctx.constants:
        raise SqlError(-728, 0, 0, words[-1])
    value = ctx.constants[key]
    return TypedExpression(
        quote_string(value), character(128 if words[0] in ("dbname", "dbhostname") else 255)
    )


NODES: NodeTranslators = {exp.Anonymous: call}
