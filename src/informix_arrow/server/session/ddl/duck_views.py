"""Views in DuckDB."""

from __future__ import annotations

from ...catalog.catalog import TableInfo
from ...types.quoting import quote_identifier
from .ddl_context import DdlContext

_NEVER_READ = "error('IFX-768')"


def create_duck_view(context: DdlContext, info: TableInfo, sql: str) -> None:
    """Create DuckDB's view. That of an expanded view is never read, only its name counts."""
    if info.is_expanded:
        sql = f"SELECT {', '.join(f'{_NEVER_READ} AS c{i}' for i in range(len(info.columns)))}"
    columns = ", ".join(quote_identifier(column.name) for column in info.columns)
    context.transaction.recorder.execute(f"CREATE VIEW {info.duck_name} ({columns}) AS {sql}")
