"""Operators: comparison, arithmetic of numbers and of dates, IN, LIKE, MATCHES, concatenation."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ...wire.types import ColumnType, Field, Qualifier, TypeCode
from ..catalog import text
from ..errors import SqlError
from . import spans
from .casting import Casting
from .context import Ex, Output, Scope
from .intervals import interval_type, is_interval
from .nested_types import element_type, is_collection, is_nested
from .result_types import (
    FLOATS,
    PADDED,
    arithmetic,
    character,
    is_character,
    is_floating_decimal,
    is_moment,
    is_number,
    nullable,
    plain,
    text_type,
)

COMPARISONS: dict[type[exp.Expression], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=",
}  # fmt: skip
_EXACT = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
ARITHMETIC: dict[type[exp.Expression], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


def _beside(op: str, t: ColumnType) -> ColumnType:
    """What a bare parameter beside a value of type `t` is; a DATETIME moves by an interval that has its fields."""
    if t.code == TypeCode.DATE:
        return ColumnType.integer()
    if t.code == TypeCode.DATETIME and t.qualifier is not None:
        end = t.qualifier.end
        start = Field.YEAR if end <= Field.MONTH else max(t.qualifier.start, Field.DAY)
        return interval_type(Qualifier(int(start), end, 9 + end - int(start)))
    if is_interval(t):
        return plain(t) if op in "+-" else ColumnType.float_()
    return plain(t)


class Operators(Casting):
    """The part of the expression translator for operators."""

    query: Callable[[exp.Expression, Scope], tuple[str, Output]]
    rows: Callable[[exp.Expression, Scope], tuple[str, tuple[Output, ...]]]

    def expr(self, node: exp.Expression, scope: Scope) -> Ex:
        raise NotImplementedError

    def _comparison(self, node: exp.Expression, scope: Scope) -> Ex:
        if isinstance(node.this, exp.Tuple) and isinstance(node.expression, exp.Tuple):
            return self._tuples(node, scope)
        left, right = self.expr(node.this, scope), self.expr(node.expression, scope)
        if not is_nested(left.type) and not is_nested(right.type):
            left = self.settle(left)
        if is_nested(left.type) or is_nested(right.type):
            return self._equal_parts(COMPARISONS[type(node)], left, right)
        a, b = self.ctx.meet(left, right)
        return Ex(f"({a} {COMPARISONS[type(node)]} {b})", ColumnType.boolean())

    def _tuples(self, node: exp.Expression, scope: Scope) -> Ex:
        """`(a, b) = (1, 2)`."""
        lefts, rights = node.this.expressions, node.expression.expressions
        if not isinstance(node, (exp.EQ, exp.NEQ)) or len(lefts) != len(rights):
            raise SqlError(-201, 0, 1)
        pairs = [
            self.ctx.meet(self.expr(a, scope), self.expr(b, scope))
            for a, b in zip(lefts, rights, strict=True)
        ]
        sql = " AND ".join(f"{a} = {b}" for a, b in pairs)
        return Ex(f"({sql})" if isinstance(node, exp.EQ) else f"(NOT ({sql}))", ColumnType.boolean())

    def _equal_parts(self, op: str, a: Ex, b: Ex) -> Ex:
        """Collections and ROWs: equal or not; the one that has a type of its own gives it to the other."""
        if op not in ("=", "<>"):
            raise SqlError(-9634)
        both = a.type if is_nested(a.type) else None
        if both is not None and b.type is not None and is_nested(b.type) and both.code != b.type.code:
            raise SqlError(-9634)
        t = a.type if is_nested(a.type) and a.value is None else b.type
        assert t is not None
        return Ex(f"({self.cast(a, t).sql} {op} {self.cast(b, t).sql})", ColumnType.boolean())

    def _arithmetic(self, node: exp.Expression, scope: Scope) -> Ex:
        op = ARITHMETIC[type(node)]
        a, b = self.expr(node.this, scope), self.expr(node.expression, scope)
        if a.param >= 0 and b.type is not None:
            a = self._beside(op, a, b.type)
        if b.param >= 0 and a.type is not None:
            b = self._beside(op, b, a.type)
        a, b = self._read_span(a, b), self._read_span(b, a)
        ta, tb = a.type, b.type
        if a.packed or b.packed:
            return self._exactly(op, a, b)
        if ta is None or tb is None:
            return Ex(f"({a.sql} {op} {b.sql})", None)
        if is_moment(ta) or is_moment(tb) or is_interval(ta) or is_interval(tb):
            return spans.arithmetic(op, a, b, self.ctx)
        a, b = self._numeric(a), self._numeric(b)
        assert a.type is not None
        assert b.type is not None
        return self.calculate(op, a, b)

    def _beside(self, op: str, ex: Ex, t: ColumnType) -> Ex:
        if t.code == TypeCode.DATETIME and op in "+-" and self.ctx.params[ex.param] is None:
            self.ctx.assigned.add(ex.param)  # finer fields than the DATETIME's are cut
        return self.ctx.hint(ex, _beside(op, t))

    def _read_span(self, ex: Ex, other: Ex) -> Ex:
        """A character literal beside an interval is one of its qualifier."""
        if ex.literal is None or other.type is None or not is_interval(other.type):
            return ex
        return Ex(self.ctx.read_literal(ex.literal, other.type), other.type)

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
        if is_floating_decimal(result):
            return Ex(f"_ifx_{_EXACT[op]}({self.key(a)}, {self.key(b)})", result, packed=True)
        if op == "/":
            return Ex(f"(CASE WHEN {right} = 0 THEN error('IFX-1202') ELSE {left} / {right} END)", result)
        return Ex(f"({left} {op} {right})", result)

    def _exactly(self, op: str, a: Ex, b: Ex) -> Ex:
        """Floating decimals: 32 digits, unless the other side is a FLOAT."""
        if (a.type is not None and is_interval(a.type)) or (b.type is not None and is_interval(b.type)):
            return spans.arithmetic(op, self.loose(a), self.loose(b), self.ctx)
        if any(x.type is not None and x.type.code in FLOATS and x.param < 0 for x in (a, b)):
            return self.calculate(op, self._numeric(a), self._numeric(b))
        if any(x.type is not None and is_moment(x.type) for x in (a, b)):
            return spans.arithmetic(op, self.loose(a), self.loose(b), self.ctx)
        return Ex(f"_ifx_{_EXACT[op]}({self.key(a)}, {self.key(b)})", ColumnType.decimal(32), packed=True)

    @staticmethod
    def _widen(ex: Ex) -> str:
        return f"CAST({ex.sql} AS INTEGER)" if ex.type and ex.type.code == TypeCode.SMALLINT else ex.sql

    def _between(self, node: exp.Expression, scope: Scope) -> Ex:
        this = self.expr(node.this, scope)
        low, high = self.expr(node.args["low"], scope), self.expr(node.args["high"], scope)
        a, b = self.ctx.meet(this, low)
        c, e = self.ctx.meet(this, high)
        return Ex(f"({a} >= {b} AND {c} <= {e})", ColumnType.boolean())

    def _in(self, node: exp.Expression, scope: Scope) -> Ex:
        if isinstance(node.this, exp.Tuple) and node.args.get("query") is None:
            tests = [exp.EQ(this=node.this, expression=item) for item in node.expressions]
            return Ex(
                "(" + " OR ".join(self._comparison(t, scope).sql for t in tests) + ")", ColumnType.boolean()
            )
        if isinstance(node.this, exp.Tuple):
            return self._in_rows(node, scope)
        this = self.expr(node.this, scope)
        if node.args.get("field") is not None:
            return self._in_collection(this, self.settle(self.expr(node.args["field"], scope)))
        query = node.args.get("query")
        if query is not None:
            sql, output = self.query(query.this if isinstance(query, exp.Subquery) else query, scope)
            t = output.type
            if this.packed and not output.packed:
                sql = f"SELECT _ifx_key(CAST(q.v AS VARCHAR)) FROM ({sql}) AS q(v)"
            elif output.packed and this.param < 0:
                this = Ex(self.key(this), output.type, packed=True)
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

    def _in_rows(self, node: exp.Expression, scope: Scope) -> Ex:
        """`(a, b) IN (SELECT x, y ...)`."""
        query = node.args["query"]
        query = query.this if isinstance(query, exp.Subquery) else query
        if not isinstance(query, exp.Select) or len(query.expressions) != len(node.this.expressions):
            raise SqlError(-201, 0, 1)
        sql, outputs = self.rows(query, scope)
        lefts, rights = [], []
        for i, (item, output) in enumerate(zip(node.this.expressions, outputs, strict=True)):
            a, b = self.ctx.meet(self.expr(item, scope), Ex(f"q.v{i}", output.type, packed=output.packed))
            lefts.append(a)
            rights.append(b)
        names = ", ".join(f"v{i}" for i in range(len(outputs)))
        return Ex(
            f"(({', '.join(lefts)}) IN (SELECT {', '.join(rights)} FROM ({sql}) AS q({names})))",
            ColumnType.boolean(),
        )

    def _in_collection(self, this: Ex, collection: Ex) -> Ex:
        """`x IN setcol`."""
        if not is_collection(collection.type) or collection.type is None:
            raise SqlError(-9634)
        element = nullable(element_type(collection.type))
        if is_nested(element):
            wanted = self.cast(this, element).sql
        else:
            wanted, _ = self.ctx.meet(this, Ex("NULL", element, packed=is_floating_decimal(element)))
        return Ex(f"list_contains({collection.sql}, {wanted})", ColumnType.boolean())

    def _like(self, node: exp.Expression, scope: Scope, escape: str | None = None) -> Ex:
        left, right = self.expr(node.this, scope), self.expr(node.expression, scope)
        right = self.ctx.hint(right, character(255))
        if left.type is not None and not is_character(left.type):
            left = self.cast(left, text_type(left.type))
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
        return self.joined(self.expr(node.this, scope), self.expr(node.expression, scope))

    def joined(self, a: Ex, b: Ex) -> Ex:
        """`a || b`."""
        a, b = self.ctx.hint(a, character(255)), self.ctx.hint(b, character(255))
        width = 0
        parts = []
        for side in (a, b):
            t = side.type
            if t is None:
                parts.append(side.sql)
                continue
            if not is_character(t):
                side = self.cast(side, text_type(t))
                t = side.type or t
            width += t.content_width
            # a CHAR takes part with its blanks, which storage has cut off
            padded = side.source is not None and side.source.code in PADDED
            parts.append(f"rpad({side.sql}, {t.encoded_length}, ' ')" if padded else side.sql)
        return Ex(f"({parts[0]} || {parts[1]})", character(width or 255))
