"""Check the arguments of ``write_arrow`` and make a request of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

import pyarrow as pa

from ..rows import arrow_compute as pc
from ..wire.assignment import Inexact, inexact_option
from ..wire.errors import InterfaceError
from .batch_sources import BatchSource, open_source
from .progress import Bar, ProgressCallback
from .target_table import check_table
from .write import MODES, TableWrite, WriteRequest

if TYPE_CHECKING:
    from ..operations.session import Session

Mode: TypeAlias = Literal["append", "create", "replace", "create_append", "truncate", "upsert"]
_TUNING_OPTIONS = ("group_bytes", "window_bytes", "window_rows", "piece_rows")


class WriteKeywords(TypedDict, total=False):
    """The options of :meth:`Connection.write_arrow`, for functions that pass them on."""

    mode: Mode
    columns: Sequence[str] | Mapping[str, str] | None
    on_error: Literal["abort", "collect"]
    commit_every: int | None
    method: Literal["auto", "put", "pipeline"]
    key: str | Sequence[str] | None
    primary_key: str | Sequence[str] | None
    serial: str | None
    types: Mapping[str, str] | None
    progress: bool | ProgressCallback | None
    temporary: bool
    cascade: bool
    inexact: Inexact | None
    time_zone: str | None
    connections: int
    group_bytes: int
    window_bytes: int
    window_rows: int
    piece_rows: int


def plan_write(
    table: str, data: Any, delimident: bool, options: Mapping[str, Any], inexact: Inexact = "error"
) -> tuple[WriteRequest, BatchSource, ProgressCallback | Bar | None]:
    """Check the arguments and return the request, its data and the progress callback. Nothing is sent.

    ``inexact`` is the default for the option of that name. Raises ``InterfaceError`` for a wrong argument.
    """
    unknown = sorted(options.keys() - WriteKeywords.__annotations__.keys())
    if unknown:
        raise InterfaceError(f"write_arrow() has no option {', '.join(unknown)}.")
    mode = _check_choice("mode", options.get("mode", "append"), MODES)
    collect = _check_choice("on_error", options.get("on_error", "abort"), ("abort", "collect")) == "collect"
    method = _check_choice("method", options.get("method", "auto"), ("auto", "put", "pipeline"))
    commit_every = options.get("commit_every")
    if commit_every is not None:
        _check_positive("commit_every", commit_every)
    key = _names("key", options.get("key"))
    if (mode == "upsert") != bool(key):
        raise InterfaceError(
            "mode='upsert' needs key=, the columns that identify a row. Other modes take none."
        )
    if mode == "upsert" and commit_every is not None:
        raise InterfaceError("commit_every= does not work with mode='upsert', which ends in a single MERGE.")
    creating = mode in ("create", "replace", "create_append")
    primary_key = _names("primary_key", options.get("primary_key"))
    for name, value in (
        ("primary_key", primary_key),
        ("serial", options.get("serial")),
        ("types", options.get("types")),
        ("temporary", options.get("temporary")),
    ):
        if value and not creating:
            raise InterfaceError(
                f"{name}= works only with a mode that creates the table, not with mode={mode!r}."
            )
    if options.get("cascade") and mode != "replace":
        raise InterfaceError(f"cascade= works with mode='replace', not with mode={mode!r}.")
    zone = options.get("time_zone")
    if zone is not None:
        _check_zone(zone)
    _check_columns(options.get("columns"))
    for name in ("temporary", "cascade"):
        if not isinstance(options.get(name, False), bool):
            raise InterfaceError(f"{name} must be True or False, got {options[name]!r}.")
    serial, types = options.get("serial"), options.get("types")
    if serial is not None and not isinstance(serial, str):
        raise InterfaceError(f"serial must be a column's name, got {serial!r}.")
    if types is not None and not (isinstance(types, Mapping) and _are_texts((*types, *types.values()))):
        raise InterfaceError(
            f"types must be declared types by column name, such as {{'name': 'VARCHAR(40)'}}, got {types!r}."
        )
    inexact_given = options.get("inexact")
    tuning = {name: options[name] for name in _TUNING_OPTIONS if name in options}
    for name, value in tuning.items():
        _check_positive(name, value)
    source = open_source(data)
    request = WriteRequest(
        table=check_table(table),
        schema=source.schema,
        mode=mode,
        columns=options.get("columns"),
        collect=collect,
        commit_every=commit_every,
        method=method,
        key=key,
        primary_key=primary_key,
        serial=serial,
        types=types or {},
        temporary=bool(options.get("temporary", False)),
        delimident=delimident,
        cascade=bool(options.get("cascade", False)),
        inexact=inexact if inexact_given is None else inexact_option(inexact_given),
        time_zone=zone,
        object_bytes=options.get("window_bytes"),
        **tuning,
    )
    progress = options.get("progress")
    if progress is None or progress is False:
        return request, source, None
    if progress is True:
        return request, source, Bar(source.total)
    if not callable(progress):
        raise InterfaceError(
            f"progress must be True or a function of (rows, bytes, seconds), got {progress!r}."
        )
    return request, source, progress


@contextmanager
def open_write(
    session: Session, table: str, data: Any, delimident: bool, options: Mapping[str, Any]
) -> Iterator[TableWrite]:
    """Check the arguments and yield the load of ``data`` into ``table``, which the caller runs within the block."""
    began = time.monotonic()
    request, source, progress = plan_write(table, data, delimident, options, session.inexact)
    last = (0, 0)

    def on_progress(rows: int, size: int, seconds: float) -> None:
        nonlocal last
        last = rows, size
        assert progress is not None
        progress(rows, size, seconds)

    load = TableWrite(session, request, source.batches, on_progress if progress is not None else None)
    try:
        yield load
    finally:
        if isinstance(progress, Bar):
            progress.finish(*last, time.monotonic() - began)


def _check_columns(value: object) -> None:
    names = (*value, *value.values()) if isinstance(value, Mapping) else value
    if value is not None and (
        not isinstance(names, Sequence) or isinstance(names, str | bytes) or not _are_texts(names)
    ):
        raise InterfaceError(
            f"columns must be a sequence of names or a mapping between names, got {value!r}."
        )


def _are_texts(values: Sequence[object]) -> bool:
    return all(isinstance(each, str) for each in values)


def _check_choice(name: str, value: object, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise InterfaceError(f"{name}={value!r}: It must be one of {', '.join(map(repr, allowed))}.")
    return str(value)


def _check_zone(zone: object) -> None:
    try:
        pc.local_timestamp(pa.array([0], pa.timestamp("s", zone)))
    except (pa.ArrowException, TypeError):
        raise InterfaceError(
            f"time_zone={zone!r}: It must be the name of a zone, such as 'Europe/Berlin'."
        ) from None


def _check_positive(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InterfaceError(f"{name} must be a whole number of at least 1, got {value!r}.")


def _names(what: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Sequence) else None
    if names is None or not all(isinstance(name, str) and name for name in names):
        raise InterfaceError(f"{what} must be a column's name or a sequence of them, got {value!r}.")
    return names
