"""What a missing witness means: a skip with the reason, or a failure where witnesses are required."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

#: Set to 1 by ``.ci/run`` and ``make interop``: nobody may then mistake a skipped witness for agreement.
REQUIRE = "INFORMIX_ARROW_REQUIRE_WITNESSES"


def witness_missing(reason: str) -> NoReturn:
    """Skip the test, or fail it when ``INFORMIX_ARROW_REQUIRE_WITNESSES=1``."""
    if os.environ.get(REQUIRE, "") not in ("", "0"):
        pytest.fail(f"{reason} ({REQUIRE} is set)", pytrace=False)
    pytest.skip(reason)
