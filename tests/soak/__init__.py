"""What is only worth its time when there is much of it: ``make soak``."""
