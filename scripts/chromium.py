"""Finds a Chromium for the browser tests, or installs one in whichever way this machine has.

``python scripts/chromium.py`` prints the path of its executable.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_ASK_PLAYWRIGHT = "console.log(require('@playwright/test').chromium.executablePath())"


def find() -> Path | None:
    """Return the first browser that starts: ``$CHROMIUM_PATH``, PATH's, or Playwright's own."""
    return next((path for path in _candidates() if _starts(path)), None)


def install() -> None:
    """Install a browser with Debian's package manager, else with Playwright's download."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        _run("apt-get", "update", "-q")
        _run("apt-get", "install", "-qq", "-y", "chromium")
    if find() is None:
        _run(str(ROOT / ".venv/bin/jlpm"), "playwright", "install", "chromium")


def _run(*command: str) -> None:
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Standard output is for the path alone; whether it worked is seen from what is found then.
    subprocess.run(command, cwd=ROOT / "ui-tests", env=env, stdout=sys.stderr, check=False)


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("CHROMIUM_PATH"):
        yield Path(named)
    yield from (Path(found) for command in _COMMANDS if (found := shutil.which(command)))
    node = ROOT / ".venv/bin/node"
    if node.exists() and (ROOT / "ui-tests/node_modules/@playwright").exists():
        command = [str(node), "-e", _ASK_PLAYWRIGHT]
        asked = subprocess.run(command, cwd=ROOT / "ui-tests", capture_output=True, check=True)
        yield Path(asked.stdout.decode().strip())


def _starts(path: Path) -> bool:
    try:
        run = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


if __name__ == "__main__":
    if find() is None:
        install()
    print(
        find()
        or sys.exit(
            "No Chromium was found and none could be installed; the browser tests need one.\n"
            "    Run:  sudo apt install chromium   (or: make test CHROMIUM_PATH=/path/to/chrome)"
        )
    )
