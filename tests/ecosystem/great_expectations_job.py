"""Validates expectations about the table `orders` of the database in INFORMIX_URL. test_great_expectations.py runs it.

Prints `result` and JSON: by expectation and column whether it was met, or what was raised.
"""

from __future__ import annotations

import json
import os

import great_expectations as gx
from great_expectations import expectations as gxe

COLUMNS = ["id", "customer", "total", "day", "at", "sentinel"]
EXPECTED = (
    gxe.ExpectTableColumnsToMatchOrderedList(column_list=COLUMNS),
    gxe.ExpectTableRowCountToEqual(value=4),
    gxe.ExpectColumnToExist(column="at"),
    gxe.ExpectColumnValuesToBeOfType(column="id", type_="INTEGER"),
    gxe.ExpectColumnValuesToBeUnique(column="id"),
    gxe.ExpectColumnValuesToNotBeNull(column="id"),
    gxe.ExpectColumnValuesToNotBeNull(column="customer"),  # one value is NULL
    gxe.ExpectColumnValueLengthsToBeBetween(column="customer", min_value=0, max_value=20),
    gxe.ExpectColumnDistinctValuesToBeInSet(column="customer", value_set=["r\u00e9veil", "", "b'c"]),
    gxe.ExpectColumnValuesToBeInSet(column="sentinel", value_set=[7]),
    gxe.ExpectColumnUniqueValueCountToBeBetween(column="id", min_value=4, max_value=4),
    gxe.ExpectColumnProportionOfUniqueValuesToBeBetween(column="id", min_value=1, max_value=1),
    gxe.ExpectColumnValuesToBeBetween(column="total", min_value=-1, max_value=100),
    gxe.ExpectColumnMinToBeBetween(column="total", min_value=-0.01, max_value=-0.01),
    gxe.ExpectColumnMaxToBeBetween(column="total", min_value=12.5, max_value=12.5),
    gxe.ExpectColumnSumToBeBetween(column="total", min_value=13.49, max_value=13.49),
    gxe.ExpectColumnMeanToBeBetween(column="total", min_value=4.4, max_value=4.5),
    gxe.ExpectColumnStdevToBeBetween(column="total", min_value=6.94, max_value=6.96),
    gxe.ExpectColumnMedianToBeBetween(column="id", min_value=2, max_value=3),
    gxe.ExpectColumnValuesToBeBetween(
        column="day", min_value="2026-01-01", max_value="2026-06-30"
    ),  # one value is outside
    gxe.ExpectColumnPairValuesAToBeGreaterThanB(column_A="sentinel", column_B="id"),
    gxe.ExpectCompoundColumnsToBeUnique(column_list=["id", "sentinel"]),
    gxe.UnexpectedRowsExpectation(unexpected_rows_query="SELECT * FROM {batch} WHERE sentinel <> 7"),
)

context = gx.get_context(mode="ephemeral")
source = context.data_sources.add_sql("stores", connection_string=os.environ["INFORMIX_URL"])
table = source.add_table_asset("orders", table_name="orders").add_batch_definition_whole_table("whole")
query = source.add_query_asset("large", query="SELECT id, total FROM orders WHERE total > 1")
large = query.add_batch_definition_whole_table("whole")

suite = context.suites.add(gx.ExpectationSuite("orders", expectations=list(EXPECTED)))
reported = {}
for each in table.get_batch().validate(suite).results:
    config = each.expectation_config
    raised = "raised_exception': True" in str(each.exception_info)
    reported[f"{config.type} {config.kwargs.get('column', '')}".strip()] = (
        str(each.exception_info) if raised else each.success
    )
found = large.get_batch().validate(gxe.ExpectColumnValuesToBeBetween(column="total", min_value=100)).result
reported["query"] = [
    found["element_count"],
    found["unexpected_count"],
    str(found["partial_unexpected_list"][0]),
]
print("result", json.dumps(reported))
