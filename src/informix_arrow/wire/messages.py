"""All messages of SQLI after the login, and the way from a tag to the class that parses it (SQLI section 6).

Every message is a small frozen dataclass with ``TAG``, ``encode(framing)`` and ``parse(reader, framing)``.
They live in ``messages_session``, ``messages_statement``, ``messages_server``, ``messages_lob``, ``binds`` and
``describe`` and are all importable from here. A tag whose layout is not known ends the conversation: there is
no framing that would let one skip it. Messages whose layout depends on what was asked before are not in the
tables by tag: :func:`parse_file_answer` and :func:`parse_as` read them.
"""

from __future__ import annotations

from .binds import NULL_VALUE, Bind, BoundValue
from .capabilities import Framing
from .describe import Describe, InputDescribe, KeysDescribe
from .errors import ProtocolError
from .message_base import Message, tag_name
from .messages_lob import (
    FileAnswer,
    FileOp,
    FileRead,
    FileRequest,
    FileTotal,
    FileWrite,
    FileWritten,
    LoData,
    LoDataReply,
    LoOp,
    Whence,
    expect_tag,
    parse_as,
    parse_file_answer,
)
from .messages_routine import (
    ExecuteRoutine,
    GetRoutine,
    RoutineHandle,
    RoutineParameter,
    RoutineParameters,
    RoutineQuestion,
    RoutineResult,
    WantParameters,
)
from .messages_server import (
    Accept,
    Challenge,
    Cost,
    DbNames,
    Done,
    Err,
    InsertDone,
    KeysTuple,
    Tuple,
    TupleId,
    XactStat,
)
from .messages_session import (
    Ack,
    Begin,
    Commit,
    DbClose,
    DbList,
    DbOpen,
    EndOfTurn,
    Exit,
    Info,
    Protocols,
    ReleaseSavepoint,
    Response,
    Rollback,
    RollbackToSavepoint,
    SetSavepoint,
    Version,
)
from .messages_statement import (
    AutoFree,
    BlobBind,
    BlobChunk,
    Close,
    Command,
    CursorName,
    Execute,
    Fetch,
    FetchBlob,
    GeneratedKeys,
    Hold,
    Id,
    InputDescribeRequest,
    NDescribe,
    Open,
    Prepare,
    Put,
    Release,
    RetType,
    Scroll,
    ScrollFetch,
    WantDone,
)
from .primitives import Reader

__all__ = [
    "NULL_VALUE",
    "Accept",
    "Ack",
    "AutoFree",
    "Begin",
    "Bind",
    "BlobBind",
    "BlobChunk",
    "BoundValue",
    "Challenge",
    "Close",
    "Command",
    "Commit",
    "Cost",
    "CursorName",
    "DbClose",
    "DbList",
    "DbNames",
    "DbOpen",
    "Describe",
    "Done",
    "EndOfTurn",
    "Err",
    "Execute",
    "ExecuteRoutine",
    "Exit",
    "Fetch",
    "FetchBlob",
    "FileAnswer",
    "FileOp",
    "FileRead",
    "FileRequest",
    "FileTotal",
    "FileWrite",
    "FileWritten",
    "GeneratedKeys",
    "GetRoutine",
    "Hold",
    "Id",
    "Info",
    "InputDescribe",
    "InputDescribeRequest",
    "InsertDone",
    "KeysTuple",
    "LoData",
    "LoDataReply",
    "LoOp",
    "Message",
    "NDescribe",
    "Open",
    "Prepare",
    "Protocols",
    "Put",
    "Release",
    "ReleaseSavepoint",
    "Response",
    "RetType",
    "Rollback",
    "RollbackToSavepoint",
    "RoutineHandle",
    "RoutineParameter",
    "RoutineParameters",
    "RoutineQuestion",
    "RoutineResult",
    "Scroll",
    "ScrollFetch",
    "SetSavepoint",
    "Tuple",
    "TupleId",
    "Version",
    "WantDone",
    "WantParameters",
    "Whence",
    "XactStat",
    "expect_tag",
    "parse_as",
    "parse_client_message",
    "parse_file_answer",
    "parse_group",
    "parse_server_message",
]

_BOTH: tuple[type[Message], ...] = (BlobChunk, Close, EndOfTurn, Exit, Protocols)


def _by_tag(*classes: type[Message]) -> dict[int, type[Message]]:
    return {cls.TAG: cls for cls in classes}


_CLIENT = _by_tag(
    *_BOTH,
    Ack,
    AutoFree,
    Begin,
    Bind,
    BlobBind,
    Command,
    Commit,
    CursorName,
    DbClose,
    DbList,
    DbOpen,
    Execute,
    ExecuteRoutine,
    Fetch,
    FetchBlob,
    FileWritten,
    GeneratedKeys,
    GetRoutine,
    Hold,
    Id,
    Info,
    InputDescribeRequest,
    LoData,
    NDescribe,
    Open,
    Prepare,
    Put,
    Release,
    ReleaseSavepoint,
    Response,
    RetType,
    Rollback,
    RollbackToSavepoint,
    RoutineQuestion,
    Scroll,
    ScrollFetch,
    SetSavepoint,
    Version,
    WantDone,
    WantParameters,
)
_SERVER = _by_tag(
    *_BOTH,
    Accept,
    Challenge,
    Cost,
    DbNames,
    Describe,
    Done,
    Err,
    FileRequest,
    FileWrite,
    InputDescribe,
    InsertDone,
    KeysDescribe,
    KeysTuple,
    LoDataReply,
    RoutineHandle,
    RoutineParameters,
    RoutineResult,
    Tuple,
    TupleId,
    XactStat,
)


def parse_client_message(reader: Reader, framing: Framing) -> Message:
    """Read one message of a client, tag first.

    ``NeedMoreData`` leaves ``reader.pos`` anywhere: parse again from the message's first byte when more has
    come. An unknown tag is a ``ProtocolError`` that names it.
    """
    return _parse(_CLIENT, "client", reader, framing)


def parse_server_message(reader: Reader, framing: Framing) -> Message:
    """Read one message of a server, tag first; errors as :func:`parse_client_message`."""
    return _parse(_SERVER, "server", reader, framing)


def _parse(known: dict[int, type[Message]], peer: str, reader: Reader, framing: Framing) -> Message:
    at = reader.pos
    tag = reader.short()
    cls = known.get(tag)
    if cls is None:
        raise ProtocolError(
            f"the {peer} sent the message {tag_name(tag)} at offset {at}, which cannot be read here"
        )
    message = cls.parse(reader, framing)
    reader.kept = None
    return message


def parse_group(data: bytes, framing: Framing, *, client: bool) -> list[Message]:
    """All messages in ``data``, which must be complete; for tests, traces and tools."""
    reader = Reader(data)
    parse = parse_client_message if client else parse_server_message
    messages = []
    while reader.left:
        messages.append(parse(reader, framing))
    return messages
