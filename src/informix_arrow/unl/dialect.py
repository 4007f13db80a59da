"""The format of a .unl file, as set by DBDELIMITER, DBDATE, DBCENTURY, DBMONEY and the client's locale."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..core.text_files import codec_of
from ..wire.errors import InterfaceError, error_at

_DBDATE = re.compile(r"([MDY24]+)([^A-Z0-9]|0)?", re.IGNORECASE)
_GL_DATE = re.compile(r"%(i?[mdyY])(\D?)%(i?[mdyY])(\D?)%(i?[mdyY])")
_DBMONEY = re.compile(r"([^.,]*)([.,])([^.,]*)")
_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The format options of a file, checked. Created by :meth:`of`."""

    delimiter: str
    encoding: str  # name of the Python codec
    order: str  # order of the parts of a date, such as "MDY"
    year_digits: int
    separator: str  # separator within dates, "" for none
    century: str
    point: str
    front: str
    back: str
    today: dt.date = field(default_factory=dt.date.today)

    @classmethod
    def of(
        cls,
        *,
        delimiter: str | None = None,
        encoding: str | None = None,
        dbdate: str | None = None,
        dbcentury: str | None = None,
        dbmoney: str | None = None,
    ) -> Dialect:
        """Take options that are None from the environment, as Informix's own programs do, or else use their
        defaults.

        Raises ``InterfaceError`` for an invalid value, with the valid ones.
        """
        environment = os.environ
        _check_datetimes(environment)
        order, year_digits, separator = _date(
            _first(dbdate, environment.get("GL_DATE"), environment.get("DBDATE"), "MDY4/")
        )
        front, point, back = _money(_first(dbmoney, environment.get("DBMONEY"), "."))
        return cls(
            delimiter=check_delimiter(_first(delimiter, environment.get("DBDELIMITER"), "|")),
            encoding=codec_of(_first(encoding, environment.get("CLIENT_LOCALE"), "utf-8")),
            order=order,
            year_digits=year_digits,
            separator=separator,
            century=_century(_first(dbcentury, environment.get("DBCENTURY"), "R")),
            point=point,
            front=front,
            back=back,
        )

    def as_tuple(self) -> tuple[int, bytes, int, int, int, int, int, bytes, bytes]:
        """Return the options in the form of the C codec."""
        return (
            ord(self.delimiter),
            self.order.encode(),
            ord(self.separator) if self.separator else 0,
            self.year_digits,
            ord(self.century),
            (self.today - _EPOCH).days,
            ord(self.point),
            self.front.encode(),
            self.back.encode(),
        )


def _check_datetimes(environment: Mapping[str, str]) -> None:
    """Refuse an environment in which Informix's programs write DATETIMEs in a format other than the usual one."""
    for name in ("GL_DATETIME", "DBTIME"):
        if environment.get("USE_DTENV") == "1" and environment.get(name):
            raise InterfaceError(
                f"USE_DTENV=1 and {name} set the DATETIME format {environment[name]!r}, but DATETIME values in .unl "
                "files are read and written only as yyyy-mm-dd hh:mm:ss.fffff. Unset USE_DTENV, and unload such "
                "files again without it."
            )


def _first(*values: str | None) -> str:
    return next(value for value in values if value)


def check_delimiter(delimiter: str) -> str:
    """Return the delimiter if it is valid. Raises ``InterfaceError`` otherwise."""
    if len(delimiter) != 1 or not (delimiter == "\t" or " " <= delimiter <= "~") or delimiter == "\\":
        raise InterfaceError(
            f"delimiter={delimiter!r}: It must be one ASCII character other than a backslash. Tab and blank "
            "are allowed."
        )
    if delimiter in "0123456789abcdefABCDEF":
        raise InterfaceError(
            f"delimiter={delimiter!r}: It must not be a hexadecimal digit, because BYTE values are written "
            "in hexadecimal."
        )
    return delimiter


def _date(dbdate: str) -> tuple[str, int, str]:
    """Return order, digits of the year and separator of a DBDATE such as ``DMY4.`` or a GL_DATE such as
    ``%d.%m.%iY``."""
    parts = _GL_DATE.fullmatch(dbdate)
    if parts is not None:
        first, separator, second, other, third = parts.groups()
        order = "".join(part[-1].upper() for part in (first, second, third))
        years = 4 if any(part.endswith("Y") for part in (first, second, third)) else 2
        if sorted(order) == ["D", "M", "Y"] and separator == other:
            return order, years, separator if separator in ("/", "-", ".", "") else "/"
    plain = _DBDATE.fullmatch(dbdate)
    if plain is not None:
        text = plain[1].upper()
        order = re.sub("[24]", "", text)
        years_at = re.search("Y([24])", text)
        if (
            sorted(order) == ["D", "M", "Y"]
            and order != "DYM"
            and order != "MYD"
            and years_at
            and len(text) == 4
        ):
            separator = plain[2] or "/"
            # Like Informix, take any other separator as "/".
            return (
                order,
                int(years_at[1]),
                "" if separator == "0" else separator if separator in "/-." else "/",
            )
    raise error_at(
        InterfaceError,
        f"dbdate={dbdate!r}",
        "It must be the order MD or DM with Y2 or Y4 before or after it, and a separator "
        '/ - . or 0 for none, such as "MDY4/", "DMY2." or "Y4MD-". A GL_DATE such as "%d.%m.%iY" is valid too.',
    )


def _century(dbcentury: str) -> str:
    if dbcentury.upper() in ("R", "P", "F", "C"):
        return dbcentury.upper()
    raise InterfaceError(
        f"dbcentury={dbcentury!r}: It must be R (the current century), P (the last such date in the past), F (the next "
        "in the future) or C (the closest)."
    )


def _money(dbmoney: str) -> tuple[str, str, str]:
    """Return currency in front, decimal separator and currency behind of a DBMONEY such as ``$.``, ``,`` or
    ``.Kr``."""
    parts = _DBMONEY.fullmatch(dbmoney)
    if parts is None or any(
        len(symbol.encode()) > 8 or re.search(r"[\d+\\\n-]", symbol) for symbol in (parts[1], parts[3])
    ):
        raise InterfaceError(
            f"dbmoney={dbmoney!r}: It must be a decimal separator, . or , with the currency symbol before "
            'or after it, such as "$." or ",EUR".'
        )
    return parts[1], parts[2], parts[3]
