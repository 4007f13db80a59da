"""What do blocks gain over the loop over rows? `python -m benchmarks.experiments.block_kernels`

The tuples of test_codec.py by blocks and through the loop over rows, in turns;
the best of ROUNDS, ns a row. What else was tried for blocks, on an EPYC of the fifth generation, is gone from the code
and here with its figure:

- Walking over all tuples of a block first, to write down where each run of fixed columns begins: 30 of 110 ns of the
  row of 100 columns, as each length waits for the one before. Now each variable column says where the next one begins,
  for all rows, which do not wait for each other.
- Prefetching the lines that the next block is going to write: no difference (28.6 and 28.2 ns for 20 INTEGER columns;
  on a Xeon with a busy memory, besides the prefetching of what is read, which stays: 112 to 118 and 106 to 130 ns for
  the 100 columns, 131 to 148 without either, the least of each of six processes). Again with blocks of 48 KiB: 125 ns
  without, 125 to 130 with the lines of three columns ahead, or of the same column's next block.
- Blocks that take half and a quarter of 48 KiB: 161 ns, 183 and 214 for the 100 columns on a busy Xeon; with 64 KiB as
  with 48.
- What is read fetched into the second cache only: 9.5 and 8.1 ns for the row of five columns.
- VARCHARs copied by 16 bytes, not 32: 7.6 and 7.3 ns for that row, 7.1 to 7.3 with its sizes by bzhi.
- One function with all loops instead of one for each kind: 100 and 88 ns for the 100 columns; what a loop needs had no
  room in registers.
- Gathers (vpgatherdd) instead of single loads: 6.0 and 3.6 ns for 8 INTEGER columns.
- Blocks of rows with long texts (ten CHAR(200), 64 rows): 125 ns instead of 70 in the loop over rows; such rows stay
  there.
- Qualifiers of DATETIME and INTERVAL copied for each block: 95.5 and 98 ns for 8 INTERVAL columns, where the loop over
  rows has 82.5; there blocks gain nothing yet.
- The range of INT8 by comparisons and its NULLs by shifts by the row's number: 2.86 and 2.37 ns a value, though 8 %
  fewer instructions; where there is no AVX2 what is wrong is gathered in words now, and bits move by one.

For the encoder:

- Blocks for rows where integers, floats and dates are not most of the columns: 8.3 and 6.5 ns for an INTEGER and a
  VARCHAR; such rows are written row by row.
- One function for a value, used by rows and blocks: 5.7 and 4.9 ns for a VARCHAR row by row, as it left the compiler's
  limits for inlining; so the loop over rows is a function of its own and as it was.
- Texts copied by registers of 32 bytes where the processor has them: 122 and 120 ns for the 100 columns, of which texts
  are 46.
- Blocks of half and a quarter as many rows, so that they fit the first cache better: 135 and 149 ns where all have 140.
- Texts copied by 16, 32 or 64 bytes, as the longest of the block wants, and by columns up to the row's end where such
  copies end within it: 110.4 and 109.4 ns for the 100 columns (texts of 5 to 39 bytes), 106 and 103.5 in another run.
- The lines that the next block is going to write fetched: 128 and 123 ns. Blocks of 24, 33 and 64 rows: 115, 122 and
  117, where all have 48 and take 109.
- Lanes and texts as the compiler writes them for AVX2: 124.6 and 124.9 ns, 122.9 and 122.6 in another run.
- One loop for lanes with NULLs and without: 20.6 and 14.4 ns for 20 INTEGER columns without.
- Since lanes go to their places in one step, 89 ns for the 100 columns in blocks of 48 rows: 103 ns with 16, 92.8 with
  24, 90.4 with 32, 89.7 with 64. Texts copied by two registers of 32 bytes 87.7, by one of 64 (AVX-512) 86.5, by one
  that is stored as far as the text goes 81.6: a fourth kernel, which only some processors have.
- Sizes of texts, too, by AVX2, and texts by 32 bytes: 95 and 88 to 92 ns on a busy machine; not taken, as it takes
  two more functions of each kernel.
"""

from __future__ import annotations

import time

from informix_arrow._decode import FULL, Decoder
from informix_arrow.wire.describe import Column, compile_plan
from informix_arrow.wire.types import ColumnType

from ..test_codec import COLUMNS, payloads_of, tuples, wire_of

ROUNDS = 40
WAYS = {"blocks": True, "rows": False}


def best(columns: list[Column], wire: bytes, rows: int) -> dict[str, float]:
    """ns a row by blocks and by rows, in turns."""
    plan = compile_plan(columns)
    found = dict.fromkeys(WAYS, float("inf"))
    for _ in range(ROUNDS):
        for way, blocks in WAYS.items():
            decoder = Decoder(
                [op.as_tuple() for op in plan.ops],
                [column.name for column in columns],
                batch_rows=1 << 30,
                batch_bytes=2 << 20,
                max_tuple=plan.max_tuple,
                blocks=blocks,
            )
            started, position, status = time.perf_counter_ns(), 0, FULL
            while status == FULL:
                position, status = decoder.feed(wire, position, len(wire))
                decoder.take()
            found[way] = min(found[way], (time.perf_counter_ns() - started) / rows)
    return found


def main() -> None:
    mixed = [Column(f"c{number}", COLUMNS[number % 5].type) for number in range(100)]
    integers = [Column(f"c{number}", ColumnType.integer()) for number in range(20)]
    cases = {
        "the row of five columns": (COLUMNS, tuples(100_000), 100_000),
        "100 mixed columns": (mixed, wire_of([b"".join(payloads_of(tuples(20)))] * 5000), 5000),
        "20 INTEGER columns": (integers, wire_of([bytes(range(80))] * 50_000), 50_000),
    }
    for name, (columns, wire, rows) in cases.items():
        found = best(list(columns), wire, rows)
        print(f"{name}: " + ", ".join(f"{kernels} {ns:.1f} ns" for kernels, ns in found.items()))


if __name__ == "__main__":
    main()
