"""Fixtures of the kernel side's tests; plain helpers are in `tests.kernel.serving`."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

from tests.kernel.dashboards import attached_client
from tests.kernel.serving import records_in, run, wait_until


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine on a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="module", autouse=True)
def _collect_sockets(request: pytest.FixtureRequest) -> Iterator[None]:
    """What `distributed` may leave unclosed is let go of in the module that allows it."""
    yield
    if any("unclosed" in str(mark.args) for mark in request.node.iter_markers("filterwarnings")):
        gc.collect()


@pytest.fixture
def runtime_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Jupyter's runtime folder for this test; has to be empty of records at the end."""
    folder = tmp_path / "runtime"
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(folder))
    yield folder
    wait_until(lambda: not records_in(folder), "a runtime record is left behind")


@pytest.fixture
def client(runtime_dir: object) -> Iterator[Client]:
    """A client with diagnostics, of two workers; of this test alone."""
    with attached_client(2) as made:
        yield made
