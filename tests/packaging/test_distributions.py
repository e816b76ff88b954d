"""The release: sdist and wheel are complete, and an installed wheel is found by Jupyter."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.release import Distributions, Installed

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


def test_sdist_builds_to_the_same_wheel_without_node(distributions: Distributions) -> None:
    of_tree = _contents(distributions.wheel_of_tree)
    of_sdist = _contents(distributions.wheel_of_sdist)
    assert sorted(of_tree) == sorted(of_sdist)
    assert [name for name in of_tree if of_tree[name] != of_sdist[name]] == []


def test_wheel_installs_the_whole_lab_extension_once(
    distributions: Distributions, tree: Path
) -> None:
    names = set(_contents(distributions.wheel_of_sdist))
    built = _files_below(tree / "dask_diag_lab" / "labextension")
    assert any(name.startswith("static/remoteEntry.") for name in built)
    assert {LAB + name for name in built} | {f"{LAB}install.json"} == {
        name for name in names if name.startswith(LAB)
    }
    assert [name for name in names if name.startswith("dask_diag_lab/labextension")] == []


def test_wheel_installs_server_and_dask_configuration(distributions: Distributions) -> None:
    contents = _contents(distributions.wheel_of_sdist)
    server = json.loads(contents[f"{DATA}etc/jupyter/jupyter_server_config.d/dask_diag_lab.json"])
    assert any("dask_diag_lab" in name for name in server["ServerApp"]["jpserver_extensions"])
    assert b"dask_diag_lab.preload" in contents[f"{DATA}etc/dask/dask_diag_lab.yaml"]


def test_wheel_holds_every_file_of_the_package(distributions: Distributions, tree: Path) -> None:
    names = set(_contents(distributions.wheel_of_sdist))
    package = tree / "dask_diag_lab"
    missing = {
        name
        for name in _files_below(package)
        if not name.startswith("labextension/") and f"dask_diag_lab/{name}" not in names
    }
    assert missing == set()
    assert "dask_diag_lab/py.typed" in names


def test_sdist_holds_every_file_of_the_checkout_and_the_built_extension(
    distributions: Distributions, checkout: frozenset[str], tree: Path
) -> None:
    with tarfile.open(distributions.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    built = _files_below(tree / "dask_diag_lab" / "labextension")
    assert built
    # A copy whose extension had to be built holds what building leaves, such as node_modules.
    expected = checkout | {f"dask_diag_lab/labextension/{name}" for name in built}
    assert {name for name in expected - names if not name.startswith(".git")} == set()


def test_lab_finds_the_installed_extension(installed: Installed) -> None:
    lines = installed.run("jupyter", "labextension", "list").splitlines()
    (ours,) = [line for line in lines if "dask-diag-lab" in line]
    assert "v0.1.0" in ours
    assert "enabled" in ours
    assert "OK" in ours


def test_jupyter_server_loads_the_installed_extension(installed: Installed) -> None:
    printed = installed.run("jupyter", "server", "extension", "list")
    assert "dask_diag_lab" in printed
    after = printed[printed.rindex("Validating dask_diag_lab") :].splitlines()
    assert "OK" in "\n".join(after[:2])


def test_a_client_of_the_installed_package_is_told_to_preload_it(installed: Installed) -> None:
    code = "import dask; print(dask.config.get('distributed.client.preload'))"
    # distributed's own defaults are loaded by its import.
    printed = installed.run("python", "-c", f"import distributed; {code}")
    assert "dask_diag_lab.preload" in printed
