"""Every header of the native code includes all headers that it uses, so that it compiles alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

CC = os.environ.get("CC", "cc")
NATIVE = Path(__file__).parents[3] / "src" / "informix_arrow" / "native"
HEADERS = sorted(NATIVE.glob("*.h"))

pytestmark = pytest.mark.skipif(shutil.which(CC) is None, reason="no C compiler here")


@pytest.mark.slow
@pytest.mark.parametrize("header", HEADERS, ids=lambda header: str(header.stem))
def test_a_header_compiles_alone(header: Path) -> None:
    """If this fails: add the missing #include to the header itself, not to the files that include it."""
    command = [CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only"]
    include = f"-I{sysconfig.get_path('include')}"
    source = f'#include "{header}"\n'
    done = subprocess.run(
        [*command, include, "-x", "c", "-"], input=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_header_of_the_decoder_includes_one_of_the_encoder_nor_the_other_way_round() -> None:
    """If this fails: move what both need to the common headers (plan.h, wire_bytes.h, base100.h). The two sides have
    structs of the same names, and no module includes both."""
    assert len(HEADERS) > 20
    for header in HEADERS:
        other = {"decode": '#include "encode_', "encode": '#include "decode_'}.get(header.stem.split("_")[0])
        crossing = (other,) if other else ('#include "encode_', '#include "decode_')
        assert not [line for line in header.read_text().splitlines() if line.startswith(crossing)], (
            header.name
        )


def test_no_module_says_that_it_works_without_the_gil() -> None:
    """If this fails: declare it only after a free-threaded interpreter has run all tests with several threads."""
    sources = sorted(NATIVE.parent.glob("_*.c"))
    assert len(sources) > 5
    assert not [source.name for source in sources if "Py_mod_gil" in source.read_text(encoding="utf-8")]
