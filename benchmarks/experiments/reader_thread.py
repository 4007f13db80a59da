"""Would a thread that receives while another decodes win? `python -m benchmarks.experiments.reader_thread`

A process sends the million tuples of test_codec.py; they are drained, received and decoded in turns as the client does
it, and received by one thread while another decodes, with four buffers between them. All in turns, medians printed.

On two cores it does not win: the sender has one of them, and receiving and decoding share the other either way.
So the least that `read_arrow` can take where the sender is quick is receiving and decoding one after the other. Of the
recorded million rows (51.8 MB), in turns on a busy machine, the least CPU time of 40: drained 12.1 ms; received and
decoded 23.4, with batches dropped as with batches kept; `read_arrow`, login and all, 28.6. It receives a megabyte at a
time (some 90 calls) and touches fresh memory in huge pages (26 page faults), so neither is what is left;
receives of 128 to 512 KiB, whose bytes would still be near when they are decoded, take the same.
"""

from __future__ import annotations

import multiprocessing
import queue
import socket
import statistics
import threading
import time
from collections.abc import Callable

from informix_arrow._decode import Decoder

from ..test_codec import ROWS, feed, new_decoder, tuples

ROUNDS = 25
SIZE = 1 << 20
HEAD = 1 << 16  # room in front of a buffer for the tuple that the one before ended in


def send(ports: multiprocessing.Queue[int], data: bytes, times: int) -> None:
    """The server: the same bytes to whoever connects."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ports.put(listening.getsockname()[1])
        for _ in range(times):
            client, _ = listening.accept()
            with client:
                client.sendall(data)


def dropped(decoder: Decoder) -> None:
    decoder.take()


def drained(link: socket.socket) -> None:
    hole = bytearray(SIZE)
    while link.recv_into(hole):
        pass


def in_turns(link: socket.socket) -> None:
    decoder, data = new_decoder(), bytearray(SIZE + HEAD)
    view, start, end = memoryview(data), 0, 0
    while count := link.recv_into(view[end:]):
        start = feed(decoder, data, start, end + count, dropped)
        end += count
        if start == end:
            start = end = 0
        elif len(data) - end < HEAD // 2:
            rest = bytes(view[start:end])
            data[: len(rest)] = rest
            start, end = 0, len(rest)
    decoder.take()
    assert decoder.total_rows == ROWS


def in_two_threads(link: socket.socket) -> None:
    decoder = new_decoder()
    free: queue.SimpleQueue[bytearray] = queue.SimpleQueue()
    full: queue.SimpleQueue[tuple[bytearray, int]] = queue.SimpleQueue()
    for _ in range(4):
        free.put(bytearray(HEAD + SIZE // 2))

    def receive() -> None:
        while True:
            data = free.get()
            view, count = memoryview(data)[HEAD:], 0
            while count < SIZE // 4 and (more := link.recv_into(view[count:])):
                count += more
            full.put((data, count))
            if not count:
                return

    thread = threading.Thread(target=receive)
    thread.start()
    rest = b""
    while True:
        data, count = full.get()
        if not count:
            break
        start = HEAD - len(rest)
        data[start:HEAD] = rest
        at = feed(decoder, data, start, HEAD + count, dropped)
        rest = bytes(data[at : HEAD + count])
        free.put(data)
    thread.join()
    decoder.take()
    assert decoder.total_rows == ROWS


def main() -> None:
    ways: tuple[Callable[[socket.socket], None], ...] = (drained, in_turns, in_two_threads)
    ports: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=send, args=(ports, tuples(ROWS), ROUNDS * len(ways)), daemon=True)
    server.start()
    port = ports.get()
    seconds: dict[str, list[float]] = {way.__name__: [] for way in ways}
    for _ in range(ROUNDS):
        for way in ways:
            began = time.perf_counter()
            with socket.create_connection(("127.0.0.1", port)) as link:
                way(link)
            seconds[way.__name__].append(time.perf_counter() - began)
    for name, found in seconds.items():
        low, middle, high = statistics.quantiles(found[3:])
        print(f"{name:16s} median {middle * 1e3:6.1f} ms, IQR {(high - low) * 1e3:5.1f} ms")


if __name__ == "__main__":
    main()
