"""Informix locales and code sets, and Python's codecs for them.

A locale is ``language_TERRITORY.codeset[@modifier]``. The code set is given by a name, by its number (IBM's CCSID,
or a number from 57344 up that Informix assigned), or by that number in four hexadecimal digits, as in the names of
the locale files.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from functools import cache, lru_cache
from typing import NamedTuple


class _CodeSet(NamedTuple):
    codec: str  # name of the Python codec
    number: int | None  # None: known by name only
    names: tuple[str, ...]  # in lower case, the usual one first


_CODE_SETS: tuple[_CodeSet, ...] = (
    _CodeSet("ascii", 364, ("ascii", "us-ascii")),
    _CodeSet("utf-8", 57372, ("utf8", "utf-8")),
    _CodeSet("latin-1", 819, ("8859-1", "latin1", "latin-1")),
    _CodeSet("iso8859-2", 912, ("8859-2", "latin2", "latin-2")),
    _CodeSet("iso8859-3", 57346, ("8859-3", "latin3", "latin-3")),
    _CodeSet("iso8859-4", 57347, ("8859-4", "latin4", "latin-4")),
    _CodeSet("iso8859-5", 915, ("8859-5",)),
    _CodeSet("iso8859-6", 1089, ("8859-6", "asmo-708", "iso-ir-127")),
    _CodeSet("iso8859-7", 813, ("8859-7",)),
    _CodeSet("iso8859-8", 916, ("8859-8",)),
    _CodeSet("iso8859-9", 920, ("8859-9", "latin5", "latin-5")),
    _CodeSet("iso8859-10", 919, ("8859-10",)),
    _CodeSet("iso8859-11", None, ("8859-11",)),
    _CodeSet("iso8859-13", 921, ("8859-13",)),
    _CodeSet("iso8859-14", None, ("8859-14",)),
    _CodeSet("iso8859-15", 923, ("8859-15", "latin9", "latin-9")),
    _CodeSet("iso8859-16", None, ("8859-16",)),
    _CodeSet("cp437", 437, ("cp437",)),
    _CodeSet("cp737", 737, ("cp737",)),
    _CodeSet("cp775", 775, ("cp775",)),
    _CodeSet("cp850", 850, ("cp850", "pc-latin-1")),
    _CodeSet("cp852", 852, ("cp852", "pc-latin-2")),
    _CodeSet("cp855", 855, ("cp855",)),
    _CodeSet("cp857", 857, ("cp857",)),
    _CodeSet("cp858", 858, ("cp858",)),
    _CodeSet("cp860", 860, ("cp860",)),
    _CodeSet("cp861", 861, ("cp861",)),
    _CodeSet("cp862", 862, ("cp862",)),
    _CodeSet("cp863", 863, ("cp863",)),
    _CodeSet("cp865", 865, ("cp865",)),
    _CodeSet("cp866", 866, ("cp866", "pc866")),
    _CodeSet("cp869", 869, ("cp869",)),
    _CodeSet("cp874", 874, ("cp874",)),
    _CodeSet("tis-620", None, ("thai620", "tis620", "tis-620")),
    _CodeSet("cp1250", 1250, ("cp1250",)),
    _CodeSet("cp1251", 1251, ("cp1251",)),
    _CodeSet("cp1252", 1252, ("cp1252",)),
    _CodeSet("cp1253", 1253, ("cp1253",)),
    _CodeSet("cp1254", 1254, ("cp1254",)),
    _CodeSet("cp1255", 1255, ("cp1255",)),
    _CodeSet("cp1256", 1256, ("cp1256",)),
    _CodeSet("cp1257", 1257, ("cp1257",)),
    _CodeSet("cp1258", 1258, ("cp1258",)),
    _CodeSet("koi8-r", 878, ("koi8-r", "koi8", "koi-8", "koi8r")),
    _CodeSet("koi8-u", 1168, ("koi8-u", "koi8u")),
    # Multi-byte code sets.
    _CodeSet("big5", 57352, ("big5", "big-5")),
    _CodeSet("cp950", 950, ("cp950",)),
    _CodeSet("cp932", 932, ("sjis-s", "cp932")),
    _CodeSet("shift_jis", 57350, ("sjis", "shift-jis", "shift_jis")),
    _CodeSet("euc_jp", 57351, ("ujis", "eucjp", "euc-jp")),
    _CodeSet("cp949", 57356, ("ksc", "ks5601", "cp949", "euckr", "euc-kr")),
    # GB2312 in its EUC form is a subset of GBK, which is what cp936 means.
    _CodeSet("gbk", 57357, ("gb", "gb2312-80", "gb2312", "cp936", "gbk")),
    _CodeSet("gb18030", 5488, ("gb18030-2000", "gb18030")),
)
# Code sets that Informix has and Python has no codec for.
_WITHOUT_CODEC = {
    "mazovia": "Mazovia",
    "maz": "Mazovia",
    "euctw": "EUC-TW",
    "euc-tw": "EUC-TW",
    "ccdc": "CCDC",
    "unicode": "UCS-2",
    "57355": "UCS-2",
}

_BY_NAME = {name: code_set for code_set in _CODE_SETS for name in code_set.names}
_BY_NAME.update({f"{prefix}{name}": code_set for name, code_set in _BY_NAME.items()
                 if name.startswith("8859-") for prefix in ("iso", "iso-")})  # fmt: skip
_BY_NUMBER = {code_set.number: code_set for code_set in _CODE_SETS if code_set.number is not None}


def _find(name: str) -> _CodeSet | None:
    """Return a code set by its name, decimal number, or number in four hexadecimal digits."""
    known = _BY_NAME.get(name)
    if known is None and re.fullmatch("[1-9][0-9]*", name):
        known = _BY_NUMBER.get(int(name))
    if known is None and len(name) == 4:
        with suppress(ValueError):
            known = _BY_NUMBER.get(int(name, 16))
    return known


@lru_cache(maxsize=64)
def _parts_of_locale(locale: str) -> tuple[str, _CodeSet]:
    """Split ``en_US.utf8@modifier`` into ``en_US`` and the code set."""
    text = locale.split("@", 1)[0].strip()
    language, dot, name = text.partition(".")
    name = name.strip().lower()
    if dot and language and name in _WITHOUT_CODEC:
        raise ValueError(
            f"Locale {locale!r}: Python has no codec for the code set {_WITHOUT_CODEC[name]}. Register one and "
            'name it with encoding="...".'
        )
    code_set = _find(name)
    if not dot or not language or code_set is None:
        known = ", ".join(each.names[0] for each in _CODE_SETS)
        raise ValueError(
            f"{locale!r} is not a locale. Write it as language_TERRITORY.codeset. The code sets (or their "
            f"numbers) are {known}."
        )
    tongue, underscore, territory = language.partition("_")
    return f"{tongue.lower()}{underscore}{territory.upper()}", code_set


def codec_of_locale(locale: str) -> str:
    """Return the Python codec of an Informix locale: ``latin-1`` for ``en_US.8859-1``, ``utf-8`` for
    ``en_US.utf8``.

    Raises ``ValueError`` for a locale whose code set is unknown or has no codec in Python.
    """
    return _parts_of_locale(locale)[1].codec


def locale_code(locale: str) -> str:
    """Return a locale with its code set as a number, as systables shows it: ``en_US.57372`` for ``en_us.utf8``.

    A code set without a number keeps its name. Raises the errors of :func:`codec_of_locale`.
    """
    language, code_set = _parts_of_locale(locale)
    return f"{language}.{code_set.names[0] if code_set.number is None else code_set.number}"


def locale_of_codec(codec: str) -> str | None:
    """Return a locale whose code set a Python codec is: ``en_US.8859-1`` for ``latin-1``. None if there is none."""
    try:
        name = codecs.lookup(codec).name
    except LookupError:
        return None
    for each in _CODE_SETS:
        with suppress(LookupError):
            if codecs.lookup(each.codec).name == name:
                return f"en_US.{each.names[0]}"
    return None


@cache
def is_multibyte(codec: str) -> bool:
    """Return whether a Python codec writes some characters in several bytes and is not UTF-8.

    The C codecs support UTF-8 and tables of 256 entries. Text in any other code set passes through them as raw
    bytes and is transcoded in Python. Raises ``LookupError`` for an unknown codec.
    """
    info = codecs.lookup(codec)
    if info.name == "utf-8":
        return False
    if info.incrementaldecoder is None:
        return True
    for byte in range(256):
        try:
            if not info.incrementaldecoder().decode(bytes((byte,))):
                return True  # the decoder waits for more bytes of the character
        except UnicodeDecodeError:
            continue
    return False


def can_encode(text: str, codec: str) -> bool:
    """Return whether a code set has all characters of a text."""
    try:
        text.encode(codec)
    except UnicodeEncodeError:
        return False
    return True
