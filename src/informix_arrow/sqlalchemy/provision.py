"""Databases for SQLAlchemy's own test suite."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy.testing import provision

from ..connection import Connection, connect
from ..wire.errors import Error

_IN_USE = -425
_WAIT_SECONDS = 60.0  # seconds


@provision.create_db.for_db("informix")  # type: ignore[untyped-decorator]
def _create_db(cfg: Any, eng: Any, ident: str) -> None:
    """Create a database for one of several worker processes."""
    with _admin_connection(eng) as connection:
        connection.execute(f"CREATE DATABASE {ident} WITH LOG")


@provision.drop_db.for_db("informix")  # type: ignore[untyped-decorator]
def _drop_db(cfg: Any, eng: Any, ident: str) -> None:
    until = time.monotonic() + _WAIT_SECONDS
    with _admin_connection(eng) as connection:
        while True:
            try:
                connection.execute(f"DROP DATABASE {ident}")
                return
            except Error as error:  # the server has not noticed yet that the worker's connections are gone
                if error.sqlcode != _IN_USE or time.monotonic() > until:
                    raise
            time.sleep(0.1)


def _admin_connection(eng: Any) -> Connection:
    """Open a blocking connection to the same server, whose new databases are UTF-8."""
    _, keywords = eng.dialect.create_connect_args(eng.url)
    return connect(**{**keywords, "database": None, "db_locale": "en_US.utf8", "autocommit": True})


@provision.temp_table_keyword_args.for_db("informix")  # type: ignore[untyped-decorator]
def _temp_table_keyword_args(cfg: Any, eng: Any) -> dict[str, Any]:
    return {"prefixes": ["TEMP"]}
