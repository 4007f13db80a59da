"""The schemas of all metadata tables. They are defined only here.

Names are those of INFORMATION_SCHEMA in lower case, if it has one. ``docs/metadata.md`` is generated from these lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

Fields = tuple[tuple[str, Any, str], ...]
"""Name, Arrow type and meaning of each column."""

_TABLE: Fields = (
    ("table_catalog", pa.utf8(), "the database"),
    ("table_schema", pa.utf8(), "the owner"),
    ("table_name", pa.utf8(), ""),
)

TABLES: Fields = (
    *_TABLE,
    (
        "table_type",
        pa.utf8(),
        "`TABLE`, `VIEW`, `SYSTEM TABLE`, `SYNONYM`, `PRIVATE SYNONYM`, `EXTERNAL TABLE`",
    ),
    ("table_id", pa.int32(), "`tabid` of systables"),
    ("created", pa.date32(), ""),
    ("column_count", pa.int32(), ""),
    ("index_count", pa.int32(), ""),
    ("row_size", pa.int32(), "bytes of a row, as the server counts them"),
    ("row_count", pa.int64(), "as of the last UPDATE STATISTICS: 0 before the first one"),
    ("lock_level", pa.utf8(), "`PAGE`, `ROW`, `TABLE`; NULL for what has no rows of its own"),
)

COLUMNS: Fields = (
    *_TABLE,
    ("column_name", pa.utf8(), ""),
    ("ordinal_position", pa.int32(), "from 1"),
    ("data_type", pa.utf8(), "as declared: `DECIMAL(8,2)`, `DATETIME YEAR TO SECOND`, a type's name"),
    ("is_nullable", pa.bool_(), ""),
    ("column_default", pa.utf8(), "as SQL text: `'x'`, `5`, `TODAY`; NULL when there is none"),
    ("is_serial", pa.bool_(), "SERIAL, SERIAL8 or BIGSERIAL"),
    ("character_maximum_length", pa.int32(), "bytes, for character types"),
    ("numeric_precision", pa.int32(), "decimal digits, for exact numbers"),
    ("numeric_scale", pa.int32(), "digits after the point; NULL for a floating DECIMAL"),
    ("arrow_type", pa.utf8(), "the Arrow type that `read_arrow` gives; NULL for a type that cannot be read"),
    ("type_code", pa.int32(), "`coltype` of syscolumns without its flags"),
    ("type_length", pa.int32(), "`collength` of syscolumns, unsigned"),
    ("extended_id", pa.int32(), "`extended_id` of syscolumns; 0 for a plain type"),
)

PRIMARY_KEY: Fields = (
    *_TABLE,
    ("constraint_name", pa.utf8(), ""),
    ("column_name", pa.utf8(), ""),
    ("ordinal_position", pa.int32(), "place in the key, from 1"),
)

FOREIGN_KEYS: Fields = (
    *_TABLE,
    ("constraint_name", pa.utf8(), ""),
    ("column_name", pa.utf8(), ""),
    ("ordinal_position", pa.int32(), "place in the key, from 1"),
    ("referenced_table_schema", pa.utf8(), ""),
    ("referenced_table_name", pa.utf8(), ""),
    ("referenced_column_name", pa.utf8(), "the column that this one refers to"),
    ("referenced_constraint_name", pa.utf8(), "the primary or unique key there"),
    ("delete_rule", pa.utf8(), "`CASCADE` or `RESTRICT`"),
)

INDEXES: Fields = (
    *_TABLE,
    ("index_schema", pa.utf8(), "the index's owner"),
    ("index_name", pa.utf8(), "an index that a constraint made begins with the table's number"),
    ("is_unique", pa.bool_(), ""),
    ("is_clustered", pa.bool_(), ""),
    ("column_name", pa.utf8(), "NULL for an index over a function, in a row of its own"),
    ("ordinal_position", pa.int32(), "place in the key, from 1"),
    ("sort_order", pa.utf8(), "`ASC` or `DESC`"),
    ("constraint_name", pa.utf8(), "the constraint that the index serves"),
    ("constraint_type", pa.utf8(), "`PRIMARY KEY`, `UNIQUE` or `FOREIGN KEY`"),
)

FRAGMENTS: Fields = (
    *_TABLE,
    ("fragment_type", pa.utf8(), "`TABLE` or `INDEX`"),
    ("index_name", pa.utf8(), "for fragments of an index"),
    ("partition_name", pa.utf8(), ""),
    ("dbspace", pa.utf8(), ""),
    ("position", pa.int32(), "in the order of evaluation"),
    (
        "strategy",
        pa.utf8(),
        "`ROUND ROBIN`, `EXPRESSION`, `INTERVAL`, `LIST`, `IN DBSPACE`, `TABLE`, `HIERARCHY`",
    ),
    ("expression", pa.utf8(), "the condition that its rows meet"),
    ("partition_number", pa.int32(), "`partn` of sysfragments"),
    ("row_count", pa.int64(), "as of the last UPDATE STATISTICS"),
    ("page_count", pa.int64(), "as of the last UPDATE STATISTICS"),
)

PROCEDURES: Fields = (
    ("procedure_catalog", pa.utf8(), "the database"),
    ("procedure_schema", pa.utf8(), "the owner"),
    ("procedure_name", pa.utf8(), ""),
    ("procedure_type", pa.utf8(), "`PROCEDURE` or `FUNCTION`"),
    ("procedure_id", pa.int32(), "`procid` of sysprocedures"),
    ("argument_count", pa.int32(), ""),
    ("arguments", pa.utf8(), "`id INTEGER, name VARCHAR(20)`; NULL if the server does not report it"),
    ("returns", pa.utf8(), "the types that it returns, likewise"),
)

DATABASES: Fields = (
    ("database_name", pa.utf8(), ""),
    ("owner", pa.utf8(), ""),
    ("created", pa.date32(), ""),
    ("is_logged", pa.bool_(), ""),
    ("is_buffered", pa.bool_(), "with a buffered log"),
    ("is_ansi", pa.bool_(), ""),
    ("locale", pa.utf8(), "such as `en_US.57372`; NULL if the server does not report it"),
)

ALL: Mapping[str, Fields] = {
    "tables": TABLES,
    "columns": COLUMNS,
    "primary_key": PRIMARY_KEY,
    "foreign_keys": FOREIGN_KEYS,
    "indexes": INDEXES,
    "fragments": FRAGMENTS,
    "procedures": PROCEDURES,
    "databases": DATABASES,
}
"""The lists by the name of the method."""


def schema(fields: Fields) -> Any:
    """Return the Arrow schema of a list."""
    return pa.schema([(name, t) for name, t, _ in fields])


def table(fields: Fields, rows: Iterable[Sequence[object]]) -> pa.Table:
    """Return a table of rows whose values are in the order of the list."""
    all_rows = list(rows)
    columns = zip(*all_rows, strict=True) if all_rows else ((),) * len(fields)
    arrow_schema = schema(fields)
    arrays = [pa.array(list(values), field.type) for values, field in zip(columns, arrow_schema, strict=True)]
    return pa.table(arrays, arrow_schema)


# ---- ADBC's GetObjects --------------------------------------------------------------------------

_USAGE = pa.struct(
    [
        pa.field("fk_catalog", pa.utf8()),
        pa.field("fk_db_schema", pa.utf8()),
        pa.field("fk_table", pa.utf8(), nullable=False),
        pa.field("fk_column_name", pa.utf8(), nullable=False),
    ]
)
_CONSTRAINT = pa.struct(
    [
        pa.field("constraint_name", pa.utf8()),
        pa.field("constraint_type", pa.utf8(), nullable=False),
        pa.field("constraint_column_names", pa.list_(pa.utf8()), nullable=False),
        pa.field("constraint_column_usage", pa.list_(_USAGE)),
    ]
)
_COLUMN = pa.struct(
    [
        pa.field("column_name", pa.utf8(), nullable=False),
        pa.field("ordinal_position", pa.int32()),
        pa.field("remarks", pa.utf8()),
        pa.field("xdbc_data_type", pa.int16()),
        pa.field("xdbc_type_name", pa.utf8()),
        pa.field("xdbc_column_size", pa.int32()),
        pa.field("xdbc_decimal_digits", pa.int16()),
        pa.field("xdbc_num_prec_radix", pa.int16()),
        pa.field("xdbc_nullable", pa.int16()),
        pa.field("xdbc_column_def", pa.utf8()),
        pa.field("xdbc_sql_data_type", pa.int16()),
        pa.field("xdbc_datetime_sub", pa.int16()),
        pa.field("xdbc_char_octet_length", pa.int32()),
        pa.field("xdbc_is_nullable", pa.utf8()),
        pa.field("xdbc_scope_catalog", pa.utf8()),
        pa.field("xdbc_scope_schema", pa.utf8()),
        pa.field("xdbc_scope_table", pa.utf8()),
        pa.field("xdbc_is_autoincrement", pa.bool_()),
        pa.field("xdbc_is_generatedcolumn", pa.bool_()),
    ]
)
_OBJECT = pa.struct(
    [
        pa.field("table_name", pa.utf8(), nullable=False),
        pa.field("table_type", pa.utf8(), nullable=False),
        pa.field("table_columns", pa.list_(_COLUMN)),
        pa.field("table_constraints", pa.list_(_CONSTRAINT)),
    ]
)
_DB_SCHEMA = pa.struct(
    [pa.field("db_schema_name", pa.utf8()), pa.field("db_schema_tables", pa.list_(_OBJECT))]
)

OBJECTS = pa.schema(
    [pa.field("catalog_name", pa.utf8()), pa.field("catalog_db_schemas", pa.list_(_DB_SCHEMA))]
)
"""The schema of GetObjects in ADBC's specification."""

# ---- ADBC's GetStatistics -----------------------------------------------------------------------

STATISTIC_VALUE = pa.dense_union(
    [
        pa.field("int64", pa.int64()),
        pa.field("uint64", pa.uint64()),
        pa.field("float64", pa.float64()),
        pa.field("binary", pa.binary()),
    ]
)
STATISTIC = pa.struct(
    [
        pa.field("table_name", pa.utf8(), nullable=False),
        pa.field("column_name", pa.utf8()),
        pa.field("statistic_key", pa.int16(), nullable=False),
        pa.field("statistic_value", STATISTIC_VALUE, nullable=False),
        pa.field("statistic_is_approximate", pa.bool_(), nullable=False),
    ]
)
STATISTICS_OF_SCHEMA = pa.struct(
    [
        pa.field("db_schema_name", pa.utf8()),
        pa.field("db_schema_statistics", pa.list_(STATISTIC), nullable=False),
    ]
)
STATISTICS = pa.schema(
    [
        pa.field("catalog_name", pa.utf8()),
        pa.field("catalog_db_schemas", pa.list_(STATISTICS_OF_SCHEMA), nullable=False),
    ]
)
"""The schema of GetStatistics in ADBC's specification."""

STATISTIC_NAMES = pa.schema(
    [
        pa.field("statistic_name", pa.utf8(), nullable=False),
        pa.field("statistic_key", pa.int16(), nullable=False),
    ]
)
"""The schema of GetStatisticNames."""
