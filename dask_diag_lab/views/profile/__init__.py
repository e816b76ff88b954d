"""Plots of statistical profiles: where the time of tasks and of event loops went."""
