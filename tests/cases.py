"""Very many very small cases in one test: pytest takes a millisecond for each test beside what the test takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., None])

_NAMED = 20
"""So many of the cases that fail are named."""
_LABEL = 100
"""With so many characters."""


def walked(
    names: str | tuple[str, ...], values: Iterable[Any], ids: Callable[[Any], Any] | Iterable[Any] = repr
) -> Callable[[Test], Test]:
    """Written as ``pytest.mark.parametrize``: one test that goes through all cases, whatever some of them do, and fails
    with the names of those that failed and the error of the first.

    For cases that share their fixtures. It fails when there is no case.
    """
    cases = [_arguments(value, one=isinstance(names, str)) for value in values]
    labels = ["-".join(str(ids(a)) for a in case) for case in cases] if callable(ids) else list(map(str, ids))
    assert len(labels) == len(cases)

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        given = (names,) if isinstance(names, str) else names
        assert set(given) <= set(signature.parameters), f"{given} are no arguments of {test.__name__}"

        @wraps(test)
        def walk(**fixtures: Any) -> None:
            assert cases, "there is nothing to go through"
            failed: list[str] = []
            first: BaseException | None = None
            for label, case in zip(labels, cases, strict=True):
                try:
                    test(**dict(zip(given, case, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 (told below)
                    failed.append(label if len(label) <= _LABEL else f"{label[:_LABEL]}...")
                    first = first or error
            if failed:
                shown = "\n  ".join(failed[:_NAMED] + ["..."] * (len(failed) > _NAMED))
                raise AssertionError(
                    f"{len(failed)} of {len(cases)} cases failed, the first as above:\n  {shown}"
                ) from first

        walk.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[p for name, p in signature.parameters.items() if name not in given]
        )
        return walk  # type: ignore[return-value]

    return decorate


def _arguments(value: Any, *, one: bool) -> tuple[Any, ...]:
    """Of a case as ``parametrize`` takes it: a value, several, or a ``pytest.param`` of these without marks."""
    if isinstance(value, type(pytest.param())):
        assert not value.marks, f"{value} has marks, which are a test's"
        return tuple(value.values)
    return (value,) if one else tuple(value)
