"""Data: what users hand over, checked; chunks, files and Dask collections, and the sums over them."""
