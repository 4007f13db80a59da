"""Small statements: how long one takes, how evenly, and how many round trips it costs.

Live against the embedded server, whose work (parsing, translating, DuckDB) is most of every figure; and against a
recorded dialogue, where only the client works: there the floor is a bare socket that plays ping-pong with the same
messages. Over slow links, 1 ms and 20 ms, round trips are counted as well.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx

from .conftest import Address
from .dialogue import Dialogue, Replay, Turn, drain, record
from .link import SlowLink
from .measuring import measure, on_one_core, percentiles

ONE = "SELECT 1 FROM systables WHERE tabid = 1"
BY_KEY = "SELECT tabname FROM systables WHERE tabid = ?"
RUNS = 50
WHO = ["informix-arrow", "informix-driver", "JDBC"]
ASKING = "informix-arrow, asking for the code set"


def one(connection: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(ONE)
    cursor.fetchall()
    cursor.close()


def again(connection: Any) -> Callable[[], None]:
    """The same statement on one cursor, with another value each time."""
    cursor = connection.cursor()

    def work() -> None:
        cursor.execute(BY_KEY, (1,))
        cursor.fetchall()

    return work


def opener(address: Address, who: str) -> Callable[..., Any]:
    """Return the function that connects by a driver. The other drivers get the database's code set or assume one. Our
    driver asks the server for it, unless it is given too."""
    if who == "informix-driver":
        return address.informix_driver
    return address.ours if who == ASKING else partial(address.ours, db_locale="en_US.utf8")


def timed(work: Callable[[], object], times: int, samples: list[float]) -> None:
    for _ in range(times):
        began = time.perf_counter()
        work()
        samples.append(time.perf_counter() - began)


def distribution(benchmark: BenchmarkFixture, subject: str, who: str, work: Callable[[], object]) -> None:
    samples: list[float] = []
    measure(benchmark, subject, who, lambda: timed(work, RUNS, samples), rows=RUNS, rounds=20)
    benchmark.extra_info.update(percentiles(samples[2 * RUNS :]))


@pytest.mark.parametrize(
    ("what", "who"),
    [
        *((what, who) for what in ("SELECT 1", "prepared again", "connect and close") for who in WHO),
        ("connect and close", ASKING),
    ],
)
def test_live(
    benchmark: BenchmarkFixture, request: pytest.FixtureRequest, address: Address, who: str, what: str
) -> None:
    if who == "JDBC":
        peer = request.getfixturevalue("jdbc_peer")
        command = {
            "SELECT 1": f"latency {RUNS} {ONE}",
            "prepared again": f"prepared {RUNS} {BY_KEY}",
            "connect and close": f"connect {RUNS}",
        }[what]
        for _ in range(10):
            peer.ask(command)
        samples: list[float] = []
        measure(benchmark, what, who, lambda: samples.extend(peer.seconds(command)), rows=RUNS, rounds=20)
        benchmark.extra_info.update(percentiles(samples[2 * RUNS :]))
        return
    open_one = opener(address, who)
    if what == "connect and close":
        distribution(benchmark, what, who, lambda: open_one(autocommit=True).close())
        return
    connection = open_one(autocommit=True)
    try:
        distribution(
            benchmark, what, who, (lambda: one(connection)) if what == "SELECT 1" else again(connection)
        )
    finally:
        connection.close()


@pytest.mark.parametrize("what", ["SELECT 1", "prepared again", "connect and close"])
def test_live_floor(benchmark: BenchmarkFixture, address: Address, what: str) -> None:
    """The very messages of our session, played to the server by a bare socket that looks at nothing."""
    count = 1 if what == "connect and close" else RUNS

    def session(host: str, port: int) -> None:
        connection = opener(Address(host, port), "informix-arrow")(autocommit=True)
        work = (lambda: one(connection)) if what == "SELECT 1" else again(connection)
        for _ in range(count if what != "connect and close" else 0):
            work()
        connection.close()

    dialogue = record((address.host, address.port), session)
    work = lambda: drain(dialogue, (address.host, address.port))  # noqa: E731
    measure(benchmark, what, "floor: our messages, a bare socket", work, rows=count, rounds=20)


@pytest.mark.parametrize("who", ["informix-arrow", "informix-driver"])
def test_pool(benchmark: BenchmarkFixture, address: Address, who: str) -> None:
    """Acquire, a query, give back."""
    pool: Any
    if who == "informix-arrow":
        pool = ifx.Pool(**address.arguments, autocommit=True, min_size=1, max_size=2)
    else:
        driver = pytest.importorskip("informix_db")
        locale = {"client_locale": "en_US.utf8", "autocommit": True}
        pool = driver.create_pool(**address.arguments, **locale, min_size=1, max_size=2)
    with pool:

        def work() -> None:
            with pool.connection() as connection:
                one(connection)

        distribution(benchmark, "SELECT 1 through a pool", who, work)


@pytest.mark.parametrize("who", ["informix-arrow", "informix-driver"])
@pytest.mark.parametrize("what", ["SELECT 1", "prepared again", "connect and close"])
def test_recorded(benchmark: BenchmarkFixture, address: Address, who: str, what: str) -> None:
    """The client alone: 200 statements of a recorded session, played back; and the ping-pong of the same bytes."""
    count = 1 if what == "connect and close" else 200

    def session(host: str, port: int) -> None:
        connection = opener(Address(host, port), who)(autocommit=True)
        work = (lambda: one(connection)) if what == "SELECT 1" else again(connection)
        for _ in range(0 if what == "connect and close" else count):
            work()
        connection.close()

    dialogue = record((address.host, address.port), session)
    subject = f"{what}, the client alone"
    with Replay(dialogue, count=True) as replay:
        # The floor of this very dialogue: a driver that says less has a lower one.
        floor = min(_seconds(lambda: drain(dialogue, replay.address)) for _ in range(10))
        rounds = 100 if count == 1 else 15
        measure(benchmark, subject, who, lambda: session(*replay.address), rows=count, rounds=rounds)
    benchmark.extra_info["floor_ns_per_row"] = floor / count * 1e9


@pytest.mark.parametrize("how", ["group by group", "as our client sends them"])
@pytest.mark.parametrize("what", ["SELECT 1", "prepared again"])
def test_one_more(benchmark: BenchmarkFixture, address: Address, what: str, how: str) -> None:
    """2,000 statements of one session, played back, so that connecting counts for nothing: wall time, in turns with a
    bare socket that plays the same bytes. All on one core: for another one to wake up takes longer than a statement.

    The bare socket waits for the answer to each group; or it sends a CLOSE with the group behind it, as our client
    does, and waits once a statement.
    """
    count = 2_000

    def session(host: str, port: int) -> None:
        connection = opener(Address(host, port), "informix-arrow")(autocommit=True)
        work = (lambda: one(connection)) if what == "SELECT 1" else again(connection)
        for _ in range(count):
            work()
        connection.close()

    dialogue = record((address.host, address.port), session)
    played = dialogue if how == "group by group" else _as_sent(dialogue)
    with on_one_core(), Replay(dialogue, count=True) as replay:
        bare = f"a bare socket, {how}", lambda: drain(played, replay.address)
        work = lambda: session(*replay.address)  # noqa: E731
        measure(benchmark, f"{what}, one more", bare[0], work, rows=count, rounds=15, beside=bare)


def test_one_more_connection(benchmark: BenchmarkFixture, address: Address) -> None:
    """connect() and close(), each driver against its own recorded session, in turns, all on one core."""
    count = 20

    def session(who: str, host: str, port: int) -> None:
        opener(Address(host, port), who)(autocommit=True).close()

    ours, theirs = (
        record((address.host, address.port), partial(session, who))
        for who in ("informix-arrow", "informix-driver")
    )
    with on_one_core(), Replay(ours, theirs, count=True) as replay:
        by_us, by_them = replay.addresses

        def work(who: str, host: str, port: int) -> None:
            for _ in range(count):
                session(who, host, port)

        beside = "informix-driver", lambda: work("informix-driver", *by_them)
        measure(
            benchmark,
            "connect and close, one more",
            beside[0],
            lambda: work("informix-arrow", *by_us),
            rows=count,
            rounds=50,
            beside=beside,
        )


def _as_sent(dialogue: Dialogue) -> Dialogue:
    """The dialogue with each CLOSE as part of the request behind it."""
    turns: list[Turn] = []
    request = reply = b""
    for turn in dialogue.turns:
        request, reply = request + turn.request, reply + turn.reply
        if not _closes(turn.request):
            turns.append(Turn(request, reply, turn.fetch))
            request = reply = b""
    return replace(dialogue, turns=tuple(turns))


def _closes(group: bytes) -> bool:
    """Whether a group is SQ_ID and SQ_CLOSE and nothing else (SQLI section 7.5)."""
    return len(group) == 8 and group[:2] == b"\0\4" and group[4:6] == b"\0\n"


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


@pytest.mark.parametrize("milliseconds", [1, 20])
@pytest.mark.parametrize(
    ("what", "who"),
    [
        ("connect and close", ASKING),
        *(
            (what, who)
            for what in ("connect and close", "SELECT 1", "prepared again", "1,000 rows", "load 1,000 rows")
            for who in ("informix-arrow", "informix-driver")
        ),
    ],
)
def test_slow_link(
    benchmark: BenchmarkFixture,
    address: Address,
    seeded: Callable[[int], str],
    who: str,
    what: str,
    milliseconds: int,
) -> None:
    """Round trips decide here."""
    source = seeded(1_000)
    with SlowLink((address.host, address.port), milliseconds / 1000) as link:
        open_one = opener(Address(*link.address), who)
        connection = open_one(autocommit=True)
        cursor = connection.cursor()
        work = _work(what, connection, cursor, open_one, source)
        work()
        before = link.round_trips
        work()
        trips = link.round_trips - before
        measure(benchmark, f"{what} over {milliseconds} ms", who, work, rounds=10, round_trips=trips)
        connection.close()


def _work(
    what: str, connection: Any, cursor: Any, open_one: Callable[..., Any], source: str
) -> Callable[[], object]:
    if what == "connect and close":
        return lambda: open_one(autocommit=True).close()
    if what == "SELECT 1":
        return lambda: one(connection)
    if what == "prepared again":
        return again(connection)
    if what == "1,000 rows":
        return lambda: (cursor.execute(f"SELECT k, name, n, x, d FROM {source}"), cursor.fetchall())
    name = f"bench_slow_{threading.get_ident()}"
    cursor.execute(f"CREATE TEMP TABLE {name} (k INT, name VARCHAR(20))")
    rows = [(i, f"row {i}") for i in range(1_000)]
    return lambda: cursor.executemany(f"INSERT INTO {name} VALUES (?, ?)", rows)
