"""Partitioning: divide a table or a query into parts that are read independently.

`planner` decides how to divide and which statement reads which part. `result` reads parts over several connections,
`load` and `staged_load` load data over several connections.
"""
