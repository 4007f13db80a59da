"""The hook for Airflow's operators and tasks, for connections of the type ``informix``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pyarrow as pa

try:
    from airflow.providers.common.sql.hooks.sql import DbApiHook
except ModuleNotFoundError as missing:
    if not (missing.name or "").startswith("airflow"):
        raise
    raise ModuleNotFoundError(
        "informix_arrow.airflow.hook needs Airflow. Run pip install 'informix-arrow[airflow]'",
        name=missing.name,
    ) from None

from ..connection import Connection, open_connection
from ..dsn import Parameters, resolve
from ..wire.errors import InterfaceError, NotSupportedError

if TYPE_CHECKING:
    from sqlalchemy import URL

Values = Sequence[object] | Mapping[str, object] | None

#: Keys of a connection's Extra that belong to Airflow's own base class.
_AIRFLOWS = frozenset(
    {
        "placeholder", "insert_statement_format", "replace_statement_format", "escape_word_format",
        "escape_column_names", "sqlalchemy_scheme", "dialect",
    }
)  # fmt: skip


class InformixHook(DbApiHook):  # type: ignore[misc]
    """A hook for Informix. Frames and tables are built from Arrow data, not from rows.

    The connection's host, port, login, password and schema (the database), and the keys of its Extra, are keywords of
    :func:`informix_arrow.connect`: ``{"server": "ol_informix", "lock_wait": 10}``. The hook's ``schema=`` names another
    database.
    """

    conn_name_attr = "informix_conn_id"
    default_conn_name = "informix_default"
    conn_type = "informix"
    hook_name = "IBM Informix"
    supports_autocommit = True
    supports_executemany = True
    strip_semicolon = True
    _placeholder = "?"
    _test_connection_sql = "SELECT 1 FROM informix.systables WHERE tabid = 1"

    def __init__(self, *args: Any, schema: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, schema=schema, **kwargs)
        self._database = schema

    @classmethod
    def get_ui_field_behaviour(cls) -> dict[str, Any]:
        """Return the labels of the connection form."""
        return {
            "hidden_fields": [],
            "relabeling": {"schema": "Database"},
            "placeholders": {"extra": '{"server": "ol_informix"}', "port": "9088"},
        }

    def get_conn(self) -> Connection:
        """Open a connection, in whose transactions statements run. The caller closes it."""
        return open_connection(self._parameters())

    def _keywords(self) -> dict[str, Any]:
        connection = self.connection
        keywords = {
            "host": connection.host,
            "port": connection.port,
            "user": connection.login,
            "password": connection.password,
            "database": self._database or connection.schema,
        }
        for name, value in self.connection_extra.items():
            if name in _AIRFLOWS:
                continue
            if keywords.get(name):
                raise InterfaceError(
                    f"The connection {self.get_conn_id()!r} gives {name!r} twice, also as an extra."
                )
            keywords[name] = value
        return {name: value for name, value in keywords.items() if value not in (None, "")}

    def _parameters(self) -> Parameters:
        return resolve(None, **self._keywords())

    def get_uri(self) -> str:
        """Return the connection as a URL for SQLAlchemy, with the password."""
        return str(self.sqlalchemy_url.render_as_string(hide_password=False))

    @property
    def sqlalchemy_url(self) -> URL:
        """The URL for the dialect of :mod:`informix_arrow.sqlalchemy`."""
        from sqlalchemy import URL

        keywords = self._keywords()
        env = {f"env.{name}": str(value) for name, value in dict(keywords.pop("env", {})).items()}
        login = {name: keywords.pop(name, None) for name in ("host", "port", "database", "password")}
        return URL.create(
            "informix",
            username=keywords.pop("user", None),
            query={**{name: _text(value) for name, value in keywords.items()}, **env},
            **login,
        )

    # ---- Arrow ---------------------------------------------------------------------------------------------------

    def read_arrow(self, sql: str, parameters: Values = None) -> pa.Table:
        """Return all rows of a query as one table."""
        with closing(self.get_conn()) as conn:
            return conn.read_arrow(sql, parameters or ())

    def write_arrow(self, table: str, data: Any, **options: Any) -> int:
        """Load Arrow data into a table, commit, and return the number of rows.

        Data and options are those of :meth:`Connection.write_arrow`.
        """
        with closing(self.get_conn()) as conn:
            return conn.write_arrow(table, data, **options).rows

    def _get_pandas_df(self, sql: str, parameters: Values = None, **options: Any) -> Any:
        index = options.pop("index_col", None)
        types = _types_mapper(options)
        frame = _pandas(self.read_arrow(sql, parameters), types)
        return frame if index is None else frame.set_index(index)

    def _get_polars_df(self, sql: str, parameters: Values = None, **options: Any) -> Any:
        import polars

        with closing(self.get_conn()) as conn:
            return polars.DataFrame(conn.query(sql, parameters or ()), **options)

    def _get_pandas_df_by_chunks(
        self, sql: str, parameters: Values = None, *, chunksize: int, **options: Any
    ) -> Iterator[Any]:
        types = _types_mapper(options)
        for table in self._chunks(sql, parameters, chunksize):
            yield _pandas(table, types)

    def _get_polars_df_by_chunks(
        self, sql: str, parameters: Values = None, *, chunksize: int, **options: Any
    ) -> Iterator[Any]:
        import polars

        for table in self._chunks(sql, parameters, chunksize):
            yield polars.DataFrame(table, **options)

    def _chunks(self, sql: str, parameters: Values, size: int) -> Iterator[pa.Table]:
        """Yield the rows in tables of ``size`` each, the last with the rest; one without rows if there are none."""
        with closing(self.get_conn()) as conn, conn.query(sql, parameters or ()) as result:
            pending = pa.Table.from_batches([], result.schema)
            first = True
            for batch in result.batches():
                pending = pa.concat_tables([pending, pa.Table.from_batches([batch])])
                while pending.num_rows >= size:
                    yield pending.slice(0, size)
                    pending, first = pending.slice(size), False
            if first or pending.num_rows:
                yield pending

    # ---- rows ----------------------------------------------------------------------------------------------------

    def _generate_insert_sql(
        self, table: str, values: Any, target_fields: Any = None, replace: bool = False, **kwargs: Any
    ) -> str:
        if replace:
            raise NotSupportedError(
                'Informix has no REPLACE. Use hook.write_arrow(table, data, mode="upsert", key=["id"]).'
            )
        return str(super()._generate_insert_sql(table, values, target_fields, replace, **kwargs))

    @staticmethod
    def _serialize_cell(cell: object, conn: object = None) -> Any:
        """Return the value unchanged: the driver knows the column's type."""
        return cell


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _types_mapper(options: dict[str, Any]) -> Any:
    """Return the mapper for ``dtype_backend``. Raises ``TypeError`` for pandas' options that do not apply to Arrow
    data.
    """
    backend = options.pop("dtype_backend", None)
    if backend not in (None, "pyarrow"):
        raise TypeError(f"dtype_backend must be 'pyarrow' or left out, got {backend!r}.")
    if options:
        raise TypeError(f"Unknown options {', '.join(map(repr, options))}. Use index_col and dtype_backend.")
    if backend is None:
        return None
    import pandas  # type: ignore[import-untyped]

    return pandas.ArrowDtype


def _pandas(table: pa.Table, types: Any) -> Any:
    """Return a frame. 64-bit integers with NULLs stay integers, because float64 would lose digits."""
    if types is not None:
        return table.to_pandas(types_mapper=types)
    import pandas

    frame = table.to_pandas()
    for number, column in enumerate(table.columns):
        if column.type == pa.int64() and column.null_count:
            frame.isetitem(number, column.to_pandas(types_mapper={pa.int64(): pandas.Int64Dtype()}.get))
    return frame
