"""``informix-arrow capture``: lines, Debezium's envelope, Parquet, and a state from which it continues."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from tests.interop.cdc.source_fields import (
    RECORDED,
    TABLES,
    comparable,
    create_tables,
    make_changes,
    never_decreasing,
)

import informix_arrow as ifx
from informix_arrow.cli import capture, change_files, main
from informix_arrow.server import Server

pytestmark = pytest.mark.usefixtures("quick_captures")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(threads=1) as running:
        with ifx.connect(running.url("stores_demo"), autocommit=True) as conn:
            conn.execute("CREATE TABLE cc_t (id INTEGER, name VARCHAR(20), d DECIMAL(6,2), day DATE)")
        yield running


@pytest.fixture
def url(server: Server, tmp_path: Path) -> str:
    """URL of the database. The state in ``tmp_path`` is that before three transactions."""
    found = server.url("stores_demo")
    with ifx.capture(found, ["cc_t"], idle=0, timeout=1) as changes:
        list(changes)
        assert changes.token is not None
        (tmp_path / "state").write_text(changes.token)
    with ifx.connect(found, autocommit=True) as conn:
        conn.execute("INSERT INTO cc_t VALUES (1, 'a \"b\" é', 1.50, '2024-02-29')")
        conn.execute("UPDATE cc_t SET name = NULL WHERE id = 1")
        conn.execute("DELETE FROM cc_t WHERE id = 1")
    return found


def run(url: str, tmp_path: Path, *more: str) -> int:
    return main(["capture", url, "cc_t", "--idle", "0", "--state", str(tmp_path / "state"), *more])


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_copy_is_kept_equal_and_goes_on_where_it_ended(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, target = server.url("stores_demo"), str(tmp_path / "copy.duckdb")
    arguments = ["capture", url, "cc_f", "--apply", target, "--idle", "0"]
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("CREATE TABLE cc_f (id INTEGER, d DECIMAL(32), t CHAR(3))")
        assert main(arguments) == 0
        assert "has no position of changes yet" in capsys.readouterr().err
        begun = ifx.applied_token(target)
        assert begun is not None
        conn.execute("INSERT INTO cc_f VALUES (1, 1234567890123456789012345678901.5, 'a')")
        conn.execute("INSERT INTO cc_f VALUES (2, NULL, NULL)")
        assert main(arguments) == 0
        assert "2 transactions with 2 changes applied" in capsys.readouterr().err
        conn.execute("DELETE FROM cc_f WHERE id = 1")
        conn.execute("UPDATE cc_f SET t = 'b'")
        assert main(arguments) == 0
        read = ifx.applied_token(target)
        conn.execute("CREATE TABLE cc_other (id INTEGER)")  # the log grows
        assert main(arguments) == 0
        with duckdb.connect(target) as file:
            assert file.sql("SELECT * FROM cc_f").fetchall() == [(2, None, "b")]
        assert read != begun
        with pytest.raises(ifx.InterfaceError, match="is ahead of"):
            ifx.keep_token(target, begun)
        assert ifx.applied_token(target) not in (None, begun)


def test_what_does_not_go_together_with_a_copy_is_refused(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in (["--state", "s"], ["-o", "dir"], ["--format", "jsonl"]):
        assert main(["capture", url, "cc_t", "--apply", str(tmp_path / "c.duckdb"), *more]) == 2
        assert "cannot be combined" in capsys.readouterr().err
    assert main(["capture", url, "cc_t", "--apply", "mysql://me:secret@h/d"]) == 2
    reported = capsys.readouterr().err
    assert "'mysql://..' is not a target of changes" in reported
    assert "secret" not in reported


FIRST = {"id": 1, "name": 'a "b" é', "d": 1.5, "day": "2024-02-29"}
SECOND = {**FIRST, "name": None}


def test_lines_and_a_second_run_that_goes_on(
    url: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(url, tmp_path) == 0
    found = lines(capfdbinary.readouterr().out.decode())
    assert [(each["table"], each["op"], each["data"], each["before"]) for each in found] == [
        ("cc_t", "insert", FIRST, None),
        ("cc_t", "update", SECOND, FIRST),
        ("cc_t", "delete", SECOND, None),
    ]
    assert found[0]["lsn"] < found[0]["commit_lsn"] < found[1]["lsn"]
    assert run(url, tmp_path) == 0
    assert capfdbinary.readouterr().out == b""


def test_the_first_run_keeps_where_it_began_before_anything_comes(
    url: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "first"

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(capture, "_to_stdout", killed)
    assert main(["capture", url, "cc_t", "--idle", "0", "--state", str(state)]) != 0
    monkeypatch.undo()
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("INSERT INTO cc_t VALUES (77, 'nobody listened', 1.5, NULL)")
    capfdbinary.readouterr()
    assert main(["capture", url, "cc_t", "--idle", "0", "--state", str(state)]) == 0
    (line,) = lines(capfdbinary.readouterr().out.decode())
    assert (line["op"], line["data"]["id"]) == ("insert", 77)


def test_debeziums_envelope(url: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(url, tmp_path, "--format", "debezium-json") == 0
    found = lines(capfdbinary.readouterr().out.decode())
    assert [(each["op"], each["before"], each["after"]) for each in found] == [
        ("c", None, FIRST),
        ("u", FIRST, SECOND),
        ("d", SECOND, None),
    ]
    assert [found[0]["source"][name] for name in ("name", "db", "schema", "table")] == [
        "informix",
        "stores_demo",
        "informix",
        "cc_t",
    ]


def test_debeziums_source_is_as_recorded(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Compare with the output of Debezium's connector for the same changes:
    tests/interop/cdc/test_debezium_source.py."""
    with Server(threads=1) as own:
        own.create_database("shop")
        with ifx.connect(own.url("shop"), autocommit=True) as conn:
            create_tables(conn)
        with ifx.capture(own.url("shop"), TABLES, idle=0, timeout=1) as changes:
            list(changes)
            (tmp_path / "state").write_text(str(changes.token))
        make_changes(lambda: ifx.connect(own.url("shop"), autocommit=True))
        words = [
            "capture",
            own.url("shop"),
            "orders",
            "shop:informix.items",
            "--state",
            str(tmp_path / "state"),
        ]
        options = ["--idle", "0", "--format", "debezium-json", "--topic-prefix", "w"]
        assert main([*words, *options]) == 0
    found = lines(capfdbinary.readouterr().out.decode())
    assert comparable(never_decreasing(found)) == comparable(lines(RECORDED.read_text(encoding="utf-8")))


def test_a_topic_prefix_goes_with_debeziums_format(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(url, tmp_path, "--topic-prefix", "w") == 2
    assert "--topic-prefix goes with --format debezium-json." in capsys.readouterr().err
    assert main(["capture", url, "cc_t", "--apply", str(tmp_path / "t.duckdb"), "--topic-prefix", "w"]) == 2
    assert "--topic-prefix cannot be combined" in capsys.readouterr().err


def test_parquet_and_lines_in_a_directory(url: str, tmp_path: Path) -> None:
    state = (tmp_path / "state").read_text()
    assert run(url, tmp_path, "--format", "parquet", "-o", str(tmp_path / "out")) == 0
    (path,) = (tmp_path / "out").iterdir()
    assert path.name.startswith("cc_t-")
    assert pq.read_table(path).column("_op").to_pylist() == ["insert", "update", "delete"]
    (tmp_path / "state").write_text(state)
    assert run(url, tmp_path, "-o", str(tmp_path / "lines")) == 0
    (path,) = (tmp_path / "lines").iterdir()
    assert len(lines(path.read_text(encoding="utf-8"))) == 3


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_what_is_captured_again_replaces_itself_in_the_directory(
    url: str, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The process dies after it wrote the files and before the token, and the next one groups transactions
    differently."""
    state, out = tmp_path / "state", tmp_path / "out"
    out.mkdir()
    (out / "other-0000000000000001-7fffffffffffffff.jsonl").write_text("of another table")
    begin = state.read_text()
    written = set()
    for rows in ("100", "1", "2", "100"):
        state.write_text(begin)
        assert run(url, tmp_path, "--format", kind, "-o", str(out), "--max-rows", rows) == 0
        written = set(out.glob("cc_t-*"))
        assert len(written) == {"100": 1, "1": 3, "2": 2}[rows]
        found = []
        for path in sorted(written):
            assert path.suffix == f".{kind}"
            if kind == "parquet":
                found += pq.read_table(path).column("_op").to_pylist()
            else:
                found += [each["op"] for each in lines(path.read_text(encoding="utf-8"))]
        assert found == ["insert", "update", "delete"]
    assert (out / "other-0000000000000001-7fffffffffffffff.jsonl").read_text() == "of another table"
    assert not list(out.glob("*.part"))
    (path,) = written
    path.rename(path.with_name(f"cc_t-{1:016x}-{path.name.rpartition('-')[2]}"))
    state.write_text(begin)
    assert run(url, tmp_path, "--format", kind, "-o", str(out)) == 1
    assert "has changes from before and after the position in --state" in capsys.readouterr().err


def test_tables_of_any_name_have_files_of_their_own() -> None:
    names = ["a", "A", "a.b", "a:b", "a/b", "a b", "é", "a%b", "db:owner.t"]
    assert len({change_files._plain_name(name) for name in names}) == len(names)
    assert all("/" not in change_files._plain_name(name) for name in names)


def test_off_ends_the_full_row_logging_that_alter_table_refuses(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.url("stores_demo")
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("CREATE TABLE cc_off (id INTEGER)")
        assert main(["capture", url, "cc_off", "--idle", "0"]) == 0
        with pytest.raises(ifx.OperationalError) as refused:
            conn.execute("ALTER TABLE cc_off ADD name CHAR(3)")
        assert refused.value.sqlcode == -19816
        assert "informix-arrow capture --off" in str(refused.value)
        assert main(["capture", url, "cc_off", "--off"]) == 0
        conn.execute("ALTER TABLE cc_off ADD name CHAR(3)")
    assert main(["capture", url, "cc_off", "--off", "--idle", "0"]) == 2
    assert "--off and --idle cannot be combined" in capsys.readouterr().err


def test_wrong_uses(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = server.url("stores_demo")
    assert main(["capture", url, "cc_t", "--format", "parquet"]) == 2
    (tmp_path / "state").write_text("")
    assert run(url, tmp_path) == 1
    (tmp_path / "state").write_text("nonsense")
    assert run(url, tmp_path) == 2
    assert main(["capture", url, "cc_none", "--idle", "0"]) == 1
    said = capsys.readouterr().err
    assert "Name it with -o DIR" in said
    assert "is empty" in said
    assert "-83705" in said
    assert sys.stdout is not None
