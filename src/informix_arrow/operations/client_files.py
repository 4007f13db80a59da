"""Replies to SQ_FILE: the server wants to read or write a file of the client (SQLI section 15).

``filetoblob('name', 'client')`` and ``lotofile(column, 'name', 'client')`` make a server request a file in the
middle of a reply. It gets what was registered under that name (:class:`~.object_sources.ClientFiles`) and
nothing else: no path is ever opened here. A refused request is answered with SQ_ERR, and the operation raises
the reason after it has read the reply.
"""

from __future__ import annotations

import io
import struct
from collections.abc import MutableMapping
from functools import lru_cache
from typing import Any

from ..wire import messages as m
from ..wire.errors import Error, NotSupportedError, OperationalError, ProtocolError
from ..wire.sql_text import words_and_strings
from .io_steps import ConnectionLost, Exchange, Send
from .message_stream import next_message
from .object_sources import ClientFiles, ContentSource, OpenFile
from .receive_buffer import reply_too_large
from .session import Session
from .statement_cache import MAX_TEXT_LENGTH

REFUSED = -9810  # SQLCODE sent to the server
#: Seconds of silence allowed after a refusal, since some servers may not handle one.
IDLE_TIMEOUT = 15.0
_READ_BYTES = 256 << 10  # bytes read and sent at a time
_PIECE_BYTES = 32766  # largest piece: even, and within a padded string
_HEAD = struct.Struct(">hH")
_READ_TAG = m.FileTotal.TAG


def handle_file_request(session: Session, request: m.FileRequest) -> Exchange[None]:
    """Reply to one request whose first message was read."""
    files = session.files
    try:
        if request.op == m.FileOp.WRITE:
            yield from _write(session, files)
            return
        yield from _end(session)
        if request.op == m.FileOp.OPEN:
            _open(files, request.name)
        elif request.op == m.FileOp.CLOSE:
            _close(files)
        else:
            yield from _read(session, _opened_source(files), request)
            return
        yield Send(m.EndOfTurn().encode(session.framing))
    except OperationalError as error:
        if isinstance(error, ConnectionLost | ProtocolError):
            raise
        files.opened = None
        files.refused = files.refused or error
        session.idle_timeout = IDLE_TIMEOUT
        refusal = m.Err(REFUSED, 0, 0, request.name[:128])
        yield Send(refusal.encode(session.framing) + m.EndOfTurn().encode(session.framing))


def pop_refusal(session: Session, *, failed: bool) -> Error | None:
    """Return why a request of the reply that just ended was refused, or None.

    Closes a file that the server left open. Such a file is incomplete, which is an error unless the reply was
    one (``failed``), whose message says more.
    """
    files = session.client_files
    if files is None:
        return None
    error, files.refused = files.refused, None
    opened, files.opened = files.opened, None
    if error is not None:
        session.idle_timeout = None
    elif opened is not None and opened.source is None and not failed:
        error = OperationalError(f"The server began the client file {opened.name!r} and did not close it.")
    assert error is None or isinstance(error, Error)
    return error


def _open(files: ClientFiles, name: str) -> None:
    if files.opened is not None:
        raise OperationalError(
            f"The server asked for the client file {name!r} while another was open. It was refused."
        )
    source = files.sources.get(name)
    if source is not None:
        files.opened = OpenFile(name, source=source)
        return
    prefix = max(
        (known for known in files.sinks if name.startswith(known.removesuffix("!"))), key=len, default=None
    )
    if prefix is None:
        raise OperationalError(
            f"The server asked for a file {name!r} on this computer. It was refused, because no such name "
            "was registered. conn.client_files({...}) registers files for the statements of a block."
        )
    sink = files.sinks[prefix]
    if not isinstance(sink, MutableMapping):
        if prefix in files.used:
            raise OperationalError(
                f"The server asked to write a second file, {name!r}, but the file object registered as "
                f"{prefix!r} takes one. Register a dict, which takes any number of files."
            )
        files.used.add(prefix)
    files.opened = OpenFile(name, sink=sink)


def _close(files: ClientFiles) -> None:
    opened, files.opened = files.opened, None
    if opened is not None and isinstance(opened.sink, MutableMapping):
        try:
            opened.sink[opened.name] = bytes(opened.collected)
        except Exception as error:
            raise OperationalError(f"The mapping for {opened.name!r} failed: {error}") from error


def _opened_source(files: ClientFiles) -> ContentSource:
    if files.opened is None or files.opened.source is None:
        raise OperationalError(
            "The server asked to read a client file that is not open for reading. It was refused."
        )
    return files.opened.source


def _read(session: Session, source: ContentSource, request: m.FileRequest) -> Exchange[None]:
    """Send ``006a int total, {006a PSTR piece}*, 000c``; all remaining bytes if the request is for all."""
    opened = session.files.opened
    assert opened is not None
    remaining = source.size - opened.position
    total = remaining if request.amount < 0 else min(remaining, request.amount)
    if total > 0x7FFF_FFFF:
        raise OperationalError(
            f"The server asked for {total} bytes at once, but the protocol supports at most 2147483647."
        )
    if request.buffer_size < 1:
        raise ProtocolError(f"SQ_FILE: a buffer of {request.buffer_size} bytes.")
    piece = min(request.buffer_size, _PIECE_BYTES)
    out = bytearray(m.FileTotal(total).encode(session.framing))
    announced = False
    while total:
        try:
            block = source.read(opened.position, min(total, _READ_BYTES // piece * piece or piece))
        except Exception as error:
            if not announced:
                session.files.failed = error
                raise OperationalError(f"The file object for {opened.name!r} failed: {error}") from error
            # The number of bytes was announced, so the protocol cannot report that they will not come.
            raise ConnectionLost(f"A file object failed while it was sent: {error}") from error
        for at in range(0, len(block), piece):
            part = block[at : at + piece]
            out += _HEAD.pack(_READ_TAG, len(part))
            out += part
            if len(part) & 1:
                out.append(0)
        opened.position += len(block)
        total -= len(block)
        if total:
            announced = True
            yield Send(bytes(out))
            out = bytearray()
    yield Send(bytes(out) + m.EndOfTurn().encode(session.framing))


def _write(session: Session, files: ClientFiles) -> Exchange[None]:
    """Receive ``{006b PSTR piece}* 000c`` and reply with ``006b int total 000c``."""
    written = 0
    opened = files.opened
    refused = None
    if opened is None or opened.sink is None:
        refused = OperationalError(
            "The server asked to write a client file that is not open for writing. It was refused."
        )
    while True:
        message = yield from next_message(session)
        if isinstance(message, m.EndOfTurn):
            break
        if not isinstance(message, m.FileWrite):
            raise ProtocolError(f"{type(message).__name__} where pieces of a file were due.")
        if refused is None and opened is not None:
            in_memory = isinstance(opened.sink, MutableMapping)
            if in_memory and len(opened.collected) > session.buffer.max_bytes:
                raise reply_too_large(session.buffer.max_bytes)
            try:
                if isinstance(opened.sink, MutableMapping):
                    opened.collected += message.data
                else:
                    _write_all(opened.sink, message.data)
            except Exception as error:  # noqa: BLE001 - reported to the server, raised at the end of its reply
                refused = OperationalError(f"The file object for {opened.name!r} failed: {error}")
                refused.__cause__ = error
        written += len(message.data)
    if refused is not None:
        raise refused
    framing = session.framing
    yield Send(m.FileWritten(written).encode(framing) + m.EndOfTurn().encode(framing))


def _write_all(sink: Any, data: bytes) -> None:
    """Write to a file object; an unbuffered one may write less than it is given."""
    while data:
        written = sink.write(data)
        if not isinstance(written, int):  # write() of many objects returns nothing
            if isinstance(sink, io.RawIOBase):
                raise OSError("It does not take the bytes now (write() returned None).")
            return
        if not 0 < written <= len(data):
            raise OSError(f"write() said that it took {written} bytes of {len(data)}.")
        data = data[written:]


def _end(session: Session) -> Exchange[None]:
    message = yield from next_message(session)
    if not isinstance(message, m.EndOfTurn):
        raise ProtocolError(f"{type(message).__name__} where a request for a file had to end.")


_FUNCTIONS = ("filetoblob", "filetoclob", "lotofile")


def refuse_unregistered(sql: str, files: ClientFiles | None) -> None:
    """Refuse a statement that would make the server request files that were not registered, before it is sent.

    ``files`` are those of the session, or None if it never had any. Raises ``NotSupportedError`` with advice.
    """
    name = _find_file_function(sql)
    if name and not files:
        raise NotSupportedError(
            f"{name}(..., 'client') makes the server ask for a file on this computer, which the driver "
            "sends only if it was registered. Run the statement inside `with conn.client_files({'name': "
            "b'...'}):`. It is simpler to pass bytes or a file object as a parameter and to read the "
            "column itself.",
            statement=sql,
        )


def refuse_in_pipeline(sql: str) -> None:
    """Refuse a statement that requests files when its executions are pipelined."""
    name = _find_file_function(sql)
    if name:
        raise NotSupportedError(
            f"{name}(..., 'client') cannot be used in executemany(), because rows are sent ahead of the "
            "server's requests for files. Pass bytes or file objects as parameters, or execute() row by "
            "row.",
            statement=sql,
        )


def may_request_files(sql: str) -> bool:
    """Return whether the server may request files in its reply, so that nothing may be sent ahead of that."""
    return bool(_find_file_function(sql))


def _find_file_function(sql: str) -> str:
    """Return the function of ``sql`` that works on files of the client, or ""."""
    return (
        _find_file_function_cached(sql) if len(sql) <= MAX_TEXT_LENGTH else _find_file_function_uncached(sql)
    )


def _find_file_function_uncached(sql: str) -> str:
    lowered = sql.lower()
    if "fileto" not in lowered and "tofile" not in lowered:  # part of each name of _FUNCTIONS
        return ""
    name = ""
    for token in words_and_strings(sql):
        if token.lower() in _FUNCTIONS:
            name = token
        elif name and token.lower() in ("'client'", '"client"'):
            return name
    return ""


_find_file_function_cached = lru_cache(maxsize=512)(_find_file_function_uncached)
