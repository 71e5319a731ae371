"""One module a command of the CLI that is more than a few lines."""
