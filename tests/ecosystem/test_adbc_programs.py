"""Programs in other languages use the driver by its manifest: one in C, one in Rust, each with several threads.

They query, bind parameters, ingest, provoke errors, cancel, read in eight threads, and release streams early. Under
AddressSanitizer the driver's C code is compiled again, and must not leak memory. arrow-adbc's own suite for
drivers is one more such program.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import adbc_driver_manager
import pyarrow as pa
import pytest
from tests.ecosystem import environments
from tests.ecosystem.test_wheels import NEWER, environment, interpreter, pip, wheel

import adbc_driver_informix
import informix_arrow as ifx
from adbc_driver_informix.library import libpython_path, library_path
from adbc_driver_informix.manifest import write_manifest
from informix_arrow.server import Server

PROGRAMS = Path(__file__).parent / "adbc_programs"
MANAGER = Path(adbc_driver_manager.__file__).parent
#: Python and the packages that it loads never free some memory: modules, interned text.
SUPPRESSED = ("libpython", "libarrow", "numpy", "pyarrow", "_decode", "ld-linux", "libcrypto", "python3")
CASES = ["released early", "parameters, ingestion", "errors", "cancel", "threads"]

pytestmark = [pytest.mark.ecosystem, pytest.mark.slow, pytest.mark.timeout(1800)]


def filled(rows: int) -> Iterator[str]:
    with Server() as server:
        server.create_database("programs")
        url = server.url("programs")
        with ifx.connect(url, autocommit=True) as conn:
            conn.execute("CREATE TABLE numbers (n INT, s VARCHAR(30))")
            data = {"n": pa.array(range(rows), pa.int32()), "s": [f"näme {n % 1000}" for n in range(rows)]}
            conn.write_arrow("numbers", pa.table(data))
        yield url


@pytest.fixture(scope="module")
def million() -> Iterator[str]:
    yield from filled(1_000_000)


@pytest.fixture(scope="module")
def few() -> Iterator[str]:
    yield from filled(30_000)


@pytest.fixture
def drivers(tmp_path: Path) -> dict[str, str]:
    """Return environment variables with which a manifest is found."""
    try:
        libpython_path()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    write_manifest(tmp_path / "drivers")
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    return {**kept, "ADBC_DRIVER_PATH": str(tmp_path / "drivers")}


def run(program: Path, url: str, rows: int, environment: dict[str, str]) -> list[str]:
    done = subprocess.run(
        [str(program), url, str(rows)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-4000:]}"
    return done.stdout.splitlines()


def seconds_of_read_arrow(url: str) -> float:
    with ifx.connect(url, autocommit=True) as conn:
        times = []
        for _ in range(6):
            began = time.perf_counter()
            conn.read_arrow("SELECT n, s FROM numbers")
            times.append(time.perf_counter() - began)
    return min(times[1:])


def compiler(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} here")
    return found


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The driver manager's object files, compiled from the sources in its wheel."""
    folder, cxx = tmp_path_factory.mktemp("manager"), compiler("c++")
    made = []
    for source in ("", "_api", "_driver_loading", "_profiles"):
        made.append(str(folder / f"manager{source}.o"))
        text = str(MANAGER / f"adbc_driver_manager{source}.cc")
        subprocess.run(
            [cxx, "-std=c++17", "-O0", "-w", f"-I{MANAGER}", "-c", text, "-o", made[-1]], check=True
        )
    return made


def built(folder: Path, objects: list[str], *flags: str) -> Path:
    """Compile the program in C with the driver manager, and return its path."""
    main, program = folder / "program.o", folder / "program"
    subprocess.run(
        [compiler("cc"), "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{MANAGER}", *flags, "-c",
         str(PROGRAMS / "program.c"), "-o", str(main)],
        check=True,
    )  # fmt: skip
    link = [compiler("c++"), *flags, str(main), *objects, "-ldl", "-lpthread", "-o", str(program)]
    subprocess.run(link, check=True)
    return program


def test_a_program_in_c(few: str, drivers: dict[str, str], objects: list[str], tmp_path: Path) -> None:
    lines = run(built(tmp_path, objects), few, 30_000, drivers)
    assert lines[1:] == [*CASES, "fork"]


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel(sys.executable, tmp_path_factory.mktemp("packaged"))


READ_IN_PYTHON = """
import sys, adbc_driver_manager.dbapi as dbapi
with dbapi.connect(driver="informix", db_kwargs={"uri": sys.argv[1]}) as conn, conn.cursor() as cursor:
    cursor.execute("SELECT FIRST 1000 n, s FROM numbers")
    print("%d.%d" % sys.version_info[:2], cursor.fetch_arrow_table().num_rows)
"""


@pytest.mark.weekly  # installs pyarrow for each of them
@pytest.mark.parametrize("version", NEWER)
def test_the_library_starts_or_joins_a_newer_python(
    version: str, few: str, packaged: Path, objects: list[str], tmp_path: Path
) -> None:
    python = environment(interpreter(version), tmp_path / "venv")
    environments.run(*pip(python), "install", "--prefer-binary", f"{packaged}[adbc]")
    where = {"ADBC_DRIVER_PATH": str(tmp_path / "drivers")}
    environments.run(str(Path(python).with_name("informix-arrow")), "adbc-manifest", "--env", env=where)
    [_, libpython] = (tmp_path / "drivers" / "informix" / "python.txt").read_text().split()
    assert f"libpython{version}" in libpython
    assert environments.run(python, "-c", READ_IN_PYTHON, few, env=where).split() == [version, "1000"]
    lines = run(built(tmp_path, objects), few, 30_000, {"PATH": os.environ["PATH"], **where})
    assert lines[1:] == [*CASES, "fork"]


@pytest.mark.weekly  # minutes of building arrow-rs
def test_a_program_in_rust(million: str, drivers: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    cargo = compiler("cargo")
    from tests.interop.jdbc import toolchain

    target = toolchain.cache_directory().with_name(
        "adbc-program-target"
    )  # the crates take minutes to compile
    subprocess.run(
        [cargo, "build", "--quiet", "--locked", "--release", "--target-dir", str(target)],
        cwd=PROGRAMS / "rust",
        check=True,
    )
    lines = run(target / "release" / "adbc-program", million, 1_000_000, drivers)
    assert lines[1:] == [*CASES[1:], "transactions"]
    ours = seconds_of_read_arrow(million)
    with capsys.disabled():
        theirs = float(lines[0].split()[1])
        print(f"\n1,000,000 rows: Rust {theirs:.3f} s, read_arrow {ours:.3f} s, {theirs / ours:.2f} times")


@pytest.mark.weekly  # minutes with the sanitizer
def test_nothing_is_lost_or_used_after_its_release(
    few: str, drivers: dict[str, str], objects: list[str], tmp_path: Path
) -> None:
    """Runs the program in C with the driver's C code under AddressSanitizer and LeakSanitizer."""
    sources = Path(adbc_driver_informix.__path__[-1])
    if not (sources / "driver.c").exists():
        pytest.skip("the sources are not here")
    checked = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g")
    installed = Path(drivers["ADBC_DRIVER_PATH"], "informix", library_path().name)
    installed.unlink()
    subprocess.run(
        [compiler("cc"), "-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", *checked,
         str(sources / "driver.c"), str(sources / "python_host.c"), "-ldl", "-lpthread", "-o", str(installed)],
        check=True,
    )  # fmt: skip
    suppressions = tmp_path / "suppressions"
    suppressions.write_text("".join(f"leak:{name}\n" for name in SUPPRESSED))
    environment = {
        **drivers,
        "ASAN_OPTIONS": "detect_leaks=1:fast_unwind_on_malloc=0:malloc_context_size=60",
        "LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0",
        "PYTHONMALLOC": "malloc",
    }
    lines = run(built(tmp_path, objects, *checked), few, 30_000, environment)
    assert lines[1:] == [*CASES, "fork"]


#: Cases of arrow-adbc's validation suite that fail, and why: each is a limit of Informix.
SMALLEST = "this number means NULL"
LIMITS = {
    "SqlIngestInt16": SMALLEST,
    "SqlIngestInt32": SMALLEST,
    "SqlIngestInt64": SMALLEST,
    "SqlIngestTimestamp": "has more precision than DATETIME YEAR TO FRACTION(5)",
    "SqlIngestDuration": "has more precision than INTERVAL DAY(9) TO FRACTION(5)",
    "SqlIngestTimestampTz": "There is no Informix type for timestamp[s, tz=UTC]",
    "SqlIngestInterval": "There is no Informix type for month_day_nano_interval",
    # A temporary table cannot have the name of an existing table.
    "SqlIngestTemporary": "SQLCODE -310",
    "SqlIngestTemporaryAppend": "SQLCODE -310",
    "SqlIngestTemporaryReplace": "SQLCODE -310",
}


@pytest.mark.weekly  # minutes of compiling
def test_the_validation_suite_of_arrow_adbc(
    drivers: dict[str, str], objects: list[str], tmp_path: Path
) -> None:
    """Built from the sources of apache/arrow-adbc in ARROW_ADBC_SOURCES. Needs GoogleTest."""
    sources = os.environ.get("ARROW_ADBC_SOURCES")
    if not sources:
        pytest.skip("ARROW_ADBC_SOURCES names no checkout of apache/arrow-adbc")
    if not Path("/usr/include/gmock/gmock.h").exists():
        pytest.skip("no libgmock-dev here")
    there = Path(sources, "c")
    include = [f"-I{there / folder}" for folder in ("include", "driver", ".", "vendor/nanoarrow", "vendor")]
    made = list(objects)
    for source in (
        there / "driver/common/utils.c",
        there / "vendor/nanoarrow/nanoarrow.c",
        *sorted((there / "validation").glob("*.cc")),
        PROGRAMS / "validation.cc",
    ):
        made.append(str(tmp_path / f"{source.stem}.o"))
        command = [compiler("cc")] if source.suffix == ".c" else [compiler("c++"), "-std=c++20"]
        subprocess.run([*command, "-O0", "-w", *include, "-c", str(source), "-o", made[-1]], check=True)
    program = tmp_path / "validation"
    libraries = ("-lgtest", "-lgmock", "-lgtest_main", "-ldl", "-lpthread")
    wrapped = "-Wl,--wrap=AdbcStatementSetSqlQuery"
    subprocess.run([compiler("c++"), *made, wrapped, *libraries, "-o", str(program)], check=True)
    report = tmp_path / "report.xml"
    with Server() as server:
        server.create_database("valid")
        where = {**drivers, "INFORMIX_URI": server.url("valid"), "INFORMIX_DATABASE": "valid"}
        done = subprocess.run(
            [str(program), f"--gtest_output=xml:{report}"],
            capture_output=True, text=True, env=where, timeout=600, check=False,
        )  # fmt: skip
    assert report.exists(), done.stdout[-4000:] + done.stderr[-4000:]
    cases = ElementTree.parse(report).getroot().findall(".//testcase")
    failed = {
        str(case.get("name")): "".join(failure.get("message", "") for failure in case.findall("failure"))
        for case in cases
        if case.find("failure") is not None
    }
    assert failed.keys() == LIMITS.keys(), done.stdout[-20_000:]
    for name, reason in LIMITS.items():
        assert reason in failed[name]
    assert len([case for case in cases if case.get("result") == "completed"]) >= 100
