"""The ORM on Informix: keys, flushes, locks, savepoints, versions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine, ForeignKey, Sequence, String, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.orm.exc import StaleDataError

from informix_arrow.server import Server


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(20))
    vip: Mapped[bool] = mapped_column(default=False)
    version: Mapped[int] = mapped_column()
    orders: Mapped[list[Order]] = relationship(back_populates="customer", cascade="all, delete-orphan")
    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012


class Order(Base):
    __tablename__ = "orders"
    num: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customer.id", ondelete="CASCADE"))
    amount: Mapped[Any] = mapped_column(sa.Numeric(8, 2))
    note: Mapped[str | None] = mapped_column(sa.Text)
    customer: Mapped[Customer] = relationship(back_populates="orders")


class Ticket(Base):
    __tablename__ = "ticket"
    id: Mapped[int] = mapped_column(Sequence("ticket_seq", start=100), primary_key=True)
    text: Mapped[str] = mapped_column(String(20))


@pytest.fixture
def url(informix_server: Server, informix_database: str) -> str:
    informix_server.queries.clear()
    return informix_database


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    made = create_engine(url)
    Base.metadata.create_all(made)
    yield made
    made.dispose()


def names(engine: Engine) -> list[str]:
    with Session(engine) as other:
        return sorted(other.scalars(select(Customer.name)))


def test_keys_come_from_serial_columns_and_from_sequences(engine: Engine) -> None:
    with Session(engine) as session:
        anna, bea, ticket = Customer(name="Anna"), Customer(name="Bea"), Ticket(text="help")
        anna.orders = [Order(amount=5, note="é" * 5000), Order(amount=7)]
        session.add_all([anna, bea, ticket])
        session.commit()
        assert (anna.id, bea.id, ticket.id) == (1, 2, 100)
        assert [order.num for order in anna.orders] == [1, 2]
        assert anna.orders[0].note == "é" * 5000
    with Session(engine) as session:
        session.add(Order(num=10, customer_id=1, amount=1))
        session.flush()
        after = Order(customer_id=1, amount=2)
        session.add(after)
        session.flush()
        assert after.num == 11


def test_a_flush_of_many_new_rows_is_one_pipelined_load(engine: Engine, informix_server: Server) -> None:
    with Session(engine) as session:
        session.execute(sa.insert(Customer).values(name="Anna", version=1))
        informix_server.queries.clear()
        session.execute(sa.insert(Order), [{"customer_id": 1, "amount": n, "note": None} for n in range(600)])
        session.commit()
    inserted = informix_server.queries.matching("INSERT INTO orders")
    assert sum(query.executions for query in inserted) == 600
    assert len({query.sql for query in inserted}) == 1
    with Session(engine) as session:
        assert session.scalar(select(sa.func.count()).select_from(Order)) == 600
        session.add_all([Order(num=5000 + n, customer_id=1, amount=n) for n in range(300)])
        informix_server.queries.clear()
        session.commit()
    inserted = informix_server.queries.matching("INSERT INTO orders")
    assert sum(query.executions for query in inserted) == 300
    assert len({query.sql for query in inserted}) == 1


def test_a_row_that_another_session_has_changed_is_stale(engine: Engine) -> None:
    with Session(engine) as session:
        session.add(Customer(name="Anna"))
        session.commit()
    with Session(engine, expire_on_commit=False) as late:
        held = late.get_one(Customer, 1)
        late.commit()  # releases its lock and keeps the loaded object
        with Session(engine) as early:
            early.get_one(Customer, 1).name = "Berta"
            early.commit()
        held.name = "Carla"
        with pytest.raises(StaleDataError):
            late.flush()
        late.rollback()
        late.delete(held)
    assert names(engine) == ["Berta"]


def test_savepoints_undo_what_was_done_since(engine: Engine) -> None:
    with Session(engine) as session, session.begin():
        session.add(Customer(name="outer"))
        try:
            with session.begin_nested():
                session.add(Customer(name="undone"))
                session.flush()
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass
        with session.begin_nested():
            session.add(Customer(name="kept"))
            with session.begin_nested() as inner:
                session.add(Customer(name="undone too"))
                session.flush()
                inner.rollback()
    assert names(engine) == ["kept", "outer"]


def test_a_unique_violation_in_a_savepoint_leaves_the_transaction_to_go_on(engine: Engine) -> None:
    with Session(engine) as session, session.begin():
        session.add(Customer(id=1, name="Anna"))
        session.flush()
        with pytest.raises(sa.exc.IntegrityError), session.begin_nested():
            session.execute(sa.insert(Customer).values(id=1, name="again", version=1))
        session.add(Customer(name="Bea"))
    assert names(engine) == ["Anna", "Bea"]


def test_a_session_inside_of_an_outer_transaction_commits_to_a_savepoint_only(engine: Engine) -> None:
    with engine.connect() as connection:
        outer = connection.begin()
        with Session(connection, join_transaction_mode="create_savepoint") as session:
            session.add(Customer(name="Anna"))
            session.commit()
            session.add(Customer(name="Bea"))
            session.rollback()
            assert session.scalars(select(Customer.name)).all() == ["Anna"]
        outer.rollback()
    assert names(engine) == []


def test_for_update_holds_its_locks_until_the_transaction_ends(engine: Engine, url: str) -> None:
    with Session(engine) as session:
        session.add_all([Customer(name=name) for name in ("Anna", "Bea", "Carla")])
        session.commit()
    patient = create_engine(url, connect_args={"lock_wait": 2})
    locking = select(Customer).where(Customer.id < 3).order_by(Customer.id)
    with Session(engine) as one, Session(patient) as two:
        assert [row.name for row in one.scalars(locking.with_for_update())] == ["Anna", "Bea"]
        for query in (
            select(Customer).where(Customer.id == 1).with_for_update(nowait=True),
            select(Customer).where(Customer.id == 2).with_for_update(nowait=True),
        ):
            with pytest.raises(sa.exc.OperationalError) as caught:
                two.scalars(query).all()
            assert caught.value.orig is not None
            assert caught.value.orig.sqlcode in (-244, -250, -346, -263)  # type: ignore[attr-defined]
            driver: Any = two.connection().connection.driver_connection
            assert driver.lock_wait == 2
        assert two.scalars(
            select(Customer.name).where(Customer.id == 3).with_for_update(nowait=True)
        ).all() == ["Carla"]
        two.rollback()
        one.commit()
        assert two.get(Customer, 1, with_for_update={"nowait": True, "of": Customer.name}) is not None
        assert driver.lock_wait == 2
    patient.dispose()


def test_skip_locked_is_refused_with_what_to_do_instead(engine: Engine) -> None:
    with Session(engine) as session, pytest.raises(sa.exc.CompileError, match="LAST COMMITTED"):
        session.scalars(select(Customer).with_for_update(skip_locked=True))


def test_deleting_a_parent_deletes_its_children(engine: Engine) -> None:
    with Session(engine) as session:
        session.add(Customer(name="Anna", orders=[Order(amount=1), Order(amount=2)]))
        session.commit()
        session.delete(session.get_one(Customer, 1))
        session.commit()
        assert session.scalar(select(sa.func.count()).select_from(Order)) == 0
        session.add(Customer(name="Bea", orders=[Order(amount=1)]))
        session.commit()
        session.execute(sa.delete(Customer))
        session.commit()
        assert session.scalar(select(sa.func.count()).select_from(Order)) == 0


def test_pages_conditions_and_set_operations(engine: Engine) -> None:
    with Session(engine) as session:
        session.add_all([Customer(name=f"c{n}", vip=n % 3 == 0) for n in range(10)])
        session.commit()
        page = select(Customer.name).order_by(Customer.id).limit(3).offset(4)
        assert session.scalars(page).all() == ["c4", "c5", "c6"]
        assert session.scalars(select(Customer.name).where(Customer.vip).order_by(Customer.id)).all() == [
            "c0",
            "c3",
            "c6",
            "c9",
        ]
        assert session.scalar(select(sa.func.count()).select_from(Customer).where(~Customer.vip)) == 6
        assert session.scalars(
            select(Customer.name).where(sa.true()).limit(1).order_by(Customer.id)
        ).all() == ["c0"]
        assert session.scalars(select(Customer.name).where(sa.false())).all() == []
        inner = select(Customer.id).order_by(Customer.id.desc()).limit(2)
        assert sorted(session.scalars(select(Customer.name).where(Customer.id.in_(inner)))) == ["c8", "c9"]
        both = sa.union_all(
            select(Customer.name).where(Customer.id <= 2), select(Customer.name).where(Customer.id >= 9)
        )
        assert session.scalars(both.order_by("name").limit(2).offset(1)).all() == ["c1", "c8"]
        parts = sa.union(
            select(Customer.name).order_by(Customer.id).limit(1),
            select(Customer.name).order_by(Customer.id.desc()).limit(1),
        )
        assert sorted(session.scalars(parts)) == ["c0", "c9"]
        cte = select(Customer.id, Customer.name).where(Customer.vip).cte("vips")
        assert session.scalars(select(cte.c.name).order_by(cte.c.id).limit(1)).all() == ["c0"]
        limited = sa.union(select(cte.c.name), select(cte.c.name)).order_by("name").limit(2)
        assert session.scalars(limited).all() == ["c0", "c3"]
        assert session.scalar(select(sa.extract("hour", sa.literal(dt.datetime(2026, 1, 1, 13))))) == 13
        exists = select(Customer.id).where(select(Order.num).where(Order.customer_id == Customer.id).exists())
        assert session.scalars(exists).all() == []


def test_an_expression_for_the_limit_is_refused_with_the_reason(engine: Engine) -> None:
    with Session(engine) as session, pytest.raises(sa.exc.CompileError, match="whole number or a parameter"):
        session.scalars(select(Customer.name).limit(sa.literal_column("1") + 1))


def test_what_informix_has_not_is_a_compile_error_that_says_so(engine: Engine) -> None:
    metadata = sa.MetaData()
    parent = sa.Table("p", metadata, sa.Column("id", sa.Integer, primary_key=True))
    for options, message in [
        ({"ondelete": "SET NULL"}, "no ON DELETE SET NULL"),
        ({"onupdate": "CASCADE"}, "no ON UPDATE CASCADE"),
        ({"initially": "DEFERRED"}, "SET CONSTRAINTS ALL DEFERRED"),
        ({"match": "FULL"}, "no MATCH"),
    ]:
        child = sa.Table(
            "c",
            sa.MetaData(),
            sa.Column("id", sa.Integer),
            sa.ForeignKeyConstraint(["id"], [parent.c.id], **options),
        )
        with pytest.raises(sa.exc.CompileError, match=message):
            sa.schema.CreateTable(child).compile(engine)
    computed = sa.Table("x", sa.MetaData(), sa.Column("a", sa.Integer, sa.Computed("1 + 1")))
    with pytest.raises(sa.exc.CompileError, match="no computed columns"):
        sa.schema.CreateTable(computed).compile(engine)
    with pytest.raises(sa.exc.CompileError, match=r"no UPDATE \.\.\. FROM"):
        sa.update(Order).values(amount=1).where(Order.customer_id == Customer.id).compile(engine)


def test_a_row_without_values_takes_the_next_number(engine: Engine) -> None:
    metadata = sa.MetaData()
    late = sa.Table(
        "late",
        metadata,
        sa.Column("name", sa.String(9), server_default="x"),
        sa.Column("id", sa.Integer, primary_key=True),
    )
    nullable = sa.Table(
        "nullable", metadata, sa.Column("a", sa.Integer, server_default="5"), sa.Column("b", sa.Integer)
    )
    full = sa.Table("full", metadata, sa.Column("a", sa.Integer, server_default="5", nullable=False))
    metadata.create_all(engine)
    with engine.begin() as connection:
        for _ in range(2):
            connection.execute(late.insert())
        assert [tuple(row) for row in connection.execute(select(late))] == [("x", 1), ("x", 2)]
        connection.execute(nullable.insert())
        assert [tuple(row) for row in connection.execute(select(nullable))] == [(5, None)]
        with pytest.raises(sa.exc.CompileError, match="without any value"):
            connection.execute(full.insert())
