"""Runs a scenario of `browser.mjs` in headless Chromium and returns what it measured."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

_SCRIPT = Path(__file__).with_name("browser.mjs")
_TIMEOUT_S = 240


def in_browser(scenario: str, **arguments: object) -> dict[str, Any]:
    """Return the JSON answer of one scenario.

    Raises
    ------
    RuntimeError
        The scenario failed; the message carries what Node printed.
    """
    done = subprocess.run(
        ["node", str(_SCRIPT), scenario],
        input=json.dumps(arguments),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        msg = f"browser scenario {scenario!r} failed:\n{done.stderr}"
        raise RuntimeError(msg)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
