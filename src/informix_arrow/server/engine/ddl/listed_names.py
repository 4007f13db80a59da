"""Names that systables lists and DuckDB does not have: synonyms and sequences."""

from __future__ import annotations

from ...schema.catalog import attached, first_row
from ...types.names import text
from .workbench import Workbench


def forget(bench: Workbench, name: str, kinds: tuple[str, ...]) -> int:
    """Take a name out of systables; its tabid, 0 when there is none of these kinds."""
    tables = f"{attached(bench.database.require())}._ifx.tables"
    among = ", ".join(map(text, kinds))
    row = first_row(
        bench.transaction.con,
        f"SELECT tabid FROM {tables} WHERE tabname = ? AND tabtype IN ({among})",
        [name],
    )
    if row is None:
        return 0
    bench.transaction.writer.execute(f"DELETE FROM {tables} WHERE tabid = ?", [row[0]])
    bench.schema.change()
    return int(row[0])
