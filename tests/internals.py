"""The package's private attributes that tests look at, each in one place: a rename in the package is one edit here."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def session_of(connection: Any) -> Any:
    """Return the SQLI session of a connection: its statements, cursors, transaction status and framing."""
    return connection._session


def runner_of(connection: Any) -> Any:
    """Return the session runner of a connection, which runs operations on its transport one at a time."""
    return connection._runner


def transport_of(connection: Any) -> Any:
    """Return the transport of a connection."""
    return connection._runner.transport


def socket_of(connection: Any) -> Any:
    """Return the socket of a blocking connection."""
    return connection._runner.transport._socket


def readiness_of(transport: Any) -> Any:
    """Return the poller of a blocking transport, None before it is connected."""
    return transport._readiness


def stream_of(connection: Any) -> Any:
    """Return the asyncio protocol beneath an asyncio connection."""
    return connection._runner.transport._wire


def engine_of(server: Any) -> Any:
    """Return the SQL engine of an embedded server; None where it does not run."""
    return server._engine


def lock_tables(locks: Any) -> Any:
    """Return the tables that are locked or waited for."""
    return locks._tables


def rows_by_owner(locks: Any) -> Any:
    """Return the locked rows of each lock owner."""
    return locks._rows_by_owner


def blockers_by_waiter(locks: Any) -> Any:
    """Return whom each waiting lock owner waits for."""
    return locks._blockers_by_waiter


def file_of(spool: Any) -> Any:
    """Return the spill file of a spool or of pending row images."""
    return spool._file


def batch_of(schema: Any, array: Any) -> pa.RecordBatch:
    """Return the record batch of two capsules of Arrow's C data interface."""
    return pa.RecordBatch._import_from_c_capsule(schema, array)
