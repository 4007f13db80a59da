"""The server quotes all values that it inserts into SQL text by the functions for that, unless they are SQL themselves.

The texts are found in the source: each f-string that looks like SQL, and the expressions in its braces. A name that
comes from elsewhere (a parameter) cannot be traced: it is in the list below, with the reason why it is safe.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import informix_arrow.server

ROOT = Path(informix_arrow.server.__file__).parent
LAYERS = ("catalog", "session", "routines")

SQL = re.compile(
    r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|DROP|ALTER|ATTACH|DETACH|FROM|WHERE|JOIN|CAST\(|SET|VALUES|USE|"
    r"DESCRIBE|ORDER BY|GROUP BY|LIMIT|RENAME|AND|CASE)\b"
)

QUOTING = frozenset({"double_quoted", "quote_string", "value_sql", "duck_database"})
"""Functions whose value is quoted, or a literal."""

TYPES = frozenset({"storage_type", "duck_type", "int", "len"})
"""Functions whose value contains no text of a user: names of DuckDB's types, numbers."""

SQL_ATTRIBUTES = frozenset(
    {"duck_name", "duck_sql", "quoted_alias", "sql", "keyed", "with_row_ids", "select_overlapping"}
)
"""Attributes that are SQL: the quoted name of a table, a translated expression, texts of a plan."""

MAKERS = frozenset(
    {
        "index_name",
        "key_part",
        "key_text",
        "parent_name",
        "same_key_condition",
        "parent_condition",
        "table_word",
        "literal",
        "key_column_names",
        "assign",
        "condition",
        "_hidden_schema",
        "_table",
        "_tables",
        "_triggers",
        "_commits",
        "_orphan_condition",
    }
)
"""Functions of the server that make SQL. The f-strings in them are checked like all others."""

REASONS = {
    ("catalog/schema_routines.py", "procid"): "the caller's own text: a column of the catalogue or a number",
    ("catalog/schema_routines.py", "attribute_list"): "numbers of the source",
    ("catalog/catalog.py", "db"): "the callers' duck_database(database)",
    ("catalog/catalog.py", "number"): "an expression of the source",
    ("catalog/catalog.py", "table"): "the callers' duck_database(database), and names of the source",
    ("catalog/system_catalog.py", "db"): "the callers' duck_database(database)",
    ("catalog/hidden_schema.py", "db"): "the callers' duck_database(database)",
    ("catalog/stored_objects.py", "places"): "numbers of objects",
    ("catalog/capture_tables.py", "', '.join(rows)"): "numbers and texts of the source",
    ("catalog/capture_tables.py", "columns"): "names of the source",
    ("catalog/system_views.py", "db"): "the callers' duck_database(database)",
    ("catalog/system_views.py", "tables"): "SQL of the source with a quoted name",
    ("session/ddl/duck_tables.py", "target"): "the callers' quoted name",
    ("session/ddl/duck_tables.py", "name"): "quoted when it was made",
    ("session/ddl/duck_tables.py", "schema"): "what stands before the point in a quoted name",
    ("session/ddl/indexes.py", "schema"): "what stands before the point in a quoted name",
    ("session/ddl/duck_tables.py", "', '.join(expressions)"): "translated expressions",
    ("session/ddl/sequences.py", "settings['increment']"): "a number: the grammar reads nothing else",
    ("session/ddl/sequences.py", "settings['low']"): "a number: the grammar reads nothing else",
    ("session/ddl/sequences.py", "settings['high']"): "a number: the grammar reads nothing else",
    ("session/ddl/sequences.py", "begin"): "a number: the grammar reads nothing else",
    ("session/ddl/duck_tables.py", "sql"): "the translated query",
    ("session/ddl/object_modes.py", "what"): "the text of an error, not SQL",
    ("session/ddl/tables.py", "statement.kind"): "the text of an error, not SQL",
    ("catalog/empty_tables.py", "zeros(declared, {})"): "texts of the source",
    ("catalog/empty_tables.py", "', '.join((repr(name) for name in _PROFILE))"): "texts of the source",
    (
        "catalog/empty_tables.py",
        "zeros(_SESSION_PROFILE, {'sid': 's.sid', 'locksheld': _HELD})",
    ): "texts of the source",
    (
        "catalog/empty_tables.py",
        "zeros(_PARTITION_COUNTERS, {'partnum': 'n.partnum'})",
    ): "texts of the source",
    ("session/duck_instance.py", "setting or name"): "names of settings in the source",
    ("session/duck_instance.py", "name"): "names of settings in the source",
    ("session/duck_instance.py", "value"): "quoted where the settings are listed",
    ("session/insert.py", "', '.join(map(str, expressions))"): "translated expressions of the plan",
    ("session/isolation.py", "row_ids"): "the translated query of a plan for the identities of its rows",
    ("session/statement_planner.py", "sql"): "the translated query",
    (
        "routines/sql_compiler.py",
        "sql",
    ): "Informix's text, which is parsed and translated, or its translation",
}
"""Reasons why expressions that cannot be traced in their function are safe, by file and expression."""

PLANNING = ("types", "plan")
"""Layers that make SQL from parsed statements."""

RAW = frozenset(
    {
        *(
            "name",
            "this",
            "alias",
            "alias_or_name",
            "output_name",
            "db",
            "catalog",
            "owner",
            "text",
            "raw",
            "near",
        ),
        *("table", "column", "database", "word", "words", "value"),
    }
)
"""Attributes of parsed statements and catalogue objects that contain a user's text."""

PASSED_ON = frozenset(
    {"upper", "lower", "strip", "rstrip", "lstrip", "replace", "join", "format", "get", "str", "repr"}
)
"""Functions that return a user's text if they receive one."""

RAW_REASONS = {
    (
        "plan/nodes/case_and_cast.py",
        "function",
    ): "one of three words of the source; the position only chooses it",
    ("plan/nodes/windows.py", "name"): "one of the functions of this file: any other is -674",
    ("plan/nodes/windows.py", "word"): "one of the functions of this file: any other is -674",
    ("plan/nodes/windows.py", "side"): "PRECEDING or FOLLOWING: the grammar reads nothing else",
    ("plan/nodes/windows.py", "text"): "UNBOUNDED or CURRENT ROW, or a translated expression",
    (
        "plan/nodes/windows.py",
        "str(spec.args['kind']).upper()",
    ): "ROWS or RANGE: the grammar reads nothing else",
    ("plan/modify_plan.py", "c.name"): "quoted with what stands before it",
    ("plan/values/nested.py", "TypeCode(t.code).name"): "a word of the source",
    ("types/conversions.py", "Field(start).name"): "a word of the source",
}
"""Reasons why expressions that look like a user's text are safe, by file and expression."""


class Function:
    """The known assignments to names in one function, and in those around it."""

    def __init__(self, node: ast.AST, around: Function | None) -> None:
        self.around = around
        self.values: dict[str, list[ast.expr | None]] = {}  # None: unknown
        self.numbers: set[str] = set()
        arguments = getattr(node, "args", None)
        if isinstance(arguments, ast.arguments):
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                if argument.annotation is not None and ast.unparse(argument.annotation) == "int":
                    self.numbers.add(argument.arg)
                else:
                    self.values.setdefault(argument.arg, []).append(None)
        for inner in self.own(node):
            if isinstance(inner, ast.Assign):
                for target in inner.targets:
                    self.assign(target, inner.value)
            elif isinstance(inner, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and inner.value is not None:
                self.assign(inner.target, inner.value)
            elif isinstance(inner, (ast.For, ast.comprehension)):
                self.loop(inner.target, inner.iter)
            elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                if inner.func.attr == "append" and isinstance(inner.func.value, ast.Name) and inner.args:
                    self.values.setdefault(inner.func.value.id, []).append(inner.args[0])
            elif isinstance(inner, ast.withitem) and isinstance(inner.optional_vars, ast.Name):
                self.values.setdefault(inner.optional_vars.id, []).append(None)

    @staticmethod
    def own(node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes of a function, but not of functions inside it."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
                continue
            yield child
            yield from Function.own(child)

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            same = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
            for number, part in enumerate(target.elts):
                if same:
                    self.assign(part, value.elts[number])  # type: ignore[attr-defined]
                elif isinstance(part, ast.Name):
                    self.values.setdefault(part.id, []).append(None)

    def loop(self, target: ast.expr, over: ast.expr) -> None:
        called = _called(over) if isinstance(over, ast.Call) else ""
        if called == "range" and isinstance(target, ast.Name):
            self.numbers.add(target.id)
        elif called == "enumerate" and isinstance(target, ast.Tuple) and isinstance(over, ast.Call):
            counter, item = target.elts
            assert isinstance(counter, ast.Name)
            self.numbers.add(counter.id)
            self.loop(item, over.args[0])
        elif called == "zip" and isinstance(target, ast.Tuple) and isinstance(over, ast.Call):
            for part, source in zip(target.elts, over.args, strict=True):
                self.loop(part, source)
        else:
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    item = over if isinstance(target, ast.Name) else None
                    self.values.setdefault(name.id, []).append(item)

    def is_safe(self, node: ast.expr | None, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether the value of an expression is quoted, a literal, a number, or SQL."""
        if node is None:
            return False
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            return True  # the expressions in an f-string's braces are checked separately
        if isinstance(node, ast.Name):
            return self.name_is_safe(node.id, seen)
        if isinstance(node, ast.Attribute):
            return node.attr in SQL_ATTRIBUTES
        if isinstance(node, ast.BinOp):
            arithmetic = isinstance(node.op, (ast.Mult, ast.Sub))  # of numbers, or a repeated text
            return arithmetic or (self.is_safe(node.left, seen) and self.is_safe(node.right, seen))
        if isinstance(node, ast.IfExp):
            return self.is_safe(node.body, seen) and self.is_safe(node.orelse, seen)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return all(self.is_safe(part, seen) for part in node.elts)
        if isinstance(node, ast.Starred):
            return self.is_safe(node.value, seen)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.is_safe(node.elt, seen)
        if isinstance(node, ast.Call):
            return self.call_is_safe(node, seen)
        return False

    def name_is_safe(self, name: str, seen: frozenset[str]) -> bool:
        if name in seen or name in self.numbers or name.lstrip("_").isupper():
            return True  # in capitals: a constant of the source
        if name in self.values:
            return all(self.is_safe(value, seen | {name}) for value in self.values[name])
        return self.around is not None and self.around.name_is_safe(name, seen)

    def call_is_safe(self, node: ast.Call, seen: frozenset[str]) -> bool:
        called = _called(node)
        if called in QUOTING | TYPES | MAKERS:
            return True
        if called == "format":  # called on a constant
            return all(self.is_safe(part, seen) for part in (node.func.value, *node.args))  # type: ignore[attr-defined]
        if called == "join":
            return self.is_safe(node.args[0], seen)
        if called == "map":
            return isinstance(node.args[0], ast.Name) and node.args[0].id in QUOTING
        if called in ("upper", "lower", "strip") and isinstance(node.func, ast.Attribute):
            return self.is_safe(node.func.value, seen)
        if called == "fromkeys":
            return self.is_safe(node.args[0], seen)
        return False

    def is_raw(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether the value of an expression may contain a user's text without change."""
        if isinstance(node, ast.Name):
            if node.id in seen:
                return False
            if node.id in self.values:
                made = self.values[node.id]
                return any(value is not None and self.is_raw(value, seen | {node.id}) for value in made)
            return self.around is not None and self.around.is_raw(node, seen)
        if isinstance(node, ast.Attribute):
            return node.attr in RAW
        if isinstance(node, ast.Subscript):
            return self.is_args(node.value) or self.is_raw(node.value, seen)
        if isinstance(node, ast.Call):
            if _called(node) not in PASSED_ON:
                return False
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            given = [*node.args, *([] if owner is None else [owner])]
            return any(self.is_raw(part, seen) or self.is_args(part) for part in given)
        if isinstance(node, ast.IfExp):
            return self.is_raw(node.body, seen) or self.is_raw(node.orelse, seen)
        if isinstance(node, (ast.JoinedStr, ast.Compare, ast.Constant)):
            return False  # the expressions in an f-string's braces are checked separately
        return any(
            self.is_raw(part, seen) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)
        )

    @staticmethod
    def is_args(node: ast.expr) -> bool:
        """Return whether this is the dict with the parts of a parsed node."""
        return isinstance(node, ast.Attribute) and node.attr == "args"


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _functions(node: ast.AST, around: Function | None) -> Iterator[tuple[ast.AST, Function]]:
    here = Function(node, around)
    yield node, here
    for child in _inner_functions(node):
        yield from _functions(child, here)


def _inner_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            yield child
        else:
            yield from _inner_functions(child)


def interpolations(source: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the line of each expression that is inserted into SQL text, the expression, and whether it is safe."""
    for node, function in _functions(ast.parse(source), None):
        for inner in Function.own(node):
            if not isinstance(inner, ast.JoinedStr):
                continue
            shown = "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in inner.values)
            if not SQL.search(shown):
                continue
            for value in inner.values:
                if isinstance(value, ast.FormattedValue):
                    yield inner.lineno, ast.unparse(value.value), function.is_safe(value.value)


def raw_interpolations(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of expressions with a user's text in f-strings, except in those of errors."""
    tree = ast.parse(source)
    reported: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _called(node) == "SqlError"):
            reported.update(map(id, ast.walk(node)))
    for node, function in _functions(tree, None):
        for inner in Function.own(node):
            if isinstance(inner, ast.JoinedStr) and id(inner) not in reported:
                for value in inner.values:
                    if isinstance(value, ast.FormattedValue) and function.is_raw(value.value):
                        yield inner.lineno, ast.unparse(value.value)


@cache
def everything() -> list[tuple[str, int, str, bool]]:
    return list(_everything())


def _everything() -> Iterator[tuple[str, int, str, bool]]:
    for layer in LAYERS:
        for file in sorted((ROOT / layer).rglob("*.py")):
            name = str(file.relative_to(ROOT))
            for line, expression, safe in interpolations(file.read_text(encoding="utf-8")):
                yield name, line, expression, safe


@pytest.mark.slow
def test_nothing_stands_in_sql_without_its_quotes() -> None:
    all_of_them = everything()
    assert len(all_of_them) > 300
    odd = [
        (file, line, what)
        for file, line, what, safe in all_of_them
        if not safe and (file, what) not in REASONS
    ]
    assert odd == [], "bind the value, quote the name (types/quoting.py), or say above why it is safe"


def test_every_reason_is_needed() -> None:
    unsafe = {(file, what) for file, _, what, safe in everything() if not safe}
    assert set(REASONS) - unsafe == set()


@pytest.mark.parametrize(
    ("source", "safe"),
    [
        ("def f(con, name): con.execute(f'DROP TABLE {name}')", False),
        ("def f(con, name): con.execute(f'DROP TABLE {double_quoted(name)}')", True),
        (
            "def f(con, name):\n    table = double_quoted(name)\n    con.execute(f'DROP TABLE {table}')",
            True,
        ),
        ("def f(con, name):\n    table = name.lower()\n    con.execute(f'DROP TABLE {table}')", False),
        (
            "def f(con, names): con.execute(f'SELECT {', '.join(names)} FROM t')".replace("', '", '", "'),
            False,
        ),
        (
            "def f(con, names): con.execute(f'SELECT {\", \".join(map(double_quoted, names))} FROM t')",
            True,
        ),
        (
            "def f(con, names): con.execute(f'SELECT {\", \".join(double_quoted(n) for n in names)} FROM t')",
            True,
        ),
        ("def f(con, names): con.execute(f'SELECT {\", \".join(n for n in names)} FROM t')", False),
        ("def f(con, number: int): con.execute(f'SELECT {number} FROM t')", True),
        ("def f(con, info): con.execute(f'SELECT 1 FROM {info.duck_name}')", True),
        ("def f(con, info): con.execute(f'SELECT 1 FROM {info.name}')", False),
        (
            "def f(con, t):\n    where = ''\n    where += t.text\n    con.execute(f'SELECT 1 FROM t WHERE {where}')",
            False,
        ),
        ("def f(con, name):\n    def g(): con.execute(f'DROP TABLE {name}')\n    g()", False),
        ("def f(con, rows):\n    for name, in rows: con.execute(f'DROP TABLE {name}')", False),
        ("def f(con, rows):\n    for i, row in enumerate(rows): con.execute(f'SELECT c{i} FROM t')", True),
    ],
)
def test_the_scan_distinguishes_what_is_quoted_from_what_is_not(source: str, safe: bool) -> None:
    ((_, _, reported),) = interpolations(source)
    assert reported is safe


@pytest.mark.slow
def test_nothing_that_a_user_wrote_goes_into_translated_sql_as_it_was_written() -> None:
    found = {
        (str(file.relative_to(ROOT)), what): line
        for layer in PLANNING
        for file in sorted((ROOT / layer).rglob("*.py"))
        for line, what in raw_interpolations(file.read_text(encoding="utf-8"))
    }
    odd = [(file, line, what) for (file, what), line in found.items() if (file, what) not in RAW_REASONS]
    assert odd == [], "bind the value, quote the name (types/quoting.py), or say above why it is safe"
    assert set(RAW_REASONS) - set(found) == set(), "reasons that are not needed any more"


@pytest.mark.parametrize(
    ("source", "raw"),
    [
        ("def f(node): return f'x({node.name})'", True),
        ("def f(node): return f'x({double_quoted(node.name)})'", False),
        ("def f(node):\n    word = node.this.lower()\n    return f'x({word})'", True),
        ("def f(node):\n    word = double_quoted(node.this.lower())\n    return f'x({word})'", False),
        ("def f(node): return f'x({node.args[\"kind\"]})'", True),
        ("def f(node): return f'x({str(node.args.get(\"kind\")).upper()})'", True),
        ("def f(node): return f'x({\", \".join(c.name for c in node.columns)})'", True),
        ("def f(node): return f'x({\", \".join(double_quoted(c.name) for c in node.columns)})'", False),
        ('def f(node): return f\'x({"a" if node.name else "b"})\'', False),
        ("def f(node): return f'x({node.name if node.name else \"b\"})'", True),
        ("def f(node):\n    def g(): return f'{word}'\n    word = node.alias\n    return g", True),
        ("def f(node): raise SqlError(-201, 0, 0, f'what is {node.name}')", False),
        ("def f(tr, node): return f'x({tr.expr(node.this).sql})'", False),
    ],
)
def test_the_scan_distinguishes_what_a_user_wrote_from_what_was_made_of_it(source: str, raw: bool) -> None:
    assert bool(list(raw_interpolations(source))) is raw
