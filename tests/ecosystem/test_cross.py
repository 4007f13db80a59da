"""The C code for other platforms: compiled without a warning, and for aarch64 run, by a cross compiler that pip has.

``make weekly PYTEST_ARGS="-k cross"``. The compiler is the package ``ziglang``; what it makes for aarch64 runs under
qemu-user (Debian: ``apt-get install qemu-user``). Big-endian machines are refused by the codecs themselves
(wire_bytes.h).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.ecosystem.test_oldest import ROOT, run

SOURCE = ROOT / "src" / "informix_arrow"
MODULES = ("_decode", "_encode", "_bulk", "_unl")
#: As CMakeLists.txt has them; -UNDEBUG for programs whose assertions are the test.
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")
TARGETS = ("aarch64-linux-gnu", "x86_64-linux-musl", "aarch64-linux-musl", "x86_64-macos", "aarch64-macos")
#: Enough of CPython's configuration for 64-bit Windows to compile what includes the stable ABI's headers.
WINDOWS = """
#define MS_WINDOWS
#define MS_WIN64
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define ALIGNOF_MAX_ALIGN_T 8
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
typedef long long Py_ssize_t;
#define PY_SSIZE_T_MAX 0x7fffffffffffffffLL
#define HAVE_PY_SSIZE_T 1
"""

pytestmark = [pytest.mark.ecosystem, pytest.mark.weekly, pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the compiler is."""
    made = tmp_path_factory.mktemp("cross")
    run(sys.executable, "-m", "venv", str(made / "venv"))
    run(
        str(made / "venv" / "bin" / "pip"),
        "--quiet",
        "--disable-pip-version-check",
        "install",
        "ziglang>=0.13",
    )
    return made


def compile_for(target: str, folder: Path, *arguments: str) -> None:
    """Nothing is said when nothing is wrong."""
    done = subprocess.run(
        [
            str(folder / "venv" / "bin" / "python"),
            "-m",
            "ziglang",
            "cc",
            "-target",
            target,
            *FLAGS,
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "ZIG_GLOBAL_CACHE_DIR": str(folder / "zig"),
            "ZIG_LOCAL_CACHE_DIR": str(folder / "zig"),
        },
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("target", [*TARGETS, "x86_64-windows-gnu"])
def test_cross_compiled_modules_have_no_warning(target: str, folder: Path, tmp_path: Path) -> None:
    """With the headers of this Python, whose sizes are those of every 64-bit system but Windows."""
    headers = sysconfig.get_path("include")
    if "windows" in target:
        shutil.copytree(headers, tmp_path / "include")
        (tmp_path / "include" / "pyconfig.h").write_text(WINDOWS)
        headers = str(tmp_path / "include")
    for name in MODULES:
        made = tmp_path / f"{name}.o"
        stable = ("-DNDEBUG", "-DPy_LIMITED_API=0x030B0000", f"-I{headers}")
        compile_for(target, folder, *stable, "-c", str(SOURCE / f"{name}.c"), "-o", str(made))
        assert made.stat().st_size > 10_000


def test_cross_compiled_codecs_run_on_aarch64(folder: Path, tmp_path: Path) -> None:
    """Random columns through the encoder, random lines through the .unl reader and writer; their assertions judge."""
    emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if emulator is None:
        pytest.skip("no qemu-aarch64 here")
    for name, said in (("fuzz_encode", "encoder: 500 batches"), ("fuzz_unl", ".unl: ")):
        program = tmp_path / name
        # clang takes "a" "b" in a list of texts for a comma that was forgotten; here it is a text of two lines.
        options = ("-UNDEBUG", "-Wno-string-concatenation", f"-I{SOURCE}")
        compile_for(
            "aarch64-linux-musl",
            folder,
            *options,
            str(ROOT / f"tests/fuzz/{name}.c"),
            "-lm",
            "-o",
            str(program),
        )
        done = subprocess.run(
            [emulator, str(program), "500", "19"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith(said)
