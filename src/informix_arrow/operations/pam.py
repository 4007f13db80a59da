"""The questions of a PAM listener before it accepts a login (SQLI section 18)."""

from __future__ import annotations

from collections.abc import Callable

from ..wire import messages as m
from ..wire.errors import InterfaceError, OperationalError, ProtocolError
from .io_steps import Exchange, ExcludeFromTimeout, Send
from .message_stream import encode_group, next_message, server_error, server_exit_error
from .receive_buffer import OBJECT_BYTES, reply_too_large
from .session import Session

_HIDDEN, _VISIBLE = 1, 2  # styles of a challenge that want an answer; 3 and 4 are texts to show


def authenticate(session: Session, answer: Callable[[str, bool], str] | None) -> Exchange[None]:
    """Answer the server's questions with ``answer(prompt, echo)``; ``echo`` is False for input that must not be
    visible.

    Texts that want no answer come before the prompt of the next question, on lines of their own.

    Raises
    ------
    OperationalError
        The server asks and ``answer`` is None, or it did not accept the answers: the message contains the server's
        texts.
    InterfaceError
        ``answer`` returned something other than a str. Exceptions that it raises pass through.
    """
    session.outstanding_requests += 1
    yield Send(encode_group(session, (m.Ack(),)))
    texts: list[str] = []
    total = 0  # bytes of all texts
    question: m.Challenge | None = None
    while True:
        message = yield from next_message(session)
        if isinstance(message, m.Challenge):
            if message.style in (_HIDDEN, _VISIBLE):
                question = message
            else:
                texts.append(message.text)
                total += len(message.text) + OBJECT_BYTES
                if total > session.buffer.max_bytes:
                    raise reply_too_large(session.buffer.max_bytes)
        elif isinstance(message, m.EndOfTurn):
            if question is not None:
                prompt = "\n".join([*texts, question.text])
                texts, echo, question = [], question.style == _VISIBLE, None
                began = session.clock()
                text = _answer(answer, prompt, echo)
                yield ExcludeFromTimeout(session.clock() - began)
                yield Send(encode_group(session, (m.Response(text),)))
        elif isinstance(message, m.Accept):
            break
        elif isinstance(message, m.Exit):
            if not texts:
                raise OperationalError("The server did not accept the answers to its questions (PAM).")
            raise OperationalError(f"The server refused the login (PAM): {' '.join(texts)}.")
        elif isinstance(message, m.Err):
            raise server_error(message)
        else:
            raise ProtocolError(f"{type(message).__name__} does not belong in a PAM dialogue.")
    while not isinstance(message := (yield from next_message(session)), m.EndOfTurn):
        if isinstance(message, m.Exit):
            raise server_exit_error()
    session.outstanding_requests -= 1


def _answer(answer: Callable[[str, bool], str] | None, prompt: str, echo: bool) -> str:
    if answer is None:
        raise OperationalError(
            f"The server asks {prompt.strip()!r} during the login (PAM). Pass pam=function, which is called "
            "with the question and returns the answer."
        )
    text = answer(prompt, echo)
    if not isinstance(text, str):
        raise InterfaceError(f"The pam function must return the answer as text, got {type(text).__name__}.")
    return text
