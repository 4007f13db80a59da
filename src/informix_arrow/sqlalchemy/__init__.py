"""A SQLAlchemy 2 dialect: ``create_engine("informix://user:password@host:9088/stores?server=ol_informix")``.

``informix://`` and ``informix+informix_arrow://`` are blocking. ``informix+aio://`` is for ``create_async_engine``.
Importing this package also registers the dialect with Alembic, where that is installed.
"""

from __future__ import annotations

from importlib.util import find_spec

try:
    import sqlalchemy as _sqlalchemy  # noqa: F401
except ModuleNotFoundError as missing:
    if missing.name != "sqlalchemy":
        raise
    raise ModuleNotFoundError(
        "informix_arrow.sqlalchemy needs SQLAlchemy. Run pip install 'informix-arrow[sqlalchemy]'",
        name="sqlalchemy",
    ) from None

from . import releases as _releases  # noqa: F401 - refuses releases that are too old
from .bulk import arrow_insert
from .dialect import InformixDialect
from .types import (
    BIGSERIAL,
    BSON,
    BYTE,
    DATETIME,
    INT8,
    INTERVAL,
    LVARCHAR,
    MONEY,
    SERIAL,
    SERIAL8,
    SMALLFLOAT,
    TIME,
    DeclaredType,
)

__all__ = [
    "BIGSERIAL",
    "BSON",
    "BYTE",
    "DATETIME",
    "INT8",
    "INTERVAL",
    "LVARCHAR",
    "MONEY",
    "SERIAL",
    "SERIAL8",
    "SMALLFLOAT",
    "TIME",
    "DeclaredType",
    "InformixDialect",
    "arrow_insert",
]

if find_spec("alembic") is not None:
    from . import alembic  # noqa: F401 - registers the dialect with Alembic
