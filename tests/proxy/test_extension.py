"""The extension as an administrator sees it: enabled, explained, configured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dask_diag_lab.proxy.config import Settings
from dask_diag_lab.proxy.extension import DaskDiagLab

CONFIG = Path(__file__).parents[2] / "jupyter-config" / "server-config" / "dask_diag_lab.json"


def test_config_file_enables_the_module_and_every_setting_is_explained() -> None:
    config = json.loads(CONFIG.read_text())
    assert config == {"ServerApp": {"jpserver_extensions": {"dask_diag_lab.proxy": True}}}
    traits = Settings.class_traits(config=True)
    assert len(traits) >= 3
    for name, trait in traits.items():
        assert len(trait.help) > 60, name


class TestConfigured:
    """With the administrator's settings."""

    @pytest.fixture
    def settings(self) -> dict[str, object]:
        return {"allowed_hosts": ["*.cluster"], "answer_timeout_s": 2.0}

    async def test_settings_arrive(self, extension: DaskDiagLab) -> None:
        assert (extension.allowed_hosts, extension.answer_timeout_s) == (["*.cluster"], 2.0)
