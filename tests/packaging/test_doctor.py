"""``dask-diag-lab doctor`` in installations that are really broken, and ``enable``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packaging.conftest import Release

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

SERVER = "dask_diag_lab.proxy"
Doctor = Callable[..., tuple[int, str]]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Return the Python of an environment with all that is needed, but not with this package."""
    folder = tmp_path / "bare"
    venv.EnvBuilder().create(folder)
    (sites,) = folder.glob("lib/*/site-packages")
    (sites / "others.pth").write_text(sysconfig.get_path("purelib"))
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


def configure(tmp_path: Path, name: str, content: object) -> None:
    """Write a file of configuration for `run`."""
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))


def test_an_installation_that_is_whole_is_well(run: Doctor) -> None:
    code, printed = run("doctor")
    assert (code, "✗" in printed) == (0, False), printed


def test_what_jupyter_and_dask_miss_after_a_target_install_is_mended_as_it_says(
    run: Doctor, release: Release, bare: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target"]
    subprocess.run([*pip, str(target), str(release.wheel_of_tree)], check=True)
    env = {"PYTHONPATH": str(target)}
    code, printed = run("doctor", python=bare, **env)
    assert code == 1
    more = {
        "JUPYTER_PATH": f"{target}/share/jupyter",
        "JUPYTER_CONFIG_PATH": f"{target}/etc/jupyter",
    }
    for name, path in more.items():
        assert f"To mend it: export {name}={path}, then restart JupyterLab" in printed
    assert "-m dask_diag_lab enable" in printed
    assert run("enable", python=bare, **env)[0] == 0
    code, printed = run("doctor", python=bare, **env, **more)
    assert (code, "✗" in printed) == (0, False), printed


def test_enable_writes_once_and_leaves_other_preloads_alone(
    run: Doctor, bare: Path, tmp_path: Path
) -> None:
    env = {"PYTHONPATH": str(Path(__file__).parents[2]), "DASK_CONFIG": str(tmp_path / "dask")}
    file = tmp_path / "dask/dask_diag_lab.yaml"
    assert str(file) in run("enable", python=bare, **env)[1]
    written = file.read_text()
    assert run("enable", python=bare, **env)[0] == 0
    assert file.read_text() == written
    file.unlink()
    configure(tmp_path, "dask/mine.yaml", {"distributed": {"client": {"preload": ["mine"]}}})
    code, printed = run("enable", python=bare, **env)
    assert code == 1
    assert f"{tmp_path}/dask/mine.yaml sets distributed.client.preload" in printed
    assert not file.exists()


def test_what_overwrites_the_preload_is_named(run: Doctor, tmp_path: Path) -> None:
    mine = {"distributed": {"client": {"preload": ["mine"]}}}
    configure(tmp_path, ".config/dask/mine.yaml", mine)
    code, printed = run("doctor")
    assert code == 1
    assert f"{tmp_path}/.config/dask/mine.yaml sets distributed.client.preload" in printed


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (
            f"jupyter_server_config.d/{SERVER}.json",
            {"ServerApp": {"jpserver_extensions": {SERVER: False}}},
        ),
        ("labconfig/page_config.json", {"disabledExtensions": {"dask-diag-lab": True}}),
    ],
    ids=["of the server", "of Lab"],
)
def test_a_disabled_extension_is_enabled_by_the_command_that_it_names(
    run: Doctor, tmp_path: Path, file: str, content: object
) -> None:
    configure(tmp_path, f"jupyter/{file}", content)
    code, printed = run("doctor")
    assert code == 1
    (command,) = re.findall("To mend it: (.*), then", printed)
    config = {"JUPYTER_CONFIG_DIR": str(tmp_path / "jupyter"), "JUPYTER_PREFER_ENV_PATH": "0"}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(command, shell=True, check=True, env=os.environ | config | {"PATH": path})
    code, printed = run("doctor")
    assert code == 0, printed
