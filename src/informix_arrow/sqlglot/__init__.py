"""Informix SQL for sqlglot: translation to PostgreSQL, DuckDB, Spark, Snowflake and BigQuery, and from other databases.

    sqlglot.transpile("SELECT FIRST 5 NVL(a, 0) FROM t", read="informix", write="postgres")
    translate("SELECT a / 2 FROM t", to="postgres", schema={"t": {"a": "INTEGER"}})

`pip install sqlglot informix-arrow` is enough: nothing here needs DuckDB. What has no exact equivalent raises
``sqlglot.errors.UnsupportedError``, whatever ``unsupported_level`` is.
"""

from __future__ import annotations

try:
    import sqlglot as _sqlglot  # noqa: F401
except ModuleNotFoundError as missing:
    if missing.name != "sqlglot":
        raise
    raise ModuleNotFoundError(
        "informix_arrow.sqlglot needs sqlglot: pip install 'informix-arrow[sqlglot]'", name="sqlglot"
    ) from missing

from .dialect import Informix, InformixDelimited
from .script import Statement, statements, translate

__all__ = ["Informix", "InformixDelimited", "Statement", "statements", "translate"]
