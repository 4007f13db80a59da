"""From an SQLCODE to an exception that helps (SQLI section 10, SERVER-BEHAVIOUR section 1)."""

from __future__ import annotations

import pytest

from informix_arrow.wire import errors as e
from informix_arrow.wire.error_catalogue import ERRORS


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


def test_an_error_tells_cause_codes_advice_and_place() -> None:
    error = e.database_error(-206, -111, 18, "nosuch", "SELECT a,\n  b FROM nosuch")
    assert isinstance(error, e.ProgrammingError)
    assert str(error).splitlines() == [
        "The table 'nosuch' does not exist in this database (SQLCODE -206, ISAM -111: no record found)",
        "Check spelling, owner (owner.table) and the current database; unquoted names are lower-case.",
        "    b FROM nosuch",
        "         ^",
    ]
    assert (error.sqlcode, error.isamcode, error.offset, error.near) == (-206, -111, 18, "nosuch")
    assert (error.sqlstate, error.statement) == ("42000", "SELECT a,\n  b FROM nosuch")
    assert (error.row, error.column) == (None, None)


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
        (-213, e.OperationalError), (-244, e.OperationalError), (-329, e.OperationalError),
        (-951, e.OperationalError), (-1213, e.DataError), (-1226, e.DataError), (-415, e.DataError),
        (-259, e.ProgrammingError), (-408, e.InternalError), (-999, e.NotSupportedError),
    ],
)  # fmt: skip
def test_a_code_has_its_class(code: int, cls: type[e.Error]) -> None:
    assert type(e.database_error(code)) is cls


@pytest.mark.parametrize("code", ERRORS)
def test_every_text_reads_well_with_and_without_a_token(code: int) -> None:
    for near in ("", "thing"):
        first = str(e.database_error(code, near=near)).splitlines()[0]
        assert "{near}" not in first
        assert "''" not in first
        assert "()" not in first
        assert "  " not in first
        assert f"(SQLCODE {code})" in first


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
    assert "record is locked" in str(e.database_error(-244, -107))
