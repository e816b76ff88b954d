"""The oldest Bokeh that pip may choose has all that the server takes from inside it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
SERVER = "tests/kernel/server"
TOUCHING = ("arguments", "socket", "written_document", "quick_models")
"""What the tests are about that touch what Bokeh does not document."""


def oldest(name: str) -> str:
    """Return the lowest version of a dependency that is allowed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = next(one for one in map(Requirement, project["dependencies"]) if one.name == name)
    return next(spec.version for spec in needed.specifier if spec.operator == ">=")


@pytest.mark.timeout(300)
def test_the_server_works_with_the_oldest_bokeh_that_is_allowed(tmp_path: Path) -> None:
    wanted = f"bokeh=={oldest('bokeh')}.*"
    install = ("pip", "install", "-q", "--target", str(tmp_path), wanted)
    subprocess.run([sys.executable, "-m", *install], check=True)
    tests = [f"{SERVER}/test_server_{name}.py" for name in TOUCHING]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-8000:]
