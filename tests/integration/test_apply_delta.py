"""Delta tables as targets of changes: the process dies at any moment, and other programs change the tables."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.copy_targets import delta_table, held
from tests.integration.test_apply_changes import insert, transactions
from tests.unit.cdc import change_records as w
from tests.unit.cdc.test_assembler import item, order

import informix_arrow as ifx
from informix_arrow.cdc.assembler import Transaction

pytest.importorskip("deltalake")

from informix_arrow.replicate import delta_changes
from informix_arrow.replicate.delta import DeltaChange


class Died(BaseException):
    """Raised in place of a SIGKILL."""


@pytest.fixture
def target(tmp_path: Path) -> str:
    return f"delta:{tmp_path}/lake"


def log() -> list[Transaction]:
    def both(lsn: int, key: int) -> bytes:
        return (
            w.begin(lsn, 7)
            + order(42, lsn + 1, 7, key, "x")
            + order(43, lsn + 2, 7, key, "y")
            + item(40, lsn + 3, 7, key, "z")
            + w.commit(lsn + 9, 7)
        )

    emptied = w.begin(50, 7) + w.truncate(51, 7) + order(40, 52, 7, 8, "new") + w.commit(53, 7)
    return transactions(insert(10, 1, 2, 3), both(20, 2), both(30, 3), emptied)


def tables(target: str) -> tuple[list[Any], list[Any]]:
    return tuple(  # type: ignore[return-value]
        sorted((tuple(row.values()) for row in held(target, table).to_pylist()), key=repr)
        for table in ("orders", "items")
    )


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_death_at_any_step_leaves_nothing_out_and_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    whole = f"delta:{tmp_path}/whole"
    ifx.apply_changes(log(), whole)
    assert tables(whole) == ([(8, "new", 5)], [(2, "z"), (3, "z")])
    for deadly in itertools.count(1):
        target = f"delta:{tmp_path}/{deadly}"
        with monkeypatch.context() as patched:
            steps = dying(patched, deadly, after)
            try:
                ifx.apply_changes(log(), target)
            except Died:
                pass
            else:
                assert deadly > 12  # each of at least 12 steps of four transactions was interrupted once
                break
        assert next(steps) == deadly + 1
        done = ifx.apply_changes(log(), target)
        assert done.transactions + done.skipped == 4
        assert tables(target) == tables(whole)
        assert ifx.applied_token(target) == log()[-1].token


def dying(patched: pytest.MonkeyPatch, deadly: int, after: bool) -> Iterator[int]:
    """Raise `Died` at step ``deadly`` of all steps that write to the disk."""
    steps = itertools.count(1)

    def deadened(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any) -> Any:
            fatal = next(steps) == deadly
            if fatal and not after:
                raise Died
            found = real(*arguments)
            if fatal:
                raise Died
            return found

        return step

    for where, name in (
        (delta_changes, "write_whole"),
        (DeltaChange, "publish"),
        (delta_changes, "write_files"),
    ):
        patched.setattr(where, name, deadened(getattr(where, name)))
    return steps


def test_data_and_how_far_they_go_are_one_commit(target: str) -> None:
    (one, *_) = log()
    ifx.apply_changes([one], target)
    table = delta_table(target, "orders")
    assert table.transaction_version("informix-arrow-changes:changes") == one.commit_lsn
    assert table.history(1)[0]["informix_arrow.token"] == one.token


def test_a_table_that_others_have_compacted_or_copied_goes_on(target: str) -> None:
    first, second, third, _ = log()
    ifx.apply_changes([first], target)
    ifx.apply_changes([second], target)
    delta_table(target, "orders").optimize.compact()
    ifx.apply_changes([third], target)
    assert tables(target)[0] == [(1, "x", 5), (2, "y", 5), (3, "y", 5)]


def test_what_was_begun_is_given_up_when_others_have_replaced_its_files(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third, _ = log()
    ifx.apply_changes([first, second], target)
    with monkeypatch.context() as patched:
        patched.setattr(DeltaChange, "publish", lambda *_: (_ for _ in ()).throw(Died))
        with pytest.raises(Died):
            ifx.apply_changes([third], target)
    table = delta_table(target, "orders")
    table.update(updates={"qty": "6"}, predicate="id = 1")
    assert ifx.applied_token(target) == second.token
    ifx.apply_changes([third], target)
    assert tables(target) == ([(1, "x", 6), (2, "y", 5), (3, "y", 5)], [(2, "z"), (3, "z")])


def test_one_program_at_a_time_and_a_state_that_is_not_understood(target: str) -> None:
    ifx.apply_changes(log()[:1], target)
    opened = delta_changes.DeltaChangeTarget(target.partition(":")[2])
    with pytest.raises(ifx.OperationalError, match="Another copy is writing"):
        ifx.apply_changes(log(), target)
    opened.close()
    (Path(target.partition(":")[2]) / delta_changes.STATE).write_text('{"format": 99}')
    for _ in range(2):  # and the folder is released
        with pytest.raises(ifx.OperationalError, match="not in a format that this release reads"):
            ifx.apply_changes(log(), target)
