"""Execute statements whose parameters are large objects, collections or ROWs, for one row or many.

Many rows are sent one window at a time: their groups are sent together, then their replies are read, so that
small values do not need a round trip each. Rows with BLOB or CLOB values are sent one by one, because the
server requests their contents in the middle of its reply.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..wire import messages as m
from ..wire.errors import INTERRUPTED, Error, OperationalError
from ..wire.messages import Describe
from .adaptive_window import AdaptiveWindow
from .batch_replies import ManyOutcome
from .cancel import cancel_requested, raise_if_cancelled
from .io_steps import Exchange
from .lob_parameters import (
    BoundParameters,
    Targets,
    ask_targets,
    bind_row,
    has_complex_columns,
    is_complex_target,
    may_be_content,
    needs_targets,
    rewrite_with_file_functions,
    send_bound,
)
from .message_stream import server_error
from .object_sources import ContentSource
from .prepare import outcome_of, prepare, release_statement
from .replayable_iterator import raising_iterator
from .request_reply import Reply, drain_pending_replies, read_reply
from .session import Session

WINDOW_ROWS = 64  # rows sent before their replies are read
WINDOW_BYTES = 256 << 10  # or as many as have contents of this size in total

_prefix_numbers = itertools.count(1)


@dataclass(slots=True, eq=False)
class ObjectStatement:
    """A prepared statement with its rewritten forms for BLOB and CLOB values.

    There is one form for each set of parameters that are not NULL, prepared when first needed.
    """

    sql: str
    statement_id: int
    targets: Targets  # of its ``?``
    _prefix: str = field(default_factory=lambda: f"ifx_arrow_{next(_prefix_numbers)}")
    _rewritten: dict[tuple[int, ...], int] = field(default_factory=dict)

    def execute(self, session: Session, parameters: BoundParameters) -> Exchange[Reply]:
        """Execute it for one row and drop the row's contents. An SQ_ERR is returned in the reply.

        Raises the error of a source of contents. The row then has no effect, and the session stays in step
        unless the error is ``ConnectionLost``.
        """
        statement_id, files = self.statement_id, dict[str, ContentSource]()
        try:
            if parameters.files:
                sql, files = rewrite_with_file_functions(self.sql, parameters, self._prefix)
                pattern = tuple(number for number, _, _ in parameters.files)
                if pattern not in self._rewritten:
                    describe = yield from prepare(session, sql, len(self.targets) - len(pattern))
                    self._rewritten[pattern] = describe.statement_id
                statement_id = self._rewritten[pattern]
            session.files.sources.update(files)
            failure = yield from self.send(session, parameters, statement_id)
            reply = yield from read_reply(session)
        except OperationalError:
            failed = session.files.failed
            if failed is None or session.outstanding_requests:
                raise
            session.caller_error = failed  # the caller's own file object failed
            raise failed from None
        finally:
            session.files.failed = None
            session.files.forget(files)
            parameters.close()
        if failure is not None:
            session.caller_error = failure
            raise failure
        return reply

    def send(
        self, session: Session, parameters: BoundParameters, statement_id: int | None = None
    ) -> Exchange[Exception | None]:
        """Send one row and drop its BYTE and TEXT contents; the caller reads its reply.

        Returns the error of a source of contents, or None. After an error the row was not executed, but has a
        reply.
        """
        try:
            yield from drain_pending_replies(session)
            session.outstanding_requests += 1
            this = m.Id(self.statement_id if statement_id is None else statement_id)
            return (yield from send_bound(session, (this,), parameters, (m.Execute(),)))
        finally:
            for source in parameters.sources:
                source.close()

    def release(self, session: Session) -> Exchange[None]:
        """Release the rewritten forms. The statement itself belongs to its owner."""
        for statement_id in self._rewritten.values():
            yield from release_statement(session, statement_id)
        self._rewritten.clear()


def execute_once(
    session: Session, sql: str, statement_id: int, targets: Targets, parameters: BoundParameters
) -> Exchange[Reply]:
    """Execute a prepared statement for one row of parameters. Raises the server's error."""
    statement = ObjectStatement(sql, statement_id, targets)
    try:
        reply = yield from statement.execute(session, parameters)
        reply.check(sql)
    except Exception as error:
        if session.usable_after(error):
            yield from statement.release(session)
        raise
    yield from statement.release(session)
    return reply


def complex_targets(
    session: Session, describe: Describe, count: int, first: object
) -> Exchange[Targets | None]:
    """Return the parameters' types if rows must be sent one by one with :func:`execute_rows`, else None.

    They must if the first row holds bytes, file objects or containers, or if a parameter's target is a large
    object, a collection or a ROW. The server is queried only if its description makes that possible or says
    nothing: that of an UPDATE shows no columns, and a str or NULL may go into a TEXT or CLOB.
    """
    values = first if isinstance(first, list | tuple) else ()
    silent = not describe.columns and (may_be_content(values) or None in values)
    if not needs_targets(values) and (describe.has_rows or not has_complex_columns(describe)) and not silent:
        return None
    targets = yield from ask_targets(session, describe.statement_id, count)
    if needs_targets(values) or any(is_complex_target(target) for target in targets):
        return targets
    return None


def peek(rows: Iterator[object]) -> tuple[object, Iterator[object]]:
    """Return the first of ``rows`` and an iterator over all of them. The first is None if there is none or
    reading it fails.

    An error of the iterator is raised where the row would have been.
    """
    try:
        first = next(rows)
    except StopIteration:
        return None, iter(())
    except Exception as error:  # noqa: BLE001 - raised again by the iterator
        return None, raising_iterator(error)
    return first, itertools.chain((first,), rows)


def execute_rows(
    session: Session,
    statement: ObjectStatement,
    kind: int,
    rows: Iterator[object],
    check: Callable[[object], Sequence[object]],
    outcome: ManyOutcome,
    window: AdaptiveWindow,
    stop: bool = False,
) -> Exchange[None]:
    """Execute a statement of type ``kind`` for each of ``rows`` and add the results to ``outcome``.

    ``check`` turns an item of ``rows`` into its values or raises. The server's errors are collected. A row that
    cannot be sent ends the run with its exception, with the rows before it in effect. With ``stop`` rows are
    sent one by one, and the run ends at the first row that is refused.
    """
    try:
        yield from _all_rows(session, statement, kind, rows, check, outcome, window, stop)
    except Exception as error:
        if isinstance(error, Error) and error.sqlcode != INTERRUPTED:
            error.row = outcome.executed
        if session.usable_after(error):
            yield from statement.release(session)
        raise
    yield from statement.release(session)


def _all_rows(
    session: Session,
    statement: ObjectStatement,
    kind: int,
    rows: Iterator[object],
    check: Callable[[object], Sequence[object]],
    outcome: ManyOutcome,
    window: AdaptiveWindow,
    stop: bool,
) -> Exchange[None]:
    waiting = size = 0  # rows sent whose replies are not read yet, and the size of their contents
    failure: Exception | None = None
    aborted = 0  # replies after those, to a row that was not executed
    while failure is None:
        try:
            parameters = bind_row(session, check(next(rows)), statement.targets)
        except StopIteration:
            break
        except Exception as error:  # noqa: BLE001 - raised below, after the rows before it
            failure = error
            break
        if cancel_requested(session):
            parameters.close()
            yield from _read_replies(session, statement.sql, kind, outcome, waiting, window)
            if not outcome.interrupted:
                yield from raise_if_cancelled(session)
            return
        if not parameters.files:
            size += sum(source.size for source in parameters.sources)
            if not waiting:
                window.record_sent(1)
            failure = yield from statement.send(session, parameters)
            aborted = int(failure is not None)
            waiting += 1 - aborted
            if not stop and waiting < min(WINDOW_ROWS, window.rows) and size < WINDOW_BYTES and not aborted:
                continue
        yield from _read_replies(session, statement.sql, kind, outcome, waiting, window)
        waiting = size = 0
        if outcome.interrupted or (stop and outcome.errors):
            parameters.close()
            break
        if parameters.files:
            _add_reply(outcome, (yield from statement.execute(session, parameters)), statement.sql, kind)
            if outcome.interrupted or (stop and outcome.errors):
                break
    outcome.stopped = stop and bool(outcome.errors)
    yield from _read_replies(session, statement.sql, kind, outcome, waiting, window)
    if aborted:
        yield from read_reply(session)
    if failure is not None:
        session.caller_error = failure  # the caller's own, raised between two replies
        raise failure


def _read_replies(
    session: Session, sql: str, kind: int, outcome: ManyOutcome, replies: int, window: AdaptiveWindow
) -> Exchange[None]:
    for _ in range(replies):
        _add_reply(outcome, (yield from read_reply(session)), sql, kind)
    if replies:
        window.record_answered(replies)


def _add_reply(outcome: ManyOutcome, reply: Reply, sql: str, kind: int) -> None:
    """Add the result of one row to ``outcome``."""
    if reply.error is not None:
        refused = server_error(reply.error, sql)
        refused.row = outcome.executed
        outcome.errors.append(refused)
    else:
        result = outcome_of(reply, kind)
        if result.rows < 0:
            outcome.uncounted = True
        else:
            outcome.rows += result.rows
        outcome.serial = result.serial or outcome.serial
        if result.truncated:
            outcome.truncated_rows.append(outcome.executed)
    outcome.executed += 1
