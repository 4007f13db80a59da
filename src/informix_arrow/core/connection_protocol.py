"""Protocols of a connection for its results, cursors, large objects and blocks: a session that runs operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..dsn import Parameters
from ..ingest.arguments import WriteKeywords
from ..ingest.report import WriteReport
from ..operations.fetch import ReadOptions
from ..operations.io_steps import Exchange
from ..operations.session import Session
from ..rows.python_rows import RowFactory
from .session_runner import AsyncSessionRunner, SessionRunner

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


class ConnectionProtocolBase(Protocol):
    """The part of a connection that does not wait."""

    row_factory: RowFactory
    _read_options: dict[tuple[object, ...], ReadOptions]

    @property
    def _parameters(self) -> Parameters: ...

    @property
    def closed(self) -> bool: ...

    @property
    def _session(self) -> Session: ...

    def _require_open(self) -> None: ...


class ConnectionProtocol(ConnectionProtocolBase, Protocol):
    """A blocking connection."""

    _runner: SessionRunner

    def _run(self, exchange: Exchange[T], timeout: float | None = None) -> T: ...

    def write_arrow(
        self, table: str, data: Any, *, timeout: float | None = None, **options: Unpack[WriteKeywords]
    ) -> WriteReport: ...


class AsyncConnectionProtocol(ConnectionProtocolBase, Protocol):
    """An asyncio connection."""

    _runner: AsyncSessionRunner

    async def _run(self, exchange: Exchange[T], timeout: float | None = None) -> T: ...

    async def write_arrow(
        self, table: str, data: Any, *, timeout: float | None = None, **options: Unpack[WriteKeywords]
    ) -> WriteReport: ...


# The connection class of a cursor or block, without an import of it. The default is only for type checkers: a
# plain `Cursor` in an annotation means one of any connection.
if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    ConnectionT = TypeVarWithDefault("ConnectionT", bound=ConnectionProtocol, default=Any)
    AsyncConnectionT = TypeVarWithDefault("AsyncConnectionT", bound=AsyncConnectionProtocol, default=Any)
else:
    ConnectionT = TypeVar("ConnectionT", bound=ConnectionProtocol)
    AsyncConnectionT = TypeVar("AsyncConnectionT", bound=AsyncConnectionProtocol)
