"""Typed values of a translation, and conversions between types as Informix does them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal, localcontext

from sqlglot import exp

from ..server.errors import SqlError
from ..server.types.literals import date, datetime_fields, money, number
from ..server.types.literals import to_storage as datetime_value
from ..server.types.result_types import (
    DECIMALS,
    FLOATS,
    INTEGERS,
    LONGS,
    PADDED,
    common_type,
    is_character,
    is_date_or_datetime,
)
from ..wire.qualifiers import Field, Qualifier
from ..wire.types import ColumnType, TypeCode
from .targets import Node, Target, is_number, refuse, storage, string
from .targets import number as number_node


def is_text(t: ColumnType | None) -> bool:
    return t is not None and is_character(t)


def is_moment(t: ColumnType | None) -> bool:
    return t is not None and is_date_or_datetime(t)


def kind_of(t: ColumnType) -> str:
    """Return the storage of a DATE or DATETIME: DATE, TIMESTAMP or TIME. Raises UnsupportedError for others."""
    if t.code == TypeCode.DATE:
        return "DATE"
    found = storage(t.qualifier) if t.qualifier is not None else ""
    return found or refuse(f"the type {t.sql}")


@dataclass(frozen=True)
class Value:
    """A translated expression. `type` is None if it is not known.

    `literal` is the text of a quoted string, which has no type yet. `null` is NULL. `width` is the declared width of a
    CHAR column, whose trailing blanks are not stored. `interval` is (count, unit) of `n UNITS DAY` and of literals.
    `constant` is a numeric literal. `name` is how messages show it.
    """

    node: Node
    type: ColumnType | None = None
    literal: str | None = None
    null: bool = False
    width: int = 0
    interval: tuple[tuple[Node, str], ...] | None = None
    constant: Decimal | None = None
    name: str = field(default="", compare=False)

    @property
    def unknown(self) -> bool:
        return self.type is None and self.literal is None and not self.null and self.interval is None


def described(value: Value) -> str:
    return f"{value.name or value.node.sql()}"


def needs_type(value: Value, what: str) -> None:
    """Refuse an operation on a value of unknown type."""
    if value.unknown:
        refuse(
            f"{what} of {described(value)}, whose type is not known",
            "Pass the columns as schema=, or put CREATE TABLE before the statement.",
        )


def number_type(text: str) -> ColumnType:
    """Return the type of a number in SQL."""
    if "e" in text.lower():
        return ColumnType.float_()
    if "." not in text:
        size = int(text)
        if size < 2**31:
            return ColumnType.integer()
        return ColumnType.bigint() if size < 2**63 else ColumnType.decimal(32, 0)
    whole, _, fraction = text.partition(".")
    digits = len(whole.lstrip("0")) + len(fraction)
    return ColumnType.decimal(max(1, min(32, digits)), min(32, len(fraction)))


def constant(target: Target, found: Decimal) -> Value:
    text = format(found, "f")
    kind = number_type(text.lstrip("-"))
    node = number_node(text) if kind.code in INTEGERS else target.decimal_literal(text)
    return Value(node, kind, constant=found)


class Conversions:
    """Conversions for one target."""

    def __init__(self, target: Target) -> None:
        self.target = target

    # ---- literals -------------------------------------------------------------------------------------------
    def literal_as(self, text: str, t: ColumnType) -> Value:
        """Read a quoted string as a value of a type."""
        try:
            return self._literal_as(text, t)
        except SqlError as error:
            refuse(f"the text {text!r} as {t.sql} (Informix fails with {error.sqlcode})")

    def _literal_as(self, text: str, t: ColumnType) -> Value:
        if is_text(t):
            return Value(string(text), t)
        if t.is_boolean:
            if text.strip().lower() not in ("t", "f"):
                refuse(f"the text {text!r} as BOOLEAN")
            return Value(exp.Boolean(this=text.strip().lower() == "t"), t)
        if t.code == TypeCode.DATE:
            return Value(self.target.date(date(text).isoformat()), t)
        if t.code == TypeCode.DATETIME and t.qualifier is not None:
            return self.datetime_literal(text, t)
        if is_number(t):
            return constant(self.target, money(text) if t.code == TypeCode.MONEY else number(text))
        refuse(f"a text as {t.sql}")

    def datetime_literal(self, text: str, t: ColumnType) -> Value:
        assert t.qualifier is not None
        kind = kind_of(t)
        if kind == "TIME" and not self.target.has_time:
            refuse(f"the type {t.sql} for {self.target.name}")
        value = datetime_value(datetime_fields(text, t.qualifier), t.qualifier)
        if isinstance(value, dt.datetime):
            return Value(self.target.timestamp(value.isoformat(" ")), t)
        if isinstance(value, dt.time):
            return Value(self.target.time(value.isoformat()), t)
        return Value(self.target.date(str(value)[:10]), t)

    @staticmethod
    def only_text(value: Value) -> bool:
        """Return whether a quoted string can only be meant for a text: it is no number, date, datetime or boolean."""
        text = (value.literal or "").strip()
        if text.lower() in ("t", "f"):
            return False
        return not any(c.isdigit() for c in text) or any(c.isalpha() for c in text)

    # ---- texts ----------------------------------------------------------------------------------------------
    def key(self, value: Value) -> Node:
        """Return a value for comparison: a text without its trailing blanks."""
        if value.literal is not None:
            return string(value.literal.rstrip(" "))
        if value.unknown:
            return self.target.trimmed(self.target.text(value.node))
        if is_text(value.type) and not self.is_trimmed(value):
            return self.target.trimmed(value.node)
        return value.node

    @staticmethod
    def is_trimmed(value: Value) -> bool:
        return value.width > 0

    def text(self, value: Value, what: str) -> Value:
        """Return an argument of a text function."""
        if value.literal is not None:
            return replace(value, node=string(value.literal))
        if value.unknown or is_text(value.type) or value.null:
            return value
        if value.type is not None and value.type.code in INTEGERS:
            return Value(self.target.text(value.node), ColumnType.varchar(20))
        refuse(f"{what} of {value.type.sql if value.type else 'an interval'}")

    def whole_text(self, value: Value) -> Node:
        """Return a text with the blanks of a CHAR column."""
        if value.width:
            return self.target.pad("R", value.node, number_node(value.width), string(" "))
        return value.node

    # ---- one type for several -------------------------------------------------------------------------------
    def meet(self, a: Value, b: Value) -> tuple[Node, Node]:
        """Return two operands of a comparison."""
        if a.interval is not None or b.interval is not None:
            refuse("comparisons of INTERVALs")
        if a.null or b.null:
            return a.node, b.node
        if a.literal is not None and b.literal is None:
            right, left = self.meet(b, a)
            return left, right
        if b.literal is not None:
            return self._meet_literal(a, b)
        if a.unknown or b.unknown:
            other = b if a.unknown else a
            if is_text(other.type) or (other.type is not None and other.type.is_boolean):
                needs_type(a if a.unknown else b, "comparison")
            return a.node, b.node
        assert a.type is not None
        assert b.type is not None
        if is_text(a.type) and is_text(b.type):
            return self.key(a), self.key(b)
        if is_number(a.type) and is_number(b.type):
            narrow = TypeCode.SMALLFLOAT
            if (a.type.code == narrow) != (b.type.code == narrow) and not (
                a.type.code in INTEGERS or b.type.code in INTEGERS
            ):
                refuse("comparison of a SMALLFLOAT with a number of another kind")
            return self._floats(a, b), self._floats(b, a)
        if is_moment(a.type) and is_moment(b.type):
            kinds = {kind_of(a.type), kind_of(b.type)}
            if "TIME" in kinds and len(kinds) > 1:
                refuse("comparison of a DATETIME without a date with one that has a date")
            if len(kinds) > 1:
                return self.moment_as(a, "TIMESTAMP"), self.moment_as(b, "TIMESTAMP")
            return a.node, b.node
        if a.type.is_boolean and b.type.is_boolean:
            return a.node, b.node
        refuse(f"comparison of {a.type.sql} with {b.type.sql}")

    def _floats(self, value: Value, other: Value) -> Node:
        """Return an exact number beside a FLOAT as a FLOAT."""
        exact = value.type is not None and value.type.code in DECIMALS
        beside = other.type is not None and other.type.code in FLOATS
        return self.target.cast(value.node, "DOUBLE") if exact and beside else value.node

    def _meet_literal(self, a: Value, b: Value) -> tuple[Node, Node]:
        if a.literal is not None:
            return self.key(a), self.key(b)
        if a.unknown:
            if not self.only_text(b):
                needs_type(a, f"comparison with {b.literal!r}")
            return self.target.trimmed(a.node), self.key(b)
        assert a.type is not None
        if is_text(a.type):
            return self.key(a), self.key(b)
        return a.node, self.literal_as(b.literal or "", a.type).node

    def moment_as(self, value: Value, kind: str) -> Node:
        if value.type is None or kind_of(value.type) == kind:
            return value.node
        return self.target.cast(value.node, kind)

    def common(self, values: list[Value]) -> tuple[list[Node], ColumnType | None]:
        """Return the values of NVL, CASE and the like as nodes of one type, and the type. None if it is not known."""
        typed = [v.type for v in values if v.type is not None]
        unknown = any(v.unknown for v in values)
        if any(v.interval is not None for v in values):
            refuse("INTERVALs in NVL, CASE or DECODE")
        t: ColumnType | None = None
        for each in typed:
            t = self._common(t, each)
        literals = [v for v in values if v.literal is not None]
        if unknown:
            for value in literals:
                if not self.only_text(value):
                    needs_type(next(v for v in values if v.unknown), f"a choice beside {value.literal!r}")
            if literals and t is not None and not is_text(t):
                refuse("a choice between a text and another type")
            if t is not None and is_text(t):
                needs_type(next(v for v in values if v.unknown), "a choice beside a text")
            return [string(v.literal) if v.literal is not None else v.node for v in values], None
        if t is None:
            if literals:
                width = max(1, *(len(v.literal or "") for v in literals))
                t = ColumnType.varchar(width) if width <= 255 else ColumnType.lvarchar(width)
            return [string(v.literal) if v.literal is not None else v.node for v in values], t
        nodes: list[Node] = []
        for value in values:
            if value.literal is not None:
                if not (is_text(t) or t.is_boolean):
                    refuse(f"a choice between a text and {t.sql}, whose result is a text", "Cast the text.")
                nodes.append(self.literal_as(value.literal, t).node)
            elif is_moment(t) and value.type is not None:
                nodes.append(self.moment_as(value, kind_of(t)))
            elif t.code in FLOATS and value.type is not None and value.type.code in DECIMALS:
                nodes.append(self.target.cast(value.node, "DOUBLE"))
            else:
                nodes.append(value.node)
        return nodes, t

    @staticmethod
    def _common(a: ColumnType | None, b: ColumnType) -> ColumnType:
        if a is None:
            return b
        same = (
            (is_text(a) and is_text(b))
            or (is_number(a) and is_number(b))
            or (
                is_moment(a)
                and is_moment(b)
                and ("TIME" in (kind_of(a), kind_of(b))) == (kind_of(a) == kind_of(b) == "TIME")
            )
            or (a.is_boolean and b.is_boolean)
        )
        if not same:
            refuse(f"a choice between {a.sql} and {b.sql}")
        found = common_type(a, b)
        assert found is not None
        return found

    # ---- casts ----------------------------------------------------------------------------------------------
    def cast(self, value: Value, t: ColumnType) -> Value:
        """Translate `x::T`. Texts are cut, and so are the fractions of numbers that become integers."""
        target, source = self.target, value.type
        if value.null:
            return Value(target.cast(value.node, target.type_name(t)), t)
        if value.interval is not None or t.code == TypeCode.INTERVAL:
            refuse(f"a cast to or from {t.sql}")
        if value.literal is not None:
            return self._cast_literal(value.literal, t)
        if t.is_boolean or (source is not None and source.is_boolean):
            if source is not None and source.is_boolean and t.is_boolean:
                return value
            refuse("a cast to or from BOOLEAN")
        if source is None:
            needs_type(value, f"a cast to {t.sql}")
        assert source is not None
        if is_text(t):
            return self._cast_to_text(value, source, t)
        if is_number(t) and is_number(source):
            return Value(self.number_as(value, t), t)
        if is_moment(t) and is_moment(source):
            return self.extended(value, t)
        if is_number(t) and is_text(source) and t.code in FLOATS:
            return Value(target.cast(target.trim(value.node), "DOUBLE"), t)
        refuse(f"a cast of {source.sql} to {t.sql}")

    def _cast_literal(self, text: str, t: ColumnType) -> Value:
        if is_text(t):
            if not text.isascii():
                refuse("a cast of a text beyond ASCII to a width in bytes")
            cut = text[: t.content_width]
            return Value(
                string(cut.rstrip(" ") if t.code in PADDED else cut),
                t,
                width=t.content_width if t.code in PADDED else 0,
            )
        found = self.literal_as(text, t)
        return Value(self.number_as(found, t), t) if is_number(t) else found

    def number_as(self, value: Value, t: ColumnType) -> Node:
        """Return a number as one of another type. The fraction is cut for integers and rounded for decimals."""
        source, target = value.type, self.target
        assert source is not None
        if value.constant is not None:
            found = value.constant
            if t.code in INTEGERS:
                whole = number_node(str(int(found)))
                return whole if abs(found) < 2**31 else target.cast(whole, target.type_name(t))
            if t.code in DECIMALS and t.scale is not None:
                with localcontext() as context:
                    context.prec = 80
                    rounded = found.quantize(Decimal(1).scaleb(-t.scale), ROUND_HALF_UP)
                return target.cast(target.decimal_literal(format(rounded, "f")), target.type_name(t))
        if t.code in INTEGERS:
            kind = target.type_name(t)
            if source.code in INTEGERS:
                return value.node if source.code == t.code else target.cast(value.node, kind)
            return target.to_integer(value.node, kind)
        if t.code in FLOATS:
            return target.cast(value.node, target.type_name(t))
        if source.code in FLOATS:
            refuse(f"a cast of {source.sql} to {t.sql}, as the databases round binary fractions differently")
        if source.scale is None and source.code in DECIMALS and not target.has_floating_decimal:
            refuse(f"a cast of {source.sql}")
        if t.scale is None and source.code in DECIMALS and (source.precision or 0) > (t.precision or 0):
            refuse(f"a cast of {source.sql} to {t.sql}")
        return target.cast(value.node, target.type_name(t))

    def _cast_to_text(self, value: Value, source: ColumnType, t: ColumnType) -> Value:
        target, width = self.target, t.content_width
        padded = width if t.code in PADDED else 0
        if is_text(source):
            if source.content_width <= width:
                node = value.node if value.width else self.key(value) if padded else value.node
                if value.width and not padded:
                    node = self.whole_text(value)
                return Value(node, t, width=padded)
            node = target.substring(value.node, number_node(1), number_node(width))
            if padded:
                node = target.trimmed(node)
            elif value.width:
                node = target.substring(self.whole_text(value), number_node(1), number_node(width))
            return Value(node, t, width=padded)
        needed = 0
        if source.code in INTEGERS:
            needed = 20 if source.code in LONGS else 11
        elif source.code == TypeCode.DECIMAL and source.scale is not None and target.name != "bigquery":
            needed = (source.precision or 32) + 3
        elif source.code == TypeCode.DATE:
            if width < 10:
                refuse(f"a cast of DATE to {t.sql}")
            pieces = [(True, "m"), (False, "/"), (True, "d"), (False, "/"), (True, "Y")]
            return Value(target.format(value.node, pieces), t, width=padded)
        if not needed or needed > width:
            refuse(f"a cast of {source.sql} to {t.sql}")
        return Value(target.text(value.node), t, width=padded)

    # ---- dates ----------------------------------------------------------------------------------------------
    def extended(self, value: Value, t: ColumnType) -> Value:
        """Translate EXTEND: a DATE or DATETIME with other fields."""
        target, source, qualifier = self.target, value.type, t.qualifier
        if t.code == TypeCode.DATE:
            qualifier = Qualifier.parse("YEAR TO DAY")
        assert qualifier is not None
        assert source is not None
        kind, before = kind_of(t), kind_of(source)
        if before == "TIME":
            if kind != "TIME" or source.qualifier != qualifier:
                refuse("EXTEND of a DATETIME without a date")
            return Value(value.node, t)
        if kind == "DATE":
            return Value(self.moment_as(value, "DATE"), t)
        stamp = self.moment_as(value, "TIMESTAMP")
        finest = Field.DAY if source.qualifier is None else source.qualifier.end
        if qualifier.end < finest:
            if qualifier.has_seconds_fraction:
                if qualifier.fraction_digits != 3 or target.name not in (
                    "postgres",
                    "duckdb",
                    "spark",
                    "snowflake",
                ):
                    refuse(f"EXTEND to {t.sql}")
                stamp = target.cut(
                    stamp, "MILLISECOND" if target.name in ("spark", "snowflake") else "MILLISECONDS"
                )
            else:
                stamp = target.cut(
                    stamp, ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")[qualifier.end // 2]
                )
        if kind == "TIME":
            if not target.has_time:
                refuse(f"the type {t.sql} for {target.name}")
            return Value(target.cast(stamp, "TIME"), t)
        return Value(stamp, t)

    def date_of(self, value: Value, what: str) -> Value:
        """Return an argument that is a DATE or a DATETIME with a date."""
        if value.literal is not None:
            return self.literal_as(value.literal, ColumnType.date())
        if value.unknown:
            return value
        if value.type is None or not is_moment(value.type) or kind_of(value.type) == "TIME":
            refuse(f"{what} of {value.type.sql if value.type else 'NULL'}")
        return value
