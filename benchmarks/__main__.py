"""Command line of the benchmarks: measure all or some, print, and write the figures to the docs."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from benchmarks.report import header, table, write_between

BENCHMARKS: Final[Mapping[str, tuple[str, str]]] = {
    "scheduler_cost": ("scheduler", "Scheduler CPU per task"),
    "hook_cost": ("scheduler", "The collector's part of it, in the scheduler's loop"),
    "idle_traffic": ("traffic", "A viewer of four plots while nothing changes, 100 workers"),
    "catalogue": ("updates", "One update of each plot, everything it shows changing"),
    "million_tasks": ("kernel", "The history of a million tasks"),
    "any_window": ("windows", "Any window of a million tasks, in each plot that has one"),
    "status_page": ("traffic", "A status page of 1000 workers"),
    "latency": ("traffic", "From a task's end to its frame"),
    "discovery": ("lab", "From Client() to the sidebar's list, the cell still running"),
    "lab": ("lab", "Four plots opened, one after the other"),
    "task_stream": ("lab", "A task stream of 100 000 and 1 000 000 tasks in Chromium"),
    "relay": ("relay", "200 websockets through the Jupyter server, 10 frames a second each"),
    "kernel_cost": ("kernel", "What the kernel pays"),
    "progress": ("captures", "progress() of 500 000 tasks, until its bars begin"),
    "performance_reports": ("captures", "A performance report of 100 000 tasks"),
}
"""Of each name its module, where the function has that name, and the title of its table."""


def main() -> None:
    """Run the chosen benchmarks one after the other."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], help="default: all of them")
    parser.add_argument("--write", type=Path, help="write the figures between the marks of FILE")
    arguments = parser.parse_args()
    names = arguments.names or list(BENCHMARKS)
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "warning")
    command = f"python -m benchmarks {' '.join(names)}" if arguments.names else "make bench"
    parts = [header(command)]
    for i, name in enumerate(names, 1):
        module, title = BENCHMARKS[name]
        began = time.monotonic()
        print(f"[{i}/{len(names)}] {title} …", flush=True)
        part = table(title, getattr(import_module(f"benchmarks.{module}"), name)())
        print(f"{part}\n({time.monotonic() - began:.0f} s)\n", flush=True)
        parts.append(part)
    if arguments.write:
        write_between(arguments.write, "figures", "\n" + "\n".join(parts))


if __name__ == "__main__":
    main()
