"""Routines over the wire: how they are described, called, fetched and interrupted; the fast path; Python routines."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import starmap

import pytest

import informix_arrow
from informix_arrow.server import Server
from informix_arrow.server.errors import SqlError
from informix_arrow.wire import messages as m
from informix_arrow.wire.bind_values import bind_value
from informix_arrow.wire.bound_values import bound_to_python
from informix_arrow.wire.describe import StatementType
from informix_arrow.wire.messages import BoundValue, InputDescribe
from informix_arrow.wire.types import TypeCode

from .raw import RawClient, Refused, one


@pytest.fixture
def client(server: Server) -> Iterator[RawClient]:
    with RawClient(server, "stores_demo") as client:
        yield client


@pytest.fixture
def create(client: RawClient) -> Iterator[Callable[[str], None]]:
    """A function that creates a routine, which is dropped after the test."""
    made: list[str] = []

    def run(text: str) -> None:
        client.command(text)
        kind, _, rest = text.removeprefix("CREATE ").partition(" ")
        made.append(f"DROP {kind} {rest.partition('(')[0]}")

    yield run
    for text in reversed(made):
        client.command(text)


NUMBERS = """CREATE PROCEDURE r_numbers(n INT) RETURNING INT AS i, VARCHAR(20) AS s;
    DEFINE i INT; FOR i = 1 TO n RETURN i, 'no ' || i WITH RESUME; END FOR; END PROCEDURE"""


def test_a_routine_is_described_as_what_it_returns(client: RawClient, create: Callable[[str], None]) -> None:
    create(NUMBERS)
    described = client.prepare("EXECUTE PROCEDURE r_numbers(?)", 1)
    assert described.statement_type == StatementType.EXECUTE_PROCEDURE
    assert [(c.name, c.type.sql) for c in described.columns] == [("i", "INTEGER"), ("s", "VARCHAR(20)")]
    reply = client.must(m.Id(described.statement_id), m.InputDescribeRequest())
    assert [t.sql for t in one(reply, InputDescribe).columns] == ["INTEGER"]


def test_the_rows_of_a_routine_are_fetched_as_those_of_a_query(
    client: RawClient, create: Callable[[str], None]
) -> None:
    create(NUMBERS)
    rows = client.select("EXECUTE PROCEDURE r_numbers(?)", 3)
    assert [row[:4] + row[5:] for row in rows] == [n.to_bytes(4, "big") + b"no %d" % n for n in (1, 2, 3)]
    assert client.select("EXECUTE PROCEDURE r_numbers(NULL)") == []
    assert len(client.select("EXECUTE PROCEDURE r_numbers(300)")) == 300
    statement = client.prepare("EXECUTE PROCEDURE r_numbers(2)").statement_id
    assert client.error(m.Id(statement), m.Execute()) == -260


def test_a_procedure_without_results_is_executed(client: RawClient, create: Callable[[str], None]) -> None:
    client.command("CREATE TABLE r_put (a INT, b VARCHAR(9))")
    try:
        create(
            "CREATE PROCEDURE r_insert(a INT, b VARCHAR(9)) INSERT INTO r_put VALUES (a, b); END PROCEDURE"
        )
        described = client.prepare("CALL r_insert(?, ?)", 2)
        assert (described.statement_type, described.columns) == (StatementType.EXECUTE_PROCEDURE, ())
        for n in range(3):
            client.must(m.Id(described.statement_id), client.bind(n, f"no {n}"), m.Execute())
        assert client.error(m.Id(described.statement_id), m.Open()) == -363
        assert client.error(m.Id(described.statement_id), client.bind(1), m.Execute()) == -254
        assert client.number("SELECT COUNT(*)::INT FROM r_put") == 3
    finally:
        client.command("DROP TABLE r_put")


def test_a_routine_that_is_not_there_fails_at_prepare_and_takes_no_id(client: RawClient) -> None:
    reply = client.ask(m.Prepare(0, "EXECUTE FUNCTION r_nowhere(1)"), m.NDescribe(), m.WantDone())
    error = one(reply, m.Err)
    assert (error.sqlcode, error.near) == (-674, "r_nowhere")
    assert client.prepare("SELECT FIRST 1 tabid FROM systables").statement_id == 0


def test_an_exception_reaches_the_client_with_its_codes_and_text(
    client: RawClient, create: Callable[[str], None]
) -> None:
    create("CREATE FUNCTION r_raise(n INT) RETURNING INT; RAISE EXCEPTION -746, n, 'no way'; END FUNCTION")
    statement = client.prepare("EXECUTE FUNCTION r_raise(?)", 1).statement_id
    reply = client.ask(m.Id(statement), m.CursorName("c"), client.bind(-7), m.Open())
    error = one(reply, m.Err)
    assert (error.sqlcode, error.isamcode, error.near) == (-746, -7, "no way")
    assert client.number("SELECT FIRST 1 1::INT FROM systables") == 1


def test_a_routine_that_ends_the_transaction_says_so(
    client: RawClient, create: Callable[[str], None]
) -> None:
    create("CREATE PROCEDURE r_begin() BEGIN WORK; END PROCEDURE")
    create("CREATE FUNCTION r_commit() RETURNING INT; COMMIT WORK; RETURN 5; END FUNCTION")
    statement = client.prepare("EXECUTE PROCEDURE r_begin()").statement_id
    began = one(client.must(m.Id(statement), m.Execute()), m.XactStat)
    held = client.prepare("SELECT FIRST 3 tabid FROM systables").statement_id
    client.open_cursor(held)
    commit = client.prepare("EXECUTE FUNCTION r_commit()").statement_id
    ended = one(client.must(m.Id(commit), m.CursorName("c"), m.Open()), m.XactStat)
    assert (began, ended) == (m.XactStat(2, 1, 0), m.XactStat(2, 0, 1))
    assert client.fetch(commit)[0] == [(5).to_bytes(4, "big")]
    assert client.error(m.Id(held), m.Fetch(4096)) == -259


def test_the_results_of_a_routine_can_be_scrolled(client: RawClient, create: Callable[[str], None]) -> None:
    create(NUMBERS)
    statement = client.prepare("EXECUTE PROCEDURE r_numbers(40)").statement_id
    client.must(m.Id(statement), m.CursorName("c"), m.Scroll(), m.Open())
    reply = client.must(m.Id(statement), m.ScrollFetch(6, 33, 4096))
    assert one(reply, m.Tuple).payload[:4] == (33).to_bytes(4, "big")


def test_the_urgent_byte_stops_a_routine_without_end(
    server: Server, client: RawClient, create: Callable[[str], None]
) -> None:
    begun = threading.Event()
    server.register("r_begun", begun.set)
    create(
        "CREATE PROCEDURE r_endless() DEFINE x INT; CALL r_begun(); LET x = 1; WHILE x = 1 LET x "
        "= 1; END WHILE; END PROCEDURE"
    )
    statement = client.prepare("EXECUTE PROCEDURE r_endless()").statement_id
    client.send(m.Id(statement), m.Execute(), m.EndOfTurn())
    assert begun.wait(60)
    client.socket.send(b"B", 1)  # MSG_OOB
    error = one(client.receive_group(), m.Err)
    assert (error.sqlcode, error.isamcode) == (-213, -157)
    assert client.number("SELECT FIRST 1 2::INT FROM systables") == 2


# ---- the fast path -----------------------------------------------------------------------------------------


def handle(client: RawClient, signature: str) -> int:
    return one(client.must(m.GetRoutine(signature)), m.RoutineHandle).handle


def call(client: RawClient, number: int, *arguments: object) -> tuple[BoundValue, ...]:
    bound = tuple(bind_value(a, client.framing.encoding) for a in arguments)
    reply = client.must(m.ExecuteRoutine("", number, len(bound)), m.Bind(bound))
    return one(reply, m.RoutineResult).values


def test_the_fast_path_finds_routines_by_signature_and_by_name(
    client: RawClient, create: Callable[[str], None]
) -> None:
    create("CREATE FUNCTION r_fast(a INT, b VARCHAR(9)) RETURNING INT; RETURN a + LENGTH(b); END FUNCTION")
    first = handle(client, "function informix.r_fast(integer, varchar(9))")
    assert call(client, first, 40, "ab") == (BoundValue(TypeCode.INTEGER, (42).to_bytes(4, "big"), 0x0A00),)
    by_name = handle(client, "function r_fast")
    assert by_name != first
    assert call(client, by_name, 1, "")[0].data == (1).to_bytes(4, "big")
    assert handle(client, "function informix.r_fast(integer, varchar(9))") == first
    (null,) = call(client, first, None, "x")
    assert (null.type, null.data) == (TypeCode.INTEGER, None)
    assert client.error(m.GetRoutine("function r_fast(int)")) == -674
    assert client.error(m.GetRoutine("function r_nowhere(int)")) == -674
    assert client.error(m.ExecuteRoutine("", first, 1), m.Bind((bind_value(1, "utf-8"),))) == -664
    assert client.error(m.ExecuteRoutine("", 99_999, 0), m.Bind(())) == -674


def test_the_fast_path_returns_each_type_and_an_error_as_such(
    client: RawClient, create: Callable[[str], None]
) -> None:
    create(
        "CREATE FUNCTION r_types(n INT) RETURNING DECIMAL(8,2), VARCHAR(9), DATE; "
        "IF n < 0 THEN RAISE EXCEPTION -746, 0, 'negative'; END IF "
        "RETURN n / 4, 'é', MDY(2, 29, 2020); END FUNCTION"
    )
    number = handle(client, "function r_types(int)")
    quarter, text, day = call(client, number, 5)
    assert (quarter.type, text.data, day.type) == (TypeCode.DECIMAL, b"\0\x02\xc3\xa9", TypeCode.DATE)
    assert client.error(m.ExecuteRoutine("", number, 1), m.Bind((bind_value(-1, "utf-8"),))) == -746


# ---- OUT parameters, message by message as JDBC sends them (tests/interop/jdbc/test_out_parameters.py) ------


SPLIT = """CREATE FUNCTION r_split(n INT, OUT half DECIMAL(8,2), INOUT word VARCHAR(9)) RETURNING INT, CHAR(3);
    IF n < 0 THEN RAISE EXCEPTION -746, 0, 'negative'; END IF
    IF n > 0 THEN LET half = n / 2; END IF LET word = word || 'é'; RETURN n + 1, 'odd'; END FUNCTION"""


def refused(client: RawClient, sql: str, nparams: int) -> str:
    """Return the routine that a PREPARE with error -9752 names."""
    reply = client.ask(m.Prepare(nparams, sql), m.NDescribe(), m.WantDone())
    error = one(reply, m.Err)
    assert error.sqlcode == -9752
    return error.near


def found(client: RawClient, token: str) -> m.RoutineHandle:
    database, number, rest = token.split(":")
    assert rest == ""
    return one(client.must(m.GetRoutine(database, int(number))), m.RoutineHandle)


def test_a_call_with_out_parameters_is_made_by_the_number_that_its_refusal_gives(
    client: RawClient, create: Callable[[str], None]
) -> None:
    create(SPLIT)
    token = refused(client, "EXECUTE FUNCTION r_split(?, ?, ?)", 3)
    assert refused(client, "EXECUTE FUNCTION r_split(word = 'x', half = ?, n = 1)", 1) == token
    routine = found(client, token)
    assert found(client, token) == routine

    def call_it(*arguments: object) -> list[m.Message]:
        bound = tuple(bind_value(a, "utf-8") for a in arguments)
        return client.must(
            m.ExecuteRoutine(routine.database, routine.handle, len(bound), 1),
            m.Bind(bound),
            m.WantParameters(),
        )

    def values(reply: list[m.Message]) -> list[tuple[int, object]]:
        return [(v.type, bound_to_python(v, "utf-8")) for v in one(reply, m.RoutineResult).values]

    with pytest.raises(Refused) as failed:
        call_it(-1, None, "")
    assert failed.value.sqlcode == -746
    said, result = call_it(5, None, "ab")
    outs = [(TypeCode.INTEGER, False), (TypeCode.DECIMAL, True), (TypeCode.VARCHAR, True)]
    assert said == m.RoutineParameters(
        (TypeCode.INTEGER, TypeCode.CHAR), tuple(starmap(m.RoutineParameter, outs))
    )
    assert values([result]) == [
        (TypeCode.DECIMAL, Decimal("2.50")),
        (TypeCode.CHAR, "abé"),
        (TypeCode.INTEGER, 6),
        (TypeCode.CHAR, "odd"),
    ]
    (again,) = call_it(0, 77, None)  # values of OUT are ignored, and parameters are described once
    assert [value for _, value in values([again])] == [None, None, 1, "odd"]
    assert found(client, token) == routine
    assert [type(message) for message in call_it(1, None, "")] == [m.RoutineParameters, m.RoutineResult]


def test_a_routine_is_found_by_its_number_where_it_is_and_as_long_as_it_is(client: RawClient) -> None:
    client.command("CREATE PROCEDURE r_gone(OUT a INT) LET a = 7; END PROCEDURE")
    database, number, _ = refused(client, "EXECUTE PROCEDURE r_gone(?)", 1).split(":")
    handle = found(client, f"{database}:{number}:").handle
    assert client.error(m.GetRoutine("nowhere", int(number))) == -329
    assert client.error(m.GetRoutine(database, 999_999)) == -674
    assert client.error(m.GetRoutine(database, 0)) == -674
    client.command("DROP PROCEDURE r_gone")
    assert client.error(m.GetRoutine(database, int(number))) == -674
    assert (
        client.error(m.ExecuteRoutine("", handle, 1, 1), m.Bind((m.NULL_VALUE,)), m.WantParameters()) == -674
    )


def test_a_question_about_a_routine_has_one_end_and_so_has_the_empty_group_behind_it(
    client: RawClient,
) -> None:
    question = m.RoutineQuestion("stores_demo", 77)
    end, number = m.EndOfTurn(), m.Prepare(0, "SELECT 1 FROM systables")
    for sent, groups in (
        ((question, end, end, number, end), 2),
        ((question, end, number, end, end), 3),
        ((question, end, question, end, end, end), 3),
    ):
        client.send(*sent)
        replies = client.receive_groups(groups)
        assert replies[0] == []
        assert client.number("SELECT FIRST 1 7::INT FROM systables") == 7  # no unread bytes are left


# ---- our own client ----------------------------------------------------------------------------------------


def test_a_routine_is_read_as_arrow(server: Server, create: Callable[[str], None]) -> None:
    create(NUMBERS)
    with informix_arrow.connect(server.url("stores_demo")) as conn:
        table = conn.read_arrow("EXECUTE PROCEDURE r_numbers(?)", (3,))
        assert table.to_pylist() == [{"i": n, "s": f"no {n}"} for n in (1, 2, 3)]
        assert conn.read_arrow("EXECUTE PROCEDURE r_numbers(NULL)").num_rows == 0
        cursor = conn.cursor()
        cursor.callproc("r_numbers", (2,))
        assert cursor.fetchall() == [(1, "no 1"), (2, "no 2")]


# ---- Python ------------------------------------------------------------------------------------------------


def test_callables_are_routines_of_every_database() -> None:
    with Server() as server:
        server.register(
            "price",
            lambda n: None if n is None else n * Decimal("1.19"),
            parameters=["DECIMAL(8,2)"],
            returns="DECIMAL(8,2)",
        )
        server.register(
            "pairs",
            lambda n: ((i, "x" * i) for i in range(n)),
            parameters=["INTEGER"],
            returns=["INTEGER", "VARCHAR(9)"],
        )
        for database in ("stores_demo", "sysmaster"):
            with informix_arrow.connect(server.url(database)) as conn:
                cursor = conn.cursor()
                cursor.execute("EXECUTE FUNCTION price(?)", (Decimal("10.00"),))
                assert cursor.fetchall() == [(Decimal("11.90"),)]
                cursor.execute(
                    "SELECT price(tabid), price(NULL::DECIMAL(8,2)) FROM systables WHERE tabid = 2"
                )
                assert cursor.fetchall() == [(Decimal("2.38"), None)]
                cursor.execute("EXECUTE PROCEDURE pairs(3)")
                assert cursor.fetchall() == [(0, ""), (1, "x"), (2, "xx")]


def test_what_a_callable_raises_reaches_the_client() -> None:
    def fail() -> None:
        raise RuntimeError("inside")

    server = Server()
    server.register("fails", fail)
    with server, informix_arrow.connect(server.url("stores_demo")) as conn, conn.cursor() as cursor:
        with pytest.raises(informix_arrow.Error) as caught:
            cursor.execute("EXECUTE PROCEDURE fails()")
        assert (caught.value.sqlcode, caught.value.near) == (-746, "fails: inside")
        cursor.execute("SELECT FIRST 1 tabid FROM systables ORDER BY tabid")
        assert cursor.fetchall() == [(1,)]


def test_an_error_that_sq_err_cannot_carry_does_not_end_the_session() -> None:
    def fail(code: int, isam: int) -> None:
        raise SqlError(code, isam, 2**40, "raised")

    server = Server()
    server.register("fails", fail, parameters=["INTEGER", "INTEGER"])
    with server, informix_arrow.connect(server.url("stores_demo")) as conn, conn.cursor() as cursor:
        for code, isam, told in (
            (0, 1, -999),
            (-937, 2, -999),
            (70000, 3, -999),
            (-746, 99999, -999),
            (-746, 5, -746),
        ):
            with pytest.raises(informix_arrow.Error) as caught:
                cursor.execute("EXECUTE PROCEDURE fails(?, ?)", (code, isam))
            assert caught.value.sqlcode == told
            assert "raised" in (caught.value.near or "")
            cursor.execute("SELECT FIRST 1 tabid FROM systables ORDER BY tabid")
            assert cursor.fetchall() == [(1,)]


# ---- a directory -------------------------------------------------------------------------------------------


def test_routines_are_kept_in_a_directory(tmp_path: object) -> None:
    for run in range(2):
        with Server(directory=str(tmp_path)) as server, RawClient(server, "stores_demo") as client:
            if run == 0:
                client.command("CREATE FUNCTION r_kept(n INT) RETURNING INT; RETURN n + 1; END FUNCTION")
            assert client.number("EXECUTE FUNCTION r_kept(41)") == 42
            client.command(f"CREATE FUNCTION r_other{run}() RETURNING INT; RETURN {run}; END FUNCTION")
            assert client.number("SELECT COUNT(DISTINCT procid)::INT FROM sysprocedures") == 2 + run
