"""``dask-diag-lab doctor`` in installations that are really broken, and ``enable``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.packaging.conftest import Doctor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

SERVER = "dask_diag_lab.proxy"
CLUSTER = """
import dask_diag_lab
from distributed import Client
with Client(processes=False, dashboard_address=None) as client:
    dask_diag_lab.attach(client).url
    print("announced", flush=True)
    input()
"""


def configure(tmp_path: Path, name: str, content: object) -> None:
    """Write a file of configuration for `run`."""
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))


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


def test_what_is_missing_old_switched_off_or_not_writable_is_named_with_its_remedy(
    run: Doctor, bare: Path, tmp_path: Path
) -> None:
    metadata = tmp_path / "old/psutil-0.1.dist-info/METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.1\nName: psutil\nVersion: 0.1\n")
    code, printed = run(
        "doctor",
        python=bare,
        PYTHONPATH=os.pathsep.join([str(tmp_path / "old"), str(Path(__file__).parents[2])]),
        DASK_DISTRIBUTED__CLIENT__PRELOAD="['dask_diag_lab.preload']",
        DASK_DIAG_LAB__AUTO_ATTACH="false",
        JUPYTER_RUNTIME_DIR="/dev/null/runtime",
    )
    assert code == 1
    for fault, remedy in (
        ("psutil is 0.1; needed is psutil", f'{bare} -m pip install "psutil'),
        ("diag-lab.auto-attach is false in Dask's", "set it to true, or call"),
        ("The Lab extension is not where Jupyter looks.", f"{bare} -m pip install --force"),
        ("runtime folder /dev/null/runtime cannot be written.", "chmod u+rwx /dev/null, or set"),
    ):
        assert re.search(f"✗ .*{re.escape(fault)}.*\n    To mend it: {re.escape(remedy)}", printed)


def test_a_plugin_that_is_switched_off_is_mentioned_and_no_fault(
    run: Doctor, tmp_path: Path
) -> None:
    off = {"disabledExtensions": {"dask-diag-lab:status": True}}
    configure(tmp_path, "jupyter/labconfig/page_config.json", off)
    code, printed = run("doctor")
    assert code == 0, printed
    assert ", without dask-diag-lab:status." in printed


def test_an_old_lab_extension_is_a_fault_and_clusters_in_another_runtime_folder_are_named(
    run: Doctor, tmp_path: Path
) -> None:
    configure(tmp_path, "old/labextensions/dask-diag-lab/package.json", {"version": "0.0.1"})
    here, other = tmp_path / "here", tmp_path / "other"
    where = os.environ | {"JUPYTER_RUNTIME_DIR": str(other)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER], env=where, stdin=pipe, stdout=pipe, text=True
    ) as cluster:
        try:
            assert cluster.stdout is not None
            assert cluster.stdout.readline() == "announced\n"
            old = {"JUPYTER_PATH": str(tmp_path / "old"), "JUPYTER_RUNTIME_DIR": str(here)}
            code, printed = run("doctor", **old)
        finally:
            cluster.communicate("end\n")
    assert code == 1
    unseen = f"✓ A JupyterLab of here does not see {other}; clusters: 1"
    assert f"{unseen}; both need one JUPYTER_RUNTIME_DIR" in printed
    place = tmp_path / "old/labextensions/dask-diag-lab"
    own = metadata.version("dask_diag_lab")
    assert f"The Lab extension in {place} is 0.0.1, and dask_diag_lab {own}." in printed
    assert f"To mend it: remove the folder {place}, then restart JupyterLab" in printed


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
