"""Cases of DATETIME with common qualifiers and those with an Arrow type of their own. All others are in
qualifiers.py."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time

from .case import Case

FIELDS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_BEFORE = {"YEAR": "", "MONTH": "-", "DAY": "-", "HOUR": " ", "MINUTE": ":", "SECOND": ":"}


def _stamp(text: str) -> datetime:
    """Return a datetime from Informix's text of any qualifier YEAR TO HOUR and finer."""
    head, _, fraction = text.partition(".")
    head = head + ":00" * (2 - head.count(":"))
    return datetime.fromisoformat(head).replace(microsecond=int(fraction.ljust(6, "0")) if fraction else 0)


def _clock(text: str) -> time:
    return _stamp(f"2000-01-01 {text}").time()


def fraction_digits(qualifier: str) -> int:
    """Return the number of fraction digits of a qualifier."""
    return int(qualifier.rstrip(")").rpartition("(")[2]) if "FRACTION" in qualifier else 0


def _stamp_text(qualifier: str) -> Callable[[object], str]:
    """Return a function that makes Informix's text of a datetime, up to the qualifier's last field."""
    cut = {"HOUR": 13, "MINUTE": 16}.get(qualifier.split()[-1], 19)
    places = fraction_digits(qualifier)

    def text(value: object) -> str:
        assert isinstance(value, datetime)
        fraction = f".{value.microsecond:06d}"[: places + 1] if places else ""
        return value.isoformat(" ", "seconds")[:cut] + fraction

    return text


def _clock_text(qualifier: str) -> Callable[[object], str]:
    """Return a function that makes Informix's text of a time of day."""
    whole = _stamp_text(qualifier)

    def text(value: object) -> str:
        assert isinstance(value, time)
        return whole(datetime.combine(date(2000, 1, 1), value))[11:]

    return text


def peer_text(qualifier: str, value: object) -> str:
    """Return Informix's text of a DATETIME that informix-driver decoded, to a date, time or datetime with invented
    fields."""
    first, _, last = (word.split("(")[0] for word in qualifier.split())
    names = (*FIELDS, "FRACTION")
    text = ""
    for name in names[names.index(first) : names.index(last) + 1]:
        if name == "FRACTION":
            text += f".{getattr(value, 'microsecond', 0):06d}"[: fraction_digits(qualifier) + 1]
        else:
            text += (
                _BEFORE[name] * bool(text) + f"{getattr(value, name.lower()):0{4 if name == 'YEAR' else 2}d}"
            )
    return text


def has_no_leading_zeros(value: object) -> bool:
    """Return whether informix-driver decodes a DATETIME.

    It ignores the exponent of a value whose leading zero pairs were dropped, as servers do drop them (TYPES
    section 6): HOUR TO SECOND 00:30:00 arrives as ``c21e0000`` and it takes 1e for the hour. That is its fault.
    """
    if isinstance(value, time):
        return value.hour > 0 or value == time(0)
    if isinstance(value, date):
        return value.year > 99
    text = str(value).lstrip(".")
    return not text.startswith("00") or not text.strip("0:. ")


def datetimes() -> list[Case]:
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
            peer_reads=has_no_leading_zeros,
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
            peer_reads=has_no_leading_zeros,
        )

    def texts(qualifier: str, *values: str) -> Case:
        places = fraction_digits(qualifier)

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
            from_peer=lambda v: None if v is None else peer_text(qualifier, v),
            peer_reads=has_no_leading_zeros,
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
        # Leading zeros are dropped on the wire (TYPES section 6): a reader must restore them.
        clocks("HOUR TO SECOND", "12:34:56", "00:00:00", "00:30:00", "00:00:01", "23:59:59"),
        clocks("HOUR TO MINUTE", "23:59", "00:00", "00:05"),
        clocks("HOUR TO FRACTION(3)", "01:02:03.004", "00:00:00.500", "00:00:00.000", "23:59:59.999"),
        clocks("HOUR TO FRACTION(5)", "01:02:03.00405", "00:00:00.00001", "23:59:59.99999"),
        texts("YEAR TO YEAR", "2026", "9999", "1900"),
        texts("YEAR TO MONTH", "2026-01", "9999-12"),
        texts("MONTH TO DAY", "12-25", "01-31"),
        # JDBC fills in year 1700 and the current month. It could turn a day 31 into the first of the next month.
        texts("DAY TO SECOND", "28 23:59:00", "01 00:00:00"),
        texts("MINUTE TO SECOND", "05:09", "00:09", "59:59", "00:00"),
        texts("SECOND TO FRACTION(2)", "07.25", "00.00", "59.99"),
        texts("FRACTION TO FRACTION(3)", ".123", ".000", ".001"),
    ]
