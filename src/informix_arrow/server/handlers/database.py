"""The database that a session has open: SQ_DBOPEN, SQ_DBCLOSE, SQ_DBLIST (JDBC section 3)."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...wire import messages as m
from ...wire.capabilities import codec_of_locale
from ..session.engine_session import EngineSession
from .interrupts import StatementInterrupts
from .layout import MessageLayout
from .replies import ReplyWriter
from .smart_objects import OpenObjectTable
from .statements import StatementHandles


@dataclass(eq=False, repr=False)
class DatabaseHandler:
    """Opens and closes databases, and follows statements that open one.

    Parameters
    ----------
    statements, open_objects
        Cursors and open objects, which are closed when another database becomes current.

    Attributes
    ----------
    logged
        True if the database has transactions.
    """

    _engine_session: EngineSession
    _layout: MessageLayout
    _replies: ReplyWriter
    _interrupts: StatementInterrupts
    _statements: StatementHandles
    _open_objects: OpenObjectTable
    logged: bool = field(default=False, init=False)

    def open(self, message: m.DbOpen) -> None:
        with self._interrupts:
            warnings = self._engine_session.open_database(self._layout.decode_sql(message.name))
        self.database_changed(warnings)
        self._replies.send_message(m.Done(warnings, 0, 0, 0))

    def close(self, _: m.DbClose) -> None:
        with self._interrupts:
            self._engine_session.close_database()
        self.database_changed(0)
        self._replies.send_message(m.Done(0, 0, 0, 0))

    def list_all(self, _: m.DbList) -> None:
        self._replies.send_message(m.DbNames(tuple(self._engine_session.engine.databases.names())))

    def database_changed(self, warnings: int) -> None:
        """Adapt to another current database, or none: its code set is that of all text from now on (JDBC section 3).

        `warnings` are those of the reply to SQ_DBOPEN.
        """
        self._open_objects.clear()
        self._statements.close_cursors()
        if self._engine_session.database is None:
            self.logged = False
            return
        self.logged = bool(warnings & 1)
        self._layout.framing = self._layout.framing.with_encoding(
            codec_of_locale(self._engine_session.environment.locale)
        )
