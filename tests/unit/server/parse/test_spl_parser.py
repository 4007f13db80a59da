"""The text of a routine: how it is parsed, and what is refused when the routine is created."""

from __future__ import annotations

from typing import TypeVar, cast

import pytest

from informix_arrow.server.errors import SqlError
from informix_arrow.server.parse.classify import classify
from informix_arrow.server.parse.spl import nodes as n
from informix_arrow.server.parse.spl.parser import parse_routine
from informix_arrow.server.parse.spl.routine_checks import check_routine
from informix_arrow.wire.types import ColumnType

S = TypeVar("S")


def routine(body: str, header: str = "p()", kind: str = "PROCEDURE") -> n.Routine:
    return check_routine(
        parse_routine(f"CREATE {kind} {header} {body} END {kind}", delimident=False), delimident=False
    )


def only(body: str, kind: type[S]) -> S:
    """Return the only statement of a body."""
    (statement,) = routine(body, "p(a INT, b INT, s VARCHAR(20)) RETURNING INT").body.statements
    assert isinstance(statement, kind)
    return cast("S", statement)


def refused(text: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        classify(text, delimident=False)
    return caught.value


def code(body: str, header: str = "p(a INT)") -> int:
    return refused(f"CREATE PROCEDURE {header} {body} END PROCEDURE").sqlcode


# ---- headers ---------------------------------------------------------------------------------------------


def test_a_whole_header() -> None:
    text = """create dba function if not exists informix.total(
        a int, b like orders.amount, c varchar(10) default 'x', d date default today, inout e int, out f char(3))
        returning decimal(8,2) as sum, varchar(20) as name
        specific total_1
        with (not variant, handlesnulls);
        return 1, 'x';
        end function
        document 'Adds', 'things up.'
        with listing in '/tmp/listing';"""
    found = parse_routine(text, delimident=False)
    assert (found.kind, found.name, found.dba, found.if_not_exists) == ("FUNCTION", "total", True, True)
    assert [(p.name, p.mode) for p in found.parameters] == [
        ("a", ""), ("b", ""), ("c", ""), ("d", ""), ("e", "INOUT"), ("f", "OUT"),
    ]  # fmt: skip
    assert found.parameters[1].type == n.Like("orders", "amount")
    assert [p.default for p in found.parameters[2:4]] == [("L", "x"), ("T", "")]
    assert found.returns == (("sum", ColumnType.decimal(8, 2)), ("name", ColumnType.varchar(20)))
    assert found.specific == "total_1"
    assert found.modifiers == ("not variant", "handlesnulls")
    assert found.document == "Adds\nthings up."
    assert found.text == text


@pytest.mark.parametrize(
    "header", ["p() RETURNING INT;", "p() RETURNING INT", "p() RETURNS INT;", "p() RETURNS (INT)"]
)
def test_the_ways_to_say_what_is_returned(header: str) -> None:
    assert routine("RETURN 1;", header).returns == (("(expression)", ColumnType.integer()),)


def test_the_kind_at_the_end_is_that_of_the_beginning() -> None:
    assert refused("CREATE FUNCTION f() RETURNING INT; RETURN 1; END PROCEDURE").sqlcode == -201


# ---- statements ------------------------------------------------------------------------------------------


def test_declarations() -> None:
    body = routine(
        "DEFINE a, b INT; DEFINE c CHAR(3), d LIKE t.x; DEFINE GLOBAL g INT DEFAULT 5; LET a = 1;"
    ).body
    assert [(d.names, d.is_global) for d in body.defines] == [
        (("a", "b"), False), (("c",), False), (("d",), False), (("g",), True),
    ]  # fmt: skip
    assert body.defines[1].type == ColumnType.char(3)
    assert body.defines[2].type == n.Like("t", "x")
    assert body.defines[3].default == ("L", "5")


def test_statements_need_no_semicolon_behind_their_end() -> None:
    body = routine("IF 1 = 1 THEN LET a = 1; END IF FOR a = 1 TO 2 LET b = 1; END FOR BEGIN END LET a = 2",
                   "p(a INT, b INT)").body  # fmt: skip
    assert [type(s) for s in body.statements] == [n.If, n.For, n.StatementBlock, n.Let]


def test_an_if_with_all_its_arms() -> None:
    found = only(
        "IF a = 1 THEN LET b = 1; ELIF a IN (2, 3) THEN LET b = 2; ELSE IF b = 1 THEN LET b = 0; END IF END IF",
        n.If,
    )
    assert [condition.sql for condition, _ in found.arms] == ["a = 1", "a IN (2, 3)"]
    assert found.otherwise is not None
    assert isinstance(found.otherwise.statements[0], n.If)


def test_the_case_of_an_expression_is_not_the_case_statement() -> None:
    found = only("LET b = CASE WHEN a = 1 THEN CASE b WHEN 1 THEN 2 ELSE 3 END ELSE 4 END;", n.Let)
    assert found.values.sql.startswith("CASE WHEN")
    assert found.values.sql.endswith("ELSE 4 END")
    statement = only("CASE a WHEN 1 THEN LET b = 1; WHEN 2 THEN LET b = 2; ELSE LET b = 3; END CASE;", n.Case)
    assert statement.operand is not None
    assert (statement.operand.sql, len(statement.arms)) == ("a", 2)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("WHILE a < 10 LET a = a + 1; END WHILE", "a < 10"),
        ("WHILE a < 10 AND s IS NOT NULL INSERT INTO t VALUES (1); END WHILE", "a < 10 AND s IS NOT NULL"),
        ("WHILE (a < b) CASE a WHEN 1 THEN LET a = 5; END CASE END WHILE", "(a < b)"),
        ((
            "WHILE a = CASE WHEN b = 1 THEN 1 END IF b = 1 THEN LET b = 2; END IF END WHILE"
        ), "a = CASE WHEN b = 1 THEN 1 END"),
        ("WHILE s = 'let' LOOP LET a = 1; END LOOP", "s = 'let'"),
        ((
            "WHILE EXISTS (SELECT 1 FROM t WHERE x = a) SELECT x INTO a FROM t; END WHILE"
        ), "EXISTS (SELECT 1 FROM t WHERE x = a)"),
    ],
)  # fmt: skip
def test_the_condition_of_a_loop_ends_where_a_statement_begins(text: str, condition: str) -> None:
    found = only(text, n.While)
    assert found.condition is not None
    assert found.condition.sql == condition
    assert len(found.body.statements) == 1


def test_the_ranges_of_for() -> None:
    (part,) = only("FOR a = 1 TO b + 2 STEP -1 LET b = 1; END FOR", n.For).ranges
    assert part.stop is not None
    assert part.step is not None
    assert (part.start.sql, part.stop.sql, part.step.sql) == ("1", "b + 2", "-1")
    found = only("FOR a IN (1 TO 10 STEP 2, 15, b TO 30) LET b = 1; END FOR", n.For)
    assert [(p.start.sql, p.stop and p.stop.sql) for p in found.ranges] == [
        ("1", "10"),
        ("15", None),
        ("b", "30"),
    ]


@pytest.mark.parametrize(
    ("text", "query", "into", "cursor", "hold"),
    [
        ("SELECT x INTO a FROM t", "SELECT x        FROM t", ("a",), "", False),
        ("SELECT x, (SELECT 1 FROM u) INTO a, b FROM t ORDER BY 1 FOR UPDATE",
         "SELECT x, (SELECT 1 FROM u)           FROM t ORDER BY 1 FOR UPDATE", ("a", "b"), "", False),
        ((
            "c1 FOR SELECT x INTO a FROM t WHERE y = 'end'"
        ), "SELECT x        FROM t WHERE y = 'end'", ("a",), "c1", False),
        ("c1 WITH HOLD FOR SELECT x INTO a FROM t", "SELECT x        FROM t", ("a",), "c1", True),
        ("SELECT x INTO a FROM t UNION ALL SELECT y FROM u", "SELECT x        FROM t UNION ALL SELECT y FROM u",
         ("a",), "", False),
    ],
)  # fmt: skip
def test_the_query_of_foreach(text: str, query: str, into: tuple[str, ...], cursor: str, hold: bool) -> None:
    found = only(f"FOREACH {text} LET b = 1; END FOREACH;", n.Foreach)
    source = found.source
    assert isinstance(source, n.SelectInto)
    assert (source.text.sql, source.into, source.cursor, source.with_hold) == (query, into, cursor, hold)
    assert len(found.body.statements) == 1


def test_foreach_over_a_routine() -> None:
    source = only("FOREACH EXECUTE FUNCTION f(a, g(1)) INTO b LET a = b; END FOREACH", n.Foreach).source
    assert isinstance(source, n.CallStatement)
    assert (source.name, source.arguments.sql, source.into) == ("f", "a, g(1)", ("b",))


def test_the_ways_to_leave_a_loop() -> None:
    body = routine("LOOP EXIT; EXIT LOOP WHEN a = 1; CONTINUE FOR; EXIT FOREACH END LOOP").body
    (loop,) = body.statements
    assert isinstance(loop, n.While)
    assert loop.condition is None
    leaves = [s for s in loop.body.statements if isinstance(s, n.LoopControl)]
    assert [(s.verb, s.kind, s.when and s.when.sql) for s in leaves] == [
        ("EXIT", "", None), ("EXIT", "LOOP", "a = 1"), ("CONTINUE", "FOR", None), ("EXIT", "FOREACH", None),
    ]  # fmt: skip


def test_a_handler() -> None:
    body = routine("ON EXCEPTION IN (-206, 100) SET a, b, s LET a = 1; END EXCEPTION WITH RESUME; LET b = 1;",
                   "p(a INT, b INT, s CHAR(9))").body  # fmt: skip
    (handler,) = body.handlers
    assert (handler.codes, handler.into, handler.resume) == ((-206, 100), ("a", "b", "s"), True)
    assert len(handler.body.statements) == 1


def test_return_and_call() -> None:
    assert only("RETURN a + 1 WITH RESUME", n.Return).resume
    found = only("RETURN", n.Return)
    assert (found.values, found.resume) == (None, False)
    call = only("CALL f(a, 'x;y') RETURNING a, b", n.CallStatement)
    assert (call.arguments.sql, call.into) == ("a, 'x;y'", ("a", "b"))
    call = only("EXECUTE PROCEDURE informix.f() INTO a;", n.CallStatement)
    assert (call.name, call.arguments.sql, call.into) == ("f", "", ("a",))


def test_trace_and_debug_do_nothing() -> None:
    body = routine(
        "SET DEBUG FILE TO '/tmp/x'; TRACE ON; TRACE 'a' || 'b'; LET a = 1; TRACE OFF;", "p(a INT)"
    ).body
    assert [type(s) for s in body.statements] == [n.Let]


def test_comments_of_all_kinds_and_words_in_texts() -> None:
    found = only("LET s = 'END PROCEDURE; -- {' {END} || \"x\" -- END\n || 'y'; /* END */", n.Let)
    assert found.targets == ("s",)


# ---- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("SYSTEM 'ls';", "SYSTEM"),
        ("DECLARE c SCROLL CURSOR FOR s;", "scroll"),
        ("DEFINE x REFERENCES TEXT; LET a = 1;", "REFERENCES"),
        ("DEFINE x TEXT; LET a = 1;", "BYTE and TEXT"),
        ("DEFINE f PROCEDURE; LET a = 1;", "PROCEDURE"),
        ("LET a.b = 'x';", "part of a variable"),
        ("ROLLBACK WORK TO SAVEPOINT x;", "savepoints"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(body: str, name: str) -> None:
    problem = refused(f"CREATE PROCEDURE p(a INT) {body} END PROCEDURE")
    assert name in problem.detail
    assert "not supported by this server" in problem.detail
    assert problem.sqlcode in (-201, -668)


@pytest.mark.parametrize(
    "body",
    [
        "GOTO here;",
        "BEGIN <<here>> LET a = 1; END GOTO here;",
        "<<here>> LET a = 1; <<here>> LET a = 2;",
        "<<here>> LOOP EXIT there WHEN a = 1; END LOOP here;",
        "<<here>> LOOP EXIT; END LOOP here; LOOP EXIT here; END LOOP",
        "<<here>> LOOP CONTINUE here; END LOOP",
        "<<here>> LOOP EXIT; END LOOP there;",
        "<<here> LET a = 1;",
    ],
)
def test_labels_that_are_not_there(body: str) -> None:
    assert refused(f"CREATE PROCEDURE p(a INT) {body} END PROCEDURE").sqlcode == -201


@pytest.mark.parametrize(
    "text",
    [
        "CREATE FUNCTION f(a INT) RETURNING INT EXTERNAL NAME 'x' LANGUAGE C",
        "CREATE PROCEDURE FROM 'file'",
        "CREATE FUNCTION f() RETURNING SET(INT NOT NULL); RETURN NULL; END FUNCTION",
    ],
)
def test_kinds_of_routines_that_are_not_supported(text: str) -> None:
    assert "not supported" in refused(text).detail or refused(text).sqlcode == -201


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("LET nowhere = 1;", -667),
        ("SELECT 1 INTO nowhere FROM t;", -667),
        ("DEFINE x INT; DEFINE x CHAR(3); LET a = 1;", -669),
        ("FOR a = 1 TO 3 LET a = 2; END FOR", -660),
        ("FOR a = 1 TO 3 BEGIN DEFINE a INT; LET a = 2; END END FOR LET a = 1;", 0),
        ("RETURN 1;", -656),
        ("SELECT x FROM t;", -659),
        ("CREATE PROCEDURE q() END PROCEDURE;", -657),
        ("DATABASE other;", -675),
        ("CREATE DATABASE other;", -675),
        ("UPDATE STATISTICS;", -675),
        ("DEFINE x SERIAL; LET a = 1;", -670),
        ("DEFINE x INT DEFAULT 1; LET a = 1;", -652),
        ("DEFINE GLOBAL x INT; LET a = 1;", -658),
        ("DEFINE GLOBAL x LIKE t.a DEFAULT 1; LET a = 1;", -653),
        ("LET a = 1; DEFINE x INT;", -201),
        ("LET a = 1; ON EXCEPTION END EXCEPTION", -201),
        ("LET a = ;", -201),
        ("IF a = 1 LET a = 2; END IF", -201),
        ("INSERT INTO t VALUES (1;", -201),
        ("FOREACH SELECT 1 FROM t LET a = 1; END FOREACH", -201),
        ("WHILE a = 1 LET a = 2; END FOR", -201),
        ("a = 1;", -201),
    ],
)
def test_mistakes_that_are_seen_when_a_routine_is_created(body: str, expected: int) -> None:
    if expected:
        assert code(body) == expected
    else:
        assert routine(body, "p(a INT)").body.statements


def test_a_syntax_error_has_its_place_in_the_whole_text() -> None:
    text = "CREATE PROCEDURE p(a INT)\n LET a = 1;\n INSERT INTO t VALUES ((1);\nEND PROCEDURE"
    problem = refused(text)
    assert problem.sqlcode == -201
    assert text.index("INSERT") < problem.offset <= len(text)
    text = "CREATE PROCEDURE p(a INT) LET a = 1 LET a = 2; END PROCEDURE"
    assert refused(text).offset > text.index("1")


def test_a_routine_that_does_not_end_is_a_syntax_error() -> None:
    for text in (
        "CREATE PROCEDURE p()",
        "CREATE PROCEDURE p() LET",
        "CREATE PROCEDURE p() IF 1 = 1 THEN",
        "CREATE FUNCTION",
    ):
        assert refused(text).sqlcode == -201


# ---- statements that clients send ----------------------------------------------------------------------------------


def test_calls_by_a_client() -> None:
    for text in ("EXECUTE FUNCTION f(1, ?)", "execute procedure informix.f (1, ?);", "CALL f(1, ?)"):
        kind, found = classify(text, delimident=False)
        assert kind == 56
        assert isinstance(found, n.ExecuteRoutine)
        assert (found.name, found.arguments) == ("f", "1, ?")
        assert text[found.start :].startswith("1, ?")
    for text in ("EXECUTE FUNCTION f", "EXECUTE f()", "CALL f() RETURNING x"):
        assert refused(text).sqlcode == -201


def test_drops() -> None:
    assert classify("DROP FUNCTION f", delimident=False) == (
        54,
        n.DropRoutine("FUNCTION", "f", None, False, False),
    )
    _, found = classify("DROP ROUTINE IF EXISTS informix.f(INT, CHAR(3));", delimident=False)
    assert found == n.DropRoutine("ROUTINE", "f", (ColumnType.integer(), ColumnType.char(3)), False, True)
    _, found = classify("DROP SPECIFIC PROCEDURE f", delimident=False)
    assert found == n.DropRoutine("PROCEDURE", "f", None, True, False)
