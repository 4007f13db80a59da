"""Login packets (SQLI sections 3 and 4, JDBC section 1)."""

from __future__ import annotations

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.wire.vectors import load

from informix_arrow.wire.errors import ProtocolError
from informix_arrow.wire.login import CAP_1, ConnectReply, ConnectRequest, packet_length

WORKED = {entry["name"]: bytes.fromhex(entry["hex"]) for entry in load("messages.json")}
CONREQ = WORKED["CONREQ alice/s3cret/ifxdemo"]
JDBC_REQUESTS = [e for e in load("jdbc_messages.json") if e["dir"] == "C" and e["hex"][4:8] == "013c"]
JDBC_REPLIES = [e for e in load("jdbc_messages.json") if e["dir"] == "S"]


def test_the_worked_request_is_read_and_written_byte_for_byte() -> None:
    request = ConnectRequest.parse(CONREQ)
    assert (request.user, request.password, request.server) == ("alice", "s3cret", "ifxdemo")
    assert request.environment["CLIENT_LOCALE"] == "en_US.utf8"
    assert (request.pid, request.thread_id, request.host, request.cwd) == (4242, 1, "client1", "/home/alice")
    assert (request.application, request.cap1, request.database) == ("demo", CAP_1, "")
    assert request.encode() == CONREQ


@parametrize_in_one_test("entry", JDBC_REQUESTS, ids=lambda e: str(e["case"]))
def test_every_request_of_jdbc_is_read_and_written_byte_for_byte(entry: dict[str, str]) -> None:
    data = bytes.fromhex(entry["hex"])
    request = ConnectRequest.parse(data)
    assert request.user
    assert request.encode() == data


def test_the_password_is_never_shown() -> None:
    request = ConnectRequest("joe", "s3cret", "srv")
    assert "s3cret" not in repr(request)
    with pytest.raises(ValueError, match="password") as caught:
        ConnectRequest("joe", "s3cret€", "srv").encode()
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_the_client_locale_decides_the_code_set_of_the_request() -> None:
    request = ConnectRequest("jörg", "pässword€", "srv", {"CLIENT_LOCALE": "de_DE.utf8"})
    assert "€".encode() in request.encode()
    assert ConnectRequest.parse(request.encode()) == request


def test_a_request_may_lack_the_blocks_about_the_process() -> None:
    """nmap's client of 11.50 omits them (SQLI section 3.2)."""
    start = CONREQ.index(bytes.fromhex("006b00000000"))
    data = CONREQ[:start] + b"\0\x7f"
    request = ConnectRequest.parse(len(data).to_bytes(2, "big") + data[2:])
    assert (request.user, request.server, request.pid, request.application) == ("alice", "ifxdemo", 0, "")


def test_an_absent_password_travels_as_length_zero() -> None:
    request = ConnectRequest("joe", "", "srv")
    assert b"joe\0\0\0ol" in request.encode()
    assert ConnectRequest.parse(request.encode()).password == ""


def test_the_worked_acceptance_is_read_and_written_byte_for_byte() -> None:
    reply = ConnectReply.parse(WORKED["CONACC"])
    assert (reply.kind, reply.server_name, reply.service_error, reply.cap1) == ("accept", "ifxdemo", 0, CAP_1)
    assert reply.encode() == WORKED["CONACC"]


def test_the_worked_rejection_is_read_and_ours_ends_as_jdbc_wants_it() -> None:
    reply = ConnectReply.parse(WORKED["CONREJ -951"])
    assert (reply.kind, reply.service_error, reply.os_error) == ("reject", -951, 0)
    encoded = reply.encode()
    assert encoded.endswith(bytes.fromhex("0066 000000000000 fc49 0000 007f"))
    assert ConnectReply.parse(encoded) == reply


@pytest.mark.parametrize("entry", JDBC_REPLIES, ids=lambda e: str(e["case"]))
def test_every_reply_that_jdbc_took_is_read(entry: dict[str, str]) -> None:
    reply = ConnectReply.parse(bytes.fromhex(entry["hex"]))
    rejected = entry["case"].startswith("CONREJ")
    assert reply.kind == ("reject" if rejected else "accept")
    expected = int(entry["case"].split()[1]) if rejected else 0
    assert reply.service_error == (expected + 0x8000) % 0x10000 - 0x8000
    assert reply.server_name == "srv1"


def test_a_redirection_keeps_its_detail() -> None:
    reply = ConnectReply("redirect", redirect="other|host2|9089")
    assert ConnectReply.parse(reply.encode()).redirect == "other|host2|9089"


def test_an_acceptance_is_one_even_when_its_end_cannot_be_read() -> None:
    """The numbers at its end are only informational (SQLI section 4)."""
    whole = WORKED["CONACC"]
    cap = whole.index(bytes.fromhex("0000013c")) + 12
    for cut in range(cap, len(whole)):
        data = cut.to_bytes(2, "big") + whole[2:cut]
        assert ConnectReply.parse(data).kind == "accept"


@pytest.mark.parametrize("name", ["CONREQ alice/s3cret/ifxdemo", "CONREJ -951"])
def test_a_cut_packet_is_a_protocol_error(name: str) -> None:
    whole = WORKED[name]
    parse = ConnectRequest.parse if "CONREQ" in name else ConnectReply.parse
    for cut in range(6, len(whole) - 14):
        with pytest.raises(ProtocolError):
            parse(cut.to_bytes(2, "big") + whole[2:cut])


def test_a_rejection_without_a_code_is_refused() -> None:
    with pytest.raises(ValueError, match="-408"):
        ConnectReply("reject").encode()


def test_a_length_shorter_than_the_header_is_a_protocol_error() -> None:
    assert packet_length(CONREQ[:2]) == len(CONREQ)
    with pytest.raises(ProtocolError):
        packet_length(b"\0\5")
    with pytest.raises(ProtocolError):
        ConnectRequest.parse(CONREQ[:-1])
    with pytest.raises(ProtocolError, match="kind 2"):
        ConnectRequest.parse(WORKED["CONACC"])
    with pytest.raises(ProtocolError, match="kind 1"):
        ConnectReply.parse(CONREQ)
