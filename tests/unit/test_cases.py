"""One test for many cases must fail as each of them would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.cases import walked


def test_all_cases_are_walked_and_those_that_fail_are_named() -> None:
    seen: list[tuple[int, str]] = []

    @walked("number", [1, 2, 3, 4])
    def test(number: int, fixture: str) -> None:
        seen.append((number, fixture))
        if number == 2:
            pytest.fail("not this one")
        assert number != 3

    with pytest.raises(
        AssertionError, match=r"2 of 4 cases failed, the first as above:\n  2\n  3$"
    ) as caught:
        test(fixture="f")  # type: ignore[call-arg]
    assert seen == [(number, "f") for number in (1, 2, 3, 4)]
    assert str(caught.value.__cause__) == "not this one"


@walked("a", [1, 2])
@walked(("b", "c"), [(3, 4), pytest.param(5, 6)], ids=lambda value: f"<{value}>")
def test_products_and_several_arguments(a: int, b: int, c: int, request: pytest.FixtureRequest) -> None:
    assert a in (1, 2)
    assert c == b + 1
    assert request.node.name == "test_products_and_several_arguments"


@pytest.mark.parametrize("label", [str, ["one", "two"]])
def test_labels_come_from_a_function_or_a_list(label: Any) -> None:
    def test(value: str) -> None:
        assert value != "two"

    with pytest.raises(AssertionError, match=r"1 of 2 cases failed, the first as above:\n  two$"):
        walked("value", ["one", "two"], ids=label)(test)()  # type: ignore[call-arg]


def test_no_case_is_no_success() -> None:
    with pytest.raises(AssertionError, match="nothing to go through"):
        walked("value", [])(lambda value: None)()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: walked("other", [1])(lambda value: None),
        lambda: walked("value", [pytest.param(1, marks=pytest.mark.skip)]),
        lambda: walked("value", [1, 2], ids=["one"]),
    ],
)
def test_what_cannot_be_walked_is_refused_when_it_is_written(wrong: Callable[[], object]) -> None:
    with pytest.raises(AssertionError):
        wrong()


def test_a_skip_and_the_end_of_the_run_pass_through() -> None:
    def skipping(value: int) -> None:
        pytest.skip("not here")

    with pytest.raises(pytest.skip.Exception):
        walked("value", [1])(skipping)()  # type: ignore[call-arg]
