"""Plots of tasks, their prefixes and groups; the task stream has a room of its own."""
