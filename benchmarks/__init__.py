"""Timings: ``python -m benchmarks``, one process per comparison, a table of ratios, results.json and a figure."""
