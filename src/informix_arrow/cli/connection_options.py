"""The server of a command: its URL and the password, which should not be on the command line."""

from __future__ import annotations

import argparse
import getpass
import importlib
import os
import re
import stat
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..connection import Connection, open_base_connection
from ..dsn import Parameters, resolve
from ..wire.errors import Error, OperationalError
from .exit_codes import Failure, UsageError, add_note, print_error

URL_VARIABLE = "INFORMIX_ARROW_URL"
PASSWORD_VARIABLE = "INFORMIX_ARROW_PASSWORD"
KEYRING_SERVICE = "informix-arrow"
_REFUSED = -951  # wrong user or password

URL_HELP = f"URL of the database, in any form that connect() takes (default: {URL_VARIABLE})"
_NAME_AT_SERVER = re.compile(r"[\w.-]*@[\w.-]+")


def add_options(parser: argparse.ArgumentParser, words: str = "", others: str = "") -> None:
    """Declare the options for logging in.

    Parameters
    ----------
    words
        Names of the command's arguments for its usage, ``URL TABLE``; "" if the command declares them itself.
    others
        Help for the arguments after the URL.
    """
    if words:
        parser.add_argument("words", nargs="*", metavar=words, help=URL_HELP + others)
    group = parser.add_argument_group("connection")
    group.add_argument("--user", metavar="NAME", help="user name, if the URL has none")
    group.add_argument(
        "--password-file",
        metavar="FILE",
        help="read the password from the first line of FILE, which only its owner may read (chmod 600)",
    )
    group.add_argument("--isolation", metavar="LEVEL", help="dirty, committed, last committed, repeatable ..")
    group.add_argument("--lock-wait", metavar="SECONDS", help="wait this long for locks (-1: without limit)")


def looks_like_url(text: str) -> bool:
    """Return whether an argument is a connection string, and not a table or a file."""
    return (
        "://" in text
        or text.lower().startswith("jdbc:")
        or re.match(r"\w+=[^;]*;", text) is not None
        or _NAME_AT_SERVER.fullmatch(text) is not None
    )


def take_url(
    words: Sequence[str], names: Sequence[str], *, optional: int = 0, more: bool = False
) -> list[str]:
    """Return the URL of a command and the arguments after it. The URL may come from the environment.

    Parameters
    ----------
    words
        The arguments of the command line.
    names
        Names of the arguments after the URL, for errors: ``("TABLE", "FILE")``.
    optional
        How many of the last names may be missing.
    more
        True if the last name may stand for several arguments.
    """
    usage = " ".join(("URL", *names))
    required = len(names) - optional
    from_environment = os.environ.get(URL_VARIABLE, "")
    count = len(words)
    has_url = bool(words) and (
        not from_environment or looks_like_url(words[0]) or (not optional and not more and count > len(names))
    )
    values = list(words) if has_url else [from_environment, *words]
    if not values[0]:
        raise UsageError(f"No server is given. Write {usage}, or set {URL_VARIABLE}.")
    if len(values) <= required:
        raise UsageError(f"{names[len(values) - 1]} is missing. Write {usage}.")
    if len(values) > len(names) + 1 and not more:
        raise UsageError(f"There are too many arguments, from {values[len(names) + 1]!r} on. Write {usage}.")
    return values


def resolve_parameters(url: str, options: argparse.Namespace, **keywords: Any) -> Parameters:
    """Return the connection parameters: the URL, the options, and the password.

    The password is taken from the first of these: the URL (with a warning if it is on the command line),
    ``--password-file``, INFORMIX_ARROW_PASSWORD, the keyring, a prompt on a terminal.
    """
    keyword_values: dict[str, Any] = {
        name: value
        for name in ("user", "isolation", "lock_wait")
        if (value := getattr(options, name, None)) is not None
    }
    parameters = resolve(url, **{**keyword_values, **keywords})
    if parameters.password:
        if url != os.environ.get(URL_VARIABLE):
            print_error(
                "Every user of this machine can see a password on the command line. Use --password-file or "
                f"{PASSWORD_VARIABLE}."
            )
        return parameters
    password = _password(parameters, options, os.environ)
    return resolve(url, **{**keyword_values, **keywords, "password": password}) if password else parameters


def connect_from_options(url: str, options: argparse.Namespace, **keywords: Any) -> Connection:
    """Connect. ``keywords`` are those of ``connect()``. Autocommit is on unless they say otherwise."""
    return open_from_parameters(resolve_parameters(url, options, **{"autocommit": True, **keywords}))


def open_from_parameters(parameters: Parameters) -> Connection:
    """Connect with the result of :func:`resolve_parameters`."""
    try:
        return open_base_connection(parameters)
    except Error as error:
        if error.sqlcode == _REFUSED and not parameters.password:
            add_note(error, f"No password was given: say --password-file, or set {PASSWORD_VARIABLE}.")
        raise


def display_name(parameters: Parameters) -> str:
    """Return user, server and database for messages, without the password."""
    return f"{parameters.user}@{parameters.host}:{parameters.port}/{parameters.database}"


def _password(parameters: Parameters, options: argparse.Namespace, environ: Mapping[str, str]) -> str:
    path = getattr(options, "password_file", None)
    if path is not None:
        return _from_file(path)
    if environ.get(PASSWORD_VARIABLE):
        return environ[PASSWORD_VARIABLE]
    password = _from_keyring(parameters)
    if password:
        return password
    if parameters.user and sys.stdin is not None and sys.stdin.isatty():
        return getpass.getpass(f"Password of {parameters.user} on {parameters.host}: ")
    return ""


def _from_file(path: str) -> str:
    with open(path, encoding="utf-8-sig") as file:
        mode = os.fstat(file.fileno()).st_mode
        if os.name == "posix" and stat.S_ISREG(mode) and mode & 0o077:
            raise Failure(f"{path} can be read by other users, and holds a password. Run chmod 600 {path}")
        password = file.readline().rstrip("\r\n")
    if not password:
        raise Failure(f"{path}: The first line is empty. It must be the password.")
    return password


def _from_keyring(parameters: Parameters) -> str:
    """Return the password of the user at the host from the package keyring, if it is installed and has one."""
    try:
        keyring: Any = importlib.import_module("keyring")
    except ImportError:
        return ""
    try:
        name = f"{parameters.user}@{parameters.host}:{parameters.port}"
        return str(keyring.get_password(KEYRING_SERVICE, name) or "")
    except keyring.errors.NoKeyringError:  # installed, but this machine has no store for passwords
        return ""
    except keyring.errors.KeyringError as problem:
        raise OperationalError(f"The keyring does not answer: {problem}") from None
