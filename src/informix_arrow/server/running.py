"""Values bound for one run of a statement, and whole results as Arrow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..wire.types import ColumnType
from .catalog import attached, first_row, quote, text
from .conversions import for_comparison
from .isolation import Isolation
from .lob_calls import load_file
from .session_state import SessionState
from .sql.plans import Needs
from .sql.sequences import CURRENT, DRAWN

if TYPE_CHECKING:
    from .engine import Engine

_BATCH_ROWS = 65536
_WIDEST = ColumnType.decimal(32)
_VALUE = re.compile(r"\$(\w+)")


def values_in(sql: str, values: dict[str, object]) -> dict[str, object] | None:
    """The values that a text names: DuckDB refuses others. None when it names none."""
    wanted = set(_VALUE.findall(sql))
    return {name: value for name, value in values.items() if name in wanted} or None


class RunningSession(SessionState):
    """A session that can run DuckDB text with an Informix statement's parameters."""

    def __init__(self, engine: Engine, user: str, environment: dict[str, str], session_id: int) -> None:
        super().__init__(engine, user, environment, session_id)
        self.isolation = Isolation(self)

    def bind(self, needs: Needs, params: Sequence[object]) -> dict[str, object]:
        """DuckDB's named values for one run: parameters in storage form, and what the session knows."""
        values: dict[str, object] = {}
        for number in needs.used:
            t = needs.params[number]
            if t is not None and (number in needs.assigned or number in needs.packed):
                # what is compared keeps all its digits
                converter = self.converter(t if number in needs.assigned else _WIDEST)
                values[f"p{number}"] = converter.one(params[number])
                self.cut = self.cut or converter.was_cut
            else:
                values[f"p{number}"] = for_comparison(params[number], t, self.codec, self.dbdate)
        for name in needs.uses:
            numbered = name.startswith((DRAWN, CURRENT))
            values[f"s_{name}"] = self._sequence_value(name) if numbered else self.session_value(name)
        return values

    def _sequence_value(self, name: str) -> object:
        """A number of a sequence that is drawn once for the statement, or the one drawn last."""
        kind, _, tabid = name.rpartition("_")
        duck = f"{attached(self.require_database())}.main.{quote(f'_sequence_{tabid}')}"
        function = "nextval" if f"{kind}_" == DRAWN else "currval"
        row = self.read(lambda: first_row(self.con, f"SELECT {function}({text(duck)})"))
        assert row is not None
        return row[0]

    def load_files(self, needs: Needs, params: Sequence[object]) -> None:
        """Make the objects of filetoblob and filetoclob; their locators become session values."""
        for number, file in enumerate(needs.files):
            self.made[f"file{number}"] = load_file(self, file, params)

    def fetch_arrow(self, sql: str, values: dict[str, object]) -> Any:
        """Run a query; the whole result as an Arrow table."""

        named = values_in(sql, values)

        def run() -> Any:
            relation = self.con.sql(sql, params=named) if named else self.con.sql(sql)
            reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
            return reader(_BATCH_ROWS).read_all()

        return self.routines.settled(sql, run)
