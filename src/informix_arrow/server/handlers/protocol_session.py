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
* text that is not in the connection's code set: -202 with its position in SQL, -415 in a parameter; a result's
  character that the code set lacks: -23103 in place of its row and all after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...wire import messages as m
from ...wire.capabilities import Framing, server_answer
from ...wire.errors import ProtocolError
from ..session.engine_session import EngineSession
from .bulk_fast_path import BulkInsertFastPath
from .client_files import ClientFileTransfer, ClientRequester, MessageQueue
from .client_stream import ClientDisconnected, ClientStream
from .database import DatabaseHandler
from .execute import ExecuteHandler
from .fast_path import FastPathHandler
from .fetch import FetchHandler
from .interrupts import StatementInterrupts
from .large_objects import LargeObjectHandler
from .layout import MessageLayout
from .pam import PamConversation
from .prepare import PrepareHandler
from .put import PutHandler
from .replies import ReplyWriter, log
from .smart_objects import OpenObjectTable, SmartObjectHandler
from .statement_executor import StatementExecutor
from .statements import StatementHandles
from .transactions import TransactionHandler


class ClientSide:
    """What the statements of a session can ask of its client: its files, and to open objects for it. It is made before
    the session's side of the engine, which asks it.

    Attributes
    ----------
    layout
        How messages are laid out.
    agenda
        The messages that are being served.
    files
        The client's files.
    open_objects
        The smart large objects that it has open.
    """

    def __init__(self, peer: ClientStream, framing: Framing, interrupts: StatementInterrupts) -> None:
        self.layout = MessageLayout(framing)
        self.agenda = MessageQueue()
        self.files = ClientFileTransfer(
            ClientRequester(peer, self.layout, self.agenda), peer, self.layout, interrupts
        )
        self.open_objects = OpenObjectTable()

    def open(self, locator: bytes, mode: int) -> int:
        """Open a smart large object that exists: a descriptor."""
        return self.open_objects.add(locator, mode)


class ProtocolSession:
    """One session after its login: its parts put together, and the table of who answers which message.

    Parameters
    ----------
    engine
        The session's side of the engine.
    runner
        By whom the client's statements run: `engine`, or somebody before it.
    client
        What `engine` asks of the client; SQ_PROTOCOLS and the opened database change its layout.
    peer
        The client: takes reply bytes without waiting, and is waited for where a reply is long.
    interrupts
        Surrounds the calls of the engine that may be interrupted: statements, not the end of a transaction.
    dialogue
        The PAM questions that come before everything else (SQLI section 18); None: the client is in already.

    Attributes
    ----------
    lane
        Takes rows from the received bytes before they are parsed as messages.
    ended
        The client has said goodbye, or was refused by PAM.
    """

    def __init__(
        self,
        engine: EngineSession,
        runner: StatementExecutor,
        client: ClientSide,
        peer: ClientStream,
        interrupts: StatementInterrupts,
        dialogue: PamConversation | None = None,
    ) -> None:
        self.ended = False
        self._engine_session = engine
        self._pam_conversation = dialogue
        self._queue = client.agenda
        self._layout = layout = client.layout
        objects = client.open_objects
        self._peer = peer
        self._replies = replies = ReplyWriter(peer, layout, client.files)
        self._statements = statements = StatementHandles()
        database = DatabaseHandler(engine, layout, replies, interrupts, statements, objects)
        transactions = TransactionHandler(engine, runner, replies, interrupts, statements, database)
        preparing = PrepareHandler(runner, layout, replies, interrupts, statements)
        self._execute_handler = executions = ExecuteHandler(
            engine, runner, layout, replies, interrupts, statements, database, transactions
        )
        self._put_handler = puts = PutHandler(runner, layout, replies, interrupts, statements)
        fetching = FetchHandler(engine, runner, layout, replies, interrupts, statements, transactions)
        self._large_object_handler = large_objects = LargeObjectHandler(replies, statements)
        smart_objects = SmartObjectHandler(engine, replies, interrupts, objects)
        self._fast_path_handler = fast_path = FastPathHandler(
            engine, layout, replies, interrupts, objects, smart_objects
        )
        self.bulk_inserts = BulkInsertFastPath(layout, replies, statements, executions, puts)

        self._handlers: dict[type[m.Message], Callable[[Any], None]] = {
            m.Prepare: preparing.prepare,
            m.Command: preparing.command,
            m.Id: statements.choose,
            m.InputDescribeRequest: preparing.describe_input,
            m.GeneratedKeys: preparing.generated_keys,
            m.Release: preparing.release,
            m.Bind: self._bind,
            m.Execute: executions.execute,
            m.Put: puts.put,
            m.RetType: fetching.set_result_types,
            m.CursorName: fetching.set_cursor_name,
            m.Hold: fetching.set_hold,
            m.Scroll: fetching.set_scroll,
            m.AutoFree: fetching.set_auto_free,
            m.Open: fetching.open,
            m.Fetch: fetching.fetch,
            m.ScrollFetch: fetching.scroll_fetch,
            m.Close: fetching.close,
            m.Begin: transactions.begin,
            m.Commit: transactions.commit,
            m.Rollback: transactions.rollback,
            m.SetSavepoint: transactions.set_savepoint,
            m.ReleaseSavepoint: transactions.release_savepoint,
            m.RollbackToSavepoint: transactions.rollback_to_savepoint,
            m.DbOpen: database.open,
            m.DbClose: database.close,
            m.DbList: database.list_all,
            m.GetRoutine: fast_path.get_routine,
            m.RoutineQuestion: fast_path.describe_routine,
            m.ExecuteRoutine: fast_path.call_routine,
            m.LoData: smart_objects.lo_data,
            m.BlobBind: large_objects.blob_bind,
            m.BlobChunk: large_objects.blob_chunk,
            m.FetchBlob: large_objects.fetch_blob,
            m.Protocols: self._protocols,
            m.Exit: self._exit,
            m.Info: _ignore,
            m.NDescribe: _ignore,
            m.WantDone: _ignore,
            m.WantParameters: _ignore,
            m.Version: _ignore,
            m.Ack: _ignore,
        }

    @property
    def logged_in(self) -> bool:
        """Whether the login is over."""
        return self._pam_conversation is None

    @property
    def framing(self) -> Framing:
        """How the next messages are laid out."""
        return self._layout.framing

    def serve(self, messages: Sequence[m.Message], encoding: str) -> None:
        """Answer messages whose text was decoded as `encoding`. ProtocolError for one that no client may
        send; PeerGone when the client has gone: what it sent ahead is not begun."""
        self._layout.text_encoding = encoding
        agenda, replies, puts = self._queue, self._replies, self._put_handler
        agenda.messages = messages = list(messages)
        at = 0
        while at < len(messages) and not self.ended:
            if self._peer.client_closed:
                raise ClientDisconnected("the client closed the connection")
            agenda.index = at
            message = messages[at]
            kind = type(message)
            if self._fast_path_handler.ignores_next_eot and kind is not m.EndOfTurn:
                self._fast_path_handler.ignores_next_eot = False
            if self._pam_conversation is not None and kind not in (m.Protocols, m.EndOfTurn, m.Exit):
                self._continue_pam(self._pam_conversation, message)
                at += 1
                continue
            if puts.pending_statement is not None and kind is not m.Put and kind is not m.Id:
                replies.call_handler(puts.flush, message)
            if kind is m.EndOfTurn:
                replies.failed = False
                if self._fast_path_handler.end_group():
                    replies.send_message(message)
            elif kind is m.Execute and not replies.failed and self._execute_handler.can_batch():
                at = self._execute_handler.execute_consecutive(messages, at)
                continue
            elif not replies.failed or kind is m.Exit:
                handler = self._handlers.get(kind)
                if handler is None:
                    raise ProtocolError(f"{kind.__name__} is no message of a client")
                try:
                    handler(message)
                except Exception as failure:
                    if not replies.answer_failure(failure, message):
                        raise
            at += 1

    def close(self) -> None:
        """Nothing is answered any more. What the client has left open goes now and not with Python's collector, which
        does not know how large results are: the parts of a conversation know each other."""
        self._statements.clear()
        self._queue.messages = []
        self._handlers.clear()

    def _bind(self, message: m.Bind) -> None:
        """Values of the routine that is to be called, or of the statement that was named."""
        if not self._fast_path_handler.take_arguments(message.values):
            self._large_object_handler.bind(message)

    def _protocols(self, message: m.Protocols) -> None:
        answer = server_answer(message.mask, pam=self._pam_conversation is not None)
        self._replies.send_message(m.Protocols(answer))
        self._layout.framing = Framing.negotiate(message.mask, answer, self.framing.encoding)
        if self._pam_conversation is not None and not self.framing.pam:
            raise ProtocolError(
                "the user has PAM questions and the client cannot be asked: it does not offer bit 44"
            )

    def _continue_pam(self, dialogue: PamConversation, message: m.Message) -> None:
        """The next question, or the verdict."""
        said = dialogue.next_messages(message)
        for number, each in enumerate(said):
            if number:
                self._replies.send_message(m.EndOfTurn())
            self._replies.send_message(each)
        if dialogue.is_accepted:
            self._pam_conversation = None
        elif dialogue.is_rejected:
            log.info("login refused: wrong answers to the PAM questions")
            self.ended = True

    def _exit(self, _: m.Exit) -> None:
        # Answered when it is so: whoever has the answer finds no lock of this session and nothing uncommitted.
        self._statements.clear()
        self._engine_session.close()
        self._replies.send_message(m.Exit())
        self.ended = True


def _ignore(_: m.Message) -> None:
    """Messages that ask for nothing beyond what is sent anyway, or that are answered by SQ_EOT alone."""
