"""Routines called by a handle, without SQL: the protocol's fast path (SQLI section 16, JDBC section 11).

The routines that open, create, describe and close smart large objects are here. Every other name is looked up among the
routines that SQL can call, by the types of its arguments or, without them, by its name alone. A routine with an OUT
parameter returns that parameter's value first and then its own. Where the behaviour of real servers is not known, IBM's
JDBC driver decides: release 4.10.14 requires both values, the later ones read the first only.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...wire import messages as m
from ...wire.bind_values import bind_value, bound_to_python
from ...wire.errors import Error
from ...wire.messages import BoundValue
from ...wire.type_codes import LOCATOR_SIZE
from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError, no_column, no_table
from ..session.engine_session import EngineSession
from ..session.routine_protocols import RoutineReference
from ..types.locators import Kind
from .interrupts import StatementInterrupts
from .layout import MessageLayout
from .replies import ReplyWriter
from .smart_objects import BAD_OBJECT, OpenObjectTable, SmartObjectHandler

NO_ROUTINE = -674
WRONG_ARGUMENTS = -664

STAT_SIZE = 644
"""Bytes of the structure that describes an object's state. JDBC reads only its size."""

_STAT_STRUCT = struct.Struct(">4xIIh")
"""The size at offset 4: its low half, its high half, its sign (found by varying the bytes that JDBC reads)."""

_INT8 = struct.Struct(">hII")
_SIGNATURE = re.compile(
    r"\s*(?:(?:function|procedure|routine)\s)?\s*(?:\"?\w+\"?\s*\.)?\s*(\w+)\s*"
    r"(?:\(((?:[^()]|\([^()]*\))*)\))?\s*",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(r",(?![^()]*\))")
_SYNONYMS = {"int": "integer"}
_INTEGERS = {int(TypeCode.SMALLINT): 2, int(TypeCode.INTEGER): 4, int(TypeCode.BIGINT): 8}

RoutineFunction = Callable[["FastPathHandler", Sequence[BoundValue]], Sequence[BoundValue]]


@dataclass(eq=False, repr=False)
class FastPathHandler:
    """Handles SQ_GETROUTINE and SQ_EXFPROUTINE."""

    _engine_session: EngineSession
    _layout: MessageLayout
    _replies: ReplyWriter
    _interrupts: StatementInterrupts
    _open_objects: OpenObjectTable
    _smart_object_handler: SmartObjectHandler
    # routines of SQL that have handles, in their order
    _sql_routines: list[RoutineReference] = field(default_factory=list, init=False)
    # handles of routines whose parameters the client has not received since it requested the handle
    _undescribed_handles: set[int] = field(default_factory=set, init=False)
    # its arguments are in the SQ_BIND that follows
    _pending_routine: RoutineFunction | None = field(default=None, init=False)
    _expected_arguments: int = field(default=0, init=False)
    _described_in_group: bool = field(default=False, init=False)
    # True if an SQ_EOT, if it came now, would be the redundant one after a question
    ignores_next_eot: bool = field(default=False, init=False)

    def get_routine(self, message: m.GetRoutine) -> None:
        """Return a handle for a signature. Clients differ in its blanks and case."""
        if message.number is not None:
            self._undescribed_handles.add(
                self._assign_handle(RoutineReference(message.signature, None, message.number))
            )
            return
        signature = _SIGNATURE.fullmatch(message.signature)
        if signature is None:
            raise SqlError(NO_ROUTINE, near=message.signature)
        name, listed = signature[1].lower(), signature[2]
        words = (
            [word.strip().lower() for word in _ARGUMENT.split(listed)] if listed and listed.strip() else []
        )
        spelled = f"{name}({','.join(_SYNONYMS.get(word, word) for word in words)})"
        number = _HANDLES.get(spelled)
        if number is None:
            self._assign_handle(
                RoutineReference(name, None if listed is None else tuple(map(_parse_argument_type, words)))
            )
            return
        self._replies.send_message(m.RoutineHandle(self._engine_session.database or "", number))

    def _assign_handle(self, user: RoutineReference) -> int:
        """Return a handle for a routine of SQL."""
        self._engine_session.require_routine(user)
        if user not in self._sql_routines:
            self._sql_routines.append(user)
        number = _FIRST_USER_HANDLE + self._sql_routines.index(user)
        self._replies.send_message(m.RoutineHandle(self._engine_session.database or "", number))
        return number

    def describe_routine(self, message: m.RoutineQuestion) -> None:
        """Reply with the SQ_EOT of the group. The second one, which JDBC sends alone after it, has no reply."""
        self._described_in_group = True

    def call_routine(self, message: m.ExecuteRoutine) -> None:
        """Call a routine by its handle. The database's name is empty from a routine's second call on."""
        if 0 <= message.handle - _FIRST_USER_HANDLE < len(self._sql_routines):
            user = self._sql_routines[message.handle - _FIRST_USER_HANDLE]
            handle = message.handle if message.fparam else None
            self._pending_routine = partial(FastPathHandler._call_sql_routine, user=user, outs_of=handle)
        elif 0 <= message.handle - _FIRST_HANDLE < len(_BUILTIN_ROUTINES):
            self._pending_routine = _BUILTIN_ROUTINES[message.handle - _FIRST_HANDLE][1]
        else:
            raise SqlError(NO_ROUTINE, near=str(message.handle))
        self._expected_arguments = message.nparams

    def _call_sql_routine(
        self, arguments: Sequence[BoundValue], user: RoutineReference, *, outs_of: int | None
    ) -> Sequence[BoundValue]:
        """Call a routine of SQL and return its one row, with OUT parameters before it for the handle `outs_of`.

        JDBC stores the description of a routine's parameters at the first such call, and does not accept it a second
        time.
        """
        encoding = self._layout.framing.encoding
        try:
            python_values = [bound_to_python(value, encoding) for value in arguments]
        except (Error, ValueError, ArithmeticError) as problem:
            raise SqlError(-415, detail=str(problem)) from problem
        result = self._engine_session.call_routine(user, python_values)
        values = result.returned
        if outs_of is not None:
            values = result.out_values + values
        if outs_of in self._undescribed_handles:
            self._undescribed_handles.discard(outs_of)
            self._replies.send_message(
                m.RoutineParameters(
                    tuple(int(t.code) for t, _ in result.returned),
                    tuple(m.RoutineParameter(int(t.code), out) for t, out in result.arguments),
                )
            )
        return [_encode_result(value, t, encoding) for t, value in values]

    def take_arguments(self, arguments: Sequence[BoundValue]) -> bool:
        """Call the routine that waits for its arguments with the values of an SQ_BIND; return False if none does."""
        routine, self._pending_routine = self._pending_routine, None
        if routine is None:
            return False
        if len(arguments) != self._expected_arguments:
            raise SqlError(WRONG_ARGUMENTS)
        with self._interrupts:
            values = routine(self, arguments)
        self._replies.send_message(m.RoutineResult(tuple(values)))
        return True

    def end_group(self) -> bool:
        """Note that no arguments will follow. Return whether the SQ_EOT gets a reply."""
        self._pending_routine = None
        has_reply = not self.ignores_next_eot
        self.ignores_next_eot, self._described_in_group = self._described_in_group, False
        return has_reply

    # ---- the routines --------------------------------------------------------------------------------------

    def _lo_open(self, arguments: Sequence[BoundValue]) -> Sequence[BoundValue]:
        """ifx_lo_open(locator, mode): return a descriptor."""
        locator, mode = _require_arguments(arguments, 2)
        return [
            _encode_integer(self._smart_object_handler.open(_decode_locator(locator), _decode_integer(mode)))
        ]

    def _lo_close(self, arguments: Sequence[BoundValue]) -> Sequence[BoundValue]:
        """ifx_lo_close(descriptor): return 0."""
        (descriptor,) = _require_arguments(arguments, 1)
        self._open_objects.close(_decode_integer(descriptor))
        return [_encode_integer(0)]

    def _lo_release(self, arguments: Sequence[BoundValue]) -> Sequence[BoundValue]:
        """ifx_lo_release(locator): return 0. -9810 for a locator without an object.

        The client no longer needs an object that it created. An object that no row refers to has no resources but its
        content, so there is nothing to release.
        """
        (locator,) = _require_arguments(arguments, 1)
        if not self._engine_session.lobs.exists(_decode_locator(locator)):
            raise SqlError(BAD_OBJECT, detail="The smart large object does not exist.")
        return [_encode_integer(0)]

    def _lo_stat(self, arguments: Sequence[BoundValue]) -> Sequence[BoundValue]:
        """ifx_lo_stat(descriptor, buffer for the result): return the object's state, and 0."""
        descriptor, _ = _require_arguments(arguments, 2)
        size = self._engine_session.lobs.size(self._open_objects.get(_decode_integer(descriptor)).locator)
        return [
            _encode_opaque(
                "ifx_lo_stat", _STAT_STRUCT.pack(size & 0xFFFF_FFFF, size >> 32, 1).ljust(STAT_SIZE, b"\0")
            ),
            _encode_integer(0),
        ]

    def _lo_seek(self, arguments: Sequence[BoundValue]) -> Sequence[BoundValue]:
        """ifx_lo_seek(descriptor, offset, whence, buffer for the result): return the new position, and 0."""
        descriptor, offset, whence, _ = _require_arguments(arguments, 4)
        lob = self._open_objects.get(_decode_integer(descriptor))
        return [
            _encode_bigint(
                self._smart_object_handler.seek(lob, _decode_integer(offset), _decode_integer(whence))
            ),
            _encode_integer(0),
        ]

    def _lo_truncate(self, arguments: Sequence[BoundValue]) -> Sequence[BoundValue]:
        """ifx_lo_truncate(descriptor, size): return 0."""
        descriptor, size = _require_arguments(arguments, 2)
        lob = self._open_objects.get(_decode_integer(descriptor))
        if not lob.writable:
            raise SqlError(BAD_OBJECT, detail="The smart large object is open for reading only.")
        self._engine_session.lobs.truncate(lob.locator, _decode_integer(size))
        return [_encode_integer(0)]

    def _lo_col_sbinfo(self, arguments: Sequence[BoundValue]) -> Sequence[BoundValue]:
        """ifx_lo_col_sbinfo("table.column", specification): return how objects of the column are created, which is as
        requested, and 0.
        """
        column, specification = _require_arguments(arguments, 2)
        table, _, name = (
            _decode_bytes(column).decode(self._layout.framing.encoding, "replace").strip().rpartition(".")
        )
        info = self._engine_session.find_table(None, table.rpartition(".")[2].strip('"').lower())
        if info is None:
            raise no_table(table)
        if info.column(name.strip('"').lower()) is None:
            raise no_column(name)
        return [_encode_opaque("ifx_lo_spec", _decode_bytes(specification)), _encode_integer(0)]

    def _lo_create(self, arguments: Sequence[BoundValue], kind: Kind) -> Sequence[BoundValue]:
        """ifx_lo_create(specification, mode, buffer for the locator): return descriptor and locator, open."""
        _, mode, _ = _require_arguments(arguments, 3)
        mode_bits = _decode_integer(mode)
        locator = self._engine_session.lobs.create(kind)
        return [_encode_opaque(kind, locator), _encode_integer(self._open_objects.add(locator, mode_bits))]


_BUILTIN_ROUTINES: tuple[tuple[str, RoutineFunction], ...] = (
    ("ifx_lo_open(blob,integer)", FastPathHandler._lo_open),
    ("ifx_lo_open(clob,integer)", FastPathHandler._lo_open),
    ("ifx_lo_close(integer)", FastPathHandler._lo_close),
    ("ifx_lo_release(blob)", FastPathHandler._lo_release),
    ("ifx_lo_release(clob)", FastPathHandler._lo_release),
    ("ifx_lo_stat(integer,ifx_lo_stat)", FastPathHandler._lo_stat),
    ("ifx_lo_truncate(integer,int8)", FastPathHandler._lo_truncate),
    ("ifx_lo_seek(integer,int8,integer,int8)", FastPathHandler._lo_seek),
    ("ifx_lo_col_sbinfo(lvarchar,ifx_lo_spec)", FastPathHandler._lo_col_sbinfo),
    ("ifx_lo_create(ifx_lo_spec,integer,blob)", partial(FastPathHandler._lo_create, kind="blob")),
    ("ifx_lo_create(ifx_lo_spec,integer,clob)", partial(FastPathHandler._lo_create, kind="clob")),
)
_FIRST_HANDLE = 101
_FIRST_USER_HANDLE = 1001
_HANDLES = {name: _FIRST_HANDLE + index for index, (name, _) in enumerate(_BUILTIN_ROUTINES)}


def _parse_argument_type(word: str) -> ColumnType | None:
    """Return the type of an argument in a signature; None for one that has no meaning here."""
    try:
        return ColumnType.parse_sql(word)
    except ValueError:
        return None


def _require_arguments(values: Sequence[BoundValue], count: int) -> Sequence[BoundValue]:
    if len(values) != count:
        raise SqlError(WRONG_ARGUMENTS)
    return values


def _encode_result(value: object, t: ColumnType, encoding: str) -> BoundValue:
    """Return a value of SQL as a routine's result; one of CHAR is padded with blanks."""
    if value is None:
        return BoundValue(t.code, None)
    bound = bind_value(value, encoding, t)
    if t.code not in (TypeCode.CHAR, TypeCode.NCHAR) or bound.data is None:
        return bound
    text = bound.data[2:].ljust(t.encoded_length)
    return bound._replace(data=len(text).to_bytes(2, "big") + text)


def _decode_integer(value: BoundValue) -> int:
    """Return an argument that must be an integer; -664 for another."""
    kind = value.type & 0xFF
    if kind in (TypeCode.INT8, TypeCode.SERIAL8) and value.data is not None:
        sign, low, high = _INT8.unpack(value.data)
        return int(sign * (high << 32 | low))
    size = _INTEGERS.get(kind)
    if value.data is None or size is None or len(value.data) != size:
        raise SqlError(WRONG_ARGUMENTS)
    return int.from_bytes(value.data, "big", signed=True)


def _decode_bytes(value: BoundValue) -> bytes:
    """Return the bytes of an opaque or character argument without their length; -664 for another."""
    kind = value.type & 0xFF
    if value.data is None:
        raise SqlError(WRONG_ARGUMENTS)
    if kind in (TypeCode.UDTVAR, TypeCode.UDTFIXED, TypeCode.LVARCHAR, TypeCode.SENDRECV):
        return value.data[4:]
    if kind in (TypeCode.CHAR, TypeCode.VARCHAR):
        return value.data[2:]
    raise SqlError(WRONG_ARGUMENTS)


def _decode_locator(value: BoundValue) -> bytes:
    """Return a locator, raw or as hexadecimal digits; -9810 for an invalid one."""
    data = _decode_bytes(value)
    try:
        return data if len(data) == LOCATOR_SIZE else bytes.fromhex(data.decode("ascii"))
    except ValueError as problem:
        raise SqlError(BAD_OBJECT, detail=f"The locator has {len(data)} bytes.") from problem


def _encode_integer(value: int) -> BoundValue:
    return BoundValue(int(TypeCode.INTEGER), value.to_bytes(4, "big", signed=True))


def _encode_bigint(value: int) -> BoundValue:
    return BoundValue(
        int(TypeCode.INT8), _INT8.pack(1 if value >= 0 else -1, abs(value) & 0xFFFF_FFFF, abs(value) >> 32)
    )


def _encode_opaque(name: str, data: bytes) -> BoundValue:
    return BoundValue(
        int(TypeCode.SENDRECV), len(data).to_bytes(4, "big") + data, owner="informix", extended_name=name
    )
