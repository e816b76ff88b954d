"""Fixtures of the kernel side's tests; plain helpers are in `tests.kernel.serving`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel.serving import records_in, wait_until


@pytest.fixture
def runtime_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Jupyter's runtime folder for this test; has to be empty of records at the end."""
    folder = tmp_path / "runtime"
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(folder))
    yield folder
    wait_until(lambda: not records_in(folder), "a runtime record is left behind")
