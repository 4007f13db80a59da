"""Compile Ibis expressions to Informix's SQL.

``SUPPORTED`` lists the operations. Ibis's own translations are the field's usual SQL, which Informix often reads as
something else. So an operation that is not in the list raises ``OperationNotDefinedError``, which names it.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable
from typing import Any

import ibis.common.exceptions as com
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import sqlglot as sg
import sqlglot.expressions as sge
from ibis.backends.sql.compilers._compat import WITH_ARG
from ibis.backends.sql.compilers.base import ALL_OPERATIONS, NULL, STAR, SQLGlotCompiler
from ibis.backends.sql.rewrites import CTE, FirstValue, LastValue, Select, split_select_distinct_with_order_by
from sqlglot.dialects.dialect import Dialect

from . import conditions
from .types import InformixType, raw, raw_type

_Informix = type(Dialect.get_or_raise("informix"))


class InformixIbis(_Informix):  # type: ignore[misc,valid-type]
    """The dialect ``informix`` of sqlglot in a session with DELIMIDENT: double quotes enclose names."""

    class Tokenizer(_Informix.tokenizer_class):  # type: ignore[misc,name-defined]
        """Reads text in double quotes as a name."""

        DELIMIDENT = True

    class Generator(_Informix.generator_class):  # type: ignore[misc,name-defined]
        """Writes FIRST after SELECT also where WITH precedes it, and SQL on several lines, too."""

        def select_sql(self, expression: Any) -> str:
            """Return ``WITH .. SELECT SKIP m FIRST n ..``."""
            limit, offset = expression.args.get("limit"), expression.args.get("offset")
            if limit is None and offset is None:
                return str(super().select_sql(expression))
            window = "".join(
                f"{word} {self.sql(clause, 'expression')} "
                for word, clause in (("SKIP", offset), ("FIRST", limit))
                if clause is not None
            )
            plain = expression.copy()
            for part in ("limit", "offset", WITH_ARG):
                plain.set(part, None)
            text = str(super().select_sql(plain)).removeprefix("SELECT").lstrip()
            return str(self.prepend_ctes(expression, f"SELECT {window}{text}"))


FLOAT = "FLOAT"
DATETIME = "YEAR TO FRACTION(5)"
_WINDOW_AGGREGATES = (ops.Reduction, FirstValue, LastValue)
_NO_MATCH = "\x01"  # an escape character that no pattern contains
_WHITESPACE = (9, 10, 11, 12, 13)  # and the blank; those of Python's string.whitespace

_RELATIONS: frozenset[type] = frozenset(
    {
        ops.Aggregate, ops.AliasedRelation, ops.DatabaseTable, ops.Difference, ops.Distinct, ops.DropColumns,
        ops.DropNull, ops.DummyTable, ops.FillNull, ops.Filter, ops.InMemoryTable, ops.Intersection, ops.JoinChain,
        ops.JoinLink, ops.JoinReference, ops.Limit, ops.Project, ops.SQLQueryResult, ops.SQLStringView,
        ops.SelfReference, ops.Sort, ops.UnboundTable, ops.Union, CTE, Select,
    }
)  # fmt: skip
_VALUES: frozenset[type] = frozenset(
    {
        ops.Abs, ops.Acos, ops.Add, ops.Alias, ops.All, ops.And, ops.Any, ops.ApproxCountDistinct, ops.Arbitrary,
        ops.Asin, ops.Atan, ops.Atan2, ops.Between, ops.BitwiseAnd, ops.BitwiseNot, ops.BitwiseOr, ops.BitwiseXor,
        ops.Capitalize, ops.Cast, ops.Ceil, ops.Clip, ops.Coalesce, ops.Correlation, ops.Cos, ops.Cot, ops.Count,
        ops.CountDistinct, ops.CountStar, ops.Covariance, ops.CumeDist, ops.Date, ops.DateAdd, ops.DateDelta,
        ops.DateFromYMD, ops.DateNow, ops.DateSub, ops.DateTruncate, ops.DayOfWeekIndex, ops.DayOfWeekName,
        ops.Degrees, ops.DenseRank, ops.Divide, ops.E, ops.EndsWith, ops.Equals, ops.ExistsSubquery, ops.Exp,
        ops.ExtractDay, ops.ExtractDayOfYear, ops.ExtractEpochSeconds, ops.ExtractHour, ops.ExtractIsoYear,
        ops.ExtractMicrosecond, ops.ExtractMillisecond, ops.ExtractMinute, ops.ExtractMonth, ops.ExtractQuarter,
        ops.ExtractSecond, ops.ExtractWeekOfYear, ops.ExtractYear, ops.Field, ops.First, FirstValue, ops.Floor,
        ops.FloorDivide, ops.Greater, ops.GreaterEqual, ops.Greatest, ops.IdenticalTo, ops.IfElse, ops.InSubquery,
        ops.InValues, ops.IntervalFromInteger, ops.IsNull, ops.LPad, ops.LStrip, ops.Lag, ops.Last, LastValue,
        ops.Lead, ops.Least, ops.Less, ops.LessEqual, ops.Literal, ops.Ln, ops.Log, ops.Log10, ops.Log2,
        ops.Lowercase, ops.Max, ops.Mean, ops.Min, ops.MinRank, ops.Modulus, ops.Multiply, ops.NTile, ops.Negate,
        ops.Not, ops.NotEquals, ops.NotNull, ops.NullIf, ops.Or, ops.PercentRank, ops.Pi, ops.Power, ops.RPad,
        ops.RStrip, ops.Radians, ops.Repeat, ops.Reverse, ops.Round, ops.RowNumber, ops.ScalarParameter,
        ops.AggUDF, ops.ScalarSubquery, ops.ScalarUDF, ops.SearchedCase, ops.Sign, ops.SimpleCase, ops.Sin,
        ops.SortKey, ops.Sqrt,
        ops.StandardDev, ops.StartsWith, ops.StrRight, ops.Strftime, ops.StringConcat, ops.StringContains,
        ops.StringFind, ops.StringJoin, ops.StringLength, ops.StringReplace, ops.StringSQLILike, ops.StringSQLLike,
        ops.StringSlice, ops.StringToDate, ops.StringToTimestamp, ops.Strip, ops.Substring, ops.Subtract, ops.Sum,
        ops.Tan, ops.Time, ops.TimestampAdd, ops.TimestampDelta, ops.TimestampFromYMDHMS, ops.TimestampNow,
        ops.TimestampSub, ops.TimestampTruncate, ops.Uppercase, ops.Variance, ops.WindowBoundary,
        ops.WindowFunction, ops.Xor,
    }
)  # fmt: skip
SUPPORTED = _RELATIONS | _VALUES
"""Operations that Informix can do."""

_TEXT_FUNCTIONS = frozenset(kind for kind in SUPPORTED if kind.__module__ == ops.StringLength.__module__)
_PASSING = (
    ops.Alias, ops.Arbitrary, ops.Coalesce, ops.First, FirstValue, ops.Greatest, ops.IfElse, ops.Lag, ops.Last,
    LastValue, ops.Lead, ops.Least, ops.Max, ops.Min, ops.NullIf, ops.ScalarSubquery, ops.SearchedCase, ops.SimpleCase,
    ops.WindowFunction,
)  # fmt: skip
"""Operations whose result may be an argument as it is."""

_FORMATS = frozenset("YmdHMSjBbAaypIe%")
"""Directives of strftime that mean the same in Informix's GL_DATETIME."""


def _unsupported(what: str) -> com.UnsupportedOperationError:
    return com.UnsupportedOperationError(f"Informix does not support {what}.")


def text(value: str) -> Any:
    """Return a literal. The server refuses line breaks in quotes, and a literal with trailing blanks is a CHAR."""
    if "\0" in value:
        raise _unsupported("text with a NUL character")
    parts: list[Any] = []
    for i, line in enumerate(value.split("\n")):
        if i:
            parts.append(sge.Anonymous(this="CHR", expressions=[sge.Literal.number(10)]))
        if line:
            parts.append(sge.Literal.string(line))
    if len(parts) > 1:
        return sge.paren(_join(parts))
    literal = parts[0] if parts else sge.Literal.string("")
    if value.endswith(" "):
        return sge.Cast(this=literal, to=raw_type(f"LVARCHAR({len(value.encode()) * 2})"))
    return literal


def _join(parts: list[Any]) -> Any:
    result = parts[0]
    for part in parts[1:]:
        result = sge.DPipe(this=result, expression=part)
    return result


def _called(name: str) -> Callable[..., Any]:
    """Return a method that translates an operation to a function of Informix with the same arguments."""

    def visit(self: InformixCompiler, op: Any, **arguments: Any) -> Any:
        return self._call(name, *arguments.values())

    return visit


class InformixCompiler(SQLGlotCompiler):  # type: ignore[misc]
    """The compiler of the backend. It needs no connection."""

    __slots__ = ()

    dialect = InformixIbis
    type_mapper = InformixType
    post_rewrites = (split_select_distinct_with_order_by,)
    LOWERED_OPS = {ops.Bucket: None, ops.Sample: None}  # noqa: RUF012 - as Ibis declares it
    SIMPLE_OPS = {  # noqa: RUF012
        ops.Abs: "abs", ops.Acos: "acos", ops.Asin: "asin", ops.Atan: "atan", ops.Atan2: "atan2",
        ops.BitwiseAnd: "bitand", ops.BitwiseOr: "bitor", ops.BitwiseXor: "bitxor",
        ops.Cos: "cos", ops.Degrees: "degrees", ops.Exp: "exp", ops.Ln: "ln", ops.Log10: "log10",
        ops.Lowercase: "lower", ops.NullIf: "nullif", ops.Power: "pow", ops.Radians: "radians",
        ops.Reverse: "reverse", ops.Sin: "sin", ops.Sqrt: "sqrt", ops.StringReplace: "replace",
        ops.Tan: "tan", ops.Uppercase: "upper",
        ops.CumeDist: "cume_dist", ops.DenseRank: "dense_rank", ops.MinRank: "rank", ops.NTile: "ntile",
        ops.PercentRank: "percent_rank", ops.RowNumber: "row_number",
    }  # fmt: skip
    UNSUPPORTED_OPS = tuple(sorted(ALL_OPERATIONS - SUPPORTED, key=lambda kind: str(kind.__name__)))

    # ---- statements ----------------------------------------------------------------------------------------------

    def translate(self, op: Any, *, params: Any) -> Any:
        """Translate a relation. Relations that are used several times are repeated, because WITH needs 14.10."""
        for name, dtype in op.schema.items():
            if dtype.is_interval():
                raise _unsupported(f"the result column {name!r} of type {dtype}")
        tree = super().translate(op, params=params)
        named = {str(each.name) for each in op.find(ops.AliasedRelation)}
        with_ = tree.args.get(WITH_ARG)
        if with_ is not None:
            kept = [cte for cte in with_.expressions if cte.alias in named]
            if kept:
                with_.set("expressions", kept)
            else:
                tree.set(WITH_ARG, None)
        return conditions.complete(tree)

    def visit_node(self, op: Any, **kwargs: Any) -> Any:
        """Give functions of text the values of CHAR columns as they are read: without trailing blanks."""
        if type(op) in _TEXT_FUNCTIONS:
            kwargs = {name: self._stripped(getattr(op, name), value) for name, value in kwargs.items()}
        return super().visit_node(op, **kwargs)

    def _stripped(self, op: Any, value: Any) -> Any:
        if isinstance(op, tuple):
            return tuple(self._stripped(*pair) for pair in zip(op, value, strict=True))
        return self._call("RTRIM", value) if isinstance(op, ops.Value) and _is_padded(op) else value

    def visit_CTE(self, op: Any, *, parent: Any) -> Any:
        """Repeat the query itself, but for relations that the user's own SQL refers to by name."""
        if isinstance(op.parent, ops.AliasedRelation):
            return super().visit_CTE(op, parent=parent)
        return parent.copy()

    def visit_DatabaseTable(self, op: Any, *, name: str, schema: Any, source: Any, namespace: Any) -> Any:
        """Name the table: ``database:"owner"."table"``. The name of a database is never quoted."""
        return table_name(name, namespace.catalog, namespace.database)

    def visit_UnboundTable(self, op: Any, *, name: str, schema: Any, namespace: Any) -> Any:
        """Name the table as :meth:`visit_DatabaseTable` does."""
        return table_name(name, namespace.catalog, namespace.database)

    def visit_SQLQueryResult(self, op: Any, *, query: str, schema: Any, source: Any) -> Any:
        """Read from the user's query, whose text is left as it is."""
        return sg.select(STAR).from_(_verbatim(query, "q"))

    def visit_SQLStringView(self, op: Any, *, query: str, parent: Any, schema: Any) -> Any:
        """Read from the user's query, whose text is left as it is."""
        return sg.select(STAR).from_(_verbatim(query, "q"))

    def add_query_to_expr(self, *, name: str, table: Any, query: str) -> str:
        """Return the text of ``query`` with ``table`` as a common table expression of that name."""
        alias = str(sg.to_identifier(name, quoted=True).sql(self.dialect))
        inner = str(self.to_sqlglot(table).sql(self.dialect))
        return f"WITH {alias} AS ({inner}) SELECT * FROM ({strip_semicolon(query)}) AS q"

    def visit_Select(self, op: Any, *, parent: Any, **kw: Any) -> Any:
        """Return a SELECT. A condition on a window function is one on a derived table."""
        result = super().visit_Select(op, parent=parent, **kw)
        if isinstance(result, sge.Select) and result.args.get("qualify") is not None:
            result = sg.transforms.eliminate_qualify(result)
        return result

    def visit_JoinChain(self, op: Any, *, first: Any, rest: Any, values: Any) -> Any:
        """Return the joins. Semi- and anti-joins become EXISTS, which filters after the other joins."""
        kinds = [link.how for link in op.rest]
        filtering = [i for i, how in enumerate(kinds) if how in ("semi", "anti")]
        if filtering and any(how in ("right", "outer") for how in kinds[filtering[0] :]):
            raise _unsupported("a right or full outer join after a semi- or anti-join")
        result = sg.select(*self._cleanup_names(values), copy=False).from_(first, copy=False)
        for how, link in zip(kinds, rest, strict=True):
            join = link.this if isinstance(link, sge.Alias) else link
            if how in ("semi", "anti"):
                exists = sge.Exists(this=sg.select("1").from_(join.this).where(join.args["on"]))
                result = result.where(exists if how == "semi" else sge.Not(this=exists), copy=False)
            else:
                result = result.join(join, copy=False)
        return result

    def visit_JoinLink(self, op: Any, *, how: str, table: Any, predicates: Any) -> Any:
        """Return one join. Raises UnsupportedOperationError for joins that Informix lacks."""
        if how not in ("inner", "left", "right", "outer", "semi", "anti", "cross"):
            raise _unsupported(f"joins of the kind {how!r}")
        return super().visit_JoinLink(op, how=how, table=table, predicates=predicates)

    def visit_Limit(self, op: Any, *, parent: Any, n: Any, offset: Any) -> Any:
        """Return ``SELECT SKIP m FIRST n``."""
        if not (n is None or isinstance(n, int)) or not isinstance(offset, int):
            raise _unsupported("a limit or offset that is an expression")
        inner = parent.this if isinstance(parent, sge.Subquery) else None
        if isinstance(inner, sge.Select) and not (inner.args.get("limit") or inner.args.get("offset")):
            result = inner.copy()
        else:
            result = sg.select(STAR, copy=False).from_(parent, copy=False)
        if n == 0:
            return sg.select(STAR).from_(result.subquery("t")).where("1 = 0")
        if n is not None:
            result = result.limit(n, copy=False)
        if offset:
            result = result.offset(offset, copy=False)
        return result

    def _set_operation(self, kind: Any, left: Any, right: Any, distinct: bool) -> Any:
        sides = [sg.select(STAR, copy=False).from_(side, copy=False) for side in (left, right)]
        if kind is not sge.Union and not distinct:
            raise _unsupported(f"{kind.key.upper()} ALL")
        return kind(this=sides[0], expression=sides[1], distinct=distinct)

    def visit_Union(self, op: Any, *, left: Any, right: Any, distinct: bool) -> Any:
        """``UNION [ALL]`` of derived tables: a part of a UNION has neither ORDER BY nor FIRST."""
        return self._set_operation(sge.Union, left, right, distinct)

    def visit_Intersection(self, op: Any, *, left: Any, right: Any, distinct: bool) -> Any:
        """``INTERSECT``"""
        return self._set_operation(sge.Intersect, left, right, distinct)

    def visit_Difference(self, op: Any, *, left: Any, right: Any, distinct: bool) -> Any:
        """``MINUS``"""
        return self._set_operation(sge.Except, left, right, distinct)

    # ---- types, literals, casts ----------------------------------------------------------------------------------

    def visit_NonNullLiteral(self, op: Any, *, value: Any, dtype: Any) -> Any:
        """Return a literal of the type. Raises UnsupportedOperationError for what Informix cannot hold."""
        if dtype.is_interval():
            return sge.Interval(this=sge.convert(int(value)), unit=sge.Var(this=dtype.unit.name))
        if dtype.is_boolean():
            return sge.Boolean(this=bool(value))
        if dtype.is_string():
            return text(str(value))
        if dtype.is_date():
            return self._call("MDY", value.month, value.day, value.year)
        if dtype.is_timestamp() or dtype.is_time():
            if getattr(value, "tzinfo", None) is not None:
                raise _unsupported(f"a time zone, as in {value.isoformat()}")
            if value.microsecond % 10 or getattr(value, "nanosecond", 0):
                raise _unsupported(f"more than five digits of a second, as in {value.isoformat()}")
            if dtype.is_time():
                return raw(f"DATETIME ({value:%H:%M:%S}.{value.microsecond // 10:05d}) HOUR TO FRACTION(5)")
            day = f"{value.year:04d}-{value:%m-%d %H:%M:%S}"
            return raw(f"DATETIME ({day}.{value.microsecond // 10:05d}) {DATETIME}")
        if dtype.is_decimal():
            if not value.is_finite():
                raise _unsupported(f"the number {value}")
            return sge.convert(value) if value >= 0 else sge.Paren(this=sge.Neg(this=sge.convert(-value)))
        if dtype.is_integer():
            return sge.convert(int(value))
        if dtype.is_floating():
            if value != value or value in (float("inf"), float("-inf")):
                raise _unsupported(f"the number {value}")
            return sge.convert(value)
        raise _unsupported(f"literals of the type {dtype}")

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:
        """Return a conversion with the result of Ibis's DuckDB backend, or raise UnsupportedOperationError."""
        if op.arg.dtype.is_integer() and to.is_interval():
            return self._make_interval(arg, to.unit)
        result = self._convert(arg, op.arg.dtype, to)
        if result is None:
            raise _unsupported(f"casts from {op.arg.dtype} to {to}")
        return result

    def _convert(self, arg: Any, from_: Any, to: Any) -> Any:
        if from_.is_null():
            return self.cast(NULL, to)
        if to.is_boolean():
            if from_.is_boolean():
                return arg
            return sge.NEQ(this=arg, expression=sge.convert(0)) if from_.is_numeric() else None
        if to.is_string():
            return self._to_text(arg, from_)
        if to.is_numeric():
            return self._to_number(arg, from_, to)
        if to.is_date():
            if from_.is_string():
                return self._call("DATE", self._call("TO_DATE", arg, sge.Literal.string("%Y-%m-%d")))
            return self._call("DATE", arg) if from_.is_date() or from_.is_timestamp() else None
        if to.is_timestamp() and to.timezone is None and to.scale in (None, 5, 6):
            if from_.is_date() or from_.is_timestamp():
                return self._extend(arg, DATETIME)
            return self.cast(arg, to) if from_.is_string() else None
        if to.is_time() and from_.is_timestamp():
            return self._extend(arg, "HOUR TO FRACTION(5)")
        return arg if from_.copy(nullable=True) == to.copy(nullable=True) else None

    def _to_text(self, arg: Any, from_: Any) -> Any:
        if from_.is_string():
            return arg
        if from_.is_boolean():
            return self._boolean_case(arg, sge.Literal.string("true"), sge.Literal.string("false"))
        if from_.is_integer():
            return sge.Cast(this=arg, to=raw_type("VARCHAR(20)"))
        if from_.is_decimal() and from_.precision is not None:
            return sge.Cast(this=arg, to=raw_type("VARCHAR(40)"))
        if from_.is_date():
            return self._call("TO_CHAR", arg, sge.Literal.string("%Y-%m-%d"))
        if from_.is_timestamp():
            full = self._call("TO_CHAR", arg, sge.Literal.string("%Y-%m-%d %H:%M:%S%F5"))
            digits = self._call("RTRIM", full, sge.Literal.string("0"))
            return self._call("RTRIM", digits, sge.Literal.string("."))
        return None

    def _to_number(self, arg: Any, from_: Any, to: Any) -> Any:
        if from_.is_boolean():
            arg, from_ = self._boolean_case(arg, sge.convert(1), sge.convert(0)), dt.int8
        if from_.is_string() and not to.is_floating():
            arg, from_ = sge.Cast(this=arg, to=raw_type("DECIMAL(32)")), dt.Decimal(32, 0)
        if to.is_integer() and from_.is_decimal():
            arg = self._call("ROUND", arg, 0)
        elif to.is_integer() and from_.is_floating():
            arg = self._round_half_even(arg)
        elif not (from_.is_numeric() or from_.is_string()) or (to.is_decimal() and to.precision is None):
            return None
        return self.cast(arg, to)

    def _round_half_even(self, arg: Any) -> Any:
        nearest = self._call("ROUND", arg, 0)
        half = self._call("ABS", sge.Sub(this=_paren(arg), expression=self._call("TRUNC", arg, 0))).eq(0.5)
        odd = self._call("MOD", nearest, 2).neq(0)
        towards_even = sge.Sub(this=nearest, expression=self._call("SIGN", arg))
        return sge.Case(ifs=[self.if_(sge.and_(half, odd), towards_even)], default=nearest.copy())

    def _boolean_case(self, arg: Any, true: Any, false: Any) -> Any:
        condition = sge.Paren(this=arg)
        return sge.Case(
            ifs=[self.if_(condition, true), self.if_(sge.Not(this=condition.copy()), false)], default=None
        )

    def _call(self, name: str, *args: Any) -> Any:
        return sge.Anonymous(this=name, expressions=[sge.convert(arg) for arg in args])

    def _float(self, arg: Any) -> Any:
        return sge.Cast(this=sge.convert(arg), to=raw_type(FLOAT))

    def _extend(self, arg: Any, qualifier: str) -> Any:
        return self._call("EXTEND", arg, raw(qualifier))

    def if_(self, condition: Any, true: Any, false: Any = None) -> Any:
        """Return one branch of a CASE."""
        return sge.If(this=sge.convert(condition), true=sge.convert(true), false=false)

    def visit_IfElse(self, op: Any, *, bool_expr: Any, true_expr: Any, false_null_expr: Any) -> Any:
        """``CASE WHEN``"""
        return sge.Case(ifs=[self.if_(bool_expr, true_expr)], default=false_null_expr)

    # ---- logic ---------------------------------------------------------------------------------------------------

    def visit_NotNull(self, op: Any, *, arg: Any) -> Any:
        """``NOT a IS NULL``"""
        return _not_null(arg)

    def visit_Xor(self, op: Any, *, left: Any, right: Any) -> Any:
        """Return the exclusive or."""
        left, right = sge.Paren(this=left), sge.Paren(this=right)
        both = sge.Not(this=sge.Paren(this=sge.And(this=left.copy(), expression=right.copy())))
        return sge.And(this=sge.Paren(this=sge.Or(this=left, expression=right)), expression=both)

    def visit_IdenticalTo(self, op: Any, *, left: Any, right: Any) -> Any:
        """Compare with DECODE, for which two NULLs are equal."""
        return self._call("DECODE", left, right, 1, 0).eq(1)

    def visit_Coalesce(self, op: Any, *, arg: Any) -> Any:
        """``COALESCE``"""
        return self._call("COALESCE", *arg)

    def _extreme(self, name: str, args: Any) -> Any:
        """GREATEST and LEAST of Informix are NULL if an argument is; those of Ibis ignore it."""
        turns = [[*args[i:], *args[:i]] for i in range(len(args))]
        return self._call(name, *(self._call("COALESCE", *(each.copy() for each in turn)) for turn in turns))

    def visit_Greatest(self, op: Any, *, arg: Any) -> Any:
        """``GREATEST``, without NULLs."""
        return self._extreme("GREATEST", arg) if len(arg) > 1 else arg[0]

    def visit_Least(self, op: Any, *, arg: Any) -> Any:
        """``LEAST``, without NULLs."""
        return self._extreme("LEAST", arg) if len(arg) > 1 else arg[0]

    def visit_Clip(self, op: Any, *, arg: Any, lower: Any, upper: Any) -> Any:
        """Return the value, not below ``lower`` and not above ``upper``."""
        for name, bound in (("LEAST", upper), ("GREATEST", lower)):
            if bound is not None:
                arg = self._call(name, arg, bound)
        return arg

    # ---- numbers -------------------------------------------------------------------------------------------------

    def visit_Divide(self, op: Any, *, left: Any, right: Any) -> Any:
        """Divide as FLOAT. Informix divides whole numbers as DECIMAL(32)."""
        quotient = self.binop(sge.Div, self._float(left), self._float(right))
        return quotient if op.dtype.is_floating() else self.cast(quotient, op.dtype)

    def visit_FloorDivide(self, op: Any, *, left: Any, right: Any) -> Any:
        """``FLOOR(a / b)``"""
        return self.cast(self._call("FLOOR", self.binop(sge.Div, left, right)), op.dtype)

    def visit_Modulus(self, op: Any, *, left: Any, right: Any) -> Any:
        """``MOD(a, b)``, which uses the whole parts of its arguments."""
        if not (op.left.dtype.is_integer() and op.right.dtype.is_integer()):
            raise _unsupported("the modulus of numbers that are not whole")
        return self._call("MOD", left, right)

    def visit_Round(self, op: Any, *, arg: Any, digits: Any) -> Any:
        """``ROUND(a, digits)``, away from zero."""
        return self.cast(self._call("ROUND", arg, 0 if digits is None else digits), op.dtype)

    def visit_Ceil(self, op: Any, *, arg: Any) -> Any:
        """``CEIL``"""
        return self.cast(self._call("CEIL", arg), op.dtype)

    def visit_Sign(self, op: Any, *, arg: Any) -> Any:
        """``SIGN``"""
        return self.cast(self._call("SIGN", arg), op.dtype)

    def visit_Log(self, op: Any, *, arg: Any, base: Any) -> Any:
        """``LN(a) / LN(base)``"""
        if base is None:
            return self._call("LN", arg)
        return sge.Div(this=self._call("LN", arg), expression=self._call("LN", base))

    def visit_Log2(self, op: Any, *, arg: Any) -> Any:
        """``LN(a) / LN(2)``"""
        return self.visit_Log(op, arg=arg, base=sge.convert(2))

    def visit_Cot(self, op: Any, *, arg: Any) -> Any:
        """``1 / TAN(a)``"""
        return sge.Div(this=sge.convert(1), expression=self._call("TAN", arg))

    def visit_Pi(self, op: Any) -> Any:
        """``ACOS(-1)``"""
        return self._call("ACOS", -1)

    def visit_E(self, op: Any) -> Any:
        """``EXP(1)``"""
        return self._call("EXP", 1)

    visit_BitwiseNot = _called("BITNOT")

    # ---- text ----------------------------------------------------------------------------------------------------

    visit_StringLength = _called("CHAR_LENGTH")  # which counts trailing blanks. LENGTH does not.

    def visit_StringConcat(self, op: Any, *, arg: Any) -> Any:
        """``a || b``"""
        return sge.Paren(this=_join(list(arg)))

    def visit_StringJoin(self, op: Any, *, arg: Any, sep: Any) -> Any:
        """Join what is not NULL, with ``sep`` between."""
        parts = [
            self._call("NVL", sge.DPipe(this=sep.copy(), expression=_paren(each)), sge.Literal.string(""))
            for each in arg
        ]
        first = sge.Add(this=self._call("CHAR_LENGTH", sep.copy()), expression=sge.convert(1))
        return self._call("SUBSTR", _join(parts), first)

    def _strip(self, names: tuple[str, ...], arg: Any) -> Any:
        blanks = _join([sge.Literal.string(" "), *(self._call("CHR", code) for code in _WHITESPACE)])
        for name in names:
            arg = self._call(name, arg, blanks.copy())
        return arg

    def visit_Strip(self, op: Any, *, arg: Any) -> Any:
        """Remove white space at both ends."""
        return self._strip(("LTRIM", "RTRIM"), arg)

    def visit_LStrip(self, op: Any, *, arg: Any) -> Any:
        """Remove white space at the start."""
        return self._strip(("LTRIM",), arg)

    def visit_RStrip(self, op: Any, *, arg: Any) -> Any:
        """Remove white space at the end."""
        return self._strip(("RTRIM",), arg)

    def _pad(self, name: str, arg: Any, length: Any, pad: Any) -> Any:
        return self._call(
            name, arg, self._call("GREATEST", self._call("CHAR_LENGTH", arg.copy()), length), pad
        )

    def visit_LPad(self, op: Any, *, arg: Any, length: Any, pad: Any) -> Any:
        """``LPAD``, which never cuts."""
        return self._pad("LPAD", arg, length, pad)

    def visit_RPad(self, op: Any, *, arg: Any, length: Any, pad: Any) -> Any:
        """``RPAD``, which never cuts."""
        return self._pad("RPAD", arg, length, pad)

    def visit_Repeat(self, op: Any, *, arg: Any, times: Any) -> Any:
        """Pad the text with itself."""
        length = sge.Mul(this=self._call("CHAR_LENGTH", arg.copy()), expression=_paren(times))
        none = sge.and_(sge.LTE(this=_paren(times.copy()), expression=sge.convert(0)), _not_null(arg))
        return sge.Case(
            ifs=[self.if_(none, sge.Literal.string(""))], default=self._call("RPAD", arg, length, arg.copy())
        )

    def visit_Substring(self, op: Any, *, arg: Any, start: Any, length: Any) -> Any:
        """``SUBSTR``. A start below 0 counts from the end."""
        if isinstance(op.length, ops.Literal) and op.length.value < 0:
            raise com.IbisInputError(f"Length parameter must be a non-negative value; got {op.length.value}")
        if isinstance(op.start, ops.Literal) and op.start.value >= 0:
            first = sge.convert(op.start.value + 1)
        else:
            from_end = sge.Add(this=self._call("CHAR_LENGTH", arg.copy()), expression=_paren(start))
            first = sge.Case(
                ifs=[
                    self.if_(
                        _paren(start) >= 0, sge.Add(this=_paren(start.copy()), expression=sge.convert(1))
                    ),
                    self.if_(from_end >= 0, sge.Add(this=from_end.copy(), expression=sge.convert(1))),
                ],
                default=sge.convert(1),
            )
        return self._call("SUBSTR", arg, first, *(() if length is None else (length,)))

    visit_StrRight = _called("RIGHT")

    def visit_StringFind(self, op: Any, *, arg: Any, substr: Any, start: Any, end: Any) -> Any:
        """``INSTR``"""
        if end is not None:
            raise _unsupported("find() with an end")
        if isinstance(op.substr, ops.Literal) and not op.substr.value:
            raise _unsupported("find() of an empty text")
        if start is None:
            return self._call("INSTR", arg, substr)
        return self._call("INSTR", arg, substr, sge.Add(this=_paren(start), expression=sge.convert(1)))

    def _like(self, arg: Any, pattern: str, escape: str) -> Any:
        like = sge.Like(this=arg, expression=text(pattern))
        return sge.Escape(this=like, expression=sge.Literal.string(escape))

    def visit_StringContains(self, op: Any, *, haystack: Any, needle: Any) -> Any:
        """``LIKE '%needle%'``"""
        if isinstance(op.needle, ops.Literal):
            return self._like(haystack, f"%{_escaped(op.needle.value)}%", "\\")
        empty = sge.and_(self._call("CHAR_LENGTH", needle.copy()).eq(0), _not_null(haystack))
        return sge.Paren(this=sge.or_(empty, self._call("INSTR", haystack, needle) > 0))

    def visit_StartsWith(self, op: Any, *, arg: Any, start: Any) -> Any:
        """``LIKE 'start%'``"""
        if isinstance(op.start, ops.Literal):
            return self._like(arg, f"{_escaped(op.start.value)}%", "\\")
        return self._same_end(arg, start, lambda length: self._call("SUBSTR", arg.copy(), 1, length))

    def visit_EndsWith(self, op: Any, *, arg: Any, end: Any) -> Any:
        """``LIKE '%end'``"""
        if isinstance(op.end, ops.Literal):
            return self._like(arg, f"%{_escaped(op.end.value)}", "\\")
        return self._same_end(arg, end, lambda length: self._call("RIGHT", arg.copy(), length))

    def _same_end(self, arg: Any, part: Any, cut: Any) -> Any:
        length = self._call("CHAR_LENGTH", part.copy())
        fits = sge.GTE(this=self._call("CHAR_LENGTH", arg), expression=length)
        return sge.Paren(this=sge.and_(fits, cut(length.copy()).eq(part)))

    def visit_StringSQLLike(self, op: Any, *, arg: Any, pattern: Any, escape: Any) -> Any:
        """``LIKE`` without an escape character, unless there is one. Informix's default is the backslash."""
        like = sge.Like(this=arg, expression=pattern)
        return sge.Escape(this=like, expression=sge.Literal.string(op.escape or _NO_MATCH))

    def visit_StringSQLILike(self, op: Any, *, arg: Any, pattern: Any, escape: Any) -> Any:
        """``LIKE`` in small letters."""
        return self.visit_StringSQLLike(
            op, arg=self._call("LOWER", arg), pattern=self._call("LOWER", pattern), escape=escape
        )

    # ---- dates and times -----------------------------------------------------------------------------------------

    def visit_DateNow(self, op: Any) -> Any:
        """``TODAY``"""
        return raw("TODAY")

    def visit_TimestampNow(self, op: Any) -> Any:
        """``CURRENT``"""
        return raw(f"CURRENT {DATETIME}")

    visit_Date = _called("DATE")

    def visit_Time(self, op: Any, *, arg: Any) -> Any:
        """``EXTEND(a, HOUR TO FRACTION(5))``"""
        return self._extend(arg, "HOUR TO FRACTION(5)")

    def visit_DateFromYMD(self, op: Any, *, year: Any, month: Any, day: Any) -> Any:
        """``MDY``"""
        return self._call("MDY", month, day, year)

    def visit_TimestampFromYMDHMS(self, op: Any, *, year: Any, month: Any, day: Any, **parts: Any) -> Any:
        """``MDY`` and the parts of the day."""
        result = self._extend(self._call("MDY", month, day, year), DATETIME)
        for unit in ("hours", "minutes", "seconds"):
            if parts[unit] is not None:
                result = sge.Add(this=result, expression=_units(parts[unit], unit.removesuffix("s")))
        return sge.Paren(this=result)

    def _field(self, arg: Any, directive: str) -> Any:
        return sge.Cast(
            this=self._call("TO_CHAR", arg, sge.Literal.string(directive)), to=raw_type("INTEGER")
        )

    visit_ExtractYear = _called("YEAR")
    visit_ExtractMonth = _called("MONTH")
    visit_ExtractDay = _called("DAY")

    def visit_ExtractQuarter(self, op: Any, *, arg: Any) -> Any:
        """Return the quarter, from the month."""
        quarter = sge.Div(this=_paren(self._call("MONTH", arg) + 2), expression=sge.convert(3))
        return self.cast(self._call("TRUNC", quarter, 0), dt.int16)

    def visit_ExtractHour(self, op: Any, *, arg: Any) -> Any:
        """Return the hour, from text."""
        return self._field(self._moment(op.arg, arg), "%H")

    def visit_ExtractMinute(self, op: Any, *, arg: Any) -> Any:
        """Return the minute, from text."""
        return self._field(self._moment(op.arg, arg), "%M")

    def visit_ExtractSecond(self, op: Any, *, arg: Any) -> Any:
        """Return the whole second, from text."""
        return self._field(self._moment(op.arg, arg), "%S")

    def _moment(self, op: Any, arg: Any) -> Any:
        return arg if op.dtype.is_timestamp() or op.dtype.is_time() else self._extend(arg, DATETIME)

    def _fraction(self, op: Any, arg: Any, digits: int) -> Any:
        shown = self._call("TO_CHAR", self._moment(op, arg), sge.Literal.string(f"%F{digits}"))
        return sge.Cast(this=self._call("SUBSTR", shown, 2), to=raw_type("INTEGER"))

    def visit_ExtractMillisecond(self, op: Any, *, arg: Any) -> Any:
        """Return the thousandths of the second."""
        return self._fraction(op.arg, arg, 3)

    def visit_ExtractMicrosecond(self, op: Any, *, arg: Any) -> Any:
        """Return the millionths of the second, of which Informix has five digits."""
        return sge.Mul(this=self._fraction(op.arg, arg, 5), expression=sge.convert(10))

    def visit_ExtractEpochSeconds(self, op: Any, *, arg: Any) -> Any:
        """Return the seconds since 1970."""
        days = _paren(self._call("DATE", arg) - self._call("MDY", 1, 1, 1970))
        seconds = self.cast(days, dt.int64) * 86400
        if op.arg.dtype.is_timestamp():
            for directive, factor in (("%H", 3600), ("%M", 60), ("%S", 1)):
                seconds = sge.Add(this=seconds, expression=self._field(arg.copy(), directive) * factor)
        return sge.Paren(this=seconds)

    def _day(self, arg: Any) -> Any:
        return self._call("DATE", arg.copy())

    def _since_monday(self, arg: Any) -> Any:
        return self._call("MOD", self._call("WEEKDAY", self._day(arg)) + 6, 7)

    def _thursday(self, arg: Any) -> Any:
        """Return the Thursday of the week, whose year is that of the ISO week."""
        return sge.Paren(this=self._day(arg) - self._since_monday(arg) + 3)

    def visit_ExtractDayOfYear(self, op: Any, *, arg: Any) -> Any:
        """Return the days since New Year, from 1."""
        return sge.Paren(this=self._day(arg) - self._call("MDY", 1, 1, self._call("YEAR", arg.copy())) + 1)

    def visit_ExtractWeekOfYear(self, op: Any, *, arg: Any) -> Any:
        """Return the ISO week."""
        thursday = self._thursday(arg)
        days = thursday - self._call("MDY", 1, 1, self._call("YEAR", thursday.copy()))
        return self.cast(self._call("TRUNC", sge.Paren(this=days) / 7, 0) + 1, dt.int32)

    def visit_ExtractIsoYear(self, op: Any, *, arg: Any) -> Any:
        """Return the year of the ISO week."""
        return self._call("YEAR", self._thursday(arg))

    def visit_DayOfWeekIndex(self, op: Any, *, arg: Any) -> Any:
        """Return 0 for Monday to 6."""
        return self._since_monday(arg)

    def visit_DayOfWeekName(self, op: Any, *, arg: Any) -> Any:
        """Return the English name, in every locale."""
        names = [
            self.if_(sge.convert(i), sge.Literal.string(name)) for i, name in enumerate(calendar.day_name)
        ]
        return sge.Case(this=self._since_monday(arg), ifs=names)

    def visit_DateTruncate(self, op: Any, *, arg: Any, unit: Any) -> Any:
        """Return the first day of the year, quarter, month or week."""
        short = unit.short
        year = self._call("YEAR", arg.copy())
        if short == "Y":
            return self._call("MDY", 1, 1, year)
        if short == "Q":
            month = self._call("MONTH", arg)
            first = month - self._call("MOD", month.copy() - 1, 3)
            return self._call("MDY", first, 1, year)
        if short == "M":
            return self._call("MDY", self._call("MONTH", arg), 1, year)
        if short == "W":
            return sge.Paren(this=self._day(arg) - self._since_monday(arg))
        if short == "D":
            return self._day(arg)
        raise _unsupported(f"truncating a date to the unit {short!r}")

    def visit_TimestampTruncate(self, op: Any, *, arg: Any, unit: Any) -> Any:
        """Set the parts below the unit to their first values."""
        short = unit.short
        if short in ("Y", "Q", "M", "W", "D"):
            return self._extend(self.visit_DateTruncate(op, arg=arg, unit=unit), DATETIME)
        last = {"h": "HOUR", "m": "MINUTE", "s": "SECOND", "ms": "FRACTION(3)"}.get(short)
        if last is None:
            raise _unsupported(f"truncating a timestamp to the unit {short!r}")
        return self._extend(self._extend(arg, f"YEAR TO {last}"), DATETIME)

    def _make_interval(self, arg: Any, unit: Any) -> Any:
        return sge.Interval(this=arg, unit=sge.Var(this=unit.name))

    def _shifted(self, op: Any, left: Any, right: Any, sign: int) -> Any:
        if not isinstance(right, sge.Interval):
            raise _unsupported("adding an interval that is neither a literal nor made from whole numbers")
        amount, unit = right.this, right.text("unit").upper()
        if sign < 0:
            amount = sge.Paren(this=sge.Neg(this=_paren(amount)))
        if unit in ("YEAR", "QUARTER", "MONTH"):
            months = amount if unit == "MONTH" else sge.Mul(
                this=_paren(amount), expression=sge.convert(12 if unit == "YEAR" else 3)
            )  # fmt: skip
            return self._add_months(left, months, op.dtype.is_date())
        if unit == "WEEK":
            amount, unit = sge.Mul(this=_paren(amount), expression=sge.convert(7)), "DAY"
        if op.dtype.is_date():
            if unit != "DAY":
                raise _unsupported(f"adding the unit {unit} to a date")
            return sge.Paren(this=sge.Add(this=left, expression=_paren(amount)))
        if unit not in ("DAY", "HOUR", "MINUTE", "SECOND"):
            raise _unsupported(f"adding the unit {unit} to a timestamp")
        moment = left if op.left.dtype.is_timestamp() else self._extend(left, DATETIME)
        return sge.Paren(this=sge.Add(this=moment, expression=_units(amount, unit)))

    def _add_months(self, left: Any, months: Any, is_date: bool) -> Any:
        """Add months. ADD_MONTHS goes from the last day of a month to the last day, which is undone here."""
        moved = self._call("ADD_MONTHS", left, months)
        surplus = sge.Case(
            ifs=[
                self.if_(
                    sge.GT(this=self._call("DAY", moved.copy()), expression=self._call("DAY", left.copy())),
                    self._call("DAY", moved.copy()) - self._call("DAY", left.copy()),
                )
            ],
            default=sge.convert(0),
        )
        back = surplus if is_date else _units(surplus, "DAY")
        return sge.Paren(this=sge.Sub(this=moved, expression=back))

    def visit_DateAdd(self, op: Any, *, left: Any, right: Any) -> Any:
        """Add days or months."""
        return self._shifted(op, left, right, 1)

    def visit_DateSub(self, op: Any, *, left: Any, right: Any) -> Any:
        """Subtract days or months."""
        return self._shifted(op, left, right, -1)

    visit_TimestampAdd = visit_DateAdd
    visit_TimestampSub = visit_DateSub

    def visit_TimestampDelta(self, op: Any, *, part: Any, left: Any, right: Any) -> Any:
        """Return how many boundaries of the unit lie between ``right`` and ``left``."""
        if not isinstance(op.part, ops.Literal):
            raise _unsupported("delta() with a unit that is an expression")
        unit = str(op.part.value).lower().removesuffix("s")
        if unit in ("year", "quarter", "month"):
            total = sge.Sub(this=self._months(left, unit), expression=self._months(right, unit))
        elif unit in ("week", "day", "hour", "minute", "second"):
            total = sge.Sub(
                this=self._elapsed(op.left, left, unit), expression=self._elapsed(op.right, right, unit)
            )
        else:
            raise _unsupported(f"delta() with the unit {unit!r}")
        return self.cast(sge.Paren(this=total), dt.int64)

    visit_DateDelta = visit_TimestampDelta

    def _months(self, arg: Any, unit: str) -> Any:
        year = self._call("YEAR", arg)
        if unit == "year":
            return year
        month = self._call("MONTH", arg.copy()) - 1
        if unit == "quarter":
            quarter = self._call("TRUNC", sge.Paren(this=month) / 3, 0)
            return sge.Paren(this=sge.Add(this=year * 4, expression=quarter))
        return sge.Paren(this=sge.Add(this=year * 12, expression=month))

    def _elapsed(self, op: Any, arg: Any, unit: str) -> Any:
        day = self._call("DATE", arg)
        if unit == "week":
            day = _paren(day - self._since_monday(arg))
        since = sge.Paren(this=day - self._call("MDY", 1, 1, 1900))  # a Monday
        if unit == "week":
            return self._call("TRUNC", since / 7, 0)
        if unit == "day":
            return since
        total = self.cast(since, dt.int64)
        for part, directive, factor in (("hour", "%H", 24), ("minute", "%M", 60), ("second", "%S", 60)):
            field = self._field(arg.copy(), directive) if op.dtype.is_timestamp() else sge.convert(0)
            total = sge.Paren(this=sge.Add(this=total * factor, expression=field))
            if part == unit:
                break
        return total

    def _format(self, op: Any) -> Any:
        if not isinstance(op, ops.Literal):
            raise _unsupported("a format that is an expression")
        pattern = str(op.value)
        i = pattern.find("%")
        while i >= 0:
            directive = pattern[i + 1 : i + 2]
            if directive not in _FORMATS or not directive:
                raise _unsupported(f"the directive %{directive} in the format {pattern!r}")
            i = pattern.find("%", i + 2)
        return text(pattern)

    def visit_Strftime(self, op: Any, *, arg: Any, format_str: Any) -> Any:
        """``TO_CHAR``"""
        return self._call("TO_CHAR", arg, self._format(op.format_str))

    def visit_StringToDate(self, op: Any, *, arg: Any, format_str: Any) -> Any:
        """``DATE(TO_DATE(a, format))``"""
        return self._call("DATE", self._call("TO_DATE", arg, self._format(op.format_str)))

    def visit_StringToTimestamp(self, op: Any, *, arg: Any, format_str: Any) -> Any:
        """``TO_DATE(a, format)``"""
        return self._call("TO_DATE", arg, self._format(op.format_str))

    # ---- aggregates ----------------------------------------------------------------------------------------------

    def _only(self, where: Any, arg: Any) -> Any:
        return arg if where is None else sge.Case(ifs=[self.if_(where.copy(), arg)])

    def visit_CountStar(self, op: Any, *, arg: Any, where: Any) -> Any:
        """``COUNT(*)``"""
        return sge.Count(this=STAR.copy() if where is None else self._only(where, sge.convert(1)))

    def visit_Count(self, op: Any, *, arg: Any, where: Any) -> Any:
        """``COUNT(a)``"""
        return sge.Count(this=self._only(where, arg))

    def visit_CountDistinct(self, op: Any, *, arg: Any, where: Any) -> Any:
        """``COUNT(DISTINCT a)``"""
        return sge.Count(this=sge.Distinct(expressions=[self._only(where, arg)]))

    visit_ApproxCountDistinct = visit_CountDistinct

    def _number(self, op: Any, arg: Any) -> Any:
        return self._boolean_case(arg, sge.convert(1), sge.convert(0)) if op.dtype.is_boolean() else arg

    def visit_Sum(self, op: Any, *, arg: Any, where: Any) -> Any:
        """``SUM``"""
        total = sge.Sum(this=self._only(where, self._number(op.arg, arg)))
        return self.cast(total, op.dtype) if op.dtype.is_integer() else total

    def visit_Mean(self, op: Any, *, arg: Any, where: Any) -> Any:
        """``AVG``, as FLOAT."""
        mean = sge.Avg(this=self._float(self._only(where, self._number(op.arg, arg))))
        return mean if op.dtype.is_floating() else self.cast(mean, op.dtype)

    def visit_Min(self, op: Any, *, arg: Any, where: Any) -> Any:
        """``MIN``"""
        found = sge.Min(this=self._only(where, self._number(op.arg, arg)))
        return found.eq(1) if op.arg.dtype.is_boolean() else found

    def visit_Max(self, op: Any, *, arg: Any, where: Any) -> Any:
        """``MAX``"""
        found = sge.Max(this=self._only(where, self._number(op.arg, arg)))
        return found.eq(1) if op.arg.dtype.is_boolean() else found

    visit_All = visit_Min
    visit_Any = visit_Max
    visit_Arbitrary = visit_Min  # any value will do

    def _sums(self, where: Any, left: Any, right: Any) -> tuple[Any, Any]:
        """Return COUNT, and COUNT times the sum of products of deviations from the means.

        It is computed from sums of DECIMAL(32), which has the digits that differences of sums lose.
        """
        if left is not right:
            both = sge.and_(_not_null(left), _not_null(right))
            where = both if where is None else sge.and_(where.copy(), both)
        x, y = (sge.Cast(this=each.copy(), to=raw_type("DECIMAL(32)")) for each in (left, right))
        count = sge.Count(this=self._only(where, x.copy()))
        sums = [
            sge.Sum(this=self._only(where, each))
            for each in (sge.Mul(this=x, expression=y), x.copy(), y.copy())
        ]
        return count, sge.Paren(this=sge.Sub(this=count.copy() * sums[0], expression=sums[1] * sums[2]))

    def _covariance(self, where: Any, left: Any, right: Any, how: str) -> Any:
        count, products = self._sums(where, left, right)
        divisor = count.copy() if how == "pop" else sge.Paren(this=count.copy() - 1)
        value = self._float(sge.Div(this=products, expression=sge.Paren(this=count.copy() * divisor)))
        enough = sge.GT(this=count, expression=sge.convert(0 if how == "pop" else 1))
        return sge.Case(ifs=[self.if_(enough, value)])

    def visit_Variance(self, op: Any, *, arg: Any, how: str, where: Any) -> Any:
        """Return the variance. That of Informix's VARIANCE differs for a single row."""
        value = self._number(op.arg, arg)
        return self._covariance(where, value, value, how)

    def visit_StandardDev(self, op: Any, *, arg: Any, how: str, where: Any) -> Any:
        """Return the square root of the variance."""
        return self._call(
            "SQRT", self._call("GREATEST", self.visit_Variance(op, arg=arg, how=how, where=where), 0)
        )

    def visit_Covariance(self, op: Any, *, left: Any, right: Any, how: str, where: Any) -> Any:
        """Return the covariance."""
        return self._covariance(where, self._number(op.left, left), self._number(op.right, right), how)

    def visit_Correlation(self, op: Any, *, left: Any, right: Any, how: str, where: Any) -> Any:
        """Return Pearson's coefficient, NULL where a side does not vary."""
        left, right = self._number(op.left, left), self._number(op.right, right)
        both = sge.and_(_not_null(left), _not_null(right))
        where = both if where is None else sge.and_(where.copy(), both)
        deviations = [self._float(self._sums(where, each, each)[1]) for each in (left, right)]
        product = sge.Mul(this=deviations[0], expression=deviations[1])
        ratio = sge.Div(
            this=self._float(self._sums(where, left, right)[1]), expression=self._call("SQRT", product.copy())
        )
        return sge.Case(ifs=[self.if_(product > 0, ratio)])

    # ---- windows -------------------------------------------------------------------------------------------------

    def visit_LagLead(self, op: Any, *, arg: Any, offset: Any, default: Any) -> Any:
        """``LAG(a, offset, default)``"""
        args = [arg]
        if offset is not None or default is not None:
            args.append(sge.convert(1) if offset is None else offset)
        if default is not None:
            args.append(default)
        return self._call(type(op).__name__.upper(), *args)

    visit_Lag = visit_Lead = visit_LagLead

    def visit_FirstValue(self, op: Any, *, arg: Any) -> Any:
        """``FIRST_VALUE``"""
        return self._call("FIRST_VALUE", arg)

    def visit_LastValue(self, op: Any, *, arg: Any) -> Any:
        """``LAST_VALUE``"""
        return self._call("LAST_VALUE", arg)

    def visit_First(self, op: Any, **kw: Any) -> Any:
        """Raise UnsupportedOperationError: Informix has FIRST_VALUE for windows only."""
        raise _unsupported(f"{type(op).__name__.lower()}() outside of a window")

    visit_Last = visit_First

    def visit_WindowFunction(
        self, op: Any, *, how: str, func: Any, start: Any, end: Any, group_by: Any, order_by: Any
    ) -> Any:
        """Give each aggregate in ``func`` its OVER. Only aggregates of an ordered window have a frame."""
        start, end = start or {}, end or {}
        frame = None
        if isinstance(op.func, _WINDOW_AGGREGATES) and (start or end or order_by):
            if not order_by:
                raise _unsupported("a window with a frame and without an order")
            frame = sge.WindowSpec(
                kind=how.upper(),
                over="OVER",
                **_bound("start", start, "PRECEDING"),
                **_bound("end", end, "FOLLOWING"),
            )

        def over(node: Any) -> Any:
            order = sge.Order(expressions=[key.copy() for key in order_by]) if order_by else None
            return sge.Window(
                this=node,
                partition_by=[each.copy() for each in group_by],
                order=order,
                spec=frame and frame.copy(),
            )

        if not isinstance(op.func, ops.Reduction):
            return over(func)
        return func.copy().transform(
            lambda node: (
                over(node)
                if isinstance(node, sge.AggFunc) and not isinstance(node.parent, sge.Window)
                else node
            )
        )


def _is_padded(value: Any) -> bool:
    """Return whether a value may be that of a CHAR column."""
    if not isinstance(value, ops.Value) or not value.dtype.is_string():
        return False
    if isinstance(value, ops.Field):
        return _is_padded_column(value.rel, value.name)
    if isinstance(value, _PASSING):
        return any(map(_is_padded, value.find(ops.Field, filter=ops.Value)))
    return False


def _is_padded_column(relation: Any, name: str) -> bool:
    if isinstance(relation, (ops.DatabaseTable, ops.SQLQueryResult)):
        padded = getattr(relation.source, "padded_columns", None)
        return padded is not None and name in padded(relation)
    if isinstance(relation, ops.Set):
        return _is_padded_column(relation.left, name) or _is_padded_column(relation.right, name)
    value = relation.values.get(name)
    if value is not None:
        return _is_padded(value)
    parent = getattr(relation, "parent", None)
    return parent is not None and _is_padded_column(parent, name)


def _bound(name: str, bound: dict[str, Any], side: str) -> dict[str, Any]:
    value = bound.get("value", "UNBOUNDED")
    if getattr(value, "this", None) == "0":
        return {name: "CURRENT ROW", f"{name}_side": None}
    return {name: value, f"{name}_side": bound.get("side", side)}


def _not_null(node: Any) -> Any:
    return sge.Not(this=node.copy().is_(NULL))


def _paren(node: Any) -> Any:
    return (
        node
        if isinstance(node, (sge.Literal, sge.Column, sge.Paren, sge.Anonymous))
        else sge.Paren(this=node)
    )


def _units(amount: Any, unit: str) -> Any:
    """Return ``amount UNITS unit``, which is how the dialect writes an interval."""
    return sge.Interval(this=_paren(sge.convert(amount)), unit=sge.Var(this=unit.upper()))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def strip_semicolon(query: str) -> str:
    """Return a statement without the semicolon behind it."""
    return query.rstrip().removesuffix(";")


def _verbatim(query: str, alias: str) -> Any:
    return sge.Subquery(this=raw(strip_semicolon(query)), alias=sge.TableAlias(this=sg.to_identifier(alias)))


def table_name(name: str, catalog: str | None = None, owner: str | None = None) -> Any:
    """Return a table as a node of sqlglot: ``database:"owner"."name"``."""
    return sge.Table(
        this=sg.to_identifier(name, quoted=True),
        db=None if owner is None else sg.to_identifier(owner, quoted=True),
        catalog=None if catalog is None else sg.to_identifier(catalog, quoted=False),
    )


compiler = InformixCompiler()
