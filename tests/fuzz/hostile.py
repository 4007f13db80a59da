"""Decodes every prefix and many corruptions of a recorded reply in the sanitised interpreter (run_sanitized.py).

Each ends in the right batch, a clean ProtocolError or DataError, or "more bytes needed"; anything else is a failure,
and the sanitizers end the process at the first bad read. Rows that a corruption did not touch must be unchanged; the
touched one must be what the plain reference makes of it. What decodes is encoded again and must decode to the same.
"""

# ruff: noqa: PT017 - not a pytest module: nothing of pytest is loaded under the sanitizer

from __future__ import annotations

import contextlib
import datetime as dt
import importlib.machinery
import importlib.util
import os
import random
import sys
import time
import types
from decimal import Decimal
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "src" / "informix_arrow"
ROWS = 150
SHARE = int(os.environ.get("FUZZ_SHARE", "100"))
CORRUPTIONS = 100 * SHARE
MAX_TUPLE = 4096


def load_sanitised(directory: Path) -> tuple[Any, Any, Any]:
    """Return the codecs in `directory`, under their own names. They must be loaded before anything of the package loads
    the installed ones."""
    package = types.ModuleType("informix_arrow")
    package.__path__ = [str(SOURCE)]
    sys.modules["informix_arrow"] = package
    loaded = []
    for name in ("_decode", "_encode", "_hash"):
        (path,) = directory.glob(f"{name}.*.so")
        spec = importlib.util.spec_from_file_location(f"informix_arrow.{name}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        assert module.__file__ == str(path)
        loaded.append(module)
    return loaded[0], loaded[1], loaded[2]


decode_module, encode_module, hash_module = load_sanitised(Path(sys.argv[1]).resolve())
sys.path.insert(0, str(Path(__file__).parent))

import pyarrow as pa  # noqa: E402
import replies  # noqa: E402

from informix_arrow.wire.errors import DataError, Error, ProtocolError  # noqa: E402
from informix_arrow.wire.plan_ops import arrow_type_of_op  # noqa: E402
from informix_arrow.wire.values import decode_tuple, encode_tuple  # noqa: E402

NEED_MORE, OTHER, FULL = 0, 1, 2
OPS = [op.as_tuple() for op in replies.OPS]
SCHEMA = pa.schema(list(zip(replies.NAMES, map(arrow_type_of_op, replies.OPS), strict=True)))
PAYLOADS = replies.payloads(ROWS)
REPLY = b"".join(map(replies.message, PAYLOADS)) + replies.END_OF_TURN


def new_decoder(batch_rows: int = 1 << 20) -> Any:
    return decode_module.Decoder(
        OPS, replies.NAMES, batch_rows=batch_rows, batch_bytes=1 << 30, max_tuple=MAX_TUPLE
    )


def taken(decoder: Any) -> pa.RecordBatch:
    batch = pa.RecordBatch._import_from_c_capsule(SCHEMA.__arrow_c_schema__(), decoder.take())
    batch.validate(full=True)
    return batch


def same(a: pa.RecordBatch, b: pa.RecordBatch) -> bool:
    """Return whether two values are equal. A NaN equals itself, as a corrupted FLOAT may be one."""
    return bool(a.equals(b)) or repr(a.to_pylist()) == repr(b.to_pylist())


def encoded_again(batch: pa.RecordBatch, rng: random.Random) -> None:
    """Encode the batch with the sanitised encoder, in replies of random size, and decode it again."""
    encoder = encode_module.Encoder(OPS, replies.NAMES)
    assert encoder.load(*batch.__arrow_c_array__()) == batch.num_rows
    stream = b""
    try:
        while encoder.remaining:
            piece, rows = encoder.encode(rng.choice([1, 500, 5000, 1 << 20]))
            assert rows > 0
            stream += piece
    except DataError:
        return  # a corrupted value without an encoding: a DATE beyond year 9999, a NaN, NULL's own bytes
    decoder = new_decoder()
    position, status = decoder.feed(stream, 0, len(stream))
    assert (position, status) == (len(stream), NEED_MORE)
    assert same(taken(decoder), batch)


def whole_reply() -> pa.RecordBatch:
    decoder = new_decoder()
    assert decoder.feed(REPLY, 0, len(REPLY)) == (len(REPLY) - 2, OTHER)
    batch = taken(decoder)
    for row, payload in zip(batch.to_pylist(), PAYLOADS, strict=True):
        assert tuple(row.values()) == decode_tuple(payload, replies.COLUMNS, "utf-8", replies.OPTIONS)
    return batch


def every_prefix(whole: pa.RecordBatch) -> int:
    """Decode every prefix as a separate bytes object, so that the sanitizer detects a read beyond its end."""
    starts = [0]
    for payload in PAYLOADS:
        starts.append(starts[-1] + len(replies.message(payload)))
    rng = random.Random(replies.SEED)
    rows = 0
    for length in range(len(REPLY) + 1):
        while rows < ROWS and starts[rows + 1] <= length:
            rows += 1
        prefix = REPLY[:length]
        decoder = new_decoder()
        position, status = decoder.feed(prefix, 0, length)
        assert (position, decoder.rows) == (starts[rows], rows), length
        assert status == (OTHER if length == len(REPLY) else NEED_MORE), length
        if rng.random() < 0.02:  # once the rest arrives, the batch must be correct
            if rng.random() < 0.5:
                assert taken(decoder).equals(whole.slice(0, rows))
                whole_rest = whole.slice(rows)
            else:
                whole_rest = whole
            rest = REPLY[position:]
            assert decoder.feed(rest, 0, len(rest)) == (len(rest) - 2, OTHER)
            assert taken(decoder).equals(whole_rest)
    return len(REPLY) + 1


def corruptions(whole: pa.RecordBatch) -> dict[str, int]:
    starts = [0]
    for payload in PAYLOADS:
        starts.append(starts[-1] + len(replies.message(payload)))
    rng = random.Random(replies.SEED + 1)
    ends = {"batch": 0, "ProtocolError": 0, "DataError": 0, "other message": 0, "more bytes needed": 0}
    for number in range(CORRUPTIONS):
        at = rng.randrange(len(REPLY))
        bad = bytearray(REPLY)
        bad[at] ^= rng.choice([rng.randrange(1, 256), 1 << rng.randrange(8)])
        data = bytes(bad)
        row = max(i for i, start in enumerate(starts) if start <= at)
        decoder = new_decoder(rng.choice([1 << 20, ROWS, 100]))
        batches, position, failure = [], 0, None
        try:
            position, status = decoder.feed(data, 0, len(data))
            while status == FULL:
                batches.append(taken(decoder))
                position, status = decoder.feed(data, position, len(data))
        except (ProtocolError, DataError) as error:
            failure = error
            assert error.row is not None
            assert error.row >= row, (number, at)
            for _ in range(2):
                try:
                    decoder.feed(REPLY, 0, len(REPLY))
                except type(error):
                    pass
                else:
                    raise AssertionError("a decoder went on after an error")
        batches.append(taken(decoder))
        table = pa.Table.from_batches(batches).combine_chunks()
        got = table.to_batches()[0] if table.num_rows else batches[0]

        # Complete rows before the corruption are unchanged.
        before = min(row, got.num_rows)
        assert got.slice(0, before).equals(whole.slice(0, before)), (number, at)
        if failure is not None:
            ends[type(failure).__name__] += 1
        elif got.num_rows == ROWS and position == len(REPLY) - 2:
            ends["batch"] += 1
            if row < ROWS:
                assert got.slice(row + 1).equals(whole.slice(row + 1)), (number, at)
                inside = data[starts[row] + 8 : starts[row] + 8 + len(PAYLOADS[row])]
                try:
                    wanted = decode_tuple(inside, replies.COLUMNS, "utf-8", replies.OPTIONS)
                    assert repr(tuple(got.slice(row, 1).to_pylist()[0].values())) == repr(wanted), (
                        number,
                        at,
                    )
                except Error as error:  # the reference has no DATE beyond year 9999, Arrow has
                    assert error.column == "c7", (number, at, error)
                    continue
            if number % 20 == 0:
                encoded_again(got, rng)
        else:
            ends["other message" if status == OTHER else "more bytes needed"] += 1
    return ends


def hashes(count: int) -> None:
    """Hash buffers of any size as columns. Each is hashed or refused, and never read beyond its end."""
    rng = random.Random(replies.SEED)

    def some(most: int) -> bytearray:
        return bytearray(rng.randbytes(rng.randrange(most)))

    refused = 0
    for _ in range(count):
        rows = bytearray(8 * rng.randrange(8))
        offset = rng.choice((0, 0, 0, 0, 1, 1, 7, 8, 9, rng.randrange(40), -1, 2**56, 2**63 - 1))
        validity = rng.choice((None, some(8)))
        try:
            if rng.random() < 0.5:
                width = rng.choice((1, 2, 4, 8, 16, 3))
                hash_module.mix_numbers(rows, some(300), offset, width, rng.random() < 0.3, validity)
            else:
                ends = sorted(
                    rng.randrange(-1 if rng.random() < 0.1 else 0, 60) for _ in range(rng.randrange(60))
                )
                width = rng.choice((4, 8))
                offsets = b"".join(end.to_bytes(width, "little", signed=True) for end in ends)
                hash_module.mix_texts(rows, some(80), offsets, offset, width, validity)
            buckets = [-1 if rng.random() < 0.05 else rng.randrange(8) for _ in range(len(rows) // 8)]
            index = b"".join(each.to_bytes(8, "little", signed=True) for each in buckets)
            hash_module.add_up(bytearray(64), bytearray(64), index, rows)
        except ValueError:
            refused += 1
    assert 0 < refused < count
    print(f"{count} columns to be hashed: {refused} refused")


def sums(count: int) -> None:
    """Sum buffers of any size as columns. Each is summed or refused, and never read beyond its end."""
    rng = random.Random(replies.SEED)
    refused = 0
    for _ in range(count):
        offset, rows = (rng.choice((0, 0, 1, 7, 8, rng.randrange(40), -1, 2**56, 2**63 - 1)) for _ in "or")
        validity = rng.choice((None, rng.randbytes(rng.randrange(8))))
        try:
            if rng.random() < 0.5:
                data = rng.randbytes(rng.randrange(300))
                hash_module.sum_column(data, offset, rows, rng.choice((1, 2, 4, 8, 3)), validity)
            else:
                codes = [rng.randrange(-1 if rng.random() < 0.1 else 0, 5) for _ in range(rng.randrange(40))]
                indices = b"".join(each.to_bytes(4, "little", signed=True) for each in codes)
                hash_module.sum_entries(bytearray(8 * rng.randrange(9)), indices, offset, rows, validity)
        except ValueError:
            refused += 1
    assert 0 < refused < count
    print(f"{count} columns to be summed: {refused} refused")


def python_rows(count: int) -> None:
    """Convert Python values of any type to each kind of Arrow column: a column, None or a Python exception."""
    rng = random.Random(replies.SEED)
    some = [
        None, True, 0, -1, 2**63, -(2**63), 2**200, 0.0, float("nan"), "", "a", "\u00e9" * 99, "\ud800", "\U0001f600",
        *[Decimal(text) for text in ("0", "0E+9", "1E-32", "9" * 32, "9" * 33, "-1.5", "NaN", "Infinity", "1E+99")],
        dt.date.min, dt.date.max, dt.datetime.min, dt.datetime.max, dt.datetime.now(dt.timezone.utc), dt.time.max,
        dt.timedelta.min, dt.timedelta.max, b"x", (), object(),
    ]  # fmt: skip
    makers = [lambda values, kind=kind: encode_module.fixed(kind, values) for kind in "ifbnDMTS"]
    for _ in range(count):
        chosen = [value for value in some if type(value) is type(rng.choice(some))] or some
        values = [rng.choice([*chosen, None]) for _ in range(rng.randrange(40))]
        for make in (*makers, encode_module.texts):
            with contextlib.suppress(TypeError, AttributeError, UnicodeEncodeError):
                make(values)
        width = rng.randrange(1, 5)
        rows = [tuple(values[at : at + width]) for at in range(0, len(values), width)]
        with contextlib.suppress(ValueError):  # the last row may be a short one
            encode_module.columns(rows, width)


def batches_as_rows(count: int) -> None:
    """Convert slices of batches of every type, with NULLs, to rows. Rows beyond the end are refused."""
    rng = random.Random(replies.SEED)
    samples = {
        pa.int16(): [-(2**15), 7],
        pa.int32(): [-(2**31), 7],
        pa.int64(): [-(2**63), 7],
        pa.float32(): [0.5, -0.0],
        pa.float64(): [1e300, 5e-324],
        pa.bool_(): [True, False],
        pa.utf8(): ["", "a", "\u00e9\U0001f600" * 20],
        pa.date32(): [dt.date.min, dt.date.max],
        pa.decimal128(38, 0): [Decimal("9" * 38), Decimal(0)],
        pa.decimal128(38, 38): [Decimal("-0.5"), Decimal("1E-38")],
        pa.binary(): [b"", b"x"],
        pa.timestamp("us"): [dt.datetime.min, dt.datetime.max],
    }
    others = (pa.binary(), pa.timestamp("us"))
    for _ in range(count):
        size, chosen = rng.randrange(20), rng.choices(list(samples), k=rng.randrange(1, 5))
        arrays = [pa.array(rng.choices([None, *samples[kind]], k=size), kind) for kind in chosen]
        batch = pa.RecordBatch.from_arrays(arrays, [f"c{k}" for k in range(len(arrays))])
        batch = batch.slice(rng.randrange(size + 1))
        first = rng.randrange(batch.num_rows + 1)
        many = rng.randrange(batch.num_rows - first + 2)
        ready = tuple(
            array.slice(first, many).to_pylist() if kind in others else None
            for kind, array in zip(chosen, batch.columns, strict=True)
        )
        try:
            made = decode_module.rows(*batch.__arrow_c_array__(), first, many, ready)
        except ValueError:
            assert first + many > batch.num_rows
        else:
            plain = zip(*[array.slice(first, many).to_pylist() for array in batch.columns], strict=True)
            assert made == list(plain)


def small_replies(count: int) -> None:
    """Decode small replies of types that become rows in C. Corrupted ones are refused, or decoded as by the other
    decoders."""
    rng = random.Random(replies.SEED + 2)
    kinds = ("int16", "int32", "int64", "float", "double", "bool", "string", "date32[day]")
    made_here = [
        at for at, kind in enumerate(SCHEMA.types) if str(kind) in kinds or pa.types.is_decimal128(kind)
    ]
    made = refused = 0
    for _ in range(count):
        chosen = rng.choices(made_here, k=rng.randrange(1, 4))
        ops, names = [OPS[at] for at in chosen], [f"c{number}" for number in range(len(chosen))]
        schema = pa.schema([pa.field(name, SCHEMA.types[at]) for name, at in zip(names, chosen, strict=True)])
        columns = [replies.COLUMNS[at] for at in chosen]
        rows = [
            decode_tuple(rng.choice(PAYLOADS), replies.COLUMNS, "utf-8", replies.OPTIONS) for _ in range(4)
        ]
        data = bytearray(
            b"".join(
                replies.message(encode_tuple([row[at] for at in chosen], columns, "utf-8"))
                for row in rows[: rng.randrange(5)]
            )
        )
        done = rng.choice((16, 24))
        data += b"\0\x0f" + bytes(done - 2) + rng.choice((b"", b"\0\x37" + bytes(8))) + b"\0\x0c"
        for _ in range(rng.choice((0, 1, 1, 2))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        reply = bytes(data[: rng.choice((len(data), len(data), rng.randrange(len(data) + 1)))])
        arguments = {"batch_rows": rng.choice((512, 2)), "batch_bytes": 1 << 30, "max_tuple": MAX_TUPLE}
        decoder = decode_module.Decoder(ops, names, **arguments)
        found = decoder.reply(
            schema.__arrow_c_schema__(), reply, 0, len(reply), rng.choice((done, done, 16, 1, 2**62))
        )
        if found is None:
            refused += 1
            continue
        made += 1
        again = decode_module.Decoder(ops, names, **arguments)
        position, status = again.feed(reply, 0, len(reply))
        assert status == OTHER
        assert position < found[2] <= len(reply)
        batch = pa.RecordBatch._import_from_c_capsule(schema.__arrow_c_schema__(), again.take())
        assert repr(found[0]) == repr(list(zip(*[c.to_pylist() for c in batch.columns], strict=True)))
    assert made
    assert refused
    print(f"{count} small replies: {made} became rows")


def main() -> None:
    started = time.monotonic()
    batches_as_rows(30 * SHARE)
    small_replies(100 * SHARE)
    hashes(200 * SHARE)
    sums(100 * SHARE)
    python_rows(200 * SHARE)
    whole = whole_reply()
    encoded_again(whole, random.Random(1))
    print(f"{every_prefix(whole)} prefixes of a reply of {ROWS} rows: ok, {time.monotonic() - started:.0f} s")
    started = time.monotonic()
    ends = corruptions(whole)
    assert sum(ends.values()) >= CORRUPTIONS * 0.99
    print(f"{CORRUPTIONS} corruptions: {ends}, {time.monotonic() - started:.0f} s")


main()
