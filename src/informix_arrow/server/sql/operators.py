"""Operators: comparison, arithmetic of numbers and of dates, IN, LIKE, MATCHES, concatenation."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ...wire.types import ColumnType, Field, TypeCode
from ..catalog import text
from ..errors import SqlError, not_supported
from .casting import Casting
from .context import Ex, Output, Scope
from .result_types import (
    DECIMALS,
    PADDED,
    arithmetic,
    as_decimal,
    character,
    datetime_storage,
    is_character,
    is_moment,
    is_number,
    nullable,
    plain,
)

COMPARISONS: dict[type[exp.Expression], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=",
}  # fmt: skip
ARITHMETIC: dict[type[exp.Expression], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


class Operators(Casting):
    """The part of the expression translator for operators."""

    query: Callable[[exp.Expression, Scope], tuple[str, Output]]

    def expr(self, node: exp.Expression, scope: Scope) -> Ex:
        raise NotImplementedError

    def _comparison(self, node: exp.Expression, scope: Scope) -> Ex:
        left, right = self.expr(node.this, scope), self.expr(node.expression, scope)
        a, b = self.ctx.meet(left, right)
        return Ex(f"({a} {COMPARISONS[type(node)]} {b})", ColumnType.boolean())

    def _arithmetic(self, node: exp.Expression, scope: Scope) -> Ex:
        op = ARITHMETIC[type(node)]
        a, b = self.expr(node.this, scope), self.expr(node.expression, scope)
        if a.param >= 0 and b.type is not None:
            a = self.ctx.hint(a, ColumnType.integer() if is_moment(b.type) else plain(b.type))
        if b.param >= 0 and a.type is not None:
            b = self.ctx.hint(b, ColumnType.integer() if is_moment(a.type) else plain(a.type))
        a, b = self.loose(a), self.loose(b)
        ta, tb = a.type, b.type
        if ta is None or tb is None:
            return Ex(f"({a.sql} {op} {b.sql})", None)
        if is_moment(ta) or is_moment(tb) or TypeCode.INTERVAL in (ta.code, tb.code):
            return self._moments(op, a, b)
        a, b = self._numeric(a), self._numeric(b)
        assert a.type is not None
        assert b.type is not None
        return self.calculate(op, a, b)

    def calculate(self, op: str, a: Ex, b: Ex) -> Ex:
        """Numbers: SMALLINT is widened, decimals beyond DuckDB's 38 digits go through DOUBLE, x/0 is
        -1202."""
        ta, tb = a.type, b.type
        assert ta is not None
        assert tb is not None
        if not (is_number(ta) and is_number(tb)):
            raise SqlError(-201 if ta.is_boolean or tb.is_boolean else -1260)
        result = arithmetic(op, ta, tb)
        left, right = self._widen(a), self._widen(b)
        if op == "/":
            return Ex(f"(CASE WHEN {right} = 0 THEN error('IFX-1202') ELSE {left} / {right} END)", result)
        if (
            (op == "*" and result.code in DECIMALS and result.scale is None)
            and as_decimal(ta)
            and as_decimal(tb)
        ):
            left = f"CAST({left} AS DOUBLE)"
        return Ex(f"({left} {op} {right})", result)

    @staticmethod
    def _widen(ex: Ex) -> str:
        return f"CAST({ex.sql} AS INTEGER)" if ex.type and ex.type.code == TypeCode.SMALLINT else ex.sql

    def _moments(self, op: str, a: Ex, b: Ex) -> Ex:
        """Dates, datetimes and intervals (result types: users of ids_sqr_156)."""
        ta, tb = a.type, b.type
        assert ta is not None
        assert tb is not None
        if ta.code == TypeCode.DATE and tb.code == TypeCode.DATE and op == "-":
            return Ex(f"CAST({a.sql} - {b.sql} AS INTEGER)", ColumnType.integer())
        if op == "+" and is_moment(tb) and not is_moment(ta):
            a, b, ta, tb = b, a, tb, ta
        if ta.code == TypeCode.DATE and is_number(tb):
            return Ex(f"({a.sql} {op} CAST({b.sql} AS INTEGER))", ColumnType.date())
        if is_moment(ta) and is_moment(tb) and op == "-":
            return Ex(
                f"(CAST({a.sql} AS TIMESTAMP) - CAST({b.sql} AS TIMESTAMP))",
                ColumnType.interval("DAY(8) TO FRACTION(5)"),
            )
        if is_moment(ta) and tb.code == TypeCode.INTERVAL and op in "+-":
            qualifier = ta.qualifier if ta.code == TypeCode.DATETIME else None
            storage = datetime_storage(qualifier) if qualifier else "DATE"
            if storage == "VARCHAR":
                raise SqlError(-1266)
            span = tb.qualifier
            if ta.code == TypeCode.DATE and span is not None and span.end > Field.DAY:
                # a DATE with hours added becomes a DATETIME that has them
                t = ColumnType.datetime("YEAR", span.end)
                return Ex(f"(CAST({a.sql} AS TIMESTAMP) {op} {b.sql})", nullable(t))
            return Ex(f"CAST({a.sql} {op} {b.sql} AS {storage})", plain(ta))
        if ta.code == TypeCode.INTERVAL and tb.code == TypeCode.INTERVAL and op in "+-":
            return Ex(f"({a.sql} {op} {b.sql})", ta)
        if ta.code == TypeCode.INTERVAL and is_number(tb) and op in "*/":
            return Ex(f"({a.sql} {op} {b.sql})", ta)
        if tb.code == TypeCode.INTERVAL and is_number(ta) and op == "*":
            return Ex(f"({a.sql} * {b.sql})", tb)
        raise SqlError(-1260)

    def _between(self, node: exp.Expression, scope: Scope) -> Ex:
        this = self.expr(node.this, scope)
        low, high = self.expr(node.args["low"], scope), self.expr(node.args["high"], scope)
        a, b = self.ctx.meet(this, low)
        c, e = self.ctx.meet(this, high)
        return Ex(f"({a} >= {b} AND {c} <= {e})", ColumnType.boolean())

    def _in(self, node: exp.Expression, scope: Scope) -> Ex:
        this = self.expr(node.this, scope)
        query = node.args.get("query")
        if query is not None:
            sql, output = self.query(query.this if isinstance(query, exp.Subquery) else query, scope)
            t = output.type
            if this.packed != output.packed and this.param < 0:
                raise not_supported("IN between a floating DECIMAL and another type")
            if output.packed and this.param >= 0:
                self.ctx.packed.add(this.param)
            left = self.ctx.hint(this, t)
            text_sides = (
                t is not None and is_character(t) and left.type is not None and is_character(left.type)
            )
            if text_sides:
                return Ex(
                    f"({self.ctx.trimmed(left)} IN (SELECT rtrim(q.v, ' ') FROM ({sql}) AS q(v)))",
                    ColumnType.boolean(),
                )
            return Ex(f"({left.sql} IN ({sql}))", ColumnType.boolean())
        pairs = [self.ctx.meet(this, self.expr(item, scope)) for item in node.expressions]
        if not pairs:
            raise SqlError(-201, 0, 1)
        if len({left for left, _ in pairs}) == 1:
            return Ex(f"({pairs[0][0]} IN ({', '.join(right for _, right in pairs)}))", ColumnType.boolean())
        return Ex("(" + " OR ".join(f"{x} = {y}" for x, y in pairs) + ")", ColumnType.boolean())

    def _like(self, node: exp.Expression, scope: Scope, escape: str | None = None) -> Ex:
        left, right = self.expr(node.this, scope), self.expr(node.expression, scope)
        right = self.ctx.hint(right, character(255))
        if left.type is not None and not is_character(left.type):
            left = self.cast(left, character(64))
        escape_text = text(escape if escape is not None else "\\")
        return Ex(f"({left.sql} LIKE {right.sql} ESCAPE {escape_text})", ColumnType.boolean())

    def _glob(self, node: exp.Expression, scope: Scope, escape: str | None = None) -> Ex:
        """MATCHES: `*`, `?`, `[a-z]`, `[^a-z]`; backslash escapes."""
        left, right = self.expr(node.this, scope), self.expr(node.expression, scope)
        right = self.ctx.hint(right, character(255))
        if right.literal is not None:
            pattern = right.literal
            if escape and escape != "\\":
                pattern = pattern.replace("\\", "\\\\").replace(escape, "\\")
            right_sql = text(pattern.replace("[^", "[!"))
        else:
            right_sql = f"replace({right.sql}, '[^', '[!')"
        return Ex(f"({left.sql} GLOB {right_sql})", ColumnType.boolean())

    def _escape(self, node: exp.Expression, scope: Scope) -> Ex:
        if not (isinstance(node.expression, exp.Literal) and node.expression.is_string):
            raise SqlError(-201, 0, 1)
        character_ = str(node.expression.this)
        if isinstance(node.this, exp.Like):
            return self._like(node.this, scope, character_)
        if isinstance(node.this, exp.Glob):
            return self._glob(node.this, scope, character_)
        raise SqlError(-201, 0, 1)

    def _concat(self, node: exp.Expression, scope: Scope) -> Ex:
        a, b = self.expr(node.this, scope), self.expr(node.expression, scope)
        a, b = self.ctx.hint(a, character(255)), self.ctx.hint(b, character(255))
        width = 0
        parts = []
        for side in (a, b):
            t = side.type
            if t is None:
                parts.append(side.sql)
                continue
            if not is_character(t):
                side = self.cast(side, character(32))
                t = side.type or t
            width += t.content_width
            # a CHAR takes part with its blanks, which storage has cut off
            padded = side.source is not None and side.source.code in PADDED
            parts.append(f"rpad({side.sql}, {t.encoded_length}, ' ')" if padded else side.sql)
        return Ex(f"({parts[0]} || {parts[1]})", character(width or 255))
