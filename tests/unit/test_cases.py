"""One test with many cases fails like each of them, and each of them can be run alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.cases import SELECTED, parametrize_in_one_test


@pytest.fixture(autouse=True)
def _all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SELECTED, raising=False)


def test_all_cases_run_and_those_that_fail_are_named(request: pytest.FixtureRequest) -> None:
    seen: list[tuple[int, str]] = []

    @parametrize_in_one_test("number", [1, 2, 3, 4])
    def test(number: int, fixture: str) -> None:
        seen.append((number, fixture))
        if number == 2:
            pytest.fail("not this one")
        assert number != 3

    with pytest.raises(AssertionError) as caught:
        test(fixture="f")  # type: ignore[call-arg]
    assert str(caught.value) == (
        "2 of 4 cases failed, the first as above:\n  #2 2\n  #3 3\n"
        f"The first one alone: INFORMIX_ARROW_CASE='#2' python -m pytest '{request.node.nodeid}'"
    )
    assert seen == [(number, "f") for number in (1, 2, 3, 4)]
    assert str(caught.value.__cause__) == "not this one"


@pytest.mark.parametrize(
    ("selected", "expected"),
    [
        ("#2", [("a", "y")]),
        ("b", [("a", "bz"), ("b", "x"), ("b", "y"), ("b", "bz")]),
        ("a-x", [("a", "x")]),
        ("bz", [("a", "bz"), ("b", "bz")]),
    ],
)
def test_cases_are_selected_by_number_or_by_a_part_of_their_label(
    monkeypatch: pytest.MonkeyPatch, selected: str, expected: list[tuple[str, str]]
) -> None:
    seen: list[tuple[str, str]] = []

    @parametrize_in_one_test("first", ["a", "b"], ids=str)
    @parametrize_in_one_test("second", ["x", "y", "bz"], ids=str)
    def test(first: str, second: str) -> None:
        seen.append((first, second))

    monkeypatch.setenv(SELECTED, selected)
    test()  # type: ignore[call-arg]
    assert seen == expected


def test_a_test_of_which_no_case_is_selected_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SELECTED, "#9")
    with pytest.raises(pytest.skip.Exception, match="selects none of 1 cases"):
        parametrize_in_one_test("value", [1])(lambda value: None)()  # type: ignore[call-arg]


@parametrize_in_one_test("a", [1, 2])
@parametrize_in_one_test(("b", "c"), [(3, 4), pytest.param(5, 6)], ids=lambda value: f"<{value}>")
def test_products_and_several_arguments(a: int, b: int, c: int, request: pytest.FixtureRequest) -> None:
    assert a in (1, 2)
    assert c == b + 1
    assert request.node.name == "test_products_and_several_arguments"


@pytest.mark.parametrize("label", [str, ["one", "two"]])
def test_labels_come_from_a_function_or_a_list(label: Any) -> None:
    def test(value: str) -> None:
        assert value != "two"

    with pytest.raises(AssertionError, match=r"1 of 2 cases failed, the first as above:\n  #2 two\n"):
        parametrize_in_one_test("value", ["one", "two"], ids=label)(test)()  # type: ignore[call-arg]


def test_no_case_is_no_success() -> None:
    with pytest.raises(AssertionError, match="there are no cases"):
        parametrize_in_one_test("value", [])(lambda value: None)()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: parametrize_in_one_test("other", [1])(lambda value: None),
        lambda: parametrize_in_one_test("value", [pytest.param(1, marks=pytest.mark.skip)]),
        lambda: parametrize_in_one_test("value", [1, 2], ids=["one"]),
    ],
)
def test_wrong_arguments_are_refused_at_decoration(wrong: Callable[[], object]) -> None:
    with pytest.raises(AssertionError):
        wrong()


def test_a_skip_passes_through() -> None:
    def skipping(value: int) -> None:
        pytest.skip("not here")

    with pytest.raises(pytest.skip.Exception):
        parametrize_in_one_test("value", [1])(skipping)()  # type: ignore[call-arg]
