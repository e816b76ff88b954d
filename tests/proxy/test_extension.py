"""The extension as an administrator sees it: enabled, explained, configured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dask_diag_lab.proxy.policy import Settings
from tests.proxy.backends import Backend
from tests.proxy.client import Client, message

CONFIG = Path(__file__).parents[2] / "jupyter-config" / "server-config" / "dask_diag_lab.json"


def test_config_file_enables_the_module_and_every_setting_is_explained() -> None:
    config = json.loads(CONFIG.read_text())
    assert config == {"ServerApp": {"jpserver_extensions": {"dask_diag_lab.proxy": True}}}
    traits = Settings.class_traits(config=True)
    assert len(traits) >= 3
    for name, trait in traits.items():
        assert len(trait.help) > 60, name


class TestSwitchedOff:
    """With ``c.DaskDiagLab.relay = False``."""

    @pytest.fixture
    def settings(self) -> dict[str, object]:
        return {"relay": False, "discover": False}

    async def test_list_stays_and_nothing_else(self, client: Client, announced: Backend) -> None:
        assert len(await client.dashboards()) == 1
        answer = await client.relayed(announced, "health")
        assert answer.code == 403
        assert "switched off" in message(answer)
        assert (await client.add("http://127.0.0.1:1")).code == 403
