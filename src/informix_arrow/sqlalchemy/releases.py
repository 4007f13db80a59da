"""The releases of SQLAlchemy that the dialect works with, and what they name differently."""

from __future__ import annotations

import re

import sqlalchemy
from sqlalchemy import util

OLDEST = (2, 0, 44)
"""Older releases of 2.0 have no base classes for asyncio drivers, and take numbers beside a NULL in CASE for text."""

RELEASE: tuple[int, ...] = tuple(int(part) for part in re.findall(r"[0-9]+", sqlalchemy.__version__)[:3])
"""The release that is installed, such as ``(2, 1, 9)``."""

if RELEASE < OLDEST:
    raise ImportError(
        f"informix_arrow.sqlalchemy needs SQLAlchemy {'.'.join(map(str, OLDEST))} or later, but "
        f"{sqlalchemy.__version__} is installed. Run pip install --upgrade 'informix-arrow[sqlalchemy]'"
    )

# 2.0 has only the old name, which 2.2 deprecates.
await_ = util.await_ if RELEASE >= (2, 1) else util.await_only
"""Await something in a greenlet of SQLAlchemy."""
