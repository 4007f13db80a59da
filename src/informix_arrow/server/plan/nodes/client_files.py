"""filetoblob, filetoclob, lotofile and ifx_lo_open: functions that reach outside DuckDB while a statement runs.

The first two create an object from a client's file. They are allowed as values in INSERT and UPDATE. The session
creates the object first, and the SQL refers to its locator as a session value. The other two are allowed as items of
the outermost select list. DuckDB returns their arguments, and the session makes the call for each row when it is
fetched.
"""

from __future__ import annotations

from sqlglot import exp

from ....wire.types import ColumnType
from ...errors import SqlError, not_supported
from ...types.nested_types import lob_kind
from ...types.result_types import character
from ..plans import ClientFile, RowCall
from ..scope import Scope, TypedExpression, source_offset
from ..translator import Translator

LOADERS = frozenset({"filetoblob", "filetoclob"})
ROW_CALLS = frozenset({"lotofile", "ifx_lo_open"})


def translate_loader(tr: Translator, name: str, nodes: list[exp.Expression], scope: Scope) -> TypedExpression:
    """filetoblob(name, 'client' [, table, column])."""
    if len(nodes) not in (2, 4):
        raise SqlError(-664, 0, 0, name)
    file = tr.ctx.hint(tr.expr(nodes[0], scope), character(255))
    _require_client_file(tr.expr(nodes[1], scope), name)
    if file.literal is None and file.param < 0:
        raise not_supported(f"{name} with a file name that is neither a literal nor a parameter")
    t = ColumnType.blob() if name == "filetoblob" else ColumnType.clob()
    kind = lob_kind(t)
    assert kind is not None
    if file.param >= 0:
        tr.ctx.used_params.discard(file.param)  # it is not used in DuckDB's SQL
    tr.ctx.files.append(ClientFile(kind, file.literal or "", file.param))
    return TypedExpression(f"CAST({tr.ctx.session_value(f'file{len(tr.ctx.files) - 1}')} AS BLOB)", t)


def _require_client_file(where: TypedExpression, name: str) -> None:
    if where.literal is None:
        raise SqlError(-664, 0, 0, name)
    if where.literal.strip().lower() != "client":
        raise not_supported(f"{name} of a file of the server", -9810)


def row_call(node: exp.Expression) -> exp.Anonymous | None:
    """Return the call in a select list item that the session makes for each row, None if the item is no such call."""
    while isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous):
        node = node.expression
    if isinstance(node, exp.Anonymous) and node.name.lower() in ROW_CALLS:
        return node
    return None


def misplaced_call(name: str, node: exp.Expression | None = None) -> SqlError:
    """Return the error for such a call anywhere else."""
    return not_supported(
        f"{name} outside the outermost select list",
        offset=source_offset(node) or 1 if node is not None else 1,
    )


def row_call_argument(tr: Translator, node: exp.Anonymous, scope: Scope) -> tuple[RowCall, TypedExpression]:
    """Return the call, and its arguments as one STRUCT with the result's type."""
    name = node.name.lower()
    nodes = list(node.expressions)
    if len(nodes) != (3 if name == "lotofile" else 2):
        raise SqlError(-664, 0, 0, name)
    locator = tr.expr(nodes[0], scope)
    if lob_kind(locator.type) is None:
        raise SqlError(-9634, 0, 0, name)
    if name == "lotofile":
        file = tr.ctx.hint(tr.expr(nodes[1], scope), character(255))
        _require_client_file(tr.expr(nodes[2], scope), name)
        sql = f"struct_pack(locator := {locator.sql}, argument := CAST({file.sql} AS VARCHAR))"
        return "lotofile", TypedExpression(sql, ColumnType.lvarchar(2048), "(lotofile)")
    mode = tr.ctx.hint(tr.expr(nodes[1], scope), ColumnType.integer())
    sql = f"struct_pack(locator := {locator.sql}, argument := CAST({mode.sql} AS INTEGER))"
    return "ifx_lo_open", TypedExpression(sql, ColumnType.integer(), "(ifx_lo_open)")
