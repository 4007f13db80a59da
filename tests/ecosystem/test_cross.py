"""The C code for other platforms: a cross compiler from PyPI compiles it without warnings, and it runs if possible.

``make weekly PYTEST_ARGS="-k cross"``. The compiler is the package ``ziglang``. Programs for aarch64 and s390x
(another byte order) run under qemu-user, those for Windows under wine (Debian: ``apt-get install qemu-user wine64``).
All of them must compute the same values as on this machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.ecosystem.environments import run
from tests.ecosystem.test_oldest import ROOT

SOURCE = ROOT / "src" / "informix_arrow"
MODULES = ("_decode", "_encode", "_bulk", "_unl", "_hash", "_changes")
#: The flags of CMakeLists.txt. -UNDEBUG for programs whose assertions are the test.
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")
TARGETS = (
    "aarch64-linux-gnu", "s390x-linux-gnu", "x86_64-linux-musl", "aarch64-linux-musl", "x86_64-macos", "aarch64-macos",
)  # fmt: skip
#: Target platforms, and the commands that run their programs.
PLACES = {
    "x86_64-linux-musl": (),
    "aarch64-linux-musl": ("qemu-aarch64", "qemu-aarch64-static"),
    "s390x-linux-musl": ("qemu-s390x", "qemu-s390x-static"),
    "x86_64-windows-gnu": ("wine64", "wine", "/usr/lib/wine/wine64"),
}
#: Programs of the codecs without Python (tests/fuzz), and their arguments: number of cases, or files.
PROGRAMS = {
    "fuzz_core": ("reply*.bin",),
    "fuzz_bulk": ("rows*.bin",),
    "fuzz_encode": ("500", "19"),
    "fuzz_unl": ("500", "19"),
    "fuzz_changes": ("20", "19"),
    "fuzz_log": ("20", "19"),
}
#: Enough of CPython's configuration for 64-bit Windows to compile files that include the stable ABI's headers.
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
    """A folder with the compiler."""
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
    """Compile C sources for the target. Fails if the compiler prints a warning."""
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
    """The modules are compiled with the headers of this Python, whose type sizes are those of every 64-bit system but
    Windows."""
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


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with replies and rows of every type from the plain Python encoder."""
    made = tmp_path_factory.mktemp("drawn")
    code = f"import run_sanitized, rows; from pathlib import Path; p = Path({str(made)!r}); "
    code += "run_sanitized.write_replies(p); rows.write(p)"
    run(sys.executable, "-c", code, cwd=ROOT / "tests" / "fuzz", env={"FUZZ_SHARE": "20"})
    return made


def test_no_program_of_the_codecs_is_left_out() -> None:
    assert set(PROGRAMS) == {path.stem for path in (ROOT / "tests" / "fuzz").glob("fuzz_*.c")}


def digest_of(program: list[str], name: str, drawn: Path) -> str:
    """Run the program and return the digest of all values that it decoded or wrote. Its assertions check the rest."""
    arguments = []
    for argument in PROGRAMS[name]:
        arguments += sorted(str(path.name) for path in drawn.glob(argument)) or [argument]
    done = subprocess.run(
        [*program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=drawn,
        env={
            **os.environ,
            "FUZZ_SHARE": "1",
            "WINEPREFIX": str(drawn / "wine"),
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml=",
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"digest ([0-9a-f]{16}): ok", done.stdout)
    assert found, done.stdout
    return found[1]


@pytest.fixture(scope="module")
def expected(drawn: Path) -> dict[str, str]:
    """Digests of the same programs on this machine, compiled by the compiler of the wheels' tests."""
    said = {}
    for name in PROGRAMS:
        program = str(drawn / name)
        source = str(ROOT / f"tests/fuzz/{name}.c")
        run(os.environ.get("CC", "cc"), "-std=c11", "-O2", f"-I{SOURCE}", source, "-lm", "-o", program)
        said[name] = digest_of([program], name, drawn)
    return said


@pytest.mark.parametrize("target", PLACES)
def test_cross_compiled_codecs_come_to_the_same_values(
    target: str, folder: Path, drawn: Path, expected: dict[str, str], tmp_path: Path
) -> None:
    """If only s390x differs: a word was read or written without wire_bytes.h."""
    ways = PLACES[target]
    found = [path for path in map(shutil.which, ways) if path]
    if ways and not found:
        pytest.skip(f"nothing here runs programs for {target}: {ways[0]}")
    for name in PROGRAMS:
        program = tmp_path / f"{name}.exe"
        # clang takes "a" "b" in a list of texts for a missing comma; here it is a text of two lines.
        options = ("-UNDEBUG", "-Wno-string-concatenation", f"-I{SOURCE}")
        source = str(ROOT / f"tests/fuzz/{name}.c")
        compile_for(target, folder, *options, source, "-lm", "-o", str(program))
        assert digest_of([*found[:1], str(program)], name, drawn) == expected[name], name
