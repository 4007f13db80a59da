"""``informix-arrow doctor``: all checks pass on the embedded server, nothing is left behind, and faults are found."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.link import SlowLink

from informix_arrow.cli.doctor import Finding, run_check
from informix_arrow.cli.doctor.harness import CHECKS, CheckSkipped, DoctorCheck, Harness, ServerDiffers
from informix_arrow.cli.doctor.unverifiable import UNVERIFIABLE
from informix_arrow.dsn import resolve
from informix_arrow.server import Server
from informix_arrow.server.catalog.capture_tables import ERRORS_BY_NAME
from informix_arrow.server.handlers.statements import StatementHandles
from informix_arrow.server.session.smart_object_store import SmartObjectStore
from informix_arrow.wire import messages as m

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol"


def test_each_doubt_of_the_protocol_has_its_line() -> None:
    doubts = set(re.findall(r"^\| (\d+) \|", (PROTOCOL / "CORRECTIONS.md").read_text(), re.MULTILINE))
    needed = {f"C{number}" for number in doubts}
    _, _, codes = (PROTOCOL / "CORRECTIONS.md").read_text().partition("## Codes that are guesses")
    needed |= {f"code {code}" for code in re.findall(r"\| (-\d+)", codes)}
    assert len(needed) > 35
    for page in ("SQLI", "TYPES", "SERVER-BEHAVIOUR", "JDBC", "CDC"):
        section = "0"
        for line in (PROTOCOL / f"{page}.md").read_text().splitlines():
            heading = re.match(r"#+ (\d+)\.", line)
            section = heading[1] if heading else section
            if re.search(r"\[(?:[^\]]*[,;] )?guess|\[check live", line):
                needed.add(f"{page} {section}")
    asked = {about for each in CHECKS for about in each.about}
    assert needed <= asked | UNVERIFIABLE.keys()
    assert not asked & UNVERIFIABLE.keys()


def test_each_point_of_what_was_not_learnt_of_change_capture_has_its_line() -> None:
    """Each point of the list in CDC section 8 names the check that examines it, and the check names the point."""
    text = (PROTOCOL / "CDC.md").read_text()
    rows = re.findall(r"^\| (8\.\d+) \|.*\| ([^|]*) \|$", text, re.MULTILINE)
    assert [number for number, _ in rows] == [f"8.{n}" for n in range(1, len(rows) + 1)]
    assert len(rows) > 30
    by_point = {about: each.name for each in CHECKS for about in each.about if about.startswith("CDC 8.")}
    by_point |= {about: "not asked" for about in UNVERIFIABLE if about.startswith("CDC 8.")}
    assert {f"CDC {number}": name for number, name in rows} == by_point


@pytest.fixture(scope="module")
def restricted() -> Iterator[str]:
    """URL of a database in which the user may create tables, and nothing else."""
    with Server(users={"worker": "secret"}, threads=1) as running:
        running.create_database("scratch")
        import informix_arrow

        with informix_arrow.connect(running.url("scratch"), autocommit=True) as owner:
            owner.execute("GRANT RESOURCE TO worker")
        host, port = running.address
        yield f"informix://worker@{host}:{port}/scratch?server={running.server_name}"


def test_all_is_well_on_the_embedded_server_without_dba_rights(
    restricted: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFORMIX_ARROW_PASSWORD", "secret")
    ran = cli("doctor", restricted, "--report", str(tmp_path / "report.json"))
    assert [line for line in ran.out.splitlines() if line.startswith(("FAILED", "differs"))] == []
    assert (ran.code, ran.err) == (0, "")
    report = json.loads((tmp_path / "report.json").read_text())
    capturing = [each.name for each in CHECKS if each.name.startswith("capture")]  # need a DBA
    lacking = [each["check"] for each in report["findings"] if each["status"] != "ok"]
    assert sorted(lacking) == sorted(capturing)
    assert len(report["findings"]) == len(CHECKS) > 70
    whole = ran.out + (tmp_path / "report.json").read_text()
    assert "secret" not in whole
    assert "127.0.0.1" not in whole
    assert "worker" not in whole
    assert cli("tables", restricted).out.count("\n") == 1


def test_a_check_that_fails_is_reported_and_cleaned_up_after(url: str, server: Server) -> None:
    bench = Harness(resolve(url, password=server.password))

    def failing(bench: Harness) -> str:
        bench.connection.execute(f"INSERT INTO {bench.table('a INT, tail INT')} VALUES (1)")
        return "never"

    def losing(bench: Harness) -> str:
        bench.table("a INT")
        bench.connection.close()
        raise AssertionError("it broke")

    def different(bench: Harness) -> str:
        raise ServerDiffers("other\n  words")

    def lacking(bench: Harness) -> str:
        bench.make("CREATE DATABASE sysmaster", "")
        return "never"

    def unable(bench: Harness) -> str:
        raise CheckSkipped("no room")

    found = [
        run_check(bench, DoctorCheck("x", "y", (), function))
        for function in (failing, losing, different, lacking, unable)
    ]
    assert [each.status for each in found] == ["failed", "failed", "differs", "failed", "skipped"]
    assert "-236" in found[0].detail
    assert found[2].detail == "other words"
    assert bench.connection.tables().num_rows == 0
    assert bench.remaining_cleanup == []
    bench.close()


def test_checks_run_several_at_a_time_and_some_alone(
    cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results are in the order of the checks, whichever ends first. A check that must run alone has no others beside
    it."""
    running: set[str] = set()
    most: list[int] = []
    together = threading.Barrier(3)

    def declare(name: str, alone: bool) -> DoctorCheck:
        def check(bench: Harness) -> str:
            running.add(name)
            if alone:
                assert running == {name}
            else:
                together.wait(30)  # each in its own session, at the same time
                most.append(len(running))
                together.wait(30)
                bench.table("a INT")
            running.remove(name)
            return name

        return DoctorCheck(name, "t", (), check, alone)

    checks = [declare(name, name in "bd") for name in "abcde"]
    monkeypatch.setattr("informix_arrow.cli.doctor.CHECKS", checks)
    ran = cli("doctor", url)
    assert [line.split()[1] for line in ran.out.splitlines() if line.startswith("ok")] == [
        f"{n}:" for n in "abcde"
    ]
    assert ran.out.splitlines()[-1] == "5 ok"
    assert most == [3, 3, 3]
    assert cli("tables", url).out.count("\n") == 1


def test_a_server_that_mixes_up_its_statements_is_found(
    url: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault appears from the fiftieth statement on, so that only the check with a hundred open statements can
    notice."""
    choose = StatementHandles.choose

    def other(self: StatementHandles, message: m.Id) -> None:
        number = message.statement_id
        choose(self, m.Id(number ^ 1) if number > 50 and self.get(number ^ 1) is not None else message)

    monkeypatch.setattr(StatementHandles, "choose", other)
    assert found(url, server, "statements").status == "failed"


@pytest.mark.parametrize(("shortest", "longest"), [(30, 60), (1300, 2000)])
def test_a_server_that_changes_objects_is_found(
    url: str, server: Server, monkeypatch: pytest.MonkeyPatch, shortest: int, longest: int
) -> None:
    """Short objects, which are also written step by step, and long ones, which are only written ahead."""
    write = SmartObjectStore.write

    def change(self: SmartObjectStore, locator: bytes, offset: int, data: bytes) -> int:
        last = b"!" if shortest <= len(data) <= longest else data[-1:]
        return write(self, locator, offset, data[:-1] + last)

    monkeypatch.setattr(SmartObjectStore, "write", change)
    assert found(url, server, "objects ahead").status == "failed"


def found(url: str, server: Server, name: str) -> Finding:
    bench = Harness(resolve(url, password=server.password))
    try:
        return run_check(bench, next(each for each in CHECKS if each.name == name))
    finally:
        bench.close()


def test_the_slow_link_behaviours_are_as_they_should_over_a_slow_link(url: str, server: Server) -> None:
    """Each round trip takes 20 ms: interrupts, replies read halfway, requests ahead of their replies."""
    host, port = server.address
    chosen = [each for each in CHECKS if "slow link" in each.about or each.name == "timeout"]
    assert len(chosen) > 4
    with SlowLink(server.address, 0.02) as link:
        slow = url.replace(f"{host}:{port}", f"127.0.0.1:{link.address[1]}")
        bench = Harness(resolve(slow, password=server.password))
        found = [run_check(bench, each) for each in chosen]
        bench.close()
    assert [(each.check.name, each.detail) for each in found if each.status != "ok"] == []
    assert link.round_trips > 50


def test_a_name_that_no_check_has_is_a_wrong_use(cli: Cli) -> None:
    ran = cli("doctor", "informix://u@127.0.0.1:1/x", "--only", "scrol1")
    assert (ran.code, ran.out) == (2, "")
    assert "--only scrol1: No check has that in its name. The checks are " in ran.err
    assert "scroll" in ran.err


def test_a_server_that_does_not_answer_is_reported_in_one_line(cli: Cli) -> None:
    ran = cli("doctor", "informix://u@127.0.0.1:1/x")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.count("\n") == 1


def test_change_capture_is_asked_where_the_user_may(
    cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("informix_arrow.server.session.capture_routines._LOCK_SECONDS", 0.1)
    ran = cli("doctor", url, "--only", "capture")
    assert ran.out.splitlines()[-1] == "12 ok", ran.out
    assert "the token was known from the beginning" in ran.out
    assert "TEXT -83707, BYTE -83707, BLOB -83707" in ran.out
    assert "refused with -289" in ran.out
    assert cli("tables", url).out.count("\n") == 1


def test_a_server_that_does_otherwise_in_change_capture_differs(
    cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = "informix_arrow.server.session.capture_routines"
    monkeypatch.setattr(f"{calls}.MAX_RECORDS", 200)
    monkeypatch.setitem(ERRORS_BY_NAME, "CDC_E_NOCOL", -83724)

    def set_full_logging(self: Any, info: Any, on: bool) -> None:
        self._capture_sessions.set_full_logging(info.database, info.tabid, on)

    monkeypatch.setattr(f"{calls}.CaptureRoutines._set_full_logging", set_full_logging)
    for name, reported in [
        ("capture limits", "at most 200 records"),
        ("capture locked", "a part is logged"),
        ("capture types", "TEXT -83724, BYTE -83724"),
    ]:
        (line, *_) = cli("doctor", url, "--only", name).out.splitlines()
        assert line.startswith("differs"), line
        assert reported in line


def test_some_checks_can_be_chosen(cli: Cli, url: str) -> None:
    ran = cli("doctor", url, "--only", "scroll")
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "1 ok"
