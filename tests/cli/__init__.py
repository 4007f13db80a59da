"""Tests of the command line, in this process by ``main(argv)`` where possible."""
