"""Writes what is listed of the plots of this package to dask_diag_lab/views/catalogue.json.

A server lists them from there while it has not loaded Bokeh yet, which their classes need.
"""

from __future__ import annotations

import json

from dask_diag_lab.views.registry import CATALOGUE, built_in_plots, entry

if __name__ == "__main__":
    plots = [entry(plot) for plot in built_in_plots()]
    CATALOGUE.write_text(f"{json.dumps(plots, indent=1)}\n", encoding="utf-8")
    print(f"{len(plots)} plots written to {CATALOGUE.name}")
