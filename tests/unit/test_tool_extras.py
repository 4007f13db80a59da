"""What other tools find us by says which extra is missing, and costs nothing where the tool is not there."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from informix_arrow.airflow import get_provider_info


@pytest.mark.parametrize(
    ("module", "tool", "extra"),
    [
        ("informix_arrow.harlequin", "harlequin", "informix-arrow[harlequin]"),
        ("informix_arrow.airflow.hook", "airflow", "informix-arrow[airflow]"),
    ],
)
def test_a_tool_that_is_not_installed_is_named_with_its_extra(module: str, tool: str, extra: str) -> None:
    program = f"""
import sys
sys.modules['{tool}'] = None
try:
    import {module}
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert f"pip install '{extra}'" in done.stdout


def test_airflows_entry_point_needs_nothing_of_airflow() -> None:
    [found] = [
        each
        for each in entry_points(group="apache_airflow_provider")
        if each.module == "informix_arrow.airflow"
    ]
    assert found.load() is get_provider_info
    assert get_provider_info()["package-name"] == "informix-arrow"
