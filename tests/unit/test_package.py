"""``import informix_arrow`` provides names that are imported when they are first used."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import informix_arrow as ifx
from informix_arrow import dbapi

TEXT = Path(ifx.__file__).read_text(encoding="utf-8")


def test_dir_shows_what_is_public_and_nothing_else() -> None:
    assert dir(ifx) == sorted([*ifx.__all__, "aio", "dbapi"])
    for name in dir(ifx):
        assert getattr(ifx, name) is not None


def test_a_type_checker_and_the_interpreter_see_the_same_names() -> None:
    typed = {
        (f".{node.module}", alias.name)
        for node in ast.walk(ast.parse(TEXT))
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    made = {(module, name) for module, names in ifx._LAZY_EXPORTS.items() for name in names.split()}
    assert made == typed
    assert sorted(name for _, name in made) == sorted(set(ifx.__all__) - {"__version__"})
    for module, name in made:
        assert getattr(ifx, name) is getattr(importlib.import_module(module, "informix_arrow"), name)


def test_the_module_has_the_globals_of_pep_249() -> None:
    assert (ifx.apilevel, ifx.paramstyle, ifx.threadsafety) == ("2.0", "qmark", 2)
    for name in ("Binary", "Date", "Timestamp", "STRING", "NUMBER", "DATETIME", "ROWID", "Error", "connect"):
        assert getattr(ifx, name) is getattr(dbapi, name)


@pytest.mark.parametrize("kind", [ifx.Pool, ifx.aio.AsyncPool])
def test_a_pool_refuses_unknown_keywords_when_it_is_made(kind: Callable[..., object]) -> None:
    with pytest.raises(ifx.InterfaceError, match=r"'maxsize' in (Async)?Pool\(\). Did you mean 'max_size'"):
        kind("informix://h/d", maxsize=3)
    with pytest.raises(ifx.InterfaceError, match="Did you mean 'autocommit'"):
        kind("informix://h/d", autocomit=True)


def test_what_asyncio_shows_is_what_it_has() -> None:
    assert sorted(dir(ifx.aio)) == sorted(ifx.aio.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'informix_arrow' has no attribute 'conect'"):
        ifx.conect  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="conect"):
        from informix_arrow import conect  # type: ignore[attr-defined]  # noqa: F401


def test_the_client_alone_loads_neither_pandas_nor_what_few_programs_compute_with() -> None:
    """If this fails: create arrays when they are first needed. pyarrow imports pandas for the first array from Python
    values, which takes nearly as long as importing the whole client. ``pyarrow.compute`` takes an eighth of the time of
    the first ``connect`` of a process."""
    code = """if True:
        import sys, informix_arrow.aio, informix_arrow.cdc.capture
        assert {"pyarrow", "pandas", "pyarrow.compute"} & set(sys.modules) == {"pyarrow"}
        from informix_arrow.rows import arrow_compute as compute
        assert "pyarrow.compute" not in sys.modules
        import pyarrow as pa
        assert compute.add(pa.scalar(1), 2).as_py() == 3
        import pyarrow.compute
        assert compute.add is pyarrow.compute.add
        assert not hasattr(compute, "no_such_function")
    """
    pytest.importorskip("pandas")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_import_alone_loads_neither_pyarrow_nor_the_client() -> None:
    code = (
        "import sys, informix_arrow; assert dir(informix_arrow); "
        "print(*sorted(name for name in sys.modules if name.startswith(('informix', 'pyarrow', 'numpy'))))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["informix_arrow"]
    code = "from informix_arrow import *; print(connect.__name__, aio.__name__ if 'aio' in dir() else '')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["connect"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            "sys.version_info = (3, 9, 18); sys.version = '3.9.18 (main)'",
            "Python 3.10 or later is needed, and this is 3.9.18",
        ),
        ("sys.implementation.name = 'pypy'", "CPython is needed, and this is pypy"),
    ],
    ids=["python", "implementation"],
)
def test_a_place_where_it_cannot_work_is_one_line(change: str, text: str) -> None:
    code = f"import sys; {change}; import informix_arrow"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == f"ImportError: informix-arrow cannot be used here: {text}"


def test_an_installation_without_compiled_code_is_one_line() -> None:
    code = (
        "import sys; sys.modules['informix_arrow._decode'] = None; import informix_arrow as ifx; ifx.connect"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "pip install --force-reinstall informix-arrow" in run.stderr.splitlines()[-1]
    assert "During handling" not in run.stderr
