"""A recording has what the plots of its cluster have at that moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.recording import load, snapshot
from dask_diag_lab.views.registry import all_plots
from tests.kernel.situations_real.clusters import LIMIT_S, cluster
from tests.kernel.situations_real.test_periods import compute, first


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
        before = found.diagnostics.submit(both, is_fresh=True).result(LIMIT_S)
        found.diagnostics.save(saved)
        with pytest.raises(FileNotFoundError):
            found.diagnostics.save(tmp_path / "none" / "run.daskrun")
    assert load(saved).history.actions.total == load(path).history.actions.total > 0
    after = tables(load(path))
    assert len(after) > 20
    for plot, columns in before.items():
        assert repr(after[plot]) == repr(columns), plot  # NaN is unequal to itself
