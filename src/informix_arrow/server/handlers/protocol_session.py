"""The replies of the server to each message of an open session (SQLI sections 5 to 13, JDBC sections 2 to 10).

Messages are served as they arrive. A group's reply ends when its SQ_EOT is served. The reply to the first error of a
group is SQ_ERR, and the rest of the group is skipped (SQLI section 21).

Choices where the behaviour of real servers is not known, or where clients accept several:

* several BIND+EXECUTE in one group: one DONE each, stop at the first error (JDBC section 8);
* PUT rows: one DONE for the rows since the last, at SQ_EOT; at an error a DONE for the rows before it, then
  SQ_ERR;
* CLOSE of a statement whose cursor is not open is no error, as in any database that is not ANSI;
* opening a cursor that is open closes it first;
* XACTSTAT is sent where the transaction's state changed: 2 1 0 when it began, 2 0 1 when it ended, which an
  autocommitted change of data does at once (SERVER-BEHAVIOUR section 8);
* BYTE and TEXT: the content must have the size that its descriptor announces, unless JDBC's size has no meaning
  (large_objects.py); a mismatch is -605, a descriptor that the cursor has not sent is -602;
* smart large objects: -9810 for every error; descriptors begin at 1;
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
    """The client as the statements of a session use it: its files, and objects opened for it.

    It is created before the engine session that uses it.

    Attributes
    ----------
    layout
        The layout of messages.
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
        """Open an existing smart large object; return a descriptor."""
        return self.open_objects.add(locator, mode)


class ProtocolSession:
    """One session after its login: its parts put together, and the table from messages to handlers.

    Parameters
    ----------
    engine
        The engine session.
    executor
        Runs the client's statements: `engine`, or a wrapper around it.
    client
        The client as `engine` uses it. SQ_PROTOCOLS and the opened database change its layout.
    peer
        The client's stream: accepts reply bytes without waiting, and is waited for during a long reply.
    interrupts
        Surrounds the calls of the engine that may be interrupted: statements, not the end of a transaction.
    pam_conversation
        The PAM questions that come before everything else (SQLI section 18); None if the login is complete.

    Attributes
    ----------
    bulk_inserts
        Takes rows from the received bytes before they are parsed as messages.
    ended
        True if the client has sent its exit message, or was rejected by PAM.
    """

    def __init__(
        self,
        engine: EngineSession,
        executor: StatementExecutor,
        client: ClientSide,
        peer: ClientStream,
        interrupts: StatementInterrupts,
        pam_conversation: PamConversation | None = None,
    ) -> None:
        self.ended = False
        self._engine_session = engine
        self._pam_conversation = pam_conversation
        self._queue = client.agenda
        self._layout = layout = client.layout
        open_objects = client.open_objects
        self._peer = peer
        self._replies = replies = ReplyWriter(peer, layout, client.files)
        self._statements = statements = StatementHandles()
        database = DatabaseHandler(engine, layout, replies, interrupts, statements, open_objects)
        transactions = TransactionHandler(engine, executor, replies, interrupts, statements, database)
        preparing = PrepareHandler(executor, layout, replies, interrupts, statements)
        self._execute_handler = executions = ExecuteHandler(
            engine, executor, layout, replies, interrupts, statements, database, transactions
        )
        self._put_handler = puts = PutHandler(executor, layout, replies, interrupts, statements)
        fetching = FetchHandler(engine, executor, layout, replies, interrupts, statements, transactions)
        self._large_object_handler = large_objects = LargeObjectHandler(replies, statements)
        smart_objects = SmartObjectHandler(engine, replies, interrupts, open_objects)
        self._fast_path_handler = fast_path = FastPathHandler(
            engine, layout, replies, interrupts, open_objects, smart_objects
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
        """True if the login is complete."""
        return self._pam_conversation is None

    @property
    def framing(self) -> Framing:
        """The layout of the next messages."""
        return self._layout.framing

    def serve(self, messages: Sequence[m.Message], encoding: str) -> None:
        """Serve messages whose text was decoded as `encoding`.

        Raises ProtocolError for one that no client may send, and ClientDisconnected if the client is gone: requests
        that it sent ahead are then not served.
        """
        self._layout.text_encoding = encoding
        agenda, replies, puts = self._queue, self._replies, self._put_handler
        agenda.messages = messages = list(messages)
        at = 0
        while at < len(messages) and not self.ended:
            if self._peer.client_closed:
                raise ClientDisconnected("The client closed the connection.")
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
                    raise ProtocolError(f"{kind.__name__} is not a message of a client.")
                try:
                    handler(message)
                except Exception as failure:
                    if not replies.reply_to_failure(failure, message):
                        raise
            at += 1

    def close(self) -> None:
        """Close everything that the client has left open.

        It is not left to the garbage collector, which does not know how large results are: the parts of a session form
        reference cycles.
        """
        self._statements.clear()
        self._queue.messages = []
        self._handlers.clear()

    def _bind(self, message: m.Bind) -> None:
        """Take values of the routine that is to be called, or of the current statement."""
        if not self._fast_path_handler.take_arguments(message.values):
            self._large_object_handler.bind(message)

    def _protocols(self, message: m.Protocols) -> None:
        reply_mask = server_answer(message.mask, pam=self._pam_conversation is not None)
        self._replies.send_message(m.Protocols(reply_mask))
        self._layout.framing = Framing.negotiate(message.mask, reply_mask, self.framing.encoding)
        if self._pam_conversation is not None and not self.framing.pam:
            raise ProtocolError(
                "The user must answer PAM challenges, but the client does not support them (capability bit 44)."
            )

    def _continue_pam(self, conversation: PamConversation, message: m.Message) -> None:
        """Send the next question, or accept or reject the login."""
        replies = conversation.next_messages(message)
        for number, reply in enumerate(replies):
            if number:
                self._replies.send_message(m.EndOfTurn())
            self._replies.send_message(reply)
        if conversation.is_accepted:
            self._pam_conversation = None
        elif conversation.is_rejected:
            log.info("Login refused: The answers to the PAM challenges are wrong.")
            self.ended = True

    def _exit(self, _: m.Exit) -> None:
        # The reply is sent after the end: then no lock of this session is left, and nothing is uncommitted.
        self._statements.clear()
        self._engine_session.close()
        self._replies.send_message(m.Exit())
        self.ended = True


def _ignore(_: m.Message) -> None:
    """Ignore messages that request nothing beyond what is sent anyway, or whose reply is SQ_EOT alone."""
