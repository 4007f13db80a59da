"""What a missing reference client means: a skip with the reason, or a failure where reference clients are required."""

from __future__ import annotations

import importlib
import os
from typing import Any, NoReturn

import pytest

#: Set to 1 by ``.ci/run`` and ``make interop``: nobody may then mistake a skipped reference client for agreement.
REQUIRE = "INFORMIX_ARROW_REQUIRE_REFERENCE_CLIENTS"


def required() -> bool:
    return os.environ.get(REQUIRE, "") not in ("", "0")


def reference_client_module(name: str) -> Any:
    """A module that a whole file of tests needs: these are skipped without it, or it is an error."""
    return importlib.import_module(name) if required() else pytest.importorskip(name)


def reference_client_missing(reason: str) -> NoReturn:
    """Skip the test, or fail it when ``INFORMIX_ARROW_REQUIRE_REFERENCE_CLIENTS=1``."""
    if required():
        pytest.fail(f"{reason} ({REQUIRE} is set)", pytrace=False)
    pytest.skip(reason)
