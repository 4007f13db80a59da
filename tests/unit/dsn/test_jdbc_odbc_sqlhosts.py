"""Informix's connection strings: JDBC URLs, ODBC strings, database@server, sqlhosts."""

from __future__ import annotations

import os
from collections import UserDict
from pathlib import Path

import pytest

from informix_arrow.dsn import Endpoint, Parameters, resolve
from informix_arrow.dsn.sqlhosts import parse
from informix_arrow.wire.errors import InterfaceError, NotSupportedError

NO_ENVIRONMENT: dict[str, str] = {}

SQLHOSTS = """
# production
ol_prod   onsoctcp   db1.example  9088   k=1,b=32767
ol_prod   onsoctcp   later.example 1     # the first line counts
ol_disk   onsoctcp   db2.example  1526 g=pair
ol_memory onipcshm   db1.example  x
ol_tls    onsocssl   db1.example  9089
ol_drda   drsoctcp   db1.example  9089
ol_peer   onsoctcp   db1.example  9090   s=6
ol_csm    ontlitcp   db1.example  9091   csm=(ENCCSM)
ol_name   onsoctcp   db1.example  no-such-service-anywhere
pair      group      -            -      i=1,e=ol_second
ol_second onsoctcp   db3.example  1527   g=pair
spread    group      -            -      i=2,c=1
s1        onsoctcp   a            1      g=spread
s2        onsoctcp   b            2      g=spread
s3        onsoctcp   c            3      g=spread
lonely    group      -            -      i=3
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "sqlhosts").write_text(SQLHOSTS)
    return {"INFORMIXSQLHOSTS": str(tmp_path / "sqlhosts")}


def plain(text: str, **keywords: object) -> Parameters:
    return resolve(text, NO_ENVIRONMENT, **keywords)


# ---- JDBC


def test_a_jdbc_url_gives_every_part() -> None:
    p = plain(
        "jdbc:informix-sqli://db.example:1526/stores:INFORMIXSERVER=ol_x;user=bob;password=p=w:/@;"
        "DB_LOCALE=en_us.utf8;CLIENT_LOCALE=de_DE.819;FET_BUF_SIZE=65536;DELIMIDENT=Y;IFX_USEPUT=1;"
    )
    assert (p.host, p.port, p.database, p.server) == ("db.example", 1526, "stores", "ol_x")
    assert (p.user, p.password) == ("bob", "p=w:/@")
    assert (p.db_locale, p.client_locale, p.fetch_buffer_size) == ("en_us.utf8", "de_DE.819", 65536)
    assert dict(p.env) == {"DELIMIDENT": "Y"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jdbc:informix-sqli://h", Parameters("h")),
        ("jdbc:informix-sqli://h:1526", Parameters("h", 1526)),
        ("jdbc:informix-sqli://h:1526/d", Parameters("h", 1526, database="d")),
        ("jdbc:informix-sqli://h:1526:informixserver=x", Parameters("h", 1526, server="x")),
        ("jdbc:informix-sqli://h:1526/:informixserver=x", Parameters("h", 1526, server="x")),
        ("JDBC:INFORMIX-SQLI://h/d:User=u", Parameters("h", database="d", user="u")),
        ("jdbc:informix://h:1/d", Parameters("h", 1, database="d")),
        ("jdbc:gbasedbt-sqli://h:1/d:GBASEDBTSERVER=gb;", Parameters("h", 1, database="d", server="gb")),
        ("jdbc:informix-sqli://[::1]:9/d", Parameters("::1", 9, database="d")),
    ],
)
def test_parts_of_a_jdbc_url_may_be_missing(text: str, expected: Parameters) -> None:
    assert plain(text) == expected


def test_newcodeset_names_the_code_set_that_the_bytes_really_are_in() -> None:
    p = plain("jdbc:informix-sqli://h/d:NEWCODESET=gb18030,8859-1,819;INFORMIXSERVER=x")
    assert p.encoding == "gb18030"


def test_isolation_and_lock_wait_have_their_own_parameters() -> None:
    p = plain("jdbc:informix-sqli://h/d:IFX_LOCK_MODE_WAIT=5;IFX_ISOLATION_LEVEL=5")
    assert (p.lock_wait, p.isolation) == (5, "last committed")
    assert plain("informix://h?isolation=Dirty_Read&lock_wait=-1") == Parameters(
        "h", isolation="dirty", lock_wait=-1
    )


def test_jdbc_counts_time_limits_in_milliseconds_and_zero_is_none() -> None:
    p = plain("jdbc:informix-sqli://h/d:LOGINTIMEOUT=2500;IFX_SOC_TIMEOUT=60000")
    assert (p.connect_timeout, p.read_timeout) == (2.5, 60.0)
    assert plain("jdbc:informix-sqli://h/d:LOGINTIMEOUT=0").connect_timeout is None
    assert plain("HOST=h;INFORMIXCONTIME=20").connect_timeout == 20.0


# ---- ODBC


def test_an_odbc_string_gives_every_part_in_any_case_with_its_aliases() -> None:
    p = plain(
        "Driver={IBM INFORMIX ODBC DRIVER (64-bit)};Server=ids0;DATABASE=db1;host=127.0.0.1;Service=9088;"
        "Protocol=onsoctcp;UID=u;PWD={p;w}}d};DLOC=en_US.819;CLOC=en_US.utf8;DELIMIDENT=y"
    )
    assert (p.host, p.port, p.database, p.server) == ("127.0.0.1", 9088, "db1", "ids0")
    assert (p.user, p.password) == ("u", "p;w}d")
    assert (p.db_locale, p.client_locale, dict(p.env)) == ("en_US.819", "en_US.utf8", {"DELIMIDENT": "y"})


@pytest.mark.parametrize("name", ["LogonID", "LoginID", "uid", "USER"])
def test_the_user_has_many_names(name: str) -> None:
    assert plain(f"HOST=h;{name}=bob").user == "bob"


# ---- database@server and sqlhosts


def test_a_server_name_is_looked_up_and_its_first_line_counts(environment: dict[str, str]) -> None:
    p = resolve("stores@ol_prod", environment, user="u")
    assert (p.host, p.port, p.server, p.database) == ("db1.example", 9088, "ol_prod", "stores")
    assert p.endpoints == ()
    assert resolve("@ol_prod", environment).database == ""
    assert resolve(None, environment, server="ol_prod").host == "db1.example"
    assert resolve("stores", {**environment, "INFORMIXSERVER": "ol_disk"}).host == "db2.example"


def test_the_file_is_also_found_below_informixdir(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "sqlhosts").write_text(SQLHOSTS)
    assert resolve("@ol_disk", {"INFORMIXDIR": str(tmp_path)}).host == "db2.example"


def test_a_host_that_is_given_needs_no_file() -> None:
    p = resolve(None, {"INFORMIXSQLHOSTS": "/nowhere/sqlhosts"}, host="h", server="ol_prod")
    assert (p.host, p.server) == ("h", "ol_prod")


def test_the_members_of_a_group_are_tried_in_their_order(environment: dict[str, str]) -> None:
    p = resolve("stores@pair", environment)
    assert p.endpoints == (
        Endpoint("db2.example", 1526, "ol_disk"),
        Endpoint("db3.example", 1527, "ol_second"),
    )
    assert (p.host, p.port, p.server) == ("db2.example", 1526, "ol_disk")


def test_a_group_with_c_1_starts_anywhere_and_keeps_the_order(environment: dict[str, str]) -> None:
    orders = {"".join(e.host for e in resolve("@spread", environment).endpoints) for _ in range(200)}
    assert orders == {"abc", "bca", "cab"}


@pytest.mark.parametrize(
    ("server", "error", "match"),
    [
        ("ol_prd", InterfaceError, "sqlhosts has no server 'ol_prd'.*servers are ol_prod, ol_disk"),
        ("ol_memory", NotSupportedError, "'onipcshm' is local memory"),
        ("ol_drda", NotSupportedError, "DRDA"),
        ("ol_peer", InterfaceError, "Line 9 .*for other servers"),
        ("ol_csm", NotSupportedError, "csm="),
        ("ol_name", InterfaceError, "no-such-service-anywhere"),
        ("lonely", InterfaceError, "no members"),
    ],
)
def test_entries_that_cannot_be_used_are_refused_by_name(
    environment: dict[str, str], server: str, error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        resolve(f"@{server}", environment)


def test_onsocssl_alone_is_enough_for_tls(environment: dict[str, str]) -> None:
    p = resolve("@ol_tls", environment)
    assert (p.host, p.port, p.tls) == ("db1.example", 9089, True)
    assert resolve("@ol_prod", environment).tls is False
    assert resolve("@ol_prod", environment, tls_ca="x").tls is True


def test_what_is_said_about_tls_counts_for_all_members(environment: dict[str, str]) -> None:
    assert [each.tls for each in resolve("@pair", environment).endpoints] == [False, False]
    assert [each.tls for each in resolve("@pair", environment, tls=True).endpoints] == [True, True]


def test_a_missing_or_malformed_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InterfaceError, match=r"nowhere cannot be read \(No such file"):
        resolve("@x", {"INFORMIXSQLHOSTS": str(tmp_path / "nowhere")})
    with pytest.raises(InterfaceError, match="Line 2 of f "):
        parse("# fine\nname onsoctcp host\n", "f")


# ---- environment


def test_session_variables_of_the_environment_are_sent_unless_env_names_them() -> None:
    environment = {"DBDATE": "DMY4/", "DELIMIDENT": "y", "HOME": "/root"}
    assert dict(resolve("informix://h", environment).env) == {"DBDATE": "DMY4/", "DELIMIDENT": "y"}
    p = resolve("informix://h?env.DBDATE=Y4MD-", environment)
    assert dict(p.env) == {"DBDATE": "Y4MD-", "DELIMIDENT": "y"}
    assert resolve("informix://h", {"INFORMIXCONTIME": "60"}).connect_timeout == 60.0


@pytest.mark.parametrize("others", [0, 300])
def test_a_variable_that_is_set_or_changed_between_two_connects_counts(
    monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    """The change takes effect without a restart of the process, however large the environment is."""
    for number in range(others):
        monkeypatch.setenv(f"SOMEBODY_ELSES_{number}", "x")
    for name in ("GL_DATE", "INFORMIXCONTIME"):
        monkeypatch.delenv(name, raising=False)
    before = resolve("informix://h")
    assert ("GL_DATE" in before.env, before.connect_timeout) == (False, 15.0)
    for form, seconds in (("%Y", "60"), ("%d", "70")):
        monkeypatch.setenv("GL_DATE", form)
        monkeypatch.setenv("INFORMIXCONTIME", seconds)
        now = resolve("informix://h")
        assert (now.env["GL_DATE"], now.connect_timeout) == (form, float(seconds))
    monkeypatch.delenv("GL_DATE")
    monkeypatch.setenv("INFORMIXCONTIME", "")
    assert resolve("informix://h") == before


@pytest.mark.parametrize("replaced", ["by another mapping", "by one that keeps its names elsewhere"])
def test_an_environment_that_was_replaced_counts(monkeypatch: pytest.MonkeyPatch, replaced: str) -> None:
    class Elsewhere(UserDict[str, str]):
        _data: dict[str, str] = {}  # noqa: RUF012

    make = Elsewhere if replaced.endswith("elsewhere") else dict
    monkeypatch.setattr(os, "environ", make({"GL_DATE": "%Y", "INFORMIXCONTIME": "60"}))
    now = resolve("informix://h")
    assert (now.env["GL_DATE"], now.connect_timeout) == ("%Y", 60.0)
