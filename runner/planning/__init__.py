"""Which cases are run, in which order, and which procedures they call."""
