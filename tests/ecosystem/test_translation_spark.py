"""Queries of Informix, and their translations on PySpark over the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.ecosystem.environments import environment
from tests.ecosystem.test_spark import PYSPARK
from tests.interop.jdbc import toolchain
from tests.translation.engines import Spark
from tests.translation.test_translation import check, informix_results

from informix_arrow.server import Server


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_spark_returns_the_same_rows(tmp_path: Path) -> None:
    try:
        toolchain.program("java", "Spark needs Java 17 (Debian: apt-get install openjdk-17-jre-headless)")
    except toolchain.Unavailable as missing:
        pytest.skip(str(missing))
    python = str(environment("spark", PYSPARK))
    with Server() as server:
        expected = informix_results(server)
    check("spark", Spark(python, tmp_path), expected)
