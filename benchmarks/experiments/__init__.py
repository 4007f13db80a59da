"""Optimizations that were tried and rejected. They are kept so that the measurements can be repeated."""
