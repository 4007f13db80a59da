"""connect(), and reading and loading by one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from .bulk.api import WriteKeywords
from .bulk.report import WriteReport
from .connection import Connection
from .dsn import resolve
from .parameters import Values
from .reading import ReadKeywords

if TYPE_CHECKING:
    from os import PathLike
    from ssl import SSLContext

    from typing_extensions import Unpack


def connect(
    url: str | None = None,
    *,
    host: str | None = None,
    port: int | str | None = None,
    user: str | None = None,
    password: str | None = None,
    database: str | None = None,
    server: str | None = None,
    autocommit: bool | None = None,
    connect_timeout: float | None = None,
    read_timeout: float | None = None,
    login_timeout: float | None = None,
    call_timeout: float | None = None,
    keepalive: bool | float | None = None,
    tls: bool | None = None,
    tls_ca: str | PathLike[str] | None = None,
    tls_cert: str | PathLike[str] | None = None,
    tls_key: str | PathLike[str] | None = None,
    tls_pkcs12: str | PathLike[str] | None = None,
    tls_context: SSLContext | None = None,
    tls_verify: bool | None = None,
    tls_hostname: str | None = None,
    pam: Callable[[str, bool], str] | None = None,
    fetch_buffer_size: int | None = None,
    client_locale: str | None = None,
    db_locale: str | None = None,
    sqlhosts: str | None = None,
    isolation: str | None = None,
    lock_wait: int | None = None,
    statement_cache_size: int | None = None,
    encoding: str | None = None,
    encoding_errors: Literal["strict", "replace", "binary"] | None = None,
    application: str | None = None,
    env: Mapping[str, str] | None = None,
    **unknown: Any,
) -> Connection:
    """Open a connection.

    ``connect("informix://user:pw@host:9088/stores?server=ol_informix")``, or the same as keywords, as a JDBC URL, as an
    ODBC string, or ``connect("stores@ol_informix")`` through a sqlhosts file. A keyword overrules the string, the
    string the environment, the environment the sqlhosts file, and that the default.

    Parameters
    ----------
    url
        ``informix://[user[:password]@]host[:port][/database][?key=value&...]``; the keys are the keywords
        below, and ``env.NAME`` for a session variable. Special characters are percent-encoded, IPv6 hosts in
        square brackets. For the other forms see the documentation, "Connecting".
    host, port
        Where the server listens; port 9088 by default.
    user, password
        Sent in plain text over the network unless TLS is used.
    database
        Opened at once; may be left out.
    server
        The server's DBSERVERNAME or an alias; ``INFORMIXSERVER`` by default. Without a host, the entry or the group
        of this name in the sqlhosts file tells where it is.
    sqlhosts
        Path of that file; ``INFORMIXSQLHOSTS``, else ``INFORMIXDIR/etc/sqlhosts`` by default.
    autocommit
        False by default.
    connect_timeout
        Seconds until the TCP connection stands, its TLS handshake included, and then again until the login is
        answered; 15 by default.
    read_timeout
        Seconds of silence borne while an answer is awaited; no limit by default. The connection closes when
        it is over.
    login_timeout
        Seconds for everything until the connection can be used, all members of a group tried; no limit by default.
    call_timeout
        Seconds that each call may take which talks to the server, where it has no ``timeout`` of its own; no limit by
        default. When they are over the statement is ended on the server, and ``QueryTimeout`` raised.
    keepalive
        TCP keepalive: True (default) as the system has it, False, or seconds of silence before the first probe.
    tls
        True speaks TLS, as ``informixs://`` does; so do a sqlhosts entry with ``onsocssl`` and any of the following.
    tls_ca
        PEM or PKCS#12 file (``tls_ca_password``) with the CA of the server's certificate, or with that itself; the
        system's CAs by default.
    tls_cert, tls_key, tls_pkcs12
        A certificate of the client: PEM files (``tls_key_password``), or one of PKCS#12 (``tls_pkcs12_password``).
    tls_context
        An ``ssl.SSLContext`` instead of all these.
    tls_verify, tls_hostname
        False does not ask who is at the other end. The name that the certificate must have, ``host`` by default.
    pam
        Called with the questions of a server that asks some at login, ``pam(prompt, echo)``; returns the answer.
    fetch_buffer_size
        Bytes of rows asked for in one fetch, 4096 to 2147483647; ``FET_BUF_SIZE`` or 1 MiB by default. A
        server without large fetch buffers gets 32767.
    client_locale, db_locale
        ``CLIENT_LOCALE`` (default ``en_US.utf8``) and ``DB_LOCALE`` of the login. Text always arrives as
        UTF-8 here: the database is asked for its code set, and when that differs from the login's, the login is
        repeated. A ``db_locale`` is believed, as by IBM's JDBC driver, unless the server warns that the database
        has another: it saves the question and the second login.
    isolation
        ``"dirty"``, ``"committed"``, ``"last committed"``, ``"cursor stability"`` or ``"repeatable"``; the server's
        default by default.
    lock_wait
        Seconds to wait for a lock; 0 fails at once, -1 waits for ever; the server's default (not to wait) by default.
    statement_cache_size
        Prepared statements that are kept for their next execution, 64 by default; 0 keeps none.
    encoding
        Python codec of text on the wire, overruling what the database says about its code set: for data that
        was stored under a wrong label.
    encoding_errors
        What happens to a byte that is no text of the code set, in results: ``"strict"`` (default),
        ``"replace"`` or ``"binary"``; see :meth:`Connection.query`, which can say otherwise for one read.
    application
        Name shown by the server's monitoring, ``informix-arrow`` by default.
    env
        Session variables for the login, such as ``{"PDQPRIORITY": "50"}``.

    Raises
    ------
    InterfaceError
        An argument is unknown (with a suggestion), malformed or missing.
    OperationalError
        The server cannot be reached, or refuses user, password, server or database name.
    NotSupportedError
        The form of the URL, the server's protocol or the database's code set is not supported.
    """
    return Connection(
        resolve(
            url,
            host=host,
            port=port,
            user=user,
            password=password,
            database=database,
            server=server,
            autocommit=autocommit,
            connect_timeout=connect_timeout,
            read_timeout=read_timeout,
            login_timeout=login_timeout,
            call_timeout=call_timeout,
            keepalive=keepalive,
            tls=tls,
            tls_ca=tls_ca,
            tls_cert=tls_cert,
            tls_key=tls_key,
            tls_pkcs12=tls_pkcs12,
            tls_context=tls_context,
            tls_verify=tls_verify,
            tls_hostname=tls_hostname,
            pam=pam,
            fetch_buffer_size=fetch_buffer_size,
            client_locale=client_locale,
            db_locale=db_locale,
            sqlhosts=sqlhosts,
            isolation=isolation,
            lock_wait=lock_wait,
            statement_cache_size=statement_cache_size,
            encoding=encoding,
            encoding_errors=encoding_errors,
            application=application,
            env=env,
            **unknown,
        )
    )


def read_arrow(
    sql: str,
    connection: Connection | str,
    parameters: Values = (),
    *,
    timeout: float | None = None,
    **options: Unpack[ReadKeywords],
) -> pa.Table:
    """Run a query and read all its rows into one table: ``read_arrow("SELECT ...", "informix://...")``.

    ``connection`` is an open :class:`Connection`, or a URL to connect to for this query alone. Parameters,
    options and errors are those of :meth:`Connection.query`.
    """
    if isinstance(connection, Connection):
        return connection.read_arrow(sql, parameters, timeout=timeout, **options)
    with connect(connection, autocommit=True) as own:
        return own.read_arrow(sql, parameters, timeout=timeout, **options)


def write_arrow(
    table: str,
    data: Any,
    connection: Connection | str,
    *,
    timeout: float | None = None,
    **options: Unpack[WriteKeywords],
) -> WriteReport:
    """Load Arrow data into a table: ``write_arrow("orders", frame, "informix://...")``.

    ``connection`` is an open :class:`Connection`, or a URL to connect to for this load alone. Options and errors
    are those of :meth:`Connection.write_arrow`.
    """
    if isinstance(connection, Connection):
        return connection.write_arrow(table, data, timeout=timeout, **options)
    with connect(connection, autocommit=True) as own:
        return own.write_arrow(table, data, timeout=timeout, **options)
