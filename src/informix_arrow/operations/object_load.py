"""Load rows with BLOB and CLOB values, one execution at a time.

These cannot be put or bound: the ``?`` becomes ``filetoblob('name', 'client')``, and the server requests the
file of that name in the middle of its reply (SQLI section 15), so that a row costs a few round trips.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Protocol

from ..rows.parameters import placeholder_positions
from ..wire import messages as m
from ..wire.errors import DataError
from .bulk_insert import TRUNCATED_TEXT, Loader, LoadOutcome, LoadSpec, RowFraming, RowGroup, RowSource
from .io_steps import Exchange, Send
from .load_transaction import LoadTransaction
from .message_stream import server_error
from .object_sources import ContentSource, MemorySource
from .prepare import outcome_of, prepare, release_statement
from .request_reply import Reply, drain_pending_replies, read_reply
from .session import Session

_name_numbers = itertools.count(1)


class ObjectRowSource(RowSource, Protocol):
    """A source whose groups in BIND form are the SQ_BIND of a row without its BLOB and CLOB values."""

    def contents(self, group: RowGroup) -> list[memoryview | None]:
        """Return the BLOB and CLOB values of a group of one row, None for NULL."""


class ObjectLoader(Loader):
    """Runs one load row by row.

    ``objects`` are the numbers of the columns, from 0, that are BLOB (False) or CLOB (True).
    """

    def __init__(
        self,
        session: Session,
        job: LoadSpec,
        rows: ObjectRowSource,
        transaction: LoadTransaction,
        progress: Callable[[LoadOutcome], None],
        objects: Sequence[tuple[int, bool]],
    ) -> None:
        super().__init__(session, job, rows, transaction, progress)
        self._rows, self._objects = rows, objects
        self._names = [f"ifx_load_{next(_name_numbers)}" for _ in objects]
        self._statements: dict[tuple[bool, ...], int] = {}  # by which of the values are not NULL

    def _run(self) -> Exchange[None]:
        job = self._job
        self.outcome.method = "rows"
        while (row := (yield from self._next_group(RowFraming.BIND))) is not None:
            yield from self._transaction.begin_next()
            yield from self._execute(row)
            if self._failure:
                break
            self._call_user_code(lambda: self._progress(self.outcome))
            self._uncommitted += 1
            if self._uncommitted == job.commit_every:
                yield from self._commit()
        yield from self._close()
        if self._failure:
            raise self._failure

    def _execute(self, row: RowGroup) -> Exchange[None]:
        session = self._session
        contents = self._rows.contents(row)
        files: dict[str, ContentSource] = {
            name: MemorySource(content)
            for name, content in zip(self._names, contents, strict=True)
            if content is not None
        }
        statement = yield from self._statement(tuple(content is not None for content in contents))
        framing = session.framing
        head, tail = (
            b"".join(message.encode(framing) for message in messages)
            for messages in ((m.Id(statement),), (m.Execute(), m.EndOfTurn()))
        )
        data = b"".join((head, row.data, tail))
        yield from drain_pending_replies(session)
        session.files.sources.update(files)
        try:
            session.outstanding_requests += 1
            yield Send(data)
            reply = yield from read_reply(session)
        finally:
            session.files.forget(dict(files))
        self.outcome.groups += 1
        self.outcome.bytes += len(data) + sum(source.size for source in files.values())
        self._record_inserted(row, reply)

    def _record_inserted(self, row: RowGroup, reply: Reply) -> None:
        """Record the result of a row."""
        job = self._job
        self.outcome.answered += 1
        if reply.error is not None:
            self._record_rejected(row, 0, server_error(reply.error, job.sql))
            return
        done = outcome_of(reply, job.kind)
        self.outcome.rows += max(done.rows, 0)
        self.outcome.serial = done.serial or self.outcome.serial
        if done.truncated:
            self._failure = self._rows.locate_error(row, 0, DataError(f"{TRUNCATED_TEXT}, in this row."))
        elif done.rows != 1:
            self._handle_count_mismatch(1, max(done.rows, 0), None)

    def _statement(self, present: tuple[bool, ...]) -> Exchange[int]:
        """Return the INSERT for rows in which exactly the ``present`` values are not NULL."""
        if present not in self._statements:
            sql = self._job.sql
            places = placeholder_positions(sql)
            for (number, clob), name, filled in reversed(
                list(zip(self._objects, self._names, present, strict=True))
            ):
                function = "filetoclob" if clob else "filetoblob"
                value = f"{function}('{name}','client')" if filled else "NULL"
                sql = f"{sql[: places[number]]}{value}{sql[places[number] + 1 :]}"
            describe = yield from prepare(self._session, sql, len(places) - len(present))
            self._statements[present] = describe.statement_id
        return self._statements[present]

    def _close(self) -> Exchange[None]:
        for statement_id in self._statements.values():
            yield from release_statement(self._session, statement_id)
        self._statements.clear()
