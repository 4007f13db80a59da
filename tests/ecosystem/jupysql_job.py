"""Uses jupysql in a notebook on the database at the given URL. test_jupysql.py runs it where jupysql is installed.

Each cell's result is printed as JSON, a line for each.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

url = sys.argv[1]
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "sql")
shell.run_line_magic("config", "SqlMagic.displaylimit = 0")
shell.run_line_magic("config", "SqlMagic.feedback = 0")
shell.run_line_magic("config", "SqlMagic.named_parameters = 'enabled'")


def report(what: str, found: object) -> None:
    print("result " + json.dumps({what: found}, default=str), flush=True)


def line(text: str) -> Any:
    return shell.run_line_magic("sql", text)


def cell(options: str, text: str) -> Any:
    return shell.run_cell_magic("sql", options, text)


def rows(result: Any) -> list[list[Any]]:
    return [list(row) for row in result]


line(f"{url} --alias stores")
report("rows", rows(line("SELECT id, customer, total, day, paid FROM orders ORDER BY id")))
report(
    "informix",
    rows(
        line(
            "SELECT FIRST 1 id, 'abc'[2,2], MDY(2, 29, 2024) FROM orders WHERE total IS NOT NULL ORDER BY 1 DESC"
        )
    ),
)
shell.user_ns["least"] = 2
report("variable", rows(line("SELECT id FROM orders WHERE id >= {{least}} ORDER BY id")))
report("parameter", rows(line("SELECT id FROM orders WHERE id >= :least ORDER BY id")))

polars = line("SELECT id, total, day FROM orders ORDER BY id").PolarsDataFrame()
report("polars", [rows(polars.iter_rows()), [str(each) for each in polars.dtypes]])
pandas = line("SELECT id, total, day FROM orders ORDER BY id").DataFrame()
report("pandas", [list(pandas["id"]), list(pandas.columns)])
shell.run_line_magic("config", "SqlMagic.autopolars = True")
report("autopolars", type(line("SELECT id FROM orders")).__module__.partition(".")[0])
shell.run_line_magic("config", "SqlMagic.autopolars = False")

cell("--save paid --no-execute", "SELECT id, customer, total FROM orders WHERE paid = 't'")
cell("--save large --with paid --no-execute", "SELECT id, total FROM paid WHERE total > 10")
report("with", rows(cell("--with paid", "SELECT COUNT(*) FROM paid")))
report("with of with", rows(cell("--with large", "SELECT id, total FROM large ORDER BY id")))
report("name in quotes", rows(cell("--with large", 'SELECT "id", "total" FROM "large"')))
report("found by its name", rows(cell("", "SELECT MAX(id) FROM large")))
report("snippet", str(shell.run_line_magic("sqlcmd", "snippets large")))

report("tables", [list(each) for each in shell.run_line_magic("sqlcmd", "tables")._table.rows])
report("columns", [each[:1] for each in shell.run_line_magic("sqlcmd", "columns --table orders")._table.rows])
report("view", [each[:1] for each in shell.run_line_magic("sqlcmd", "columns --table valued")._table.rows])
profile = shell.run_line_magic("sqlcmd", "profile --table orders")._table.rows
report(
    "profile",
    [
        [each if each == each else None for each in row]
        for row in profile
        if row[0] in ("count", "min", "max")
    ],
)

report("written", rows(line("INSERT INTO orders (id, customer) VALUES (9, 'neu')") or []))
report("after", rows(line("SELECT customer FROM orders WHERE id = 9")))
shell.user_ns["frame"] = pandas[["id"]]
line("--persist frame --no-index")
report("persisted", rows(line("SELECT * FROM frame ORDER BY id")))
cell("into <<", "SELECT id FROM orders WHERE id = 1")
report("assigned", rows(shell.user_ns["into"]))
