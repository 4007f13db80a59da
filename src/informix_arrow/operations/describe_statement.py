"""Describe a statement without executing it: the rows that it returns, and its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..rows.parameters import parse
from ..wire.assignment import Inexact
from ..wire.code_sets import is_multibyte
from ..wire.describe import Column, compile_plan
from ..wire.errors import Error, NotSupportedError
from ..wire.plan_ops import TypeOptions
from ..wire.types import ColumnType
from .io_steps import Exchange
from .lob_parameters import ask_targets
from .parameter_checks import parameter_check
from .prepare import acquire, release_after, return_statement
from .session import Session
from .statement_cache import PreparedStatement


@dataclass(frozen=True, slots=True)
class StatementDescription:
    """The description of a statement.

    ``rows`` is the schema of its result, None if it returns no rows. ``parameters`` has one field for each
    placeholder, named after the column that it is assigned to, "" if there is none. The type is null if the server
    does not report one.
    """

    rows: Any  # pyarrow.Schema or None
    parameters: Any  # pyarrow.Schema


def describe_statement(session: Session, sql: str, types: TypeOptions) -> Exchange[StatementDescription]:
    """Prepare a statement and return its description. The statement is kept for its first execution.

    Raises the server's error, and ``NotSupportedError`` for a column whose type cannot be read.
    """
    statement = parse(sql)
    try:
        # A statement in the cache may be outdated, which only its execution finds out.
        prepared = yield from acquire(session, statement.text, statement.count, anew=True)
    except Error as error:
        statement.explain(error)
        raise
    try:
        rows = None
        if prepared.describe.has_rows:
            raw = is_multibyte(session.framing.encoding)
            rows = compile_plan(prepared.describe.columns, types, raw_text=raw).schema
        parameters = yield from _parameters(session, prepared, statement.count, session.inexact)
    except Exception as error:
        yield from release_after(session, prepared.statement_id, error)
        raise
    yield from return_statement(session, prepared)
    return StatementDescription(rows, parameters)


def _parameters(session: Session, prepared: PreparedStatement, count: int, inexact: Inexact) -> Exchange[Any]:
    check = yield from parameter_check(session, prepared, count, None, inexact)
    if prepared.targets is None:
        prepared.targets = yield from ask_targets(session, prepared.statement_id, count)
    names = ("",) * count if check is None else check.names
    known = (None,) * count if check is None else check.targets
    fields = [
        pa.field(name, _arrow_type(target or reported))
        for name, target, reported in zip(names, known, prepared.targets, strict=True)
    ]
    return pa.schema(fields)


def _arrow_type(target: ColumnType | None) -> Any:
    if target is None:
        return pa.null()
    try:
        return compile_plan((Column("", target),)).schema.field(0).type
    except NotSupportedError:  # a type that is written as text and cannot be read
        return pa.null()
