"""A copy of the checkout, built once: sdist, its wheel, and an environment that has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))  # the build backend's modules are files, not a package

Installed = Callable[..., str]
"""Runs the Python of an environment with the wheel; returns what it printed."""
Doctor = Callable[..., tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Release:
    """A checkout with spaces in its path, what it consists of, and what was built from it."""

    tree: Path
    files: frozenset[str]
    sdist: Path
    wheel: Path


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
    _run(sys.executable, "-m", "build", "--sdist", "--outdir", out, tree)
    (sdist,) = out.glob("*.tar.gz")
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", out / "wheel")
    _run(*pip, sdist, env=_without_node(out / "empty"))
    (wheel,) = (out / "wheel").glob("*")
    return Release(tree, files, sdist, wheel)


def lend_packages(folder: Path) -> None:
    """Let a virtual environment have what is needed here, but not this package."""
    (sites,) = folder.glob("lib/*/site-packages")
    (sites / "others.pth").write_text(sysconfig.get_path("purelib"))


@pytest.fixture(scope="session")
def installed(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return a new virtual environment with the wheel, what it needs, and without Node."""
    folder = tmp_path_factory.mktemp("clean")
    python = folder / "bin/python"
    venv.EnvBuilder().create(folder)
    env = _without_node(folder / "bin")
    env.pop("PYTHONPATH", None)
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps")
    _run(*pip, release.wheel, env=env)
    lend_packages(folder)
    env |= {"HOME": str(folder), "DASK_CONFIG": str(folder / "dask")}

    def run(*arguments: str) -> str:
        return _run(python, *arguments, env=env, cwd=folder)

    return run


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Return the Python of an environment with all that is needed, but not with this package."""
    folder = tmp_path / "bare"
    venv.EnvBuilder().create(folder)
    lend_packages(folder)
    return folder / "bin/python"


@pytest.fixture
def run(tmp_path: Path) -> Doctor:
    """Run the command with a home of its own; return exit code and output."""

    def call(*words: str, python: str | Path = sys.executable, **more: str) -> tuple[int, str]:
        home = {"HOME": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path / "jupyter")}
        env = {**os.environ, **home, "JUPYTER_PREFER_ENV_PATH": "0", **more}
        done = subprocess.run(
            [python, "-m", "dask_diag_lab", *words],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return call
