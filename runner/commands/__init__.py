"""One file for each command of the command line; runner/cli.py declares them."""
