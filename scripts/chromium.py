"""Finds a Chromium for the browser tests, or brings one by whichever way this machine has.

``python scripts/chromium.py`` prints the path of its executable.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from environment import ROOT, SCRIPTS, node_environment
from steps import FailedError, MissingError, Steps

_COMMANDS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)
_PLAYWRIGHT = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium",
    "chromium_headless_shell-*/chrome-*/*headless*shell",
)


def find() -> Path | None:
    """Return the first browser that starts: ``$CHROMIUM_PATH``, PATH's, or Playwright's own."""
    return next((path for path in _candidates() if _starts(path)), None)


def find_or_bring(steps: Steps) -> Path:
    """Return a browser, installing one where there is none.

    Raises
    ------
    MissingError
        No way worked; the message tells the commands that bring one.
    """
    found = find()
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        steps.note("no Chromium here: installing Debian's package")
        found = _try(steps, [["apt-get", "update"], ["apt-get", "install", "-y", "chromium"]])
    if found is None:
        steps.note("no Chromium here: trying Playwright's download")
        found = _try(steps, [[SCRIPTS / "jlpm", "playwright", "install", "chromium"]])
    if found is None:
        raise MissingError(
            "No Chromium was found and none could be installed; the browser tests need one.",
            "sudo apt install chromium   (or name one: make test CHROMIUM_PATH=/path/to/chrome)",
        )
    return found


def _try(steps: Steps, commands: list[list[str | Path]]) -> Path | None:
    env = {**node_environment(), "DEBIAN_FRONTEND": "noninteractive"}
    try:
        for command in commands:
            steps.run(command, ROOT / "ui-tests", env)
    except FailedError as problem:
        steps.note(str(problem).splitlines()[0])
    return find()


def _candidates() -> Iterator[Path]:
    named = os.environ.get("CHROMIUM_PATH")
    if named:
        yield Path(named)
    for command in _COMMANDS:
        found = shutil.which(command)
        if found:
            yield Path(found)
    cache = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    home = Path.home()
    folders = [home / ".cache/ms-playwright", home / "Library/Caches/ms-playwright"]
    for folder in [Path(cache)] if cache else folders:
        for pattern in _PLAYWRIGHT:
            yield from sorted(folder.glob(pattern), reverse=True)


def _starts(path: Path) -> bool:
    try:
        run = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


if __name__ == "__main__":
    browser = find()
    print(browser or "none")
    sys.exit(0 if browser else 1)
