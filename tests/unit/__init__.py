"""Tests that need neither server nor network."""
