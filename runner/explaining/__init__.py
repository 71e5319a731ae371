"""From a failing case to what a maintainer needs: the smallest case, a program in C, the version, a report."""
