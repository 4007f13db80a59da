"""What the server answers to each message of an opened session (SQLI sections 5 to 13, JDBC sections 2 to
10).

Messages are served as they come; a group's reply ends when its SQ_EOT does. The first error of a group is
answered with SQ_ERR and the rest of the group is passed over (SQLI section 21).

Choices where real servers are not known, or where clients accept several:

* several BIND+EXECUTE in one group: one DONE each, stop at the first error (JDBC section 8);
* PUT rows: one DONE for the rows since the last, at SQ_EOT; at an error a DONE for the rows before it, then
  SQ_ERR;
* CLOSE of a statement whose cursor is not open is no error, as in any database that is not ANSI;
* opening a cursor that is open closes it first;
* XACTSTAT comes where the transaction's state changed: 1 1 0 when it began, 1 0 1 when it ended, which an
  autocommitted change of data does at once (SERVER-BEHAVIOUR section 8);
* BYTE and TEXT: the content must have the size that its descriptor says, except where JDBC says nothing by it
  (large_objects.py); what does not fit is -605, a descriptor that the cursor has not given is -602;
* smart large objects: -9810 for whatever is wrong with one; descriptors begin at 1;
* text that is not in the connection's code set: -202 with its position in SQL, -415 in a parameter; a
result's
  character that the code set lacks: -23103 in place of its row and all after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..wire import messages as m
from ..wire.capabilities import Framing, server_answer
from ..wire.errors import ProtocolError
from .bulk_lane import BulkLane
from .client_files import FileDialogue
from .engine_session import EngineSession
from .errors import SqlError
from .execution import Execution
from .fetching import Fetching
from .interrupts import Interrupts
from .large_objects import LargeObjects
from .pam import Dialogue
from .routines import Routines
from .stream import Stream
from .turn import BEGAN, ENDED, log


class Conversation(FileDialogue, Routines, LargeObjects, BulkLane, Fetching):
    """One session after its login.

    Parameters
    ----------
    engine
        The session's side of the engine.
    framing
        How messages are laid out; SQ_PROTOCOLS and the opened database change it.
    stream
        The client: takes reply bytes without waiting, and is waited for where a reply is long.
    interrupts
        Surrounds the calls of the engine that may be interrupted: statements, not the end of a transaction.
    dialogue
        The PAM questions that come before everything else (SQLI section 18); None: the client is in already.
    """

    def __init__(
        self,
        engine: EngineSession,
        framing: Framing,
        stream: Stream,
        interrupts: Interrupts,
        dialogue: Dialogue | None = None,
    ) -> None:
        super().__init__(engine, framing, stream, interrupts)
        self._dialogue = dialogue

    @property
    def admitted(self) -> bool:
        """Whether the login is over."""
        return self._dialogue is None

    def serve(self, messages: Sequence[m.Message], encoding: str) -> None:
        """Answer messages whose text was decoded as `encoding`. ProtocolError for one that no client may
        send."""
        self._text_encoding = encoding
        self._messages = messages = list(messages)
        at = 0
        while at < len(messages) and not self.ended:
            self._at = at
            message = messages[at]
            kind = type(message)
            if self._dialogue is not None and kind not in (m.Protocols, m.EndOfTurn, m.Exit):
                self._ask_user(self._dialogue, message)
                at += 1
                continue
            if self._insert is not None and kind is not m.Put and kind is not m.Id:
                self._guarded(self._flush_rows, message)
            if kind is m.EndOfTurn:
                self._failed = False
                self._calling = None
                self._reply(message)
            elif kind is m.Execute and not self._failed and self._gathers():
                at = self._execute_run(messages, at)
                continue
            elif not self._failed or kind is m.Exit:
                handler = self._HANDLERS.get(kind)
                if handler is None:
                    raise ProtocolError(f"{kind.__name__} is no message of a client")
                self._guarded(handler.__get__(self), message)
            at += 1

    # ---- transactions --------------------------------------------------------------------------------------

    def _begin(self, _: m.Begin) -> None:
        if self._engine.in_transaction:
            raise SqlError(-535)
        if self._engine.database is not None and not self._logged:
            raise SqlError(-201)  # as SQL text it is -256 (SERVER-BEHAVIOUR section 1)
        self._engine.begin()
        self._reply(BEGAN)

    def _commit(self, _: m.Commit) -> None:
        self._finish(self._engine.commit)

    def _rollback(self, _: m.Rollback) -> None:
        self._finish(self._engine.rollback)

    def _finish(self, action: Callable[[], None]) -> None:
        before = self._engine.in_transaction
        if not before and not self._logged:
            raise SqlError(-255)
        try:
            action()
        finally:
            if before and not self._engine.in_transaction:
                self._close_cursors()
        self._reply(m.Done(0, 0, 0, 0))
        if before and self._logged:
            self._reply(ENDED)

    def _set_savepoint(self, message: m.SetSavepoint) -> None:
        self._engine.savepoint(message.name, message.unique)

    def _release_savepoint(self, message: m.ReleaseSavepoint) -> None:
        self._engine.release_savepoint(message.name)

    def _rollback_to_savepoint(self, message: m.RollbackToSavepoint) -> None:
        self._engine.rollback_to_savepoint(message.name)

    # ---- values --------------------------------------------------------------------------------------------

    def _bind(self, message: m.Bind) -> None:
        """Values of the statement that was named, or of the routine that is to be called."""
        routine, self._calling = self._calling, None
        if routine is not None:
            self._call_routine(routine, message.values)
        else:
            LargeObjects._bind(self, message)

    # ---- session -------------------------------------------------------------------------------------------

    def _protocols(self, message: m.Protocols) -> None:
        answer = server_answer(message.mask, pam=self._dialogue is not None)
        self._reply(m.Protocols(answer))
        self.framing = Framing.negotiate(message.mask, answer, self.framing.encoding)
        if self._dialogue is not None and not self.framing.pam:
            raise ProtocolError(
                "the user has PAM questions and the client cannot be asked: it does not offer bit 44"
            )

    def _ask_user(self, dialogue: Dialogue, message: m.Message) -> None:
        """The next question, or the verdict."""
        said = dialogue.go_on(message)
        for number, each in enumerate(said):
            if number:
                self._reply(m.EndOfTurn())
            self._reply(each)
        if dialogue.passed:
            self._dialogue = None
        elif dialogue.refused:
            log.info("login refused: wrong answers to the PAM questions")
            self.ended = True

    def _open_database(self, message: m.DbOpen) -> None:
        name = self._sql(message.name)
        warnings = self._engine.open_database(name)
        self._opened(warnings)
        self._reply(m.Done(warnings, 0, 0, 0))

    def _close_database(self, _: m.DbClose) -> None:
        self._engine.close_database()
        self._opened(0)
        self._reply(m.Done(0, 0, 0, 0))

    def _list_databases(self, _: m.DbList) -> None:
        self._reply(m.DbNames(tuple(self._engine.database_names())))

    def _exit(self, _: m.Exit) -> None:
        self._reply(m.Exit())
        self.ended = True

    def _nothing(self, _: m.Message) -> None:
        """Messages that ask for nothing beyond what is sent anyway, or that are answered by SQ_EOT alone."""

    _HANDLERS: ClassVar[dict[type[m.Message], Callable[[Any, Any], None]]] = {
        m.Prepare: Execution._prepare,
        m.Command: Execution._command,
        m.Id: Execution._id,
        m.Bind: _bind,
        m.InputDescribeRequest: Execution._describe_input,
        m.RetType: Fetching._ret_type,
        m.Execute: Execution._execute,
        m.Release: Execution._release,
        m.CursorName: Fetching._cursor_name,
        m.Hold: Fetching._hold,
        m.Scroll: Fetching._scroll,
        m.AutoFree: Fetching._auto_free,
        m.Open: Fetching._open,
        m.Fetch: Fetching._fetch,
        m.ScrollFetch: Fetching._scroll_fetch,
        m.Close: Fetching._close,
        m.Put: Execution._put,
        m.Begin: _begin,
        m.Commit: _commit,
        m.Rollback: _rollback,
        m.SetSavepoint: _set_savepoint,
        m.ReleaseSavepoint: _release_savepoint,
        m.RollbackToSavepoint: _rollback_to_savepoint,
        m.Protocols: _protocols,
        m.DbOpen: _open_database,
        m.DbClose: _close_database,
        m.DbList: _list_databases,
        m.Exit: _exit,
        m.GetRoutine: Routines._get_routine,
        m.ExecuteRoutine: Routines._execute_routine,
        m.LoData: Routines._lo_data,
        m.BlobBind: LargeObjects._blob_bind,
        m.BlobChunk: LargeObjects._blob_piece,
        m.FetchBlob: LargeObjects._fetch_blob,
        m.GeneratedKeys: Execution._generated_keys,
        m.Info: _nothing,
        m.NDescribe: _nothing,
        m.WantDone: _nothing,
        m.Version: _nothing,
        m.Ack: _nothing,
    }
