"""What is saved of a history can be loaded; what is no recording is refused in words."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from benchmarks.simulator import Simulation
from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.recording import load, snapshot

BYTES_A_TASK = 40


def recorded(n_tasks: int, path: Path) -> LiveSession:
    """Return a history of a simulated cluster, which is saved."""
    live = LiveSession()
    for batch in Simulation(16, 4, n_tasks).batches():
        live.apply(batch)
    snapshot(live.history)(path)
    return live


def test_actions_and_keys_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "run.daskrun"
    live = recorded(20_000, path)
    assert path.stat().st_size <= 20_000 * BYTES_A_TASK
    again = load(path)
    _, before = live.history.actions.since(0)
    _, after = again.history.actions.since(0)
    for name, column in before.items():
        np.testing.assert_array_equal(after[name], column, err_msg=name)
    tasks = np.unique(before["task"])
    assert again.history.actions.keys(tasks).tolist() == live.history.actions.keys(tasks).tolist()
    assert again.history.slots.label == live.history.slots.label
    assert again.history.actions.key(int(tasks[-1])) == live.history.actions.key(int(tasks[-1]))
    assert (again.feed_state.state, again.degraded, again.selection) == ("closed", "", {})


def zipped(**parts: object) -> bytes:
    """Return a zip of these parts, as JSON."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in parts.items():
            file.writestr(name, json.dumps(content))
    return buffer.getvalue()


def test_what_is_no_recording_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "run.daskrun"
    recorded(100, path)
    whole = path.read_bytes()
    middle = len(whole) // 2
    for content, words in (
        (whole[:-100], "is cut off, its end is missing. Copy it once more"),
        (whole[:middle] + b"not its own" + whole[middle + 11 :], "is damaged .*. Copy it once"),
        (b"no zip", "is no recording of dask_diag_lab"),
        (b"", "is no recording of dask_diag_lab"),
        (zipped(text="of something else"), "is no recording of dask_diag_lab"),
        (zipped(**{"meta.json": {"format": 5}}), "is of format 5; .* update dask_diag_lab"),
        (zipped(**{"meta.json": {"format": 4}, "tables.npz": 0}), "is damaged .*. Copy it once"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"{path} {words}"):
            load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.daskrun")
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.daskrun"
    path.mkdir()
    with pytest.raises(OSError, match=r"run\.daskrun"):
        snapshot(LiveSession().history)(path)
    assert list(tmp_path.iterdir()) == [path]
