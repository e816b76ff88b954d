"""Diagnostics inside a notebook's cells: live plots, progress, and Dask's repr."""
