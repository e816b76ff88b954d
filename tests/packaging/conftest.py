"""A copy of the checkout, built once: sdist, both wheels, and an environment with one of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.packaging.release import Distributions, Installed

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))  # the repository's commands are files, not a package


def without_node(*folders: Path) -> dict[str, str]:
    """Return the environment variables with a PATH of these folders only."""
    path = os.pathsep.join(str(folder) for folder in folders)
    assert shutil.which("node", path=path) is None
    return {**os.environ, "PATH": path}


@pytest.fixture(scope="session")
def checkout() -> frozenset[str]:
    """Return the paths of what git knows or would add."""
    if not (ROOT / ".git").exists():
        pytest.skip("an unpacked sdist does not know which of its files belong to it")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return frozenset(name for name in listed.split("\0") if name and (ROOT / name).is_file())


@pytest.fixture(scope="session")
def tree(checkout: frozenset[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the checkout, with the built extension and its stamp."""
    names = set(checkout)
    for folder in (ROOT / "dask_diag_lab" / "labextension",):
        names |= {str(path.relative_to(ROOT)) for path in folder.rglob("*") if path.is_file()}
    if (ROOT / ".make" / "lab.sha256").exists():
        names.add(".make/lab.sha256")
    copy = tmp_path_factory.mktemp("packaging") / "a clone with spaces"
    for name in sorted(names):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="session")
def distributions(tree: Path) -> Distributions:
    """Return the sdist of the tree, the wheel of the tree, and the sdist's, made without Node."""
    out = tree.parent / "dist"
    bin_folder = Path(sys.executable).parent
    _pip_or_build("build", "--sdist", "--outdir", out, tree)
    (sdist,) = out.glob("*.tar.gz")
    _pip_or_build("pip", "wheel", "--no-deps", "--wheel-dir", out / "tree", tree)
    _pip_or_build(
        "pip",
        "wheel",
        "--no-deps",
        "--wheel-dir",
        out / "sdist",
        sdist,
        env=without_node(bin_folder),
    )
    (wheel_of_tree,) = (out / "tree").glob("*.whl")
    (wheel_of_sdist,) = (out / "sdist").glob("*.whl")
    return Distributions(sdist, wheel_of_tree, wheel_of_sdist)


@pytest.fixture(scope="session")
def installed(distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return a new virtual environment with the wheel and its dependencies, and without Node."""
    folder = tmp_path_factory.mktemp("clean")
    venv.EnvBuilder(with_pip=True).create(folder)
    user = folder / "user"
    env = without_node(folder / "bin") | {
        "HOME": str(user),
        "JUPYTER_CONFIG_DIR": str(user / "config"),
        "JUPYTER_DATA_DIR": str(user / "data"),
        "JUPYTER_RUNTIME_DIR": str(user / "runtime"),
        "DASK_CONFIG": str(user / "dask"),
    }
    env.pop("PYTHONPATH", None)
    pip: list[str | Path] = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-input",
    ]
    # HOME stays the user's here: pip's cache and configuration live there.
    _run([*pip, distributions.wheel_of_sdist], without_node(folder / "bin"))
    return Installed(folder, env)


def _pip_or_build(module: str, *arguments: str | Path, env: dict[str, str] | None = None) -> None:
    _run([sys.executable, "-m", module, *arguments], env)


def _run(command: list[str | Path], env: dict[str, str] | None) -> None:
    done = subprocess.run(
        command,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=360,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
