"""The property names of Informix's own drivers in JDBC URLs and ODBC strings.

Every name that those drivers know is one of four things here: a parameter of ours, a session variable for the
server, a setting of that driver without a meaning here, or a property that is refused by name because ignoring
it would change what the user gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..wire.errors import InterfaceError, NotSupportedError
from .parameters import resolve_name
from .sqlhosts import is_tls

#: Property (lower case) -> our parameter.
PARAMETERS = {
    "informixserver": "server",
    "gbasedbtserver": "server",
    "server": "server",
    "srvr": "server",
    "servername": "server",
    "host": "host",
    "hostname": "host",
    "service": "port",
    "serv": "port",
    "port": "port",
    "portnumber": "port",
    "database": "database",
    "db": "database",
    "user": "user",
    "uid": "user",
    "logonid": "user",
    "loginid": "user",
    "username": "user",
    "password": "password",
    "pwd": "password",
    "client_locale": "client_locale",
    "cloc": "client_locale",
    "db_locale": "db_locale",
    "dloc": "db_locale",
    "fet_buf_size": "fetch_buffer_size",
    "fbs": "fetch_buffer_size",
    "informixcontime": "connect_timeout",
    "appname": "application",
    "ifx_lock_mode_wait": "lock_wait",
    "sqlh_file": "sqlhosts",
    "informixsqlhosts": "sqlhosts",
}
#: Time limits that JDBC gives in milliseconds.
MILLISECONDS = {"logintimeout": "connect_timeout", "ifx_soc_timeout": "read_timeout"}
#: Session variables: sent with the login under their own name.
SESSION = frozenset(
    {
        "dbansiwarn", "dbcentury", "dbdate", "dbmoney", "dbspacetemp", "dbtime", "delimident", "gl_date",
        "gl_datetime", "ifx_auto_reprepare", "ifx_directives", "ifx_extdirectives", "ifx_flat_ucsq",
        "ifx_pad_varchar", "ifx_updatestat", "nodefdac", "optcompind", "optofc", "opt_goal", "pdqpriority",
        "psort_dbtemp", "psort_nprocs", "stmt_cache", "stmt_cache_debug", "usev5server",
    }
)  # fmt: skip
#: Settings of the other driver itself: buffering, pooling, logging, batching. They have no effect here.
IGNORED = frozenset(
    {
        "appendisam", "bigfet_buf_size", "driver", "enable_cache_type", "enable_hdrswitch", "ifx_autofree",
        "ifx_batchupdate_per_spec", "ifx_codesetlob", "ifx_get_single_row", "ifx_preparestmt_cache_size",
        "ifx_set_float_as_smallfloat", "ifx_useput", "ifx_xaspec", "ifxhost", "informixconretry",
        "informixopcache", "jdbctemp", "lobcache", "namedparameters", "needodbctypesonly", "newnlsmap",
        "portno_secondary", "proxy", "report_keyset_driven_cursor", "secondary", "sqlidebug", "trace",
        "tracefile", "protocoltrace", "protocoltracefile", "usedtenv", "ifx_trimtrailingspaces",
    }
)  # fmt: skip
#: Properties that cannot be ignored, with advice.
REFUSED = {
    "newlocale": ". Use encoding=... for text that is not in the code set that the database names",
    "security": "",
    "trusted_context": "",
    "trustedcontext": "",
}
#: JDBC's names for TLS, with and without underscores, and ours.
TLS = {
    "ssltruststore": "tls_ca",
    "ssltruststorepassword": "tls_ca_password",
    "sslkeystore": "tls_pkcs12",
    "sslkeystorepassword": "tls_pkcs12_password",
}
_YES, _NO = ("true", "1", "y", "yes", "on"), ("false", "0", "n", "no", "off", "")


def translate(pairs: Iterable[tuple[str, str]], where: str) -> Mapping[str, object]:
    """Return our parameters for the properties of a connection string called ``where`` in errors.

    Raises ``InterfaceError`` for a property that is unknown or given twice, and ``NotSupportedError`` for one
    whose effect is not supported.
    """
    parameters: dict[str, object] = {}
    session: dict[str, str] = {}
    stores: dict[str, object] = {}
    for key, value in pairs:
        name = key.strip().lower()
        if name in SESSION:
            session[name.upper()] = value
        elif name in PARAMETERS:
            _put(parameters, PARAMETERS[name], value, where)
        elif name in MILLISECONDS:
            _put(parameters, MILLISECONDS[name], _seconds(key, value), where)
        elif name in ("protocol", "pro"):
            _put_tls(parameters, is_tls(value), where)
        elif name.replace("_", "") in TLS:
            # A store's password alone, or a store without TLS, has no effect.
            _put(stores, TLS[name.replace("_", "")], value, where)
        elif name.replace("_", "") == "sslconnection":
            if value.strip().lower() not in (*_YES, *_NO):
                raise InterfaceError(f"{key} must be true or false.")
            _put_tls(parameters, value.strip().lower() in _YES, where)
        elif name == "newcodeset":
            # "gb18030,8859-1,819": the actual code set of the bytes, and the declared ones.
            _put(parameters, "encoding", value.partition(",")[0], where)
        elif name == "ifx_isolation_level":
            _put(parameters, "isolation", _isolation(key, value), where)
        elif name in REFUSED:
            raise NotSupportedError(f"{key} is not supported as a connection property{REFUSED[name]}.")
        elif name not in IGNORED:
            _put(parameters, resolve_name(key.strip(), where, PARAMETERS), value, where)
    if session:
        parameters["env"] = session
    if parameters.get("tls"):
        parameters.update(stores)
    return parameters


def _seconds(key: str, value: str) -> str:
    if not value.strip().isdecimal():
        raise InterfaceError(f"{key} must be a whole number of milliseconds.")
    return "none" if int(value) == 0 else str(int(value) / 1000)


def _isolation(key: str, value: str) -> str:
    """Return the level of a number of IFX_ISOLATION_LEVEL; the suffix U ("retain update locks") is refused."""
    levels = {"1": "dirty", "2": "committed", "4": "repeatable", "5": "last committed", "8": "repeatable"}
    if value.strip() not in levels:
        raise NotSupportedError(f"{key}={value} is not supported. Use one of {', '.join(levels)}.")
    return levels[value.strip()]


def _put(parameters: dict[str, object], name: str, value: str, where: str) -> None:
    if name in parameters:
        raise InterfaceError(f"{where} gives {name!r} twice.")
    if value or name == "password":
        parameters[name] = value


def _put_tls(parameters: dict[str, object], tls: bool, where: str) -> None:
    if parameters.setdefault("tls", tls) is not tls:
        raise InterfaceError(f"{where} both enables and disables TLS.")
