"""Copies of tables into lakes and other databases. The target knows what was copied, so that the next run goes on.

A target (`files`, `database`; `targets` knows them by name) takes the rows of one table and the state behind them in
one step, or not at all. `api` says which rows of a table are due, reads them, and has them counted on both sides
(`checks`).
"""
