"""How the databases that SQL is translated for write types, functions and arithmetic of dates.

Only what a database computes exactly as Informix does is here. A method raises UnsupportedError for anything else.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, TypeAlias

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from ..server.types import result_types
from ..server.types.result_types import DECIMALS, INTEGERS, LONGS
from ..wire.qualifiers import Field, Qualifier
from ..wire.types import ColumnType, TypeCode

Node: TypeAlias = Any
"""A node of sqlglot, whose types mypy does not see."""


def refuse(what: str, hint: str = "") -> NoReturn:
    """Raise ``UnsupportedError`` for what has no exact equivalent. ``hint`` is a sentence that says what to do."""
    raise UnsupportedError(f"There is no exact translation of {what}.{' ' if hint else ''}{hint}")


def call(name: str, *args: Node | int | str) -> Node:
    """Return a call whose name no generator changes."""
    return exp.Anonymous(this=name, expressions=[_node(a) for a in args])


def _node(value: Node | int | str) -> Node:
    if isinstance(value, int):
        return number(value)
    return exp.Literal.string(value) if isinstance(value, str) else value


def number(value: int | str) -> Node:
    text = str(value)
    return exp.Neg(this=exp.Literal.number(text[1:])) if text.startswith("-") else exp.Literal.number(text)


def string(value: str) -> Node:
    return exp.Literal.string(value)


def paren(node: Node) -> Node:
    simple = (exp.Literal, exp.Column, exp.Anonymous, exp.Cast, exp.Paren, exp.Null, exp.Case, exp.Func)
    return node if isinstance(node, simple) else exp.Paren(this=node)


def binary(kind: type[Any], left: Node, right: Node) -> Node:
    found: Node = kind(this=paren(left), expression=paren(right))
    if kind is exp.Div:
        found.set("typed", True)  # no generator shall add a cast
    return found


def is_number(t: ColumnType | None) -> bool:
    return t is not None and result_types.is_number(t)


def storage(qualifier: Qualifier) -> str:
    """Return the type for DATETIME values of a qualifier: DATE, TIMESTAMP, TIME, or "" if there is none."""
    if qualifier.start == Field.YEAR and qualifier.end >= Field.DAY:
        return "DATE" if qualifier.end == Field.DAY else "TIMESTAMP"
    return "TIME" if qualifier.start == Field.HOUR and qualifier.end >= Field.MINUTE else ""


class Target:
    """A database that SQL is translated for. The methods build sqlglot's nodes."""

    name: ClassVar[str] = ""
    types: ClassVar[dict[str, str]] = {}
    """Types by their standard names, where they differ."""
    has_time = True
    has_floating_decimal = False
    has_temporary_tables = True
    has_escape = True
    """True if LIKE has ESCAPE."""
    trimmed_characters: tuple[str, ...] = ()
    """What TRIM removes, where it must be said."""

    # ---- types ----------------------------------------------------------------------------------------------
    def cast(self, node: Node, kind: str) -> Node:
        word, _, rest = kind.partition("(")
        text = self.types.get(word, word) + (f"({rest}" if rest else "")
        return exp.Cast(this=node, to=exp.DataType.build(text, dialect=self.name))

    def type_name(self, t: ColumnType) -> str:
        """Return the standard name of the type that holds every value of an Informix type, and no others."""
        code = t.code
        if t.is_boolean:
            return "BOOLEAN"
        if code == TypeCode.SMALLINT:
            return "SMALLINT"
        if code in INTEGERS:
            return "BIGINT" if code in LONGS else "INT"
        if code in DECIMALS:
            return self.decimal(t)
        if code == TypeCode.FLOAT:
            return "DOUBLE"
        if code == TypeCode.SMALLFLOAT:
            return "REAL"
        if t.is_lvarchar or code in (TypeCode.CHAR, TypeCode.NCHAR, TypeCode.VARCHAR, TypeCode.NVARCHAR):
            return self.character(t.content_width)
        if code == TypeCode.DATE:
            return "DATE"
        if code == TypeCode.DATETIME and t.qualifier is not None:
            kind = storage(t.qualifier)
            if kind and (kind != "TIME" or self.has_time):
                return kind
        if code == TypeCode.TEXT or t.is_clob:
            return "TEXT"
        if code == TypeCode.BYTE or t.is_blob:
            return "VARBINARY"
        refuse(f"the type {t.sql} for {self.name}")

    def character(self, width: int) -> str:
        return f"VARCHAR({width})"

    def decimal(self, t: ColumnType) -> str:
        if t.scale is None:
            if self.has_floating_decimal:
                return "NUMERIC"
            refuse(f"the type {t.sql} (a floating decimal of {t.precision} digits) for {self.name}")
        return f"DECIMAL({t.precision},{t.scale})"

    def decimal_literal(self, text: str) -> Node:
        return number(text)

    # ---- texts ----------------------------------------------------------------------------------------------
    def text(self, node: Node) -> Node:
        return self.cast(node, "TEXT")

    def trimmed(self, node: Node) -> Node:
        """Return a text without its trailing blanks."""
        return call("RTRIM", node, *self.trimmed_characters)

    def trim(self, node: Node, side: str = "", characters: Node | None = None) -> Node:
        name = {"LEADING": "LTRIM", "TRAILING": "RTRIM"}.get(side, "TRIM")
        if characters is not None:
            refuse("TRIM of other characters than blanks")
        return call(name, node, *self.trimmed_characters)

    def position(self, text: Node, part: Node) -> Node:
        return call("STRPOS", text, part)

    def collated(self, node: Node) -> Node:
        """Return a text that is ordered by its code points."""
        return node

    def repeat(self, text: Node, count: Node) -> Node:
        return call("REPEAT", text, count)

    def substring(self, text: Node, start: Node, length: Node | None) -> Node:
        return call("SUBSTR", text, start, *([] if length is None else [length]))

    def pad(self, side: str, text: Node, width: Node, fill: Node) -> Node:
        return call(f"{side}PAD", text, width, fill)

    def matches(self, text: Node, pattern: str) -> Node:
        """Return the condition that a regular expression of literals and classes matches a whole text."""
        refuse("MATCHES with a class of characters")

    def like(self, text: Node, pattern: Node) -> Node:
        """Return LIKE with the backslash as its escape character."""
        found: Node = exp.Like(this=text, expression=pattern)
        if isinstance(pattern, exp.Literal) and "\\" not in pattern.name:
            return found
        if not self.has_escape:
            refuse("LIKE with escaped characters or with a pattern that is no literal")
        return exp.Escape(this=found, expression=string("\\"))

    # ---- numbers --------------------------------------------------------------------------------------------
    def truncated(self, node: Node, digits: int | None = None) -> Node:
        """Return a decimal without the digits after a place."""
        return call("TRUNC", node, *([] if digits is None else [digits]))

    def to_integer(self, node: Node, kind: str) -> Node:
        return self.cast(self.truncated(node), kind)

    def quotient(self, left: Node, right: Node) -> Node:
        refuse(
            f"a quotient of exact numbers, which has 32 digits in Informix and not in {self.name}",
            "Cast an operand to FLOAT.",
        )

    def float_quotient(self, left: Node, right: Node) -> Node:
        return binary(exp.Div, left, right)

    # ---- dates ----------------------------------------------------------------------------------------------
    def today(self) -> Node:
        return exp.CurrentDate()

    def now(self) -> Node:
        return self.cast(exp.CurrentTimestamp(), "TIMESTAMP")

    def date(self, iso: str) -> Node:
        return self.cast(string(iso), "DATE")

    def timestamp(self, iso: str) -> Node:
        return self.cast(string(iso), "TIMESTAMP")

    def time(self, iso: str) -> Node:
        return self.cast(string(iso), "TIME")

    def part(self, unit: str, moment: Node) -> Node:
        return self.cast(exp.Extract(this=exp.var(unit), expression=moment), "INT")

    def weekday(self, day: Node) -> Node:
        """Return 0 for Sunday to 6."""
        return self.part("DOW", day)

    def add_days(self, day: Node, count: Node) -> Node:
        return binary(exp.Add, day, count)

    def days_between(self, later: Node, earlier: Node) -> Node:
        return binary(exp.Sub, later, earlier)

    def shifted(self, moment: Node, count: Node, unit: str, kind: str) -> Node:
        """Return a DATE or TIMESTAMP plus so many units. A day that the month lacks becomes its last one."""
        step = exp.Interval(this=string("1"), unit=exp.var(unit))
        if isinstance(count, exp.Literal):
            step = exp.Interval(this=string(count.name), unit=exp.var(unit))
            return self.cast(binary(exp.Add, moment, step), kind)
        product = exp.Paren(this=binary(exp.Mul, count, step))
        return self.cast(binary(exp.Add, moment, product), kind)

    def last_day(self, day: Node) -> Node:
        return call("LAST_DAY", day)

    def make_date(self, year: Node, month: Node, day: Node) -> Node:
        return call("MAKE_DATE", year, month, day)

    def cut(self, moment: Node, unit: str) -> Node:
        """Return a timestamp without the fields after a unit."""
        return call("DATE_TRUNC", unit.lower(), moment)

    def format(self, moment: Node, pieces: list[tuple[bool, str]]) -> Node:
        """Format by pieces: (True, a directive such as "Y") or (False, a text)."""
        refuse("TO_CHAR with a format")

    def parse(self, text: Node, pieces: list[tuple[bool, str]]) -> Node:
        refuse("TO_DATE with a format")

    # ---- others ---------------------------------------------------------------------------------------------
    def next_value(self, sequence: str, word: str) -> Node:
        refuse(f"sequences ({sequence}.{word})")

    def failing(self, when: Node, message: str, shown: Node, otherwise: Node, kind: str) -> Node:
        """Return a CASE that fails in the rows where a condition holds, as Informix does."""
        wrong = self.cast(exp.DPipe(this=string(f"{message} "), expression=self.text(shown)), kind)
        return exp.Case(ifs=[exp.If(this=when, true=wrong)], default=otherwise)


_PG = {
    "Y": "YYYY", "m": "MM", "d": "DD", "H": "HH24", "M": "MI", "S": "SS", "y": "YY", "b": "Mon", "B": "FMMonth",
    "a": "Dy", "A": "FMDay", "j": "DDD", "p": "AM", "I": "HH12",
}  # fmt: skip


class Postgres(Target):
    name = "postgres"
    has_floating_decimal = True

    def collated(self, node: Node) -> Node:
        return exp.Collate(this=paren(node), expression=exp.to_identifier("C", quoted=True))

    def matches(self, text: Node, pattern: str) -> Node:
        return exp.RegexpLike(this=text, expression=string(f"^(?:{pattern})$"))

    def quotient(self, left: Node, right: Node) -> Node:
        """Return the quotient, rounded to 32 digits. Its scale of 40 has more digits for quotients from 1e-8 on."""
        exact = binary(exp.Div, self.cast(left, "NUMERIC(131,66)"), right)
        digits = self.cast(call("FLOOR", call("LOG", call("ABS", call("NULLIF", exact.copy(), 0)))), "INT")
        rounded = call("ROUND", exact, binary(exp.Sub, number(31), digits))
        return call("COALESCE", call("TRIM_SCALE", rounded), binary(exp.Mul, exact.copy(), number(0)))

    def now(self) -> Node:
        return self.cast(call("STATEMENT_TIMESTAMP"), "TIMESTAMP")

    def last_day(self, day: Node) -> Node:
        first = call("DATE_TRUNC", "month", day)
        step = exp.Interval(this=string("1 month - 1 day"))
        return self.cast(binary(exp.Add, first, step), "DATE")

    def format(self, moment: Node, pieces: list[tuple[bool, str]]) -> Node:
        return call("TO_CHAR", moment, self._layout(pieces))

    def parse(self, text: Node, pieces: list[tuple[bool, str]]) -> Node:
        return self.cast(call("TO_TIMESTAMP", text, self._layout(pieces)), "TIMESTAMP")

    @staticmethod
    def _layout(pieces: list[tuple[bool, str]]) -> str:
        texts = (('"' + piece.replace('"', '\\"') + '"') if piece else "" for _, piece in pieces)
        return "".join(
            _PG.get(piece) or refuse(f"%{piece} in a format") if directive else text
            for (directive, piece), text in zip(pieces, texts, strict=True)
        )

    def next_value(self, sequence: str, word: str) -> Node:
        return call("NEXTVAL" if word == "nextval" else "CURRVAL", sequence)


class DuckDB(Target):
    name = "duckdb"

    def matches(self, text: Node, pattern: str) -> Node:
        return call("REGEXP_FULL_MATCH", text, pattern, "s")

    def float_quotient(self, left: Node, right: Node) -> Node:
        zero = exp.EQ(this=paren(right.copy()), expression=number(0))
        failed = call("ERROR", "Informix error -1202: an attempt was made to divide by zero.")
        return exp.Case(ifs=[exp.If(this=zero, true=failed)], default=binary(exp.Div, left, right))

    def days_between(self, later: Node, earlier: Node) -> Node:
        return call("DATEDIFF", "day", earlier, later)

    def format(self, moment: Node, pieces: list[tuple[bool, str]]) -> Node:
        return call("STRFTIME", moment, _percent(pieces))

    def parse(self, text: Node, pieces: list[tuple[bool, str]]) -> Node:
        return call("STRPTIME", text, _percent(pieces))

    def next_value(self, sequence: str, word: str) -> Node:
        return call("NEXTVAL" if word == "nextval" else "CURRVAL", sequence)


def _percent(pieces: list[tuple[bool, str]]) -> str:
    for directive, piece in pieces:
        if directive and piece not in _PG:
            refuse(f"%{piece} in a format")
    return "".join(f"%{piece}" if directive else piece.replace("%", "%%") for directive, piece in pieces)


_SPARK = {
    "Y": "yyyy", "m": "MM", "d": "dd", "H": "HH", "M": "mm", "S": "ss", "y": "yy", "b": "MMM", "B": "MMMM",
    "a": "E", "A": "EEEE", "j": "DDD", "p": "a", "I": "hh",
}  # fmt: skip


class Spark(Target):
    name = "spark"
    types: ClassVar[dict[str, str]] = {"TIMESTAMP": "TIMESTAMP_NTZ", "TEXT": "STRING", "REAL": "FLOAT"}
    has_time = False
    has_temporary_tables = False
    has_escape = False

    def character(self, width: int) -> str:
        return "STRING"

    def matches(self, text: Node, pattern: str) -> Node:
        if "\\" in pattern:
            refuse("MATCHES with characters that a regular expression must escape")
        return exp.RegexpLike(this=text, expression=string(f"^(?s:{pattern})$"))

    def position(self, text: Node, part: Node) -> Node:
        return call("INSTR", text, part)

    def truncated(self, node: Node, digits: int | None = None) -> Node:
        places = [] if digits is None else [digits]
        down = call("FLOOR", node, *places)
        up = call("CEIL", node.copy(), *places)
        return exp.Case(
            ifs=[exp.If(this=exp.LT(this=paren(node.copy()), expression=number(0)), true=up)], default=down
        )

    def to_integer(self, node: Node, kind: str) -> Node:
        return self.cast(node, kind)  # which cuts the fraction

    def weekday(self, day: Node) -> Node:
        return binary(exp.Sub, call("DAYOFWEEK", day), number(1))

    def add_days(self, day: Node, count: Node) -> Node:
        return call("DATE_ADD", day, count)

    def days_between(self, later: Node, earlier: Node) -> Node:
        return call("DATEDIFF", later, earlier)

    def shifted(self, moment: Node, count: Node, unit: str, kind: str) -> Node:
        if kind == "DATE":
            return {
                "DAY": lambda: call("DATE_ADD", moment, count),
                "MONTH": lambda: call("ADD_MONTHS", moment, count),
                "YEAR": lambda: call("ADD_MONTHS", moment, binary(exp.Mul, count, number(12))),
            }.get(unit, lambda: refuse(f"a DATE with {unit}"))()
        return self.cast(call("TIMESTAMPADD", exp.var(unit), count, moment), kind)

    def format(self, moment: Node, pieces: list[tuple[bool, str]]) -> Node:
        return call("DATE_FORMAT", moment, self._layout(pieces))

    def parse(self, text: Node, pieces: list[tuple[bool, str]]) -> Node:
        return call("TO_TIMESTAMP_NTZ", text, self._layout(pieces))

    @staticmethod
    def _layout(pieces: list[tuple[bool, str]]) -> str:
        out = ""
        for directive, piece in pieces:
            if directive:
                out += _SPARK.get(piece) or refuse(f"%{piece} in a format")
            elif "'" in piece or "\\" in piece:
                refuse("a quote in a format")
            else:
                out += f"'{piece}'" if any(c.isalpha() for c in piece) else piece
        return out


class Snowflake(Target):
    name = "snowflake"
    types: ClassVar[dict[str, str]] = {"TIMESTAMP": "TIMESTAMP_NTZ"}
    has_escape = False

    def part(self, unit: str, moment: Node) -> Node:
        return call("DATE_PART", unit.lower(), moment)

    def weekday(self, day: Node) -> Node:
        """Return the days from a Sunday on, whatever WEEK_START is."""
        days = call("DATEDIFF", exp.var("DAY"), self.date("0001-01-07"), day)
        return call("MOD", days, 7)

    def position(self, text: Node, part: Node) -> Node:
        return call("POSITION", part, text)

    def matches(self, text: Node, pattern: str) -> Node:
        if "\\" in pattern:
            refuse("MATCHES with characters that a regular expression must escape")
        return call("REGEXP_LIKE", text, pattern, "s")

    def days_between(self, later: Node, earlier: Node) -> Node:
        return call("DATEDIFF", exp.var("DAY"), earlier, later)

    def shifted(self, moment: Node, count: Node, unit: str, kind: str) -> Node:
        return self.cast(call("DATEADD", exp.var(unit), count, moment), kind)

    def make_date(self, year: Node, month: Node, day: Node) -> Node:
        refuse("MDY of values, as DATE_FROM_PARTS accepts a month of 13", "Use literals.")

    def next_value(self, sequence: str, word: str) -> Node:
        if word != "nextval":
            refuse(f"{sequence}.{word}")
        return exp.Column(this=exp.to_identifier("NEXTVAL"), table=exp.to_identifier(sequence))


class BigQuery(Target):
    name = "bigquery"
    types: ClassVar[dict[str, str]] = {
        "TIMESTAMP": "DATETIME", "TEXT": "STRING", "INT": "INT64", "SMALLINT": "INT64", "BIGINT": "INT64",
        "DOUBLE": "FLOAT64", "REAL": "FLOAT64", "BOOLEAN": "BOOL", "VARBINARY": "BYTES", "VARCHAR": "STRING",
    }  # fmt: skip
    has_escape = False
    trimmed_characters = (" ",)

    def decimal(self, t: ColumnType) -> str:
        if t.scale is None:
            return super().decimal(t)
        whole = (t.precision or 0) - t.scale
        if t.scale > 9 or whole > 29:
            return f"BIGNUMERIC({t.precision},{t.scale})"
        return f"NUMERIC({t.precision},{t.scale})"

    def decimal_literal(self, text: str) -> Node:
        return self.cast(string(text), "NUMERIC")  # a plain one is a FLOAT64

    def matches(self, text: Node, pattern: str) -> Node:
        if "\\" in pattern:
            refuse("MATCHES with characters that a regular expression must escape")
        return call("REGEXP_CONTAINS", text, f"^(?s:{pattern})$")

    def now(self) -> Node:
        return call("CURRENT_DATETIME")

    def part(self, unit: str, moment: Node) -> Node:
        return exp.Extract(this=exp.var(unit), expression=moment)

    def weekday(self, day: Node) -> Node:
        return binary(exp.Sub, self.part("DAYOFWEEK", day), number(1))

    def add_days(self, day: Node, count: Node) -> Node:
        return call("DATE_ADD", day, _bigquery_interval(count, "DAY"))

    def days_between(self, later: Node, earlier: Node) -> Node:
        return call("DATE_DIFF", later, earlier, exp.var("DAY"))

    def shifted(self, moment: Node, count: Node, unit: str, kind: str) -> Node:
        return call("DATE_ADD" if kind == "DATE" else "DATETIME_ADD", moment, _bigquery_interval(count, unit))

    def make_date(self, year: Node, month: Node, day: Node) -> Node:
        return call("DATE", year, month, day)

    def cut(self, moment: Node, unit: str) -> Node:
        return call("DATETIME_TRUNC", moment, exp.var(unit))

    def format(self, moment: Node, pieces: list[tuple[bool, str]]) -> Node:
        return call("FORMAT_DATETIME", _percent(pieces), moment)

    def parse(self, text: Node, pieces: list[tuple[bool, str]]) -> Node:
        return call("PARSE_DATETIME", _percent(pieces), text)


def _bigquery_interval(count: Node, unit: str) -> Node:
    return exp.Interval(this=paren(count), unit=exp.var(unit))


TARGETS: dict[str, Target] = {t.name: t for t in (Postgres(), DuckDB(), Spark(), Snowflake(), BigQuery())}
"""The databases that Informix's SQL is translated for, by sqlglot's name of their dialect."""
