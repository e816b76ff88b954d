"""The benchmark of memory, disk and network, run once on an explicit wish."""

from __future__ import annotations

from typing import Any

import pytest

from dask_diag_lab.store import Store
from dask_diag_lab.views.scheduler.hardware import Hardware
from tests.kernel.serving import wait_until
from tests.kernel.situations_real.reading import situation


@pytest.mark.slow
def test_the_button_measures_for_every_page_and_nothing_measures_unasked() -> None:
    with situation(n_workers=2, threads_per_worker=1) as found:
        assert found.rows("hardware") == []
        assert "Nothing was measured yet" in found.notice("hardware").empty
        assert not found.diagnostics.submit(_is_asked).result(20)

        def press(store: Store) -> None:
            view = Hardware(store)
            view.build()
            view._measure()

        found.diagnostics.submit(press).result(20)
        rows: list[dict[str, Any]] = []

        def is_measured() -> bool:
            rows[:] = found.rows("hardware")
            return bool(rows)

        wait_until(is_measured, "no answer came", 100.0)
        assert {row["kind"] for row in rows} == {"memory", "disk", "network"}
        rates = {(row["kind"], row["size"]): row["rate"] for row in rows}
        assert all(rate > 0 for rate in rates.values())
        assert rates["memory", 1 << 20] > 2**20  # bytes a second
        assert found.notice("hardware").note.startswith("Means of all workers at ")


def _is_asked(store: Store) -> bool:
    return store.inquiries.known("hardware") is not None
