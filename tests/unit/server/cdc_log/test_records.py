"""Converting several row images of the server's log at once to records for clients, in C, compared with Python."""

from __future__ import annotations

import random

import pytest

from informix_arrow._changes import log_records
from informix_arrow.server.cdc_log import records
from informix_arrow.server.cdc_log.log import _encode_record, parse_record, record_size

PLACE = (7 << 32) + 24


def logged(kind: int, tx: int, table: int, body: bytes) -> bytes:
    return _encode_record(kind, tx, table, body)


def plainly(
    data: bytes, start: int, tx: int, table: int, lengths: int, most: int, room: int
) -> tuple[bytes, int, int]:
    """Return the result of log_records, computed record by record."""
    made, at, count = b"", start, 0
    while count < most and len(made) < room:
        entry = parse_record(data, at, PLACE - start)
        if entry is None or entry.kind not in range(40, 44) or (entry.tx, entry.table) != (tx, table):
            break
        made += records.change(entry.kind, entry.lsn, tx, 5, entry.body, lengths)
        at += record_size(entry)
        count += 1
    return made, at, count


def test_runs_are_those_of_the_plain_way() -> None:
    chance = random.Random(18)
    for _ in range(300):
        data = b"".join(
            logged(
                chance.choice((40, 40, 41, 42, 43, 43, 43, 1, 2, 62)) if chance.random() < 0.2 else 43,
                chance.choice((16, 16, 16, 16, 17)) if chance.random() < 0.2 else 16,
                3 if chance.random() < 0.95 else 4,
                chance.randbytes(8 + chance.randrange(60)),
            )
            for _ in range(chance.randrange(12))
        )
        start = chance.choice((0, 0, 11))
        data = bytes(start) + data[: len(data) - chance.choice((0, 0, 1, 30))]
        most, room = chance.randrange(12), chance.choice((0, 1, 100, 1000, 10_000))
        found = log_records(data, start, PLACE, 16, 3, 5, 8, most, room)
        assert found == plainly(data, start, 16, 3, 8, most, room)


def test_what_is_no_record_ends_a_run() -> None:
    one = logged(40, 16, 3, b"\0\0\0\2" + b"\1x")
    whole, behind, count = log_records(one * 3, 0, PLACE, 16, 3, 5, 4, 10, 1000)
    assert (len(whole), behind, count) == (3 * 42, 3 * len(one), 3)
    for at in range(len(one)):
        broken = bytearray(one * 3)
        broken[len(one) + at] ^= 0x20
        assert log_records(broken, 0, PLACE, 16, 3, 5, 4, 10, 1000)[1:] == (len(one), 1)
        assert log_records((one * 3)[: len(one) + at], 0, PLACE, 16, 3, 5, 4, 10, 1000)[1:] == (len(one), 1)
    short = logged(40, 16, 3, b"\0\0")  # shorter than the lengths in its header
    assert log_records(short, 0, PLACE, 16, 3, 5, 4, 10, 1000) == (b"", 0, 0)
    assert log_records(b"\0\0\0\x13" + bytes(30), 0, PLACE, 0, 0, 5, 0, 10, 1000) == (b"", 0, 0)
    assert log_records(b"", 0, PLACE, 16, 3, 5, 4, 10, 1000) == (b"", 0, 0)


@pytest.mark.parametrize(
    "arguments",
    [(-1, PLACE, 16, 3, 5, 4, 10, 10), (4, PLACE, 16, 3, 5, 4, 10, 10), (0, PLACE, 16, 3, 5, -1, 10, 10)],
)
def test_wrong_arguments_are_refused(arguments: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="start must be inside data"):
        log_records(b"abc", *arguments)
