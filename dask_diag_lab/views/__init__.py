"""The plots: one file each, listed in `registry`."""
