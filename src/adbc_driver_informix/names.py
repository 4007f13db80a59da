"""Names in statements of pandas: ADBC's names are exact, Informix's only in double quotes under DELIMIDENT.

Without DELIMIDENT the server folds every name to lower case, and a table in double quotes is a syntax error in any
statement. So if a statement of one of pandas' few shapes has such a table, its names are meant as ADBC's names.
"""

from __future__ import annotations

import re

from informix_arrow import ProgrammingError
from informix_arrow.identifiers import needs_no_quotes

_NAME = r'"(?:[^"]|"")+"'
_QUOTED = re.compile(_NAME)
_PANDAS = re.compile(
    rf"(?P<verb>DROP TABLE |DELETE FROM |SELECT (?P<columns>\*|{_NAME}(?:, {_NAME})*) FROM )"
    rf"(?:(?P<owner>{_NAME})\.)?(?P<table>{_NAME})"
)


def unquoted(sql: str) -> str:
    """Return a statement of one of pandas' shapes without its double quotes, for a session without DELIMIDENT.

    Any other statement is returned unchanged.

    Raises
    ------
    ProgrammingError
        A name needs its quotes. The text says that DELIMIDENT would allow them.
    """
    match = _PANDAS.fullmatch(sql)
    if match is None:
        return sql
    verb = match["verb"]
    if match["columns"] not in (None, "*"):
        columns = ", ".join(_bare(each) for each in _QUOTED.findall(match["columns"]))
        verb = f"SELECT {columns} FROM "
    owner = f"'{_bare(match['owner'])}'." if match["owner"] else ""
    return f"{verb}{owner}{_bare(match['table'])}"


def _bare(quoted: str) -> str:
    name = quoted[1:-1].replace('""', '"')
    if not needs_no_quotes(name):
        raise ProgrammingError(
            f"the name {name!r} is no plain identifier: rename it, or connect with env={{'DELIMIDENT': 'y'}}"
        )
    return name
