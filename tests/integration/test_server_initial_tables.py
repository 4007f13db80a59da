"""Tables with which a server starts, from Arrow data and from files."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.subprocess_server import ForkedCommand

import informix_arrow
from informix_arrow.preload import tables_of_directory
from informix_arrow.server import Server

from .test_server_durability import serving

if TYPE_CHECKING:
    from collections.abc import Sequence


ORDERS = pa.table(
    {
        "id": pa.array([1, 2, 3, -4], pa.int32()),
        "customer": ["Ann", None, "Zoë €", "x" * 200],
        "total": pa.array(
            [Decimal("1.50"), Decimal("-99999999.99"), None, Decimal("0.00")], pa.decimal128(10, 2)
        ),
        "placed": pa.array([dt.date(2026, 1, 31), None, dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
        "seen": pa.array([dt.datetime(2026, 1, 2, 3, 4, 5, 60000), None, None, None], pa.timestamp("us")),
        "weight": [0.5, None, -1e300, 0.0],
        "count": pa.array([1 << 40, None, 0, -1], pa.int64()),
    }
)


def read(server: Server, database: str, table: str, columns: Sequence[str]) -> list[dict[str, object]]:
    with informix_arrow.connect(server.url(database)) as connection:
        sql = f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1 DESC"
        rows: list[dict[str, object]] = connection.read_arrow(sql).to_pylist()
        return rows


def expected(table: pa.Table) -> list[dict[str, object]]:
    return sorted(table.to_pylist(), key=lambda row: -row["id"])


def test_arrow_data_is_there_before_the_first_client() -> None:
    empty = pa.table({"id": pa.array([], pa.int64())})
    load = {"shop.orders": ORDERS, "shop.nothing": empty, "stores_demo.batch": ORDERS.to_batches()[0]}
    with Server(load=load) as server:
        assert read(server, "shop", "orders", ORDERS.column_names) == expected(ORDERS)
        assert read(server, "shop", "nothing", ["id"]) == []
        assert read(server, "stores_demo", "batch", ORDERS.column_names) == expected(ORDERS)
        assert len(server.queries.matching("insert")) == 0  # only statements of clients are logged


def test_files_are_read_by_their_kind(tmp_path: Path) -> None:
    pa.parquet.write_table(ORDERS, tmp_path / "a.parquet", row_group_size=3)
    with pa.ipc.new_file(tmp_path / "b.arrow", ORDERS.schema) as file:
        file.write_table(ORDERS, max_chunksize=2)
    with pa.ipc.new_stream(tmp_path / "c.ARROW", ORDERS.schema) as stream:
        stream.write_table(ORDERS)
    (tmp_path / "d.csv").write_text("id,name,amount\n1,Ann,1.5\n2,,\n-3,Zoë €,-2e3\n", "utf-8")
    files = {"shop.a": tmp_path / "a.parquet", "shop.b": str(tmp_path / "b.arrow")}
    files |= {"shop.c": tmp_path / "c.ARROW", "shop.d": tmp_path / "d.csv"}
    with Server(load=files) as server:
        for table in "abc":
            assert read(server, "shop", table, ORDERS.column_names) == expected(ORDERS)
        assert read(server, "shop", "d", ["id", "name", "amount"]) == [
            {"id": 2, "name": "", "amount": None},
            {"id": 1, "name": "Ann", "amount": 1.5},
            {"id": -3, "name": "Zoë €", "amount": -2000.0},
        ]


def test_a_csv_file_that_is_not_utf_8_is_refused_and_not_taken_for_bytes(tmp_path: Path) -> None:
    file = tmp_path / "old.csv"
    file.write_bytes("id,name\n1,Müller\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"load: shop.t: .*old.csv.*'name'.*UTF-8"):
        Server(load={"shop.t": file}).start()


def test_a_directory_of_files_is_databases_of_tables(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "Other").mkdir()
    pa.parquet.write_table(ORDERS, tmp_path / "shop" / "orders.parquet")
    (tmp_path / "Other" / "t.csv").write_text("id\n7\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.txt").write_text("")
    (tmp_path / "README.md").write_text("not in a folder of a database")
    with Server(load=tables_of_directory(tmp_path)) as server:
        assert read(server, "shop", "orders", ORDERS.column_names) == expected(ORDERS)
        assert read(server, "other", "t", ["id"]) == [{"id": 7}]


def test_a_directory_that_holds_anything_else_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="to load"):
        tables_of_directory(tmp_path)
    with pytest.raises(ValueError, match="not a directory"):
        tables_of_directory(tmp_path / "nowhere")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "t.csv").write_text("id\n7\n")
    (tmp_path / "shop" / "t.parquet").write_text("")
    with pytest.raises(ValueError, match=r"both for the table shop\.t"):
        tables_of_directory(tmp_path)
    (tmp_path / "shop" / "t.parquet").rename(tmp_path / "shop" / "t.xlsx")
    with pytest.raises(ValueError, match=r"t\.xlsx cannot be loaded"):
        tables_of_directory(tmp_path)


@pytest.mark.parametrize("name", ["orders", "a.b.c", "shop.", "shop.or ders", "shop.x'--"])
def test_a_name_that_is_no_table_of_a_database_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"must be 'database\.table'"):
        Server(load={name: ORDERS}).start()


def test_what_cannot_be_loaded_is_named_and_nothing_runs_afterwards(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no more")
    for data, reason in (
        (tmp_path / "broken.parquet", "Parquet"),
        (tmp_path / "missing.csv", "missing.csv"),
        (tmp_path / "t.xlsx", "is none of"),
        (pa.table({"a": ["x" * 40_000]}), "row 0|long|40000|fit"),
        (42, "int"),
    ):
        server = Server(tmp_path / "d", load={"shop.orders": data})
        with pytest.raises(ValueError, match=reason) as error:
            server.start()
        assert "shop.orders" in str(error.value) or "t.xlsx" in str(error.value)
        with pytest.raises(RuntimeError):
            _ = server.address
    with Server(tmp_path / "d"):  # the directory is free
        pass


def test_loading_works_behind_tls_pam_and_a_full_server(certificates: object, tmp_path: Path) -> None:
    from tests.tls_certificates import Certificates

    assert isinstance(certificates, Certificates)
    server = Server(
        load={"shop.orders": ORDERS},
        tls_cert=certificates.server,
        tls_key=certificates.server_key,
        tls_ca=certificates.ca,
        pam={"loader": [("?", True, "!")]},
        max_sessions=1,
        idle_timeout=0.001,
        login_timeout=0.001,
        password="",
    )
    with server:
        assert server.sessions == 0


def test_a_table_of_a_directory_that_is_there_already_stays_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Server(tmp_path / "d", load={"shop.t": pa.table({"id": [1]})}):
        pass
    load = {"shop.t": pa.table({"id": [2]}), "shop.u": pa.table({"id": [3]})}
    with Server(tmp_path / "d", load=load) as server:
        assert read(server, "shop", "t", ["id"]) == [{"id": 1}]
        assert read(server, "shop", "u", ["id"]) == [{"id": 3}]
    assert "The table shop.t exists already and was not changed" in caplog.text


def test_serve_loads_a_directory_before_it_listens(tmp_path: Path) -> None:
    (tmp_path / "load" / "shop").mkdir(parents=True)
    pa.parquet.write_table(ORDERS, tmp_path / "load" / "shop" / "orders.parquet")
    log = tmp_path / "queries.jsonl"
    arguments = ("--load", str(tmp_path / "load"), "--query-log", str(log))
    with serving(tmp_path / "d", *arguments) as server, server.client("shop") as client:
        assert client.number("select count(*)::int from orders") == 4
        assert "select count(*)::int from orders" in log.read_text()


def test_serve_names_what_it_cannot_load(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "orders.parquet").write_text("nothing")
    said = tmp_path.with_name("said")
    with ForkedCommand("serve", "--port", "0", "--load", str(tmp_path), errors=said) as process:
        assert process.wait(120) == 1
    assert said.read_text().startswith("informix-arrow: load: shop.orders: ")
    assert "Traceback" not in said.read_text()
