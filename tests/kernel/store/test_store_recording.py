"""What is saved of a history can be loaded; what is no recording is refused in words."""

from __future__ import annotations

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
    assert (again.feed_state.state, again.degraded) == ("closed", "")


def test_what_is_no_recording_is_refused_in_words(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.daskrun", tmp_path / "cut.daskrun"
    recorded(100, whole)
    cut.write_bytes(whole.read_bytes()[:-100])
    text = tmp_path / "text.daskrun"
    text.write_text("no zip")
    foreign = tmp_path / "foreign.daskrun"
    with zipfile.ZipFile(foreign, "w") as file:
        file.writestr("meta.json", json.dumps({"format": 1, "history": {}}))
    for path in (cut, text, foreign):
        with pytest.raises(ValueError, match=f"{path.name} is no recording, or a part of one"):
            load(path)
    later = tmp_path / "later.daskrun"
    with zipfile.ZipFile(later, "w") as file:
        file.writestr("meta.json", json.dumps({"format": 2}))
    with pytest.raises(ValueError, match="its format is 2"):
        load(later)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.daskrun")
    assert {path.name for path in tmp_path.iterdir()} == {
        *("whole.daskrun", "cut.daskrun", "text.daskrun", "foreign.daskrun", "later.daskrun")
    }
