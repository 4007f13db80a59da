"""Cases of the scalar types, with values that are known to break drivers. Types with a qualifier are in datetimes.py
and qualifiers.py, types built from other types in extended.py."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal

from .case import LATIN1, UTF8, Case, sentinel
from .datetimes import datetimes

__all__ = ["CASES", "LATIN1", "UTF8", "Case", "sentinel", "wide_table"]


def _blanks_off(text: str) -> str:
    return text.rstrip(" ")


def _single(value: float) -> float:
    """Return the nearest 32-bit float, as the double that equals it."""
    return float(struct.unpack(">f", struct.pack(">f", value))[0])


def _fixed(scale: int) -> Callable[[object], str]:
    return lambda value: format(value, f".{scale}f")


def _money(digits: Callable[[object], str]) -> Callable[[object], str]:
    """Return a function that formats money with the currency symbol of the default locale after the sign."""

    def rendering(value: object) -> str:
        text = digits(value)
        return f"-${text[1:]}" if text.startswith("-") else f"${text}"

    return rendering


def _integers() -> list[Case]:
    small, normal, big = 2**15 - 1, 2**31 - 1, 2**63 - 1
    wide = (0, 1, -1, big, -big, 2**31, -(2**31), 2**32, -(2**32) - 1, 123456789012)

    def long(sql: str) -> Case:
        # informix-driver sends -2147483648 as the INT 80000000, which is NULL (TYPES section 3). As a DECIMAL it is
        # stored correctly.
        def to_peer(v: object) -> object:
            return Decimal(-(2**31)) if v == -(2**31) else v

        return Case(sql, wide, "Long", sql.lower(), from_jdbc=int, rendering=str, to_peer=to_peer)

    return [
        Case("SMALLINT", (0, 1, -1, small, -small), "Short", "smallint", from_jdbc=int, rendering=str),
        Case("INTEGER", (0, 1, -1, normal, -normal), "Int", "int", from_jdbc=int, rendering=str),
        long("BIGINT"),
        long("INT8"),
        # Zero would request the next serial value, and a serial column holds neither NULL nor negative numbers.
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
        digits = _fixed(int(sql.rstrip(")").rpartition(",")[2]))
        rendering = _money(digits) if name == "money" else digits
        return Case(sql, values, "BigDecimal", name, from_jdbc=Decimal, rendering=rendering)

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
        # Without a scale: a floating-point decimal, read as float64 by default.
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


CASES: tuple[Case, ...] = (
    *_integers(),
    *_floats(),
    *_decimals(),
    *_booleans(),
    *_texts(),
    *_dates(),
    *datetimes(),
)


def wide_table() -> list[Case]:
    """Return one case of every declared type that can share a table, in the UTF-8 database.

    A table may have one SERIAL and one SERIAL8 or BIGSERIAL column; the largest LVARCHAR fills a row alone.
    """
    chosen = [c for c in CASES if c.database == UTF8 and c.sql not in ("SERIAL8", "LVARCHAR(32739)")]
    return [replace(case, label="") for case in {case.sql: case for case in chosen}.values()]
