"""Values that translations leave open until a statement runs: CURRENT, DBINFO, and the defaults of columns."""

from __future__ import annotations

import datetime as dt
import re

from ..catalog.catalog import ColumnInfo
from ..plan.functions.type_names import TYPE_NAMES
from ..plan.sequences import CURRVAL_PREFIX, NEXTVAL_PREFIX
from ..types.quoting import quote_string
from ..types.result_types import storage_type
from .environment import SessionEnvironment

_LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")
_PLACEHOLDER = re.compile(r"\$s_(\w+)")


class SessionValues:
    """The values of one session.

    Attributes
    ----------
    now
        Time at which the statement began.
    sqlerrd1, sqlerrd2, serial8, bigserial
        Values for DBINFO: the last serials assigned, and the row count of the last statement.
    statement_values
        Values that are computed for one run of a statement, by name.
    """

    def __init__(self, environment: SessionEnvironment) -> None:
        self._environment = environment
        self.now = dt.datetime(1970, 1, 1)
        self.sqlerrd1 = self.sqlerrd2 = self.serial8 = self.bigserial = 0
        self.statement_values: dict[str, object] = {}

    def value(self, name: str) -> object:
        """Return the value of a name; None for one that is known only while a statement runs."""
        if name == "now":
            return self.now
        if name == "utc":
            return int(self.now.timestamp())
        if name == "sessionid":
            return self._environment.session_id
        if name in self.statement_values:
            return self.statement_values[name]
        if name in ("row", TYPE_NAMES) or name.startswith(("file", NEXTVAL_PREFIX, CURRVAL_PREFIX)):
            return None  # while a statement is described
        return getattr(self, name)

    def bound(self, sql: str) -> dict[str, object] | None:
        """Return the parameters of a condition that has values of the session, None if it has none."""
        names = set(_PLACEHOLDER.findall(_LITERAL.sub("", sql))) if "$s_" in sql else set()
        return {f"s_{name}": self.value(name) for name in names} or None

    def default(self, column: ColumnInfo) -> object:
        """Return a column's default in storage form, None without one."""
        if column.default is None:
            return None
        kind, literal = column.default
        environment = self._environment
        sources: dict[str, object] = {
            "L": literal, "N": None, "T": self.now.date(), "C": self.now, "U": environment.user,
            "S": environment.server_name,
        }  # fmt: skip
        return environment.converter(column.type).convert(sources[kind])

    def default_sql(self, column: ColumnInfo) -> str:
        """Return SQL of a column's default for existing rows."""
        value = self.default(column)
        if value is None:
            return f"CAST(NULL AS {storage_type(column.type)})"
        return f"CAST({quote_string(str(value))} AS {storage_type(column.type)})"
