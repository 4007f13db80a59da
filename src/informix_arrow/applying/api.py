"""Transactions brought to a target, each of them once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..bulk.target import bare_name, check_table
from ..changes.assembler import Transaction
from ..changes.merging import ChangeBatch
from ..changes.open_transaction import Change
from ..changes.token import Token
from ..wire.errors import InterfaceError
from .net import net_changes

if TYPE_CHECKING:
    from .duck import DuckTarget


@dataclass(slots=True)
class Applied:
    """What :func:`apply_changes` has done.

    Attributes
    ----------
    transactions
        Transactions applied.
    rows
        Changes in them.
    skipped
        Transactions, or batches of them, that the target had already.
    token
        Where a capture goes on; None when the target has never had a change.
    """

    transactions: int = 0
    rows: int = 0
    skipped: int = 0
    token: str | None = None


def apply_changes(
    transactions: Iterable[Transaction | ChangeBatch],
    target: Any,
    *,
    name: str = "changes",
    tables: Mapping[str, str] | None = None,
) -> Applied:
    """Keep a copy of tables equal to them::

        token = applied_token("copy.duckdb")
        with capture(url, ["orders", "items"], start=token) as changes:
            apply_changes(changes.batches(max_rows=100_000), "copy.duckdb")

    Each transaction, or :class:`ChangeBatch` of them, is one transaction of the target, and how far it has come is
    written in that same transaction: whenever this is interrupted, and whoever repeats it, every change is in the
    target once. What a transaction changes is added up first, row by row: what it has both made and taken away again
    is never written.

    The target's tables must be what the source's were where the capture began. A row that is to be changed or removed
    must be there as it was: where one is missing, nothing of its transaction is applied, and that is an error.

    Parameters
    ----------
    transactions
        What :func:`capture` gives, or its ``batches()``. Larger batches cost less: a target looks for rows by all their
        columns.
    target
        A DuckDB file's path, or an open DuckDB connection that is in no transaction. Tables that are not there are
        made.
    name
        Whose progress this is: for several captures into one target.
    tables
        What the target calls the tables, by their names in the capture; their bare names by default.

    Returns
    -------
    Applied
        When ``transactions`` is at its end: ``capture(idle=...)`` says when that is.

    Raises
    ------
    InterfaceError
        A wrong argument; or a batch that begins in what the target has and ends behind that: start the capture with
        the target's token.
    OperationalError
        The target is not what the changes were made to, or failed; nothing of that transaction is in it.
    """
    opened = _open(target)
    named = dict(tables or {})
    done = Applied()
    try:
        done.token = opened.token(name)
        reached = 0 if done.token is None else Token.parse(done.token).commit
        for transaction in transactions:
            first = (
                transaction.first_commit_lsn
                if isinstance(transaction, ChangeBatch)
                else transaction.commit_lsn
            )
            if transaction.commit_lsn <= reached:
                done.skipped += 1
                continue
            if first <= reached:
                raise InterfaceError(
                    "a batch begins with transactions that the target has and ends with some that it has not: start "
                    f"the capture with the target's token, {done.token}"
                )
            by_table: dict[str, list[Change]] = {}
            for change in transaction.batches:
                by_table.setdefault(change.table, []).append(change)
            with opened.session():
                for table, changes in by_table.items():
                    opened.apply(_name_in_target(table, named), net_changes(changes))
                opened.keep(name, transaction.token)
            done.token, reached = transaction.token, transaction.commit_lsn
            done.transactions += transaction.transactions if isinstance(transaction, ChangeBatch) else 1
            done.rows += transaction.rows
    finally:
        opened.close()
    return done


def applied_token(target: Any, *, name: str = "changes") -> str | None:
    """Where a capture for a target of :func:`apply_changes` goes on; None when it has never had a change."""
    opened = _open(target)
    try:
        return opened.token(name)
    finally:
        opened.close()


def _open(target: Any) -> DuckTarget:
    from .duck import DuckTarget, is_connection

    if isinstance(target, str | os.PathLike):
        return DuckTarget.of_path(os.fspath(target))
    if is_connection(target):
        return DuckTarget(target)
    raise InterfaceError(
        f"changes are applied to a DuckDB file (its path) or a DuckDB connection, not to {type(target).__name__}"
    )


def _name_in_target(table: str, named: Mapping[str, str]) -> str:
    return named.get(table) or bare_name(check_table(table))
