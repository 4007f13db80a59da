"""The database that a session has open: SQ_DBOPEN, SQ_DBCLOSE, SQ_DBLIST (JDBC section 3)."""

from __future__ import annotations

from ...wire import messages as m
from ...wire.capabilities import codec_of_locale
from ..engine.session import EngineSession
from .interrupts import Interrupts
from .layout import Layout
from .replies import Replies
from .smart_objects import OpenObjects
from .statements import Statements


class CurrentDatabase:
    """Opens and closes databases, and follows what a statement opened.

    Parameters
    ----------
    statements, objects
        Lose their cursors and are closed when another database becomes current.

    Attributes
    ----------
    logged
        The database has transactions.
    """

    def __init__(
        self,
        engine: EngineSession,
        layout: Layout,
        replies: Replies,
        interrupts: Interrupts,
        statements: Statements,
        objects: OpenObjects,
    ) -> None:
        self.logged = False
        self._engine = engine
        self._layout = layout
        self._replies = replies
        self._interrupts = interrupts
        self._statements = statements
        self._objects = objects

    def open(self, message: m.DbOpen) -> None:
        with self._interrupts:
            warnings = self._engine.open_database(self._layout.sql(message.name))
        self.opened(warnings)
        self._replies.reply(m.Done(warnings, 0, 0, 0))

    def close(self, _: m.DbClose) -> None:
        with self._interrupts:
            self._engine.close_database()
        self.opened(0)
        self._replies.reply(m.Done(0, 0, 0, 0))

    def list_all(self, _: m.DbList) -> None:
        self._replies.reply(m.DbNames(tuple(self._engine.database_names())))

    def opened(self, warnings: int) -> None:
        """Another database is current, or none: its code set is that of all text from here on (JDBC section 3).

        `warnings` are those of the answer to SQ_DBOPEN.
        """
        self._objects.clear()
        self._statements.close_cursors()
        if self._engine.database is None:
            self.logged = False
            return
        self.logged = bool(warnings & 1)
        self._layout.framing = self._layout.framing.with_encoding(codec_of_locale(self._engine.locale))
