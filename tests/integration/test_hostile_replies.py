"""Malicious or defective servers: whatever they reply, calls end in results or in errors of this package.

Dialogues with the embedded server are recorded, and replayed with some of their bytes changed, repeated or left out, to
both transports. The player sends each piece once it has received as many bytes as the server had. If the client sends
nothing, the player soon sends the rest and closes the connection, so that no round can hang.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import inspect
import random
import socket
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.stress import LONG, SECONDS, any_seed, rounds

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server

#: Corruptions of each dialogue in ``make test``, for each transport.
ROUNDS = 15
#: Seconds without data from the client after which the player sends the rest, once it has sent a corrupted piece.
PATIENCE = 0.03
#: Maximum seconds of one replay, which waits only for threads of this machine.
LIMIT = 15

STAMP = datetime.datetime(2024, 2, 29, 12, 30, 59, 120)
Transport = Callable[[str, dict[str, Any], Callable[[Any], Awaitable[object]]], object]

QUERY = "SELECT n, b, d, f, v, c, dt, ts, iv, bo, lv, st, tail FROM hr_types ORDER BY n"
OBJECTS = "SELECT n, bt, tx, bl, cl, tail FROM hr_objects ORDER BY n"


@pytest.fixture(scope="module")
def tables(server: Server) -> Iterator[Server]:
    with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE hr_types (n INTEGER NOT NULL, b BIGINT, d DECIMAL(12,3), f FLOAT, v VARCHAR(90), c CHAR(9), "
            "dt DATE, ts DATETIME YEAR TO FRACTION(5), iv INTERVAL DAY TO SECOND, bo BOOLEAN, lv LVARCHAR(300), "
            "st SET(INTEGER NOT NULL), tail INTEGER)"
        )
        conn.execute("CREATE TABLE hr_objects (n INTEGER, bt BYTE, tx TEXT, bl BLOB, cl CLOB, tail INTEGER)")
        conn.execute("CREATE TABLE hr_into (n INTEGER, v VARCHAR(20), tail INTEGER)")
        conn.execute(
            "CREATE TABLE hr_times (ts DATETIME YEAR TO FRACTION(5), iv INTERVAL DAY TO SECOND, tail INTEGER)"
        )
        for n in range(40):
            conn.execute(
                "INSERT INTO hr_types VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, SET{1,2,-3}, 77)",
                (
                    *(n, -n, n / 8, 1.5 * n, "é" * n, None if n % 3 else "abc", STAMP.date(), STAMP),
                    *(datetime.timedelta(days=n), n % 2 == 0, "x" * n),
                ),
            )
        for n in range(5):
            conn.execute(
                "INSERT INTO hr_objects VALUES (?, ?, ?, ?, ?, 77)",
                (n, b"\0\xff" * n, "é" * 3 * n, b"blob" * n * 9, None if n == 2 else "clob" * n),
            )
    yield server
    with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
        for table in ("hr_types", "hr_objects", "hr_into", "hr_times"):
            conn.execute(f"DROP TABLE {table}")


# ---- the dialogues ----------------------------------------------------------------------------


async def of(result: Any) -> Any:
    """Return the result of a call of either transport."""
    return await result if inspect.isawaitable(result) else result


async def rows_of_cursor(conn: Any) -> object:
    cursor = conn.cursor()
    await of(cursor.execute(QUERY))
    return [cursor.description, await of(cursor.fetchmany(7)), await of(cursor.fetchall())]


async def again(conn: Any) -> object:
    """Execute a small query three times: from the second time on it takes a shorter path."""
    cursor, found = conn.cursor(), []
    for n in (1, 2, 3):
        await of(cursor.execute("SELECT n, v, d, lv, tail FROM hr_types WHERE n = ?", (n,)))
        found.append(await of(cursor.fetchall()))
    return found


async def objects(conn: Any) -> object:
    return await of(conn.read_arrow(OBJECTS))


async def written(conn: Any) -> object:
    cursor = conn.cursor()
    await of(cursor.executemany("INSERT INTO hr_into VALUES (?, ?, 77)", [(n, f"v{n}") for n in range(50)]))
    await of(conn.execute("UPDATE hr_into SET v = ?, n = n WHERE n < ?", ("w", 3)))
    await of(conn.execute("INSERT INTO hr_times VALUES (?, ?, 77)", (STAMP, datetime.timedelta(days=3))))
    await of(conn.write_arrow("hr_into", pa.table({"n": [1, 2], "v": ["a", None], "tail": [77, 77]})))
    await of(conn.rollback())
    return cursor.rowcount


async def scrolled(conn: Any) -> object:
    cursor = conn.cursor(scrollable=True)
    await of(cursor.execute(QUERY))
    found: list[object] = []
    with contextlib.suppress(IndexError):  # as PEP 249 requires if the result has fewer rows
        await of(cursor.scroll(20, mode="absolute"))
        found = [await of(cursor.fetchone()), await of(cursor.fetchmany(3))]
    await of(cursor.close())
    return found


async def metadata(conn: Any) -> object:
    table = "hr_types"
    return [
        await of(conn.tables()),
        await of(conn.columns(table)),
        await of(conn.indexes(table)),
        (await of(conn.adbc_get_objects(table_name_filter=table))).read_all(),
    ]


async def databases(conn: Any) -> object:
    return [await of(conn.databases()), await of(conn.procedures()), await of(conn.adbc_get_info())]


DIALOGUES = (rows_of_cursor, again, objects, written, scrolled, metadata, databases)


async def talk(conn: Any, work: Callable[[Any], Awaitable[object]]) -> object:
    """Run the work. After an error, make another call: the connection is usable, or closed, which raises an error."""
    try:
        try:
            return await work(conn)
        except ifx.Error:
            with contextlib.suppress(ifx.Error):
                await of(conn.read_arrow("SELECT n, tail FROM hr_into"))
                assert not conn.closed
            raise
    finally:
        await of(conn.close())


def in_threads(url: str, given: dict[str, Any], work: Callable[[Any], Awaitable[object]]) -> object:
    """Run the work with a blocking connection, so that it never awaits."""
    try:
        talk(ifx.connect(url, **given), work).send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a blocking call gave something to await")


def in_asyncio(url: str, given: dict[str, Any], work: Callable[[Any], Awaitable[object]]) -> object:
    """Run the work in a new event loop, with a time limit."""

    async def main() -> object:
        return await talk(await aio.connect(url, **given), work)

    return asyncio.run(asyncio.wait_for(main(), 2 * LIMIT))


# ---- recording and playing --------------------------------------------------------------------


Speech = list[tuple[int, bytes]]
"""The pieces that a server sent, each with the number of bytes received from the client before it."""


class Player:
    """A server that sends the pieces of :attr:`speech` to each connection as data of the client arrives, and closes it.

    After the first piece that differs from :attr:`whole`, a silent client soon receives all that is left. With
    ``target`` it forwards everything and records the server's data instead.
    """

    def __init__(self, target: tuple[str, int] | None = None) -> None:
        self.speech: Speech = []
        self.whole: Speech = []
        self.target = target
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listening.getsockname()[1]
        self.thread = threading.Thread(target=self.accept, name="player")
        self.thread.start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            with client, contextlib.suppress(OSError):
                if self.target is None:
                    draining = threading.Thread(target=self.play, args=(client,))
                    draining.start()
                    draining.join()
                else:
                    self.record(client, socket.create_connection(self.target))

    def play(self, client: socket.socket) -> None:
        heard, patience = 0, float(LIMIT)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError):
            for (wanted, said), (_, right) in zip(self.speech, self.whole, strict=True):
                client.settimeout(patience)
                try:
                    while heard < wanted and patience:
                        heard += len(data := client.recv(1 << 16))
                        if not data:
                            return
                except TimeoutError:
                    patience = 0.0
                client.settimeout(None)
                client.sendall(said)
                if said != right:
                    patience = min(patience, PATIENCE)
            client.shutdown(socket.SHUT_WR)
            while client.recv(1 << 16):
                pass

    def record(self, client: socket.socket, server: socket.socket) -> None:
        heard = 0

        def forth() -> None:
            nonlocal heard
            with contextlib.suppress(OSError):
                while data := client.recv(1 << 16):
                    heard += len(data)
                    server.sendall(data)
                server.shutdown(socket.SHUT_WR)

        with server:
            thread = threading.Thread(target=forth)
            thread.start()
            while data := server.recv(1 << 16):
                self.speech.append((heard, data))
                client.sendall(data)
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            thread.join()

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        self.thread.join()


def options(player: Player) -> dict[str, Any]:
    return {
        "host": "127.0.0.1",
        "port": player.port,
        "login_timeout": 5,
        "read_timeout": 5,
        "call_timeout": 5,
        "max_reply_bytes": 1 << 20,
        "db_locale": "en_US.utf8",
    }


INTERESTING = (
    b"\0\0",
    b"\xff\xff",
    b"\x7f\xff",
    b"\x80\x00",
    b"\0\x0c",
    b"\0\x0e",
    b"\0\x0f",
    b"\0\x08",
    b"\0\x38",
)


def spoilt(speech: Speech, rng: random.Random) -> Speech:
    """Return the speech with one to three changes."""
    pieces = [bytearray(said) for _, said in speech]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        # Half of the changes come after the login, otherwise most would make the login fail.
        size = sum(map(len, pieces))
        at = rng.randrange(size) if rng.random() < 0.5 else rng.randrange(size // 3, size)
        for data in pieces:
            if at < len(data):
                break
            at -= len(data)
        match rng.randrange(6):
            case 0 | 1:
                data[at] ^= rng.randrange(1, 256)
            case 2:
                data[at : at + 2] = rng.choice(INTERESTING)
            case 3:
                data[at : at + 4] = rng.choice(INTERESTING) + rng.choice(INTERESTING)
            case 4:
                del data[at : at + rng.choice((1, 2, 4, 40))]
            case _:
                piece = data[at : at + rng.choice((1, 2, 16, 300))]
                data[at:at] = piece * rng.choice((1, 1, 40))
    return [(heard, bytes(data)) for (heard, _), data in zip(speech, pieces, strict=True)]


class Round:
    """One replay of a corrupted speech. An error of this package is a valid outcome. Any other one fails the test,
    which shows the speech."""

    def __init__(self, player: Player, said: Speech, rng: random.Random, outcomes: dict[str, int]) -> None:
        self.speech, self.outcomes = spoilt(said, rng), outcomes
        player.speech = self.speech

    def __enter__(self) -> None:
        self.began = time.monotonic()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        took = time.monotonic() - self.began
        assert took < LIMIT, f"{took} s after {self.speech}"
        assert error is None or isinstance(error, ifx.Error), f"{error!r} after {self.speech}"
        self.outcomes["result" if error is None else "error"] += 1
        return True


@pytest.mark.parametrize("transport", [in_threads, in_asyncio])
@pytest.mark.parametrize("work", DIALOGUES)
def test_spoilt_replies_end_in_results_or_errors_of_ours(
    tables: Server, transport: Transport, work: Callable[[Any], Awaitable[object]]
) -> None:
    spoil(tables, transport, work, random.Random(1))


@pytest.mark.soak
@pytest.mark.skipif(not LONG, reason="`make test` does it with one seed")
@pytest.mark.timeout(SECONDS + 120)
@pytest.mark.parametrize("transport", [in_threads, in_asyncio])
@pytest.mark.parametrize("work", DIALOGUES)
def test_replies_spoilt_in_new_ways_end_in_results_or_errors_of_ours(
    tables: Server, transport: Transport, work: Callable[[Any], Awaitable[object]]
) -> None:
    seed = any_seed()
    print(f"seed {seed}")
    spoil(tables, transport, work, random.Random(seed))


def spoil(
    server: Server, transport: Transport, work: Callable[[Any], Awaitable[object]], rng: random.Random
) -> None:
    """Record the dialogue, replay it unchanged, and replay it with many corruptions."""
    url = server.url("stores_demo")
    with Player(server.address) as recorder:
        expected = transport(url, options(recorder), work)
    said = list(recorder.speech)
    outcomes = {"result": 0, "error": 0}
    with Player() as player, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        player.speech = player.whole = said
        assert transport(url, options(player), work) == expected
        for _ in rounds(ROUNDS):
            with Round(player, said, rng, outcomes):
                transport(url, options(player), work)
    assert min(outcomes.values()) > 0, outcomes
