"""Command line of the benchmarks: measure all or some, print, and write the figures to the docs."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path

from benchmarks.report import header, table

NAMES = (
    "scheduler_cost",
    "idle_traffic",
    "catalogue",
    "many_rows",
    "million_tasks",
    "status_page",
    "latency",
    "discovery",
    "lab",
    "task_stream",
    "kernel_cost",
)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="default: all of them")
    parser.add_argument("--write", type=Path, help="write the figures between the marks of FILE")
    return parser.parse_args()


def _replace_figures(file: Path, text: str) -> None:
    """Put ``text`` between the two marks of the document."""
    begin, end = "<!-- figures -->", "<!-- end of figures -->"
    before, _, rest = file.read_text().partition(begin)
    _, _, after = rest.partition(end)
    file.write_text(f"{before}{begin}\n\n{text}\n{end}{after}")


def main() -> None:
    """Run the chosen benchmarks one after the other."""
    arguments = _arguments()
    names = arguments.names or NAMES
    parts = [header("make bench" if names is NAMES else f"python -m benchmarks {' '.join(names)}")]
    for i, name in enumerate(names, 1):
        module = import_module(f"benchmarks.{name}")
        began = time.monotonic()
        sys.stdout.write(f"[{i}/{len(names)}] {module.TITLE} …\n")
        sys.stdout.flush()
        part = table(module.TITLE, module.measure())
        sys.stdout.write(f"{part}\n({time.monotonic() - began:.0f} s)\n\n")
        sys.stdout.flush()
        parts.append(part)
    if arguments.write:
        _replace_figures(arguments.write, "\n".join(parts))


if __name__ == "__main__":
    main()
