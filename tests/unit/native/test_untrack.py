"""Objects that the cyclic garbage collector need not track, and those that it must, as they could be part of a
cycle."""

from __future__ import annotations

import datetime as dt
import gc
import weakref
from decimal import Decimal
from typing import Any

import pytest

from informix_arrow._decode import untrack, untracked


class Pair:
    """An object like a row: an object that all rows share, and values."""

    __slots__ = ("__weakref__", "shared", "values")

    def __init__(self, shared: object, values: object) -> None:
        self.shared, self.values = shared, values


class Beneath(Pair):
    """A subclass with a __dict__, which may hold any object."""


SHARED: dict[str, int] = {"k": 0}


def tracked(values: object, *, kind: type[Pair] = Pair, shared: Any = SHARED) -> bool:
    """Return whether the garbage collector still tracks such an object."""
    made = kind(shared, values)
    assert gc.is_tracked(made)
    untrack([made], Pair, (SHARED,))
    return gc.is_tracked(made)


def test_objects_of_plain_values_are_not_looked_at() -> None:
    plain = [1, "a", 1.5, None, True, b"b", Decimal("1.5"), dt.date(2026, 1, 1), dt.datetime(2026, 1, 1, 1)]
    assert not tracked(tuple(plain))
    assert not tracked(())
    assert not tracked("text")


class Amount(Decimal):
    """A Decimal with a __dict__."""


@pytest.mark.parametrize(
    "values",
    [([1],), ({},), (Pair, 1), ((1, []),), (Pair(1, 2),), (Amount(1),), [1], {}],
    ids=[
        "a list",
        "a dict",
        "a class",
        "a tuple in it",
        "an object",
        "a Decimal of a class beneath",
        "a list itself",
        "a dict itself",
    ],
)
def test_what_could_lead_to_a_cycle_stays(values: object) -> None:
    assert tracked(values)
    assert not isinstance(values, tuple) or gc.is_tracked(values)


def test_only_objects_of_just_this_class_that_share_just_this() -> None:
    assert tracked((1,), kind=Beneath)
    assert tracked((1,), shared={"k": 0, "of": []})
    mixed: list[Any] = [[1], (1, 2), Pair(SHARED, (1,)), None, Beneath(SHARED, (1,)), {"a": []}]
    untrack(mixed, Pair, (SHARED,))
    assert [gc.is_tracked(one) for one in mixed] == [True, gc.is_tracked(mixed[1]), False, False, True, True]


def test_a_cycle_of_what_stays_is_found() -> None:
    many: list[Any] = []
    made = Pair(SHARED, (many,))
    many.append(made)
    untrack(many, Pair, (SHARED,))
    gone = weakref.ref(made)
    del many, made
    gc.collect()
    assert gone() is None


def test_objects_that_are_not_looked_at_die_with_their_last_reference() -> None:
    made = [Pair(SHARED, (number, str(number))) for number in range(1000)]
    references = [weakref.ref(one) for one in made]
    untrack(made, Pair, (SHARED,))
    assert not any(map(gc.is_tracked, made))
    del made
    assert not any(reference() for reference in references)


def test_arguments_that_are_none() -> None:
    with pytest.raises(ValueError, match="at most 3 shared objects"):
        untrack([], Pair, (1, 2, 3, 4))
    for arguments in [((), Pair, ()), ([], "Pair", ()), ([], Pair, [])]:
        with pytest.raises(TypeError):
            untrack(*arguments)
    numbers: list[Any] = [1, 2]
    untrack(numbers, int, ())  # a class that the garbage collector never tracks
    assert numbers == [1, 2]


def test_objects_are_made_and_not_looked_at_from_the_first_on() -> None:
    values: list[Any] = [(number, str(number)) for number in range(100)] + [([],)]
    made = untracked(Pair, (SHARED,), values, (SHARED,))
    assert [(one.shared, one.values) for one in made] == [(SHARED, value) for value in values]
    assert [gc.is_tracked(one) for one in made] == [False] * 100 + [True]
    assert untracked(Pair, (SHARED,), [], (SHARED,)) == []


def test_a_class_may_keep_its_arguments_and_may_fail() -> None:
    class Keeping:
        def __init__(self, *arguments: object) -> None:
            self.arguments = arguments

    assert [one.arguments for one in untracked(Keeping, (0,), [1, 2, 3], ())] == [(0, 1), (0, 2), (0, 3)]

    shrinking = [1, 2, 3]

    class Failing:
        def __init__(self, way: str, value: int) -> None:
            if way == "shrink":
                shrinking.clear()
            elif value == 2:
                raise LookupError(value)

    with pytest.raises(LookupError, match="2"):
        untracked(Failing, ("raise",), [1, 2, 3], ())
    with pytest.raises(IndexError):
        untracked(Failing, ("shrink",), shrinking, ())
    with pytest.raises(TypeError):
        untracked(Pair, (), [1], ())
