"""A real Jupyter server with the extension, and real processes behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp

# Its fixtures and hooks, for this folder only: elsewhere they clash with asyncio plugins.
from pytest_jupyter.jupyter_server import *  # noqa: F403

from dask_diag_lab.proxy.extension import DaskDiagLab
from tests.proxy.backends import Backend, StockScheduler
from tests.proxy.client import Client


@pytest.fixture
def settings() -> dict[str, object]:
    """Settings of ``c.DaskDiagLab``; a test overrides this.

    What else runs on this machine is not looked for.
    """
    return {"discover": False}


@pytest.fixture  # type: ignore[no-redef]  # it takes the place of pytest-jupyter's
def jp_server_config(settings: dict[str, object]) -> dict[str, object]:
    return {
        "ServerApp": {
            "jpserver_extensions": {"dask_diag_lab.proxy": True},
            "reraise_server_extension_failures": True,
        },
        "DaskDiagLab": settings,
    }


@pytest.fixture
def extension(jp_serverapp: ServerApp) -> DaskDiagLab:
    """The loaded extension."""
    (app,) = jp_serverapp.extension_manager.extension_apps["dask_diag_lab.proxy"]
    assert isinstance(app, DaskDiagLab)
    return app


@pytest.fixture
def backend(jp_runtime_dir: Path) -> Iterator[Backend]:
    """A diagnostics server that has not announced itself yet."""
    with Backend(jp_runtime_dir) as program:
        yield program


@pytest.fixture
def announced(backend: Backend) -> Backend:
    """A diagnostics server that is found."""
    backend.announce()
    return backend


@pytest.fixture(scope="session")
def stock() -> Iterator[StockScheduler]:
    """A stock scheduler, one for all tests, with an extension of Bokeh."""
    with StockScheduler(module="dask_diag_lab.views.models") as program:
        yield program


@pytest.fixture
def client(
    jp_ws_fetch: Callable[..., Any],  # Any: pytest-jupyter is not typed
    jp_serverapp: ServerApp,
    jp_http_port: int,
) -> Client:
    return Client(jp_ws_fetch, jp_serverapp, jp_http_port)
