"""Alembic: migrations generated from a changed model, which can be applied and reverted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.util import CommandError
from sqlalchemy import Column, Engine, ForeignKey, MetaData, Table

import informix_arrow.sqlalchemy as ifx_sa

ENV = """
from alembic import context
from sqlalchemy import create_engine

config = context.config
engine = create_engine(config.get_main_option("url"))
with engine.connect() as connection:
    context.configure(
        connection=connection, target_metadata=config.attributes["metadata"], compare_server_default=True,
    )
    with context.begin_transaction():
        context.run_migrations()
engine.dispose()
"""
SCRIPT = '''"""${message}"""
${imports if imports else ""}
from alembic import op
import sqlalchemy as sa
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = depends_on = None

def upgrade():
    ${upgrades if upgrades else "pass"}

def downgrade():
    ${downgrades if downgrades else "pass"}
'''


def before() -> MetaData:
    metadata = MetaData()
    Table(
        "customer",
        metadata,
        Column("id", sa.Integer, primary_key=True),
        Column("name", sa.String(20), nullable=False),
        Column("credit", sa.Numeric(8, 2), server_default="0"),
        Column("gone", sa.Boolean, server_default=sa.true()),
        Column("stars", sa.SmallInteger),
    )
    return metadata


def after() -> MetaData:
    metadata = MetaData()
    Table(
        "customer",
        metadata,
        Column("id", sa.Integer, primary_key=True),
        Column("name", sa.String(400)),  # longer, and nullable
        Column("credit", sa.Numeric(12, 2), server_default="5", nullable=False),
        Column("seen", sa.DateTime, server_default=sa.func.now()),
        Column("stars", sa.SmallInteger, server_default="3"),
        Column("paid", ifx_sa.MONEY(10, 2)),
        sa.UniqueConstraint("name", name="uq_customer_name"),
        sa.Index("ix_customer_stars", "stars"),
    )
    Table(
        "orders",
        metadata,
        Column("num", sa.BigInteger, primary_key=True),
        Column("customer", ForeignKey("customer.id", ondelete="CASCADE"), nullable=False),
        Column("Mixed Case", sa.Text),
        Column("state", sa.Enum("new", "grün", name="state")),
        Column("took", sa.Interval),
        sa.CheckConstraint("num > 0", name="ck_orders_num"),
    )
    return metadata


@pytest.fixture
def run(tmp_path: Path, informix_database: str) -> Callable[..., Any]:
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").write_text(ENV)
    (tmp_path / "script.py.mako").write_text(SCRIPT)

    def go(action: Callable[..., Any], metadata: MetaData, *arguments: Any, **keywords: Any) -> Any:
        config = Config()
        config.set_main_option("script_location", str(tmp_path))
        config.set_main_option("url", informix_database)
        config.set_main_option("path_separator", "os")
        config.attributes["metadata"] = metadata
        return action(config, *arguments, **keywords)

    return go


def shape(engine: Engine) -> dict[str, Any]:
    """Return everything that reflection reports about the tables."""
    inspector = sa.inspect(engine)
    names = [name for name in inspector.get_table_names() if name != "alembic_version"]
    return {
        name: (
            # sorted, as a column that is added again becomes the last one
            sorted(
                (c["name"], str(c["type"]), c["nullable"], c["default"] or "")
                for c in inspector.get_columns(name)
            ),
            inspector.get_pk_constraint(name)["constrained_columns"],
            sorted(i["name"] or "" for i in inspector.get_indexes(name)),
            sorted(u["name"] or "" for u in inspector.get_unique_constraints(name)),
        )
        for name in names
    }


def test_a_changed_model_goes_up_and_down_and_leaves_nothing_to_do(
    run: Callable[..., Any], engine: Engine
) -> None:
    run(command.revision, before(), message="one", autogenerate=True)
    run(command.upgrade, before(), "head")
    one = shape(engine)
    run(command.check, before())  # raises if the model differs
    with engine.begin() as connection:
        connection.execute(before().tables["customer"].insert().values(name="Zoë", credit=7, stars=2))

    run(command.revision, after(), message="two", autogenerate=True)
    run(command.upgrade, after(), "head")
    two = shape(engine)
    run(command.check, after())
    assert set(two) == {"customer", "orders"}
    with engine.connect() as connection:
        row = connection.execute(sa.select(after().tables["customer"])).one()
        assert (row.name, row.credit, row.stars) == ("Zoë", 7, 2)

    run(command.downgrade, before(), "-1")
    assert shape(engine) == one
    run(command.upgrade, after(), "head")
    assert shape(engine) == two
    run(command.downgrade, before(), "base")
    assert shape(engine) == {}


def operations(engine: Engine) -> tuple[sa.Connection, Operations]:
    connection = engine.connect()
    return connection, Operations(MigrationContext.configure(connection))


def test_a_modified_column_keeps_what_was_not_spoken_of(engine: Engine) -> None:
    connection, op = operations(engine)
    with connection:
        op.create_table(
            "t",
            Column("id", ifx_sa.SERIAL(5), primary_key=True),
            Column("name", sa.String(10), nullable=False, server_default="x"),
            Column("tail", sa.Integer),
        )
        op.alter_column("t", "name", type_=sa.String(20))
        op.alter_column("t", "tail", nullable=False)
        op.alter_column("t", "tail", server_default="7")
        op.alter_column("t", "name", new_column_name="Called")
        op.add_column("t", Column("more", sa.Date))
        op.drop_column("t", "more")
        op.rename_table("t", "u")
        found = sa.inspect(connection).get_columns("u")
    assert [(c["name"], str(c["type"]), c["nullable"], c["default"]) for c in found] == [
        ("id", "SERIAL", False, None),
        ("Called", "VARCHAR(20)", False, "'x'"),
        ("tail", "INTEGER", False, "7"),
    ]


def test_a_failed_migration_leaves_the_schema_as_it_was(engine: Engine) -> None:
    connection, op = operations(engine)

    def migrate() -> None:
        with op.get_context().begin_transaction():
            op.create_table("t", Column("id", sa.Integer))
            op.drop_table("nowhere")

    with connection, pytest.raises(sa.exc.DatabaseError):
        migrate()
    assert not sa.inspect(engine).has_table("t")


def test_a_script_of_a_modified_column_has_to_name_all_of_it() -> None:
    written: list[str] = []

    class Buffer:
        def write(self, text: str) -> None:
            written.append(text)

        def flush(self) -> None:
            pass

    context = MigrationContext.configure(
        dialect_name="informix", opts={"as_sql": True, "output_buffer": Buffer()}
    )
    op = Operations(context)
    with pytest.raises(
        CommandError, match=r"t\.name repeats the whole column definition\. For a script, give existing_type="
    ):
        op.alter_column("t", "name", nullable=True)
    op.alter_column("t", "name", nullable=True, existing_type=sa.String(9), existing_server_default="x")
    assert "ALTER TABLE t MODIFY (name VARCHAR(9) DEFAULT 'x');" in "".join(written)


def test_defaults_are_compared_in_one_language(engine: Engine) -> None:
    metadata = MetaData()
    Table(
        "t",
        metadata,
        Column("a", sa.DateTime, server_default=sa.text("CURRENT_TIMESTAMP")),
        Column("b", sa.Boolean, server_default=sa.false()),
        Column("c", sa.Integer, server_default=sa.text("10")),
        Column("d", sa.String(9), server_default="10"),
        Column("e", sa.Date, server_default=sa.func.current_date()),
        Column("tail", sa.Integer),
    )
    metadata.create_all(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, metadata) == []
        metadata.tables["t"].c.c.server_default = sa.DefaultClause("11")
        metadata.tables["t"].c.d.server_default = None
        differences = compare_metadata(context, metadata)
    assert [each[0][0] for each in differences] == ["modify_default", "modify_default"]
