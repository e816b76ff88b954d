"""Plots of tasks, their prefixes and groups; the task stream has a package of its own."""
