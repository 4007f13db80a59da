"""Logins by question and reply, as PAM on a real server (SQLI section 18).

The replies of a user with questions decide alone: the password of the login is ignored, as Informix on Linux does when
PAM challenges. All questions are asked before the login is accepted or rejected, so that a wrong reply cannot be
identified.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence

from ...wire import messages as m
from ...wire.errors import ProtocolError

Question = tuple[str, bool, str | None]
"""Text, whether the reply is hidden while it is typed, and the right reply; None: the text is only shown."""

Questions = Mapping[str, Sequence[Question]] | Callable[[str], Iterable[Question] | None]
"""Questions by user; or a function from the user's name to them, None for a user without."""

_HIDDEN, _VISIBLE, _INFORMATION = 1, 2, 4


def start_pam_conversation(questions: Questions | None, user: str) -> PamConversation | None:
    """Return the conversation that a login of this user needs, None if his password decides."""
    if questions is None:
        return None
    user_questions = questions(user) if callable(questions) else questions.get(user)
    return None if user_questions is None else PamConversation(user_questions)


class PamConversation:
    """One login's questions, one after another. It ends with `is_accepted` or `is_rejected`."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self.is_accepted = False
        self.is_rejected = False
        self._remaining_questions = list(questions)[::-1]
        self._any_wrong_answer = False
        self._expected_answer: str | None = None

    def next_messages(self, message: m.Message) -> list[m.Message]:
        """Return the messages that follow the client's SQ_ACK or SQ_RESPONSE.

        An SQ_EOT follows each except the last, which is followed by the group's own. ProtocolError for any other
        message.
        """
        if isinstance(message, m.Response):
            if self._expected_answer is None:
                raise ProtocolError("The client answered a PAM challenge that was not sent.")
            reply = message.text.encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(reply, self._expected_answer.encode()):
                self._any_wrong_answer = True
        elif not isinstance(message, m.Ack) or self._expected_answer is not None:
            raise ProtocolError(
                f"{type(message).__name__} was received, but an answer to a PAM challenge was expected."
            )
        self._expected_answer = None
        messages: list[m.Message] = []
        while self._remaining_questions:
            text, hidden, self._expected_answer = self._remaining_questions.pop()
            if self._expected_answer is not None:
                messages.append(m.Challenge(_HIDDEN if hidden else _VISIBLE, text))
                return messages
            messages.append(m.Challenge(_INFORMATION, text))
        self.is_rejected = self._any_wrong_answer
        self.is_accepted = not self._any_wrong_answer
        messages.append(m.Exit() if self.is_rejected else m.Accept())
        return messages
