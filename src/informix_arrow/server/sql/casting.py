"""Values brought to a type: casts, the arms of CASE and NVL, floating decimals as numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError
from .context import Context, Ex
from .intervals import fit_sql, is_interval, qualifier_of, text_sql
from .literals import number
from .moments import extend_sql, moment_text
from .names import text
from .nested_sql import Constructor, build, convert, inferred, literal_text
from .nested_types import is_nested, is_simple_large, lob_kind, same_type
from .packed import DIGITS, encode, pack_sql, unpack_sql
from .result_types import (
    DECIMALS,
    FLOATS,
    INTEGERS,
    PADDED,
    common,
    duck_type,
    has_own_storage,
    is_character,
    is_floating_decimal,
    is_moment,
    is_number,
    plain,
    storage_type,
)

if TYPE_CHECKING:
    from .expressions import ExpressionTranslator

_NO_CAST = -9634


class Casting:
    """The part of the expression translator that changes types."""

    ctx: Context

    @staticmethod
    def loose(ex: Ex) -> Ex:
        """A floating decimal as a number to compute with."""
        return Ex(unpack_sql(ex.sql), ex.type, ex.name) if ex.packed else ex

    def key(self, ex: Ex, precision: int = DIGITS) -> str:
        """A number as the key of a floating decimal of at most `precision` digits."""
        if ex.param >= 0:
            self.ctx.params[ex.param] = ColumnType.decimal(DIGITS)
            self.ctx.packed.add(ex.param)
            return ex.sql if precision == DIGITS else f"_ifx_fit({ex.sql}, {precision})"
        if ex.packed:
            wide = ex.type is None or (ex.type.precision or DIGITS) > precision
            return f"_ifx_fit({ex.sql}, {precision})" if wide else ex.sql
        if ex.literal is not None or ex.number:
            return text(
                encode(number(ex.literal if ex.literal is not None else ex.sql.strip("()")), precision)
            )
        if ex.type is None and ex.sql == "NULL":
            return "CAST(NULL AS VARCHAR)"
        if ex.type is not None and not (is_number(ex.type) or is_character(ex.type)):
            raise SqlError(-1260)
        found = f"_ifx_key(CAST({ex.sql} AS VARCHAR))"
        return found if precision == DIGITS else f"_ifx_fit({found}, {precision})"

    @staticmethod
    def as_key(ex: Ex) -> Ex:
        """A floating decimal that was computed as DOUBLE, as its key."""
        if ex.type is None or not is_floating_decimal(ex.type) or ex.packed:
            return ex
        return replace(ex, sql=pack_sql(ex.sql), packed=True)

    def settle(self, ex: Ex) -> Ex:
        """A constructor that nothing gives a type takes that of its parts; everything else is left as it is."""
        return self.cast(ex, inferred(ex.value)) if isinstance(ex.value, Constructor) else ex

    def _numeric(self, ex: Ex) -> Ex:
        ex = self.loose(ex)
        if ex.type is not None and is_character(ex.type):
            sql = self.ctx.as_type_of(ex, ColumnType.float_())
            return Ex(sql, ColumnType.float_())
        return ex

    def choose(self, arms: list[tuple[str, Ex]], otherwise: Ex | None) -> Ex:
        """CASE from translated arms; all values get their common type."""
        t: ColumnType | None = None
        values = [v for _, v in arms] + ([otherwise] if otherwise is not None else [])
        for value in values:
            t = common(t, value.type)
        sql = "".join(f" WHEN {test} THEN {self.to(value, t)}" for test, value in arms)
        sql += f" ELSE {self.to(otherwise, t)}" if otherwise is not None else ""
        return self.of_type(f"(CASE{sql} END)", t)

    @staticmethod
    def of_type(sql: str, t: ColumnType | None) -> Ex:
        """What `to` has brought to one type."""
        return Ex(sql, plain(t) if t is not None else None, packed=t is not None and is_floating_decimal(t))

    def to(self, ex: Ex, t: ColumnType | None) -> str:
        """SQL of an expression where a value of type `t` is wanted (NVL, CASE)."""
        if isinstance(ex.value, Constructor) and t is not None:
            return self.cast(ex, t).sql
        if t is not None and is_floating_decimal(t):
            return self.key(ex)
        if t is None or ex.param >= 0 or ex.type is None:
            return self.ctx.hint(ex, t).sql
        if is_character(t) and is_character(ex.type):
            return ex.sql
        if same_type(ex.type, t):
            return ex.sql
        return self.cast(ex, t).sql

    def cast(self, ex: Ex, t: ColumnType) -> Ex:
        """`x::T` with Informix's rules: characters are cut, integers from decimals too."""
        if ex.param < 0 and (has_own_storage(t) or is_nested(ex.type)) and not is_interval(t):
            return self._cast_parts(ex, t)
        if ex.param >= 0:
            if self.ctx.params[ex.param] is None:
                self.ctx.params[ex.param] = t
            if is_floating_decimal(t):
                return Ex(self.key(ex, t.precision or DIGITS), t, packed=True)
            self.ctx.assigned.add(ex.param)
            return Ex(f"CAST({ex.sql} AS {duck_type(t)})", t)
        if is_floating_decimal(t):
            return Ex(self.key(ex, t.precision or DIGITS), t, packed=True)
        if ex.packed:
            return self._cast_key(ex, t)
        source = ex.type
        if is_simple_large(source) or lob_kind(source):
            raise SqlError(_NO_CAST, 0, 0, t.sql.lower())
        if source is None:
            return Ex(f"CAST({ex.sql} AS {duck_type(t)})", t)
        if ex.literal is not None and not is_character(t):
            sql = self.ctx.read_literal(ex.literal, t)
            return Ex(f"CAST({sql} AS {duck_type(t)})", t)
        if is_character(t):
            sql = ex.sql
            if source.is_boolean:
                sql = f"(CASE WHEN {sql} THEN 't' WHEN NOT {sql} THEN 'f' END)"
            elif is_interval(source):
                sql = text_sql(sql, qualifier_of(source))
            elif is_moment(source):
                sql = moment_text(sql, source, self.ctx.dbdate)
            elif source.code in DECIMALS and source.scale and source.scale == source.precision:
                # DuckDB leaves out the zero before the point of a DECIMAL(p,p) only.
                sql = f"CAST(CAST({sql} AS DECIMAL({source.scale + 1}, {source.scale})) AS VARCHAR)"
            elif not is_character(source):
                sql = f"CAST({sql} AS VARCHAR)"
            if is_character(source) and source.content_width <= t.content_width:
                return Ex(sql, t, source=t if t.code in PADDED and source.code in PADDED else None)
            return Ex(f"left({sql}, {t.content_width})", t)
        if is_character(source):
            return Ex(f"CAST({self.ctx.as_type_of(ex, t)} AS {duck_type(t)})", t)
        if t.code == TypeCode.DATETIME and t.qualifier is not None and is_moment(source):
            return Ex(extend_sql(ex.sql, source, t.qualifier, self.ctx), t)
        if is_interval(t) and is_interval(source):
            return Ex(fit_sql(ex.sql, qualifier_of(source), qualifier_of(t)), t)
        if is_interval(t) or is_interval(source):
            raise SqlError(_NO_CAST, 0, 0, t.sql.lower())
        if t.code in INTEGERS and (source.code in FLOATS or source.code in DECIMALS):
            return Ex(f"CAST(trunc({ex.sql}) AS {duck_type(t)})", t)
        if t.is_boolean and not source.is_boolean:
            raise SqlError(-9634, 0, 0, "boolean")
        return Ex(f"CAST({ex.sql} AS {duck_type(t)})", t)

    def _cast_key(self, ex: Ex, t: ColumnType) -> Ex:
        """A floating decimal as another type."""
        if is_character(t):
            return Ex(f"left(_ifx_plain({ex.sql}), {t.content_width})", t)
        if t.code in DECIMALS:
            precision, scale = t.precision or DIGITS, t.scale or 0
            return Ex(f"CAST(_ifx_fixed({ex.sql}, {precision}, {scale}) AS {duck_type(t)})", t)
        if t.code in INTEGERS:
            return Ex(f"CAST(CAST(_ifx_whole({ex.sql}, 'down') AS HUGEINT) AS {duck_type(t)})", t)
        if t.code in FLOATS:
            return Ex(f"CAST({unpack_sql(ex.sql)} AS {duck_type(t)})", t)
        raise SqlError(_NO_CAST, 0, 0, t.sql.lower())

    def _cast_parts(self, ex: Ex, t: ColumnType) -> Ex:
        """A cast to or from a collection, ROW or large object. -9634 where there is none."""
        outer = len(self.ctx.cuts)
        try:
            return self._cast_whole(cast("ExpressionTranslator", self), ex, t)
        finally:
            del self.ctx.cuts[outer:]  # they speak of the parts, which only the cast can see

    def _cast_whole(self, tr: ExpressionTranslator, ex: Ex, t: ColumnType) -> Ex:
        source = ex.type
        if isinstance(ex.value, Constructor):
            if is_nested(t):
                return Ex(build(tr, ex.value, t), t)
            source = inferred(ex.value)
            ex = Ex(build(tr, ex.value, source), source)
        if source is None:
            return Ex(f"CAST({ex.sql} AS {storage_type(t)})", t)
        if ex.literal is not None and (is_nested(t) or lob_kind(t)):
            return Ex(self.ctx.read_literal(ex.literal, t), t)
        if is_nested(source) and is_nested(t):
            return Ex(convert(tr, ex.sql, source, t), t)
        if is_nested(source) and is_character(t):
            return self.cast(Ex(literal_text(tr, ex.sql, source), ColumnType.lvarchar(32739)), t)
        same_large = lob_kind(t) is not None and lob_kind(t) == lob_kind(source)
        if same_large or (is_simple_large(t) and source.code == t.code):
            return Ex(ex.sql, t, source=t)
        raise SqlError(_NO_CAST, 0, 0, t.sql.lower())
