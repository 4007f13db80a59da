"""The replies to many executions of one INSERT, built at once: a pattern of bytes repeated for each row, with each
row's serials and warnings written into its copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...wire import messages as m
from ...wire.capabilities import Framing
from ..plan.plans import WARN_CUT
from ..session.table_appender import BatchOutcome

_LOW, _HIGH, _BIGSERIAL = 4, 8, 12  # in SQ_INSERTDONE, after its tag and the sign of the SERIAL8


def execute_replies(outcome: BatchOutcome, plain: bytes, framing: Framing) -> bytes:
    """Return the replies to `outcome.rows` executions: copies of `plain` with serials and warnings.

    `plain` is the reply to a row without either, which begins with SQ_INSERTDONE and SQ_DONE (SQLI sections 7.4 and
    10). Rows with errors have a place in the result, too.
    """
    rows = outcome.rows
    serials = (outcome.serial, outcome.serial8, outcome.bigserial)
    if not outcome.truncated_rows and all(numbers is None for numbers in serials):
        return plain * rows
    block = np.tile(np.frombuffer(plain, np.uint8), (rows, 1))
    done = len(m.InsertDone(0, 0).encode(framing))
    if outcome.serial8 is not None:
        numbers = outcome.serial8[:rows]
        magnitude = np.abs(numbers)
        _write_numbers(block, 2, np.where(numbers < 0, -1, 1), ">i2")
        _write_numbers(block, _LOW, magnitude & 0xFFFF_FFFF, ">u4")
        _write_numbers(block, _HIGH, magnitude >> 32, ">u4")
    if outcome.bigserial is not None and framing.bigint:
        _write_numbers(block, _BIGSERIAL, outcome.bigserial[:rows], ">i8")
    if outcome.truncated_rows:
        warnings = np.zeros(rows, np.int64)
        warnings[list(outcome.truncated_rows)] = WARN_CUT
        _write_numbers(block, done + 2, warnings, ">i2")
    if outcome.serial is not None:
        _write_numbers(block, done + 4 + (16 if framing.long_rowid else 8), outcome.serial[:rows], ">i4")
    return block.tobytes()


def _write_numbers(block: Any, at: int, numbers: Any, layout: str) -> None:
    """Write a number into each row's bytes, starting at column `at`."""
    raw = numbers.astype(layout).view(np.uint8).reshape(len(numbers), -1)
    block[:, at : at + raw.shape[1]] = raw
