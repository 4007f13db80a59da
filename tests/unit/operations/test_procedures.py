"""The fast path and procedures: the messages with a scripted peer (SQLI sections 7.6 and 16)."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal

import pytest
from tests.unit.operations.scripted_peer import FRAMING, Peer, new_session, other, rows, select

from informix_arrow.operations.fast_path import fast_path_call
from informix_arrow.operations.fetch import ReadOptions, ServerCursor
from informix_arrow.operations.prepare import Outcome
from informix_arrow.operations.procedures import call_procedure
from informix_arrow.wire import messages as m
from informix_arrow.wire.bound_values import bound_to_python
from informix_arrow.wire.describe import StatementType
from informix_arrow.wire.errors import DataError, Error, InterfaceError, ProgrammingError, ProtocolError
from informix_arrow.wire.messages import InputDescribe
from informix_arrow.wire.types import ColumnType, TypeCode

CLOSE = "function informix.ifx_lo_close(integer)"
HANDLE = [m.RoutineHandle("stores", 103)]


def integer(value: int) -> m.BoundValue:
    return m.BoundValue(TypeCode.INTEGER.value, value.to_bytes(4, "big", signed=True))


def result(*values: m.BoundValue) -> list[m.Message]:
    return [m.RoutineResult(values)]


def test_a_routine_is_looked_up_once_and_called_by_its_handle() -> None:
    peer, session = Peer([HANDLE, result(integer(0)), result(integer(-7))]), new_session(autocommit=True)
    assert peer.run(fast_path_call(session, CLOSE, (3,))) == 0
    assert peer.run(fast_path_call(session, CLOSE, (4,))) == -7
    assert peer.names() == ["GetRoutine", "ExecuteRoutine Bind", "ExecuteRoutine Bind"]


def test_a_call_is_the_bytes_that_jdbc_sends() -> None:
    peer, session = Peer([HANDLE, result(integer(0))]), new_session(autocommit=True)
    peer.run(fast_path_call(session, CLOSE, (3,)))
    sent = [b"".join(message.encode(FRAMING) for message in group).hex() for group in peer.groups]
    assert sent == [
        "0065000000002766756e6374696f6e20696e666f726d69782e6966785f6c6f5f636c6f736528696e746567657229000000",
        "0066000673746f7265730000006700010000" + "00050001000200000a0000000003",
    ]


def test_the_handle_goes_with_an_error_and_with_the_database() -> None:
    peer = Peer([HANDLE, [m.Err(-9810)], HANDLE, result(integer(1)), HANDLE, result(integer(2))])
    session = new_session(autocommit=True)
    with pytest.raises(Error) as caught:
        peer.run(fast_path_call(session, CLOSE, (3,)))
    assert caught.value.sqlcode == -9810
    assert session.usable_after(caught.value)
    assert peer.run(fast_path_call(session, CLOSE, (3,))) == 1
    session.routines.clear()
    assert peer.run(fast_path_call(session, CLOSE, (3,))) == 2
    assert peer.names().count("GetRoutine") == 3


def test_a_call_may_write_and_opens_a_transaction() -> None:
    peer, session = Peer([HANDLE, [], result(integer(1))]), new_session()
    peer.run(fast_path_call(session, CLOSE, (3,)))
    assert peer.names() == ["GetRoutine", "Begin", "ExecuteRoutine Bind"]


@pytest.mark.parametrize(
    ("signature", "sent"),
    [
        ("ifx_lo_close(integer)", "function ifx_lo_close(integer)"),
        ("  informix.f(int) ", "function informix.f(int)"),
        ("PROCEDURE p(INT)", "PROCEDURE p(INT)"),
        ("Function db:owner.f( int )", "Function db:owner.f( int )"),
    ],
)
def test_the_word_function_may_be_left_out(signature: str, sent: str) -> None:
    peer, session = Peer([HANDLE, result()]), new_session(autocommit=True)
    assert peer.run(fast_path_call(session, signature, (1,))) is None
    assert peer.groups[0] == [m.GetRoutine(sent)]


def test_a_routine_without_arguments_gets_no_bind() -> None:
    peer, session = Peer([HANDLE, result(integer(5), integer(6))]), new_session(autocommit=True)
    assert peer.run(fast_path_call(session, "f()", ())) == (5, 6)
    assert peer.groups[1] == [m.ExecuteRoutine("stores", 103, 0)]


@pytest.mark.parametrize("signature", ["", "f", "f(int", "select 1", "f(int)(int)", 7, None])
def test_what_is_no_signature_is_refused_before_anything_is_sent(signature: str) -> None:
    with pytest.raises(InterfaceError, match="A signature has the form"):
        fast_path_call(new_session(), signature, (1,))


@pytest.mark.parametrize("count", [0, 2])
def test_the_number_of_arguments_is_that_of_the_signature(count: int) -> None:
    with pytest.raises(ProgrammingError, match=f"{count} arguments for the 1"):
        fast_path_call(new_session(), CLOSE, (1,) * count)


VALUES = [
    ("smallint", -32767, TypeCode.SMALLINT, -32767),
    ("INTEGER", 2**31 - 1, TypeCode.INTEGER, 2**31 - 1),
    ("serial", -(2**31) + 1, TypeCode.INTEGER, -(2**31) + 1),
    ("bigint", -(2**63) + 1, TypeCode.BIGINT, -(2**63) + 1),
    ("int8", -(2**63) + 1, TypeCode.INT8, -(2**63) + 1),
    ("int8", 0, TypeCode.INT8, 0),
    ("int8", 2**32, TypeCode.INT8, 2**32),
    ("double  precision", 0.1, TypeCode.FLOAT, 0.1),
    ("float", 3, TypeCode.FLOAT, 3.0),
    ("smallfloat", 0.5, TypeCode.SMALLFLOAT, 0.5),
    ("decimal", Decimal("-12.50"), TypeCode.DECIMAL, Decimal("-12.5")),
    ("numeric", 7, TypeCode.DECIMAL, Decimal(7)),
    ("varchar", "größe", TypeCode.CHAR, "größe"),
    ("lvarchar", "odd", TypeCode.LVARCHAR, "odd"),
    ("lvarchar", "", TypeCode.LVARCHAR, ""),
    ("boolean", True, TypeCode.BOOL, True),
    ("boolean", False, TypeCode.BOOL, False),
    ("date", dt.date(2026, 2, 28), TypeCode.DATE, dt.date(2026, 2, 28)),
    ("blob", b"\0" * 72, TypeCode.SENDRECV, b"\0" * 72),
    ("informix.ifx_lo_spec", b"\xda\xda\xfe", TypeCode.SENDRECV, b"\xda\xda\xfe"),
    ("integer", None, None, None),
    ("blob", None, None, None),
]


@pytest.mark.parametrize(("name", "value", "code", "seen"), VALUES, ids=lambda item: repr(item)[:30])
def test_an_argument_travels_in_the_type_of_the_signature(
    name: str, value: object, code: TypeCode | None, seen: object
) -> None:
    """A second argument follows, whose position depends on the first one's length."""
    peer, session = Peer([HANDLE, result(integer(0))]), new_session(autocommit=True)
    peer.run(fast_path_call(session, f"f({name}, integer)", (value, 12345)))
    bind = peer.groups[1][1]
    assert isinstance(bind, m.Bind)
    first, second = bind.values
    if code is not None:
        assert first.type == code
    if first.type == TypeCode.SENDRECV:
        assert first.extended_name == name.rpartition(".")[2]
    assert bound_to_python(first, FRAMING.encoding) == seen
    assert bound_to_python(second, FRAMING.encoding) == 12345


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("smallint", -32768),
        ("integer", 2**31),
        ("integer", -(2**31)),
        ("bigint", 2**63),
        ("int8", 2**63),
        ("integer", "1"),
        ("integer", 1.0),
        ("integer", True),
        ("boolean", 1),
        ("char", b"x"),
        ("lvarchar", "\u20ac"),
        ("decimal", 0.1),
        ("date", "2026-01-01"),
        ("blob", "text"),
        ("smallfloat", 1e300),
    ],
    ids=repr,
)
def test_a_value_of_another_type_is_refused_by_its_number(name: str, value: object) -> None:
    with pytest.raises(DataError, match="Argument 2"):
        fast_path_call(new_session(), f"f(integer, {name})", (1, value))


def test_results_are_python_values() -> None:
    values = [
        (m.BoundValue(TypeCode.LVARCHAR.value, b"\0\0\0\3abc"), "abc"),
        (m.BoundValue(TypeCode.FLOAT.value, struct.pack(">d", 0.25)), 0.25),
        (m.BoundValue(TypeCode.INTEGER.value, None, 0, -1), None),
        (
            m.BoundValue(TypeCode.SENDRECV.value, b"\0\0\0\2\1\2", extended_name="opaque", owner="informix"),
            b"\1\2",
        ),
        (integer(-5), -5),
    ]
    peer, session = Peer([HANDLE, result(*[value for value, _ in values])]), new_session(autocommit=True)
    assert peer.run(fast_path_call(session, "f()", ())) == tuple(seen for _, seen in values)


def test_a_server_without_the_routine_says_so() -> None:
    peer, session = Peer([[m.Err(-674, 0, 0, "f")]]), new_session()
    with pytest.raises(ProgrammingError, match="'f' does not exist") as caught:
        peer.run(fast_path_call(session, "f()", ()))
    assert session.usable_after(caught.value)
    assert not session.routines


def test_a_lookup_without_a_handle_ends_the_session() -> None:
    peer, session = Peer([[]]), new_session()
    with pytest.raises(ProtocolError, match="holds no handle") as caught:
        peer.run(fast_path_call(session, "f()", ()))
    assert not session.usable_after(caught.value)


# ---- procedures ------------------------------------------------------------------------------------------------------


def sql_of(peer: Peer) -> list[str]:
    return [message.sql for group in peer.groups for message in group if isinstance(message, m.Prepare)]


def test_a_procedure_without_rows_is_executed() -> None:
    asked = [InputDescribe((ColumnType.integer(), ColumnType.varchar(5)))]
    peer, session = (
        Peer([other(StatementType.EXECUTE_PROCEDURE), asked, [m.Done()]]),
        new_session(autocommit=True),
    )
    assert isinstance(peer.run(call_procedure(session, "owner.p", (1, "a"), ReadOptions())), Outcome)
    assert sql_of(peer) == ["EXECUTE PROCEDURE owner.p(?, ?)"]


def test_a_procedure_with_rows_is_a_query() -> None:
    peer, session = Peer([select(), [*rows(1, 2), m.Done()]]), new_session(autocommit=True)
    assert isinstance(peer.run(call_procedure(session, "p", (), ReadOptions())), ServerCursor)
    assert sql_of(peer) == ["EXECUTE PROCEDURE p()"]


def test_a_function_is_found_when_there_is_no_such_procedure() -> None:
    for near in ("f", "F", "owner.f", ""):
        peer, session = (
            Peer([[m.Err(-674, 0, 0, near)], select(), [*rows(1), m.Done()]]),
            new_session(autocommit=True),
        )
        assert isinstance(peer.run(call_procedure(session, "f", (5,), ReadOptions())), ServerCursor)
        assert sql_of(peer) == ["EXECUTE PROCEDURE f(?)", "EXECUTE FUNCTION f(?)"]


def test_a_routine_that_is_neither_is_reported_as_a_procedure() -> None:
    peer, session = Peer([[m.Err(-674, 0, 0, "f")], [m.Err(-674, 0, 0, "f")]]), new_session(autocommit=True)
    with pytest.raises(ProgrammingError, match="'f' does not exist") as caught:
        peer.run(call_procedure(session, "f", (), ReadOptions()))
    assert caught.value.statement == "EXECUTE PROCEDURE f()"
    assert session.usable_after(caught.value)


def test_a_routine_missing_inside_a_procedure_does_not_run_it_twice() -> None:
    script: list[list[m.Message]] = [other(StatementType.EXECUTE_PROCEDURE), [m.Err(-674, 0, 0, "inner")]]
    peer, session = Peer(script), new_session(autocommit=True)
    with pytest.raises(ProgrammingError, match="'inner'"):
        peer.run(call_procedure(session, "p", (), ReadOptions()))
    assert sql_of(peer) == ["EXECUTE PROCEDURE p()"]


@pytest.mark.parametrize(
    "name", ["p", "_p1", "owner.p", "db:owner.p", "db@srv:p", '"Odd name".p', 'o."p""q"', "größe"]
)
def test_names_of_procedures_go_as_they_are(name: str) -> None:
    peer, session = Peer([other(StatementType.EXECUTE_PROCEDURE), [m.Done()]]), new_session(autocommit=True)
    peer.run(call_procedure(session, name, (), ReadOptions()))
    assert sql_of(peer) == [f"EXECUTE PROCEDURE {name}()"]


@pytest.mark.parametrize("name", ["", "p()", "p; DROP TABLE t", "a.b.c", "1p", "p q", '"p', "p--", None, 7])
def test_what_is_no_name_is_refused_before_anything_is_sent(name: str) -> None:
    with pytest.raises(InterfaceError, match="A procedure name has the"):
        call_procedure(new_session(), name, (), ReadOptions())
