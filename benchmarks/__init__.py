"""Measurements against the stock dashboard, both in the same run; `python -m benchmarks`."""
