"""Random tests that need much time to find faults: ``make soak``."""
