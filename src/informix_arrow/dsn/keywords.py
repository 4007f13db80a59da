"""The keywords of ``connect()``, for type checkers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from ssl import SSLContext
from typing import Literal, TypedDict

from ..wire.assignment import Inexact


class FurtherKeywords(TypedDict, total=False):
    """The keywords that are not in the signature of ``connect()``."""

    tls_ca_password: str | None
    tls_key_password: str | None
    tls_pkcs12_password: str | None
    login_ahead: bool | None


class ConnectKeywords(FurtherKeywords, total=False):
    """All keywords; None means "not given". See :func:`informix_arrow.connect`."""

    host: str | None
    port: int | str | None
    user: str | None
    password: str | None
    database: str | None
    server: str | None
    autocommit: bool | None
    connect_timeout: float | None
    read_timeout: float | None
    login_timeout: float | None
    call_timeout: float | None
    keepalive: bool | float | None
    tls: bool | None
    tls_ca: str | PathLike[str] | None
    tls_cert: str | PathLike[str] | None
    tls_key: str | PathLike[str] | None
    tls_pkcs12: str | PathLike[str] | None
    tls_context: SSLContext | None
    tls_verify: bool | None
    tls_hostname: str | None
    pam: Callable[[str, bool], str] | None
    fetch_buffer_size: int | None
    max_reply_bytes: int | None
    client_locale: str | None
    db_locale: str | None
    sqlhosts: str | None
    isolation: str | None
    lock_wait: int | None
    statement_cache_size: int | None
    fetch_window_bytes: int | None
    lob_window_bytes: int | None
    encoding: str | None
    encoding_errors: Literal["strict", "replace", "binary"] | None
    inexact: Inexact | None
    log_parameters: bool | None
    trace: str | PathLike[str] | None
    application: str | None
    env: Mapping[str, str] | None
