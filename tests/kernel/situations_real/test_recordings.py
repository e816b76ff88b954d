"""A recording has what the plots of its cluster have at that moment, and is opened anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

import dask_diag_lab
from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.recording import load, snapshot
from dask_diag_lab.views.registry import all_plots
from tests.kernel.dashboards import address_of, answer_of
from tests.kernel.serving import records_in
from tests.kernel.situations_real.clusters import LIMIT_S, cluster
from tests.kernel.situations_real.test_periods import compute, first, second


def tables(live: LiveSession) -> dict[str, Any]:
    """Return the table of each plot that asks its cluster nothing."""
    found = {}
    for plot in all_plots():
        with live.queries.noticed() as asked, live.jobs.noticed():
            view = plot(live)
            table = view.table()
        if not asked:
            found[plot.name] = table.columns
    return found


def test_every_plot_has_the_same_table_in_a_recording(tmp_path: Path) -> None:
    path, saved = tmp_path / "run.daskrun", tmp_path / "saved.daskrun"

    def both(live: LiveSession) -> dict[str, Any]:
        snapshot(live.history)(path)
        runner, live.jobs.on_start = live.jobs.on_start, None  # all is worked out at once
        found_here = tables(live)
        live.jobs.on_start = runner
        return found_here

    with cluster(n_workers=2, threads_per_worker=2) as found:
        compute(found, first)
        found.table("progress", by="span")
        found.until(lambda: found.table("runs")["state"], lambda all_: "running" not in all_)
        before = found.diagnostics.submit(both, is_fresh=True).result(LIMIT_S)
        found.diagnostics.save(saved)
        with pytest.raises(FileNotFoundError):
            found.diagnostics.save(tmp_path / "none" / "run.daskrun")
    assert load(saved).history.actions.total == load(path).history.actions.total > 0
    after = tables(load(path))
    assert len(after) > 20
    for plot, columns in before.items():
        assert repr(after[plot]) == repr(columns), plot  # NaN is unequal to itself


def test_a_run_is_saved_and_opened_without_its_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = tmp_path / "etl.daskrun", tmp_path / "runtime"
    plots = ("task-stream", "progress", "exceptions")
    with cluster(n_workers=2, threads_per_worker=2) as found:
        compute(found, first)
        run = dask_diag_lab.run("etl", found.client)
        with pytest.raises(RuntimeError, match="not over"):
            run.save(path)
        with run:
            compute(found, second)
        run.save(path)
        its = {"run": str(run.number)}
        before = {plot: found.diagnostics.table(plot, **its).columns for plot in plots}
        n_all = len(found.diagnostics.table("task-stream").columns["key"])
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(folder))
    with dask_diag_lab.load(path) as recording:
        for plot in plots:
            assert repr(recording.table(plot).columns) == repr(before[plot]), plot
        assert len(recording.table("task-stream", start="0").columns["key"]) == n_all
        assert "budget" in recording.plots
        recording.export("budget", tmp_path / "budget.csv")
        recording.save(tmp_path / "copy.daskrun")
        url, token = address_of(recording)
        place = f"{url}/recording.daskrun?run={run.number}"
        with urlopen(
            Request(place, headers={"Authorization": f"token {token}"}), timeout=LIMIT_S
        ) as reply:
            assert reply.read(4) == b"PK\3\4"
            assert reply.headers.get_filename() == f"{run.name}.daskrun"
        health = answer_of(recording, "/health")
        assert (health["state"], "since" in health) == ("closed", False)
        assert health["reason"].startswith("Recording until 20")
        (record,) = records_in(folder)
        known = json.loads(record.read_text())
        assert (known["name"], known["kernel_id"]) == ("etl.daskrun", None)
    assert records_in(folder) == []
    copy = load(tmp_path / "copy.daskrun")
    assert copy.recorded is not None
    assert copy.recorded == load(path).recorded
    assert {"versions", "settings"} == copy.recorded.keys()
    path.write_text("no recording")
    with pytest.raises(ValueError, match="is no recording"):
        dask_diag_lab.load(path)
