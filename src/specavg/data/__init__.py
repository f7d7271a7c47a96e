"""Data: sums over rows that are all a fit needs, from arrays, chunks, files and clusters."""
