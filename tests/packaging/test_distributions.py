"""The release: sdist and wheel are complete, and an installed wheel is found by Jupyter."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.conftest import Doctor, Installed, Release

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

DATA = "dask_diag_lab-0.1.0.data/data/"
LAB = f"{DATA}share/jupyter/labextensions/dask-diag-lab/"


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _files_below(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_wheel_installs_the_whole_lab_extension_once(release: Release) -> None:
    names = set(_contents(release.wheel))
    built = _files_below(release.tree / "dask_diag_lab" / "labextension")
    assert any(name.startswith("static/remoteEntry.") for name in built)
    assert {LAB + name for name in built} | {f"{LAB}install.json"} == {
        name for name in names if name.startswith(LAB)
    }
    assert [name for name in names if name.startswith("dask_diag_lab/labextension")] == []


def test_wheel_installs_server_and_dask_configuration(release: Release) -> None:
    contents = _contents(release.wheel)
    server = json.loads(contents[f"{DATA}etc/jupyter/jupyter_server_config.d/dask_diag_lab.json"])
    assert any("dask_diag_lab" in name for name in server["ServerApp"]["jpserver_extensions"])
    assert b"dask_diag_lab.preload" in contents[f"{DATA}etc/dask/dask_diag_lab.yaml"]


def test_wheel_holds_every_file_of_the_package(release: Release) -> None:
    package = _files_below(release.tree / "dask_diag_lab")
    expected = {f"dask_diag_lab/{name}" for name in package if "labextension/" not in name}
    assert "dask_diag_lab/py.typed" in expected
    assert expected - set(_contents(release.wheel)) == set()


def test_sdist_holds_every_file_of_the_checkout_and_the_built_extension(release: Release) -> None:
    with tarfile.open(release.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    package = {f"dask_diag_lab/{name}" for name in _files_below(release.tree / "dask_diag_lab")}
    assert any("labextension/" in name for name in package)
    missing = (release.files | package) - names
    assert {name for name in missing if not name.startswith(".git")} == set()


def test_jupyter_finds_the_installed_extensions(installed: Installed) -> None:
    lines = installed("-m", "jupyterlab.labextensions", "list").splitlines()
    (lab,) = [line for line in lines if "dask-diag-lab" in line]
    assert all(word in lab for word in ("v0.1.0", "enabled", "OK"))
    printed = installed("-m", "jupyter_server.extension.serverextension", "list")
    after = printed[printed.rindex("Validating dask_diag_lab") :].splitlines()
    assert "OK" in "\n".join(after[:2])


def test_a_client_of_the_installed_package_preloads_it(installed: Installed) -> None:
    # distributed's own defaults are loaded by its import.
    code = "import dask, distributed; print(dask.config.get('distributed.client.preload'))"
    assert "dask_diag_lab.preload" in installed("-c", code)


def test_what_jupyter_and_dask_miss_after_a_target_install_is_mended_as_it_says(
    run: Doctor, release: Release, bare: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target"]
    subprocess.run([*pip, str(target), str(release.wheel)], check=True)
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
