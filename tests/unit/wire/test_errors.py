"""Exceptions with helpful texts for SQLCODEs (SQLI section 10, SERVER-BEHAVIOUR section 1)."""

from __future__ import annotations

import pickle
import re
import unicodedata
from pathlib import Path

import pytest
from tests.cases import parametrize_in_one_test

from informix_arrow.dsn.parameters import ISOLATIONS
from informix_arrow.wire import errors as e
from informix_arrow.wire.error_catalogue import ERRORS, ISAM, ISAM_ADVICE, TABLES, read


def test_the_exceptions_form_the_tree_of_pep_249() -> None:
    assert issubclass(e.Error, Exception)
    assert not issubclass(e.Warning, e.Error)
    assert e.InterfaceError.__bases__ == e.DatabaseError.__bases__ == (e.Error,)
    for cls in (
        e.DataError, e.OperationalError, e.IntegrityError, e.InternalError, e.ProgrammingError,
        e.NotSupportedError,
    ):  # fmt: skip
        assert cls.__bases__ == (e.DatabaseError,)
    assert issubclass(e.ProtocolError, e.OperationalError)


def test_an_error_reports_cause_codes_advice_and_place() -> None:
    error = e.database_error(-206, -111, 18, "nosuch", "SELECT a,\n  b FROM nosuch")
    assert isinstance(error, e.ProgrammingError)
    assert str(error).splitlines() == [
        "The table 'nosuch' does not exist in this database (SQLCODE -206, ISAM -111: no record found).",
        "Check the spelling, the owner (owner.table) and the current database. Unquoted names are lower case.",
        "    b FROM nosuch",
        "         ^",
    ]
    assert (error.sqlcode, error.isamcode, error.offset, error.near) == (-206, -111, 18, "nosuch")
    assert (error.sqlstate, error.statement) == ("42000", "SELECT a,\n  b FROM nosuch")
    assert (error.row, error.column) == (None, None)


def test_what_is_to_be_tried_again_is_transient() -> None:
    """The text of the advice and the attribute for programs agree."""
    again = {code for code in ERRORS if "try again" in e.error_info(code).advice.lower()}
    for code in again | {-702, -705}:
        assert e.database_error(code).transient, code
    lower = {code for code, advice in ISAM_ADVICE.items() if "try again" in advice.lower()}
    assert {-861} <= again
    assert {-106} <= lower
    for code in lower | {-190}:
        assert e.database_error(-242, code).transient, code
        assert not e.database_error(-242, -111).transient


@pytest.mark.parametrize("offset", [1, 5, 12, 99])
def test_the_caret_stands_under_the_place_or_at_the_end(offset: int) -> None:
    statement = "selectt a, b"
    *_, line, caret = str(e.database_error(-201, 0, offset, "", statement)).splitlines()
    assert line == "  " + statement
    assert caret.index("^") - 2 == min(offset, len(statement)) - 1


def test_a_long_line_is_cut_around_the_place() -> None:
    statement = "select " + "a" * 500 + " frmo t"
    *_, line, caret = str(e.database_error(-201, 0, 509, "", statement)).splitlines()
    assert len(line) <= 102
    assert line[caret.index("^") :].startswith("frmo")


def under_the_caret(error: e.Error) -> str:
    """Return the character of the quoted line above the caret, counted in the cells of a terminal."""
    *_, line, caret = str(error).splitlines()
    cells = [
        ch
        for ch in line
        for _ in range(
            0 if unicodedata.combining(ch) else 2 if unicodedata.east_asian_width(ch) in "WF" else 1
        )
    ]
    return cells[caret.index("^")]


@pytest.mark.parametrize(
    "statement",
    [
        "select a,\n\tb,\n\t\tc from!t",
        "select a\r\nfrom!t\r\nwhere 1 = 1",
        "select 'Zürich' from!t",
        "select '東京都' from!t",
        "select 'e\u0301e\u0301' from!t",
        "-- ein Kommentar: 東京\nselect\t'ü\t東' from!t\n",
        "select '" + "東" * 150 + "' from!t",
    ],
)
def test_the_caret_finds_its_place_behind_tabs_lines_and_wide_characters(statement: str) -> None:
    error = e.database_error(-201, 0, statement.index("!") + 1, "", statement)
    assert under_the_caret(error) == "!"
    assert "\t" not in str(error)


def test_an_offset_of_nothing_shows_no_caret() -> None:
    assert "^" not in str(e.database_error(-206, -111, 0, "nosuch", "SELECT a FROM nosuch"))


@pytest.mark.parametrize("statement", ["", None, "\n", "a\n"])
@pytest.mark.parametrize("offset", [0, 1, 2, 3])
def test_any_position_in_any_statement_makes_an_error(statement: str | None, offset: int) -> None:
    assert e.database_error(-201, 0, offset, "", statement).sqlcode == -201


@pytest.mark.parametrize(
    ("code", "cls"),
    [
        (-239, e.IntegrityError), (-268, e.IntegrityError), (-391, e.IntegrityError),
        (-530, e.IntegrityError), (-691, e.IntegrityError), (-692, e.IntegrityError),
        (-201, e.ProgrammingError), (-217, e.ProgrammingError), (-310, e.ProgrammingError),
        (-213, e.QueryCanceled), (-291, e.OperationalError), (-244, e.OperationalError), (-329, e.OperationalError),
        (-951, e.OperationalError), (-1213, e.DataError), (-1226, e.DataError), (-415, e.DataError),
        (-259, e.ProgrammingError), (-408, e.InternalError), (-999, e.NotSupportedError),
    ],
)  # fmt: skip
def test_a_code_has_its_class(code: int, cls: type[e.Error]) -> None:
    assert type(e.database_error(code)) is cls


@parametrize_in_one_test("code", ERRORS)
def test_every_text_reads_well_with_and_without_a_token(code: int) -> None:
    for near in ("", "thing"):
        first = str(e.database_error(code, near=near)).splitlines()[0]
        assert "{near}" not in first
        assert "''" not in first
        assert "()" not in first
        assert "  " not in first
        assert f"(SQLCODE {code})" in first


@parametrize_in_one_test("code", ERRORS)
def test_every_text_is_one_sentence_without_its_full_stop_and_the_advice_one_line(code: int) -> None:
    kind, state, text, advice = ERRORS[code]
    assert e.error_info(code).error_class is not e.Error
    assert kind in e._CLASSES
    assert state == "" or (len(state) == 5 and state.isalnum())
    assert text
    assert text[0].isupper()
    assert not text.endswith(".")
    assert advice == "" or (advice[0].isupper() and advice.rstrip(")`").endswith((".", "END.")))
    assert "\n" not in text + advice


def test_no_code_is_in_two_tables_and_every_table_has_a_title() -> None:
    codes = [code for _, table in TABLES for code in read(table)]
    assert len(codes) == len(set(codes)) == len(ERRORS) > 300
    assert all(title.endswith(".") for title, _ in TABLES)


def test_the_modules_of_the_catalogue_are_all_read() -> None:
    folder = Path(e.__file__).parent / "error_catalogue"
    assert len(list(folder.glob("*.py"))) == len(TABLES) + len(("__init__", "isam"))


def test_a_code_that_stands_twice_in_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="-201"):
        read("-201 programming\n    A text\n-201 data\n    Another\n")


@parametrize_in_one_test("isam", ISAM)
@parametrize_in_one_test("code", [-244, -206, -239, -346, -999])
def test_every_isam_code_renders(code: int, isam: int) -> None:
    lines = str(e.database_error(code, isam, near="thing")).splitlines()
    assert f"ISAM {isam}: {ISAM[isam]})" in lines[0]
    assert len(lines) <= 2


@pytest.mark.parametrize("code", [-240, -243, -244, -245, -246, -250, -263, -271, -346])
def test_the_isam_code_distinguishes_duplicates_from_locks(code: int) -> None:
    duplicate = e.database_error(code, -100)
    assert type(duplicate) is e.IntegrityError
    assert duplicate.sqlstate == "23000"
    for lock in (-107, -113, -134, -143, -144, -154):
        error = e.database_error(code, lock, near="orders")
        assert type(error) is e.OperationalError
        assert str(error).splitlines()[1] == ISAM_ADVICE[lock]
    assert type(e.database_error(code, -131)) is e.OperationalError


def test_a_deadlock_says_to_run_the_transaction_again_and_a_timeout_how_to_wait_longer() -> None:
    assert "run the transaction again" in str(e.database_error(-244, -143))
    assert "Wait longer" in str(e.database_error(-244, -154))
    assert "LOCK MODE TO WAIT" in str(e.database_error(-243, -107))


def test_the_isolation_levels_in_an_advice_are_those_that_connect_takes() -> None:
    (levels,) = re.findall(r"isolation=('.*?') or isolation=('.*?')", ISAM_ADVICE[-154])
    assert {level.strip("'") for level in levels} <= set(ISOLATIONS)


def test_a_database_whose_name_is_taken_is_no_duplicate_row() -> None:
    error = e.database_error(-330, -100, near="stores")
    assert type(error) is e.OperationalError
    assert "name is in use" in str(error)


def test_the_isam_code_is_not_pointed_to_where_there_is_none() -> None:
    assert "ISAM" not in str(e.database_error(-240))[len("A row could not be deleted") :].replace(
        "See the ISAM code: it may be locked.", ""
    )
    assert str(e.database_error(-604)).splitlines() == ["A large object could not be read (SQLCODE -604)."]
    assert "See the ISAM code." in str(e.database_error(-604, -163))


@pytest.mark.parametrize(
    "statement",
    [
        "set encryption password 's3cret' with hint 'colour'",
        'SET ENCRYPTION PASSWORD "s3cret"',
        "create user ann with password 's3cret' properties user daemon",
        "connect to 'stores' user 'ann' using 's3cret'",
        "insert into t values (encrypt_aes('x', 's3cret'))",
        "select decrypt_char(c, 's3cret') from t",
        "select encrypt_tdes ( (a || b), 's3cret' ) from t",
        "set encryption password 'it''s3cret'",
        "set encryption password /* of today */ 's3cret'",
        "set encryption password -- 'no'\n\t's3cret' with hint 'colour'",
        "set encryption {old} password{'}'s3cret'",
        "insert into t values (encrypt_aes /* ( */ ('x) -- ', {'} 's3cret'), 1)",
        "-- set encryption password 's3cret'\nselect decrypt_binary(c, f(1), 's3cret') from t",
        "set encryption password 's3cret",
    ],
)
def test_passwords_in_a_statement_are_not_shown(statement: str) -> None:
    error = e.database_error(-201, 0, statement.index("s3cret") + 1, "", statement)
    shown = f"{error} {error!r} {error.statement} {error.__dict__}"
    assert "s3cret" not in shown
    assert len(error.statement or "") == len(statement)


def test_other_text_of_a_statement_is_shown_as_it_is() -> None:
    statement = "select pass, word from users join u using (id) where name = 'ann' and using = 'b'"
    assert e.database_error(-201, 0, 8, "", statement).statement == statement


def test_an_error_survives_pickling_with_all_it_reports() -> None:
    error = e.database_error(-268, -100, 3, "u100_1", "insert into t values (1)")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is e.IntegrityError
    assert (str(again), again.__dict__) == (str(error), error.__dict__)


@pytest.mark.parametrize(
    ("code", "cls"),
    [
        (-299, e.ProgrammingError),
        (-1299, e.DataError),
        (-25999, e.OperationalError),
        (-777777, e.DatabaseError),
        (5, e.DatabaseError),
    ],
)
def test_an_unknown_code_still_gets_a_text_by_its_range(code: int, cls: type[e.Error]) -> None:
    info = e.error_info(code)
    assert info.error_class is cls
    assert str(code) in info.advice


def test_an_isam_code_without_a_known_meaning_is_shown_as_a_number() -> None:
    assert "ISAM -9999)" in str(e.database_error(-244, -9999))
    assert "LOCK MODE" in str(e.database_error(-244, -9999))
    assert "record is locked" in str(e.database_error(-244, -107))


def test_passwords_are_hidden_in_whatever_error_quotes_a_statement() -> None:
    error = e.ProgrammingError("no rows", statement="SET ENCRYPTION /* */ PASSWORD /* */ 's3cret'")
    assert error.statement == "SET ENCRYPTION /***/ PASSWORD /***/ '******'"
    error.statement = "SELECT DECRYPT_CHAR(c, 's3cret') FROM t WHERE d = 'shown'"
    assert error.statement == "SELECT DECRYPT_CHAR(c, '******') FROM t WHERE d = '*****'"
    assert "s3cret" not in repr(error.__dict__)
    long = "-" * 100_000 + "/*{" * 100_000 + " password 's3cret'"
    assert "s3cret" not in (e.ProgrammingError("", statement=long).statement or "")
