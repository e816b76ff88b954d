"""What a status page of 1000 workers is sent, while everything changes and while nothing does."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from benchmarks.report import Figure
from benchmarks.targets import Target
from benchmarks.viewers import Viewers

TITLE = "A status page of 1000 workers"
_WORKERS = 1000
_HEARTBEAT_S = 6.0
"""The engine's own heartbeat interval at 1000 workers: n / 200 + 1 s."""
_SHOWN = ("cluster-memory", "workers-memory", "nprocessing", "task-stream", "progress")
"""The five panes, with the first of the three tabs in front."""
_SECONDS = 30.0


@contextmanager
def _program(module: str) -> Iterator[tuple[dict[str, str], IO[str]]]:
    """Run a server; yield where it is and how to stop it changing."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(_WORKERS), str(_HEARTBEAT_S)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdin is not None
        yield json.loads(process.stdout.readline()), process.stdin
    finally:
        process.communicate(timeout=60)


def _rates(targets: list[Target], still: IO[str]) -> tuple[float, float, float]:
    """Return kB/s while everything changes, and frames/s and kB/s once nothing does."""
    with Viewers(targets) as viewers:
        time.sleep(2 * _HEARTBEAT_S)
        viewers.counts()
        time.sleep(_SECONDS)
        moving = viewers.counts()
        still.write("still\n")
        still.flush()
        time.sleep(3)
        viewers.counts()
        time.sleep(_SECONDS / 2)
        rest = viewers.counts()
    return (
        moving["bytes"] / _SECONDS / 1000,
        rest["frames"] / _SECONDS * 2,
        rest["bytes"] / _SECONDS / 500,
    )


def measure() -> list[Figure]:
    """Return bytes and frames of one page, at the heartbeat rate of 1000 workers."""
    with _program("benchmarks.stock_status") as (where, still):
        stock = _rates([(f"{where['url']}/status", "")], still)
    with _program("benchmarks.our_status") as (where, still):
        targets = [(f"{where['url']}/plots/{name}", where["token"]) for name in _SHOWN]
        ours = _rates(targets, still)
    note = "every figure of every worker changes every 6 s"
    return [
        Figure("everything changes", "kB/s", ours[0], stock[0], 50, note),
        Figure("nothing changes: data frames", "1/s", ours[1], stock[1], 0),
        Figure("nothing changes", "kB/s", ours[2], stock[2], 0),
    ]
