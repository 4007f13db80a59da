"""The command line, in this process by ``main(argv)`` where that will do."""
