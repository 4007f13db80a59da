"""``ASYNC``: marks lines that only the asyncio modules contain.

The blocking modules are generated from the asyncio ones by ``tools/async_to_sync.py``, which resolves ``if
ASYNC:`` and ``if not ASYNC:``. The blocking branch never runs in the asyncio module, but editors, ruff and
readers see it as code. mypy checks it in the generated module.
"""

from __future__ import annotations

from typing import Final

ASYNC: Final = True
