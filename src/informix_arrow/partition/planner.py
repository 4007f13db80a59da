"""The planner: choose how to divide a table or a query, and make the statement for each part. One operation."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..ingest.target_table import quote
from ..metadata import queries as q
from ..metadata.catalog import SERIALS
from ..metadata.table_names import TableName, catalogue
from ..operations.fetch import ReadOptions
from ..operations.io_steps import Exchange
from ..operations.prepare import prepare, release_statement
from ..operations.read_table import query_table
from ..operations.session import Session
from ..rows.parameters import Values, parse
from ..wire.describe import Column
from ..wire.errors import Error, InterfaceError, NotSupportedError, ProgrammingError
from ..wire.sql_text import holds_several, words_and_strings
from .conditions import ADDRESSABLE, Condition, Fragment, fragments, ranges, remainders
from .keys import CutPoint, PartitionKey, kind_of
from .partition import Partition

By: TypeAlias = Literal["auto", "fragment", "range", "rowid", "mod"]
METHODS = ("auto", "fragment", "range", "rowid", "mod")
DEFAULT_PARTS = 4
MAX_PARTS = 10_000

_DIRTY_READ = ReadOptions(isolation="dirty")  # bounds need not be exact, so do not wait for locks

_SLOTS = 256  # a rowid is page * 256 + slot
_SAMPLED = 1000  # rows in a sample
_SAMPLED_OF_PAGE = 16  # rows of one page in a sample, as rows of a page are similar
_MIN_SAMPLE = 16  # values for each part below which a sample says nothing
_SKEWED = 1.5  # a stride with this many times its share of the rows is too full
_SOURCE = "ifx_part"
_SOME_ROWS = re.compile(r"^SELECT (?:FIRST|LIMIT|SKIP) \d|\bLIMIT(?: \d+)?$")


@dataclass(frozen=True, slots=True)
class PartitionRequest:
    """The arguments of :func:`~informix_arrow.plan_partitions`, checked by :func:`partition_request`."""

    text: str  # a table's name, or a query as sent to the server
    table: TableName | None  # None for a query
    values: tuple[object, ...]
    partition_on: str | None
    partition_count: int | None
    bounds: tuple[object, object] | None
    by: str


def partition_request(
    table_or_query: str,
    parameters: Values = (),
    *,
    partition_on: str | None = None,
    partition_num: int | None = None,
    partition_range: tuple[object, object] | None = None,
    by: str = "auto",
) -> PartitionRequest:
    """Check the arguments without a server. Raises ``InterfaceError`` for a wrong one."""
    if by not in METHODS:
        raise InterfaceError(f"by must be one of {', '.join(map(repr, METHODS))}, got {by!r}.")
    if partition_num is not None and (
        not isinstance(partition_num, int)
        or isinstance(partition_num, bool)
        or not 1 <= partition_num <= MAX_PARTS
    ):
        raise InterfaceError(
            f"partition_num must be a whole number from 1 to {MAX_PARTS}, got {partition_num!r}."
        )
    if partition_on is not None and (not isinstance(partition_on, str) or not partition_on.strip()):
        raise InterfaceError(f"partition_on must be a column's name, got {partition_on!r}.")
    if partition_on is not None and by in ("fragment", "rowid"):
        raise InterfaceError(
            f"by={by!r} does not divide by a column. Leave partition_on out, or use by='range' or 'mod'."
        )
    bounds = None
    if partition_range is not None:
        if by not in ("auto", "range") or partition_on is None:
            raise InterfaceError("partition_range needs partition_on, and by='range' or 'auto'.")
        if isinstance(partition_range, str) or len(tuple(partition_range)) != 2:
            raise InterfaceError(
                f"partition_range must be a lowest and a highest value, got {partition_range!r}."
            )
        bounds = (partition_range[0], partition_range[1])
    text, table, values = _source(table_or_query, parameters)
    if table is None and by in ("fragment", "rowid"):
        raise InterfaceError(
            f"by={by!r} divides tables, but this is a query. Name a column with partition_on."
        )
    column = partition_on.strip() if partition_on is not None else None
    return PartitionRequest(text, table, values, column, partition_num, bounds, by)


def _source(text: object, parameters: Values) -> tuple[str, TableName | None, tuple[object, ...]]:
    """Return the text for FROM, the table's name, and the values for the ``?`` of a query."""
    if not isinstance(text, str) or not text.strip():
        raise InterfaceError(f"{text!r} is neither a table name nor a query.")
    try:
        table = TableName.parse(text)
    except InterfaceError:
        table = None
    if table is not None:
        if parameters:
            raise InterfaceError("A table takes no parameters. Pass a query with placeholders.")
        return text.strip(), table, ()
    statement = parse(text)
    words = [token.upper() for token in words_and_strings(statement.text)]
    code = " ".join(words)
    if words[:1] not in (["SELECT"], ["WITH"]):
        raise InterfaceError(f"{text!r} is neither a table name nor a query.")
    if holds_several(statement.text):
        raise InterfaceError("Several statements cannot be divided. Pass one query.")
    if "ORDER" not in words and _SOME_ROWS.search(code):
        raise InterfaceError(
            "A query with FIRST, SKIP or LIMIT can return other rows each time it runs. Add ORDER BY with "
            "a unique key."
        )
    values = tuple(statement.values(parameters))
    return f"({statement.text.rstrip().rstrip(';')}\n) AS {_SOURCE}", None, values


@q.reads_catalogue
def plan(session: Session, request: PartitionRequest, delimident: bool) -> Exchange[list[Partition]]:
    """Plan the parts of a table or query: :func:`~informix_arrow.plan_partitions`."""
    return (yield from _Planner(session, request, delimident).plan())


class _Planner:
    """Plans the parts of one table or query."""

    def __init__(self, session: Session, request: PartitionRequest, delimident: bool) -> None:
        self._session = session
        self._request = request
        self._delimident = delimident
        self._partition_count = request.partition_count or DEFAULT_PARTS
        self._columns: tuple[Column, ...] = ()
        self._table: q.Table | None = None  # from the catalogue; None for a query and for a TEMP table
        self._reason = ""

    def plan(self) -> Exchange[list[Partition]]:
        request = self._request
        sql = f"SELECT * FROM {request.text}"
        describe = yield from prepare(self._session, sql, len(request.values))
        yield from release_statement(self._session, describe.statement_id)
        self._columns = describe.columns
        if request.table is not None:
            self._table = yield from _find_table(self._session, request.table)
        by, conditions = yield from self._divide()
        return self._partitions(by, conditions)

    def _divide(self) -> Exchange[tuple[str, list[Condition]]]:
        """Divide by the requested method, or by the first one that is possible."""
        request = self._request
        if request.by == "fragment":
            return "fragment", (yield from self._by_fragment())
        if request.by == "rowid":
            return "rowid", (yield from self._by_rowid())
        if request.by == "mod":
            key = yield from self._key(integers=True)
            return "mod", remainders(self._name(key), self._partition_count)
        if request.by == "range" or request.partition_on is not None:
            key = yield from self._key()
            return "range", (yield from self._by_range(key))
        return (yield from self._choose_automatically())

    def _choose_automatically(self) -> Exchange[tuple[str, list[Condition]]]:
        """Divide by the first possible method: ``by="auto"`` without a column."""
        if self._request.table is None:
            self._reason = (
                "a query has no fragments, key or rowids of its own; name a column with partition_on"
            )
            return "one", [Condition("")]
        conditions = yield from self._addressable()
        if conditions:
            self._reason = "its fragments have expressions"
            return "fragment", conditions
        key = yield from self._best_key(strides=True)
        if key is not None:
            return "range", (yield from self._by_range(key))
        if self._table is not None and self._table.type == "TABLE" and (yield from self._has_rowids()):
            self._reason = "no fragments with expressions, and no key of numbers or dates"
            return "rowid", (yield from self._rowid_ranges())
        self._reason = (
            "no fragments with expressions, no key of numbers or dates, and no rowids; "
            "name a column with partition_on"
        )
        return "one", [Condition("")]

    # ---- methods --------------------------------------------------------------------------------

    def _by_fragment(self) -> Exchange[list[Condition]]:
        found = yield from self._fragments()
        name = self._request.text
        strategies = {each.strategy for each in found if each.position >= 0}
        if not strategies:
            raise InterfaceError(f"by='fragment': {name} is not fragmented.")
        conditions = fragments(found, self._request.partition_count)
        if not conditions:
            hint = (
                "Round robin does not depend on the values of a row."
                if "R" in strategies
                else "Their expressions are not understood."
            )
            raise NotSupportedError(f"by='fragment': The fragments of {name} cannot be addressed: {hint}")
        self._reason = "by='fragment' was requested"
        return conditions

    def _addressable(self) -> Exchange[list[Condition]]:
        """Return the conditions of the fragments if the server accepts them, else []."""
        found = yield from self._fragments()
        if not any(each.strategy in ADDRESSABLE for each in found):
            return []
        conditions = fragments(found, self._request.partition_count)
        for condition in conditions:
            if not (yield from self._is_accepted(self._select(condition), len(condition.parameters))):
                return []
        return conditions

    def _by_range(self, key: PartitionKey) -> Exchange[list[Condition]]:
        name = self._name(key)
        cuts = yield from self._cuts(key, name)
        return ranges(name, cuts)

    def _by_rowid(self) -> Exchange[list[Condition]]:
        name = self._request.text
        if self._table is not None and self._table.type not in ("TABLE", q.SYSTEM_TABLE):
            raise InterfaceError(f"by='rowid': {name} is a {self._table.type.lower()}, which has no rowids.")
        if not (yield from self._has_rowids()):
            raise InterfaceError(
                f"by='rowid': {name} has no rowids, because it is fragmented. Divide it by its fragments or "
                "a column."
            )
        self._reason = "by='rowid' was requested"
        return (yield from self._rowid_ranges())

    def _rowid_ranges(self) -> Exchange[list[Condition]]:
        """Return ranges of whole pages."""
        ((low, high),) = yield from self._query_rows(
            f"SELECT MIN(rowid), MAX(rowid) FROM {self._request.text}"
        )
        if low is None:
            return [Condition("")]
        first, pages = low // _SLOTS, high // _SLOTS - low // _SLOTS + 1
        parts = self._partition_count
        cuts = sorted({first + pages * at // parts for at in range(1, parts)} - {first})
        return ranges("rowid", [CutPoint(str(page * _SLOTS)) for page in cuts], nulls=False)

    # ---- keys -----------------------------------------------------------------------------------

    def _key(self, *, integers: bool = False) -> Exchange[PartitionKey]:
        """Return the column that the user named, or the best one."""
        request = self._request
        key: PartitionKey | None
        if request.partition_on is not None:
            column = self._column(request.partition_on)
            key = PartitionKey(column.name, column.type)
            self._reason = f"partition_on={column.name!r}"
        else:
            key = yield from self._best_key(strides=integers)
        if key is None:
            raise InterfaceError(
                f"by={request.by!r}: {request.text} has no single-column key that can be divided. Name a "
                "column with partition_on."
            )
        if integers and not key.is_integer:
            raise InterfaceError(
                f"by='mod' needs a column of whole numbers, but {key.name} is {key.type.sql}."
            )
        return key

    def _column(self, name: str) -> Column:
        plain = name[1:-1].replace('""', '"') if name[:1] == name[-1:] == '"' and len(name) > 2 else name
        same = [column for column in self._columns if column.name == plain]
        same = same or [column for column in self._columns if column.name.lower() == plain.lower()]
        if len(same) == 1:
            return same[0]
        names = ", ".join(column.name for column in self._columns)
        raise InterfaceError(f"There is no column {name!r} (partition_on=). The columns are {names}.")

    def _best_key(self, *, strides: bool) -> Exchange[PartitionKey | None]:
        """Return the column of a single-column primary key, of a SERIAL, or of a unique index, in this order."""
        if self._table is None or self._table.tabid is None or self._request.table is None:
            return None
        database, tabid = self._request.table.database, self._table.tabid
        indexes = yield from q.indexes(self._session, database, "t.tabid = ?", (tabid,))
        keys = yield from q.keys(self._session, database, "t.tabid = ?", (tabid,))
        primary = {key.index for key in keys if key.kind == "P"}
        unique = sorted(
            (each for each in indexes if each.unique and len(each.column_numbers) == 1),
            key=lambda each: each.name not in primary,
        )
        firsts = {abs(each.column_numbers[0]) for each in indexes if each.column_numbers}
        numbers = [abs(each.column_numbers[0]) for each in unique if each.name in primary]
        numbers += [n for n, each in enumerate(self._columns, 1) if each.type.code in SERIALS and n in firsts]
        numbers += [abs(each.column_numbers[0]) for each in unique]
        for number in numbers:
            if not 1 <= number <= len(self._columns):
                continue
            column = self._columns[number - 1]
            kind = kind_of(column.type)
            if kind and (kind != "text" or not strides):
                self._reason = f"{column.name} is a key of the table"
                return PartitionKey(column.name, column.type)
        return None

    def _cuts(self, key: PartitionKey, name: str) -> Exchange[list[CutPoint]]:
        parts = self._partition_count
        if parts == 1:
            return []
        if self._request.bounds is not None:
            low, high = map(key.parse, self._request.bounds)
            if low > high:
                raise InterfaceError(f"partition_range: {low} is more than {high}.")
            self._reason += ", equal strides of partition_range"
            return key.strides(low, high, parts)
        if not key.has_strides:
            return (yield from self._text_cuts(key, name))
        ((low, high),) = yield from self._query_rows(
            f"SELECT MIN({name}), MAX({name}) FROM {self._request.text}"
        )
        if low is None:
            return []
        sample = yield from self._sample(name)
        if (
            len(sample) >= _MIN_SAMPLE * parts
            and key.largest_share(sample, low, high, parts) > _SKEWED / parts
        ):
            self._reason += f", quantiles of a sample of {len(sample)} rows, as equal strides would be uneven"
            return key.cuts(_quantiles(sample, parts), low)
        self._reason += ", equal strides from its lowest to its highest value"
        return key.strides(low, high, parts)

    def _text_cuts(self, key: PartitionKey, name: str) -> Exchange[list[CutPoint]]:
        """Return quantiles in the order of the server's collation."""
        sample = yield from self._sample(name)
        if len(sample) >= _MIN_SAMPLE * self._partition_count:
            self._reason += f", quantiles of a sample of {len(sample)} rows"
            return key.cuts(_quantiles(sample, self._partition_count))
        source = f"FROM {self._request.text} WHERE {name} IS NOT NULL"
        ((count,),) = yield from self._query_rows(f"SELECT COUNT(*) {source}")
        parts = self._partition_count
        offsets = sorted({int(count) * at // parts for at in range(1, parts)} - {0})
        values: list[Any] = []
        for offset in offsets:
            rows = yield from self._query_rows(
                f"SELECT SKIP {offset} FIRST 1 {name} {source} ORDER BY {name}"
            )
            values += [value for (value,) in rows]
        self._reason += ", quantiles that the server computed"
        return key.cuts(values)

    def _sample(self, name: str) -> Exchange[list[Any]]:
        """Return values of the first rows of some pages in the server's order, or [] if that is not cheap."""
        if self._table is None or self._table.type != "TABLE" or not (yield from self._has_rowids()):
            return []
        source = self._request.text
        ((high,),) = yield from self._query_rows(f"SELECT MAX(rowid) FROM {source}")
        pages = (high or 0) // _SLOTS
        if pages < 2 * self._partition_count:
            return []
        chosen = sorted(random.Random(pages).sample(range(1, pages + 1), min(pages, _SAMPLED)))
        slots = min(max(_SAMPLED // len(chosen), 1), _SAMPLED_OF_PAGE)
        rowids = ", ".join(str(page * _SLOTS + slot) for page in chosen for slot in range(1, slots + 1))
        rows = yield from self._query_rows(
            f"SELECT {name} FROM {source} WHERE rowid IN ({rowids}) AND {name} IS NOT NULL ORDER BY {name}"
        )
        return [value for (value,) in rows]

    # ---- requests to the server -----------------------------------------------------------------

    def _fragments(self) -> Exchange[list[Fragment]]:
        if self._table is None or self._request.table is None:
            return []
        found = yield from q.rows_of(
            self._session,
            "SELECT f.evalpos, f.strategy, f.exprtext, f.nrows "
            f"FROM {catalogue(self._request.table.database)}sysfragments f "
            "WHERE f.tabid = ? AND f.fragtype = 'T' ORDER BY f.evalpos",
            self._table.tabid,
        )
        return [
            Fragment(position or 0, strategy or "", text or "", int(rows) if rows else None)
            for position, strategy, text, rows in found
        ]

    def _has_rowids(self) -> Exchange[bool]:
        return (yield from self._is_accepted(f"SELECT rowid FROM {self._request.text}", 0))

    def _is_accepted(self, sql: str, parameters: int) -> Exchange[bool]:
        try:
            describe = yield from prepare(self._session, sql, parameters)
        except Error as error:
            if error.sqlcode is None or not self._session.usable_after(error):
                raise
            return False
        yield from release_statement(self._session, describe.statement_id)
        return True

    def _query_rows(self, sql: str) -> Exchange[Sequence[tuple[Any, ...]]]:
        """Run a query over the source."""
        table = yield from query_table(self._session, sql, self._request.values, _DIRTY_READ)
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    # ---- the outcome ----------------------------------------------------------------------------

    def _name(self, key: PartitionKey) -> str:
        return quote(key.name, self._delimident)

    def _select(self, condition: Condition) -> str:
        where = f" WHERE {condition.sql}" if condition.sql else ""
        return f"SELECT * FROM {self._request.text}{where}"

    def _partitions(self, by: str, conditions: Sequence[Condition]) -> list[Partition]:
        rows = self._table.rows if self._table is not None else None
        each = round(rows / len(conditions)) if rows else None
        return [
            Partition(
                number,
                self._select(condition),
                (*self._request.values, *condition.parameters),
                condition.sql,
                by if len(conditions) > 1 else "one",
                self._reason,
                each if condition.rows is None else condition.rows,
            )
            for number, condition in enumerate(conditions)
        ]


def _find_table(session: Session, table: TableName) -> Exchange[q.Table | None]:
    """Look a table up in the catalogue. Return None for a TEMP table, which the catalogue does not have."""
    try:
        return (yield from q.find_table(session, table))
    except ProgrammingError as error:
        if error.sqlcode != -206 and error.near != table.name:
            raise
        return None


def _quantiles(sample: Sequence[Any], parts: int) -> list[Any]:
    return [sample[len(sample) * at // parts] for at in range(1, parts)]
