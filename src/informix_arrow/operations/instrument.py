"""What an exchange costs, seen from outside: bytes and round trips."""

from __future__ import annotations

from typing import TypeVar

from ..observing import Operation, notify_waiting, waiting_observers
from .io_steps import Exchange, Receive, Send, split_send_receive
from .session import Session

T = TypeVar("T")


def instrument(exchange: Exchange[T], operation: Operation) -> Exchange[T]:
    """The same exchange; its steps are counted into ``operation``."""
    asked, early = False, bool(waiting_observers)
    exchange = split_send_receive(exchange)
    try:
        step = next(exchange)
        while True:
            if early and asked and isinstance(step, Receive) and operation.kind != "other":
                early = False
                notify_waiting(operation)
            try:
                received = yield step
            except GeneratorExit:
                exchange.close()
                raise
            except BaseException as error:  # noqa: BLE001 - it is the exchange's
                step = exchange.throw(error)
                continue
            operation.bytes_received += received or 0
            if isinstance(step, Send):
                operation.bytes_sent += len(step.data)
                asked = True
            elif isinstance(step, Receive) and asked:
                operation.round_trips += 1
                asked = False
            step = exchange.send(received)
    except StopIteration as stop:
        result: T = stop.value
        return result


def report(session: Session, kind: str, statement: str | None = None, parameters: object = None) -> None:
    """Say what the running call is, to whoever looks."""
    if session.call is not None and session.call.operation is not None:
        session.call.operation.describe(kind, statement, parameters)


def report_rows(session: Session, rows: int) -> None:
    """Say how many rows it has changed or received, besides those told before."""
    if session.call is not None and session.call.operation is not None:
        operation = session.call.operation
        operation.rows = (operation.rows or 0) + rows
