"""The extension as Jupyter sees it: found, light, configured, documented."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp

from dask_diag_lab.proxy.config import Settings
from dask_diag_lab.proxy.extension import DaskDiagLab

CONFIG = Path(__file__).parents[2] / "jupyter-config" / "server-config" / "dask_diag_lab.json"


def run(*arguments: str, **environ: str) -> str:
    """Run Python in a process of its own and return what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout + done.stderr


def test_jupyter_lists_the_extension_as_ok(tmp_path: Path) -> None:
    place = tmp_path / "jupyter_server_config.d"
    place.mkdir()
    shutil.copy(CONFIG, place)
    listed = run(
        "-m", "jupyter_server.extension.serverextension", "list", JUPYTER_CONFIG_DIR=str(tmp_path)
    )
    mine = listed.partition(str(tmp_path))[2].partition("Config dir")[0]
    assert "dask_diag_lab.proxy" in mine
    assert "OK" in mine
    assert "X" not in mine


def test_config_file_enables_the_module() -> None:
    config = json.loads(CONFIG.read_text())
    assert config == {"ServerApp": {"jpserver_extensions": {"dask_diag_lab.proxy": True}}}


def test_import_brings_neither_bokeh_nor_dask_nor_numpy_nor_other_rooms() -> None:
    code = (
        "import sys, dask_diag_lab.proxy.extension\n"
        "heavy = {'bokeh', 'dask', 'distributed', 'numpy', 'pandas', 'jupyter_server_proxy'}\n"
        "rooms = {m for m in sys.modules if m.startswith('dask_diag_lab.')}\n"
        "rooms = {m for m in rooms if not m.startswith('dask_diag_lab.proxy')}\n"
        "print(sorted(heavy & set(sys.modules)), sorted(rooms))"
    )
    assert run("-c", code).strip() == "[] []"


def test_every_setting_is_explained() -> None:
    traits = Settings.class_traits(config=True)
    assert len(traits) >= 8
    for name, trait in traits.items():
        assert len(trait.help) > 60, name


class TestConfigured:
    """With the administrator's settings."""

    @pytest.fixture
    def settings(self) -> dict[str, object]:
        return {"allowed_hosts": ["*.cluster"], "poll_interval_s": 2.0, "relay": False}

    async def test_settings_arrive(self, extension: DaskDiagLab, jp_serverapp: ServerApp) -> None:
        assert extension.allowed_hosts == ["*.cluster"]
        assert extension.poll_interval_s == 2.0
        assert not extension.relay
        assert extension.name in jp_serverapp.extension_manager.extension_points
