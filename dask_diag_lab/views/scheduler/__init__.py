"""Plots of the scheduler and of the cluster as a whole."""
