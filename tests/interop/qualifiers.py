"""Cases of DATETIME and INTERVAL with every possible qualifier, a table for each first field.

From the fields of each value we make both Informix's text and the value that we read: neither is derived from the
other, or by a codec.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timedelta

import informix_arrow

from .case import Case
from .datetimes import has_no_leading_zeros, peer_text

FIELDS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "FRACTION")
_SEPARATORS = {
    "YEAR": "",
    "MONTH": "-",
    "DAY": "-",
    "HOUR": " ",
    "MINUTE": ":",
    "SECOND": ":",
    "FRACTION": ".",
}
_SECONDS = {"DAY": 86400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}

#: The test values of a DATETIME by field, FRACTION as five digits: the first, the last, with leading zeros, with
#: trailing zeros, before Unix time and before Informix's day 0, a leap day, one without a zero. A qualifier uses its
#: fields of them. No day is after 28, and a month 02 has a year, because JDBC changes others
#: (test_reference_client_faults).
_MOMENTS = (
    ("0001", "01", "01", "00", "00", "00", "00000"),
    ("9999", "12", "28", "23", "59", "59", "99999"),
    ("2026", "08", "27", "12", "30", "15", "12345"),
    ("2000", "01", "10", "10", "00", "00", "00001"),
    ("1969", "12", "28", "20", "05", "07", "50000"),
    ("1899", "12", "28", "01", "02", "03", "00400"),
    ("0099", "11", "01", "00", "30", "00", "00090"),
    ("1582", "10", "15", "00", "00", "59", "90000"),
)
_LEAP_DAY = ("2000", "02", "29", "00", "00", "01", "10000")


def _ends(start: str) -> Iterator[str]:
    """Yield the last fields that a qualifier with this first field can have. FRACTION has five sizes."""
    for name in FIELDS[FIELDS.index(start) :]:
        if name == "FRACTION":
            yield from (f"FRACTION({n})" for n in range(1, 6))
        else:
            yield name


def _names(start: str, end: str) -> tuple[str, ...]:
    return FIELDS[FIELDS.index(start) : FIELDS.index(end.split("(")[0]) + 1]


def _joined(names: Sequence[str], parts: Sequence[str]) -> str:
    """Return fields in the form in which Informix writes them."""
    first = "." if names[0] == "FRACTION" else ""
    return first + "".join(
        (_SEPARATORS[name] if n else "") + part
        for n, (name, part) in enumerate(zip(names, parts, strict=True))
    )


# ---- DATETIME ----------------------------------------------------------------------------------------------------


def _moment(names: Sequence[str], parts: Sequence[str], text: str) -> object:
    """Return the value that we read: a date, datetime or time if the fields form one, otherwise the text."""
    numbers = [
        int(part.ljust(6, "0")) if name == "FRACTION" else int(part)
        for name, part in zip(names, parts, strict=True)
    ]
    if names[0] == "YEAR" and names[-1] == "DAY":
        return date(*numbers)
    if names[0] == "YEAR" and len(names) > 3:
        return datetime(*numbers)  # type: ignore[arg-type]
    if names[0] == "HOUR" and len(names) > 1:
        return time(*numbers)  # type: ignore[arg-type]
    return text


def _datetime(start: str, end: str) -> Case:
    names, qualifier = _names(start, end), f"{start} TO {end}"
    places = int(end[9:-1]) if end.startswith("FRACTION") else 0
    moments = (*_MOMENTS, _LEAP_DAY) if start == "YEAR" else _MOMENTS
    values: dict[str, object] = {}
    for moment in moments:
        parts = list(moment[FIELDS.index(start) : FIELDS.index(start) + len(names)])
        if places:
            parts[-1] = parts[-1][:places]
        text = _joined(names, parts)
        values[text] = _moment(names, parts, text)
    texts = {value: text for text, value in values.items()}

    def from_jdbc(text: str) -> object:
        head, point, fraction = text.partition(".")  # drop trailing zeros of the fraction
        return values.get(head + point + fraction.ljust(places, "0"), text)

    stamps = start == "YEAR" and len(names) > 3
    return Case(
        f"DATETIME {qualifier}",
        tuple(values.values()),
        "String",
        f"datetime {qualifier.lower()}",
        to_jdbc=lambda v: texts[v],
        from_jdbc=from_jdbc,
        rendering=lambda v: texts[v],
        to_peer=lambda v: v if v is None or stamps else texts[v],
        from_peer=lambda v: None if v is None else values.get(peer_text(qualifier, v), v),
        peer_reads=has_no_leading_zeros,
    )


# ---- INTERVAL ----------------------------------------------------------------------------------------------------


def interval_fields(text: str) -> tuple[bool, tuple[int, ...], str]:
    """Split the text of an INTERVAL into sign, fields and fraction. Writers pad the fields differently."""
    text = text.strip()
    whole, _, fraction = text.lstrip("-").partition(".")
    parts = tuple(int(part) for part in re.split(r"[ :-]+", whole) if part)
    fraction = fraction.ljust(5, "0")
    return text.startswith("-") and any((*parts, int(fraction))), parts, fraction


def interval(qualifier: str, *more: str) -> Case:
    """Return the case of one INTERVAL: largest, smallest, zero, next to zero, leading and trailing zeros, no zeros.

    ``qualifier`` is the declared one, ``DAY(3) TO FRACTION(5)``; ``more`` are texts of further values.
    """
    match = re.fullmatch(r"(\w+)(?:\((\d)\))? TO (\w+(?:\(\d\))?)", qualifier)
    assert match is not None
    start, end = match[1], match[3]
    names = _names(start, end)
    leading = int(match[2] or 0)
    places = int(end[9:-1]) if end.startswith("FRACTION") else 0
    written: dict[object, str] = {
        _span(names, text): text for text in (*_spans(names, leading, places), *more)
    }
    values = {interval_fields(text): value for value, text in written.items()}

    def read(text: str) -> object:
        return values.get(interval_fields(text), text)

    def to_peer(value: object) -> object:
        import informix_db

        return informix_db.IntervalYM(value) if isinstance(value, int) else value

    return Case(
        f"INTERVAL {qualifier}",
        tuple(written),
        "String",
        f"interval {qualifier.lower()}",
        to_jdbc=lambda v: written[v],
        from_jdbc=read,
        from_rendering=read,
        to_peer=to_peer,
        from_peer=lambda v: getattr(v, "months", v),
        to_ours=lambda v: informix_arrow.YearMonthInterval(v) if isinstance(v, int) else v,
    )


def _spans(names: Sequence[str], leading: int, places: int) -> Iterator[str]:
    """Yield texts of values within the leading precision and the digits of the fraction."""
    # The range of int32 months and int64 microseconds; beyond it: test_reference_client_faults, test_intervals.
    most = min(10**leading - 1, {"YEAR": 178_956_969, "DAY": 106_751_990}.get(names[0], 10**9))
    limits = {"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}
    small = {**dict.fromkeys(names, 0), names[-1]: 1}
    for sign, fields in (
        ("", {**limits, names[0]: most, "FRACTION": 99999}),
        ("-", {**limits, names[0]: most, "FRACTION": 99999}),
        ("", dict.fromkeys(names, 0)),
        ("", small),
        ("-", small),
        ("", {**dict.fromkeys(names, 0), names[0]: min(10 ** max(leading - 1, 0), most)}),
        ("-", {**dict.fromkeys(names, 7), names[0]: most // 2, "FRACTION": 12345}),
    ):
        parts = []
        for n, name in enumerate(names):
            if name == "FRACTION":
                digits = f"{fields[name]:0{places}d}" if fields[name] < 10 else f"{fields[name]:05d}"
                parts.append(digits[:places])
            else:
                parts.append(str(fields[name]) if n == 0 else f"{fields[name]:02d}")
        yield sign + _joined(names, parts)


def _span(names: Sequence[str], text: str) -> int | timedelta:
    """Return the value that we read: months, or a timedelta."""
    negative, parts, fraction = interval_fields(text)
    if names[0] in ("YEAR", "MONTH"):
        months = sum(part * (12 if name == "YEAR" else 1) for name, part in zip(names, parts, strict=True))
        return -months if negative else months
    whole = [name for name in names if name != "FRACTION"]
    seconds = sum(part * _SECONDS[name] for name, part in zip(whole, parts, strict=True))
    span = timedelta(seconds=seconds, microseconds=int(fraction.ljust(6, "0")))
    return -span if negative else span


def _intervals(start: str) -> Iterator[Case]:
    if start == "FRACTION":  # has no leading precision
        for end in _ends(start):
            yield interval(f"FRACTION TO {end}")
        return
    for end in _ends(start):
        if (start in ("YEAR", "MONTH")) == (end in ("YEAR", "MONTH")):
            for leading in range(1, 10):
                yield interval(f"{start}({leading}) TO {end}")


def _of_first_fields(make: Callable[[str], Sequence[Case]], word: str) -> dict[str, tuple[Case, ...]]:
    return {f"{word} from {start}": tuple(make(start)) for start in FIELDS}


#: 358 declared types: 56 of DATETIME, and 34 pairs of INTERVAL with nine leading precisions, less FRACTION's.
QUALIFIERS: dict[str, tuple[Case, ...]] = {
    **_of_first_fields(lambda start: [_datetime(start, end) for end in _ends(start)], "DATETIME"),
    **_of_first_fields(lambda start: list(_intervals(start)), "INTERVAL"),
}
