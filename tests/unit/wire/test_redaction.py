"""Secrets in SQL text: hidden and visible parts, and that hiding them takes no longer than reading the text."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable

import pytest

import informix_arrow
from informix_arrow.cli import main
from informix_arrow.ingest.target_table import check_table
from informix_arrow.wire.errors import ProgrammingError, database_error
from informix_arrow.wire.redaction import hide_credentials, hide_secrets, holds_secret

QUOTED = "it''s-s3cret"
PLAIN = "s3cret-value"

# Statements with a password in place of {}. It may be in single or double quotes, or lack the closing quote.
STATEMENTS = [
    "CREATE USER bob WITH PASSWORD {}",
    "create user bob with password/* it's */{} properties user 'x'",
    "CREATE DEFAULT USER WITH PROPERTIES USER x PASSWORD {}",
    "CREATE USER u IDENTIFIED BY {}",
    "create user u identified /**/ by /**/ {}",
    "ALTER USER bob ADD PASSWORD {}",
    "ALTER USER bob MODIFY PASSWORD {}",
    "ALTER USER bob\n\tMODIFY\r\nPASSWORD\n{}",
    "SET USER PASSWORD OLD {} NEW {}",
    "SET USER PASSWORD /* new */ OLD {} NEW {}",
    "set user PASSWORD OLD {}\n-- it's\nNEW {}",
    "set password for 'ann' = {}, 2",
    "set password for /* a b */ 'ann' = --x\n{}",
    "SET ENCRYPTION PASSWORD {}",
    "SET ENCRYPTION PASSWORD {} WITH HINT {}",
    "set encryption password /* of today */ {}",
    "set encryption password -- 'no'\n\t{} with hint 'colour'",
    "set encryption {{old}} password{{'}}'}}{}",
    "SET {{it's}} ENCRYPTION PASSWORD {}",
    "SET ENCRYPTION PASSWORD {}, nonsense",
    "SeT eNcRyPtIoN pAsSwOrD {}",
    "SELECT ENCRYPT_AES('x', {}) FROM systables WHERE tabid = 1",
    "SELECT encrypt_tdes(nvl(c, f(')')), /*'*/ {}) FROM t",
    "select encrypt_tdes ( (a || b), {} ) from t",
    "SELECT /* ' */ DECRYPT_CHAR(tabname, {}) FROM systables -- it's",
    "SELECT decrypt_char(c, 'hun' || {}) FROM t",
    "insert into t values (encrypt_aes /* ( */ ('x) -- ', {{'}} {}), 1)",
    "-- set encryption password 'old'\nselect decrypt_binary(c, f(1), {}) from t",
    "CONNECT TO 'stores@x' USER 'u' USING {}",
    "connect/**/to 'stores@x' user 'u' using {}",
    "insert into t values ('-- ', '/*', '{{') using {}",
    "{{d using {}}}, using /* '",
    "GRANT CONNECT TO bob IDENTIFIED BY {}",
    "GRANT ACCESS TO u PROPERTIES USER x; SET USER PASSWORD OLD {} NEW {}",
    "SELECT 1; set encryption password {}; SELECT 2",
    "UPDATE traced SET name = 'it''s', password = {} WHERE id = 1",
    "INSERT INTO users (name, password) VALUES ('ann', {})",
    "MERGE INTO users u USING new n ON u.id = n.id WHEN MATCHED THEN UPDATE SET u.passwd = {}",
    "SELECT id AS password, {} FROM observed WHERE name = ?",
    'SELECT * FROM "informix".users WHERE "PassWord" = {}',
    "EXECUTE PROCEDURE set_password('bob', {})",
    "select 1 /* password {} */ from t",
    "identified\n by{} password = {}",
    "select password from t where a in (SET{{{}, 'x'}})",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_password_is_hidden_however_it_is_quoted(statement: str) -> None:
    for quoted in (f"'{QUOTED}'", '"it\'s-s3cret"', '"a""b-s3cret"', f"'{PLAIN}'", f"'{PLAIN}", f'"{PLAIN}'):
        sql = statement.format(*[quoted] * 2)
        assert holds_secret(sql)
        for shown in (hide_secrets(sql), hide_secrets(sql, same_length=True)):
            assert "s3cret" not in shown
            assert hide_secrets(shown, same_length=True).count("s3cret") == 0
        kept = hide_secrets(sql, same_length=True)
        assert len(kept) == len(sql)
        assert hide_secrets(kept, same_length=True) == kept
        reported = database_error(-201, 0, sql.index("s3cret"), "", sql)
        assert "s3cret" not in f"{reported} {reported!r} {reported.__dict__}"


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE USER bob WITH PASSWORD {}",
        "ALTER USER bob MODIFY PASSWORD {} ACCOUNT UNLOCK",
        "SET USER PASSWORD OLD {} NEW {}",
        "SET ENCRYPTION PASSWORD {}, nonsense",
        "SET ENCRYPTION PASSWORD /* of today */ {}",
        "set password for ann = {}",
        "GRANT x TO u IDENTIFIED BY {}",
        "CONNECT TO stores USER u USING {}",
        "SELECT 1; SET ENCRYPTION PASSWORD {}",
    ],
)
@pytest.mark.parametrize("given", ["s3cret", PLAIN, "123s3cret", "$s3cret", "a.s3cret", "s3cret'", 's3cret"'])
def test_a_password_without_quotes_is_hidden(statement: str, given: str) -> None:
    sql = statement.format(*[given] * 2)
    assert "s3cret" not in hide_secrets(sql)
    assert "s3cret" not in hide_secrets(sql, same_length=True)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'abc FROM t WHERE encrypt_aes(x, 's3cret') and b = c'",
        "SELECT encrypt_aes(c, s3cret') FROM t",
        "SET ENCRYPTION PASSWORD s3cret'",
        "select decrypt_char(c, 's3cret) from t",
        "create user u with password 'x's3cret'",
        "set encryption password /* s3cret",
        "set encryption password {s3cret",
        "EXECUTE IMMEDIATE 'set encryption password ''s3cret'''",
        'EXECUTE IMMEDIATE "set encryption password ""s3cret"""',
        "SELECT a FROM OPENROWSET('postgresql://ann:s3cret@host/db')",
        "create external table e sameas t using ('pwd=s3cret')",
    ],
)
def test_a_password_is_hidden_where_quotes_are_missing_or_in_a_string(sql: str) -> None:
    assert "s3cret" not in hide_secrets(sql)
    assert "s3cret" not in hide_secrets(sql, same_length=True)


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("set encryption password 'a''b' with hint 'h'", "set encryption password '***' with hint '***'"),
        ('SET ENCRYPTION PASSWORD "xy"', 'SET ENCRYPTION PASSWORD "***"'),
        ("connect to 'db' user 'u' using 'pw'", "connect to '***' user '***' using '***'"),
        ("set encryption password 'pw", "set encryption password '***"),
        ("a password 'using ''b' using 'c'", "a password '***' using '***'"),
        ("set encryption password /* it's */ 'pw', 2", "set encryption password /*****/ '***', 2"),
        ("set encryption password -- 'old'\n 'pw'", "set encryption password --***\n '***'"),
        ("set encryption password {to}'pw' {it}", "set encryption password {***}'***' {***}"),
        (
            "select password from t where a = 'b' and c = 1",
            "select password from t where a = '***' and c = 1",
        ),
        (
            "create user u with password x properties user y",
            "create user u with password *** properties user ***",
        ),
        ("SET {it's} ENCRYPTION PASSWORD 'x'", "SET {***"),
        ("SET ENCRYPTION PASSWORD ?", "SET ENCRYPTION PASSWORD ?"),
        ("SELECT password FROM users WHERE id = ?", "SELECT password FROM users WHERE id = ?"),
        ("SELECT user, password FROM users", "SELECT user, password FROM users"),
        ("create table users (name char(8), password char(20))",) * 2,
        ("password",) * 2,
        ("GRANT CONNECT TO bob",) * 2,
        ("SELECT a FROM t START WITH a = 1 CONNECT BY b = 'x'",) * 2,
        ("SELECT a FROM t JOIN u USING (a) WHERE b = 'x'",) * 2,
        ("SELECT a FROM t -- it's\n WHERE b = 'x'",) * 2,
        ("SELECT 'unfinished",) * 2,
        ("",) * 2,
    ],
)
def test_what_is_shown_of_a_statement(sql: str, shown: str) -> None:
    assert hide_secrets(sql) == shown


def test_positions_stay_what_they_are() -> None:
    sql = "SELECT DECRYPT_CHAR(c, 's3cret')\n  FROM t /* a\nb */ WHERE d = 'x'"
    shown = "SELECT DECRYPT_CHAR(c, '******')\n  FROM t /***\n***/ WHERE d = '*'"
    assert hide_secrets(sql, same_length=True) == shown
    assert ProgrammingError("", statement=sql).statement == shown


def test_random_statements_give_nothing_away() -> None:
    choose = random.Random(31).choice
    filling = [
        "",
        " ",
        "\n",
        "{it's}",
        "/* ' */",
        "--'\n",
        "'a'",
        '"b',
        "SET{",
        "}",
        "''",
        "1",
        "{",
        "*/",
        ",",
        "/*",
    ]
    lead = [
        "CREATE USER u WITH PASSWORD",
        "SET ENCRYPTION PASSWORD",
        "SELECT encrypt_tdes(x,",
        "set user PASSWORD OLD",
    ]
    for _ in range(5000):
        first, *words = choose(lead).split(" ")
        quoted = choose([f"'{PLAIN}'", f'"{PLAIN}"', f"'{PLAIN}", f"'{QUOTED}'"])
        sql = f"{choose(filling)}{first} {choose(filling)}{' '.join(words)} {choose(filling)}{quoted}{choose(filling)}"
        for same_length in (False, True):
            assert "s3cret" not in hide_secrets(sql, same_length=same_length), sql


@pytest.mark.parametrize(
    "between",
    [
        " ",
        "for x ",
        " for",
        "/* ",
        "/**/",
        "{",
        "--\n",
        "using/*",
        "using{",
        "set ",
        "1",
        "'",
        "\"'",
        "://",
        "connect ",
    ],
)
def test_hiding_takes_no_longer_than_reading_the_statement(between: str) -> None:
    """Regression: it took hours for this text, and no other session could run meanwhile."""
    sql = f"password{between * 30_000} password 's3cret'"
    assert "s3cret" not in hide_secrets(sql)
    assert len(hide_secrets(sql, same_length=True)) == len(sql)
    assert hide_secrets("1" * 100_000 + "a") == "1" * 100_000 + "a"


SECRET = "s3cr;t/@:x"


@pytest.mark.parametrize(
    "text",
    [
        "informix://scott:PASSWORD@db1:9088/stores?server=ol_x",
        "informix:/scott:PASSWORD@db1:9088/stores",
        "informix:scott:PASSWORD@db1:9088/stores",
        "informix//scott:PASSWORD@db1:9088/stores",
        "infromix://scott:PASSWORD@db1:9088/stores",
        "scott:PASSWORD@db1:9088/stores",
        "argument --port: invalid int value: 'informix://scott:PASSWORD@db1/stores'",
    ],
)
@pytest.mark.parametrize("secret", [SECRET, "a", "pass@word", "é:ü"])
def test_the_password_of_a_url_is_hidden_wherever_it_stands(text: str, secret: str) -> None:
    shown = hide_credentials(text.replace("PASSWORD", secret))
    assert shown == text.replace("PASSWORD", "***")
    assert hide_credentials(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("SERVER=x;UID=u;PWD=abc;HOST=h", "SERVER=x;UID=u;PWD=***;HOST=h"),
        ("SERVER=x;PWD={a;b c};HOST=h", "SERVER=x;PWD=***;HOST=h"),
        ("PWD {abc};HOST=h", "PWD ***;HOST=h"),
        ("PASSWORD:abc;SERVER=x", "PASSWORD:***;SERVER=x"),
        ("db?password=abc&server=x", "db?password=***&server=x"),
        ("tls_key_password='a b'", "tls_key_password=***"),
        ("{'password': 'a b', 'host': 'h'}", "{'password': ***, 'host': 'h'}"),
        ("unrecognized arguments: --password abc x", "unrecognized arguments: --password *** x"),
    ],
)
def test_a_password_with_its_name_is_hidden(text: str, shown: str) -> None:
    assert hide_credentials(text) == shown
    assert hide_credentials(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "stores@ol_x",
        "informix://scott@db1:9088/stores?server=ol_x",
        "Write informix://user:password@host:9088/database?server=...",
        "password must be text, got int",
        "argument --password: expected one argument",
        "Use --password-file or INFORMIX_ARROW_PASSWORD",
        "at 12:30:05 by bob@example.com",
    ],
)
def test_a_text_without_a_password_is_shown_unchanged(text: str) -> None:
    assert hide_credentials(text) == text


@pytest.mark.parametrize(
    "call",
    [
        lambda url: informix_arrow.connect(url.replace("informix://", "informix:/")),
        lambda url: informix_arrow.connect(host="localhost", isolation=url),
        lambda url: informix_arrow.connect(host="localhost", **{url: 1}),
        lambda url: check_table(url),
    ],
    ids=["a URL with one slash", "a wrong keyword", "a wrong name", "a table"],
)
def test_an_error_about_an_argument_does_not_show_the_password_in_it(call: Callable[[str], object]) -> None:
    with pytest.raises(informix_arrow.InterfaceError) as caught:
        call("informix://scott:s3cret@db1:9088/stores?server=ol_x")
    assert "scott:***@db1" in str(caught.value) or "scott" not in str(caught.value)
    assert "s3cret" not in "".join(traceback.format_exception_only(caught.value)) + repr(caught.value)


@pytest.mark.parametrize(
    "words",
    [
        ["informix://scott:s3cret@db1:9088/stores", "tables"],
        ["serve", "--port", "informix://scott:s3cret@db1/stores"],
        ["load", "--commit-every", "informix://scott:s3cret@db1/stores", "t", "f.csv"],
        ["tables", "informix:/scott:s3cret@db1/stores"],
        ["tables", "informix://scott@db1/stores", "a", "b", "informix://scott:s3cret@db1/stores"],
    ],
)
def test_a_usage_error_does_not_show_a_password(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(words)
    except SystemExit as ended:
        code = int(ended.code or 0)
    out, err = capsys.readouterr()
    assert code == 2
    assert err
    assert "s3cret" not in out + err
