"""Jobs that are killed at every step and repeated: no row is lost, and none is duplicated.

Each run of a job dies by SIGKILL before or after one call of one function: each exchange with the server, and each step
of the client behind its last COMMIT. The same command is repeated until it ends, and the result is compared. `make
test` has two to four places of each job, around its commits. `make soak` draws any, and kills again what is repeated.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import pkgutil
import random
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.integration import copy_targets
from tests.stress import LONG, LONG_SOAK_ONLY, any_seed
from tests.subprocess_server import ForkedCommand

import informix_arrow as ifx
from informix_arrow.cli.formats import Options, open_file, write_file

if TYPE_CHECKING:
    from informix_arrow import Connection
    from informix_arrow.server import Server

EXCHANGE = "informix_arrow.transport.blocking:BlockingTransport._perform"
EXCHANGES, CALLS = 60, 6  # maximum number of calls of a function that are tried
KILLS = 200  # for each kind of job
LIMIT = 100.0  # seconds of one run, after which it reports where it hangs
_CLI = "informix_arrow.cli."

LOAD_STEPS = [
    EXCHANGE,
    _CLI + "checkpoint:Checkpoint.find",
    _CLI + "checkpoint:Checkpoint.put",
    "informix_arrow.transactions:TransactionBlock.__exit__",
    _CLI + "rejects:RejectFiles.add",
    _CLI + "rejects:RejectFiles.end",
    _CLI + "rejects:rename",
    _CLI + "rejects:remove",
    _CLI + "load:_Load._print_result",
    "informix_arrow.connection:Connection.close",
]


UNLOAD_STEPS = [
    EXCHANGE,
    _CLI + "manifest:Manifest.begin",
    _CLI + "manifest:Manifest.add",
    _CLI + "manifest:Manifest.remove_replaced",
    _CLI + "manifest:Manifest.end",
    _CLI + "unload:_Unload._checksums",
    _CLI + "files:rename",
    "os:fsync",
    "os:unlink",
    "os:replace",
]

COPY_STEPS = [
    EXCHANGE,
    "informix_arrow.replicate.copy:_CopyRun._copy",
    "informix_arrow.replicate.copy:_CopyRun.close",
    "informix_arrow.replicate.copy:publish",
    "informix_arrow.replicate.rejects:RejectLog.write",
    "informix_arrow.replicate.rejects:_append",
    _CLI + "copy:_summary",
    "pathlib:Path.unlink",
    "os:replace",
    "os:fsync",
    "os:unlink",
]

TARGET_STEPS = {
    "folder": [
        "informix_arrow.replicate.parquet_folder:FolderChange.commit",
        "informix_arrow.replicate.parquet_folder:write_whole",
    ],
    "duckdb": ["informix_arrow.replicate.duck:DuckFile._run"],
    "informix": [
        "informix_arrow.replicate.informix:InformixSession.commit",
        "informix_arrow.replicate.informix:InformixSession.store",
    ],
    "postgresql": [
        "informix_arrow.replicate.postgres:PostgresSession.commit",
        "informix_arrow.replicate.postgres:PostgresSession.run",
    ],
    "delta": [
        "informix_arrow.replicate.delta:DeltaChange.commit",
        "informix_arrow.replicate.delta:DeltaChange.publish",
        "informix_arrow.replicate.delta:write_whole",
    ],
    "iceberg": [
        "informix_arrow.replicate.iceberg:IcebergChange.commit",
        "pyiceberg.catalog.sql:SqlCatalog._write_metadata",
        "pyiceberg.catalog.sql:SqlCatalog.commit_table",
        "pyiceberg.io.pyarrow:PyArrowFileIO.new_output",
        "sqlalchemy.orm:Session.commit",
    ],
}

CAPTURE_STEPS = [
    EXCHANGE,
    _CLI + "change_files:ChangeDirectory.write",
    _CLI + "change_files:ChangeDirectory._find_replaced",
    _CLI + "change_files:sync_directory",
    _CLI + "capture:_write_lines",
    _CLI + "capture:_write_parquet",
    _CLI + "capture:_write_token",
    "os:replace",
    "os:fsync",
]


STEPS = {*LOAD_STEPS, *UNLOAD_STEPS, *COPY_STEPS, *CAPTURE_STEPS}
STEPS |= {step for kind in copy_targets.KINDS for step in TARGET_STEPS[kind]}


@pytest.mark.parametrize("step", sorted(STEPS))
def test_the_steps_exist(step: str) -> None:
    """Otherwise a renamed step would be noticed only in the soak."""
    assert callable(pkgutil.resolve_name(step))


class Killer:
    """Runs a command repeatedly: each time it is killed at a random step, and repeated until it ends.

    Parameters
    ----------
    steps
        Functions, as ``module:name``.
    begin
        Brings everything back to how it was before the job. Returns the command's words.
    require
        Compares what the job has made; its argument says where the job was killed.
    sample
        Places to die at in `make test`: function, moment and number of the call. A job comes to each of them.
    codes
        Exit codes of a job that has ended.
    """

    def __init__(
        self,
        steps: Sequence[str],
        begin: Callable[[], Sequence[str]],
        require: Callable[[str], None],
        sample: Sequence[tuple[str, str, int]],
        codes: tuple[int, ...] = (0,),
    ) -> None:
        self.kills = 0
        self.steps, self.begin, self.require, self.sample, self.codes = steps, begin, require, sample, codes

    def run_sample(self) -> None:
        """Kill a job at each place of the sample, and repeat the job after each kill."""
        for place in self.sample:
            words = self.begin()
            assert self.run_job(words, place) == -signal.SIGKILL, place
            code = self.run_job(words, None)
            assert code in self.codes, (place, code)
            self.require(f"killed at {place}")

    def run(self, kills: int, seed: int) -> None:
        """Kill at least ``kills`` times, and print at how many places."""
        chance = random.Random(seed)
        calls = {step: EXCHANGES if step == EXCHANGE else CALLS for step in self.steps}
        places = set()
        while self.kills < kills:
            step, moment, call = self.draw_place(calls, chance)
            if self.kill_job((step, moment, call), calls, chance):
                places.add((step, moment, call))
            else:
                calls[step] = call - 1  # the job makes fewer calls of this function
        print(f"{self.kills} kills, first at {len(places)} places, seed {seed}")

    @staticmethod
    def draw_place(calls: dict[str, int], chance: random.Random) -> tuple[str, str, int]:
        """Return a random place to die at: a function, before or after it, and the number of its call."""
        step = chance.choice([EXCHANGE, *(step for step, count in calls.items() if count)])
        return step, chance.choice(("before", "after")), chance.randrange(calls[step]) + 1

    def kill_job(self, where: tuple[str, str, int], calls: dict[str, int], chance: random.Random) -> bool:
        """Kill a job one to four times and repeat it until it ends. Return whether the first run was killed."""
        words = self.begin()
        places: list[object] = []
        again = [self.draw_place(calls, chance) for _ in range(chance.randrange(4))]
        for dies in (where, *again, None):
            code = self.run_job(words, dies)
            if code == -signal.SIGKILL:
                self.kills += 1
                places.append(dies)
                continue
            assert code in self.codes, (places, code)
            if dies is None or not places:  # ended without a kill: the job has no such call
                break
        self.require(f"killed at {places}")
        return where in places

    @staticmethod
    def run_job(words: Sequence[str], dies: tuple[str, str, int] | None) -> int:
        """Run the command, which dies at the given place. Return its exit code."""
        with ForkedCommand(*words, dies=dies, limit=LIMIT) as process:
            process.stdout.read()
            return process.wait(60)


def rows_in(path: Path, kind: str, schema: pa.Schema) -> list[int]:
    with open_file(str(path), kind, Options(types=schema)) as found:
        return [int(row["id"]) for batch in found.batches for row in batch.to_pylist()]


@pytest.fixture(params=["csv", "parquet", pytest.param("json", marks=LONG_SOAK_ONLY)])
def load_killer(request: pytest.FixtureRequest, url: str, conn: Connection, tmp_path: Path) -> Killer:
    """A load of 23 rows in transactions of five. Every fourth row is refused. The table has no key."""
    conn.execute("CREATE TABLE k (id INT, name VARCHAR(5), tail INT)")
    conn.execute("SET LOCK MODE TO WAIT 30")  # wait until the server has noticed a death
    kind = request.param
    rows = pa.table(
        {
            "id": pa.array(range(23), pa.int32()),
            "name": ["toolong" if row % 4 == 1 else ("é", "", "x" * 5)[row % 3] for row in range(23)],
            "tail": pa.array([4711] * 23, pa.int32()),
        }
    )
    path, rejects = tmp_path / f"x.{kind}", tmp_path / f"r.{kind}"
    with write_file(str(path), kind, rows.schema, Options()) as writer:
        for batch in rows.to_batches():
            writer.write(batch)
    good = [row for row in range(23) if row % 4 != 1]
    bad = [row for row in range(23) if row % 4 == 1]

    def begin() -> Sequence[str]:
        for made in tmp_path.glob("r.*"):
            made.unlink()
        conn.execute("DROP TABLE IF EXISTS informix_arrow_loads")
        conn.execute("DELETE FROM k")
        return [
            "load",
            f"{url}&lock_wait=30",
            "k",
            str(path),
            "--commit-every",
            "5",
            "--rejects",
            str(rejects),
        ]

    def require(where: str) -> None:
        found = conn.read_arrow("SELECT * FROM k ORDER BY id")
        assert found["id"].to_pylist() == good, where
        assert set(found["tail"].to_pylist()) == {4711}
        assert rows_in(rejects, kind, rows.schema) == bad, where
        log = [json.loads(line) for line in Path(f"{rejects}.jsonl").read_text().splitlines()]
        assert len(log) == len(bad), where
        assert not list(tmp_path.glob("*.part")), where

    sample = [
        (EXCHANGE, "before", 20),
        (_CLI + "checkpoint:Checkpoint.put", "before", 2),
        ("informix_arrow.transactions:TransactionBlock.__exit__", "after", 2),
        (_CLI + "rejects:RejectFiles.end", "after", 1),
    ]
    return Killer(LOAD_STEPS, begin, require, sample, (3,))


def test_a_load_that_is_killed_at_some_steps_doubles_and_loses_nothing(load_killer: Killer) -> None:
    load_killer.run_sample()


@pytest.mark.soak
@pytest.mark.skipif(not LONG, reason="kills 200 loads: a long soak")
def test_a_load_that_is_killed_at_every_step_doubles_and_loses_nothing(load_killer: Killer) -> None:
    load_killer.run(KILLS, any_seed())


@pytest.mark.parametrize("resume", [[], ["--resume"]])
@pytest.mark.parametrize(
    "step", [_CLI + "load:_Load._print_result", "informix_arrow.connection:Connection.close"]
)
def test_a_load_that_is_killed_behind_its_last_commit_is_known_as_finished(
    step: str, resume: list[str], url: str, conn: Connection, tmp_path: Path
) -> None:
    """Regression: it loaded everything again, because its record was deleted before the command had ended."""
    conn.execute("CREATE TABLE k (id INT, name VARCHAR(5), tail INT)")
    path = tmp_path / "x.csv"
    path.write_text("id,name,tail\n" + "".join(f"{row},{'é' * (row % 3)},4711\n" for row in range(23)))
    words = ["load", f"{url}&lock_wait=30", "k", str(path), "--commit-every", "5", *resume]
    for moment in ("before", "after"):
        conn.execute("DROP TABLE IF EXISTS informix_arrow_loads")
        conn.execute("DELETE FROM k")
        with ForkedCommand(*words, dies=(step, moment, 1)) as process:
            process.stdout.read()
            assert process.wait(60) == -signal.SIGKILL
        with ForkedCommand(*words) as process:
            assert process.stdout.read().startswith("already loaded: 23 rows into k, finished at 2")
            assert process.wait(60) == 0
        found = conn.read_arrow("SELECT * FROM k ORDER BY id")
        assert found["id"].to_pylist() == list(range(23))
        assert set(found["tail"].to_pylist()) == {4711}


UNLOADS = ["once", "again", "numbered", "numbered again", "overwrite", "parts"]


@pytest.fixture(params=UNLOADS)
def unload_killer(request: pytest.FixtureRequest, url: str, conn: Connection, tmp_path: Path) -> Killer:
    """An unload of 23 rows into one file, or into files of five rows, some of which replace the files of an older
    one."""
    kind = request.param
    conn.execute("CREATE TABLE u (id INT PRIMARY KEY, name VARCHAR(9), tail INT)")
    rows = {"id": pa.array(range(23), pa.int32()), "name": ["é" * (row % 4) for row in range(23)]}
    conn.write_arrow("u", pa.table({**rows, "tail": pa.array([4711] * 23, pa.int32())}))
    path = tmp_path / "u.parquet"
    words = ["unload", url, "u", "-o", str(path)]
    words += {
        "once": ["--resume"],
        "again": ["--overwrite", "--checksum"],
        "numbered": ["--rows-per-file", "5", "--resume", "--checksum"],
        "numbered again": ["--rows-per-file", "5", "--overwrite"],
        "overwrite": ["--rows-per-file", "9", "--overwrite", "--checksum"],
        "parts": ["--partition-on", "id", "--partitions", "3", "--resume"],
    }[kind]

    def begin() -> Sequence[str]:
        for made in tmp_path.glob("u*"):
            made.unlink()
        if kind in ("again", "numbered again", "overwrite"):  # more files than the job writes
            older = [
                "unload",
                url,
                "--query",
                "SELECT id, name FROM u",
                "-o",
                str(path),
                "--rows-per-file",
                "3",
            ]
            with ForkedCommand(*older, "--checksum") as process:
                assert process.wait(60) == 0
        return words

    def require(where: str) -> None:
        files = sorted(tmp_path.glob("u*.parquet"))
        found = pa.concat_tables([pq.read_table(each) for each in files]).sort_by("id")
        assert found.to_pylist() == conn.read_arrow("SELECT * FROM u ORDER BY id").to_pylist(), where
        lines = [
            json.loads(line) for line in (tmp_path / "u.parquet.manifest.jsonl").read_text().splitlines()
        ]
        assert sorted(each["file"] for each in lines[1:-1]) == [each.name for each in files], where
        assert lines[-1] == {"done": True, "files": len(files), "rows": 23}, where
        digests = {each["file"]: each["sha256"] for each in lines[1:-1]}
        assert digests == {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in files}, where
        others = {path.name + ".manifest.jsonl", *(each.name for each in files)}
        if "--checksum" in words:
            others.add(path.name + ".sha256")
            text = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
            assert (tmp_path / "u.parquet.sha256").read_text() == text, where
        assert {each.name for each in tmp_path.glob("u*")} == others, where

    call = 1 if kind in ("once", "again") else 2
    sample = [(_CLI + "manifest:Manifest.add", "before", call), (_CLI + "files:rename", "after", call)]
    return Killer(UNLOAD_STEPS, begin, require, sample)


def test_an_unload_that_is_killed_at_some_steps_has_all_rows_once(unload_killer: Killer) -> None:
    unload_killer.run_sample()


@pytest.mark.soak
@pytest.mark.skipif(not LONG, reason="kills 200 unloads: a long soak")
def test_an_unload_that_is_killed_at_every_step_has_all_rows_once(unload_killer: Killer) -> None:
    unload_killer.run(KILLS // len(UNLOADS) + 1, any_seed())


COPIES = [*copy_targets.KINDS, "rejects append", "rejects full"]
COPIES_OF_TARGET = 4  # appends to one target, because creating one takes as long as a copy
_numbers = itertools.count()


@pytest.fixture(params=COPIES)
def copy_killer(
    request: pytest.FixtureRequest, url: str, conn: Connection, tmp_path: Path, server: Server
) -> Iterator[Killer]:
    """A copy of twelve rows, next to rows of earlier copies, or in place of them."""
    kind = request.param
    rejecting = kind.startswith("rejects")
    target_kind = "informix" if rejecting else kind
    conn.execute("CREATE TABLE kc (id INT, name VARCHAR(9), tail INT)")
    rows = {
        "id": pa.array(range(12), pa.int32()),
        "name": ["語" if row % 5 == 2 else "é" for row in range(12)],
    }
    conn.write_arrow("kc", pa.table({**rows, "tail": pa.array([4711] * 12, pa.int32())}))
    rejects = tmp_path / "rejects.jsonl"
    stack = ExitStack()
    now: dict[str, Any] = {"copies": COPIES_OF_TARGET}

    def begin() -> Sequence[str]:
        if now["copies"] == COPIES_OF_TARGET or kind == "rejects full":
            stack.close()
            number = next(_numbers)
            for made in tmp_path.glob("rejects*"):
                made.unlink()
            name, place = f"killed_copies_{number}", tmp_path / str(number)
            place.mkdir()
            locale = "en_US.8859-1" if rejecting else "en_US.utf8"
            made_target = copy_targets.made(target_kind, place, server, name, locale)
            now["target"] = stack.enter_context(made_target)
            now["copies"] = 0
            now["before"] = [0, 1] if number % 2 and kind != "rejects full" else []
            if number % 2:
                ifx.copy(conn, now["target"], ["kc"], where="id < 2")
        now["copies"] += 1
        more = ["--rejects", str(rejects)] if rejecting else []
        run_id = f"2026-11-{now['copies']:02}"
        mode = ["--mode", "append", "--run-id", run_id] if kind != "rejects full" else []
        return ["copy", url, now["target"], "kc", *mode, *more]

    def require(where: str) -> None:
        good = [row for row in range(12) if not rejecting or row % 5 != 2]
        found = copy_targets.held(now["target"], "kc")
        assert sorted(found["id"].to_pylist()) == sorted([*now["before"], *good * now["copies"]]), where
        assert set(found["tail"].to_pylist()) == {4711}
        if rejecting:
            ids = [json.loads(line)["key"]["id"] for line in rejects.read_text().splitlines()]
            # Each full copy writes its own rejected rows.
            copies = now["copies"] if kind == "rejects append" else max(1, len(ids) // 2)
            assert ids == [2, 7] * copies, where
            assert [each.name for each in tmp_path.glob("rejects*")] == [rejects.name], where

    commit, call = TARGET_STEPS[target_kind][0], 5 if target_kind == "duckdb" else 1
    sample = [(commit, "before", call), (commit, "after", call), (EXCHANGE, "after", 15)]
    if rejecting:
        sample[2] = ("informix_arrow.replicate.rejects:_append", "after", 1)
    yield Killer([*COPY_STEPS, *TARGET_STEPS[target_kind]], begin, require, sample)
    stack.close()


def test_a_copy_that_is_killed_at_some_steps_adds_its_rows_once(copy_killer: Killer) -> None:
    copy_killer.run_sample()


@pytest.mark.soak
@pytest.mark.skipif(not LONG, reason="kills 200 copies into each target: a long soak")
def test_a_copy_that_is_killed_at_every_step_adds_its_rows_once(copy_killer: Killer) -> None:
    copy_killer.run(KILLS, any_seed())


@pytest.fixture(params=["jsonl", "parquet"])
def capture_killer(
    request: pytest.FixtureRequest, url: str, conn: Connection, tmp_path: Path, server: Server
) -> Killer:
    """A capture of twelve transactions of two tables, in groups of three or more changes."""
    kind, out, state = request.param, tmp_path / "out", tmp_path / "state"
    tables = ["kc_a", "kc_b"]
    for table in tables:
        conn.execute(f"CREATE TABLE {table} (id INT, name VARCHAR(9))")
    with ifx.capture(server.url(conn.database), tables, idle=0, timeout=1) as changes:
        assert list(changes) == []
        start = str(changes.token)
    expected: dict[str, list[int]] = {table: [] for table in tables}
    for number in range(12):
        with conn.transaction():
            for table in tables[: 1 + number % 2]:
                conn.execute(f"INSERT INTO {table} VALUES (?, ?)", (number, "é" * (number % 5)))
                expected[table].append(number)

    def begin() -> Sequence[str]:
        shutil.rmtree(out, ignore_errors=True)
        state.write_text(start)
        words = ["capture", url, *tables, "-o", str(out), "--format", kind, "--state", str(state)]
        return [*words, "--idle", "0", "--max-rows", random.choice("2345")]

    def require(where: str) -> None:
        for table, ids in expected.items():
            found = []
            for path in sorted(out.glob(f"{table}-*.{kind}")):
                if kind == "parquet":
                    found += pq.read_table(path).column("id").to_pylist()
                else:
                    found += [json.loads(line)["data"]["id"] for line in path.read_text().splitlines()]
            assert found == ids, (where, table)

    sample = [
        (_CLI + "change_files:ChangeDirectory.write", "after", 2),
        (_CLI + "capture:_write_token", "before", 2),
    ]
    return Killer(CAPTURE_STEPS, begin, require, sample)


def test_a_capture_that_is_killed_at_some_steps_doubles_and_loses_nothing(capture_killer: Killer) -> None:
    capture_killer.run_sample()


@pytest.mark.soak
@pytest.mark.skipif(not LONG, reason="kills 200 captures: a long soak")
def test_a_capture_that_is_killed_at_every_step_doubles_and_loses_nothing(capture_killer: Killer) -> None:
    capture_killer.run(KILLS, any_seed())
