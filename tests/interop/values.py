"""Every type of the first release with the values that drivers have got wrong, shared by all witnesses.

A value is written as Python sees it after ``read_arrow(...).to_pylist()``; a case says how each witness takes
and gives it. Expected values come from the type's documentation, never from one of our codecs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal

#: The database whose code set is UTF-8, and the one whose code set is ISO 8859-1.
UTF8, LATIN1 = "stores_demo", "sysmaster"


@dataclass(frozen=True, slots=True)
class Case:
    """One declared type.

    ``setter`` and ``getter`` name the JDBC methods; ``to_jdbc`` makes the text that the setter's value is
    parsed from, ``from_jdbc`` turns the getter's text into our value. ``to_peer`` and ``from_peer`` do the
    same for informix-driver. ``rendering`` is the server's own text of ``v::LVARCHAR``: an oracle that shares
    no codec with anybody (None where Informix's text is not documented).
    """

    sql: str
    values: tuple[object, ...]
    setter: str
    jdbc_type: str
    getter: str = ""
    database: str = UTF8
    nullable: bool = True
    label: str = ""
    to_jdbc: Callable[[object], str] = str
    from_jdbc: Callable[[str], object] = str
    rendering: Callable[[object], str] | None = None
    to_peer: Callable[[object], object] = field(default=lambda value: value)
    from_peer: Callable[[object], object] = field(default=lambda value: value)

    @property
    def id(self) -> str:
        """What pytest calls the case."""
        return f"{self.sql}{' ' + self.label if self.label else ''}"

    @property
    def rows(self) -> list[tuple[int, object, int]]:
        """The rows of the case's table: key, value, and a sentinel that a misread width would shift."""
        values = [*self.values, None] if self.nullable else list(self.values)
        return [(n, value, sentinel(n)) for n, value in enumerate(values)]

    @property
    def read_method(self) -> str:
        """The JDBC getter."""
        return self.getter or self.setter


def sentinel(n: int) -> int:
    """The value of the column behind the one under test."""
    return 1_000_000 + n


def _blanks_off(text: str) -> str:
    return text.rstrip(" ")


def _single(value: float) -> float:
    """The nearest 32-bit float, as the double that equals it."""
    return float(struct.unpack(">f", struct.pack(">f", value))[0])


def _fixed(scale: int) -> Callable[[object], str]:
    return lambda value: format(value, f".{scale}f")


def _integers() -> list[Case]:
    small, normal, big = 2**15 - 1, 2**31 - 1, 2**63 - 1
    wide = (0, 1, -1, big, -big, 2**31, -(2**31), 2**32, -(2**32) - 1, 123456789012)

    def long(sql: str) -> Case:
        # informix-driver sends -2147483648 as the INT 80000000, which is NULL (TYPES section 3): as a DECIMAL it
        # arrives.
        def to_peer(v: object) -> object:
            return Decimal(-(2**31)) if v == -(2**31) else v

        return Case(sql, wide, "Long", sql.lower(), from_jdbc=int, rendering=str, to_peer=to_peer)

    return [
        Case("SMALLINT", (0, 1, -1, small, -small), "Short", "smallint", from_jdbc=int, rendering=str),
        Case("INTEGER", (0, 1, -1, normal, -normal), "Int", "int", from_jdbc=int, rendering=str),
        long("BIGINT"),
        long("INT8"),
        # Zero would ask for the next value, and a serial column holds neither NULL nor negative numbers.
        Case("SERIAL", (1, 7, normal), "Int", "serial", from_jdbc=int, rendering=str, nullable=False),
        Case("SERIAL8", (1, 2**33, big), "Long", "serial8", from_jdbc=int, rendering=str, nullable=False),
        Case("BIGSERIAL", (1, 2**33, big), "Long", "bigserial", from_jdbc=int, rendering=str, nullable=False),
    ]


def _floats() -> list[Case]:
    single = tuple(_single(v) for v in (0.0, 1.5, -1.5, 0.1, 3.4028234663852886e38, -1e30, 1.17549435e-38))
    largest, smallest = 1.7976931348623157e308, 2.2250738585072014e-308
    double = (0.0, 1.5, -1.5, 0.1, 123456789.12345679, -1e300, largest, smallest)
    return [
        Case(
            "SMALLFLOAT",
            single,
            "Float",
            "smallfloat",
            from_jdbc=lambda text: _single(float(text)),
            from_peer=lambda v: None if v is None else float(v),  # type: ignore[arg-type]
        ),
        Case("FLOAT", double, "Double", "float", from_jdbc=float),
    ]


def _decimals() -> list[Case]:
    def exact(sql: str, name: str, texts: str) -> Case:
        values = tuple(Decimal(text) for text in texts.split())
        scale = int(sql.rstrip(")").rpartition(",")[2])
        return Case(sql, values, "BigDecimal", name, from_jdbc=Decimal, rendering=_fixed(scale))

    nines = "9" * 32
    return [
        exact("DECIMAL(1,0)", "decimal", "0 9 -9"),
        exact("DECIMAL(3,1)", "decimal", "0.5 12.3 -12.3 99.9 0"),
        exact("DECIMAL(5,0)", "decimal", "12345 -12345 100 -100 10000 0 99999"),
        exact("DECIMAL(5,5)", "decimal", "0.5 0.00001 -0.99999 0.10000"),
        exact("DECIMAL(8,2)", "decimal", "0 0.01 -0.01 123456.78 -123456.78 999999.99 -999999.99 100"),
        exact("DECIMAL(16,4)", "decimal", "0.0001 999999999999.9999 -999999999999.9999 1 10 100 -10.01"),
        exact("DECIMAL(32,0)", "decimal", f"{nines} -{nines} 1 0 {10**31}"),
        exact(
            "DECIMAL(32,10)",
            "decimal",
            f"1234567890123456.1234567890 -0.0000000001 {nines[:22]}.{nines[:10]}",
        ),
        exact("DECIMAL(32,16)", "decimal", "0.0000000000000001 -1234567890123456.1234567890123456"),
        exact("MONEY(16,2)", "money", "0 19.99 -19.99 12345678901234.56 0.01"),
        exact("MONEY(9,4)", "money", "0.0001 -99999.9999"),
        # Without a scale: a floating decimal, read as float64 unless the user asks otherwise.
        Case(
            "DECIMAL(16)",
            (0.0, 1.5, -1.5, 123456.789, 1e-6, 1e20, -1e-20),
            "BigDecimal",
            "decimal",
            to_jdbc=lambda v: format(Decimal(repr(v)), "f"),
            from_jdbc=float,
            to_peer=lambda v: None if v is None else Decimal(repr(v)),
            from_peer=lambda v: None if v is None else float(v),  # type: ignore[arg-type]
        ),
    ]


def _booleans() -> list[Case]:
    return [
        Case(
            "BOOLEAN",
            (True, False),
            "Boolean",
            "boolean",
            to_jdbc=lambda v: "true" if v else "false",
            from_jdbc=lambda text: text == "true",
            rendering=lambda v: "t" if v else "f",
        )
    ]


def _texts() -> list[Case]:
    padded = ("", "a", "abc", "  led", "odd len")
    plain = ("", "a", "ab", "tail  ", 'it\'s "quoted"', "back\\slash", "line\nfeed")
    greek = ("", "é", "héllo ß", "€", "日本語", "😀", "Ωμέγα")
    latin = ("", "é", "naïve ÿ", "£¥§ÀÖ")

    def char(sql: str, values: tuple[str, ...], **more: object) -> Case:
        name = sql.split("(")[0].lower()
        return Case(sql, values, "String", name, from_jdbc=_blanks_off, **more)  # type: ignore[arg-type]

    def varying(sql: str, values: tuple[str, ...], **more: object) -> Case:
        name = sql.split("(")[0].lower()
        return Case(sql, values, "String", name, rendering=str, **more)  # type: ignore[arg-type]

    return [
        char("CHAR(1)", ("", "x")),
        char("CHAR(7)", padded),
        char("CHAR(10)", (*padded, "ten chars!")),
        char("CHAR(300)", ("", "x" * 299, "y" * 300)),
        char("NCHAR(7)", padded),
        char("NCHAR(20)", greek, label="multi-byte"),
        char("CHAR(20)", greek, label="multi-byte"),
        char("CHAR(20)", latin, label="8859-1", database=LATIN1),
        char("NCHAR(20)", latin, label="8859-1", database=LATIN1),
        varying("VARCHAR(20)", plain),
        varying("VARCHAR(20,5)", plain),
        varying("VARCHAR(255)", ("x" * 254, "y" * 255, "", "z")),
        varying("VARCHAR(255)", (*greek, "é" * 127), label="multi-byte"),
        varying("VARCHAR(20)", latin, label="8859-1", database=LATIN1),
        varying("NVARCHAR(40)", plain),
        varying("NVARCHAR(40)", greek, label="multi-byte"),
        varying("NVARCHAR(40)", latin, label="8859-1", database=LATIN1),
        varying("LVARCHAR(300)", (*plain, "x" * 255, "x" * 256, "x" * 300)),
        varying("LVARCHAR(300)", (*greek, "€" * 100), label="multi-byte"),
        varying("LVARCHAR(300)", latin, label="8859-1", database=LATIN1),
        replace(
            varying("LVARCHAR(32739)", ("x" * 32739, "y" * 32738, "z" * 4097, "")),
            # An LVARCHAR of no declared length, as in the cast, holds 2048 bytes.
            rendering=lambda v: str(v)[:2048],
        ),
    ]


def _dates() -> list[Case]:
    days = (
        date(1, 1, 1),
        date(1582, 10, 15),
        date(1850, 1, 1),
        date(1899, 12, 30),
        date(1899, 12, 31),
        date(1900, 1, 1),
        date(1900, 3, 1),
        date(1970, 1, 1),
        date(2000, 2, 29),
        date(2024, 2, 29),
        date(9999, 12, 31),
    )
    return [Case("DATE", days, "Date", "date", from_jdbc=date.fromisoformat)]


_FIELDS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_BEFORE = {"YEAR": "", "MONTH": "-", "DAY": "-", "HOUR": " ", "MINUTE": ":", "SECOND": ":"}


def _stamp(text: str) -> datetime:
    """A datetime from Informix's text of any qualifier YEAR TO HOUR and finer."""
    head, _, fraction = text.partition(".")
    head = head + ":00" * (2 - head.count(":"))
    return datetime.fromisoformat(head).replace(microsecond=int(fraction.ljust(6, "0")) if fraction else 0)


def _clock(text: str) -> time:
    return _stamp(f"2000-01-01 {text}").time()


def _digits(qualifier: str) -> int:
    """How many digits of fraction a qualifier has."""
    return int(qualifier.rstrip(")").rpartition("(")[2]) if "FRACTION" in qualifier else 0


def _stamp_text(qualifier: str) -> Callable[[object], str]:
    """Informix's text of a datetime: cut after the qualifier's last field."""
    cut = {"HOUR": 13, "MINUTE": 16}.get(qualifier.split()[-1], 19)
    places = _digits(qualifier)

    def text(value: object) -> str:
        assert isinstance(value, datetime)
        fraction = f".{value.microsecond:06d}"[: places + 1] if places else ""
        return value.isoformat(" ", "seconds")[:cut] + fraction

    return text


def _clock_text(qualifier: str) -> Callable[[object], str]:
    """Informix's text of a time of day."""
    whole = _stamp_text(qualifier)

    def text(value: object) -> str:
        assert isinstance(value, time)
        return whole(datetime.combine(date(2000, 1, 1), value))[11:]

    return text


def _peer_text(qualifier: str, value: object) -> str:
    """Informix's text of what informix-driver makes of a DATETIME: a date, time or datetime with made up fields."""
    first, _, last = (word.split("(")[0] for word in qualifier.split())
    names = (*_FIELDS, "FRACTION")
    text = ""
    for name in names[names.index(first) : names.index(last) + 1]:
        if name == "FRACTION":
            text += f".{getattr(value, 'microsecond', 0):06d}"[: _digits(qualifier) + 1]
        else:
            text += (
                _BEFORE[name] * bool(text) + f"{getattr(value, name.lower()):0{4 if name == 'YEAR' else 2}d}"
            )
    return text


def _datetimes() -> list[Case]:
    def stamps(qualifier: str, *texts: str) -> Case:
        return Case(
            f"DATETIME {qualifier}",
            tuple(_stamp(text) for text in texts),
            "Timestamp",
            f"datetime {qualifier.lower()}",
            getter="String",
            to_jdbc=lambda v: v.isoformat(" "),  # type: ignore[attr-defined]
            from_jdbc=_stamp,
            rendering=_stamp_text(qualifier),
        )

    def clocks(qualifier: str, *texts: str) -> Case:
        text = _clock_text(qualifier)
        return Case(
            f"DATETIME {qualifier}",
            tuple(_clock(text) for text in texts),
            "String",
            f"datetime {qualifier.lower()}",
            to_jdbc=text,
            from_jdbc=_clock,
            rendering=text,
            to_peer=lambda v: None if v is None else text(v),
        )

    def texts(qualifier: str, *values: str) -> Case:
        places = _digits(qualifier)

        def from_jdbc(text: str) -> str:
            # The driver prints a fraction of zero as ".0", whatever the qualifier.
            head, point, fraction = text.partition(".")
            return head + point + fraction.ljust(places, "0")

        return Case(
            f"DATETIME {qualifier}",
            values,
            "String",
            f"datetime {qualifier.lower()}",
            from_jdbc=from_jdbc,
            rendering=str,
            from_peer=lambda v: None if v is None else _peer_text(qualifier, v),
        )

    return [
        stamps("YEAR TO HOUR", "2026-12-31 23", "2000-01-01 00"),
        stamps("YEAR TO MINUTE", "1999-12-31 23:59", "2026-01-01 00:00"),
        stamps(
            "YEAR TO SECOND",
            "2026-06-20 12:34:56",
            "2000-02-29 00:00:00",
            "9999-12-31 23:59:59",
            "1969-12-31 23:59:59",
            "1900-01-01 00:00:00",
        ),
        stamps(
            "YEAR TO FRACTION(1)", "2026-08-31 12:30:15.1", "2026-08-31 12:30:15", "1969-12-31 23:59:59.9"
        ),
        stamps("YEAR TO FRACTION(2)", "2026-08-31 12:30:15.12", "2026-08-31 12:30:15.01"),
        stamps(
            "YEAR TO FRACTION(3)",
            "2026-08-31 12:30:15.123",
            "1970-01-01 00:00:00.001",
            "1901-02-03 04:05:06.007",
        ),
        stamps("YEAR TO FRACTION(4)", "2026-08-31 12:30:15.1234", "2026-08-31 12:30:15.0001"),
        stamps(
            "YEAR TO FRACTION(5)",
            "2026-08-31 12:30:15.12345",
            "2026-01-01 00:00:00.00001",
            "9999-12-31 23:59:59.99999",
            "1969-12-31 23:59:59.99999",
        ),
        Case(
            "DATETIME YEAR TO DAY",
            (date(2026, 2, 28), date(2024, 2, 29), date(9999, 12, 31), date(1900, 1, 1)),
            "Date",
            "datetime year to day",
            getter="String",
            from_jdbc=date.fromisoformat,
            rendering=str,
            to_peer=lambda v: None if v is None else str(v),
        ),
        # Zeros in front are dropped on the wire (TYPES section 6): a reader must put them back.
        clocks("HOUR TO SECOND", "12:34:56", "00:00:00", "00:30:00", "00:00:01", "23:59:59"),
        clocks("HOUR TO MINUTE", "23:59", "00:00", "00:05"),
        clocks("HOUR TO FRACTION(3)", "01:02:03.004", "00:00:00.500", "00:00:00.000", "23:59:59.999"),
        clocks("HOUR TO FRACTION(5)", "01:02:03.00405", "00:00:00.00001", "23:59:59.99999"),
        texts("YEAR TO YEAR", "2026", "9999", "1900"),
        texts("YEAR TO MONTH", "2026-01", "9999-12"),
        texts("MONTH TO DAY", "12-25", "01-31"),
        # JDBC fills in year 1700 and the current month: of a day 31 it might make the first of the next.
        texts("DAY TO SECOND", "28 23:59:00", "01 00:00:00"),
        texts("MINUTE TO SECOND", "05:09", "00:09", "59:59", "00:00"),
        texts("SECOND TO FRACTION(2)", "07.25", "00.00", "59.99"),
        texts("FRACTION TO FRACTION(3)", ".123", ".000", ".001"),
    ]


CASES: tuple[Case, ...] = (
    *_integers(),
    *_floats(),
    *_decimals(),
    *_booleans(),
    *_texts(),
    *_dates(),
    *_datetimes(),
)


def wide_table() -> list[Case]:
    """One case of every declared type that may share a table, in the UTF-8 database.

    A table may have one SERIAL and one SERIAL8 or BIGSERIAL column; the largest LVARCHAR fills a row alone.
    """
    chosen = [c for c in CASES if c.database == UTF8 and c.sql not in ("SERIAL8", "LVARCHAR(32739)")]
    return [replace(case, label="") for case in {case.sql: case for case in chosen}.values()]
