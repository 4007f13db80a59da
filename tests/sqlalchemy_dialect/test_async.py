"""The dialect for ``create_async_engine``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from informix_arrow import aio
from informix_arrow.server import Server

from .test_orm import Base, Customer, Order

Work = Callable[[AsyncEngine], Awaitable[None]]


def go(url: str, work: Work, **options: Any) -> None:
    async def main() -> None:
        engine = create_async_engine(url, **options)
        try:
            async with engine.begin() as connection:
                await connection.run_sync(Base.metadata.create_all)
            await work(engine)
        finally:
            await engine.dispose()

    asyncio.run(main())


@pytest.mark.parametrize("scheme", ["informix", "informix+aio"])
def test_a_session_stores_and_reads(informix_database: str, scheme: str) -> None:
    async def work(engine: AsyncEngine) -> None:
        async with AsyncSession(engine, expire_on_commit=False) as session:
            anna = Customer(
                name="Anna", orders=[Order(amount=Decimal("1.50"), note="é" * 9000), Order(amount=2)]
            )
            session.add(anna)
            await session.commit()
            assert (anna.id, [order.num for order in anna.orders]) == (1, [1, 2])
            found = await session.execute(
                select(Order.amount, Order.note, Order.customer_id).order_by(Order.num)
            )
            assert found.all() == [(Decimal("1.50"), "é" * 9000, 1), (Decimal("2.00"), None, 1)]
            async with session.begin_nested() as point:
                session.add(Customer(name="undone"))
                await session.flush()
                await point.rollback()
            assert (await session.scalars(select(Customer.name))).all() == ["Anna"]
        async with engine.connect() as connection:
            raw = (await connection.get_raw_connection()).driver_connection
            assert isinstance(raw, aio.AsyncConnection)

    go(informix_database.replace("informix", scheme, 1), work)


def test_rows_are_streamed(informix_database: str) -> None:
    async def work(engine: AsyncEngine) -> None:
        async with engine.begin() as connection:
            rows = [{"name": f"c{n}", "version": 1, "vip": False} for n in range(3000)]
            await connection.execute(sa.insert(Customer), rows)
        async with engine.connect() as connection:
            result = await connection.stream(select(Customer.id, Customer.name).order_by(Customer.id))
            assert await result.fetchone() == (1, "c0")
            assert [row.id async for row in result][-1] == 3000

    go(informix_database, work)


def test_levels_locks_and_reflection_are_those_of_the_blocking_dialect(informix_database: str) -> None:
    async def work(engine: AsyncEngine) -> None:
        async with engine.connect() as connection:
            assert await connection.get_isolation_level() == "READ COMMITTED"
            await connection.execution_options(isolation_level="SERIALIZABLE")
            assert await connection.get_isolation_level() == "SERIALIZABLE"
        async with engine.begin() as connection:
            await connection.execute(sa.insert(Customer).values(name="Anna", version=1))
        async with engine.connect() as one, engine.connect() as two:
            query = select(Customer.name).with_for_update(nowait=True)
            assert (await one.scalars(query)).all() == ["Anna"]
            with pytest.raises(sa.exc.OperationalError):
                await two.scalars(query)
            with pytest.raises(sa.exc.DataError, match="too long for"):
                await two.execute(sa.update(Customer).values(name="x" * 21))
        async with engine.connect() as connection:
            names = await connection.run_sync(lambda sync: sa.inspect(sync).get_table_names())
        assert names == ["customer", "orders", "ticket"]

    go(informix_database, work, connect_args={"lock_wait": 1})


def test_a_lost_connection_is_noticed_and_pre_ping_replaces_one(
    informix_server: Server, informix_database: str
) -> None:
    async def work(engine: AsyncEngine) -> None:
        async with engine.connect() as connection:
            informix_server.faults.drop_next(matching="systables")
            with pytest.raises(sa.exc.DBAPIError) as caught:
                await connection.exec_driver_sql("SELECT tabid FROM systables")
            assert caught.value.connection_invalidated
        async with engine.connect() as connection:
            raw: Any = (await connection.get_raw_connection()).driver_connection
        raw._runner.transport.close()
        async with engine.connect() as connection:
            assert await connection.scalar(select(sa.literal(7))) == 7

    go(informix_database, work, pool_pre_ping=True)


def test_a_cancelled_statement_leaves_the_pool_in_order(
    informix_server: Server, informix_database: str
) -> None:
    async def work(engine: AsyncEngine) -> None:
        async def slow() -> None:
            async with engine.connect() as connection:
                await connection.exec_driver_sql("SELECT tabname FROM systables")

        informix_server.faults.delay_next(60, matching="tabname")
        task = asyncio.create_task(slow())
        while informix_server.faults.pending:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with engine.connect() as connection:
            assert await connection.scalar(select(sa.literal(7))) == 7

    go(informix_database, work, pool_size=1, max_overflow=0)
