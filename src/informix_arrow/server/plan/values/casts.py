"""Type conversions in SQL: casts, assignments, the arms of CASE and NVL, and the operands of comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....wire.qualifiers import Qualifier
from ....wire.types import ColumnType, TypeCode
from ...errors import SqlError
from ...types.conversions import ValueConverter
from ...types.documents import is_document
from ...types.intervals import convert_units_sql, is_interval, parse, qualifier_of, same_class, text_sql
from ...types.literals import date, datetime_fields, money, number, to_storage
from ...types.nested_types import is_nested, is_simple_large, lob_kind, same_type
from ...types.packed_decimal import DIGITS, encode, pack_sql, unpack_sql
from ...types.quoting import quote_string, value_sql
from ...types.result_types import (
    DECIMALS,
    FLOATS,
    INTEGERS,
    LONGEST_TEXT,
    PADDED,
    character,
    common_type,
    datetime_storage,
    duck_type,
    has_own_storage,
    is_character,
    is_date_or_datetime,
    is_exact,
    is_floating_decimal,
    is_number,
    storage_type,
    text_type,
    without_serial,
)
from ..context import TranslationContext
from ..scope import TypedExpression
from .datetimes import checked_date_sql, extend_sql, moment_text
from .nested import Constructor, build_value, convert, inferred_type, literal_text
from .text_limits import bounded_text_sql
from .text_truncation import (
    byte_length,
    padded_sql,
    truncate_literal,
    truncate_sql,
    truncate_without_lambda_sql,
)

_NO_CAST = _WRONG_TYPES = -9634
_NO_CONVERSION = -1260
_OTHER_FIELDS = -1266
_WHOLE_MOMENT = Qualifier.parse("YEAR TO FRACTION(5)")
_NO_LARGE_OBJECTS = -615  # BYTE and TEXT can be compared with NULL only


_PARAMETER_WIDTH = 255
"""Bytes of a text parameter whose size nothing else determines."""
_DAY_ZERO = "DATE '1899-12-31'"
_RANKS = {
    TypeCode.SMALLINT: (0, "INTEGER"), TypeCode.INTEGER: (1, "BIGINT"), TypeCode.SERIAL: (1, "BIGINT")
}  # fmt: skip
_LONG = (2, "HUGEINT")


def _reject_smallest_sql(sql: str, ex: TypedExpression, t: ColumnType) -> str:
    """Return SQL that rejects the smallest value of an integer storage type, which is NULL on the wire.

    The negative of that value is out of range, so it raises the same error as a number that is too large.
    """
    rank, wide = _RANKS.get(TypeCode(t.code), _LONG)
    if ex.type is not None and ex.type.code in INTEGERS:
        source_rank = _RANKS.get(TypeCode(ex.type.code), _LONG)[0]
        if source_rank < rank or (source_rank == rank and (ex.is_number_literal or ex.source is not None)):
            return sql
    return f"(-CAST(-CAST({sql} AS {wide}) AS {duck_type(t)}))"


def _number_cut(sql: str, width: int) -> str:
    """Return SQL of a number's text with at most `width` characters. Digits after the point are cut, others raise
    -1207."""
    integer_fits = f"strlen(split_part({sql}, '.', 1)) <= {width} AND NOT contains({sql}, 'e')"
    fits = f"strlen({sql}) <= {width}"
    cut = f"WHEN {integer_fits} THEN left({sql}, {width})"
    return f"(CASE WHEN {sql} IS NULL OR {fits} THEN {sql} {cut} ELSE error('IFX-1207') END)"


def _number_text(sql: str, source: ColumnType) -> str:
    """Return SQL of a number's text. That of a MONEY has the currency after the sign."""
    if source.code in DECIMALS and source.scale and source.scale == source.precision:
        # DuckDB omits the zero before the point only for DECIMAL(p,p)
        sql = f"CAST({sql} AS DECIMAL({source.scale + 1}, {source.scale}))"
    if source.code == TypeCode.MONEY:
        return f"(CASE WHEN {sql} < 0 THEN '-$' ELSE '$' END || CAST(abs({sql}) AS VARCHAR))"
    return f"CAST({sql} AS VARCHAR)"


def _digits(sql: str) -> str:
    """Return SQL of a text that DuckDB can parse as a number. DuckDB alone would accept underscores as in '1_000'."""
    return f"replace(trim({sql}), '_', '?')"


def _exact_number(sql: str, read: str, t: ColumnType) -> str:
    """Return SQL that converts a text to a number of type `t` with all its digits.

    `read` is the text as DOUBLE. It raises the error for a text that does not fit.
    """
    duck = duck_type(t)
    if t.code == TypeCode.MONEY:
        return f"CAST(_ifx_money({sql}) AS {duck})"
    if t.code in INTEGERS:
        exact = f"TRY_CAST(trunc(TRY_CAST({_digits(sql)} AS DECIMAL(38, 16))) AS {duck})"
        return f"coalesce({exact}, CAST(trunc({read}) AS {duck}))"
    return f"coalesce(TRY_CAST({_digits(sql)} AS {duck}), CAST({read} AS {duck}))"


def _cast_interval(ex: TypedExpression, source: ColumnType, t: ColumnType) -> TypedExpression:
    """Convert an INTERVAL to another qualifier. Raises -9634 for a cast between an INTERVAL and another type."""
    if not (is_interval(t) and is_interval(source)):
        raise SqlError(_NO_CAST, 0, 0, t.sql.lower())
    return TypedExpression(convert_units_sql(ex.sql, qualifier_of(source), qualifier_of(t)), t)


def _cast_number_or_day(ex: TypedExpression, source: ColumnType, t: ColumnType) -> TypedExpression:
    """Convert between numbers, dates and BOOLEAN."""
    duck = duck_type(t)
    if t.is_boolean != source.is_boolean:
        raise SqlError(_NO_CAST, 0, 0, "boolean")
    if t.code in INTEGERS and (source.code in FLOATS or source.code in DECIMALS):
        return TypedExpression(f"CAST(trunc({ex.sql}) AS {duck})", t)
    if source.code == TypeCode.DATE and is_number(t):
        return TypedExpression(f"CAST(({ex.sql} - {_DAY_ZERO}) AS {duck})", t)
    if t.code == TypeCode.DATE and is_number(source):
        return TypedExpression(
            checked_date_sql(f"({_DAY_ZERO} + CAST(trunc({ex.sql}) AS INTEGER))", of_number=True), t
        )
    return TypedExpression(f"CAST({ex.sql} AS {duck})", t)


class Values:
    """Converts the values of one statement between types. Parameters get their types here."""

    def __init__(self, ctx: TranslationContext) -> None:
        self.ctx = ctx

    # ---- floating decimals, constructors, numbers ---------------------------------------------
    @staticmethod
    def loose(ex: TypedExpression) -> TypedExpression:
        """Convert a floating decimal to a number for computations."""
        return (
            TypedExpression(ex.duck_number or unpack_sql(ex.sql), ex.type, ex.name)
            if ex.is_packed_decimal
            else ex
        )

    @staticmethod
    def open_number(sql: str) -> TypedExpression:
        """Return a number computed from untyped parameters, as a key that keeps all digits."""
        return TypedExpression(
            f"_ifx_key(CAST({sql} AS VARCHAR))",
            ColumnType.decimal(DIGITS),
            is_packed_decimal=True,
            duck_number=sql,
        )

    def key(self, ex: TypedExpression, precision: int = DIGITS) -> str:
        """Convert a number to the key of a floating decimal of at most `precision` digits."""
        if ex.param >= 0:
            self.ctx.params[ex.param] = ColumnType.decimal(DIGITS)
            self.ctx.packed_params.add(ex.param)
            return ex.sql if precision == DIGITS else f"_ifx_fit({ex.sql}, {precision})"
        if ex.is_packed_decimal:
            wide = ex.type is None or (ex.type.precision or DIGITS) > precision
            return f"_ifx_fit({ex.sql}, {precision})" if wide else ex.sql
        if ex.literal is not None or ex.is_number_literal:
            return quote_string(
                encode(number(ex.literal if ex.literal is not None else ex.sql.strip("()")), precision)
            )
        if ex.type is None and ex.sql == "NULL":
            return "CAST(NULL AS VARCHAR)"
        if ex.type is not None and ex.type.code == TypeCode.DATE:
            ex = replace(ex, sql=f"({ex.sql} - {_DAY_ZERO})")
        elif ex.type is not None and not (is_number(ex.type) or is_character(ex.type)):
            raise SqlError(_NO_CONVERSION)
        found = f"_ifx_key(CAST({ex.sql} AS VARCHAR))"
        return found if precision == DIGITS else f"_ifx_fit({found}, {precision})"

    @staticmethod
    def as_key(ex: TypedExpression) -> TypedExpression:
        """Convert a floating decimal that was computed as DOUBLE to its key."""
        if ex.type is None or not is_floating_decimal(ex.type) or ex.is_packed_decimal:
            return ex
        return replace(ex, sql=pack_sql(ex.sql), is_packed_decimal=True)

    def with_inferred_type(self, ex: TypedExpression) -> TypedExpression:
        """Convert a constructor without a type to the type of its parts. Other expressions stay unchanged."""
        return self.cast(ex, inferred_type(ex.value)) if isinstance(ex.value, Constructor) else ex

    def numeric(self, ex: TypedExpression) -> TypedExpression:
        ex = self.loose(ex)
        if ex.type is not None and is_character(ex.type):
            sql = self.as_type_of(ex, ColumnType.float_())
            return TypedExpression(sql, ColumnType.float_())
        return ex

    # ---- one type for several -----------------------------------------------------------------
    def choose(
        self, arms: list[tuple[str, TypedExpression]], otherwise: TypedExpression | None
    ) -> TypedExpression:
        """Translate a CASE from translated arms. All values get their common type."""
        values = [v for _, v in arms] + ([otherwise] if otherwise is not None else [])

        def case(sqls: list[str]) -> str:
            sql = "".join(f" WHEN {test} THEN {value}" for (test, _), value in zip(arms, sqls, strict=False))
            return f"(CASE{sql}{f' ELSE {sqls[-1]}' if otherwise is not None else ''} END)"

        return self.one_of(values, case)

    def one_of(self, values: list[TypedExpression], choice: Callable[[list[str]], str]) -> TypedExpression:
        """Translate a choice between several values, all converted to their common type.

        A parameter keeps all its digits or characters, whatever the other types are. Raises -881 for a text of more
        than 255 bytes.
        """
        t: ColumnType | None = None
        for value in values:
            t = common_type(t, value.type)
        is_open = [self.ctx.is_untyped_param(value) for value in values]
        if t is None and all(value.sql == "NULL" for value in values):
            return TypedExpression("NULL", None)
        if t is None and any(is_open):
            t = character(_PARAMETER_WIDTH)
        if t is not None and any(is_open) and is_character(t):
            t = t if t.content_width >= _PARAMETER_WIDTH else character(_PARAMETER_WIDTH)
            longest = t.content_width
            size = byte_length("{0}", self.ctx.codec)
            fits = f"CASE WHEN {size} > {longest} THEN error('IFX-881') ELSE {{0}} END"
            sqls = [
                f"({fits.format(sql)})" if left else sql
                for sql, left in zip([self.to(value, t) for value in values], is_open, strict=True)
            ]
            return self.of_type(choice(sqls), t)
        if t is not None and any(is_open) and is_exact(t):
            for value, left in zip(values, is_open, strict=True):
                self.ctx.hint(value, ColumnType.decimal(DIGITS) if left else None)
            return self.open_number(choice([self.to(value, t) for value in values]))
        return self.of_type(choice([self.to(value, t) for value in values]), t)

    @staticmethod
    def of_type(sql: str, t: ColumnType | None) -> TypedExpression:
        """Return an expression over SQL that `to` has converted to type `t`."""
        return TypedExpression(
            sql,
            without_serial(t) if t is not None else None,
            is_packed_decimal=t is not None and is_floating_decimal(t),
        )

    def to(self, ex: TypedExpression, t: ColumnType | None) -> str:
        """Return SQL of an expression as a value of type `t` (NVL, CASE)."""
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

    def joined(self, a: TypedExpression, b: TypedExpression) -> TypedExpression:
        """Translate `a || b`."""
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
            # a CHAR contributes its trailing blanks, which storage has removed
            padded = side.source is not None and side.source.code in PADDED
            parts.append(padded_sql(side.sql, t.encoded_length, self.ctx.codec) if padded else side.sql)
        sql = f"({parts[0]} || {parts[1]})"
        if width > LONGEST_TEXT or a.param >= 0 or b.param >= 0:
            sql = bounded_text_sql(sql, self.ctx.codec)
        return TypedExpression(sql, character(width or 255))

    # ---- CAST ---------------------------------------------------------------------------------
    def cast(self, ex: TypedExpression, t: ColumnType) -> TypedExpression:
        """Translate `x::T` with Informix's rules: texts are truncated, and so are decimals cast to integers."""
        source = ex.type
        if ex.param >= 0:
            return self._cast_parameter(ex, t)
        if is_document(t) or is_document(source):
            return self._cast_document(ex, t)
        if (has_own_storage(t) or is_nested(source)) and not is_interval(t):
            return self._cast_parts(ex, t)
        if is_floating_decimal(t):
            return self._cast_to_key(ex, t)
        if ex.is_packed_decimal:
            return self._cast_key(ex, t)
        if source is None:
            return TypedExpression(f"CAST({ex.sql} AS {duck_type(t)})", t)
        if is_simple_large(source) or lob_kind(source):
            raise SqlError(_NO_CAST, 0, 0, t.sql.lower())
        if is_character(t):
            return self._cast_to_text(ex, source, t)
        if ex.literal is not None:
            sql = self.read_literal(ex.literal, t)
            return TypedExpression(
                f"CAST({f'trunc({sql})' if t.code in INTEGERS else sql} AS {duck_type(t)})", t
            )
        if is_character(source):
            return self._cast_text(ex, t)
        if is_interval(t) or is_interval(source):
            return _cast_interval(ex, source, t)
        if t.code == TypeCode.DATETIME and t.qualifier is not None and is_date_or_datetime(source):
            return TypedExpression(extend_sql(ex.sql, source, t.qualifier, self.ctx), t)
        return _cast_number_or_day(ex, source, t)

    def _cast_parameter(self, ex: TypedExpression, t: ColumnType) -> TypedExpression:
        """Cast a parameter. It gets the type of its first cast if nothing else has given it one."""
        if self.ctx.params[ex.param] is None:
            self.ctx.params[ex.param] = t
        if is_floating_decimal(t):
            return self._cast_to_key(ex, t)
        self.ctx.assigned_params.add(ex.param)
        return TypedExpression(f"CAST({ex.sql} AS {duck_type(t)})", t)

    def _cast_to_key(self, ex: TypedExpression, t: ColumnType) -> TypedExpression:
        """Cast a number to a floating decimal."""
        return TypedExpression(self.key(ex, t.precision or DIGITS), t, is_packed_decimal=True)

    def _cast_to_text(self, ex: TypedExpression, source: ColumnType, t: ColumnType) -> TypedExpression:
        """Cast a value of type `source` to a text."""
        padded = t if t.code in PADDED else None
        if is_character(source):
            if source.content_width <= t.content_width:
                return TypedExpression(ex.sql, t, source=padded if source.code in PADDED else None)
            return TypedExpression(truncate_without_lambda_sql(ex.sql, t.content_width, self.ctx.codec), t)
        if source.is_boolean:
            sql = f"(CASE WHEN {ex.sql} THEN 't' WHEN NOT {ex.sql} THEN 'f' END)"
        elif is_interval(source):
            sql = text_sql(ex.sql, qualifier_of(source))
        elif is_date_or_datetime(source):
            sql = moment_text(ex.sql, source, self.ctx.dbdate)
        else:
            sql = _number_text(ex.sql, source)
        # such a text ends without a blank, as CHAR values are stored
        if is_number(source) and t.content_width < text_type(source).content_width:
            return TypedExpression(_number_cut(sql, t.content_width), t, source=padded)
        return TypedExpression(
            truncate_without_lambda_sql(sql, t.content_width, self.ctx.codec), t, source=padded
        )

    def _cast_text(self, ex: TypedExpression, t: ColumnType) -> TypedExpression:
        """Cast a text to another type."""
        read = self.as_type_of(ex, t)
        if t.code in INTEGERS or t.code in DECIMALS:
            return TypedExpression(_exact_number(ex.sql, read, t), t)
        return TypedExpression(f"CAST({read} AS {duck_type(t)})", t)

    def _cast_key(self, ex: TypedExpression, t: ColumnType) -> TypedExpression:
        """Cast a floating decimal to another type."""
        if ex.duck_number and is_number(t):
            return TypedExpression(
                f"CAST({f'trunc({ex.duck_number})' if t.code in INTEGERS else ex.duck_number} AS {duck_type(t)})",
                t,
            )
        if is_character(t):
            padded = t if t.code in PADDED else None
            return TypedExpression(_number_cut(f"_ifx_plain({ex.sql})", t.content_width), t, source=padded)
        if t.code in DECIMALS:
            precision, scale = t.precision or DIGITS, t.scale or 0
            return TypedExpression(f"CAST(_ifx_fixed({ex.sql}, {precision}, {scale}) AS {duck_type(t)})", t)
        if t.code in INTEGERS:
            return TypedExpression(
                f"CAST(CAST(_ifx_whole({ex.sql}, 'down') AS HUGEINT) AS {duck_type(t)})", t
            )
        if t.code in FLOATS:
            return TypedExpression(f"CAST({unpack_sql(ex.sql)} AS {duck_type(t)})", t)
        raise SqlError(_NO_CAST, 0, 0, t.sql.lower())

    def _cast_document(self, ex: TypedExpression, t: ColumnType) -> TypedExpression:
        """Cast from or to JSON or BSON. Raises -9634 if there is no such cast: BSON and text meet by way of JSON."""
        source = ex.type
        if source is None:
            return TypedExpression(f"CAST({ex.sql} AS {storage_type(t)})", t)
        if ex.literal is not None and t.is_json:
            return TypedExpression(self.read_literal(ex.literal, t), t)
        if (source.is_json and t.is_json) or (source.is_bson and t.is_bson):
            return TypedExpression(ex.sql, t)
        if source.is_json and t.is_bson:
            return TypedExpression(f"_ifx_to_bson({ex.sql})", t)
        if source.is_bson and t.is_json:
            return TypedExpression(f"_ifx_to_json({ex.sql})", t)
        if is_character(source) and t.is_json:
            return TypedExpression(f"_ifx_json({ex.sql})", t)
        if source.is_json and is_character(t):
            return self.cast(TypedExpression(ex.sql, ColumnType.lvarchar(LONGEST_TEXT)), t)
        raise SqlError(_NO_CAST, 0, 0, t.sql.lower())

    def _cast_parts(self, ex: TypedExpression, t: ColumnType) -> TypedExpression:
        """Cast to or from a collection, ROW or large object. Raises -9634 if there is no such cast."""
        outer = len(self.ctx.truncation_conditions)
        try:
            return self._cast_whole(ex, t)
        finally:
            # the conditions refer to parts, which exist only inside the cast
            del self.ctx.truncation_conditions[outer:]

    def _cast_whole(self, ex: TypedExpression, t: ColumnType) -> TypedExpression:
        source = ex.type
        if isinstance(ex.value, Constructor):
            if is_nested(t):
                return TypedExpression(build_value(self, ex.value, t), t)
            source = inferred_type(ex.value)
            ex = TypedExpression(build_value(self, ex.value, source), source)
        if source is None:
            return TypedExpression(f"CAST({ex.sql} AS {storage_type(t)})", t)
        if ex.literal is not None and (is_nested(t) or lob_kind(t)):
            return TypedExpression(self.read_literal(ex.literal, t), t)
        if is_nested(source) and is_nested(t):
            return TypedExpression(convert(self, ex.sql, source, t), t)
        if is_nested(source) and is_character(t):
            return self.cast(
                TypedExpression(literal_text(self, ex.sql, source), ColumnType.lvarchar(32739)), t
            )
        same_large = lob_kind(t) is not None and lob_kind(t) == lob_kind(source)
        if same_large or (is_simple_large(t) and source.code == t.code):
            return TypedExpression(ex.sql, t, source=t)
        raise SqlError(_NO_CAST, 0, 0, t.sql.lower())

    # ---- into a column ------------------------------------------------------------------------
    def assign(self, ex: TypedExpression, t: ColumnType) -> str:
        """Return SQL of `ex` as a value of a column of type `t`."""
        if ex.param >= 0:
            self.ctx.params[ex.param] = t
            self.ctx.assigned_params.add(ex.param)
            return f"CAST({ex.sql} AS {storage_type(t)})"
        if isinstance(ex.value, Constructor):
            return self.cast(ex, t).sql
        if ex.type is None:
            return f"CAST({ex.sql} AS {storage_type(t)})"
        if is_floating_decimal(t):
            return self.key(ex, t.precision or 16)
        if is_simple_large(t) and ex.source is None:
            raise SqlError(-617)  # only parameters, columns and NULL
        if is_character(t):
            return self._assign_text(ex, ex.type, t)
        if t.code in DECIMALS and ex.type.code == TypeCode.FLOAT:
            return f"CAST({ex.sql} AS {duck_type(t)})"
        sql = self.cast(ex, t).sql
        return _reject_smallest_sql(sql, ex, t) if t.code in INTEGERS else sql

    def _assign_text(self, ex: TypedExpression, source: ColumnType, t: ColumnType) -> str:
        """Assign a value of type `source` to a character column. Possible truncation is recorded in the context."""
        if ex.literal is not None:
            truncated = truncate_literal(ex.literal, t, self.ctx.codec)
            full_text = ex.literal.rstrip(" ") if t.code in PADDED else ex.literal
            self.ctx.literal_truncated = self.ctx.literal_truncated or truncated != full_text
            return quote_string(truncated)
        if is_number(source):
            full = self.cast(ex, text_type(source)).sql
            if t.content_width < text_type(source).content_width:
                self.ctx.truncation_conditions.append(
                    f"{byte_length(full, self.ctx.codec)} > {t.content_width}"
                )
            return self.cast(ex, t).sql  # -1207 for a number cut before its point
        if not is_character(source):
            # a date as text is a DuckDB VARCHAR, truncated like any other
            source = ColumnType.lvarchar(255)
            ex = self.cast(ex, source)
        sql = ex.sql
        if source.content_width > t.content_width:
            whole = f"rtrim({sql}, ' ')" if t.code in PADDED else sql
            self.ctx.truncation_conditions.append(f"{byte_length(whole, self.ctx.codec)} > {t.content_width}")
            sql = truncate_sql(sql, t.content_width, self.ctx.codec)
        already = ex.source is not None and ex.source.code in PADDED
        return f"rtrim({sql}, ' ')" if t.code in PADDED and not already else sql

    # ---- comparisons ------------------------------------------------------------------------------
    def meet(self, a: TypedExpression, b: TypedExpression) -> tuple[str, str]:
        """Return SQL of both operands of a comparison, with the built-in casts of Informix.

        Literals and parameters take the other operand's type, and so does a text that meets another type. A DATE that
        meets a number is its day number. Of two moments, the one with fewer fields is extended. Texts compare without
        trailing blanks. Raises -1260 for types between which there is no cast.
        """
        a, b = self.ctx.hint(a, b.type), self.ctx.hint(b, a.type)
        if a.is_packed_decimal or b.is_packed_decimal:
            return self._meet_packed(a, b)
        if a.type is None or b.type is None:
            return a.sql, b.sql
        if is_simple_large(a.type) or is_simple_large(b.type):
            raise SqlError(_NO_LARGE_OBJECTS)
        if is_nested(a.type) or is_nested(b.type) or is_document(a.type) or is_document(b.type):
            raise SqlError(_WRONG_TYPES)  # nodes/operators.py compares these
        if is_interval(a.type) and is_interval(b.type):
            same_class(qualifier_of(a.type), qualifier_of(b.type))
            return a.sql, b.sql
        if is_character(a.type) and is_character(b.type):
            return self.trimmed(a), self.trimmed(b)
        if is_character(a.type) and a.param < 0:
            return self.as_type_of(a, b.type), b.sql
        if is_character(b.type) and b.param < 0:
            return a.sql, self.as_type_of(b, a.type)
        if a.param >= 0 or b.param >= 0:
            return a.sql, b.sql
        return self._beside(a, b.type), self._beside(b, a.type)

    def _beside(self, ex: TypedExpression, t: ColumnType) -> str:
        """Return SQL of one operand of a comparison with a value of type `t`. Neither is a text."""
        source = ex.type
        if source is not None and source.is_boolean != t.is_boolean:
            raise SqlError(_WRONG_TYPES)
        if source is None or source.code == t.code:
            return self._extended(ex, t) if t.code == TypeCode.DATETIME else ex.sql
        if TypeCode.INTERVAL in (source.code, t.code) or lob_kind(source) or lob_kind(t):
            raise SqlError(_NO_CONVERSION)
        if source.code == TypeCode.DATE and is_number(t):
            return f"({ex.sql} - {_DAY_ZERO})"
        if TypeCode.DATETIME in (source.code, t.code):
            if not (is_date_or_datetime(source) and is_date_or_datetime(t)):
                raise SqlError(_NO_CONVERSION)
            return self._extended(ex, t)
        return ex.sql

    def _extended(self, ex: TypedExpression, t: ColumnType) -> str:
        """Return SQL of a moment that is compared with one of type `t`: a time of day gets the current date."""
        storages = {datetime_storage(x.qualifier) for x in (ex.type, t) if x is not None and x.qualifier}
        if storages == {"TIME"} or storages <= {"DATE", "TIMESTAMP"}:
            return ex.sql
        if ex.type is not None and ex.type.code == t.code and ex.type.qualifier == t.qualifier:
            return ex.sql
        if "VARCHAR" in storages:
            raise SqlError(_OTHER_FIELDS)
        if ex.type is None or ex.type.qualifier is None or datetime_storage(ex.type.qualifier) != "TIME":
            return ex.sql
        return extend_sql(ex.sql, ex.type, _WHOLE_MOMENT, self.ctx)

    def _meet_packed(self, a: TypedExpression, b: TypedExpression) -> tuple[str, str]:
        if all(
            x.duck_number or (x.type is not None and is_number(x.type) and not x.is_packed_decimal)
            for x in (a, b)
        ):
            return a.duck_number or a.sql, b.duck_number or b.sql
        if a.is_packed_decimal and b.is_packed_decimal:
            return a.sql, b.sql
        if b.is_packed_decimal:
            right, left = self._meet_packed(b, a)
            return left, right
        if b.param >= 0:
            self.ctx.packed_params.add(b.param)
            return a.sql, b.sql
        if b.is_number_literal or b.literal is not None:
            value = number(b.literal if b.literal is not None else b.sql.strip("()"))
            return a.sql, quote_string(encode(value, 32))
        if b.sql == "NULL":
            return a.sql, b.sql
        return a.sql, self.key(b)

    def trimmed(self, ex: TypedExpression) -> str:
        """Return SQL of a text without trailing blanks."""
        if ex.literal is not None:
            return quote_string(ex.literal.rstrip(" "))
        if ex.source is not None and ex.source.code in PADDED:
            return ex.sql  # stored without them
        return f"rtrim({ex.sql}, ' ')"

    def as_type_of(self, ex: TypedExpression, t: ColumnType) -> str:
        """Return SQL of a text as a value of another type. A literal is parsed immediately (-1213, -1218, ...)."""
        if ex.literal is not None:
            return self.read_literal(ex.literal, t)
        if t.code == TypeCode.MONEY:
            return f"CAST(_ifx_money({ex.sql}) AS DOUBLE)"
        if is_number(t):
            return f"_ifx_number(CAST({_digits(ex.sql)} AS DOUBLE))"
        if t.is_boolean:
            return f"(CASE lower(trim({ex.sql})) WHEN 't' THEN TRUE WHEN 'f' THEN FALSE END)"
        if is_interval(t):
            return f"_ifx_interval({ex.sql}, {t.encoded_length})"
        if t.qualifier is not None:
            return f"CAST(_ifx_moment({ex.sql}, {t.encoded_length}) AS {datetime_storage(t.qualifier)})"
        return f"_ifx_date({ex.sql}, {quote_string(self.ctx.dbdate)})"

    def read_literal(self, value: str, t: ColumnType) -> str:
        """Return a DuckDB literal for a character literal that is a value of type `t`."""
        if is_number(t):
            return f"{money(value) if t.code == TypeCode.MONEY else number(value):f}"
        if t.is_boolean:
            lowered = value.strip().lower()
            if lowered not in ("t", "f"):
                raise SqlError(-9634, 0, 0, "", "A BOOLEAN must be 't' or 'f'.")
            return "TRUE" if lowered == "t" else "FALSE"
        if is_nested(t) or lob_kind(t) or is_document(t):
            stored = ValueConverter(t, self.ctx.codec, self.ctx.dbdate).convert(value)
            return f"CAST({value_sql(stored)} AS {storage_type(t)})"
        if is_interval(t):
            return f"CAST({parse(value, qualifier_of(t))} AS BIGINT)"
        if t.code == 10 and t.qualifier is not None:
            stored = to_storage(datetime_fields(value, t.qualifier), t.qualifier)
            return f"{datetime_storage(t.qualifier)} {quote_string(str(stored))}"
        if t.code == 7:
            return f"DATE {quote_string(date(value, self.ctx.dbdate).isoformat())}"
        return quote_string(value)
