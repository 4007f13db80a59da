"""Format messages for a trace: one function for each class of message. Other classes are only named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..wire import messages as m
from ..wire.bound_values import bound_to_python
from ..wire.describe import Column, StatementType
from ..wire.errors import Error
from ..wire.login import ConnectReply, ConnectRequest
from ..wire.messages import BoundValue, Describe, InputDescribe, KeysDescribe, Message, tag_name
from ..wire.type_codes import TypeCode
from ..wire.types import ColumnType
from ..wire.values import decode_tuple
from .redactor import HIDDEN, Redactor

Facts: TypeAlias = dict[str, Any]

_MAX_CHARACTERS = 1000  # maximum characters of one value


class MessageFormatter:
    """Formats messages as the facts of a trace entry.

    Parameters
    ----------
    redactor
        Decides what a trace may contain.
    encoding
        The code set of text on the wire.
    columns
        The columns of the result that rows belong to, or None if they are not known.
    """

    def __init__(self, redactor: Redactor, encoding: str, columns: Sequence[Column] | None) -> None:
        self.redactor, self.encoding, self.columns = redactor, encoding, columns

    def facts(self, message: object) -> Facts:
        """Return the facts of a message, without its name."""
        function = _FORMATTERS.get(type(message))
        return {} if function is None else function(self, message)

    def row(self, payload: bytes) -> Facts:
        """Return the values of one row, or their types."""
        facts: Facts = {"bytes": len(payload)}
        if self.columns is None:
            return facts
        if self.redactor.values:
            try:
                return {**facts, "row": self._values(decode_tuple(payload, self.columns, self.encoding))}
            except Error:
                pass  # it is malformed, or has a type that decode_tuple() cannot decode
        return {**facts, "row": [type_of(column.type) for column in self.columns]}

    def parameter_texts(self, values: Sequence[BoundValue]) -> list[str]:
        """Return parameters, or their types."""
        return [self._bound(value) for value in values]

    def _bound(self, value: BoundValue) -> str:
        if value.data is None:
            return "NULL"
        if self.redactor.values and value.type & 0xFF not in (TypeCode.BYTE, TypeCode.TEXT):
            try:
                return self._value(bound_to_python(value, self.encoding))
            except Error:
                pass
        if value.extended_name:
            return self.redactor.text(value.extended_name.strip())
        return _code_name(value.type)

    def _values(self, row: Sequence[object]) -> list[str]:
        return [self._value(value) for value in row]

    def _value(self, value: object) -> str:
        shown = repr(value)
        if isinstance(value, str) and self.redactor.text(value) == HIDDEN:
            return HIDDEN
        shown = self.redactor.text(shown)
        return (
            shown
            if len(shown) <= _MAX_CHARACTERS
            else f"{shown[:_MAX_CHARACTERS]} ... ({len(shown):,} characters)"
        )


def message_name(message: object) -> str:
    """Return ``SQ_PREPARE``, the number of a tag without a name, or the class of a message without a tag."""
    if isinstance(message, Message):
        return tag_name(message.TAG).partition(" ")[0]
    return {ConnectRequest: "CONREQ", ConnectReply: "CONREPLY"}.get(type(message), type(message).__name__)


def type_of(column: ColumnType) -> str:
    """Return a type as it is declared, if possible, else its name."""
    try:
        return column.sql
    except (Error, ValueError):
        return _code_name(column.code)


def _code_name(word: int) -> str:
    try:
        return TypeCode(word & 0xFF).name
    except ValueError:
        return f"type {word & 0xFF}"


def _statement_type(number: int) -> str:
    try:
        return StatementType(number).name
    except ValueError:
        return str(number)


def _request(formatter: MessageFormatter, message: ConnectRequest) -> Facts:
    text = formatter.redactor.text
    return {
        "user": text(message.user),
        "password": HIDDEN,
        "server": text(message.server),
        "environment": formatter.redactor.environment(list(message.environment.items())),
        "capabilities": f"{message.cap1:#x}",
    }


def _reply(formatter: MessageFormatter, message: ConnectReply) -> Facts:
    text = formatter.redactor.text
    facts: Facts = {
        "kind": message.kind,
        "server": text(message.server_name),
        "version": text(message.version),
    }
    if message.kind == "reject":
        facts |= {"sqlcode": message.service_error, "os_error": message.os_error}
    return {**facts, "capabilities": f"{message.cap1:#x}"}


def _describe(formatter: MessageFormatter, message: Describe) -> Facts:
    return {
        "id": message.statement_id,
        "type": _statement_type(message.statement_type),
        "tuple_size": message.tuple_size,
        "columns": [
            f"{formatter.redactor.column(each.name)} {type_of(each.type)}" for each in message.columns
        ],
    }


def _err(formatter: MessageFormatter, message: m.Err) -> Facts:
    return {
        "sqlcode": message.sqlcode,
        "isamcode": message.isamcode,
        "offset": message.offset,
        "near": formatter.redactor.redact_token(message.near),
    }


def _challenge(formatter: MessageFormatter, message: m.Challenge) -> Facts:
    return {"style": message.style, "text": formatter.redactor.text(message.text)}


def _response(formatter: MessageFormatter, message: m.Response) -> Facts:
    formatter.redactor.add_secret(message.text)
    return {"answer": HIDDEN}


def _lo_data(formatter: MessageFormatter, message: m.LoData) -> Facts:
    facts: Facts = {"op": message.op, "fd": message.fd, "count": message.count}
    return {**facts, "offset": message.offset} if message.op == m.LoOp.SEEK_READ else facts


def _file_request(formatter: MessageFormatter, message: m.FileRequest) -> Facts:
    facts: Facts = {"op": m.FileOp(message.op).name}
    if message.op == m.FileOp.OPEN:
        facts["name"] = formatter.redactor.text(message.name)
    elif message.op == m.FileOp.READ:
        facts |= {"piece": message.buffer_size, "amount": message.amount}
    return facts


def _put(formatter: MessageFormatter, message: m.Put) -> Facts:
    rows = message.rows
    if formatter.redactor.values and len(rows) == 1:
        return formatter.row(rows[0])
    return {**formatter.row(rows[0]), "rows": len(rows), "bytes": sum(map(len, rows))}


_FORMATTERS: dict[type[object], Callable[[MessageFormatter, Any], Facts]] = {
    ConnectRequest: _request,
    ConnectReply: _reply,
    # sent by the client
    m.BlobBind: lambda _, message: {"count": message.count},
    m.Command: lambda formatter, message: {
        "statement": formatter.redactor.statement(message.sql),
        "parameters": message.nparams,
    },
    m.CursorName: lambda formatter, message: {"name": formatter.redactor.text(message.name)},
    m.Bind: lambda formatter, message: {"parameters": formatter.parameter_texts(message.values)},
    m.DbOpen: lambda formatter, message: {
        "name": formatter.redactor.text(message.name),
        "mode": message.mode,
    },
    m.ExecuteRoutine: lambda formatter, message: {"handle": message.handle, "parameters": message.nparams},
    m.Fetch: lambda _, message: {"size": message.size},
    m.FileRead: lambda _, message: {"bytes": len(message.data)},
    m.FileTotal: lambda _, message: {"bytes": message.total},
    m.FileWritten: lambda _, message: {"bytes": message.total},
    m.GeneratedKeys: lambda formatter, message: {
        "names": [formatter.redactor.text(name) for name in message.names]
    },
    m.GetRoutine: lambda formatter, message: {
        "signature": formatter.redactor.statement(message.signature),
        "number": message.number,
    },
    m.Id: lambda _, message: {"id": message.statement_id},
    m.Info: lambda formatter, message: {"environment": formatter.redactor.environment(message.environment)},
    m.LoData: _lo_data,
    m.Prepare: lambda formatter, message: {
        "statement": formatter.redactor.statement(message.sql),
        "parameters": message.nparams,
    },
    m.Put: _put,
    m.ReleaseSavepoint: lambda formatter, message: {"name": formatter.redactor.text(message.name)},
    m.Response: _response,
    m.RetType: lambda _, message: {
        "direction": message.direction,
        "types": [type_of(each) for each in message.types],
    },
    m.RollbackToSavepoint: lambda formatter, message: {"name": formatter.redactor.text(message.name)},
    m.RoutineQuestion: lambda formatter, message: {
        "database": formatter.redactor.text(message.database),
        "number": message.number,
    },
    m.ScrollFetch: lambda _, message: {"how": message.how, "target": message.target, "size": message.size},
    m.SetSavepoint: lambda formatter, message: {"name": formatter.redactor.text(message.name)},
    # sent by the server
    m.Challenge: _challenge,
    m.Cost: lambda _, message: {"rows": message.rows, "cost": message.cost},
    m.DbNames: lambda _, message: {"names": len(message.names)},
    Describe: _describe,
    KeysDescribe: _describe,
    m.Done: lambda _, message: {
        "warnings": message.warnings,
        "rows": message.rows,
        "rowid": message.rowid,
        "serial": message.serial,
    },
    m.Err: _err,
    m.FileRequest: _file_request,
    m.FileWrite: lambda _, message: {"bytes": len(message.data)},
    InputDescribe: lambda _, message: {"types": [type_of(each) for each in message.columns]},
    m.InsertDone: lambda _, message: {"serial8": message.serial8, "bigserial": message.bigserial},
    m.KeysTuple: lambda _, message: {"bytes": len(message.payload)},
    m.LoDataReply: lambda _, message: {"op": message.op, "bytes": message.size, "status": message.status},
    m.RoutineHandle: lambda formatter, message: {
        "database": formatter.redactor.text(message.database),
        "handle": message.handle,
    },
    m.RoutineParameters: lambda _, message: {
        "returned": list(message.returned),
        "arguments": [{"type": each.type, "out": each.out} for each in message.arguments],
    },
    m.RoutineResult: lambda formatter, message: {"values": formatter.parameter_texts(message.values)},
    m.Tuple: lambda formatter, message: formatter.row(message.payload),
    m.TupleId: lambda _, message: {"row": message.row},
    m.XactStat: lambda _, message: {"event": message.event, "new": message.new, "old": message.old},
    # sent by both
    m.BlobChunk: lambda _, message: {"bytes": len(message.data)},
    m.Protocols: lambda _, message: {"mask": message.mask.hex()},
}
