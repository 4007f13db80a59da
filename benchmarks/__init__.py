"""Benchmarks, run by `make bench`; see README.md."""
