"""The fast path: routines of the server called without SQL (SQLI section 16).

A routine is looked up by its signature once per session and database. Later calls use its handle. Arguments are
sent as in SQ_BIND, each in exactly the type that the signature names: nothing is converted.
"""

from __future__ import annotations

import datetime as dt
import re
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from ..wire import messages as m
from ..wire.bind_values import bind_value
from ..wire.bound_values import bound_to_python
from ..wire.datetimes import DatetimeValue, IntervalValue
from ..wire.describe import StatementType
from ..wire.errors import DataError, InterfaceError, ProgrammingError, ProtocolError
from ..wire.intervals import to_months, to_timedelta
from ..wire.primitives import encode_strictly
from ..wire.types import TypeCode
from .instrument import report
from .io_steps import Exchange
from .request_reply import pipeline, request
from .session import Session
from .transaction import after_failure, begin_if_needed, track_statement

_SIGNATURE = re.compile(
    r"\s*(?P<kind>function|procedure)?\s*(?P<name>[^\s()]+)\s*\((?P<types>[^()]*)\)\s*", re.IGNORECASE
)


def fast_path_call(session: Session, signature: str, arguments: Sequence[object]) -> Exchange[Any]:
    """Call a routine without SQL. Returns None, a value, or a tuple of several.

    Parameters
    ----------
    signature
        ``"function owner.name(type, type)"`` as the server knows the routine; ``function`` may be left out.
    arguments
        A value per type; bytes for BLOB and CLOB locators and for opaque types, in the server's own form.

    Raises
    ------
    InterfaceError, ProgrammingError
        No valid signature, or a different number of values. Raised at the call, before the operation begins.
    DataError
        A value does not have its type. Raised at the call, too.
    Error
        The server's: -674 if it does not know the routine.
    """
    match = _SIGNATURE.fullmatch(signature) if isinstance(signature, str) else None
    if match is None:
        raise InterfaceError(
            f'A signature has the form "function informix.ifx_lo_close(integer)", got {signature!r}.'
        )
    types = (
        [" ".join(name.lower().split()) for name in match["types"].split(",")]
        if match["types"].strip()
        else []
    )
    if len(types) != len(arguments):
        raise ProgrammingError(f"{len(arguments)} arguments for the {len(types)} of {signature!r}.")
    encoding = session.framing.encoding
    values = tuple(
        [
            _argument(number, value, name, encoding)
            for number, (value, name) in enumerate(zip(arguments, types, strict=True), 1)
        ]
    )
    normalized = signature.strip() if match["kind"] else f"function {signature.strip()}"
    return _call(session, normalized, values)


def _call(session: Session, signature: str, values: tuple[m.BoundValue, ...]) -> Exchange[Any]:
    report(session, "routine", signature)
    ((database, handle),) = yield from routine_handles(session, signature)
    yield from begin_if_needed(session, StatementType.EXECUTE_PROCEDURE)
    binding = (m.Bind(values),) if values else ()
    reply = yield from request(session, (m.ExecuteRoutine(database, handle, len(values)), *binding))
    if reply.error is not None:
        session.routines.pop(signature, None)  # it may have been dropped and created again
        yield from after_failure(session)
        reply.check(signature)
    yield from track_statement(session, StatementType.EXECUTE_PROCEDURE)
    for message in reply.other_messages:
        if isinstance(message, m.RoutineResult):
            results = [_result(value, session.framing.encoding) for value in message.values]
            return results[0] if len(results) == 1 else tuple(results) or None
    return None


def routine_handles(session: Session, *signatures: str) -> Exchange[list[tuple[str, int]]]:
    """Return database and handle of each routine. They are looked up once per session and database, together."""
    unknown = [signature for signature in signatures if signature not in session.routines]
    if unknown:
        replies = yield from pipeline(session, [(m.GetRoutine(signature),) for signature in unknown])
        for signature, reply in zip(unknown, replies, strict=True):
            reply.check(signature)
            for message in reply.other_messages:
                if isinstance(message, m.RoutineHandle):
                    session.routines[signature] = (message.database, message.handle)
            if signature not in session.routines:
                raise ProtocolError("The server's answer to SQ_GETROUTINE holds no handle.")
    return [session.routines[signature] for signature in signatures]


# ---- arguments: by the name of the declared type ---------------------------------------------------------------------


def _integer(code: TypeCode, size: int, precision: int) -> Callable[[Any, str], m.BoundValue]:
    def bind(value: Any, encoding: str) -> m.BoundValue:
        if not -(1 << 8 * size - 1) < int(value) < 1 << 8 * size - 1:  # the lowest bit pattern is NULL
            raise DataError(f"{value} is out of its range.")
        return m.BoundValue(code.value, int(value).to_bytes(size, "big", signed=True), precision)

    return bind


def _int8(value: Any, encoding: str) -> m.BoundValue:
    magnitude = abs(int(value))
    if magnitude >= 1 << 63:
        raise DataError(f"{value} is out of its range.")
    sign = 1 if int(value) >= 0 else -1
    data = struct.pack(">hII", sign, magnitude & 0xFFFF_FFFF, magnitude >> 32)
    return m.BoundValue(TypeCode.INT8.value, data, 0x1300)


def _float(code: TypeCode, layout: str) -> Callable[[Any, str], m.BoundValue]:
    def bind(value: Any, encoding: str) -> m.BoundValue:
        return m.BoundValue(code.value, struct.pack(layout, float(value)))

    return bind


def _decimal(value: Any, encoding: str) -> m.BoundValue:
    return bind_value(Decimal(value) if isinstance(value, int) else value, encoding)


def _bind_scalar(value: Any, encoding: str) -> m.BoundValue:
    return bind_value(value, encoding)


def _lvarchar(value: Any, encoding: str) -> m.BoundValue:
    data = encode_strictly(value, encoding, "an argument")
    return _length_prefixed(TypeCode.LVARCHAR, data, "lvarchar")


def _boolean(value: Any, encoding: str) -> m.BoundValue:
    return m.BoundValue(
        TypeCode.BOOL.value, b"\0\0\0\1" + bytes((bool(value),)), 1, owner="informix", extended_name="boolean"
    )


def _length_prefixed(code: TypeCode, data: bytes, name: str) -> m.BoundValue:
    return m.BoundValue(code.value, len(data).to_bytes(4, "big") + data, extended_name=name)


_NUMBER, _REAL, _TEXT = (int,), (int, float, Decimal), (str,)

# Declared type -> Python types that it accepts, and the function that binds them (JDBC sections 6 and 11).
_BINDERS: dict[str, tuple[tuple[type, ...], Callable[[Any, str], m.BoundValue]]] = {
    "smallint": (_NUMBER, _integer(TypeCode.SMALLINT, 2, 0x0500)),
    "integer": (_NUMBER, _integer(TypeCode.INTEGER, 4, 0x0A00)),
    "bigint": (_NUMBER, _integer(TypeCode.BIGINT, 8, 0x1300)),
    "int8": (_NUMBER, _int8),
    "float": (_REAL, _float(TypeCode.FLOAT, ">d")),
    "smallfloat": (_REAL, _float(TypeCode.SMALLFLOAT, ">f")),
    "decimal": ((int, Decimal), _decimal),
    "char": (_TEXT, _bind_scalar),
    "lvarchar": (_TEXT, _lvarchar),
    "boolean": ((bool,), _boolean),
    "date": ((dt.date,), _bind_scalar),
    "datetime": ((dt.datetime, dt.time), _bind_scalar),
    "interval": ((dt.timedelta,), _bind_scalar),
}
_SYNONYMS = {
    "int": "integer",
    "serial": "integer",
    "serial8": "int8",
    "bigserial": "bigint",
    "double precision": "float",
    "real": "smallfloat",
    "dec": "decimal",
    "numeric": "decimal",
    "money": "decimal",
    "character": "char",
    "nchar": "char",
    "varchar": "char",
    "nvarchar": "char",
}


def _argument(number: int, value: object, name: str, encoding: str) -> m.BoundValue:
    """Bind one argument in the form of its declared type. Types that are not built in take bytes."""
    known = _BINDERS.get(_SYNONYMS.get(name, name))
    if value is None:
        return m.BoundValue(0, None, 0, -1)
    if known is None:
        if not isinstance(value, bytes | bytearray | memoryview):
            raise DataError(f"Argument {number}: {name.upper()} takes bytes, not {type(value).__name__}.")
        return _length_prefixed(TypeCode.SENDRECV, bytes(value), name.rpartition(".")[2])
    types, bind = known
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise DataError(f"Argument {number}: {type(value).__name__} cannot be {name.upper()}.")
    try:
        return bind(value, encoding)
    except (DataError, OverflowError) as error:
        raise DataError(f"Argument {number}: {name.upper()}: {error}") from None


def _result(value: m.BoundValue, encoding: str) -> object:
    """Return a result value in the form that the rows of a cursor use."""
    result = bound_to_python(value, encoding)
    if isinstance(result, DatetimeValue):
        return result.natural()
    if isinstance(result, IntervalValue):
        return to_months(result) if result.qualifier.is_year_month else to_timedelta(result)
    return result
