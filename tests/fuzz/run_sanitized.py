"""Build the codecs with AddressSanitizer and UndefinedBehaviorSanitizer and feed them hostile bytes.

    python tests/fuzz/run_sanitized.py [BUILD_DIRECTORY]

Two programs run: fuzz_core.c (the decoder core alone, leaks detected too) and hostile.py (both modules in this Python,
with the sanitizer's runtime preloaded). Ends with a status other than 0 if anything is found or cannot be run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
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
TIME_LIMIT = 300


def run(command: list[str], **environment: str) -> None:
    subprocess.run(command, check=True, env={**os.environ, **environment}, timeout=TIME_LIMIT)


def runtime(name: str) -> str:
    """Path of one of the compiler's runtime libraries."""
    found = subprocess.run(
        [CC, f"-print-file-name={name}"], check=True, capture_output=True, text=True
    ).stdout.strip()
    if not Path(found).is_absolute():
        raise SystemExit(f"{CC} has no {name}: install the compiler's sanitizer runtime (libasan)")
    return found


def build_modules(directory: Path) -> None:
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    include = f"-I{sysconfig.get_path('include')}"
    for name in ("_decode", "_encode"):
        target = directory / f"{name}{suffix}"
        source = str(SOURCE / f"{name}.c")
        run([CC, *WARNINGS, *SANITIZE, "-shared", "-fPIC", include, source, "-o", str(target)])
        binary = target.read_bytes()
        for symbol in (b"__asan_init", b"__asan_report_load", b"__ubsan_handle"):
            if symbol not in binary:
                raise SystemExit(f"{target} is not sanitised: {symbol.decode()} is missing")


def build_core(directory: Path) -> Path:
    program = directory / "fuzz_core"
    run([CC, *WARNINGS, *SANITIZE, f"-I{SOURCE}", str(HERE / "fuzz_core.c"), "-o", str(program)])
    return program


def write_replies(directory: Path) -> list[str]:
    """Replies for fuzz_core.c: all types in one, and each type alone and before an INTEGER."""
    import replies

    every = list(range(len(replies.OPS)))
    last = every[-1]
    plans = [every, every[::-1], *([i] for i in every), *([i, last] for i in every[:-1])]
    paths = []
    for number, plan in enumerate(plans):
        path = directory / f"reply{number}.bin"
        with path.open("wb") as file:
            file.write(len(plan).to_bytes(4, sys.byteorder))
            for i in plan:
                for part in replies.OPS[i].as_tuple():
                    file.write(part.to_bytes(4, sys.byteorder, signed=True))
            for payload in replies.payloads(150 if len(plan) > 2 else 12, plan):
                file.write(replies.message(payload))
            file.write(replies.END_OF_TURN)
        paths.append(str(path))
    return paths


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    build_modules(directory)
    program = build_core(directory)
    files = write_replies(directory)
    # Never allocates what a corrupted length asks for; errors end the process with a status of their own.
    options = "abort_on_error=0:exitcode=99:allocator_may_return_null=1:max_allocation_size_mb=2048"
    undefined = "halt_on_error=1:print_stacktrace=1"
    run([str(program), *files], ASAN_OPTIONS=f"detect_leaks=1:{options}", UBSAN_OPTIONS=undefined)
    # PYTHONMALLOC: every bytes object gets its own red zones. libstdc++ comes along because pyarrow throws.
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
