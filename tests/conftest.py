"""What holds for all Python tests: Jupyter's folders are this run's own, never the user's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes depends on what else the machine does.
settings.register_profile("any-speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-speed")


@pytest.fixture(scope="session", autouse=True)
def _own_jupyter_folders() -> Iterator[None]:
    # Not below pytest's folder: paths of sockets in the runtime folder are limited to 107 bytes.
    with tempfile.TemporaryDirectory(prefix="ddl-") as folder, pytest.MonkeyPatch.context() as env:
        for name in ("config", "data", "runtime"):
            (Path(folder) / name).mkdir(mode=0o700)
            env.setenv(f"JUPYTER_{name.upper()}_DIR", os.fspath(Path(folder) / name))
        yield
