"""Runs hundreds of small cases in one test, because pytest itself takes a millisecond for each test."""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., None])

SELECTED = "INFORMIX_ARROW_CASE"
"""Environment variable that selects cases: ``#7`` is the seventh of each test, other text must be in the label."""

_LISTED = 20
"""Maximum number of failed cases that are listed."""
_LABEL = 100
"""Maximum number of characters of a label."""


@dataclass
class _Cases:
    """The cases of one test function, which other decorators may multiply."""

    test: Callable[..., None]
    names: tuple[str, ...]
    cases: list[tuple[Any, ...]]
    labels: list[str]

    def selected(self) -> list[tuple[int, str, tuple[Any, ...]]]:
        """Return number, label and arguments of the selected cases, or of all if INFORMIX_ARROW_CASE is not set."""
        numbered = [(n, *pair) for n, pair in enumerate(zip(self.labels, self.cases, strict=True), 1)]
        text = os.environ.get(SELECTED)
        if not text:
            return numbered
        if text.startswith("#") and text[1:].isdecimal():
            return [case for case in numbered if case[0] == int(text[1:])]
        return [case for case in numbered if text in case[1]]


def parametrize_in_one_test(
    names: str | tuple[str, ...], values: Iterable[Any], ids: Callable[[Any], Any] | Iterable[Any] = repr
) -> Callable[[Test], Test]:
    """Like ``pytest.mark.parametrize``, but as one test that runs all cases, even after some have failed.

    It fails with the error of the first failed case, the labels of all that failed, and the command that runs the first
    one alone. For cases that share their fixtures. It fails when there is no case, and skips when INFORMIX_ARROW_CASE
    selects none.
    """
    own_names = (names,) if isinstance(names, str) else names
    cases = [_arguments(value, one=isinstance(names, str)) for value in values]
    labels = ["-".join(str(ids(a)) for a in case) for case in cases] if callable(ids) else list(map(str, ids))
    assert len(labels) == len(cases)

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        assert set(own_names) <= set(signature.parameters), f"{own_names} are no arguments of {test.__name__}"
        inner: _Cases | None = getattr(test, "cases", None)
        if inner is None:
            all_cases = _Cases(test, own_names, cases, labels)
        else:
            all_cases = _Cases(
                inner.test,
                own_names + inner.names,
                [a + b for a, b in itertools.product(cases, inner.cases)],
                [f"{a}-{b}" for a, b in itertools.product(labels, inner.labels)],
            )

        @wraps(test)
        def run_all(**fixtures: Any) -> None:
            _run(all_cases, fixtures)

        run_all.cases = all_cases  # type: ignore[attr-defined]
        run_all.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[p for name, p in signature.parameters.items() if name not in own_names]
        )
        return run_all  # type: ignore[return-value]

    return decorate


def _run(all_cases: _Cases, fixtures: dict[str, Any]) -> None:
    assert all_cases.cases, "there are no cases"
    selected = all_cases.selected()
    if not selected:
        pytest.skip(f"{SELECTED}={os.environ[SELECTED]} selects none of {len(all_cases.cases)} cases")
    failed: list[str] = []
    first: tuple[int, BaseException] | None = None
    for number, label, case in selected:
        try:
            all_cases.test(**dict(zip(all_cases.names, case, strict=True)), **fixtures)
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 (reported below)
            failed.append(f"#{number} {label if len(label) <= _LABEL else f'{label[:_LABEL]}...'}")
            first = first or (number, error)
    if first:
        listed = "\n  ".join(failed[:_LISTED] + ["..."] * (len(failed) > _LISTED))
        node = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        raise AssertionError(
            f"{len(failed)} of {len(selected)} cases failed, the first as above:\n  {listed}\n"
            f"The first one alone: {SELECTED}='#{first[0]}' python -m pytest '{node}'"
        ) from first[1]


def _arguments(value: Any, *, one: bool) -> tuple[Any, ...]:
    """Return the arguments of a case as ``parametrize`` takes it: a value, several, or a ``pytest.param`` of these."""
    if isinstance(value, type(pytest.param())):
        assert not value.marks, f"{value} has marks, which only a test can have"
        return tuple(value.values)
    return (value,) if one else tuple(value)
