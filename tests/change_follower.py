"""Reads change records without the code of the server's encoder, and keeps copies of tables up to date with them."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

Row = tuple[object, ...]
Change = tuple[str, str, Row | None, Row | None]
"""Kind, table, row before the change, row after it."""

NULLS = {2: 0x8000, 4: 0x80000000, 8: 1 << 63}
NAMES = {40: "insert", 41: "delete", 42: "before", 43: "after", 119: "truncate"}


def records(data: bytes) -> list[tuple[int, bytes, bytes]]:
    """Return the number, the header after the common part, and the payload of each record."""
    found, at = [], 0
    while at < len(data):
        head, payload, scheme, number = struct.unpack_from(">4I", data, at)
        assert scheme == 66
        assert at + head + payload <= len(data)
        found.append((number, data[at + 16 : at + head], data[at + head : at + head + payload]))
        at += head + payload
    return found


def value(kind: str, raw: bytes) -> object:
    """Return a value as Python has it for integers, CHAR, VARCHAR and LVARCHAR; as bytes for all other types."""
    if kind in ("integer", "serial", "smallint", "bigint", "bigserial"):
        number = int.from_bytes(raw, "big")
        return None if number == NULLS[len(raw)] else int.from_bytes(raw, "big", signed=True)
    if kind.startswith("char"):
        return None if raw[:1] == b"\0" else raw.decode().rstrip(" ")
    if kind.startswith("varchar"):
        assert raw[0] == len(raw) - 1
        return None if raw == b"\1\0" else raw[1:].decode()
    if kind.startswith("lvarchar"):
        assert int.from_bytes(raw[:2], "big") == len(raw) - 2
        return None if raw[2] else raw[3:].decode()
    return raw


WIDTHS = {"integer": 4, "serial": 4, "smallint": 2, "bigint": 8, "bigserial": 8, "date": 4, "boolean": 2}


@dataclass
class Layout:
    table: str
    columns: list[tuple[str, str]]
    fixed: int
    variable: int

    def row(self, lengths: bytes, image: bytes) -> Row:
        sizes = struct.unpack(f">{self.variable}I", lengths)
        assert len(image) == self.fixed + sum(sizes)
        values, at, variable = [], 0, iter(sizes)
        for _, kind in self.columns:
            word = kind.partition("(")[0]
            if word in ("varchar", "nvarchar", "lvarchar"):
                size = next(variable)
            elif word in ("char", "nchar"):
                size = int(kind.partition("(")[2][:-1])
            else:
                size = WIDTHS[word]
            values.append(value(kind, image[at : at + size]))
            at += size
        assert at == len(image)
        return tuple(values)


@dataclass
class Transaction:
    tx: int
    begin: int
    places: list[int] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    half: Row | None = None
    last: int = 0


@dataclass
class Follower:
    """Assembles records into transactions. `labels` maps the labels in the records to table names."""

    labels: dict[int, str]
    layouts: dict[int, Layout] = field(default_factory=dict)
    open: dict[int, Transaction] = field(default_factory=dict)
    committed: list[Transaction] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    commit_lsns: list[int] = field(default_factory=list)
    begin_lsns: list[int] = field(default_factory=list)
    rolled_back: int = 0

    def take(self, data: bytes) -> None:
        for number, head, payload in records(data):
            self.kinds.append(number)
            self.take_record(number, head, payload)

    def take_record(self, number: int, head: bytes, payload: bytes) -> None:
        if number == 200:
            label, flags, width, fixed, variable = struct.unpack(">5I", head)
            assert flags == 0
            assert payload[-1] == 0
            columns = [tuple(c.split(" ", 1)) for c in payload[:-1].decode().split(", ")]
            assert fixed + variable == len(columns)
            self.layouts[label] = Layout(self.labels[label], columns, width, variable)  # type: ignore[arg-type]
            return
        if number in (201, 202):
            return
        lsn, tx = struct.unpack_from(">QI", head)
        if number == 1:
            assert tx not in self.open
            assert not self.begin_lsns or lsn > self.begin_lsns[-1]
            self.begin_lsns.append(lsn)
            self.open[tx] = Transaction(tx, lsn, last=lsn)
            return
        mine = self.open[tx]
        if number in (2, 3):
            assert lsn > mine.last
            assert mine.half is None
            del self.open[tx]
            if number == 2:
                assert not self.commit_lsns or lsn > self.commit_lsns[-1]
                self.commit_lsns.append(lsn)
                self.committed.append(mine)
            else:
                self.rolled_back += 1
            return
        if number == 62:
            kept = [i for i, place in enumerate(mine.places) if place < lsn]
            mine.places = [mine.places[i] for i in kept]
            mine.changes = [mine.changes[i] for i in kept]
            return
        assert lsn > mine.last
        mine.last = lsn
        label = struct.unpack_from(">I", head, 12)[0]
        table = self.layouts[label].table
        if number == 119:
            self.add(mine, lsn, ("truncate", table, None, None))
            return
        row = self.layouts[label].row(head[20:], payload)
        if number == 42:
            assert mine.half is None
            mine.half = row
            return
        if number == 43:
            assert mine.half is not None
            before, mine.half = mine.half, None
            self.add(mine, lsn, ("update", table, before, row))
            return
        assert mine.half is None
        self.add(mine, lsn, ("insert", table, None, row) if number == 40 else ("delete", table, row, None))

    @staticmethod
    def add(mine: Transaction, lsn: int, change: Change) -> None:
        mine.places.append(lsn)
        mine.changes.append(change)

    def tables(self, start: dict[str, list[Row]] | None = None) -> dict[str, list[Row]]:
        """Return the tables after all committed transactions, in commit order. Each change must find its row."""
        kept = {name: list((start or {}).get(name, [])) for name in self.labels.values()}
        for transaction in self.committed:
            for kind, table, before, after in transaction.changes:
                rows = kept[table]
                if kind == "truncate":
                    rows.clear()
                    continue
                if before is not None:
                    rows.remove(before)
                if after is not None:
                    rows.append(after)
        return {name: sorted(rows, key=repr) for name, rows in kept.items()}
