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
from benchmarks.report import Figure
from benchmarks.stream_traffic import following

TITLE = "A task stream of 100 000 and 1 000 000 tasks in Chromium"
_STEPS = 20
_OPENINGS = 5


@contextmanager
def _serving(module: str, n_tasks: int) -> Iterator[dict[str, str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", f"benchmarks.{module}", str(n_tasks)],
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
                0.5,
                f"median of {_OPENINGS} openings with nothing cached",
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
