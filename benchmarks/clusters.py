"""Real schedulers and workers in processes of their own, so that their CPU can be read apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil


@dataclass(frozen=True, slots=True)
class RunningCluster:
    """A scheduler's address and its stock dashboard."""

    address: str
    dashboard: str


def _wait_for_file(path: Path, timeout_s: float = 60) -> dict[str, object]:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if path.exists() and path.stat().st_size:
            found: dict[str, object] = json.loads(path.read_text())
            return found
        time.sleep(0.05)
    msg = f"the scheduler did not write {path} within {timeout_s:.0f} s"
    raise TimeoutError(msg)


@contextmanager
def _own_core(
    scheduler: subprocess.Popen[bytes], others: Sequence[subprocess.Popen[bytes]]
) -> Iterator[None]:
    """Give the scheduler a core for itself, where the system can: what others do is noise then."""
    here = psutil.Process()
    cores = here.cpu_affinity() if hasattr(here, "cpu_affinity") else None
    if not cores or len(cores) < 2:
        yield
        return
    psutil.Process(scheduler.pid).cpu_affinity(cores[:1])
    for process in (here, *(psutil.Process(other.pid) for other in others)):
        process.cpu_affinity(cores[1:])
    try:
        yield
    finally:
        here.cpu_affinity(cores)


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in reversed(processes):
        process.terminate()
    for process in processes:
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def separate_cluster(n_threads: int = 4, *, has_own_core: bool = True) -> Iterator[RunningCluster]:
    """Run ``dask scheduler`` and one worker process of ``n_threads`` threads.

    With ``has_own_core`` nothing else here runs on the scheduler's core, nor it elsewhere.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        # The functions that the benchmarks submit are looked up by name on the other side.
        root = Path(__file__).resolve().parents[1]
        quiet: dict[str, Any] = {  # arguments of Popen, of several types
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
            "env": {**os.environ, "PYTHONPATH": str(root)},
        }
        scheduler = subprocess.Popen(
            [
                *(sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0"),
                *("--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file)),
            ],
            cwd=folder,
            **quiet,
        )
        processes = [scheduler]
        try:
            info = _wait_for_file(file)
            worker = [sys.executable, "-m", "dask", "worker", "--scheduler-file", str(file)]
            worker += ["--nthreads", str(n_threads), "--no-nanny", "--no-dashboard"]
            processes.append(subprocess.Popen(worker, cwd=folder, **quiet))
            port = info["services"]["dashboard"]  # type: ignore[index]  # the file is plain JSON
            with _own_core(scheduler, processes[1:]) if has_own_core else nullcontext():
                yield RunningCluster(str(info["address"]), f"http://127.0.0.1:{port}")
        finally:
            _stop(processes)


@contextmanager
def quiet_cluster(n_workers: int, heartbeats: str = "still") -> Iterator[RunningCluster]:
    """Run a scheduler and ``n_workers`` workers without work, in one process.

    ``heartbeats`` is ``still`` or ``moving``: whether what they say ever changes.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.quiet_workers", str(n_workers), heartbeats],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        info = json.loads(process.stdout.readline())
        yield RunningCluster(info["address"], info["dashboard"])
    finally:
        process.communicate(timeout=60)
