"""pandas through an engine: ``to_sql(method=arrow_insert)``."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from informix_arrow.server import Server
from informix_arrow.sqlalchemy import arrow_insert

TYPES = {
    "id": sa.Integer(),
    "name": sa.String(20),
    "amount": sa.Numeric(12, 2),
    "day": sa.Date(),
    "Mixed Case": sa.Float(),
}


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": [1, 2, 3],
            "name": ["a", None, "é"],
            "amount": [Decimal("1.50"), None, Decimal("-9999999999.99")],
            "day": [dt.date(2026, 1, 31), None, dt.date(1, 1, 1)],
            "Mixed Case": [0.5, None, -1.0],
        }
    )


def test_a_frame_goes_as_arrow_and_comes_back(engine: Engine, informix_server: Server) -> None:
    for mode in ("replace", "append"):
        informix_server.queries.clear()
        loaded = frame().to_sql("t", engine, if_exists=mode, index=False, method=arrow_insert, dtype=TYPES)
        assert loaded == 3
        assert not informix_server.queries.matching("SELECT .* FROM t$")
    with engine.connect() as connection:
        rows = connection.execute(
            sa.text('SELECT id, name, amount, day, "Mixed Case" FROM t ORDER BY id')
        ).all()
    expected = [tuple(None if pd.isna(v) else v for v in row) for row in frame().itertuples(index=False)]
    assert [tuple(row) for row in rows] == sorted(expected * 2, key=lambda row: row[0])


def test_rows_are_part_of_the_open_transaction(engine: Engine) -> None:
    frame().to_sql("t", engine, index=False, dtype=TYPES, method=arrow_insert)
    with engine.connect() as connection, connection.begin() as transaction:
        frame().to_sql(
            "t", connection, index=False, if_exists="append", method=arrow_insert, dtype=TYPES, chunksize=2
        )
        assert connection.scalar(sa.text("SELECT COUNT(*) FROM t")) == 6
        transaction.rollback()
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT COUNT(*) FROM t")) == 3


def test_a_value_that_the_column_would_change_is_refused(engine: Engine) -> None:
    frame().to_sql("t", engine, index=False, dtype=TYPES, method=arrow_insert)
    long = frame().assign(name="é" * 11)
    with pytest.raises(Exception, match=r"row 0.*name|name.*VARCHAR\(20\)"):
        long.to_sql("t", engine, index=False, if_exists="append", method=arrow_insert)
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT COUNT(*) FROM t")) == 3


def test_pandas_reads_through_an_engine(engine: Engine) -> None:
    frame().to_sql("t", engine, index=False, dtype=TYPES, method=arrow_insert)
    query = sa.text("SELECT id, amount FROM t WHERE id > :least ORDER BY id")
    found = pd.read_sql(query, engine, params={"least": 1})
    assert found["id"].tolist() == [2, 3]
    chunks = list(pd.read_sql(sa.text("SELECT id FROM t"), engine, chunksize=2))
    assert [len(chunk) for chunk in chunks] == [2, 1]
    table = pd.read_sql_table("t", engine)
    assert list(table.columns) == list(TYPES)
    assert table["day"].iloc[0] == pd.Timestamp(2026, 1, 31)
