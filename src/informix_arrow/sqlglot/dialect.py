"""The dialects that sqlglot knows as "informix" and "informix_delimited".

A statement that they read is an `Informix..` node (a subclass of sqlglot's own: `isinstance(tree, exp.Select)` holds).
No generator of sqlglot knows these classes. They are registered with one function, which translates the statement for
the database of the generator, or raises UnsupportedError. So no Informix SQL gets into the text of another database
untranslated.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

from sqlglot import exp, generator
from sqlglot.errors import ErrorLevel, ParseError, TokenError, UnsupportedError
from sqlglot.tokens import Token, TokenType

from ..server.errors import SqlError
from ..server.parse import dialect_nodes
from ..server.parse.classify import classify
from ..server.parse.clauses import reject_foreign_clauses
from ..server.parse.dialect import InformixDelimitedTokenizer, InformixExact
from ..server.parse.dialect_parser import InformixParser
from ..wire.errors import error_info
from ..wire.types import ColumnType
from .definitions import Definitions, learn
from .queries import Catalogue, Queries
from .targets import TARGETS
from .writer import InformixWriter, prepared

CATALOGUE = "informix tables"
"""Key of the known tables in the meta of a statement."""


class InformixStatement:
    """Mark of the nodes that stand for a statement of Informix."""


class InformixSelect(exp.Select, InformixStatement):  # type: ignore[misc]
    """A SELECT of Informix."""


class InformixUnion(exp.Union, InformixStatement):  # type: ignore[misc]
    """A UNION of Informix."""


class InformixExcept(exp.Except, InformixStatement):  # type: ignore[misc]
    """A MINUS of Informix."""


class InformixIntersect(exp.Intersect, InformixStatement):  # type: ignore[misc]
    """An INTERSECT of Informix."""


class InformixInsert(exp.Insert, InformixStatement):  # type: ignore[misc]
    """An INSERT of Informix."""


class InformixUpdate(exp.Update, InformixStatement):  # type: ignore[misc]
    """An UPDATE of Informix."""


class InformixDelete(exp.Delete, InformixStatement):  # type: ignore[misc]
    """A DELETE of Informix."""


class InformixMerge(exp.Merge, InformixStatement):  # type: ignore[misc]
    """A MERGE of Informix."""


class InformixSubquery(exp.Subquery, InformixStatement):  # type: ignore[misc]
    """A query in parentheses as a statement."""


class InformixDefinition(exp.Expression, InformixStatement):  # type: ignore[misc]
    """A statement that is neither a query nor a data change; this = its text, delimited = DELIMIDENT was set."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "delimited": False}


_CLASSES: dict[type[Any], type[Any]] = {
    exp.Select: InformixSelect,
    exp.Union: InformixUnion,
    exp.Except: InformixExcept,
    exp.Intersect: InformixIntersect,
    exp.Insert: InformixInsert,
    exp.Update: InformixUpdate,
    exp.Delete: InformixDelete,
    exp.Merge: InformixMerge,
    exp.Subquery: InformixSubquery,
}
_PLAIN = {special: plain for plain, special in _CLASSES.items()}
_OWN_NODES = [
    kind
    for kind in vars(dialect_nodes).values()
    if isinstance(kind, type)
    and issubclass(kind, exp.Expression)
    and kind.__module__ == dialect_nodes.__name__
]


def _marked(tree: exp.Expression) -> exp.Expression:
    """Return a statement with Informix's classes in place of sqlglot's, in all its queries."""
    for node in list(tree.walk()):
        special = _CLASSES.get(type(node))
        if special is not None and (
            node is tree or (isinstance(node, exp.Query) and not isinstance(node, exp.Subquery))
        ):
            tree = _with_class(tree, node, special)
    return tree


def _with_class(tree: exp.Expression, node: exp.Expression, kind: type[exp.Expression]) -> exp.Expression:
    """Give a node of a tree another class, and return the tree."""
    made = kind(**node.args)
    made.meta.update(node.meta)
    if node is tree:
        return made
    node.replace(made)
    return tree


def _unmarked(tree: exp.Expression) -> exp.Expression:
    """Return a copy of a statement with sqlglot's own classes."""
    tree = tree.copy()
    for node in list(tree.walk()):
        plain = _PLAIN.get(type(node))
        if plain is not None:
            tree = _with_class(tree, node, plain)
    return tree


# ---- generators of other databases ----------------------------------------------------------------------------
def translated(tree: exp.Expression, to: str, **options: Any) -> str:
    """Return the SQL of a statement of Informix for a database."""
    target = TARGETS.get(to)
    if target is None:
        raise UnsupportedError(
            f"Informix's SQL cannot be translated to {to or 'no database'}, only to {', '.join(TARGETS)}."
        )
    known = dict(tree.meta.get(CATALOGUE) or {})
    if isinstance(tree, InformixDefinition):
        text, delimited = str(tree.this), bool(tree.args.get("delimited"))
        try:
            _, parsed = classify(text, delimited)
        except SqlError as error:
            raise UnsupportedError(
                f"Informix or this dialect does not have this statement (SQLCODE {error.sqlcode}, position "
                f"{error.offset})."
            ) from None
        dialect = InformixDelimited if delimited else Informix

        def parse_query(sql: str) -> exp.Expression:
            return _unmarked(dialect().parse(sql)[0])

        found = Definitions(target, known, parse_query).translate(parsed, text)
        comment = (
            f"/* left out: {'; '.join(found.left_out)} */ ".replace("*/ */", "*/") if found.left_out else ""
        )
        return f"{comment}{found.sql}"
    try:
        made = Queries(target, known).statement(_unmarked(tree))
    except RecursionError:
        raise UnsupportedError("The statement is nested too deeply to be translated.") from None
    options["unsupported_level"] = ErrorLevel.RAISE
    return str(made.sql(dialect=to, **options))


def _generate(writer: Any, node: exp.Expression) -> str:
    """Generate a statement with the generator of any database."""
    if isinstance(writer, InformixWriter):
        if isinstance(node, InformixDefinition):
            return str(node.this)
        return str(writer.sql(_unmarked(node)))
    to = type(writer.dialect).__name__.lower()
    pretty = bool(getattr(writer, "pretty", False))
    return translated(node, to, pretty=pretty, identify=writer.identify, comments=writer.comments)


def _refuse(writer: Any, node: exp.Expression) -> str:
    raise UnsupportedError(
        f"{type(node).__name__} of Informix has no equivalent by itself. Translate the whole statement."
    )


def _subclasses(kind: type[Any]) -> list[type[Any]]:
    return [kind, *(deeper for each in kind.__subclasses__() for deeper in _subclasses(each))]


def register() -> None:
    """Make the functions above known to the generators of all databases. Those that are defined later inherit them."""
    handlers = {**dict.fromkeys((*_CLASSES.values(), InformixDefinition), _generate)}
    caches = getattr(generator, "_DISPATCH_CACHE", {})
    for kind in _subclasses(generator.Generator):
        own = issubclass(kind, InformixWriter)
        missing = {
            **handlers,
            **(
                {} if own or issubclass(kind, InformixExact.Generator) else dict.fromkeys(_OWN_NODES, _refuse)
            ),
        }
        if InformixSelect not in kind.TRANSFORMS:
            kind.TRANSFORMS.update(
                {node: handler for node, handler in missing.items() if node not in kind.TRANSFORMS}
            )
            caches.pop(kind, None)


# ---- reading --------------------------------------------------------------------------------------------------
class StatementParser(InformixParser):
    """Parses statements of Informix, of which those that are no queries are kept as text until they are translated."""

    delimited = False

    def parse(self, raw_tokens: list[Token], sql: str | None = None) -> list[exp.Expression | None]:
        register()
        trees: list[exp.Expression | None] = []
        catalogue: Catalogue = {}
        text = sql or ""
        for tokens in statements(raw_tokens):
            piece = text[tokens[0].start : tokens[-1].end + 1]
            tree, catalogue = self.one(piece, tokens, text, catalogue)
            tree.meta[CATALOGUE] = catalogue
            trees.append(tree)
        return trees

    def one(
        self, piece: str, tokens: list[Token], text: str, catalogue: Catalogue
    ) -> tuple[exp.Expression, Catalogue]:
        word = tokens[0].text.upper()
        query = word in ("SELECT", "INSERT", "DELETE", "MERGE", "WITH", "(") or (
            word == "UPDATE" and tokens[1:2] and tokens[1].text.upper() != "STATISTICS"
        )
        if not query:
            definition = InformixDefinition(this=piece, delimited=self.delimited)
            try:
                after = learn(catalogue, classify(piece, self.delimited)[1])
            except SqlError:
                after = catalogue  # it is refused when it is translated
            return definition, after
        found = super().parse(tokens, text)
        tree = found[0]
        if tree is None or len(found) != 1:
            raise ParseError("A statement was expected.")
        while isinstance(tree, exp.Subquery) and tree.is_wrapper:
            tree = tree.this
        try:
            reject_foreign_clauses(tree)
        except SqlError as error:
            raise ParseError(error.detail or str(error)) from None
        into = tree.args.get("into")
        known = catalogue
        if into is not None:
            known = {n: c for n, c in catalogue.items() if n != into.this.name.lower()}
            columns = _columns_into(tree, catalogue)
            if columns:
                known[into.this.name.lower()] = columns
        marked = _marked(tree)
        return marked, known


def _columns_into(tree: exp.Expression, catalogue: Catalogue) -> dict[str, ColumnType] | None:
    """Return the columns of the table that SELECT .. INTO creates, if they are known."""
    known = dict(catalogue)
    try:
        Queries(TARGETS["postgres"], known).statement(copy.deepcopy(tree))
    except UnsupportedError:
        return None
    return known.get(tree.args["into"].this.name.lower())


_ROUTINES = ("PROCEDURE", "FUNCTION", "TRIGGER")


def statements(tokens: list[Token]) -> list[list[Token]]:
    """Split tokens at semicolons, except inside routines."""
    found: list[list[Token]] = []
    current: list[Token] = []
    for token in tokens:
        words = [t.text.upper() for t in current[:6]]
        routine = words[:1] == ["CREATE"] and any(w in _ROUTINES[:2] for w in words[1:5])
        ended = (
            len(current) > 1 and current[-2].text.upper() == "END" and current[-1].text.upper() in _ROUTINES
        )
        ended = ended or (bool(current) and current[-1].text.upper() in ("END PROCEDURE", "END FUNCTION"))
        if token.token_type == TokenType.SEMICOLON and (not routine or ended):
            if current:
                found.append(current)
            current = []
        else:
            current.append(token)
    return [*found, current] if current else found


def _is_of_informix(tree: exp.Expression) -> bool:
    """Return whether a tree was read from Informix's SQL."""
    return any(isinstance(node, (InformixStatement, *_OWN_NODES)) for node in tree.walk())


class DelimitedStatementParser(StatementParser):
    """Parses statements of a session with DELIMIDENT: double quotes enclose names."""

    delimited = True


class Informix(InformixExact):
    """IBM Informix SQL, without DELIMIDENT: double quotes enclose texts."""

    Parser = StatementParser
    Generator = InformixWriter

    def tokenize(self, sql: str, **options: Any) -> list[Token]:
        """Return the tokens of a text. Raises sqlglot's TokenError for quotes and comments that are not closed."""
        try:
            return list(super().tokenize(sql, **options))
        except SqlError as error:
            text = error_info(error.sqlcode).text
            raise TokenError(f"{text} (SQLCODE {error.sqlcode}, position {error.offset}).") from None

    def generate(self, expression: Any, copy: bool = True, **options: Any) -> str:
        """Generate SQL. The tree of another dialect is rewritten first, or refused.

        A dialect that is derived from this one makes its own trees, as Ibis does.
        """
        if type(self) not in (Informix, InformixDelimited) or _is_of_informix(expression):
            return str(super().generate(expression, copy=copy, **options))
        options["unsupported_level"] = ErrorLevel.RAISE
        return str(super().generate(prepared(expression), copy=False, **options))


class InformixDelimited(Informix):
    """IBM Informix SQL with DELIMIDENT: double quotes enclose names."""

    Tokenizer = InformixDelimitedTokenizer
    Parser = DelimitedStatementParser


register()
