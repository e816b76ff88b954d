"""Where viewers connect: the plots of a stock dashboard, and those of our own diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

from dask_diag_lab.session import Diagnostics

STATUS_PLOTS = ("task-stream", "progress", "workers-memory", "nprocessing")
"""One viewer is a page with these four open, which is about what stock's status page holds."""

Target = tuple[str, str]
"""A page's URL and the token of our server; '' where the server wants none."""


def stock_targets(dashboard: str, plots: Sequence[str] = STATUS_PLOTS) -> list[Target]:
    """Return the individual pages of the stock dashboard at ``dashboard``."""
    return [(f"{dashboard}/individual-{plot}", "") for plot in plots]


def our_targets(diagnostics: Diagnostics, plots: Sequence[str] = STATUS_PLOTS) -> list[Target]:
    """Return the plots of ``diagnostics``."""
    parts = urlsplit(diagnostics.url)
    token = parse_qs(parts.query)["token"][0]
    return [(f"{parts.scheme}://{parts.netloc}/plots/{plot}", token) for plot in plots]
