"""Servers that do the same work in other ways, for the comparison in `benchmarks.serving`."""
