"""Triggers in the catalogue: the hidden table that stores them, and the views systriggers and systrigbody."""

from __future__ import annotations

from dataclasses import dataclass

SCHEMA = """
CREATE TABLE IF NOT EXISTS {db}._ifx.triggers (trigid INTEGER, trigname VARCHAR, owner VARCHAR, tabid INTEGER,
    event VARCHAR, old VARCHAR, new VARCHAR, columns VARCHAR[], instead BOOLEAN, enabled BOOLEAN, delimident BOOLEAN,
    each_row BOOLEAN, header VARCHAR, body VARCHAR);
"""
"""Table of the hidden schema (hidden_schema.py)."""

_BODY = (
    "SELECT trigid, '{key}' AS datakey, (n - 1)::INTEGER AS seqno, piece AS data FROM (SELECT trigid, "
    "unnest(pieces) AS piece, generate_subscripts(pieces, 1) AS n FROM (SELECT trigid, "
    "_ifx_pieces({text}, 256) AS pieces FROM {{db}}._ifx.triggers))"
)

_STATE = (
    "CASE WHEN list_contains(from_json(t.details::JSON -> '$.disabled', '[\"VARCHAR\"]'), {}) "
    "THEN 'D' ELSE 'E' END"
)

_VISIBLE = "split_part({}, chr(31), 1)"  # the name without the owner (owned_names.py)

VIEWS: dict[str, tuple[str, str]] = {
    "systriggers": (
        "trigid SERIAL NOT NULL, trigname NVARCHAR(128), owner CHAR(32), tabid INTEGER, event CHAR(1), "
        "old NVARCHAR(128), new NVARCHAR(128), mode CHAR(1), collation CHAR(32)",
        "SELECT trigid, trigname, owner, tabid, CASE WHEN instead THEN lower(event) ELSE event END AS event, "
        "nullif(old, '') AS old, nullif(new, '') AS new, 'O' AS mode, 'en_US.819' AS collation "
        "FROM {db}._ifx.triggers",
    ),
    "systrigbody": (
        "trigid INTEGER, datakey CHAR(1), seqno INTEGER, data CHAR(256)",
        f"{_BODY.format(key='A', text='body')} UNION ALL {_BODY.format(key='D', text='header')}",
    ),
    "sysobjstate": (
        "objtype CHAR(1), owner CHAR(32), name NVARCHAR(128), tabid INTEGER, state CHAR(1)",
        "SELECT 'T' AS objtype, owner, trigname AS name, tabid, CASE WHEN enabled THEN 'E' ELSE 'D' END AS state "
        "FROM {db}._ifx.triggers UNION ALL "
        f"SELECT 'I', x.owner, {_VISIBLE.format('x.idxname')}, x.tabid, {_STATE.format('x.idxname')} "
        "FROM {db}._ifx.indexes x "
        "JOIN {db}._ifx.tables t ON t.tabid = x.tabid UNION ALL "
        f"SELECT 'C', c.owner, {_VISIBLE.format('c.constrname')}, c.tabid, {_STATE.format('c.constrname')} "
        "FROM {db}._ifx.constraints c "
        "JOIN {db}._ifx.tables t ON t.tabid = c.tabid",
    ),
}
"""Catalogue tables: columns as Informix declares them, and the query over the hidden schema
(system_catalog.install)."""


@dataclass(frozen=True, slots=True)
class TriggerInfo:
    """A trigger.

    `event` is I, U or D. `columns` are the columns of UPDATE OF, and `first_column_number` is the number of the first
    of them in the table (0 for none). `text` is the CREATE statement.
    """

    trigid: int
    name: str
    owner: str
    event: str
    columns: tuple[str, ...]
    instead: bool
    enabled: bool
    delimident: bool
    each_row: bool
    text: str
    first_column_number: int = 0

    def fired_by(self, event: str, columns: frozenset[str]) -> bool:
        """Return whether an INSERT, a DELETE or an UPDATE of these columns fires the trigger."""
        if not self.enabled or event != self.event:
            return False
        return not self.columns or not columns.isdisjoint(self.columns)


QUERY = (
    "SELECT trigid, trigname, owner, event, columns, instead, enabled, delimident, each_row, header || body "
    "FROM {db}._ifx.triggers WHERE tabid = ?"
)
"""Query of a table's triggers, for `from_rows`."""


def from_rows(rows: list[tuple[object, ...]], names: list[str]) -> tuple[TriggerInfo, ...]:
    """Return triggers in firing order. Triggers of UPDATE OF come in the order of their first column in the table,
    whose columns are `names`."""
    found = []
    for trigid, name, owner, event, columns, instead, enabled, delimident, each_row, text in rows:
        assert isinstance(trigid, int)
        assert isinstance(columns, list)
        position = min((names.index(c) + 1 for c in columns if c in names), default=0)
        found.append(
            TriggerInfo(
                trigid,
                str(name),
                str(owner),
                str(event),
                tuple(columns),
                bool(instead),
                bool(enabled),
                bool(delimident),
                bool(each_row),
                str(text),
                position,
            )
        )
    return tuple(sorted(found, key=lambda trigger: (trigger.first_column_number, trigger.trigid)))
