"""Apply captured transactions to a target, each exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ..cdc.assembler import Transaction
from ..cdc.change_batch import ChangeBatch
from ..cdc.open_transaction import Change
from ..cdc.token import Token
from ..ingest.target_table import bare_name, check_table
from ..wire.errors import InterfaceError
from .change_target import open_target
from .net_changes import net_changes


@dataclass(slots=True)
class Applied:
    """The result of :func:`apply_changes`.

    Attributes
    ----------
    transactions
        Transactions applied.
    rows
        Number of changes in these transactions.
    skipped
        Transactions, or batches of them, that the target already had.
    token
        Where a capture continues; None if the target has never had a change.
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
    """Apply captured changes to copies of the tables::

        token = applied_token("copy.duckdb")
        with capture(url, ["orders", "items"], start=token) as changes:
            apply_changes(changes.batches(max_rows=100_000), "copy.duckdb")

    Each transaction, or :class:`ChangeBatch` of them, is applied in one transaction of the target, which also stores
    the token. You can repeat an interrupted call: every change is in the target exactly once. The changes of a
    transaction are added up first, row by row: a row that it both inserts and deletes is never written.

    The target's tables must be equal to the source's at the point where the capture began. A row that is to be changed
    or removed must be there as it was. If one is missing, nothing of its transaction is applied and an error is raised.

    Parameters
    ----------
    transactions
        A :func:`capture`, or its ``batches()``. Larger batches cost less: a target finds rows by all their columns.
        ``capture(..., floating_decimals="string")`` keeps all digits of a DECIMAL without a scale.
    target
        ``"FILE.duckdb"`` or any other path of a DuckDB file, an open DuckDB connection that is in no transaction,
        ``"postgresql://user@host/database"`` (extra ``[postgresql]``), ``"informix://user@host:9088/database"`` (a
        database with logging), or ``"delta:DIR"`` (extra ``[delta]``): a folder with a Delta table for each table.
        Missing tables are created.
    name
        The name under which the token is stored, if several captures use one target.
    tables
        A mapping from names in the capture to names of tables in the target. By default a table has the same name,
        without database and owner.

    Returns
    -------
    Applied
        Returned when ``transactions`` ends. The option ``idle`` of :func:`capture` determines when it ends.

    Raises
    ------
    InterfaceError
        An argument is wrong, a target's package is missing, or a batch begins with transactions that the target
        already has and ends with new ones. In the last case, start the capture with the target's token.
    OperationalError
        The target differs from the tables that the changes were made to, or failed, or another program has applied
        changes to it in the meantime. Nothing of that transaction is in it.
    NotSupportedError
        The target has no type for a column, or no transactions.
    """
    named = dict(tables or {})
    done = Applied()
    with closing(open_target(target)) as opened:
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
                    "The target already has the first transactions of this batch, but not the last ones. "
                    f"Start the capture with the token of the target, {done.token}."
                )
            by_table: dict[str, list[Change]] = {}
            for change in transaction.batches:
                by_table.setdefault(change.table, []).append(change)
            net = {
                named.get(table) or bare_name(check_table(table)): net_changes(changes)
                for table, changes in by_table.items()
            }
            if len(net) < len(by_table):
                raise InterfaceError(
                    f"Several tables would have the same name in the target ({', '.join(net)}). Rename them "
                    "with tables={...}."
                )
            opened.apply(name, done.token, transaction.token, transaction.commit_lsn, net)
            done.token, reached = transaction.token, transaction.commit_lsn
            done.transactions += transaction.transactions if isinstance(transaction, ChangeBatch) else 1
            done.rows += transaction.rows
    return done


def applied_token(target: Any, *, name: str = "changes") -> str | None:
    """Return the token at which a capture for a target of :func:`apply_changes` continues; None before the first
    change.
    """
    with closing(open_target(target)) as opened:
        return opened.token(name)


def keep_token(target: Any, token: str, *, name: str = "changes") -> None:
    """Store a token in a target of :func:`apply_changes` without applying changes.

    Use it when a copy begins. Use it also while nothing changes, so that the server need not keep the log that was
    read::

        with capture(url, tables, start=applied_token(target), idle=60) as changes:
            while True:
                apply_changes(changes.batches(), target)
                keep_token(target, changes.token)

    Raises
    ------
    InterfaceError
        The token is invalid, or lies before the target's token.
    """
    new = Token.parse(token)
    with closing(open_target(target)) as opened:
        before = opened.token(name)
        if before is not None and new.commit < Token.parse(before).commit:
            raise InterfaceError(f"The target is ahead of {token}. Its position is {before}.")
        if before != token:
            opened.apply(name, before, token, new.commit, {})
