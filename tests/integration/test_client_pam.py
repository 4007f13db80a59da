"""Logging in to a server that asks questions first, as PAM does (SQLI section 18)."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

QUESTIONS = {
    "ann": [("Passwörter von heute:", False, None), ("Password: ", True, "s3cret"), ("Code: ", False, "")],
    "bob": [("Color: ", False, "grün")],
    "cid": [("welcome", False, None)],
}


@pytest.fixture(scope="module")
def pam_server() -> Iterator[Server]:
    with Server(pam=QUESTIONS) as server:
        yield server


def test_questions_are_answered_by_a_function(pam_server: Server) -> None:
    asked: list[tuple[str, bool]] = []

    def answer(prompt: str, echo: bool) -> str:
        asked.append((prompt, echo))
        return "" if prompt == "Code: " else "s3cret"

    with ifx.connect(pam_server.url("stores_demo"), user="ann", password="", pam=answer) as conn:
        assert asked == [("Passwörter von heute:\nPassword: ", False), ("Code: ", True)]
        assert conn.read_arrow("SELECT 12345 n FROM systables WHERE tabid = 1")["n"].to_pylist() == [12345]


def test_whoever_has_no_questions_is_not_asked(pam_server: Server) -> None:
    def answer(prompt: str, echo: bool) -> str:
        raise AssertionError(prompt)

    for user, password in (("informix", "in4mix"), ("cid", "")):
        with ifx.connect(pam_server.url("stores_demo"), user=user, password=password, pam=answer) as conn:
            conn.ping()


def test_a_wrong_answer_is_refused_and_not_shown(pam_server: Server) -> None:
    with pytest.raises(ifx.OperationalError, match="PAM") as caught:
        ifx.connect(pam_server.url("stores_demo"), user="bob", pam=lambda prompt, echo: "wr0ng")
    assert "wr0ng" not in str(caught.value)


def test_a_question_without_a_function_says_what_to_do(pam_server: Server) -> None:
    with pytest.raises(ifx.OperationalError, match=r"'Color:'.*pam=function"):
        ifx.connect(pam_server.url("stores_demo"), user="bob")


def test_what_the_function_raises_passes_through(pam_server: Server) -> None:
    class Tired(Exception):
        pass

    def answer(prompt: str, echo: bool) -> str:
        raise Tired

    with pytest.raises(Tired):
        ifx.connect(pam_server.url("stores_demo"), user="bob", pam=answer)


def test_an_answer_must_be_text(pam_server: Server) -> None:
    with pytest.raises(ifx.InterfaceError, match="text, got bytes"):
        ifx.connect(pam_server.url("stores_demo"), user="bob", pam=lambda prompt, echo: b"gr\xc3\xbcn")
    with pytest.raises(ifx.InterfaceError, match="function"):
        ifx.connect(pam_server.url("stores_demo"), user="bob", pam="grün")


def test_answers_are_sent_in_the_code_set_of_the_login(pam_server: Server) -> None:
    with ifx.connect(
        pam_server.url("stores_demo"), user="bob", password="", pam=lambda prompt, echo: "grün"
    ) as conn:
        conn.ping()


def test_what_a_person_takes_to_answer_does_not_count(pam_server: Server) -> None:
    def slowly(prompt: str, echo: bool) -> str:
        threading.Event().wait(1.2)
        return "grün"

    with ifx.connect(pam_server.url("stores_demo"), user="bob", pam=slowly, login_timeout=1.0) as conn:
        conn.ping()
