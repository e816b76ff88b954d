"""A task stream of many tasks in Chromium: bytes, first picture and redraw while panning."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.browser import in_browser
from benchmarks.jupyter import running_lab
from benchmarks.report import Figure
from benchmarks.stream_traffic import following

TITLE = "A task stream of 100 000 and 1 000 000 tasks in Chromium"
_STEPS = 20
_OPENINGS = 5


@contextmanager
def _serving(module: str, n_tasks: int, *more: str) -> Iterator[dict[str, str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", f"benchmarks.{module}", str(n_tasks), *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        where: dict[str, str] = json.loads(process.stdout.readline())
        yield where
    finally:
        process.communicate(timeout=60)


def _picture(module: str, n_tasks: int) -> dict[str, Any]:
    with _serving(module, n_tasks) as where:
        url = where["url"]
        if "token" in where:
            url = f"{url}?token={where['token']}"
        return in_browser("plot", url=url, steps=_STEPS, openings=_OPENINGS)


def _pane(n_tasks: int) -> float:
    """Return the seconds from the click to the picture, as the second pane of a JupyterLab."""
    seen: list[float] = []
    with running_lab() as lab, _serving("our_stream", n_tasks, str(lab.runtime)):
        for _ in range(_OPENINGS):
            url = f"{lab.url}/lab?token={lab.token}&reset"
            plots = ["groups", "task-stream"]
            opened = in_browser("panes", url=url, plots=plots, pictured="task-stream")["opened"]
            seen.append(opened[-1]["picture_s"])
    return statistics.median(seen)


def measure() -> list[Figure]:
    """Return the figures of stock at 100 000 tasks and ours at 100 000 and 1 000 000."""
    stock = _picture("stock_stream", 100_000)
    figures = []
    for n_tasks, rival in ((100_000, stock), (1_000_000, None)):
        ours = _picture("our_stream", n_tasks)
        name = f"{n_tasks:,} tasks".replace(",", " ")
        redraw = statistics.median(ours["redraw_ms"])
        rival_redraw = statistics.median(rival["redraw_ms"]) if rival else None
        figures += [
            Figure(
                f"{name}: bytes to the first picture, BokehJS included",
                "MB",
                ours["bytes"] / 1e6,
                rival["bytes"] / 1e6 if rival else None,
                1,
            ),
            Figure(
                f"{name}: first picture",
                "s",
                statistics.median(ours["first_s"]),
                statistics.median(rival["first_s"]) if rival else None,
                None,
                f"of a page with nothing cached, BokehJS and all; median of {_OPENINGS}",
            ),
            Figure(
                f"{name}: first picture, as a further pane of JupyterLab",
                "s",
                _pane(n_tasks),
                None,
                0.5,
                f"from the click; median of {_OPENINGS}",
            ),
            Figure(f"{name}: redraw after a pan", "ms", redraw, rival_redraw, 33),
            Figure(
                f"{name}: time between redraws while panning",
                "ms",
                1000 / ours["redraws_per_s"],
                1000 / rival["redraws_per_s"] if rival else None,
                1000 / 30,
                "30 redraws a second are the budget",
            ),
        ]
    dense = "following 600 tasks a second for two minutes"
    figures.append(Figure(dense, "kB/s", following(120) / 1e3, None, 50))
    return figures
