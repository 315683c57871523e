"""Benchmarks: each prints figures with ratios taken in one run, and none decides about tests."""
