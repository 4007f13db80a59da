"""Random work of several connections compared with a model of their rows: statements, loads, timeouts, cancels, killed
sockets.

Each connection has its own rows in one shared table. Whatever happens to a call, the model knows the expected rows:
none of the call's rows, all of them, those that its error names, or one of two states, if the connection was lost
during a COMMIT. At the end the whole table is compared.
"""

from __future__ import annotations

import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.internals import socket_of
from tests.stress import SECONDS, seeds

import informix_arrow as ifx
from informix_arrow.server import Server

WORKERS = 4
LONG = 60.0
SENTINEL = 12345
TEXTS = ("", " ", "a", "Ångström", "日本", "x" * 40, "it's", None)

Rows = dict[int, tuple[int | None, str | None]]  # of one worker: id -> number, text


class Disagreement(AssertionError):
    """Raised if the table differs from the model."""


class Worker:
    """One connection, its rows as committed and as it sees them, and its random actions."""

    def __init__(self, server: Server, url: str, table: str, who: int, seed: int) -> None:
        self.server, self.url, self.table, self.who = server, url, table, who
        self.rng = random.Random(seed * 1000 + who)
        self.committed: Rows = {}
        self.rows: Rows = {}
        self.counts: Counter[str] = Counter()
        self.connect()

    # ---- connections -----------------------------------------------------------------------------------------

    def connect(self) -> None:
        self.autocommit = self.rng.random() < 0.3
        self.conn = ifx.connect(self.url, autocommit=self.autocommit, lock_wait=20)
        link = socket_of(self.conn)
        assert link is not None
        self.port = link.getsockname()[1]
        self.thread = self.thread_at_the_server()

    def thread_at_the_server(self) -> threading.Thread:
        assert self.server._listener is not None
        for _, sock, thread in list(self.server._listener._sessions.values()):
            try:
                if sock.getpeername()[1] == self.port:
                    return thread
            except OSError:
                continue
        raise AssertionError("the server does not know the connection")

    def look(self) -> Rows:
        """Return the rows as the connection sees them."""
        sql = f"SELECT id, number, text, sentinel FROM {self.table} WHERE who = ?"
        found = self.conn.read_arrow(sql, (self.who,)).to_pylist()
        for row in found:
            if row["sentinel"] != SENTINEL:
                raise Disagreement(f"sentinel {row['sentinel']} of row {row['id']}")
        rows = {row["id"]: (row["number"], row["text"]) for row in found}
        if len(rows) != len(found):
            raise Disagreement("a key twice")
        return rows

    def check(self) -> None:
        found = self.look()
        if found != self.rows:
            raise Disagreement(f"worker {self.who}: {_difference(found, self.rows)}")

    def lost(self, possible: list[Rows]) -> None:
        """Handle a lost connection: the table must hold one of ``possible``."""
        self.counts["lost"] += 1
        self.conn.close()
        self.thread.join(LONG)
        if self.thread.is_alive():
            raise Disagreement("the server did not end the session of a connection that is gone")
        self.connect()
        found = self.look()
        if found not in possible:
            reported = "; or ".join(_difference(found, each) for each in possible[:3])
            raise Disagreement(f"worker {self.who}, after a lost connection: {reported}")
        self.committed, self.rows = dict(found), dict(found)
        self.conn.commit()

    # ---- calls and their outcomes ----------------------------------------------------------------------------

    def run(self, ends: float) -> None:
        try:
            steps: list[tuple[Callable[[], None], int]] = [
                (self.insert_one, 3), (self.change_some, 3), (self.delete_some, 2), (self.many_inserts, 4),
                (self.many_updates, 4), (self.load, 3), (self.block, 2), (self.end, 4), (self.check, 3),
                (self.reconnect, 1),
            ]  # fmt: skip
            names, weights = zip(*steps, strict=True)
            while time.monotonic() < ends:
                (step,) = self.rng.choices(names, weights)
                self.counts[step.__name__] += 1
                step()
            self.finish()
        finally:
            self.conn.close()

    def finish(self) -> None:
        self.check()
        self.conn.commit()
        self.committed = dict(self.rows)

    def call(
        self,
        action: Callable[[float | None], Any],
        after: Rows,
        *,
        own: bool = False,
        each: list[Callable[[Rows], None]] | None = None,
    ) -> Any:
        """Run ``action``, possibly with a timeout, a cancel or a killed socket. ``after`` are the rows if it succeeds;
        ``own`` says that it commits by itself; ``each`` is the effect of each row of an executemany."""
        before = dict(self.rows)
        final = self.autocommit or own
        fate = self.rng.choices(["", "timeout", "cancel", "kill"], [12, 3, 3, 2])[0]
        timeout = self.rng.choice((0.001, 0.005, 0.02, 0.05)) if fate == "timeout" else None
        timer = None
        if fate in ("cancel", "kill"):
            moment = self.rng.choice((0.0, 0.001, 0.005, 0.02)) * self.rng.random()
            timer = threading.Timer(moment, self.conn.cancel if fate == "cancel" else self.kill)
            timer.start()
        try:
            result = action(timeout)
        except ifx.QueryCanceled as error:
            self.counts[type(error).__name__] += 1
            if self.conn.closed:  # a later row waits for a lock: the interrupt has ended the row before it
                self.join(timer)
                possible = [dict(self.committed)]
                if final and not own:
                    possible = _prefixes(before, each) if each is not None else [before, after]
                self.lost(possible)
                return None
            self.interrupted(error, before, final, each)
            return error
        except ifx.CommitUnknown:
            self.counts["CommitUnknown"] += 1
            self.join(timer)
            self.lost([dict(self.committed), after])
            return None
        except ifx.Error as error:
            if not self.conn.closed:
                return self.refused(error, before, final, each)
            self.join(timer)
            possible = [dict(self.committed)]
            if final and not own:
                possible = _prefixes(before, each) if each is not None else [before, after]
            self.lost(possible)
            return None
        else:
            self.rows = after
            if final:
                self.committed = dict(after)
            return result
        finally:
            self.join(timer)
            if fate == "kill" and not self.conn.closed:  # the socket was killed between two calls
                self.notice()

    def join(self, timer: threading.Timer | None) -> None:
        if timer is not None:
            timer.join(LONG)

    def kill(self) -> None:
        link = socket_of(self.conn)
        if link is not None:
            try:
                link.shutdown(socket.SHUT_RDWR)
            except OSError:
                return

    def notice(self) -> None:
        try:
            self.conn.ping()
        except ifx.OperationalError:
            self.lost([dict(self.committed)])

    def interrupted(
        self, error: ifx.Error, before: Rows, final: bool, each: list[Callable[[Rows], None]] | None
    ) -> None:
        if each is not None and final:
            if error.rows is None:
                raise Disagreement(f"an interrupted executemany that does not say what is in effect: {error}")
            numbers = range(error.rows) if isinstance(error.rows, int) else error.rows
            for number in numbers:
                each[number](before)
            self.rows, self.committed = before, dict(before)
            return
        if each is not None and error.rows not in (0, None):
            raise Disagreement(f"rows {error.rows} of a call that was undone")
        self.rows = before
        if final and not self.conn.in_transaction:  # a COMMIT cancelled before it was sent has ended nothing
            self.committed = dict(before)
        self.check()

    def refused(
        self, error: ifx.Error, before: Rows, final: bool, each: list[Callable[[Rows], None]] | None
    ) -> ifx.Error:
        self.counts[type(error).__name__] += 1
        if each is not None:
            refused = {row.row for row in error.refused}
            for number, apply in enumerate(each):
                if number not in refused:
                    apply(before)
        self.rows = before
        if final:
            self.committed = dict(before)
        return error

    # ---- steps -----------------------------------------------------------------------------------------------

    def value(self) -> tuple[int | None, str | None]:
        number = self.rng.choice((None, 0, -1, 2**31 - 1, -(2**31) + 1, self.rng.randrange(1000)))
        return number, self.rng.choice(TEXTS)

    def new(self, count: int) -> Rows:
        free = self.rng.sample(range(1_000_000), count)
        return {key: self.value() for key in free if key not in self.rows}

    def insert_one(self) -> None:
        ((key, value),) = (self.new(1) or {1_000_001: (1, "a")}).items()
        if key in self.rows:
            return
        sql = f"INSERT INTO {self.table} VALUES (?, ?, ?, ?, ?)"
        row = (self.who, key, *value, SENTINEL)
        self.call(
            lambda limit: self.conn.cursor().execute(sql, row, timeout=limit), {**self.rows, key: value}
        )

    def change_some(self) -> None:
        number, limit_id = self.rng.randrange(1000), self.rng.randrange(1_000_000)
        after = {k: ((number, v[1]) if k < limit_id else v) for k, v in self.rows.items()}
        sql = f"UPDATE {self.table} SET number = ? WHERE who = ? AND id < ?"
        values = (number, self.who, limit_id)
        self.call(lambda limit: self.conn.cursor().execute(sql, values, timeout=limit), after)

    def delete_some(self) -> None:
        low = self.rng.randrange(1_000_000)
        high = low + self.rng.randrange(200_000)
        after = {k: v for k, v in self.rows.items() if not low <= k < high}
        sql = f"DELETE FROM {self.table} WHERE who = ? AND id >= ? AND id < ?"
        values = (self.who, low, high)
        self.call(lambda limit: self.conn.cursor().execute(sql, values, timeout=limit), after)

    def many_inserts(self) -> None:
        """Insert several rows, some of which exist already and are refused."""
        new = list(self.new(self.rng.choice((1, 5, 60, 400))).items())
        taken = [(key, self.value()) for key in self.rng.sample(sorted(self.rows), min(3, len(self.rows)))]
        if self.rng.random() < 0.5:
            taken = []
        rows = new + taken
        self.rng.shuffle(rows)
        stop = bool(taken) and self.rng.random() < 0.3
        bad = [number for number, (key, _) in enumerate(rows) if key in self.rows]
        if stop:
            good_end = bad[0]
            after = {**self.rows, **dict(rows[:good_end])}
        else:
            after = {**self.rows, **{key: value for key, value in rows if key not in self.rows}}

        def applying(key: int, value: tuple[int | None, str | None]) -> Callable[[Rows], None]:
            return lambda model: model.__setitem__(key, value) if key not in model else None

        each = [applying(key, value) for key, value in rows]
        if stop:
            each = each[: bad[0] + 1]
        sql = f"INSERT INTO {self.table} VALUES (?, ?, ?, ?, ?)"
        values = [(self.who, key, *value, SENTINEL) for key, value in rows]
        done = self.call(
            lambda limit: self.conn.cursor().executemany(sql, values, timeout=limit, stop_on_error=stop),
            after,
            each=each,
        )
        if isinstance(done, ifx.IntegrityError):
            refused = [row.row for row in done.refused]
            if refused != (bad[:1] if stop else bad):
                raise Disagreement(f"refused were {bad}, the error says {refused} (stop_on_error={stop})")
        elif bad and done is not None and not isinstance(done, ifx.Error):
            raise Disagreement(f"rows {bad} are there already and were not refused")

    def many_updates(self) -> None:
        keys = sorted(self.rows)
        if not keys:
            return
        chosen = [(self.rng.choice(keys), self.value()) for _ in range(self.rng.choice((1, 5, 40, 200)))]
        after = dict(self.rows)
        after.update(chosen)

        def applying(key: int, value: tuple[int | None, str | None]) -> Callable[[Rows], None]:
            return lambda model: model.__setitem__(key, value)

        each = [applying(key, value) for key, value in chosen]
        sql = f"UPDATE {self.table} SET number = ?, text = ? WHERE who = ? AND id = ?"
        values = [(*value, self.who, key) for key, value in chosen]
        self.call(lambda limit: self.conn.cursor().executemany(sql, values, timeout=limit), after, each=each)

    def load(self) -> None:
        new = self.new(self.rng.choice((1, 100, 3000)))
        method = self.rng.choice(("put", "pipeline"))
        data = pa.table(
            {
                "who": pa.array([self.who] * len(new), pa.int32()),
                "id": pa.array(list(new), pa.int32()),
                "number": pa.array([value[0] for value in new.values()], pa.int32()),
                "text": pa.array([value[1] for value in new.values()], pa.utf8()),
                "sentinel": pa.array([SENTINEL] * len(new), pa.int32()),
            }
        )
        own = not self.conn.in_transaction
        after = {**self.rows, **new}
        self.call(
            lambda limit: self.conn.write_arrow(self.table, data, method=method, timeout=limit),  # type: ignore[arg-type]
            after,
            own=own,
        )

    def block(self) -> None:
        """Leave a savepoint or a transaction, sometimes by an exception."""
        key, before = self.rng.randrange(1_000_001, 2_000_000), dict(self.rows)
        if key in before:
            return
        sql = f"INSERT INTO {self.table} VALUES (?, ?, 1, 'block', {SENTINEL})"
        with self.conn.transaction():
            self.conn.execute(sql, (self.who, key))
            if self.rng.random() < 0.5:
                raise ifx.Rollback
        found = self.look()
        if found not in (before, {**before, key: (1, "block")}):
            raise Disagreement(f"worker {self.who}, after a block: {_difference(found, before)}")
        self.rows = found
        if not self.conn.in_transaction:
            self.committed = dict(found)

    def end(self) -> None:
        if self.rng.random() < 0.7:
            self.call(lambda limit: self.conn.commit(), dict(self.rows), own=True)
        else:
            self.conn.rollback()
            self.rows = dict(self.committed)
        if self.rng.random() < 0.3:
            self.check()

    def reconnect(self) -> None:
        """Connect again. Uncommitted rows are gone with the old connection."""
        self.conn.close()
        self.thread.join(LONG)
        self.connect()
        self.rows = dict(self.committed)
        self.check()


def _prefixes(before: Rows, each: list[Callable[[Rows], None]]) -> list[Rows]:
    """Return the possible rows after the first of some rows were executed, for each number of them."""
    found, rows = [dict(before)], dict(before)
    for apply in each:
        apply(rows)
        found.append(dict(rows))
    return found


def _difference(found: Rows, wanted: Rows) -> str:
    missing = sorted(set(wanted) - set(found))[:5]
    extra = sorted(set(found) - set(wanted))[:5]
    other = [key for key in sorted(set(found) & set(wanted)) if found[key] != wanted[key]][:5]
    shown = [(key, found[key], wanted[key]) for key in other]
    return f"{len(found)} rows for {len(wanted)}; missing {missing}, too many {extra}, different {shown}"


def stress(server: Server, seed: int, seconds: float) -> Counter[str]:
    """Run once, and return how often each outcome occurred."""
    url, table = server.url("stores_demo"), f"stress_{seed}"
    with ifx.connect(url, autocommit=True) as conn:
        columns = "who INT, id INT, number INT, text VARCHAR(200), sentinel INT, PRIMARY KEY (who, id)"
        conn.execute(f"CREATE TABLE {table} ({columns})")
    workers = [Worker(server, url, table, who, seed) for who in range(WORKERS)]
    failures: list[BaseException] = []
    ends = time.monotonic() + seconds

    def run(worker: Worker) -> None:
        try:
            worker.run(ends)
        except BaseException as failure:  # noqa: BLE001 - raised below
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 10 * LONG)
        assert not thread.is_alive()
    if failures:
        raise failures[0]
    wanted = [
        {"who": worker.who, "id": key, "number": number, "text": text, "sentinel": SENTINEL}
        for worker in workers
        for key, (number, text) in sorted(worker.committed.items())
    ]
    with ifx.connect(url, autocommit=True, lock_wait=30) as conn:
        assert conn.read_arrow(f"SELECT * FROM {table} ORDER BY who, id").to_pylist() == wanted
        conn.execute(f"DROP TABLE {table}")
    return sum((worker.counts for worker in workers), Counter[str]())


@pytest.fixture(scope="module")
def alone() -> Iterator[Server]:
    with Server() as server:
        yield server


def test_random_work_leaves_the_tables_as_the_model_says(alone: Server) -> None:
    counts: Counter[str] = Counter()
    for seed in (1, 2):
        counts += stress(alone, seed, 10.0)
    assert counts["QueryTimeout"] + counts["QueryCanceled"] > 0, counts
    assert counts["lost"] > 0, counts


@pytest.mark.soak
def test_random_work_for_long(alone: Server) -> None:
    for seed in seeds(3):
        stress(alone, seed, min(60.0, max(SECONDS, 5.0)))
