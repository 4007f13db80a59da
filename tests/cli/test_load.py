"""``informix-arrow load``: types from the table, refused rows with their lines, commits, and resuming after a crash."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fault_proxy import eventually
from tests.subprocess_server import ForkedCommand

import informix_arrow
from informix_arrow.cli import load

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

    from informix_arrow import Connection
    from informix_arrow.server import Server

COLUMNS = """id INT PRIMARY KEY, zip CHAR(5), name VARCHAR(10) NOT NULL, d DATE, amount DECIMAL(8,2),
    digits DECIMAL(16), raw BYTE, l LIST(INT NOT NULL), at DATETIME YEAR TO SECOND, span INTERVAL DAY TO SECOND,
    ok BOOLEAN"""

GOOD = """zip,name,id,d,amount,digits,raw,l,at,span,ok
00714,"ab",1,2026-01-31,1.50,1.2345678901234e-20,00ff,"LIST{1,2}",2026-01-02 03:04:05,3 04:05:06,t
x,"",2,,,,,,,,
"",é,-2147483647,0001-01-01,-999999.99,,"",LIST{},,,false
"""
ROWS = [
    {
        "id": -2147483647,
        "zip": "",
        "name": "é",
        "d": date(1, 1, 1),
        "amount": Decimal("-999999.99"),
        "digits": None,
        "raw": b"",
        "l": [],
        "at": None,
        "span": None,
        "ok": False,
    },
    {
        "id": 1,
        "zip": "00714",
        "name": "ab",
        "d": date(2026, 1, 31),
        "amount": Decimal("1.50"),
        "digits": "0.000000000000000000012345678901234",
        "raw": b"\x00\xff",
        "l": [1, 2],
        "at": datetime(2026, 1, 2, 3, 4, 5),
        "span": 273906,
        "ok": True,
    },
    {
        **dict.fromkeys(["d", "amount", "digits", "raw", "l", "at", "span", "ok"]),
        "id": 2,
        "zip": "x",
        "name": "",
    },
]


@pytest.fixture
def table(conn: Connection) -> str:
    conn.execute(f"CREATE TABLE o ({COLUMNS})")
    return "o"


@pytest.fixture
def small(conn: Connection) -> str:
    conn.execute("CREATE TABLE s (id INT PRIMARY KEY, name VARCHAR(5), tail DATE)")
    return "s"


def rows_of(conn: Connection, table: str = "o") -> list[dict[str, Any]]:
    found = conn.read_arrow(f"SELECT * FROM {table} ORDER BY id", floating_decimals="string").to_pylist()
    for row in found:
        if row.get("span") is not None:
            row["span"] = int(row["span"].total_seconds())
    return found


def file(tmp_path: Path, text: str | bytes, name: str = "x.csv") -> str:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_the_table_says_what_texts_of_a_csv_become(
    cli: Cli, url: str, conn: Connection, table: str, tmp_path: Path
) -> None:
    ran = cli("load", url, "o", file(tmp_path, GOOD))
    assert (ran.code, ran.out, ran.err) == (0, "3 rows into o\n", "")
    assert rows_of(conn) == ROWS


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "json", "jsonl", "parquet", "arrow", "unl", "unl.gz"])
def test_what_was_unloaded_is_loaded_again(
    cli: Cli, url: str, conn: Connection, table: str, tmp_path: Path, suffix: str
) -> None:
    assert cli("load", url, "o", file(tmp_path, GOOD)).code == 0
    path = str(tmp_path / f"out.{suffix}")
    assert cli("unload", url, "o", "-o", path).code == 0
    conn.execute("DELETE FROM o")
    ran = cli("load", url, "o", path)
    assert (ran.code, ran.err) == (0, "")
    assert rows_of(conn) == ROWS


BAD = """id,name,tail
1,a,2026-01-01
two,b,2026-01-01

3,toolong,2026-01-01
4,"c
d",2026-02-31
5,e
1,f,2026-01-01
7,g,2026-01-07
"""


def test_refused_rows_come_back_in_the_format_of_the_file_with_their_lines(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path
) -> None:
    path, rejects = file(tmp_path, BAD), tmp_path / "refused.csv"
    ran = cli("load", url, "s", path, "--rejects", str(rejects))
    assert (ran.code, ran.out, ran.err) == (3, "2 rows into s, 5 refused\n", "")
    log = [json.loads(line) for line in (tmp_path / "refused.csv.jsonl").read_text().splitlines()]
    assert [(each["line"], each["sqlcode"], each["isam"]) for each in log] == [
        (3, None, None),
        (5, None, None),
        (6, None, None),
        (8, None, None),
        (9, -268, -100),
    ]
    assert [each["column"] for each in log[:3]] == ["id", "name", "tail"]
    assert all(each["file"] == path for each in log)
    assert rejects.read_text() == (
        '"id","name","tail"\n"two","b","2026-01-01"\n"3","toolong","2026-01-01"\n"4","c\nd","2026-02-31"\n5,e\n'
        '"1","f","2026-01-01"\n'
    )
    repaired = rejects.read_text().replace("two", "2").replace("toolong", "t").replace("02-31", "02-28")
    rejects.write_text(repaired.replace("5,e", "5,e,").replace('"1"', "6"))
    assert cli("load", url, "s", str(rejects)).code == 0
    assert [row["id"] for row in rows_of(conn, "s")] == [1, 2, 3, 4, 5, 6, 7]


def test_refused_rows_of_json_and_parquet_keep_their_formats_too(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path
) -> None:
    lines = [
        '{"id": 1, "name": "a"}',
        '{"id":  1.0, "name": "toolong"}',
        "nonsense",
        '{"id": 2, "tail": "x"}',
    ]
    path = file(tmp_path, "\n".join(lines), "x.jsonl")
    assert cli("load", url, "s", path, "--rejects", str(tmp_path / "r.jsonl")).code == 3
    assert (tmp_path / "r.jsonl").read_text().splitlines() == lines[1:]
    log = [json.loads(line) for line in (tmp_path / "r.jsonl.jsonl").read_text().splitlines()]
    assert [each["line"] for each in log] == [2, 3, 4]
    path = file(tmp_path, '[{"id": 5, "name": "toolong"},\n {"id": 6}, {"id": 6}]', "x.json")
    assert cli("load", url, "s", path, "--rejects", str(tmp_path / "r.json")).code == 3
    assert json.loads((tmp_path / "r.json").read_text()) == [{"id": 5, "name": "toolong"}, {"id": 6}]
    frame = pa.table(
        {"id": [1, 8, 9], "name": ["a", "toolong", None], "tail": [None, None, date(2026, 1, 1)]}
    )
    pq.write_table(frame, tmp_path / "x.parquet")
    ran = cli("load", url, "s", str(tmp_path / "x.parquet"), "--rejects", str(tmp_path / "r.parquet"))
    assert ran.code == 3
    assert pq.read_table(tmp_path / "r.parquet").to_pylist() == frame.slice(0, 2).to_pylist()
    log = [json.loads(line) for line in (tmp_path / "r.parquet.jsonl").read_text().splitlines()]
    assert [(each["row"], each["sqlcode"]) for each in log] == [(0, -268), (1, None)]
    assert [row["id"] for row in rows_of(conn, "s")] == [1, 6, 9]


def test_lists_and_rows_of_json_come_whole_or_are_refused_by_line(
    cli: Cli, url: str, conn: Connection, tmp_path: Path
) -> None:
    """Regression: a NULL in a ROW column ended a load with an error of Arrow, and a field unknown to the type was
    ignored."""
    conn.execute("CREATE TABLE n (id INT, r ROW(x INT, y VARCHAR(10)), l LIST(INT NOT NULL), tail INT)")
    lines = [
        '{"id": 1, "r": {"x": 1, "y": "a"}, "l": [1, 2], "tail": 1}',
        '{"id": 2, "r": null, "l": null, "tail": 2}',
        '{"id": 3, "r": {"x": null}, "l": [], "tail": 3}',
        '{"id": 4, "r": {"x": 1, "z": 5}, "l": [], "tail": 4}',
        '{"id": 5, "r": {"x": "one", "y": "a"}, "l": [], "tail": 5}',
        '{"id": 6, "r": null, "l": [1, "two"], "tail": 6}',
        '{"id": 7, "r": 5, "l": null, "tail": 7}',
    ]
    path = file(tmp_path, "\n".join(lines), "x.jsonl")
    ran = cli("load", url, "n", path)
    assert (ran.code, "x.jsonl, line 4: Column 'r': 'z' is not a field of struct<" in ran.err) == (1, True)
    assert not rows_of(conn, "n")
    assert cli("load", url, "n", path, "--rejects", str(tmp_path / "r.jsonl")).code == 3
    assert (tmp_path / "r.jsonl").read_text().splitlines() == lines[3:]
    log = [json.loads(line) for line in (tmp_path / "r.jsonl.jsonl").read_text().splitlines()]
    assert [each["text"][:25].rstrip() for each in log[1:]] == [
        'Column \'r\': {"x": "one",',
        'Column \'l\': ["1", "two"]',
        "Column 'r': \"5\" is not a",
    ]
    assert rows_of(conn, "n") == [
        {"id": 1, "r": {"x": 1, "y": "a"}, "l": [1, 2], "tail": 1},
        {"id": 2, "r": None, "l": None, "tail": 2},
        {"id": 3, "r": {"x": None, "y": None}, "l": [], "tail": 3},
    ]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("31.12.2026|1|\n", "(expected MM/DD/YYYY). Name the order of the file's dates with --date-format."),
        ("12/31/2026|1,5|\n", "is not a number. Set DBMONEY=, in the environment to read decimal commas."),
        ("12/31/2026\n|1|\n", "A line break inside a text needs a backslash before it."),
    ],
)
def test_hints_for_unl_files_name_what_the_command_has(
    cli: Cli, url: str, tmp_path: Path, text: str, hint: str
) -> None:
    path = file(tmp_path, text, "hint.unl")
    types = ("--mode", "create", "--types", "d=DATE", "--types", "n=DECIMAL(5,2)")
    ran = cli("load", url, "hinted", path, *types)
    assert ran.code == 1
    assert hint in ran.err
    assert "dbmoney=" not in ran.err
    assert "join_lines" not in ran.err


def test_rows_of_unl_know_their_lines_and_come_back_as_they_stood(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path
) -> None:
    path = file(
        tmp_path,
        "1|a\\|\\\\|01/02/2026|\n2|b\\\nc||\ntwo|x||\n3|toolong||\n4|d\n1|e|\\ |\n5|\\ |12/31/2026|\n1|f||\n6||",
        "x.unl",
    )
    rejects = tmp_path / "r.unl"
    ran = cli("load", url, "s", path, "--rejects", str(rejects))
    assert (ran.code, ran.out, ran.err) == (3, "4 rows into s, 5 refused\n", "")
    assert [tuple(row.values()) for row in rows_of(conn, "s")] == [
        (1, "a|\\", date(2026, 1, 2)),
        (2, "b\nc", None),
        (5, "", date(2026, 12, 31)),
        (6, None, None),
    ]
    assert rejects.read_text() == "two|x||\n3|toolong||\n4|d\n1|e|\\ |\n1|f||\n"
    log = [json.loads(line) for line in (tmp_path / "r.unl.jsonl").read_text().splitlines()]
    assert [(each["line"], each["sqlcode"]) for each in log] == [
        (4, None),
        (5, None),
        (6, None),
        (7, None),
        (9, -268),
    ]
    conn.execute("DELETE FROM s")
    ran = cli("load", url, "s", path)
    assert ran.code == 1
    assert f"{path}, line 4: Column 'id'" in ran.err
    assert rows_of(conn, "s") == []
    path = file(tmp_path, "2026-12-31|7|\n", "y.unl")
    assert cli("load", url, "s", path, "--columns", "tail,id", "--date-format", "Y4MD-").code == 0
    assert (
        cli("load", url, "n", path, "--mode", "create", "--types", "a=CHAR(10)", "--types", "b=INT").code == 0
    )
    assert [tuple(row.values()) for row in rows_of(conn, "s")] == [(7, None, date(2026, 12, 31))]
    assert conn.read_arrow("SELECT * FROM n").to_pylist() == [{"a": "2026-12-31", "b": 7}]


@pytest.mark.parametrize(
    ("kind", "data", "loaded", "lines", "refused"),
    [
        ("csv", b"id,name\n1,\xff\n2,b\n3,\xc3,x\n4,c\x00\n5,e", [2, 5], [2, 4, 5],
         b'"id","name"\n"1","\xff"\n3,\xc3,x\n"4","c\x00"\n'),
        ("csv", b"id,name", [], [], None),
        ("csv", b'\xef\xbb\xbf"id","name"\r\n1,a\r\n\xff\r\n2,b\r\r\n', [1, 2], [3], b'"id","name"\n\xff\n'),
        ("csv", b"id,name\n1,\xf4\x8f\xbe\x81\n\xff\n", [1], [3], b'"id","name"\n\xff\n'),
        ("jsonl", b'{"id":1,"name":"\xff"}\r\n{"id":2,"name":"\\ud800"}\n{"id":3,"name":"c"}', [3], [1, 2],
         b'{"id":1,"name":"\xff"}\n{"id":2,"name":"\\ud800"}\n'),
        ("jsonl", b'{"id":1,"name":"a","name":"b"}\n' + b"[" * 100_000 + b'\n{"id":2}', [2], [1, 2],
         b'{"id":1,"name":"a","name":"b"}\n' + b"[" * 100_000 + b"\n"),
        ("json", b'[{"id":1,"name":"\xff"},\n{"id":2,"name":"b"}]\n\n', [2], [1], b'[\n{"id":1,"name":"\xff"}\n]\n'),
        ("unl", b"\xef\xbb\xbf1|\xff|\n2|b|\n3|c|x|\r\n4|\xe9\\\n|\n\n5|e|", [2, 5], [1, 3, 4, 6],
         b"1|\xff|\n3|c|x|\r\n4|\xe9\\\n|\n\n"),
        ("unl", b"\xef\xbb\xbf", [], [], None),
    ],
)  # fmt: skip
def test_each_row_is_loaded_or_refused_whatever_its_bytes_are(
    cli: Cli,
    url: str,
    conn: Connection,
    tmp_path: Path,
    kind: str,
    data: bytes,
    loaded: list[int],
    lines: list[int],
    refused: bytes | None,
) -> None:
    """Regression: an invalid byte ended the load, in some cases with a traceback."""
    conn.execute("CREATE TABLE s (id INT PRIMARY KEY, name VARCHAR(5))")
    path, rejects = tmp_path / f"x.{kind}", tmp_path / "r"
    path.write_bytes(data)
    ran = cli("load", url, "s", str(path), "--rejects", str(rejects))
    assert (ran.code, ran.err) == (3 if lines else 0, "")
    assert [row["id"] for row in rows_of(conn, "s")] == loaded
    log = tmp_path / "r.jsonl"
    reported = [json.loads(line) for line in log.read_text().splitlines()] if lines else []
    assert [each["line"] for each in reported] == lines
    assert all(each["text"] for each in reported)
    assert (rejects.read_bytes() if rejects.exists() else None) == refused


@pytest.mark.parametrize(
    ("kind", "data", "encoding", "says"),
    [
        ("csv", b"id,name\n1,a\n2,\x81\n", "cp1252", "x.csv, line 3: The byte 81 is not text in cp1252"),
        (
            "csv",
            b"id,n\xff\n1,a\n",
            "utf-8",
            "x.csv, line 1: The header cannot be read. The byte ff is not text",
        ),
        ("csv", "id,name\n1,é\n".encode(), "ascii", "x.csv, line 2: The byte c3 is not text in ascii"),
        ("unl", b"1|a|\n2|\xff|\n", "utf-8", "x.unl, line 2: The byte ff is not text"),
        ("jsonl", b"\xff\nnull\n", "utf-8", "x.jsonl, line 1: The byte ff is not text"),
        (
            "json",
            b'[{"id":1}]\n\n[{"id":2}]',
            "utf-8",
            "x.json, line 3: There is text after the end of the array",
        ),
    ],
)
def test_bytes_that_are_no_text_end_a_load_with_their_line(
    cli: Cli, url: str, conn: Connection, tmp_path: Path, kind: str, data: bytes, encoding: str, says: str
) -> None:
    """Regression: data after an array of JSON was ignored, including its rows."""
    conn.execute("CREATE TABLE s (id INT PRIMARY KEY, name VARCHAR(5))")
    (tmp_path / f"x.{kind}").write_bytes(data)
    ran = cli("load", url, "s", str(tmp_path / f"x.{kind}"), "--encoding", encoding)
    assert ran.code == 1
    assert says in ran.err
    assert ran.err.count("\n") == 1
    assert not rows_of(conn, "s")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_refused_rows_have_the_encoding_of_the_file_and_are_loaded_again(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path, encoding: str
) -> None:
    """Regression: each row began with a byte order mark."""
    path, rejects = tmp_path / "x.csv", tmp_path / "r.csv"
    path.write_bytes("id,name\n1,a\n2,toolongé\n3,toolongü\n4\n".encode(encoding))
    words = ["load", url, "s", str(path), "--encoding", encoding]
    more = ["--commit-every", "1", "--resume", "--rejects", str(rejects), "--max-errors"]
    assert cli(*words, *more, "1").code == 1
    assert cli(*words, *more, "3").code == 3
    assert rejects.read_bytes() == '"id","name"\n"2","toolongé"\n"3","toolongü"\n4\n'.encode(encoding)
    repaired = rejects.read_bytes().decode(encoding).replace("toolong", "").replace("\n4\n", "\n4,\n")
    path.write_bytes(repaired.encode(encoding))
    assert cli(*words).code == 0
    assert [row["name"] for row in rows_of(conn, "s")] == ["a", "é", "ü", None]


def test_the_first_refused_row_ends_a_load_by_default(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path
) -> None:
    path = file(tmp_path, "id,name\n1,a\n\n1,b\n2,c\n")
    ran = cli("load", url, "s", path)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"informix-arrow: {path}, line 4 (id=")
    assert "Nothing of it is in the table" in ran.err
    assert ran.err.count("\n") == 1
    assert rows_of(conn, "s") == []
    ran = cli("load", url, "s", path, "--on-error", "collect")
    assert (ran.code, ran.out) == (3, "2 rows into s, 1 refused\n")
    assert "line 4" in ran.err
    assert cli("load", url, "s", path, "--on-error", "abort", "--rejects", "x").code == 2


@pytest.mark.parametrize("suffix", ["gz", "bz2", "zst"])
def test_a_packed_file_that_was_cut_is_no_whole_one(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"cut.csv.{suffix}"
    text = b"id,name\n" + b"".join(
        b"%d,a\n" % number for number in random.Random(1).sample(range(10**6), 50_000)
    )
    with pa.CompressedOutputStream(str(path), {"gz": "gzip", "zst": "zstd"}.get(suffix, suffix)) as file:
        file.write(text)
    whole = path.read_bytes()
    for end in (20, len(whole) // 2, len(whole) - 4):
        path.write_bytes(whole[:end])
        ran = cli("load", url, "s", str(path))
        assert ran.code == 1
        assert f"{path} is truncated or damaged" in ran.err
        assert rows_of(conn, "s") == []


def test_a_refused_row_is_named_by_the_columns_of_the_file(cli: Cli, url: str, tmp_path: Path) -> None:
    path = file(tmp_path, "id,zip\n1,12345\n2,123456\n")
    ran = cli("load", url, "made", path, "--mode", "create", "--types", "id=INT", "--types", "zip=CHAR(5)")
    assert ran.code == 1
    assert f"{path}, line 3 (id='2', zip='123456'), column 'zip'" in ran.err
    assert "use --on-error collect to set such rows aside" in ran.err


def test_above_max_errors_nothing_is_loaded(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "_CHUNK_ROWS", 2)
    path = file(tmp_path, BAD)
    assert cli("load", url, "s", path, "--max-errors", "5").code == 3
    ran = cli("load", url, "s", path, "--max-errors", "-1")
    assert (ran.code, ran.err) == (2, "informix-arrow: --max-errors -1: It must be at least 0.\n")
    assert [row["id"] for row in rows_of(conn, "s")] == [1, 7]
    conn.execute("DELETE FROM s")
    ran = cli("load", url, "s", path, "--max-errors", "4", "--rejects", str(tmp_path / "r.csv"))
    assert ran.code == 1
    assert f"more than --max-errors 4. Nothing was loaded. The first: {path}, line 3: " in ran.err
    assert rows_of(conn, "s") == []
    assert len((tmp_path / "r.csv.jsonl").read_text().splitlines()) == 5
    ran = cli("load", url, "s", path, "--max-errors", "4", "--mode", "upsert", "--key", "id")
    assert ran.code == 1
    assert rows_of(conn, "s") == []


def test_with_commits_on_the_way_the_rows_before_stay(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path
) -> None:
    path = file(tmp_path, "id,name\n" + "".join(f"{n},{'toolong' if n > 6 else 'ok'}\n" for n in range(10)))
    ran = cli(
        "load",
        url,
        "s",
        path,
        "--commit-every",
        "4",
        "--max-errors",
        "2",
        "--rejects",
        str(tmp_path / "r.csv"),
    )
    assert ran.code == 1
    assert "7 rows are committed. Run the same command again" in ran.err
    assert [row["id"] for row in rows_of(conn, "s")] == [0, 1, 2, 3, 4, 5, 6]
    conn.execute("DELETE FROM s")
    ran = cli("load", url, "s", path, "--commit-every", "4")
    assert ran.code == 1
    assert "line 9" in ran.err
    assert [row["id"] for row in rows_of(conn, "s")] == [0, 1, 2, 3]


def test_files_come_from_standard_input_and_patterns(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file(tmp_path, "id,name\n1,a\n", "p1.csv")
    file(tmp_path, "name,id\nb,2\n", "p2.csv")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id\n3\n")))
    assert cli("load", url, "s", str(tmp_path / "p*.csv")).code == 0
    assert cli("load", url, "s", "-").code == 0
    assert [(row["id"], row["name"]) for row in rows_of(conn, "s")] == [(1, "a"), (2, "b"), (3, None)]
    assert cli("load", url, "s", str(tmp_path / "q*.csv")).code == 2
    conn.execute("DELETE FROM s")
    file(tmp_path, "id,other\n9,b\n", "p3.csv")
    ran = cli("load", url, "s", str(tmp_path / "p*.csv"))
    assert ran.code == 1
    assert "p3.csv has other columns" in ran.err
    assert rows_of(conn, "s") == []


def test_columns_are_named_or_in_order(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path
) -> None:
    assert cli("load", url, "s", file(tmp_path, "x,y\n1,a\n"), "--columns", "id,name").code == 0
    assert cli("load", url, "s", file(tmp_path, "x,y,z\n2,b,?\n"), "--columns", "x=id,y=name").code == 0
    assert [(row["id"], row["name"]) for row in rows_of(conn, "s")] == [(1, "a"), (2, "b")]
    ran = cli("load", url, "s", file(tmp_path, "id,nome\n1,a\n"))
    assert ran.code == 1
    assert "nome" in ran.err
    assert cli("load", url, "s", file(tmp_path, "id\n1\n"), "--columns", "a=b,c").code == 2


def test_dates_nulls_delimiters_and_encodings_can_be_said(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path
) -> None:
    path = file(tmp_path, 'id;name;tail\n1;ä;31.12.2026\n2;\\N;\\N\n3;"";1.2.2026\n'.encode("latin-1"))
    words = ["--delimiter", ";", "--encoding", "latin-1", "--null", "\\N", "--date-format", "%d.%m.%Y"]
    assert cli("load", url, "s", path, *words).code == 0
    assert [tuple(row.values()) for row in rows_of(conn, "s")] == [
        (1, "ä", date(2026, 12, 31)),
        (2, None, None),
        (3, "", date(2026, 2, 1)),
    ]
    path = file(tmp_path, "id;name;tail\n4;ä;31.02.2026\n5;x;2026-01-01\n".encode("latin-1"))
    ran = cli("load", url, "s", path, *words, "--rejects", str(tmp_path / "r.csv"))
    assert ran.code == 3
    assert (tmp_path / "r.csv").read_bytes().decode("latin-1").splitlines()[1:] == [
        '"4";"ä";"31.02.2026"',
        '"5";"x";"2026-01-01"',
    ]
    assert cli("load", url, "s", path, "--encoding", "nonsense").code == 2
    ran = cli("load", url, "s", path, *words[:2])
    assert ran.code == 1
    assert "line 2" in ran.err


def test_modes_make_replace_empty_and_upsert_tables(
    cli: Cli, url: str, conn: Connection, tmp_path: Path
) -> None:
    path = file(tmp_path, "id,name\n1,a\n2,b\n")
    ran = cli("load", url, "n", path, "--mode", "create")
    assert ran.code == 2
    assert "--types id=TYPE --types name=TYPE" in ran.err
    words = ["--types", "id=INT", "--types", "name=CHAR(3)", "--primary-key", "id"]
    assert cli("load", url, "n", path, "--mode", "create", *words).code == 0
    assert conn.columns("n").column("data_type").to_pylist() == ["INTEGER", "CHAR(3)"]
    assert cli("load", url, "n", path, "--mode", "create", *words).code == 1
    changed = file(tmp_path, "id,name\n2,c\n3,d\n", "y.csv")
    assert cli("load", url, "n", changed, "--mode", "upsert", "--key", "id").code == 0
    assert [row["name"] for row in rows_of(conn, "n")] == ["a", "c", "d"]
    assert cli("load", url, "n", changed, "--mode", "truncate").code == 0
    assert [row["name"] for row in rows_of(conn, "n")] == ["c", "d"]
    assert cli("load", url, "n", path, "--mode", "replace").code == 0
    assert [row["name"] for row in rows_of(conn, "n")] == ["a", "b"]
    assert conn.columns("n").column("data_type").to_pylist() == ["INTEGER", "CHAR(3)"]
    assert cli("load", url, "n", file(tmp_path, "id\n9\n", "z.csv"), "--mode", "create_append").code == 0
    assert [row["id"] for row in rows_of(conn, "n")] == [1, 2, 9]
    assert cli("load", url, "n", path, "--mode", "upsert").code == 2
    assert cli("load", url, "n", path, "--types", "id=INT").code == 2


@pytest.mark.parametrize(
    ("words", "stored"),
    [
        (("--inexact", "round"), [Decimal("5.56"), Decimal("-0.01"), Decimal("99999999.99")]),
        (("--inexact", "truncate"), [Decimal("5.55"), Decimal("0.00"), Decimal("99999999.99")]),
    ],
)
def test_digits_that_a_column_cannot_hold_are_refused_rounded_or_dropped(
    cli: Cli, url: str, conn: Connection, tmp_path: Path, words: Sequence[str], stored: list[Decimal]
) -> None:
    conn.execute("CREATE TABLE prices (price DECIMAL(10,2), id INT)")
    path = file(tmp_path, "price,id\n5.555,1\n-0.005,2\n99999999.99,3\n")
    for ran in (cli("load", url, "prices", path), cli("load", url, "prices", path, "--inexact", "error")):
        assert (ran.code, ran.out) == (1, "")
        assert "--inexact round or --inexact truncate" in ran.err
        assert "inexact=" not in ran.err
    assert rows_of(conn, "prices") == []
    assert cli("load", url, "prices", path, *words).code == 0
    assert rows_of(conn, "prices") == [{"price": each, "id": i} for i, each in enumerate(stored, 1)]


def test_timestamps_with_a_time_zone_need_the_zone_of_the_table(
    cli: Cli, url: str, conn: Connection, tmp_path: Path
) -> None:
    conn.execute("CREATE TABLE moments (at DATETIME YEAR TO SECOND, id INT)")
    moment = datetime(2026, 7, 1, 12, tzinfo=timezone.utc)
    data = pa.table({"at": pa.array([moment], pa.timestamp("us", "UTC")), "id": pa.array([1], pa.int32())})
    pq.write_table(data, tmp_path / "x.parquet")
    ran = cli("load", url, "moments", str(tmp_path / "x.parquet"))
    assert ran.code == 1
    assert "--time-zone Europe/Berlin" in ran.err
    ran = cli("load", url, "moments", str(tmp_path / "x.parquet"), "--time-zone", "Europe/Berlin")
    assert (ran.code, ran.err) == (0, "")
    assert rows_of(conn, "moments") == [{"at": datetime(2026, 7, 1, 14), "id": 1}]


def test_a_table_that_foreign_keys_refer_to_is_replaced_with_cascade_only(
    cli: Cli, url: str, conn: Connection, tmp_path: Path
) -> None:
    conn.execute("CREATE TABLE parent (id INT PRIMARY KEY)")
    conn.execute("CREATE TABLE child (parent_id INT REFERENCES parent (id))")
    path = file(tmp_path, "id\n1\n")
    words = ("load", url, "parent", path, "--mode", "replace", "--types", "id=BIGINT")
    ran = cli(*words)
    assert ran.code == 1
    assert "--cascade" in ran.err
    assert "--mode truncate" in ran.err
    assert cli(*words, "--cascade").code == 0
    assert rows_of(conn, "parent") == [{"id": 1}]
    assert cli("load", url, "parent", path, "--cascade").code == 2


def test_a_dry_run_shows_the_mapping_and_loads_nothing(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path
) -> None:
    ran = cli("load", url, "s", file(tmp_path, "NAME,id\na,1\n"), "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[1:] == ['"NAME","string","name","VARCHAR(5)"', '"id","string","id","INTEGER"']
    assert rows_of(conn, "s") == []


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["nowhere", "x.csv"], 1, "'nowhere' does not exist"),
        (["s", "nothere.csv"], 1, "No such file"),
        (["s", "."], 2, "--format"),
        (["s", ".", "--format", "csv"], 1, "is a directory"),
        (["s", "x.csv", "--format", "parquet"], 1, "not a Parquet file"),
        (["s", "x.csv", "--delimiter", "7"], 2, "--delimiter"),
        (["s; DROP TABLE s", "x.csv"], 2, "not a table name"),
        (["s", "x.csv", "--resume"], 2, "--commit-every"),
        (["s", "x.csv", "--mode", "upsert", "--commit-every", "1", "--resume"], 2, "one MERGE"),
        (
            ["s", "x.csv", "--mode", "truncate", "--commit-every", "1", "--resume"],
            2,
            "creates or empties the table",
        ),
        (["s", "-", "--commit-every", "1", "--resume"], 2, "standard input"),
        (["s"], 2, "FILE is missing"),
        (["s", "x.csv", "--rejects", "y.csv"], 2, "exists already"),
        (["s", "bad.csv"], 1, "bad.csv, line 3: The row has 1 field, but the header has 2: '2'."),
        (["s", "utf.csv"], 1, "utf.csv, line 2:"),
        (["s", "quote.csv"], 1, "quote.csv: A quote is never closed"),
    ],
)
def test_bad_input_is_one_line_and_loads_nothing(
    cli: Cli,
    url: str,
    conn: Connection,
    small: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: int,
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id\n3\n")))
    file(tmp_path, "id,name\n1,a\n")
    file(tmp_path, "", "y.csv")
    file(tmp_path, "id,name\n1,a\n2\n", "bad.csv")
    file(tmp_path, b"id,name\n1,\xff\n", "utf.csv")
    file(tmp_path, 'id,name\n1,"a\n,b"",\n', "quote.csv")
    before = sorted(tmp_path.iterdir())
    ran = cli("load", url, *words)
    assert (ran.code, ran.out) == (code, "")
    assert says in ran.err
    assert ran.err.count("\n") == 1
    assert rows_of(conn, "s") == []
    assert sorted(tmp_path.iterdir()) == before


def test_a_load_into_a_database_without_a_log_says_what_stays(
    cli: Cli, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.create_database("cli_unlogged", mode="unlogged")
    monkeypatch.setenv("INFORMIX_ARROW_PASSWORD", server.password)
    try:
        url = server.url("cli_unlogged").replace(f":{server.password}@", "@")
        assert cli("query", url, "CREATE TABLE s (id INT PRIMARY KEY, tail CHAR(1))").code == 0
        path = file(tmp_path, "id,tail\n1,a\n1,b\n2,c\n")
        ran = cli("load", url, "s", path, "--max-errors", "0")
        assert ran.code == 1
        assert "no transaction log" in ran.err
        assert cli("load", url, "s", path, "--commit-every", "1", "--resume").code == 1
    finally:
        server.drop_database("cli_unlogged")


def many(tmp_path: Path, rows: int) -> str:
    text = io.StringIO()
    text.write("id,name,tail\n")
    for row in range(rows):
        text.write(f"{row},{'toolong' if row % 1000 == 7 else 'x'},2026-01-01\n")
        if row % 5000 == 11:
            text.write("broken\n")
    return file(tmp_path, text.getvalue())


@pytest.fixture
def elsewhere(server_process: str, request: pytest.FixtureRequest) -> Iterator[tuple[str, Connection, str]]:
    """A connection to a table on a server in another process, with its URL and the table's name."""
    name = f"resumed_{os.getpid()}"
    with informix_arrow.connect(server_process, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {name} (id INT PRIMARY KEY, name VARCHAR(5), tail DATE)")
        yield server_process, connection, name
        connection.execute(f"DROP TABLE {name}")


def test_a_load_that_was_killed_goes_on_behind_what_was_committed(
    cli: Cli, elsewhere: tuple[str, Connection, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, connection, name = elsewhere
    monkeypatch.setenv("INFORMIX_ARROW_URL", url)
    rows = 12_000
    rejects = tmp_path / "r.csv"
    words = [
        "load",
        name,
        many(tmp_path, rows),
        "--commit-every",
        "200",
        "--resume",
        "--rejects",
        str(rejects),
    ]
    killed, pause = 0, threading.Event()
    for _ in range(3):
        before = count(connection, name)
        with ForkedCommand(*words, environment={"INFORMIX_ARROW_URL": url}) as process:
            while process.poll() is None and count(connection, name) == before:
                pause.wait(0.01)  # one of 60 commits, so there is time for it
            killed += process.poll() is None
            process.kill()
        assert not rejects.exists()
    assert killed
    assert 0 < count(connection, name) < rows
    ran = cli(*words)
    assert (ran.code, ran.err) == (3, "")
    found = connection.read_arrow(f"SELECT id FROM {name} ORDER BY id").column("id").to_pylist()
    assert found == [row for row in range(rows) if row % 1000 != 7]
    log = [json.loads(line) for line in (tmp_path / "r.csv.jsonl").read_text().splitlines()]
    assert len(log) == 12 + 3
    assert len({each["line"] for each in log}) == 15
    assert rejects.read_text().count("broken\n") == 3
    ran = cli(*words)
    assert (ran.code, ran.out.partition(":")[0], ran.err) == (3, "already loaded", "")
    assert count(connection, name) == len(found)


def count(connection: Connection, name: str) -> int:
    with connection.query(f"SELECT COUNT(*) FROM {name}", isolation="dirty") as result:
        return int(result.read_all().column(0)[0].as_py())


def test_going_on_with_a_file_that_has_changed_is_refused(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path
) -> None:
    path = file(tmp_path, "id,name\n1,a\n2,b\n3,toolong\n")
    words = ["load", url, "s", path, "--commit-every", "1", "--resume"]
    ran = cli(*words)
    assert ran.code == 1
    assert "2 rows are committed. Run the same command again to continue after them" in ran.err
    file(tmp_path, "id,name\n1,a\n2,b\n3,c\n")
    os.utime(path, (1, 1))
    ran = cli(*words)
    assert ran.code == 1
    assert "stopped after 2 committed rows. The files or the options have changed since." in ran.err
    assert len(rows_of(conn, "s")) == 2
    assert cli("load", url, "s", path, "--forget").out == "1 records of loads of these files into s deleted\n"
    assert cli("load", url, "s", path, "--forget").out.startswith("0 records")
    ran = cli(*words)
    assert (ran.code, "No load of these files into s is recorded, and the table has rows." in ran.err) == (
        2,
        True,
    )
    ran = cli(*words[:-1])
    assert (ran.code, "unique" in ran.err.lower()) == (1, True)  # all rows are sent, the first exists
    conn.execute("DELETE FROM s")
    assert cli(*words).out == "3 rows into s\n"


def test_refused_rows_are_not_written_over_what_is_loaded(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path
) -> None:
    text = '{"id": 1, "name": "a"}\n{"id": 2, "name": "toolong"}\n'
    path = file(tmp_path, text, "x.jsonl")
    (tmp_path / "link").symlink_to(path)
    for rejects in (path, path.removesuffix(".jsonl"), str(tmp_path / "link")):  # 2nd: its log has that name
        ran = cli("load", url, "s", path, "--rejects", rejects, "--overwrite")
        assert (ran.code, "x.jsonl, which is being loaded. Choose another name" in ran.err) == (2, True)
    for nothing in ("", "-"):
        ran = cli("load", url, "s", path, "--rejects", nothing)
        assert (ran.code, "It must be a file on this machine" in ran.err) == (2, True)
    assert Path(path).read_text() == text
    assert not rows_of(conn, "s")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "x.jsonl"]


def test_going_on_without_the_rows_that_were_refused_before_is_refused(
    cli: Cli, url: str, conn: Connection, small: str, tmp_path: Path
) -> None:
    path = file(tmp_path, "id,name\n1,toolong\n2,b\n3,c\n,d\n")
    words = ["load", url, "s", path, "--commit-every", "2", "--resume", "--max-errors"]
    rejects = tmp_path / "r.csv"
    assert cli(*words, "1", "--rejects", str(rejects)).code == 1
    part = Path(f"{rejects}.part")
    first = part.read_bytes()
    for more, why in (
        ((), "Give the same --rejects again"),
        (("--rejects", str(tmp_path / "other.csv")), "other.csv.part is missing"),
    ):
        ran = cli(*words, "9", *more)
        assert (ran.code, why in ran.err) == (2, True)
    part.write_bytes(first[:5])  # regression: the missing bytes were replaced by NULs
    ran = cli(*words, "9", "--rejects", str(rejects))
    assert (ran.code, "has 5 bytes instead of " in ran.err) == (2, True)
    part.write_bytes(first)
    assert cli(*words, "9", "--rejects", str(rejects)).code == 3
    assert rejects.read_text() == '"id","name"\n"1","toolong"\n,"d"\n'
    assert [row["id"] for row in rows_of(conn, "s")] == [2, 3]


def test_ctrl_c_ends_a_load_and_says_what_is_in_effect(
    elsewhere: tuple[str, Connection, str], tmp_path: Path, ctrl_c: None
) -> None:
    url, connection, name = elsewhere
    words = ["load", name, many(tmp_path, 100_000), "--progress", "json"]
    words += ["--on-error", "collect", "--commit-every", "1000"]
    said = tmp_path / "said"
    with ForkedCommand(*words, environment={"INFORMIX_ARROW_URL": url}, errors=said) as process:
        eventually(lambda: said.exists() and said.read_bytes().count(b"\n") > 0, "progress is reported")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    reported = said.read_text().splitlines()[-1]
    assert reported.startswith("informix-arrow: interrupted")
    committed = int(reported.rpartition(" rows are committed")[0].rpartition(" ")[2].replace(",", ""))
    assert committed == count(connection, name)


def test_contents_of_large_objects_may_lie_in_another_directory(
    cli: Cli, url: str, conn: Connection, tmp_path: Path
) -> None:
    conn.execute("CREATE TABLE docs (id INT, doc BLOB, tail INT)")
    path = file(tmp_path, "1|0,3,contents|7|\n2||8|\n", "x.unl")
    ran = cli("load", url, "docs", path)
    assert ran.code == 1
    assert "Put it there, or name its directory with --lob-directory." in ran.err
    (tmp_path / "lobs").mkdir()
    (tmp_path / "lobs" / "contents").write_bytes(b"abc")
    assert cli("load", url, "docs", path, "--lob-directory", str(tmp_path / "lobs")).code == 0
    rows = conn.read_arrow("SELECT * FROM docs ORDER BY id").to_pylist()
    assert rows == [{"id": 1, "doc": b"abc", "tail": 7}, {"id": 2, "doc": None, "tail": 8}]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--primary-key", "id"), "--primary-key needs a mode that creates the table."),
        (("--mode", "upsert"), "--mode upsert needs --key, the columns that identify a row."),
        (("--cascade",), "--cascade works with --mode replace, not with --mode append."),
        (("--columns", "a"), "--columns names 1 columns, but the"),
        (("--mode", "upsert", "--key", "id", "--commit-every", "5"), "--commit-every does not work with"),
    ],
)
def test_hints_name_the_options_of_the_command(
    cli: Cli, url: str, small: str, tmp_path: Path, options: tuple[str, ...], text: str
) -> None:
    ran = cli("load", url, "s", file(tmp_path, "id,name\n1,a\n"), *options)
    assert (ran.code in (1, 2), text in ran.err) == (True, True), ran.err
