"""Informix expressions to DuckDB SQL text, with the Informix type of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from ...wire.types import ColumnType, Qualifier
from ..catalog import text
from ..errors import SqlError, not_supported
from . import dialect_nodes as d
from . import sequences
from .context import CONSTANT, EXPRESSION, Context, Ex, Output, Scope, offset_of
from .intervals import checked_sql, interval_type, is_interval, qualifier_of, step, value_of, wide
from .intervals import parse as parse_interval
from .literals import datetime_fields, to_storage
from .moments import extend_sql
from .nested_sql import Constructor, field
from .nested_types import declare, is_nested, is_row, is_simple_large, lob_kind
from .operators import ARITHMETIC, COMPARISONS, Operators
from .result_types import (
    DECIMALS,
    FLOATS,
    INTEGERS,
    character,
    datetime_storage,
    is_character,
    is_number,
    plain,
    text_type,
)
from .variables import Variable, variable
from .windows import window

QueryTranslator = Callable[[exp.Expression, Scope], tuple[str, Output]]
RowsTranslator = Callable[[exp.Expression, Scope], tuple[str, tuple[Output, ...]]]

_SESSION_WORDS = frozenset({"user", "current_user", "current_role", "dbservername", "sitename"})

_AGGREGATES: dict[type[exp.Expression], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max",
}  # fmt: skip


class ExpressionTranslator(Operators):
    """Translates expressions of one statement; subqueries go back to the query translator."""

    def __init__(self, ctx: Context, query: QueryTranslator, rows: RowsTranslator) -> None:
        self.ctx = ctx
        self.query = query
        self.rows = rows

    def expr(self, node: exp.Expression, scope: Scope) -> Ex:
        """Dispatch on the node; SqlError -201 for what has no meaning here."""
        kind = type(node)
        if kind in COMPARISONS:
            return self._comparison(node, scope)
        if kind in ARITHMETIC:
            return self._arithmetic(node, scope)
        if kind in _AGGREGATES:
            return self._aggregate(node, scope)
        handler = _HANDLERS.get(kind)
        if handler is None:
            raise not_supported(f"{kind.__name__} in an expression", offset=offset_of(node) or 1)
        return handler(self, node, scope)

    # ---- leaves -----------------------------------------------------------------------------
    def _literal(self, node: exp.Expression, scope: Scope) -> Ex:
        value = str(node.this)
        if node.is_string:
            n = max(1, self.ctx.byte_length(value))
            kind = ColumnType.char(n) if n <= 32767 else ColumnType.lvarchar(32739)
            return Ex(text(value), kind, CONSTANT, literal=value)
        lowered = value.lower()
        if "e" in lowered:
            return Ex(value, ColumnType.float_(), CONSTANT, number=True)
        whole, _, fraction = lowered.partition(".")
        digits = len(whole.lstrip("0")) + len(fraction)
        if not fraction and digits <= 10 and int(whole or 0) <= 2147483647:
            return Ex(whole or "0", ColumnType.integer(), CONSTANT, number=True)
        if digits > 32:
            raise SqlError(-1226, 0, 0)
        scale = len(fraction)
        return Ex(value, ColumnType.decimal(max(1, digits, scale), scale), CONSTANT, number=True)

    def _column(self, node: exp.Expression, scope: Scope) -> Ex:
        parts = [part.name for part in node.parts]
        if len(parts) == 1 and parts[0] in _SESSION_WORDS and not node.this.args.get("quoted"):
            found = self._session_word(parts[0], scope)
            if found is not None:
                return found
        number = sequences.value(self.ctx, parts, scope) if len(parts) > 1 else None
        return number if number is not None else self._path(parts, scope, offset_of(node))

    def _session_word(self, word: str, scope: Scope) -> Ex | None:
        """USER, DBSERVERNAME and their like, where no column of that name is in scope."""
        try:
            scope.resolve(word, "")
        except SqlError:
            if word in ("dbservername", "sitename"):
                return Ex(text(self.ctx.server_name), ColumnType.varchar(128), CONSTANT)
            if word == "current_role":
                return Ex("CAST(NULL AS VARCHAR)", ColumnType.char(32), CONSTANT)
            return Ex(text(self.ctx.user), ColumnType.char(32), CONSTANT)
        return None

    def _path(self, parts: list[str], scope: Scope, offset: int) -> Ex:
        """`column`, `table.column`, and fields of ROWs behind either."""
        if len(parts) == 1:
            return scope.resolve(parts[0], "", offset)
        try:
            base, rest = scope.resolve(parts[1], parts[0], offset), parts[2:]
        except SqlError as e:
            try:
                base, rest = scope.resolve(parts[0], "", offset), parts[1:]
            except SqlError:
                raise e from None
            if not is_row(base.type):
                raise
        for name in rest:
            if not is_row(base.type):
                raise SqlError(-217, 0, offset, name)
            base = field(base, name)
        return base

    def _collection(self, node: exp.Expression, scope: Scope) -> Ex:
        parts = tuple(self.expr(item, scope) for item in node.expressions)
        return Ex("NULL", None, CONSTANT, value=Constructor(str(node.args["kind"]), parts))

    def _placeholder(self, node: exp.Expression, scope: Scope) -> Ex:
        index = int(node.meta["index"])
        self.ctx.seen.add(index)
        return Ex(f"$p{index}", self.ctx.params[index], EXPRESSION, param=index)

    def _null(self, node: exp.Expression, scope: Scope) -> Ex:
        return Ex("NULL", None, CONSTANT)

    def _boolean(self, node: exp.Expression, scope: Scope) -> Ex:
        return Ex("TRUE" if node.this else "FALSE", ColumnType.boolean(), CONSTANT)

    def _paren(self, node: exp.Expression, scope: Scope) -> Ex:
        inner = self.expr(node.this, scope)
        if inner.param >= 0:
            return inner
        return replace(inner, sql=f"({inner.sql})")

    # ---- dates ------------------------------------------------------------------------------
    def _datetime_literal(self, node: exp.Expression, scope: Scope) -> Ex:
        try:
            t = ColumnType.datetime(str(node.args["qualifier"]))
        except ValueError as e:
            raise SqlError(-201, 0, 1, "", str(e)) from None
        qualifier = t.qualifier
        assert qualifier is not None
        stored = to_storage(datetime_fields(str(node.this), qualifier), qualifier)
        return Ex(f"{datetime_storage(qualifier)} {text(str(stored))}", t, CONSTANT)

    def _interval_literal(self, node: exp.Expression, scope: Scope) -> Ex:
        try:
            t = ColumnType.interval(str(node.args["qualifier"]))
        except ValueError as e:
            raise SqlError(-201, 0, 1, "", str(e)) from None
        qualifier = qualifier_of(t)
        units = parse_interval(str(node.this), qualifier)
        return Ex(f"CAST({units} AS BIGINT)", t, CONSTANT, value=value_of(units, qualifier))

    def _current(self, node: exp.Expression, scope: Scope) -> Ex:
        t = ColumnType.datetime(str(node.args["qualifier"]))
        qualifier = t.qualifier
        assert qualifier is not None
        now = ColumnType.datetime("YEAR TO FRACTION(5)")
        return Ex(extend_sql(self.ctx.value("now"), now, qualifier, self.ctx), t, EXPRESSION)

    def _today(self, node: exp.Expression, scope: Scope) -> Ex:
        return Ex(f"CAST({self.ctx.value('now')} AS DATE)", ColumnType.date(), EXPRESSION)

    def _extend(self, node: exp.Expression, scope: Scope) -> Ex:
        inner = self.expr(node.this, scope)
        qualifier_text = node.args.get("qualifier") or "YEAR TO FRACTION(3)"
        t = ColumnType.datetime(str(qualifier_text))
        assert t.qualifier is not None
        if inner.type is None or inner.param >= 0:
            inner = self.ctx.hint(inner, ColumnType.datetime("YEAR TO FRACTION(5)"))
        source = inner.type or ColumnType.date()
        if inner.literal is not None:
            source = ColumnType.date()
            inner = replace(inner, sql=self.ctx.read_literal(inner.literal, source))
        return Ex(extend_sql(inner.sql, source, t.qualifier, self.ctx), t, EXPRESSION)

    def _units(self, node: exp.Expression, scope: Scope) -> Ex:
        """`n UNITS DAY`: an interval of that one field; a fraction of n is cut."""
        unit = str(node.args["unit"]).partition("(")[0]
        if unit == "FRACTION":
            raise not_supported("UNITS FRACTION")
        inner = self._numeric(self.ctx.hint(self.expr(node.this, scope), ColumnType.integer()))
        if inner.type is None or not is_number(inner.type):
            raise SqlError(-1260)
        qualifier = Qualifier.parse(f"{unit}(9) TO {unit}", interval=True)
        n = inner.sql if inner.type.code in INTEGERS else f"CAST(trunc({inner.sql}) AS BIGINT)"
        sql = checked_sql(f"(CAST({n} AS BIGINT) * {step(qualifier)})", qualifier)
        return Ex(sql, ColumnType.interval(qualifier.interval_sql))

    # ---- operators --------------------------------------------------------------------------
    def _neg(self, node: exp.Expression, scope: Scope) -> Ex:
        inner = self.expr(node.this, scope)
        if is_interval(inner.type):
            return replace(inner, sql=f"(-{inner.sql})", name=EXPRESSION, source=None, value=None)
        if inner.packed and inner.type is not None:
            return Ex(f"_ifx_negated({inner.sql})", plain(inner.type), EXPRESSION, packed=True)
        inner = self._numeric(inner)
        name = CONSTANT if inner.number else EXPRESSION
        return Ex(f"(-{inner.sql})", plain(inner.type) if inner.type else None, name, number=inner.number)

    def _not(self, node: exp.Expression, scope: Scope) -> Ex:
        return Ex(f"(NOT {self.condition(node.this, scope)})", ColumnType.boolean())

    def _connector(self, node: exp.Expression, scope: Scope) -> Ex:
        word = "AND" if isinstance(node, exp.And) else "OR"
        # long chains come as deep left trees: walk them with a loop
        parts: list[str] = []
        here: exp.Expression = node
        while type(here) is type(node):
            parts.append(self.condition(here.expression, scope))
            here = here.this
        parts.append(self.condition(here, scope))
        return Ex("(" + f" {word} ".join(reversed(parts)) + ")", ColumnType.boolean())

    def condition(self, node: exp.Expression, scope: Scope) -> str:
        """A condition; a BOOLEAN column may stand alone."""
        if isinstance(node, d.CurrentOf):
            raise not_supported("WHERE CURRENT OF", -554)
        ex = self.expr(node, scope)
        if ex.param >= 0 or (ex.type is not None and not ex.type.is_boolean):
            raise SqlError(-201, 0, offset_of(node) or 1)
        return ex.sql

    def _is(self, node: exp.Expression, scope: Scope) -> Ex:
        left = self.expr(node.this, scope)
        if not isinstance(node.expression, exp.Null):
            raise SqlError(-201, 0, 1)
        return Ex(f"({left.sql} IS NULL)", ColumnType.boolean())

    def _exists(self, node: exp.Expression, scope: Scope) -> Ex:
        inner = node.this.this if isinstance(node.this, exp.Subquery) else node.this
        return Ex(f"EXISTS ({self.query(inner, scope)[0]})", ColumnType.boolean())

    def _subquery(self, node: exp.Expression, scope: Scope) -> Ex:
        sql, output = self.query(node.this if isinstance(node, exp.Subquery) else node, scope)
        t = output.type
        return Ex(f"({sql})", plain(t) if t is not None else None, packed=output.packed)

    def _any(self, node: exp.Expression, scope: Scope) -> Ex:
        word = "ANY" if isinstance(node, exp.Any) else "ALL"
        inner = node.this.this if isinstance(node.this, exp.Subquery) else node.this
        sql, output = self.query(inner, scope)
        return Ex(f"{word} ({sql})", output.type, packed=output.packed)

    def _bracket(self, node: exp.Expression, scope: Scope) -> Ex:
        """`col[2,5]`, `col[3]`: characters from to, 1-based, inclusive."""
        inner = self.expr(node.this, scope)
        bounds = node.expressions
        if not 1 <= len(bounds) <= 2 or not all(
            isinstance(b, exp.Literal) and not b.is_string for b in bounds
        ):
            raise SqlError(-201, 0, 1)
        first = int(str(bounds[0].this))
        last = int(str(bounds[-1].this))
        width = inner.type.content_width if inner.type is not None and is_character(inner.type) else 0
        if not width or first < 1 or last < first:
            raise SqlError(-217 if not width else -201, 0, 0, inner.name)
        n = last - first + 1
        return Ex(f"substr({inner.sql}, {first}, {n})", ColumnType.char(n), inner.name)

    # ---- CASE, CAST, aggregates -------------------------------------------------------------
    def _case(self, node: exp.Expression, scope: Scope) -> Ex:
        operand = self.expr(node.this, scope) if node.args.get("this") is not None else None
        arms: list[tuple[str, Ex]] = []
        for branch in node.args.get("ifs") or ():
            if operand is None:
                test = self.condition(branch.this, scope)
            else:
                a, b = self.ctx.meet(operand, self.expr(branch.this, scope))
                test = f"{a} = {b}"
            arms.append((test, self.expr(branch.args["true"], scope)))
        default = node.args.get("default")
        otherwise = self.expr(default, scope) if default is not None else None
        return self.choose(arms, otherwise)

    def _cast(self, node: exp.Expression, scope: Scope) -> Ex:
        declared = node.args["to"].meta.get("informix")
        if not declared:
            raise SqlError(-201, 0, 1)
        return self.cast(self.expr(node.this, scope), declare(str(declared), self.ctx.find_type))

    def _aggregate(self, node: exp.Expression, scope: Scope) -> Ex:
        word = _AGGREGATES[type(node)]
        this = node.this
        distinct = ""
        if isinstance(this, exp.Distinct):
            distinct = "DISTINCT "
            this = this.expressions[0]
        if word == "count":
            # COUNT is a decimal on the wire (SERVER-BEHAVIOUR section 5)
            t: ColumnType | None = ColumnType.decimal(15, 0)
            if isinstance(this, exp.Star):
                return Ex("count(*)", t, "(count(*))")
            inner = self.expr(this, scope)
            sql = (
                self.ctx.trimmed(inner) if distinct and inner.type and is_character(inner.type) else inner.sql
            )
            return Ex(f"count({distinct}{sql})", t, "(count)")
        inner = self.expr(this, scope)
        t = inner.type
        if is_nested(t) or is_simple_large(t) or lob_kind(t):
            raise SqlError(-9634, 0, 0, word)
        if word in ("min", "max"):
            return Ex(
                f"{word}({distinct}{inner.sql})", plain(t) if t else None, f"({word})", packed=inner.packed
            )
        if inner.packed:
            return self._exact_total(word, distinct, inner.sql)
        if t is not None:
            if is_character(t):
                inner = self._numeric(inner)
                t = inner.type
            elif is_interval(t):
                qualifier = wide(qualifier_of(t))
                return Ex(
                    checked_sql(f"CAST(trunc({word}({distinct}{inner.sql})) AS HUGEINT)", qualifier),
                    interval_type(qualifier),
                    f"({word})",
                )
            elif not is_number(t):
                raise SqlError(-1260)
        if t is None or t.code in FLOATS:
            result: ColumnType | None = ColumnType.float_()
        elif word == "avg":
            average = f"_ifx_divide(_ifx_key(CAST(sum({distinct}{inner.sql}) AS VARCHAR)), "
            average += f"_ifx_key(CAST(count({distinct}{inner.sql}) AS VARCHAR)))"
            sql = f"(CASE WHEN count({inner.sql}) > 0 THEN {average} END)"
            return Ex(sql, ColumnType.decimal(32), "(avg)", packed=True)
        elif t.code in DECIMALS:
            result = replace(plain(t), encoded_length=32 << 8 | (t.scale or 0))
        else:
            result = ColumnType.decimal(32, 0)
        return Ex(f"{word}({distinct}{inner.sql})", result, f"({word})")

    @staticmethod
    def _exact_total(word: str, distinct: str, keys: str) -> Ex:
        """SUM and AVG of floating decimals, to 32 digits."""
        sql = f"_ifx_total(list({distinct}{keys}))"
        if word == "avg":
            number = f"_ifx_key(CAST(count({distinct}{keys}) AS VARCHAR))"
            sql = f"(CASE WHEN count({keys}) > 0 THEN _ifx_divide({sql}, {number}) END)"
        return Ex(sql, ColumnType.decimal(32), f"({word})", packed=True)

    def _anonymous(self, node: exp.Expression, scope: Scope) -> Ex:
        from .functions import call  # functions call back into this class

        return call(self, node.name.lower(), list(node.expressions), scope)

    def _dot(self, node: exp.Expression, scope: Scope) -> Ex:
        """`owner.function(...)`: the owner says nothing; else a field of a ROW."""
        if isinstance(node.expression, exp.Anonymous):
            return self._anonymous(node.expression, scope)
        base = self.expr(node.this, scope)
        if not is_row(base.type):
            raise not_supported("a name of this many parts", offset=offset_of(node) or 1)
        return field(base, node.expression.name)

    def _trim(self, node: exp.Expression, scope: Scope) -> Ex:
        inner = self.ctx.hint(self.expr(node.this, scope), character(255))
        if inner.type is not None and not is_character(inner.type):
            inner = self.cast(inner, text_type(inner.type))
        what = node.args.get("expression")
        characters = self.expr(what, scope).sql if what is not None else "' '"
        position = str(node.args.get("position") or "").upper()
        function = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(position, "trim")
        width = inner.type.content_width if inner.type is not None else 255
        return Ex(f"{function}({inner.sql}, {characters})", character(width))

    def _substring(self, node: exp.Expression, scope: Scope) -> Ex:
        from .text_functions import substring

        parts = [node.this, node.args.get("start"), node.args.get("length")]
        return substring(self, [self.expr(p, scope) for p in parts if p is not None])


_HANDLERS: dict[type[exp.Expression], Callable[[ExpressionTranslator, exp.Expression, Scope], Ex]] = {
    exp.Literal: ExpressionTranslator._literal,
    exp.Column: ExpressionTranslator._column,
    exp.Placeholder: ExpressionTranslator._placeholder,
    Variable: variable,
    exp.Null: ExpressionTranslator._null,
    exp.Boolean: ExpressionTranslator._boolean,
    exp.Paren: ExpressionTranslator._paren,
    d.DatetimeLiteral: ExpressionTranslator._datetime_literal,
    d.IntervalLiteral: ExpressionTranslator._interval_literal,
    d.CurrentDatetime: ExpressionTranslator._current,
    d.Today: ExpressionTranslator._today,
    d.Extend: ExpressionTranslator._extend,
    d.Units: ExpressionTranslator._units,
    d.CollectionLiteral: ExpressionTranslator._collection,
    exp.Neg: ExpressionTranslator._neg,
    exp.Not: ExpressionTranslator._not,
    exp.And: ExpressionTranslator._connector,
    exp.Or: ExpressionTranslator._connector,
    exp.Is: ExpressionTranslator._is,
    exp.Between: ExpressionTranslator._between,
    exp.In: ExpressionTranslator._in,
    exp.Like: ExpressionTranslator._like,
    exp.Glob: ExpressionTranslator._glob,
    exp.Escape: ExpressionTranslator._escape,
    exp.Exists: ExpressionTranslator._exists,
    exp.Subquery: ExpressionTranslator._subquery,
    exp.Select: ExpressionTranslator._subquery,
    exp.Any: ExpressionTranslator._any,
    exp.All: ExpressionTranslator._any,
    exp.DPipe: ExpressionTranslator._concat,
    exp.Bracket: ExpressionTranslator._bracket,
    exp.Case: ExpressionTranslator._case,
    exp.Cast: ExpressionTranslator._cast,
    exp.Anonymous: ExpressionTranslator._anonymous,
    exp.Window: window,
    exp.Dot: ExpressionTranslator._dot,
    exp.Trim: ExpressionTranslator._trim,
    exp.Substring: ExpressionTranslator._substring,
}
