"""``make bench``: sets up what the benchmarks need and runs them; the figures go to the docs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import chromium
from environment import LOGS, PYTHON, ROOT, SCRIPTS, node_environment, prepare
from steps import FailedError, MissingError, Steps


def main() -> int:
    """Run ``python -m benchmarks`` with a browser; arguments are passed on."""
    steps = Steps(5, LOGS / "bench.log")
    prepare(steps, ["bench", "demo"])
    steps.begin("Node packages of the browser")
    env = node_environment()
    steps.run([SCRIPTS / "jlpm", "install", "--immutable"], ROOT / "ui-tests", env)
    steps.begin("A Chromium")
    env["CHROMIUM_PATH"] = str(chromium.find_or_bring(steps))
    steps.note(env["CHROMIUM_PATH"])
    steps.begin("Benchmarks")
    arguments = sys.argv[1:] or ["--write", "docs/benchmarks.md"]
    command: list[str | Path] = [PYTHON, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (MissingError, FailedError) as problem:
        sys.exit(f"\n{problem}")
