"""The in-kernel diagnostics server: plots, tables and health over HTTP on the loopback address.

Must not import `distributed`, and Bokeh only when it starts.
"""

from __future__ import annotations

from dask_diag_lab.server.application import Server, missing_bokeh

__all__ = ["Server", "missing_bokeh"]
