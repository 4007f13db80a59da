"""Count the bytes and round trips of an operation."""

from __future__ import annotations

from typing import TypeVar

from ..observing import Operation, notify_waiting, waiting_observers
from .io_steps import Exchange, Receive, Send, split_send_receive
from .session import Session

T = TypeVar("T")


def instrument(exchange: Exchange[T], operation: Operation) -> Exchange[T]:
    """Run ``exchange`` and count its steps into ``operation``."""
    sent, early = False, bool(waiting_observers)
    exchange = split_send_receive(exchange)
    try:
        step = next(exchange)
        while True:
            if early and sent and isinstance(step, Receive) and operation.kind != "other":
                early = False
                notify_waiting(operation)
            try:
                received = yield step
            except GeneratorExit:
                exchange.close()
                raise
            except BaseException as error:  # noqa: BLE001  - belongs to the exchange
                step = exchange.throw(error)
                continue
            operation.bytes_received += received or 0
            if isinstance(step, Send):
                operation.bytes_sent += len(step.data)
                sent = True
            elif isinstance(step, Receive) and sent:
                operation.round_trips += 1
                sent = False
            step = exchange.send(received)
    except StopIteration as stop:
        result: T = stop.value
        return result


def report(session: Session, kind: str, statement: str | None = None, parameters: object = None) -> None:
    """Describe the running call to observers."""
    if session.call is not None and session.call.operation is not None:
        session.call.operation.describe(kind, statement, parameters)


def report_rows(session: Session, rows: int) -> None:
    """Add to the rows that the running call has changed or received."""
    if session.call is not None and session.call.operation is not None:
        operation = session.call.operation
        operation.rows = (operation.rows or 0) + rows
