"""Points of the protocol's description that no check can settle, with the reason, so that the list is complete.

``C7`` is a number of docs/protocol/CORRECTIONS.md, ``code -310`` one of its codes that are guesses, ``SQLI 7`` a
section of one of the other pages, ``CDC 8.3`` a point of the list there.
"""

from __future__ import annotations

UNVERIFIABLE = {
    "C7": "errors 0 and -937 cannot be brought about on purpose",
    "C9": "only IBM's JDBC driver sends such a value",
    "C10": "only IBM's JDBC driver sends this message",
    "C13": "no server is known that sends such a value",
    "C15": "what is left of the answer is read by IBM's JDBC driver alone",
    "C16": "these routines are called by IBM's JDBC driver alone",
    "C17": "a matter of what IBM's JDBC driver sends",
    "C19": "a matter of opaque types of the user's own",
    "C23": "a fault of IBM's JDBC driver",
    "C25": "a fault of IBM's JDBC driver",
    "C27": "a matter of what IBM's JDBC driver asks the catalogue",
    "C28": "a message that IBM's JDBC driver asks for",
    "C34": "the login of one session too many would disturb others",
    "C36": "it takes a client that closes while its requests wait, and nobody to read what became of them",
    "C38": "a matter of what other clients send",
    "C39": "clients skip the message, whatever its event",
    "CDC 0": "the legend",
    "CDC 8.13": "two-phase commit takes a transaction manager",
    "CDC 8.14": "a long transaction would fill the server's logs",
    "CDC 8.18": "errors in the stream of changes cannot be brought about on purpose",
    "CDC 8.27": "it takes a secondary server",
    "CDC 8.28": "a matter of other clients",
    "CDC 8.29": "another interface, which nothing here uses",
    "CDC 8.30": "a matter of other programs",
    "code -310": "making roles takes a DBA's rights",
    "code -359": "renaming a database takes a DBA's rights",
    "code -541": "it takes a second user",
    "SQLI 0": "the legend",
    "SERVER-BEHAVIOUR 0": "the legend",
}
