"""What is told of each message: a function for each class. Of a class without one only the name is told."""

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
from .hiding import HIDDEN, Hiding

Facts: TypeAlias = dict[str, Any]

_MOST = 1000  # characters of one value


class Telling:
    """Facts of messages, in the words of a trace.

    Parameters
    ----------
    hiding
        What may be told.
    encoding
        The code set of text on the wire.
    columns
        Of the result that rows belong to; None where that is not known.
    """

    def __init__(self, hiding: Hiding, encoding: str, columns: Sequence[Column] | None) -> None:
        self.hiding, self.encoding, self.columns = hiding, encoding, columns

    def facts(self, message: object) -> Facts:
        """What is told of a message besides its name."""
        teller = _TELLERS.get(type(message))
        return {} if teller is None else teller(self, message)

    def row(self, payload: bytes) -> Facts:
        """One row, or of what types it is."""
        told: Facts = {"bytes": len(payload)}
        if self.columns is None:
            return told
        if self.hiding.values:
            try:
                return {**told, "row": self._values(decode_tuple(payload, self.columns, self.encoding))}
            except Error:
                pass  # it cannot be read, or has a type that only a decoder for all of it can
        return {**told, "row": [type_of(column.type) for column in self.columns]}

    def bound(self, values: Sequence[BoundValue]) -> list[str]:
        """Parameters, or their types."""
        return [self._bound(value) for value in values]

    def _bound(self, value: BoundValue) -> str:
        if value.data is None:
            return "NULL"
        if self.hiding.values and value.type & 0xFF not in (TypeCode.BYTE, TypeCode.TEXT):
            try:
                return self._value(bound_to_python(value, self.encoding))
            except Error:
                pass
        if value.extended_name:
            return self.hiding.text(value.extended_name.strip())
        return _code_name(value.type)

    def _values(self, row: Sequence[object]) -> list[str]:
        return [self._value(value) for value in row]

    def _value(self, value: object) -> str:
        shown = repr(value)
        if isinstance(value, str) and self.hiding.text(value) == HIDDEN:
            return HIDDEN
        shown = self.hiding.text(shown)
        return shown if len(shown) <= _MOST else f"{shown[:_MOST]} ... ({len(shown):,} characters)"

    def described(self, columns: Sequence[Column]) -> list[str]:
        """Names and types."""
        return [f"{self.hiding.column(column.name)} {type_of(column.type)}" for column in columns]


def message_name(message: object) -> str:
    """``SQ_PREPARE``; the number of a tag that has no name; the class of what has no tag."""
    if isinstance(message, Message):
        return tag_name(message.TAG).partition(" ")[0]
    return {ConnectRequest: "CONREQ", ConnectReply: "CONREPLY"}.get(type(message), type(message).__name__)


def type_of(column: ColumnType) -> str:
    """A type as it is declared, as far as it can be said."""
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


def _request(telling: Telling, message: ConnectRequest) -> Facts:
    text = telling.hiding.text
    return {
        "user": text(message.user),
        "password": HIDDEN,
        "server": text(message.server),
        "environment": telling.hiding.environment(list(message.environment.items())),
        "capabilities": f"{message.cap1:#x}",
    }


def _reply(telling: Telling, message: ConnectReply) -> Facts:
    text = telling.hiding.text
    told: Facts = {
        "kind": message.kind,
        "server": text(message.server_name),
        "version": text(message.version),
    }
    if message.kind == "reject":
        told |= {"sqlcode": message.service_error, "os_error": message.os_error}
    return {**told, "capabilities": f"{message.cap1:#x}"}


def _describe(telling: Telling, message: Describe) -> Facts:
    return {
        "id": message.statement_id,
        "type": _statement_type(message.statement_type),
        "tuple_size": message.tuple_size,
        "columns": telling.described(message.columns),
    }


def _err(telling: Telling, message: m.Err) -> Facts:
    return {
        "sqlcode": message.sqlcode,
        "isamcode": message.isamcode,
        "offset": message.offset,
        "near": telling.hiding.near(message.near),
    }


def _challenge(telling: Telling, message: m.Challenge) -> Facts:
    return {"style": message.style, "text": telling.hiding.text(message.text)}


def _response(telling: Telling, message: m.Response) -> Facts:
    telling.hiding.keep_secret(message.text)
    return {"answer": HIDDEN}


def _lo_data(telling: Telling, message: m.LoData) -> Facts:
    told: Facts = {"op": message.op, "fd": message.fd, "count": message.count}
    return {**told, "offset": message.offset} if message.op == m.LoOp.SEEK_READ else told


def _file_request(telling: Telling, message: m.FileRequest) -> Facts:
    told: Facts = {"op": m.FileOp(message.op).name}
    if message.op == m.FileOp.OPEN:
        told["name"] = telling.hiding.text(message.name)
    elif message.op == m.FileOp.READ:
        told |= {"piece": message.buffer_size, "amount": message.amount}
    return told


def _put(telling: Telling, message: m.Put) -> Facts:
    rows = message.rows
    if telling.hiding.values and len(rows) == 1:
        return telling.row(rows[0])
    return {**telling.row(rows[0]), "rows": len(rows), "bytes": sum(map(len, rows))}


_TELLERS: dict[type[object], Callable[[Telling, Any], Facts]] = {
    ConnectRequest: _request,
    ConnectReply: _reply,
    # of a client
    m.BlobBind: lambda _, message: {"count": message.count},
    m.Command: lambda telling, message: {
        "statement": telling.hiding.statement(message.sql),
        "parameters": message.nparams,
    },
    m.CursorName: lambda telling, message: {"name": telling.hiding.text(message.name)},
    m.Bind: lambda telling, message: {"parameters": telling.bound(message.values)},
    m.DbOpen: lambda telling, message: {"name": telling.hiding.text(message.name), "mode": message.mode},
    m.ExecuteRoutine: lambda telling, message: {"handle": message.handle, "parameters": message.nparams},
    m.Fetch: lambda _, message: {"size": message.size},
    m.FileRead: lambda _, message: {"bytes": len(message.data)},
    m.FileTotal: lambda _, message: {"bytes": message.total},
    m.FileWritten: lambda _, message: {"bytes": message.total},
    m.GeneratedKeys: lambda telling, message: {
        "names": [telling.hiding.text(name) for name in message.names]
    },
    m.GetRoutine: lambda telling, message: {
        "signature": telling.hiding.statement(message.signature),
        "number": message.number,
    },
    m.Id: lambda _, message: {"id": message.statement_id},
    m.Info: lambda telling, message: {"environment": telling.hiding.environment(message.environment)},
    m.LoData: _lo_data,
    m.Prepare: lambda telling, message: {
        "statement": telling.hiding.statement(message.sql),
        "parameters": message.nparams,
    },
    m.Put: _put,
    m.ReleaseSavepoint: lambda telling, message: {"name": telling.hiding.text(message.name)},
    m.Response: _response,
    m.RetType: lambda _, message: {
        "direction": message.direction,
        "types": [type_of(each) for each in message.types],
    },
    m.RollbackToSavepoint: lambda telling, message: {"name": telling.hiding.text(message.name)},
    m.RoutineQuestion: lambda telling, message: {
        "database": telling.hiding.text(message.database),
        "number": message.number,
    },
    m.ScrollFetch: lambda _, message: {"how": message.how, "target": message.target, "size": message.size},
    m.SetSavepoint: lambda telling, message: {"name": telling.hiding.text(message.name)},
    # of a server
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
    m.RoutineHandle: lambda telling, message: {
        "database": telling.hiding.text(message.database),
        "handle": message.handle,
    },
    m.RoutineParameters: lambda _, message: {
        "returned": list(message.returned),
        "arguments": [{"type": each.type, "out": each.out} for each in message.arguments],
    },
    m.RoutineResult: lambda telling, message: {"values": telling.bound(message.values)},
    m.Tuple: lambda telling, message: telling.row(message.payload),
    m.TupleId: lambda _, message: {"row": message.row},
    m.XactStat: lambda _, message: {"event": message.event, "new": message.new, "old": message.old},
    # of both
    m.BlobChunk: lambda _, message: {"bytes": len(message.data)},
    m.Protocols: lambda _, message: {"mask": message.mask.hex()},
}
