"""Values brought to a type: casts, the arms of CASE and NVL, floating decimals as numbers."""

from __future__ import annotations

from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError
from .context import Context, Ex
from .moments import extend_sql, moment_text
from .packed import unpack_sql
from .result_types import (
    DECIMALS,
    FLOATS,
    INTEGERS,
    PADDED,
    common,
    duck_type,
    is_character,
    is_floating_decimal,
    is_moment,
    plain,
)


class Casting:
    """The part of the expression translator that changes types."""

    ctx: Context

    @staticmethod
    def loose(ex: Ex) -> Ex:
        """A floating decimal as a number to compute with."""
        return Ex(unpack_sql(ex.sql), ex.type, ex.name) if ex.packed else ex

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
        return Ex(f"(CASE{sql} END)", plain(t) if t is not None else None)

    def to(self, ex: Ex, t: ColumnType | None) -> str:
        """SQL of an expression where a value of type `t` is wanted (NVL, CASE)."""
        ex = self.loose(ex)
        if t is None or ex.param >= 0 or ex.type is None:
            return self.ctx.hint(ex, t).sql
        if is_character(t) and is_character(ex.type):
            return ex.sql
        if (ex.type.code, ex.type.encoded_length) == (t.code, t.encoded_length):
            return ex.sql
        return self.cast(ex, t).sql

    def cast(self, ex: Ex, t: ColumnType) -> Ex:
        """`x::T` with Informix's rules: characters are cut, integers from decimals too."""
        if ex.param >= 0:
            if self.ctx.params[ex.param] is None:
                self.ctx.params[ex.param] = t
            if not is_floating_decimal(t):
                self.ctx.assigned.add(ex.param)
            return Ex(f"CAST({ex.sql} AS {duck_type(t)})", t)
        ex = self.loose(ex)
        source = ex.type
        if source is None:
            return Ex(f"CAST({ex.sql} AS {duck_type(t)})", t)
        if ex.literal is not None and not is_character(t):
            sql = self.ctx.read_literal(ex.literal, t)
            return Ex(f"CAST({sql} AS {duck_type(t)})", t)
        if is_character(t):
            sql = ex.sql
            if source.is_boolean:
                sql = f"(CASE WHEN {sql} THEN 't' WHEN NOT {sql} THEN 'f' END)"
            elif is_moment(source):
                sql = moment_text(sql, source, self.ctx.dbdate)
            elif source.code in DECIMALS and source.scale is None:
                sql = f"regexp_replace(CAST({sql} AS VARCHAR), '\\.0$', '')"
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
        if t.code in INTEGERS and (source.code in FLOATS or source.code in DECIMALS):
            return Ex(f"CAST(trunc({ex.sql}) AS {duck_type(t)})", t)
        if t.is_boolean and not source.is_boolean:
            raise SqlError(-9634, 0, 0, "boolean")
        return Ex(f"CAST({ex.sql} AS {duck_type(t)})", t)
