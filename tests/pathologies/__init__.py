"""Computations whose cause of slowness is known, their cures, and healthy ones."""
