"""The oldest Bokeh that pip may choose has all that the server takes from inside it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
SERVER = "tests/kernel/server"
TOUCHING = ("arguments", "home_made", "socket", "written_document", "quick_models")
"""What the tests are about that touch what Bokeh does not document."""


def oldest(name: str) -> str:
    """Return the lowest version of a dependency that is allowed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = next(one for one in map(Requirement, project["dependencies"]) if one.name == name)
    return next(spec.version for spec in needed.specifier if spec.operator == ">=")


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the oldest Bokeh, and with what it needs and the environment lacks."""
    folder = tmp_path_factory.mktemp("old")
    # pandas is loaded with the first source of data; Bokeh >= 3.9 does without.
    lacking = [] if find_spec("pandas") else ["pandas"]
    # No dependencies: the newest of all would stand before those of the environment.
    install = ("pip", "install", "-q", "--no-deps", "--target", str(folder))
    wanted = (f"bokeh=={oldest('bokeh')}", *lacking)
    subprocess.run([sys.executable, "-m", *install, *wanted], check=True)
    return folder


def test_the_bokeh_that_is_put_in_is_the_oldest_that_is_allowed(old: Path) -> None:
    (bokeh,) = (found for found in distributions(path=[str(old)]) if found.name == "bokeh")
    assert Version(bokeh.version) == Version(oldest("bokeh"))


def test_nothing_that_is_installed_is_replaced_but_bokeh(old: Path) -> None:
    put_in = {found.name for found in distributions(path=[str(old)])}
    assert put_in & {found.name for found in distributions()} == {"bokeh"}


@pytest.mark.timeout(300)
def test_the_server_works_with_the_oldest_bokeh_that_is_allowed(old: Path) -> None:
    tests = [f"{SERVER}/test_server_{name}.py" for name in TOUCHING]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(old), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-8000:]
