"""Features of all commands: URLs, passwords, exit codes, progress, help."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from informix_arrow.cli import parser
from informix_arrow.cli.connection_options import looks_like_url, take_url
from informix_arrow.cli.exit_codes import Failure, UsageError, one_line, run_guarded, with_option_names
from informix_arrow.cli.parser import COMMANDS
from informix_arrow.cli.progress import ProgressReporter
from informix_arrow.rows.scripts import Statement, split
from informix_arrow.wire.errors import database_error

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

    from informix_arrow.server import Server


def test_a_url_comes_from_the_command_line_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert take_url(["stores@ol", "t"], ("TABLE",)) == ["stores@ol", "t"]
    with pytest.raises(UsageError, match="TABLE is missing"):
        take_url(["stores@ol"], ("TABLE",))
    with pytest.raises(UsageError, match="No server"):
        take_url([], ())
    monkeypatch.setenv("INFORMIX_ARROW_URL", "informix://u@h/db")
    assert take_url(["t"], ("TABLE",)) == ["informix://u@h/db", "t"]
    assert take_url(["stores", "t"], ("TABLE",)) == ["stores", "t"]
    assert take_url([], ("PATTERN",), optional=1) == ["informix://u@h/db"]
    assert take_url(["ord%"], ("PATTERN",), optional=1) == ["informix://u@h/db", "ord%"]
    assert take_url(["a@b"], ("PATTERN",), optional=1) == ["a@b"]
    assert take_url(["t", "a", "b"], ("TABLE", "FILE"), more=True) == ["informix://u@h/db", "t", "a", "b"]
    with pytest.raises(UsageError, match="too many arguments"):
        take_url(["informix://x", "a", "b"], ("TABLE",))


@pytest.mark.parametrize(
    "text",
    ["informix://h/db", "jdbc:informix-sqli://h:1/db:user=u", "SERVER=a;UID=b", "db@server", "@server"],
)
def test_connection_strings_are_distinguished_from_names(text: str) -> None:
    assert looks_like_url(text)


@pytest.mark.parametrize(
    "text", ["orders", "owner.orders", "db@server:orders", "a=b", "dir/x.csv", "SELECT a@b FROM t"]
)
def test_names_are_distinguished_from_connection_strings(text: str) -> None:
    assert not looks_like_url(text)


def test_a_password_in_the_command_line_works_and_warns(server: Server, cli: Cli) -> None:
    ran = cli("ping", server.url("stores_demo"))
    assert ran.code == 0
    assert "--password-file" in ran.err
    assert server.password not in ran.out + ran.err


def test_a_password_file_must_belong_to_its_owner_alone(server: Server, cli: Cli, tmp_path: Path) -> None:
    url = server.url("stores_demo").replace(f":{server.password}@", "@")
    secret = tmp_path / "secret"
    secret.write_text(server.password + "\n")
    secret.chmod(0o644)
    ran = cli("ping", url, "--password-file", str(secret))
    assert (ran.code, ran.out) == (1, "")
    assert f"chmod 600 {secret}" in ran.err
    secret.chmod(0o600)
    ran = cli("ping", url, "--password-file", str(secret))
    assert (ran.code, ran.err) == (0, "")
    secret.write_text("\n")
    assert "first line is empty" in cli("ping", url, "--password-file", str(secret)).err
    assert "No such file" in cli("ping", url, "--password-file", str(tmp_path / "none")).err


def test_a_password_comes_from_the_environment_or_the_keyring(
    server: Server, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = server.url("stores_demo").replace(f":{server.password}@", "@")
    ran = cli("ping", url)
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert "No password was given: say --password-file, or set INFORMIX_ARROW_PASSWORD." in ran.err
    monkeypatch.setenv("INFORMIX_ARROW_PASSWORD", "wrong")
    assert "No password" not in cli("ping", url).err
    monkeypatch.setenv("INFORMIX_ARROW_PASSWORD", server.password)
    assert cli("ping", url).code == 0
    monkeypatch.delenv("INFORMIX_ARROW_PASSWORD")
    (tmp_path / "keyring.py").write_text(
        "class errors:\n"
        "    class KeyringError(Exception): pass\n"
        "    class NoKeyringError(KeyringError): pass\n"
        "def get_password(service, name):\n"
        f"    return {server.password!r} if name.startswith('{server.user}@{server.host}:') else None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "keyring", raising=False)
    assert cli("ping", url).code == 0
    monkeypatch.delitem(sys.modules, "keyring")


def test_errors_are_one_line_and_say_where_in_the_statement() -> None:
    error = database_error(-201, 0, 10, "", "SELECT *\nFRM t")
    assert "\n" in str(error)
    reported = one_line(error)
    assert "\n" not in reported
    assert reported.endswith("(line 2, column 1 of the statement)")
    assert one_line(FileNotFoundError(2, "No such file or directory", "x")) == "x: No such file or directory"


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (Failure("it failed"), 1, "informix-arrow: it failed\n"),
        (UsageError("used wrongly"), 2, "informix-arrow: used wrongly\n"),
        (KeyboardInterrupt(), 130, "informix-arrow: interrupted\n"),
        (
            OSError(28, "No space left on device", "x.csv"),
            1,
            "informix-arrow: x.csv: No space left on device\n",
        ),
    ],
)
def test_errors_become_exit_codes(
    error: BaseException, code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise error

    assert run_guarded(fail) == code
    assert capsys.readouterr().err == says


@pytest.mark.parametrize(
    ("text", "options", "shown"),
    [
        (
            "use inexact='round' or inexact='truncate'.",
            {"inexact"},
            "use --inexact round or --inexact truncate.",
        ),
        (
            "use inexact='round' or inexact='truncate'.",
            {"mode"},
            "use inexact=round or inexact=truncate in the connection URL.",
        ),
        ("join_lines=True reads it", {"join_lines"}, "--join-lines reads it"),
        ("cascade=Truest", {"cascade"}, "--cascade Truest"),
        ("Name the code set with encoding=.", {"encoding"}, "Name the code set with --encoding."),
        ("columns={'a': 'b'} and key", {"columns"}, "--columns {'a': 'b'} and key"),
        ("other='word'", {"inexact"}, "other='word'"),
        ("see informix://h/d?inexact=round", {"inexact"}, "see informix://h/d?inexact=round"),
    ],
)
def test_hints_name_options_of_the_command_or_parameters_of_the_url(
    text: str, options: set[str], shown: str
) -> None:
    assert with_option_names(text, options) == shown


def test_what_was_under_way_is_reported_when_it_is_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise KeyboardInterrupt from database_error(-213)

    assert run_guarded(fail) == 130
    assert "SQLCODE -213" in capsys.readouterr().err


def test_progress_is_json_lines_for_machines_and_nothing_into_a_pipe(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProgressReporter("auto", total=3) as progress:
        progress.add(3, 100)
    assert capsys.readouterr().err == ""
    with ProgressReporter("json", total=3) as progress:
        progress.add(1, 50)
        progress.add(2, 50)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert (lines[-1]["rows"], lines[-1]["bytes"], lines[-1]["total"], lines[-1]["ended"]) == (
        3,
        100,
        3,
        True,
    )


@pytest.mark.parametrize("total", [None, 10])
def test_progress_is_a_bar_on_a_terminal(
    total: int | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with ProgressReporter("auto", total) as progress:
        progress.add(7, 1_000_000)
    assert "7 rows" in capsys.readouterr().err


def commands() -> dict[str, argparse.ArgumentParser]:
    made = parser()._subparsers
    assert made is not None
    found = made._group_actions[0].choices
    assert isinstance(found, dict)
    return found


def test_the_module_of_each_command_is_the_listed_one() -> None:
    for name, listed in COMMANDS.items():
        alone = parser((name,))._subparsers
        assert alone is not None
        options = alone._group_actions[0].choices[name].get_default("run")  # type: ignore[index]
        assert options.__module__ == f"informix_arrow.cli.{listed.module}"


def test_nothing_is_imported_for_a_command_that_is_not_called() -> None:
    """If this fails: every command pays for what the command line itself and `helping` import."""
    script = (
        "import sys\nfrom informix_arrow.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print(sorted({n.partition('.')[0] for n in sys.modules} & {'pyarrow', 'numpy', 'duckdb', 'sqlglot'}))"
    )
    for words in (["--help"], ["--version"], ["serve", "--help"]):
        ran = subprocess.run(
            [sys.executable, "-c", script, *words], capture_output=True, text=True, check=True
        )
        assert ran.stdout.splitlines()[-1] == "[]", words


def test_commands_open_the_packages_own_connections(
    cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyarrow would import pandas, and an integration Polars and ADBC's driver manager: 0.3 s of a comparison."""
    asked: list[type] = []
    monkeypatch.setattr("informix_arrow.connection.connection_class", lambda own: asked.append(own) or own)
    assert cli("tables", url).code == 0
    assert asked == []


@pytest.mark.parametrize("name", [name for name in commands() if name not in ("serve", "demo")])
def test_each_command_shows_an_example(name: str, cli: Cli) -> None:
    ran = cli(name, "--help")
    assert ran.code == 0
    assert f"informix-arrow {name}" in ran.out.partition("example:")[2]


def test_the_version_is_reported(cli: Cli) -> None:
    from informix_arrow import __version__

    assert cli("--version").out == f"informix-arrow {__version__}\n"
    assert cli("nonsense").code == 2


def test_a_module_of_python_is_the_command_line_too() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "informix_arrow", "--version"], capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("informix-arrow ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_each_command_and_its_options(shell: str, cli: Cli) -> None:
    ran = cli("completion", shell)
    assert ran.code == 0
    for name in commands():
        assert name in ran.out
    assert ("-l password-file" if shell == "fish" else "--password-file") in ran.out


def test_bash_completes(cli: Cli) -> None:
    script = cli("completion", "bash").out
    ask = 'COMP_WORDS=(informix-arrow query --form); COMP_CWORD=2; _informix_arrow; echo "${COMPREPLY[@]}"'
    run = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True, timeout=60)
    assert (run.stdout.strip(), run.stderr) == ("--format", "")


@pytest.mark.parametrize(
    ("closed", "why"), [(">&-", "Bad file descriptor"), ("> /dev/full", "No space left on device")]
)
def test_output_that_nobody_can_have_is_an_error(closed: str, why: str) -> None:
    """The file descriptor of the closed output is not given to the next file or socket."""
    command = f"{sys.executable} -m informix_arrow completion bash {closed}"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    assert run.stderr.replace("standard output: ", "") == f"informix-arrow: {why}\n"


Split = Callable[[str], list[tuple[int, str]]]


def test_scripts_are_cut_at_semicolons_that_end_statements() -> None:
    script = """-- first; not this
CREATE TABLE a (b CHAR(1)); ;
INSERT INTO a VALUES (';');
{ a comment; }
CREATE PROCEDURE p()
    DEFINE x INT;
    LET x = 1; -- END PROCEDURE of another
    IF x = 1 THEN LET x = 2; END IF;
END PROCEDURE;
create dba function if not exists f() returning int; return 1; end function
DOCUMENT 'a; b';
CREATE PROCEDURE FROM 'file';
SELECT "it's; fine" FROM a
"""
    found = list(split(script))
    assert [each.line for each in found] == [2, 3, 5, 10, 12, 13]
    assert found[1] == Statement("INSERT INTO a VALUES (';')", 3)
    assert found[2].text.endswith("END PROCEDURE")
    assert found[3].text.endswith("DOCUMENT 'a; b'")
    assert found[5].text == 'SELECT "it\'s; fine" FROM a'


def test_a_reader_that_goes_away_ends_a_command_quietly(server_process: str) -> None:
    environment = {**os.environ, "INFORMIX_ARROW_URL": server_process}
    many = "SELECT a.tabname, b.tabname, c.tabname FROM systables a, systables b, systables c"
    command = [sys.executable, "-m", "informix_arrow", "query", many]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_a_verb_and_has_an_example_that_parses(
    cli: Cli, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = cli(name, "--help").out
    usage, described, rest = (
        shown.partition("\n\n")[0],
        shown.split("\n\n")[1],
        shown.partition("example:\n")[2],
    )
    assert usage.startswith(f"usage: informix-arrow {name}")
    assert described.split()[0].lower() == COMMANDS[name].summary.split()[0]
    assert described.endswith(".")
    assert all(line.lstrip().startswith(_HELP_VERBS) for line in [COMMANDS[name].summary])
    examples = [line for line in rest.replace("\\\n", " ").splitlines() if "informix-arrow " in line]
    assert examples
    for line in examples:
        words = shlex.split(line.partition("informix-arrow ")[2].rstrip(")"))
        words = words[: words.index(">")] if ">" in words else words
        assert parser().parse_args(words).run


_HELP_VERBS = (
    "run", "load", "write", "copy", "stream", "export", "import", "compare", "list", "show", "log in", "check", "print",
    "translate",
)  # fmt: skip
