"""A recording of a million tasks: its size, and from its opening to the first picture.

``python -m benchmarks.recording [TASKS]``
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from benchmarks.simulator import Simulation
from benchmarks.viewers import connect
from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.recording import snapshot

ROUNDS = 5


def save(n_tasks: int, path: Path) -> None:
    """Record a simulated cluster of 1000 threads."""
    live = LiveSession()
    for batch in Simulation(250, 4, n_tasks).batches():
        live.apply(batch)
    began = time.process_time()
    snapshot(live.history)(path)
    took_s, size = time.process_time() - began, path.stat().st_size
    print(f"{size / 1e6:.1f} MB, {size / n_tasks:.1f} B a task, written in {took_s:.1f} s of CPU")


async def first_picture(url: str, token: str) -> None:
    """Wait until the task stream has come with what is drawn in it."""
    socket = await connect(url, token, ["task-stream"])
    await socket.read_message()
    socket.close()


def opened(path: Path) -> tuple[float, float]:
    """Open a file as the Jupyter server does; return seconds to the picture, and of CPU."""
    command = [sys.executable, "-P", "-m", "dask_diag_lab", "open", str(path), "--port", "0"]
    pipe, began = subprocess.PIPE, time.monotonic()
    with subprocess.Popen(
        [*command, "--for-jupyter", "0123456789abcdef"], stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdout is not None
        found = re.search(r"(http://\S+)/status\?token=(\S+)", process.stdout.readline())
        assert found is not None
        asyncio.run(first_picture(found[1], found[2]))
        took_s = time.monotonic() - began
        cpu = psutil.Process(process.pid).cpu_times()
        process.communicate()
    return took_s, cpu.user + cpu.system


def main() -> None:
    """Measure and print."""
    n_tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.daskrun"
        save(n_tasks, path)
        rounds = [opened(path) for _ in range(ROUNDS)]
    took_s, cpu_s = (sorted(one)[ROUNDS // 2] for one in zip(*rounds, strict=True))
    load = psutil.getloadavg()[0] / (psutil.cpu_count() or 1)
    print(f"opened to the first picture in {took_s:.2f} s, {cpu_s:.2f} s of CPU, with 2 threads;")
    print(f"medians of {ROUNDS}; the machine had {load:.1f} programs for each processor")


if __name__ == "__main__":
    main()
