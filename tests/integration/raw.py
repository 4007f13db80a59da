"""A client made of a socket and the wire layer. It sends what real clients do not: unusual groups of messages, nothing
at all, or garbage."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from tests.real_server import database_name

from informix_arrow.wire import messages as m
from informix_arrow.wire.bind_values import bind_value
from informix_arrow.wire.capabilities import CLIENT_OFFER, Framing
from informix_arrow.wire.login import ConnectReply, ConnectRequest, packet_length
from informix_arrow.wire.messages import Describe
from informix_arrow.wire.primitives import NeedMoreData, Reader

if TYPE_CHECKING:
    from informix_arrow.server import Server

TIMEOUT = 30.0
M = TypeVar("M", bound=m.Message)
EOT = m.EndOfTurn()


def connect_request(
    user: str = "informix", password: str = "in4mix", server: str = "informix", locale: str = "en_US.8859-1"
) -> ConnectRequest:
    """Return a login request like those of real clients."""
    return ConnectRequest(user, password, server, environment={"DBPATH": ".", "CLIENT_LOCALE": locale})


class Refused(Exception):
    """Raised for an SQ_ERR in a reply."""

    def __init__(self, error: m.Err) -> None:
        super().__init__(error)
        self.sqlcode = error.sqlcode
        self.error = error


class RawClient:
    """One logged-in connection. `ask` sends a group and returns its reply without the closing SQ_EOT."""

    def __init__(
        self,
        server: Server,
        database: str | None = None,
        *,
        login: ConnectRequest | None = None,
        tls: ssl.SSLContext | None = None,
        negotiate: bool = True,
    ) -> None:
        self.socket = socket.create_connection(server.address, TIMEOUT)
        self.framing = Framing()
        self.received = b""
        try:
            if tls is not None:
                self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
            request = login or connect_request(server.user, server.password, server.server_name)
            self.socket.sendall(request.encode())
            self.reply = self.login_reply()
            if self.reply.kind == "accept" and negotiate:
                (answer,) = self.ask(m.Protocols(CLIENT_OFFER))
                assert isinstance(answer, m.Protocols)
                self.framing = Framing.negotiate(CLIENT_OFFER, answer.mask)
                if database is not None:
                    self.open_database(database_name(server, database))
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self) -> RawClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def login_reply(self) -> ConnectReply:
        header = self.exactly(2)
        return ConnectReply.parse(header + self.exactly(packet_length(header) - 2))

    def exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("the server closed the connection")
            data += piece
        return data

    def send(self, *messages: m.Message) -> None:
        """Send messages as they are, without an SQ_EOT."""
        self.socket.sendall(b"".join(message.encode(self.framing) for message in messages))

    def receive(self) -> m.Message:
        """Return the next message of the server."""
        while True:
            reader = Reader(self.received)
            try:
                message = m.parse_server_message(reader, self.framing)
            except NeedMoreData:
                data = self.socket.recv(1 << 20)
                if not data:
                    raise ConnectionError("the server closed the connection") from None
                self.received += data
                continue
            self.received = self.received[reader.pos :]
            return message

    def receive_group(self) -> list[m.Message]:
        """Return the messages up to SQ_EOT, without it."""
        group = []
        while not isinstance(message := self.receive(), m.EndOfTurn):
            group.append(message)
        return group

    def receive_groups(self, count: int) -> list[list[m.Message]]:
        """Return the messages of ``count`` groups, without parsing the same bytes again."""
        groups: list[list[m.Message]] = []
        group: list[m.Message] = []
        while len(groups) < count:
            reader = Reader(self.received)
            done = 0
            try:
                while len(groups) < count:
                    message = m.parse_server_message(reader, self.framing)
                    done = reader.pos
                    if isinstance(message, m.EndOfTurn):
                        groups.append(group)
                        group = []
                    else:
                        group.append(message)
            except NeedMoreData:
                self.received = self.received[done:]
                data = self.socket.recv(1 << 20)
                if not data:
                    raise ConnectionError("the server closed the connection") from None
                self.received += data
                continue
            self.received = self.received[done:]
        return groups

    def ask(self, *messages: m.Message) -> list[m.Message]:
        """Send one group and return its reply."""
        self.send(*messages, EOT)
        return self.receive_group()

    def must(self, *messages: m.Message) -> list[m.Message]:
        """Like `ask`, but raise Refused for an SQ_ERR."""
        reply = self.ask(*messages)
        for message in reply:
            if isinstance(message, m.Err):
                raise Refused(message)
        return reply

    def error(self, *messages: m.Message) -> int:
        """Send one group and return the code of the SQ_ERR that it must be answered with."""
        try:
            reply = self.must(*messages)
        except Refused as refused:
            return refused.sqlcode
        raise AssertionError(f"no error but {reply}")

    def open_database(self, name: str) -> m.Done:
        """Send SQ_DBOPEN. Texts of the connection are in the code set of that database from then on."""
        done = one(self.must(m.DbOpen(name)), m.Done)
        if name == "stores_demo":
            self.framing = self.framing.with_encoding("utf-8")
        return done

    def prepare(self, sql: str, nparams: int = 0) -> Describe:
        """Send SQ_PREPARE like real clients."""
        return one(self.must(m.Prepare(nparams, sql), m.NDescribe(), m.WantDone()), Describe)

    def command(self, sql: str) -> list[m.Message]:
        """Send SQ_COMMAND like JDBC."""
        return self.must(m.Command(sql), m.NDescribe(), m.Execute(), m.Release())

    def open_cursor(self, statement: int, *parameters: object) -> None:
        """Send SQ_CURNAME [SQ_BIND] SQ_OPEN."""
        bind = [self.bind(*parameters)] if parameters else []
        self.must(m.Id(statement), m.CursorName(f"_ifxc{statement:013}"), *bind, m.Open())

    def bind(self, *parameters: object) -> m.Bind:
        """Return an SQ_BIND of Python values."""
        return m.Bind(tuple(bind_value(value, self.framing.encoding) for value in parameters))

    def fetch(self, statement: int, size: int = 4096) -> tuple[list[bytes], m.Done | None]:
        """Send one SQ_NFETCH. Return the payloads of the tuples, and the SQ_DONE if the cursor is at its end."""
        reply = self.must(m.Id(statement), m.Fetch(size))
        payloads = [message.payload for message in reply if isinstance(message, m.Tuple)]
        done = [message for message in reply if isinstance(message, m.Done)]
        return payloads, done[0] if done else None

    def select(self, sql: str, *parameters: object) -> list[bytes]:
        """Return all rows of a query as payloads, and release the statement."""
        statement = self.prepare(sql, len(parameters)).statement_id
        self.open_cursor(statement, *parameters)
        rows: list[bytes] = []
        done = None
        while done is None:
            payloads, done = self.fetch(statement)
            rows += payloads
        self.must(m.Id(statement), m.Close())
        self.must(m.Id(statement), m.Release())
        return rows

    def number(self, sql: str) -> int:
        """Return the only value of a query that returns one INTEGER."""
        (row,) = self.select(sql)
        return int.from_bytes(row, "big", signed=True)


def one(messages: Sequence[m.Message], kind: type[M]) -> M:
    """Return the only message of its kind in a reply."""
    found = [message for message in messages if isinstance(message, kind)]
    assert len(found) == 1, messages
    return found[0]
