"""The generated keys of an INSERT, for JDBC's getGeneratedKeys.

They are requested by message 134. The reply has a description (135) and a row (136) for each execution.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...wire import messages as m
from ...wire.capabilities import Framing
from ...wire.describe import Column
from ...wire.messages import KeysDescribe
from ...wire.type_codes import TypeCode
from ...wire.values import encode_tuple
from ..errors import not_supported
from ..plan.plans import InsertPlan
from ..session.prepared_plan import PreparedPlan, StatementOutcome


def key_columns(prepared: PreparedPlan, names: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns that a client requests of each inserted row.

    These are those that it names, or all that generate numbers; none for a statement that is not an INSERT. -201 for a
    named column that does not.
    """
    plan = prepared.plan
    if not isinstance(plan, InsertPlan):
        return ()
    serials = {
        column.name: Column(column.name, column.type) for column in plan.info.columns if column.is_serial
    }
    for name in names:
        if name.lower() not in serials:
            raise not_supported(f"{name} as a generated key, because it is not a SERIAL column")
    return tuple(serials[name.lower()] for name in names) if names else tuple(serials.values())


def keys_reply(
    prepared: PreparedPlan, columns: Sequence[Column], outcome: StatementOutcome, framing: Framing
) -> bytes:
    """Return the messages for one execution; of several rows only the last one's keys are known."""
    if not columns or not outcome.rows:
        return b""
    values = [_value(column, outcome) for column in columns]
    described = KeysDescribe.of_columns(prepared.statement_type, 0, columns)
    row = m.KeysTuple(0, encode_tuple(values, columns, framing.encoding))
    return described.encode(framing) + row.encode(framing)


def _value(column: Column, outcome: StatementOutcome) -> int:
    if column.type.code == TypeCode.SERIAL:
        return outcome.serial
    return outcome.serial8 if column.type.code == TypeCode.SERIAL8 else outcome.bigserial
