"""Plots of workers: memory, load, network, disk, and one worker at a time."""
