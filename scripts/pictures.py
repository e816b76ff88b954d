"""``make pictures``: takes all screenshots of the documents anew, from real runs in a browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import chromium
from environment import LOGS, PYTHON, ROOT, SCRIPTS, node_environment, prepare
from steps import FailedError, MissingError, Steps


def main() -> int:
    """Run the browser tests' project that writes to docs/images."""
    steps = Steps(6, LOGS / "pictures.log")
    prepare(steps, ["test", "demo"])
    steps.begin("Node packages of the browser")
    env = node_environment() | {"PYTHON": str(PYTHON)}
    # Another cluster on this machine is no business of the picture.
    env["PYTHONWARNINGS"] = "ignore:Port 8787 is already in use"
    steps.run([SCRIPTS / "jlpm", "install", "--immutable"], ROOT / "ui-tests", env)
    steps.begin("A Chromium")
    env["CHROMIUM_PATH"] = str(chromium.find_or_bring(steps))
    steps.begin("Pictures")
    command: list[str | Path] = [SCRIPTS / "jlpm", "run", "pictures"]
    code = subprocess.run(command, cwd=ROOT / "ui-tests", env=env, check=False).returncode
    steps.begin("The page of all plots")
    steps.run([PYTHON, ROOT / "scripts" / "gallery.py"], ROOT)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (MissingError, FailedError) as problem:
        sys.exit(f"\n{problem}")
