"""Values bound for one run of a statement, and whole results as Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .conversions import for_comparison
from .session_state import SessionState
from .sql.plans import Needs

_BATCH_ROWS = 65536


class RunningSession(SessionState):
    """A session that can run DuckDB text with an Informix statement's parameters."""

    def bind(self, needs: Needs, params: Sequence[object]) -> dict[str, object]:
        """DuckDB's named values for one run: parameters in storage form, and what the session knows."""
        values: dict[str, object] = {}
        for number in needs.used:
            t = needs.params[number]
            if t is not None and (number in needs.assigned or number in needs.packed):
                values[f"p{number}"] = self.converter(t).one(params[number])
            else:
                values[f"p{number}"] = for_comparison(params[number], t, self.codec, self.dbdate)
        for name in needs.uses:
            values[f"s_{name}"] = self.session_value(name)
        return values

    def fetch_arrow(self, sql: str, values: dict[str, object]) -> Any:
        """Run a query; the whole result as an Arrow table."""
        relation = self.con.sql(sql, params=values) if values else self.con.sql(sql)
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
        return reader(_BATCH_ROWS).read_all()

    def restart_statement(self) -> None:
        """Begin again after DuckDB has aborted a statement's own transaction (never inside an explicit
        one)."""
        self._duck_rollback()
        self.writer.log = []
        self.con.execute("BEGIN TRANSACTION")
        self._open = True
