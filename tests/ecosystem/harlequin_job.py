"""Drives Harlequin on an Informix database. test_harlequin.py runs it where Harlequin is installed.

Argument: the URL of a database with the tables ``orders``, ``many`` and ``kinds``. The screen's content is printed as
JSON, a line for each step.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

from harlequin import Harlequin
from harlequin.components import ResultsTable
from harlequin.plugins import load_adapter
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Button

SLOW = "SELECT COUNT(*) FROM many a, many b, many c, many d"


class Driven:
    """Harlequin's app, its messages and a pilot that sends keys."""

    def __init__(self, app: Harlequin) -> None:
        self.app = app
        self.messages: list[Message] = []
        self.pilot: Pilot[Any]

    async def until(self, seen: Callable[[], Any]) -> Any:
        """Wait until ``seen()`` returns something true and return it. The test's time limit ends the wait."""
        while not (found := seen()):
            await self.pilot.pause(0.02)
        return found

    def message(self, kind: str) -> Any:
        """Return the first message of a kind, None if there was none."""
        return next((each for each in self.messages if type(each).__name__ == kind), None)

    def count(self, kind: str) -> int:
        """Return the number of messages of a kind."""
        return len({id(each) for each in self.messages if type(each).__name__ == kind})

    async def child(self, node: Any, label: str) -> Any:
        """Return a child of a node of the tree, once it exists."""
        node.expand()
        return await self.until(
            lambda: next((each for each in node.children if str(each.label).split(" ")[0] == label), None)
        )

    async def start(self, text: str) -> None:
        """Type statements into the editor, and run them."""
        self.messages.clear()
        self.app.editor.text = text
        self.app.editor.focus()
        await self.pilot.press("ctrl+a", "ctrl+j")

    async def error(self) -> str:
        """Return the text of the error on the screen, and dismiss it."""
        await self.until(lambda: len(self.app.screen_stack) > 1)
        self.app.pop_screen()
        return str(self.message("QueryError").error)

    async def run(self, text: str) -> list[Any]:
        """Run statements. Return the Arrow tables of their results, or the text of an error."""
        await self.start(text)
        done = await self.until(
            lambda: self.message("QueriesExecuted")
        )  # also sent after an error, which arrives first
        if self.message("QueryError") is not None:
            return [await self.error()]
        if not done.cursors:
            return []
        fetched = await self.until(lambda: self.message("ResultsFetched"))
        failed = [str(error) for error, _ in fetched.errors]
        return failed or [result.arrow_table() for result in fetched.results.values()]


def report(what: str, found: object) -> None:
    print(json.dumps({what: found}, default=str), flush=True)


def rows(tables: list[Any]) -> list[Any]:
    return [[list(row.values()) for row in table.to_pylist()] for table in tables]


async def main(url: str) -> None:
    app = Harlequin(
        adapter=load_adapter("informix")(conn_str=[url]), connection_hash="", record_history=False
    )
    it = Driven(app)
    async with app.run_test(size=(160, 40), message_hook=it.messages.append) as it.pilot:
        await it.until(lambda: app.connection)
        shop = await it.child(app.data_catalog.database_tree.root, "shop")
        orders = await it.child(shop, "orders")
        report("relations", [str(each.label) for each in shop.children])
        await it.child(orders, "sentinel")
        report("columns", [str(each.label) for each in orders.children])

        found = await it.run("SELECT * FROM orders ORDER BY id; SELECT COUNT(*) c FROM orders;")
        report("rows", rows(found))
        report("types", [str(field.type) for field in found[0].schema])
        shown = await it.until(lambda: [table for table in app.query(ResultsTable) if table.row_count == 3])
        report("shown", [shown[0].get_row_at(row)[1] for row in range(3)])
        report("none", rows(await it.run("SELECT id FROM orders WHERE id < 0")))
        [kinds] = await it.run("SELECT * FROM kinds")
        wide = await it.until(
            lambda: [table for table in app.query(ResultsTable) if table.column_count == kinds.num_columns]
        )
        wide[0].render()
        report("kinds", [kinds.num_columns, wide[0].row_count, wide[0].get_row_at(0)[-1]])
        report("error", await it.run("SELECT * FROM nowhere; DELETE FROM orders"))

        app.action_toggle_transaction_mode()
        mode = app.query_one("#transaction_button", Button)
        await it.until(lambda: "Manual" in str(mode.label))
        await it.run("INSERT INTO orders VALUES (4, 'new', 1, 7); CREATE TABLE made (sentinel INT)")
        report(
            "within", rows(await it.run("SELECT COUNT(*) c FROM orders; COMMIT; SELECT COUNT(*) c FROM made"))
        )
        await it.run("DELETE FROM orders")
        app.action_toggle_transaction_mode()
        await it.until(lambda: len(app.screen_stack) > 1)
        report("still", str(mode.label))
        app.pop_screen()
        app.action_rollback_transaction()
        await it.until(lambda: not app.connection.driver.in_transaction)
        report("after", rows(await it.run("SELECT COUNT(*) c FROM orders")))

        await it.start(SLOW)
        while it.message("QueriesExecuted") is None:  # a cancel before the statement does nothing
            before = it.count("QueriesCanceled")
            app.action_cancel_query()
            await it.until(lambda before=before: it.count("QueriesCanceled") > before)
            await it.pilot.pause(0.05)
        report("canceled", await it.error())
        report("usable", rows(await it.run("SELECT 7 FROM systables WHERE tabid = 1")))
        connection = app.connection.driver
        await app.action_quit()
        report("closed", connection.closed)


asyncio.run(main(sys.argv[1]))
