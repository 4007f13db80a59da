"""Build the codecs with AddressSanitizer and UndefinedBehaviorSanitizer and feed them hostile bytes.

    python tests/fuzz/run_sanitized.py [BUILD_DIRECTORY]

Seven programs run: fuzz_core.c, fuzz_encode.c, fuzz_bulk.c, fuzz_unl.c, fuzz_changes.c and fuzz_log.c (the cores alone,
leaks too) and hostile.py (modules in this Python, with the sanitizer's runtime preloaded). Ends with a status other
than 0 if anything is found or cannot be run.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src" / "informix_arrow"
CC = os.environ.get("CC", "cc")
SANITIZE = [
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-g",
    "-O1",
]
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
TIME_LIMIT = 600
#: Read once here: two threads that call sysconfig first at the same time may get no suffix.
EXT_SUFFIX, INCLUDE = sysconfig.get_config_var("EXT_SUFFIX"), sysconfig.get_path("include")
#: Percentage of the iterations. FUZZ_SEED is the seed (replies.py).
SHARE = int(os.environ.get("FUZZ_SHARE", "100"))


def run(command: list[str], **environment: str) -> None:
    subprocess.run(command, check=True, env={**os.environ, **environment}, timeout=TIME_LIMIT)


def runtime(name: str) -> str:
    """Return the path of one of the compiler's runtime libraries."""
    found = subprocess.run(
        [CC, f"-print-file-name={name}"], check=True, capture_output=True, text=True
    ).stdout.strip()
    if not Path(found).is_absolute():
        raise SystemExit(f"{CC} has no {name}: install the compiler's sanitizer runtime (libasan)")
    return found


def build_module(directory: Path, name: str) -> None:
    target, source = directory / f"{name}{EXT_SUFFIX}", str(SOURCE / f"{name}.c")
    run([CC, *WARNINGS, *SANITIZE, "-shared", "-fPIC", f"-I{INCLUDE}", source, "-o", str(target)])
    binary = target.read_bytes()
    for symbol in (b"__asan_init", b"__asan_report_load", b"__ubsan_handle"):
        if symbol not in binary:
            raise SystemExit(f"{target} is not sanitised: {symbol.decode()} is missing")


def build_core(directory: Path, name: str, *flags: str) -> Path:
    program = directory / "".join((name, *flags))
    run([CC, *WARNINGS, *SANITIZE, *flags, f"-I{SOURCE}", str(HERE / f"{name}.c"), "-lm", "-o", str(program)])
    return program


#: Modules that hostile.py loads. The cores of the other modules have their own programs.
MODULES = ("_decode", "_encode", "_hash")
CORES = ("fuzz_core", "fuzz_encode", "fuzz_bulk", "fuzz_unl", "fuzz_changes", "fuzz_log")
#: Selects the vectors of 16 bytes, which processors with AVX2 do not use. -O1 takes three times as long to compile.
NARROW = ("-DINFORMIX_ARROW_NARROW", "-O0")


def build(directory: Path) -> dict[str, Path]:
    """Build the modules and programs, and return the programs by name. One compiler runs on each core, as compiling
    takes most of the time."""
    narrow = [(name, *NARROW) for name in ("fuzz_core", "fuzz_encode")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        modules = [pool.submit(build_module, directory, name) for name in MODULES]
        programs = {name: pool.submit(build_core, directory, name) for name in CORES}
        programs |= {
            f"{name} narrow": pool.submit(build_core, directory, name, *flags) for name, *flags in narrow
        }
        for each in modules:
            each.result()
        return {name: each.result() for name, each in programs.items()}


RANDOM_PLANS = 60 * SHARE // 100


def write_replies(directory: Path) -> list[str]:
    """Write replies for fuzz_core.c: all types in one, each type alone and before an INTEGER, and random plans. Return
    the paths."""
    import replies

    from informix_arrow.wire.plan_ops import TypeOptions, plan_op

    every = list(range(len(replies.OPS)))
    last = every[-1]
    cases = []
    for plan in (every, every[::-1], *([i] for i in every), *([i, last] for i in every[:-1])):
        payloads = replies.payloads(150 if len(plan) > 2 else 12, plan)
        cases.append(([replies.OPS[i].as_tuple() for i in plan], payloads))
    doubles = TypeOptions(decimals="float64")  # some do not hold all digits of their DECIMAL
    cases.append(([plan_op(ct, doubles).as_tuple() for ct in replies.TYPES], replies.payloads(12)))
    rng = random.Random(replies.SEED)
    for _ in range(RANDOM_PLANS):
        columns, options, payloads = replies.random_reply(rng, 6)
        cases.append(([plan_op(column.type, options).as_tuple() for column in columns], payloads))
    paths = []
    for number, (ops, payloads) in enumerate(cases):
        path = directory / f"reply{number}.bin"
        with path.open("wb") as file:
            file.write(len(ops).to_bytes(4, "little"))
            for part in itertools.chain.from_iterable(ops):
                file.write(part.to_bytes(4, "little", signed=True))
            file.writelines(map(replies.message, payloads))
            file.write(replies.END_OF_TURN)
        paths.append(str(path))
    return paths


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    programs = build(directory)
    import replies
    import rows

    files = write_replies(directory)
    # Never allocates what a corrupted length asks for; errors end the process with a status of their own.
    options = "abort_on_error=0:exitcode=99:allocator_may_return_null=1:max_allocation_size_mb=2048"
    undefined = "halt_on_error=1:print_stacktrace=1"
    seed = str(replies.SEED)
    arguments = {
        "fuzz_core": files,
        "fuzz_core narrow": [files[0], files[-1 - RANDOM_PLANS]],
        "fuzz_encode": [str(500 * SHARE), seed],
        "fuzz_encode narrow": [str(50 * SHARE), seed],
        "fuzz_bulk": rows.write(directory),
        "fuzz_unl": [str(500 * SHARE), seed],
        "fuzz_changes": [str(50 * SHARE // 100), seed],
        "fuzz_log": [str(100 * SHARE // 100), seed],
    }
    for name, words in arguments.items():
        run([str(programs[name]), *words], ASAN_OPTIONS=f"detect_leaks=1:{options}", UBSAN_OPTIONS=undefined)
    # PYTHONMALLOC: each bytes object gets its own red zones. libstdc++ is preloaded because pyarrow throws exceptions.
    run(
        [sys.executable, str(HERE / "hostile.py"), str(directory)],
        LD_PRELOAD=f"{runtime('libasan.so')} {runtime('libstdc++.so.6')}",
        PYTHONMALLOC="malloc",
        ASAN_OPTIONS=f"detect_leaks=0:{options}",
        UBSAN_OPTIONS=undefined,
    )


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
