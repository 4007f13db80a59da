"""Runs the commands of docs/cli.md in their order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from informix_arrow.cli import main

if TYPE_CHECKING:
    from informix_arrow import Connection

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
FILES = {
    "orders.csv": "id,zip,day,amount\n1,00714,2026-01-31,1.50\n2,,2025-12-31,\n",
    "more.csv": "id,zip,day,amount\n3,00715,2026-02-01,7.25\n4,toolong,2026-02-01,1\n",
    "german.csv": "id;zip;day;amount\n5;ä;31.12.2026;1.00\n",
    "month_end.sql": "UPDATE STATISTICS; DELETE FROM orders WHERE id < 0;",
}
CODES = {
    "informix-arrow load orders more.csv --rejects refused.csv --max-errors 10": 3,
    "informix-arrow translate --to postgres month_end.sql": 0,
}


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("informix-arrow ")]


def test_each_line_of_the_page_does_what_it_says(
    url: str, conn: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFORMIX_ARROW_URL", url)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))  # for adbc-manifest
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="latin-1")
    lines = commands()
    assert len(lines) > 15
    for line in lines:
        if line.startswith("informix-arrow load copy"):
            (tmp_path / "more.csv").write_text(FILES["more.csv"].replace("toolong", "x"))
        words = shlex.split(line)[1:]
        if words[0] == "doctor":  # test_doctor.py runs all of its checks
            words += ["--only", "scroll"]
        assert main(words) == CODES.get(line, 0), line
    assert conn.read_arrow("SELECT id, zip FROM orders ORDER BY id").to_pylist() == [
        {"id": 1, "zip": "00714"},
        {"id": 2, "zip": None},
        {"id": 3, "zip": "00715"},
        {"id": 5, "zip": "ä"},
    ]
    assert (tmp_path / "doctor.json").exists()
