"""Entry points for other tools name the extra that is missing, and cost nothing without the tool. The server and the
demo name the missing release."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from informix_arrow.airflow import get_provider_info

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("module", "tool", "extra"),
    [
        ("informix_arrow.harlequin", "harlequin", "informix-arrow[harlequin]"),
        ("informix_arrow.ibis", "ibis", "informix-arrow[ibis]"),
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


@pytest.mark.parametrize(
    ("before", "needed"),
    [
        (
            "sys.version_info = (3, 10, 14)",
            "The embedded server needs Python 3.11 or later, as DuckDB 2 does",
        ),
        (
            "import types; sys.modules['duckdb'] = types.SimpleNamespace(__version__='1.5.6'); "
            "sys.version_info = max(sys.version_info, (3, 11))",
            "The embedded server needs DuckDB 2.0 or later. This is DuckDB 1.5.6. Run pip install --upgrade",
        ),
    ],
    ids=["Python", "DuckDB"],
)
def test_the_server_and_the_demo_say_in_a_line_which_release_they_lack(before: str, needed: str) -> None:
    """If this fails: a command starts that cannot work, and fails with an unclear error."""
    program = f"""
import sys
import informix_arrow.cli.demo_program
from informix_arrow.cli import main
{before}
for command in (["serve", "--port", "0"], ["demo"]):
    print(main(command))
"""
    environment = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines() == ["1", "1"], done.stdout + done.stderr
    assert [needed in line for line in done.stderr.splitlines()] == [True, True], done.stderr
