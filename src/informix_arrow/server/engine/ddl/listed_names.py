"""Names that systables lists and DuckDB does not have: synonyms and sequences."""

from __future__ import annotations

from ...schema import stored_names
from .workbench import Workbench


def forget(bench: Workbench, name: str, kinds: tuple[str, ...]) -> int:
    """Take a name out of systables; its tabid, 0 when there is none of these kinds."""
    database = bench.database.require()
    tabid = stored_names.number_of(bench.transaction.con, database, name, kinds)
    if tabid is None:
        return 0
    stored_names.forget(bench.transaction.writer, database, tabid)
    bench.schema.change()
    return tabid
