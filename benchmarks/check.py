"""`make bench-check`: has the codec become slower than what benchmarks/baseline.json remembers?

    python -m benchmarks.check            measure and compare; exit status 1 names what regressed
    python -m benchmarks.check --instructions   only these, as CI does: its machines share their memory with others
    python -m benchmarks.check --update   make the baseline anew: the ratios on a quiet machine only
    python -m benchmarks.check --update --instructions   the counts alone, on any machine; the ratios stay

The baseline holds no times, which differ from machine to machine, but

*instructions*
    per value, of the decoder's C core under callgrind (valgrind, where it is installed): the same from run to run, so
    that 3% more is a regression. They depend on the compiler, which is part of the baseline: with another one they are
    printed and not judged.
*ratios*
    of our time over that of a floor or peer in the same run (memcpy, the Python reference, informix-driver's decoder),
    each from the best rounds, with the spread that the run showed. A ratio fails when it is worse by more than three
    times its spread and by half, in three runs out of three: on shared machines less than that is noise.
"""

from __future__ import annotations

import argparse
import array
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from informix_arrow.wire.describe import compile_plan

HERE = Path(__file__).parent
BASELINE = HERE / "baseline.json"
SOURCE = HERE.parents[0] / "src" / "informix_arrow"
FLAGS = ["-O3", "-std=c11", f"-I{SOURCE}"]
MORE_INSTRUCTIONS = 1.03
WORSE_RATIO = 1.5
SPREADS = 3.0
RUNS = 3


def compiler() -> str:
    """The first line of `cc --version`: instruction counts are comparable within one compiler."""
    return subprocess.run(
        ["cc", "--version"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[0]


def count_instructions() -> dict[str, float]:
    """Instructions per value for every type of the codec benchmarks; empty without valgrind."""
    if shutil.which("valgrind") is None:
        return {}
    from .test_codec import DISTINCT_ROWS, TYPE_CASES, TYPE_COLUMNS, type_columns, type_payloads, wire_of

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        program, data = Path(folder) / "instructions", Path(folder) / "data"
        subprocess.run(["cc", *FLAGS, str(HERE / "instructions.c"), "-o", str(program)], check=True)
        for name, case in TYPE_CASES.items():
            plan = compile_plan(type_columns(name), case.options)
            ops = array.array("i", [len(plan.ops), *(part for op in plan.ops for part in op.as_tuple())])
            data.write_bytes(ops.tobytes() + wire_of(type_payloads(name)))
            out = Path(folder) / "out"
            command = [
                "valgrind",
                "--tool=callgrind",
                "--toggle-collect=counted*",
                f"--callgrind-out-file={out}",
            ]
            run = subprocess.run(
                [*command, str(program), str(data)], capture_output=True, text=True, check=True
            )
            assert int(run.stdout) == DISTINCT_ROWS
            total = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
            assert total is not None
            found[name] = int(total[1]) / DISTINCT_ROWS / TYPE_COLUMNS
    return found


def measure() -> dict[str, dict[str, float]]:
    """Run the codec benchmarks: our best round over the best of each other line of the same subject, and the spread of
    both."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "codec.json"
        command = [sys.executable, "-m", "pytest", "-q", "--benchmark-only", f"--benchmark-json={path}"]
        subprocess.run(
            [*command, "benchmarks/test_codec.py"], check=True, cwd=HERE.parent, stdout=subprocess.DEVNULL
        )
        measured = json.loads(path.read_text())["benchmarks"]
    subjects: dict[str, dict[str, Any]] = {}
    for entry in measured:
        info = entry["extra_info"]
        if info.get("subject", "").startswith("decode"):
            subjects.setdefault(info["subject"], {})[info["who"]] = (entry["stats"], info["rows"])
    found = {}
    for subject, lines in subjects.items():
        mine = [who for who in lines if who == "C" or who.startswith("C, ")]
        for who in mine:
            ours, rows = lines[who]
            for other in lines.keys() - set(mine):
                theirs, their_rows = lines[other]
                spread = ours["iqr"] / ours["median"] + theirs["iqr"] / theirs["median"]
                ratio = (ours["min"] / rows) / (theirs["min"] / their_rows)
                found[f"{subject}: {who} / {other}"] = {"ratio": ratio, "spread": spread}
    return found


def slower_instructions(baseline: dict[str, Any]) -> list[str]:
    """What takes more instructions than before, a line each."""
    counted = count_instructions()
    worse = [
        f"decode {name}: {counted[name]:.1f} instructions per value, {before:.1f} before"
        for name, before in baseline["instructions"].items()
        if name in counted and counted[name] > before * MORE_INSTRUCTIONS
    ]
    print(f"instructions of {len(counted)} types" + ("" if counted else ": no valgrind here"))
    if worse and compiler() != baseline["compiler"]:
        print(f"not judged, as the baseline's compiler is {baseline['compiler']}:", *worse, sep="\n  ")
        return []
    return worse


def slower_ratios(baseline: dict[str, Any]) -> list[str]:
    """What is slower against its floors and peers in every one of RUNS runs, a line each."""
    worse: dict[str, str] = {}
    for run in range(RUNS):
        found, before = measure(), worse
        print(f"{len(found)} ratios, run {run + 1}")
        worse = {}
        for name, was in baseline["ratios"].items():
            now = found.get(name)
            if now is None:
                worse[name] = f"{name}: not measured any more"
                continue
            limit = was["ratio"] * max(WORSE_RATIO, 1 + SPREADS * (was["spread"] + now["spread"]))
            if now["ratio"] > limit and (run == 0 or name in before):
                worse[name] = (
                    f"{name}: {now['ratio']:.3g}, {was['ratio']:.3g} before, up to {limit:.3g} is noise"
                )
        if not worse:
            break
    return list(worse.values())


def main() -> None:
    parser = argparse.ArgumentParser(description="compare the codecs with benchmarks/baseline.json")
    parser.add_argument("--update", action="store_true", help="make the baseline anew")
    parser.add_argument("--instructions", action="store_true", help="instructions only: measure no times")
    arguments = parser.parse_args()
    if arguments.update:
        ratios = json.loads(BASELINE.read_text())["ratios"] if arguments.instructions else measure()
        found = {
            "compiler": compiler(),
            "instructions": {name: round(value, 2) for name, value in count_instructions().items()},
            "ratios": {
                name: {key: round(value, 4) for key, value in entry.items()}
                for name, entry in sorted(ratios.items())
            },
        }
        BASELINE.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{BASELINE.name}: {len(found['ratios'])} ratios, {len(found['instructions'])} counts")
        return
    baseline = json.loads(BASELINE.read_text())
    worse = slower_instructions(baseline)
    if not arguments.instructions:
        worse += slower_ratios(baseline)
    for line in worse:
        print(f"slower: {line}")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
