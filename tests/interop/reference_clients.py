"""Handles missing reference clients: tests are skipped with the reason, or fail if reference clients are required."""

from __future__ import annotations

import importlib
import os
from typing import Any, NoReturn

import pytest

#: ``.ci/run`` and ``make interop`` set it to 1, so that a skipped reference client is not mistaken for agreement.
REQUIRE = "INFORMIX_ARROW_REQUIRE_REFERENCE_CLIENTS"


def required() -> bool:
    return os.environ.get(REQUIRE, "") not in ("", "0")


def reference_client_module(name: str) -> Any:
    """Return a module that all tests of a file need. Without it they are skipped, or fail if reference clients are
    required."""
    return importlib.import_module(name) if required() else pytest.importorskip(name)


def reference_client_missing(reason: str) -> NoReturn:
    """Skip the test, or fail it when ``INFORMIX_ARROW_REQUIRE_REFERENCE_CLIENTS=1``."""
    if required():
        pytest.fail(f"{reason} ({REQUIRE} is set)", pytrace=False)
    pytest.skip(reason)
