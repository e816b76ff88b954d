"""A copy of the checkout, built once: sdist, both wheels, and an environment with one of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))  # the build backend's modules are files, not a package

Installed = Callable[..., str]
"""Runs a console script of a clean environment with the wheel; returns what it printed."""


@dataclass(frozen=True, slots=True)
class Release:
    """A checkout with spaces in its path, what it consists of, and what was built from it."""

    tree: Path
    files: frozenset[str]
    sdist: Path
    wheel_of_tree: Path
    wheel_of_sdist: Path


def _without_node(*folders: Path) -> dict[str, str]:
    return {**os.environ, "PATH": os.pathsep.join(map(str, folders))}


def _run(*command: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=360,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Build a copy of what git knows or would add; the sdist's wheel is made without Node."""
    if not (ROOT / ".git").exists():
        pytest.skip("an unpacked sdist does not know which of its files belong to it")
    listed = _run("git", "ls-files", "-co", "--exclude-standard", "-z", cwd=ROOT).split("\0")
    files = frozenset(name for name in listed if (ROOT / name).is_file())
    tree = tmp_path_factory.mktemp("packaging") / "a clone with spaces"
    # What is built here already need not be built again, if it is fresh.
    built = [
        ROOT / ".make/lab.sha256",
        *(ROOT / "dask_diag_lab/labextension").rglob("*"),
        *(ROOT / "dask_diag_lab/dist").rglob("*"),
        *(ROOT / "dask_diag_lab/server/static").rglob("*"),
    ]
    names = files | {str(path.relative_to(ROOT)) for path in built if path.is_file()}
    for name in names:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    out = tree.parent
    wheel = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir")
    _run(sys.executable, "-m", "build", "--sdist", "--outdir", out, tree)
    (sdist,) = out.glob("*.tar.gz")
    _run(*wheel, out / "tree", tree)
    _run(*wheel, out / "sdist", sdist, env=_without_node(out / "empty"))
    (wheel_of_tree,), (wheel_of_sdist,) = (out / "tree").glob("*"), (out / "sdist").glob("*")
    return Release(tree, files, sdist, wheel_of_tree, wheel_of_sdist)


@pytest.fixture(scope="session")
def installed(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return a new virtual environment with the wheel and its dependencies, and without Node."""
    folder = tmp_path_factory.mktemp("clean")
    venv.EnvBuilder(with_pip=True).create(folder)
    env = _without_node(folder / "bin")
    env.pop("PYTHONPATH", None)
    pip = (folder / "bin/python", "-m", "pip", "install", "--quiet", "--no-input")
    _run(*pip, release.wheel_of_sdist, env=env)
    env |= {"HOME": str(folder), "DASK_CONFIG": str(folder / "dask")}

    def run(script: str, *arguments: str) -> str:
        return _run(folder / "bin" / script, *arguments, env=env, cwd=folder)

    return run
