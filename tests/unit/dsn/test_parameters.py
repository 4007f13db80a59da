"""Connection parameters: URLs, keywords, environment, and helpful errors without secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest
from tests.cases import parametrize_in_one_test

from informix_arrow import dsn
from informix_arrow.dsn import Parameters, resolve
from informix_arrow.wire.errors import Error, InterfaceError, NotSupportedError

NO_ENVIRONMENT: dict[str, str] = {}


def url(text: str, **keywords: object) -> Parameters:
    return resolve(text, NO_ENVIRONMENT, **keywords)


def test_a_full_url_gives_every_part() -> None:
    p = url(
        "informix://al%40ice:p%3Aw%2F%23@db.example:1526/stores%5F7"
        "?server=ol_x&fetch_buffer_size=65536&autocommit=true&connect_timeout=2.5&env.PDQPRIORITY=50"
    )
    assert (p.user, p.password, p.host, p.port) == ("al@ice", "p:w/#", "db.example", 1526)
    assert (p.database, p.server, p.fetch_buffer_size) == ("stores_7", "ol_x", 65536)
    assert (p.autocommit, p.connect_timeout, p.env["PDQPRIORITY"]) == (True, 2.5, "50")


def test_a_short_url_takes_the_defaults() -> None:
    assert url("informix://db.example") == Parameters("db.example")
    assert Parameters("h").port == 9088
    assert Parameters("h").fetch_buffer_size == 1 << 20


@pytest.mark.parametrize(("text", "host"), [("[::1]", "::1"), ("[fe80::2%25eth0]", "fe80::2%eth0")])
def test_ipv6_hosts_stand_in_brackets(text: str, host: str) -> None:
    p = url(f"informix://u:p@{text}:9090/d")
    assert (p.host, p.port) == (host, 9090)


def test_keywords_overrule_the_url_and_the_url_the_environment() -> None:
    environment = {"INFORMIXSERVER": "from_env", "CLIENT_LOCALE": "de_DE.819", "DB_LOCALE": "fr_FR.819"}
    p = resolve("informix://h/d?server=from_url", environment, client_locale="en_GB.utf8")
    assert (p.server, p.client_locale, p.db_locale) == ("from_url", "en_GB.utf8", "fr_FR.819")
    assert resolve("informix://h", environment).server == "from_env"


@pytest.mark.parametrize(
    ("setting", "size"), [("65536", 65536), ("1024", 4096), ("99999999999", (1 << 31) - 1)]
)
def test_the_environment_sets_the_fetch_buffer_within_its_limits(setting: str, size: int) -> None:
    assert resolve(None, {"FET_BUF_SIZE": setting}, host="h").fetch_buffer_size == size


def test_none_means_not_given() -> None:
    p = resolve(None, NO_ENVIRONMENT, host="h", port=None, read_timeout=None)
    assert (p.port, p.read_timeout) == (9088, None)


@pytest.mark.parametrize("alias", ["uid", "UID", "username"])
def test_names_of_other_drivers_are_understood(alias: str) -> None:
    assert resolve(None, NO_ENVIRONMENT, host="h", **{alias: "bob"}).user == "bob"


def test_an_unknown_key_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(InterfaceError, match=r"'pasword'.*Did you mean 'password'"):
        resolve(None, NO_ENVIRONMENT, host="h", pasword="x")
    with pytest.raises(InterfaceError, match=r"'srever' in the URL.*Did you mean 'server'"):
        url("informix://h/d?srever=x")
    with pytest.raises(InterfaceError, match=r"'zzz'.*The parameters are host"):
        url("informix://h/d?zzz=1")


def test_a_key_given_twice_in_a_url_is_an_error() -> None:
    with pytest.raises(InterfaceError, match="'host' twice"):
        url("informix://h/d?host=g")


@parametrize_in_one_test(
    ("text", "error", "match"),
    [
        ("informixs://h/d?tls=false&tls_ca=x", InterfaceError, "'tls' twice"),
        ("informix://h/d?tls=false&tls_ca=x", InterfaceError, "tls_ca is given, but TLS is switched off"),
        ("informix://h/d?tls_key=x", InterfaceError, "without tls_cert"),
        ("informix://h/d?tls_cert=x&tls_pkcs12=y", InterfaceError, "both name the client"),
        ("informix://h/d?keepalive=perhaps", InterfaceError, "keepalive must be"),
        ("informix://h/d?login_timeout=0", InterfaceError, "login_timeout must be"),
        ("informix://h/d?pam=x", InterfaceError, "pam must be a function"),
        ("informix://h/d?tls_context=x", InterfaceError, "SSLContext"),
        ("postgresql://u:s3cret@h/d", InterfaceError, "not an informix:// URL"),
        ("u:s3cret@h", InterfaceError, "The form of this connection string"),
        ("stores@", InterfaceError, "The form of this connection string"),
        ("", InterfaceError, "The form of this connection string"),
        ("stores@server", InterfaceError, "No host is given, and no sqlhosts file"),
        ("jdbc:db2://h:50000/d:user=u;password=s3cret;", InterfaceError, "not a JDBC URL of Informix"),
        ("jdbc:informix-sqli://h:9088/d:user=u;s3cret;password=x", InterfaceError, "Property 2 .*withheld"),
        ("jdbc:informix-sqli://h:9088/d/s3cret:user=u", InterfaceError, "Property 1 .*withheld"),
        ("jdbc:informix-sqli://h:9088/d:user=u;pasword=s3cret", InterfaceError, "Did you mean 'password'"),
        (
            "jdbc:informix-sqli://h:9088/d:SSLCONNECTION=perhaps;password=s3cret",
            InterfaceError,
            "SSLCONNECTION",
        ),
        ("jdbc:informix-sqli://h/d:NEWLOCALE=x;password=s3cret", NotSupportedError, "encoding="),
        ("jdbc:informix-sqli://h:1/d:HOST=g;password=s3cret", InterfaceError, "'host' twice"),
        ("HOST=h;PWD=s3cret;{}", InterfaceError, "Item 3 .*withheld"),
        ("HOST=h;s3cret", InterfaceError, "Item 2 .*withheld"),
        ("DSN=prod;PWD=s3cret", NotSupportedError, "DSN=prod"),
        ("HOST=h;PROTOCOL=onsocssl;SSLCONNECTION=false;PWD=s3cret", InterfaceError, "and disables TLS"),
        ("HOST=h;PROTOCOL=onipcshm;PWD=s3cret", NotSupportedError, "local memory"),
        ("HOST=h;PROTOCOL=drsoctcp;PWD=s3cret", NotSupportedError, "DRDA"),
        ("informix://u:s3cret@h:port/d", InterfaceError, "malformed"),
        ("informix://u:s3cret@[::1/d", InterfaceError, "malformed"),
        ("informix://u:s3#cret@h/d", InterfaceError, "%23"),
        # Not escaped: the text after the slash or the question mark would be taken for a database or a key.
        ("informix://u:s3cret/x@h/d", InterfaceError, "malformed"),
        ("informix://u:12/s3cret@h/d", InterfaceError, "malformed"),
        ("informix://u:x@h/s3cret@h/d", InterfaceError, "malformed"),
        ("informix://u:12?s3cret@h/d", InterfaceError, "malformed"),
        ("informix://u:12?s3cret=x@h/d", InterfaceError, "malformed"),
        ("informix://u:s3cret\n@h/d", InterfaceError, "malformed"),
        ("informix:///d", InterfaceError, "No host"),
        ("informix://u:s3cret@h:0/d", InterfaceError, "port must be"),
        ("informix://h/d?fetch_buffer_size=100", InterfaceError, "4096"),
        ("informix://h/d?autocommit=perhaps", InterfaceError, "true or false"),
        ("informix://h/d?read_timeout=-1", InterfaceError, "positive"),
        ("informix://h/d?lock_wait=-2", InterfaceError, "-1..32767"),
        ("informix://h/d?isolation=snapshot", InterfaceError, "one of 'dirty', 'committed'"),
        ("jdbc:informix-sqli://h/d:IFX_ISOLATION_LEVEL=2U", NotSupportedError, "2U"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name_and_without_secrets(
    text: str, error: type[Error], match: str
) -> None:
    with pytest.raises(error, match=match) as caught:
        url(text)
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(caught.value.__cause__)
    assert "s3cret" not in repr(caught.value.__context__)


def test_an_at_sign_in_the_value_of_a_key_is_an_ordinary_character() -> None:
    p = url("informix://h?user=u&password=p@ss&env.NAME=a@b")
    assert (p.user, p.password, dict(p.env)) == ("u", "p@ss", {"NAME": "a@b"})
    assert url("informix://h/stores%40server").database == "stores@server"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("port", True),
        ("port", "9088x"),
        ("user", 7),
        ("database", "a\0b"),
        ("encoding", "nope"),
        ("encoding", "utf-16"),
        ("encoding", 5),
        ("autocommit", 1),
        ("env", "A=B"),
        ("connect_timeout", True),
    ],
)
def test_values_of_a_wrong_type_are_refused_by_name(key: str, value: object) -> None:
    with pytest.raises(InterfaceError, match=key):
        resolve(None, NO_ENVIRONMENT, host="h", **{key: value})


def test_the_password_is_in_no_repr() -> None:
    assert "s3cret" not in repr(url("informix://u:s3cret@h/d"))


# ---- TLS, time limits


@pytest.mark.parametrize(
    ("text", "tls"),
    [
        ("informix://h/d", False),
        ("informixs://h/d", True),
        ("informix+onsocssl://h/d", True),
        ("informix://h/d?tls=true", True),
        ("informix://h/d?tls_ca=ca.pem", True),
        ("informix://h/d?tls_verify=false", True),
        ("jdbc:informix-sqli://h:9088/d:SSLCONNECTION=true", True),
        ("jdbc:informix-sqli://h:9088/d:SSLCONNECTION=false", False),
        ("HOST=h;PROTOCOL=onsocssl", True),
        ("HOST=h;PROTOCOL=olsoctcp", False),
    ],
)
def test_tls_is_asked_for_in_many_ways(text: str, tls: bool) -> None:
    assert resolve(text, {}).tls is tls


def test_a_keyword_overrules_what_the_string_says_about_tls() -> None:
    assert resolve("informixs://h/d", {}, tls=False).tls is False
    assert resolve("informix://h/d", {}, tls=True).tls is True
    with pytest.raises(InterfaceError, match=r"tls_verify is given, but TLS is switched off"):
        resolve("informix://h/d", {}, tls=False, tls_verify=False)


def test_the_stores_of_jdbc_are_the_files_of_tls() -> None:
    stores = (
        "SSL_TRUSTSTORE=t.p12;SSL_TRUSTSTOREPASSWORD=s3cret;SSL_KEYSTORE=k.p12;SSL_KEYSTOREPASSWORD=s4cret"
    )
    p = resolve(f"jdbc:informix-sqli://h:9088/d:SSLCONNECTION=true;{stores}", {})
    assert (p.tls_ca, p.tls_ca_password, p.tls_pkcs12, p.tls_pkcs12_password) == (
        "t.p12",
        "s3cret",
        "k.p12",
        "s4cret",
    )
    assert "cret" not in repr(p)
    assert resolve(f"jdbc:informix-sqli://h:9088/d:{stores}", {}).tls is False  # like JDBC


def test_a_context_says_it_all() -> None:
    import ssl

    context = ssl.create_default_context()
    p = resolve("informix://h/d", {}, tls_context=context, tls_hostname="db")
    assert (p.tls, p.tls_context, p.tls_hostname) == (True, context, "db")
    with pytest.raises(InterfaceError, match="tls_ca cannot be combined with tls_context"):
        resolve("informix://h/d", {}, tls_context=context, tls_ca="x")


def test_paths_may_be_path_objects(tmp_path: Path) -> None:
    assert resolve("informix://h/d", {}, tls_ca=tmp_path / "ca.pem").tls_ca == str(tmp_path / "ca.pem")


@pytest.mark.parametrize(
    ("given", "wanted"), [("true", True), ("off", False), (False, False), (60, 60.0), ("90.5", 90.5)]
)
def test_keepalive_is_a_switch_or_seconds(given: object, wanted: object) -> None:
    assert resolve("informix://h/d", {}, keepalive=given).keepalive == wanted


def test_time_limits_have_parameters_of_their_own() -> None:
    p = resolve("informix://h/d?login_timeout=2.5&call_timeout=30", {}, connect_timeout=1, read_timeout=9)
    assert (p.login_timeout, p.call_timeout, p.connect_timeout, p.read_timeout) == (2.5, 30.0, 1.0, 9.0)
    assert resolve("jdbc:informix-sqli://h:1/d:LOGINTIMEOUT=2500", {}).connect_timeout == 2.5


@pytest.mark.parametrize("given", ["informix://h/d?timeout=3", "informix://h/d"])
def test_timeout_is_refused_as_it_may_mean_four_things(given: str) -> None:
    keywords = {} if "timeout" in given else {"timeout": 3}
    with pytest.raises(InterfaceError, match=r"connect_timeout.*login_timeout.*call_timeout.*read_timeout"):
        resolve(given, {}, **keywords)


def test_a_login_has_a_limit_by_default() -> None:
    assert resolve("informix://h/d", {}).login_timeout == 30.0
    assert resolve("informix://h/d?login_timeout=none", {}).login_timeout is None


def test_parameters_without_their_password_are_the_same_otherwise() -> None:
    whole = resolve("informix://u:secret@h:1526/d?server=s", {}, env={"DBDATE": "Y4MD-"}, lock_wait=3)
    assert whole.with_password("") == replace(whole, password="")
    assert whole.password == "secret"


def test_what_was_checked_for_the_last_connection_holds_for_the_same_again_and_for_nothing_else() -> None:
    url = "informix://u:secret@h:1526/d?server=s"
    first = resolve(url, {}, autocommit=True)
    assert resolve(url, {}, autocommit=True) == first
    assert resolve(url.replace("secret", "other"), {}, autocommit=True) == replace(first, password="other")
    assert resolve(url.replace(":secret", ""), {}, autocommit=True).password == ""
    assert resolve(url, {"DBDATE": "Y4MD-"}, autocommit=True).env == {"DBDATE": "Y4MD-"}
    assert resolve(url, {"CLIENT_LOCALE": "de_DE.8859-1"}, autocommit=True).client_locale == "de_DE.8859-1"
    with pytest.raises(InterfaceError, match="autocommit must be true or false, got 1"):
        resolve(url, {}, autocommit=1)
    with pytest.raises(InterfaceError, match="password must be text"):
        resolve(url, {}, autocommit=True, password=5)
    assert resolve(url, {}, autocommit=True) == first


def test_variables_of_a_program_that_change_are_sent_as_they_are_then() -> None:
    env = {"DBDATE": "Y4MD-"}
    assert resolve("informix://h/d", {}, env=env).env == {"DBDATE": "Y4MD-"}
    env["DBDATE"] = "DMY4/"
    assert resolve("informix://h/d", {}, env=env).env == {"DBDATE": "DMY4/"}


def test_no_password_is_kept_when_a_connection_has_its_parameters() -> None:
    resolve("informix://u:secret@h/d?server=s", {})
    resolve("informixs://u:secret@h/d", {}, tls_ca="ca.p12", tls_ca_password="geheim")
    assert not {"secret", "geheim"} & {str(value) for value in _values(dsn._latest)}


def _values(found: object) -> Iterator[object]:
    if isinstance(found, tuple):
        for each in found:
            yield from _values(each)
    elif isinstance(found, Mapping):
        yield from found.values()
    elif isinstance(found, Parameters):
        yield from vars(found).values()


@pytest.mark.parametrize("wrong", [5, b"informix://u:secret@h/d", ["informix://u:secret@h/d"]])
def test_what_is_no_text_is_no_connection(wrong: Any) -> None:
    with pytest.raises(
        InterfaceError, match=rf"must be given as a string such as .*, got {type(wrong).__name__}\.$"
    ):
        resolve(wrong)


def test_parameters_made_at_once_are_those_made_one_by_one() -> None:
    given = {"host": "h", "port": 1527, "user": "u", "password": "geheim", "env": {"DBDATE": "Y4MD-"}}
    made, usual = Parameters.of(given), Parameters(**given)
    assert made == usual
    assert repr(made) == repr(usual)
    assert "geheim" not in repr(made)
    assert replace(made, password="") == usual.with_password("")
    with pytest.raises(FrozenInstanceError):
        made.port = 9088  # type: ignore[misc]
    assert resolve(None, {}, host="h", user="u") == Parameters("h", user="u")
