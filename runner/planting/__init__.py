"""Planted faults: which there are, how they are run, and what catches them."""
